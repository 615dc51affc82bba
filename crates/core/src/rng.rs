//! Seeded random numbers, one independent stream a purpose, so that more noise does not reshuffle the batches.
//!
//! ChaCha with 8 rounds, keyed by the seed, with the purpose as stream number. The transforms to reals are our
//! own: those of the `rand` crate may change between its minor versions, and then a seed would no longer mean the
//! same numbers. A stream's whole state is its [position](Rng::position).

use std::f32::consts::{FRAC_1_SQRT_2, FRAC_PI_2, LN_2};
use std::f64::consts::TAU;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng as _, SeedableRng};

use crate::simd::{Isa, Simd, Task, dispatch_widest};

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
    /// Noise that a fit adds to the training data.
    TrainingNoise = 6,
    /// Where the orbits of a search start.
    Starts = 7,
    /// Latent states that a fit draws around their means.
    LatentStates = 8,
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

    /// Standard normal numbers in f32, for noise, of which there is much: a 32-bit word each, an even number of words in all.
    pub fn fill_normal(&mut self, isa: Isa, to: &mut [f32]) {
        let mut bytes = [0; 4 * NORMALS];
        for to in to.chunks_mut(NORMALS) {
            let bytes = &mut bytes[..4 * to.len().next_multiple_of(2)];
            self.0.fill_bytes(bytes);
            let pairs = bytes.as_chunks::<4>().0.as_chunks::<2>().0;
            dispatch_widest(isa, Normals { pairs, to });
        }
    }

    /// A uniform index in 0..n: the upper word of a 64 × 64-bit product, whose bias of n/2⁶⁴ no draw here can show.
    pub fn index(&mut self, n: usize) -> usize {
        assert!(n > 0, "an index needs at least one choice");
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }
}

/// Normal numbers that are made at a time, an even number.
const NORMALS: usize = 256;

/// Box and Muller's √(−2 ln u) (cos θ, sin θ), two numbers a pair of words.
struct Normals<'a> {
    pairs: &'a [[[u8; 4]; 2]],
    to: &'a mut [f32],
}

impl Task for Normals<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let (whole, rest) = self.to.as_chunks_mut::<2>();
        for (to, &[first, second]) in whole.iter_mut().zip(self.pairs) {
            *to = two_normals(u32::from_le_bytes(first), u32::from_le_bytes(second));
        }
        if let ([last], Some(&[first, second])) = (rest, self.pairs.last()) {
            [*last, _] = two_normals(u32::from_le_bytes(first), u32::from_le_bytes(second));
        }
    }
}

/// The upper 23 bits of the first word give u, those of the second an angle in a quarter of the circle, and its lowest two
/// which quarter. No number is beyond 5.8. By arithmetic that every processor rounds alike.
#[inline(always)]
fn two_normals(first: u32, second: u32) -> [f32; 2] {
    // In (0, 1), exact in f32.
    let uniform = |word: u32| ((word >> 9) as i32 as f32 + 0.5) * (1.0 / 8_388_608.0);
    let radius = (-2.0 * ln(uniform(first))).sqrt();
    let angle = (uniform(second) - 0.5) * FRAC_PI_2;
    let (sin, cos) = (radius * sin(angle), radius * cos(angle));
    let (x, y) = if second & 1 == 0 {
        (cos, sin)
    } else {
        (-sin, cos)
    };
    let sign = (second & 2) << 30;
    [x, y].map(|number| f32::from_bits(number.to_bits() ^ sign))
}

/// ln u for u in (0, 1): with u = m 2ᵉ and m in [√½, √2), e ln 2 + 2 artanh((m − 1)/(m + 1)) by its series to the seventh power.
#[inline(always)]
fn ln(u: f32) -> f32 {
    let bits = u.to_bits() as i32;
    let e = (bits - FRAC_1_SQRT_2.to_bits() as i32) >> 23;
    let m = f32::from_bits((bits - (e << 23)) as u32);
    let s = (m - 1.0) / (m + 1.0);
    let square = s * s;
    let series = ((square * (1.0 / 7.0) + 1.0 / 5.0) * square + 1.0 / 3.0) * square + 1.0;
    e as f32 * LN_2 + 2.0 * s * series
}

/// sin x for |x| ≤ π/4.
#[inline(always)]
fn sin(x: f32) -> f32 {
    let square = x * x;
    let series = (square * (1.0 / 362_880.0) - 1.0 / 5040.0) * square + 1.0 / 120.0;
    x * ((series * square - 1.0 / 6.0) * square + 1.0)
}

/// cos x for |x| ≤ π/4.
#[inline(always)]
fn cos(x: f32) -> f32 {
    let square = x * x;
    let series = (square * (1.0 / 40_320.0) - 1.0 / 720.0) * square + 1.0 / 24.0;
    (series * square - 0.5) * square + 1.0
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
    fn many_normal_numbers_are_those_of_the_formula_on_every_processor() {
        // An odd number, and more than are made at a time.
        let len = 2 * NORMALS + 37;
        let mut words = Rng::new(5, Stream::Noise);
        let words: Vec<u32> = (0..len + 1).map(|_| words.0.next_u32()).collect();
        let uniform = |word: u32| (f64::from(word >> 9) + 0.5) / 8_388_608.0;
        for isa in Isa::available() {
            let mut rng = Rng::new(5, Stream::Noise);
            let mut to = vec![0.0; len];
            rng.fill_normal(isa, &mut to);
            assert_eq!(rng.position(), len as u128 + 1);
            for (pair, words) in to.chunks(2).zip(words.chunks(2)) {
                let radius = (-2.0 * uniform(words[0]).ln()).sqrt();
                let quarters = uniform(words[1]) - 0.5 + f64::from(words[1] & 3);
                let (sin, cos) = (quarters * TAU / 4.0).sin_cos();
                for (&found, expected) in pair.iter().zip([radius * cos, radius * sin]) {
                    // At most 5.8, with about six roundings of 6e-8 each and series that end at 4e-8.
                    let error = (f64::from(found) - expected).abs();
                    assert!(error < 3e-6, "{found} {expected} {isa:?}");
                }
            }
        }
        let all: Vec<Vec<f32>> = Isa::available()
            .map(|isa| {
                let mut to = vec![0.0; len];
                Rng::new(6, Stream::Noise).fill_normal(isa, &mut to);
                to
            })
            .collect();
        assert!(all.windows(2).all(|two| two[0] == two[1]));
    }

    #[test]
    fn normal_numbers_have_the_moments_of_a_normal() {
        let n = 200_000;
        let mut rng = Rng::new(1, Stream::Noise);
        let one_by_one: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let mut many = vec![0.0; n as usize];
        rng.fill_normal(Isa::detect(), &mut many);
        let many = many.iter().map(|&v| f64::from(v)).collect();
        for x in [one_by_one, many] {
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
            // Products of two squares have variance 9 − 1, and covariance 3 − 1 with the ones before and after.
            within(squares.sum::<f64>() / f64::from(n), 1.0, 8.0 + 2.0 * 2.0);
        }
    }
}
