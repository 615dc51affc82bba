//! Training windows: T + 1 consecutive rows of a series, drawn uniformly and with replacement from all places where
//! a window fits into a segment.
//!
//! Models whose state flows between rows take windows of rows at any times; all others refuse rows that have times of their own.
//!
//! Where values are missing, a window begins with a complete row, because its initial state is inferred from that; it
//! has at least a given share of the values that it predicts, and all inputs. Places where it would not are left out
//! and counted.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::rng::Rng;
use crate::series::{Series, Trajectory};
use crate::text::count;

/// A series in f32, cut into windows. Copies share its values.
#[derive(Debug, Clone)]
pub struct Windows {
    rows: Arc<Rows>,
    window: usize,
    /// Runs of rows at which a window may start: (number of starts in earlier runs, first row).
    runs: Vec<(usize, usize)>,
    starts: usize,
    left_out: usize,
}

/// Why a series has no windows.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum WindowsError {
    /// No segment is long enough.
    #[error("a window of {} needs {} rows without a gap, the longest stretch has {longest}", count(*window, "step"), window + 1)]
    TooShort {
        /// The window asked for.
        window: usize,
        /// Rows of the longest stretch.
        longest: usize,
    },
    /// Rows have times of their own, which the model cannot do with.
    #[error("rows have times of their own, the model needs equal steps")]
    OwnTimes,
    /// So much is missing that no window is left.
    #[error(
        "too many values are missing: none of {} of {} begins with a complete row, has all inputs and {} % of its values",
        count(*left_out, "window"),
        count(*window, "step"),
        100.0 * least
    )]
    TooSparse {
        /// The window asked for.
        window: usize,
        /// Windows that would fit.
        left_out: usize,
        /// The share of values that a window needs.
        least: f64,
    },
    /// So much is missing that no window is left, though none has to begin with a complete row.
    #[error(
        "too many values are missing: none of {} of {} has all inputs and {} % of its values",
        count(*left_out, "window"),
        count(*window, "step"),
        100.0 * least
    )]
    Sparse {
        /// The window asked for.
        window: usize,
        /// Windows that would fit.
        left_out: usize,
        /// The share of values that a window needs.
        least: f64,
    },
}

/// The ways in which a series has been cut: a sweep asks for the same windows of the same data thousands of times.
#[derive(Debug, Default)]
pub struct Cuts(Mutex<Vec<(Cut, Windows)>>);

/// A way of cutting: steps of a window, the share of its values that it needs, where it may start.
type Cut = (usize, f64, First);

impl Cuts {
    /// The windows of the one series that this is asked for.
    fn windows(&self, series: &Series, cut: Cut) -> Result<Windows, WindowsError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, windows)) = known.iter().find(|(other, _)| *other == cut) {
            return Ok(windows.clone());
        }
        let rows = match known.first() {
            Some((_, windows)) => windows.rows.clone(),
            None => Arc::new(Rows::new(series)),
        };
        let windows = Windows::cut(series, rows, cut)?;
        known.push((cut, windows.clone()));
        Ok(windows)
    }

    /// [`Windows::with_share`] of it.
    pub fn with_share(
        &self,
        series: &Series,
        window: usize,
        least: f64,
    ) -> Result<Windows, WindowsError> {
        self.windows(series, (window, least, First::Complete))
    }

    /// [`Windows::from_any_row`] of it.
    pub fn from_any_row(
        &self,
        series: &Series,
        window: usize,
        least: f64,
    ) -> Result<Windows, WindowsError> {
        self.windows(series, (window, least, First::Any))
    }
}

/// Where windows may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum First {
    /// At rows that are complete, because an initial state is inferred from them.
    Complete,
    /// At any row.
    Any,
}

/// The share of its values that a window needs, unless another is given.
pub const LEAST_OBSERVED: f64 = 0.5;

impl Windows {
    /// Cuts a series into windows of `window` predicted steps that have half of their values.
    pub fn new(series: &Series, window: usize) -> Result<Windows, WindowsError> {
        Windows::with_share(series, window, LEAST_OBSERVED)
    }

    /// Cuts a series into windows of `window` predicted steps that have at least this share of their values.
    pub fn with_share(series: &Series, window: usize, least: f64) -> Result<Windows, WindowsError> {
        Cuts::default().with_share(series, window, least)
    }

    /// The same for models that take in rows of which values are missing, at any times: windows start at any row, and the share is
    /// that of all their values.
    pub fn from_any_row(
        series: &Series,
        window: usize,
        least: f64,
    ) -> Result<Windows, WindowsError> {
        Cuts::default().from_any_row(series, window, least)
    }

    fn cut(series: &Series, rows: Arc<Rows>, cut: Cut) -> Result<Windows, WindowsError> {
        let (window, least, first_row) = cut;
        if first_row == First::Complete && series.has_own_times() {
            return Err(WindowsError::OwnTimes);
        }
        let mut windows = Windows {
            rows,
            window,
            runs: Vec::new(),
            starts: 0,
            left_out: 0,
        };
        let (mut first, mut longest) = (0, 0);
        for trajectory in 0..series.trajectories().len() {
            for segment in flowing(series, trajectory) {
                longest = longest.max(segment.len());
                let segment = first + segment.start..first + segment.end;
                windows.add_segment(segment, least, first_row);
            }
            first += series.len_of(trajectory);
        }
        match (windows.starts, windows.left_out) {
            (0, 0) => Err(WindowsError::TooShort { window, longest }),
            (0, left_out) => Err(match first_row {
                First::Complete => WindowsError::TooSparse {
                    window,
                    left_out,
                    least,
                },
                First::Any => WindowsError::Sparse {
                    window,
                    left_out,
                    least,
                },
            }),
            _ => Ok(windows),
        }
    }

    /// Adds the starts in a stretch of rows without a gap, as runs of consecutive ones.
    fn add_segment(&mut self, segment: Range<usize>, least: f64, first: First) {
        let mut follows = false;
        for start in segment.start..segment.end.saturating_sub(self.window) {
            let allowed = match first {
                First::Complete => self.rows.allow(start, self.window, least),
                First::Any => self.rows.have_enough(start..start + self.window + 1, least),
            };
            if !allowed {
                self.left_out += 1;
                follows = false;
                continue;
            }
            if !follows {
                self.runs.push((self.starts, start));
            }
            self.starts += 1;
            follows = true;
        }
    }

    /// Channels N.
    pub fn dim_obs(&self) -> usize {
        self.rows.dim_obs
    }

    /// Inputs K.
    pub fn dim_input(&self) -> usize {
        self.rows.dim_input
    }

    /// Predicted steps T of a window.
    pub fn window(&self) -> usize {
        self.window
    }

    /// Number of different windows.
    pub fn count(&self) -> usize {
        self.starts
    }

    /// Number of windows that are left out because too much of them is missing.
    pub fn left_out(&self) -> usize {
        self.left_out
    }

    /// Whether any observation is missing.
    pub fn has_missing(&self) -> bool {
        !self.rows.mask.is_empty()
    }

    /// Observations that the window from a row on predicts.
    pub(crate) fn observed_from(&self, row: usize) -> usize {
        self.rows.observed[row + self.window + 1] - self.rows.observed[row + 1]
    }

    /// Observations in some rows.
    pub(crate) fn observed_in(&self, rows: Range<usize>) -> usize {
        self.rows.observed[rows.end] - self.rows.observed[rows.start]
    }

    /// The first rows of all windows, in ascending order.
    pub(crate) fn all_starts(&self) -> impl Iterator<Item = usize> + '_ {
        let ends = self.runs.iter().skip(1).map(|&(before, _)| before);
        let runs = self.runs.iter().zip(ends.chain([self.starts]));
        runs.flat_map(|(&(before, first), end)| first..first + (end - before))
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
        &self.rows.x[row * self.rows.dim_obs..]
    }

    /// Inputs from a row on, row-major.
    pub(crate) fn s_from(&self, row: usize) -> &[f32] {
        &self.rows.s[row * self.rows.dim_input..]
    }

    /// The times of rows from a row on, in steps Δt; only where rows have times of their own.
    pub(crate) fn times_from(&self, row: usize) -> Option<&[f64]> {
        (!self.rows.times.is_empty()).then(|| &self.rows.times[row..])
    }

    /// The mask from a row on, row-major; only where something is missing.
    pub(crate) fn mask_from(&self, row: usize) -> &[f32] {
        &self.rows.mask[row * self.rows.dim_obs..]
    }
}

/// Row ranges through which a state can flow: those without a gap, and whole trajectories whose rows have times.
fn flowing(series: &Series, trajectory: usize) -> Vec<Range<usize>> {
    match series.trajectories()[trajectory].times.len() {
        0 => series.segments(trajectory),
        rows => std::iter::once(0..rows).collect(),
    }
}

/// All rows in f32, one trajectory after another, and what is there of them.
#[derive(Debug)]
struct Rows {
    dim_obs: usize,
    dim_input: usize,
    /// Observations, 0 where one is missing.
    x: Vec<f32>,
    s: Vec<f32>,
    /// 1 where there is an observation, 0 where one is missing; empty if none is.
    mask: Vec<f32>,
    /// Observations before each row.
    observed: Vec<usize>,
    /// Rows with a missing input before each row.
    undriven: Vec<usize>,
    /// Times since the start of the trajectory, in steps; empty where no rows have times of their own.
    times: Vec<f64>,
}

impl Rows {
    fn new(series: &Series) -> Rows {
        let (n, k) = (series.dim_obs(), series.dim_input());
        let (mut observed, mut undriven) = (vec![0], vec![0]);
        let (mut total, mut missing) = (0, 0);
        for t in series.trajectories() {
            for (row, x) in t.x.chunks_exact(n).enumerate() {
                total += x.iter().filter(|v| !v.is_nan()).count();
                missing += usize::from(t.s[row * k..][..k].iter().any(|v| v.is_nan()));
                observed.push(total);
                undriven.push(missing);
            }
        }
        Rows {
            dim_obs: n,
            dim_input: k,
            x: narrow(series, |t| &t.x),
            s: narrow(series, |t| &t.s),
            mask: mask(series),
            observed,
            undriven,
            times: times(series),
        }
    }

    /// Whether a window may start at a row.
    fn allow(&self, start: usize, window: usize, least: f64) -> bool {
        let (first, end) = (start + 1, start + 1 + window);
        let complete = self.observed[first] - self.observed[start] == self.dim_obs;
        let driven = self.undriven[end] == self.undriven[first];
        let there = self.observed[end] - self.observed[first];
        complete && driven && there > 0 && there as f64 >= least * (window * self.dim_obs) as f64
    }

    /// Whether some rows have all inputs and enough of their values.
    fn have_enough(&self, rows: Range<usize>, least: f64) -> bool {
        let driven = self.undriven[rows.end] == self.undriven[rows.start];
        let there = self.observed[rows.end] - self.observed[rows.start];
        driven && there > 0 && there as f64 >= least * (rows.len() * self.dim_obs) as f64
    }
}

/// One kind of values of all trajectories; 0 where one is missing.
fn narrow(series: &Series, values: impl Fn(&Trajectory) -> &Vec<f64>) -> Vec<f32> {
    let known = |v: &f64| if v.is_nan() { 0.0 } else { *v as f32 };
    let all = series.trajectories().iter();
    all.flat_map(|t| values(t).iter().map(known).collect::<Vec<_>>())
        .collect()
}

/// Times since the start of each trajectory, in steps; empty where no rows have times of their own.
fn times(series: &Series) -> Vec<f64> {
    if !series.has_own_times() {
        return Vec::new();
    }
    let (dt, all) = (series.step().dt, series.trajectories().iter().enumerate());
    let of = |(i, t): (usize, &Trajectory)| {
        let start = t.start;
        (0..series.len_of(i)).map(move |row| (series.time_of(i, row) - start) / dt)
    };
    all.flat_map(of).collect()
}

/// 1 where there is an observation, 0 where one is missing; empty if none is.
fn mask(series: &Series) -> Vec<f32> {
    let there = |v: &f64| f32::from(u8::from(!v.is_nan()));
    match series.missing() {
        0 => Vec::new(),
        _ => series.rows().flatten().map(there).collect(),
    }
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
        assert_eq!(windows.all_starts().collect::<Vec<_>>(), seen);
        assert_eq!(windows.count(), 6);
    }

    #[test]
    fn too_long_windows_are_refused() {
        let series = Series::from_rows(vec![0.0; 12], 2, 1.0).unwrap();
        assert_eq!(
            Windows::new(&series, 6).unwrap_err(),
            WindowsError::TooShort {
                window: 6,
                longest: 6
            }
        );
        assert!(Windows::new(&series, 5).is_ok());
    }

    #[test]
    fn windows_begin_complete_and_have_enough_values() {
        let (x, o) = (f64::NAN, 1.0);
        // Two channels, eight rows; windows of two steps start at rows 0 to 5.
        let rows = [
            [o, o], // the rows 1 and 2 have 2 of 4 values
            [o, x], // incomplete
            [x, o], // incomplete
            [o, o], // 1 of 4
            [o, x], // incomplete
            [x, x], // incomplete
            [o, o],
            [o, o],
        ];
        let series = Series::from_rows(rows.concat(), 2, 1.0).unwrap();
        let starts = |least: f64| {
            let windows = Windows::with_share(&series, 2, least)?;
            let mut rng = Rng::new(1, Stream::Windows);
            let mut seen: Vec<usize> = (0..100).map(|_| windows.draw(&mut rng)).collect();
            seen.sort_unstable();
            seen.dedup();
            Ok::<_, WindowsError>((seen, windows.left_out()))
        };
        assert_eq!(starts(0.25).unwrap(), (vec![0, 3], 4));
        assert_eq!(starts(0.5).unwrap(), (vec![0], 5));
        let sparse = starts(0.75).unwrap_err();
        assert!(matches!(
            sparse,
            WindowsError::TooSparse { left_out: 6, .. }
        ));
        let windows = Windows::with_share(&series, 2, 0.25).unwrap();
        assert_eq!((windows.observed_from(0), windows.observed_from(3)), (2, 1));
    }

    #[test]
    fn windows_from_any_row_have_enough_values() {
        let (x, o) = (f64::NAN, 1.0);
        let series = Series::from_rows(vec![x, o, x, o, o, x, x, x], 1, 1.0).unwrap();
        let windows = Windows::from_any_row(&series, 2, 0.5).unwrap();
        // Three rows each: 1, 2, 2, 2, 1, 0 values.
        assert_eq!(windows.all_starts().collect::<Vec<_>>(), [1, 2, 3]);
        assert_eq!(windows.left_out(), 3);
        let sparse = Windows::from_any_row(&series, 2, 0.9).unwrap_err();
        assert!(matches!(sparse, WindowsError::Sparse { left_out: 6, .. }));
    }

    #[test]
    fn windows_of_rows_at_their_own_times_are_for_those_whose_state_flows() {
        let own = Trajectory {
            start: 2.0,
            times: vec![2.0, 2.25, 3.5, 9.0],
            ..Trajectory::new(vec![0.0; 4])
        };
        let parts = vec![own, Trajectory::new(vec![0.0; 3])];
        let step = Step {
            dt: 0.5,
            ..Step::default()
        };
        let series = Series::new(Channel::numbered("x", 1), vec![], step, parts).unwrap();
        let windows = Windows::from_any_row(&series, 2, 0.5).unwrap();
        assert_eq!(windows.all_starts().collect::<Vec<_>>(), [0, 1, 4]);
        let times = windows.times_from(0).unwrap();
        assert_eq!(times, [0.0, 0.5, 3.0, 14.0, 0.0, 1.0, 2.0]);
        assert_eq!(
            Windows::new(&series, 2).unwrap_err(),
            WindowsError::OwnTimes
        );
    }

    #[test]
    fn windows_have_all_their_inputs() {
        let parts = vec![Trajectory {
            s: vec![0.0, 0.0, f64::NAN, 0.0, 0.0, 0.0],
            ..Trajectory::new(vec![0.0; 6])
        }];
        let channels = (Channel::numbered("x", 1), Channel::numbered("s", 1));
        let series = Series::new(channels.0, channels.1, Step::default(), parts).unwrap();
        // Row 2 drives the windows that start at rows 0 and 1, not the one that starts at 2.
        let windows = Windows::new(&series, 2).unwrap();
        assert_eq!((windows.count(), windows.left_out()), (2, 2));
    }
}
