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
use crate::rng::{Rng, Stream};
use crate::simd::{
    Bytes, EIGHT, Eights, Isa, Select, Simd, SimdBase, SimdFloat, Task, dispatch_widest, f64x8,
    u64x8,
};

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

/// Groups of [`SIDE`] centres that all draws meet before the next ones: with 64 channels they fill 128 kB.
const TILE: usize = 32;

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
    if truth.dim() <= d_stsp::LARGEST_BINNED {
        Ok(None)
    } else {
        Ok(Some(Box::new(PaperForm(Mixture::new(
            truth,
            options.seed,
        )?))))
    }
}

/// The density of the mixture over `centres` at every sample.
fn densities(samples: &[f64], centres: Rows<'_>) -> Vec<Density> {
    let task = Densities {
        samples,
        dim: centres.dim(),
        centres: &Centres::new(centres),
    };
    let count = centres.len() as f64;
    let sums = dispatch_widest(Isa::detect(), task);
    sums.iter().map(|sums| sums.density(count)).collect()
}

/// Numbers that are summed side by side, in a fixed order whatever the instruction set.
const SIDE: usize = EIGHT;

/// Centres in groups of [`SIDE`], the last group filled up with centres infinitely far away.
struct Centres {
    /// `[group][channel][SIDE]`.
    values: Vec<Eights<1>>,
    /// ‖X‖²/2, `[group][SIDE]`.
    halves: Vec<[f64; SIDE]>,
}

impl Centres {
    fn new(rows: Rows<'_>) -> Centres {
        let (n, groups) = (rows.dim(), rows.len().div_ceil(SIDE));
        let mut centres = Centres {
            values: vec![Eights::ZERO; groups * n],
            halves: vec![[f64::INFINITY; SIDE]; groups],
        };
        for (t, row) in rows.iter().enumerate() {
            let (group, i) = (t / SIDE, t % SIDE);
            let values = centres.values[group * n..].iter_mut().zip(row);
            values.for_each(|(values, &x)| values.numbers_mut()[i] = x);
            centres.halves[group][i] = half_square(row);
        }
        centres
    }
}

/// ‖x‖²/2.
fn half_square(x: &[f64]) -> f64 {
    0.5 * x.iter().map(|v| v * v).sum::<f64>()
}

/// Σ exp(−u) over the centres with u = ‖x − X‖²/2 = ‖x‖²/2 + ‖X‖²/2 − x·X, at every sample x.
struct Densities<'a> {
    samples: &'a [f64],
    dim: usize,
    centres: &'a Centres,
}

impl Task for Densities<'_> {
    type Output = Vec<Sums>;

    /// Eight samples side by side where a register holds all [`SIDE`] sums and there are 32 registers, else four.
    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Vec<Sums> {
        match S::f64s::LEN {
            SIDE => self.add_up::<S, 8>(simd),
            _ => self.add_up::<S, 4>(simd),
        }
    }
}

impl Densities<'_> {
    /// The sums, of A samples at a time.
    #[inline(always)]
    fn add_up<S: Simd, const A: usize>(self, simd: S) -> Vec<Sums> {
        let n = self.dim;
        let mut sums = vec![Sums::default(); self.samples.len() / n];
        let mut u = [[f64x8::splat(simd, 0.0); TILE]; A];
        let samples: Vec<Samples<A>> = self
            .samples
            .chunks(A * n)
            .map(|samples| Samples::new(samples, n))
            .collect();
        let tiles = self.centres.values.chunks(TILE * n);
        for tile in tiles.zip(self.centres.halves.chunks(TILE)) {
            for (samples, sums) in samples.iter().zip(sums.chunks_mut(A)) {
                samples.squares(simd, tile, &mut u);
                for (sums, u) in sums.iter_mut().zip(&u) {
                    sums.add(simd, &u[..tile.1.len()]);
                }
            }
        }
        sums
    }
}

/// Up to A samples side by side; those that are missing are zero.
struct Samples<const A: usize> {
    /// `[channel][sample]`.
    values: Vec<[f64; A]>,
    /// ‖x‖²/2.
    halves: [f64; A],
}

impl<const A: usize> Samples<A> {
    fn new(rows: &[f64], n: usize) -> Samples<A> {
        let mut samples = Samples {
            values: vec![[0.0; A]; n],
            halves: [0.0; A],
        };
        for (i, row) in rows.chunks_exact(n).enumerate() {
            let values = samples.values.iter_mut().zip(row);
            values.for_each(|(values, &x)| values[i] = x);
            samples.halves[i] = half_square(row);
        }
        samples
    }

    /// u of all samples and a tile of centres.
    #[inline(always)]
    fn squares<S: Simd>(
        &self,
        simd: S,
        (values, halves): (&[Eights<1>], &[[f64; SIDE]]),
        u: &mut [[f64x8<S>; TILE]; A],
    ) {
        let zero = f64x8::splat(simd, 0.0);
        let centres = values.chunks_exact(self.values.len()).zip(halves);
        for (group, (values, halves)) in centres.enumerate() {
            let mut products = [zero; A];
            for (values, x) in values.iter().zip(&self.values) {
                let values = values.load(simd, 0);
                for (product, &x) in products.iter_mut().zip(x) {
                    *product = values.mul_add(f64x8::splat(simd, x), *product);
                }
            }
            let halves = f64x8::from_slice(simd, halves);
            for s in 0..A {
                // Rounded to 1e-14 or so, never below zero.
                u[s][group] = (halves + self.halves[s] - products[s]).max(zero);
            }
        }
    }
}

/// Σ exp(least − u) over the centres met so far, and the same over those with exp(−u) > 0 in f32.
#[derive(Debug, Clone, Copy)]
struct Sums {
    least: f64,
    all: [f64; SIDE],
    survivors: [f64; SIDE],
}

impl Default for Sums {
    fn default() -> Sums {
        Sums {
            least: f64::INFINITY,
            all: [0.0; SIDE],
            survivors: [0.0; SIDE],
        }
    }
}

impl Sums {
    #[inline(always)]
    fn add<S: Simd>(&mut self, simd: S, u: &[f64x8<S>]) {
        self.measure_from(least(simd, u));
        let (least, underflow) = (
            f64x8::splat(simd, self.least),
            f64x8::splat(simd, UNDERFLOW),
        );
        let zero = f64x8::splat(simd, 0.0);
        let mut all = f64x8::from_slice(simd, &self.all);
        let mut survivors = f64x8::from_slice(simd, &self.survivors);
        for &u in u {
            let term = exp_of_minus(simd, u - least);
            all += term;
            survivors += u.simd_lt(underflow).select(term, zero);
        }
        self.all.copy_from_slice(all.as_slice());
        self.survivors.copy_from_slice(survivors.as_slice());
    }

    /// Goes over to a smaller least u.
    #[inline(always)]
    fn measure_from(&mut self, least: f64) {
        if least < self.least {
            let factor = (least - self.least).exp();
            let sums = self.all.iter_mut().chain(&mut self.survivors);
            sums.for_each(|sum| *sum *= factor);
            self.least = least;
        }
    }

    /// The mean over `count` centres.
    fn density(&self, count: f64) -> Density {
        let single = self.survivors.iter().sum::<f64>() * (-self.least).exp();
        Density {
            ln: self.all.iter().sum::<f64>().ln() - self.least - count.ln(),
            single: single as f32 / count as f32,
        }
    }
}

#[inline(always)]
fn least<S: Simd>(simd: S, u: &[f64x8<S>]) -> f64 {
    let far = f64x8::splat(simd, f64::INFINITY);
    let least = u.iter().fold(far, |least, &u| least.min(u));
    least
        .as_slice()
        .iter()
        .copied()
        .fold(f64::INFINITY, f64::min)
}

/// exp(−d) for d ≥ 0, beyond 600 that of 600, which is zero beside 1: 2^k e^y with k = −d/ln 2 rounded and
/// |y| ≤ ln 2/2. Relative error below 1e-13: that of y, d times 1.1e-16.
#[inline(always)]
fn exp_of_minus<S: Simd>(simd: S, d: f64x8<S>) -> f64x8<S> {
    let splat = |v: f64| f64x8::splat(simd, v);
    let d = d.min(splat(600.0));
    // Adding 1.5·2⁵² leaves the rounded number in the last bits.
    let large = splat(6_755_399_441_055_744.0);
    let shifted = d.mul_add(splat(-LOG2_E), large);
    let y = (shifted - large).mul_add(splat(-LN_2), -d);
    let bits: u64x8<S> = shifted.bitcast();
    let power: f64x8<S> = ((bits + 1023) << 52).bitcast();
    // In pairs and fours, so that products do not wait for one another.
    let (c, y2) = (EXP_SERIES.map(splat), y * y);
    let pair = |n: usize| y.mul_add(c[n + 1], c[n]);
    let four = |n: usize| pair(n + 2).mul_add(y2, pair(n));
    let y4 = y2 * y2;
    let high = y4.mul_add(c[12], four(8)).mul_add(y4, four(4));
    high.mul_add(y4, four(0)) * power
}

/// 1/n! from n = 0 to 12: the next term is below 2e-16.
const EXP_SERIES: [f64; 13] = [
    1.0,
    1.0,
    0.5,
    1.0 / 6.0,
    1.0 / 24.0,
    1.0 / 120.0,
    1.0 / 720.0,
    1.0 / 5_040.0,
    1.0 / 40_320.0,
    1.0 / 362_880.0,
    1.0 / 3_628_800.0,
    1.0 / 39_916_800.0,
    1.0 / 479_001_600.0,
];

#[cfg(test)]
mod tests {
    use std::array;

    use super::*;

    /// exp(−d) of eight numbers.
    struct Exponentials([f64; SIDE]);

    impl Task for Exponentials {
        type Output = [f64; SIDE];

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> [f64; SIDE] {
            let terms = exp_of_minus(simd, f64x8::from_slice(simd, &self.0));
            array::from_fn(|i| terms.as_slice()[i])
        }
    }

    #[test]
    fn exponentials_are_those_of_the_library() {
        for isa in Isa::available() {
            for i in 0..7_500 {
                let d = array::from_fn(|j| 0.01 * (8 * i + j) as f64);
                let found = dispatch_widest(isa, Exponentials(d));
                for (d, found) in d.iter().zip(found) {
                    let error = found / (-d).exp() - 1.0;
                    assert!(error.abs() < 1e-13, "{d}: {found}, {isa:?}");
                }
            }
            let ends = dispatch_widest(isa, Exponentials([f64::INFINITY; SIDE]));
            assert!(ends.iter().all(|&end| end < 1e-260), "{isa:?}");
        }
    }

    /// Both have fused multiply-adds; how many samples stand side by side changes none of their sums.
    #[test]
    fn densities_are_the_same_with_wider_registers() {
        let mut rng = Rng::new(3, Stream::MonteCarlo);
        // Neither the samples nor the centres fill their last group.
        let n = 7;
        let mut draw = |rows: usize| -> Vec<f64> {
            let numbers = (0..rows * n).map(|_| 3.0 * rng.normal());
            numbers.collect()
        };
        let (samples, rows) = (draw(13), draw(301));
        let centres = Centres::new(Rows::new(&rows, n));
        let with = |isa| {
            let task = Densities {
                samples: &samples,
                dim: n,
                centres: &centres,
            };
            let numbers = |sums: &Sums| (sums.least, sums.all, sums.survivors);
            let sums = dispatch_widest(isa, task);
            sums.iter().map(numbers).collect::<Vec<_>>()
        };
        for isa in Isa::available().filter(|&isa| isa >= Isa::Avx2) {
            assert_eq!(with(isa), with(Isa::Avx2), "{isa:?}");
        }
    }
}
