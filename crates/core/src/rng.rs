//! Seeded random numbers, one independent stream a purpose, so that more noise does not reshuffle the batches.
//!
//! ChaCha with 8 rounds, keyed by the seed, with the purpose as stream number. The transforms to reals are our
//! own: those of the `rand` crate may change between its minor versions, and then a seed would no longer mean the
//! same numbers. A stream's whole state is its [position](Rng::position).

use std::f64::consts::TAU;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

/// What random numbers are drawn for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub enum Stream {
    /// The initial condition of a simulated system.
    InitialState = 0,
    /// Observation noise added to data.
    Noise = 1,
    /// The start of a model's parameters.
    Parameters = 2,
    /// Which windows form a batch.
    Windows = 3,
    /// Monte-Carlo estimates.
    MonteCarlo = 4,
    /// Surrogate data.
    Surrogates = 5,
}

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Rng(ChaCha8Rng);

impl Rng {
    /// The stream for one purpose under a seed.
    pub fn new(seed: u64, stream: Stream) -> Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(stream as u64);
        Rng(rng)
    }

    /// How far the stream has been read; with seed and purpose its whole state.
    pub fn position(&self) -> u128 {
        self.0.get_word_pos()
    }

    /// Goes to a [position](Rng::position).
    pub fn seek(&mut self, position: u128) {
        self.0.set_word_pos(position);
    }

    /// A uniform real in [0, 1): the upper 53 bits of a 64-bit draw.
    pub fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A uniform real in [low, high).
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// A standard normal number, by Box and Muller's √(−2 ln u) cos 2πv with u in (0, 1].
    pub fn normal(&mut self) -> f64 {
        let u = 1.0 - self.uniform();
        let v = self.uniform();
        (-2.0 * u.ln()).sqrt() * (TAU * v).cos()
    }

    /// Two standard normal numbers from one 64-bit draw, by Box and Muller's √(−2 ln u) (cos 2πv, sin 2πv) with u and v of 32
    /// bits each: for noise, of which there is much. None is beyond 6.8.
    pub fn two_normals(&mut self) -> [f64; 2] {
        let draw = self.0.next_u64();
        let uniform = |word: u64| (f64::from(word as u32) + 0.5) * (1.0 / (1u64 << 32) as f64);
        let radius = (-2.0 * uniform(draw).ln()).sqrt();
        let (sin, cos) = (TAU * uniform(draw >> 32)).sin_cos();
        [radius * cos, radius * sin]
    }

    /// A uniform index in 0..n: the upper word of a 64 × 64-bit product, whose bias of n/2⁶⁴ no draw here can show.
    pub fn index(&mut self, n: usize) -> usize {
        assert!(n > 0, "an index needs at least one choice");
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let draw = |seed, stream| {
            let mut rng = Rng::new(seed, stream);
            [rng.uniform(), rng.normal(), rng.index(1000) as f64]
        };
        assert_eq!(draw(7, Stream::Noise), draw(7, Stream::Noise));
        assert_ne!(draw(7, Stream::Noise), draw(7, Stream::Windows));
        assert_ne!(draw(7, Stream::Noise), draw(8, Stream::Noise));
    }

    #[test]
    fn seeking_continues_where_a_stream_was() {
        let mut rng = Rng::new(3, Stream::Windows);
        for _ in 0..101 {
            rng.normal();
        }
        let position = rng.position();
        let ahead: Vec<usize> = (0..10).map(|_| rng.index(17)).collect();
        let mut other = Rng::new(3, Stream::Windows);
        other.seek(position);
        assert_eq!(ahead, (0..10).map(|_| other.index(17)).collect::<Vec<_>>());
    }

    #[test]
    fn normal_numbers_have_the_moments_of_a_normal() {
        let n = 200_000;
        let mut rng = Rng::new(1, Stream::Noise);
        let one_by_one: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let in_pairs: Vec<f64> = (0..n / 2).flat_map(|_| rng.two_normals()).collect();
        for x in [one_by_one, in_pairs] {
            let moment = |k| x.iter().map(|v: &f64| v.powi(k)).sum::<f64>() / f64::from(n);
            // Five standard errors: √(1/n), √(2/n), √(96/n) for the moments 1, 2, 4, and √(1/n) of neighbours.
            let within = |found: f64, expected: f64, variance: f64| {
                assert!(
                    (found - expected).abs() < 5.0 * (variance / f64::from(n)).sqrt(),
                    "{found} against {expected}"
                );
            };
            within(moment(1), 0.0, 1.0);
            within(moment(2), 1.0, 2.0);
            within(moment(4), 3.0, 96.0);
            let neighbours = x.windows(2).map(|pair| pair[0] * pair[1]).sum::<f64>();
            within(neighbours / f64::from(n), 0.0, 1.0);
            let squares = x.windows(2).map(|pair| (pair[0] * pair[1]).powi(2));
            // Of the product of two squares: the mean is 1, the variance 9 − 1.
            within(squares.sum::<f64>() / f64::from(n), 1.0, 2.0 * 8.0);
        }
    }
}
