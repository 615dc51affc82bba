//! The right columns: what `inspect`, `train`, `demo` and `prepare` take for time, for missing values and for states, run as a user
//! runs them, with trainings that are only long enough to see every step work.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;
use std::path::Path;

use common::{document, said};
use serde_json::Value;
use tempfile::TempDir;

/// A race that takes seconds.
const SHORT: &str = "--methods linear,nvar,sindy --updates 60 --no-report";

/// The verdict that a race ends with.
fn word(folder: &Path, file: &str, out: &str) -> (String, String) {
    let (text, notes) = said(
        folder,
        &format!("learn {file} {SHORT} --json --out {out}"),
        0,
    );
    let document: Value = serde_json::from_str(&text).unwrap();
    let word = document["evaluation"]["verdict"]["word"].as_str().unwrap();
    (word.to_string(), notes)
}

/// Whole numbers that look random, for noise that is the same everywhere.
fn noise(i: u64) -> f64 {
    let mixed = i
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    let mixed = (mixed ^ (mixed >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    ((mixed ^ (mixed >> 33)) >> 11) as f64 / (1u64 << 53) as f64 - 0.5
}

/// Two indices of a climate from January 1950 on, month by month: one year is missing, and some values are −99.99.
fn climate(folder: &Path) {
    let mut text = String::from("date,nino,soi\n");
    for i in (0..900).filter(|i| !(300..312).contains(i)) {
        let t = f64::from(i);
        let x = (0.13 * t).sin() + 0.4 * (0.52 * t).cos() + 0.1 * noise(i as u64);
        let y = (0.13 * t).cos() + 0.1 * noise(1000 + i as u64);
        let y = if i % 97 == 5 { -99.99 } else { y };
        text += &format!("{}-{:02}-01,{x},{y}\n", 1950 + i / 12, i % 12 + 1);
    }
    fs::write(folder.join("climate.csv"), text).unwrap();
}

fn one_channel(folder: &Path, name: &str, value: impl Fn(u64) -> f64) {
    let rows: String = (0..1500).map(|i| format!("{}\n", value(i))).collect();
    fs::write(folder.join(name), format!("x\n{rows}")).unwrap();
}

/// About seven and a half rows to a pulse, whose size grows and breaks down, as that of a laser.
fn laser(i: u64) -> f64 {
    let t = i as f64;
    let size = 1.0 + 0.6 * (0.031 * t).sin() + 0.3 * (0.0213 * t).cos();
    (100.0 * size * (0.83 * t).cos().exp()).round()
}

#[test]
fn a_climate_table_has_months_a_gap_and_missing_values() {
    let folder = TempDir::new().unwrap();
    climate(folder.path());
    let found = document(folder.path(), "inspect climate.csv", 1);
    assert_eq!(
        found["step"],
        serde_json::json!({ "dt": 1.0, "unit": "month" })
    );
    assert_eq!(found["trajectories"][0]["gaps"], 1);
    assert_eq!(found["trajectories"][0]["start"], -240.0);
    let findings = found["findings"].as_array().unwrap();
    let remedy = |check: &str| {
        let found = findings.iter().find(|f| f["check"] == check);
        found.unwrap()["remedy"].as_str().unwrap().to_string()
    };
    let flag = "--missing-value=-99.99";
    assert!(remedy("sentinels").contains(flag));
    let found = document(folder.path(), &format!("inspect climate.csv {flag}"), 0);
    let names: Vec<&Value> = found["channels"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| &c["name"])
        .collect();
    assert_eq!(names, ["nino", "soi"]);
    assert!(found["channels"][1]["missing"].as_u64().unwrap() > 5);
    assert!(found["channels"][1]["min"].as_f64().unwrap() > -2.0);
}

#[test]
fn a_climate_table_is_read_as_it_is_meant() {
    let folder = TempDir::new().unwrap();
    climate(folder.path());
    let (word, notes) = word(folder.path(), "climate.csv", "d");
    assert!(notes.contains("-99.99 occurs"), "{notes}");
    assert!(notes.contains("missing rows are interpolated"), "{notes}");
    assert!(
        notes.contains("of 888 rows, 533 rows are for training"),
        "{notes}"
    );
    // Fifteen years say little about an attractor.
    assert_eq!(word, "cannot tell", "{notes}");
    let run = "d/final-1";
    let stored = folder.path().join(run).join("experiment.toml");
    let stored = fs::read_to_string(stored).unwrap();
    assert!(stored.contains("missing-value = -99.99"), "{stored}");
    // The model remembers, so that other data are read alike.
    let scores = |flags: &str| {
        said(
            folder.path(),
            &format!("evaluate {run} --data climate.csv {flags} --no-floors"),
            0,
        )
        .0
    };
    assert_eq!(scores(""), scores("--missing-value=-99.99"));
}

#[test]
fn training_tells_of_numbers_that_stand_for_missing_values() {
    let folder = TempDir::new().unwrap();
    climate(folder.path());
    let train = "train climate.csv --out run --epochs 1 --batches-per-epoch 2 --window 20";
    let (_, notes) = said(folder.path(), train, 0);
    assert!(
        notes.contains("`--missing-value=-99.99` reads it as missing"),
        "{notes}"
    );
    let train = "train climate.csv --missing-value=-99.99 --out other --epochs 1 --batches-per-epoch 2 --window 20";
    let (_, notes) = said(folder.path(), train, 0);
    assert!(!notes.contains("occurs"), "{notes}");
    assert!(notes.contains("finished 2 updates"), "{notes}");
}

#[test]
fn states_are_made_of_one_channel() {
    let folder = TempDir::new().unwrap();
    one_channel(folder.path(), "laser.csv", laser);
    let (out, _) = said(folder.path(), "inspect laser.csv", 0);
    assert!(
        out.contains("attractor embed laser.csv states.csv"),
        "{out}"
    );
    let train = "train laser.csv --out run --epochs 1 --batches-per-epoch 2 --window 20";
    let (_, notes) = said(folder.path(), train, 0);
    assert!(
        notes.contains("attractor embed laser.csv states.csv"),
        "{notes}"
    );
    let (word, notes) = word(folder.path(), "laser.csv", "d");
    assert!(notes.contains("`attractor embed "), "{notes}");
    assert!(["good", "partly"].contains(&word.as_str()), "{word}");
    let states = fs::read_to_string(folder.path().join("d/states.csv")).unwrap();
    assert!(
        states.lines().next().unwrap().contains("x(t+"),
        "{states:.80}"
    );
}

/// Van der Pol's oscillator without a force: a limit cycle.
fn van_der_pol(folder: &Path) {
    let mut text = String::from("x,y\n");
    let (mut x, mut y) = (2.0_f64, 0.0_f64);
    for row in 0..20_000 {
        // Ten small steps of Euler's method per row.
        let change = 2.0 * (1.0 - x * x) * y - x;
        (x, y) = (x + 0.01 * y, y + 0.01 * change);
        if row % 10 == 0 {
            text += &format!("{x},{y}\n");
        }
    }
    fs::write(folder.join("vdp.csv"), text).unwrap();
}

#[test]
fn two_channels_are_taken_as_they_are() {
    let folder = TempDir::new().unwrap();
    van_der_pol(folder.path());
    let (word, notes) = word(folder.path(), "vdp.csv", "d");
    assert_eq!(word, "good", "{notes}");
    assert!(!notes.contains("attractor embed"), "{notes}");
    assert!(!folder.path().join("d/states.csv").exists());
}

#[test]
fn noise_is_taken_as_it_is_and_no_model_of_it_is_any_good() {
    let folder = TempDir::new().unwrap();
    one_channel(folder.path(), "noise.csv", noise);
    let (word, notes) = word(folder.path(), "noise.csv", "d");
    assert!(
        ["not a reconstruction", "cannot tell"].contains(&word.as_str()),
        "{word}"
    );
    assert!(!notes.contains("attractor embed"), "{notes}");
    assert!(!folder.path().join("d/states.csv").exists());
}

#[test]
fn whole_trajectories_are_held_out() {
    let folder = TempDir::new().unwrap();
    let mut text = String::from("subject,time,x,y\n");
    for (k, subject) in ["ann", "bob", "carl"].iter().enumerate() {
        for i in 0..300 {
            let t = 0.2 * f64::from(i) + 0.37 * k as f64;
            text += &format!("{subject},{},{},{}\n", 0.1 * f64::from(i), t.sin(), t.cos());
        }
    }
    fs::write(folder.path().join("s.csv"), text).unwrap();
    let short = "--epochs 1 --batches-per-epoch 2 --window 20";
    let train =
        format!("train s.csv --trajectory subject --out run {short} --held-out-trajectories bob");
    let (_, notes) = said(folder.path(), &train, 0);
    assert!(
        notes.contains("kept for scoring: bob; `--only-trajectories bob`"),
        "{notes}"
    );
    let judged = |names: &str| {
        let flags = "--trajectory subject --no-floors --starts 1";
        document(
            folder.path(),
            &format!("evaluate run --data s.csv --only-trajectories {names} {flags}"),
            0,
        )
    };
    assert_eq!(judged("bob")["trained_share"], 0.0);
    assert_eq!(judged("ann")["trained_share"], 1.0);
    let learn = format!(
        "learn s.csv --trajectory subject --out d --held-out-trajectories 1 {SHORT} --json"
    );
    let (out, notes) = said(folder.path(), &learn, 0);
    assert!(
        notes.contains("the test part consists of whole trajectories (1)"),
        "{notes}"
    );
    let found: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(found["evaluation"]["rows"], 300);
    assert_eq!(found["evaluation"]["trained_share"], 0.0);
    let (_, error) = said(
        folder.path(),
        &train.replace("bob", "dora").replace("run", "r2"),
        2,
    );
    assert!(
        error.contains("no trajectory is named `dora`") && error.contains("ann, bob and carl"),
        "{error}"
    );
    // Leave one out, as a study.
    let study = format!(
        "seeds = [1]\n[data]\ntrain = \"s.csv\"\ntrajectory = \"subject\"\n[settings]\nepochs = 1\nbatches-per-epoch = 2\nwindow = 20\n[grid]\nheld-out-trajectories = [{}]\n",
        "\"ann\", \"bob\", \"carl\""
    );
    fs::write(folder.path().join("study.toml"), study).unwrap();
    let (_, notes) = said(folder.path(), "sweep study.toml --out loo", 0);
    assert!(notes.contains("3 of 3 runs are done"), "{notes}");
}

#[test]
fn irregular_times_are_resampled_by_the_flag_that_the_error_names() {
    let folder = TempDir::new().unwrap();
    let row = |i: i32| {
        let t = f64::from(i) + 0.3 * f64::from(i % 3);
        format!("{t},{}\n", (0.3 * t).sin())
    };
    let rows: String = (0..200).map(row).collect();
    fs::write(folder.path().join("a.csv"), format!("time,x\n{rows}")).unwrap();
    let (_, error) = said(folder.path(), "inspect a.csv", 2);
    let flag = error
        .split('`')
        .find(|part| part.starts_with("--resample"))
        .unwrap();
    said(folder.path(), &format!("prepare a.csv b.csv {flag}"), 0);
    let found = document(folder.path(), "inspect b.csv", 1);
    assert_eq!(found["trajectories"][0]["gaps"], 0);
    assert!(found["rows"].as_u64().unwrap() > 100);
}

#[test]
fn missing_values_are_filled_by_the_command_that_inspect_names() {
    let folder = TempDir::new().unwrap();
    let row = |i: i32| match i % 50 {
        20..=22 => format!("{i},\n"),
        _ => format!("{i},{}\n", (0.1 * f64::from(i)).sin()),
    };
    let rows: String = (0..1000).map(row).collect();
    fs::write(folder.path().join("a.csv"), format!("time,x\n{rows}")).unwrap();
    let (out, _) = said(folder.path(), "inspect a.csv", 0);
    let command = out
        .split('`')
        .find(|part| part.starts_with("attractor prepare"))
        .unwrap();
    said(
        folder.path(),
        command.strip_prefix("attractor ").unwrap(),
        0,
    );
    let found = document(folder.path(), "inspect filled.csv", 0);
    assert_eq!(found["channels"][0]["missing"], 0);
    let thinned = "prepare filled.csv thin.csv --every 4 --noise 0.01 --interpolate";
    let (_, notes) = said(folder.path(), thinned, 0);
    assert!(
        notes.contains("wrote 250 rows, 1 channel after 3 steps"),
        "{notes}"
    );
}

#[test]
fn data_in_other_units_are_told_before_the_scores() {
    let folder = TempDir::new().unwrap();
    said(
        folder.path(),
        "simulate lorenz63 --steps 2000 --out a.csv",
        0,
    );
    said(
        folder.path(),
        "train a.csv --out run --epochs 1 --batches-per-epoch 2 --quiet",
        0,
    );
    let (_, notes) = said(
        folder.path(),
        "evaluate run --data a.csv --no-floors --starts 1",
        0,
    );
    assert!(!notes.contains("another scale"), "{notes}");
    said(
        folder.path(),
        "prepare a.csv b.csv --scale 0/0.001,0/0.001,0/0.001",
        0,
    );
    for command in [
        "evaluate run --data b.csv --no-floors --starts 1",
        "generate run --data b.csv --steps 5",
        "report run --data b.csv --out page.html --seconds 1",
    ] {
        let output = common::attractor(folder.path(), command);
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(
            notes.contains("note: the data have another scale: `"),
            "{command}: {notes}"
        );
    }
}

#[test]
fn a_second_clock_is_no_state_either() {
    let folder = TempDir::new().unwrap();
    let rows: String = (0..60)
        .map(|i| format!("{},{},{}\n", 0.1 * f64::from(i), i, f64::from(i).sin()))
        .collect();
    fs::write(
        folder.path().join("a.csv"),
        format!("clock,frame,x\n{rows}"),
    )
    .unwrap();
    let (_, error) = said(folder.path(), "train a.csv --time clock --out run", 2);
    assert!(
        error.contains("channel `frame`") && error.contains("`--channels x`"),
        "{error}"
    );
}

#[test]
fn spreadsheets_are_refused_with_the_way_out() {
    let folder = TempDir::new().unwrap();
    fs::write(folder.path().join("a.xlsx"), "PK").unwrap();
    let (_, error) = said(folder.path(), "inspect a.xlsx", 2);
    assert!(
        error.contains("files of spreadsheets are not read") && error.contains("read_excel"),
        "{error}"
    );
}

#[test]
fn several_numbers_that_stand_for_missing_values_are_named_together() {
    let folder = TempDir::new().unwrap();
    let row = |i: u64| match i % 37 {
        5 => "-99.99,32767\n".to_string(),
        _ => format!("{},{}\n", noise(i), noise(i + 5000)),
    };
    let rows: String = (0..370).map(row).collect();
    fs::write(folder.path().join("a.csv"), format!("x,y\n{rows}")).unwrap();
    let (out, _) = said(folder.path(), "inspect a.csv", 1);
    let problem = "problem: x and y: -99.99 and 32767 occur 20 times, far from all other values";
    assert!(out.contains(problem), "{out}");
    assert!(
        out.contains("`--missing-value=-99.99,32767` reads them as missing"),
        "{out}"
    );
}
