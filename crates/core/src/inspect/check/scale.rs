//! Channels that are not standardised: |x̄| > 0.1 or s outside 0.9 … 1.1. Initial parameters, noise levels and
//! measures assume mean 0 and spread 1; noise added after standardising (s = 1.001 for 5 %) stays well inside.

use super::super::{ChannelSummary, Record, Seen, Severity};
use crate::text::figure;

/// Largest deviation of the mean from 0 and of the spread from 1.
const TOLERANCE: f64 = 0.1;

pub(in super::super) fn unscaled(record: &Record) -> Vec<Seen> {
    let far: Vec<usize> = record
        .varying()
        .filter(|&c| off(&record.channels[c]) > TOLERANCE)
        .collect();
    let Some(&worst) = far
        .iter()
        .max_by(|&&a, &&b| off(&record.channels[a]).total_cmp(&off(&record.channels[b])))
    else {
        return Vec::new();
    };
    let of = match far.len() {
        1 => String::new(),
        _ => format!(" ({}, the farthest)", record.name(worst)),
    };
    let what = format!("{}{of}", deviation(&record.channels[worst]));
    let remedy = "`train` standardises by itself where this matters, training and test alike; `attractor prepare FILE scaled.csv --standardize` does for other programs";
    vec![Seen::new(
        Severity::Warning,
        record.subject(&far),
        what,
        remedy,
    )]
}

fn off(channel: &ChannelSummary) -> f64 {
    channel.mean.abs().max((channel.sd - 1.0).abs())
}

/// What is off, and only that.
fn deviation(channel: &ChannelSummary) -> String {
    let (mean, sd) = (figure(channel.mean), figure(channel.sd));
    let mean_is_off = channel.mean.abs() > TOLERANCE;
    let spread_is_off = (channel.sd - 1.0).abs() > TOLERANCE;
    match (mean_is_off, spread_is_off) {
        (true, false) => format!("mean {mean}, not 0"),
        (false, true) => format!("spread {sd}, not 1"),
        _ => format!("mean {mean} and spread {sd}, not 0 and 1"),
    }
}
