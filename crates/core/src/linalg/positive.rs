//! Solutions of A X = B for symmetric A ≥ 0, such as the normal equations of least squares.
//!
//! A is scaled to a diagonal of ones and factorised as L Lᵀ: the scaling costs nothing, and columns of unlike sizes (1 and x⁷) no
//! longer lose digits. Where a pivot is lost in rounding, the solution of least norm (in scaled columns) is taken.

use super::pseudo_inverse;
use crate::simd::{Isa, Simd, Task, dispatch_widest};

/// Replaces `right` (n × k, row-major) by X of A X = right, for symmetric A ≥ 0 (n × n), which is spoilt.
///
/// # Panics
/// If A is singular and has an entry that is not finite.
pub fn solve_positive(a: &mut [f64], right: &mut [f64], n: usize, isa: Isa) {
    let scale: Vec<f64> = (0..n).map(|i| inverse_root(a[i * n + i])).collect();
    for (i, row) in a.chunks_exact_mut(n).enumerate() {
        let scaled = row.iter_mut().zip(&scale);
        scaled.for_each(|(a, s)| *a *= scale[i] * s);
    }
    let k = right.len() / n.max(1);
    let scale_rows = |right: &mut [f64]| {
        for (row, s) in right.chunks_exact_mut(k).zip(&scale) {
            row.iter_mut().for_each(|v| *v *= s);
        }
    };
    scale_rows(right);
    if !dispatch_widest(isa, Factorise { a, n }) {
        by_pseudo_inverse(a, right, n);
    } else {
        substitute(a, right, n);
    }
    scale_rows(right);
}

fn inverse_root(diagonal: f64) -> f64 {
    if diagonal > 0.0 {
        1.0 / diagonal.sqrt()
    } else {
        0.0
    }
}

/// Replaces the lower triangle of A by L; false, with the upper triangle and the diagonal as they were, if a pivot is lost in the
/// rounding of a diagonal of ones.
struct Factorise<'a> {
    a: &'a mut [f64],
    n: usize,
}

impl Task for Factorise<'_> {
    type Output = bool;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> bool {
        let (a, n) = (self.a, self.n);
        let lost = n as f64 * f64::EPSILON;
        let mut roots = Vec::with_capacity(n);
        for i in 0..n {
            let (above, rest) = a.split_at_mut(i * n);
            let row = &mut rest[..n];
            for (j, root) in roots.iter().enumerate() {
                let other = &above[j * n..][..j];
                row[j] = (row[j] - dot(&row[..j], other)) / root;
            }
            let pivot = row[i] - dot(&row[..i], &row[..i]);
            if pivot <= lost || pivot.is_nan() {
                return false;
            }
            roots.push(pivot.sqrt());
        }
        (0..n).for_each(|i| a[i * n + i] = roots[i]);
        true
    }
}

/// Σ a_i b_i in eight sums, whose order no instruction set changes.
#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut sums = [0.0; LANES];
    let (a, a_rest) = a.as_chunks::<LANES>();
    let (b, b_rest) = b.as_chunks::<LANES>();
    for (a, b) in a.iter().zip(b) {
        (0..LANES).for_each(|l| sums[l] += a[l] * b[l]);
    }
    let rest: f64 = a_rest.iter().zip(b_rest).map(|(a, b)| a * b).sum();
    sums.iter().sum::<f64>() + rest
}

/// X = L⁻ᵀ L⁻¹ right.
fn substitute(l: &[f64], right: &mut [f64], n: usize) {
    let k = right.len() / n;
    for i in 0..n {
        let (done, rest) = right.split_at_mut(i * k);
        let row = &mut rest[..k];
        for (j, done) in done.chunks_exact(k).enumerate() {
            let factor = l[i * n + j];
            row.iter_mut().zip(done).for_each(|(x, y)| *x -= factor * y);
        }
        row.iter_mut().for_each(|x| *x /= l[i * n + i]);
    }
    for i in (0..n).rev() {
        let (before, rest) = right.split_at_mut(i * k);
        let row = &mut rest[..k];
        row.iter_mut().for_each(|x| *x /= l[i * n + i]);
        for (j, before) in before.chunks_exact_mut(k).enumerate() {
            let factor = l[i * n + j];
            before
                .iter_mut()
                .zip(&*row)
                .for_each(|(x, y)| *x -= factor * y);
        }
    }
}

fn by_pseudo_inverse(a: &mut [f64], right: &mut [f64], n: usize) {
    for i in 0..n {
        (0..i).for_each(|j| a[i * n + j] = a[j * n + i]);
    }
    let inverse = pseudo_inverse(a, n, n);
    let mut x = vec![0.0; right.len()];
    super::multiply(&inverse, right, (n, n, right.len() / n), &mut x);
    right.copy_from_slice(&x);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// BᵀB of a matrix of waves, with columns of very unlike sizes.
    fn gram(rows: usize, n: usize) -> (Vec<f64>, Vec<f64>) {
        let wave = |e: usize| (1.7 * (e * e) as f64).sin();
        let size = |j: usize| 10f64.powi(j as i32 % 7 - 3);
        let b: Vec<f64> = (0..rows * n).map(|e| wave(e) * size(e % n)).collect();
        let entry = |i: usize, j: usize| (0..rows).map(|t| b[t * n + i] * b[t * n + j]).sum();
        let g = (0..n * n).map(|e| entry(e / n, e % n)).collect();
        (b, g)
    }

    #[test]
    fn solutions_solve_their_equations_whatever_the_sizes_of_columns() {
        for n in [1, 2, 9, 40] {
            let (_, g) = gram(4 * n + 3, n);
            let expected: Vec<f64> = (0..2 * n).map(|e| (0.3 * e as f64).cos()).collect();
            let mut right = vec![0.0; 2 * n];
            crate::linalg::multiply(&g, &expected, (n, n, 2), &mut right);
            solve_positive(&mut g.clone(), &mut right, n, Isa::detect());
            // Scaled, the condition number is below 1e4; sizes range over 1e6, so that small columns lose as much in `right`.
            for (found, expected) in right.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-5, "{n}: {found} {expected}");
            }
        }
    }

    #[test]
    fn the_bits_are_the_same_with_every_instruction_set() {
        let (_, g) = gram(60, 21);
        let solve = |isa| {
            let mut right: Vec<f64> = (0..21).map(f64::from).collect();
            solve_positive(&mut g.clone(), &mut right, 21, isa);
            right
        };
        for isa in Isa::available() {
            assert_eq!(solve(isa), solve(Isa::Baseline));
        }
    }

    #[test]
    fn a_column_that_is_there_twice_shares_its_weight() {
        // Columns v, v and 0 with vᵀv = 4 and vᵀy = 8.
        let mut a = [4.0, 4.0, 0.0, 4.0, 4.0, 0.0, 0.0, 0.0, 0.0];
        let mut right = [8.0, 8.0, 0.0];
        solve_positive(&mut a, &mut right, 3, Isa::detect());
        for (found, expected) in right.iter().zip([1.0, 1.0, 0.0]) {
            assert!((found - expected).abs() < 1e-14, "{right:?}");
        }
    }
}
