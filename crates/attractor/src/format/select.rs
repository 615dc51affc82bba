//! Which rows of a file are used: from one moment up to another, at a rate of one's own.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use attractor_core::prepare::{OffGrid, on_grid, regular, resample, without};
use attractor_core::series::{Series, Step, Trajectory};

use super::date::{self, Order};
use super::table::placeholder;
use super::time::times_of;
use super::{Fault, Pattern, ReadOptions, calendar};

/// A place in a recording.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Moment {
    /// By time, in the units of the recording.
    Time(f64),
    /// By a date, in seconds from 1970, of a recording whose times were dates.
    Date(f64),
    /// By the number of a row in its trajectory, from 1.
    Row(usize),
}

/// What stands before the number of a row.
const ROW: &str = "row:";

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Moment, String> {
        let row = text.strip_prefix(ROW).map(str::parse);
        let time = text.parse().ok().filter(|time: &f64| !time.is_nan());
        let date = date::parse(text, Order::Day);
        match (row, time, date) {
            (Some(Ok(row @ 1..)), ..) => Ok(Moment::Row(row)),
            (None, Some(time), _) => Ok(Moment::Time(time)),
            (None, None, Some(date)) => Ok(Moment::Date(date.seconds)),
            _ => Err(
                "expected a time, a date as 1950-01-31, or a row from 1 as in row:1000".to_string(),
            ),
        }
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moment::Time(time) => write!(f, "{time}"),
            Moment::Date(seconds) => f.write_str(&date::in_words(*seconds).replace(' ', "T")),
            Moment::Row(row) => write!(f, "{ROW}{row}"),
        }
    }
}

/// The rows that the options ask for.
pub(super) fn select(series: Series, options: &ReadOptions) -> Result<Series, Fault> {
    let series = if options.only_trajectories.is_empty() {
        series
    } else {
        only(&series, &options.only_trajectories)?
    };
    let series = if options.missing.is_empty() {
        series
    } else {
        without(&series, &options.missing)?
    };
    let series = match Spacing::of(options) {
        Some(Spacing::Lines(dt)) if series.step().dt == dt => series,
        Some(spacing) => spaced(&series, spacing)?,
        None => series,
    };
    let cut = match (options.from, options.to) {
        (None, None) => series,
        (from, to) => cut(&series, from, to)?,
    };
    match options.rate {
        None => Ok(cut),
        Some(rate) => Ok(resample(&cut, rate)?),
    }
}

/// The trajectories whose names match a pattern; (1), (2), … stand for unnamed ones.
fn only(series: &Series, patterns: &[Pattern]) -> Result<Series, Fault> {
    let named = series.trajectories().iter().enumerate().map(|(i, t)| {
        let name = if t.name.is_empty() {
            placeholder(i)
        } else {
            t.name.clone()
        };
        (name, t)
    });
    let named: Vec<(String, &Trajectory)> = named.collect();
    for pattern in patterns {
        if !named.iter().any(|(name, _)| pattern.matches(name)) {
            return Err(Fault::NoTrajectory {
                pattern: pattern.to_string(),
                known: named.into_iter().map(|(name, _)| name).collect(),
            });
        }
    }
    let is_asked = |name: &str| patterns.iter().any(|pattern| pattern.matches(name));
    let kept = named.into_iter().filter(|(name, _)| is_asked(name));
    Ok(series.with(kept.map(|(_, t)| t.clone()).collect())?)
}

/// What becomes of rows at any times.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Spacing {
    /// Straight lines between them give rows so far apart.
    Lines(f64),
    /// They come to the nearest points of a grid of this step.
    Grid(f64),
    /// They keep their times; a model has this step.
    Own(f64),
}

impl Spacing {
    /// What the options ask for.
    pub(super) fn of(options: &ReadOptions) -> Option<Spacing> {
        let lines = options.resample.map(Spacing::Lines);
        let grid = options.grid.map(Spacing::Grid);
        lines.or(grid).or(options.own_times.map(Spacing::Own))
    }

    /// Δt.
    pub(super) fn dt(self) -> f64 {
        match self {
            Spacing::Lines(dt) | Spacing::Grid(dt) | Spacing::Own(dt) => dt,
        }
    }

    /// Rows at their times, spaced so.
    pub(super) fn make(
        self,
        times: &[f64],
        rows: &Trajectory,
        columns: [usize; 2],
    ) -> Result<Trajectory, Fault> {
        match self {
            Spacing::Lines(dt) => regular(times, rows, columns, dt)
                .ok_or_else(|| Fault::fine("--resample", dt, times)),
            Spacing::Grid(dt) => on_grid(times, rows, columns, dt).map_err(|off| match off {
                OffGrid::Fine => Fault::fine("--grid", dt, times),
                OffGrid::Coarse(row) => Fault::coarse(dt, times, row),
            }),
            Spacing::Own(_) => Ok(Trajectory {
                gaps: Vec::new(),
                times: times.to_vec(),
                ..rows.clone()
            }),
        }
    }
}

/// The rows, spaced in another way.
fn spaced(series: &Series, spacing: Spacing) -> Result<Series, Fault> {
    let columns = [series.dim_obs(), series.dim_input()];
    let made = series.trajectories().iter().enumerate().map(|(i, rows)| {
        let times = times_of(series, i);
        spacing.make(&times, rows, columns)
    });
    let trajectories = made.collect::<Result<Vec<_>, _>>()?;
    let step = Step {
        dt: spacing.dt(),
        unit: series.step().unit.clone(),
    };
    let (channels, inputs) = (series.channels().to_vec(), series.inputs().to_vec());
    Ok(Series::new(channels, inputs, step, trajectories)?)
}

/// The rows of every trajectory from one moment up to another.
pub(crate) fn cut(
    series: &Series,
    from: Option<Moment>,
    to: Option<Moment>,
) -> Result<Series, Fault> {
    let parts = (0..series.trajectories().len()).map(|i| (i, rows(series, i, from, to)));
    let kept = parts.filter(|(_, rows)| !rows.is_empty());
    let kept: Vec<_> = kept.map(|(i, rows)| series.slice(i, rows)).collect();
    if kept.is_empty() {
        let all = 0..series.trajectories().len();
        let last = |i| series.time_of(i, series.len_of(i) - 1);
        Err(Fault::NothingSelected {
            from,
            to,
            first: all
                .clone()
                .map(|i| series.time_of(i, 0))
                .fold(f64::MAX, f64::min),
            last: all.map(last).fold(f64::MIN, f64::max),
        })
    } else {
        Ok(series.with(kept)?)
    }
}

fn rows(series: &Series, i: usize, from: Option<Moment>, to: Option<Moment>) -> Range<usize> {
    let len = series.len_of(i);
    let place = |moment: Moment| match moment {
        Moment::Row(row) => (row - 1).min(len),
        Moment::Time(time) => first_at(series, i, time),
        Moment::Date(seconds) => {
            let unit = &series.step().unit;
            first_at(series, i, calendar::in_unit(seconds, unit))
        }
    };
    let start = from.map_or(0, place);
    start..to.map_or(len, place).max(start)
}

/// The first row that is not before a time. A millionth of a step earlier counts as that time, since times of rows are
/// sums of rounded steps.
fn first_at(series: &Series, i: usize, time: f64) -> usize {
    let slack = 1e-6 * series.step().dt;
    let (mut low, mut high) = (0, series.len_of(i));
    while low < high {
        let middle = low + (high - low) / 2;
        if series.time_of(i, middle) < time - slack {
            low = middle + 1
        } else {
            high = middle
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use attractor_core::series::{Channel, Gap, Step, Trajectory};

    fn sample() -> Series {
        let trajectory = Trajectory {
            start: 2.0,
            gaps: vec![Gap { row: 6, time: 5.0 }],
            ..Trajectory::new((0..10).map(f64::from).collect())
        };
        let step = Step {
            dt: 0.1,
            unit: "s".into(),
        };
        Series::new(Channel::numbered("x", 1), vec![], step, vec![trajectory]).unwrap()
    }

    fn moment(text: &str) -> Option<Moment> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn times_and_rows_choose_half_open_ranges() {
        let x = |from, to| {
            cut(&sample(), from, to).unwrap().trajectories()[0]
                .x
                .clone()
        };
        assert_eq!(x(moment("2.2"), moment("2.4")), [2.0, 3.0]);
        assert_eq!(x(moment("2.45"), moment("5.05")), [5.0, 6.0]);
        assert_eq!(x(moment("row:9"), None), [8.0, 9.0]);
        assert_eq!(x(None, moment("row:2")), [0.0]);
        assert_eq!(x(moment("-inf"), moment("inf")).len(), 10);
        let late = cut(&sample(), moment("3"), None).unwrap();
        assert_eq!(late.trajectories()[0].start, 5.0);
        assert!(late.trajectories()[0].gaps.is_empty());
    }

    #[test]
    fn nothing_left_is_told_with_the_times_that_there_are() {
        let error = cut(&sample(), moment("9"), moment("10")).unwrap_err();
        let said = "no row lies from 9 and before 10: times are 2 to 5.3";
        assert!(error.to_string().starts_with(said), "{error}");
        assert!(cut(&sample(), moment("row:11"), None).is_err());
    }

    #[test]
    fn moments_are_read_back_as_printed() {
        for text in [
            "1.5",
            "row:3",
            "-2",
            "inf",
            "1950-01-31",
            "1950-01-31T12:30:05.5",
        ] {
            assert_eq!(text.parse::<Moment>().unwrap().to_string(), text);
        }
        for text in ["row:0", "row:x", "abc", "NaN", ""] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }
}
