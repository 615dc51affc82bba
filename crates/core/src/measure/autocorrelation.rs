//! Autocorrelation of every channel, for figures:  r(k) = Σ_t x_t x_{t+k} / Σ_t x_t²  about the mean, k = 0 … lags, by fast
//! Fourier transform of the series padded with zeros.

use super::Rows;
use crate::fft::{Complex64, RealFft};
use crate::series::{binade, mean_and_sd};

/// r(0) … r(lags) of every channel; at most T − 1 lags. NaN for a constant channel.
pub fn autocorrelation(rows: Rows<'_>, lags: usize) -> Vec<Vec<f64>> {
    let lags = lags.min(rows.len() - 1);
    let size = (rows.len() + lags).next_power_of_two();
    let mut fft = RealFft::new(size);
    (0..rows.dim())
        .map(|i| {
            let sums = lagged_sums(rows.column(i), size, &mut fft);
            sums[..=lags].iter().map(|s| s / sums[0]).collect()
        })
        .collect()
}

/// Σ_t x_t x_{t+k} about the mean, in units of the power of two of the spread: the inverse transform of |X|².
fn lagged_sums(
    column: impl Iterator<Item = f64> + Clone,
    size: usize,
    fft: &mut RealFft,
) -> Vec<f64> {
    let (mean, sd) = mean_and_sd(column.clone());
    let unit = binade(sd);
    let mut padded: Vec<f64> = column.map(|x| (x - mean) / unit).collect();
    padded.resize(size, 0.0);
    let mut modes = vec![Complex64::default(); fft.modes()];
    fft.forward(&padded, &mut modes);
    modes
        .iter_mut()
        .for_each(|m| *m = Complex64::new(m.norm_sqr(), 0.0));
    fft.inverse(&modes, &mut padded);
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_those_of_the_formula() {
        let x: Vec<f64> = (0..40).map(|t| f64::from(t * t % 17)).collect();
        let mean = x.iter().sum::<f64>() / 40.0;
        let sum =
            |k: usize| -> f64 { (0..40 - k).map(|t| (x[t] - mean) * (x[t + k] - mean)).sum() };
        let found = &autocorrelation(Rows::new(&x, 1), 100)[0];
        assert_eq!(found.len(), 40);
        for (k, r) in found.iter().enumerate() {
            // Rounding of transforms of 128 numbers relative to r(0) = 1.
            assert!((r - sum(k) / sum(0)).abs() < 1e-13, "{k}");
        }
    }
}
