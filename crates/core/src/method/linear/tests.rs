//! Autoregressions and persistence against closed forms and the laws.

use super::*;
use crate::laws;
use crate::rng::{Rng, Stream};
use crate::series::{Channel, Series, Step, Trajectory};
use crate::settings::Settings;
use crate::simd::Isa;

fn fitting<'a>(settings: &'a Settings, data: &'a Series) -> Fitting<'a> {
    Fitting {
        settings,
        data,
        cuts: None,
        seed: 1,
        threads: 2,
        paced: false,
        isa: Isa::detect(),
    }
}

fn set(given: &[(&str, &str)]) -> Settings {
    let list: Vec<&Setting> = LINEAR.entry.settings.iter().collect();
    Settings::resolve(&list, given.iter().copied()).unwrap()
}

/// x_t = 1 + 0.6 x_{t−1} + C y_{t−1} − 0.3 x_{t−3} + 2 s_t + noise, y_t = 0.5 y_{t−1} − 0.2 x_{t−2} + noise: of order 3.
fn teacher(rows: usize, noise: f64) -> Series {
    let rng = &mut Rng::new(7, Stream::MonteCarlo);
    let s: Vec<f64> = (0..rows).map(|_| rng.normal()).collect();
    let (mut x, mut y) = (vec![1.0, 0.5, -0.3], vec![0.2, 0.1, 0.7]);
    for t in 3..rows {
        let next = 1.0 + 0.6 * x[t - 1] + 0.4 * y[t - 1] - 0.3 * x[t - 3] + 2.0 * s[t];
        x.push(next + noise * rng.normal());
        y.push(0.5 * y[t - 1] - 0.2 * x[t - 2] + noise * rng.normal());
    }
    let mut trajectory = Trajectory::new(x.iter().zip(&y).flat_map(|(&x, &y)| [x, y]).collect());
    trajectory.s = s;
    Series::new(
        Channel::numbered("x", 2),
        Channel::numbered("s", 1),
        Step::default(),
        vec![trajectory],
    )
    .unwrap()
}

fn fitted(given: &[(&str, &str)], data: &Series) -> Linear {
    let settings = set(given);
    let fitting = fitting(&settings, data);
    let order = settings.integer("order");
    let (n, k) = (data.dim_obs(), data.dim_input());
    let recording = Recording::new(data, 0.0, 1);
    let sums = sums(&recording, (n, k, order), fitting, None);
    unscaled(
        &sums.solve(1 + k + order * n, settings.real("ridge")),
        &recording,
        (n, k, order),
    )
}

#[test]
fn a_linear_teacher_is_fitted_exactly() {
    let linear = fitted(&[("order", "3"), ("ridge", "0")], &teacher(500, 0.0));
    let expected = [
        [0.6, 0.4, 0.0, 0.0, -0.3, 0.0],
        [0.0, 0.5, -0.2, 0.0, 0.0, 0.0],
    ];
    // Condition numbers of a few hundred, squared in the sums.
    let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} {b}");
    let pairs = linear.a.iter().zip(expected.as_flattened());
    pairs.for_each(|(&a, &e)| close(a, e));
    close(linear.b[0], 2.0);
    close(linear.b[1], 0.0);
    close(linear.c[0], 1.0);
    close(linear.c[1], 0.0);
    assert_eq!(linear.sizes().parameters, 2 * (6 + 1 + 1));
}

#[test]
fn cross_validation_finds_the_order_of_a_noisy_teacher() {
    let (data, settings) = (teacher(4000, 0.5), set(&[]));
    let settled = settle(fitting(&settings, &data)).unwrap();
    // Orders above 3 fit noise: with 3,200 rows each coefficient more costs 1/3,200 of the error, less than 3 leaves a tenth of it.
    assert_eq!((settled[0].name, settled[0].value.as_str()), ("order", "3"));
}

#[test]
fn autoregressions_and_persistence_satisfy_the_laws() {
    let data = teacher(60, 0.1);
    let settings = set(&[("order", "3")]);
    let linear = fitted(&[("order", "3")], &data);
    let last = persistence(fitting(&settings, &data));
    let stretch = Stretch::longest(&data);
    let rng = &mut Rng::new(2, Stream::MonteCarlo);
    for (method, dynamics) in [(&LINEAR, &linear), (&PERSISTENCE, &last)] {
        laws::orbits_are_made_of_steps(dynamics, stretch).unwrap();
        laws::loading_gives_the_same_orbit(method, dynamics, stretch).unwrap();
        laws::following_is_inferring(dynamics, stretch).unwrap();
        laws::a_row_is_shown_as_it_is(dynamics, stretch).unwrap();
        let z = dynamics.states_at(stretch, &[10]);
        let s = stretch.inputs_of(11..12);
        laws::jacobian_of_dynamics_matches_differences(dynamics, &z, s, rng).unwrap();
    }
    let orbit = last.orbit(&[3.0, 4.0], &[0.0; 3], 3);
    assert_eq!(orbit, [3.0, 4.0, 3.0, 4.0, 3.0, 4.0]);
    assert_eq!(last.sizes().parameters, 0);
}

#[test]
fn an_order_without_rows_is_refused() {
    let (data, settings) = (teacher(20, 0.1), set(&[("order", "30")]));
    let error = settle(fitting(&settings, &data)).unwrap_err();
    assert_eq!(
        error.hint().unwrap().to_string(),
        "use a smaller `--order`, by 11 or more"
    );
    let short = teacher(9, 0.1);
    let settings = set(&[]);
    let error = settle(fitting(&settings, &short)).unwrap_err();
    assert!(matches!(
        error,
        FitError::Short {
            longest: 9,
            needed: 10,
            ..
        }
    ));
}
