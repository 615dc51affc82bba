//! Surrogates: series that share some properties of the data but not their dynamics. What they score is chance.
//!
//! | surrogate | keeps | loses |
//! | --- | --- | --- |
//! | phase-randomised | spectra and cross-spectra: x̂_j e^(iφ_j), the same random φ_j in every channel | all else |
//! | shuffled | every row, hence the distribution | the order in time |
//! | white noise | mean and covariance | distribution and order |
//! | constant | the mean | all else |
//!
//! Theiler et al. 1992; common phases after Prichard and Theiler 1994.

use std::f64::consts::TAU;

use super::Rows;
use crate::fft::{Complex64, RealFft};
use crate::linalg;
use crate::rng::{Rng, Stream};

/// A kind of surrogate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surrogate {
    /// Spectra and cross-spectra of the data, random phases.
    PhaseRandomised,
    /// The rows of the data in random order.
    Shuffled,
    /// Normal rows with the covariance of the data, independent in time.
    WhiteNoise,
    /// The mean of the data at all times.
    Constant,
}

impl Surrogate {
    /// All kinds.
    pub const ALL: [Surrogate; 4] = [
        Surrogate::PhaseRandomised,
        Surrogate::Shuffled,
        Surrogate::WhiteNoise,
        Surrogate::Constant,
    ];

    /// The name, as in JSON documents.
    pub const fn name(self) -> &'static str {
        match self {
            Surrogate::PhaseRandomised => "phase_randomised",
            Surrogate::Shuffled => "shuffled",
            Surrogate::WhiteNoise => "white_noise",
            Surrogate::Constant => "constant",
        }
    }

    /// A surrogate of the data, as long as they are.
    pub fn of(self, data: Rows<'_>, seed: u64) -> Vec<f64> {
        let mut rng = Rng::new(seed, Stream::Surrogates);
        match self {
            Surrogate::PhaseRandomised => phase_randomised(data, &mut rng),
            Surrogate::Shuffled => shuffled(data, &mut rng),
            Surrogate::WhiteNoise => white_noise(data, &mut rng),
            Surrogate::Constant => data.means().repeat(data.len()),
        }
    }
}

fn phase_randomised(data: Rows<'_>, rng: &mut Rng) -> Vec<f64> {
    let (len, n) = (data.len(), data.dim());
    let mut fft = RealFft::new(len);
    let mut turns: Vec<Complex64> = (0..fft.modes())
        .map(|_| Complex64::from_polar(1.0, TAU * rng.uniform()))
        .collect();
    // The mean and, for even T, the alternating mode are real and stay.
    turns[0] = Complex64::new(1.0, 0.0);
    if len.is_multiple_of(2) {
        turns[len / 2] = Complex64::new(1.0, 0.0);
    }
    let mut modes = vec![Complex64::default(); turns.len()];
    let (mut column, mut made) = (vec![0.0; len], vec![0.0; len * n]);
    for i in 0..n {
        let values: Vec<f64> = data.column(i).collect();
        fft.forward(&values, &mut modes);
        modes
            .iter_mut()
            .zip(&turns)
            .for_each(|(m, turn)| *m *= turn);
        fft.inverse(&modes, &mut column);
        column
            .iter()
            .enumerate()
            .for_each(|(t, &x)| made[t * n + i] = x);
    }
    made
}

fn shuffled(data: Rows<'_>, rng: &mut Rng) -> Vec<f64> {
    let mut order: Vec<usize> = (0..data.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, rng.index(i + 1));
    }
    order.iter().flat_map(|&t| data.row(t)).copied().collect()
}

/// mean + U √Σ ξ with the covariance U Σ Uᵀ.
fn white_noise(data: Rows<'_>, rng: &mut Rng) -> Vec<f64> {
    let n = data.dim();
    let mean = data.means();
    let linalg::Svd { u, sigma, .. } = linalg::svd(&data.covariance(&mean), n, n);
    let root: Vec<f64> = (0..n * n).map(|i| u[i] * sigma[i % n].sqrt()).collect();
    let mut made = Vec::with_capacity(data.values().len());
    let (mut xi, mut x) = (vec![0.0; n], vec![0.0; n]);
    for _ in 0..data.len() {
        xi.iter_mut().for_each(|xi| *xi = rng.normal());
        linalg::multiply(&root, &xi, (n, n, 1), &mut x);
        made.extend(x.iter().zip(&mean).map(|(x, mean)| x + mean));
    }
    made
}
