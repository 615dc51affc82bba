//! How fast neighbours part: the mean logarithm of their distance after k steps,
//!
//! ```text
//! S(k) = mean_t ln d(t, k),   d(t, k) = ‖y_{t+k} − y_{j+k}‖  of the nearest neighbour j          (Rosenstein et al. 1993)
//!                             d(t, k) = mean_j ‖y_{t+k} − y_{j+k}‖  of all neighbours within ε   (Kantz 1994)
//! ```
//!
//! over reference points t, evenly spaced, outside a Theiler window, without distances of 0. ε is the median distance of a
//! reference point to its fifth neighbour; of more than 32 neighbours within it the nearest 32 are taken.

use super::{Distance, Method, Plan};
use crate::embed::columns::Columns;
use crate::embed::neighbours::{Metric, Search, Tree};
use crate::embed::parallel::{in_blocks, sum_blocks};
use crate::embed::{Coordinate, delay_vectors};

/// Reference points, at most.
const REFERENCES: usize = 5000;

/// The neighbour whose distance gives Kantz's ε.
const FIFTH: usize = 5;

/// Kantz's neighbours, at most.
const MOST: usize = 32;

/// Delay vectors and where their neighbours are.
pub(super) struct Divergence<'a> {
    vectors: Vec<f64>,
    dim: usize,
    plan: &'a Plan,
}

impl<'a> Divergence<'a> {
    pub(super) fn new(columns: &Columns, dim: usize, plan: &'a Plan) -> Divergence<'a> {
        let coordinates: Vec<Coordinate> = (0..dim)
            .map(|i| Coordinate::new(plan.channel, i * plan.delay))
            .collect();
        let n = columns.len() - (dim - 1) * plan.delay;
        Divergence {
            vectors: delay_vectors(columns, &coordinates, n),
            dim,
            plan,
        }
    }

    /// Number of delay vectors.
    pub(super) fn len(&self) -> usize {
        self.vectors.len() / self.dim
    }

    /// S(0) … S(horizon); NaN where no distance is above 0.
    pub(super) fn curve(&self, horizon: usize) -> Vec<f64> {
        let n = self.len() - horizon;
        let tree = Tree::new(&self.vectors[..n * self.dim], self.dim, Metric::Euclidean);
        let references = n.min(REFERENCES);
        let reference = |i: usize| i * n / references;
        let radius = match self.plan.method {
            Method::Rosenstein => 0.0,
            Method::Kantz => self.radius(&tree, references, reference),
        };
        let sums = sum_blocks(in_blocks(references, self.plan.threads, |range| {
            let mut search = tree.search(self.plan.theiler);
            let mut sums = vec![0.0; 2 * (horizon + 1)];
            for t in range.map(reference) {
                self.add(t, &self.neighbours(&mut search, t, radius), &mut sums);
            }
            sums
        }));
        sums.chunks_exact(2).map(|sum| sum[0] / sum[1]).collect()
    }

    fn row(&self, t: usize) -> &[f64] {
        &self.vectors[t * self.dim..][..self.dim]
    }

    fn neighbours(&self, search: &mut Search<'_>, t: usize, radius: f64) -> Vec<usize> {
        let found = match self.plan.method {
            Method::Rosenstein => search.nearest(self.row(t), t, 1),
            Method::Kantz => {
                let near = search.nearest(self.row(t), t, MOST);
                &near[..near.partition_point(|near| near.distance <= radius)]
            }
        };
        found.iter().map(|near| near.index).collect()
    }

    /// The median distance of reference points to their fifth neighbours.
    fn radius(
        &self,
        tree: &Tree,
        references: usize,
        reference: impl Fn(usize) -> usize + Sync,
    ) -> f64 {
        let blocks = in_blocks(references, self.plan.threads, |range| {
            let mut search = tree.search(self.plan.theiler);
            let fifth = |t: usize| {
                let near = search.nearest(self.row(t), t, FIFTH);
                near.last().map(|near| near.distance)
            };
            range
                .map(&reference)
                .filter_map(fifth)
                .collect::<Vec<f64>>()
        });
        let mut distances = blocks.concat();
        distances.sort_unstable_by(f64::total_cmp);
        distances.get(distances.len() / 2).copied().unwrap_or(0.0)
    }

    /// Adds ln d(t, k), and one for each, to the sums of every k.
    fn add(&self, t: usize, neighbours: &[usize], sums: &mut [f64]) {
        if neighbours.is_empty() {
            return;
        }
        for (k, sum) in sums.chunks_exact_mut(2).enumerate() {
            let distances = neighbours.iter().map(|j| self.distance(t + k, j + k));
            let mean = distances.sum::<f64>() / neighbours.len() as f64;
            if mean > 0.0 {
                sum[0] += mean.ln();
                sum[1] += 1.0;
            }
        }
    }

    fn distance(&self, a: usize, b: usize) -> f64 {
        let (a, b) = (self.row(a), self.row(b));
        match self.plan.distance {
            Distance::First => (a[0] - b[0]).abs(),
            Distance::Euclidean => {
                let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
                squares.sum::<f64>().sqrt()
            }
        }
    }
}
