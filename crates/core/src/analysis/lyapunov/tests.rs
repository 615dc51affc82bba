//! Spectra against closed forms, the literature and independent computations.

use super::*;
use crate::progress::{Control, Progress};
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
        &mut Unwatched,
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
    // The tolerance of 1e-9 per step, 10 steps per interval of 0.1, times M vectors.
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
        &mut Unwatched,
    );
    assert!(
        matches!(outcome, Err(IntegrateError::Diverged { .. })),
        "{outcome:?}"
    );
}

/// A model of the list.
fn model(id: &str, latent: usize, hidden: usize) -> Box<dyn Map> {
    let info = crate::map::MODELS.iter().find(|info| info.entry.id == id);
    (info.unwrap().build)(crate::map::Dims {
        latent,
        hidden,
        inputs: 0,
    })
}

/// The Lozi map as a shallow PLRNN (a = 1.7, b = 0.5).
#[rustfmt::skip]
const LOZI: [f64; 24] = [
    0.0, 0.0,
    -1.7, -1.7, 1.0, -1.0,
    0.5, -0.5, 0.0, 0.0,
    1.0, 0.0,
    1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0,
    0.0, 0.0, 0.0, 0.0,
];

/// Exponents 0.4701 and −1.1632, D_KY 1.404; their sum is ln b at every step.
#[test]
fn the_lozi_map_as_a_model_has_the_exponents_of_the_lozi_map() {
    let map = model("shallow-plrnn", 2, 4);
    let plan = LyapunovPlan::full(2);
    // All four hinges of the origin are exactly on their border, and closed: J = 0 there.
    for start in [[0.1, 0.1], [0.0, 0.0]] {
        let found = lyapunov_of_map(map.as_ref(), &LOZI, &start, &[], &plan).unwrap();
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
        assert_eq!((found.broken_sum(2), &found.lost), (None, &vec![0, 0]));
        assert!((found.kaplan_yorke() - 1.404).abs() < 1e-3);
    }
    let found = lyapunov_of_map(map.as_ref(), &LOZI, &[0.1, 0.1], &[], &plan).unwrap();
    let system = find("lozi").unwrap().with(&[]).unwrap();
    let by_system =
        lyapunov_spectrum(&*system, Time::Map, &[0.1, 0.1], &plan, &mut Unwatched).unwrap();
    assert!((by_system.exponents[0] - found.exponents[0]).abs() < 8.0 * found.errors[0]);
    let per_time = found.per_time(0.01);
    assert!((per_time.exponents[0] - 100.0 * found.exponents[0]).abs() < 1e-9);
}

/// Without a transient the singular step counts: it is reported, the exponents are those of all other steps, and there is no sum to
/// compare.
#[test]
fn a_direction_that_is_lost_once_keeps_its_exponent() {
    let map = model("shallow-plrnn", 2, 4);
    let plan = LyapunovPlan {
        transient: 0,
        ..LyapunovPlan::full(2)
    };
    let found = lyapunov_of_map(map.as_ref(), &LOZI, &[0.0, 0.0], &[], &plan).unwrap();
    // J = 0 at the origin; at (1, 0), the next state, y is still on its border.
    assert_eq!(found.lost, [1, 2]);
    assert_eq!(found.mean_log_det, Some(f64::NEG_INFINITY));
    assert_eq!((found.imbalance(2), found.broken_sum(2)), (None, None));
    for (j, expected) in [0.4701, -1.1632].into_iter().enumerate() {
        // As above, and for the first vectors, which turn for some dozen steps of 1e5.
        let tolerance = 5e-5 + 4.0 * 2f64.sqrt() * found.errors[j] + 5e-4;
        assert!(
            (found.exponents[j] - expected).abs() < tolerance,
            "{found:?}"
        );
    }
}

#[test]
fn a_sum_that_is_not_the_mean_log_determinant_is_told() {
    let map = model("shallow-plrnn", 2, 4);
    let plan = LyapunovPlan::full(2);
    let found = lyapunov_of_map(map.as_ref(), &LOZI, &[0.1, 0.1], &[], &plan).unwrap();
    // As it was when a basis that had become zero stayed zero.
    let wrong = Spectrum {
        exponents: vec![-690.8, -690.8],
        ..found
    };
    let broken = wrong.broken_sum(2).unwrap();
    assert_eq!(broken.sum, -1381.6);
    assert!(
        broken
            .to_string()
            .contains("sum to -1381.6, but the mean log-determinant is -0.69")
    );
    assert_eq!(wrong.broken_sum(3), None);
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
            assert_eq!(found.broken_sum(latent), None, "{}", info.entry.id);
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

/// Linear maps z' = S D S⁻¹ z + h by a PLRNN whose off-diagonal part passes through units that are always open: the exponents are
/// ln |d|, and −∞ for every zero of D. S⁻¹ makes null spaces that are not axes.
#[test]
fn a_map_that_is_always_singular_has_exponents_of_minus_infinity() {
    let diagonals: [&[f64]; 5] = [
        &[0.6, 0.0],
        &[0.0, 0.0],
        &[0.9, 0.5, 0.0],
        &[0.9, 0.0, 0.0],
        &[0.7, 0.4, 0.1, 0.0, 0.0],
    ];
    for d in diagonals {
        let m = d.len();
        let map = model("plrnn", m, 0);
        let jac = with_eigenvalues(d);
        // A is the diagonal, W the rest; h keeps the fixed point at z = 10, where all units are open.
        let fixed: Vec<f64> = (0..m)
            .map(|i| 10.0 - 10.0 * jac[i * m..][..m].iter().sum::<f64>())
            .collect();
        let diagonal = (0..m).map(|i| jac[i * (m + 1)]);
        let rest = (0..m * m).map(|e| if e % (m + 1) == 0 { 0.0 } else { jac[e] });
        let theta: Vec<f64> = diagonal.chain(rest).chain(fixed).collect();
        let plan = LyapunovPlan {
            intervals: 100,
            ..LyapunovPlan::full(m)
        };
        let found = lyapunov_of_map(map.as_ref(), &theta, &vec![10.0; m], &[], &plan).unwrap();
        for (j, d) in d.iter().enumerate() {
            if *d == 0.0 {
                assert_eq!(found.exponents[j], f64::NEG_INFINITY, "{d:?} {found:?}");
                assert_eq!((found.lost[j], found.errors[j].is_nan()), (100, true));
            } else {
                // The vectors have turned for 1000 steps; condition numbers below 100.
                assert!((found.exponents[j] - d.ln()).abs() < 1e-12, "{found:?}")
            }
        }
        assert_eq!(found.mean_log_det, Some(f64::NEG_INFINITY));
        assert_eq!((found.imbalance(m), found.broken_sum(m)), (None, None));
        assert_eq!(found.trace[BLOCKS - 1], found.exponents);
        let chaotic = d.iter().filter(|d| **d > 1.0).count();
        assert_eq!(found.kaplan_yorke(), chaotic as f64);
    }
}

/// S D S⁻¹ with S = 1 + x yᵀ, whose inverse is 1 − x yᵀ/(1 + x·y).
fn with_eigenvalues(d: &[f64]) -> Vec<f64> {
    let m = d.len();
    let (x, y) = (
        |i: usize| 0.3 + 0.1 * i as f64,
        |j: usize| 0.2 - 0.05 * j as f64,
    );
    let unit = |i: usize, j: usize| f64::from(u8::from(i == j));
    let overlap: f64 = (0..m).map(|i| x(i) * y(i)).sum();
    let s = |i: usize, j: usize| unit(i, j) + x(i) * y(j);
    let inverse = |i: usize, j: usize| unit(i, j) - x(i) * y(j) / (1.0 + overlap);
    let entry = |i, j| (0..m).map(|k| s(i, k) * d[k] * inverse(k, j)).sum();
    (0..m * m).map(|e| entry(e / m, e % m)).collect()
}

/// r = 2: the fixed point ½ is superstable, f' = 0 there. From ¼ the orbit is exactly there after a few steps.
#[test]
fn a_superstable_point_has_an_exponent_of_minus_infinity() {
    let logistic = find("logistic").unwrap();
    let system = logistic.with(&[("r", "2")]).unwrap();
    let plan = LyapunovPlan::full(1);
    let found = lyapunov_spectrum(&*system, Time::Map, &[0.25], &plan, &mut Unwatched).unwrap();
    assert_eq!(found.exponents, [f64::NEG_INFINITY]);
    assert_eq!(
        (found.lost, found.mean_log_det),
        (vec![100_000], Some(f64::NEG_INFINITY))
    );
}

/// The sum rule holds for every map of the list, along an orbit of its attractor.
#[test]
fn no_map_of_the_list_breaks_the_sum() {
    for info in SYSTEMS.iter().filter(|info| info.time == Time::Map) {
        let plan = |dim| LyapunovPlan {
            intervals: 20_000,
            ..LyapunovPlan::full(dim)
        };
        let found = spectrum(info, &[], plan);
        let dim = found.exponents.len();
        assert_eq!(found.broken_sum(dim), None, "{}: {found:?}", info.entry.id);
        // Rounding explains little: a bound that explained all would be no check.
        assert!(found.rounding < 1e-7, "{}: {found:?}", info.entry.id);
    }
}

#[test]
fn a_diverging_model_is_an_outcome() {
    let map = model("plrnn", 1, 0);
    let plan = LyapunovPlan::full(1);
    let outcome = lyapunov_of_map(map.as_ref(), &[2.0, 0.0, 0.0], &[1.0], &[], &plan);
    assert!(
        matches!(outcome, Err(IntegrateError::Diverged { time }) if (1000.0..1100.0).contains(&time))
    );
}

/// It is heard within a stretch, before the plan is through.
#[test]
fn exponents_stop_when_they_are_asked_to() {
    let henon = find("henon").unwrap();
    let plan = LyapunovPlan {
        intervals: 1_000_000,
        ..LyapunovPlan::full(2)
    };
    let mut looks = 0;
    let mut thrice = |_: Progress| {
        looks += 1;
        if looks < 3 {
            Control::Continue
        } else {
            Control::Stop
        }
    };
    let map = henon.with(&[]).unwrap();
    let outcome = lyapunov_spectrum(&*map, henon.time, &[0.1, 0.1], &plan, &mut thrice);
    assert!(matches!(outcome, Err(IntegrateError::Stopped(_))));
    assert_eq!(looks, 3);
}
