//! Statistics that change along a trajectory. It is cut into 20 blocks, and a straight line is fitted to the blocks'
//! means (trend) or to the logarithms of their spreads:
//!
//!   t = b / se(b),   se(b)² = Σ residual² / (18 Σ(i − ī)²).
//!
//! Blocks longer than the autocorrelation time are nearly independent, so that slow but stationary dynamics widen
//! the residuals and not t. Seen is |t| > 6 (once in 10⁵ by chance with 18 degrees of freedom) when the change from
//! end to end also matters: half a spread, or a factor of 1.5.

use std::ops::Range;

use super::super::{Record, Seen, Severity};
use crate::series::{binade, mean_and_sd};
use crate::text::figure;

const BLOCKS: usize = 20;
/// Fewer rows per block say too little.
const LEAST_ROWS: usize = 10;
/// Least |t|.
const SIGNIFICANT: f64 = 6.0;
/// Least drift of the mean from end to end, in spreads.
const DRIFT: f64 = 0.5;
/// Least factor between the spreads at the ends.
const WIDENING: f64 = 1.5;

/// A straight line through the blocks' statistics.
struct Line {
    first: f64,
    last: f64,
    t: f64,
}

pub(in super::super) fn trend(record: &Record) -> Vec<Seen> {
    let drifting = |c: usize| -> Option<(f64, String)> {
        let sd = record.channels[c].sd;
        // A power of two, so that squares are numbers and nothing is rounded.
        let unit = binade(sd);
        let (line, place) = steepest(record, c, |(mean, _)| mean / unit)?;
        let drift = (line.last - line.first) / (sd / unit);
        let words = format!(
            "the mean drifts from {} to {}{place}, {} spreads",
            figure(line.first * unit),
            figure(line.last * unit),
            figure(drift.abs())
        );
        (drift.abs() > DRIFT).then_some((drift.abs(), words))
    };
    worst_of(
        record,
        drifting,
        "`attractor prepare FILE level.csv --detrend` removes the linear trend, `--from` and `--to` choose a shorter stretch: a model of an autonomous system cannot drift",
    )
}

pub(in super::super) fn changing_spread(record: &Record) -> Vec<Seen> {
    let widening = |c: usize| -> Option<(f64, String)> {
        let (line, place) = steepest(record, c, |(_, sd)| sd.ln())?;
        let factor = (line.last - line.first).abs().exp();
        let words = format!(
            "the spread changes from {} to {}{place}",
            figure(line.first.exp()),
            figure(line.last.exp())
        );
        (factor > WIDENING).then_some((factor, words))
    };
    worst_of(
        record,
        widening,
        "`--from` and `--to` choose a stretch with steady spread; find what changed otherwise: one model has one spread",
    )
}

/// One finding for all channels that changed, in the words of the one that changed most.
fn worst_of(
    record: &Record,
    look: impl Fn(usize) -> Option<(f64, String)>,
    remedy: &str,
) -> Vec<Seen> {
    let changed: Vec<(usize, f64, String)> = record
        .varying()
        .filter_map(|c| look(c).map(|(size, words)| (c, size, words)))
        .collect();
    let Some((worst, _, words)) = changed.iter().max_by(|a, b| a.1.total_cmp(&b.1)) else {
        return Vec::new();
    };
    let channels: Vec<usize> = changed.iter().map(|(c, _, _)| *c).collect();
    let of = match channels.len() {
        1 => String::new(),
        _ => format!(" ({}, the most)", record.name(*worst)),
    };
    vec![Seen::new(
        Severity::Warning,
        record.subject(&channels),
        format!("{words}{of}"),
        remedy,
    )]
}

/// The most significant line over the trajectories, with words for the place if there are several.
fn steepest(
    record: &Record,
    channel: usize,
    statistic: impl Fn((f64, f64)) -> f64,
) -> Option<(Line, String)> {
    let ranges = record.trajectory_ranges();
    let several = ranges.len() > 1;
    let lines = ranges.into_iter().enumerate().filter_map(|(i, range)| {
        let blocks = block_moments(&record.columns[channel], range)?;
        let line = fitted(blocks.map(&statistic));
        let place = if several {
            format!(" in trajectory {}", i + 1)
        } else {
            String::new()
        };
        (line.t.abs() > SIGNIFICANT).then_some((line, place))
    });
    lines.max_by(|a, b| a.0.t.abs().total_cmp(&b.0.t.abs()))
}

/// Mean and spread of each block; none if a block has too few present values.
fn block_moments(column: &[f64], range: Range<usize>) -> Option<[(f64, f64); BLOCKS]> {
    let bounds = |i: usize| range.start + i * range.len() / BLOCKS;
    let mut moments = [(0.0, 0.0); BLOCKS];
    for (i, moment) in moments.iter_mut().enumerate() {
        let block = &column[bounds(i)..bounds(i + 1)];
        if block.iter().filter(|v| !v.is_nan()).count() < LEAST_ROWS {
            return None;
        }
        *moment = mean_and_sd(block.iter().copied());
    }
    Some(moments)
}

/// Least squares through y_i at i − ī. Not a number (a block without spread) makes t not a number, which is not
/// significant; an exact line has infinite t.
fn fitted(y: [f64; BLOCKS]) -> Line {
    let middle = (BLOCKS - 1) as f64 / 2.0;
    let mean = y.iter().sum::<f64>() / BLOCKS as f64;
    let place = |i: usize| i as f64 - middle;
    let squares: f64 = (0..BLOCKS).map(|i| place(i).powi(2)).sum();
    let slope = (0..BLOCKS).map(|i| place(i) * (y[i] - mean)).sum::<f64>() / squares;
    let residual = |i: usize| y[i] - mean - slope * place(i);
    let variance = (0..BLOCKS).map(|i| residual(i).powi(2)).sum::<f64>() / (BLOCKS - 2) as f64;
    Line {
        first: mean - slope * middle,
        last: mean + slope * middle,
        t: slope / (variance / squares).sqrt(),
    }
}
