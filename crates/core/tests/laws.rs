//! Every map, observation model and forcing obeys the laws; for every law a deliberately wrong one is caught.

use crate::common;

use attractor_core::forcing::Forcing;
use attractor_core::laws::{self, Verdict};
use attractor_core::map::piecewise::PiecewiseLinear;
use attractor_core::map::{Dims, MODELS, Map, ModelInfo, Point, Start};
use attractor_core::model::Architecture;
use attractor_core::observation::{Observation, ObservationKind};
use attractor_core::rng::{Rng, Stream};
use attractor_core::theta::Layout;
use common::{dims, for_all, sizes};
use proptest::prelude::*;

/// A model of the list.
fn model(id: &str) -> &'static ModelInfo {
    MODELS
        .iter()
        .find(|info| info.entry.id == id)
        .expect("the model is in the list")
}

/// A map with random parameters of order one at a random point.
struct Sample {
    map: Box<dyn Map>,
    theta: Vec<f64>,
    z: Vec<f64>,
    s: Vec<f64>,
    rng: Rng,
}

impl Sample {
    fn new(info: &ModelInfo, dims: Dims, seed: u64) -> Sample {
        let mut rng = Rng::new(seed, Stream::Parameters);
        let map = (info.build)(dims);
        let theta = (0..map.layout().len())
            .map(|_| 0.7 * rng.normal())
            .collect();
        let mut normals = |n: usize| (0..n).map(|_| rng.normal()).collect::<Vec<f64>>();
        let (z, s) = (normals(dims.latent), normals(dims.inputs));
        Sample {
            map,
            theta,
            z,
            s,
            rng,
        }
    }

    fn check(&mut self, law: fn(&dyn Map, &[f64], Point<'_>, &mut Rng) -> Verdict) -> Verdict {
        law(
            self.map.as_ref(),
            &self.theta,
            Point {
                z: &self.z,
                s: &self.s,
            },
            &mut self.rng,
        )
    }
}

#[test]
fn every_map_obeys_the_laws_of_derivatives() {
    for info in MODELS {
        for_all(60, (sizes(), any::<u64>()), |(dims, seed)| {
            let mut sample = Sample::new(info, dims, seed);
            sample.check(laws::pull_back_is_the_transposed_jacobian)?;
            sample.check(laws::jacobian_matches_differences)?;
            sample.check(laws::parameter_gradient_matches_differences)
        });
    }
}

#[test]
fn piecewise_linear_maps_are_affine_within_a_region() {
    for info in MODELS
        .iter()
        .filter(|info| info.entry.id != "tanh-shallow-plrnn")
    {
        for_all(60, (sizes(), any::<u64>()), |(dims, seed)| {
            Sample::new(info, dims, seed).check(laws::affine_within_a_region)
        });
    }
    let smooth = |seed| {
        let dims = common::dims(3, 8, 0);
        Sample::new(model("tanh-shallow-plrnn"), dims, seed).check(laws::affine_within_a_region)
    };
    assert!(
        (0..10).any(|seed| smooth(seed).is_err()),
        "the law must tell a smooth map"
    );
}

/// A map with one thing wrong.
struct Wrong {
    right: Box<dyn Map>,
    fault: Fault,
}

#[derive(Clone, Copy, PartialEq)]
enum Fault {
    JacobianNotTransposed,
    JacobianScaled,
    ThresholdGradientMissing,
}

impl Map for Wrong {
    fn dims(&self) -> Dims {
        self.right.dims()
    }

    fn layout(&self) -> &Layout {
        self.right.layout()
    }

    fn step(&self, theta: &[f64], z: &[f64], s: &[f64], next: &mut [f64]) {
        self.right.step(theta, z, s, next);
    }

    fn jacobian(&self, theta: &[f64], z: &[f64], jac: &mut [f64]) {
        self.right.jacobian(theta, z, jac);
        if self.fault == Fault::JacobianScaled {
            jac.iter_mut().for_each(|j| *j *= 1.0 + 1e-6);
        }
    }

    fn jacobian_bound(&self, theta: &[f64]) -> f64 {
        self.right.jacobian_bound(theta)
    }

    fn piecewise(&self, theta: &[f64]) -> Option<PiecewiseLinear> {
        self.right.piecewise(theta)
    }

    fn pull_back(
        &self,
        theta: &[f64],
        at: Point<'_>,
        d: &[f64],
        dz: &mut [f64],
        dtheta: &mut [f64],
    ) {
        self.right.pull_back(theta, at, d, dz, dtheta);
        let m = dz.len();
        match self.fault {
            Fault::JacobianNotTransposed => {
                let mut jac = vec![0.0; m * m];
                self.right.jacobian(theta, at.z, &mut jac);
                for (dz, row) in dz.iter_mut().zip(jac.chunks_exact(m)) {
                    *dz = row.iter().zip(d).map(|(j, d)| j * d).sum();
                }
            }
            Fault::ThresholdGradientMissing => dtheta[self.layout().range("h2")].fill(0.0),
            Fault::JacobianScaled => {}
        }
    }

    fn init(&self, start: Start, rng: &mut Rng) -> Vec<f64> {
        self.right.init(start, rng)
    }

    fn freeze(&self, dtheta: &mut [f32]) {
        self.right.freeze(dtheta);
    }

    fn penalized(&self) -> &'static [&'static str] {
        self.right.penalized()
    }
}

#[test]
fn wrong_maps_are_caught() {
    let caught = |fault, law| {
        let dims = common::dims(3, 5, 1);
        let mut sample = Sample::new(model("clipped-shallow-plrnn"), dims, 5);
        sample.map = Box::new(Wrong {
            right: sample.map,
            fault,
        });
        assert!(sample.check(law).is_err());
    };
    caught(
        Fault::JacobianNotTransposed,
        laws::pull_back_is_the_transposed_jacobian,
    );
    caught(Fault::JacobianScaled, laws::jacobian_matches_differences);
    caught(
        Fault::ThresholdGradientMissing,
        laws::parameter_gradient_matches_differences,
    );
}

/// The plain map with 2L units that a clipped one with L units equals: W1' = [W1, −W1], W2' = [W2; W2], h2' = [h2; 0].
fn unclipped(dims: Dims, theta: &[f64]) -> (Box<dyn Map>, Vec<f64>) {
    let layout = (model("clipped-shallow-plrnn").build)(dims)
        .layout()
        .clone();
    let part = |name: &str| theta[layout.range(name)].to_vec();
    let wide = Dims {
        hidden: 2 * dims.hidden,
        ..dims
    };
    let w1 = part("W1");
    let w1: Vec<f64> = w1
        .chunks_exact(dims.hidden)
        .flat_map(|row| row.iter().copied().chain(row.iter().map(|w| -w)))
        .collect();
    let h2 = [part("h2"), vec![0.0; dims.hidden]].concat();
    let theta = [
        part("A"),
        w1,
        part("h1"),
        part("W2"),
        part("W2"),
        h2,
        part("C"),
    ]
    .concat();
    ((model("shallow-plrnn").build)(wide), theta)
}

#[test]
fn a_clipped_map_equals_a_plain_one_with_twice_the_units() {
    for_all(40, (sizes(), any::<u64>()), |(dims, seed)| {
        let mut sample = Sample::new(model("clipped-shallow-plrnn"), dims, seed);
        let (plain, theta) = unclipped(dims, &sample.theta);
        laws::equal_steps(
            (sample.map.as_ref(), &sample.theta),
            (plain.as_ref(), &theta),
            &mut sample.rng,
        )
    });
    let dims = common::dims(3, 4, 0);
    let mut sample = Sample::new(model("clipped-shallow-plrnn"), dims, 1);
    let (plain, mut theta) = unclipped(dims, &sample.theta);
    theta[5] += 1e-6;
    let pair = (
        (sample.map.as_ref(), &sample.theta[..]),
        (plain.as_ref(), &theta[..]),
    );
    assert!(
        laws::equal_steps(pair.0, pair.1, &mut sample.rng).is_err(),
        "the law must tell unequal maps"
    );
}

#[test]
fn clipped_maps_obey_their_bound() {
    let bound = |map: &dyn Map, theta: &[f64]| {
        let (dims, layout) = (map.dims(), map.layout());
        let part = |name: &str| &theta[layout.range(name)];
        let largest = |v: &[f64]| v.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
        let norm = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>().sqrt();
        let w1 = attractor_core::linalg::singular_values(part("W1"), dims.latent, dims.hidden)[0];
        let h2 = largest(part("h2")) * (dims.hidden as f64).sqrt();
        (h2 * w1 + norm(part("h1"))) / (1.0 - largest(part("A")))
    };
    for seed in 0..5 {
        let dims = common::dims(3, 20, 0);
        let mut sample = Sample::new(model("clipped-shallow-plrnn"), dims, seed);
        sample.theta[..3]
            .iter_mut()
            .for_each(|a| *a = a.clamp(-0.95, 0.95));
        let bound = bound(sample.map.as_ref(), &sample.theta);
        laws::bounded(
            sample.map.as_ref(),
            &sample.theta,
            bound,
            100_000,
            &mut sample.rng,
        )
        .unwrap();
        let map = (model("shallow-plrnn").build)(dims);
        let plain = laws::bounded(map.as_ref(), &sample.theta, bound, 100_000, &mut sample.rng);
        assert!(
            seed > 0 || plain.is_err(),
            "the law must tell a map without clipping"
        );
    }
}

#[test]
fn observation_models_are_consistent() {
    let kinds = [
        ObservationKind::Identity,
        ObservationKind::Linear,
        ObservationKind::LinearWithBias,
    ];
    for (kind, dim_obs, latent) in kinds
        .into_iter()
        .flat_map(|k| [(k, 3, 3), (k, 2, 5), (k, 1, 1)])
    {
        let observation = Observation {
            kind,
            dim_obs,
            latent,
        };
        let mut rng = Rng::new(4, Stream::Parameters);
        let own: Vec<f64> = (0..observation.layout().len())
            .map(|_| rng.normal())
            .collect();
        laws::observation_is_consistent(&observation, &own, &mut rng).unwrap();
    }
    // With more channels than states, observations lie in a plane, and inference inverts them there too.
    let tall = Observation {
        kind: ObservationKind::Linear,
        dim_obs: 4,
        latent: 2,
    };
    let mut rng = Rng::new(4, Stream::Parameters);
    let own: Vec<f64> = (0..8).map(|_| rng.normal()).collect();
    laws::observation_is_consistent(&tall, &own, &mut rng).unwrap();
    // A matrix whose second channel is lost in rounding cannot be inverted: the law tells.
    let lossy = Observation {
        kind: ObservationKind::Linear,
        dim_obs: 2,
        latent: 2,
    };
    let own = [1e12, 1e12, 1e12, 1e12 + 0.1];
    assert!(laws::observation_is_consistent(&lossy, &own, &mut rng).is_err());
}

#[test]
fn gains_are_fractions() {
    for forcing in [
        Forcing::Generalized { alpha: 0.3 },
        Forcing::Sparse { interval: 7 },
        Forcing::None,
    ] {
        laws::gains_are_fractions(&forcing, 100).unwrap();
    }
    assert!(laws::gains_are_fractions(&Forcing::Generalized { alpha: 1.1 }, 100).is_err());
}

#[test]
fn the_worked_one_dimensional_case() {
    // F(1) = 0.5 + 2(1.3 − 1) + 0.1, F(−0.1) = −0.05 + 2·0.2 + 0.1, F(−1) = −0.5 + 0.1; slopes 0.5, 2.5, 0.5.
    let map = (model("clipped-shallow-plrnn").build)(dims(1, 1, 0));
    let layout = map.layout();
    let mut theta = [0.0; 5];
    for (name, value) in [
        ("A", 0.5),
        ("W1", 2.0),
        ("W2", 1.0),
        ("h1", 0.1),
        ("h2", 0.3),
    ] {
        theta[layout.range(name).start] = value;
    }
    for (z, f, slope) in [(1.0, 1.2, 0.5), (-0.1, 0.45, 2.5), (-1.0, -0.4, 0.5)] {
        let (mut next, mut jac) = ([0.0], [0.0]);
        map.step(&theta, &[z], &[], &mut next);
        map.jacobian(&theta, &[z], &mut jac);
        assert!(
            (next[0] - f).abs() < 1e-15 && (jac[0] - slope).abs() < 1e-15,
            "z = {z}"
        );
    }
}

#[test]
fn parameter_counts_are_the_papers() {
    let count = |id: &str, latent, hidden, kind, dim_obs| {
        let dims = Dims {
            latent,
            hidden,
            inputs: 0,
        };
        Architecture::new(model(id), dims, kind, dim_obs)
            .unwrap()
            .layout()
            .len()
    };
    let shallow = |m, l, n| count("clipped-shallow-plrnn", m, l, ObservationKind::Linear, n);
    let dendritic = |m, b, n| {
        count(
            "clipped-dendritic-plrnn",
            m,
            b,
            ObservationKind::Identity,
            n,
        )
    };
    // Hess et al. 2023, tables 1, S1 and S2: ECG, EEG, Lorenz-63, Lorenz-96, multiscale Lorenz-96.
    assert_eq!(shallow(5, 250, 5), 2785);
    assert_eq!(
        count("tanh-shallow-plrnn", 5, 250, ObservationKind::Linear, 5),
        2785
    );
    assert_eq!(shallow(16, 512, 64), 17952);
    assert_eq!(shallow(3, 50, 3), 365);
    assert_eq!(shallow(20, 100, 20), 4540);
    assert_eq!(shallow(8, 100, 8), 1780);
    assert_eq!(dendritic(35, 50, 5), 3245);
    assert_eq!(dendritic(105, 40, 64), 18099);
    assert_eq!(dendritic(10, 20, 3), 361);
    assert_eq!(dendritic(60, 20, 20), 5740);
    // The multiscale row counts the map alone, without L.
    assert_eq!(dendritic(25, 45, 8) - (25 - 8) * 8, 1845);
}

#[test]
fn starts_are_as_specified() {
    let dims = common::dims(6, 40, 2);
    for info in MODELS {
        let map = (info.build)(dims);
        let theta = map.init(
            Start::WithinData {
                low: -2.0,
                high: 3.0,
            },
            &mut Rng::new(1, Stream::Parameters),
        );
        let part = |name: &str| &theta[map.layout().range(name)];
        let within = |name: &str, r: f64| part(name).iter().all(|v| v.abs() <= r);
        assert!(part("A").iter().all(|&a| a > 0.0 && a <= 1.0));
        assert!(within("h", 0.0) && within("h1", 0.0) && within("C", (6.0f64 / 8.0).sqrt()));
        assert!(within("W1", 1.0 / 40f64.sqrt()) && within("W2", 1.0 / 6f64.sqrt()));
        assert!(within("slopes", 1.0 / 40f64.sqrt()));
        assert!(part("thresholds").iter().all(|h| (-2.0..3.0).contains(h)));
        assert!(
            part("W").iter().step_by(7).all(|&w| w == 0.0),
            "the diagonal of W is zero"
        );
        let plain = info.entry.id == "shallow-plrnn" || info.entry.id == "tanh-shallow-plrnn";
        assert!(within("h2", if plain { 0.0 } else { 1.0 / 40f64.sqrt() }));
    }
}

#[test]
fn the_start_matrix_of_a_plrnn_has_largest_eigenvalue_one() {
    let map = (model("plrnn").build)(dims(7, 0, 0));
    let theta = map.init(Start::Free, &mut Rng::new(2, Stream::Parameters));
    let mut k = theta[map.layout().range("W")].to_vec();
    theta[map.layout().range("A")]
        .iter()
        .enumerate()
        .for_each(|(i, a)| k[i * 8] = *a);
    // Symmetric and positive: its largest singular value is its largest eigenvalue.
    assert!((attractor_core::linalg::singular_values(&k, 7, 7)[0] - 1.0).abs() < 1e-12);
}
