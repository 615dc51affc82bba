//! Dense linear algebra in f64 on row-major slices; decompositions are those of `attractor-numerics`.

pub mod complex;
pub mod function;
pub mod gram;
pub mod least_squares;
pub mod positive;
pub mod sparse;

pub use attractor_numerics::dense::{Svd, eigenvalues, singular_values, svd, symmetric_eigen};

use crate::simd::{Isa, Simd, Task, dispatch_widest};

/// The pseudo-inverse A⁺ (cols × rows); singular values up to max(rows, cols)·ε·σ₁ count as zero.
///
/// # Panics
/// If an entry is not finite.
pub fn pseudo_inverse(a: &[f64], rows: usize, cols: usize) -> Vec<f64> {
    let Svd { u, sigma, v } = svd(a, rows, cols);
    let r = sigma.len();
    let threshold = rows.max(cols) as f64 * f64::EPSILON * sigma[0];
    let mut pinv = vec![0.0; cols * rows];
    for k in (0..r).filter(|&k| sigma[k] > threshold) {
        for i in 0..cols {
            for j in 0..rows {
                pinv[i * rows + j] += v[i * r + k] / sigma[k] * u[j * r + k];
            }
        }
    }
    pinv
}

/// Replaces a square matrix by its triangles L and U, with rows exchanged for the largest pivot, and each of the
/// columns in `right` (n × k, row-major) by L⁻¹ of it. Gives the smallest pivot relative to the largest entry.
#[inline(always)]
fn eliminate(a: &mut [f64], n: usize, right: &mut [f64]) -> f64 {
    let k = right.len() / n;
    let largest = a.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    let mut smallest = f64::INFINITY;
    for column in 0..n {
        let mut pivot = column;
        for row in column + 1..n {
            if a[row * n + column].abs() > a[pivot * n + column].abs() {
                pivot = row;
            }
        }
        if pivot != column {
            (0..n).for_each(|j| a.swap(column * n + j, pivot * n + j));
            (0..k).for_each(|j| right.swap(column * k + j, pivot * k + j));
        }
        let value = a[column * n + column];
        smallest = smallest.min(value.abs());
        if value == 0.0 {
            continue;
        }
        for row in column + 1..n {
            let factor = a[row * n + column] / value;
            if factor != 0.0 {
                (column..n).for_each(|j| a[row * n + j] -= factor * a[column * n + j]);
                (0..k).for_each(|j| right[row * k + j] -= factor * right[column * k + j]);
            }
        }
    }
    smallest / largest
}

/// Replaces `right` (n × k) by X with A X = right; A is spoilt. Gives the smallest pivot relative to the largest entry of
/// A: where it is below some dozen roundings (or NaN), A is singular and X without meaning.
pub fn solve(a: &mut [f64], n: usize, right: &mut [f64]) -> f64 {
    let k = right.len() / n;
    let smallest = eliminate(a, n, right);
    for row in (0..n).rev() {
        for j in 0..k {
            let known: f64 = (row + 1..n)
                .map(|i| a[row * n + i] * right[i * k + j])
                .sum();
            right[row * k + j] = (right[row * k + j] - known) / a[row * n + row];
        }
    }
    smallest
}

/// Gives the pivots of the elimination of an n × n matrix, which is spoilt: their product is ± its determinant.
#[inline(always)]
pub fn pivots(a: &mut [f64], n: usize, mut give: impl FnMut(f64)) {
    eliminate(a, n, &mut []);
    (0..n).for_each(|i| give(a[i * n + i]));
}

/// C = A B with A n × k and B k × m, into a caller's buffer.
pub fn multiply(a: &[f64], b: &[f64], (n, k, m): (usize, usize, usize), c: &mut [f64]) {
    debug_assert_eq!((a.len(), b.len(), c.len()), (n * k, k * m, n * m));
    let product = Product { a, b, k, m, c };
    match n * k * m {
        0..WORTH_DISPATCHING => product.add_up(),
        _ => dispatch_widest(Isa::detect(), product),
    }
}

/// Multiplications from which on choosing an instruction set costs less than it gains.
const WORTH_DISPATCHING: usize = 1024;

struct Product<'a> {
    a: &'a [f64],
    b: &'a [f64],
    k: usize,
    m: usize,
    c: &'a mut [f64],
}

impl Product<'_> {
    /// Up to 4 × 8 entries at a time, in registers. Every entry is added up in the order of k: its bits are the same with
    /// every instruction set and in every block.
    #[inline(always)]
    fn add_up(mut self) {
        let (mut i, rows) = (0, self.c.len() / self.m);
        while i < rows {
            i += match rows - i {
                4.. => self.add_up_rows::<4>(i),
                _ => self.add_up_rows::<1>(i),
            };
        }
    }

    /// R rows from row i on; gives back R.
    #[inline(always)]
    fn add_up_rows<const R: usize>(&mut self, i: usize) -> usize {
        let mut j = 0;
        while j < self.m {
            j += match self.m - j {
                8.. => self.add_up_block::<R, 8>((i, j)),
                4.. => self.add_up_block::<R, 4>((i, j)),
                _ => self.add_up_block::<R, 1>((i, j)),
            };
        }
        R
    }

    /// R × C entries from (i, j) on; gives back C.
    #[inline(always)]
    fn add_up_block<const R: usize, const C: usize>(&mut self, (i, j): (usize, usize)) -> usize {
        let a: [&[f64]; R] = std::array::from_fn(|r| &self.a[(i + r) * self.k..][..self.k]);
        let mut sums = [[0.0; C]; R];
        for (l, b) in self.b.chunks_exact(self.m).enumerate() {
            let b = &b[j..j + C];
            for r in 0..R {
                for c in 0..C {
                    sums[r][c] += a[r][l] * b[c];
                }
            }
        }
        for (r, sums) in sums.iter().enumerate() {
            self.c[(i + r) * self.m + j..][..C].copy_from_slice(sums);
        }
        C
    }
}

impl Task for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        self.add_up();
    }
}

/// Σ (v_i − from)² of differences in f32, summed in f64 and in eight sums, so that they do not wait for one another.
pub fn sum_of_squares(v: &[f32], from: f32) -> f64 {
    let square = |v: f32| f64::from(v - from) * f64::from(v - from);
    let (chunks, rest) = v.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for chunk in chunks {
        let pairs = sums.iter_mut().zip(chunk);
        pairs.for_each(|(sum, &v)| *sum += square(v));
    }
    let rest: f64 = rest.iter().map(|&v| square(v)).sum();
    sums.iter().sum::<f64>() + rest
}

/// Aᵀ of an n × m matrix, into a caller's buffer.
pub fn transpose(a: &[f64], (n, m): (usize, usize), t: &mut [f64]) {
    debug_assert_eq!((a.len(), t.len()), (n * m, n * m));
    for (i, row) in a.chunks_exact(m).enumerate() {
        row.iter().enumerate().for_each(|(j, &v)| t[j * n + i] = v);
    }
}

/// Replaces a symmetric positive definite n × n matrix by its inverse, through its Cholesky factor. False, with
/// the matrix spoilt, if the squares of the factor's diagonal fall below `smallest` times the largest of them.
pub fn invert_positive(a: &mut [f64], n: usize, smallest: f64) -> bool {
    cholesky(a, n, smallest) && {
        invert_lower(a, n);
        multiply_lower_transposed(a, n);
        true
    }
}

/// A = G Gᵀ; the lower triangle becomes G.
fn cholesky(a: &mut [f64], n: usize, smallest: f64) -> bool {
    let largest = (0..n).map(|i| a[i * n + i]).fold(0.0, f64::max);
    for j in 0..n {
        let pivot = a[j * n + j] - (0..j).map(|k| a[j * n + k] * a[j * n + k]).sum::<f64>();
        if pivot <= smallest * largest || pivot.is_nan() {
            return false;
        }
        let root = pivot.sqrt();
        a[j * n + j] = root;
        for i in j + 1..n {
            let rest: f64 = (0..j).map(|k| a[i * n + k] * a[j * n + k]).sum();
            a[i * n + j] = (a[i * n + j] - rest) / root;
        }
    }
    true
}

/// Replaces a lower triangle by its inverse.
fn invert_lower(g: &mut [f64], n: usize) {
    for j in 0..n {
        g[j * n + j] = 1.0 / g[j * n + j];
        for i in j + 1..n {
            let sum: f64 = (j..i).map(|k| g[i * n + k] * g[k * n + j]).sum();
            g[i * n + j] = -sum / g[i * n + i];
        }
    }
}

/// Replaces a lower triangle H by the symmetric matrix Hᵀ H.
fn multiply_lower_transposed(h: &mut [f64], n: usize) {
    for i in 0..n {
        for j in 0..=i {
            let sum: f64 = (i..n).map(|k| h[k * n + i] * h[k * n + j]).sum();
            // Into the upper triangle: later rows still read the lower one.
            h[j * n + i] = sum;
        }
    }
    for i in 0..n {
        for j in 0..i {
            h[i * n + j] = h[j * n + i];
        }
    }
}

/// Eigenvalues and eigenvectors of a symmetric matrix by cyclic Jacobi rotations, in buffers of its own: for small
/// matrices inside loops that must not allocate.
#[derive(Debug, Clone)]
pub struct SymmetricEigen {
    n: usize,
    a: Vec<f64>,
    v: Vec<f64>,
}

impl SymmetricEigen {
    /// Room for an n × n matrix.
    pub fn new(n: usize) -> SymmetricEigen {
        SymmetricEigen {
            n,
            a: vec![0.0; n * n],
            v: vec![0.0; n * n],
        }
    }

    /// The matrix to be decomposed; spoilt by [`decompose`](SymmetricEigen::decompose).
    pub fn matrix_mut(&mut self) -> &mut [f64] {
        &mut self.a
    }

    /// Rotates until the off-diagonal part is below rounding. Convergence is quadratic: a dozen sweeps are plenty.
    pub fn decompose(&mut self) {
        let n = self.n;
        self.v.fill(0.0);
        self.v.iter_mut().step_by(n + 1).for_each(|v| *v = 1.0);
        for _ in 0..12 {
            let square = |(i, a): (usize, &f64)| {
                if i % (n + 1) == 0 {
                    (a * a, 0.0)
                } else {
                    (0.0, a * a)
                }
            };
            let squares = self.a.iter().enumerate().map(square);
            let (on, off) = squares.fold((0.0, 0.0), |sum, (on, off)| (sum.0 + on, sum.1 + off));
            if off <= f64::EPSILON * f64::EPSILON * on || off.is_nan() {
                break;
            }
            for p in 0..n {
                (p + 1..n).for_each(|q| self.rotate(p, q));
            }
        }
    }

    /// The rotation in the plane (p, q) that makes a_pq zero.
    fn rotate(&mut self, p: usize, q: usize) {
        let n = self.n;
        let apq = self.a[p * n + q];
        if apq == 0.0 {
            return;
        }
        let theta = (self.a[q * n + q] - self.a[p * n + p]) / (2.0 * apq);
        let t = 1f64.copysign(theta) / (theta.abs() + (theta * theta + 1.0).sqrt());
        let c = 1.0 / (t * t + 1.0).sqrt();
        let s = t * c;
        let turn = |x: f64, y: f64| (c * x - s * y, s * x + c * y);
        for k in 0..n {
            (self.a[k * n + p], self.a[k * n + q]) = turn(self.a[k * n + p], self.a[k * n + q]);
        }
        for k in 0..n {
            (self.a[p * n + k], self.a[q * n + k]) = turn(self.a[p * n + k], self.a[q * n + k]);
            (self.v[k * n + p], self.v[k * n + q]) = turn(self.v[k * n + p], self.v[k * n + q]);
        }
    }

    /// Eigenvalue k, in no particular order.
    pub fn value(&self, k: usize) -> f64 {
        self.a[k * self.n + k]
    }

    /// Entry i of eigenvector k.
    pub fn vector(&self, k: usize, i: usize) -> f64 {
        self.v[i * self.n + k]
    }

    /// Which eigenvalues are the largest and the smallest.
    pub fn extremes(&self) -> (usize, usize) {
        let by_value = |&i: &usize, &j: &usize| self.value(i).total_cmp(&self.value(j));
        let largest = (0..self.n)
            .max_by(by_value)
            .expect("a matrix has at least one row");
        let smallest = (0..self.n)
            .min_by(by_value)
            .expect("a matrix has at least one row");
        (largest, smallest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(a: &[f64], b: &[f64], n: usize, k: usize, m: usize) -> Vec<f64> {
        let entry = |i: usize, j: usize| (0..k).map(|l| a[i * k + l] * b[l * m + j]).sum();
        (0..n * m).map(|e| entry(e / m, e % m)).collect()
    }

    #[test]
    fn large_products_have_the_bits_of_small_ones() {
        // 16 × 16 × 16 is dispatched; its rows alone are not. The columns do not fill vectors.
        let (n, k, m) = (16, 16, 15);
        let (a, b) = (sample(n, k), sample(k, m));
        let (mut whole, mut row) = (vec![0.0; n * m], vec![0.0; m]);
        multiply(&a, &b, (n, k, m), &mut whole);
        assert!(n * k * m >= WORTH_DISPATCHING && k * m < WORTH_DISPATCHING);
        for (a, whole) in a.chunks_exact(k).zip(whole.chunks_exact(m)) {
            multiply(a, &b, (1, k, m), &mut row);
            assert_eq!(row, whole);
        }
    }

    #[test]
    fn squares_are_summed_whatever_their_number() {
        for len in [0, 1, 7, 8, 9, 100] {
            let v: Vec<f32> = (0..len).map(|i| i as f32).collect();
            let expected: f64 = (0..len).map(|i| (f64::from(i) - 2.0).powi(2)).sum();
            // Whole numbers below 2⁵³ are summed without rounding.
            assert_eq!(sum_of_squares(&v, 2.0), expected, "{len}");
        }
        assert!(!sum_of_squares(&[1.0, f32::NAN], 0.0).is_finite());
    }

    fn sample(rows: usize, cols: usize) -> Vec<f64> {
        (0..rows * cols)
            .map(|i| (1.7 * i as f64).sin() + f64::from(u8::from(i % (cols + 1) == 0)))
            .collect()
    }

    #[test]
    fn the_pseudo_inverse_satisfies_penroses_equations() {
        for (rows, cols) in [(5, 3), (3, 5), (4, 4), (1, 1)] {
            let a = sample(rows, cols);
            let p = pseudo_inverse(&a, rows, cols);
            let ap = product(&a, &p, rows, cols, rows);
            let pa = product(&p, &a, cols, rows, cols);
            // Entries of order one and condition numbers below 100: rounding stays below 1e-12.
            let close = |x: &[f64], y: &[f64]| x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-12);
            assert!(close(&product(&ap, &a, rows, rows, cols), &a));
            assert!(close(&product(&pa, &p, cols, cols, rows), &p));
            let transposed =
                |x: &[f64], n: usize| (0..n * n).map(|e| x[e % n * n + e / n]).collect::<Vec<_>>();
            assert!(close(&ap, &transposed(&ap, rows)) && close(&pa, &transposed(&pa, cols)));
        }
    }

    #[test]
    fn singular_vectors_rebuild_the_matrix() {
        let a = sample(6, 4);
        let Svd { u, sigma, v } = svd(&a, 6, 4);
        let rebuilt = (0..24).map(|e| {
            (0..4)
                .map(|k| u[e / 4 * 4 + k] * sigma[k] * v[e % 4 * 4 + k])
                .sum::<f64>()
        });
        assert!(rebuilt.zip(&a).all(|(x, y)| (x - y).abs() < 1e-12));
        assert!(sigma.windows(2).all(|s| s[0] >= s[1]));
    }

    #[test]
    fn jacobi_rotations_diagonalise() {
        for n in [1, 2, 5, 16] {
            let b = sample(n, n);
            let mut bt = vec![0.0; n * n];
            transpose(&b, (n, n), &mut bt);
            let mut eigen = SymmetricEigen::new(n);
            multiply(&bt, &b, (n, n, n), eigen.matrix_mut());
            let a = eigen.a.clone();
            eigen.decompose();
            for k in 0..n {
                for i in 0..n {
                    let image: f64 = (0..n).map(|j| a[i * n + j] * eigen.vector(k, j)).sum();
                    // Entries up to n, n² operations: 1e-16 · n³.
                    assert!(
                        (image - eigen.value(k) * eigen.vector(k, i)).abs() < 1e-11,
                        "n {n} k {k}"
                    );
                }
            }
            let (largest, _) = eigen.extremes();
            assert!(
                (eigen.value(largest).sqrt() - singular_values(&b, n, n)[0]).abs()
                    < 1e-12 * n as f64
            );
        }
    }

    #[test]
    fn solutions_solve_and_singular_matrices_are_told() {
        let (a, b) = (sample(4, 4), sample(4, 2));
        let mut x = b.clone();
        assert!(solve(&mut a.clone(), 4, &mut x) > 1e-3);
        // Condition number below 100.
        let ax = product(&a, &x, 4, 4, 2);
        assert!(ax.iter().zip(&b).all(|(x, y)| (x - y).abs() < 1e-13));
        // A zero in the corner asks for an exchange.
        let mut x = [3.0, 5.0];
        solve(&mut [0.0, 1.0, 2.0, 0.0], 2, &mut x);
        assert_eq!(x, [2.5, 3.0]);
        assert_eq!(solve(&mut [1.0, 2.0, 2.0, 4.0], 2, &mut [1.0, 1.0]), 0.0);
        let mut found = Vec::new();
        pivots(&mut [0.0, -2.0, 3.0, 7.0], 2, |pivot| found.push(pivot));
        pivots(&mut [0.0; 4], 2, |pivot| found.push(pivot));
        assert_eq!(found, [3.0, -2.0, 0.0, 0.0]);
    }

    /// Permutations and companion matrices are the Jacobians of cycles, and hard for a QR iteration without luck.
    #[test]
    fn eigenvalues_of_a_cyclic_permutation_are_roots_of_unity() {
        for n in [2, 3, 4, 8] {
            let cycle: Vec<f64> = (0..n * n)
                .map(|e| f64::from(u8::from(e % n == (e / n + 1) % n)))
                .collect();
            for value in eigenvalues(&cycle, n).unwrap() {
                let turns = value.im.atan2(value.re) / std::f64::consts::TAU * n as f64;
                assert!((value.norm() - 1.0).abs() < 1e-13);
                assert!((turns - turns.round()).abs() < 1e-12);
            }
        }
        let pair = eigenvalues(&[0.0, -2.0, 2.0, 0.0], 2).unwrap();
        assert!((pair[0].im - 2.0).abs() < 1e-15 * 4.0);
        assert!(eigenvalues(&[f64::NAN], 1).is_none());
    }

    #[test]
    fn positive_matrices_are_inverted_and_singular_ones_refused() {
        let b = sample(5, 5);
        let mut bt = vec![0.0; 25];
        transpose(&b, (5, 5), &mut bt);
        let mut a = vec![0.0; 25];
        multiply(&bt, &b, (5, 5, 5), &mut a);
        let mut inverse = a.clone();
        assert!(invert_positive(&mut inverse, 5, 1e-12));
        let unit = product(&a, &inverse, 5, 5, 5);
        // Squared condition number below 1e4.
        assert!((0..25).all(|e| (unit[e] - f64::from(u8::from(e % 6 == 0))).abs() < 1e-11));
        assert!(!invert_positive(&mut [1.0, 1.0, 1.0, 1.0], 2, 1e-12));
        assert!(!invert_positive(&mut [f64::NAN], 1, 1e-12));
    }
}
