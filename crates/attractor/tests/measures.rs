//! Known values of the measures on the paper's data, where the folder is there: `ATTRACTOR_DATA` names it. They were
//! computed by an independent program in Python, with draws of its own.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

use std::path::PathBuf;

use attractor::format::{ReadOptions, read};
use attractor::measure::d_hellinger::Spectra;
use attractor::measure::d_stsp::{Binned, StateBox};
use attractor::measure::mixture::{Mixture, MixtureDivergence};
use attractor::measure::prediction_error::prediction_error_of;
use attractor::measure::surrogate::Surrogate;
use attractor::measure::{Estimate, Rows};
use attractor::rng::{Rng, Stream};
use attractor::series::mean_and_sd;
use attractor::system::simulate::{Request, Simulation};

/// The rows of a file of the data folder; none, with a line that says so, where it is not there.
fn data(name: &str) -> Option<Vec<f64>> {
    let folder = std::env::var_os("ATTRACTOR_DATA").map_or_else(
        || concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").into(),
        PathBuf::from,
    );
    let path = folder.join(name);
    if !path.exists() {
        println!("skipped: {name} is not there (ATTRACTOR_DATA names the folder)");
        return None;
    }
    let series = read(&path, &ReadOptions::default()).unwrap();
    Some(series.trajectories()[0].x.clone())
}

fn binned(truth: &[f64], generated: &[f64], n: usize) -> f64 {
    let binned = Binned::new(Rows::new(truth, n), StateBox::Paper).unwrap();
    binned.divergence(Rows::new(generated, n)).unwrap().value
}

fn hellinger(truth: &[f64], generated: &[f64], n: usize) -> f64 {
    let spectra = Spectra::new(Rows::new(truth, n)).unwrap();
    spectra.distance(Rows::new(generated, n)).unwrap()
}

/// A figure agrees to its last printed digit: half a unit of it.
fn agrees(found: f64, printed: f64, digit: f64) {
    let difference = (found - printed).abs();
    assert!(difference <= 0.5001 * digit, "{found}, not {printed}");
}

/// A figure that is one draw lies within four standard deviations of draws of ours.
fn is_likely(printed: f64, draws: &[f64]) {
    let (mean, sd) = mean_and_sd(draws.iter().copied());
    assert!(
        (printed - mean).abs() < 4.0 * sd,
        "{printed} among {draws:?}"
    );
}

/// PE(n) of saying that nothing changes.
fn persistence(x: &[f64], dim: usize, n: usize) -> f64 {
    let truth = Rows::new(x, dim);
    prediction_error_of(truth, n, 0..truth.len() - n, |t, _| truth.row(t))
}

/// PE of saying zero, over all rows.
fn saying_zero(x: &[f64]) -> f64 {
    x.iter().map(|v| v * v).sum::<f64>() / x.len() as f64
}

fn normals(len: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed, Stream::Noise);
    (0..len).map(|_| rng.normal()).collect()
}

/// D_stsp of every hundredth row as an orbit that stays there. The figure in print is of one such point.
fn of_points(x: &[f64], n: usize) -> Vec<f64> {
    let truth = Rows::new(x, n);
    let binned = Binned::new(truth, StateBox::Paper).unwrap();
    let stays = |t: usize| {
        let orbit = truth.row(t).repeat(truth.len());
        binned.divergence(Rows::new(&orbit, n)).unwrap().value
    };
    (0..truth.len()).step_by(2000).map(stays).collect()
}

#[test]
fn lorenz_63_has_its_known_values() {
    let (Some(test), Some(train)) = (data("lorenz63_test.npy"), data("lorenz63_on0.05_train.npy"))
    else {
        return;
    };
    let cells = Binned::new(Rows::new(&test, 3), StateBox::Paper).unwrap();
    assert_eq!(cells.occupied(), 1429);
    assert_eq!(binned(&test, &test, 3), 0.0);
    assert_eq!(hellinger(&test, &test, 3), 0.0);
    agrees(binned(&test, &train, 3), 0.1187, 1e-4);
    agrees(hellinger(&test, &train, 3), 0.0696, 1e-4);
    let points = of_points(&test, 3);
    assert!(
        points.iter().any(|d| (d - 16.42).abs() < 0.005),
        "{points:?}"
    );
    assert!(points.iter().all(|d| (d - 16.42).abs() < 0.1), "{points:?}");
    for (n, printed, digit) in [(1, 0.00552, 1e-5), (5, 0.1331, 1e-4), (20, 1.340, 1e-3)] {
        agrees(persistence(&test, 3, n), printed, digit);
    }
    agrees(saying_zero(&test), 1.0, 1e-3);
}

#[test]
fn noise_against_lorenz_63_has_its_known_values() {
    let Some(test) = data("lorenz63_test.npy") else {
        return;
    };
    let noises: Vec<Vec<f64>> = (0..8).map(|seed| normals(test.len(), seed)).collect();
    let d_stsp: Vec<f64> = noises.iter().map(|noise| binned(&test, noise, 3)).collect();
    is_likely(3.48, &d_stsp);
    let d_h: Vec<f64> = noises
        .iter()
        .map(|noise| hellinger(&test, noise, 3))
        .collect();
    is_likely(0.877, &d_h);
}

#[test]
fn other_orbits_of_lorenz_63_are_at_the_known_floor() {
    let Some(test) = data("lorenz63_test.npy") else {
        return;
    };
    let orbit = |seed: u64| {
        let request = Request {
            seed,
            transient: 25_000,
            standardize: true,
            ..Request::new("lorenz63", 100_000)
        };
        let simulated = Simulation::check(&request).unwrap().run().unwrap();
        simulated.series.trajectories()[0].x.clone()
    };
    let orbits: Vec<Vec<f64>> = (1..9).map(orbit).collect();
    let d_stsp: Vec<f64> = orbits.iter().map(|x| binned(&test, x, 3)).collect();
    let d_h: Vec<f64> = orbits.iter().map(|x| hellinger(&test, x, 3)).collect();
    for (one, other) in [(0.142, 0.072), (0.158, 0.056), (0.212, 0.070)] {
        is_likely(one, &d_stsp);
        is_likely(other, &d_h);
    }
}

#[test]
fn the_ecg_has_its_known_values() {
    let (Some(test), Some(train)) = (
        data("ECG_pecuzal_5d_test.npy"),
        data("ECG_pecuzal_5d_train.npy"),
    ) else {
        return;
    };
    let truth = Rows::new(&test, 5);
    let cells = Binned::new(truth, StateBox::Paper).unwrap();
    assert_eq!(cells.occupied(), 2595);
    agrees(binned(&test, &train, 5), 0.294, 1e-3);
    agrees(hellinger(&test, &train, 5), 0.0596, 1e-4);
    let (first, second) = truth.halves();
    agrees(binned(first.values(), second.values(), 5), 0.20, 0.01);
    agrees(hellinger(first.values(), second.values(), 5), 0.022, 1e-3);
    let points = of_points(&test, 5);
    let (low, high) = points.iter().fold((99.0f64, 0.0f64), |(low, high), &d| {
        (low.min(d), high.max(d))
    });
    assert!(low < 17.12 && 17.12 < high, "{low} to {high}");
    agrees(
        binned(&test, &Surrogate::Constant.of(truth, 0), 5),
        16.9,
        0.1,
    );
    for (n, printed, digit) in [(1, 0.00533, 1e-5), (5, 0.1278, 1e-4), (20, 1.130, 1e-3)] {
        agrees(persistence(&test, 5, n), printed, digit);
    }
    agrees(saying_zero(&test), 0.690, 1e-3);
    let noise: Vec<f64> = (0..4)
        .map(|seed| binned(&test, &Surrogate::WhiteNoise.of(truth, seed), 5))
        .collect();
    is_likely(9.2, &noise);
}

/// Both figures are means over draws of their own: four times √2 of our standard error.
fn agrees_within_error(found: Estimate, printed: f64) {
    let error = found.standard_error.unwrap();
    let difference = (found.value - printed).abs();
    assert!(
        difference < 4.0 * 2f64.sqrt() * error,
        "{found:?}, not {printed}"
    );
}

#[test]
fn the_eeg_has_its_known_values() {
    let Some(eeg) = data("EEG_train.npy") else {
        return;
    };
    let rows = Rows::new(&eeg, 64);
    let (first, second) = rows.halves();
    agrees(hellinger(first.values(), second.values(), 64), 0.0751, 1e-4);
    let halves = Mixture::new(first, 0).unwrap().divergence(second);
    agrees_within_error(halves.exact, 2.68);
    for (n, printed, digit) in [(1, 0.01025, 1e-5), (5, 0.2062, 1e-4), (20, 0.8958, 1e-4)] {
        agrees(persistence(&eeg, 64, n), printed, digit);
    }
    let mixture = Mixture::new(rows, 0).unwrap();
    let judged = |x: &[f64]| mixture.divergence(Rows::new(x, 64));
    let itself = judged(&eeg);
    assert_eq!(
        (itself.exact.value, itself.paper.unwrap().value),
        (0.0, 0.0)
    );
    let cases = [
        (vec![0.0; eeg.len()], 13.4, 25.8, 0.09),
        (rows.row(0).repeat(rows.len()), 20.2, 33.6, 0.11),
        (normals(eeg.len(), 1), 17.3, 25.8, 0.07),
        (Surrogate::WhiteNoise.of(rows, 1), 1.62, 1.68, 0.0),
    ];
    for (x, paper, exact, dropped) in cases {
        let MixtureDivergence {
            exact: found,
            paper: single,
        } = judged(&x);
        agrees_within_error(found, exact);
        let single = single.unwrap();
        agrees_within_error(single, paper);
        // Of 1000 draws, with the error of a share of 0.1 in two draws, and half a unit of the printed percent.
        let share = single.dropped as f64 / 1000.0;
        assert!(
            (share - dropped).abs() < 4.0 * 2f64.sqrt() * 0.0095 + 0.005,
            "{share}"
        );
    }
}

/// Two orbits of 20 channels with F = 16: 1.66 to 1.73 by mixtures, and spectra at 0.063 over 30 000 rows.
#[test]
fn orbits_of_lorenz_96_are_at_their_known_floor() {
    let orbit = |seed: u64| {
        let request = Request {
            seed,
            transient: 7500,
            standardize: true,
            dt: Some(0.01),
            ..Request::new("lorenz96", 30_000)
        };
        let simulated = Simulation::check(&request).unwrap().run().unwrap();
        simulated.series.trajectories()[0].x.clone()
    };
    let (x, y) = (orbit(1), orbit(2));
    let (truth, other) = (Rows::new(&x, 20), Rows::new(&y, 20));
    let found = Mixture::new(truth, 0).unwrap().divergence(other).exact;
    agrees_within_error(found, 1.695);
    // Smoothing averages over 1/Σw² = 2√π·20 = 71 frequencies, whose power scatters by its own size, so that √f − √g
    // has the variance f/(2·71) and D_H² = 1/(4·71): 0.0594. Pairs of orbits scatter around that by 4 % (twenty pairs:
    // 0.054 to 0.061), and the printed 0.063 of one pair is 1.5 standard deviations above it. Four of them are allowed.
    let d_h = hellinger(&x, &y, 20);
    assert!((d_h - 0.0594).abs() < 4.0 * 0.04 * 0.0594, "{d_h}");
}
