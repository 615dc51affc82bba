//! Norms of Jacobians that adaptive forcing estimates on lanes are those of the map's Jacobians in f64.

use attractor_core::forcing::adaptive::Adaptation;
use attractor_core::forcing::alpha::{self, Estimator, Jacobians, Norm};
use attractor_core::map::MODELS;
use attractor_core::model::Model;
use attractor_core::observation::ObservationKind;
use attractor_core::train::{self, Plan};

use super::common::dims;
use super::{Situation, with_missing};

/// 𝒩 in f64, from the map's Jacobians at the states inferred from complete rows.
fn norm_in_f64(situation: &Situation, estimator: Estimator) -> f64 {
    let model = Model::new(situation.architecture, situation.theta.clone());
    let (theta, _) = model.parameters();
    let (m, n) = (
        situation.architecture.dims.latent,
        situation.architecture.observation.dim_obs,
    );
    let states = model.initial_states();
    let x = &situation.series.trajectories()[0].x;
    let sequences: Vec<Vec<f64>> = situation
        .starts
        .iter()
        .map(|&start| {
            let rows = (1..=situation.windows.window()).map(|t| &x[(start + t) * n..][..n]);
            let complete = rows.filter(|row| row.iter().all(|v| !v.is_nan()));
            complete
                .flat_map(|row| {
                    let (mut z, mut jac) = (vec![0.0; m], vec![0.0; m * m]);
                    states.infer(row, &mut z);
                    model.map().jacobian(theta, &z, &mut jac);
                    jac
                })
                .collect()
        })
        .collect();
    let batch: Vec<Jacobians<'_>> = sequences.iter().map(|s| Jacobians::new(s, m)).collect();
    alpha::estimate(estimator, model.map(), theta, &batch).kappa
}

/// 𝒩 as training finds it.
fn norm_on_lanes(situation: &Situation, estimator: Estimator) -> Norm {
    let plan = Plan {
        adaptation: Some(Adaptation {
            estimator,
            decay: 0.999,
            every: 5,
        }),
        ..situation.plan.clone()
    };
    train::norm_of_batch(
        &plan,
        &situation.windows,
        &situation.architecture,
        &situation.theta,
        &situation.starts,
    )
}

#[test]
fn norms_on_lanes_are_those_of_the_maps_jacobians() {
    let cases = [
        (ObservationKind::Linear, dims(3, 20, 0), 3),
        (ObservationKind::Linear, dims(9, 30, 1), 12),
        (ObservationKind::Identity, dims(5, 7, 0), 3),
        (ObservationKind::LinearWithBias, dims(1, 4, 0), 2),
    ];
    for info in MODELS {
        for (kind, dims, dim_obs) in cases {
            for estimator in Estimator::ALL {
                let complete = Situation::new(info, kind, (dims, dim_obs), 11, 12);
                let missing = Situation::new(info, kind, (dims, dim_obs), 11, 12);
                for situation in [complete, with_missing(missing)] {
                    let found = norm_on_lanes(&situation, estimator);
                    let expected = norm_in_f64(&situation, estimator);
                    // The largest singular value is found to 1e-5; the states, inferred in f32 through a matrix of condition
                    // number up to some hundreds, are exact to 1e-5, and so are slopes of tanh.
                    assert!(
                        (found.kappa / expected - 1.0).abs() < 1e-4,
                        "{} {kind:?} {dims:?} {estimator:?}: {} against {expected}",
                        info.entry.id,
                        found.kappa
                    );
                }
            }
        }
    }
}

/// Where all Jacobians are zero, so is their product. No norm at all would stand for windows that say nothing.
#[test]
fn a_product_of_zero_asks_for_no_forcing() {
    let sizes = (dims(5, 7, 0), 3);
    let mut situation = Situation::new(MODELS[0], ObservationKind::Identity, sizes, 11, 12);
    situation.theta.fill(0.0);
    let found = norm_on_lanes(&situation, Estimator::Product);
    assert_eq!(norm_in_f64(&situation, Estimator::Product), 0.0);
    assert!(found.kappa > 0.0, "{}", found.kappa);
    assert_eq!(found.alpha(), 0.0);
}
