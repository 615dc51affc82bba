//! Known values of the measures on the paper's data, where the folder is there: `ATTRACTOR_DATA` names it.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

use std::path::PathBuf;

use attractor::format::{ReadOptions, read};
use attractor::measure::Rows;
use attractor::measure::d_hellinger::Spectra;
use attractor::measure::d_stsp::{Binned, StateBox};
use attractor::measure::mixture::{Mixture, MixtureDivergence};
use attractor::measure::prediction_error::prediction_error_of;
use attractor::measure::surrogate::Surrogate;
use attractor::rng::{Rng, Stream};
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

/// A published figure agrees to its last printed digit: half a unit of it.
fn agrees(found: f64, printed: f64, digit: f64) {
    assert!(
        (found - printed).abs() <= 0.5 * digit * (1.0 + 1e-9),
        "{found}, not {printed}"
    );
}

fn normals(len: usize) -> Vec<f64> {
    let mut rng = Rng::new(1, Stream::Noise);
    (0..len).map(|_| rng.normal()).collect()
}

#[test]
fn lorenz_63_has_its_known_values() {
    let (Some(test), Some(train)) = (data("lorenz63_test.npy"), data("lorenz63_on0.05_train.npy"))
    else {
        return;
    };
    let truth = Rows::new(&test, 3);
    let cells = Binned::new(truth, StateBox::Paper).unwrap();
    assert_eq!(cells.occupied(), 1429);
    assert_eq!(
        (binned(&test, &test, 3), hellinger(&test, &test, 3)),
        (0.0, 0.0)
    );
    agrees(binned(&test, &train, 3), 0.1187, 1e-4);
    agrees(hellinger(&test, &train, 3), 0.0696, 1e-4);
    let constant = truth.row(0).repeat(truth.len());
    let corner: Vec<f64> = (0..3)
        .map(|i| truth.column(i).fold(9.0f64, f64::min))
        .collect();
    println!(
        "first {} corner {} zero {}",
        binned(&test, &constant, 3),
        binned(&test, &corner.repeat(100000), 3),
        binned(&test, &vec![0.0; 300000], 3)
    );
    let noise = normals(test.len());
    println!(
        "{} {}",
        binned(&test, &noise, 3),
        hellinger(&test, &noise, 3)
    );
    let mean = Surrogate::Constant.of(truth, 0);
    println!("mean {}", binned(&test, &mean, 3));
    for (n, printed, digit) in [(1, 0.00552, 1e-5), (5, 0.1331, 1e-4), (20, 1.340, 1e-3)] {
        let starts = 0..truth.len() - n;
        agrees(
            prediction_error_of(truth, n, starts, |t, _| truth.row(t)),
            printed,
            digit,
        );
    }
}

#[test]
fn fresh_orbits_of_lorenz_63_are_at_the_floor() {
    let Some(test) = data("lorenz63_test.npy") else {
        return;
    };
    for seed in 0..12 {
        let request = Request {
            seed,
            transient: 25_000,
            standardize: true,
            ..Request::new("lorenz63", 100_000)
        };
        let fresh = Simulation::check(&request).unwrap().run().unwrap().series;
        let x = &fresh.trajectories()[0].x;
        println!("{} {}", binned(&test, x, 3), hellinger(&test, x, 3));
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
    let constant = truth.row(0).repeat(truth.len());
    println!(
        "ecg const {} {}",
        binned(&test, &constant, 5),
        binned(&test, &Surrogate::Constant.of(truth, 0), 5)
    );
}

fn mixture(truth: &[f64], generated: &[f64], seed: u64) -> MixtureDivergence {
    let mixture = Mixture::new(Rows::new(truth, 64), seed).unwrap();
    mixture.divergence(Rows::new(generated, 64))
}

#[test]
fn the_eeg_has_its_known_values() {
    let Some(eeg) = data("EEG_train.npy") else {
        return;
    };
    let rows = Rows::new(&eeg, 64);
    let (first, second) = rows.halves();
    agrees(hellinger(first.values(), second.values(), 64), 0.0751, 1e-4);
    println!("{:?}", mixture(first.values(), second.values(), 0));
    let zeros = vec![0.0; eeg.len()];
    println!("zeros {:?}", mixture(&eeg, &zeros, 0));
    println!(
        "first {:?}",
        mixture(&eeg, &rows.row(0).repeat(rows.len()), 0)
    );
    println!("iid {:?}", mixture(&eeg, &normals(eeg.len()), 0));
    println!(
        "cov {:?}",
        mixture(&eeg, &Surrogate::WhiteNoise.of(rows, 0), 0)
    );
    println!(
        "phase {:?}",
        mixture(&eeg, &Surrogate::PhaseRandomised.of(rows, 0), 0)
    );
    println!("self {:?}", mixture(&eeg, &eeg, 0));
}
