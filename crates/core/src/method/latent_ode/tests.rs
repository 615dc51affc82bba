//! Known values and numbers of parameters of Latent-ODEs; the solver against closed forms; their gradients against differences of the
//! objective in f64; the laws of a closed system.

use super::network::{Form, LatentOde};
use super::objective::{Beta, Plan, Training};
use super::solver::{Scheme, Solver, SolverRoom, Walk};
use super::{LATENT_ODE, load};
use crate::continuous::net::names;
use crate::continuous::{self, Net, UnitSizes};
use crate::dynamics::{Dynamics, Memory, Stretch};
use crate::laws;
use crate::method::ode_rnn::tests::{checksum, differences, waves, weights, wrong_tensor};
use crate::method::{LoadError, LoadedValues, tensors_of};
use crate::optim::{Floored, Optimizer};
use crate::rng::{Rng, Stream};
use crate::rows::Rows;
use crate::series::Series;
use crate::simd::Isa;
use crate::theta::Layout;
use crate::train::{Course, Schedule, WeightDecay};
use crate::windows::Windows;

fn solver(scheme: Scheme, h: f64) -> Solver {
    Solver {
        scheme,
        rtol: 1e-2,
        atol: 1e-3,
        h,
    }
}

/// Sizes: encoder (states, gates, layers, units), latent states, units of two layers, channels, rows.
fn form(
    (r, g, layers, units): (usize, usize, usize, usize),
    (l, hidden): (usize, usize),
    (n, window): (usize, usize),
    solver: Solver,
) -> Form {
    Form {
        unit: UnitSizes {
            latent: r,
            gate_hidden: g,
            field: (layers, units),
            channels: n,
            inputs: 0,
        },
        steps: 2,
        transform_hidden: 5,
        latent: l,
        field: (2, hidden),
        solver,
        window,
    }
}

fn plan(batch: usize, samples: usize, sigma: f64, isa: Isa) -> Plan {
    Plan {
        course: Course {
            schedule: Schedule::Floored(Floored {
                start: 1e-2,
                factor: 0.999,
                floor: 1e-3,
                epochs: 4,
                batches_per_epoch: 3,
            }),
            optimizer: Optimizer::Adamax,
            weight_decay: WeightDecay::default(),
            clip_norm: None,
            averaging: None,
            seed: 3,
            threads: 1,
            paced: false,
            isa,
        },
        batch,
        noise: 0.0,
        samples,
        sigma,
        beta: Beta {
            wait: 10,
            rate: 0.99,
        },
    }
}

/// Table S4 of Hess et al. (2023), EEG: 17,915, with the sizes 8, 15, 20, 20 and 100 that give it.
#[test]
fn parameters_are_as_many_as_in_the_paper() {
    let mut form = form(
        (15, 20, 2, 20),
        (8, 20),
        (64, 100),
        solver(Scheme::Dopri5, 0.01),
    );
    form.transform_hidden = 100;
    assert_eq!(form.layout().len(), 17_915);
    let network = LatentOde::new(form, vec![0.0; 17_915]);
    assert_eq!(network.sizes().parameters, 17_915);
    assert_eq!(network.memory(), Memory::Rows(100));
}

#[test]
fn the_weight_of_the_divergence_waits_and_then_grows_to_one() {
    let beta = Beta {
        wait: 10,
        rate: 0.99,
    };
    assert_eq!([0, 9, 10].map(|epoch| beta.of(epoch)), [0.0; 3]);
    assert!((beta.of(11) - 0.01).abs() < 1e-15 && (beta.of(12) - 0.0199).abs() < 1e-15);
    assert!(beta.of(2000) > 0.999_999);
}

/// dz/dt = λ z by a unit in which tanh is linear to 1e-10: small weights in, large ones out.
fn linear(lambda: f64) -> (Net, Vec<f64>) {
    let (names, widths) = (names!("flow"), [1, 1, 1]);
    let layout = Layout::new(crate::continuous::net::shapes(&names, &widths));
    let theta = vec![1e-5, 0.0, 1e5 * lambda, 0.0];
    (Net::new(&names, &widths, &layout), theta)
}

/// z' = −z: rows are on the exponential, within steps as at their ends, to the tolerance.
#[test]
fn solutions_of_a_linear_field_are_exponentials_at_every_row() {
    let (net, theta) = linear(-1.0);
    for (h, last) in [(0.05, 50), (1.0, 5), (4.0, 2)] {
        for rtol in [1e-3, 1e-5, 1e-7] {
            let solver = Solver {
                scheme: Scheme::Dopri5,
                rtol,
                atol: 1e-12,
                h,
            };
            let (mut worst, mut rows, mut z) = (0.0f64, Vec::new(), [1.0]);
            let room = &mut SolverRoom::default();
            solver.solve((&net, &theta), &mut z, last, room, |row, z| {
                let exact = (-h * row as f64).exp();
                worst = worst.max((z[0] / exact - 1.0).abs());
                rows.push(row);
            });
            assert_eq!(rows, (1..=last).collect::<Vec<_>>());
            // The error of a step is below the tolerance; there are up to 32, and within a step it is some times larger.
            assert!(worst < 100.0 * rtol, "{h} {rtol}: {worst}");
        }
    }
}

#[test]
fn fixed_schemes_have_their_order() {
    let (net, theta) = linear(-1.0);
    for (scheme, order) in [(Scheme::Euler, 1), (Scheme::Midpoint, 2), (Scheme::Rk4, 4)] {
        let error = |rows: usize| {
            let solver = solver(scheme, 1.0 / rows as f64);
            let mut z = [1.0];
            let room = &mut SolverRoom::default();
            solver.solve((&net, &theta), &mut z, rows, room, |_, _| {});
            (z[0] - (-1.0f64).exp()).abs()
        };
        let found = (error(16) / error(32)).log2();
        // The next term of the error is of relative size h.
        assert!((found - f64::from(order)).abs() < 2.0 / 16.0, "{found}");
    }
}

/// Steps double while their error allows it, halve where it does not, and end at the last row.
#[test]
fn steps_double_halve_and_end_at_the_last_row() {
    let mut walk = Walk::to(10);
    let mut taken = Vec::new();
    for error in [0.0, 0.0, 0.5, 4.0, 0.5, 0.0, 9.0, 0.5, 0.0, f64::NAN] {
        let trial = walk.trial();
        taken.push(walk.judge(trial, error));
    }
    assert_eq!(taken, [1.0, 2.0, 4.0, 0.0, 1.5, 1.5, 0.0, 0.0, 0.0, 0.0]);
    assert_eq!(walk.trial(), 0.0);
    assert_eq!(Walk::reached(1.5, 2.5), 2..=4);
    assert!(Walk::reached(1.25, 0.5).is_empty());
}

/// Σ g_i (1 + i mod 7) over the entries of each tensor.
const KNOWN: [(&str, f64); 28] = [
    ("decoder_W1", 7.690311964670),
    ("decoder_b1", -0.656143516903),
    ("flow_W1", -0.338963081560),
    ("flow_W2", -1.772068089577),
    ("flow_W3", -0.870274904838),
    ("flow_b1", -0.490243348916),
    ("flow_b2", -1.047964583807),
    ("flow_b3", -2.346128133439),
    ("new_W1", 0.243924510136),
    ("new_W2", 0.109064694113),
    ("new_b1", 0.015805681877),
    ("new_b2", -0.226121161480),
    ("ode_W1", 0.020054398191),
    ("ode_W2", 0.016327193456),
    ("ode_b1", -0.033820455475),
    ("ode_b2", -0.008063501170),
    ("reset_W1", 0.000102501417),
    ("reset_W2", -0.004562004827),
    ("reset_b1", 0.000236610190),
    ("reset_b2", -0.001305606848),
    ("transform_W1", -0.409444894080),
    ("transform_W2", -1.044761607608),
    ("transform_b1", -0.413232615831),
    ("transform_b2", -0.602095600796),
    ("update_W1", -0.069657188014),
    ("update_W2", 0.152292888217),
    ("update_b1", 0.011123859890),
    ("update_b2", -0.064861490228),
];

/// Computed with JAX in f64, by its own differentiation through the same steps of dopri5: 1, 2, 2 and 2 rows. Deviations are zero, so that
/// all solutions are the same; σ² = ½, so that the gradient is that of the mean squared error.
#[test]
fn loss_and_gradient_are_the_known_ones() {
    let form = form((2, 3, 1, 4), (2, 4), (2, 8), solver(Scheme::Dopri5, 0.7));
    let layout = form.layout();
    let mut theta = weights(&layout);
    theta[layout.range("flow_W3")]
        .iter_mut()
        .for_each(|w| *w *= 3.0);
    // The rows of the deviations.
    let [w, b] = ["transform_W2", "transform_b2"].map(|name| layout.range(name));
    theta[w.start + 2 * 5..w.end].fill(0.0);
    theta[b.start + 2..b.end].fill(0.0);
    let x = f64::NAN;
    let rows = vec![
        0.5, -1.0, 0.25, x, x, x, -0.3, 0.6, 0.8, 0.1, 0.4, -0.2, 0.1, 0.3, 0.0, -0.5,
    ];
    let series = Series::from_rows(rows, 2, 1.0).unwrap();
    let windows = Windows::from_any_row(&series, 7, 0.1).unwrap();
    let plan = plan(1, 3, 0.5f64.sqrt(), Isa::detect());
    let training = Training {
        plan: &plan,
        windows: &windows,
        form,
    };
    let (loss, mut gradient) = training.once(&theta, &[0], 0);
    // Rounding of f32 in sums of a few terms of order one.
    assert!((loss - 0.5554507258703087).abs() < 1e-6, "{loss}");
    gradient[w.start + 2 * 5..w.end].fill(0.0);
    gradient[b.start + 2..b.end].fill(0.0);
    for (name, expected) in KNOWN {
        let found = checksum(&gradient[layout.range(name)]);
        // Up to 30 entries of order one with weights up to 7, each within some 1e-6 of itself.
        assert!(
            (found - expected).abs() < 2e-5,
            "{name}: {found} {expected}"
        );
    }
}

/// The objective in f64, window by window.
fn plain_loss(
    network: &LatentOde,
    training: Training<'_>,
    series: &Series,
    starts: &[usize],
    epoch: u64,
) -> f64 {
    let (plan, form) = (training.plan, training.form);
    let (n, rows, l) = (form.unit.channels, form.window, form.latent);
    let x = &series.trajectories()[0].x;
    let mut total = 0.0;
    for (window, &start) in starts.iter().enumerate() {
        let x = &x[start * n..][..rows * n];
        let (mean, spread) = network.encode(Rows::new(x, n));
        let mut epsilon = vec![0.0; plan.samples * l];
        training.draw(0, window, &mut epsilon);
        let mut sum = 0.0;
        for epsilon in epsilon.chunks_exact(l) {
            let draws = mean.iter().zip(&spread).zip(epsilon);
            let z: Vec<f64> = draws
                .map(|((mean, spread), &e)| mean + spread * f64::from(e))
                .collect();
            let seen = network.solution(&z, rows - 1);
            let there = seen.iter().zip(x).filter(|(_, x)| !x.is_nan());
            let values = there.clone().count() as f64;
            let squares: f64 = there.map(|(seen, x)| (seen - x) * (seen - x)).sum();
            sum += (-squares / values / (2.0 * plan.sigma * plan.sigma)).exp();
        }
        let divergence: f64 = mean
            .iter()
            .zip(&spread)
            .map(|(m, s)| 0.5 * (s * s + m * m - 1.0) - s.ln())
            .sum();
        total += plan.beta.of(epoch) * divergence / l as f64 - sum.ln();
    }
    total / starts.len() as f64
}

/// A situation in which gradients are compared: sizes, whether values are missing, windows, solutions, the epoch.
type Situation = (Form, bool, usize, usize, u64);

/// With and without missing values and divergence; steps that are halved, and steps over several rows.
fn situations() -> [Situation; 4] {
    let dopri5 = |h: f64| solver(Scheme::Dopri5, h);
    [
        (
            form((3, 4, 1, 5), (2, 6), (2, 9), dopri5(0.1)),
            false,
            1,
            3,
            0,
        ),
        (
            form((2, 3, 2, 4), (3, 5), (3, 7), dopri5(2.0)),
            true,
            9,
            2,
            60,
        ),
        (
            form((2, 5, 1, 3), (4, 3), (1, 12), solver(Scheme::Rk4, 0.3)),
            true,
            8,
            1,
            30,
        ),
        (
            form((4, 3, 1, 3), (2, 7), (2, 6), solver(Scheme::Midpoint, 0.2)),
            false,
            17,
            3,
            100,
        ),
    ]
}

#[test]
fn gradients_are_those_of_the_plain_objective_and_wrong_ones_are_found() {
    for (form, missing, batch, samples, epoch) in situations() {
        let series = waves(form.unit.channels, 0, 60, missing);
        let windows = Windows::from_any_row(&series, form.window - 1, 0.2).unwrap();
        let mut rng = Rng::new(7, Stream::Windows);
        let starts: Vec<usize> = (0..batch).map(|_| windows.draw(&mut rng)).collect();
        let layout = form.layout();
        let mut theta = continuous::start(&layout, 5);
        theta.iter_mut().for_each(|v| *v = 5.0 * *v + 0.01);
        let wide: Vec<f64> = theta.iter().map(|&v| f64::from(v)).collect();
        let network = LatentOde::new(form, theta.clone());
        for isa in Isa::available() {
            let plan = plan(batch, samples, 0.6, isa);
            let training = Training {
                plan: &plan,
                windows: &windows,
                form,
            };
            let loss = |theta: &[f64]| {
                let mut network = network.clone();
                network.wide.copy_from_slice(theta);
                plain_loss(&network, training, &series, &starts, epoch)
            };
            let expected = differences(&wide, loss);
            let (_, gradient) = training.once(&theta, &starts, epoch);
            assert_eq!(
                wrong_tensor(&layout, &gradient, &expected),
                None,
                "{form:?}"
            );
            for name in ["flow_W2", "transform_W2", "new_W1", "decoder_W1"] {
                let mut wrong = gradient.clone();
                wrong[layout.range(name)].iter_mut().for_each(|v| *v *= 0.9);
                assert!(wrong_tensor(&layout, &wrong, &expected).is_some(), "{name}");
            }
        }
    }
}

#[test]
fn it_obeys_the_laws_of_dynamics() {
    for (scheme, h) in [
        (Scheme::Dopri5, 0.1),
        (Scheme::Dopri5, 5.0),
        (Scheme::Rk4, 0.5),
        (Scheme::Euler, 0.1),
    ] {
        let form = form((3, 5, 2, 6), (4, 8), (2, 12), solver(scheme, h));
        let mut theta = continuous::start(&form.layout(), 9);
        theta.iter_mut().for_each(|v| *v = 3.0 * *v + 0.02);
        let network = LatentOde::new(form, theta);
        let series = waves(2, 0, 40, false);
        let data = Stretch::longest(&series);
        let mut rng = Rng::new(5, Stream::MonteCarlo);
        laws::orbits_are_made_of_steps(&network, data).unwrap();
        laws::loading_gives_the_same_orbit(&LATENT_ODE, &network, data).unwrap();
        laws::following_is_inferring(&network, data).unwrap();
        for _ in 0..5 {
            let z: Vec<f64> = (0..4).map(|_| rng.normal()).collect();
            laws::jacobian_of_dynamics_matches_differences(&network, &z, &[], &mut rng).unwrap();
        }
    }
}

#[test]
fn broken_tensors_are_refused() {
    let form = form((2, 3, 1, 4), (2, 4), (2, 8), solver(Scheme::Dopri5, 0.7));
    let tensors = tensors_of(&LatentOde::new(form, weights(&form.layout())));
    assert!(load(&LATENT_ODE, &tensors).is_ok());
    let mut other = tensors.clone();
    other.get_mut("stages").unwrap().values = LoadedValues::F64(vec![3.0]);
    assert!(matches!(
        load(&LATENT_ODE, &other).unwrap_err(),
        LoadError::Entry { name: "stages", .. }
    ));
    let mut driven = tensors.clone();
    let new = driven.get_mut("new_W1").unwrap();
    (new.sizes, new.values) = (vec![3, 9], LoadedValues::F32(vec![0.0; 27]));
    assert!(matches!(
        load(&LATENT_ODE, &driven).unwrap_err(),
        LoadError::Shape { name: "new_W1", .. }
    ));
    let mut missing = tensors.clone();
    missing.remove("flow_b2");
    assert!(matches!(
        load(&LATENT_ODE, &missing).unwrap_err(),
        LoadError::Missing { name: "flow_b2" }
    ));
}
