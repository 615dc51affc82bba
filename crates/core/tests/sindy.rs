//! SINDy on recordings: the laws of dynamics, known equations recovered, counts of the paper, and what is refused.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::any::Any;

use attractor_core::dynamics::{Dynamics, Stretch};
use attractor_core::laws::{self, Broken};
use attractor_core::method::sindy::{SINDY, Sindy};
use attractor_core::method::{Fit, FitError, Fitting};
use attractor_core::progress::Unwatched;
use attractor_core::rng::{Rng, Stream};
use attractor_core::series::{Channel, Gap, Series, Step, Trajectory};
use attractor_core::settings::{Domain, Setting, Settings};
use attractor_core::simd::Isa;
use attractor_core::system::simulate::{Request, Simulation};

/// Fits with some settings, by a number of threads.
fn fit_with(
    data: &Series,
    given: &[(&str, &str)],
    threads: usize,
) -> Result<Box<dyn Dynamics>, FitError> {
    let list: Vec<&Setting> = SINDY.entry.settings.iter().collect();
    let settings = Settings::resolve(&list, given.iter().copied()).unwrap();
    let Fit::Solve(solve) = SINDY.fit else {
        panic!("it is solved at once");
    };
    let fitting = Fitting {
        settings: &settings,
        data,
        cuts: None,
        seed: 1,
        threads,
        paced: false,
        isa: Isa::detect(),
    };
    solve(&SINDY, fitting, &mut Unwatched)
}

fn fit(data: &Series, given: &[(&str, &str)]) -> Box<dyn Dynamics> {
    fit_with(data, given, 2).unwrap()
}

fn as_sindy(dynamics: &dyn Dynamics) -> &Sindy {
    let any: &dyn Any = dynamics;
    any.downcast_ref().unwrap()
}

fn simulated(system: &str, rows: usize, dt: impl Into<Option<f64>>) -> Series {
    let request = Request {
        dt: dt.into(),
        ..Request::new(system, rows)
    };
    Simulation::check(&request).unwrap().run().unwrap().series
}

/// Two coupled oscillators that are pushed by s, with waves as terms too: rows of x, inputs s.
fn driven(rows: usize) -> Series {
    let mut x = vec![0.5, -0.3];
    let s = |t: usize| (0.05 * t as f64).sin();
    let (mut xs, mut ss) = (Vec::new(), Vec::new());
    for t in 0..rows {
        xs.extend_from_slice(&x);
        ss.push(s(t));
        for part in 0..50 {
            let now = t as f64 + f64::from(part) / 50.0;
            let push = (0.05 * now).sin();
            let (dx, dy) = (x[1], -x[0] - 0.2 * x[1] + 0.5 * push + 0.1 * x[0] * x[0]);
            x = vec![x[0] + 0.002 * dx, x[1] + 0.002 * dy];
        }
    }
    let trajectory = Trajectory {
        s: ss,
        ..Trajectory::new(xs)
    };
    let step = Step {
        dt: 0.1,
        ..Step::default()
    };
    let channels = Channel::numbered("x", 2);
    Series::new(channels, Channel::numbered("s", 1), step, vec![trajectory]).unwrap()
}

/// All laws that hold for any system, around the rows of its data.
fn obeys(dynamics: &dyn Dynamics, data: Stretch<'_>) -> Result<(), Broken> {
    let mut rng = Rng::new(5, Stream::MonteCarlo);
    let data = data.slice(0..40.min(data.len()));
    laws::orbits_are_made_of_steps(dynamics, data)?;
    laws::loading_gives_the_same_orbit(&SINDY, dynamics, data)?;
    laws::following_is_inferring(dynamics, data)?;
    laws::stepping_is_taking_the_forecast_in(dynamics, data)?;
    laws::a_row_is_shown_as_it_is(dynamics, data)?;
    for t in [3, 17, 31] {
        let z = dynamics.states_at(data, &[t]);
        let s = data.inputs_of(t + 1..t + 2);
        laws::jacobian_of_dynamics_matches_differences(dynamics, &z, s, &mut rng)?;
    }
    Ok(())
}

#[test]
fn fitted_equations_obey_the_laws_of_dynamics() {
    let lorenz = simulated("lorenz63", 3000, 0.01);
    let henon = simulated("henon", 2000, None);
    let driven = driven(2000);
    let cases: [(&Series, &[(&str, &str)]); 7] = [
        (&lorenz, &[("threshold", "0.1")]),
        (&lorenz, &[("degree", "3"), ("threshold", "0")]),
        (
            &lorenz,
            &[("library", "polynomial+fourier"), ("threshold", "0.01")],
        ),
        (&henon, &[("dynamics", "map"), ("threshold", "0.01")]),
        (&driven, &[("threshold", "0.01")]),
        (&driven, &[("dynamics", "map"), ("threshold", "0.001")]),
        (
            &driven,
            &[
                ("library", "fourier"),
                ("frequencies", "2"),
                ("threshold", "0.01"),
            ],
        ),
    ];
    for (data, given) in cases {
        let dynamics = fit(data, given);
        let verdict = obeys(dynamics.as_ref(), Stretch::longest(data));
        verdict.unwrap_or_else(|e| panic!("{given:?}: {e}"));
    }
}

/// The equations of Lorenz 1963 with σ = 10, ρ = 28, β = 8/3, from rows without noise. Differences over 2Δt = 0.004 err by
/// (Δt²/6) x⃛, a share of some 1e-4 at the time scale of 0.1.
#[test]
fn the_equations_of_lorenz_are_recovered() {
    let data = simulated("lorenz63", 20_000, 0.002);
    for threshold in ["0.1", "auto"] {
        let dynamics = fit(&data, &[("threshold", threshold)]);
        let sindy = as_sindy(dynamics.as_ref());
        #[rustfmt::skip] // 1, x, y, z, x², xy, xz, y², yz, z²
        let known = [
            0.0, -10.0, 10.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0,
            0.0, 28.0, -1.0, 0.0, 0.0, 0.0, -1.0, 0.0, 0.0, 0.0,
            0.0, 0.0, 0.0, -8.0 / 3.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0,
        ];
        for (found, known) in sindy.coefficients().iter().zip(known) {
            assert!(
                (found - known).abs() <= 0.01 * known.abs(),
                "{threshold}: {found} {known}"
            );
        }
        assert_eq!((sindy.terms_left(), sindy.sizes().parameters), (7, 30));
    }
}

/// x' = 1 − 1.4x² + y, y' = 0.3x: a map is fitted to rounding, whose size is that of sums over products of order one.
#[test]
fn the_map_of_henon_is_recovered_to_rounding() {
    let data = simulated("henon", 2000, None);
    let dynamics = fit(&data, &[("dynamics", "map"), ("threshold", "0.05")]);
    let expected = [1.0, 0.0, 1.0, -1.4, 0.0, 0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 0.0];
    for (found, expected) in as_sindy(dynamics.as_ref())
        .coefficients()
        .iter()
        .zip(expected)
    {
        assert!((found - expected).abs() < 1e-11, "{found} {expected}");
    }
}

/// The state that inputs push is found as it is, and forecasts over a sampling step are those of inputs that change linearly.
#[test]
fn external_inputs_are_terms_and_drive_forecasts() {
    let data = driven(3000);
    let dynamics = fit(&data, &[("threshold", "0.05")]);
    let sindy = as_sindy(dynamics.as_ref());
    // 1, x, y, s, x², xy, xs, y², ys, s²; Euler steps of 0.002 and differences over 0.2 err by some parts in a thousand.
    let expected = [0.0, -1.0, -0.2, 0.5, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0];
    for (found, expected) in sindy.coefficients()[10..].iter().zip(expected) {
        assert!(
            (found - expected).abs() < 0.005,
            "{:?}",
            sindy.coefficients()
        );
    }
    let stretch = Stretch::longest(&data);
    let z = dynamics.states_at(stretch, &[100]);
    let orbit = dynamics.orbit(&z, stretch.inputs_of(100..300), 200);
    for (found, t) in orbit.chunks_exact(2).zip(100..) {
        let row = stretch.row(t);
        assert!((found[0] - row[0]).abs() < 0.03 && (found[1] - row[1]).abs() < 0.03);
    }
}

#[test]
fn counts_are_those_of_the_paper() {
    let mut rng = Rng::new(2, Stream::Noise);
    let cases = [
        (3, 200, &[][..], 30),
        (20, 1200, &[], 4620),
        (5, 1500, &[("degree", "7")], 3960),
    ];
    for (n, rows, given, expected) in cases {
        let x = (0..rows * n).map(|_| rng.normal()).collect();
        let data = Series::from_rows(x, n, 0.1).unwrap();
        let given = [given, &[("threshold", "1e9")]].concat();
        let sizes = fit(&data, &given).sizes();
        assert_eq!((sizes.parameters, sizes.dim), (expected, n));
    }
}

#[test]
fn the_bits_do_not_depend_on_threads_and_neighbouring_forecasts() {
    let data = simulated("lorenz96", 1000, 0.01);
    let given = [("threshold", "0.2")];
    let coefficients = |threads: usize| {
        let dynamics = fit_with(&data, &given, threads).unwrap();
        as_sindy(dynamics.as_ref()).coefficients().to_vec()
    };
    let one = coefficients(1);
    assert!(
        [2, 5]
            .into_iter()
            .all(|threads| coefficients(threads) == one)
    );
    let dynamics = fit(&data, &given);
    let stretch = Stretch::longest(&data);
    let mut forecasts = dynamics.forecasts(stretch);
    let width = forecasts.width();
    let starts: Vec<usize> = (0..width).map(|i| 10 + 37 * i).collect();
    forecasts.start(&starts);
    let seen = forecasts.advance(20, 1).to_vec();
    for (branch, &t) in starts.iter().enumerate() {
        let orbit = dynamics.orbit(stretch.row(t), &[], 21);
        let found: Vec<f64> = seen.iter().skip(branch).step_by(width).copied().collect();
        assert_eq!(found, orbit[20 * found.len()..], "{t}");
    }
}

/// Stretches between gaps and missing values are smoothed and differentiated alone: cutting a recording in two, or
/// losing a row, changes the coefficients by no more than a few rows among thousands do.
#[test]
fn gaps_missing_values_and_several_trajectories_are_fitted_as_they_are() {
    let whole = simulated("lorenz63", 6000, 0.002);
    let t = &whole.trajectories()[0];
    let with = |trajectories: Vec<Trajectory>| whole.with(trajectories).unwrap();
    let halves = with(vec![whole.slice(0, 0..2000), whole.slice(0, 3500..6000)]);
    let mut missing = t.clone();
    missing.x[3 * 2500 + 1] = f64::NAN;
    let mut jumps = whole.slice(0, 0..4000);
    jumps.x.extend_from_slice(&whole.slice(0, 5000..6000).x);
    jumps.gaps.push(Gap {
        row: 4000,
        time: 10.0,
    });
    for data in [halves, with(vec![missing]), with(vec![jumps])] {
        let dynamics = fit(&data, &[("threshold", "0.1")]);
        let c = as_sindy(dynamics.as_ref()).coefficients().to_vec();
        for (found, known) in [
            (c[1], -10.0),
            (c[11], 28.0),
            (c[16], -1.0),
            (c[23], -8.0 / 3.0),
        ] {
            assert!(
                (found - known).abs() < 0.01 * f64::abs(known),
                "{found} {known}"
            );
        }
        assert_eq!(as_sindy(dynamics.as_ref()).terms_left(), 7);
    }
}

#[test]
fn an_orbit_that_leaves_every_bound_ends_in_missing_rows() {
    // dx/dt = x²: x = 1/(1 − t) leaves after one unit of time.
    let x: Vec<f64> = (0..90).map(|t| 1.0 / (1.0 - 0.01 * f64::from(t))).collect();
    let data = Series::from_rows(x, 1, 0.01).unwrap();
    let dynamics = fit(&data, &[("savgol-window", "1"), ("threshold", "0.5")]);
    let orbit = dynamics.orbit(&[1.0], &[], 200);
    let lost = orbit.iter().position(|x| x.is_nan()).unwrap();
    assert!((98..103).contains(&lost), "{lost}");
    assert!(orbit[lost..].iter().all(|x| x.is_nan()));
    let mut jac = [0.0];
    dynamics.jacobian(&[1e5], &[], &mut jac);
    assert!(jac[0].is_nan());
}

fn refused(data: &Series, given: &[(&str, &str)]) -> (String, String) {
    let error = fit_with(data, given, 1).unwrap_err();
    (
        error.to_string(),
        error.hint().map_or(String::new(), |hint| hint.to_string()),
    )
}

#[test]
fn what_cannot_be_fitted_is_refused_with_a_remedy() {
    let lorenz = simulated("lorenz63", 100, 0.01);
    let told = |given: &[(&str, &str)]| refused(&lorenz, given);
    let (error, hint) = told(&[("degree", "8")]);
    assert_eq!(
        error,
        "100 usable rows for 165 unknown coefficients per equation"
    );
    assert!(hint.contains("`--degree`"), "{hint}");
    let (error, hint) = told(&[("degree", "400")]);
    assert!(
        error.contains("10,827,401 terms") && hint.contains("`--degree`"),
        "{error}"
    );
    let (error, hint) = told(&[("savgol-window", "10")]);
    assert!(
        error.contains("odd") && hint.contains("`--savgol-window 5`"),
        "{error} {hint}"
    );
    let (error, hint) = told(&[("savgol-window", "101")]);
    assert!(
        error.contains("has 100 rows") && hint.contains("`--savgol-window 99`"),
        "{error} {hint}"
    );
    let constant = lorenz.map_values(|c, x| if c == 1 { 2.0 } else { x });
    let (error, hint) = refused(&constant, &[]);
    assert!(
        error.contains("channel `y` is constant") && hint.contains("`--channels`"),
        "{error}"
    );
    let threshold = SINDY
        .entry
        .settings
        .iter()
        .find(|s| s.name == "threshold")
        .unwrap();
    assert!(
        matches!(threshold.domain, Domain::AutoReal { .. }) && threshold.check("-0.1").is_err()
    );
}
