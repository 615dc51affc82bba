//! Stated errors are what repetitions scatter by: each estimate with a standard error is made many times, with other draws or other data, and the deviation
//! of its values over the root mean square of their errors is one.
//!
//! With R repetitions a deviation is known to 1/√(2R), and an error from n values scatters by 1/√(2n) about its own, which its mean square over R
//! repetitions averages out; bounds are four times the first. What is not normal scatters more: where that matters, the bound says so.

use attractor_core::analysis::lyapunov::{LyapunovPlan, lyapunov_spectrum};
use attractor_core::measure::mixture::Mixture;
use attractor_core::measure::mmd::Kernel;
use attractor_core::measure::valid_time::ValidForecasts;
use attractor_core::measure::wasserstein::Sliced;
use attractor_core::measure::{Estimate, Rows};
use attractor_core::progress::Unwatched;
use attractor_core::rng::{Rng, Stream};
use attractor_core::series::mean_and_sd;
use attractor_core::system;

fn normals(count: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed, Stream::Noise);
    (0..count).map(|_| rng.normal()).collect()
}

/// The deviation of values over the root mean square of their errors.
fn ratio(found: &[(f64, f64)]) -> f64 {
    let (_, scatter) = mean_and_sd(found.iter().map(|f| f.0));
    let squares = found.iter().map(|f| f.1 * f.1).sum::<f64>();
    scatter / (squares / found.len() as f64).sqrt()
}

fn of_seeds(repetitions: u64, estimate: impl Fn(u64) -> Estimate) -> Vec<(f64, f64)> {
    let found = (0..repetitions).map(estimate);
    found
        .map(|e| (e.value, e.standard_error.expect("it has an error")))
        .collect()
}

/// How often most estimates are repeated, which knows a deviation to 10 %, and four times that: an error from the first draw's kernel width was 1.7 times too small.
const REPETITIONS: u64 = 50;
const SLACK: f64 = 0.4;

fn assert_honest(found: &[(f64, f64)], what: &str) {
    let ratio = ratio(found);
    assert!(
        (ratio - 1.0).abs() < SLACK,
        "{what}: scatter over error {ratio}"
    );
}

/// Far from one another, where scatter is that of the rows drawn, and alike, where it is that of pairs.
#[test]
fn mmd() {
    let truth = normals(3 * 2000, 1);
    let shifted: Vec<f64> = normals(3 * 2000, 2).iter().map(|v| 1.5 * v + 0.5).collect();
    for (generated, what) in [(shifted, "shifted"), (normals(3 * 2000, 3), "equal")] {
        let found = of_seeds(REPETITIONS, |seed| {
            let kernel = Kernel::new(Rows::new(&truth, 3), seed).unwrap();
            kernel.discrepancy(Rows::new(&generated, 3))
        });
        assert_honest(&found, what);
    }
}

/// Rows of equal distributions: fresh data every time, short ones, so that a row is often drawn twice. The mean is 0 to within its error.
#[test]
fn mmd_of_equal_distributions_is_zero() {
    let found = of_seeds(30, |seed| {
        let (x, y) = (normals(300, 2 * seed), normals(300, 2 * seed + 1));
        Kernel::new(Rows::new(&x, 1), seed)
            .unwrap()
            .discrepancy(Rows::new(&y, 1))
    });
    let (mean, scatter) = mean_and_sd(found.iter().map(|f| f.0));
    // Standardising by the truth widens y by chance, to second order in 1/300: 1e-3 at most, beside four errors of the mean.
    assert!(
        mean.abs() < 4.0 * scatter / 30f64.sqrt() + 1e-3,
        "{mean} {scatter}"
    );
}

#[test]
fn wasserstein() {
    let truth = normals(3 * 1000, 1);
    let moved = |row: &[f64]| [row[0] + 1.0, 2.0 * row[1], row[2]];
    let generated: Vec<f64> = truth.chunks_exact(3).flat_map(moved).collect();
    let found = of_seeds(REPETITIONS, |seed| {
        let sliced = Sliced::new(Rows::new(&truth, 3), seed).unwrap();
        sliced.distance(Rows::new(&generated, 3))
    });
    assert_honest(&found, "directions");
}

#[test]
fn mixtures_in_both_forms() {
    let n = 6;
    let truth: Vec<f64> = normals(n * 200, 1).iter().map(|v| 3.0 * v).collect();
    let generated: Vec<f64> = normals(n * 200, 2).iter().map(|v| 3.5 * v + 1.0).collect();
    let both = |seed| {
        let mixture = Mixture::new(Rows::new(&truth, n), seed).unwrap();
        mixture.divergence(Rows::new(&generated, n))
    };
    assert_honest(&of_seeds(REPETITIONS, |seed| both(seed).exact), "exact");
    let paper = of_seeds(REPETITIONS, |seed| {
        both(seed).paper.expect("not all are lost")
    });
    assert_honest(&paper, "paper");
}

/// A mean of values that remember each other, x' = ρ x + ξ: with ρ = 0.8, nine count as one, and only eleven of a hundred are independent. A sum
/// of correlations cut at its first zero is low by a tenth or so; 400 repetitions know the deviation to 4 %.
#[test]
fn a_mean_in_time_knows_that_neighbours_are_alike() {
    for rho in [0.0f64, 0.5, 0.8] {
        let found = of_seeds(400, |seed| {
            let mut x = 0.0;
            let step = |xi: f64| {
                x = rho * x + xi;
                x
            };
            let values: Vec<f64> = normals(200, seed).into_iter().map(step).collect();
            Estimate::mean_in_time(&values[100..])
        });
        let ratio = ratio(&found);
        assert!((0.85..1.25).contains(&ratio), "{rho}: {ratio}");
    }
}

/// Forecasts that fail at random rows, however early they start: 100 starts over a record of about 30 failures.
#[test]
fn valid_time() {
    let rows = 3000;
    let found = of_seeds(200, |seed| {
        let mut rng = Rng::new(seed, Stream::Noise);
        let truth: Vec<f64> = (0..rows).map(|_| rng.normal()).collect();
        let fails: Vec<bool> = (0..rows).map(|_| rng.uniform() < 0.01).collect();
        let forecasts = ValidForecasts::new(Rows::new(&truth, 1), 0.5).unwrap();
        let off = [f64::NAN];
        let predict = |t: usize, i: usize| {
            if fails[t + i] {
                &off[..]
            } else {
                &truth[t + i..][..1]
            }
        };
        forecasts.of(predict).steps
    });
    let ratio = ratio(&found);
    assert!((0.8..1.3).contains(&ratio), "{ratio}");
}

/// An exponent and its error from 200 starts on the attractor: 20 blocks of 100 steps each, longer than a map remembers.
fn exponents_of(name: &str) -> Vec<(f64, f64)> {
    let info = system::find(name).expect("it is in the list");
    let system = info.with(&[]).expect("its defaults are in range");
    let plan = LyapunovPlan {
        count: 1,
        transient: 100,
        intervals: 2000,
        ..LyapunovPlan::full(1)
    };
    let of_start = |i: i32| {
        let start = vec![0.1 + 1e-3 * f64::from(i); system.dim()];
        let spectrum = lyapunov_spectrum(&*system, info.time, &start, &plan, &mut Unwatched);
        let spectrum = spectrum.expect("the orbit stays bounded");
        (spectrum.exponents[0], spectrum.errors[0])
    };
    (0..200).map(of_start).collect()
}

#[test]
fn lyapunov_exponents() {
    assert_honest(&exponents_of("henon"), "Hénon's map");
}

/// Of the logistic map at r = 4, ln |f'(x)| is ln 2 + g(f(x)) − g(x): sums telescope, blocks undo one another, and the mean over 20 blocks scatters by 1/√20 of
/// the error that they state. Likewise where an exponent is 0 along a flow. Stated errors are too large there, never too small.
#[test]
fn lyapunov_exponents_of_sums_that_telescope() {
    let ratio = ratio(&exponents_of("logistic"));
    assert!((0.15..0.3).contains(&ratio), "{ratio}");
}
