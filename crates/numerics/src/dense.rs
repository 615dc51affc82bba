//! Decompositions of dense matrices in f64, row-major. The only file that names the linear-algebra crate.

use std::cmp::Ordering;

use faer::{MatRef, Side};

use crate::fft::Complex64 as Complex;

/// Singular values of an n × m matrix, descending.
///
/// # Panics
/// If an entry is not finite.
pub fn singular_values(a: &[f64], rows: usize, cols: usize) -> Vec<f64> {
    view(a, rows, cols)
        .singular_values()
        .expect("a finite matrix has singular values")
}

/// The thin singular value decomposition A = U diag(σ) Vᵀ, σ descending.
#[derive(Debug, Clone, PartialEq)]
pub struct Svd {
    /// Left vectors, rows × r row-major, r = min(rows, cols).
    pub u: Vec<f64>,
    /// Singular values, r.
    pub sigma: Vec<f64>,
    /// Right vectors, cols × r row-major.
    pub v: Vec<f64>,
}

/// The thin singular value decomposition.
///
/// # Panics
/// If an entry is not finite.
pub fn svd(a: &[f64], rows: usize, cols: usize) -> Svd {
    let svd = view(a, rows, cols)
        .thin_svd()
        .expect("a finite matrix has a decomposition");
    Svd {
        u: row_major(svd.U()),
        sigma: svd.S().column_vector().iter().copied().collect(),
        v: row_major(svd.V()),
    }
}

/// The eigenvalues of an n × n matrix, by descending modulus, the one above the real axis first of a pair; `None` if an
/// entry is not finite.
pub fn eigenvalues(a: &[f64], n: usize) -> Option<Vec<Complex>> {
    let found = view(a, n, n).eigenvalues().ok()?;
    let mut values: Vec<Complex> = found.iter().map(|v| Complex::new(v.re, v.im)).collect();
    values.sort_by(by_modulus);
    Some(values)
}

fn by_modulus(a: &Complex, b: &Complex) -> Ordering {
    let by_modulus = b.norm().total_cmp(&a.norm());
    let by_parts = b.re.total_cmp(&a.re).then(b.im.total_cmp(&a.im));
    by_modulus.then(by_parts)
}

/// The eigenvalues of a symmetric n × n matrix, ascending, and its eigenvectors in the columns of an n × n matrix.
///
/// # Panics
/// If an entry is not finite.
pub fn symmetric_eigen(a: &[f64], n: usize) -> (Vec<f64>, Vec<f64>) {
    let found = view(a, n, n).self_adjoint_eigen(Side::Lower);
    let found = found.expect("a finite symmetric matrix has eigenvalues");
    let values = found.S().column_vector().iter().copied().collect();
    (values, row_major(found.U()))
}

fn view(a: &[f64], rows: usize, cols: usize) -> MatRef<'_, f64> {
    MatRef::from_row_major_slice(a, rows, cols)
}

fn row_major(a: MatRef<'_, f64>) -> Vec<f64> {
    (0..a.nrows())
        .flat_map(|i| (0..a.ncols()).map(move |j| a[(i, j)]))
        .collect()
}
