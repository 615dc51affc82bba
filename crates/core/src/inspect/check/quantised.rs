//! Values on a grid: all differences of neighbouring distinct values are whole multiples of one step g. It is found
//! as their greatest common divisor, by Euclid's algorithm on reals with 5 % of g as zero; a grid of more than 2¹⁶
//! steps over the range is none.
//!
//! Ties make nearest neighbours coincide, which breaks embeddings and dimension estimates, so a grid is worth a word
//! when it is coarse against the spread or when most values are ties.

use super::super::{Record, Seen, Severity};
use crate::text::{count, figure};

/// Most steps over the range that a grid has.
const STEPS: f64 = 65_536.0;
/// A difference within this part of g of a multiple is one.
const ZERO: f64 = 0.05;
/// A spread of fewer steps is coarse.
const COARSE: f64 = 20.0;
/// Fewer distinct values fit some grid by chance.
const LEAST_DISTINCT: usize = 8;
/// Fewer values have no ties to speak of.
const LEAST_ROWS: usize = 50;

/// A channel's grid.
struct Grid {
    channel: usize,
    distinct: usize,
    step: Option<f64>,
}

impl Grid {
    /// Steps a spread.
    fn fineness(&self, record: &Record) -> f64 {
        self.step
            .map_or(0.0, |g| record.channels[self.channel].sd / g)
    }
}

pub(in super::super) fn quantised(record: &Record) -> Vec<Seen> {
    let grids: Vec<Grid> = record.varying().filter_map(|c| grid(record, c)).collect();
    let (coarse, fine): (Vec<Grid>, Vec<Grid>) =
        grids.into_iter().partition(|g| g.fineness(record) < COARSE);
    [(Severity::Warning, coarse), (Severity::Note, fine)]
        .into_iter()
        .filter_map(|(severity, grids)| seen(record, severity, &grids))
        .collect()
}

fn seen(record: &Record, severity: Severity, grids: &[Grid]) -> Option<Seen> {
    let worst = grids.iter().min_by_key(|g| g.distinct)?;
    let channels: Vec<usize> = grids.iter().map(|g| g.channel).collect();
    let of = match channels.len() {
        1 => String::new(),
        _ => format!(" ({}, the fewest)", record.name(worst.channel)),
    };
    let step = match worst.step {
        Some(g) => format!(
            "values lie on a grid of step {}, 1/{:.0} of the spread",
            figure(g),
            worst.fineness(record)
        ),
        None => "few values occur".to_string(),
    };
    let what = format!(
        "{step}: {} distinct in {}{of}",
        worst.distinct,
        count(record.present(worst.channel), "row")
    );
    let remedy = match (severity, worst.step) {
        (Severity::Note, Some(_)) => format!(
            "`attractor prepare FILE noisy.csv --noise {}` adds noise of a fraction of a step, before a dimension estimate: ties break nearest neighbours",
            figure(0.25 / worst.fineness(record))
        ),
        (Severity::Note, None) => "ties break nearest neighbours: estimates of dimensions suffer".to_string(),
        _ => "record with more resolution, or smooth with `attractor prepare FILE smooth.csv --smooth gaussian:2`: rounding is part of the dynamics at this step".to_string(),
    };
    Some(Seen::new(
        severity,
        record.subject(&channels),
        what,
        &remedy,
    ))
}

/// The grid of a channel, if it is coarse or makes ties.
fn grid(record: &Record, channel: usize) -> Option<Grid> {
    let present = record.present(channel);
    let mut distinct = record.sorted(channel);
    distinct.dedup();
    let ties = 2 * distinct.len() < present;
    let grid = Grid {
        channel,
        distinct: distinct.len(),
        step: if distinct.len() < LEAST_DISTINCT {
            None
        } else {
            common_step(&distinct)
        },
    };
    let few = grid.distinct < LEAST_DISTINCT;
    let on_grid = grid.step.is_some() && (ties || grid.fineness(record) < COARSE);
    (present >= LEAST_ROWS && (few || on_grid)).then_some(grid)
}

/// The greatest step of which all differences are multiples.
fn common_step(distinct: &[f64]) -> Option<f64> {
    let range = distinct[distinct.len() - 1] - distinct[0];
    let least = range / STEPS;
    if distinct.len() as f64 > STEPS {
        return None;
    }
    let differences = || distinct.windows(2).map(|w| w[1] - w[0]);
    let mut step = differences().fold(range, f64::min);
    // A failure at least halves the step, so there are at most 16 sweeps.
    while step >= least {
        match differences().find_map(|d| remainder(d, step)) {
            None => return Some(refined(differences(), step)),
            Some(r) => step = r,
        }
    }
    None
}

/// How far a difference is from the nearest multiple of the step, if that is not zero.
fn remainder(d: f64, step: f64) -> Option<f64> {
    let r = (d - (d / step).round() * step).abs();
    (r > ZERO * step).then_some(r)
}

/// The step that fits all differences: Σd / Σ round(d/g).
fn refined(differences: impl Iterator<Item = f64>, step: f64) -> f64 {
    let (sum, steps) = differences.fold((0.0, 0.0), |(sum, steps), d| {
        (sum + d, steps + (d / step).round())
    });
    sum / steps
}
