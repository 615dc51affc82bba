//! Gradients under forcing against closed forms.

use super::*;
use crate::map::{Dims, MODELS, ModelInfo};
use crate::model::{Architecture, Model};
use crate::observation::{ObservationKind, ObservationStart};
use crate::series::Series;

fn model(name: &str) -> &'static ModelInfo {
    MODELS.iter().find(|info| info.entry.id == name).unwrap()
}

/// z ← A z: without hinges every Jacobian is diag(A), and ‖∂z_t/∂z_1‖ = (1 − α)^(t−2) max|A|^(t−1).
#[test]
fn norms_of_a_linear_map_are_powers() {
    let map = (model("plrnn").build)(Dims {
        latent: 2,
        hidden: 0,
        inputs: 0,
    });
    let theta = [2.0, -3.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    let teacher = Teacher {
        z: &[1.0; 1000],
        s: &[],
        forced: 2,
    };
    for alpha in [0.0, 0.3, 0.9] {
        let norms = product_norms(map.as_ref(), &theta, &teacher, alpha);
        assert_eq!(norms.len(), 499);
        for (i, norm) in norms.iter().enumerate() {
            let t = i as f64;
            let expected = (t + 1.0) * 3f64.ln() + t * (1.0 - alpha).ln();
            // A rounding a step.
            assert!(
                (norm - expected).abs() < 1e-13 * (1.0 + t) * 3.0,
                "{alpha} {i}"
            );
        }
    }
    // Only the first state is forced: the second goes on growing by 3.
    let partly = Teacher {
        forced: 1,
        ..teacher
    };
    let norms = product_norms(map.as_ref(), &theta, &partly, 0.9);
    assert!((norms[498] - 499.0 * 3f64.ln()).abs() < 1e-10);
}

/// A map to one point: the product is zero from the first step on, and its logarithm −∞, not a number that is none.
#[test]
fn the_norm_of_a_product_that_vanishes_stays_at_minus_infinity() {
    let map = (model("plrnn").build)(Dims {
        latent: 2,
        hidden: 0,
        inputs: 0,
    });
    let teacher = Teacher {
        z: &[1.0; 20],
        s: &[],
        forced: 2,
    };
    let norms = product_norms(map.as_ref(), &[0.0; 8], &teacher, 0.3);
    assert_eq!(norms, [f64::NEG_INFINITY; 9]);
}

#[test]
fn commutators_have_their_bounds() {
    assert_eq!(
        relative_commutator(&[2.0, 0.0, 0.0, 3.0], &[5.0, 0.0, 0.0, 7.0], 2),
        0.0
    );
    let attained = relative_commutator(&[0.0, 1.0, 0.0, 0.0], &[0.0, 0.0, 1.0, 0.0], 2);
    assert!((attained - 1.0).abs() < 1e-15);
    assert_eq!(relative_commutator(&[0.0; 4], &[1.0; 4], 2), 0.0);
    let mut rng = Rng::new(1, Stream::MonteCarlo);
    for _ in 0..200 {
        let mut draw = || (0..16).map(|_| rng.normal()).collect::<Vec<f64>>();
        let ratio = relative_commutator(&draw(), &draw(), 4);
        assert!((0.0..=1.0 + 1e-15).contains(&ratio));
    }
}

/// Grouping equal Jacobians gives what all pairs of steps give one by one.
#[test]
fn the_histogram_counts_every_pair_of_steps() {
    let map = (model("clipped-shallow-plrnn").build)(Dims {
        latent: 2,
        hidden: 6,
        inputs: 0,
    });
    let mut rng = Rng::new(2, Stream::Parameters);
    let theta: Vec<f64> = (0..map.layout().len()).map(|_| rng.normal()).collect();
    let orbit: Vec<f64> = (0..60).map(|_| rng.normal()).collect();
    let histogram = commutators(map.as_ref(), &theta, &orbit, 20);
    let jacobians: Vec<Vec<f64>> = orbit
        .chunks_exact(2)
        .map(|z| {
            let mut jac = vec![0.0; 4];
            map.jacobian(&theta, z, &mut jac);
            jac
        })
        .collect();
    let mut fractions = vec![0.0; 20];
    let mut mean = 0.0;
    for s in 0..30 {
        for t in (0..30).filter(|&t| t != s) {
            let ratio = relative_commutator(&jacobians[s], &jacobians[t], 2);
            fractions[((ratio * 20.0) as usize).min(19)] += 1.0 / (30.0 * 29.0);
            mean += ratio / (30.0 * 29.0);
        }
    }
    assert!((histogram.mean - mean).abs() < 1e-12);
    assert!(fractions.iter().filter(|f| **f > 0.0).count() > 2);
    for (a, b) in histogram.fractions.iter().zip(&fractions) {
        assert!((a - b).abs() < 1e-12);
    }
}

#[test]
fn estimates_are_ordered_for_every_sequence() {
    let map = (model("shallow-plrnn").build)(Dims {
        latent: 3,
        hidden: 8,
        inputs: 0,
    });
    let mut rng = Rng::new(3, Stream::Parameters);
    let theta: Vec<f64> = (0..map.layout().len()).map(|_| rng.normal()).collect();
    let teacher: Vec<f64> = (0..900).map(|_| rng.normal()).collect();
    let found = alpha_estimates(map.as_ref(), &theta, &teacher, 20, 7);
    assert_eq!(found.rows.len(), 20);
    for [mean, _, product, maximum] in &found.rows {
        assert!(product <= maximum && mean <= maximum && *maximum <= found.parameter_bound);
    }
    let again = alpha_estimates(map.as_ref(), &theta, &teacher, 20, 7);
    assert_eq!(found, again);
    let line: Vec<[f64; 4]> = (0..9)
        .map(|i| [f64::from(i), 2.0 * f64::from(i), 1.0, -f64::from(i)])
        .collect();
    assert!((correlation(&line, (0, 1)) - 1.0).abs() < 1e-14);
    assert!((correlation(&line, (0, 3)) + 1.0).abs() < 1e-14);
}

/// The middle of the grid is the model itself; at α = 1 the loss is a quadratic function of W, so smooth.
#[test]
fn a_landscape_has_the_model_in_its_middle() {
    let x: Vec<f64> = (0..900).map(|i| (0.1 * f64::from(i)).sin()).collect();
    let series = Series::from_rows(x, 3, 1.0).unwrap();
    let dims = Dims {
        latent: 3,
        hidden: 5,
        inputs: 0,
    };
    let info = model("clipped-shallow-plrnn");
    let architecture = Architecture::new(info, dims, ObservationKind::Linear, 3).unwrap();
    let model = Model::start(architecture, ObservationStart::WellConditioned, &series, 1);
    let theta: Vec<f64> = model.theta().iter().map(|&v| f64::from(v)).collect();
    let place = model.layout().range("W1").start;
    let landscape = Landscape {
        architecture: &architecture,
        theta: &theta,
        varied: [place + 1, place + 5],
        reach: 0.5,
        points: 5,
        series: &series,
        window: 20,
        starts: &[0, 100],
    };
    let batch = crate::reference::Batch {
        series: &series,
        window: 20,
        starts: &[0, 100],
        forcing: crate::forcing::Forcing::Generalized { alpha: 1.0 },
    };
    let surface = loss_landscape(&landscape, 1.0, 1);
    let middle = crate::reference::loss(&architecture, &theta, &theta, &batch);
    assert_eq!(surface.loss[12], middle);
    assert_eq!(surface, loss_landscape(&landscape, 1.0, 2));
    // Second differences of a quadratic function are equal.
    let second = |i: usize| surface.loss[i] - 2.0 * surface.loss[i + 1] + surface.loss[i + 2];
    assert!((second(0) - second(1)).abs() < 1e-12 && (second(1) - second(2)).abs() < 1e-12);
}

#[test]
fn variation_adds_up_steps() {
    let rising = Surface {
        alpha: 0.0,
        loss: vec![1.0, 2.0, 4.0, 1.0, 2.0, 4.0, 1.0, 2.0, f64::NAN],
        points: 3,
    };
    // Rows: 3, 3 and 1 before the gap; columns: 0.
    assert!((rising.variation() - 7.0 / 6.0).abs() < 1e-15);
}
