//! How many coordinates an embedding with a given delay needs, by false nearest neighbours without a threshold on distances
//! (Cao 1997):
//!
//! ```text
//! E(d)  = mean_t ‖y_t(d+1) − y_n(d+1)‖ / ‖y_t(d) − y_n(d)‖,   E₁(d) = E(d+1)/E(d)
//! E*(d) = mean_t |x(t + dτ) − x(n + dτ)|,                     E₂(d) = E*(d+1)/E*(d)
//! ```
//!
//! in the maximum norm, where n is the nearest neighbour of t in d dimensions. E₁ stops changing, near 1, where neighbours are no
//! longer false. E₂ is 1 for every d if the future does not depend on the past. The means are over at most 20,000 points t, evenly
//! spaced; n is the nearest of all.

use super::columns::Columns;
use super::neighbours::{Metric, Tree};
use super::parallel::{in_blocks, sum_blocks};
use super::{Coordinate, EmbedError, delay_vectors};
use crate::progress::{Follow, tell};

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CaoPlan {
    /// The channel.
    pub channel: usize,
    /// The delay τ.
    pub delay: usize,
    /// The largest dimension that is tried.
    pub max_dim: usize,
    /// Points at most this many rows apart do not count as neighbours.
    pub theiler: usize,
    /// Worker threads; the result does not depend on them.
    pub threads: usize,
}

/// E₁ and E₂ by dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Cao {
    /// E₁(1), E₁(2), …
    pub e1: Vec<f64>,
    /// E₂(1), E₂(2), …
    pub e2: Vec<f64>,
}

/// Points that means are over, at most.
const REFERENCES: usize = 20_000;

/// E₁ has stopped changing where it is above the first number and changes by less than the second from there on.
const SATURATED: (f64, f64) = (0.8, 0.1);

/// E₂ of noise stays as near to 1 as this.
const RANDOM: f64 = 0.1;

impl Cao {
    /// The dimension from which on E₁ is above 0.8 and changes by less than 0.1; none if there is no such.
    pub fn dim(&self) -> Option<usize> {
        let (least, change) = SATURATED;
        // What is not a number has not stopped changing.
        let stays = |pair: &[f64]| pair[0] >= least && (pair[1] - pair[0]).abs() < change;
        let last = self.e1.windows(2).rposition(|pair| !stays(pair));
        let dim = last.map_or(1, |i| i + 2);
        (dim < self.e1.len()).then_some(dim)
    }

    /// Whether E₂ stays within 0.1 of 1 from the first dimension on, as for noise.
    pub fn looks_random(&self) -> bool {
        self.e2.iter().all(|e| (e - 1.0).abs() < RANDOM)
    }
}

/// E₁ and E₂ up to a dimension.
pub fn cao(columns: &Columns, plan: &CaoPlan, follow: &mut dyn Follow) -> Result<Cao, EmbedError> {
    let needed = (plan.max_dim + 1) * plan.delay + 2 * plan.theiler + 2;
    let found = columns.len();
    if found < needed {
        return Err(EmbedError::TooShort { needed, found });
    }
    let dims = plan.max_dim + 1;
    let mean = |dim: usize| {
        tell(
            follow,
            "counting false neighbours",
            dim as u64 - 1,
            dims as u64,
        )?;
        Ok(mean(columns, plan, dim))
    };
    let sums: Vec<[f64; 2]> = (1..=dims).map(mean).collect::<Result<_, EmbedError>>()?;
    let ratios = |i: usize| sums.windows(2).map(|w| w[1][i] / w[0][i]).collect();
    Ok(Cao {
        e1: ratios(0),
        e2: ratios(1),
    })
}

/// E(d) and E*(d).
fn mean(columns: &Columns, plan: &CaoPlan, dim: usize) -> [f64; 2] {
    let coordinates: Vec<Coordinate> = (0..dim)
        .map(|i| Coordinate::new(plan.channel, i * plan.delay))
        .collect();
    let n = columns.len() - dim * plan.delay;
    let vectors = delay_vectors(columns, &coordinates, n);
    let tree = Tree::new(&vectors, dim, Metric::Maximum);
    let ahead = &columns.channel(plan.channel)[dim * plan.delay..];
    let references = n.min(REFERENCES);
    let reference = |i: usize| i * n / references;
    let sums = sum_blocks(in_blocks(references, plan.threads, |points| {
        let mut search = tree.search(plan.theiler);
        let mut sums = vec![0.0; 3];
        for t in points.map(reference) {
            let nearest = search.nearest(&vectors[t * dim..][..dim], t, 1).first();
            if let Some(near) = nearest.filter(|near| near.distance > 0.0) {
                let gap = (ahead[t] - ahead[near.index]).abs();
                let growth = gap.max(near.distance) / near.distance;
                let added = [growth, gap, 1.0];
                sums.iter_mut().zip(added).for_each(|(sum, v)| *sum += v);
            }
        }
        sums
    }));
    [sums[0] / sums[2], sums[1] / sums[2]]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(e1: &[f64]) -> Cao {
        Cao {
            e1: e1.to_vec(),
            e2: vec![1.0; e1.len()],
        }
    }

    #[test]
    fn the_dimension_is_where_e1_stops_changing() {
        assert_eq!(of(&[0.1, 0.5, 0.9, 0.95, 0.97]).dim(), Some(3));
        assert_eq!(of(&[0.9, 0.92, 0.91]).dim(), Some(1));
        assert_eq!(of(&[0.1, 0.2, 0.3, 0.4]).dim(), None);
    }

    #[test]
    fn what_is_no_number_has_not_stopped() {
        assert_eq!(of(&[f64::NAN; 5]).dim(), None);
        assert_eq!(of(&[0.1, 0.9, 0.95, f64::NAN]).dim(), None);
        assert_eq!(of(&[f64::NAN, 0.9, 0.95, 0.96]).dim(), Some(2));
    }
}
