//! The search over virtual cycles (SCYFI; Eisenmann, Monfared, Göring and Durstewitz 2023). Some regions are drawn and
//! the cycle that they would have is solved for. If it does not run through them, the regions that it does run through
//! are tried next: the walk tends toward regions that have a cycle. It starts again and again, and gives up when many
//! starts in a row found nothing new.
//!
//! Regions are drawn from where the dynamics are (`Pool`): in turn the regions of consecutive points of an orbit, of
//! points scattered about it, and of cells of the arrangement, where these are known. Starts are independent, each with
//! random numbers of its own, and are looked through in their order: what is found does not depend on the number of
//! threads.

use super::{Closing, Collection, Cycle, Expired, Found, Proof, Solution, closing};
use crate::map::piecewise::{PiecewiseLinear, Region};
use crate::rng::{Rng, Stream};

/// Where regions are drawn from.
#[derive(Debug, Clone, Default)]
pub struct Pool {
    dim: usize,
    /// Points of orbits or data, one after another.
    points: Vec<f64>,
    /// Standard deviation of every coordinate.
    spread: Vec<f64>,
    /// Cells of the arrangement, if they are known.
    cells: Vec<Region>,
}

/// An orbit beyond this is diverging.
const FAR: f64 = 1e6;

impl Pool {
    /// The points of free orbits of so many steps from each start (rows of M), until they diverge.
    pub fn of_orbits(map: &PiecewiseLinear, starts: &[f64], steps: usize) -> Pool {
        let mut points = Vec::new();
        let mut next = vec![0.0; map.dim];
        for start in starts.chunks_exact(map.dim) {
            let mut z = start.to_vec();
            for _ in 0..steps {
                if z.iter().any(|v| v.abs() > FAR || v.is_nan()) {
                    break;
                }
                points.extend_from_slice(&z);
                map.step(&z, &mut next);
                std::mem::swap(&mut z, &mut next);
            }
        }
        Pool::of_points(points, map.dim)
    }

    /// Given points, consecutive ones following each other in time.
    pub fn of_points(points: Vec<f64>, dim: usize) -> Pool {
        let column = |i: usize| points.iter().skip(i).step_by(dim).copied();
        let spread = (0..dim).map(|i| crate::series::mean_and_sd(column(i)).1);
        Pool {
            dim,
            spread: spread.map(|sd| if sd > 0.0 { sd } else { 1.0 }).collect(),
            points,
            cells: Vec::new(),
        }
    }

    /// Adds the cells of the arrangement.
    #[must_use]
    pub fn with_cells(mut self, cells: Vec<Region>) -> Pool {
        self.cells = cells;
        self
    }

    /// Draws as many regions as `regions` has, in the way of this start.
    fn draw(&self, map: &PiecewiseLinear, start: u64, rng: &mut Rng, regions: &mut [Region]) {
        let way = match (self.cells.is_empty(), start % 3) {
            (false, 2) => Way::Cells,
            (_, 0) => Way::Orbit,
            _ => Way::Scattered,
        };
        let rows = self.points.len() / self.dim;
        let first = rng.index(rows.max(1));
        for (i, region) in regions.iter_mut().enumerate() {
            match way {
                Way::Cells => region.clone_from(&self.cells[rng.index(self.cells.len())]),
                Way::Orbit => map.region(&self.row((first + i) % rows.max(1)), region),
                Way::Scattered => {
                    let mut z = self.row(rng.index(rows.max(1)));
                    let scatter = z.iter_mut().zip(&self.spread);
                    scatter.for_each(|(z, sd)| *z += SCATTER * sd * rng.normal());
                    map.region(&z, region);
                }
            }
        }
    }

    /// A point; the origin if there is none.
    fn row(&self, i: usize) -> Vec<f64> {
        let row = self.points.get(i * self.dim..(i + 1) * self.dim);
        row.map_or_else(|| vec![0.0; self.dim], <[f64]>::to_vec)
    }
}

/// How far points are scattered, in standard deviations of the orbit.
const SCATTER: f64 = 2.0;

#[derive(Clone, Copy)]
enum Way {
    Orbit,
    Scattered,
    Cells,
}

/// Starts in a row that find nothing new before the search ends, and steps of a walk, as published.
fn patience(period: usize) -> (u64, usize) {
    let starts = match period {
        0..8 => 10,
        8..30 => 40,
        _ => 100,
    };
    let steps = match period {
        0..3 => 20,
        3..6 => 60,
        6..8 => 300,
        8..20 => 1080,
        _ => 1115,
    };
    (starts, steps)
}

/// Starts that are made before what they found is looked at.
const ROUND: u64 = 12;

/// Searches for cycles of one period.
pub fn search(
    map: &PiecewiseLinear,
    pool: &Pool,
    period: usize,
    (threads, seed): (usize, u64),
    expired: Expired<'_>,
) -> Found {
    let walk = |start: u64| Walk::new(map, pool, period, (seed, start)).run(expired);
    let mut found = Collection::default();
    let (mut tried, mut singular) = (0, 0);
    let (mut start, mut in_vain) = (0, 0);
    while in_vain < patience(period).0 && !expired() {
        let before = found.len();
        for Walked {
            cycles,
            steps,
            holes,
        } in in_parallel(start..start + ROUND, threads, &walk)
        {
            cycles
                .into_iter()
                .for_each(|cycle| found.extend(Some(cycle)));
            tried += steps;
            singular += holes;
        }
        start += ROUND;
        in_vain = if found.len() > before {
            0
        } else {
            in_vain + ROUND
        };
    }
    let is_cut_short = in_vain < patience(period).0;
    Found {
        cycles: found.sorted(),
        proof: if is_cut_short {
            Proof::Interrupted
        } else {
            Proof::Searched
        },
        tried,
        singular,
    }
}

/// What a walk found.
struct Walked {
    cycles: Vec<Cycle>,
    steps: u64,
    holes: u64,
}

/// The walks of these starts, in order, on some threads.
fn in_parallel(
    starts: std::ops::Range<u64>,
    threads: usize,
    walk: &(impl Fn(u64) -> Walked + Sync),
) -> Vec<Walked> {
    let mut all: Vec<Option<Walked>> = starts.clone().map(|_| None).collect();
    let share = all.len().div_ceil(threads.max(1));
    std::thread::scope(|scope| {
        for (i, part) in all.chunks_mut(share).enumerate() {
            let first = starts.start + (i * share) as u64;
            scope.spawn(move || {
                for (start, slot) in (first..).zip(part) {
                    *slot = Some(walk(start));
                }
            });
        }
    });
    all.into_iter().flatten().collect()
}

/// One start of the search.
struct Walk<'a> {
    map: &'a PiecewiseLinear,
    pool: &'a Pool,
    closing: Closing<'a>,
    rng: Rng,
    start: u64,
    regions: Vec<Region>,
    found: Collection,
}

impl<'a> Walk<'a> {
    fn new(
        map: &'a PiecewiseLinear,
        pool: &'a Pool,
        period: usize,
        (seed, start): (u64, u64),
    ) -> Walk<'a> {
        let mut rng = Rng::new(seed, Stream::MonteCarlo);
        // A place of its own in the stream: no start draws 2³² numbers.
        rng.seek(u128::from(start) << 32);
        Walk {
            map,
            pool,
            closing: Closing::new(map),
            rng,
            start,
            regions: vec![Region::closed(map.hinges()); period],
            found: Collection::default(),
        }
    }

    fn run(mut self, expired: Expired<'_>) -> Walked {
        let (mut steps, mut holes) = (0, 0);
        self.draw();
        for _ in 0..patience(self.regions.len()).1 {
            if expired() {
                break;
            }
            steps += 1;
            if self.solve() != Solution::Point {
                holes += 1;
                self.draw();
            } else if self.closing.follows(&self.regions) {
                let cycle = self.closing.cycle(self.regions.len());
                self.found.extend(cycle);
                self.draw();
            } else {
                self.move_on();
            }
        }
        Walked {
            cycles: self.found.cycles,
            steps,
            holes,
        }
    }

    fn draw(&mut self) {
        self.pool
            .draw(self.map, self.start, &mut self.rng, &mut self.regions);
    }

    fn solve(&mut self) -> Solution {
        let m = self.map.dim;
        let mut affine = (vec![0.0; m * m], vec![0.0; m]);
        let (mut before, mut product) = (affine.clone(), affine.clone());
        for (i, region) in self.regions.iter().enumerate() {
            self.map.affine(region, &mut affine.0, &mut affine.1);
            closing::compose(&affine, (i > 0).then_some(&before), &mut product);
            std::mem::swap(&mut before, &mut product);
        }
        self.closing.solve(&before.0, &before.1)
    }

    /// To the regions that the virtual cycle runs through; to new ones if it runs away.
    fn move_on(&mut self) {
        let mut z = self.closing.point().to_vec();
        let mut next = z.clone();
        for region in &mut self.regions {
            self.map.region(&z, region);
            self.map.step(&z, &mut next);
            std::mem::swap(&mut z, &mut next);
        }
        if z.iter().any(|v| !v.is_finite()) {
            self.draw();
        }
    }
}
