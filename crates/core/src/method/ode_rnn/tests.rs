//! Known values and numbers of parameters of ODE-RNNs; their gradients against differences of the objective in f64; the laws of a
//! closed system.

use super::network::{Form, OdeRnn};
use super::objective::{Plan, Training};
use super::{ODE_RNN, load};
use crate::continuous::net::Room;
use crate::continuous::unit::{UnitRoom, see};
use crate::continuous::{self, UnitSizes};
use crate::dynamics::{Dynamics, Memory, Stretch};
use crate::laws;
use crate::method::{LoadError, LoadedValues, tensors_of};
use crate::optim::{Floored, Optimizer};
use crate::rng::{Rng, Stream};
use crate::rows::Rows;
use crate::series::{Channel, Series, Step, Trajectory};
use crate::simd::Isa;
use crate::theta::Layout;
use crate::train::{Course, Schedule, WeightDecay};
use crate::windows::Windows;

fn form(unit: UnitSizes, decoder_hidden: usize, h: f64, steps: usize) -> Form {
    Form {
        unit,
        decoder_hidden,
        h,
        steps,
        warm_up: 4,
    }
}

fn unit(d: usize, g: usize, field: (usize, usize), n: usize, k: usize) -> UnitSizes {
    UnitSizes {
        latent: d,
        gate_hidden: g,
        field,
        channels: n,
        inputs: k,
    }
}

fn plan(batch: usize, isa: Isa) -> Plan {
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
    }
}

/// Table S4 of Hess et al. (2023), EEG: 17,859, with the sizes 9, 44, 8 and 100 that give it.
#[test]
fn parameters_are_as_many_as_in_the_paper() {
    let form = form(unit(9, 8, (2, 44), 64, 0), 100, 0.01, 1);
    assert_eq!(form.parameters(), 17_859);
    let network = OdeRnn::new(form, vec![0.0; form.layout().len()]);
    assert_eq!(network.sizes().parameters, 17_859);
    assert_eq!(network.memory(), Memory::Driven { warm_up: 4 });
}

/// w(k) = 0.1 ((7 k mod 11) − 5): entry i of tensor j is w(3 j + i).
pub(in crate::method) fn weights(layout: &Layout) -> Vec<f32> {
    let w = |k: usize| 0.1 * (((7 * k) % 11) as f64 - 5.0);
    let tensors = layout.tensors().iter().enumerate();
    tensors
        .flat_map(|(j, tensor)| (0..tensor.shape.len()).map(move |i| w(3 * j + i) as f32))
        .collect()
}

/// Σ g_i (1 + i mod 7) over the entries of a tensor.
pub(in crate::method) fn checksum(gradient: &[f32]) -> f64 {
    let entries = gradient.iter().enumerate();
    entries
        .map(|(i, &g)| f64::from(g) * (1 + i % 7) as f64)
        .sum()
}

/// Values that are missing, a row that is missing, an input.
fn known_series() -> Series {
    let x = f64::NAN;
    let trajectory = Trajectory {
        s: vec![0.2, -0.4, 0.1, 0.3, 0.0],
        ..Trajectory::new(vec![0.5, -1.0, 0.25, x, x, x, -0.3, 0.6, 0.8, 0.1])
    };
    let channels = (Channel::numbered("x", 2), Channel::numbered("s", 1));
    Series::new(channels.0, channels.1, Step::default(), vec![trajectory]).unwrap()
}

/// Σ g_i (1 + i mod 7) over the entries of each tensor.
const KNOWN: [(&str, f64); 22] = [
    ("decoder_W1", 0.015980600728),
    ("decoder_W2", 0.020725151932),
    ("decoder_b1", 0.028257387243),
    ("decoder_b2", -0.042586911186),
    ("new_W1", -0.087411517211),
    ("new_W2", 0.012676603868),
    ("new_b1", -0.011511002662),
    ("new_b2", 0.003610254945),
    ("ode_W1", 0.000355049743),
    ("ode_W2", 0.002940419588),
    ("ode_W3", 0.000393883713),
    ("ode_b1", 0.001606761996),
    ("ode_b2", 0.003535871148),
    ("ode_b3", 0.002120600024),
    ("reset_W1", -0.001213680681),
    ("reset_W2", -0.001060668603),
    ("reset_b1", -0.000384531600),
    ("reset_b2", 0.000826524433),
    ("update_W1", -0.003765330387),
    ("update_W2", 0.001858064663),
    ("update_b1", -0.001207872823),
    ("update_b2", -0.000892072307),
];

/// Computed with JAX in f64, by its own differentiation.
#[test]
fn loss_and_gradient_are_the_known_ones() {
    let form = form(unit(2, 3, (2, 4), 2, 1), 5, 0.2, 2);
    let (layout, series) = (form.layout(), known_series());
    let theta = weights(&layout);
    let windows = Windows::from_any_row(&series, 4, 0.1).unwrap();
    let plan = plan(1, Isa::detect());
    let training = Training {
        plan: &plan,
        windows: &windows,
        form,
    };
    let (loss, gradient) = training.once(&theta, &[0]);
    // Rounding of f32 in sums of a few terms of order one.
    assert!((loss - 0.15783460670131025).abs() < 1e-6, "{loss}");
    for (name, expected) in KNOWN {
        let found = checksum(&gradient[layout.range(name)]);
        // Up to 27 entries of order 1e-2 with weights up to 7, each within some 1e-6 of itself.
        assert!(
            (found - expected).abs() < 1e-6,
            "{name}: {found} {expected}"
        );
    }
    let network = OdeRnn::new(form, theta);
    let trajectory = &series.trajectories()[0];
    let rows = Rows::new(&trajectory.x, 2);
    let data = Stretch::new(rows, &trajectory.s);
    let (mut z, mut x_hat) = (vec![0.0; 4], vec![0.0; 2]);
    network.infer(data.slice(0..4), &mut z);
    network.observe(&z, &mut x_hat);
    let expected = [-0.05342936, -0.57686153, 0.15415932, 0.1081966];
    for (found, expected) in z
        .iter()
        .chain(&x_hat)
        .zip([expected.as_slice(), &[0.1451144, 0.39758627]].concat())
    {
        // Eight digits are given, and weights are rounded to f32.
        assert!((found - expected).abs() < 5e-8, "{z:?} {x_hat:?}");
    }
}

/// Waves of some channels and inputs, with some values and some rows missing if asked.
pub(in crate::method) fn waves(n: usize, k: usize, rows: usize, missing: bool) -> Series {
    let wave = |i: usize, n: usize, f: f64| {
        ((i / n) as f64 * (0.3 + 0.1 * f) + 2.0 * (i % n) as f64).sin()
    };
    let is_missing = |i: usize| missing && (i % 7 == 3 || i / n % 5 == 2);
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

/// The same rows at times of their own, between 0.3 and 2.5 steps apart.
pub(in crate::method) fn at_own_times(series: &Series) -> Series {
    let mut time = 5.0;
    let times = (0..series.len_of(0)).map(|row| {
        let share = (0.618 * row as f64).fract();
        time += series.step().dt * (0.3 + 2.2 * share);
        time
    });
    with_times(series, times.collect())
}

/// The same rows at these times.
pub(in crate::method) fn with_times(series: &Series, times: Vec<f64>) -> Series {
    let trajectory = Trajectory {
        start: times[0],
        times,
        ..series.trajectories()[0].clone()
    };
    series.with(vec![trajectory]).unwrap()
}

/// All rows of the only trajectory.
pub(in crate::method) fn all_rows(series: &Series) -> Stretch<'_> {
    let t = &series.trajectories()[0];
    let rows = Rows::new(&t.x, series.dim_obs());
    Stretch::new(rows, &t.s).at_times(&t.times, series.step().dt)
}

/// The objective in f64, row by row.
fn plain_loss(form: Form, theta: &[f64], series: &Series, window: usize, starts: &[usize]) -> f64 {
    let (unit, decoder) = (form.unit(), form.decoder());
    let n = series.dim_obs();
    let (mut room, mut net) = (UnitRoom::default(), Room::default());
    let (mut v, mut x_hat) = (vec![0.0; form.unit.row()], vec![0.0; n]);
    let (mut squares, mut observed) = (0.0, 0);
    for &start in starts {
        let data = all_rows(series).slice(start..start + window + 1);
        let mut z = vec![0.0; 2 * form.unit.latent];
        for t in 0..window {
            let is_there = see(data.row(t), data.inputs_of(t..t + 1), &mut v);
            unit.flow(theta, 1.0, &mut z, &mut room);
            if is_there {
                unit.take(theta, &v, &mut z, &mut room);
            }
            // What is shown is one step away.
            unit.flow(theta, data.step_to(t + 1) - 1.0, &mut z, &mut room);
            decoder.apply(theta, &z[..form.unit.latent], &mut x_hat, &mut net);
            for (x_hat, x) in x_hat
                .iter()
                .zip(data.row(t + 1))
                .filter(|(_, x)| !x.is_nan())
            {
                squares += (x_hat - x) * (x_hat - x);
                observed += 1;
            }
        }
    }
    squares / f64::from(observed)
}

/// Central differences of a function of all parameters.
pub(in crate::method) fn differences(theta: &[f64], loss: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let h = 1e-5;
    let mut moved = theta.to_vec();
    let along = |i: usize| {
        moved[i] = theta[i] + h;
        let up = loss(&moved);
        moved[i] = theta[i] - h;
        let down = loss(&moved);
        moved[i] = theta[i];
        (up - down) / (2.0 * h)
    };
    (0..theta.len()).map(along).collect()
}

/// The first tensor whose gradient is not that of the differences. Values of lanes are rounded to 6e-8, some hundred times on the way
/// through a window, and tanh is within 1e-6 on baseline processors; so that entries are within 2e-4 of the largest one of their tensor, or
/// of a hundredth of the largest of all.
pub(in crate::method) fn wrong_tensor(
    layout: &Layout,
    gradient: &[f32],
    expected: &[f64],
) -> Option<&'static str> {
    let largest = |values: &[f64]| values.iter().fold(0.0, |all: f64, v| all.max(v.abs()));
    let everywhere = largest(expected);
    let is_wrong = |range: std::ops::Range<usize>| {
        let scale = largest(&expected[range.clone()]).max(1e-2 * everywhere);
        let mut pairs = gradient[range.clone()].iter().zip(&expected[range]);
        pairs.any(|(&found, expected)| {
            let error = (f64::from(found) - expected).abs();
            error.is_nan() || error > 2e-4 * scale
        })
    };
    let mut tensors = layout.tensors().iter();
    tensors
        .find(|tensor| is_wrong(tensor.range.clone()))
        .map(|tensor| tensor.name)
}

#[test]
fn gradients_are_those_of_the_plain_objective_and_wrong_ones_are_found() {
    const WINDOW: usize = 9;
    // Sizes that do and do not fill registers; with and without inputs, missing values, several Euler steps and times of rows.
    let cases = [
        (form(unit(3, 4, (1, 5), 2, 0), 6, 0.2, 1), false, 1, false),
        (form(unit(2, 5, (2, 3), 3, 1), 4, 0.1, 2), true, 9, false),
        (form(unit(4, 3, (2, 9), 1, 0), 11, 0.3, 1), true, 8, true),
        (form(unit(5, 8, (1, 4), 4, 2), 3, 0.1, 3), false, 17, false),
        (form(unit(2, 4, (1, 5), 2, 1), 5, 0.2, 2), false, 9, true),
    ];
    for (form, missing, batch, own_times) in cases {
        let series = waves(form.unit.channels, form.unit.inputs, 60, missing);
        let series = if own_times {
            at_own_times(&series)
        } else {
            series
        };
        let windows = Windows::from_any_row(&series, WINDOW, 0.2).unwrap();
        let mut rng = Rng::new(7, Stream::Windows);
        let starts: Vec<usize> = (0..batch).map(|_| windows.draw(&mut rng)).collect();
        let layout = form.layout();
        let mut theta = continuous::start(&layout, 5);
        theta.iter_mut().for_each(|v| *v = 4.0 * *v + 0.01);
        let wide: Vec<f64> = theta.iter().map(|&v| f64::from(v)).collect();
        let loss = |theta: &[f64]| plain_loss(form, theta, &series, WINDOW, &starts);
        let expected = differences(&wide, loss);
        for isa in Isa::available() {
            let plan = plan(batch, isa);
            let training = Training {
                plan: &plan,
                windows: &windows,
                form,
            };
            let (found, gradient) = training.once(&theta, &starts);
            // A sum of squares of order one in f32.
            assert!((found - loss(&wide)).abs() < 1e-5, "{found}");
            assert_eq!(
                wrong_tensor(&layout, &gradient, &expected),
                None,
                "{form:?}"
            );
            for tensor in layout.tensors() {
                let mut wrong = gradient.clone();
                wrong[tensor.range.clone()]
                    .iter_mut()
                    .for_each(|v| *v *= 0.99);
                let large = expected[tensor.range.clone()].iter().any(|v| {
                    let everywhere = expected.iter().fold(0.0, |a: f64, v| a.max(v.abs()));
                    v.abs() > 0.1 * everywhere
                });
                if large {
                    assert_eq!(wrong_tensor(&layout, &wrong, &expected), Some(tensor.name));
                }
            }
        }
    }
}

#[test]
fn it_obeys_the_laws_of_dynamics() {
    for (inputs, steps) in [(0, 1), (2, 3)] {
        let form = form(unit(3, 5, (2, 6), 2, inputs), 7, 0.1, steps);
        let mut theta = continuous::start(&form.layout(), 9);
        theta.iter_mut().for_each(|v| *v = 3.0 * *v + 0.02);
        let network = OdeRnn::new(form, theta);
        let series = waves(2, inputs, 40, false);
        let data = Stretch::longest(&series);
        let mut rng = Rng::new(5, Stream::MonteCarlo);
        laws::orbits_are_made_of_steps(&network, data).unwrap();
        laws::loading_gives_the_same_orbit(&ODE_RNN, &network, data).unwrap();
        laws::following_is_inferring(&network, data).unwrap();
        laws::stepping_is_taking_the_forecast_in(&network, data).unwrap();
        for _ in 0..5 {
            // Deviations are positive; below zero they are none that the unit gives.
            let z: Vec<f64> = (0..6)
                .map(|i| {
                    if i < 3 {
                        rng.normal()
                    } else {
                        rng.normal().abs()
                    }
                })
                .collect();
            let s: Vec<f64> = (0..inputs).map(|_| rng.normal()).collect();
            laws::jacobian_of_dynamics_matches_differences(&network, &z, &s, &mut rng).unwrap();
        }
    }
}

/// Without weights all gates are ½ and the new state is zero: m halves at every row, wherever it came from.
#[test]
fn without_weights_a_state_halves() {
    let form = form(unit(1, 1, (1, 1), 1, 0), 1, 0.5, 1);
    let network = OdeRnn::new(form, vec![0.0; form.layout().len()]);
    let mut next = [0.0; 2];
    network.step(&[0.8, 0.4], &[], &mut next);
    assert_eq!(next, [0.4, 0.2]);
    let mut jac = [0.0; 4];
    network.jacobian(&[0.8, 0.4], &[], &mut jac);
    assert_eq!(jac, [0.5, 0.0, 0.0, 0.5]);
}

/// A row without any value leaves the state to the flow, one with a value does not.
#[test]
fn a_missing_row_is_not_taken_in() {
    let form = form(unit(2, 3, (1, 4), 2, 0), 3, 0.25, 1);
    let network = OdeRnn::new(form, weights(&form.layout()));
    let (x, z) = (f64::NAN, vec![0.3, -0.2, 0.1, 0.4]);
    let after = |rows: [f64; 2]| {
        let mut z = z.clone();
        network.absorb(Stretch::of(Rows::new(&rows, 2)), 0, &mut z);
        z
    };
    let mut flowed = z.clone();
    let unit = form.unit();
    unit.flow(&network.wide, 1.0, &mut flowed, &mut UnitRoom::default());
    assert_eq!(after([x, x]), flowed);
    assert!(after([x, x])[..2] != z[..2] && after([x, x])[2..] == z[2..]);
    assert!(after([x, 0.5]) != flowed);
}

/// Of 30 rows of two channels and an input, every third without a value, and the same with those left out and times of the others.
pub(in crate::method) fn sparse_twice() -> [Series; 2] {
    let whole = waves(2, 1, 30, false);
    let kept = |row: usize| row % 3 != 1;
    let t = &whole.trajectories()[0];
    let rows = || t.x.chunks_exact(2).enumerate();
    let masked = rows().flat_map(|(row, x)| {
        if kept(row) {
            [x[0], x[1]]
        } else {
            [f64::NAN; 2]
        }
    });
    let left = (0..30).filter(|&row| kept(row));
    let gridded = Trajectory {
        x: masked.collect(),
        ..t.clone()
    };
    let timed = Trajectory {
        x: left
            .clone()
            .flat_map(|row| t.x[2 * row..][..2].to_vec())
            .collect(),
        s: left.clone().map(|row| t.s[row]).collect(),
        times: left.map(|row| row as f64).collect(),
        ..t.clone()
    };
    [gridded, timed].map(|t| whole.with(vec![t]).unwrap())
}

/// A row without any value is the same as none.
#[test]
fn rows_that_are_left_out_are_rows_without_values() {
    let form = form(unit(2, 3, (1, 4), 2, 1), 3, 0.25, 1);
    let network = OdeRnn::new(form, weights(&form.layout()));
    let states = sparse_twice().map(|series| {
        let mut z = vec![0.0; 4];
        // The last row has values.
        network.infer(all_rows(&series), &mut z);
        z
    });
    assert_eq!(states[0], states[1]);
}

#[test]
fn broken_tensors_are_refused() {
    let form = form(unit(2, 3, (1, 4), 2, 0), 3, 0.25, 1);
    let tensors = tensors_of(&OdeRnn::new(form, weights(&form.layout())));
    assert!(load(&ODE_RNN, &tensors).is_ok());
    let mut missing = tensors.clone();
    missing.remove("update_b2");
    assert!(matches!(
        load(&ODE_RNN, &missing).unwrap_err(),
        LoadError::Missing { name: "update_b2" }
    ));
    let mut still = tensors.clone();
    still.get_mut("h").unwrap().values = LoadedValues::F64(vec![0.0]);
    assert!(matches!(
        load(&ODE_RNN, &still).unwrap_err(),
        LoadError::Entry { name: "h", .. }
    ));
    let mut narrow = tensors.clone();
    let new = narrow.get_mut("new_W1").unwrap();
    (new.sizes, new.values) = (vec![3, 2], LoadedValues::F32(vec![0.0; 6]));
    assert!(matches!(
        load(&ODE_RNN, &narrow).unwrap_err(),
        LoadError::Shape { name: "new_W1", .. }
    ));
}
