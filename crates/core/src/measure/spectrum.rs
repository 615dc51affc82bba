//! Smoothed power spectra, one per channel: standardise, P = |FFT|² at the frequencies j/T, j = 0 … T/2, then a moving
//! average over frequencies with Gaussian weights,
//!
//! ```text
//! f_j = Σ_k w_k P_{j+k} / Σ_j Σ_k …,   w_k ∝ exp(−k²/2σ²),  σ = 20,  |k| ≤ 4σ,  Σ f = 1
//! ```
//!
//! Beyond its ends the spectrum is mirrored without repeating the end point. No window, no detrending (Hess et al.
//! 2023).

use super::Rows;
use crate::fft::{Complex64, RealFft};
use crate::series::mean_and_sd;

/// Width σ of the smoothing, in frequencies.
const WIDTH: f64 = 20.0;

/// Half of the kernel's length, 4σ.
const REACH: usize = 80;

/// The spectrum of every channel, each of length T/2 + 1 and with sum 1. A constant channel has no spectrum: NaN.
pub fn smoothed(rows: Rows<'_>) -> Vec<Vec<f64>> {
    let mut fft = RealFft::new(rows.len());
    let weights = weights();
    (0..rows.dim())
        .map(|i| {
            let column: Vec<f64> = rows.column(i).collect();
            let mut spectrum = smooth(&power(&column, &mut fft), &weights);
            let sum: f64 = spectrum.iter().sum();
            spectrum.iter_mut().for_each(|p| *p /= sum);
            spectrum
        })
        .collect()
}

/// |FFT|² of a column, standardised.
fn power(column: &[f64], fft: &mut RealFft) -> Vec<f64> {
    let (mean, sd) = mean_and_sd(column.iter().copied());
    let scaled: Vec<f64> = column.iter().map(|x| (x - mean) / sd).collect();
    let mut modes = vec![Complex64::default(); fft.modes()];
    fft.forward(&scaled, &mut modes);
    modes.iter().map(Complex64::norm_sqr).collect()
}

/// w_0 … w_80, with Σ_k w_|k| = 1.
fn weights() -> Vec<f64> {
    let raw = (0..=REACH).map(|k| (-0.5 * (k as f64 / WIDTH).powi(2)).exp());
    let raw: Vec<f64> = raw.collect();
    let total = raw[0] + 2.0 * raw[1..].iter().sum::<f64>();
    raw.iter().map(|w| w / total).collect()
}

/// Σ_k w_|k| P_{j+k} with P mirrored at both ends.
fn smooth(power: &[f64], weights: &[f64]) -> Vec<f64> {
    let len = power.len() as i64;
    let reach = REACH as i64;
    let padded: Vec<f64> = (-reach..len + reach)
        .map(|j| power[mirrored(j, len)])
        .collect();
    let mut smooth: Vec<f64> = power.iter().map(|p| weights[0] * p).collect();
    for (k, &w) in weights.iter().enumerate().skip(1) {
        let (before, after) = (&padded[REACH - k..], &padded[REACH + k..]);
        let pairs = before.iter().zip(after);
        smooth
            .iter_mut()
            .zip(pairs)
            .for_each(|(s, (a, b))| *s += w * (a + b));
    }
    smooth
}

/// The place of j in 0..len after mirroring at both ends, as often as needed.
fn mirrored(j: i64, len: i64) -> usize {
    let period = (2 * (len - 1)).max(1);
    let j = j.rem_euclid(period);
    j.min(period - j).min(len - 1) as usize
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    #[test]
    fn mirroring_does_not_repeat_the_ends() {
        let places: Vec<usize> = (-3..7).map(|j| mirrored(j, 4)).collect();
        assert_eq!(places, [3, 2, 1, 0, 1, 2, 3, 2, 1, 0]);
        assert_eq!(mirrored(-5, 1), 0);
        assert_eq!(mirrored(-5, 2), 1);
    }

    /// A pure tone becomes the kernel itself around its frequency.
    #[test]
    fn a_tone_is_smoothed_to_the_kernel() {
        let tone: Vec<f64> = (0..2000)
            .map(|t| (TAU * 300.0 * f64::from(t) / 2000.0).sin())
            .collect();
        let spectrum = &smoothed(Rows::new(&tone, 1))[0];
        let weights = weights();
        for (k, w) in weights.iter().enumerate() {
            for j in [300 - k, 300 + k] {
                // Rounding of a transform of 2000 terms, squared and divided by the power of the tone.
                assert!((spectrum[j] - w).abs() < 1e-12, "{j}");
            }
        }
        assert!((spectrum.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
