//! Laws that every system in the list obeys, and closed forms of some.

use super::simulate::{Method, Request, SimulateError, Simulation};
use super::*;
use crate::rng::Stream;
use crate::series::{Series, mean_and_sd};

/// Every system at its defaults and with the parameters of every known spectrum.
fn variants() -> impl Iterator<Item = (String, Box<dyn System>)> {
    SYSTEMS.iter().flat_map(|info| {
        let sets = info.known.iter().map(|known| known.set).chain([&[][..]]);
        sets.map(|set| {
            (
                format!("{} {set:?}", info.entry.id),
                info.with(set).unwrap(),
            )
        })
    })
}

fn start(system: &dyn System, seed: u64) -> Vec<f64> {
    let mut x = vec![0.0; system.dim()];
    system.draw_initial(&mut Rng::new(seed, Stream::InitialState), &mut x);
    x
}

fn evaluate(system: &dyn System, x: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; x.len()];
    system.evaluate(x, &mut out);
    out
}

fn simulate(request: &Request) -> Series {
    Simulation::check(request).unwrap().run().unwrap().series
}

/// Central differences with ε = 1e-5 are off by ε²/6 of a third derivative and by the rounding of f over ε. Both scale
/// with the size of the Jacobian (third derivatives, here of smooth functions with length scales above 0.1, at most
/// 100 times it) or of f; states are moved off the initial law so that no entry is hidden by a zero.
#[test]
fn jacobians_are_the_derivatives() {
    const EPSILON: f64 = 1e-5;
    for (name, system) in variants() {
        let dim = system.dim();
        let mut rng = Rng::new(11, Stream::MonteCarlo);
        let x: Vec<f64> = start(&*system, 3)
            .iter()
            .map(|x| x + 0.1 * rng.normal())
            .collect();
        let mut jac = vec![f64::NAN; dim * dim];
        system.jacobian(&x, &mut jac);
        let largest = jac.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let size = evaluate(&*system, &x)
            .iter()
            .fold(0.0_f64, |m, v| m.max(v.abs()));
        let tolerance =
            100.0 * largest * EPSILON.powi(2) + 8.0 * f64::EPSILON * (size + largest) / EPSILON;
        for column in 0..dim {
            let moved = |step: f64| {
                let mut x = x.clone();
                x[column] += step;
                evaluate(&*system, &x)
            };
            let (ahead, back) = (moved(EPSILON), moved(-EPSILON));
            for row in 0..dim {
                let (found, expected) = (
                    jac[row * dim + column],
                    (ahead[row] - back[row]) / (2.0 * EPSILON),
                );
                assert!(
                    (found - expected).abs() <= tolerance,
                    "{name} [{row}, {column}]: {found}, not {expected}"
                );
            }
        }
    }
}

#[test]
fn every_system_stays_bounded_from_its_initial_states() {
    for info in SYSTEMS {
        for seed in 0..3 {
            for set in info.known.iter().map(|known| known.set).chain([&[][..]]) {
                let set = set
                    .iter()
                    .map(|&(n, v)| (n.to_string(), v.to_string()))
                    .collect();
                let request = Request {
                    seed,
                    set,
                    ..Request::new(info.entry.id, 2000)
                };
                let series = simulate(&request);
                assert_eq!(series.total_len(), 2000);
                let moving = (0..series.dim_obs()).all(|c| mean_and_sd(series.column(c)).1 > 1e-3);
                assert!(moving, "{request:?} is at rest");
            }
        }
    }
}

#[test]
fn entries_are_complete() {
    for (i, info) in SYSTEMS.iter().enumerate() {
        let entry = &info.entry;
        assert!(
            SYSTEMS[..i].iter().all(|other| other.entry.id != entry.id),
            "{}",
            entry.id
        );
        assert_eq!(entry.kind, Kind::System);
        assert!(!entry.references.is_empty(), "{}", entry.id);
        for known in info.known {
            assert!(
                entry.references.contains(&known.source),
                "{} of {}",
                known.source,
                entry.id
            );
            assert!(known.exponents.is_sorted_by(|a, b| a >= b), "{}", entry.id);
        }
        assert!(!entry.summary.ends_with('.') && !entry.details.is_empty());
    }
}

/// d/dt Σx²/2 = −Σx² + FΣx: the quadratic terms conserve energy. And x ≡ F is a fixed point.
#[test]
fn lorenz_96_balances_its_energy_and_rests_at_the_forcing() {
    let system = find("lorenz96").unwrap().with(&[]).unwrap();
    let x = start(&*system, 1);
    let dx = evaluate(&*system, &x);
    let power: f64 = x.iter().zip(&dx).map(|(x, dx)| x * dx).sum();
    let expected: f64 = x.iter().map(|x| -x * x + 16.0 * x).sum();
    // Rounding of 60 products of a size up to 50.
    assert!(
        (power - expected).abs() < 60.0 * 50.0 * f64::EPSILON,
        "{power} {expected}"
    );
    assert_eq!(evaluate(&*system, &[16.0; 20]), [0.0; 20]);
}

#[test]
fn multiscale_neighbours_wrap_within_their_group() {
    let system = find("lorenz96-multiscale").unwrap().with(&[]).unwrap();
    assert_eq!((system.dim(), system.channels().len()), (584, 8));
    let depends = |row: usize| {
        let mut jac = vec![0.0; 584 * 584];
        system.jacobian(&start(&*system, 2), &mut jac);
        (0..584)
            .filter(|column| jac[row * 584 + column] != 0.0)
            .collect::<Vec<_>>()
    };
    let (y, z) = (
        |j: usize, k: usize| 8 + 8 * k + j,
        |i: usize, j: usize, k: usize| 72 + 8 * (8 * k + j) + i,
    );
    // The last Y of the third X: its neighbours −1, +1, +2 are numbers 7, 1, 2 of the same group.
    let mut expected = vec![2, y(0, 2), y(1, 2), y(6, 2), y(7, 2)];
    expected.extend((0..8).map(|i| z(i, 7, 2)));
    assert_eq!(depends(y(7, 2)), expected);
    // The first Z of a group: −2, −1, +1 are its numbers 7, 8, 2.
    assert_eq!(
        depends(z(0, 3, 5)),
        [y(3, 5), z(0, 3, 5), z(1, 3, 5), z(6, 3, 5), z(7, 3, 5)]
    );
}

/// The couplings and all quadratic terms conserve ½Σ(X² + Y² + Z²); what is left is forcing and damping.
#[test]
fn multiscale_balances_its_energy() {
    let system = find("lorenz96-multiscale")
        .unwrap()
        .with(&[("g-z", "3")])
        .unwrap();
    let x = start(&*system, 4);
    let dx = evaluate(&*system, &x);
    let power: f64 = x.iter().zip(&dx).map(|(x, dx)| x * dx).sum();
    let square = |v: &[f64]| v.iter().map(|v| v * v).sum::<f64>();
    let forced = 20.0 * x[..8].iter().sum::<f64>();
    let expected = forced - square(&x[..8]) - 10.0 * square(&x[8..72]) - 30.0 * square(&x[72..]);
    // Rounding of some 2500 products of a size up to 1000.
    assert!(
        (power - expected).abs() < 2500.0 * 1000.0 * f64::EPSILON,
        "{power} {expected}"
    );
}

/// Means and standard deviations of X over 80 units of time by an independent fixed-step program: 3.64 and 6.85 for
/// g_Z = 10. X decorrelates in about one unit and its eight sites are alike, so the mean of 640 nearly independent values
/// has a standard error of 6.85/√640 = 0.27, in both runs; the s.d. one of 0.7 of it.
#[test]
fn multiscale_has_the_moments_of_an_independent_program() {
    let request = Request {
        transient: 1000,
        ..Request::new("lorenz96-multiscale", 16_000)
    };
    let adaptive = simulate(&request);
    let fixed = simulate(&Request {
        method: Method::Fixed,
        ..request
    });
    for series in [adaptive, fixed] {
        let (mean, sd) = mean_and_sd((0..8).flat_map(|c| series.column(c)));
        assert!((mean - 3.64).abs() < 4.0 * 0.27 * 2.0_f64.sqrt(), "{mean}");
        assert!((sd - 6.85).abs() < 4.0 * 0.19 * 2.0_f64.sqrt(), "{sd}");
    }
}

/// The paper's own files of 10⁵ rows and other runs of that length have means of z from 23.56 to 23.60 and standard
/// deviations of 7.92–7.93, 9.00–9.01 and 8.58–8.62. Ours may differ by four of its standard errors, found from the
/// scatter over 20 parts.
#[test]
fn lorenz_63_has_the_moments_of_the_published_series() {
    let request = Request {
        transient: 1000,
        ..Request::new("lorenz63", 100_000)
    };
    let series = simulate(&request);
    let moments = |c: usize| {
        let values: Vec<f64> = series.column(c).collect();
        let parts: Vec<_> = values
            .chunks(5000)
            .map(|part| mean_and_sd(part.iter().copied()))
            .collect();
        let error =
            |pick: fn(&(f64, f64)) -> f64| mean_and_sd(parts.iter().map(pick)).1 / 20.0_f64.sqrt();
        (
            mean_and_sd(values.iter().copied()),
            [error(|m| m.0), error(|m| m.1)],
        )
    };
    let within = |found: f64, low: f64, high: f64, error: f64| {
        assert!(
            found > low - 4.0 * error && found < high + 4.0 * error,
            "{found} ± {error}"
        );
    };
    for (c, mean, sd) in [
        (0, (-0.4, 0.4), (7.92, 7.93)),
        (1, (-0.4, 0.4), (9.00, 9.01)),
        (2, (23.56, 23.60), (8.58, 8.62)),
    ] {
        let (found, errors) = moments(c);
        within(found.0, mean.0, mean.1, errors[0]);
        within(found.1, sd.0, sd.1, errors[1]);
        assert!(
            errors[1] < 0.01 * found.1,
            "the comparison says something: {errors:?}"
        );
    }
}

#[test]
fn rows_are_the_states_of_one_orbit_from_the_initial_one() {
    let system = find("lorenz63").unwrap().with(&[]).unwrap();
    let whole = simulate(&Request::new("lorenz63", 500));
    assert_eq!(whole.rows().next().unwrap(), start(&*system, 0));
    let late = simulate(&Request {
        transient: 100,
        ..Request::new("lorenz63", 400)
    });
    assert!(whole.rows().skip(100).eq(late.rows()));
    assert_eq!(late.trajectories()[0].start, whole.time_of(0, 100));
    // Every second row is a row of twice the step.
    let coarse = simulate(&Request {
        dt: Some(0.02),
        ..Request::new("lorenz63", 250)
    });
    assert!(whole.rows().step_by(2).eq(coarse.rows()));
}

#[test]
fn the_same_seed_gives_the_same_bits_and_noise_does_not_move_the_orbit() {
    let request = Request {
        noise: 0.05,
        standardize: true,
        ..Request::new("rossler", 300)
    };
    assert_eq!(simulate(&request), simulate(&request));
    assert_ne!(
        simulate(&request),
        simulate(&Request {
            seed: 1,
            ..request.clone()
        })
    );
    let clean = simulate(&Request {
        noise: 0.0,
        ..request.clone()
    });
    let noisy = simulate(&request);
    let differences = clean
        .rows()
        .flatten()
        .zip(noisy.rows().flatten())
        .map(|(a, b)| (b - a).abs());
    // A normal number beyond six standard deviations has a chance of 2e-9.
    assert!(differences.fold(0.0, f64::max) < 6.0 * 0.05);
}

/// Standardised first, then noise: s.d. √(1 + F²), the noise itself F; its estimate has a standard error F/√(2n).
#[test]
fn noise_is_added_after_standardising() {
    let n = 20_000;
    let clean = simulate(&Request {
        standardize: true,
        ..Request::new("lorenz63", n)
    });
    let noisy = simulate(&Request {
        standardize: true,
        noise: 0.05,
        ..Request::new("lorenz63", n)
    });
    let raw = simulate(&Request::new("lorenz63", n));
    let raw_noisy = simulate(&Request {
        noise: 0.05,
        ..Request::new("lorenz63", n)
    });
    for c in 0..3 {
        let (mean, sd) = mean_and_sd(clean.column(c));
        assert!(
            mean.abs() < 1e-12 && (sd - 1.0).abs() < 1e-12,
            "{mean} {sd}"
        );
        let close = |a: &Series, b: &Series, expected: f64| {
            let (_, found) = mean_and_sd(a.column(c).zip(b.column(c)).map(|(a, b)| a - b));
            assert!(
                (found / expected - 1.0).abs() < 5.0 / (2.0 * n as f64).sqrt(),
                "{found} {expected}"
            );
        };
        close(&noisy, &clean, 0.05);
        close(&raw_noisy, &raw, 0.05 * mean_and_sd(raw.column(c)).1);
    }
}

#[test]
fn levels_of_the_multiscale_system_are_standardised_as_a_whole() {
    let set = vec![("observe".to_string(), "all".to_string())];
    let series = simulate(&Request {
        standardize: true,
        set,
        ..Request::new("lorenz96-multiscale", 300)
    });
    assert_eq!(series.dim_obs(), 584);
    for level in [0..8, 8..72, 72..584] {
        let (mean, sd) = mean_and_sd(level.flat_map(|c| series.column(c)));
        assert!(
            mean.abs() < 1e-10 && (sd - 1.0).abs() < 1e-10,
            "{mean} {sd}"
        );
    }
    assert!(
        (mean_and_sd(series.column(0)).1 - 1.0).abs() > 1e-3,
        "one channel alone is not"
    );
}

#[test]
fn bad_requests_are_refused_before_any_work() {
    let check = |request: Request| Simulation::check(&request).unwrap_err();
    let base = || Request::new("lorenz63", 10);
    let unknown = check(Request::new("lorentz-63", 10));
    assert_eq!(unknown.to_string(), "no system is named `lorentz-63`");
    assert_eq!(
        unknown.hint().unwrap().to_string(),
        "did you mean `lorenz63`?"
    );
    assert_eq!(check(Request::new("lorenz63", 0)), SimulateError::NoSteps);
    assert_eq!(
        check(Request {
            dt: Some(0.0),
            ..base()
        }),
        SimulateError::Step { dt: 0.0 }
    );
    assert!(matches!(
        check(Request {
            dt: Some(f64::NAN),
            ..base()
        }),
        SimulateError::Step { .. }
    ));
    assert!(matches!(
        check(Request {
            dt: Some(1.0),
            ..Request::new("henon", 5)
        }),
        SimulateError::StepOfMap { .. }
    ));
    assert!(matches!(
        check(Request {
            noise: -0.1,
            ..base()
        }),
        SimulateError::Noise { .. }
    ));
    let method = Method::Adaptive { tolerance: 0.0 };
    assert!(matches!(
        check(Request { method, ..base() }),
        SimulateError::Tolerance { .. }
    ));
    let set = vec![("rh".to_string(), "3".to_string())];
    let parameter = check(Request { set, ..base() });
    assert_eq!(
        parameter.to_string(),
        "unknown setting `rh` of system `lorenz63`"
    );
    assert_eq!(parameter.hint().unwrap().to_string(), "did you mean `rho`?");
    let too_long = Simulation::check(&Request::new("lorenz63", usize::MAX / 2))
        .unwrap()
        .run();
    assert!(
        matches!(too_long, Err(SimulateError::Memory { .. })),
        "{too_long:?}"
    );
}

#[test]
fn a_diverging_orbit_says_where() {
    let set = vec![("a".to_string(), "5".to_string())];
    let outcome = Simulation::check(&Request {
        set,
        ..Request::new("henon", 1000)
    })
    .unwrap()
    .run();
    let Err(error @ SimulateError::Orbit { row, .. }) = outcome else {
        panic!("{outcome:?}");
    };
    assert!(row < 30 && error.is_outcome(), "{error}");
}

#[test]
fn a_diverging_orbit_is_known_as_far_as_it_goes() {
    let asked = |steps, transient| Request {
        set: vec![("a".to_string(), "5".to_string())],
        transient,
        ..Request::new("henon", steps)
    };
    let run = |steps, transient| {
        let simulation = Simulation::check(&asked(steps, transient)).unwrap();
        simulation.run_as_far(&mut crate::progress::Unwatched)
    };
    let (whole, ended) = run(1000, 0).unwrap();
    let Some(SimulateError::Orbit { row, .. }) = ended else {
        panic!("{ended:?}");
    };
    assert_eq!(whole.series.total_len(), row);
    // The rows that there are are those of an orbit that was to be so long.
    let (short, ended) = run(row, 0).unwrap();
    assert_eq!((short, ended), (whole, None));
    let without_rows = run(10, row);
    assert!(without_rows.unwrap_err().is_outcome());
}

#[test]
fn a_simulation_is_followed_and_can_be_stopped() {
    use crate::progress::{Control, Progress};
    let request = Request::new("lorenz63", 10_000);
    let simulation = Simulation::check(&request).unwrap();
    let mut heard = Vec::new();
    let mut follow = |progress: Progress| {
        heard.push(progress.done);
        match heard.len() {
            3 => Control::Stop,
            _ => Control::Continue,
        }
    };
    let stopped = simulation.run_followed(&mut follow);
    assert!(matches!(stopped, Err(SimulateError::Stopped(_))));
    assert_eq!(heard, [0, 256, 512]);
}
