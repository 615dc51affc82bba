//! Discrete Fourier transforms of real numbers, û_j = Σ_m u_m e^(−2πi jm/n) for j = 0 … n/2, and back with the
//! factor 1/n. The only file that names the FFT crate.

use std::fmt;
use std::sync::Arc;

use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};

pub use realfft::num_complex::Complex64;

/// Transforms of one length, with their working memory.
pub struct RealFft {
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    real: Vec<f64>,
    complex: Vec<Complex64>,
    scratch: Vec<Complex64>,
}

impl fmt::Debug for RealFft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RealFft of {}", self.real.len())
    }
}

impl RealFft {
    /// Plans transforms of `n` real numbers.
    pub fn new(n: usize) -> RealFft {
        let mut planner = RealFftPlanner::new();
        let (forward, inverse) = (planner.plan_fft_forward(n), planner.plan_fft_inverse(n));
        let scratch = forward.get_scratch_len().max(inverse.get_scratch_len());
        RealFft {
            real: forward.make_input_vec(),
            complex: forward.make_output_vec(),
            scratch: vec![Complex64::default(); scratch],
            forward,
            inverse,
        }
    }

    /// Number of coefficients, n/2 + 1.
    pub fn modes(&self) -> usize {
        self.complex.len()
    }

    /// Writes the coefficients of `x`.
    pub fn forward(&mut self, x: &[f64], spectrum: &mut [Complex64]) {
        self.real.copy_from_slice(x);
        self.forward
            .process_with_scratch(&mut self.real, spectrum, &mut self.scratch)
            .expect("the buffers have the planned lengths");
    }

    /// Writes the real numbers with these coefficients; what cannot belong to real numbers, an imaginary part of the
    /// first and (for even n) the last one, is left out.
    pub fn inverse(&mut self, spectrum: &[Complex64], x: &mut [f64]) {
        self.complex.copy_from_slice(spectrum);
        self.complex[0].im = 0.0;
        if x.len().is_multiple_of(2) {
            let last = self.complex.len() - 1;
            self.complex[last].im = 0.0;
        }
        self.inverse
            .process_with_scratch(&mut self.complex, x, &mut self.scratch)
            .expect("the buffers have the planned lengths");
        let n = x.len() as f64;
        x.iter_mut().for_each(|x| *x /= n);
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::TAU;

    use super::*;

    #[test]
    fn transforms_follow_their_formula_and_invert() {
        for n in [8usize, 9] {
            let x: Vec<f64> = (0..n).map(|m| ((m * m) as f64).sin()).collect();
            let mut fft = RealFft::new(n);
            let mut spectrum = vec![Complex64::default(); fft.modes()];
            fft.forward(&x, &mut spectrum);
            for (j, found) in spectrum.iter().enumerate() {
                let term = |m: usize| Complex64::from_polar(x[m], -TAU * (j * m) as f64 / n as f64);
                let expected: Complex64 = (0..n).map(term).sum();
                // Rounding of nine terms of size one.
                assert!((found - expected).norm() < 1e-14, "{n} {j}");
            }
            let mut back = vec![0.0; n];
            fft.inverse(&spectrum, &mut back);
            assert!(back.iter().zip(&x).all(|(a, b)| (a - b).abs() < 1e-15));
        }
    }
}
