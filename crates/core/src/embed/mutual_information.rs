//! Mutual information of a series and itself τ rows later, and its first minimum, the delay of Fraser and Swinney (1986):
//!
//! ```text
//! I(τ) = Σ_ij g_ij/n log₂( g_ij n / (b_i b_j) )
//! ```
//!
//! where g_ij counts rows with x_t in bin i and x_{t+τ} in bin j, over the same n rows for every τ. Bins adapt to the data: the
//! sorted values are halved, and each half again, until the values of a bin are spread evenly over it by a χ² test. Both
//! marginals are the counts b of the undelayed rows. A value that repeats lies in one bin only.

/// The mutual information by delay.
#[derive(Debug, Clone, PartialEq)]
pub struct MutualInformation {
    /// I(1), I(2), … in bits.
    pub bits: Vec<f64>,
    /// How many bins there were.
    pub bins: usize,
}

impl MutualInformation {
    /// I(1) … I(lags) of a series.
    ///
    /// # Panics
    /// If the series is not longer than `lags`.
    pub fn new(x: &[f64], lags: usize) -> MutualInformation {
        assert!(x.len() > lags, "{} rows have no delay {lags}", x.len());
        let n = x.len() - lags;
        let mut sorted = x[..n].to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let mut ends = Vec::new();
        halve(&sorted, &mut ends);
        ends.dedup();
        let bin = |v: &f64| ends.partition_point(|end| end < v).min(ends.len() - 1);
        let places: Vec<usize> = x.iter().map(bin).collect();
        let counts = Counts::new(&places[..n], ends.len());
        let mut joint = vec![0; ends.len() * ends.len()];
        let bits = |lag: usize| counts.bits(&places, lag, &mut joint);
        MutualInformation {
            bits: (1..=lags).map(bits).collect(),
            bins: ends.len(),
        }
    }

    /// The first τ with I(τ + 1) ≥ I(τ); none if I falls to the end.
    pub fn first_minimum(&self) -> Option<usize> {
        let rises = self.bits.windows(2).position(|pair| pair[1] >= pair[0]);
        rises.map(|i| i + 1)
    }
}

/// Appends the largest value of every bin of sorted values.
fn halve(sorted: &[f64], ends: &mut Vec<f64>) {
    if is_even(sorted) {
        ends.extend(sorted.last());
        return;
    }
    let (low, high) = sorted.split_at(sorted.len() / 2);
    halve(low, ends);
    halve(high, ends);
}

/// Whether sorted values are spread evenly: χ² of equal parts below its 90 % quantile. So few as ten always are.
fn is_even(sorted: &[f64]) -> bool {
    let (parts, quantile) = match sorted.len() {
        0..10 => return true,
        10..20 => (2, 2.706),
        _ => (4, 6.251),
    };
    let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
    if low == high {
        return true;
    }
    let expected = (sorted.len() as f64 / parts as f64).round();
    let mut before = 0;
    let chi: f64 = (1..=parts)
        .map(|part| {
            let end = low + (high - low) * part as f64 / parts as f64;
            let below = if part == parts {
                sorted.len()
            } else {
                sorted.partition_point(|&v| v < end)
            };
            let count = (below - std::mem::replace(&mut before, below)) as f64;
            (count - expected).powi(2) / expected
        })
        .sum();
    chi < quantile
}

/// How many rows lie in every bin.
struct Counts {
    rows: usize,
    b: Vec<f64>,
}

impl Counts {
    fn new(places: &[usize], bins: usize) -> Counts {
        let mut b = vec![0.0; bins];
        places.iter().for_each(|&i| b[i] += 1.0);
        Counts {
            rows: places.len(),
            b,
        }
    }

    /// I(lag); `joint` is working memory of bins × bins.
    fn bits(&self, places: &[usize], lag: usize, joint: &mut [u32]) -> f64 {
        let bins = self.b.len();
        joint.fill(0);
        let pairs = places[..self.rows].iter().zip(&places[lag..]);
        pairs.for_each(|(i, j)| joint[i * bins + j] += 1);
        let n = self.rows as f64;
        let cells = joint.iter().enumerate().filter(|(_, g)| **g > 0);
        cells
            .map(|(ij, &g)| {
                let g = f64::from(g);
                g / n * (g * n / (self.b[ij / bins] * self.b[ij % bins])).log2()
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};

    #[test]
    fn a_sine_has_its_minimum_at_a_quarter_of_its_period() {
        // Some noise, since without it x(t) tells x(t+τ) up to its sign for every τ, and the bins decide.
        let mut rng = Rng::new(2, Stream::Noise);
        let x: Vec<f64> = (0..40_000)
            .map(|t| (std::f64::consts::TAU * f64::from(t) / 40.0).sin() + 0.3 * rng.normal())
            .collect();
        let found = MutualInformation::new(&x, 30).first_minimum();
        // The curve is flat there: by the next row I has grown by less than its statistical error, bits/√n.
        assert!(found.is_some_and(|lag| lag.abs_diff(10) <= 1), "{found:?}");
    }

    #[test]
    fn noise_has_no_information_and_a_copy_all() {
        let mut rng = Rng::new(1, Stream::Noise);
        let x: Vec<f64> = (0..20_000).map(|_| rng.normal()).collect();
        let noise = MutualInformation::new(&x, 20);
        assert!(noise.first_minimum().is_some_and(|lag| lag < 8));
        // A period of 50: the bins after a period are the bins before it, whose entropy is at most log₂ of their number.
        let periodic: Vec<f64> = (0..5000).map(|t| x[t % 50]).collect();
        let found = MutualInformation::new(&periodic, 50);
        assert!(
            found.bits[49] > 0.9 * (found.bins as f64).log2(),
            "{found:?}"
        );
        // Bias of independent bins: (bins − 1)²/(2 n ln 2) bits.
        let bias = (noise.bins as f64 - 1.0).powi(2) / (2.0 * 20_000.0 * 2f64.ln());
        assert!(
            noise
                .bits
                .iter()
                .all(|bits| (bits / bias - 1.0).abs() < 0.3)
        );
    }

    #[test]
    fn values_that_repeat_are_no_trouble() {
        let x: Vec<f64> = (0..3000)
            .map(|t| (f64::from(t) * 0.1).sin().round())
            .collect();
        let found = MutualInformation::new(&x, 60);
        assert!(found.bins <= 3 && found.bits.iter().all(|bits| bits.is_finite()));
        let constant = MutualInformation::new(&[2.0; 500], 60);
        assert_eq!((constant.bins, constant.bits[0]), (1, 0.0));
    }
}
