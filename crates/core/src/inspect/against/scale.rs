//! Whether two recordings have the same scale: per channel the shift of the mean in spreads and the ratio of the
//! spreads. A difference counts when it matters (a quarter of a spread, a factor of 1.25) and exceeds four standard
//! errors, √(2τ(1/T₁ + 1/T₂)) for means and √(τ(1/T₁ + 1/T₂)) for logarithms of spreads, τ the autocorrelation time.

use super::super::{Seen, Severity};
use super::{Difference, Pair};
use crate::text::figure;

/// Least shift of a mean that matters, in spreads.
const SHIFT: f64 = 0.25;
/// Least factor between spreads that matters.
const FACTOR: f64 = 1.25;
/// Standard errors by which a difference must exceed chance.
const ERRORS: f64 = 4.0;

pub(super) fn differences(pair: &Pair) -> Vec<Difference> {
    if !pair.same_channels() {
        return Vec::new();
    }
    let channels = pair.first.channels.iter().zip(&pair.second.channels);
    channels
        .map(|(first, second)| Difference {
            name: first.name.clone(),
            mean_shift: (second.mean - first.mean) / first.sd,
            spread_ratio: second.sd / first.sd,
        })
        .collect()
}

pub(super) fn differs(pair: &Pair) -> Vec<Seen> {
    let differences = differences(pair);
    let far: Vec<usize> = (0..differences.len())
        .filter(|&c| pair.first.varies(c) && matters(pair, c, &differences[c]))
        .collect();
    let size = |c: usize| differences[c].mean_shift.abs() + differences[c].spread_ratio.ln().abs();
    let Some(&worst) = far.iter().max_by(|&&a, &&b| size(a).total_cmp(&size(b))) else {
        return Vec::new();
    };
    let what = format!(
        "the second's mean is off by {} spreads and its spread by a factor of {} ({}, the most)",
        figure(differences[worst].mean_shift),
        figure(differences[worst].spread_ratio),
        differences[worst].name
    );
    let remedy = "scale both with the first's mean and spread; if they are, the recordings are of different regimes";
    vec![Seen::new(
        Severity::Warning,
        pair.first.subject(&far),
        what,
        remedy,
    )]
}

fn matters(pair: &Pair, channel: usize, difference: &Difference) -> bool {
    let times = [pair.first, pair.second].map(|r| r.channels[channel].autocorrelation_time);
    let tau = times.into_iter().flatten().fold(1.0, f64::max);
    let spread = tau / pair.first.len() as f64 + tau / pair.second.len() as f64;
    let shifted = difference.mean_shift.abs();
    let widened = difference.spread_ratio.ln().abs();
    shifted > SHIFT.max(ERRORS * (2.0 * spread).sqrt())
        || widened > FACTOR.ln().max(ERRORS * spread.sqrt())
}
