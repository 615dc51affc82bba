//! Whether a point lies on an attractor that is known by an orbit on it: if it is as near to the orbit as points of the
//! orbit are to each other. The yardstick is the distance from points of the orbit's second half to their nearest
//! neighbours in its first half; 99 of 100 are nearer than it.

/// An orbit on an attractor.
#[derive(Debug, Clone)]
pub struct Attractor {
    dim: usize,
    orbit: Vec<f64>,
    yardstick: f64,
}

/// Points of the second half whose neighbours are looked for.
const SAMPLE: usize = 500;

/// Points of the orbit that are kept.
const KEPT: usize = 50_000;

impl Attractor {
    /// An orbit, rows of M, from behind its transient.
    pub fn new(orbit: &[f64], dim: usize) -> Attractor {
        let stride = (orbit.len() / dim).div_ceil(KEPT).max(1);
        let rows = orbit.chunks_exact(dim).step_by(stride);
        let orbit: Vec<f64> = rows.flatten().copied().collect();
        let half = orbit.len() / dim / 2;
        let (first, second) = orbit.split_at(half * dim);
        let every = half.div_ceil(SAMPLE).max(1);
        let sample = second.chunks_exact(dim).step_by(every);
        let mut distances: Vec<f64> = sample.map(|z| nearest(first, z)).collect();
        distances.sort_by(f64::total_cmp);
        // An orbit that has settled has distances of rounding.
        let rounding = 1e-6 * orbit.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        let quantile = distances.get(distances.len() * 99 / 100).copied();
        Attractor {
            dim,
            yardstick: quantile.unwrap_or(0.0).max(rounding),
            orbit,
        }
    }

    /// The distance to the nearest point of the orbit, in units of the yardstick.
    pub fn distance(&self, z: &[f64]) -> f64 {
        assert_eq!(z.len(), self.dim, "a point of another space");
        nearest(&self.orbit, z) / self.yardstick.max(f64::MIN_POSITIVE)
    }

    /// Whether a point is as near as the yardstick, or at least this near.
    pub(super) fn is_near(&self, z: &[f64], distance: f64) -> bool {
        nearest(&self.orbit, z) <= self.yardstick.max(distance)
    }

    /// Whether all these points lie on the attractor.
    pub fn has_all(&self, points: &[Vec<f64>]) -> bool {
        points.iter().all(|z| self.distance(z) <= 1.0)
    }
}

/// Variables after which a row that is too far away already is given up.
const PART: usize = 16;

fn nearest(orbit: &[f64], z: &[f64]) -> f64 {
    let mut least = f64::INFINITY;
    for row in orbit.chunks_exact(z.len()) {
        let mut square = 0.0;
        for (a, b) in row.chunks(PART).zip(z.chunks(PART)) {
            let differences = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
            square = differences.fold(square, |sum, d| sum + d);
            if square > least {
                break;
            }
        }
        least = least.min(square);
    }
    least.sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_circle_has_its_points_and_not_its_centre() {
        let golden = 2.399_963_229_728_653;
        let point = |i: usize| [(golden * i as f64).cos(), (golden * i as f64).sin()];
        let orbit: Vec<f64> = (0..4000).flat_map(point).collect();
        let circle = Attractor::new(&orbit, 2);
        assert!(circle.has_all(&[vec![0.6, 0.8], vec![-1.0, 0.0]]));
        assert!(!circle.has_all(&[vec![0.6, 0.8], vec![0.0, 0.0]]));
        assert!(circle.distance(&[0.0, 0.0]) > 100.0);
    }

    #[test]
    fn an_orbit_that_rests_has_its_fixed_point() {
        let rest = Attractor::new(&[2.0; 400], 2);
        assert!(rest.has_all(&[vec![2.0, 2.0 + 1e-9]]));
        assert!(!rest.has_all(&[vec![2.0, 2.1]]));
    }
}
