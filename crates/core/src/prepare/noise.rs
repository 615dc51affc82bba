//! Noise on every channel:  y_t = x_t + f σ ε_t,  σ the standard deviation of the channel and ε_t independent standard normal numbers.

use crate::rng::{Rng, Stream};
use crate::series::{Series, SeriesError, mean_and_sd};

/// The series with noise of `share` standard deviations of each channel. Missing values stay, inputs stay as they are.
pub fn noise(series: &Series, share: f64, seed: u64) -> Result<Series, SeriesError> {
    let n = series.dim_obs();
    let spread = (0..n).map(|c| share * mean_and_sd(series.column(c)).1);
    let spread: Vec<f64> = spread.collect();
    let mut rng = Rng::new(seed, Stream::Noise);
    let mut noisy = series.trajectories().to_vec();
    for t in &mut noisy {
        for (i, v) in t.x.iter_mut().enumerate() {
            *v += spread[i % n] * rng.normal();
        }
    }
    series.with(noisy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_has_its_share_of_each_spread() {
        let rows = (0..20_000).flat_map(|t| [f64::from(t).sin(), 100.0 * f64::from(t).cos(), 7.0]);
        let series = Series::from_rows(rows.collect(), 3, 1.0).unwrap();
        let noisy = noise(&series, 0.1, 3).unwrap();
        for c in 0..3 {
            let added = noisy.column(c).zip(series.column(c)).map(|(a, b)| a - b);
            let (mean, sd) = mean_and_sd(added.collect::<Vec<_>>().into_iter());
            let expected = 0.1 * mean_and_sd(series.column(c)).1;
            // Of 20,000 numbers, the mean has a standard error of 1/√20000 = 0.007 and the spread of 0.005; four of them.
            assert!(mean.abs() <= 0.028 * expected && (sd - expected).abs() <= 0.02 * expected);
        }
        assert_eq!(noise(&series, 0.1, 3).unwrap(), noisy);
        assert_ne!(noise(&series, 0.1, 4).unwrap(), noisy);
    }
}
