//! Whether the second recording is the first, row for row (exactly, up to rounding, or up to scale and noise), or
//! shares a run of rows with it at some offset.

use super::super::repeats::{longest_common, row_hashes};
use super::super::{Record, Seen, Severity, Subject};
use super::Pair;
use crate::series::binade;
use crate::text::{count, figure};

/// Largest difference, in spreads, that is rounding: three printed decimals of standardised data.
const ROUNDING: f64 = 1e-3;
/// Least correlation of a copy in every channel; 5 % noise leaves 0.9975.
const COPY: f64 = 0.99;
/// Fewer rows correlate by chance.
const LEAST_ROWS: usize = 50;
/// A shared run of more than this part of the shorter recording is grave.
const GRAVE: f64 = 0.01;

const SPLIT: &str =
    "split one recording into two parts that share no rows: scores on training data judge nothing";

pub(super) fn same(pair: &Pair) -> Vec<Seen> {
    if !pair.same_channels() || pair.first.len() != pair.second.len() {
        return Vec::new();
    }
    let channels = 0..pair.first.channels.len();
    let farthest = channels
        .clone()
        .map(|c| largest_difference(pair, c))
        .fold(0.0, f64::max);
    let seen = |severity, what| vec![Seen::new(severity, Subject::Pair, what, SPLIT)];
    let rows = count(pair.first.len(), "row");
    if farthest == 0.0 {
        let what = format!("the second is the first: all {rows} are equal");
        return seen(Severity::Problem, what);
    }
    if farthest < ROUNDING {
        let what = format!(
            "the second is the first up to rounding: {rows} differ by at most {} spreads",
            figure(farthest)
        );
        return seen(Severity::Problem, what);
    }
    let least = channels
        .map(|c| correlation(pair, c))
        .fold(f64::INFINITY, f64::min);
    if pair.first.len() >= LEAST_ROWS && least > COPY {
        let what = format!(
            "the second is the first up to scale and noise: row for row every channel correlates with at least {}",
            figure(least)
        );
        return seen(Severity::Problem, what);
    }
    Vec::new()
}

/// Largest |x₁ − x₂| of a channel in spreads of the first; infinite where only one is missing.
fn largest_difference(pair: &Pair, channel: usize) -> f64 {
    let sd = pair.first.channels[channel].sd;
    let scale = if sd > 0.0 { sd } else { 1.0 };
    rows_of(pair, channel)
        .map(|(a, b)| match (a.is_nan(), b.is_nan()) {
            (true, true) => 0.0,
            (false, false) => (a - b).abs() / scale,
            _ => f64::INFINITY,
        })
        .fold(0.0, f64::max)
}

/// |corr| of a channel row by row, over rows where both are present; 0 for a constant.
fn correlation(pair: &Pair, channel: usize) -> f64 {
    let summary = |r: &Record| (r.channels[channel].mean, r.channels[channel].sd);
    let ((mean_1, sd_1), (mean_2, sd_2)) = (summary(pair.first), summary(pair.second));
    let present = rows_of(pair, channel).filter(|(a, b)| !a.is_nan() && !b.is_nan());
    // In units of powers of two, so that products are numbers and nothing is rounded.
    let (unit_1, unit_2) = (binade(sd_1), binade(sd_2));
    let (n, sum) = present.fold((0usize, 0.0), |(n, sum), (a, b)| {
        (n + 1, sum + (a - mean_1) / unit_1 * ((b - mean_2) / unit_2))
    });
    let rho = sum / (n.saturating_sub(1) as f64 * (sd_1 / unit_1) * (sd_2 / unit_2));
    if rho.is_finite() { rho.abs() } else { 0.0 }
}

fn rows_of<'a>(pair: &'a Pair, channel: usize) -> impl Iterator<Item = (f64, f64)> + 'a {
    let (first, second) = (&pair.first.columns[channel], &pair.second.columns[channel]);
    first.iter().copied().zip(second.iter().copied())
}

pub(super) fn overlap(pair: &Pair) -> Vec<Seen> {
    if !pair.same_channels() || !same(pair).is_empty() {
        return Vec::new();
    }
    let units = pair.first.units();
    let hashes = |r: &Record| row_hashes(r.series.rows(), &units);
    let Some(run) = longest_common(&hashes(pair.first), &hashes(pair.second)) else {
        return Vec::new();
    };
    let what = format!(
        "{} are in both: from row {} of the first and from row {} of the second",
        count(run.len, "row"),
        run.first + 1,
        run.second + 1
    );
    let shorter = pair.first.len().min(pair.second.len()) as f64;
    let severity = if run.len as f64 > GRAVE * shorter {
        Severity::Problem
    } else {
        Severity::Warning
    };
    vec![Seen::new(severity, Subject::Pair, what, SPLIT)]
}
