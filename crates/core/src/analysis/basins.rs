//! Where orbits end: the attractors that a system has beside the one that it is known for.
//!
//! Scores are made from orbits that start on the data, and see one attractor. Here orbits start from the data, from a box around
//! them, and next to every stable point and cycle; each runs through a transient, and its tail is compared with what is known:
//!
//! | tail | end |
//! | --- | --- |
//! | leaves what single precision holds | [`End::Diverges`] |
//! | stays within 10⁻³ of the attractor's spread | [`End::Point`] |
//! | comes back within as much, again and again, after p ≤ 64 steps | [`End::Cycle`] |
//! | four fifths of it are as near to the attractor as its own points | [`End::Attractor`] |
//! | anything else | [`End::Other`] |
//!
//! An attractor that is itself a point or a cycle is recognised by its place. Tails of one kind that lie on one another are one end.

use super::membership::Attractor;
use crate::dynamics::leaves_f32;
use crate::series::mean_and_sd;

/// Where an orbit starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// From a row of the data.
    Data,
    /// From somewhere in a box around them.
    Box,
    /// Next to a stable point or cycle.
    Near,
}

/// What becomes of an orbit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It comes to the attractor.
    Attractor,
    /// It rests at another point.
    Point,
    /// It comes to another cycle, of this period.
    Cycle(usize),
    /// It stays elsewhere: on a closed curve, or on another chaotic attractor.
    Other,
    /// It leaves every bound.
    Diverges,
}

/// One end, and the orbits that have it.
#[derive(Debug, Clone)]
pub struct Basin {
    /// What becomes of them.
    pub end: End,
    /// The last state of the first of them; empty if they diverge.
    pub point: Vec<f64>,
    /// How many of them start from the data, from the box, and next to stable points and cycles.
    pub starts: [usize; 3],
    place: Attractor,
}

/// All ends that were found.
#[derive(Debug, Clone, Default)]
pub struct Basins {
    /// The ends, that of most orbits from the data first.
    pub found: Vec<Basin>,
    /// Orbits from the data, from the box, and next to stable points and cycles.
    pub starts: [usize; 3],
}

/// How long orbits are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// Steps that are not looked at.
    pub transient: usize,
    /// Steps that are.
    pub tail: usize,
}

impl Default for Plan {
    fn default() -> Plan {
        Plan {
            transient: 5000,
            tail: 1000,
        }
    }
}

/// States that are compared: of the attractor, and of a tail.
const KNOWN: usize = 8000;
const COMPARED: usize = 20;

/// Shares of the attractor's spread within which a tail rests, and of a tail that must be on it.
const AT_REST: f64 = 1e-3;
const SHARE: f64 = 0.8;

/// The longest period that is recognised.
const LONGEST: usize = 64;

/// Follows orbits from all starts, until time is up.
///
/// `orbit` is the attractor that the system is known for, rows of M; `advance` makes a step.
pub fn basins(
    orbit: &[f64],
    starts: &[(Origin, Vec<f64>)],
    plan: Plan,
    mut advance: impl FnMut(&mut [f64]),
    expired: &dyn Fn() -> bool,
) -> Basins {
    let Some(dim) = starts.first().map(|(_, z)| z.len()) else {
        return Basins::default();
    };
    let mut search = Search::new(orbit, dim);
    for (origin, z) in starts {
        if expired() {
            break;
        }
        let tail = tail(z.clone(), plan, &mut advance);
        search.add(*origin, &tail);
    }
    let mut basins = search.basins;
    basins.found.sort_by_key(|b| std::cmp::Reverse(b.starts));
    basins
}

/// The tail of an orbit, rows of M; empty if it diverges.
fn tail(mut z: Vec<f64>, plan: Plan, advance: &mut impl FnMut(&mut [f64])) -> Vec<f64> {
    let mut tail = Vec::with_capacity(plan.tail * z.len());
    for step in 0..plan.transient + plan.tail {
        advance(&mut z);
        if z.iter().any(|&z| leaves_f32(z)) {
            return Vec::new();
        }
        if step >= plan.transient {
            tail.extend_from_slice(&z);
        }
    }
    tail
}

struct Search {
    dim: usize,
    /// The shape and the place of the attractor.
    shape: End,
    attractor: Attractor,
    /// Distances below this are none.
    small: f64,
    basins: Basins,
}

impl Search {
    fn new(orbit: &[f64], dim: usize) -> Search {
        let rows = orbit.len() / dim;
        let column = |i: usize| orbit.iter().skip(i).step_by(dim).copied();
        let spread = (0..dim)
            .map(|i| mean_and_sd(column(i)).1.powi(2))
            .sum::<f64>();
        let size = orbit.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
        // An attractor at rest has no spread.
        let small = AT_REST
            * if spread.sqrt() > 1e-6 * size {
                spread.sqrt()
            } else {
                size
            };
        let every = rows.div_ceil(KNOWN).max(1);
        let known = orbit.chunks_exact(dim).step_by(every);
        let known: Vec<f64> = known.flatten().copied().collect();
        let last = orbit.len() - rows.min(Plan::default().tail) * dim;
        Search {
            dim,
            shape: shape(&orbit[last..], dim, small),
            attractor: Attractor::new(&known, dim),
            small,
            basins: Basins::default(),
        }
    }

    fn add(&mut self, origin: Origin, tail: &[f64]) {
        let which = origin as usize;
        self.basins.starts[which] += 1;
        let end = self.end_of(tail);
        let known = self.basins.found.iter().position(|basin| {
            let is_one_place = matches!(end, End::Attractor | End::Diverges);
            basin.end == end && (is_one_place || self.is_at(&basin.place, tail))
        });
        let place = known.unwrap_or_else(|| {
            self.basins.found.push(Basin {
                end,
                point: tail[tail.len().saturating_sub(self.dim)..].to_vec(),
                starts: [0; 3],
                place: Attractor::new(tail, self.dim),
            });
            self.basins.found.len() - 1
        });
        self.basins.found[place].starts[which] += 1;
    }

    fn end_of(&self, tail: &[f64]) -> End {
        if tail.is_empty() {
            return End::Diverges;
        }
        let shape = shape(tail, self.dim, self.small);
        if shape == self.shape && self.is_at(&self.attractor, tail) {
            End::Attractor
        } else {
            shape
        }
    }

    /// Whether a tail is where an attractor is: as near as its own points are, or by less than counts.
    fn is_at(&self, place: &Attractor, tail: &[f64]) -> bool {
        let rows = tail.chunks_exact(self.dim);
        let every = rows.len().div_ceil(COMPARED).max(1);
        let near = rows.step_by(every).map(|z| place.is_near(z, self.small));
        let near: Vec<bool> = near.collect();
        let count = near.iter().filter(|near| **near).count();
        count as f64 >= SHARE * near.len() as f64
    }
}

/// Whether a tail rests or comes back, to within a distance; [`End::Other`] if neither.
fn shape(tail: &[f64], dim: usize, small: f64) -> End {
    let rows = tail.len() / dim;
    // Not to the row before: a slow orbit is always near that.
    let comes_back = |period: usize| {
        let first = tail[..period * dim].chunks_exact(dim).cycle();
        let mut pairs = tail.chunks_exact(dim).zip(first);
        pairs.all(|(z, first)| distance(z, first) <= small)
    };
    match (1..=LONGEST.min(rows / 4)).find(|&period| comes_back(period)) {
        Some(1) => End::Point,
        Some(period) => End::Cycle(period),
        None => End::Other,
    }
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x ← x − h (x³ − x) has stable points at ±1 and an unstable one at 0.
    fn double_well(z: &mut [f64]) {
        z[0] -= 0.1 * (z[0].powi(3) - z[0]);
    }

    fn from(origin: Origin, starts: &[f64]) -> Vec<(Origin, Vec<f64>)> {
        starts.iter().map(|&x| (origin, vec![x])).collect()
    }

    #[test]
    fn the_other_well_is_found_and_counted_by_where_orbits_start() {
        let starts = [
            from(Origin::Data, &[0.9, 1.1, 1.2]),
            from(Origin::Box, &[-0.5, 0.5, 30.0]),
            from(Origin::Near, &[-0.99]),
        ];
        let never = &|| false;
        let found = basins(
            &[1.0; 2000],
            &starts.concat(),
            Plan::default(),
            double_well,
            never,
        );
        let ends: Vec<_> = found.found.iter().map(|b| (b.end, b.starts)).collect();
        let expected = [
            (End::Attractor, [3, 1, 0]),
            (End::Point, [0, 1, 1]),
            (End::Diverges, [0, 1, 0]),
        ];
        assert_eq!((ends, found.starts), (expected.to_vec(), [3, 3, 1]));
        assert!((found.found[1].point[0] + 1.0).abs() < 1e-9);
    }

    /// The logistic map at r = 3.2 has a stable 2-cycle, which is not the point that it is said to be known for; a rotation fills
    /// circles, one for each radius.
    #[test]
    fn cycles_and_closed_curves_are_told_from_points() {
        let never = &|| false;
        let logistic = |z: &mut [f64]| z[0] = 3.2 * z[0] * (1.0 - z[0]);
        let starts = from(Origin::Data, &[0.3, 0.7]);
        let found = basins(&[0.5; 100], &starts, Plan::default(), logistic, never).found;
        assert_eq!((found.len(), found[0].end), (1, End::Cycle(2)));
        let turn = |z: &mut [f64]| {
            let (sin, cos) = 0.01_f64.sin_cos();
            (z[0], z[1]) = (cos * z[0] - sin * z[1], sin * z[0] + cos * z[1]);
        };
        let circle = |i: usize| [(0.01 * i as f64).cos(), (0.01 * i as f64).sin()];
        let known: Vec<f64> = (0..2000).flat_map(circle).collect();
        let at = |x: f64| (Origin::Data, vec![x, 0.0]);
        let starts = [at(1.0), at(2.0), at(-2.0)];
        let found = basins(&known, &starts, Plan::default(), turn, never).found;
        let ends: Vec<_> = found.iter().map(|b| (b.end, b.starts[0])).collect();
        assert_eq!(ends, [(End::Other, 2), (End::Attractor, 1)]);
    }

    #[test]
    fn it_ends_when_time_is_up() {
        let starts = from(Origin::Data, &[0.9, 1.1]);
        let found = basins(&[1.0; 100], &starts, Plan::default(), double_well, &|| true);
        assert_eq!((found.found.len(), found.starts), (0, [0, 0, 0]));
    }
}
