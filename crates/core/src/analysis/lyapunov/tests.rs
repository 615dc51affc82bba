//! Spectra against closed forms, the literature and independent computations.

use super::*;
use crate::rng::{Rng, Stream};
use crate::system::{SYSTEMS, SystemInfo, find};

fn start(system: &dyn System, seed: u64) -> Vec<f64> {
    let mut x = vec![0.0; system.dim()];
    system.draw_initial(&mut Rng::new(seed, Stream::InitialState), &mut x);
    x
}

fn spectrum(
    info: &SystemInfo,
    set: &[(&str, &str)],
    plan: impl FnOnce(usize) -> LyapunovPlan,
) -> Spectrum {
    let system = info.with(set).unwrap();
    lyapunov_spectrum(
        &*system,
        info.time,
        &start(&*system, 1),
        &plan(system.dim()),
    )
    .unwrap()
}

#[test]
fn the_kaplan_yorke_dimension_follows_its_definition() {
    assert_eq!(kaplan_yorke(&[-0.1, -1.0]), 0.0);
    assert_eq!(kaplan_yorke(&[0.5, 0.0, -1.0]), 2.5);
    assert_eq!(kaplan_yorke(&[0.5, -0.5]), 2.0);
    assert_eq!(kaplan_yorke(&[1.0, 0.5]), 2.0);
    // Lorenz-63 with the exponents of Sprott (2003), whose table gives 2.06215.
    assert!((kaplan_yorke(&[0.9056, 0.0, -14.5723]) - 2.06215).abs() < 1e-5);
}

/// Σλ is the mean divergence of a flow: −(σ + 1 + β) for Lorenz-63, −N for Lorenz-96, whatever the orbit.
#[test]
fn the_sum_is_the_divergence() {
    let short = |dim: usize| LyapunovPlan {
        intervals: 1000,
        ..LyapunovPlan::full(dim)
    };
    let sum = |name: &str| {
        spectrum(find(name).unwrap(), &[], short)
            .exponents
            .iter()
            .sum::<f64>()
    };
    // The tolerance of 1e-9 a step, 10 steps an interval of 0.1, times M vectors.
    assert!(
        (sum("lorenz63") + 41.0 / 3.0).abs() < 3e-7,
        "{}",
        sum("lorenz63")
    );
    assert!((sum("lorenz96") + 20.0).abs() < 2e-6, "{}", sum("lorenz96"));
}

/// N = 20, F = 16 against a joint fourth-order Runge–Kutta integration of state and tangent space with steps of
/// 0.005, which gave these two decimals.
#[test]
fn lorenz_96_has_the_spectrum_of_an_independent_computation() {
    let plan = |dim| LyapunovPlan {
        intervals: 6000,
        tolerance: Tolerance::relative(1e-7),
        ..LyapunovPlan::full(dim)
    };
    let found = spectrum(find("lorenz96").unwrap(), &[], plan);
    for (j, expected) in [3.69, 3.02, 2.39, 1.77, 1.25, 0.75, 0.28, 0.0]
        .into_iter()
        .enumerate()
    {
        // Both are estimates; the other one's error is taken to be as large as ours.
        let tolerance = 0.005 + 4.0 * 2.0_f64.sqrt() * found.errors[j];
        assert!(
            (found.exponents[j] - expected).abs() < tolerance,
            "{j}: {found:?}"
        );
    }
    assert!(
        (found.kaplan_yorke() - 16.4).abs() < 0.1,
        "{}",
        found.kaplan_yorke()
    );
}

/// Coupled maps without coupling at a = 2 are N logistic maps at r = 4: all exponents are ln 2.
#[test]
fn uncoupled_maps_keep_their_own_exponents() {
    let set = [("n", "4"), ("a", "2"), ("epsilon", "0")];
    let found = spectrum(
        find("coupled-map-lattice").unwrap(),
        &set,
        LyapunovPlan::full,
    );
    for (exponent, error) in found.exponents.iter().zip(&found.errors) {
        // The deviation decays like 1/n and is not Gaussian; ln of a derivative seldom reaches −20.
        assert!(
            (exponent - 2.0_f64.ln()).abs() < 5.0 * error + 20.0 / 1e5,
            "{found:?}"
        );
    }
}

/// A map needs many steps, a large flow little time.
fn literature_plan(time: Time, dim: usize, count: usize) -> LyapunovPlan {
    let (interval, intervals) = match time {
        Time::Map => (1.0, 400_000),
        Time::Flow { .. } if dim <= 4 => (0.5, 20_000),
        Time::Flow { .. } => (0.5, 4_000),
    };
    LyapunovPlan {
        count,
        interval,
        transient: 400,
        intervals,
        tolerance: Tolerance::relative(1e-8),
    }
}

/// Within what the source's digits leave open, four standard errors of ours, and ln(10³)/T: the vector along the
/// flow grows with the speed |f(x)| alone, which differs by less than 10³ between two points of an attractor.
#[test]
fn exponents_agree_with_the_literature_for_every_system_that_has_them() {
    let all = SYSTEMS
        .iter()
        .flat_map(|info| info.known.iter().map(move |known| (info, known)));
    for (info, known) in all {
        let plan = |dim| literature_plan(info.time, dim, known.exponents.len());
        let found = spectrum(info, known.set, plan);
        let LyapunovPlan {
            interval,
            intervals,
            ..
        } = plan(info.with(known.set).unwrap().dim());
        let bounded = 1e3_f64.ln() / (interval * intervals as f64);
        for (j, expected) in known.exponents.iter().enumerate() {
            let tolerance = known.tolerance + 4.0 * found.errors[j] + bounded;
            assert!(
                (found.exponents[j] - expected).abs() < tolerance,
                "{} {known:?}: {found:?}",
                info.entry.id
            );
        }
    }
}

#[test]
fn the_trace_ends_at_the_exponents() {
    let found = spectrum(find("henon").unwrap(), &[], |dim| LyapunovPlan {
        intervals: 2000,
        ..LyapunovPlan::full(dim)
    });
    assert_eq!(found.trace.len(), BLOCKS);
    assert_eq!(found.trace[BLOCKS - 1], found.exponents);
}

#[test]
fn a_diverging_orbit_is_an_outcome() {
    let henon = find("henon").unwrap();
    let outcome = lyapunov_spectrum(
        &*henon.with(&[]).unwrap(),
        henon.time,
        &[10.0, 0.0],
        &LyapunovPlan::full(2),
    );
    assert!(
        matches!(outcome, Err(IntegrateError::Diverged { .. })),
        "{outcome:?}"
    );
}

/// The Lozi map as a shallow PLRNN (a = 1.7, b = 0.5): exponents 0.4701 and −1.1632, D_KY 1.404; their sum is ln b
/// at every step.
#[test]
fn the_lozi_map_as_a_model_has_the_exponents_of_the_lozi_map() {
    let info = crate::map::MODELS
        .iter()
        .find(|info| info.entry.id == "shallow-plrnn")
        .unwrap();
    let map = (info.build)(crate::map::Dims {
        latent: 2,
        hidden: 4,
        inputs: 0,
    });
    #[rustfmt::skip]
    let theta = [
        0.0, 0.0,
        -1.7, -1.7, 1.0, -1.0,
        0.5, -0.5, 0.0, 0.0,
        1.0, 0.0,
        1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0,
        0.0, 0.0, 0.0, 0.0,
    ];
    let plan = LyapunovPlan::full(2);
    let found = lyapunov_of_map(map.as_ref(), &theta, &[0.1, 0.1], &[], &plan).unwrap();
    for (j, expected) in [0.4701, -1.1632].into_iter().enumerate() {
        // Four decimals are known, from an orbit as long as ours.
        let tolerance = 5e-5 + 4.0 * 2f64.sqrt() * found.errors[j];
        assert!(
            (found.exponents[j] - expected).abs() < tolerance,
            "{found:?}"
        );
    }
    assert!((found.exponents.iter().sum::<f64>() - 0.5f64.ln()).abs() < 1e-12);
    // A sum of 1e5 numbers of order one, rounded each time.
    assert!(found.imbalance(2).unwrap() < 1e-11);
    assert!((found.kaplan_yorke() - 1.404).abs() < 1e-3);
    let system = find("lozi").unwrap().with(&[]).unwrap();
    let by_system = lyapunov_spectrum(&*system, Time::Map, &[0.1, 0.1], &plan).unwrap();
    assert!((by_system.exponents[0] - found.exponents[0]).abs() < 8.0 * found.errors[0]);
    let per_time = found.per_time(0.01);
    assert!((per_time.exponents[0] - 100.0 * found.exponents[0]).abs() < 1e-9);
}

/// Random models of every kind, driven: the sum of all exponents is the mean of ln |det J|.
#[test]
fn the_sum_is_the_mean_log_determinant_for_every_model() {
    let mut rng = Rng::new(1, Stream::MonteCarlo);
    let plan = |dim| LyapunovPlan {
        transient: 50,
        intervals: 2000,
        ..LyapunovPlan::full(dim)
    };
    for info in crate::map::MODELS {
        for (latent, hidden) in [(1, 4), (3, 20), (6, 9)] {
            let dims = crate::map::Dims {
                latent,
                hidden,
                inputs: 1,
            };
            let map = (info.build)(dims);
            let mut theta = map.init(crate::map::Start::Free, &mut rng);
            // Half of A and W keeps orbits bounded.
            theta.iter_mut().for_each(|v| *v *= 0.5);
            let inputs: Vec<f64> = (0..300).map(|_| rng.normal()).collect();
            let z = vec![0.1; latent];
            let found = lyapunov_of_map(map.as_ref(), &theta, &z, &inputs, &plan(latent)).unwrap();
            let imbalance = found.imbalance(latent).unwrap();
            // M logarithms of condition numbers below 1e4, averaged.
            assert!(
                imbalance < 1e-11 * latent as f64,
                "{}: {found:?}",
                info.entry.id
            );
        }
    }
}

/// z' = 0.5 z + 0.1 z with one hinge that never turns: ln 0.6; and a zero in A makes an exponent without bottom.
#[test]
fn a_singular_jacobian_has_an_exponent_near_minus_infinity() {
    let info = crate::map::MODELS
        .iter()
        .find(|info| info.entry.id == "plrnn")
        .unwrap();
    let map = (info.build)(crate::map::Dims {
        latent: 2,
        hidden: 0,
        inputs: 0,
    });
    let theta = [0.6, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.1];
    let plan = LyapunovPlan {
        intervals: 100,
        ..LyapunovPlan::full(2)
    };
    let found = lyapunov_of_map(map.as_ref(), &theta, &[1.0, 1.0], &[], &plan).unwrap();
    assert!((found.exponents[0] - 0.6f64.ln()).abs() < 1e-12);
    assert!(found.exponents[1] < -600.0);
    assert_eq!(found.imbalance(2), None);
}

#[test]
fn a_diverging_model_is_an_outcome() {
    let info = crate::map::MODELS
        .iter()
        .find(|info| info.entry.id == "plrnn")
        .unwrap();
    let map = (info.build)(crate::map::Dims {
        latent: 1,
        hidden: 0,
        inputs: 0,
    });
    let plan = LyapunovPlan::full(1);
    let outcome = lyapunov_of_map(map.as_ref(), &[2.0, 0.0, 0.0], &[1.0], &[], &plan);
    assert!(
        matches!(outcome, Err(IntegrateError::Diverged { time }) if (1000.0..1100.0).contains(&time))
    );
}
