//! Maximum mean discrepancy, squared: the distance of two distributions as a Gaussian kernel sees them,
//!
//! ```text
//! MMD² = ⟨k(x, x') + k(y, y') − k(x, y') − k(x', y)⟩,   k(a, b) = exp(−‖a − b‖²/2ℓ²)
//! ```
//!
//! over pairs of different rows (x, y), (x', y') of the two series (Gretton et al. 2012, unbiased, hence slightly negative at times). Both
//! series are standardised by the truth; ℓ is the median distance of two of 400 rows of the truth, evenly spaced.
//!
//! The value is the mean over 40 draws of 200 rows each, and its standard error that of the draws: what another seed would change, with the same two
//! series. For that, nothing but the draws may depend on the seed (where ℓ was taken from the first draw, values scattered by 1.7 times their error), no
//! row is paired with itself, as it would be by chance (which adds 1/T to ⟨k(x, x')⟩), and there are as many draws as the error of an error needs: the
//! ratio of value to error, Student's t, has a deviation of 1.03 where that of 10 draws has 1.13. Forty small draws cost as much as ten
//! of 400 rows, and see twice as many rows.

use std::slice::ChunksExact;

use super::summary::median;
use super::surrogate::Surrogate;
use super::{
    Against, Better, Estimate, Judges, MeasureError, MeasureInfo, Rows, SEED, Side, spread,
    squared_distance,
};
use crate::catalogue::{Entry, Kind};
use crate::rng::{Rng, Stream};

/// MMD² in the list.
pub static INFO: MeasureInfo = MeasureInfo {
    entry: Entry {
        kind: Kind::Measure,
        id: "mmd",
        summary: "maximum mean discrepancy, squared: distance of two distributions under a Gaussian kernel",
        details: "MMD² = ⟨k(x, x') + k(y, y') − k(x, y') − k(x', y)⟩, k = exp(−‖a − b‖²/2ℓ²), ℓ the median distance of\n\
                  two rows of the truth; both series standardised by the truth; 40 draws of 200 rows, unbiased, so\n\
                  at times below 0. The standard error is that of the draws: what another seed would change.",
        settings: &[SEED],
        references: &["gretton2012"],
    },
    better: Better::Lower,
    judges: Judges::Orbit(|truth, options| Ok(Some(Box::new(Kernel::new(truth, options.seed)?)))),
    blind_to: &[Surrogate::Shuffled],
};

/// Independent draws.
const DRAWS: usize = 40;

/// Rows per draw.
const SIZE: usize = 200;

/// Rows of the truth from which ℓ is taken.
const SCALE: usize = 400;

/// Draws from a truth, and the kernel that sees them.
#[derive(Debug, Clone)]
pub struct Kernel {
    moments: Vec<(f64, f64)>,
    /// Where rows are drawn, as fractions of the length, so that series of other lengths are drawn from alike.
    places: Vec<f64>,
    draws: Vec<Draw>,
    /// 1/2ℓ².
    rate: f64,
}

/// Rows of a series.
#[derive(Debug, Clone)]
struct Draw {
    /// Which.
    numbers: Vec<usize>,
    /// Standardised, row-major.
    values: Vec<f64>,
}

impl Kernel {
    /// Draws from a truth with a seed.
    pub fn new(truth: Rows<'_>, seed: u64) -> Result<Kernel, MeasureError> {
        let moments = spread(truth)?;
        let mut rng = Rng::new(seed, Stream::MonteCarlo);
        let places: Vec<f64> = (0..DRAWS * SIZE).map(|_| rng.uniform()).collect();
        let draws = draws(truth, &places, &moments);
        let mut distances = distances(&truth.thinned(SCALE, &moments), truth.dim());
        let scale = median(&mut distances);
        if scale > 0.0 {
            Ok(Kernel {
                moments,
                places,
                draws,
                rate: 0.5 / scale,
            })
        } else {
            Err(MeasureError::NoScaling { side: Side::Truth })
        }
    }

    /// MMD² of a series.
    pub fn discrepancy(&self, generated: Rows<'_>) -> Estimate {
        let of_generated = draws(generated, &self.places, &self.moments);
        let pairs = self.draws.iter().zip(&of_generated);
        let values: Vec<f64> = pairs
            .map(|(x, y)| self.of_draw(x, y, generated.dim()))
            .collect();
        Estimate::mean_of(&values)
    }

    /// The mean over pairs of rows that differ in both series; 0 where there is none.
    fn of_draw(&self, x: &Draw, y: &Draw, n: usize) -> f64 {
        let k = |a: &[f64], b: &[f64]| (-self.rate * squared_distance(a, b)).exp();
        let values: Vec<_> = x.rows(n).zip(y.rows(n)).collect();
        let numbers: Vec<_> = x.numbers.iter().zip(&y.numbers).collect();
        let (mut sum, mut pairs) = (0.0, 0);
        for (i, (x, y)) in values.iter().enumerate() {
            for j in
                (0..i).filter(|&j| numbers[i].0 != numbers[j].0 && numbers[i].1 != numbers[j].1)
            {
                let (other_x, other_y) = values[j];
                sum += k(x, other_x) + k(y, other_y) - k(x, other_y) - k(other_x, y);
                pairs += 1;
            }
        }
        sum / f64::from(pairs.max(1))
    }
}

impl Draw {
    fn rows(&self, n: usize) -> ChunksExact<'_, f64> {
        self.values.chunks_exact(n)
    }
}

impl Against for Kernel {
    fn judge(&self, generated: Rows<'_>) -> Result<Estimate, MeasureError> {
        Ok(self.discrepancy(generated))
    }
}

/// The rows at given fractions of the length, standardised, in draws of [`SIZE`].
fn draws(rows: Rows<'_>, places: &[f64], moments: &[(f64, f64)]) -> Vec<Draw> {
    let number = |&u: &f64| (u * rows.len() as f64) as usize;
    let scaled = |&t: &usize| {
        let values = rows.row(t).iter().zip(moments);
        values.map(|(x, (mean, sd))| (x - mean) / sd)
    };
    let draw = |places: &[f64]| {
        let numbers: Vec<usize> = places.iter().map(number).collect();
        let values = numbers.iter().flat_map(scaled).collect();
        Draw { numbers, values }
    };
    places.chunks_exact(SIZE).map(draw).collect()
}

/// Squared distances of all pairs of rows.
fn distances(draw: &[f64], n: usize) -> Vec<f64> {
    let rows: Vec<&[f64]> = draw.chunks_exact(n).collect();
    let pairs = (0..rows.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    pairs
        .map(|(i, j)| squared_distance(rows[i], rows[j]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// For x ~ N(0, 1) and y ~ N(μ, 1), k has the mean ⟨k⟩ = exp(−δ²/(2(ℓ² + 2)))·ℓ/√(ℓ² + 2) at a difference of means
    /// δ, so that MMD² = 2 ℓ/√(ℓ² + 2) (1 − exp(−μ²/(2(ℓ² + 2)))).
    #[test]
    fn normal_distributions_have_the_closed_form() {
        let mut rng = Rng::new(2, Stream::Noise);
        let mut draw = |mean: f64| (0..20_000).map(|_| mean + rng.normal()).collect::<Vec<_>>();
        let (x, y) = (draw(0.0), draw(1.0));
        let kernel = Kernel::new(Rows::new(&x, 1), 0).unwrap();
        let estimate = kernel.discrepancy(Rows::new(&y, 1));
        let wide = 0.5 / kernel.rate + 2.0;
        let ratio = (0.5 / kernel.rate / wide).sqrt();
        let expected = 2.0 * ratio * (1.0 - (-0.5 / wide).exp());
        // Five standard errors, plus 2 % because mean and spread of 20 000 numbers are known to 0.7 %.
        let tolerance = 5.0 * estimate.standard_error.unwrap() + 0.02 * expected;
        assert!(
            (estimate.value - expected).abs() < tolerance,
            "{estimate:?} {expected}"
        );
    }
}
