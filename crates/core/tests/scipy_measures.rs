//! Spectra, autocorrelations, Wasserstein distances, the Kruskal–Wallis test and χ² against NumPy and SciPy, with the data
//! written down a second time in Python.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

use std::collections::BTreeMap;
use std::env;
use std::process::Command;

use attractor_core::measure::autocorrelation::autocorrelation;
use attractor_core::measure::kruskal_wallis::{chi_squared_above, kruskal_wallis};
use attractor_core::measure::spectrum::smoothed;
use attractor_core::measure::wasserstein::{Sliced, sorted_distance};
use attractor_core::measure::{Rows, d_hellinger::Spectra};

const SCRIPT: &str = "
import numpy as np
from scipy import ndimage, stats

t = np.arange(1001)
x = np.sin(0.3 * t) + 0.5 * np.sin(0.011 * t * t)
y = np.cos(0.2 * t) + 0.3 * np.sin(0.017 * t * t)

def spectrum(x):
    power = np.abs(np.fft.rfft((x - x.mean()) / x.std(ddof=1))) ** 2
    k = np.arange(-80, 81)
    weights = np.exp(-k ** 2 / 800)
    smooth = ndimage.convolve1d(power, weights / weights.sum(), mode='mirror')
    return smooth / smooth.sum()

def show(name, values):
    print(name, *(repr(float(v)) for v in np.atleast_1d(values)))

show('spectrum', spectrum(x))
show('hellinger', np.sqrt(0.5 * np.sum((np.sqrt(spectrum(x)) - np.sqrt(spectrum(y))) ** 2)))
c = x - x.mean()
full = np.correlate(c, c, 'full')[1000:1101]
show('autocorrelation', full / full[0])
z = lambda v: (v - x.mean()) / x.std(ddof=1)
show('wasserstein', stats.wasserstein_distance(z(x), z(y)))
show('unequal', stats.wasserstein_distance(x, y[:317]))
groups = [np.round(3 * x[:20]), np.round(3 * y[:25]), np.round(3 * x[50:67]), np.round(3 * y[50:61])]
test = stats.kruskal(*groups)
show('kruskal', [test.statistic, test.pvalue])
show('chi', [stats.chi2.sf(v, k) for k in (1, 2, 3, 7, 20) for v in (0.01, 1.0, 5.5, 40.0)])
";

/// What Python prints, by name, or nothing where SciPy is not installed.
fn reference() -> Option<BTreeMap<String, Vec<f64>>> {
    let python = env::var("ATTRACTOR_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let output = Command::new(python).args(["-c", SCRIPT]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let parse = |line: &str| {
        let mut words = line.split(' ').map(str::to_string);
        let name = words.next().unwrap();
        (name, words.map(|word| word.parse().unwrap()).collect())
    };
    output
        .status
        .success()
        .then(|| text.lines().map(parse).collect())
}

/// The two series of the script.
fn series() -> (Vec<f64>, Vec<f64>) {
    let t = || (0..1001).map(f64::from);
    (
        t().map(|t| (0.3 * t).sin() + 0.5 * (0.011 * t * t).sin())
            .collect(),
        t().map(|t| (0.2 * t).cos() + 0.3 * (0.017 * t * t).sin())
            .collect(),
    )
}

/// Sums of some thousand terms of order one, and sines of arguments up to 2e4, rounded to 1e-16 of them: 1e-11 covers both.
fn agree(name: &str, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{name}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(
            (found - expected).abs() < 1e-11,
            "{name}: {found}, not {expected}"
        );
    }
}

#[test]
fn scipy_gives_the_same_numbers() {
    let Some(reference) = reference() else {
        println!("skipped: SciPy is not installed (ATTRACTOR_PYTHON names the interpreter)");
        return;
    };
    let (x, y) = series();
    let (truth, other) = (Rows::new(&x, 1), Rows::new(&y, 1));
    agree("spectrum", &smoothed(truth)[0], &reference["spectrum"]);
    let hellinger = Spectra::new(truth).unwrap().distance(other).unwrap();
    agree("hellinger", &[hellinger], &reference["hellinger"]);
    let correlations = &autocorrelation(truth, 100)[0];
    agree(
        "autocorrelation",
        correlations,
        &reference["autocorrelation"],
    );
    let sliced = Sliced::new(truth, 0).unwrap().distance(other).value;
    agree("wasserstein", &[sliced], &reference["wasserstein"]);
    let sorted = |x: &[f64]| {
        let mut sorted = x.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        sorted
    };
    let unequal = sorted_distance(&sorted(&x), &sorted(&y[..317]));
    agree("unequal", &[unequal], &reference["unequal"]);
    let round = |x: &[f64]| -> Vec<f64> { x.iter().map(|v| (3.0 * v).round_ties_even()).collect() };
    let groups = [
        round(&x[..20]),
        round(&y[..25]),
        round(&x[50..67]),
        round(&y[50..61]),
    ];
    let groups: Vec<&[f64]> = groups.iter().map(Vec::as_slice).collect();
    let test = kruskal_wallis(&groups).unwrap();
    agree("kruskal", &[test.h, test.p], &reference["kruskal"]);
    let chi: Vec<f64> = [1, 2, 3, 7, 20]
        .into_iter()
        .flat_map(|k| [0.01, 1.0, 5.5, 40.0].map(|v| chi_squared_above(v, k)))
        .collect();
    agree("chi", &chi, &reference["chi"]);
}
