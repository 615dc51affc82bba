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

use super::surrogate::Surrogate;
use super::{
    Against, Better, Estimate, Judges, MeasureError, MeasureInfo, Options, Rows, SEED, d_stsp,
    spread,
};
use crate::catalogue::{Entry, Kind};
use crate::linalg;
use crate::rng::{Rng, Stream};

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

/// Terms so much below the largest in ln are left out of a sum: 10⁴ e^(−40) is 4e-14 of it at most.
const NEGLIGIBLE: f64 = 40.0;

/// From here on exp(−u) is zero in f32: half of the least positive number is e^(−103.97…).
const UNDERFLOW: f64 = 104.0;

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
        for (sample, row) in block.chunks_exact(n).zip(products.chunks_exact_mut(len)) {
            let of_sample = halves(sample);
            // ‖x − X‖²/2 = ‖x‖²/2 + ‖X‖²/2 − x·X, rounded to 1e-14 or so, never below zero.
            row.iter_mut()
                .zip(&of_centres)
                .for_each(|(u, c)| *u = (of_sample + c - *u).max(0.0));
            found.push(density(row));
        }
    }
    found
}

/// The mean of exp(−u).
fn density(u: &[f64]) -> Density {
    let least = u.iter().copied().fold(f64::INFINITY, f64::min);
    let count = u.len() as f64;
    let near = u.iter().filter(|&&u| u - least < NEGLIGIBLE);
    let sum: f64 = near.map(|u| (least - u).exp()).sum();
    let survivors = u.iter().filter(|&&u| u < UNDERFLOW);
    let single: f64 = survivors.map(|u| f64::from((-u).exp() as f32)).sum();
    Density {
        ln: sum.ln() - least - count.ln(),
        single: single as f32 / count as f32,
    }
}
