//! The threshold by forecasts of the training data.
//!
//! Thresholds from 10⁻⁴ c to c are tried, c the largest coefficient of a fit with all terms, and 0. Every model that comes out is judged by
//! its squared error 20 rows ahead, averaged over training rows; a forecast that leaves the data counts as if it knew nothing of them, with twice
//! their variance, so that a few of these do not rule a model out. Among those within one standard error of the smallest, the one with the
//! fewest terms is taken: what is closer than the standard error, the data do not tell apart (Breiman et al. 1984). It is
//! that of the mean over twenty blocks of rows in time, since errors of neighbouring rows go together.

use super::Sindy;
use crate::dynamics::{Dynamics, Forecasts, Stretch};
use crate::progress::{Control, Follow, Progress, Stopped};
use crate::series::mean_and_sd;

/// Rows ahead, as in the paper's PE(20).
const AHEAD: usize = 20;

/// Rows from which forecasts start, at most.
const STARTS: usize = 2000;

/// Blocks of rows that the standard error is from.
const BLOCKS: usize = 20;

/// Thresholds that are tried beside 0.
const TRIED: usize = 33;

/// Decades that they range over.
const DECADES: f64 = 4.0;

/// A model of the scan.
#[derive(Debug)]
struct Tried {
    system: Sindy,
    terms: usize,
    /// Mean squared error of each block.
    errors: Vec<f64>,
    mean: f64,
}

/// The thresholds to be tried, ascending.
fn thresholds(largest: f64) -> Vec<f64> {
    let power = |i: usize| DECADES * (i as f64 / (TRIED - 1) as f64 - 1.0);
    let scaled = (0..TRIED).map(|i| largest * 10f64.powf(power(i)));
    [0.0].into_iter().chain(scaled).collect()
}

/// The system of the threshold that forecasts choose; `fit` gives that of any threshold.
pub(super) fn choose(
    largest: f64,
    stretches: &[Stretch<'_>],
    mut fit: impl FnMut(f64, &mut dyn Follow) -> Result<Sindy, Stopped>,
    follow: &mut dyn Follow,
) -> Result<Sindy, Stopped> {
    let mut tried: Vec<Tried> = Vec::new();
    let (thresholds, most) = (thresholds(largest), 2.0 * variance(stretches));
    let total = thresholds.len() as u64;
    for (done, &threshold) in thresholds.iter().enumerate() {
        let progress = Progress {
            what: "trying thresholds",
            done: done as u64,
            total,
        };
        let system = fit(threshold, &mut Quiet(follow, progress))?;
        let is_known = |tried: &Tried| tried.system.coefficients() == system.coefficients();
        if tried.last().is_none_or(|last| !is_known(last)) {
            tried.push(Tried::judge(system, stretches, most));
        }
    }
    Ok(sparsest(tried))
}

/// The fewest terms within one standard error of the smallest error; the smaller error of equals.
fn sparsest(tried: Vec<Tried>) -> Sindy {
    let best = tried.iter().min_by(|a, b| a.mean.total_cmp(&b.mean));
    let enough = best.map_or(f64::INFINITY, |best| best.mean + best.standard_error());
    let near = tried.into_iter().filter(|tried| tried.mean <= enough);
    let chosen = near.min_by(|a, b| {
        let by_terms = a.terms.cmp(&b.terms);
        by_terms.then(a.mean.total_cmp(&b.mean))
    });
    chosen.expect("a threshold is tried").system
}

impl Tried {
    fn judge(system: Sindy, stretches: &[Stretch<'_>], most: f64) -> Tried {
        let errors = errors(&system, stretches, most);
        let blocks: Vec<f64> = errors
            .chunks(errors.len().div_ceil(BLOCKS).max(1))
            .map(|block| block.iter().sum::<f64>() / block.len() as f64)
            .collect();
        Tried {
            terms: system.terms_left(),
            mean: errors.iter().sum::<f64>() / errors.len().max(1) as f64,
            errors: blocks,
            system,
        }
    }

    fn standard_error(&self) -> f64 {
        let (_, sd) = mean_and_sd(self.errors.iter().copied());
        sd / (self.errors.len() as f64).sqrt()
    }
}

/// Squared errors of forecasts from rows that are spread evenly over all stretches, at most `most`: twice the variance of the data, the error
/// of rows that know nothing of each other.
fn errors(system: &Sindy, stretches: &[Stretch<'_>], most: f64) -> Vec<f64> {
    let usable = |stretch: &Stretch<'_>| stretch.len().saturating_sub(AHEAD);
    let total: usize = stretches.iter().map(usable).sum();
    let every = total.div_ceil(STARTS).max(1);
    let mut errors = Vec::with_capacity(total / every + stretches.len());
    for stretch in stretches {
        let starts: Vec<usize> = (0..usable(stretch)).step_by(every).collect();
        let mut forecasts = system.forecasts(*stretch);
        for starts in starts.chunks(forecasts.width()) {
            let squares = squares(forecasts.as_mut(), *stretch, starts);
            errors.extend(squares.into_iter().map(|square| square.min(most)));
        }
    }
    errors
}

/// The variances of all channels together.
fn variance(stretches: &[Stretch<'_>]) -> f64 {
    let dim = stretches.first().map_or(0, |stretch| stretch.rows().dim());
    let of_channel = |c: usize| {
        let values = stretches
            .iter()
            .flat_map(|stretch| stretch.rows().column(c));
        mean_and_sd(values).1.powi(2)
    };
    (0..dim).map(of_channel).sum()
}

/// ‖x̂ − x‖² of some forecasts.
fn squares(forecasts: &mut dyn Forecasts, data: Stretch<'_>, starts: &[usize]) -> Vec<f64> {
    forecasts.start(starts);
    let width = forecasts.width();
    let seen = forecasts.advance(AHEAD, 1);
    let of_branch = |(branch, t): (usize, &usize)| {
        let x_hat = seen.iter().skip(branch).step_by(width);
        let pairs = x_hat.zip(data.row(t + AHEAD));
        let sum: f64 = pairs.map(|(a, b)| (a - b) * (a - b)).sum();
        if sum.is_nan() { f64::INFINITY } else { sum }
    };
    starts.iter().enumerate().map(of_branch).collect()
}

/// Hears only whether to stop, and tells of the thresholds what one of them takes.
struct Quiet<'a>(&'a mut dyn Follow, Progress);

impl Follow for Quiet<'_> {
    fn progress(&mut self, _: Progress) -> Control {
        self.0.progress(self.1)
    }
}
