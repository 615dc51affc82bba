//! Recordings from arrays that a program holds in memory, and rows taken out of a recording.
//!
//! Where rows have times, the step Δt and the gaps follow from them as they do from the column of times of a file; a step that is
//! given decides what a gap is. Or rows keep times of their own.

use attractor_core::hint::Hint;
use attractor_core::series::{Channel, Gap, Series, Step, Trajectory};

use crate::format::Axis;

/// What the columns of arrays are.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Columns {
    /// The channels.
    pub channels: Vec<Channel>,
    /// The external inputs.
    pub inputs: Vec<Channel>,
    /// The sampling step; else that of the times, else 1.
    pub dt: Option<f64>,
    /// The unit of time.
    pub unit: String,
    /// The step of a model of rows that keep times of their own.
    pub own_times: Option<f64>,
}

/// The rows of one trajectory.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Rows {
    /// Its name, if it has one.
    pub name: String,
    /// Observations, row-major.
    pub x: Vec<f64>,
    /// External inputs, row-major.
    pub s: Vec<f64>,
    /// The time of every row, where that is known.
    pub times: Option<Vec<f64>>,
}

/// Why arrays form no recording.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ArrayError {
    /// Time does not go forward.
    #[error("time goes back in row {} of trajectory {}, from {before} to {found}", row + 1, trajectory + 1)]
    TimeBack {
        /// The trajectory, from 0.
        trajectory: usize,
        /// The row, from 0.
        row: usize,
        /// The time of the row before.
        before: f64,
        /// Its time.
        found: f64,
    },
    /// Steps of time differ.
    #[error("time steps differ: expected {expected} before row {} of trajectory {}, found {found}", row + 1, trajectory + 1)]
    Uneven {
        /// The trajectory, from 0.
        trajectory: usize,
        /// The row, from 0.
        row: usize,
        /// The usual step.
        expected: f64,
        /// The step to this row.
        found: f64,
    },
    /// A row has no time.
    #[error("row {} of trajectory {} has no time", row + 1, trajectory + 1)]
    NoTime {
        /// The trajectory, from 0.
        trajectory: usize,
        /// The row, from 0.
        row: usize,
    },
    /// A row is asked for that is not there.
    #[error("row {row} is asked for, there are {rows}")]
    NoRow {
        /// The row, from 0.
        row: usize,
        /// Rows that there are.
        rows: usize,
    },
}

impl ArrayError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            ArrayError::TimeBack { .. } => Some("sort the rows by their times".into()),
            ArrayError::Uneven { expected, .. } => Some(format!(
                "interpolate to equal steps first, or keep their times with `--own-times {expected}`, for ode-rnn and latent-ode, or give `--dt {expected}`, with which every longer step is a gap"
            ).into()),
            ArrayError::NoTime { .. } => Some("leave rows without a time out".into()),
            ArrayError::NoRow { .. } => None,
        }
    }
}

/// A recording of arrays.
pub fn series(columns: Columns, rows: Vec<Rows>) -> Result<Series, crate::Error> {
    let axis = match columns.own_times {
        Some(dt) => Axis {
            dt: Some(dt),
            gaps: vec![Vec::new(); rows.len()],
        },
        None => axis(&rows, columns.dt)?,
    };
    let step = Step {
        dt: columns
            .own_times
            .or(columns.dt)
            .or(axis.dt)
            .unwrap_or(Step::default().dt),
        unit: columns.unit,
    };
    let parts = rows.into_iter().zip(axis.gaps);
    let trajectory = |(rows, gaps): (Rows, Vec<Gap>)| {
        let times = rows.times.unwrap_or_default();
        Trajectory {
            name: rows.name,
            start: times.first().copied().unwrap_or(0.0),
            x: rows.x,
            s: rows.s,
            gaps,
            times: match columns.own_times {
                Some(_) => times,
                None => Vec::new(),
            },
        }
    };
    let trajectories = parts.map(trajectory).collect();
    Ok(Series::new(
        columns.channels,
        columns.inputs,
        step,
        trajectories,
    )?)
}

/// The step and the gaps of rows; neither where they have no times.
fn axis(rows: &[Rows], dt: Option<f64>) -> Result<Axis, ArrayError> {
    let times: Option<Vec<Vec<f64>>> = rows.iter().map(|rows| rows.times.clone()).collect();
    let Some(times) = times else {
        let gaps = vec![Vec::new(); rows.len()];
        return Ok(Axis { dt: None, gaps });
    };
    for (trajectory, times) in times.iter().enumerate() {
        if let Some(row) = times.iter().position(|time| !time.is_finite()) {
            return Err(ArrayError::NoTime { trajectory, row });
        }
    }
    Axis::of(&times, dt).map_err(|place| {
        let (trajectory, row) = (place.trajectory, place.row);
        let (before, found) = (times[trajectory][row - 1], times[trajectory][row]);
        match place.expected {
            None => ArrayError::TimeBack {
                trajectory,
                row,
                before,
                found,
            },
            Some(expected) => ArrayError::Uneven {
                trajectory,
                row,
                expected,
                found: found - before,
            },
        }
    })
}

/// Some rows of a recording, counted over all its trajectories. What follows one another there does so here; a jump forward is a
/// gap, and anything else begins a trajectory, so that no step is made up.
pub fn take(series: &Series, rows: &[usize]) -> Result<Series, crate::Error> {
    let all = series.total_len();
    if let Some(&row) = rows.iter().find(|&&row| row >= all) {
        return Err(ArrayError::NoRow { row, rows: all }.into());
    }
    let places: Vec<(usize, usize)> = (0..series.trajectories().len())
        .flat_map(|i| (0..series.len_of(i)).map(move |row| (i, row)))
        .collect();
    let chosen: Vec<(usize, usize)> = rows.iter().map(|&row| places[row]).collect();
    let follows = |a: &(usize, usize), b: &(usize, usize)| a.0 == b.0 && b.1 == a.1 + 1;
    let mut taken: Vec<Trajectory> = Vec::new();
    let mut last = None;
    for run in chosen.chunk_by(follows) {
        let ((i, first), (_, end)) = (run[0], run[run.len() - 1]);
        let part = series.slice(i, first..end + 1);
        let is_later = last.is_some_and(|(j, row)| j == i && row < first);
        match taken.last_mut().filter(|_| is_later) {
            Some(open) => append(open, part, series.dim_obs()),
            None => taken.push(part),
        }
        last = Some((i, end));
    }
    Ok(series.with(taken)?)
}

/// Appends rows after a gap.
fn append(open: &mut Trajectory, part: Trajectory, channels: usize) {
    if !open.times.is_empty() {
        open.times.extend(part.times);
        open.x.extend(part.x);
        open.s.extend(part.s);
        return;
    }
    let row = open.x.len() / channels;
    let gap = Gap {
        row,
        time: part.start,
    };
    let later = part.gaps.iter().map(|gap| Gap {
        row: gap.row + row,
        ..*gap
    });
    open.gaps.extend([gap].into_iter().chain(later));
    open.x.extend(part.x);
    open.s.extend(part.s);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_times(times: &[f64], dt: Option<f64>) -> Result<Series, crate::Error> {
        let columns = Columns {
            channels: Channel::numbered("x", 1),
            dt,
            ..Columns::default()
        };
        let rows = Rows {
            x: times.to_vec(),
            times: Some(times.to_vec()),
            ..Rows::default()
        };
        series(columns, vec![rows])
    }

    fn of_own_times(times: &[f64]) -> Result<Series, crate::Error> {
        let columns = Columns {
            channels: Channel::numbered("x", 1),
            own_times: Some(0.5),
            ..Columns::default()
        };
        let rows = Rows {
            x: times.to_vec(),
            times: Some(times.to_vec()),
            ..Rows::default()
        };
        series(columns, vec![rows])
    }

    #[test]
    fn step_and_gaps_follow_from_times() {
        let made = of_times(&[5.0, 5.5, 6.0, 8.0, 8.5], None).unwrap();
        assert_eq!((made.step().dt, made.trajectories()[0].start), (0.5, 5.0));
        assert_eq!(made.trajectories()[0].gaps, [Gap { row: 3, time: 8.0 }]);
        let uneven = of_times(&[0.0, 1.0, 2.0, 3.0, 4.3, 5.3], None).unwrap_err();
        assert!(
            uneven
                .to_string()
                .starts_with("time steps differ: expected 1 before row 5"),
            "{uneven}"
        );
        assert!(of_times(&[0.0, 1.0, 2.0, 3.0, 4.3, 5.3], Some(1.0)).is_ok());
        let back = of_times(&[0.0, 1.0, 0.5], None).unwrap_err().to_string();
        assert_eq!(
            back,
            "time goes back in row 3 of trajectory 1, from 1 to 0.5"
        );
        assert!(of_times(&[0.0, f64::NAN, 2.0], None).is_err());
    }

    #[test]
    fn rows_keep_their_times_where_they_are_to() {
        let times = [5.0, 5.5, 6.0, 8.0, 8.25];
        let made = of_own_times(&times).unwrap();
        assert_eq!((made.step().dt, made.trajectories()[0].start), (0.5, 5.0));
        assert_eq!(made.trajectories()[0].times, times);
        let taken = take(&made, &[0, 1, 4]).unwrap();
        assert_eq!(taken.trajectories()[0].times, [5.0, 5.5, 8.25]);
        assert!(of_own_times(&[0.0, 1.0, 0.5]).is_err());
    }

    #[test]
    fn rows_that_do_not_follow_one_another_are_kept_apart() {
        let whole = of_times(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0], None).unwrap();
        let taken = take(&whole, &[0, 1, 4, 5]).unwrap();
        assert_eq!(taken.trajectories()[0].x, [0.0, 1.0, 4.0, 5.0]);
        assert_eq!(taken.trajectories()[0].gaps, [Gap { row: 2, time: 4.0 }]);
        let turned = take(&whole, &[4, 5, 0, 1]).unwrap();
        let starts: Vec<f64> = turned.trajectories().iter().map(|t| t.start).collect();
        assert_eq!(starts, [4.0, 0.0]);
        assert_eq!(take(&whole, &[0, 1, 2, 3, 4, 5]).unwrap(), whole);
        assert_eq!(
            take(&whole, &[6]).unwrap_err().to_string(),
            "row 6 is asked for, there are 6"
        );
        assert!(take(&whole, &[]).is_err());
    }
}
