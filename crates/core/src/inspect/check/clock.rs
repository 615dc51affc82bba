//! Channels that are no states but times: values that rise from row to row in nearly equal steps, or a name of time.
//!
//! ```text
//! x_{t+1} > x_t for all t,   and x_{t+1} − x_t within a quarter of the median step for 90 % of the rows
//! ```
//!
//! No state of a system that stays on an attractor does that for ever. Months have 28 to 31 days, and a recording may have gaps.

use super::super::{Record, Seen, Severity};
use crate::series::{Channel, Series};
use crate::text::enumerate;

/// Why a channel looks like a column of times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// It rises in nearly equal steps.
    Steps,
    /// It is named like one.
    Name,
}

/// Fewer steps may well rise by accident.
const FEWEST_STEPS: usize = 10;

/// By how much a step may differ from the median one.
const UNLIKE: f64 = 0.25;

/// The share of steps that must not.
const ALIKE: f64 = 0.9;

/// Names of times, in lower case: a channel that is named so is one whatever its values are.
const NAMES: [&str; 22] = [
    "time",
    "times",
    "timestamp",
    "date",
    "datetime",
    "year",
    "month",
    "day",
    "hour",
    "minute",
    "second",
    "zeit",
    "datum",
    "jahr",
    "monat",
    "tag",
    "temps",
    "fecha",
    "tiempo",
    "tempo",
    "epoch",
    "unnamed: 0",
];

/// The channels that look like columns of times.
pub fn clocks(series: &Series) -> Vec<(usize, Clock)> {
    let clock = |c: usize| {
        let why = clock(&series.channels()[c], &steps(series, c));
        why.map(|why| (c, why))
    };
    (0..series.dim_obs()).filter_map(clock).collect()
}

fn clock(channel: &Channel, steps: &[f64]) -> Option<Clock> {
    let name = channel.name.to_lowercase();
    if NAMES.contains(&name.trim()) {
        return Some(Clock::Name);
    }
    rises_evenly(steps).then_some(Clock::Steps)
}

/// From every row to the next, trajectory by trajectory; NaN beside a missing value.
fn steps(series: &Series, channel: usize) -> Vec<f64> {
    let n = series.dim_obs();
    let of_trajectory = series.trajectories().iter().flat_map(|t| {
        let column = t.x.iter().skip(channel).step_by(n);
        column.clone().zip(column.skip(1)).map(|(a, b)| b - a)
    });
    of_trajectory.collect()
}

fn rises_evenly(steps: &[f64]) -> bool {
    let rises = steps.iter().all(|&step| step > 0.0);
    if steps.len() < FEWEST_STEPS || !rises {
        return false;
    }
    let mut sorted = steps.to_vec();
    let (_, &mut median, _) = sorted.select_nth_unstable_by(steps.len() / 2, f64::total_cmp);
    let alike = steps
        .iter()
        .filter(|&&step| (step - median).abs() <= UNLIKE * median);
    alike.count() as f64 >= ALIKE * steps.len() as f64
}

pub(in super::super) fn clock_as_state(record: &Record) -> Vec<Seen> {
    let found = clocks(record.series);
    let Some((_, why)) = found.first() else {
        return Vec::new();
    };
    let channels: Vec<usize> = found.iter().map(|(c, _)| *c).collect();
    let what = match why {
        Clock::Steps => "rises in nearly equal steps, as times do, and no state does",
        Clock::Name => "is named like a column of times, and no state of the system",
    };
    let others: Vec<&str> = (0..record.channels.len())
        .filter(|c| !channels.contains(c))
        .map(|c| record.channels[c].name.as_str())
        .collect();
    let remedy = if others.is_empty() {
        "the file has no other channel: there is nothing to learn".to_string()
    } else {
        let name = &record.channels[channels[0]].name;
        format!(
            "`--time {name}` takes it as the time axis, `--channels` with the others ({}) leaves it out",
            enumerate(&others)
        )
    };
    vec![Seen::new(
        Severity::Problem,
        record.subject(&channels),
        what.to_string(),
        &remedy,
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str, x: Vec<f64>) -> Vec<(usize, Clock)> {
        let other: Vec<f64> = (0..x.len()).map(|t| (t as f64).sin()).collect();
        let rows = x.iter().zip(other).flat_map(|(&x, y)| [x, y]).collect();
        let series = Series::from_rows(rows, 2, 1.0).unwrap();
        let channels = vec![Channel::named(name), Channel::named("y")];
        let step = series.step().clone();
        let t = series.trajectories().to_vec();
        clocks(&Series::new(channels, Vec::new(), step, t).unwrap())
    }

    #[test]
    fn what_rises_evenly_is_a_clock() {
        let seconds = (0..50).map(|t| 3.0 + 0.01 * f64::from(t)).collect();
        assert_eq!(named("x1", seconds), [(0, Clock::Steps)]);
        // Days of the first of every month, with a year that was not recorded.
        let lengths = [
            31.0, 28.0, 31.0, 30.0, 31.0, 30.0, 31.0, 31.0, 30.0, 31.0, 30.0, 31.0,
        ];
        let mut day = 0.0;
        let mut days = Vec::new();
        for month in 0..60 {
            days.push(day);
            day += lengths[month % 12] + if month == 30 { 365.0 } else { 0.0 };
        }
        assert_eq!(named("x1", days), [(0, Clock::Steps)]);
    }

    #[test]
    fn what_is_named_like_time_is_a_clock() {
        let months = (0..48).map(|t| f64::from(t % 12)).collect();
        assert_eq!(named("Month", months), [(0, Clock::Name)]);
    }

    #[test]
    fn states_are_no_clocks() {
        // A short ramp, one that falls, an oscillation with a trend, a ramp with one step back, and growth.
        let wave: Vec<f64> = (0..90)
            .map(|t| f64::from(t) + 5.0 * f64::from(t).sin())
            .collect();
        let mut back: Vec<f64> = (0..90).map(f64::from).collect();
        back[40] = 38.5;
        let growth: Vec<f64> = (0..90).map(|t| 1.05f64.powi(t)).collect();
        let falls: Vec<f64> = (0..90).map(|t| -f64::from(t)).collect();
        let short: Vec<f64> = (0..8).map(f64::from).collect();
        for x in [wave, back, growth, falls, short] {
            assert_eq!(named("x1", x), []);
        }
    }
}
