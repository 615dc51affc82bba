//! Every n-th row:  y_k = x_{nk}  of every segment, from its first row on, n Δt apart. What is faster than twice that folds into what is
//! slower; [`super::resample`] damps it first.

use crate::series::{Gap, Series, SeriesError, Step, Trajectory};

/// The series with every `n`-th row of its segments.
///
/// # Panics
/// If `n` is 0.
pub fn every(series: &Series, n: usize) -> Result<Series, SeriesError> {
    assert!(n > 0, "every row is the most there are");
    let kept = (0..series.trajectories().len()).map(|i| thinned(series, i, n));
    let step = Step {
        dt: series.step().dt * n as f64,
        unit: series.step().unit.clone(),
    };
    let (channels, inputs) = (series.channels().to_vec(), series.inputs().to_vec());
    Series::new(channels, inputs, step, kept.collect())
}

fn thinned(series: &Series, i: usize, n: usize) -> Trajectory {
    let (d, k) = (series.dim_obs(), series.dim_input());
    let from = &series.trajectories()[i];
    let mut to = Trajectory {
        x: Vec::new(),
        s: Vec::new(),
        gaps: Vec::new(),
        ..from.clone()
    };
    for segment in series.segments(i) {
        if segment.start > 0 {
            let (row, time) = (to.x.len() / d, series.time_of(i, segment.start));
            to.gaps.push(Gap { row, time });
        }
        for row in segment.step_by(n) {
            to.x.extend(&from.x[row * d..][..d]);
            to.s.extend(&from.s[row * k..][..k]);
        }
    }
    to
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_every_segment_are_counted_from_its_first() {
        let t = Trajectory {
            gaps: vec![Gap { row: 5, time: 50.0 }],
            ..Trajectory::new((0..10).map(f64::from).collect())
        };
        let series = Series::from_rows(vec![0.0; 10], 1, 0.5).unwrap();
        let series = series.with(vec![t]).unwrap();
        let thin = every(&series, 3).unwrap();
        assert_eq!(thin.trajectories()[0].x, [0.0, 3.0, 5.0, 8.0]);
        assert_eq!(thin.trajectories()[0].gaps, [Gap { row: 2, time: 50.0 }]);
        assert_eq!(thin.step().dt, 1.5);
        assert_eq!(every(&series, 1).unwrap(), series);
    }
}
