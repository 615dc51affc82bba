//! `attractor prepare`, and preparing in an experiment, as a user runs them.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;

use common::{document, said};
use tempfile::TempDir;

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let row = |t: i32| {
        let t = 0.01 * f64::from(t);
        format!(
            "{t},{},{}\n",
            5.0 + (7.0 * t).sin(),
            3.0 * (11.0 * t).cos() + t
        )
    };
    let rows: String = (0..900).map(row).collect();
    fs::write(
        folder.path().join("a.csv"),
        format!("time [s],x [mV],y\n{rows}"),
    )
    .unwrap();
    folder
}

/// The rows of a table without its titles.
fn table(folder: &TempDir, name: &str) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(folder.path().join(name)).unwrap();
    let row = |line: &str| line.split(',').map(|cell| cell.parse().unwrap()).collect();
    text.lines().skip(1).map(row).collect()
}

fn spread(rows: &[Vec<f64>], column: usize) -> f64 {
    let n = rows.len() as f64;
    let mean = rows.iter().map(|row| row[column]).sum::<f64>() / n;
    let squares = rows.iter().map(|row| (row[column] - mean).powi(2));
    (squares.sum::<f64>() / (n - 1.0)).sqrt()
}

#[test]
fn steps_are_done_in_the_order_typed() {
    let folder = folder();
    let (out, notes) = said(
        folder.path(),
        "prepare a.csv b.csv --detrend --smooth gaussian:6 --standardize --cut 1:2",
        0,
    );
    assert_eq!(out, "");
    assert!(
        notes.contains("note: to do the same to other data: detrend; smooth gaussian:6; scale "),
        "{notes}"
    );
    assert!(
        notes.ends_with("wrote 100 rows, 2 channels after 4 steps: b.csv\n"),
        "{notes}"
    );
    let text = fs::read_to_string(folder.path().join("b.csv")).unwrap();
    assert!(text.starts_with("time [s],x [mV],y\n1,"), "{}", &text[..60]);

    said(
        folder.path(),
        "prepare a.csv c.csv --standardize --smooth gaussian:6",
        0,
    );
    said(
        folder.path(),
        "prepare a.csv d.csv --smooth gaussian:6 --standardize=population",
        0,
    );
    let (before, after) = (table(&folder, "c.csv"), table(&folder, "d.csv"));
    assert!((spread(&before, 1) - 1.0).abs() > 1e-2);
    let n = after.len() as f64;
    assert!((spread(&after, 1) * ((n - 1.0) / n).sqrt() - 1.0).abs() < 1e-12);
}

#[test]
fn a_choice_of_channels_rows_and_rate_comes_first() {
    let folder = folder();
    said(
        folder.path(),
        "prepare a.csv b.csv --channels Y --from 2 --to row:401 --rate 50 --high-pass 0.5",
        0,
    );
    let text = fs::read_to_string(folder.path().join("b.csv")).unwrap();
    assert!(text.starts_with("time [s],y\n2,"), "{}", &text[..40]);
    assert_eq!(table(&folder, "b.csv").len(), 100);
}

#[test]
fn mistakes_are_told() {
    let folder = folder();
    for (arguments, expected) in [
        (
            "--smooth hann:14",
            "error: `smooth hann:14` is not a step: expected gaussian:SIGMA",
        ),
        (
            "--band-pass 1:70",
            "error: step 1 (`band-pass 1:70`): frequencies lie between 0 and 50",
        ),
        (
            "--cut 20:30",
            "error: step 1 (`cut 20:30`): no row lies from 20 and before 30: times are 0 to 8.99",
        ),
        ("--channels z", "error: no column is named `z`: a.csv"),
        (
            "--from row:0",
            "error: invalid value 'row:0' for '--from <TIME>'",
        ),
    ] {
        let (_, told) = said(
            folder.path(),
            &format!("prepare a.csv b.csv {arguments}"),
            2,
        );
        assert!(told.starts_with(expected), "{told}");
        assert!(!folder.path().join("b.csv").exists());
    }
    let (_, told) = said(folder.path(), "prepare a.csv b.csv --smooth hann:14", 2);
    assert_eq!(
        told,
        "error: `smooth hann:14` is not a step: expected gaussian:SIGMA, hann:ROWS or hann:ROWS:padded with an odd number of rows from 3\n\
         hint: steps are smooth, standardize, scale, detrend, band-pass, low-pass, high-pass, notch, missing, interpolate, every, noise and cut\n"
    );
    let (_, told) = said(folder.path(), "prepare a.csv b.edf --detrend", 2);
    assert!(
        told.starts_with("error: files of format edf are read, not written: b.edf\n"),
        "{told}"
    );
}

#[test]
fn what_is_cut_says_nothing_of_other_data() {
    let folder = folder();
    let (_, notes) = said(folder.path(), "prepare a.csv b.csv --cut 1:2", 0);
    assert_eq!(notes, "wrote 100 rows, 2 channels after 1 step: b.csv\n");
}

#[test]
fn a_record_is_not_written_over() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    fs::write(at.join("a.hea"), "a 1 100 3\na.dat 16\n").unwrap();
    fs::write(at.join("a.dat"), [1, 0, 2, 0, 3, 0]).unwrap();
    for verb in ["prepare a.hea a.dat --detrend", "embed a.hea a.dat"] {
        let (_, told) = said(at, verb, 2);
        assert_eq!(
            told,
            "error: the file to write is the one to read: a.dat\nhint: name another file to write\n"
        );
    }
    assert_eq!(fs::read(at.join("a.dat")).unwrap(), [1, 0, 2, 0, 3, 0]);
}

#[test]
fn steps_that_see_rows_kept_from_training_are_reported() {
    let folder = folder();
    let small = "hidden = 4\nwindow = 20\nbatch = 4\nepochs = 1\nbatches-per-epoch = 3\n";
    fs::write(
        folder.path().join("e.toml"),
        format!("prepare = ['smooth gaussian:2', 'standardize']\n{small}data = 'a.csv'\n"),
    )
    .unwrap();
    let (_, whole) = said(folder.path(), "train --config e.toml --out all", 0);
    assert!(!whole.contains("fitted to all rows"), "{whole}");
    let (_, kept) = said(
        folder.path(),
        "train --config e.toml --out kept --held-out 0.3",
        0,
    );
    assert!(
        kept.contains("note: `standardize` of the preparation is fitted to all rows"),
        "{kept}"
    );
}

#[test]
fn an_experiment_prepares_and_new_data_pass_the_same_way() {
    let folder = folder();
    let small = "model = 'shallow-plrnn'\nhidden = 4\nwindow = 20\nbatch = 4\nepochs = 1\nbatches-per-epoch = 3\n";
    let steps = "prepare = ['detrend', 'smooth gaussian:2', 'standardize']\n";
    fs::write(
        folder.path().join("e.toml"),
        format!("{steps}{small}data = 'a.csv'\n"),
    )
    .unwrap();
    said(folder.path(), "train --config e.toml --out run --quiet", 0);
    let stored = fs::read_to_string(folder.path().join("run/experiment.toml")).unwrap();
    assert!(
        stored.contains("prepare = [\"detrend\", \"smooth gaussian:2\", \"standardize\"]"),
        "{stored}"
    );

    // The same rows through the pipeline by hand are the training data that `evaluate` finds in raw data.
    let of_raw = document(
        folder.path(),
        "evaluate run --data a.csv --no-floors --starts 1",
        0,
    );
    assert_eq!(of_raw["trained_share"], 1.0, "{of_raw:#}");

    // A model file says what it was trained through.
    let model = fs::read(folder.path().join("run/model.safetensors")).unwrap();
    let text = String::from_utf8_lossy(&model);
    assert!(
        text.contains("detrend; smooth gaussian:2; scale "),
        "{}",
        &text[..800]
    );

    // An orbit starts where the prepared data start, not at the raw 5 mV.
    let (orbit, _) = said(folder.path(), "generate run --steps 1 --data a.csv", 0);
    let first: Vec<f64> = orbit
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .map(|v| v.parse().unwrap())
        .collect();
    assert!(first[1].abs() < 3.0, "{orbit}");
}

#[test]
fn a_wrong_step_of_an_experiment_is_told_with_its_line() {
    let folder = folder();
    for text in [
        "prepare = ['smoth gaussian:2']\ndata = 'a.csv'\n",
        "[data]\npath = 'a.csv'\nprepare = ['smoth gaussian:2']\n",
    ] {
        fs::write(folder.path().join("bad.toml"), text).unwrap();
        let (_, told) = said(folder.path(), "train --config bad.toml --out other", 2);
        let line = text
            .lines()
            .position(|line| line.contains("smoth"))
            .unwrap()
            + 1;
        assert_eq!(
            told,
            format!(
                "error: `smoth gaussian:2` is not a step: no step has this name (line {line} of bad.toml)\n\
                 hint: steps are smooth, standardize, scale, detrend, band-pass, low-pass, high-pass, notch, missing, interpolate, every, noise and cut\n"
            )
        );
    }
}
