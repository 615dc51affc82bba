//! Gaussian smoothing of every channel:  y_t = Σ_k w_k x_{t+k} / Σ_k w_k,  w_k = exp(−k²/2σ²),  |k| ≤ 4σ.
//!
//! Beyond the ends of a segment the signal is mirrored without repeating its last row. Missing values have no weight and
//! stay missing. Nothing is smoothed across a gap. Inputs stay as they are.

use crate::series::Series;

/// Half of the kernel, in units of σ.
const REACH: f64 = 4.0;

/// The series, smoothed with a Gaussian of standard deviation `sigma` rows; one of 0 changes nothing.
///
/// # Panics
/// If `sigma` is negative or not finite.
pub fn gaussian(series: &Series, sigma: f64) -> Series {
    assert!(
        sigma >= 0.0 && sigma.is_finite(),
        "no Gaussian has the width {sigma}"
    );
    if sigma == 0.0 {
        return series.clone();
    }
    let half = (REACH * sigma).ceil() as usize;
    let weights: Vec<f64> = (0..=half)
        .map(|k| (-0.5 * (k as f64 / sigma).powi(2)).exp())
        .collect();
    let n = series.dim_obs();
    let smoothed = (0..series.trajectories().len()).map(|i| {
        let mut trajectory = series.trajectories()[i].clone();
        for segment in series.segments(i) {
            let rows = &series.trajectories()[i].x[segment.start * n..segment.end * n];
            let to = &mut trajectory.x[segment.start * n..segment.end * n];
            (0..n).for_each(|channel| smooth(&rows[channel..], &mut to[channel..], n, &weights));
        }
        trajectory
    });
    let smoothed = series.with(smoothed.collect());
    smoothed.expect("means of finite values are finite, and nothing else changes")
}

/// One channel of a segment, every `n`-th value.
fn smooth(x: &[f64], y: &mut [f64], n: usize, weights: &[f64]) {
    let len = x.len().div_ceil(n);
    let half = weights.len() as isize - 1;
    for t in (0..len).filter(|t| !x[t * n].is_nan()) {
        let (mut sum, mut total) = (0.0, 0.0);
        for k in -half..=half {
            let value = x[mirrored(t as isize + k, len) * n];
            if !value.is_nan() {
                sum += weights[k.unsigned_abs()] * value;
                total += weights[k.unsigned_abs()];
            }
        }
        y[t * n] = sum / total;
    }
}

/// The row in 0..len that stands for row t:  … 2 1 | 0 1 2 … l | l−1 l−2 …
fn mirrored(t: isize, len: usize) -> usize {
    let period = (2 * (len as isize - 1)).max(1);
    let t = t.rem_euclid(period);
    t.min(period - t).unsigned_abs() % len
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::{Channel, Gap, Step, Trajectory};

    #[test]
    fn rows_are_mirrored_without_repeating_the_last() {
        let found: Vec<usize> = (-4..9).map(|t| mirrored(t, 4)).collect();
        assert_eq!(found, [2, 3, 2, 1, 0, 1, 2, 3, 2, 1, 0, 1, 2]);
        assert_eq!(mirrored(5, 1), 0);
    }

    #[test]
    fn a_sine_is_damped_as_its_frequency_says() {
        // The kernel's transform is exp(−ω²σ²/2), up to what is cut beyond 4σ: 6e-5.
        let (omega, sigma) = (0.1, 5.0);
        let x = (0..400).map(|t| (omega * f64::from(t)).sin()).collect();
        let y = gaussian(&Series::from_rows(x, 1, 1.0).unwrap(), sigma);
        let expected = (-0.5f64 * (omega * sigma).powi(2)).exp();
        for t in 30..370 {
            let found = y.trajectories()[0].x[t];
            assert!((found - expected * (omega * t as f64).sin()).abs() < 1e-4);
        }
    }

    #[test]
    fn constants_stay_missing_values_stay_and_gaps_are_not_crossed() {
        let mut x = vec![1.0; 10];
        x.extend([5.0; 10]);
        x[3] = f64::NAN;
        let parts = vec![Trajectory {
            gaps: vec![Gap {
                row: 10,
                time: 50.0,
            }],
            ..Trajectory::new(x)
        }];
        let series =
            Series::new(Channel::numbered("x", 1), vec![], Step::default(), parts).unwrap();
        let y = gaussian(&series, 2.0);
        for (t, &y) in y.trajectories()[0].x.iter().enumerate() {
            let expected = if t < 10 { 1.0 } else { 5.0 };
            assert!(if t == 3 {
                y.is_nan()
            } else {
                (y - expected).abs() < 1e-14
            });
        }
        assert_eq!(gaussian(&series, 0.0).missing(), 1);
    }
}
