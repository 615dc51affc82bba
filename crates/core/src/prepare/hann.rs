//! Smoothing with a Hann window of odd length n:  y_t = Σ_k w_k x_{t+k−(n−1)/2} / Σ_k w_k,  w_k = ½ − ½ cos(2πk/(n−1)).
//!
//! The window is the symmetric one: its ends weigh nothing. Beyond the ends of a segment the signal is mirrored without
//! repeating its last row. Missing values have no weight and stay missing. Inputs stay as they are.
//!
//! [`hann_padded`] also keeps the (n−1)/2 rows on either side that the mirrored signal has in reach, as the well-known
//! recipe does that mirrors n−1 rows and then takes every full window (Hess et al. 2023 smoothed their EEG so).

use crate::series::{Series, SeriesError, Trajectory};

use super::extend::mirrored;

/// The series, smoothed with a window of `length` rows.
///
/// # Panics
/// If `length` is even or below 3.
pub fn hann(series: &Series, length: usize) -> Result<Series, SeriesError> {
    let smoothed = (0..series.trajectories().len()).map(|i| {
        let mut trajectory = series.trajectories()[i].clone();
        let n = series.dim_obs();
        for segment in series.segments(i) {
            let rows = segment.start * n..segment.end * n;
            let smoothed = smooth(&series.trajectories()[i].x[rows.clone()], n, length, 0);
            trajectory.x[rows].copy_from_slice(&smoothed);
        }
        trajectory
    });
    series.with(smoothed.collect())
}

/// The series, smoothed with a window of `length` rows and longer by (length−1)/2 rows at either end of each trajectory.
/// Every segment becomes a trajectory of its own, since rows cannot be added at a gap; inputs are mirrored.
///
/// # Panics
/// If `length` is even or below 3.
pub fn hann_padded(series: &Series, length: usize) -> Result<Series, SeriesError> {
    let (n, k, more) = (series.dim_obs(), series.dim_input(), length / 2);
    let mut padded = Vec::new();
    for i in 0..series.trajectories().len() {
        for segment in series.segments(i) {
            let t = series.slice(i, segment);
            padded.push(Trajectory {
                start: t.start - more as f64 * series.step().dt,
                x: smooth(&t.x, n, length, more),
                s: extended(&t.s, k, more),
                ..t
            });
        }
    }
    series.with(padded)
}

/// All channels of a segment, with `more` rows at either end.
fn smooth(x: &[f64], n: usize, length: usize, more: usize) -> Vec<f64> {
    assert!(
        length >= 3 && length % 2 == 1,
        "no Hann window has {length} rows"
    );
    let weights: Vec<f64> = (0..length).map(|k| weight(k, length)).collect();
    let rows = x.len() / n + 2 * more;
    let mut smoothed = vec![f64::NAN; rows * n];
    for channel in 0..n {
        let values: Vec<f64> = x[channel..].iter().step_by(n).copied().collect();
        let wide = mirrored(&values, length / 2 + more);
        for (t, window) in wide.windows(length).enumerate() {
            if !window[length / 2].is_nan() {
                smoothed[t * n + channel] = weighted_mean(window, &weights);
            }
        }
    }
    smoothed
}

fn weight(k: usize, length: usize) -> f64 {
    0.5 - 0.5 * (std::f64::consts::TAU * k as f64 / (length - 1) as f64).cos()
}

/// The mean of what is there.
fn weighted_mean(values: &[f64], weights: &[f64]) -> f64 {
    let there = values.iter().zip(weights).filter(|(v, _)| !v.is_nan());
    let (sum, total) = there.fold((0.0, 0.0), |(sum, total), (v, w)| (sum + w * v, total + w));
    sum / total
}

/// Rows of `k` columns, mirrored beyond both ends.
fn extended(s: &[f64], k: usize, more: usize) -> Vec<f64> {
    if k == 0 {
        return Vec::new();
    }
    let rows: Vec<f64> = (0..s.len() / k).map(|row| row as f64).collect();
    let order = mirrored(&rows, more);
    let row = |&row: &f64| s[row as usize * k..][..k].iter().copied();
    order.iter().flat_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn x_of(series: &Series) -> &[f64] {
        &series.trajectories()[0].x
    }

    #[test]
    fn the_spectrum_has_its_zeros_where_the_symmetric_window_has_them() {
        // The window of 15 has zeros at multiples of 1/14 beyond the second; the periodic one at multiples of 1/15.
        for (cycles, damped) in [(2.0 / 14.0, true), (3.0 / 14.0, true), (2.0 / 15.0, false)] {
            let wave = |t: i32| (std::f64::consts::TAU * cycles * f64::from(t)).cos();
            let series = Series::from_rows((0..500).map(wave).collect(), 1, 1.0).unwrap();
            let smoothed = hann(&series, 15).unwrap();
            let largest = x_of(&smoothed)[20..480]
                .iter()
                .fold(0.0f64, |m, v| m.max(v.abs()));
            // Fifteen rounded products at a zero; the transform of the window at 2/15 is about 0.02.
            assert!(
                if damped {
                    largest < 1e-14
                } else {
                    largest > 1e-3
                },
                "{cycles} {largest}"
            );
        }
    }

    #[test]
    fn padding_gives_a_mirror_image_about_the_first_row() {
        let x: Vec<f64> = (0..100).map(|t| f64::from(t * t % 37)).collect();
        let series = Series::from_rows(x, 1, 0.5).unwrap();
        let padded = hann_padded(&series, 15).unwrap();
        let y = x_of(&padded);
        assert_eq!((y.len(), padded.trajectories()[0].start), (114, -3.5));
        for k in 0..=7 {
            // The same products in another order.
            assert!((y[7 - k] - y[7 + k]).abs() < 1e-13);
        }
        let inner: Vec<u64> = y[7..107].iter().map(|v| v.to_bits()).collect();
        let plain: Vec<u64> = x_of(&hann(&series, 15).unwrap())
            .iter()
            .map(|v| v.to_bits())
            .collect();
        assert_eq!(inner, plain);
    }

    #[test]
    fn missing_values_stay_missing_and_do_not_weigh() {
        let mut x = vec![2.0; 20];
        x[4] = f64::NAN;
        let smoothed = hann(&Series::from_rows(x, 1, 1.0).unwrap(), 5).unwrap();
        for (t, &v) in x_of(&smoothed).iter().enumerate() {
            assert!(if t == 4 {
                v.is_nan()
            } else {
                (v - 2.0).abs() < 1e-15
            });
        }
    }
}
