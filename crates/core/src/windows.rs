//! Training windows: T + 1 consecutive rows of a series, drawn uniformly and with replacement from all places where
//! a window fits into a segment.

use crate::rng::Rng;
use crate::series::Series;

/// A series in f32, ready to be cut into windows.
#[derive(Debug, Clone)]
pub struct Windows {
    dim_obs: usize,
    dim_input: usize,
    window: usize,
    x: Vec<f32>,
    s: Vec<f32>,
    /// Runs of rows at which a window may start: (number of starts in earlier runs, first row).
    runs: Vec<(usize, usize)>,
    starts: usize,
}

/// Why a series has no windows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WindowsError {
    /// No segment is long enough.
    #[error("a window of {window} steps needs {} rows without a gap, the longest stretch has {longest}", window + 1)]
    TooShort {
        /// The window asked for.
        window: usize,
        /// Rows of the longest stretch.
        longest: usize,
    },
    /// A value is missing.
    #[error("channel `{channel}` is missing in row {} of trajectory {}", row + 1, trajectory + 1)]
    Missing {
        /// The trajectory's number, from 0.
        trajectory: usize,
        /// The row, from 0.
        row: usize,
        /// The channel or input.
        channel: String,
    },
}

impl Windows {
    /// Cuts a series into windows of `window` predicted steps.
    pub fn new(series: &Series, window: usize) -> Result<Windows, WindowsError> {
        refuse_missing(series)?;
        let narrow = |values: &[f64]| values.iter().map(|&v| v as f32).collect::<Vec<f32>>();
        let trajectories = series.trajectories();
        let mut windows = Windows {
            dim_obs: series.dim_obs(),
            dim_input: series.dim_input(),
            window,
            x: trajectories.iter().flat_map(|t| narrow(&t.x)).collect(),
            s: trajectories.iter().flat_map(|t| narrow(&t.s)).collect(),
            runs: Vec::new(),
            starts: 0,
        };
        let (mut first, mut longest) = (0, 0);
        for trajectory in 0..trajectories.len() {
            for segment in series.segments(trajectory) {
                windows.add_run(first + segment.start, segment.len());
                longest = longest.max(segment.len());
            }
            first += series.len_of(trajectory);
        }
        if windows.starts == 0 {
            Err(WindowsError::TooShort { window, longest })
        } else {
            Ok(windows)
        }
    }

    fn add_run(&mut self, first: usize, rows: usize) {
        if rows > self.window {
            self.runs.push((self.starts, first));
            self.starts += rows - self.window;
        }
    }

    /// Channels N.
    pub fn dim_obs(&self) -> usize {
        self.dim_obs
    }

    /// Inputs K.
    pub fn dim_input(&self) -> usize {
        self.dim_input
    }

    /// Predicted steps T of a window.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Number of different windows.
    pub fn count(&self) -> usize {
        self.starts
    }

    /// The first row of a random window.
    pub(crate) fn draw(&self, rng: &mut Rng) -> usize {
        let k = rng.index(self.starts);
        let run = self.runs.partition_point(|&(before, _)| before <= k) - 1;
        let (before, first) = self.runs[run];
        first + (k - before)
    }

    /// Observations from a row on, row-major.
    pub(crate) fn x_from(&self, row: usize) -> &[f32] {
        &self.x[row * self.dim_obs..]
    }

    /// Inputs from a row on, row-major.
    pub(crate) fn s_from(&self, row: usize) -> &[f32] {
        &self.s[row * self.dim_input..]
    }
}

fn refuse_missing(series: &Series) -> Result<(), WindowsError> {
    for (trajectory, t) in series.trajectories().iter().enumerate() {
        for (values, channels) in [(&t.x, series.channels()), (&t.s, series.inputs())] {
            if let Some(i) = values.iter().position(|v| v.is_nan()) {
                let channel = channels[i % channels.len()].name.clone();
                return Err(WindowsError::Missing {
                    trajectory,
                    row: i / channels.len(),
                    channel,
                });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::series::{Channel, Gap, Step, Trajectory};

    #[test]
    fn windows_never_cross_a_gap_or_an_end_and_reach_every_start() {
        let long = Trajectory {
            gaps: vec![Gap { row: 4, time: 9.0 }],
            ..Trajectory::new(vec![0.0; 10])
        };
        let parts = vec![
            long,
            Trajectory::new(vec![0.0; 3]),
            Trajectory::new(vec![0.0; 5]),
        ];
        let series =
            Series::new(Channel::numbered("x", 1), vec![], Step::default(), parts).unwrap();
        let windows = Windows::new(&series, 3).unwrap();
        // Rows 0..4 | 4..10 | 10..13 | 13..18; four rows fit at 0; 4, 5, 6; nowhere; 13, 14.
        let mut rng = Rng::new(1, Stream::Windows);
        let mut seen: Vec<usize> = (0..500).map(|_| windows.draw(&mut rng)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [0, 4, 5, 6, 13, 14]);
        assert_eq!(windows.count(), 6);
    }

    #[test]
    fn too_long_windows_and_missing_values_are_refused() {
        let series = Series::from_rows(vec![0.0; 12], 2, 1.0).unwrap();
        assert_eq!(
            Windows::new(&series, 6).unwrap_err(),
            WindowsError::TooShort {
                window: 6,
                longest: 6
            }
        );
        assert!(Windows::new(&series, 5).is_ok());
        let series = Series::from_rows(vec![0.0, 0.0, 0.0, f64::NAN], 2, 1.0).unwrap();
        let missing = WindowsError::Missing {
            trajectory: 0,
            row: 1,
            channel: "x2".into(),
        };
        assert_eq!(Windows::new(&series, 1).unwrap_err(), missing);
    }
}
