//! The continuity statistic of Pecora et al. (2007), by which a new delay is found:
//!
//! ```text
//! ε*(t, τ) = min over k of the l_k-th smallest |x(t+τ) − x(j+τ)| among the k nearest neighbours j of the point t,
//! ⟨ε*⟩(τ) = mean over t
//! ```
//!
//! If x(t+τ) is a continuous function of the vectors so far, neighbours have images that are near one another, and ε* is small;
//! where ⟨ε*⟩ is large, x(t+τ) says something new. l_k is so large that fewer than 5 % of coin tosses would have as many of k
//! neighbours nearer than ε by chance: the 95 % quantile of the binomial distribution (k, ½). k goes from 8 to 13.

use super::columns::{Columns, PADDING};
use super::neighbours::{Metric, Neighbour, Tree};
use super::parallel::{in_blocks, sum_blocks};
use super::pecuzal::Plan;
use super::{Coordinate, delay_vectors};

/// The largest neighbourhood.
pub(super) const NEIGHBOURS: usize = 13;

/// l_k for the neighbourhoods of k = 8, 9, … 13 points.
const NEEDED: [usize; 6] = [6, 7, 8, 8, 9, 9];

/// The smallest neighbourhood.
const FEWEST: usize = NEIGHBOURS + 1 - NEEDED.len();

/// Delays that are computed side by side.
const LANES: usize = PADDING;

/// ⟨ε*⟩ of τ = 0 … max_delay for every channel, given the coordinates so far.
pub(super) fn continuity(columns: &Columns, base: &[Coordinate], plan: &Plan) -> Vec<Vec<f64>> {
    let reach = base.iter().map(|c| c.delay).max().unwrap_or(0) + plan.max_delay;
    let n = columns.len() - reach;
    let vectors = delay_vectors(columns, base, n);
    let tree = Tree::new(&vectors, base.len(), Metric::Euclidean);
    let delays = plan.max_delay + 1;
    let sums = sum_blocks(in_blocks(n, plan.threads, |points| {
        let mut search = tree.search(plan.theiler);
        let mut sums = vec![0.0; columns.dim() * delays];
        for t in points {
            let point = &vectors[t * base.len()..][..base.len()];
            let near = search.nearest(point, t, NEIGHBOURS);
            for (channel, sums) in sums.chunks_exact_mut(delays).enumerate() {
                add_smallest(columns.padded(channel), t, near, sums);
            }
        }
        sums
    }));
    let curves = sums.chunks_exact(delays);
    curves
        .map(|sums| sums.iter().map(|sum| sum / n as f64).collect())
        .collect()
}

/// Adds ε*(t, τ) to the sum of every τ.
fn add_smallest(x: &[f64], t: usize, near: &[Neighbour], sums: &mut [f64]) {
    for (i, sums) in sums.chunks_mut(LANES).enumerate() {
        let smallest = smallest(x, t + i * LANES, i * LANES, near);
        sums.iter_mut().zip(smallest).for_each(|(sum, v)| *sum += v);
    }
}

/// ε* for `LANES` delays from `delay` on, where x(t + delay) is at `place`. Images are sorted in one after the other, the
/// nearest neighbours first, by exchanges that are the same in every lane.
fn smallest(x: &[f64], place: usize, delay: usize, near: &[Neighbour]) -> [f64; LANES] {
    let lanes =
        |place: usize| -> &[f64; LANES] { x[place..].first_chunk().expect("columns are padded") };
    let own = lanes(place);
    let mut sorted = [[f64::INFINITY; LANES]; NEIGHBOURS];
    let mut least = [f64::INFINITY; LANES];
    for (k, neighbour) in near.iter().enumerate() {
        let image = lanes(neighbour.index + delay);
        let mut new: [f64; LANES] = std::array::from_fn(|lane| (own[lane] - image[lane]).abs());
        for kept in &mut sorted[..=k] {
            for (kept, new) in kept.iter_mut().zip(&mut new) {
                let (a, b) = (*kept, *new);
                *kept = if a < b { a } else { b };
                *new = if a < b { b } else { a };
            }
        }
        if k + 1 >= FEWEST {
            let enough = &sorted[NEEDED[k + 1 - FEWEST] - 1];
            for (least, enough) in least.iter_mut().zip(enough) {
                *least = if *enough < *least { *enough } else { *least };
            }
        }
    }
    least
}

/// Delays at which a curve over τ = 0, 1, … has a local maximum. A plateau counts at its first point, τ = 0 if the curve falls
/// from there, the last point never. If there is none, the place of the largest value.
pub(super) fn peaks(curve: &[f64]) -> Vec<usize> {
    let rises = |i: usize| i == 0 && curve[0] > 0.0 || i > 0 && curve[i - 1] < curve[i];
    let falls = |i: usize| {
        let next = curve[i..].iter().find(|&&v| v != curve[i]);
        next.is_some_and(|&next| next < curve[i])
    };
    let found: Vec<usize> = (0..curve.len()).filter(|&i| rises(i) && falls(i)).collect();
    if !found.is_empty() {
        return found;
    }
    let largest = curve.iter().copied().fold(f64::MIN, f64::max);
    curve
        .iter()
        .position(|&v| v == largest)
        .into_iter()
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Rows;
    use crate::rng::{Rng, Stream};

    #[test]
    fn needed_neighbours_are_quantiles_of_the_binomial_distribution() {
        let choose = |n: u64, k: u64| (1..=k).fold(1, |c, i| c * (n + 1 - i) / i);
        for (k, needed) in (FEWEST as u64..).zip(NEEDED) {
            let below = |l: u64| -> f64 {
                let ways: u64 = (0..=l).map(|i| choose(k, i)).sum();
                ways as f64 / 2f64.powi(k as i32)
            };
            assert!(below(needed as u64) >= 0.95 && below(needed as u64 - 1) < 0.95);
        }
    }

    #[test]
    fn the_statistic_is_that_of_its_definition() {
        let mut rng = Rng::new(5, Stream::Noise);
        let x: Vec<f64> = (0..600).map(|_| rng.normal()).collect();
        let columns = Columns::new(Rows::new(&x, 2)).unwrap();
        let base = [Coordinate::new(0, 0), Coordinate::new(1, 3)];
        let plan = Plan {
            max_delay: 10,
            theiler: 2,
            ..Plan::default()
        };
        let found = continuity(&columns, &base, &plan);
        let n = 300 - 13;
        for (channel, curve) in found.iter().enumerate() {
            let expected: f64 = (0..n).map(|t| plainly(&columns, n, channel, t, 7)).sum();
            // The same numbers, added in another order.
            assert!((curve[7] - expected / n as f64).abs() < 1e-12);
            assert_eq!(curve.len(), 11);
        }
    }

    fn plainly(columns: &Columns, n: usize, channel: usize, t: usize, delay: usize) -> f64 {
        let (a, b, x) = (
            columns.channel(0),
            columns.channel(1),
            columns.channel(channel),
        );
        let distance = |j: usize| (a[t] - a[j]).hypot(b[t + 3] - b[j + 3]);
        let mut others: Vec<usize> = (0..n).filter(|j| j.abs_diff(t) > 2).collect();
        others.sort_by(|&i, &j| distance(i).total_cmp(&distance(j)));
        let of_k = |(k, l): (usize, usize)| {
            let images = others[..k]
                .iter()
                .map(|j| (x[t + delay] - x[j + delay]).abs());
            let mut images: Vec<f64> = images.collect();
            images.sort_unstable_by(f64::total_cmp);
            images[l - 1]
        };
        (8..).zip(NEEDED).map(of_k).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn peaks_are_strict_on_both_sides_and_plateaus_count_once() {
        assert_eq!(peaks(&[0.0, 1.0, 3.0, 2.0, 4.0, 5.0]), [2]);
        assert_eq!(peaks(&[2.0, 1.0, 3.0, 3.0, 3.0, 1.0]), [0, 2]);
        assert_eq!(peaks(&[0.0, 2.0, 2.0, 3.0, 1.0]), [3]);
        assert_eq!(peaks(&[0.0, 1.0, 2.0, 3.0]), [3]);
        assert_eq!(peaks(&[0.0, 1.0, 3.0, 3.0]), [2]);
    }
}
