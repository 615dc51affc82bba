//! Missing values on the straight line between their neighbours in time:
//!
//! ```text
//! x_t = x_a + (x_b − x_a) (t − a)/(b − a),   a < t < b the nearest rows that have the channel,  b − a − 1 ≤ longest
//! ```
//!
//! Rows that are missing altogether, because time jumps by a whole number of steps, are put in where they are no more than
//! `longest`; then the jump is none any more. Longer runs stay missing, and so do those at the ends of a segment. Inputs are not
//! interpolated but in rows that are put in.

use crate::series::{Gap, Series, SeriesError, Trajectory};

/// How far from a whole number of steps a jump may be.
const OFF: f64 = 1e-3;

/// The series with runs of at most `longest` missing values or rows filled in; of any length, but no rows, if there is no such
/// number.
pub fn interpolate(series: &Series, longest: Option<usize>) -> Result<Series, SeriesError> {
    let filled = (0..series.trajectories().len()).map(|i| {
        let mut trajectory = with_rows(series, i, longest.unwrap_or(0));
        let (n, rows) = (series.dim_obs(), trajectory.x.len() / series.dim_obs());
        let ends: Vec<usize> = trajectory.gaps.iter().map(|gap| gap.row).collect();
        let starts = [0].into_iter().chain(ends.iter().copied());
        for (start, end) in starts.zip(ends.iter().copied().chain([rows])) {
            for channel in 0..n {
                fill(
                    &mut trajectory.x[start * n + channel..end * n],
                    n,
                    longest.unwrap_or(usize::MAX),
                );
            }
        }
        trajectory
    });
    series.with(filled.collect())
}

/// A trajectory with empty rows in place of jumps over at most `longest` rows, their inputs interpolated.
fn with_rows(series: &Series, i: usize, longest: usize) -> Trajectory {
    let (n, k, dt) = (series.dim_obs(), series.dim_input(), series.step().dt);
    let from = &series.trajectories()[i];
    let mut to = Trajectory {
        x: Vec::new(),
        s: Vec::new(),
        gaps: Vec::new(),
        ..from.clone()
    };
    for segment in series.segments(i) {
        let time = series.time_of(i, segment.start);
        if segment.start > 0 {
            let steps = (time - series.time_of(i, segment.start - 1)) / dt;
            let missing = steps.round() - 1.0;
            let is_whole = (steps - steps.round()).abs() <= OFF * steps;
            if is_whole && missing >= 1.0 && missing <= longest as f64 {
                let missing = missing as usize;
                let [before, after] =
                    [segment.start - 1, segment.start].map(|row| &from.s[row * k..][..k]);
                to.x.extend(std::iter::repeat_n(f64::NAN, missing * n));
                for row in 1..=missing {
                    let share = row as f64 / (missing + 1) as f64;
                    let inputs = before.iter().zip(after);
                    to.s.extend(inputs.map(|(a, b)| a + (b - a) * share));
                }
            } else {
                let row = to.x.len() / n;
                to.gaps.push(Gap { row, time });
            }
        }
        to.x.extend(&from.x[segment.start * n..segment.end * n]);
        to.s.extend(&from.s[segment.start * k..segment.end * k]);
    }
    to
}

/// Every `n`-th value of a segment, where at most `longest` are missing in a row.
fn fill(x: &mut [f64], n: usize, longest: usize) {
    let rows = x.len().div_ceil(n);
    let mut before = None;
    for row in (0..rows)
        .filter(|&row| !x[row * n].is_nan())
        .collect::<Vec<_>>()
    {
        if let Some(a) = before.filter(|a| row - a > 1 && row - a - 1 <= longest) {
            let (first, last) = (x[a * n], x[row * n]);
            for t in a + 1..row {
                let share = (t - a) as f64 / (row - a) as f64;
                // Not first + (last − first) share: a difference of two of the largest numbers is none.
                x[t * n] = first * (1.0 - share) + last * share;
            }
        }
        before = Some(row);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{Channel, Step};

    const NAN: f64 = f64::NAN;

    fn filled(x: &[f64], longest: Option<usize>) -> Vec<f64> {
        let series = Series::from_rows(x.to_vec(), 1, 1.0).unwrap();
        let filled = interpolate(&series, longest).unwrap();
        filled.trajectories()[0].x.clone()
    }

    #[test]
    fn missing_values_lie_on_the_line_between_their_neighbours() {
        assert_eq!(
            filled(&[1.0, NAN, 2.0, NAN, NAN, 5.0], None),
            [1.0, 1.5, 2.0, 3.0, 4.0, 5.0]
        );
        let kept = filled(&[NAN, 1.0, NAN, 2.0, NAN, NAN, 5.0, NAN], Some(1));
        assert_eq!(kept[1..4], [1.0, 1.5, 2.0]);
        assert!([0, 4, 5, 7].iter().all(|&t| kept[t].is_nan()));
    }

    #[test]
    fn rows_that_are_missing_are_put_in_up_to_the_longest() {
        let t = Trajectory {
            s: vec![0.0, 1.0, 4.0, 5.0],
            gaps: vec![Gap { row: 2, time: 4.0 }, Gap { row: 3, time: 9.0 }],
            ..Trajectory::new(vec![0.0, 1.0, 4.0, 9.0])
        };
        let (channels, inputs) = (Channel::numbered("x", 1), Channel::numbered("s", 1));
        let series = Series::new(channels, inputs, Step::default(), vec![t]).unwrap();
        let filled = interpolate(&series, Some(2)).unwrap();
        let t = &filled.trajectories()[0];
        // Two thirds are rounded once.
        let close = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-15);
        assert!(
            t.x.len() == 6 && close(&t.x, &[0.0, 1.0, 2.0, 3.0, 4.0, 9.0]),
            "{t:?}"
        );
        assert!(close(&t.s, &[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]), "{t:?}");
        assert_eq!(t.gaps, [Gap { row: 5, time: 9.0 }]);
        assert_eq!(interpolate(&series, None).unwrap(), series);
    }

    #[test]
    fn channels_are_filled_apart_and_gaps_are_not_crossed() {
        let t = Trajectory {
            gaps: vec![Gap { row: 2, time: 9.0 }],
            ..Trajectory::new(vec![1.0, 2.0, NAN, 3.0, 5.0, NAN, 6.0, 7.0])
        };
        let channels = Channel::numbered("x", 2);
        let series = Series::new(channels, vec![], Step::default(), vec![t]).unwrap();
        let filled = interpolate(&series, None).unwrap();
        assert_eq!(filled.missing(), 2);
    }
}
