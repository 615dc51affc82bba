//! Known values and numbers of parameters of Latent-ODEs; the solver against closed forms; their gradients against differences of the
//! objective in f64; the laws of a closed system.

use super::network::{Form, LatentOde};
use super::objective::{Beta, Plan, Training};
use super::solver::{Route, Scheme, Solver, SolverRoom, Times, Walk};
use super::{LATENT_ODE, load};
use crate::continuous::net::names;
use crate::continuous::{self, Net, UnitSizes};
use crate::dynamics::{Dynamics, Memory, Stretch};
use crate::laws;
use crate::method::ode_rnn::tests::{
    all_rows, at_own_times, checksum, differences, sparse_twice, waves, weights, wrong_tensor,
};
use crate::method::{LoadError, LoadedValues, tensors_of};
use crate::optim::{Floored, Optimizer};
use crate::rng::{Rng, Stream};
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

/// The same, driven by external inputs.
fn driven(form: Form, inputs: usize) -> Form {
    let unit = UnitSizes {
        inputs,
        ..form.unit
    };
    Form { unit, ..form }
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
    field(&[1, 1, 1], vec![1e-5, 0.0, 1e5 * lambda, 0.0])
}

/// dz/dt = λ (z − s), in the same way.
fn linear_driven(lambda: f64) -> (Net, Vec<f64>) {
    field(&[2, 1, 1], vec![1e-5, -1e-5, 0.0, 1e5 * lambda, 0.0])
}

fn field(widths: &[usize], theta: Vec<f64>) -> (Net, Vec<f64>) {
    let names = names!("flow");
    let layout = Layout::new(crate::continuous::net::shapes(&names, widths));
    (Net::new(&names, widths, &layout), theta)
}

/// So many rows behind the first, one step apart.
fn along(rows: usize) -> Route<'static> {
    let times = Times::Equal(rows);
    Route { times, s: &[] }
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
            solver.solve((&net, &theta), &mut z, along(last), room, |row, z| {
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
            solver.solve((&net, &theta), &mut z, along(rows), room, |_, _| {});
            (z[0] - (-1.0f64).exp()).abs()
        };
        let found = (error(16) / error(32)).log2();
        // The next term of the error is of relative size h.
        assert!((found - f64::from(order)).abs() < 2.0 / 16.0, "{found}");
    }
}

/// Times of ten rows, of which some are within a step of a solver and some are far apart.
const TIMES: [f64; 10] = [0.0, 0.1, 0.7, 1.0, 1.01, 4.4, 5.0, 9.3, 9.9, 16.2];

#[test]
fn solutions_at_any_times_are_on_the_exponential() {
    let (net, theta) = linear(-1.0);
    for (scheme, rtol, tolerance) in [
        (Scheme::Dopri5, 1e-4, 1e-2),
        (Scheme::Dopri5, 1e-7, 1e-5),
        // Nine steps of at most 0.63; the error of one is z⁵/120 of what remains.
        (
            Scheme::Rk4,
            1.0,
            9.0 * 0.63f64.powi(5) / 120.0 / (-0.63f64).exp(),
        ),
    ] {
        let solver = Solver {
            scheme,
            rtol,
            atol: 1e-12,
            h: 0.1,
        };
        let route = Route {
            times: Times::Own(&TIMES),
            s: &[],
        };
        let (mut rows, mut z) = (Vec::new(), [1.0]);
        let room = &mut SolverRoom::default();
        solver.solve((&net, &theta), &mut z, route, room, |row, z| {
            let exact = (-0.1 * TIMES[row]).exp();
            assert!((z[0] / exact - 1.0).abs() < tolerance, "{row}: {}", z[0]);
            rows.push(row);
        });
        assert_eq!(rows, (1..10).collect::<Vec<_>>());
    }
}

/// z' = s − z with the inputs of a row from the row before on: z_t = s_t + (z_{t−1} − s_t) e^{−hτ}.
#[test]
fn inputs_hold_up_to_their_rows() {
    let (net, theta) = linear_driven(-1.0);
    let s: Vec<f64> = (1..10).map(|row| (1.7 * f64::from(row)).sin()).collect();
    for times in [Times::Own(&TIMES), Times::Equal(9)] {
        let solver = Solver {
            scheme: Scheme::Dopri5,
            rtol: 1e-7,
            atol: 1e-9,
            h: 0.5,
        };
        let (mut exact, mut z) = (0.3, [0.3]);
        let route = Route { times, s: &s };
        let room = &mut SolverRoom::default();
        solver.solve((&net, &theta), &mut z, route, room, |row, z| {
            let decay = (-0.5 * (times.of(row) - times.of(row - 1))).exp();
            exact = s[row - 1] + (exact - s[row - 1]) * decay;
            // Some tolerances of up to a hundred steps, which decay.
            assert!((z[0] - exact).abs() < 1e-5, "{row}: {} {exact}", z[0]);
        });
    }
}

/// Steps double while their error allows it, halve where it does not, and end where they have to.
#[test]
fn steps_double_halve_and_end_at_the_last_row() {
    let mut walk = Walk::new(Scheme::Dopri5);
    let mut ends = Vec::new();
    for error in [0.0, 0.0, 0.5, 4.0, 0.5, 0.0] {
        let end = walk.trial(10.0);
        walk.judge(end, error);
        ends.push(walk.at);
    }
    assert_eq!(ends, [1.0, 3.0, 7.0, 7.0, 8.5, 10.0]);
    assert_eq!(walk.trial(10.0), 10.0);
    // A step that a row cuts short does not shorten the next one.
    let mut walk = Walk::new(Scheme::Dopri5);
    assert!(walk.judge(walk.trial(0.25), 0.0) && walk.trial(9.0) == 1.25);
    // Not a number is taken as it is, and so is what is too short to be halved.
    assert!(walk.judge(1.25, f64::NAN) && walk.judge(1.3, 7.0));
    let fixed = Walk::new(Scheme::Rk4);
    assert_eq!(fixed.trial(0.3), 0.3);
}

#[test]
fn steps_reach_the_rows_up_to_their_end() {
    let equal = Times::Equal(9);
    assert_eq!(equal.reached(1.5, 4.0), 2..5);
    assert!(equal.reached(1.25, 1.75).is_empty());
    let own = Times::Own(&TIMES);
    assert_eq!((own.reached(0.1, 1.0), own.reached(1.5, 4.0)), (2..4, 5..5));
    assert_eq!((own.next(1.0), own.next(20.0), own.last()), (4, 9, 9));
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
    let (rows, l) = (form.window, form.latent);
    let mut total = 0.0;
    for (window, &start) in starts.iter().enumerate() {
        let data = all_rows(series).slice(start..start + rows);
        let x = data.rows().values();
        let (mean, spread) = network.encode(data);
        let mut epsilon = vec![0.0; plan.samples * l];
        training.draw(0, window, &mut epsilon);
        let mut sum = 0.0;
        for epsilon in epsilon.chunks_exact(l) {
            let draws = mean.iter().zip(&spread).zip(epsilon);
            let z: Vec<f64> = draws
                .map(|((mean, spread), &e)| mean + spread * f64::from(e))
                .collect();
            let seen = network.solution(&z, data);
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

/// A situation in which gradients are compared: sizes, whether values are missing, windows, solutions, the epoch, whether rows have
/// times of their own.
type Situation = (Form, bool, usize, usize, u64, bool);

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
            false,
        ),
        (
            form((2, 3, 2, 4), (3, 5), (3, 7), dopri5(2.0)),
            true,
            9,
            2,
            60,
            false,
        ),
        (
            form((2, 5, 1, 3), (4, 3), (1, 12), solver(Scheme::Rk4, 0.3)),
            true,
            8,
            1,
            30,
            false,
        ),
        (
            form((4, 3, 1, 3), (2, 7), (2, 6), solver(Scheme::Midpoint, 0.2)),
            false,
            17,
            3,
            100,
            false,
        ),
    ]
}

/// The same with inputs, and at times of rows of their own.
fn driven_situations() -> [Situation; 4] {
    let dopri5 = |h: f64| solver(Scheme::Dopri5, h);
    [
        (
            driven(form((2, 3, 1, 4), (3, 5), (2, 8), dopri5(1.0)), 1),
            true,
            9,
            2,
            60,
            false,
        ),
        (
            form((2, 3, 1, 4), (3, 5), (2, 8), dopri5(0.8)),
            true,
            9,
            2,
            60,
            true,
        ),
        (
            driven(form((2, 4, 1, 3), (2, 5), (1, 7), dopri5(0.5)), 2),
            false,
            5,
            3,
            0,
            true,
        ),
        (
            driven(
                form((2, 3, 2, 3), (2, 4), (2, 6), solver(Scheme::Rk4, 0.3)),
                1,
            ),
            false,
            3,
            1,
            20,
            true,
        ),
    ]
}

#[test]
fn gradients_are_those_of_the_plain_objective_and_wrong_ones_are_found() {
    for (form, missing, batch, samples, epoch, own_times) in
        [situations(), driven_situations()].concat()
    {
        let series = waves(form.unit.channels, form.unit.inputs, 60, missing);
        let series = if own_times {
            at_own_times(&series)
        } else {
            series
        };
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
    for (scheme, h, inputs) in [
        (Scheme::Dopri5, 0.1, 0),
        (Scheme::Dopri5, 5.0, 0),
        (Scheme::Rk4, 0.5, 0),
        (Scheme::Euler, 0.1, 0),
        (Scheme::Dopri5, 0.5, 2),
        (Scheme::Midpoint, 0.3, 1),
    ] {
        let form = form((3, 5, 2, 6), (4, 8), (2, 12), solver(scheme, h));
        let form = driven(form, inputs);
        let mut theta = continuous::start(&form.layout(), 9);
        theta.iter_mut().for_each(|v| *v = 3.0 * *v + 0.02);
        let network = LatentOde::new(form, theta);
        let series = waves(2, inputs, 40, false);
        let data = Stretch::longest(&series);
        let mut rng = Rng::new(5, Stream::MonteCarlo);
        laws::orbits_are_made_of_steps(&network, data).unwrap();
        laws::loading_gives_the_same_orbit(&LATENT_ODE, &network, data).unwrap();
        laws::following_is_inferring(&network, data).unwrap();
        for _ in 0..5 {
            let z: Vec<f64> = (0..4).map(|_| rng.normal()).collect();
            let s: Vec<f64> = (0..inputs).map(|_| rng.normal()).collect();
            laws::jacobian_of_dynamics_matches_differences(&network, &z, &s, &mut rng).unwrap();
        }
    }
}

/// A network with weights that are not small.
fn network(form: Form) -> LatentOde {
    let mut theta = continuous::start(&form.layout(), 9);
    theta.iter_mut().for_each(|v| *v = 3.0 * *v + 0.02);
    LatentOde::new(form, theta)
}

/// What an input changes is what comes behind it, from its row on.
#[test]
fn a_free_orbit_is_driven() {
    let network = network(driven(
        form((3, 5, 2, 6), (4, 8), (2, 12), solver(Scheme::Dopri5, 0.5)),
        1,
    ));
    let z = [0.3, -0.2, 0.1, 0.4];
    let mut s = vec![0.5; 10];
    let before = network.orbit(&z, &s, 10);
    // The inputs of the first row are not used.
    (s[0], s[6]) = (7.0, -2.0);
    let after = network.orbit(&z, &s, 10);
    assert_eq!(before[..12], after[..12]);
    assert!(before[12..].iter().zip(&after[12..]).all(|(a, b)| a != b));
}

/// A row without any value is the same as none, for the encoder and for the solution.
#[test]
fn rows_that_are_left_out_are_rows_without_values() {
    let solver = solver(Scheme::Dopri5, 0.3);
    let mut form = driven(form((3, 5, 2, 6), (4, 8), (2, 30), solver), 1);
    form.steps = 1;
    let network = network(form);
    let [gridded, timed] = sparse_twice();
    assert_eq!(
        network.encode(all_rows(&gridded)),
        network.encode(all_rows(&timed))
    );
    // Without inputs the solution has the same steps, wherever rows are.
    form.unit.inputs = 0;
    let network = self::network(form);
    let free = |series: &Series| {
        let mut t = series.trajectories()[0].clone();
        t.s.clear();
        let (channels, step) = (series.channels().to_vec(), series.step().clone());
        Series::new(channels, vec![], step, vec![t]).unwrap()
    };
    let [gridded, timed] = [free(&gridded), free(&timed)];
    let rows = network.reconstruct(all_rows(&gridded));
    let rows = rows.chunks_exact(2).enumerate();
    let kept = rows.filter(|(row, _)| row % 3 != 1);
    let kept: Vec<f64> = kept.flat_map(|(_, x)| x.to_vec()).collect();
    assert_eq!(network.reconstruct(all_rows(&timed)), kept);
}

/// Many forecasts side by side are those of the closed system, driven by the inputs of the data.
#[test]
fn driven_forecasts_are_those_of_single_steps() {
    let network = network(driven(
        form((3, 5, 2, 6), (4, 8), (2, 12), solver(Scheme::Dopri5, 0.5)),
        2,
    ));
    let series = waves(2, 2, 40, false);
    let data = Stretch::longest(&series);
    let rows = [3, 11, 12, 20];
    let mut forecasts = network.forecasts(data);
    forecasts.start(&rows);
    let width = forecasts.width();
    let found = forecasts.advance(5, 1).to_vec();
    for (lane, &row) in rows.iter().enumerate() {
        // All windows are as short as that of the first row.
        let mut z = network.encode(data.slice(row - 3..row + 1)).0;
        let mut next = z.clone();
        for t in row - 2..=row + 5 {
            network.step(&z, data.inputs_of(t..t + 1), &mut next);
            z.copy_from_slice(&next);
        }
        let mut x_hat = [0.0; 2];
        network.observe(&z, &mut x_hat);
        for (c, x_hat) in x_hat.iter().enumerate() {
            // Single precision, over some steps.
            let error = (found[c * width + lane] - x_hat).abs();
            assert!(error < 1e-5, "{row}: {error}");
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
        LoadError::Shape {
            name: "flow_W1",
            ..
        }
    ));
    let mut missing = tensors.clone();
    missing.remove("flow_b2");
    assert!(matches!(
        load(&LATENT_ODE, &missing).unwrap_err(),
        LoadError::Missing { name: "flow_b2" }
    ));
}
