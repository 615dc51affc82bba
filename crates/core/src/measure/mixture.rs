//! State-space divergence by Gaussian mixtures, for six channels and more:
//!
//! ```text
//! p(x) = (1/T') Σ_t exp(−‖x − X_t‖²/2)        q alike with the orbit Y
//! D    = ⟨ln p(x) − ln q(x)⟩   over n = 1000 draws x = X_t + ξ,  t uniform, ξ ~ N(0, 1)
//! ```
//!
//! with a component of variance 1 at each of the first T' = min(T, 10 000) rows (the common factor (2π)^(−N/2) cancels).
//! Logarithms of sums of exponentials are exact here. The paper's tables were made in f32, where exp underflows below
//! −103: draws with p = 0 or q = 0 were left out, the worst ones, so that distant orbits score too well (on the EEG an
//! orbit of zeros 13.4 instead of 25.8). [`MixtureDivergence::paper`] is that form, with the number left out.

use std::f64::consts::{LN_2, LOG2_E};

use super::surrogate::Surrogate;
use super::{
    Against, Better, Estimate, Judges, MeasureError, MeasureInfo, Options, Rows, SEED, d_stsp,
    spread,
};
use crate::catalogue::{Entry, Kind};
use crate::linalg;
use crate::rng::{Rng, Stream};
use crate::simd::{Isa, Lanes8, Simd, Task, dispatch};

/// The form of the paper's tables in the list.
pub static PAPER: MeasureInfo = MeasureInfo {
    entry: Entry {
        kind: Kind::Measure,
        id: "d_stsp_paper",
        summary: "d_stsp from 6 channels as the paper's tables have it: in f32, lost samples dropped",
        details: "as d_stsp from 6 channels, but densities in f32: samples where one of them underflows to 0 are\n\
                  left out, the worst ones, so that distant orbits score too well. Only for comparison with\n\
                  published tables; the number left out is reported.",
        settings: &[SEED],
        references: &["hess2023"],
    },
    better: Better::Lower,
    judges: Judges::Orbit(prepare),
    blind_to: &[Surrogate::Shuffled],
};

/// Rows that carry a component, at most.
pub const LARGEST_MIXTURE: usize = 10_000;

/// Draws of the Monte-Carlo mean.
pub const SAMPLES: usize = 1000;

/// Draws whose distances are computed in one product: 64 × 10⁴ distances are 5 MB.
const BLOCK: usize = 64;

/// From here on exp(−u) is zero in f32: half of the least positive number, 2^(−150).
const UNDERFLOW: f64 = 150.0 * LN_2;

/// A truth as a mixture, with draws from it and their densities.
#[derive(Debug, Clone)]
pub struct Mixture {
    samples: Vec<f64>,
    dim: usize,
    p: Vec<Density>,
}

/// The divergence of an orbit, in both forms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MixtureDivergence {
    /// Exact but for the draws.
    pub exact: Estimate,
    /// As the paper's tables have it; none if all draws are lost.
    pub paper: Option<Estimate>,
}

/// A density at one draw.
#[derive(Debug, Clone, Copy)]
struct Density {
    ln: f64,
    single: f32,
}

impl Mixture {
    /// Draws from the mixture of a truth.
    pub fn new(truth: Rows<'_>, seed: u64) -> Result<Mixture, MeasureError> {
        spread(truth)?;
        let centres = truth.slice(0..truth.len().min(LARGEST_MIXTURE));
        let mut rng = Rng::new(seed, Stream::MonteCarlo);
        let mut samples = Vec::with_capacity(SAMPLES * truth.dim());
        for _ in 0..SAMPLES {
            let centre = centres.row(rng.index(centres.len()));
            samples.extend(centre.iter().map(|x| x + rng.normal()));
        }
        let p = densities(&samples, centres);
        Ok(Mixture {
            samples,
            dim: truth.dim(),
            p,
        })
    }

    /// D_stsp of an orbit.
    pub fn divergence(&self, generated: Rows<'_>) -> MixtureDivergence {
        assert_eq!(generated.dim(), self.dim, "channels differ");
        let centres = generated.slice(0..generated.len().min(LARGEST_MIXTURE));
        let q = densities(&self.samples, centres);
        let pairs = || self.p.iter().zip(&q);
        let exact: Vec<f64> = pairs().map(|(p, q)| p.ln - q.ln).collect();
        let kept: Vec<f64> = pairs()
            .filter(|(p, q)| p.single > 0.0 && q.single > 0.0)
            .map(|(p, q)| f64::from(p.single.ln() - q.single.ln()))
            .collect();
        let paper = Estimate {
            dropped: SAMPLES - kept.len(),
            ..Estimate::mean_of(&kept)
        };
        MixtureDivergence {
            exact: Estimate::mean_of(&exact),
            paper: (!kept.is_empty()).then_some(paper),
        }
    }
}

impl Against for Mixture {
    fn judge(&self, generated: Rows<'_>) -> Result<Estimate, MeasureError> {
        Ok(self.divergence(generated).exact)
    }
}

/// The paper's form of a mixture.
struct PaperForm(Mixture);

impl Against for PaperForm {
    fn judge(&self, generated: Rows<'_>) -> Result<Estimate, MeasureError> {
        let paper = self.0.divergence(generated).paper;
        paper.ok_or(MeasureError::Underflow)
    }
}

fn prepare(truth: Rows<'_>, options: &Options) -> Result<Option<Box<dyn Against>>, MeasureError> {
    match truth.dim() <= d_stsp::LARGEST_BINNED {
        true => Ok(None),
        false => Ok(Some(Box::new(PaperForm(Mixture::new(
            truth,
            options.seed,
        )?)))),
    }
}

/// The density of the mixture over `centres` at every sample.
fn densities(samples: &[f64], centres: Rows<'_>) -> Vec<Density> {
    let (n, len) = (centres.dim(), centres.len());
    let halves = |x: &[f64]| 0.5 * x.iter().map(|v| v * v).sum::<f64>();
    let of_centres: Vec<f64> = centres.iter().map(halves).collect();
    let mut products = vec![0.0; BLOCK * len];
    let mut found = Vec::with_capacity(samples.len() / n);
    for block in samples.chunks(BLOCK * n) {
        let count = block.len() / n;
        let products = &mut products[..count * len];
        linalg::multiply_transposed(block, centres.values(), (count, n, len), products);
        for (sample, u) in block.chunks_exact(n).zip(products.chunks_exact_mut(len)) {
            let task = MeanOfExponentials {
                u,
                of_centres: &of_centres,
                of_sample: halves(sample),
            };
            found.push(dispatch::<Lanes8, _>(Isa::detect(), task));
        }
    }
    found
}

/// Numbers that are summed side by side, in a fixed order whatever the instruction set.
const SIDE: usize = 8;

/// The mean of exp(−u) with u = ‖x − X‖²/2 = ‖x‖²/2 + ‖X‖²/2 − x·X, in f64 over all terms and in f32 over those that do
/// not underflow. On entry `u` holds the products x·X.
struct MeanOfExponentials<'a> {
    u: &'a mut [f64],
    of_centres: &'a [f64],
    of_sample: f64,
}

impl Task for MeanOfExponentials<'_> {
    type Output = Density;

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> Density {
        // Rounded to 1e-14 or so, never below zero.
        for (u, c) in self.u.iter_mut().zip(self.of_centres) {
            *u = (self.of_sample + c - *u).max(0.0);
        }
        let count = self.u.len() as f64;
        let least = least(self.u);
        let (mut sum, mut survivors) = ([0.0; SIDE], [0.0; SIDE]);
        let (whole, rest) = self.u.as_chunks::<SIDE>();
        for u in whole {
            add(u, least, &mut sum, &mut survivors);
        }
        let mut last = [f64::INFINITY; SIDE];
        last[..rest.len()].copy_from_slice(rest);
        add(&last, least, &mut sum, &mut survivors);
        let single = survivors.iter().sum::<f64>() * (-least).exp();
        Density {
            ln: sum.iter().sum::<f64>().ln() - least - count.ln(),
            single: single as f32 / count as f32,
        }
    }
}

#[inline(always)]
fn least(u: &[f64]) -> f64 {
    let (whole, rest) = u.as_chunks::<SIDE>();
    let mut least = [f64::INFINITY; SIDE];
    for u in whole {
        for i in 0..SIDE {
            least[i] = if u[i] < least[i] { u[i] } else { least[i] };
        }
    }
    rest.iter()
        .chain(&least)
        .copied()
        .fold(f64::INFINITY, f64::min)
}

/// Adds exp(least − u) to the sums, to the second only where exp(−u) is not zero in f32.
#[inline(always)]
fn add(u: &[f64; SIDE], least: f64, sum: &mut [f64; SIDE], survivors: &mut [f64; SIDE]) {
    for i in 0..SIDE {
        let term = exp_of_minus(u[i] - least);
        sum[i] += term;
        survivors[i] += if u[i] < UNDERFLOW { term } else { 0.0 };
    }
}

/// exp(−d) for d ≥ 0, zero beyond 600: 2^k e^y with k = −d/ln 2 rounded and |y| ≤ ln 2/2. It is here because the compiler
/// makes vectors of it, and not of calls. Relative error below 1e-13: that of y, d times 1.1e-16.
#[inline(always)]
fn exp_of_minus(d: f64) -> f64 {
    let clamped = if d < 600.0 { d } else { 600.0 };
    // Adding 1.5·2⁵² leaves the rounded number in the last bits.
    let shifted = -clamped * LOG2_E + 6_755_399_441_055_744.0;
    let k = shifted - 6_755_399_441_055_744.0;
    let y = -clamped - k * LN_2;
    let series = EXP_SERIES.iter().fold(0.0, |sum, c| sum * y + c);
    let power = f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52);
    if d < 600.0 { series * power } else { 0.0 }
}

/// 1/n! from n = 12 down to 0: the next term is below 2e-16.
const EXP_SERIES: [f64; 13] = [
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponentials_are_those_of_the_library() {
        for i in 0..60_000 {
            let d = f64::from(i) * 0.01;
            let (found, expected) = (exp_of_minus(d), (-d).exp());
            assert!((found / expected - 1.0).abs() < 1e-13, "{d}: {found}");
        }
        assert_eq!((exp_of_minus(0.0), exp_of_minus(f64::INFINITY)), (1.0, 0.0));
    }
}
