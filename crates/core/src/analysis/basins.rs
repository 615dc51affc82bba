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
//!
//! A tail that would be a new cycle or another attractor may as well be the way to one, such as a slow spiral, or a part of one that orbits take
//! long to fill. Its orbit goes on, each stretch twice as long as the one before, until two of them lie on one another; one of which this is not so in
//! the end is [`End::Unsettled`]. The orbit that the attractor is known by goes on in the same way: it may be too short to have seen all of it.

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
    /// It was still on its way when it was last looked at.
    Unsettled,
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

/// States that are compared: of the attractor, of stretches with one another, and of a tail.
const KNOWN: usize = 8000;
const COARSE: usize = 1000;
const COMPARED: usize = 20;

/// Shares of the attractor's spread within which a tail rests, and of a tail that must be on it.
const AT_REST: f64 = 1e-3;
const SHARE: f64 = 0.8;

/// The longest period that is recognised.
const LONGEST: usize = 64;

/// How often an orbit goes on, twice as long each time, until it has settled.
const ROUNDS: usize = 4;

/// Steps from one look at the time to the next.
const LOOK: usize = 64;

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
    let mut walk = Walk {
        dim,
        advance: &mut advance,
        expired,
    };
    let Some(mut search) = Search::new(orbit, plan, &mut walk) else {
        return Basins::default();
    };
    for (origin, z) in starts {
        let Some(tail) = search.follow(z.clone(), plan, &mut walk) else {
            break;
        };
        search.add(*origin, tail);
    }
    let mut basins = search.basins;
    basins.found.sort_by_key(|b| std::cmp::Reverse(b.starts));
    basins
}

/// How orbits are made.
struct Walk<'a> {
    dim: usize,
    advance: &'a mut dyn FnMut(&mut [f64]),
    expired: &'a dyn Fn() -> bool,
}

impl Walk<'_> {
    /// The next rows of an orbit behind so many that are passed over; empty if it diverges, none if time is up.
    fn rows(&mut self, z: &mut [f64], passed: usize, count: usize) -> Option<Vec<f64>> {
        let mut rows = Vec::with_capacity(count * self.dim);
        for step in 0..passed + count {
            if step.is_multiple_of(LOOK) && (self.expired)() {
                return None;
            }
            (self.advance)(z);
            if z.iter().any(|&z| leaves_f32(z)) {
                return Some(Vec::new());
            }
            if step >= passed {
                rows.extend_from_slice(z);
            }
        }
        Some(rows)
    }
}

/// The tail of an orbit, rows of M, and what becomes of it.
struct Tail {
    end: End,
    rows: Vec<f64>,
    /// Whether it is longer than it was meant to be.
    is_longer: bool,
}

struct Search {
    dim: usize,
    /// Rows at the end of a stretch that say what it is.
    looked_at: usize,
    /// The shape and the place of the attractor.
    shape: End,
    attractor: Attractor,
    /// Distances below this are none.
    small: f64,
    basins: Basins,
}

impl Search {
    /// Follows the known orbit until it has settled; none if time is up.
    fn new(orbit: &[f64], plan: Plan, walk: &mut Walk<'_>) -> Option<Search> {
        let dim = walk.dim;
        let mut search = Search {
            dim,
            looked_at: plan.tail,
            shape: End::Unsettled,
            attractor: Attractor::new(&[], dim),
            small: small(orbit, dim),
            basins: Basins::default(),
        };
        let rows = orbit.len() / dim;
        let last = orbit[orbit.len() - rows.min(plan.tail) * dim..].to_vec();
        let mut z = last[last.len() - dim..].to_vec();
        let settled = search.settle(last, &mut z, walk)?;
        search.shape = match settled.end {
            End::Unsettled => End::Other,
            end => end,
        };
        let is_known = rows >= KNOWN && !settled.is_longer;
        let place = match settled.end {
            End::Diverges => orbit.to_vec(),
            End::Point | End::Cycle(_) => settled.rows,
            _ if is_known => orbit.to_vec(),
            _ => {
                let more = KNOWN.saturating_sub(settled.rows.len() / dim);
                [settled.rows, walk.rows(&mut z, 0, more)?].concat()
            }
        };
        search.attractor = place_of(&place, dim, KNOWN);
        Some(search)
    }

    /// What becomes of an orbit; none if time is up.
    fn follow(&self, mut z: Vec<f64>, plan: Plan, walk: &mut Walk<'_>) -> Option<Tail> {
        let rows = walk.rows(&mut z, plan.transient, plan.tail)?;
        self.settle(rows, &mut z, walk)
    }

    /// Goes on from a tail whose last row is z until it comes to what is known, or lies where it has been before.
    fn settle(&self, mut rows: Vec<f64>, z: &mut [f64], walk: &mut Walk<'_>) -> Option<Tail> {
        for round in 0..ROUNDS {
            let end = self.end_of(&rows);
            let is_longer = round > 0;
            if self.is_known(end, &rows) {
                let rows = self.last(&rows).to_vec();
                return Some(Tail {
                    end,
                    rows,
                    is_longer,
                });
            }
            let next = walk.rows(z, 0, 2 * rows.len() / self.dim)?;
            let is_settled = self.end_of(&next) == end && self.are_one(&rows, &next);
            rows = next;
            if is_settled {
                return Some(Tail {
                    end,
                    rows,
                    is_longer,
                });
            }
        }
        let end = match self.end_of(&rows) {
            End::Cycle(_) | End::Other => End::Unsettled,
            end => end,
        };
        Some(Tail {
            end,
            rows,
            is_longer: true,
        })
    }

    fn last<'a>(&self, rows: &'a [f64]) -> &'a [f64] {
        &rows[rows.len().saturating_sub(self.looked_at * self.dim)..]
    }

    /// Whether there is nothing more to learn of a tail.
    fn is_known(&self, end: End, rows: &[f64]) -> bool {
        match end {
            End::Cycle(_) | End::Other => self.basin_of(end, rows).is_some(),
            _ => true,
        }
    }

    /// Whether either of two stretches lies on the other, as points or as curves.
    fn are_one(&self, a: &[f64], b: &[f64]) -> bool {
        let points = |rows: &[f64]| Attractor::new(&thinned(rows, self.dim, COARSE), self.dim);
        let curve = |rows: &[f64]| Attractor::closed(rows, self.dim);
        (self.is_at(&points(a), b) && self.is_at(&points(b), a))
            || curve(a).is_some_and(|a| self.is_at(&a, b))
                && curve(b).is_some_and(|b| self.is_at(&b, a))
    }

    /// The end that a tail shares with others.
    fn basin_of(&self, end: End, rows: &[f64]) -> Option<usize> {
        self.basins.found.iter().position(|basin| {
            let is_one_place = matches!(end, End::Attractor | End::Diverges | End::Unsettled);
            basin.end == end && (is_one_place || self.is_at(&basin.place, self.last(rows)))
        })
    }

    fn add(&mut self, origin: Origin, Tail { end, rows, .. }: Tail) {
        let which = origin as usize;
        self.basins.starts[which] += 1;
        let place = self.basin_of(end, &rows).unwrap_or_else(|| {
            self.basins.found.push(Basin {
                end,
                point: rows[rows.len().saturating_sub(self.dim)..].to_vec(),
                starts: [0; 3],
                place: place_of(&rows, self.dim, usize::MAX),
            });
            self.basins.found.len() - 1
        });
        self.basins.found[place].starts[which] += 1;
    }

    fn end_of(&self, rows: &[f64]) -> End {
        let tail = self.last(rows);
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

/// Where an orbit is: the curve that it closes, else at most so many of its rows.
fn place_of(rows: &[f64], dim: usize, most: usize) -> Attractor {
    let points = || Attractor::new(&thinned(rows, dim, most), dim);
    Attractor::closed(rows, dim).unwrap_or_else(points)
}

/// At most so many rows, evenly spaced.
fn thinned(rows: &[f64], dim: usize, most: usize) -> Vec<f64> {
    let every = (rows.len() / dim).div_ceil(most).max(1);
    let left = rows.chunks_exact(dim).step_by(every);
    left.flatten().copied().collect()
}

/// The distance below which states of an orbit are one.
fn small(orbit: &[f64], dim: usize) -> f64 {
    let column = |i: usize| orbit.iter().skip(i).step_by(dim).copied();
    let spread = (0..dim)
        .map(|i| mean_and_sd(column(i)).1.powi(2))
        .sum::<f64>()
        .sqrt();
    let size = orbit.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    // An attractor at rest has no spread.
    AT_REST * if spread > 1e-6 * size { spread } else { size }
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

    /// x_{n+1} = 3.9 x (1 − x) in one of two halves of the line, which are left for the other once in a hundred steps: an orbit of 40 steps has seen
    /// one half, and so has a tail. Both are the one attractor that longer orbits fill.
    #[test]
    fn parts_of_an_attractor_that_take_long_to_fill_are_one() {
        let logistic = |x: f64| 3.9 * x * (1.0 - x);
        let step = |z: &mut [f64]| {
            let leaves = (0.9..0.905).contains(&z[0].abs());
            z[0] = if leaves { -1.0 } else { 1.0 } * z[0].signum() * logistic(z[0].abs());
        };
        let mut z = [0.3];
        let mut known = Vec::new();
        for _ in 0..40 {
            step(&mut z);
            known.push(z[0]);
        }
        assert!(known.iter().all(|x| *x > 0.0), "the orbit is in one half");
        let starts = from(Origin::Data, &[0.31, 0.4, -0.2, -0.6]);
        let plan = Plan {
            transient: 20,
            tail: 40,
        };
        let found = basins(&known, &starts, plan, step, &|| false).found;
        let ends: Vec<_> = found.iter().map(|b| (b.end, b.starts[0])).collect();
        assert_eq!(ends, [(End::Attractor, 4)]);
    }

    /// Spirals that shrink by 5·10⁻⁴ per step have e^−3 of their size after 6,000 steps: in a tail of 1,000 steps they neither rest nor fill a curve.
    /// 14,000 steps later it is e^−10, and they are at their point. One that shrinks by 10⁻⁶ is like a curve
    /// all the way.
    #[test]
    fn a_slow_spiral_is_on_its_way_to_a_point() {
        let spiral = |rate: f64| {
            move |z: &mut [f64]| {
                let (sin, cos) = 0.1_f64.sin_cos();
                let (x, y) = (z[0], z[1]);
                let scale = 1.0 - rate;
                (z[0], z[1]) = (scale * (cos * x - sin * y), scale * (sin * x + cos * y));
            }
        };
        let known = |rate: f64, steps: usize| {
            let (mut z, mut rows) = (vec![1.0, 0.0], Vec::new());
            for _ in 0..steps {
                spiral(rate)(&mut z);
                rows.extend_from_slice(&z);
            }
            rows
        };
        let starts = [1.0, 2.0, -0.5].map(|x| (Origin::Data, vec![x, 0.0]));
        let ends = |rate: f64, known: &[f64]| -> Vec<(End, usize)> {
            let found = basins(known, &starts, Plan::default(), spiral(rate), &|| false).found;
            found.iter().map(|b| (b.end, b.starts[0])).collect()
        };
        assert_eq!(ends(5e-4, &known(5e-4, 10_000)), [(End::Attractor, 3)]);
        let slow = ends(1e-6, &known(1e-6, 10_000));
        let each_its_own = [(End::Attractor, 1), (End::Other, 1), (End::Other, 1)];
        assert_eq!(slow, each_its_own);
    }

    /// 100.000001 steps per turn on circles of radius 1 and 2, which orbits come to from either side: in 8,000 steps an orbit moves by 10⁻⁴ of
    /// the way from one of its points to the next. All phases of a circle are one attractor.
    #[test]
    fn a_period_of_nearly_whole_steps_is_one_attractor() {
        let (sin, cos) = (std::f64::consts::TAU / 100.000_001).sin_cos();
        let turn = |z: &mut [f64]| {
            let r = z[0].hypot(z[1]);
            let scale = 1.0 - 0.1 * (r - 1.0) * (r - 1.4) * (r - 2.0);
            let (x, y) = (scale * z[0], scale * z[1]);
            (z[0], z[1]) = (cos * x - sin * y, sin * x + cos * y);
        };
        let (mut z, mut known) = (vec![1.0, 0.0], Vec::new());
        for _ in 0..10_000 {
            turn(&mut z);
            known.extend_from_slice(&z);
        }
        let at = |r: f64, phase: f64| (Origin::Data, vec![r * phase.cos(), r * phase.sin()]);
        let phases = (0..20).map(f64::from);
        let inner = phases.clone().map(|phase| at(1.2, phase));
        let outer = phases.map(|phase| at(1.8, phase));
        let starts: Vec<_> = inner.chain(outer).collect();
        let found = basins(&known, &starts, Plan::default(), turn, &|| false).found;
        let ends: Vec<_> = found.iter().map(|b| (b.end, b.starts[0])).collect();
        assert_eq!(ends, [(End::Attractor, 20), (End::Other, 20)]);
    }

    /// A state that grows by the same amount at each step never lies where it has been.
    #[test]
    fn what_does_not_settle_is_no_attractor() {
        let drift = |z: &mut [f64]| {
            z[0] += if z[0] > 0.5 { 0.01 } else { 0.0 };
        };
        let starts = from(Origin::Data, &[0.0, 1.0, 2.0]);
        let found = basins(&[0.0; 100], &starts, Plan::default(), drift, &|| false).found;
        let ends: Vec<_> = found.iter().map(|b| (b.end, b.starts[0])).collect();
        assert_eq!(ends, [(End::Unsettled, 2), (End::Attractor, 1)]);
    }

    #[test]
    fn it_ends_when_time_is_up() {
        let starts = from(Origin::Data, &[0.9, 1.1]);
        let found = basins(&[1.0; 100], &starts, Plan::default(), double_well, &|| true);
        assert_eq!((found.found.len(), found.starts), (0, [0, 0, 0]));
    }
}
