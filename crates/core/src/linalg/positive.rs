//! Solutions of A X = B for symmetric A ≥ 0, such as the normal equations of least squares.
//!
//! A is scaled to a diagonal of ones and factorised as L Lᵀ: the scaling costs nothing, and columns of unlike sizes (1 and x⁷) no
//! longer lose digits. Where a pivot is lost in rounding, the solution of least norm (in scaled columns) is taken.

use super::pseudo_inverse;
use crate::simd::{Isa, Simd, Task, dispatch_widest};

/// Replaces `right` (n × k, row-major) by X of A X = right, for symmetric A ≥ 0 (n × n).
///
/// # Panics
/// If A is singular and has an entry that is not finite.
pub fn solve_positive(a: Vec<f64>, right: &mut [f64], n: usize, isa: Isa) {
    Factor::new(a, n, isa).solve(right);
}

/// A symmetric matrix A ≥ 0, taken apart to solve equations with it.
#[derive(Debug, Clone)]
pub struct Factor {
    n: usize,
    /// What rows and columns were multiplied by.
    scale: Vec<f64>,
    /// L, or A⁺ where a pivot was lost.
    parts: Vec<f64>,
    /// The smallest pivot, if none was lost.
    smallest: Option<f64>,
}

impl Factor {
    /// Takes A (n × n) apart.
    ///
    /// # Panics
    /// If A is singular and has an entry that is not finite.
    pub fn new(mut a: Vec<f64>, n: usize, isa: Isa) -> Factor {
        let scale: Vec<f64> = (0..n).map(|i| inverse_root(a[i * n + i])).collect();
        for (row, s) in a.chunks_exact_mut(n.max(1)).zip(&scale) {
            let scaled = row.iter_mut().zip(&scale);
            scaled.for_each(|(a, t)| *a *= s * t);
        }
        let smallest = dispatch_widest(isa, Factorise { a: &mut a, n });
        if smallest.is_none() {
            a = mirrored_pseudo_inverse(a, n);
        }
        Factor {
            n,
            scale,
            parts: a,
            smallest,
        }
    }

    /// About how large an error, relative to the largest entry of a solution in scaled columns, rounding may have made: n ε over the
    /// smallest pivot, which is near the smallest eigenvalue.
    pub fn rounding(&self) -> f64 {
        let lost = self.n as f64 * f64::EPSILON;
        self.smallest.map_or(1.0, |pivot| lost / pivot)
    }

    /// Replaces `right` (n × k, row-major) by X of A X = right.
    pub fn solve(&self, right: &mut [f64]) {
        self.scale_rows(right);
        if self.smallest.is_some() {
            substitute(&self.parts, right, self.n);
        } else {
            let mut x = vec![0.0; right.len()];
            let sizes = (self.n, self.n, right.len() / self.n);
            super::multiply(&self.parts, right, sizes, &mut x);
            right.copy_from_slice(&x);
        }
        self.scale_rows(right);
    }

    fn scale_rows(&self, right: &mut [f64]) {
        let k = right.len() / self.n.max(1);
        for (row, s) in right.chunks_exact_mut(k).zip(&self.scale) {
            row.iter_mut().for_each(|v| *v *= s);
        }
    }
}

fn inverse_root(diagonal: f64) -> f64 {
    if diagonal > 0.0 {
        1.0 / diagonal.sqrt()
    } else {
        0.0
    }
}

/// Replaces the lower triangle of A by L and gives the smallest pivot; none, with the upper triangle and the diagonal as they were, if a
/// pivot is lost in the rounding of a diagonal of ones.
struct Factorise<'a> {
    a: &'a mut [f64],
    n: usize,
}

impl Task for Factorise<'_> {
    type Output = Option<f64>;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> Option<f64> {
        let (a, n) = (self.a, self.n);
        let lost = n as f64 * f64::EPSILON;
        let mut smallest = f64::INFINITY;
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
                return None;
            }
            smallest = smallest.min(pivot);
            roots.push(pivot.sqrt());
        }
        (0..n).for_each(|i| a[i * n + i] = roots[i]);
        Some(smallest)
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

/// A⁺, of which the upper triangle and the diagonal are there.
fn mirrored_pseudo_inverse(mut a: Vec<f64>, n: usize) -> Vec<f64> {
    for i in 0..n {
        (0..i).for_each(|j| a[i * n + j] = a[j * n + i]);
    }
    pseudo_inverse(&a, n, n)
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
            solve_positive(g, &mut right, n, Isa::detect());
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
            solve_positive(g.clone(), &mut right, 21, isa);
            right
        };
        let best = solve(Isa::detect());
        for isa in Isa::available() {
            assert_eq!(solve(isa), best);
        }
    }

    #[test]
    fn a_column_that_is_there_twice_shares_its_weight() {
        // Columns v, v and 0 with vᵀv = 4 and vᵀy = 8.
        let a = vec![4.0, 4.0, 0.0, 4.0, 4.0, 0.0, 0.0, 0.0, 0.0];
        let mut right = [8.0, 8.0, 0.0];
        solve_positive(a, &mut right, 3, Isa::detect());
        for (found, expected) in right.iter().zip([1.0, 1.0, 0.0]) {
            assert!((found - expected).abs() < 1e-14, "{right:?}");
        }
    }
}
