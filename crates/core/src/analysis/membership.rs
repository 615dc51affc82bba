//! Whether a point lies on an attractor that is known by an orbit on it: if it is as near to the orbit as points of the
//! orbit are to each other. The yardstick is the distance from points of the orbit's second half to their nearest
//! neighbours in its first half; 99 of 100 are nearer than it.
//!
//! Points of a regular orbit whose period is nearly a whole number of steps stay together in a few places of its closed curve, far
//! nearer to each other than to the states between these places. Where steps are small such an orbit is therefore taken for the chords z_k z_{k+1} of
//! its last turns. Between two states a curve leaves its chord by an eighth of their second difference,
//!
//! ```text
//! |z(t + ½) − (z_k + z_{k+1})/2| ≈ |z_{k+1} − 2 z_k + z_{k−1}|/8,
//! ```
//!
//! so a point that is as near as that to a chord lies on it, as does one that is as near as 99 of 100 earlier states are.

use super::period::period;

/// An orbit on an attractor.
#[derive(Debug, Clone)]
pub struct Attractor {
    dim: usize,
    orbit: Vec<f64>,
    yardstick: f64,
    /// How far the curve may be from the chord of each row to the next; empty where the orbit is points.
    bulges: Vec<f64>,
}

/// Points of the second half whose neighbours are looked for.
const SAMPLE: usize = 500;

/// Points of the orbit that are kept.
const KEPT: usize = 50_000;

/// Rows of a closed curve that are kept, where it has fewer in one turn.
const TURNS: usize = 1000;

/// Squared second differences of a curve, at most, as a share of its squared first ones: 0.27 for a circle of 12 steps, 2 or more where states
/// jump about.
const SMOOTH: f64 = 0.3;

impl Attractor {
    /// An orbit, rows of M, from behind its transient.
    pub fn new(orbit: &[f64], dim: usize) -> Attractor {
        let stride = (orbit.len() / dim).div_ceil(KEPT).max(1);
        let rows = orbit.chunks_exact(dim).step_by(stride);
        let orbit: Vec<f64> = rows.flatten().copied().collect();
        let half = orbit.len() / dim / 2;
        let (first, second) = orbit.split_at(half * dim);
        let distances = sampled(second, dim).map(|z| nearest(first, z));
        Attractor {
            yardstick: quantile(distances.collect()).max(rounding(&orbit)),
            dim,
            bulges: Vec::new(),
            orbit,
        }
    }

    /// A closed curve, by an orbit on it whose rows follow one another step by step; none if the orbit is not regular, or its steps are long.
    pub(super) fn closed(orbit: &[f64], dim: usize) -> Option<Attractor> {
        let turn = period(orbit, dim)?.ceil() as usize;
        // One row more at the end to close the curve, and one on either side for second differences.
        let kept = (turn + 3).max(TURNS) * dim;
        let (earlier, last) = orbit.split_at(orbit.len().checked_sub(kept)?);
        let first = differences(last, dim);
        let second = differences(&first, dim);
        let total = |rows: &[f64]| rows.iter().map(|d| d * d).sum::<f64>();
        if total(&second) > SMOOTH * total(&first) {
            return None;
        }
        let bent: Vec<f64> = second.chunks_exact(dim).map(size).collect();
        let mut curve = Attractor {
            dim,
            orbit: last[dim..last.len() - dim].to_vec(),
            yardstick: 0.0,
            bulges: bent.windows(2).map(|b| b[0].max(b[1]) / 8.0).collect(),
        };
        let distances = sampled(earlier, dim).map(|z| curve.beyond(z));
        curve.yardstick = quantile(distances.collect()).max(rounding(orbit));
        Some(curve)
    }

    /// The distance to the nearest point of the orbit, in units of the yardstick.
    pub fn distance(&self, z: &[f64]) -> f64 {
        assert_eq!(z.len(), self.dim, "a point of another space");
        self.beyond(z) / self.yardstick.max(f64::MIN_POSITIVE)
    }

    /// Whether a point is as near as the yardstick, or at least this near.
    pub(super) fn is_near(&self, z: &[f64], distance: f64) -> bool {
        self.beyond(z) <= self.yardstick.max(distance)
    }

    /// The distance to the nearest point, or that to the nearest chord beyond what the curve may be from it.
    fn beyond(&self, z: &[f64]) -> f64 {
        if self.bulges.is_empty() {
            return nearest(&self.orbit, z);
        }
        let ends = self.orbit.chunks_exact(self.dim);
        let chords = ends.clone().zip(ends.skip(1)).zip(&self.bulges);
        let distances = chords.map(|((a, b), bulge)| (from_chord(a, b, z) - bulge).max(0.0));
        distances.fold(f64::INFINITY, f64::min)
    }

    /// Whether all these points lie on the attractor.
    pub fn has_all(&self, points: &[Vec<f64>]) -> bool {
        points.iter().all(|z| self.distance(z) <= 1.0)
    }
}

/// Some rows, evenly spaced.
fn sampled(rows: &[f64], dim: usize) -> impl Iterator<Item = &[f64]> {
    let every = (rows.len() / dim).div_ceil(SAMPLE).max(1);
    rows.chunks_exact(dim).step_by(every)
}

/// What 99 of 100 distances are below.
fn quantile(mut distances: Vec<f64>) -> f64 {
    distances.sort_by(f64::total_cmp);
    let quantile = distances.get(distances.len() * 99 / 100).copied();
    quantile.unwrap_or(0.0)
}

/// Distances below this are of rounding, as those of an orbit that has settled.
fn rounding(orbit: &[f64]) -> f64 {
    1e-6 * orbit.iter().fold(0.0, |m: f64, v| m.max(v.abs()))
}

/// Rows minus the rows before them.
fn differences(rows: &[f64], dim: usize) -> Vec<f64> {
    let pairs = rows.iter().zip(&rows[dim..]);
    pairs.map(|(before, after)| after - before).collect()
}

fn size(row: &[f64]) -> f64 {
    row.iter().map(|v| v * v).sum::<f64>().sqrt()
}

/// The distance from a point to the chord from a to b: |d − τ s| with d = z − a, s = b − a, and τ = d·s/s² within 0 and 1.
fn from_chord(a: &[f64], b: &[f64], z: &[f64]) -> f64 {
    let (mut along, mut length, mut square) = (0.0, 0.0, 0.0);
    for ((a, b), z) in a.iter().zip(b).zip(z) {
        let (d, s) = (z - a, b - a);
        along += d * s;
        length += s * s;
        square += d * d;
    }
    let share = (along / length).clamp(0.0, 1.0);
    // Two rows that are one have no chord.
    let share = if share.is_nan() { 0.0 } else { share };
    let left = square - 2.0 * share * along + share * share * length;
    left.max(0.0).sqrt()
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
    use std::f64::consts::PI;

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

    /// 100.000001 steps per turn: in 8,000 steps points move by 10⁻⁶ of a step, and all lie in 100 places.
    #[test]
    fn a_circle_of_whole_steps_has_the_points_between_them() {
        let turn = 2.0 * PI / 100.000_001;
        let point = |t: f64| vec![(turn * t).cos(), (turn * t).sin()];
        let orbit: Vec<f64> = (0..8000).flat_map(|t| point(f64::from(t))).collect();
        let between = [point(0.5), point(17.3), point(99.9)];
        assert!(!Attractor::new(&orbit, 2).has_all(&between));
        let circle = Attractor::closed(&orbit, 2).unwrap();
        assert!(circle.has_all(&between));
        // A chord is a bulge of (1 − cos(π/100)) = 0.0005 within the circle.
        let scaled = |by: f64| vec![by * point(0.5)[0], by * point(0.5)[1]];
        assert!(!circle.has_all(&[scaled(0.998)]) && !circle.has_all(&[scaled(1.002)]));
    }

    /// 0.4 π per step, and x ← 1 − 1.755 x², whose cycle has three points.
    #[test]
    fn an_orbit_of_long_steps_is_no_curve() {
        let star = |t: usize| [(0.4 * PI * t as f64).cos(), (0.4 * PI * t as f64).sin()];
        let orbit: Vec<f64> = (0..4000).flat_map(star).collect();
        assert!(Attractor::closed(&orbit, 2).is_none());
        let quadratic = |x: &f64| Some(1.0 - 1.755 * x * x);
        let orbit = std::iter::successors(Some(0.3), quadratic);
        let orbit: Vec<f64> = orbit.skip(1000).take(4000).collect();
        assert!(Attractor::closed(&orbit, 1).is_none());
    }

    #[test]
    fn an_orbit_that_rests_has_its_fixed_point() {
        let rest = Attractor::new(&[2.0; 400], 2);
        assert!(rest.has_all(&[vec![2.0, 2.0 + 1e-9]]));
        assert!(!rest.has_all(&[vec![2.0, 2.1]]));
    }
}
