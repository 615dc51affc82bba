//! A recording measured once for all checks: per channel the values in order of time, mean x̄, sample
//! standard deviation s = √(Σ(x − x̄)²/(n − 1)), extremes, missing values, autocorrelation time and dominant period.

use std::ops::Range;

use super::spectrum::{Correlator, Period};
use super::{Options, Seen, Severity, Subject};
use crate::progress::{Follow, Stopped, tell};
use crate::series::{Series, binade, mean_and_sd};

/// What the table of channels shows.
#[derive(Debug, Clone, PartialEq)]
pub struct ChannelSummary {
    /// The name.
    pub name: String,
    /// The physical unit, empty when unknown.
    pub unit: String,
    /// The mean; NaN when all values are missing, as are spread and extremes.
    pub mean: f64,
    /// The sample standard deviation (n − 1).
    pub sd: f64,
    /// The least value.
    pub min: f64,
    /// The greatest value.
    pub max: f64,
    /// How many values are missing.
    pub missing: usize,
    /// Rows until the autocorrelation has fallen to 1/e, interpolated; none if constant or never within half of the
    /// longest segment.
    pub autocorrelation_time: Option<f64>,
    /// The dominant period, if the spectrum has a peak that stands out.
    pub period: Option<Period>,
}

/// What is said about one trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct TrajectorySummary {
    /// The name, empty when there is none.
    pub name: String,
    /// Number of rows.
    pub rows: usize,
    /// Number of gaps.
    pub gaps: usize,
    /// Time of the first row.
    pub start: f64,
    /// Time of the last row.
    pub end: f64,
}

/// A recording with what the checks need of it.
#[derive(Debug)]
pub struct Record<'a> {
    /// The recording.
    pub series: &'a Series,
    /// What it is meant for.
    pub options: Options,
    /// The channels' summaries.
    pub channels: Vec<ChannelSummary>,
    /// The trajectories' summaries.
    pub trajectories: Vec<TrajectorySummary>,
    /// Per channel all values, trajectory after trajectory; NaN is missing.
    pub columns: Vec<Vec<f64>>,
    /// Row ranges without a gap inside, as positions in the columns.
    pub segments: Vec<Range<usize>>,
}

impl<'a> Record<'a> {
    /// Measures a recording, channel by channel: beside the recording and its columns, nothing as large as they are is kept.
    pub fn new(
        series: &'a Series,
        options: Options,
        follow: &mut dyn Follow,
    ) -> Result<Record<'a>, Stopped> {
        let columns = columns(series);
        let segments = segments(series);
        let mut correlator = Correlator::new(&segments);
        let mut channels = Vec::with_capacity(columns.len());
        for (c, column) in columns.iter().enumerate() {
            tell(follow, "measuring channels", c as u64, columns.len() as u64)?;
            channels.push(summarise(series, c, column, &mut correlator));
        }
        Ok(Record {
            series,
            options,
            channels,
            trajectories: trajectories(series),
            columns,
            segments,
        })
    }

    /// The values of a channel that are not missing, ascending.
    pub(super) fn sorted(&self, channel: usize) -> Vec<f64> {
        let column = self.columns[channel].iter().copied();
        let mut present: Vec<f64> = column.filter(|v| !v.is_nan()).collect();
        present.sort_unstable_by(f64::total_cmp);
        present
    }

    /// How many values of a channel are not missing.
    pub(super) fn present(&self, channel: usize) -> usize {
        self.columns[channel].len() - self.channels[channel].missing
    }

    /// The channel's name.
    pub fn name(&self, channel: usize) -> String {
        self.channels[channel].name.clone()
    }

    /// Number of rows over all trajectories.
    pub fn len(&self) -> usize {
        self.series.total_len()
    }

    /// True if there is no row, which a series rules out.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Length of the longest stretch of rows without a gap.
    pub fn longest_segment(&self) -> usize {
        self.segments.iter().map(Range::len).max().unwrap_or(0)
    }

    /// True if the channel has at least two different values.
    pub fn varies(&self, channel: usize) -> bool {
        self.channels[channel].min < self.channels[channel].max
    }

    /// The channels that vary.
    pub fn varying(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.channels.len()).filter(|&c| self.varies(c))
    }

    /// The power of two of every channel's spread; 1 where it does not vary.
    pub(super) fn units(&self) -> Vec<f64> {
        let unit = |c: usize| {
            if self.varies(c) {
                binade(self.channels[c].sd)
            } else {
                1.0
            }
        };
        (0..self.channels.len()).map(unit).collect()
    }

    /// The rows that a position range of the columns stands for.
    pub fn rows(&self, positions: Range<usize>) -> Subject {
        let mut first = 0;
        for (trajectory, t) in self.trajectories.iter().enumerate() {
            if positions.start < first + t.rows {
                return Subject::Rows {
                    trajectory,
                    first: positions.start - first,
                    end: positions.end - first,
                };
            }
            first += t.rows;
        }
        Subject::Recording
    }

    /// Position ranges of the trajectories in the columns.
    pub fn trajectory_ranges(&self) -> Vec<Range<usize>> {
        let lengths = self.trajectories.iter().map(|t| t.rows);
        lengths
            .scan(0, |start, rows| {
                *start += rows;
                Some(*start - rows..*start)
            })
            .collect()
    }

    /// The channels as subject: names, for one finding about several.
    pub fn subject(&self, channels: &[usize]) -> Subject {
        Subject::Channels(channels.iter().map(|&c| self.name(c)).collect())
    }

    /// A length of time in rows, and in units of time when the step is known: `35.2 rows (0.352 s)`.
    pub fn duration(&self, rows: f64) -> String {
        duration(rows, self.series)
    }
}

impl Seen {
    /// What was seen, with a remedy in fixed words.
    pub(super) fn new(severity: Severity, subject: Subject, what: String, remedy: &str) -> Seen {
        Seen {
            severity,
            subject,
            what,
            remedy: remedy.to_string(),
        }
    }
}

/// Rows, and units of time when rows are not the unit already.
pub(super) fn duration(rows: f64, series: &Series) -> String {
    let step = series.step();
    let rows_text = crate::text::measure(rows, "row");
    if step.dt == 1.0 && step.unit.is_empty() {
        return rows_text;
    }
    let time = crate::text::duration(rows * step.dt, &step.unit);
    format!("{rows_text}, {time}")
}

fn columns(series: &Series) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::with_capacity(series.total_len()); series.dim_obs()];
    for row in series.rows() {
        for (column, &v) in columns.iter_mut().zip(row) {
            column.push(v);
        }
    }
    columns
}

fn segments(series: &Series) -> Vec<Range<usize>> {
    let mut segments = Vec::new();
    let mut first = 0;
    for i in 0..series.trajectories().len() {
        let inside = series.segments(i).into_iter();
        segments.extend(inside.map(|r| first + r.start..first + r.end));
        first += series.len_of(i);
    }
    segments
}

fn trajectories(series: &Series) -> Vec<TrajectorySummary> {
    let summary = |(i, t): (usize, &crate::series::Trajectory)| TrajectorySummary {
        name: t.name.clone(),
        rows: series.len_of(i),
        gaps: t.gaps.len(),
        start: t.start,
        end: series.time_of(i, series.len_of(i) - 1),
    };
    series
        .trajectories()
        .iter()
        .enumerate()
        .map(summary)
        .collect()
}

fn summarise(
    series: &Series,
    channel: usize,
    column: &[f64],
    correlator: &mut Correlator,
) -> ChannelSummary {
    let missing = column.iter().filter(|v| v.is_nan()).count();
    let (mean, sd) = if missing == column.len() {
        (f64::NAN, f64::NAN)
    } else {
        mean_and_sd(column.iter().copied())
    };
    // By the total order −0 is less than 0, as in a sorted column; NaN is missing.
    let present = || column.iter().copied().filter(|v| !v.is_nan());
    let min = present().min_by(f64::total_cmp).unwrap_or(f64::NAN);
    let max = present().max_by(f64::total_cmp).unwrap_or(f64::NAN);
    let memory = (min < max).then(|| correlator.correlate(column, (mean, sd)));
    let described = &series.channels()[channel];
    ChannelSummary {
        name: described.name.clone(),
        unit: described.unit.clone(),
        mean,
        sd,
        min,
        max,
        missing,
        autocorrelation_time: memory.as_ref().and_then(|m| m.time()),
        period: memory.as_ref().and_then(|m| correlator.period(m)),
    }
}
