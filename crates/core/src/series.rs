//! A recording: one or more trajectories of unequal length over the same N named channels and K named external
//! inputs, sampled every Δt, with missing values and gaps.
//!
//! A missing value is NaN. A gap is a place between two rows of a trajectory where more time passed than Δt; rows
//! between gaps form a *segment*, and nothing that assumes equal steps may cross its ends. Rows may also have times of their own:
//! then every row is a segment, and only what takes in rows at any times goes from one to the next.

use std::collections::HashSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::text::count;

/// A recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    channels: Vec<Channel>,
    inputs: Vec<Channel>,
    step: Step,
    trajectories: Vec<Trajectory>,
}

/// The name and unit of one column.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// The name, unique within a series.
    pub name: String,
    /// The physical unit, empty when unknown.
    pub unit: String,
}

/// The sampling step Δt.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// How much time passes from row to row.
    pub dt: f64,
    /// The unit of time; empty when unknown.
    pub unit: String,
}

/// Rows that follow one another in time.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    /// The name, such as a subject's; empty when there is only one.
    pub name: String,
    /// Time of the first row.
    pub start: f64,
    /// Observations, len × N row-major; NaN is missing.
    pub x: Vec<f64>,
    /// External inputs, len × K row-major; NaN is missing.
    pub s: Vec<f64>,
    /// Where time jumps, in ascending order.
    pub gaps: Vec<Gap>,
    /// The time of every row, where rows have times of their own; empty where they are Δt apart.
    pub times: Vec<f64>,
}

/// A jump in time between two rows of a trajectory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gap {
    /// The first row after the jump, in 1..len.
    pub row: usize,
    /// The time of that row.
    pub time: f64,
}

/// Why values cannot form a [`Series`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SeriesError {
    /// There is no channel.
    #[error("a series needs at least one channel")]
    NoChannel,
    /// There is no row.
    #[error("a series needs at least one row")]
    NoRow,
    /// Two columns share a name.
    #[error("two columns are named `{name}`")]
    DuplicateName {
        /// The shared name.
        name: String,
    },
    /// The step is not a positive finite number.
    #[error("the sampling step must be a number above 0, found {dt}")]
    Step {
        /// What was given.
        dt: f64,
    },
    /// A trajectory's values do not fill its rows.
    #[error("trajectory {} has {values} values, not a multiple of its columns ({columns})", trajectory + 1)]
    Shape {
        /// Its number, from 0.
        trajectory: usize,
        /// How many values it has.
        values: usize,
        /// How many columns there are.
        columns: usize,
    },
    /// Inputs and observations differ in length.
    #[error("trajectory {} has {} but {} of inputs", trajectory + 1, count(*rows, "row"), count(*inputs, "row"))]
    Inputs {
        /// Its number, from 0.
        trajectory: usize,
        /// Rows of observations.
        rows: usize,
        /// Rows of inputs.
        inputs: usize,
    },
    /// A gap lies outside its trajectory, or gaps do not ascend.
    #[error("trajectory {} has a gap before row {}, outside its rows or out of order", trajectory + 1, row + 1)]
    Gap {
        /// Its number, from 0.
        trajectory: usize,
        /// The row.
        row: usize,
    },
    /// Times of rows are not as many as rows, do not ascend, or there are gaps beside them.
    #[error("trajectory {} has times of rows that are not one per row from its start on, in ascending order and without gaps", trajectory + 1)]
    Times {
        /// Its number, from 0.
        trajectory: usize,
    },
    /// A value is infinite.
    #[error("channel `{channel}` is infinite in row {} of trajectory {}", row + 1, trajectory + 1)]
    Infinite {
        /// The trajectory's number, from 0.
        trajectory: usize,
        /// The row, from 0.
        row: usize,
        /// The channel's name.
        channel: String,
    },
    /// Nothing was measured at all.
    #[error("all values are missing")]
    AllMissing,
}

impl Channel {
    /// A channel without a unit.
    pub fn named(name: impl Into<String>) -> Channel {
        Channel {
            name: name.into(),
            unit: String::new(),
        }
    }

    /// Channels x1, x2, … for data without names.
    pub fn numbered(prefix: &str, n: usize) -> Vec<Channel> {
        (1..=n)
            .map(|i| Channel::named(format!("{prefix}{i}")))
            .collect()
    }
}

impl Default for Step {
    /// One row per unit of time, for data that do not say.
    fn default() -> Step {
        Step {
            dt: 1.0,
            unit: String::new(),
        }
    }
}

impl Trajectory {
    /// An unnamed trajectory without inputs and gaps that starts at time 0.
    pub fn new(x: Vec<f64>) -> Trajectory {
        Trajectory {
            name: String::new(),
            start: 0.0,
            x,
            s: Vec::new(),
            gaps: Vec::new(),
            times: Vec::new(),
        }
    }
}

impl Series {
    /// Checks values into a series.
    pub fn new(
        channels: Vec<Channel>,
        inputs: Vec<Channel>,
        step: Step,
        trajectories: Vec<Trajectory>,
    ) -> Result<Series, SeriesError> {
        let series = Series {
            channels,
            inputs,
            step,
            trajectories,
        };
        series.check()?;
        Ok(series)
    }

    /// A series of one trajectory without names, from values in row-major order.
    pub fn from_rows(x: Vec<f64>, dim_obs: usize, dt: f64) -> Result<Series, SeriesError> {
        let step = Step {
            dt,
            ..Step::default()
        };
        Series::new(
            Channel::numbered("x", dim_obs),
            Vec::new(),
            step,
            vec![Trajectory::new(x)],
        )
    }

    /// Number of channels N.
    pub fn dim_obs(&self) -> usize {
        self.channels.len()
    }

    /// Number of external inputs K.
    pub fn dim_input(&self) -> usize {
        self.inputs.len()
    }

    /// Number of rows over all trajectories.
    pub fn total_len(&self) -> usize {
        (0..self.trajectories.len()).map(|i| self.len_of(i)).sum()
    }

    /// Number of rows of one trajectory.
    pub fn len_of(&self, trajectory: usize) -> usize {
        self.trajectories[trajectory].x.len() / self.dim_obs()
    }

    /// The channels.
    pub fn channels(&self) -> &[Channel] {
        &self.channels
    }

    /// The external inputs' names.
    pub fn inputs(&self) -> &[Channel] {
        &self.inputs
    }

    /// The sampling step.
    pub fn step(&self) -> &Step {
        &self.step
    }

    /// The trajectories.
    pub fn trajectories(&self) -> &[Trajectory] {
        &self.trajectories
    }

    /// All rows of observations, trajectory after trajectory.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> + Clone {
        self.trajectories
            .iter()
            .flat_map(|t| t.x.chunks_exact(self.dim_obs()))
    }

    /// All values of one channel, trajectory after trajectory, missing ones as NaN.
    pub fn column(&self, channel: usize) -> impl Iterator<Item = f64> + Clone + '_ {
        self.rows().map(move |row| row[channel])
    }

    /// Whether any rows have times of their own.
    pub fn has_own_times(&self) -> bool {
        self.trajectories.iter().any(|t| !t.times.is_empty())
    }

    /// Row ranges of one trajectory without a gap inside, in order; every row alone where rows have times of their own.
    pub fn segments(&self, trajectory: usize) -> Vec<Range<usize>> {
        let rows = self.trajectories[trajectory].times.len();
        if rows > 0 {
            return (0..rows).map(|row| row..row + 1).collect();
        }
        let gaps = self.trajectories[trajectory].gaps.iter().map(|gap| gap.row);
        let ends = gaps.chain([self.len_of(trajectory)]);
        ends.scan(0, |start, end| Some(std::mem::replace(start, end)..end))
            .collect()
    }

    /// The time of a row.
    pub fn time_of(&self, trajectory: usize, row: usize) -> f64 {
        let t = &self.trajectories[trajectory];
        if let Some(&time) = t.times.get(row) {
            return time;
        }
        let anchor = t.gaps.iter().rev().find(|gap| gap.row <= row);
        let (first, time) = anchor.map_or((0, t.start), |gap| (gap.row, gap.time));
        time + (row - first) as f64 * self.step.dt
    }

    /// Number of missing observations.
    pub fn missing(&self) -> usize {
        self.trajectories
            .iter()
            .map(|t| t.x.iter().filter(|v| v.is_nan()).count())
            .sum()
    }

    /// The longest stretch of rows without a gap or a missing value, of observations or inputs, with its trajectory; the first
    /// of equals.
    pub fn longest_whole(&self) -> (usize, Range<usize>) {
        let mut longest = (0, 0..0);
        for (i, rows) in self.whole_stretches() {
            if rows.len() > longest.1.len() {
                longest = (i, rows);
            }
        }
        longest
    }

    /// The values of one channel over its longest stretch without a gap or a missing value of it, whatever others lack.
    pub fn channel_alone(&self, channel: usize) -> Vec<f64> {
        let mut longest = (0, 0..0);
        let is_there =
            |i: usize, row: usize| !self.trajectories[i].x[row * self.dim_obs() + channel].is_nan();
        for i in 0..self.trajectories.len() {
            for segment in self.segments(i) {
                for rows in runs(segment, |row| is_there(i, row)) {
                    if rows.len() > longest.1.len() {
                        longest = (i, rows);
                    }
                }
            }
        }
        let (i, rows) = longest;
        let x = &self.trajectories[i].x;
        rows.map(|row| x[row * self.dim_obs() + channel]).collect()
    }

    /// All stretches of rows without a gap or a missing value, with their trajectories, in order.
    pub fn whole_stretches(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let trajectories = 0..self.trajectories.len();
        trajectories.flat_map(move |i| {
            let segments = self.segments(i).into_iter();
            segments
                .flat_map(move |segment| self.whole_parts(i, segment).map(move |rows| (i, rows)))
        })
    }

    /// The parts of a segment between missing values.
    fn whole_parts(
        &self,
        trajectory: usize,
        segment: Range<usize>,
    ) -> impl Iterator<Item = Range<usize>> {
        let (n, k) = (self.dim_obs(), self.dim_input());
        let t = &self.trajectories[trajectory];
        runs(segment, move |row| {
            let mut values = t.x[row * n..][..n].iter().chain(&t.s[row * k..][..k]);
            values.all(|v| !v.is_nan())
        })
    }

    /// The first `fraction` of every trajectory, and the rest. A part without rows is left out; at least one row
    /// stays on either side, or there is nothing to split.
    pub fn split_by_time(&self, fraction: f64) -> Result<(Series, Series), SeriesError> {
        let cut = |i: usize| (self.len_of(i) as f64 * fraction).round() as usize;
        let part = |range: &dyn Fn(usize) -> Range<usize>| {
            let parts = (0..self.trajectories.len())
                .map(|i| (i, range(i)))
                .filter(|(_, r)| !r.is_empty());
            self.with(parts.map(|(i, r)| self.slice(i, r)).collect())
        };
        Ok((part(&|i| 0..cut(i))?, part(&|i| cut(i)..self.len_of(i))?))
    }

    /// The trajectories for which `chosen` holds (by number), and the others.
    pub fn split_by_trajectory(
        &self,
        chosen: impl Fn(usize) -> bool,
    ) -> Result<(Series, Series), SeriesError> {
        let part = |side: bool| {
            let kept = self
                .trajectories
                .iter()
                .enumerate()
                .filter(|&(i, _)| chosen(i) == side);
            self.with(kept.map(|(_, t)| t.clone()).collect())
        };
        Ok((part(true)?, part(false)?))
    }

    /// Rows `range` of one trajectory as a trajectory of its own.
    pub fn slice(&self, trajectory: usize, range: Range<usize>) -> Trajectory {
        let (n, k) = (self.dim_obs(), self.dim_input());
        let from = &self.trajectories[trajectory];
        let inside = from
            .gaps
            .iter()
            .filter(|gap| gap.row > range.start && gap.row < range.end);
        Trajectory {
            name: from.name.clone(),
            start: self.time_of(trajectory, range.start),
            x: from.x[range.start * n..range.end * n].to_vec(),
            s: from.s[range.start * k..range.end * k].to_vec(),
            gaps: inside
                .map(|gap| Gap {
                    row: gap.row - range.start,
                    ..*gap
                })
                .collect(),
            times: match from.times.as_slice() {
                [] => Vec::new(),
                times => times[range].to_vec(),
            },
        }
    }

    /// The same channels and step with other trajectories.
    pub fn with(&self, trajectories: Vec<Trajectory>) -> Result<Series, SeriesError> {
        Series::new(
            self.channels.clone(),
            self.inputs.clone(),
            self.step.clone(),
            trajectories,
        )
    }

    /// The same series with every observation replaced by `f(channel, value)`.
    pub fn map_values(&self, f: impl Fn(usize, f64) -> f64) -> Series {
        let n = self.dim_obs();
        let mut mapped = self.clone();
        for t in &mut mapped.trajectories {
            t.x.iter_mut()
                .enumerate()
                .for_each(|(i, v)| *v = f(i % n, *v));
        }
        mapped
    }

    fn check(&self) -> Result<(), SeriesError> {
        if self.channels.is_empty() {
            return Err(SeriesError::NoChannel);
        }
        if !(self.step.dt > 0.0 && self.step.dt.is_finite()) {
            return Err(SeriesError::Step { dt: self.step.dt });
        }
        let names = self.channels.iter().chain(&self.inputs).map(|c| &c.name);
        let mut seen = HashSet::new();
        if let Some(name) = names.into_iter().find(|name| !seen.insert(*name)) {
            return Err(SeriesError::DuplicateName { name: name.clone() });
        }
        for i in 0..self.trajectories.len() {
            self.check_trajectory(i)?;
        }
        if self.trajectories.is_empty() {
            Err(SeriesError::NoRow)
        } else if self.rows().flatten().all(|v| v.is_nan()) {
            Err(SeriesError::AllMissing)
        } else {
            Ok(())
        }
    }

    fn check_trajectory(&self, trajectory: usize) -> Result<(), SeriesError> {
        let (n, k) = (self.dim_obs(), self.dim_input());
        let t = &self.trajectories[trajectory];
        if t.x.is_empty() {
            return Err(SeriesError::NoRow);
        }
        if !t.x.len().is_multiple_of(n) {
            return Err(SeriesError::Shape {
                trajectory,
                values: t.x.len(),
                columns: n,
            });
        }
        let rows = t.x.len() / n;
        if t.s.len() != rows * k {
            return Err(SeriesError::Inputs {
                trajectory,
                rows,
                inputs: t.s.len() / k.max(1),
            });
        }
        let ascending = t
            .gaps
            .windows(2)
            .all(|g| g[0].row < g[1].row && g[0].time < g[1].time);
        if let Some(gap) = t
            .gaps
            .iter()
            .find(|gap| !ascending || gap.row == 0 || gap.row >= rows)
        {
            return Err(SeriesError::Gap {
                trajectory,
                row: gap.row,
            });
        }
        let ascend = t.times.is_sorted_by(|a, b| a < b) && t.times.iter().all(|t| t.is_finite());
        let of_all = t.times.len() == rows && t.times[0] == t.start && t.gaps.is_empty();
        let fit = t.times.is_empty() || (ascend && of_all);
        if !fit {
            return Err(SeriesError::Times { trajectory });
        }
        let infinite = |values: &[f64]| values.iter().position(|v| v.is_infinite());
        let place = |i: usize, channels: &[Channel]| SeriesError::Infinite {
            trajectory,
            row: i / channels.len(),
            channel: channels[i % channels.len()].name.clone(),
        };
        match (infinite(&t.x), infinite(&t.s)) {
            (Some(i), _) => Err(place(i, &self.channels)),
            (_, Some(i)) => Err(place(i, &self.inputs)),
            _ => Ok(()),
        }
    }
}

/// Mean and standard deviation per channel, kept so that what a model generates can be mapped back to physical
/// units:  x_scaled = (x − mean) / sd.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// What is subtracted, per channel.
    pub mean: Vec<f64>,
    /// What is divided by, per channel; 1 for a constant channel.
    pub sd: Vec<f64>,
}

impl Scaling {
    /// The scaling that changes nothing.
    pub fn identity(dim_obs: usize) -> Scaling {
        Scaling {
            mean: vec![0.0; dim_obs],
            sd: vec![1.0; dim_obs],
        }
    }

    /// Mean and sample standard deviation (n − 1) of what is not missing. A constant channel is only centred.
    pub fn standardizing(series: &Series) -> Scaling {
        let moments = (0..series.dim_obs()).map(|c| mean_and_sd(series.column(c)));
        let (mean, sd) = moments
            .map(|(mean, sd)| (mean, if sd > 0.0 { sd } else { 1.0 }))
            .unzip();
        Scaling { mean, sd }
    }

    /// To scaled units.
    pub fn apply(&self, series: &Series) -> Series {
        series.map_values(|c, x| {
            let (mean, sd) = (self.mean[c], self.sd[c]);
            // A difference of two of the largest numbers is none.
            if (x - mean).is_infinite() {
                x / sd - mean / sd
            } else {
                (x - mean) / sd
            }
        })
    }

    /// Back to physical units.
    pub fn invert(&self, series: &Series) -> Series {
        series.map_values(|c, x| x * self.sd[c] + self.mean[c])
    }
}

/// Mean and sample standard deviation (n − 1) of the values that are not NaN; (0, 0) when there is none. Two
/// passes, so that a large mean does not cost digits.
///
/// Of any finite values: where the variance leaves the normal numbers, as that of values near 1e-200 or 1e200 does, both are
/// computed in units of a power of two, which rounds nothing. Elsewhere they are computed as they stand.
pub fn mean_and_sd(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let present = values.filter(|v| !v.is_nan());
    let (mean, variance) = mean_and_variance(present.clone());
    if variance.is_normal() {
        return (mean, variance.sqrt());
    }
    let unit = binade(present.clone().fold(0.0, |most: f64, v| most.max(v.abs())));
    let (mean, variance) = mean_and_variance(present.map(|v| v / unit));
    // What varies has a spread above 0, and no spread is infinite: that of ±f64::MAX is √2 times as large.
    let least = if variance > 0.0 {
        f64::from_bits(1)
    } else {
        0.0
    };
    (mean * unit, (variance.sqrt() * unit).clamp(least, f64::MAX))
}

fn mean_and_variance(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let (n, sum) = values
        .clone()
        .fold((0usize, 0.0), |(n, sum), v| (n + 1, sum + v));
    if n == 0 {
        return (0.0, 0.0);
    }
    let mean = sum / n as f64;
    let squares: f64 = values.map(|v| (v - mean) * (v - mean)).sum();
    (mean, squares / n.saturating_sub(1).max(1) as f64)
}

/// The power of two at or below |v|, kept between 2⁻¹⁰²² and 2¹⁰²²: values of the size of v, divided by it, are of order
/// one and not rounded.
pub(crate) fn binade(v: f64) -> f64 {
    let within = v.abs().clamp(f64::MIN_POSITIVE, 2f64.powi(1022));
    f64::from_bits(within.to_bits() >> 52 << 52)
}

/// The longest parts of a range in which something holds for every row, in order.
fn runs(rows: Range<usize>, holds: impl Fn(usize) -> bool) -> impl Iterator<Item = Range<usize>> {
    let mut next = rows.start;
    std::iter::from_fn(move || {
        let start = (next..rows.end).find(|&row| holds(row))?;
        let end = (start..rows.end).find(|&row| !holds(row));
        next = end.unwrap_or(rows.end);
        Some(start..next)
    })
}

#[cfg(test)]
mod tests;
