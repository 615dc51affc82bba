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
use crate::observation::components::LARGEST_DENSE;
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

fn white_noise(data: Rows<'_>, rng: &mut Rng) -> Vec<f64> {
    if data.dim() <= LARGEST_DENSE {
        coloured(data, rng)
    } else {
        mixed(data, rng)
    }
}

/// Rows that are mixed into one of the noise: it is normal to within 1/64 of the rows' own excess of fourth moments.
const MIXED: usize = 64;

/// mean + 1/√r Σ_{j ≤ r} ξ_j (x_{t_j} − mean) with random rows t_j: of the covariance of the data, without decomposing it, which costs N³.
fn mixed(data: Rows<'_>, rng: &mut Rng) -> Vec<f64> {
    let mean = data.means();
    let scale = 1.0 / (MIXED as f64).sqrt();
    let mut made = mean.repeat(data.len());
    for to in made.chunks_exact_mut(data.dim()) {
        for _ in 0..MIXED {
            let (row, xi) = (data.row(rng.index(data.len())), scale * rng.normal());
            let values = to.iter_mut().zip(row.iter().zip(&mean));
            values.for_each(|(to, (x, mean))| *to += xi * (x - mean));
        }
    }
    made
}

/// mean + U √Σ ξ with the covariance U Σ Uᵀ.
fn coloured(data: Rows<'_>, rng: &mut Rng) -> Vec<f64> {
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sources, seen in five channels: both ways of making noise have their covariance, to within a few times √(2/T) of it.
    #[test]
    fn both_kinds_of_white_noise_have_the_covariance_of_the_data() {
        let (n, len) = (5, 20_000);
        let mut draws = Rng::new(1, Stream::Noise);
        let mut row = |_| {
            let (a, b) = (draws.normal(), draws.normal());
            [a, b, a + b, a - 2.0 * b, 3.0]
        };
        let x: Vec<f64> = (0..len).flat_map(&mut row).collect();
        let data = Rows::new(&x, n);
        let expected = data.covariance(&data.means());
        for make in [mixed, coloured] {
            let made = make(data, &mut Rng::new(2, Stream::Surrogates));
            let made = Rows::new(&made, n);
            let found = made.covariance(&made.means());
            for (found, expected) in found.iter().zip(&expected) {
                // Variances are 5 at most, their error √(2/T)·5 = 0.05; four of these.
                assert!((found - expected).abs() < 0.2, "{found} {expected}");
            }
        }
    }
}
