//! By how much a further coordinate improves an embedding: the change of the L-statistic of Uzal et al. (2011),
//!
//! ```text
//! L = log₁₀ √(σ² α²),   σ² = mean_i Ē²_i/ε²_i,   1/α² = mean_i 1/ε²_i,
//! ε²_i = 2/(K(K+1)) Σ_pairs ‖y_a − y_b‖²,   E²_i(T) = 1/(K+1) Σ_a ‖y_{a+T} − mean‖²,
//! ```
//!
//! where i runs over the points, pairs and sums over a point with its K = 3 nearest neighbours, and Ē² is the mean of E² over
//! the horizons T = 2, 3, … so far. σ² is how much noise is amplified, α² makes it comparable between embeddings. The horizon
//! grows until the difference of the two L has its first minimum below zero (Krämer et al. 2021).
//!
//! σ² is linear in E², so that all points of one horizon are summed at once.

use std::ops::Range;

use super::columns::{Columns, PADDING};
use super::neighbours::{Metric, Tree};
use super::parallel::{in_blocks, sum_blocks};
use super::pecuzal::Plan;
use super::{Coordinate, delay_vectors};

/// Neighbours K of every point.
pub(super) const NEIGHBOURS: usize = 3;

/// The first horizon: one step would mistake noise for structure.
const FIRST: usize = 2;

/// Horizons that are computed side by side.
const LANES: usize = PADDING;

/// The change of L from an embedding to the one with a further coordinate.
pub(super) fn decrease(
    columns: &Columns,
    base: &[Coordinate],
    further: Coordinate,
    plan: &Plan,
) -> f64 {
    let trial: Vec<Coordinate> = base.iter().copied().chain([further]).collect();
    let reach = trial.iter().map(|c| c.delay).max().unwrap_or(0);
    let n = columns.len() - reach - plan.max_delay;
    let mut before = Growth::new(columns, base, n, plan);
    let mut after = Growth::new(columns, &trial, n, plan);
    let horizons = (FIRST..=plan.max_delay).step_by(plan.horizons.step());
    let mut last = f64::INFINITY;
    for horizon in horizons {
        let difference = after.statistic(horizon) - before.statistic(horizon);
        if difference > last && last < 0.0 {
            break;
        }
        last = difference;
    }
    last
}

/// How neighbourhoods of an embedding grow.
struct Growth<'a> {
    columns: &'a Columns,
    coordinates: &'a [Coordinate],
    threads: usize,
    neighbourhoods: Vec<Neighbourhood>,
    /// ln of α² per point: −log₁₀ mean 1/ε².
    log_alpha: f64,
    /// mean_i E²_i(T)/ε²_i of the horizons that are known, `LANES` at a time.
    known: (Range<usize>, Vec<f64>),
    sum: f64,
    count: f64,
}

#[derive(Clone, Copy)]
struct Neighbourhood {
    points: [u32; NEIGHBOURS + 1],
    /// 1/ε².
    weight: f64,
}

impl<'a> Growth<'a> {
    fn new(
        columns: &'a Columns,
        coordinates: &'a [Coordinate],
        n: usize,
        plan: &Plan,
    ) -> Growth<'a> {
        let vectors = delay_vectors(columns, coordinates, n);
        let dim = coordinates.len();
        let tree = Tree::new(&vectors, dim, Metric::Euclidean);
        let blocks = in_blocks(n, plan.threads, |points| -> Vec<Neighbourhood> {
            let mut search = tree.search(plan.theiler);
            points
                .map(|i| {
                    let near = search.nearest(&vectors[i * dim..][..dim], i, NEIGHBOURS);
                    let mut points = [i as u32; NEIGHBOURS + 1];
                    let indices = points[1..].iter_mut().zip(near);
                    indices.for_each(|(point, near)| *point = near.index as u32);
                    Neighbourhood {
                        points,
                        weight: 1.0 / mean_square(&vectors, dim, &points),
                    }
                })
                .collect()
        });
        let neighbourhoods = blocks.concat();
        let weights: f64 = neighbourhoods.iter().map(|n| n.weight).sum();
        Growth {
            columns,
            coordinates,
            threads: plan.threads,
            log_alpha: -(weights / n as f64).log10(),
            neighbourhoods,
            known: (0..0, Vec::new()),
            sum: 0.0,
            count: 0.0,
        }
    }

    /// L over the horizons asked for so far, which ascend.
    fn statistic(&mut self, horizon: usize) -> f64 {
        if !self.known.0.contains(&horizon) {
            self.known = (horizon..horizon + LANES, self.amplified(horizon));
        }
        self.sum += self.known.1[horizon - self.known.0.start];
        self.count += 1.0;
        0.5 * ((self.sum / self.count).log10() + self.log_alpha)
    }

    /// mean_i E²_i(T)/ε²_i of `LANES` horizons from T on.
    fn amplified(&self, horizon: usize) -> Vec<f64> {
        let n = self.neighbourhoods.len();
        let sums = sum_blocks(in_blocks(n, self.threads, |points| {
            let mut sums = vec![0.0; LANES];
            for neighbourhood in &self.neighbourhoods[points] {
                let mut squares = [0.0; LANES];
                for c in self.coordinates {
                    let x = &self.columns.padded(c.channel)[c.delay + horizon..];
                    add_variances(x, &neighbourhood.points, &mut squares);
                }
                let weighted = squares.iter().map(|e| e * neighbourhood.weight);
                sums.iter_mut().zip(weighted).for_each(|(sum, e)| *sum += e);
            }
            sums
        }));
        sums.iter().map(|sum| sum / n as f64).collect()
    }
}

/// Adds the variance of x over some points, for `LANES` places one after the other.
fn add_variances(x: &[f64], points: &[u32; NEIGHBOURS + 1], squares: &mut [f64; LANES]) {
    let lanes = points
        .map(|i| -> &[f64; LANES] { x[i as usize..].first_chunk().expect("columns are padded") });
    for (lane, square) in squares.iter_mut().enumerate() {
        let values = lanes.map(|x| x[lane]);
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let deviations = values.iter().map(|v| (v - mean) * (v - mean));
        *square += deviations.sum::<f64>() / values.len() as f64;
    }
}

/// ε²: the mean of the squared distances of all pairs.
fn mean_square(vectors: &[f64], dim: usize, points: &[u32]) -> f64 {
    let row = |i: u32| &vectors[i as usize * dim..][..dim];
    let pairs = points
        .iter()
        .enumerate()
        .flat_map(|(k, &a)| points[..k].iter().map(move |&b| (a, b)));
    let squares = pairs.map(|(a, b)| {
        let gaps = row(a).iter().zip(row(b)).map(|(a, b)| (a - b) * (a - b));
        gaps.sum::<f64>()
    });
    let count = points.len() * (points.len() - 1) / 2;
    squares.sum::<f64>() / count as f64
}
