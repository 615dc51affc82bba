//! Cycles of piecewise-linear maps, in closed form. A k-cycle whose points lie in regions d_1 … d_k satisfies
//!
//! ```text
//! z = (1 − P)⁻¹ v,    P = M_{d_k} ⋯ M_{d_1},    v ← M_{d_i} v + c_{d_i},
//! ```
//!
//! and a solution is a cycle if iterating F from it runs through just these regions. Which regions to try:
//!
//! - all sequences of cells, where there are few ([`enumerate`]): the list is then complete;
//! - elsewhere a walk over virtual cycles ([`search()`]);
//! - for maps that are not piecewise linear, Newton's method ([`newton()`]).
//!
//! A fixed point is a 1-cycle. What is found has been iterated in f64 and returned; cycles of a shorter period are not
//! counted again, and two are the same if they share a point.

mod closing;
mod newton;
mod search;

pub(super) use closing::{Closing, Solution};
pub use newton::{FixedInput, Iterated, newton};
pub use search::{Pool, search};

use super::stability::{Kind, Leading};
use crate::linalg::complex::Complex;
use crate::map::piecewise::{PiecewiseLinear, Region};

/// A periodic orbit.
#[derive(Debug, Clone, PartialEq)]
pub struct Cycle {
    /// Its points in order, from the smallest in lexicographic order.
    pub points: Vec<Vec<f64>>,
    /// The region of each point; empty if the map has none.
    pub regions: Vec<Region>,
    /// The eigenvalues of its Jacobian, by descending modulus.
    pub multipliers: Vec<Complex>,
    /// The distance from its points to the nearest border of a region.
    pub border: f64,
    /// Whether a point lies on a border, as far as f64 can tell: the multipliers are those of one side.
    pub is_on_border: bool,
}

impl Cycle {
    /// The minimal period.
    pub fn period(&self) -> usize {
        self.points.len()
    }

    /// What neighbours do.
    pub fn kind(&self) -> Kind {
        Kind::of(&self.multipliers)
    }

    /// How neighbours move.
    pub fn leading(&self) -> Leading {
        Leading::of(&self.multipliers)
    }
}

/// Cycles of one period, and whether there are more.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The cycles, by their first points.
    pub cycles: Vec<Cycle>,
    /// Why there are no more, or why there may be.
    pub proof: Proof,
    /// How many regions, or sequences of regions, were tried.
    pub tried: u64,
    /// How many of them have a singular 1 − P: there the map has no isolated cycle, but perhaps a continuum.
    pub singular: u64,
}

/// Whether a list of cycles is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// All regions were tried.
    Complete,
    /// All regions were tried; in some a continuum of cycles cannot be excluded.
    Degenerate,
    /// Time was up before all regions were tried, or before a search ended.
    Interrupted,
    /// The regions are too many: a search found these.
    Searched,
}

impl Proof {
    /// Whether there are no other isolated cycles.
    pub fn is_complete(self) -> bool {
        self == Proof::Complete
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Proof::Complete => "complete",
            Proof::Degenerate => "degenerate",
            Proof::Interrupted => "interrupted",
            Proof::Searched => "searched",
        }
    }
}

/// Says that time is up.
pub type Expired<'a> = &'a (dyn Fn() -> bool + Sync);

/// Tries all sequences of `period` of these cells. Of the sequences that are turns of one another one is tried.
pub fn enumerate(
    map: &PiecewiseLinear,
    cells: &[Region],
    period: usize,
    expired: Expired<'_>,
) -> Found {
    let mut tree = Tree::new(map, cells, period);
    let mut proof = Proof::Complete;
    for first in 0..cells.len() {
        if expired() {
            proof = Proof::Interrupted;
            break;
        }
        tree.descend(first);
    }
    if proof == Proof::Complete && tree.degenerate > 0 {
        proof = Proof::Degenerate;
    }
    Found {
        cycles: tree.found.sorted(),
        proof,
        tried: tree.tried,
        singular: tree.singular,
    }
}

/// How many sequences [`enumerate`] tries.
pub fn sequences(cells: f64, period: usize) -> f64 {
    cells.powi(period as i32) / period as f64
}

/// A walk through all sequences of cells, with P and v of every beginning.
struct Tree<'a> {
    closing: Closing<'a>,
    cells: &'a [Region],
    /// M_d and c_d of every cell.
    affine: Vec<(Vec<f64>, Vec<f64>)>,
    /// P and v of the first 1, 2, … regions.
    beginnings: Vec<(Vec<f64>, Vec<f64>)>,
    path: Vec<usize>,
    regions: Vec<Region>,
    period: usize,
    found: Collection,
    tried: u64,
    singular: u64,
    degenerate: u64,
}

impl<'a> Tree<'a> {
    fn new(map: &'a PiecewiseLinear, cells: &'a [Region], period: usize) -> Tree<'a> {
        let m = map.dim;
        let affine = cells.iter().map(|cell| {
            let (mut matrix, mut offset) = (vec![0.0; m * m], vec![0.0; m]);
            map.affine(cell, &mut matrix, &mut offset);
            (matrix, offset)
        });
        Tree {
            closing: Closing::new(map),
            affine: affine.collect(),
            cells,
            beginnings: vec![(vec![0.0; m * m], vec![0.0; m]); period],
            path: Vec::with_capacity(period),
            regions: Vec::with_capacity(period),
            period,
            found: Collection::default(),
            tried: 0,
            singular: 0,
            degenerate: 0,
        }
    }

    /// Appends a cell, and tries every sequence that begins so. The first cell of a sequence is its smallest.
    fn descend(&mut self, cell: usize) {
        let depth = self.path.len();
        self.path.push(cell);
        let (before, after) = self.beginnings.split_at_mut(depth);
        closing::compose(&self.affine[cell], before.last(), &mut after[0]);
        if depth + 1 == self.period {
            self.close();
        } else {
            (self.path[0]..self.cells.len()).for_each(|next| self.descend(next));
        }
        self.path.pop();
    }

    fn close(&mut self) {
        self.tried += 1;
        let (product, offset) = &self.beginnings[self.period - 1];
        match self.closing.solve(product, offset) {
            Solution::Point => {
                let first = &self.cells[self.path[0]];
                // Most candidates fail at the first region: copies are for those that do not.
                if !self.closing.is_inside(first) {
                    return;
                }
                self.regions.clear();
                let path = self.path.iter();
                self.regions.extend(path.map(|&i| self.cells[i].clone()));
                if self.closing.follows(&self.regions) {
                    self.found.extend(self.closing.cycle(self.period));
                }
            }
            Solution::None => self.singular += 1,
            Solution::Continuum => {
                self.singular += 1;
                self.degenerate += 1;
            }
        }
    }
}

/// Cycles without repetition.
#[derive(Debug, Clone, Default)]
pub(super) struct Collection {
    cycles: Vec<Cycle>,
}

impl Collection {
    /// Adds a cycle that is not there yet.
    pub(super) fn extend(&mut self, cycle: Option<Cycle>) {
        if let Some(cycle) = cycle.filter(|cycle| !self.has(cycle)) {
            self.cycles.push(cycle);
        }
    }

    fn has(&self, cycle: &Cycle) -> bool {
        let first = &cycle.points[0];
        let same_period = self.cycles.iter().filter(|c| c.period() == cycle.period());
        same_period
            .flat_map(|c| &c.points)
            .any(|point| is_same(point, first))
    }

    pub(super) fn len(&self) -> usize {
        self.cycles.len()
    }

    /// The cycles by their first points.
    pub(super) fn sorted(mut self) -> Vec<Cycle> {
        self.cycles
            .sort_by(|a, b| lexicographic(&a.points[0], &b.points[0]));
        self.cycles
    }
}

/// Points that no computation here can tell apart:  max|a − b| < 1e-6 (1 + max|b|).
pub(super) fn is_same(a: &[f64], b: &[f64]) -> bool {
    let largest = |v: &mut dyn Iterator<Item = f64>| v.fold(0.0, f64::max);
    let distance = largest(&mut a.iter().zip(b).map(|(a, b)| (a - b).abs()));
    distance < 1e-6 * (1.0 + largest(&mut b.iter().map(|v| v.abs())))
}

fn lexicographic(a: &[f64], b: &[f64]) -> std::cmp::Ordering {
    let differences = a.iter().zip(b).map(|(a, b)| a.total_cmp(b));
    differences.fold(std::cmp::Ordering::Equal, |so_far, next| so_far.then(next))
}

/// Turns points (and what belongs to each) so that the smallest comes first. `None` if they repeat within the period.
fn minimal<T>(mut points: Vec<Vec<f64>>, mut beside: Vec<T>) -> Option<(Vec<Vec<f64>>, Vec<T>)> {
    let k = points.len();
    let repeats = |p: usize| k.is_multiple_of(p) && is_same(&points[p], &points[0]);
    if (1..k).any(repeats) {
        return None;
    }
    let first = (0..k)
        .min_by(|&i, &j| lexicographic(&points[i], &points[j]))
        .expect("a cycle has a point");
    points.rotate_left(first);
    let by = first.min(beside.len());
    beside.rotate_left(by);
    Some((points, beside))
}

#[cfg(test)]
mod tests;
