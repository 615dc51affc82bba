//! Channels that are the same up to offset and scale: |corr(x_i, x_j)| > 1 − 10⁻⁴.
//!
//! With standardised columns u_i and random unit vectors v, (u_i ∓ u_j)·v has standard deviation √(2(1 − |ρ|)).
//! Only pairs whose two projections agree within five of these are correlated in full, so that N channels cost
//! O(NT), not O(N²T).

use super::super::{Record, Seen, Severity};
use crate::rng::{Rng, Stream};
use crate::text::{count, figure};

/// Largest 1 − |ρ| of channels that count as the same.
const APART: f64 = 1e-4;

pub(in super::super) fn duplicates(record: &Record) -> Vec<Seen> {
    let channels: Vec<usize> = record
        .varying()
        .filter(|&c| record.present(c) > 2)
        .collect();
    let projected = projections(record, &channels);
    let correlation = |i: usize, j: usize| correlation(record, channels[i], channels[j]);
    let mut taken = vec![false; channels.len()];
    let mut seen = Vec::new();
    for i in 0..channels.len() {
        if taken[i] {
            continue;
        }
        let same: Vec<usize> = (i + 1..channels.len())
            .filter(|&j| !taken[j] && near(projected[i], projected[j]))
            .filter(|&j| 1.0 - correlation(i, j).abs() < APART)
            .collect();
        same.iter().for_each(|&j| taken[j] = true);
        if !same.is_empty() {
            let group: Vec<usize> = [i].iter().chain(&same).map(|&k| channels[k]).collect();
            seen.push(group_seen(record, &group, correlation(i, same[0])));
        }
    }
    seen
}

fn group_seen(record: &Record, group: &[usize], rho: f64) -> Seen {
    let first = &record.columns[group[0]];
    let equal = group[1..].iter().all(|&c| {
        first
            .iter()
            .zip(&record.columns[c])
            .all(|(a, b)| same_value(*a, *b))
    });
    let what = if equal {
        format!("{} are equal in every row", count(group.len(), "channel"))
    } else {
        format!(
            "{} are the same up to offset and scale (correlation {})",
            count(group.len(), "channel"),
            figure(rho)
        )
    };
    let remedy = format!(
        "keep {} and leave the others out: copies add no information",
        record.name(group[0])
    );
    Seen {
        severity: Severity::Warning,
        subject: record.subject(group),
        what,
        remedy,
    }
}

fn same_value(a: f64, b: f64) -> bool {
    a == b || (a.is_nan() && b.is_nan())
}

/// (x − x̄)/(s √(n − 1)), so that products sum to the correlation; 0 where missing.
fn standardised<'a>(record: &'a Record, channel: usize) -> impl Iterator<Item = f64> + 'a {
    let summary = &record.channels[channel];
    let norm = summary.sd * ((record.present(channel) - 1) as f64).sqrt();
    record.columns[channel].iter().map(move |&v| {
        if v.is_nan() {
            0.0
        } else {
            (v - summary.mean) / norm
        }
    })
}

/// Rows that are projected at a time: directions of all would take as much room as two channels.
const BLOCK: usize = 4096;

/// Two projections of every channel on fixed random directions with unit variance an entry.
fn projections(record: &Record, channels: &[usize]) -> Vec<[f64; 2]> {
    let mut rng = Rng::new(0, Stream::MonteCarlo);
    let side = 3f64.sqrt();
    let mut columns: Vec<_> = channels.iter().map(|&c| standardised(record, c)).collect();
    let mut projected = vec![[0.0; 2]; channels.len()];
    for start in (0..record.len()).step_by(BLOCK) {
        let rows = BLOCK.min(record.len() - start);
        let directions: Vec<[f64; 2]> = (0..rows)
            .map(|_| [rng.between(-side, side), rng.between(-side, side)])
            .collect();
        for (sums, column) in projected.iter_mut().zip(&mut columns) {
            for (v, u) in directions.iter().zip(column) {
                *sums = [sums[0] + u * v[0], sums[1] + u * v[1]];
            }
        }
    }
    projected
}

/// True if one is within five standard deviations of plus or minus the other.
fn near(a: [f64; 2], b: [f64; 2]) -> bool {
    let reach = 5.0 * (2.0 * APART).sqrt();
    [1.0, -1.0]
        .into_iter()
        .any(|sign| (0..2).all(|k| (a[k] - sign * b[k]).abs() < reach))
}

fn correlation(record: &Record, i: usize, j: usize) -> f64 {
    let pairs = standardised(record, i).zip(standardised(record, j));
    pairs.map(|(a, b)| a * b).sum()
}
