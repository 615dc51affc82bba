//! Without a straight line:  y_t = x_t − a − b t,  a and b by least squares over what is there of each segment.

use crate::series::{Series, SeriesError};

/// The series with the line taken from every channel of every segment. Missing values stay; inputs stay as they are.
pub fn detrend(series: &Series) -> Result<Series, SeriesError> {
    let n = series.dim_obs();
    let without = (0..series.trajectories().len()).map(|i| {
        let mut trajectory = series.trajectories()[i].clone();
        for segment in series.segments(i) {
            let rows = &mut trajectory.x[segment.start * n..segment.end * n];
            (0..n).for_each(|channel| take_line(&mut rows[channel..], n));
        }
        trajectory
    });
    series.with(without.collect())
}

/// Takes the line from every `n`-th value. Times are counted from their mean, so that a and b do not mix.
fn take_line(x: &mut [f64], n: usize) {
    let values = x.iter().step_by(n).enumerate();
    let there = values.filter(|(_, v)| !v.is_nan());
    let there: Vec<(f64, f64)> = there.map(|(t, &v)| (t as f64, v)).collect();
    let count = there.len().max(1) as f64;
    let middle = there.iter().map(|(t, _)| t).sum::<f64>() / count;
    let mean = there.iter().map(|(_, v)| v).sum::<f64>() / count;
    let (tx, tt) = there.iter().fold((0.0, 0.0), |(tx, tt), (t, v)| {
        let t = t - middle;
        (tx + t * (v - mean), tt + t * t)
    });
    let slope = if tt > 0.0 { tx / tt } else { 0.0 };
    for (t, v) in x.iter_mut().step_by(n).enumerate() {
        *v -= mean + slope * (t as f64 - middle);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_vanishes_and_what_has_none_stays() {
        let line = |t: i32| [3.0 + 0.25 * f64::from(t), f64::from(t % 2)];
        let mut x: Vec<f64> = (0..50).flat_map(line).collect();
        x[10] = f64::NAN;
        let y = detrend(&Series::from_rows(x, 2, 1.0).unwrap()).unwrap();
        for (t, row) in y.rows().enumerate() {
            // Sums of fifty values of up to 15, each rounded once.
            assert!(if t == 5 {
                row[0].is_nan()
            } else {
                row[0].abs() < 1e-13
            });
        }
        let (mean, _) = crate::series::mean_and_sd(y.column(1));
        assert!(mean.abs() < 1e-15);
    }

    #[test]
    fn one_row_becomes_zero() {
        let y = detrend(&Series::from_rows(vec![4.0], 1, 1.0).unwrap()).unwrap();
        assert_eq!(y.trajectories()[0].x, [0.0]);
    }
}
