//! Fixed points z = F(z) of piecewise-linear maps: in every region z = (1 − M_d)⁻¹ c_d, if that lies in the region.
//!
//! The regions are the cells of an [arrangement](super::arrangement) of planes, two a clipped unit. They are all tried
//! where there are not too many, which proves the list complete: a map of 3 latent states and 50 clipped units has at
//! most 161,801. Elsewhere a [search](super::cycles::search()) finds what it can. So with longer cycles, which take
//! sequences of cells.

use std::ops::ControlFlow;

use super::arrangement::{Planes, most_cells, visit_cells};
use super::cycles::{
    Closing, Collection, Expired, Found, Pool, Proof, Solution, enumerate, search, sequences,
};
use crate::map::piecewise::{PiecewiseLinear, Region};

/// How much is tried before a search takes over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Cells for fixed points.
    pub cells: f64,
    /// Sequences of cells for longer cycles.
    pub sequences: f64,
    /// Threads of a search.
    pub threads: usize,
    /// Seed of a search.
    pub seed: u64,
}

impl Default for Effort {
    /// Some ten seconds of either.
    fn default() -> Effort {
        Effort {
            cells: 1e7,
            sequences: 1e7,
            threads: 1,
            seed: 0,
        }
    }
}

/// The cells into which the planes of a map cut its state space.
#[derive(Debug)]
pub struct Cells<'a> {
    map: &'a PiecewiseLinear,
    /// The hinges on planes that matter.
    hinges: Vec<usize>,
    normals: Vec<f64>,
    offsets: Vec<f64>,
    /// A region with the hinges that are the same everywhere.
    everywhere: Region,
}

impl<'a> Cells<'a> {
    /// The planes of a map. Hinges without effect, and those without a plane, make no cells.
    pub fn new(map: &'a PiecewiseLinear) -> Cells<'a> {
        let normal = |l: usize| &map.w2[l * map.dim..][..map.dim];
        let is_plane = |&l: &usize| map.moves(l) && normal(l).iter().any(|&v| v != 0.0);
        let (hinges, constant): (Vec<usize>, Vec<usize>) = (0..map.hinges()).partition(is_plane);
        let mut everywhere = Region::closed(map.hinges());
        for l in constant {
            everywhere.set(l, (map.h2[l] > 0.0).into());
        }
        Cells {
            map,
            normals: hinges.iter().flat_map(|&l| normal(l)).copied().collect(),
            offsets: hinges.iter().map(|&l| map.h2[l]).collect(),
            hinges,
            everywhere,
        }
    }

    /// The largest number of cells that so many planes in general position have.
    pub fn at_most(&self) -> f64 {
        most_cells(self.hinges.len(), self.map.dim)
    }

    /// Visits every cell.
    pub fn visit(&self, visit: &mut dyn FnMut(&Region) -> ControlFlow<()>) -> ControlFlow<()> {
        let planes = Planes {
            dim: self.map.dim,
            normals: &self.normals,
            offsets: &self.offsets,
        };
        let mut region = self.everywhere.clone();
        visit_cells(&planes, &mut |cell| {
            for (i, &l) in self.hinges.iter().enumerate() {
                region.set(l, cell.is_open(i).into());
            }
            visit(&region)
        })
    }

    /// All cells, if there are at most so many.
    pub fn collect(&self, most: f64) -> Option<Vec<Region>> {
        let mut cells = Vec::new();
        let flow = self.visit(&mut |cell| {
            cells.push(cell.clone());
            if cells.len() as f64 > most {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        });
        flow.is_continue().then_some(cells)
    }
}

/// All fixed points, by trying every cell.
pub fn enumerate_fixed_points(map: &PiecewiseLinear, expired: Expired<'_>) -> Found {
    let m = map.dim;
    let mut closing = Closing::new(map);
    let (mut matrix, mut offset) = (vec![0.0; m * m], vec![0.0; m]);
    let mut found = Collection::default();
    let (mut tried, mut singular, mut degenerate) = (0u64, 0, 0);
    let flow = Cells::new(map).visit(&mut |cell| {
        tried += 1;
        map.affine(cell, &mut matrix, &mut offset);
        match closing.solve(&matrix, &offset) {
            Solution::Point if closing.is_inside(cell) => found.extend(closing.cycle(1)),
            Solution::Point => {}
            Solution::None => singular += 1,
            Solution::Continuum => {
                singular += 1;
                degenerate += 1;
            }
        }
        if tried.is_multiple_of(256) && expired() {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    Found {
        cycles: found.sorted(),
        proof: match (flow.is_break(), degenerate > 0) {
            (true, _) => Proof::Interrupted,
            (false, true) => Proof::Degenerate,
            (false, false) => Proof::Complete,
        },
        tried,
        singular,
    }
}

/// The cycles of one period, fixed points for 1: every cell or sequence of cells where these are few, else by a search.
pub fn cycles_of_period(
    map: &PiecewiseLinear,
    period: usize,
    pool: &Pool,
    effort: &Effort,
    expired: Expired<'_>,
) -> Found {
    let cells = Cells::new(map);
    let searched = |pool: &Pool| search(map, pool, period, (effort.threads, effort.seed), expired);
    if period == 1 && cells.at_most() <= effort.cells {
        return enumerate_fixed_points(map, expired);
    }
    // A few thousand cells are worth drawing from, even where their sequences are too many.
    let few = (cells.at_most() <= effort.cells)
        .then(|| cells.collect(1e4))
        .flatten();
    match few {
        Some(few) if sequences(few.len() as f64, period) <= effort.sequences => {
            enumerate(map, &few, period, expired)
        }
        Some(few) => searched(&pool.clone().with_cells(few)),
        None => searched(pool),
    }
}
