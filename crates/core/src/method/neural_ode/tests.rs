//! Closed forms and known values of neural ordinary differential equations; their gradients against differences of the objective in
//! f64; the same bits however they are trained.

use super::network::Form;
use super::objective::{Plan, Training};
use super::scheme::{Activation, Scheme};
use super::{NEURAL_ODE, NeuralOde};
use crate::dynamics::{Dynamics, Stretch};
use crate::forcing::Forcing;
use crate::forcing::adaptive::Adaptation;
use crate::forcing::alpha::{Estimator, Jacobians};
use crate::kernel::field::FieldDims;
use crate::laws;
use crate::method::{LoadError, LoadedValues, tensors_of};
use crate::optim::{Exponential, Optimizer};
use crate::rng::{Rng, Stream};
use crate::rows::Rows;
use crate::series::{Channel, Series, Step, Trajectory};
use crate::simd::Isa;
use crate::train::{Control, Course, Epoch, Outcome, Schedule, State, WeightDecay};
use crate::windows::Windows;

const SCHEMES: [Scheme; 3] = [Scheme::Euler, Scheme::Midpoint, Scheme::Rk4];
const UNITS: [Activation; 2] = [Activation::Relu, Activation::Tanh];

fn form(dims: (usize, usize, usize), activation: Activation, scheme: Scheme, h: f64) -> Form {
    let (states, hidden, inputs) = dims;
    Form {
        dims: FieldDims {
            states,
            hidden,
            inputs,
        },
        activation,
        scheme,
        h,
    }
}

/// w(k) = 0.1 ((7 k mod 11) − 5) from a k on.
fn weights(start: usize, count: usize) -> impl Iterator<Item = f32> {
    let w = |k: usize| 0.1 * (((7 * k) % 11) as f64 - 5.0);
    (start..start + count).map(move |k| w(k) as f32)
}

/// The network of the known values: W_a 3 × 2 from 0, b_a from 2, W_b from 4, b_b from 6; h = 0.1.
fn known(activation: Activation, scheme: Scheme) -> NeuralOde {
    let theta = weights(0, 6)
        .chain(weights(2, 3))
        .chain(weights(4, 6))
        .chain(weights(6, 2));
    NeuralOde::new(form((2, 3, 0), activation, scheme, 0.1), theta.collect())
}

#[test]
fn parameters_are_as_many_as_in_the_paper() {
    let count = |states, hidden| {
        let form = form((states, hidden, 0), Activation::Relu, Scheme::Rk4, 0.1);
        form.layout().len()
    };
    let counts = [(3, 50), (20, 110), (5, 450), (64, 139), (8, 100)].map(|(n, h)| count(n, h));
    assert_eq!(counts, [353, 4530, 4955, 17995, 1708]);
}

/// Steps from (0.5, −1), computed with NumPy in f64, and by torchdiffeq to 4e-11.
#[test]
fn steps_are_the_known_ones() {
    let expected = [
        [0.5541493004, -0.9833563101],
        [0.554114091, -0.9833014536],
        [0.5541137757, -0.983302072],
        [0.558, -0.9865],
        [0.558035, -0.98647375],
        [0.5580349417, -0.9864737937],
    ];
    let networks = [Activation::Tanh, Activation::Relu]
        .into_iter()
        .flat_map(|units| SCHEMES.map(|scheme| known(units, scheme)));
    for (network, expected) in networks.zip(expected) {
        let mut next = [0.0; 2];
        network.step(&[0.5, -1.0], &[], &mut next);
        for (found, expected) in next.iter().zip(expected) {
            // Ten digits are given, and weights are rounded to f32: 3e-8 each, in products of order one with h = 0.1.
            assert!((found - expected).abs() < 2e-8, "{network:?}: {next:?}");
        }
    }
}

/// Loss and gradient over two steps of rk4 with tanh, computed with JAX in f64.
#[test]
fn gradients_are_the_known_ones() {
    let network = known(Activation::Tanh, Scheme::Rk4);
    let rows = vec![0.5, -1.0, 0.4, -0.9, 0.3, -0.8];
    let series = Series::from_rows(rows, 2, 1.0).unwrap();
    let windows = Windows::new(&series, 2).unwrap();
    let plan = plan(1, Forcing::None);
    let training = Training {
        plan: &plan,
        windows: &windows,
        form: network.form,
    };
    let (loss, gradient) = training.once(network.theta(), &[0]);
    // Rounding of f32 in sums of a few terms.
    assert!((loss - 0.03834322705496112).abs() < 1e-7, "{loss}");
    let expected = [
        [
            0.0013873348,
            -0.0024930073,
            -0.0016929866,
            0.0030356025,
            0.0040947235,
            -0.0073483657,
        ]
        .as_slice(),
        &[0.0025306866, -0.0030824754, 0.0074608842],
        &[
            -0.022571691,
            -0.003925024,
            0.0162679752,
            0.0123659787,
            0.0021503603,
            -0.008913325,
        ],
        &[0.0385321178, -0.0211120463],
    ]
    .concat();
    for (found, expected) in gradient.iter().zip(&expected) {
        // tanh of lanes is within 1e-6, and the residuals that all is proportional to are 0.2.
        assert!((f64::from(*found) - expected).abs() < 1e-6, "{gradient:?}");
    }
}

/// dx/dt = λ x by two opposite ramps.
fn linear(lambda: f64, scheme: Scheme, h: f64) -> NeuralOde {
    let theta = vec![1.0, -1.0, 0.0, 0.0, lambda as f32, -lambda as f32, 0.0];
    NeuralOde::new(form((1, 2, 0), Activation::Relu, scheme, h), theta)
}

#[test]
fn schemes_have_their_order() {
    // x' = −x up to t = 1: halving the step divides the error by 2^order.
    for (scheme, order) in SCHEMES.into_iter().zip([1, 2, 4]) {
        let error = |steps: usize| {
            let network = linear(-1.0, scheme, 1.0 / steps as f64);
            let orbit = network.orbit(&[1.0], &[], steps + 1);
            (orbit[steps] - (-1.0f64).exp()).abs()
        };
        let found = (error(16) / error(32)).log2();
        // The next term of the error is of relative size h.
        assert!(
            (found - f64::from(order)).abs() < 2.0 / 16.0,
            "{scheme:?}: {found}"
        );
    }
}

#[test]
fn a_step_of_a_linear_field_is_its_stability_polynomial() {
    let polynomials: [fn(f64) -> f64; 3] = [
        |z| 1.0 + z,
        |z| 1.0 + z + z * z / 2.0,
        |z| 1.0 + z * (1.0 + z / 2.0 * (1.0 + z / 3.0 * (1.0 + z / 4.0))),
    ];
    for (scheme, polynomial) in SCHEMES.into_iter().zip(polynomials) {
        for lambda in [-2.0, -0.5, 0.25, 1.5] {
            let network = linear(lambda, scheme, 0.5);
            let (mut next, mut jac) = ([0.0], [0.0]);
            network.step(&[3.0], &[], &mut next);
            network.jacobian(&[3.0], &[], &mut jac);
            let factor = polynomial(0.5 * lambda);
            // A dozen operations in f64.
            assert!((next[0] - 3.0 * factor).abs() < 1e-14, "{scheme:?}");
            assert!((jac[0] - factor).abs() < 1e-14, "{scheme:?}");
        }
    }
}

/// Waves of some channels and inputs, with some values missing if asked.
fn waves(n: usize, k: usize, rows: usize, missing: bool) -> Series {
    let wave = |i: usize, n: usize, f: f64| {
        ((i / n) as f64 * (0.3 + 0.1 * f) + 2.0 * (i % n) as f64).sin()
    };
    let is_missing = |i: usize| missing && i % 7 == 3 && !(i / n).is_multiple_of(4);
    let x = (0..rows * n).map(|i| {
        if is_missing(i) {
            f64::NAN
        } else {
            wave(i, n, (i % n) as f64)
        }
    });
    let trajectory = Trajectory {
        s: (0..rows * k).map(|i| wave(i, k.max(1), 0.5)).collect(),
        ..Trajectory::new(x.collect())
    };
    let channels = (Channel::numbered("x", n), Channel::numbered("s", k));
    Series::new(channels.0, channels.1, Step::default(), vec![trajectory]).unwrap()
}

fn plan(batch: usize, forcing: Forcing) -> Plan {
    Plan {
        course: Course {
            schedule: Schedule::Exponential(Exponential {
                start: 1e-2,
                end: 1e-3,
                epochs: 4,
                batches_per_epoch: 3,
            }),
            optimizer: Optimizer::Adam,
            weight_decay: WeightDecay::default(),
            clip_norm: None,
            averaging: Some(0.9),
            seed: 3,
            threads: 1,
            paced: false,
            isa: Isa::detect(),
        },
        batch,
        forcing,
        adaptation: None,
        noise: 0.0,
    }
}

/// The objective in f64, step by step.
fn plain_loss(
    network: &NeuralOde,
    series: &Series,
    window: usize,
    plan: &Plan,
    starts: &[usize],
) -> f64 {
    let (n, k) = (series.dim_obs(), series.dim_input());
    let Trajectory { x, s, .. } = &series.trajectories()[0];
    let (mut squares, mut observed) = (0.0, 0);
    for &start in starts {
        let mut z = x[start * n..][..n].to_vec();
        for t in 1..=window {
            let mut next = vec![0.0; n];
            network.step(&z, &s[(start + t) * k..][..k], &mut next);
            let gain = f64::from(plan.forcing.gain(t));
            for (m, z) in z.iter_mut().enumerate() {
                let seen = x[(start + t) * n + m];
                *z = next[m];
                if !seen.is_nan() {
                    squares += (next[m] - seen) * (next[m] - seen);
                    observed += 1;
                    *z += gain * (seen - next[m]);
                }
            }
        }
    }
    squares / f64::from(observed)
}

/// A situation in which loss and gradient are compared.
struct Case {
    form: Form,
    missing: bool,
    forcing: Forcing,
    batch: usize,
}

impl Case {
    const WINDOW: usize = 9;

    /// Sizes that are and are not fused, that do and do not fill registers; with and without inputs, forcing and missing values.
    fn all() -> Vec<Case> {
        let none = Forcing::None;
        let gtf = Forcing::Generalized { alpha: 0.3 };
        let stf = Forcing::Sparse { interval: 3 };
        let rows = [
            ((1, 2, 0), false, none, 1),
            ((3, 7, 0), false, gtf, 9),
            ((3, 8, 1), true, gtf, 16),
            ((5, 21, 0), true, none, 17),
            ((4, 9, 2), false, stf, 8),
            ((9, 13, 0), false, none, 8),
            ((8, 27, 2), true, gtf, 10),
        ];
        let cases = rows.into_iter().enumerate().flat_map(|(i, row)| {
            let (dims, missing, forcing, batch) = row;
            UNITS.map(|units| Case {
                form: form(dims, units, SCHEMES[i % 3], 0.2),
                missing,
                forcing,
                batch,
            })
        });
        let mut all: Vec<Case> = cases.collect();
        let largest = form((3, 11, 1), Activation::Tanh, Scheme::Rk4, 0.1);
        all.push(Case {
            form: largest,
            missing: true,
            forcing: gtf,
            batch: 24,
        });
        all
    }

    fn series(&self) -> Series {
        let FieldDims { states, inputs, .. } = self.form.dims;
        waves(states, inputs, 80, self.missing)
    }

    /// Rows at which windows may start.
    fn starts(&self, windows: &Windows) -> Vec<usize> {
        let mut rng = Rng::new(7, Stream::Windows);
        (0..self.batch).map(|_| windows.draw(&mut rng)).collect()
    }
}

#[test]
fn loss_and_gradient_are_those_of_the_plain_objective() {
    for case in Case::all() {
        let series = case.series();
        let windows = Windows::with_share(&series, Case::WINDOW, 0.2).unwrap();
        let (starts, theta) = (case.starts(&windows), case.form.start(5));
        for isa in Isa::available() {
            let mut plan = plan(case.batch, case.forcing);
            plan.course.isa = isa;
            let training = Training {
                plan: &plan,
                windows: &windows,
                form: case.form,
            };
            let (loss, gradient) = training.once(&theta, &starts);
            let at = |theta: Vec<f32>| {
                let network = NeuralOde::new(case.form, theta);
                plain_loss(&network, &series, Case::WINDOW, &plan, &starts)
            };
            let expected = at(theta.clone());
            // Tanh of lanes is within 1e-6; all else is rounding of f32.
            assert!(
                (loss / expected - 1.0).abs() < 1e-5,
                "{:?}: {loss} {expected}",
                case.form
            );
            let scale = gradient.iter().fold(0f32, |a, g| a.max(g.abs()));
            let mut rng = Rng::new(11, Stream::MonteCarlo);
            for _ in 0..12 {
                let i = rng.index(theta.len());
                // θ is in f32: the difference is taken between the numbers that it holds.
                let moved = |by: f32| {
                    let mut theta = theta.clone();
                    theta[i] += by;
                    (f64::from(theta[i]), at(theta))
                };
                let ((high, up), (low, down)) = (moved(1e-5), moved(-1e-5));
                let difference = (up - down) / (high - low);
                // Rounding of f32 in sums of some hundred terms; so near, no ramp has its kink.
                let error = (f64::from(gradient[i]) - difference).abs();
                assert!(
                    error < 1e-4 * f64::from(scale),
                    "{:?} entry {i}: {} {difference}",
                    case.form,
                    gradient[i]
                );
            }
        }
    }
}

#[test]
fn threads_and_instruction_sets_change_no_bit() {
    for case in Case::all() {
        let series = case.series();
        let windows = Windows::with_share(&series, Case::WINDOW, 0.2).unwrap();
        let run = |isa: Isa, threads: usize| {
            let mut plan = plan(case.batch, case.forcing);
            (plan.course.isa, plan.course.threads, plan.noise) = (isa, threads, 0.01);
            let training = Training {
                plan: &plan,
                windows: &windows,
                form: case.form,
            };
            trained(training, start(&plan, case.form), 100)
        };
        let first = run(Isa::detect(), 1);
        for threads in [2, 3] {
            assert!(
                run(Isa::detect(), threads) == first,
                "{:?} with {threads} threads",
                case.form
            );
        }
        // Without fused multiply-adds the last bits are others.
        for isa in Isa::available().filter(|&isa| isa >= Isa::Avx2) {
            assert!(run(isa, 1) == first, "{:?} with {}", case.form, isa.name());
        }
    }
}

fn start(plan: &Plan, form: Form) -> State {
    State {
        alpha: plan.forcing.strength(),
        ..State::new(&form.start(3), &plan.course)
    }
}

/// What training gives, stopped after some epochs.
fn trained(training: Training<'_>, from: State, stop_after: u64) -> State {
    let mut watch = |epoch: &Epoch, _: &State| {
        if epoch.epoch == stop_after {
            Control::Stop
        } else {
            Control::Continue
        }
    };
    match training.train(from, &mut watch) {
        Outcome::Finished(state) | Outcome::Stopped(state) => state,
        Outcome::Diverged { update, .. } => panic!("diverged at update {update}"),
    }
}

#[test]
fn training_goes_on_with_the_same_bits() {
    let form = form((3, 10, 1), Activation::Tanh, Scheme::Rk4, 0.1);
    let series = waves(3, 1, 90, true);
    let windows = Windows::with_share(&series, 8, 0.2).unwrap();
    let mut plan = plan(12, Forcing::Generalized { alpha: 1.0 });
    plan.noise = 0.02;
    plan.course.weight_decay = WeightDecay::of_matrices(1e-3, &form.layout());
    for estimator in [
        None,
        Some(Estimator::ArithmeticMean),
        Some(Estimator::ParameterBound),
    ] {
        plan.adaptation = estimator.map(|estimator| Adaptation {
            estimator,
            decay: 0.5,
            every: 2,
        });
        let training = Training {
            plan: &plan,
            windows: &windows,
            form,
        };
        let whole = trained(training, start(&plan, form), 100);
        let half = trained(training, start(&plan, form), 2);
        assert_eq!((half.epoch, half.update), (2, 6));
        assert!(trained(training, half, 100) == whole, "{estimator:?}");
    }
}

#[test]
fn training_learns() {
    // A turn by 0.3 rad per row: |f| ≤ 3 on the unit circle with h = 0.1.
    let rows = (0..300).flat_map(|t| [(0.3 * f64::from(t)).cos(), (0.3 * f64::from(t)).sin()]);
    let series = Series::from_rows(rows.collect(), 2, 1.0).unwrap();
    let windows = Windows::new(&series, 10).unwrap();
    for activation in UNITS {
        let form = form((2, 16, 0), activation, Scheme::Rk4, 0.1);
        let mut plan = plan(16, Forcing::None);
        plan.course.schedule = Schedule::Exponential(Exponential {
            start: 2e-2,
            end: 1e-3,
            epochs: 10,
            batches_per_epoch: 60,
        });
        let training = Training {
            plan: &plan,
            windows: &windows,
            form,
        };
        let state = trained(training, start(&plan, form), 100);
        let (loss, _) = training.once(&state.theta, &[0; 16]);
        // The data vary by 1/2; without learning the loss is of that size.
        assert!(loss < 5e-3, "{activation:?}: {loss}");
    }
}

/// 𝒩 of lanes is that of the Jacobians in f64, for every estimator.
#[test]
fn estimates_follow_the_jacobians_of_the_steps() {
    let form = form((3, 7, 1), Activation::Tanh, Scheme::Rk4, 0.4);
    let series = waves(3, 1, 60, false);
    let windows = Windows::new(&series, 6).unwrap();
    let (theta, starts) = (form.start(2), [4, 11, 30]);
    let network = NeuralOde::new(form, theta.clone());
    let Trajectory { x, s, .. } = &series.trajectories()[0];
    let sequences = starts.map(|start: usize| {
        let mut all = Vec::new();
        for t in start..start + 6 {
            let mut jac = [0.0; 9];
            network.jacobian(&x[t * 3..][..3], &s[t + 1..t + 2], &mut jac);
            all.extend(jac);
        }
        all
    });
    for estimator in Estimator::ALL {
        let mut plan = plan(3, Forcing::Generalized { alpha: 0.5 });
        plan.adaptation = Some(Adaptation {
            estimator,
            decay: 0.9,
            every: 1,
        });
        let training = Training {
            plan: &plan,
            windows: &windows,
            form,
        };
        let found = training.norm(&theta, &starts).kappa;
        let norms = sequences
            .iter()
            .map(|all| Jacobians::new(all, 3).norm(Estimator::BatchMaximum).kappa);
        let largest = norms.fold(0.0, f64::max);
        if estimator == Estimator::ParameterBound {
            assert!(found >= largest, "{found} is no bound of {largest}");
            continue;
        }
        let norms = sequences
            .iter()
            .map(|all| Jacobians::new(all, 3).norm(estimator).kappa);
        let expected = norms.fold(0.0, f64::max);
        // Jacobians in f32 near the identity, tanh within 1e-6.
        assert!(
            (found / expected - 1.0).abs() < 1e-5,
            "{estimator:?}: {found} {expected}"
        );
    }
}

#[test]
fn it_obeys_the_laws_of_dynamics() {
    for case in Case::all() {
        let FieldDims {
            states: n,
            inputs: k,
            ..
        } = case.form.dims;
        let network = NeuralOde::new(case.form, case.form.start(9));
        let series = waves(n, k, 30, false);
        let Trajectory { x, s, .. } = &series.trajectories()[0];
        let data = Stretch::new(Rows::new(x, n), s);
        let mut rng = Rng::new(5, Stream::MonteCarlo);
        laws::orbits_are_made_of_steps(&network, data).unwrap();
        laws::loading_gives_the_same_orbit(&NEURAL_ODE, &network, data).unwrap();
        laws::following_is_inferring(&network, data).unwrap();
        laws::a_row_is_shown_as_it_is(&network, data).unwrap();
        for _ in 0..5 {
            let z: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let s: Vec<f64> = (0..k).map(|_| rng.normal()).collect();
            laws::jacobian_of_dynamics_matches_differences(&network, &z, &s, &mut rng).unwrap();
        }
    }
}

#[test]
fn numbers_that_mean_nothing_are_refused() {
    let network = linear(-1.0, Scheme::Rk4, 0.1);
    for (tensor, number) in [("h", 0.0), ("stages", 3.0), ("activation", 2.0)] {
        let mut tensors = tensors_of(&network);
        tensors.get_mut(tensor).unwrap().values = LoadedValues::F64(vec![number]);
        let refused = (NEURAL_ODE.load)(&NEURAL_ODE, &tensors);
        assert!(matches!(refused, Err(LoadError::Entry { name, .. }) if name == tensor));
    }
    let mut tensors = tensors_of(&network);
    tensors.get_mut("h").unwrap().values = LoadedValues::F64(vec![]);
    tensors.get_mut("h").unwrap().sizes = vec![0];
    assert!((NEURAL_ODE.load)(&NEURAL_ODE, &tensors).is_err());
}
