//! `attractor simulate`, run as a user runs it.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

fn simulate(folder: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_attractor"))
        .current_dir(folder)
        .arg("simulate")
        .args(arguments.split(' '))
        .output()
        .unwrap()
}

/// What a simulation that works says on standard error and on standard output.
fn said(folder: &Path, arguments: &str) -> (String, String) {
    let output = simulate(folder, arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{arguments}: {stderr}");
    (stderr, String::from_utf8(output.stdout).unwrap())
}

/// What a simulation that fails says, with its exit code and no file left behind.
fn complaint(arguments: &str, code: i32) -> String {
    let folder = TempDir::new().unwrap();
    let output = simulate(folder.path(), arguments);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {stderr}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    assert!(output.stdout.is_empty());
    stderr
}

/// The numbers of a written table, without the times.
fn table(folder: &Path, name: &str) -> Vec<Vec<f64>> {
    let text = fs::read_to_string(folder.join(name)).unwrap();
    let row = |line: &str| {
        line.split(',')
            .skip(1)
            .map(|v| v.parse().unwrap())
            .collect()
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn a_table_has_names_and_times() {
    let folder = TempDir::new().unwrap();
    let (notes, out) = said(folder.path(), "lorenz63 --steps 5 --out a.csv");
    assert_eq!(notes, "wrote lorenz63: 5 rows, 3 channels: a.csv\n");
    assert!(out.is_empty());
    let text = fs::read_to_string(folder.path().join("a.csv")).unwrap();
    assert_eq!(text.lines().count(), 6);
    assert!(text.starts_with("time"), "{text}");
    assert!(text.lines().next().unwrap().ends_with("x,y,z"), "{text}");
    assert!(text.lines().nth(2).unwrap().starts_with("0.01,"), "{text}");
}

#[test]
fn the_same_seed_writes_the_same_bytes() {
    let folder = TempDir::new().unwrap();
    let with = |seed: u32, name: &str| {
        let flags =
            format!("lorenz96 --steps 50 --noise 0.05 --standardize --seed {seed} --out {name}");
        said(folder.path(), &flags);
        fs::read(folder.path().join(name)).unwrap()
    };
    assert_eq!(with(3, "a.npy"), with(3, "b.npy"));
    assert_ne!(with(3, "a.npy"), with(4, "b.npy"));
}

#[test]
fn the_json_document_says_all_that_is_needed_to_do_it_again() {
    let folder = TempDir::new().unwrap();
    let flags = "lorenz63 --steps 100 --set rho=24.5 --standardize --transient 20 --seed 7 --json --out a.npz";
    let (_, out) = said(folder.path(), flags);
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["system"], "lorenz63");
    assert_eq!(document["parameters"]["rho"], 24.5);
    assert_eq!(document["parameters"]["sigma"], 10.0);
    assert_eq!(document["dt"], 0.01);
    assert_eq!(
        (document["seed"].as_u64(), document["transient"].as_u64()),
        (Some(7), Some(20))
    );
    assert_eq!(document["channels"], serde_json::json!(["x", "y", "z"]));
    assert_eq!(document["sd"].as_array().unwrap().len(), 3);
}

#[test]
fn scaling_in_the_json_document_leads_back_to_the_raw_values() {
    let folder = TempDir::new().unwrap();
    said(folder.path(), "rossler --steps 200 --out raw.csv");
    let (_, out) = said(
        folder.path(),
        "rossler --steps 200 --standardize --json --out scaled.csv",
    );
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    let number = |key: &str, c: usize| document[key][c].as_f64().unwrap();
    let (raw, scaled) = (
        table(folder.path(), "raw.csv"),
        table(folder.path(), "scaled.csv"),
    );
    for (raw, scaled) in raw.iter().zip(&scaled) {
        for c in 0..3 {
            let back = scaled[c] * number("sd", c) + number("mean", c);
            // Rounding of numbers of a size of 10.
            assert!((back - raw[c]).abs() < 1e-13, "{back} {}", raw[c]);
        }
    }
}

#[test]
fn all_levels_of_the_multiscale_system_can_be_seen() {
    let folder = TempDir::new().unwrap();
    let (slow, _) = said(folder.path(), "lorenz96-multiscale --steps 3 --out a.csv");
    assert!(slow.contains("8 channels"), "{slow}");
    let (all, _) = said(
        folder.path(),
        "lorenz96-multiscale --steps 3 --set observe=all --method fixed --out a.csv",
    );
    assert!(all.contains("584 channels"), "{all}");
}

#[test]
fn maps_are_written_with_a_step_of_one() {
    let folder = TempDir::new().unwrap();
    let (_, out) = said(folder.path(), "henon --steps 10 --json --out a.csv");
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["dt"], 1.0);
}

#[test]
fn settings_without_effect_are_named() {
    let folder = TempDir::new().unwrap();
    let notes = |flags: &str| said(folder.path(), &format!("{flags} --out a.csv")).0;
    assert_eq!(
        notes("henon --steps 2 --method fixed --tolerance 1e-6"),
        "note: --method has no effect: `henon` has its own steps\n\
         note: --tolerance has no effect: `henon` has its own steps\n\
         wrote henon: 2 rows, 2 channels: a.csv\n"
    );
    let fixed = notes("lorenz63 --steps 2 --method fixed --tolerance 1e-6");
    assert!(
        fixed.starts_with("note: --tolerance has no effect: fixed steps take none\nwrote"),
        "{fixed}"
    );
    let one = notes("logistic --steps 1 --standardize");
    assert_eq!(
        one,
        "note: --standardize has no spread to work with: one row becomes zeros\n\
         wrote logistic: 1 row, 1 channel: a.csv\n"
    );
    assert!(notes("lorenz63 --steps 2 --tolerance 1e-6").starts_with("wrote"));
}

#[test]
fn mistakes_are_told_before_the_work() {
    let unknown = complaint("lorentz-63 --steps 10 --out a.csv", 2);
    assert_eq!(
        unknown,
        "error: no system is named `lorentz-63`\nhint: did you mean `lorenz63`?\n"
    );
    let parameter = complaint("lorenz63 --steps 10 --set rhoo=3 --out a.csv", 2);
    assert_eq!(
        parameter,
        "error: unknown setting `rhoo` of system `lorenz63`\nhint: did you mean `rho`?\n"
    );
    let value = complaint("lorenz96 --steps 10 --set n=2 --out a.csv", 2);
    assert!(
        value.starts_with("error: `n` must be a whole number from 4 to 4096, found `2`"),
        "{value}"
    );
    let steps = complaint("lorenz63 --steps 0 --out a.csv", 2);
    assert!(
        steps.starts_with("error: expected at least one step"),
        "{steps}"
    );
    let dt = complaint("lorenz63 --steps 10 --dt -0.1 --out a.csv", 2);
    assert_eq!(
        dt,
        "error: the sampling step must be a number above 0, found -0.1\n"
    );
    let map = complaint("henon --steps 10 --dt 0.1 --out a.csv", 2);
    assert!(map.contains("`henon` is a map"), "{map}");
    let noise = complaint("henon --steps 10 --noise -1 --out a.csv", 2);
    assert!(noise.contains("noise must be"), "{noise}");
    let tolerance = complaint("lorenz63 --steps 10 --tolerance 0 --out a.csv", 2);
    assert!(tolerance.contains("tolerance must be"), "{tolerance}");
    let example = complaint("lorenz63 --steps 10 --set rho --out a.csv", 2);
    assert!(
        example.contains("expected NAME=VALUE, as in rho=24.5"),
        "{example}"
    );
    let nearest = complaint("lorenz --steps 10 --out a.csv", 2);
    assert!(nearest.contains("did you mean `lorenz63`?"), "{nearest}");
}

#[test]
fn numbers_and_files_that_cannot_be_are_refused() {
    for flags in [
        "--steps -1",
        "--steps 9 --transient -1",
        "--steps 9 --seed -1",
    ] {
        let negative = complaint(&format!("lorenz63 --out a.csv {flags}"), 2);
        assert!(
            negative.contains("expected a whole number of at least 0"),
            "{negative}"
        );
        assert!(!negative.contains("tip:"), "{negative}");
    }
    // So large that it would run for hours if the name of the file were looked at last.
    complaint("lorenz63 --steps 1000000000 --out a.unknown", 2);
    let nowhere = complaint("lorenz63 --steps 1000000000 --out no/a.npy", 2);
    assert!(
        nowhere.starts_with("error: no such folder: no\nhint: create the folder first"),
        "{nowhere}"
    );
    let forever = complaint(
        "lorenz63 --steps 10 --transient 18446744073709551615 --out a.npy",
        2,
    );
    assert!(
        forever.starts_with("error: at most 10000000000 rows can be left out"),
        "{forever}"
    );
}

#[test]
fn a_diverging_orbit_is_an_outcome_and_leaves_no_file() {
    let error = complaint("henon --steps 1000 --set a=5 --out a.csv", 1);
    assert!(error.starts_with("error: `henon` in row "), "{error}");
    assert!(error.contains("the orbit diverges at time"), "{error}");
    assert!(error.contains("hint: "), "{error}");
}

#[test]
fn systems_are_listed() {
    let output = Command::new(env!("CARGO_BIN_EXE_attractor"))
        .args(["list", "systems"])
        .output()
        .unwrap();
    let names = String::from_utf8(output.stdout).unwrap();
    for name in [
        "lorenz63",
        "lorenz96-multiscale",
        "kuramoto-sivashinsky",
        "henon",
    ] {
        assert!(names.contains(&format!("  {name} ")), "{name}");
    }
}
