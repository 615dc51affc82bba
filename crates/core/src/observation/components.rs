//! The M leading principal components of N channels: orthonormal b_k with C b_k = λ_k b_k, λ_1 ≥ λ_2 ≥ …, C the covariance.
//!
//! Up to 256 channels, C is decomposed. That costs N³, an hour at 10 000 channels, so that of more channels C is never
//! made: with Q_0 random, k = 2M + 8 columns wide, and X the rows less their mean,
//!
//! ```text
//! Q_{i+1} = left singular vectors of Xᵀ X Q_i
//! ```
//!
//! (subspace iteration; Halko, Martinsson and Tropp 2011, `halko2011`). A round costs N k (2T + k), and takes the error of b_k down by
//! λ_{2M+9}/λ_k. It ends when the leading λ no longer change, or after `ROUNDS` rounds: where the spectrum is so flat that it has not ended by then, any
//! of the vectors do as well.

use crate::linalg;
use crate::rng::{Rng, Stream};
use crate::rows::Rows;

/// The largest number of channels whose covariance is decomposed.
pub const LARGEST_DENSE: usize = 256;

/// Rows that the iteration sees, at most; more hardly change directions in which the data vary most.
const LARGEST: usize = 2000;

/// Rounds of the iteration, at most.
const ROUNDS: usize = 40;

/// The iteration ends when no leading λ changes by more than this part of the largest.
const SETTLED: f64 = 1e-9;

/// Rows that are multiplied at a time.
const BLOCK: usize = 64;

/// Directions in which rows vary most.
#[derive(Debug, Clone, PartialEq)]
pub struct Components {
    /// N × M, row-major: column k is b_k, its largest entry positive.
    pub vectors: Vec<f64>,
    /// λ_1 … λ_M.
    pub values: Vec<f64>,
}

impl Components {
    /// The M leading ones of an N × N covariance.
    pub fn of_covariance(covariance: &[f64], n: usize, m: usize) -> Components {
        let linalg::Svd { u, sigma, .. } = linalg::svd(covariance, n, n);
        Components::leading(&u, &sigma, m)
    }

    /// The M ≤ min(N, T) leading ones of at most 2000 rows, evenly spaced, without their covariance.
    pub fn of_rows(rows: Rows<'_>, m: usize) -> Components {
        let (n, wide) = (rows.dim(), (2 * m + 8).min(rows.dim()));
        let units: Vec<(f64, f64)> = rows.means().into_iter().map(|mean| (mean, 1.0)).collect();
        let x = rows.thinned(LARGEST, &units);
        let weight = 1.0 / (x.len() / n) as f64;
        let mut rng = Rng::new(0, Stream::MonteCarlo);
        let mut q: Vec<f64> = (0..n * wide).map(|_| rng.normal()).collect();
        let mut sigma = vec![f64::INFINITY; wide];
        for _ in 0..ROUNDS {
            let found = linalg::svd(&pass(&x, &q, n), n, wide);
            let values: Vec<f64> = found.sigma.iter().map(|v| v * weight).collect();
            let mut changes = values.iter().zip(&sigma).take(m);
            let has_settled = changes.all(|(new, old)| (new - old).abs() <= SETTLED * values[0]);
            (q, sigma) = (found.u, values);
            if has_settled {
                break;
            }
        }
        Components::leading(&q, &sigma, m)
    }

    /// The first M columns of U.
    fn leading(u: &[f64], sigma: &[f64], m: usize) -> Components {
        let r = sigma.len();
        let sign = |k: usize| {
            let column = u.iter().skip(k).step_by(r).copied();
            1f64.copysign(column.fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a }))
        };
        let signs: Vec<f64> = (0..m).map(sign).collect();
        let rows = u.chunks_exact(r);
        Components {
            vectors: rows
                .flat_map(|row| row.iter().zip(&signs).map(|(v, sign)| sign * v))
                .collect(),
            values: sigma[..m].to_vec(),
        }
    }
}

/// Xᵀ X Q, with rows of n values in X.
fn pass(x: &[f64], q: &[f64], n: usize) -> Vec<f64> {
    let wide = q.len() / n;
    let (mut seen, mut turned) = (vec![0.0; BLOCK * wide], vec![0.0; BLOCK * n]);
    let (mut part, mut sum) = (vec![0.0; n * wide], vec![0.0; n * wide]);
    for rows in x.chunks(BLOCK * n) {
        let count = rows.len() / n;
        linalg::multiply(rows, q, (count, n, wide), &mut seen[..count * wide]);
        linalg::transpose(rows, (count, n), &mut turned[..count * n]);
        let sizes = (n, count, wide);
        linalg::multiply(
            &turned[..count * n],
            &seen[..count * wide],
            sizes,
            &mut part,
        );
        sum.iter_mut()
            .zip(&part)
            .for_each(|(sum, part)| *sum += part);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of N channels from three sources of strength 3, 2, 1 and a little noise.
    fn mixed(rows: usize, n: usize) -> Vec<f64> {
        let mut rng = Rng::new(4, Stream::Noise);
        let mixing: Vec<f64> = (0..3 * n).map(|_| rng.normal()).collect();
        let mut row = || -> Vec<f64> {
            let sources = [3.0, 2.0, 1.0].map(|strength| strength * rng.normal());
            let seen = |i: usize| (0..3).map(|k| sources[k] * mixing[k * n + i]).sum::<f64>();
            (0..n)
                .map(|i| 5.0 + seen(i) + 0.01 * rng.normal())
                .collect()
        };
        (0..rows).flat_map(|_| row()).collect()
    }

    /// λ_9/λ_3 is 1e-4, so that a few rounds leave the rounding of the decompositions, 1e-15 times the ratio λ_1/(λ_2 − λ_3) of order ten.
    #[test]
    fn the_iteration_finds_what_the_decomposition_finds() {
        let (rows, n, m) = (400, 60, 3);
        let x = mixed(rows, n);
        let rows = Rows::new(&x, n);
        let iterated = Components::of_rows(rows, m);
        let exact = Components::of_covariance(&rows.covariance(&rows.means()), n, m);
        for (a, b) in iterated.vectors.iter().zip(&exact.vectors) {
            assert!((a - b).abs() < 1e-10, "{a} {b}");
        }
        // One has the weight 1/T, the other 1/(T − 1).
        for (a, b) in iterated.values.iter().zip(&exact.values) {
            assert!((a / b - 399.0 / 400.0).abs() < 1e-10, "{a} {b}");
        }
    }

    /// Fewer rows than components, and channels that are constant: the vectors are orthonormal all the same.
    #[test]
    fn directions_are_orthonormal_where_the_data_have_too_few() {
        let (n, m) = (300, 8);
        for x in [mixed(4, n), vec![2.0; 5 * n]] {
            let b = Components::of_rows(Rows::new(&x, n), m).vectors;
            for (k, l) in (0..m * m).map(|i| (i / m, i % m)) {
                let dot: f64 = (0..n).map(|i| b[i * m + k] * b[i * m + l]).sum();
                let expected = f64::from(u8::from(k == l));
                // Rounding of sums of 300 products.
                assert!((dot - expected).abs() < 1e-12, "{k} {l}: {dot}");
            }
        }
    }
}
