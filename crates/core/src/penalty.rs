//! Penalties on parameters, added to the loss.
//!
//! | | |
//! |---|---|
//! | latent | λ (‖1 − A‖² + Σ ‖θ_i‖²) over the tensors that the map names |
//! | manifold attractor | λ Σ_{i > M − ⌊ρM⌋} [(A_i − 1)² + Σ_j W_ij² + h_i²], never on states that are read out by the identity (Schmidt et al. 2021) |
//! | observation | linear: λ (1 − κ)², κ = σ_1/(σ_r + ε) the condition number of B; identity: λ ‖L‖² |
//!
//! All but the condition number are pulls λ(θ_i − target)² of ranges of θ. With B = U diag(σ) Vᵀ
//! ∂κ/∂B = u_1 v_1ᵀ/(σ_r + ε) − σ_1/(σ_r + ε)² u_r v_rᵀ.

use std::ops::Range;

use crate::linalg;
use crate::map::Map;
use crate::observation::{Observation, ObservationKind};
use crate::theta::Layout;

/// How strongly parameters are penalized.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PenaltyWeights {
    /// λ of the latent penalty.
    pub latent: f64,
    /// λ of the observation model's penalty.
    pub observation: f64,
    /// λ of the manifold-attractor penalty.
    pub manifold: f64,
    /// Share ρ of the latent states, counted from the last, that it acts on.
    pub manifold_share: f64,
}

/// Penalties of a model, ready to be added to a gradient.
#[derive(Debug, Clone)]
pub(crate) struct Penalties {
    pulls: Vec<Pull>,
    condition: Option<Condition>,
}

/// λ Σ (θ_i − target)² over a range.
#[derive(Debug, Clone, PartialEq)]
struct Pull {
    range: Range<usize>,
    target: f32,
    weight: f32,
}

/// Above this condition number its penalty's gradient is that at this number.
const LARGEST_CONDITION: f64 = 1e6;
const EPSILON: f64 = 1e-8;

impl Penalties {
    pub(crate) fn new(
        weights: PenaltyWeights,
        map: &dyn Map,
        observation: Observation,
        layout: &Layout,
    ) -> Penalties {
        let mut pulls = latent_pulls(weights.latent, map, layout);
        let free = match observation.kind {
            ObservationKind::Identity => observation.latent - observation.dim_obs,
            _ => observation.latent,
        };
        pulls.extend(manifold_pulls(weights, observation.latent, free, layout));
        let linear = observation.kind != ObservationKind::Identity;
        if !linear {
            pulls.push(Pull {
                range: layout.range("L"),
                target: 0.0,
                weight: weights.observation as f32,
            });
        }
        pulls.retain(|pull| pull.weight > 0.0 && !pull.range.is_empty());
        let condition = (linear && weights.observation > 0.0)
            .then(|| Condition::new(weights.observation, observation, layout.range("B")));
        Penalties { pulls, condition }
    }

    /// Adds the gradients to dθ and returns the penalties' sum.
    pub(crate) fn add(&mut self, theta: &[f32], dtheta: &mut [f32]) -> f64 {
        let mut total = 0.0;
        for Pull {
            range,
            target,
            weight,
        } in &self.pulls
        {
            let theta = &theta[range.clone()];
            for (d, value) in dtheta[range.clone()].iter_mut().zip(theta) {
                *d += 2.0 * weight * (value - target);
            }
            total += f64::from(*weight) * linalg::sum_of_squares(theta, *target);
        }
        total
            + self
                .condition
                .as_mut()
                .map_or(0.0, |condition| condition.add(theta, dtheta))
    }
}

fn latent_pulls(weight: f64, map: &dyn Map, layout: &Layout) -> Vec<Pull> {
    let zero = map.penalized().iter().map(|name| (layout.range(name), 0.0));
    let all = std::iter::once((layout.range("A"), 1.0)).chain(zero);
    all.map(|(range, target)| Pull {
        range,
        target,
        weight: weight as f32,
    })
    .collect()
}

/// Pulls of the last states, at most as many as are `free`: not read out.
fn manifold_pulls(
    weights: PenaltyWeights,
    latent: usize,
    free: usize,
    layout: &Layout,
) -> Vec<Pull> {
    let count = ((weights.manifold_share * latent as f64).floor() as usize).min(free);
    let last = |name: &str| {
        let range = layout.range(name);
        range.end - range.len() / latent * count..range.end
    };
    let named = [("A", 1.0), ("W", 0.0), ("W1", 0.0), ("h", 0.0), ("h1", 0.0)];
    named
        .map(|(name, target)| Pull {
            range: last(name),
            target,
            weight: weights.manifold as f32,
        })
        .to_vec()
}

/// The condition number of B, from the eigenvalues of the smaller of BᵀB and BBᵀ.
#[derive(Debug, Clone)]
struct Condition {
    weight: f64,
    place: Range<usize>,
    n: usize,
    m: usize,
    b: Vec<f64>,
    bt: Vec<f64>,
    eigen: linalg::SymmetricEigen,
}

impl Condition {
    fn new(weight: f64, observation: Observation, place: Range<usize>) -> Condition {
        let (n, m) = (observation.dim_obs, observation.latent);
        let blank = vec![0.0; n * m];
        Condition {
            weight,
            place,
            n,
            m,
            b: blank.clone(),
            bt: blank,
            eigen: linalg::SymmetricEigen::new(n.min(m)),
        }
    }

    fn add(&mut self, theta: &[f32], dtheta: &mut [f32]) -> f64 {
        let (n, m, small) = (self.n, self.m, self.n.min(self.m));
        self.b
            .iter_mut()
            .zip(&theta[self.place.clone()])
            .for_each(|(to, &from)| *to = f64::from(from));
        linalg::transpose(&self.b, (n, m), &mut self.bt);
        let (left, right) = if n >= m {
            (&self.bt, &self.b)
        } else {
            (&self.b, &self.bt)
        };
        linalg::multiply(
            left,
            right,
            (small, n.max(m), small),
            self.eigen.matrix_mut(),
        );
        self.eigen.decompose();
        let (largest, smallest) = self.eigen.extremes();
        let sigma = |k: usize| self.eigen.value(k).max(0.0).sqrt();
        let (sigma_1, sigma_r) = (sigma(largest), sigma(smallest) + EPSILON);
        let kappa = (sigma_1 / sigma_r).min(LARGEST_CONDITION);
        let slope = -2.0 * self.weight * (1.0 - kappa);
        let outer = [
            (largest, slope / sigma_r),
            (smallest, -slope * kappa / sigma_r),
        ];
        for (k, factor) in outer {
            self.add_outer(k, factor, &mut dtheta[self.place.clone()]);
        }
        self.weight * (1.0 - kappa) * (1.0 - kappa)
    }

    /// dB += factor · u_k v_kᵀ, where one of the vectors is an eigenvector and the other its image, normalised.
    fn add_outer(&self, k: usize, factor: f64, db: &mut [f32]) {
        let (n, m) = (self.n, self.m);
        let sigma = self.eigen.value(k).max(0.0).sqrt() + EPSILON;
        let eigenvector = |i: usize| self.eigen.vector(k, i);
        for (e, db) in db.iter_mut().enumerate() {
            let (row, col) = (e / m, e % m);
            let outer = if n >= m {
                let image: f64 = (0..m).map(|j| self.b[row * m + j] * eigenvector(j)).sum();
                image / sigma * eigenvector(col)
            } else {
                let image: f64 = (0..n).map(|i| self.b[i * m + col] * eigenvector(i)).sum();
                eigenvector(row) * image / sigma
            };
            *db += (factor * outer) as f32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Dims, MODELS};

    #[test]
    fn the_condition_gradient_agrees_with_central_differences() {
        for (n, m) in [(5, 3), (3, 5), (4, 4)] {
            let observation = Observation {
                kind: ObservationKind::Linear,
                dim_obs: n,
                latent: m,
            };
            let mut condition = Condition::new(0.7, observation, 0..n * m);
            let b: Vec<f32> = (0..n * m)
                .map(|i| (1.7 * i as f32).sin() + f32::from(u8::from(i / m == i % m)))
                .collect();
            let mut db = vec![0.0; n * m];
            let value = condition.add(&b, &mut db);
            let loss = |b: &[f64]| {
                let sigma = linalg::singular_values(b, n, m);
                0.7 * (1.0 - sigma[0] / (sigma[n.min(m) - 1] + EPSILON)).powi(2)
            };
            let wide: Vec<f64> = b.iter().map(|&v| f64::from(v)).collect();
            assert!(
                (value - loss(&wide)).abs() < 1e-9 * (1.0 + value),
                "{value} {}",
                loss(&wide)
            );
            let scale = f64::from(db.iter().fold(1f32, |a, b| a.max(b.abs())));
            for i in 0..n * m {
                let (mut up, mut down) = (wide.clone(), wide.clone());
                up[i] += 1e-6;
                down[i] -= 1e-6;
                let difference = (loss(&up) - loss(&down)) / 2e-6;
                // Cancellation: 1e-16 of the loss over 2e-6, and the f32 of the result.
                assert!(
                    (f64::from(db[i]) - difference).abs() < 1e-6 * scale,
                    "{n}×{m} entry {i}"
                );
            }
        }
    }

    #[test]
    fn the_manifold_penalty_leaves_observed_states_alone() {
        let weights = PenaltyWeights {
            manifold: 1.0,
            manifold_share: 1.0,
            ..PenaltyWeights::default()
        };
        let dims = Dims {
            latent: 3,
            hidden: 2,
            inputs: 0,
        };
        let map = (MODELS[0].build)(dims);
        let ranges = |dim_obs| {
            let observation = Observation {
                kind: ObservationKind::Identity,
                dim_obs,
                latent: 3,
            };
            let penalties = Penalties::new(weights, map.as_ref(), observation, map.layout());
            penalties
                .pulls
                .into_iter()
                .map(|pull| pull.range)
                .collect::<Vec<_>>()
        };
        assert!(ranges(3).is_empty());
        let layout = map.layout();
        let (a, w1, h1) = (layout.range("A"), layout.range("W1"), layout.range("h1"));
        assert_eq!(
            ranges(2),
            [a.end - 1..a.end, w1.end - 2..w1.end, h1.end - 1..h1.end]
        );
    }

    #[test]
    fn every_latent_penalty_agrees_with_central_differences() {
        let weights = PenaltyWeights {
            latent: 0.3,
            observation: 0.2,
            manifold: 0.5,
            manifold_share: 0.5,
        };
        for info in MODELS {
            let dims = Dims {
                latent: 4,
                hidden: 3,
                inputs: 2,
            };
            let map = (info.build)(dims);
            let observation = Observation {
                kind: ObservationKind::Identity,
                dim_obs: 2,
                latent: 4,
            };
            let mut layout = map.layout().clone();
            layout.extend(observation.tensors());
            let mut penalties = Penalties::new(weights, map.as_ref(), observation, &layout);
            let theta: Vec<f32> = (0..layout.len()).map(|i| (1.3 * i as f32).sin()).collect();
            let mut dtheta = vec![0.0; theta.len()];
            penalties.add(&theta, &mut dtheta);
            for i in 0..theta.len() {
                let at = |change: f32| {
                    let mut moved = theta.clone();
                    moved[i] += change;
                    penalties.clone().add(&moved, &mut vec![0.0; moved.len()])
                };
                // A quadratic: the central difference is exact but for f32 rounding of the sum, 1e-7 · 20 / 0.5.
                let difference = (at(0.25) - at(-0.25)) / 0.5;
                assert!(
                    (difference - f64::from(dtheta[i])).abs() < 2e-5,
                    "{} entry {i}",
                    info.entry.id
                );
            }
        }
    }
}
