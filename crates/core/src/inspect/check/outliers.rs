//! Far extremes: at most 0.1 % of the values that lie beyond an empty stretch of more than five spreads, where the
//! spread is that of the middle 99 %. The peaks of a heartbeat are no outliers: they are approached value by value.

use super::super::{Record, Seen, Severity};
use crate::series::mean_and_sd;
use crate::text::{count, figure};

/// Least empty stretch, in spreads.
const EMPTY: f64 = 5.0;
/// Fewer values have no distribution to lie outside of.
const LEAST_ROWS: usize = 50;

/// Values beyond an empty stretch.
struct Outliers {
    number: usize,
    farthest: f64,
    spreads: f64,
}

pub(in super::super) fn outliers(record: &Record) -> Vec<Seen> {
    let found: Vec<(usize, Outliers)> = record
        .varying()
        .filter_map(|c| far_extremes(&record.sorted(c)).map(|o| (c, o)))
        .collect();
    let Some((worst, most)) = found
        .iter()
        .max_by(|a, b| a.1.spreads.total_cmp(&b.1.spreads))
    else {
        return Vec::new();
    };
    let channels: Vec<usize> = found.iter().map(|(c, _)| *c).collect();
    let number: usize = found.iter().map(|(_, o)| o.number).sum();
    let row = record.columns[*worst]
        .iter()
        .position(|&v| v == most.farthest);
    let what = format!(
        "{} far from all others: {} in {} (row {}) is {} spreads away",
        count(number, "value"),
        figure(most.farthest),
        record.name(*worst),
        row.map_or(0, |row| row + 1),
        figure(most.spreads)
    );
    let remedy = format!(
        "`--missing-value={}` reads the farthest as missing if it is an artefact; one such value sets the scale of the whole channel",
        most.farthest
    );
    vec![Seen::new(
        Severity::Warning,
        record.subject(&channels),
        what,
        &remedy,
    )]
}

fn far_extremes(sorted: &[f64]) -> Option<Outliers> {
    let n = sorted.len();
    if n < LEAST_ROWS {
        return None;
    }
    let cut = n.div_ceil(200);
    let (middle, spread) = mean_and_sd(sorted[cut..n - cut].iter().copied());
    let tail = (n / 1000).max(1);
    let beyond = |below: usize, above: usize| sorted[above] - sorted[below] > EMPTY * spread;
    let low = (1..=tail).rev().find(|&k| beyond(k - 1, k)).unwrap_or(0);
    let high = (1..=tail)
        .rev()
        .find(|&k| beyond(n - k - 1, n - k))
        .unwrap_or(0);
    let ends = [(low, sorted[0]), (high, sorted[n - 1])];
    let farthest = ends
        .into_iter()
        .filter(|&(number, _)| number > 0)
        .map(|(_, v)| v)
        .max_by(|a, b| (a - middle).abs().total_cmp(&(b - middle).abs()))?;
    Some(Outliers {
        number: low + high,
        farthest,
        spreads: (farthest - middle).abs() / spread,
    })
    // Mostly one value and a few others: held or quantised, not outlying.
    .filter(|_| spread > 0.0)
}
