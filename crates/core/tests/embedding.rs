//! Embeddings and exponents of series that have no random numbers in them: against the Python package `pecuzal-embedding`, whose
//! answers are kept beside the script that made them, against the literature, and on the paper's ECG.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use attractor_core::embed::cao::{CaoPlan, cao};
use attractor_core::embed::columns::Columns;
use attractor_core::embed::mutual_information::MutualInformation;
use attractor_core::embed::pecuzal::{Curve, End, Horizons, Pecuzal, Plan, pecuzal};
use attractor_core::embed::{Coordinate, DelayRule, EmbedError, delay_rule, first_delay};
use attractor_core::exponent::{self, Distance, Exponent, Method, exponent};
use attractor_core::measure::Rows;
use attractor_core::progress::{Control, Progress, Stopped, Unwatched};
use serde_json::Value;

/// Rows of a flow by the classical Runge–Kutta method, one step per row: the same bits as those of `reference_pecuzal.py`.
fn orbit<const N: usize>(
    field: impl Fn([f64; N]) -> [f64; N],
    mut u: [f64; N],
    dt: f64,
    (transient, n): (usize, usize),
) -> Vec<f64> {
    let shifted = |u: [f64; N], h: f64, k: [f64; N]| std::array::from_fn(|i| u[i] + h * k[i]);
    let mut rows = Vec::with_capacity(n * N);
    for step in 0..transient + n {
        if step >= transient {
            rows.extend(u);
        }
        let k1 = field(u);
        let k2 = field(shifted(u, dt / 2.0, k1));
        let k3 = field(shifted(u, dt / 2.0, k2));
        let k4 = field(shifted(u, dt, k3));
        u = std::array::from_fn(|i| u[i] + dt / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]));
    }
    rows
}

fn lorenz(n: usize) -> Vec<f64> {
    let field = |[x, y, z]: [f64; 3]| [10.0 * (y - x), x * (28.0 - z) - y, x * y - 8.0 / 3.0 * z];
    orbit(field, [0.0, 10.0, 0.0], 0.01, (10_000, n))
}

fn rossler(n: usize) -> Vec<f64> {
    let field = |[x, y, z]: [f64; 3]| [-y - z, x + 0.2 * y, 0.2 + z * (x - 5.7)];
    orbit(field, [1.0, 1.0, 0.0], 0.1, (5_000, n))
}

fn henon(n: usize) -> Vec<f64> {
    let next = |u: &[f64; 2]| Some([1.0 - 1.4 * u[0] * u[0] + u[1], 0.3 * u[0]]);
    let orbit = std::iter::successors(Some([0.0, 0.0]), next);
    orbit.skip(1_001).take(n).flatten().collect()
}

/// The congruential generator of Park and Miller (1988).
fn noise(n: usize) -> Vec<f64> {
    let states = std::iter::successors(Some(1u64), |state| Some(state * 16_807 % 2_147_483_647));
    states
        .skip(1)
        .take(n)
        .map(|state| state as f64 / 2_147_483_647.0)
        .collect()
}

/// One channel of rows of three.
fn channel(rows: &[f64], dim: usize, channel: usize) -> Vec<f64> {
    rows.chunks_exact(dim).map(|row| row[channel]).collect()
}

/// A series of `reference_pecuzal.py`, row-major, and its number of channels.
fn named(series: &str) -> (Vec<f64>, usize) {
    let (name, n) = series.rsplit_once('-').unwrap();
    let n = n.parse().unwrap();
    match name {
        "lorenz-x" => (channel(&lorenz(n), 3, 0), 1),
        "lorenz-xz" => (
            lorenz(n)
                .chunks_exact(3)
                .flat_map(|u| [u[0], u[2]])
                .collect(),
            2,
        ),
        "lorenz-xyz" => (lorenz(n), 3),
        "rossler-y" => (channel(&rossler(n), 3, 1), 1),
        "henon-x" => (channel(&henon(n), 2, 0), 1),
        "noise" => (noise(n), 1),
        _ => panic!("no series is named {series}"),
    }
}

fn embedded(x: &[f64], dim: usize, plan: &Plan) -> Pecuzal {
    let columns = Columns::new(Rows::new(x, dim)).unwrap();
    pecuzal(&columns, plan, &mut Unwatched).unwrap()
}

fn delays(found: &Pecuzal) -> Vec<usize> {
    found.coordinates.iter().map(|c| c.delay).collect()
}

/// Compares with what the Python package found in the same series: every delay and channel is equal, not only within a sample.
///
/// The continuity statistics are the same sums in another order. ΔL is not quite the same: the package searches neighbours anew
/// at every horizon T among all but the last T points; we, as the method's authors in Julia, once among all but the last
/// `max_delay`. So each of the four means behind ΔL, whose logarithms are halved, is over at most `max_delay` other points of n.
fn agrees(case: &Value) {
    let name = case["series"].as_str().unwrap();
    let (x, dim) = named(name);
    let whole = |key: &str| case[key].as_u64().unwrap() as usize;
    let plan = Plan {
        max_delay: whole("max_delay"),
        theiler: whole("theiler"),
        ..Plan::default()
    };
    let found = embedded(&x, dim, &plan);
    let numbers = |value: &Value| -> Vec<f64> {
        let list = value.as_array().unwrap();
        list.iter().map(|v| v.as_f64().unwrap()).collect()
    };
    let ours = |f: fn(&Coordinate) -> usize| -> Vec<f64> {
        found.coordinates.iter().map(|c| f(c) as f64).collect()
    };
    assert_eq!(ours(|c| c.delay), numbers(&case["delays"]), "{name}");
    assert_eq!(ours(|c| c.channel), numbers(&case["channels"]), "{name}");
    let other_points = plan.max_delay as f64 / (x.len() / dim) as f64;
    let tolerance = 4.0 * 0.5 * (1.0 + other_points).log10();
    for (cycle, decrease) in found.cycles.iter().zip(numbers(&case["decreases"])) {
        let off = (cycle.best.decrease - decrease).abs();
        assert!(off < tolerance, "{name}: ΔL off by {off}");
    }
    let curves = case["curves"].as_array().unwrap();
    assert_eq!(curves.len(), found.cycles.len(), "{name}");
    for (cycle, theirs) in found.cycles.iter().zip(curves) {
        let has_best = |curve: &&Curve| curve.candidates.contains(&cycle.best);
        let curve = cycle.curves.iter().find(has_best).unwrap();
        for (a, b) in curve.continuity.iter().zip(numbers(theirs)) {
            assert!((a - b).abs() < 1e-12, "{name}: ⟨ε*⟩ is {a}, not {b}");
        }
    }
}

fn python_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/python")
}

#[test]
fn delays_are_those_that_the_python_package_found() {
    let text = fs::read_to_string(python_folder().join("reference_pecuzal.json")).unwrap();
    let cases: Value = serde_json::from_str(&text).unwrap();
    let cases = cases.as_array().unwrap();
    assert_eq!(cases.len(), 8);
    cases.iter().for_each(agrees);
}

#[test]
fn the_python_package_finds_the_same_in_this_run() {
    let python = env::var("ATTRACTOR_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let script = python_folder().join("reference_pecuzal.py");
    let output = Command::new(python)
        .arg(script)
        .arg("noise-200")
        .arg("lorenz-x-200")
        .output();
    let Some(output) = output.ok().filter(|output| output.status.success()) else {
        println!(
            "skipped: pecuzal-embedding is not installed (ATTRACTOR_PYTHON names the interpreter)"
        );
        return;
    };
    let cases: Value = serde_json::from_slice(&output.stdout).unwrap();
    cases.as_array().unwrap().iter().for_each(agrees);
}

#[test]
fn lorenz_has_the_delays_of_the_published_programs() {
    // DelayEmbeddings.jl, test of PECUZAL on 10 000 samples: 0, 18, 9. (Its 5000 samples at every other horizon give 19 first;
    // then 96 and 9 are nearly as good, and its stored series decides.)
    let x = channel(&lorenz(10_000), 3, 0);
    let theiler = MutualInformation::new(&x, 100).first_minimum().unwrap();
    let plan = Plan {
        max_delay: 100,
        theiler,
        threads: 2,
        ..Plan::default()
    };
    let found = embedded(&x, 1, &plan);
    assert_eq!((delays(&found), found.end), (vec![0, 18, 9], End::Embedded));
    let few = Plan {
        horizons: Horizons::Even,
        ..plan
    };
    assert!(delays(&embedded(&x[..5000], 1, &few))[1].abs_diff(19) <= 1);
}

#[test]
fn threads_change_no_bit() {
    let x = lorenz(700);
    let plan = |threads| Plan {
        max_delay: 20,
        theiler: 17,
        threads,
        ..Plan::default()
    };
    assert_eq!(embedded(&x, 3, &plan(1)), embedded(&x, 3, &plan(3)));
}

#[test]
fn quantised_series_have_the_delays_of_the_original() {
    let x = channel(&lorenz(3000), 3, 0);
    let plan = Plan {
        theiler: 17,
        ..Plan::default()
    };
    // Steps of 0.1 in a range of 36: as of a recorder with 8 bits and a half.
    let coarse: Vec<f64> = x.iter().map(|v| (v * 10.0).round() / 10.0).collect();
    let found = embedded(&coarse, 1, &plan);
    for (found, expected) in delays(&found).iter().zip([0usize, 17, 9]) {
        assert!(found.abs_diff(expected) <= 1, "{found} is not {expected}");
    }
    // Two values only: whatever is found, every number exists.
    let coarsest: Vec<f64> = x.iter().map(|v| v.signum()).collect();
    for cycle in embedded(&coarsest, 1, &plan).cycles {
        let candidates = cycle.curves.iter().flat_map(|curve| &curve.candidates);
        assert!(candidates.clone().all(|c| c.decrease.is_finite()));
    }
}

#[test]
fn noise_has_no_embedding() {
    let found = embedded(&noise(3000), 1, &Plan::default());
    assert_eq!((delays(&found), found.end), (vec![0], End::NoImprovement));
}

#[test]
fn a_search_for_delays_is_followed_and_can_be_stopped() {
    let wave: Vec<f64> = (0..2000).map(|t| (0.1 * f64::from(t)).sin()).collect();
    let columns = Columns::new(Rows::new(&wave, 1)).unwrap();
    let mut heard = 0;
    let mut follow = |_: Progress| {
        heard += 1;
        Control::Stop
    };
    let stopped = pecuzal(&columns, &Plan::default(), &mut follow);
    assert_eq!((stopped, heard), (Err(EmbedError::Stopped(Stopped)), 1));
}

#[test]
fn what_cannot_be_embedded_is_refused() {
    let columns = |x: &[f64]| Columns::new(Rows::new(x, 1));
    let constant = columns(&[3.0; 500]).unwrap_err();
    assert_eq!(constant, EmbedError::Constant { channel: 0 });
    let short = columns(&noise(100)).unwrap();
    let refused = pecuzal(&short, &Plan::default(), &mut Unwatched).unwrap_err();
    assert!(matches!(refused, EmbedError::TooShort { found: 100, .. }));
    assert!(first_delay(&short, 0, 80).is_err());
    let one_row = columns(&[3.0]).unwrap_err();
    assert!(matches!(one_row, EmbedError::TooShort { found: 1, .. }));
    let straight: Vec<f64> = (0..500).map(f64::from).collect();
    let line = columns(&straight).unwrap();
    // What never comes back has no neighbours but in time: there may be an embedding or none, but never a panic.
    assert!(pecuzal(&line, &Plan::default(), &mut Unwatched).is_ok());
    let plan = exponent::Plan {
        dims: 2..=6,
        ..plan_of(Method::Rosenstein, 100)
    };
    assert!(matches!(
        exponent(&short, &plan, &mut Unwatched),
        Err(EmbedError::TooShort { .. })
    ));
}

#[test]
fn maps_have_the_delay_1_and_flows_a_minimum() {
    let columns = |x: &[f64]| Columns::new(Rows::new(x, 1)).unwrap();
    // The autocorrelation of the Hénon map after one step is −0.30; of Lorenz-63 after 0.01 it is 0.998.
    let map = columns(&channel(&henon(2000), 2, 0));
    assert_eq!(delay_rule(&map, 0), DelayRule::Uncorrelated);
    assert_eq!(first_delay(&map, 0, 20), Ok(1));
    let flow = columns(&channel(&lorenz(4000), 3, 0));
    assert_eq!(delay_rule(&flow, 0), DelayRule::FirstMinimum);
    let minimum = MutualInformation::new(flow.channel(0), 100).first_minimum();
    assert_eq!(first_delay(&flow, 0, 100).ok(), minimum);
}

#[test]
fn cao_finds_the_dimensions_of_the_literature() {
    let dim = |x: &[f64], delay: usize| {
        let columns = Columns::new(Rows::new(x, 1)).unwrap();
        let plan = CaoPlan {
            channel: 0,
            delay,
            max_dim: 8,
            theiler: delay,
            threads: 2,
        };
        cao(&columns, &plan, &mut Unwatched).unwrap()
    };
    // Cao (1997): 2 for Hénon, 3 for Lorenz.
    assert_eq!(dim(&channel(&henon(5000), 2, 0), 1).dim(), Some(2));
    assert_eq!(dim(&channel(&lorenz(10_000), 3, 0), 17).dim(), Some(3));
    let noise = dim(&noise(5000), 1);
    assert!(noise.looks_random(), "{noise:?}");
    assert!(!dim(&channel(&henon(5000), 2, 0), 1).looks_random());
    // Beyond 20,000 points every few of them stand for all.
    assert_eq!(dim(&channel(&henon(50_000), 2, 0), 1).dim(), Some(2));
}

fn plan_of(method: Method, delay: usize) -> exponent::Plan {
    exponent::Plan {
        channel: 0,
        method,
        distance: match method {
            Method::Kantz => Distance::Euclidean,
            Method::Rosenstein => Distance::First,
        },
        dims: 3..=7,
        delay,
        theiler: 3 * delay,
        fit: None,
        threads: 2,
    }
}

fn largest(x: &[f64], plan: &exponent::Plan) -> Exponent {
    exponent(
        &Columns::new(Rows::new(x, 1)).unwrap(),
        plan,
        &mut Unwatched,
    )
    .unwrap()
}

/// Within 5 % of the literature, whatever the method.
fn within_5_percent(x: &[f64], delay: usize, dims: std::ops::RangeInclusive<usize>, expected: f64) {
    for method in [Method::Rosenstein, Method::Kantz] {
        let plan = exponent::Plan {
            dims: dims.clone(),
            ..plan_of(method, delay)
        };
        let found = largest(x, &plan).per_row.unwrap();
        assert!(
            (found / expected - 1.0).abs() < 0.05,
            "{method:?}: {found}, not {expected}"
        );
    }
}

#[test]
fn exponents_are_those_of_the_literature() {
    let logistic = std::iter::successors(Some(0.3), |x: &f64| Some(4.0 * x * (1.0 - x)));
    let logistic: Vec<f64> = logistic.skip(100).take(3000).collect();
    within_5_percent(&logistic, 1, 1..=5, std::f64::consts::LN_2);
    // Sprott (2003): 0.419 for Hénon, 0.9056 for Lorenz.
    within_5_percent(&channel(&henon(10_000), 2, 0), 1, 2..=6, 0.419);
    within_5_percent(&channel(&lorenz(40_000), 3, 0), 17, 3..=7, 0.01 * 0.9056);
}

#[test]
fn a_given_region_is_fitted_as_it_is() {
    let x = channel(&henon(4000), 2, 0);
    let found = largest(
        &x,
        &exponent::Plan {
            fit: Some(2..=9),
            ..plan_of(Method::Rosenstein, 1)
        },
    );
    for curve in &found.curves {
        assert_eq!(curve.fit.as_ref().unwrap().region, 2..=9);
        assert!((curve.fit.as_ref().unwrap().slope / 0.419 - 1.0).abs() < 0.1);
    }
    let predictability = found.predictability().unwrap();
    assert!((predictability * found.per_row.unwrap() - std::f64::consts::LN_2).abs() < 1e-14);
}

#[test]
fn noise_has_no_straight_region() {
    // Neighbours are as far apart as any two points after one step.
    let found = largest(
        &noise(3000),
        &exponent::Plan {
            dims: 1..=2,
            ..plan_of(Method::Rosenstein, 1)
        },
    );
    assert_eq!(
        (found.per_row, found.predictability()),
        (None, None),
        "{found:?}"
    );
}

#[test]
fn what_repeats_or_never_returns_has_no_exponent() {
    let times = || (0..4000).map(f64::from);
    // One frequency; two whose ratio is the golden mean; no return at all. None of them is chaotic: λ = 0.
    let golden = (1.0 + 5f64.sqrt()) / 2.0;
    let series: [(&str, usize, Vec<f64>); 3] = [
        ("sine", 16, times().map(|t| (0.1 * t).sin()).collect()),
        (
            "torus",
            13,
            times()
                .map(|t| (0.1 * t).sin() + 0.5 * (0.1 * golden * t).sin())
                .collect(),
        ),
        ("line", 1, times().collect()),
    ];
    for (name, delay, x) in &series {
        for method in [Method::Rosenstein, Method::Kantz] {
            let found = largest(x, &plan_of(method, *delay));
            assert_eq!(found.per_row, None, "{name} by {method:?}");
            assert_eq!(found.predictability(), None, "{name} by {method:?}");
        }
    }
}

/// The scalar series behind the paper's ECG: its files hold s(t + τ) for τ = 0, 20, 68, 55, 10, one column after the other in f64.
fn ecg() -> Option<Vec<f64>> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = PathBuf::from(env::var_os("ATTRACTOR_DATA").unwrap_or(default.into()));
    let columns = |name: &str| -> Option<Vec<f64>> {
        let bytes = fs::read(folder.join(name)).ok()?;
        let header = 10 + usize::from(u16::from_le_bytes([bytes[8], bytes[9]]));
        let values = bytes[header..].chunks_exact(8);
        Some(
            values
                .map(|v| f64::from_le_bytes(v.try_into().unwrap()))
                .collect(),
        )
    };
    let train = columns("ECG_pecuzal_5d_train.npy")?;
    let test = columns("ECG_pecuzal_5d_test.npy")?;
    let n = test.len() / 5;
    // The third column ends 68 rows later than the first.
    Some([&train[..n], &test[..n], &test[3 * n - 68..3 * n]].concat())
}

#[test]
fn the_ecg_has_the_delays_of_the_paper() {
    let Some(s) = ecg() else {
        println!("skipped: no ECG files (ATTRACTOR_DATA names their folder)");
        return;
    };
    // Frozen from the same estimator in Julia on the same series.
    assert_eq!(MutualInformation::new(&s, 100).first_minimum(), Some(69));
    assert_eq!(
        MutualInformation::new(&s[..100_000], 100).first_minimum(),
        Some(71)
    );
    // With the threshold of 0.05 it ends after the fourth: the fifth lowers L by 0.016.
    let plan = Plan {
        max_delay: 100,
        theiler: 59,
        threshold: 0.01,
        threads: 2,
        ..Plan::default()
    };
    let found = delays(&embedded(&s[..50_000], 1, &plan));
    assert_eq!(found.len(), 5);
    for (found, expected) in found.iter().zip([0usize, 20, 68, 55, 10]) {
        assert!(found.abs_diff(expected) <= 3, "{found} is not {expected}");
    }
}

#[test]
fn the_ecg_has_an_exponent_of_the_order_of_the_paper() {
    let Some(s) = ecg() else {
        println!("skipped: no ECG files (ATTRACTOR_DATA names their folder)");
        return;
    };
    let found = largest(&s[..60_000], &plan_of(Method::Rosenstein, 59));
    let per_second = 700.0 * found.per_row.unwrap();
    // Figure S9 of the paper: 2.19 per second. Dimensions, window and region of its fit are not stated.
    assert!((1.5..3.0).contains(&per_second), "{per_second}");
}
