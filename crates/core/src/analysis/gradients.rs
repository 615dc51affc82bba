//! How gradients behave along a sequence under forcing: the figures of Hess et al. (2023) as numbers.
//!
//! | function | figure |
//! | --- | --- |
//! | [`product_norms`] | 1: ‖∂z_t/∂z_1‖ against t, for some α |
//! | [`commutators`] | S1: how far Jacobians along an orbit are from commuting |
//! | [`alpha_estimates`] | S2: α by four estimators, over many sequences |
//! | [`loss_landscape`] | S10: the loss over two parameters, for some α |

mod landscape;

pub use landscape::{Landscape, Surface, loss_landscape};

use std::collections::BTreeMap;

use crate::forcing::alpha::{Estimator, Jacobians};
use crate::linalg;
use crate::map::Map;
use crate::rng::{Rng, Stream};

/// A sequence of teacher signals, with the inputs that drive it.
#[derive(Debug, Clone, Copy)]
pub struct Teacher<'a> {
    /// ẑ, T × M.
    pub z: &'a [f64],
    /// s, T × K.
    pub s: &'a [f64],
    /// How many leading states are forced.
    pub forced: usize,
}

/// ln ‖∂z_t/∂z_1‖ for t = 2, …, T along the sequence forced with α, from z̃_1 = ẑ_1:
///
/// ```text
/// ∂z_t/∂z_1 = J̃_t (1 − α) J̃_{t−1} ⋯ (1 − α) J̃_2,    z̃ = z + α (ẑ − z).
/// ```
///
/// The product is rescaled at every step, so that it neither overflows nor vanishes. The slope against t is the largest
/// forced exponent; at α = 0 the largest Lyapunov exponent per step.
pub fn product_norms(map: &dyn Map, theta: &[f64], teacher: &Teacher<'_>, alpha: f64) -> Vec<f64> {
    let (m, k) = (map.dims().latent, map.dims().inputs);
    let mut z = teacher.z[..m].to_vec();
    let mut next = z.clone();
    let mut jac = vec![0.0; m * m];
    let mut product: Vec<f64> = (0..m * m)
        .map(|e| f64::from(u8::from(e % (m + 1) == 0)))
        .collect();
    let mut pushed = product.clone();
    let mut log = 0.0;
    let mut norms = Vec::with_capacity(teacher.z.len() / m);
    for (t, z_hat) in teacher.z.chunks_exact(m).enumerate().skip(1) {
        map.jacobian(theta, &z, &mut jac);
        map.step(theta, &z, &teacher.s[t * k..][..k], &mut next);
        linalg::multiply(&jac, &product, (m, m, m), &mut pushed);
        let norm = if pushed.iter().all(|v| v.is_finite()) {
            linalg::singular_values(&pushed, m, m)[0]
        } else {
            f64::NAN
        };
        log += norm.ln();
        norms.push(log);
        for i in 0..m {
            let gain = if i < teacher.forced { alpha } else { 0.0 };
            // A product that has become zero stays zero, at −∞.
            let scale = if norm == 0.0 {
                0.0
            } else {
                (1.0 - gain) / norm
            };
            (0..m).for_each(|j| product[i * m + j] = pushed[i * m + j] * scale);
            z[i] = next[i] + gain * (z_hat[i] - next[i]);
        }
    }
    norms
}

/// A histogram of weights over [0, 1].
#[derive(Debug, Clone, PartialEq)]
pub struct Histogram {
    /// The fraction of the weight in each of equal bins.
    pub fractions: Vec<f64>,
    /// The mean.
    pub mean: f64,
}

/// Pairs of different Jacobians that are all looked at; beyond, as many pairs of steps are drawn.
const MOST_PAIRS: usize = 1_000_000;

/// The relative commutators of all pairs of Jacobians along an orbit (rows of M),
///
/// ```text
/// r = ‖J_s J_t − J_t J_s‖_F / (√2 ‖J_s‖_F ‖J_t‖_F)  ∈ [0, 1]
/// ```
///
/// by the bound of Böttcher and Wenzel (2008), which is attained. Steps in one region have equal Jacobians and r = 0.
pub fn commutators(map: &dyn Map, theta: &[f64], orbit: &[f64], bins: usize) -> Histogram {
    let m = map.dims().latent;
    let mut numbers: BTreeMap<Vec<u64>, usize> = BTreeMap::new();
    let (mut different, mut counts, mut sequence) = (Vec::new(), Vec::new(), Vec::new());
    let mut jac = vec![0.0; m * m];
    for z in orbit.chunks_exact(m) {
        map.jacobian(theta, z, &mut jac);
        let key = jac.iter().map(|v| v.to_bits()).collect();
        let number = *numbers.entry(key).or_insert(counts.len());
        if number == counts.len() {
            different.push(jac.clone());
            counts.push(0.0);
        }
        counts[number] += 1.0;
        sequence.push(number);
    }
    let mut tally = Tally::new(bins);
    let mut ratio = Ratio::new(m);
    let r = different.len();
    if r * r.saturating_sub(1) / 2 <= MOST_PAIRS {
        for i in 0..r {
            tally.add(0.0, counts[i] * (counts[i] - 1.0));
            for j in 0..i {
                let weight = 2.0 * counts[i] * counts[j];
                tally.add(ratio.of(&different[i], &different[j]), weight);
            }
        }
    } else {
        let mut rng = Rng::new(0, Stream::MonteCarlo);
        for _ in 0..MOST_PAIRS {
            let s = rng.index(sequence.len());
            let t = (s + 1 + rng.index(sequence.len() - 1)) % sequence.len();
            let (a, b) = (&different[sequence[s]], &different[sequence[t]]);
            tally.add(ratio.of(a, b), 1.0);
        }
    }
    tally.finish()
}

/// The relative commutator of two matrices.
pub fn relative_commutator(a: &[f64], b: &[f64], n: usize) -> f64 {
    Ratio::new(n).of(a, b)
}

struct Ratio {
    n: usize,
    ab: Vec<f64>,
    ba: Vec<f64>,
}

impl Ratio {
    fn new(n: usize) -> Ratio {
        Ratio {
            n,
            ab: vec![0.0; n * n],
            ba: vec![0.0; n * n],
        }
    }

    fn of(&mut self, a: &[f64], b: &[f64]) -> f64 {
        let size = (self.n, self.n, self.n);
        linalg::multiply(a, b, size, &mut self.ab);
        linalg::multiply(b, a, size, &mut self.ba);
        let norm = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
        let difference = norm(&mut self.ab.iter().zip(&self.ba).map(|(x, y)| x - y));
        let scale = norm(&mut a.iter().copied()) * norm(&mut b.iter().copied());
        if scale > 0.0 {
            difference / (2f64.sqrt() * scale)
        } else {
            0.0
        }
    }
}

struct Tally {
    weights: Vec<f64>,
    total: f64,
    sum: f64,
}

impl Tally {
    fn new(bins: usize) -> Tally {
        Tally {
            weights: vec![0.0; bins],
            total: 0.0,
            sum: 0.0,
        }
    }

    fn add(&mut self, value: f64, weight: f64) {
        let bins = self.weights.len();
        let bin = ((value * bins as f64) as usize).min(bins - 1);
        self.weights[bin] += weight;
        self.total += weight;
        self.sum += value * weight;
    }

    fn finish(self) -> Histogram {
        let total = self.total.max(f64::MIN_POSITIVE);
        Histogram {
            fractions: self.weights.iter().map(|w| w / total).collect(),
            mean: self.sum / total,
        }
    }
}

/// α of many sequences by four estimators.
#[derive(Debug, Clone, PartialEq)]
pub struct AlphaEstimates {
    /// A row a sequence, a column an estimator of [`ESTIMATORS`].
    pub rows: Vec<[f64; 4]>,
    /// α of the parameters alone.
    pub parameter_bound: f64,
    /// Sequences with a singular Jacobian, whose exp-log is the arithmetic mean.
    pub fallbacks: usize,
}

/// The estimators that look at a sequence.
pub const ESTIMATORS: [Estimator; 4] = [
    Estimator::ArithmeticMean,
    Estimator::ExpLog,
    Estimator::ProductUpperBound,
    Estimator::BatchMaximum,
];

/// The shortest and the longest sequence of [`alpha_estimates`].
const LENGTHS: (usize, usize) = (100, 200);

/// α of `count` sequences of 100 to 200 teacher signals (rows of M) with random starts.
pub fn alpha_estimates(
    map: &dyn Map,
    theta: &[f64],
    teacher: &[f64],
    count: usize,
    seed: u64,
) -> AlphaEstimates {
    let m = map.dims().latent;
    let rows = teacher.len() / m;
    let mut rng = Rng::new(seed, Stream::MonteCarlo);
    let mut estimates = AlphaEstimates {
        rows: Vec::with_capacity(count),
        parameter_bound: crate::forcing::alpha::optimal(map.jacobian_bound(theta)),
        fallbacks: 0,
    };
    for _ in 0..count {
        let wanted = LENGTHS.0 + rng.index(LENGTHS.1 - LENGTHS.0 + 1);
        let len = wanted.min(rows);
        let start = rng.index(rows - len + 1);
        let mut jacobians = vec![0.0; len * m * m];
        let states = teacher[start * m..].chunks_exact(m);
        for (jac, z) in jacobians.chunks_exact_mut(m * m).zip(states) {
            map.jacobian(theta, z, jac);
        }
        let sequence = Jacobians::new(&jacobians, m);
        let norms = ESTIMATORS.map(|estimator| sequence.norm(estimator));
        estimates.fallbacks += norms[1].fallbacks;
        estimates.rows.push(norms.map(|norm| norm.alpha()));
    }
    estimates
}

/// Pearson's correlation of two columns of estimates; NaN if one is constant.
pub fn correlation(rows: &[[f64; 4]], (a, b): (usize, usize)) -> f64 {
    let n = rows.len() as f64;
    let mean = |c: usize| rows.iter().map(|row| row[c]).sum::<f64>() / n;
    let (mean_a, mean_b) = (mean(a), mean(b));
    let moment = |x: usize, mx: f64, y: usize, my: f64| -> f64 {
        rows.iter().map(|row| (row[x] - mx) * (row[y] - my)).sum()
    };
    let variances = moment(a, mean_a, a, mean_a) * moment(b, mean_b, b, mean_b);
    moment(a, mean_a, b, mean_b) / variances.sqrt()
}

#[cfg(test)]
mod tests;
