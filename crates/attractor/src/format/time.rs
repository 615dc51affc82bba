//! A column of times as a grid:  t_i = t_0 + i Δt  between gaps.
//!
//! The step Δt is the mean of the usual steps (within half of the median step, or if that fits nothing within a
//! thousandth), taken over whole stretches so that rounding of single times averages out, and then the shortest
//! decimal number within that rounding. A step fits the grid when it is a whole multiple k Δt to a thousandth, or
//! when the time lies within one unit of its last decimal of the grid: 30 frames a second written in milliseconds
//! are 33, 33 and 34 ms apart, and still uniform. k > 1 is a gap. With a step that is given, every longer step is a
//! gap.

use std::ops::Range;

use attractor_core::series::{Gap, Series};

/// The step and the gaps of each trajectory.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Axis {
    /// The step; none when no trajectory has two rows.
    pub(crate) dt: Option<f64>,
    /// The gaps, a list a trajectory.
    pub(crate) gaps: Vec<Vec<Gap>>,
}

/// The first place where times form no grid.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Broken {
    /// The trajectory, from 0.
    pub(crate) trajectory: usize,
    /// The row, from 0.
    pub(crate) row: usize,
    /// The step expected; none where time does not go forward.
    pub(crate) expected: Option<f64>,
}

/// How far a step may be off, relative to its length.
const TOLERANCE: f64 = 1e-3;

/// What a step longer than Δt may be.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Longer {
    /// A whole multiple of Δt.
    Multiple,
    /// Anything.
    Any,
}

/// A grid to which times are compared.
#[derive(Debug, Clone, Copy)]
struct Grid {
    dt: f64,
    /// The unit of the last decimal, where that is coarse enough to matter.
    resolution: f64,
    longer: Longer,
}

impl Axis {
    /// Compares the times of all trajectories with a step, or finds it in them.
    pub(crate) fn of(times: &[Vec<f64>], dt: Option<f64>) -> Result<Axis, Broken> {
        match dt {
            Some(dt) => Axis::with_step(times, dt),
            None => Axis::fit(times),
        }
    }

    /// Finds the step in the times of all trajectories.
    pub(super) fn fit(times: &[Vec<f64>]) -> Result<Axis, Broken> {
        check_forward(times)?;
        let Some(median) = median_step(times) else {
            return Ok(Axis {
                dt: None,
                gaps: vec![Vec::new(); times.len()],
            });
        };
        let with_width = |width| {
            let dt = mean_step(times, median * (1.0 - width)..median * (1.0 + width));
            Grid::new(dt, Longer::Multiple, times).axis(times)
        };
        // Where both fail, the narrow choice names the odd step rather than a mean that it has shifted.
        with_width(0.5).or_else(|_| with_width(TOLERANCE))
    }

    /// Compares the times of all trajectories with a step that is known.
    pub(super) fn with_step(times: &[Vec<f64>], dt: f64) -> Result<Axis, Broken> {
        check_forward(times)?;
        Grid::new(dt, Longer::Any, times).axis(times)
    }
}

impl Grid {
    fn new(dt: f64, longer: Longer, times: &[Vec<f64>]) -> Grid {
        let resolution = last_decimal(times).filter(|&unit| unit <= dt / 2.0);
        Grid {
            dt,
            // One part in 10⁶ more, since decimal fractions are not exact in binary.
            resolution: resolution.map_or(0.0, |unit| unit * (1.0 + 1e-6)),
            longer,
        }
    }

    fn axis(&self, times: &[Vec<f64>]) -> Result<Axis, Broken> {
        let gaps = times.iter().enumerate().map(|(i, t)| self.gaps(i, t));
        Ok(Axis {
            dt: Some(self.dt),
            gaps: gaps.collect::<Result<_, _>>()?,
        })
    }

    fn gaps(&self, trajectory: usize, t: &[f64]) -> Result<Vec<Gap>, Broken> {
        let mut gaps = Vec::new();
        let mut anchor = 0;
        for row in 1..t.len() {
            if self.follows(t, anchor, row) {
                // A step that a user gave may be rounded, and would drift away from a far anchor.
                anchor = if self.longer == Longer::Any {
                    row
                } else {
                    anchor
                };
            } else if self.leaps(t, row) {
                gaps.push(Gap { row, time: t[row] });
                anchor = row;
            } else {
                return Err(Broken {
                    trajectory,
                    row,
                    expected: Some(self.dt),
                });
            }
        }
        Ok(gaps)
    }

    /// Whether a row is one step after the row before it.
    fn follows(&self, t: &[f64], anchor: usize, row: usize) -> bool {
        let on_grid = t[anchor] + (row - anchor) as f64 * self.dt;
        self.near(t, row, 1.0)
            || ((t[row] - on_grid).abs() <= self.resolution && t[row] - t[row - 1] < 1.5 * self.dt)
    }

    /// Whether a row comes after a gap.
    fn leaps(&self, t: &[f64], row: usize) -> bool {
        let step = t[row] - t[row - 1];
        let multiple = (step / self.dt).round();
        match self.longer {
            Longer::Any => step > self.dt,
            Longer::Multiple => multiple > 1.0 && self.near(t, row, multiple),
        }
    }

    /// Whether the step to a row is a multiple of Δt, up to tolerance and the rounding of the times.
    fn near(&self, t: &[f64], row: usize, multiple: f64) -> bool {
        let step = t[row] - t[row - 1];
        let rounding = 4.0 * f64::EPSILON * t[row].abs().max(t[row - 1].abs());
        let slack = if multiple > 1.0 { self.resolution } else { 0.0 };
        (step - multiple * self.dt).abs() <= (TOLERANCE * step + rounding).max(slack)
    }
}

/// The times of one trajectory of a series.
pub(super) fn times_of(series: &Series, trajectory: usize) -> Vec<f64> {
    let t = &series.trajectories()[trajectory];
    if !t.times.is_empty() {
        return t.times.clone();
    }
    let starts = [t.start]
        .into_iter()
        .chain(t.gaps.iter().map(|gap| gap.time));
    series
        .segments(trajectory)
        .into_iter()
        .zip(starts)
        .flat_map(|(rows, start)| (0..rows.len()).map(move |i| start + i as f64 * series.step().dt))
        .collect()
}

/// Refuses times that do not ascend.
pub(super) fn check_forward(times: &[Vec<f64>]) -> Result<(), Broken> {
    for (trajectory, t) in times.iter().enumerate() {
        let back = t.windows(2).position(|pair| pair[0] >= pair[1]);
        if let Some(before) = back {
            return Err(Broken {
                trajectory,
                row: before + 1,
                expected: None,
            });
        }
    }
    Ok(())
}

/// The mean over stretches of usual steps, as the shortest decimal within its rounding.
fn mean_step(times: &[Vec<f64>], usual: Range<f64>) -> f64 {
    let (mut span, mut count, mut stretches, mut latest) = (0.0, 0usize, 0usize, 0.0f64);
    for t in times {
        for stretch in t.chunk_by(|before, after| usual.contains(&(after - before))) {
            span += stretch[stretch.len() - 1] - stretch[0];
            count += stretch.len() - 1;
            stretches += usize::from(stretch.len() > 1);
            latest = stretch.iter().fold(latest, |m, t| m.max(t.abs()));
        }
    }
    let dt = span / count as f64;
    // Each end of a stretch is rounded to half a unit in its last place, and so are the sums.
    let rounding = 4.0 * f64::EPSILON * (stretches as f64 * latest / count as f64 + dt);
    shortest_decimal(dt, rounding)
}

fn median_step(times: &[Vec<f64>]) -> Option<f64> {
    let pairs = times.iter().flat_map(|t| t.windows(2));
    let mut steps: Vec<f64> = pairs.map(|pair| pair[1] - pair[0]).collect();
    let middle = steps.len() / 2;
    (!steps.is_empty()).then(|| *steps.select_nth_unstable_by(middle, f64::total_cmp).1)
}

/// The number with the fewest decimal digits within `margin` of a number.
fn shortest_decimal(value: f64, margin: f64) -> f64 {
    (0..17)
        .filter_map(|digits| format!("{value:.digits$e}").parse::<f64>().ok())
        .find(|short| (short - value).abs() <= margin)
        .unwrap_or(value)
}

/// The unit of the last decimal that any of the times uses, if they have at most nine.
fn last_decimal(times: &[Vec<f64>]) -> Option<f64> {
    (0..=9).map(|digits| 10f64.powi(digits)).find_map(|scale| {
        let whole = |&t: &f64| {
            let scaled = t * scale;
            (scaled - scaled.round()).abs() <= 4.0 * f64::EPSILON * scaled.abs()
        };
        times.iter().flatten().all(whole).then_some(1.0 / scale)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gap(row: usize, time: f64) -> Gap {
        Gap { row, time }
    }

    fn grid(start: f64, dt: f64, n: u32) -> Vec<f64> {
        (0..n).map(|i| start + f64::from(i) * dt).collect()
    }

    #[test]
    fn the_step_of_a_grid_is_found_exactly() {
        for dt in [0.01, 1.0, 0.004, 1e-6, 250.0, 1.0 / 256.0, 0.05] {
            for start in [0.0, -3.0, 1e4] {
                let axis = Axis::fit(&[grid(start, dt, 500)]).unwrap();
                assert_eq!(
                    (axis.dt, axis.gaps),
                    (Some(dt), vec![vec![]]),
                    "{start} {dt}"
                );
            }
        }
        assert_eq!(Axis::fit(&[grid(1.7e9, 0.01, 100)]).unwrap().dt, Some(0.01));
    }

    #[test]
    fn whole_multiples_are_gaps() {
        let mut times = grid(0.0, 0.1, 10);
        times.extend(grid(2.0, 0.1, 5));
        times.extend(grid(2.6, 0.1, 5));
        let axis = Axis::fit(&[times]).unwrap();
        assert_eq!(axis.dt, Some(0.1));
        assert_eq!(axis.gaps, [vec![gap(10, 2.0), gap(15, 2.6)]]);
    }

    #[test]
    fn times_rounded_to_milliseconds_are_uniform() {
        for rate in [30.0, 256.0, 160.0] {
            let times = (0..3000).map(|i| (f64::from(i) / rate * 1e3).round() / 1e3);
            let axis = Axis::fit(&[times.collect()]).unwrap();
            assert_eq!(axis.gaps, [vec![]]);
            // Two rounded ends over 2999 steps.
            assert!((axis.dt.unwrap() - 1.0 / rate).abs() <= 1e-3 / 2999.0);
        }
    }

    #[test]
    fn other_steps_break_the_grid() {
        let broken = |row, expected| Broken {
            trajectory: 0,
            row,
            expected,
        };
        assert_eq!(
            Axis::fit(&[vec![0.0, 1.0, 2.0, 3.0, 4.4, 5.4, 6.4]]),
            Err(broken(4, Some(1.0)))
        );
        assert_eq!(Axis::fit(&[vec![0.0, 1.0, 1.0, 2.0]]), Err(broken(2, None)));
        assert_eq!(
            Axis::with_step(&[vec![0.0, 1.0, 1.5]], 1.0),
            Err(broken(2, Some(1.0)))
        );
    }

    #[test]
    fn with_a_known_step_every_longer_one_is_a_gap() {
        let axis = Axis::with_step(&[vec![0.0, 1.0, 2.3, 3.3]], 1.0).unwrap();
        assert_eq!(axis.gaps, [vec![gap(2, 2.3)]]);
    }

    #[test]
    fn single_rows_have_no_step() {
        let axis = Axis::fit(&[vec![3.0], vec![5.0]]).unwrap();
        assert_eq!((axis.dt, axis.gaps.len()), (None, 2));
    }
}
