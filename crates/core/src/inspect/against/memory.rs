//! Whether two recordings forget themselves in as many rows: a second one that was sampled at another rate does not, and where neither says its
//! step nothing else shows it.
//!
//! The autocorrelation ρ of T rows scatters by about √(2τ/T), and ρ = e^{−t/τ} falls by 1/e per unit of ln t where it crosses 1/e, so that
//! ln τ scatters by e √(2τ/T). Over channels the median counts.

use std::f64::consts::E;

use super::super::{Seen, Severity, Subject};
use super::{Pair, shape};
use crate::measure::summary::median;
use crate::text::figure;

/// Least factor between autocorrelation times that matters.
const FACTOR: f64 = 1.5;
/// Standard errors by which a difference must exceed chance.
const ERRORS: f64 = 4.0;

pub(super) fn differs(pair: &Pair) -> Vec<Seen> {
    if !pair.same_channels() || !shape::same_step(pair) {
        return Vec::new();
    }
    let rows = [pair.first, pair.second].map(|recording| recording.len() as f64);
    let channels = pair.first.channels.iter().zip(&pair.second.channels);
    let times = channels.filter_map(|(first, second)| {
        let times = [first.autocorrelation_time?, second.autocorrelation_time?];
        Some((first.name.as_str(), times))
    });
    let times: Vec<(&str, [f64; 2])> = times.collect();
    let logarithm = |[first, second]: [f64; 2]| (second / first).ln();
    let mut ratios: Vec<f64> = times.iter().map(|&(_, times)| logarithm(times)).collect();
    let ratio = median(&mut ratios);
    let scatter =
        |[first, second]: [f64; 2]| E * (2.0 * (first / rows[0] + second / rows[1])).sqrt();
    let nearest = times.iter().min_by(|a, b| {
        let off = |times: [f64; 2]| (logarithm(times) - ratio).abs();
        off(a.1).total_cmp(&off(b.1))
    });
    let Some(&(name, times)) = nearest else {
        return Vec::new();
    };
    if ratio.abs() <= FACTOR.ln().max(ERRORS * scatter(times)) {
        return Vec::new();
    }
    let what = format!(
        "`{name}` forgets itself after {} rows in the first and {} in the second",
        figure(times[0]),
        figure(times[1])
    );
    let remedy = "a map has one step: was one of them sampled at another rate (`--dt` says so, `--resample` mends it), or are they of different regimes?";
    vec![Seen::new(Severity::Warning, Subject::Pair, what, remedy)]
}
