//! The random weights of a reservoir, all from the stream of parameters of its seed, in this order: W's places, W's entries, W_in,
//! W_s, b.

use std::collections::BTreeSet;

use super::fit::Plan;
use crate::linalg::sparse::Sparse;
use crate::method::FitError;
use crate::rng::{Rng, Stream};

/// What is drawn.
pub(super) struct Weights {
    pub(super) w: Sparse,
    pub(super) places: Vec<f64>,
    pub(super) w_in: Vec<f64>,
    pub(super) w_s: Vec<f64>,
    pub(super) b: Vec<f64>,
}

impl Weights {
    pub(super) fn draw(plan: &Plan, seed: u64) -> Result<Weights, FitError> {
        let rng = &mut Rng::new(seed, Stream::Parameters);
        let units = plan.units;
        let places = choose(plan.degree.min(units) * units, units * units, rng);
        let entries: Vec<(usize, f64)> = places.iter().map(|&p| (p, rng.uniform())).collect();
        let mut w = Sparse::from_entries(units, &entries);
        scale(&mut w, plan.radius)?;
        let mut within = |scale: f64, count: usize| -> Vec<f64> {
            (0..count).map(|_| rng.between(-1.0, 1.0) * scale).collect()
        };
        Ok(Weights {
            w,
            places: places.iter().map(|&place| place as f64).collect(),
            w_in: within(plan.input_scale, units),
            w_s: within(plan.input_scale, units * plan.inputs),
            b: within(plan.bias, units),
        })
    }
}

/// So many different numbers below `of`, ascending, all choices alike.
fn choose(count: usize, of: usize, rng: &mut Rng) -> Vec<usize> {
    // Of more than half, those that are left out are drawn.
    let few = count.min(of - count);
    let mut drawn = BTreeSet::new();
    while drawn.len() < few {
        drawn.insert(rng.index(of));
    }
    if few == count {
        drawn.into_iter().collect()
    } else {
        (0..of).filter(|place| !drawn.contains(place)).collect()
    }
}

/// Scales a matrix without negative entries to a spectral radius.
pub(super) fn scale(w: &mut Sparse, radius: f64) -> Result<(), FitError> {
    let found = w.spectral_radius();
    if found == 0.0 {
        return Err(FitError::Own {
            message: "the random connections of the reservoir have no loop, so that no scale gives them a radius".into(),
            hint: Some("use a larger `--degree` or `--hidden`, or another `--seed`".into()),
        });
    }
    let factor = radius / found;
    w.values.iter_mut().for_each(|v| *v *= factor);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_different_ascending_and_of_the_right_number() {
        let rng = &mut Rng::new(1, Stream::Parameters);
        for (count, of) in [(0, 5), (3, 5), (5, 5), (10, 1000), (999, 1000)] {
            let chosen = choose(count, of, rng);
            assert_eq!(chosen.len(), count);
            assert!(chosen.windows(2).all(|two| two[0] < two[1]));
            assert!(chosen.iter().all(|&place| place < of));
        }
    }
}
