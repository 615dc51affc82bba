//! What delays are searched in: the channels of a recording, each standardised (n − 1), and where a value repeats, its copies
//! spread evenly over half the usual gap between values to either side.
//!
//! Quantised recordings have few values, so that the nearest neighbours of a point are all at distance 0 and in no order, and
//! statistics that divide by distances have no value. Within half a quantum nothing is known, so nothing is lost there.

use super::EmbedError;
use crate::measure::Rows;
use crate::rng::{Rng, Stream};
use crate::series::mean_and_sd;

/// Values beyond the end of every column, so that lanes may read past it.
pub(super) const PADDING: usize = 8;

/// Seed of the spreading; the same data always give the same delays.
const SEED: u64 = 0;

/// The largest value, and the least extent, whose squares, summed over ten million rows, are numbers: (2·10¹⁵⁰)² 10⁷ < 1.8·10³⁰⁸,
/// and (10⁻¹⁵⁰)² > 2.3·10⁻³⁰⁸.
const SQUARED: (f64, f64) = (1e150, 1e-150);

/// Channels of equal length, ready for the search of delays.
#[derive(Debug, Clone)]
pub struct Columns {
    len: usize,
    /// Each column with `PADDING` zeros after its end.
    padded: Vec<Vec<f64>>,
    spread: usize,
}

impl Columns {
    /// Prepares complete rows.
    pub fn new(rows: Rows<'_>) -> Result<Columns, EmbedError> {
        if rows.len() < 2 {
            let (needed, found) = (2, rows.len());
            return Err(EmbedError::TooShort { needed, found });
        }
        let mut rng = Rng::new(SEED, Stream::MonteCarlo);
        let mut columns = Columns {
            len: rows.len(),
            padded: Vec::with_capacity(rows.dim()),
            spread: 0,
        };
        for channel in 0..rows.dim() {
            if !has_squares(rows.column(channel)) {
                return Err(EmbedError::Squares { channel });
            }
            let (mean, sd) = mean_and_sd(rows.column(channel));
            // A constant has a spread of rounding errors.
            if sd.is_nan() || sd <= 1e-14 * mean.abs() {
                return Err(EmbedError::Constant { channel });
            }
            let mut x: Vec<f64> = rows.column(channel).map(|x| (x - mean) / sd).collect();
            columns.spread += spread_copies(&mut x, &mut rng);
            x.resize(rows.len() + PADDING, 0.0);
            columns.padded.push(x);
        }
        Ok(columns)
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of channels.
    pub fn dim(&self) -> usize {
        self.padded.len()
    }

    /// One channel.
    pub fn channel(&self, channel: usize) -> &[f64] {
        &self.padded[channel][..self.len]
    }

    /// How many values were copies of others.
    pub fn spread(&self) -> usize {
        self.spread
    }

    /// One channel with its padding.
    pub(super) fn padded(&self, channel: usize) -> &[f64] {
        &self.padded[channel]
    }
}

/// Whether squares of values, and of their distances from the mean, neither overflow nor vanish. Those of a constant may.
fn has_squares(x: impl Iterator<Item = f64>) -> bool {
    let (low, high) = x.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| {
        (low.min(x), high.max(x))
    });
    let (largest, least) = SQUARED;
    low.abs().max(high.abs()) <= largest && (low == high || high - low >= least)
}

/// Spreads the values that occur more than once, and counts them.
fn spread_copies(x: &mut [f64], rng: &mut Rng) -> usize {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|&a, &b| x[a].total_cmp(&x[b]));
    let groups: Vec<&[usize]> = order.chunk_by(|&a, &b| x[a] == x[b]).collect();
    let copies: Vec<usize> = groups
        .iter()
        .filter(|group| group.len() > 1)
        .flat_map(|group| group.iter().copied())
        .collect();
    let values = groups.iter().map(|group| x[group[0]]);
    let mut gaps: Vec<f64> = values
        .clone()
        .zip(values.skip(1))
        .map(|(a, b)| b - a)
        .collect();
    gaps.sort_unstable_by(f64::total_cmp);
    let half = 0.5 * gaps.get(gaps.len() / 2).copied().unwrap_or(0.0);
    for &i in &copies {
        x[i] += rng.between(-half, half);
    }
    copies.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_that_do_not_repeat_are_only_standardised() {
        let x: Vec<f64> = (0..200).map(|t| f64::from(t * t % 401)).collect();
        let columns = Columns::new(Rows::new(&x, 1)).unwrap();
        let (mean, sd) = mean_and_sd(x.iter().copied());
        assert_eq!(columns.spread(), 0);
        assert_eq!(columns.channel(0)[7], (x[7] - mean) / sd);
        assert_eq!((columns.len(), columns.dim()), (200, 1));
    }

    #[test]
    fn copies_stay_within_half_a_quantum_and_differ() {
        let x: Vec<f64> = (0..900)
            .map(|t| (5.0 * (0.1 * f64::from(t)).sin()).round())
            .collect();
        let columns = Columns::new(Rows::new(&x, 1)).unwrap();
        assert_eq!(columns.spread(), 900);
        let (mean, sd) = mean_and_sd(x.iter().copied());
        let mut sorted = columns.channel(0).to_vec();
        for (spread, x) in sorted.iter().zip(&x) {
            assert!((spread * sd + mean - x).abs() <= 0.5 + 1e-12);
        }
        sorted.sort_unstable_by(f64::total_cmp);
        assert!(sorted.windows(2).all(|pair| pair[0] < pair[1]));
    }

    #[test]
    fn a_constant_channel_is_refused_by_its_number() {
        let x: Vec<f64> = (0..100).flat_map(|t| [f64::from(t), 0.1]).collect();
        let refused = Columns::new(Rows::new(&x, 2)).unwrap_err();
        assert_eq!(refused, EmbedError::Constant { channel: 1 });
    }

    #[test]
    fn values_without_squares_are_refused_and_those_near_the_limits_not() {
        let scaled = |scale: f64| {
            let x: Vec<f64> = (0..100)
                .flat_map(|t| [f64::from(t), scale * (0.3 * f64::from(t)).sin()])
                .collect();
            Columns::new(Rows::new(&x, 2)).map(|columns| columns.channel(1).to_vec())
        };
        for scale in [1e300, 1e200, 1e-200, 1e-310] {
            assert_eq!(scaled(scale), Err(EmbedError::Squares { channel: 1 }));
        }
        let expected = scaled(1.0).unwrap();
        for scale in [1e149, 1e-149] {
            // Standardised, they are the same but for rounding: some hundred operations of 2⁻⁵³.
            let found = scaled(scale).unwrap();
            let pairs = found.iter().zip(&expected);
            assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-13));
        }
    }

    #[test]
    fn one_row_is_too_short_not_constant() {
        let refused = Columns::new(Rows::new(&[1.0, 2.0], 2)).unwrap_err();
        let (needed, found) = (2, 1);
        assert_eq!(refused, EmbedError::TooShort { needed, found });
    }
}
