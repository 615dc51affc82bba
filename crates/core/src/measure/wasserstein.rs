//! Sliced Wasserstein distance: how far the points of one series must be moved to become those of the other, seen from
//! random directions,
//!
//! ```text
//! SW = ⟨ W₁(u·X, u·Y) ⟩_u,   W₁ = ∫₀¹ |F⁻¹(s) − G⁻¹(s)| ds
//! ```
//!
//! over 128 random unit vectors u, with both series standardised by the truth and thinned to at most 10 000 rows (Bonneel
//! et al. 2015). Unlike a divergence it grows with the distance of points that lie beside the truth.

use super::surrogate::Surrogate;
use super::{Against, Better, Estimate, Judges, MeasureError, MeasureInfo, Rows, SEED, spread};
use crate::catalogue::{Entry, Kind};
use crate::rng::{Rng, Stream};

/// The sliced Wasserstein distance in the list.
pub static INFO: MeasureInfo = MeasureInfo {
    entry: Entry {
        kind: Kind::Measure,
        id: "wasserstein",
        summary: "sliced Wasserstein distance: how far points must move to fill space as the truth does",
        details: "SW = ⟨W₁(u·X, u·Y)⟩ over 128 random directions u, W₁ = ∫|F⁻¹ − G⁻¹| the distance of sorted\n\
                  projections; both series standardised by the truth, so that 1 is one standard deviation,\n\
                  and thinned to 10000 rows. The standard error is that of the directions.",
        settings: &[SEED],
        references: &["bonneel2015"],
    },
    better: Better::Lower,
    judges: Judges::Orbit(|truth, options| Ok(Some(Box::new(Sliced::new(truth, options.seed)?)))),
    blind_to: &[Surrogate::Shuffled],
};

/// Random directions.
const DIRECTIONS: usize = 128;

/// Rows that are compared, at most.
const LARGEST: usize = 10_000;

/// The sorted projections of a truth.
#[derive(Debug, Clone)]
pub struct Sliced {
    moments: Vec<(f64, f64)>,
    directions: Vec<Vec<f64>>,
    projections: Vec<Vec<f64>>,
}

impl Sliced {
    /// Projects a truth on directions drawn with a seed; one channel has one direction.
    pub fn new(truth: Rows<'_>, seed: u64) -> Result<Sliced, MeasureError> {
        let moments = spread(truth)?;
        let mut rng = Rng::new(seed, Stream::MonteCarlo);
        let directions: Vec<Vec<f64>> = match truth.dim() {
            1 => vec![vec![1.0]],
            n => (0..DIRECTIONS).map(|_| direction(n, &mut rng)).collect(),
        };
        let points = truth.thinned(LARGEST, &moments);
        let projections = directions.iter().map(|u| projected(&points, u)).collect();
        Ok(Sliced {
            moments,
            directions,
            projections,
        })
    }

    /// The distance of a series, with the standard error of the directions.
    pub fn distance(&self, generated: Rows<'_>) -> Estimate {
        let points = generated.thinned(LARGEST, &self.moments);
        let sides = self.directions.iter().zip(&self.projections);
        let distances: Vec<f64> = sides
            .map(|(u, truth)| sorted_distance(truth, &projected(&points, u)))
            .collect();
        match distances[..] {
            [only] => Estimate::exact(only),
            _ => Estimate::mean_of(&distances),
        }
    }
}

impl Against for Sliced {
    fn judge(&self, generated: Rows<'_>) -> Result<Estimate, MeasureError> {
        Ok(self.distance(generated))
    }
}

/// A random unit vector.
fn direction(n: usize, rng: &mut Rng) -> Vec<f64> {
    let u: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
    let norm = u.iter().map(|v| v * v).sum::<f64>().sqrt();
    u.iter().map(|v| v / norm).collect()
}

/// u·x of every point, sorted.
fn projected(points: &[f64], u: &[f64]) -> Vec<f64> {
    let dot = |x: &[f64]| x.iter().zip(u).map(|(x, u)| x * u).sum();
    let mut projected: Vec<f64> = points.chunks_exact(u.len()).map(dot).collect();
    projected.sort_unstable_by(f64::total_cmp);
    projected
}

/// W₁ of two sorted samples: the area between their quantile functions, which are steps of 1/n and 1/m.
pub fn sorted_distance(a: &[f64], b: &[f64]) -> f64 {
    let (n, m) = (a.len() as f64, b.len() as f64);
    let (mut i, mut j, mut at, mut area) = (0, 0, 0.0, 0.0);
    while i < a.len() && j < b.len() {
        let (end_a, end_b) = ((i + 1) as f64 / n, (j + 1) as f64 / m);
        let end = end_a.min(end_b);
        area += (end - at) * (a[i] - b[j]).abs();
        i += usize::from(end_a <= end_b);
        j += usize::from(end_b <= end_a);
        at = end;
    }
    area
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_between_steps() {
        assert_eq!(sorted_distance(&[0.0, 1.0], &[2.0, 5.0]), 3.0);
        // F⁻¹ is 0 up to 1/2 then 3; G⁻¹ is 0, 1, 2 in thirds: 0/3 + (1/6)(1 + 2) + (1/3)(1), rounded a few times.
        let found = sorted_distance(&[0.0, 3.0], &[0.0, 1.0, 2.0]);
        assert!((found - (0.5 + 1.0 / 3.0)).abs() < 1e-15);
    }

    /// A shift by one standard deviation in direction e moves projections by |u·e|, whose mean over the sphere in three
    /// dimensions is 1/2.
    #[test]
    fn a_shift_is_measured_in_closed_form() {
        let mut rng = Rng::new(5, Stream::Noise);
        let x: Vec<f64> = (0..3000).map(|_| rng.normal()).collect();
        let truth = Rows::new(&x, 3);
        let shift = truth.moments()[1].1;
        let moved: Vec<f64> = x
            .chunks_exact(3)
            .flat_map(|r| [r[0], r[1] + shift, r[2]])
            .collect();
        let estimate = Sliced::new(truth, 0)
            .unwrap()
            .distance(Rows::new(&moved, 3));
        // Five standard errors over the directions.
        let error = estimate.standard_error.unwrap();
        assert!((estimate.value - 0.5).abs() < 5.0 * error && error < 0.03);
    }
}
