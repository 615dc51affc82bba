//! Preparing: agreement with SciPy where Python has it, and what the paper's own data show of how they were prepared.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

use std::f64::consts::TAU;
use std::path::{Path, PathBuf};
use std::process::Command;

use attractor::format::{self, ReadOptions};
use attractor::pipeline::Pipeline;
use attractor::prepare::resample;
use attractor::series::{Channel, Series, Step, Trajectory};

/// Noise without a generator: digits of a multiplication, between −1 and 1.
fn noise(len: usize) -> Vec<f64> {
    let mut state = 1u64;
    let mut next = move |_| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / f64::from(1u32 << 30) - 1.0
    };
    (0..len).map(&mut next).collect()
}

/// One channel, with `rate` rows per second.
fn recording(x: Vec<f64>, rate: f64) -> Series {
    let step = Step {
        dt: 1.0 / rate,
        unit: "s".into(),
    };
    Series::new(
        Channel::numbered("x", 1),
        vec![],
        step,
        vec![Trajectory::new(x)],
    )
    .unwrap()
}

fn prepared(series: &Series, text: &str) -> Series {
    text.parse::<Pipeline>().unwrap().apply(series).unwrap()
}

fn x_of(series: &Series) -> &[f64] {
    &series.trajectories()[0].x
}

/// What a SciPy program makes of numbers, given as `x`; none where Python has no SciPy.
fn scipy(x: &[f64], program: &str) -> Option<Vec<f64>> {
    let python = std::env::var("ATTRACTOR_PYTHON").unwrap_or_else(|_| "python3".into());
    let has = Command::new(&python)
        .args(["-c", "import scipy.signal"])
        .output();
    if !has.is_ok_and(|has| has.status.success()) {
        println!("skipped: `{python}` has no SciPy");
        return None;
    }
    let folder = tempfile::TempDir::new().unwrap();
    let bytes: Vec<u8> = x.iter().flat_map(|v| v.to_le_bytes()).collect();
    std::fs::write(folder.path().join("x"), bytes).unwrap();
    let program = format!(
        "import numpy as np\nfrom scipy import signal\nx = np.fromfile('x')\n{program}\nnp.asarray(y, 'f8').tofile('y')"
    );
    let done = Command::new(&python)
        .args(["-c", &program])
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}",
        String::from_utf8_lossy(&done.stderr)
    );
    let bytes = std::fs::read(folder.path().join("y")).unwrap();
    let number = |b: &[u8]| f64::from_le_bytes(b.try_into().unwrap());
    Some(bytes.chunks_exact(8).map(number).collect())
}

fn assert_near(ours: &[f64], theirs: &[f64], tolerance: f64, what: &str) {
    assert_eq!(ours.len(), theirs.len(), "{what}");
    for (t, (a, b)) in ours.iter().zip(theirs).enumerate() {
        assert!((a - b).abs() < tolerance, "{what}, row {t}: {a} {b}");
    }
}

#[test]
fn filters_are_those_of_scipy() {
    let x = noise(1000);
    let series = recording(x.clone(), 160.0);
    for (step, program, tolerance) in [
        // Rounding of 1e-16 grows by the inverse distance of the poles from the unit circle, squared where they come in
        // pairs: a few 1e3 for wide bands, 1e5 for the narrow ones.
        (
            "band-pass 8:30",
            "s = signal.butter(4, [8, 30], 'bandpass', fs=160, output='sos')",
            1e-11,
        ),
        (
            "band-pass 0.5:40",
            "s = signal.butter(4, [0.5, 40], 'bandpass', fs=160, output='sos')",
            1e-9,
        ),
        (
            "low-pass 20",
            "s = signal.butter(4, 20, 'lowpass', fs=160, output='sos')",
            1e-11,
        ),
        (
            "high-pass 1",
            "s = signal.butter(4, 1, 'highpass', fs=160, output='sos')",
            1e-9,
        ),
        (
            "notch 50",
            "s = signal.tf2sos(*signal.iirnotch(50, 30, fs=160))",
            1e-11,
        ),
    ] {
        let program = format!("{program}\ny = signal.sosfiltfilt(s, x)");
        let Some(theirs) = scipy(&x, &program) else {
            return;
        };
        assert_near(x_of(&prepared(&series, step)), &theirs, tolerance, step);
    }
}

#[test]
fn smoothing_and_detrending_are_those_of_scipy() {
    let x: Vec<f64> = noise(500)
        .iter()
        .enumerate()
        .map(|(t, v)| v + 0.01 * t as f64)
        .collect();
    let series = recording(x.clone(), 1.0);
    // Sums of up to 500 values below 6, rounded once each.
    for (step, program) in [
        ("detrend", "y = signal.detrend(x)"),
        (
            "smooth gaussian:6",
            "from scipy import ndimage\nk = signal.windows.gaussian(49, 6)\ny = ndimage.convolve1d(x, k / k.sum(), mode='mirror')",
        ),
        (
            "smooth hann:15:padded",
            "w = np.hanning(15)\ns = np.r_[x[14:0:-1], x, x[-2:-16:-1]]\ny = np.convolve(w / w.sum(), s, mode='valid')",
        ),
        ("standardize", "y = (x - x.mean()) / x.std(ddof=1)"),
        ("standardize population", "y = (x - x.mean()) / x.std()"),
    ] {
        let Some(theirs) = scipy(&x, program) else {
            return;
        };
        assert_near(x_of(&prepared(&series, step)), &theirs, 2e-13, step);
    }
}

#[test]
fn resampling_agrees_with_scipy_where_both_are_right() {
    // Two sines well inside both bands: SciPy's Fourier method is exact for whole periods, ours has a ripple of 1e-4 each.
    let wave =
        |t: usize| (TAU * 12.0 * t as f64 / 2000.0).sin() + (TAU * 70.0 * t as f64 / 2000.0).cos();
    let x: Vec<f64> = (0..2000).map(wave).collect();
    for (rate, rows) in [(36.0, 720), (250.0, 5000)] {
        let Some(theirs) = scipy(&x, &format!("y = signal.resample(x, {rows})")) else {
            return;
        };
        let ours = resample(&recording(x.clone(), 100.0), rate).unwrap();
        let (ours, middle) = (x_of(&ours), rows / 4..3 * rows / 4);
        assert_near(&ours[middle.clone()], &theirs[middle], 4e-4, "resample");
    }
}

fn shared(name: &str) -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var("ATTRACTOR_DATA").unwrap_or_else(|_| default.into());
    let path = Path::new(&folder).join(name);
    if !path.exists() {
        println!("skipped: no {name}");
    }
    path.exists().then_some(path)
}

/// The mean power of up to eight channels at a frequency in cycles a row, under a Hann window so that others do not leak in.
fn power(series: &Series, cycles: f64) -> f64 {
    let (n, len) = (series.dim_obs().min(8), series.total_len());
    let weight = |t: f64| 0.5 - 0.5 * (TAU * t / len as f64).cos();
    let of_channel = |channel: usize| {
        let parts = series.column(channel).enumerate().map(|(t, x)| {
            let t = t as f64;
            let (sin, cos) = (TAU * cycles * t).sin_cos();
            (weight(t) * x * cos, weight(t) * x * sin)
        });
        let (re, im) = parts.fold((0.0, 0.0), |sum, part| (sum.0 + part.0, sum.1 + part.1));
        re * re + im * im
    };
    (0..n).map(of_channel).sum::<f64>() / n as f64
}

/// The mean power at seven frequencies in a band 0.6 hertz wide, at 160 rows a second.
fn band(series: &Series, hertz: f64) -> f64 {
    let at = |k: i32| power(series, (hertz + 0.1 * f64::from(k)) / 160.0);
    (-3..=3).map(at).sum::<f64>() / 7.0
}

/// Mirrored about row 7, spread 1 by n, and zeros of the symmetric window of 15 rows: what the paper's EEG data show.
fn assert_smoothed_as_the_paper_did(series: &Series, rounding: f64) {
    let rows: Vec<&[f64]> = series.rows().collect();
    for k in 1..=7 {
        for (a, b) in rows[7 - k].iter().zip(rows[7 + k]) {
            assert!(
                (a - b).abs() < rounding,
                "{k} rows from the mirror: {a} {b}"
            );
        }
    }
    for channel in 0..series.dim_obs() {
        let len = series.total_len() as f64;
        let mean = series.column(channel).sum::<f64>() / len;
        let square = series.column(channel).map(|v| v * v).sum::<f64>() / len;
        assert!(mean.abs() < rounding && (square - 1.0).abs() < 4.0 * rounding);
    }
    // The window of 15 rows has zeros at 2/14 and 3/14 of the rate, the periodic one at 2/15 and 3/15 (21.3 and 32.0 Hz).
    for (zero, other) in [
        (160.0 * 2.0 / 14.0, 160.0 * 2.0 / 15.0),
        (160.0 * 3.0 / 14.0, 32.0),
    ] {
        let (there, below) = (band(series, zero), band(series, other));
        assert!(
            there < 0.5 * below,
            "{zero} Hz: {there}, {other} Hz: {below}"
        );
    }
}

const EEG: &str = "smooth hann:15:padded; cut row:1:row:9641; standardize population";

#[test]
fn the_pipeline_of_the_eeg_leaves_what_the_data_show() {
    if let Some(path) = shared("EEG_train.npy") {
        let series = format::read(&path, &ReadOptions::default()).unwrap();
        assert_eq!((series.total_len(), series.dim_obs()), (9640, 64));
        // Values up to 8 in f32.
        assert_smoothed_as_the_paper_did(&series, 4e-6);
    }
    let raw = recording(noise(9760), 160.0);
    let ours = prepared(&raw, EEG);
    assert_eq!(ours.total_len(), 9640);
    assert_smoothed_as_the_paper_did(&ours, 1e-12);
}

#[test]
fn the_ecg_is_a_signal_under_a_gaussian_of_six_rows() {
    let Some(path) = shared("ECG_pecuzal_5d_train.npy") else {
        return;
    };
    let series = format::read(&path, &ReadOptions::default()).unwrap();
    let first = |rows: usize| {
        series
            .rows()
            .take(rows)
            .map(|row| row[0])
            .collect::<Vec<_>>()
    };
    let ecg = recording(first(20_000), 700.0);
    // The transform of the kernel at f is exp(−(2π f σ)²/2): 0.03 at a tenth of 700 Hz over 1.43, below the 6e-5 that
    // cutting it at 4σ leaves from 82 Hz on. Power beyond is less than its square of any in the signal.
    let low: f64 = (1..=40).map(|f| power(&ecg, f64::from(f) / 700.0)).sum();
    let high: f64 = (110..=340)
        .step_by(10)
        .map(|f| power(&ecg, f64::from(f) / 700.0))
        .sum();
    assert!(high < 1e-7 * low, "{high} {low}");
    // Standardising came before smoothing: the spread is what smoothing left of 1.
    let (_, sd) = attractor::series::mean_and_sd(series.column(0));
    assert!((sd - 0.827).abs() < 0.01, "{sd}");
}
