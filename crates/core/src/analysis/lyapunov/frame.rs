//! Tangent vectors made orthonormal again, by Gram and Schmidt's method: w_j loses its overlaps with the vectors before it,
//!
//! ```text
//! v = w_j − Σ_{i<j} (w_i·w_j) w_i,   R_jj = ‖v‖,   w_j ← v / R_jj
//! ```
//!
//! and R_jj is what it has grown by. A vector of which nothing but rounding is left is *lost*: the linearised map has no such
//! direction any more. Those behind it move up, as if the basis had been chosen without it, and new unit vectors,
//! orthogonal to all others, take the last places, so that later steps find a full basis. A vector that stayed zero would
//! never grow again.

/// How much a direction has grown since the last reset.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Growth {
    product: LogProduct,
    /// How often it was lost.
    pub(super) lost: usize,
    /// Σ of the size of the map over R_jj: how many roundings its logarithm has seen.
    pub(super) roundings: f64,
}

impl Growth {
    #[inline(always)]
    fn push(&mut self, length: f64, scale: f64) {
        self.product.push(length);
        self.roundings += scale / length;
    }

    /// ln of it per unit of time, over the intervals at which it was not lost, of so many of so much time; NaN if it always
    /// was.
    pub(super) fn rate(self, (intervals, interval): (usize, f64)) -> f64 {
        match intervals - self.lost {
            0 => f64::NAN,
            kept => self.product.log() / (kept as f64 * interval),
        }
    }
}

/// ln of a long product: logarithms are dear, so that one is taken of many factors together.
#[derive(Debug, Clone, Copy)]
pub(super) struct LogProduct {
    log: f64,
    product: f64,
}

impl Default for LogProduct {
    fn default() -> LogProduct {
        LogProduct {
            log: 0.0,
            product: 1.0,
        }
    }
}

impl LogProduct {
    #[inline(always)]
    pub(super) fn push(&mut self, factor: f64) {
        let before = self.product;
        self.product *= factor;
        if !(1e-100..1e100).contains(&self.product) {
            // One by one: together they may be beyond all numbers.
            self.log += before.ln() + factor.ln();
            self.product = 1.0;
        }
    }

    pub(super) fn log(self) -> f64 {
        self.log + self.product.ln()
    }
}

/// A sum of M products of entries of a map of size `scale` and of a unit vector is rounded by up to M ε of that; a few such
/// are made.
const ROUNDINGS: f64 = 8.0;

/// What rounding may leave of a vector that a map of this size takes to zero.
#[inline(always)]
pub(super) fn rounding(dim: usize, scale: f64) -> f64 {
    ROUNDINGS * dim as f64 * f64::EPSILON * scale
}

/// Makes vectors orthonormal that a linear map of size `scale` (its Frobenius norm, say) has moved; pushes R_jj to `growth`.
#[inline(always)]
pub(super) fn orthonormalize(w: &mut [f64], dim: usize, scale: f64, growth: &mut [Growth]) {
    let noise = rounding(dim, scale);
    let mut kept = 0;
    for j in 0..growth.len() {
        if kept < j {
            w.copy_within(j * dim..(j + 1) * dim, kept * dim);
        }
        let (done, rest) = w.split_at_mut(kept * dim);
        let vector = &mut rest[..dim];
        let length = orthogonalize(vector, done);
        if length <= noise {
            continue;
        }
        let inverse = 1.0 / length;
        vector.iter_mut().for_each(|v| *v *= inverse);
        growth[kept].push(length, scale);
        kept += 1;
    }
    if kept < growth.len() {
        growth[kept..]
            .iter_mut()
            .for_each(|growth| growth.lost += 1);
        refill(w, dim, kept);
    }
}

/// Takes from a vector its overlaps with orthonormal ones; once more if that took most of its length, and with it most
/// digits. Gives the length that is left.
#[inline(always)]
fn orthogonalize(vector: &mut [f64], done: &[f64]) -> f64 {
    let mut before = dot(vector, vector);
    loop {
        for earlier in done.chunks_exact(vector.len()) {
            let overlap = dot(earlier, vector);
            vector
                .iter_mut()
                .zip(earlier)
                .for_each(|(v, e)| *v -= overlap * e);
        }
        let after = dot(vector, vector);
        // At most twice: a third time there is nothing left to take.
        if done.is_empty() || after > 0.25 * before || before == 0.0 {
            return after.sqrt();
        }
        before = 0.0;
    }
}

/// Replaces all vectors from number `kept` on by unit vectors, each made from the axis that the vectors before it show
/// least of.
#[cold]
fn refill(w: &mut [f64], dim: usize, kept: usize) {
    for j in kept..w.len() / dim {
        let (done, rest) = w.split_at_mut(j * dim);
        let shown = |i: usize| done.iter().skip(i).step_by(dim).map(|v| v * v).sum::<f64>();
        let least = (0..dim).min_by(|&a, &b| shown(a).total_cmp(&shown(b)));
        let vector = &mut rest[..dim];
        vector.fill(0.0);
        vector[least.expect("a map has a dimension")] = 1.0;
        let length = orthogonalize(vector, done);
        vector.iter_mut().for_each(|v| *v /= length);
    }
}

#[inline(always)]
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};

    /// Whatever is lost, the vectors are orthonormal behind it, those that are kept in the order of before, and the growth of
    /// the first r is the volume that the kept ones span.
    #[test]
    fn a_basis_is_orthonormal_whatever_is_lost() {
        let mut rng = Rng::new(1, Stream::MonteCarlo);
        for dim in [1, 2, 3, 7] {
            for count in 1..=dim {
                for lost in 0..1 << count {
                    let mut w: Vec<f64> = (0..count * dim).map(|_| rng.normal()).collect();
                    let is_lost = |j: usize| lost >> j & 1 == 1;
                    for j in (0..count).filter(|&j| is_lost(j)) {
                        w[j * dim..][..dim].fill(0.0);
                    }
                    let kept = (0..count).filter(|&j| !is_lost(j)).count();
                    let mut growth = vec![Growth::default(); count];
                    orthonormalize(&mut w, dim, 1.0, &mut growth);
                    for i in 0..count {
                        for j in 0..=i {
                            let expected = f64::from(u8::from(i == j));
                            let overlap = dot(&w[i * dim..][..dim], &w[j * dim..][..dim]);
                            // Two passes leave some roundings.
                            assert!((overlap - expected).abs() < 1e-14, "{dim} {lost:b}");
                        }
                    }
                    let told: Vec<usize> = growth.iter().map(|growth| growth.lost).collect();
                    assert!(told[..kept].iter().all(|&lost| lost == 0));
                    assert!(told[kept..].iter().all(|&lost| lost == 1));
                }
            }
        }
    }
}
