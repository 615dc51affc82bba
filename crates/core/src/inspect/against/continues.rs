//! Whether one recording continues the other without a gap. Certain if values of the one's delayed columns, which
//! look τ rows ahead, are the other's first values; very likely if the jump from the last row of the one to the first
//! of the other is no longer than steps within, while fewer than one row in a hundred lies that near.

use super::super::check::delays;
use super::super::{Record, Seen, Severity, Subject};
use super::Pair;
use crate::text::{count, figure};

/// A jump longer than all but this part of the steps is none.
const STEPS: f64 = 0.05;
/// Largest part of rows that are as near by chance.
const CHANCE: f64 = 0.01;
/// Fewer rows cannot tell a step from chance.
const LEAST_ROWS: usize = 200;

pub(super) fn continues(pair: &Pair) -> Vec<Seen> {
    if !pair.same_channels() {
        return Vec::new();
    }
    let directions = [
        (pair.first, pair.second, "the second continues the first"),
        (pair.second, pair.first, "the first continues the second"),
    ];
    directions
        .into_iter()
        .filter_map(|(before, after, what)| {
            shared(before, after, what).or_else(|| smooth(before, after, what))
        })
        .collect()
}

/// Values that the delayed columns of both recordings share.
fn shared(before: &Record, after: &Record, what: &str) -> Option<Seen> {
    let proven = delays::find(before)
        .into_iter()
        .filter(|&delay| looks_across(before, after, delay));
    let lag = proven.map(|d| d.lag.unsigned_abs()).max()?;
    let what = format!(
        "{what} without a gap: its first {} are in the other's delayed columns already",
        count(lag, "value")
    );
    let remedy = format!("leave more than {lag} rows between them if they are to share no value");
    Some(Seen {
        severity: Severity::Note,
        subject: Subject::Pair,
        what,
        remedy,
    })
}

/// x_of(t) = x_from(t + τ): the last τ values of the column that looks ahead are the first τ of the other.
fn looks_across(before: &Record, after: &Record, delay: delays::Delay) -> bool {
    let lag = delay.lag.unsigned_abs();
    let (ahead, behind) = if delay.lag > 0 {
        (&before.columns[delay.of], &after.columns[delay.from])
    } else {
        (&before.columns[delay.from], &after.columns[delay.of])
    };
    lag <= behind.len() && ahead[ahead.len() - lag..] == behind[..lag]
}

/// A jump no longer than a step.
fn smooth(before: &Record, after: &Record, what: &str) -> Option<Seen> {
    let channels: Vec<usize> = before.varying().collect();
    let n = before.len();
    if n < LEAST_ROWS || channels.is_empty() {
        return None;
    }
    let distance = |t: usize, other: &Record, u: usize| -> f64 {
        let squares = channels.iter().map(|&c| {
            ((before.columns[c][t] - other.columns[c][u]) / before.channels[c].sd).powi(2)
        });
        squares.sum::<f64>().sqrt()
    };
    let jump = distance(n - 1, after, 0);
    let longer = (1..n)
        .filter(|&t| distance(t, before, t - 1) >= jump)
        .count();
    let nearer = (0..n - 1)
        .filter(|&t| distance(t, before, n - 1) <= jump)
        .count();
    let (steps, chance) = (longer as f64 / n as f64, nearer as f64 / n as f64);
    let what = format!(
        "{what}: the jump between them, {} spreads, is no longer than steps within, and only {} % of the rows lie as near",
        figure(jump),
        figure(100.0 * chance)
    );
    let remedy = "leave some autocorrelation times between them if they are to be independent";
    (steps >= STEPS && chance < CHANCE)
        .then(|| Seen::new(Severity::Note, Subject::Pair, what, remedy))
}
