//! Equal trajectories of models that are the same map.

use super::*;
use crate::map::{MODELS, Map};
use crate::rng::{Rng, Stream};
use crate::series::Series;

fn model(name: &str) -> &'static ModelInfo {
    MODELS.iter().find(|info| info.entry.id == name).unwrap()
}

/// Random parameters with contracting A and without a diagonal of W.
fn sample(map: &dyn Map, rng: &mut Rng) -> Vec<f64> {
    let mut theta: Vec<f64> = (0..map.layout().len())
        .map(|_| 0.5 * rng.normal())
        .collect();
    let m = map.dims().latent;
    theta[map.layout().range("A")]
        .iter_mut()
        .for_each(|v| *v = v.clamp(-0.9, 0.9));
    let w = map.layout().range("W");
    theta[w].iter_mut().step_by(m + 1).for_each(|v| *v = 0.0);
    theta
}

/// Both maps, driven alike from random states, over 50 steps.
fn assert_equal_trajectories(
    (from, dims, theta): (&'static ModelInfo, Dims, &[f64]),
    to: &'static ModelInfo,
    converted: &Converted,
    rng: &mut Rng,
) {
    let (one, other) = ((from.build)(dims), (to.build)(converted.dims));
    assert_eq!(converted.theta.len(), other.layout().len());
    for _ in 0..10 {
        let mut z: Vec<f64> = (0..dims.latent).map(|_| rng.normal()).collect();
        let mut y = converted.states.lift(&z);
        for step in 0..50 {
            let s: Vec<f64> = (0..dims.inputs).map(|_| rng.normal()).collect();
            let (mut next, mut next_y) = (z.clone(), y.clone());
            one.step(theta, &z, &s, &mut next);
            other.step(&converted.theta, &y, &s, &mut next_y);
            (z, y) = (next, next_y);
            let lifted = converted.states.lift(&z);
            let largest = lifted.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
            let gap = lifted
                .iter()
                .zip(&y)
                .fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            // Expansion of at most 2 per step for the few steps until orbits settle or grow as one.
            assert!(
                gap < 1e-10 * largest,
                "{} as {}: {gap} at step {step}",
                from.entry.id,
                to.entry.id
            );
        }
    }
}

#[test]
fn every_conversion_gives_equal_trajectories() {
    let pairs = [
        ("clipped-shallow-plrnn", "shallow-plrnn"),
        ("dendritic-plrnn", "shallow-plrnn"),
        ("clipped-dendritic-plrnn", "shallow-plrnn"),
        ("clipped-dendritic-plrnn", "clipped-shallow-plrnn"),
        ("clipped-dendritic-plrnn", "dendritic-plrnn"),
        ("dendritic-plrnn", "plrnn"),
        ("clipped-dendritic-plrnn", "plrnn"),
        ("plrnn", "shallow-plrnn"),
        ("plrnn", "dendritic-plrnn"),
        ("mean-centred-plrnn", "shallow-plrnn"),
        ("plrnn", "plrnn"),
    ];
    let mut rng = Rng::new(1, Stream::MonteCarlo);
    for (from, to) in pairs {
        for (latent, hidden, inputs) in [(3, 4, 0), (2, 5, 2), (1, 1, 1)] {
            let dims = Dims {
                latent,
                hidden,
                inputs,
            };
            let theta = sample((model(from).build)(dims).as_ref(), &mut rng);
            let converted = convert(model(from), dims, &theta, model(to)).unwrap();
            assert_equal_trajectories((model(from), dims, &theta), model(to), &converted, &mut rng);
        }
    }
}

/// A dendritic map as a shallow one and back: the way back finds slopes and directions again, also if units fall.
#[test]
fn a_shallow_map_whose_units_look_at_one_state_is_dendritic() {
    let mut rng = Rng::new(2, Stream::MonteCarlo);
    let dims = Dims {
        latent: 3,
        hidden: 4,
        inputs: 1,
    };
    let cases = [
        ("dendritic-plrnn", "shallow-plrnn"),
        ("clipped-dendritic-plrnn", "clipped-shallow-plrnn"),
    ];
    for (dendritic, shallow) in cases {
        let theta = sample((model(dendritic).build)(dims).as_ref(), &mut rng);
        let there = convert(model(dendritic), dims, &theta, model(shallow)).unwrap();
        // Another scale for every unit.
        let mut scaled = there.theta.clone();
        let map = (model(shallow).build)(there.dims);
        let layout = map.layout();
        let (hidden, m) = (there.dims.hidden, dims.latent);
        for l in 0..hidden {
            let omega = 0.5 + rng.uniform();
            // Clipped units may also fall:  φ(−u + h) − φ(−u) = φ(u − h) − φ(u) + h.
            let falls = dendritic.starts_with("clipped") && l % 3 == 1;
            let sign = if falls { -1.0 } else { 1.0 };
            let h2 = layout.range("h2").start + l;
            if falls {
                (0..m).for_each(|i| {
                    let w1 = scaled[layout.range("W1").start + i * hidden + l];
                    scaled[layout.range("h1").start + i] += w1 * scaled[h2];
                });
            }
            (0..m).for_each(|i| scaled[layout.range("W1").start + i * hidden + l] /= omega);
            (0..m).for_each(|i| scaled[layout.range("W2").start + l * m + i] *= sign * omega);
            scaled[h2] *= sign * omega;
        }
        let back = convert(model(shallow), there.dims, &scaled, model(dendritic)).unwrap();
        assert_eq!(back.dims, dims);
        let from = (model(dendritic), dims, theta.as_slice());
        assert_equal_trajectories(from, model(dendritic), &back, &mut rng);
    }
}

/// |z| = φ(z) + φ(−z) falls on one side, symmetric: what is left over cancels or goes into A.
#[test]
fn falling_units_leave_a_linear_part_for_a() {
    let dims = Dims {
        latent: 2,
        hidden: 2,
        inputs: 0,
    };
    // Units φ(z_1 − 1) and −φ(−z_1 + 1) act on z_2: together z_1 − 1, a coupling that cancels nothing.
    let coupled = [
        0.5, 0.5, 0.0, 0.0, 1.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 1.0,
    ];
    let error = convert(
        model("shallow-plrnn"),
        dims,
        &coupled,
        model("dendritic-plrnn"),
    );
    assert_eq!(error, Err(ConversionError::Coupling { state: 1 }));
    // A falling unit of z_1 whose partner cancels its coupling: φ(z_1) on z_2 remains.
    let mut rng = Rng::new(3, Stream::MonteCarlo);
    let dims = Dims {
        latent: 2,
        hidden: 3,
        inputs: 0,
    };
    let fine = [
        0.5, 0.5, 0.0, 0.0, 0.0, 0.7, 0.4, -0.4, 0.1, 0.2, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 0.3,
        0.2, -0.1,
    ];
    let converted = convert(
        model("shallow-plrnn"),
        dims,
        &fine,
        model("dendritic-plrnn"),
    )
    .unwrap();
    let from = (model("shallow-plrnn"), dims, fine.as_slice());
    assert_equal_trajectories(from, model("dendritic-plrnn"), &converted, &mut rng);
}

#[test]
fn where_there_is_no_form_the_reason_is_told() {
    let dims = Dims {
        latent: 2,
        hidden: 2,
        inputs: 0,
    };
    // A, W1 (2 × 2), h1, W2 (2 × 2), h2.
    let shallow = |w1: [f64; 4], w2: [f64; 4]| {
        let theta = [&[0.5, 0.5][..], &w1, &[0.0, 0.0], &w2, &[0.1, 0.2]].concat();
        convert(
            model("shallow-plrnn"),
            dims,
            &theta,
            model("dendritic-plrnn"),
        )
        .unwrap_err()
    };
    let along_first = [1.0, 0.0, 1.0, 0.0];
    assert_eq!(
        shallow([0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 1.0, 0.0]),
        ConversionError::Oblique { unit: 1 }
    );
    assert_eq!(
        shallow([0.0, 1.0, 1.0, 1.0], along_first),
        ConversionError::OwnState { unit: 2, state: 1 }
    );
}

#[test]
fn units_that_do_not_share_direction_and_slopes_are_told() {
    let three = Dims {
        latent: 3,
        hidden: 2,
        inputs: 0,
    };
    // Units of state 1 act on states 2 and 3, each on one.
    let theta = [
        0.5, 0.5, 0.5, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0,
        0.1, 0.2,
    ];
    let error = convert(
        model("shallow-plrnn"),
        three,
        &theta,
        model("dendritic-plrnn"),
    );
    assert_eq!(error, Err(ConversionError::Directions { state: 1 }));
    // State 1 has two bases, state 2 one.
    let dims = Dims {
        latent: 2,
        hidden: 3,
        inputs: 0,
    };
    let theta = [
        0.5, 0.5, 0.0, 0.0, 1.0, 1.0, 0.5, 0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.1, 0.2,
        0.3,
    ];
    let error = convert(
        model("shallow-plrnn"),
        dims,
        &theta,
        model("dendritic-plrnn"),
    );
    assert_eq!(
        error,
        Err(ConversionError::Slopes {
            first: 1,
            second: 2
        })
    );
}

#[test]
fn smooth_and_plain_maps_have_no_such_forms() {
    let dims = Dims {
        latent: 2,
        hidden: 3,
        inputs: 0,
    };
    let mut rng = Rng::new(4, Stream::MonteCarlo);
    let mut error = |from: &str, to: &str| {
        let theta = sample((model(from).build)(dims).as_ref(), &mut rng);
        convert(model(from), dims, &theta, model(to)).unwrap_err()
    };
    let smooth = error("tanh-shallow-plrnn", "shallow-plrnn");
    assert!(matches!(smooth, ConversionError::Smooth { .. }) && smooth.hint().is_none());
    let plain = error("shallow-plrnn", "clipped-shallow-plrnn");
    assert!(matches!(plain, ConversionError::NotClipped { .. }) && plain.hint().is_some());
    let other = error("shallow-plrnn", "mean-centred-plrnn");
    assert!(matches!(other, ConversionError::NoForm { .. }));
    let centred = error("mean-centred-plrnn", "plrnn");
    assert!(matches!(centred, ConversionError::Oblique { .. }));
}

/// What a converted model observes of a state is what the model observes of it.
#[test]
fn observations_of_copies_are_those_of_the_state() {
    let mut rng = Rng::new(5, Stream::MonteCarlo);
    let x = (0..400).map(|i| (0.3 * f64::from(i)).sin()).collect();
    let series = Series::from_rows(x, 2, 1.0).unwrap();
    for kind in [
        ObservationKind::Identity,
        ObservationKind::Linear,
        ObservationKind::LinearWithBias,
    ] {
        let dims = Dims {
            latent: 3,
            hidden: 4,
            inputs: 0,
        };
        let info = model("dendritic-plrnn");
        let architecture = Architecture::new(info, dims, kind, 2).unwrap();
        let start = crate::observation::ObservationStart::Random;
        let original = Model::start(architecture, start, &series, 3);
        let (copied, states) = convert_model(&original, model("plrnn")).unwrap();
        assert_eq!(copied.architecture().dims.latent, 12);
        let z: Vec<f64> = (0..3).map(|_| rng.normal()).collect();
        let observed = |model: &Model, z: &[f64]| {
            let mut x = vec![0.0; 2];
            let own = model.parameters().1;
            model.architecture().observation.observe(own, z, &mut x);
            x
        };
        let (one, other) = (observed(&original, &z), observed(&copied, &states.lift(&z)));
        // Parameters are in single precision.
        assert!(
            one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-5),
            "{kind:?}"
        );
    }
}
