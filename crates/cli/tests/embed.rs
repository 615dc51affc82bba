//! `attractor embed` and `attractor lyapunov FILE`, run as a user runs them.
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

/// A folder with x, y and z of Lorenz-63 in `lorenz.csv`.
fn lorenz(rows: usize) -> TempDir {
    let folder = TempDir::new().unwrap();
    let simulate = format!("simulate lorenz63 --transient 1000 --steps {rows} --out lorenz.csv");
    said(folder.path(), &simulate, 0);
    folder
}

fn write(folder: &Path, name: &str, values: impl Iterator<Item = String>) {
    let rows: String = values.map(|value| format!("{value}\n")).collect();
    fs::write(folder.join(name), format!("x\n{rows}")).unwrap();
}

fn delays(document: &Value) -> Vec<u64> {
    let coordinates = document["coordinates"].as_array().unwrap();
    coordinates
        .iter()
        .map(|c| c["delay"].as_u64().unwrap())
        .collect()
}

#[test]
fn pecuzal_writes_named_coordinates_and_all_curves() {
    let folder = lorenz(2000);
    let embed = "embed lorenz.csv states.csv --channels x --max-delay 40 --theiler 17";
    let found = document(folder.path(), embed, 0);
    let found_delays = delays(&found);
    assert_eq!(found_delays[0], 0);
    assert!(
        found_delays.len() >= 2 && found_delays[1].abs_diff(17) <= 2,
        "{found_delays:?}"
    );
    let cycles = found["pecuzal"]["cycles"].as_array().unwrap();
    assert_eq!(cycles.len(), found_delays.len());
    assert_eq!(
        cycles[0]["curves"][0]["continuity"]
            .as_array()
            .unwrap()
            .len(),
        41
    );
    assert!(cycles[0]["best"]["decrease"].as_f64().unwrap() < -0.05);
    assert_eq!(found["delay"], Value::Null);
    // The second column is the first, so many rows later.
    let text = fs::read_to_string(folder.path().join("states.csv")).unwrap();
    let mut lines = text.lines();
    let title = lines.next().unwrap().to_string();
    assert!(
        title.contains(&format!("x,x(t+{})", found_delays[1])),
        "{title}"
    );
    let column = |i: usize| -> Vec<String> {
        let cell = |line: &str| line.split(',').nth(i).unwrap().to_string();
        text.lines().skip(1).map(cell).collect()
    };
    let delay = found_delays[1] as usize;
    let (now, later) = (column(1), column(2));
    assert_eq!(later[..now.len() - delay], now[delay..]);
    let (out, _) = said(folder.path(), embed, 0);
    assert!(out.starts_with("x  x(t+") && out.contains("taken"), "{out}");
}

#[test]
fn several_channels_are_embedded_together() {
    let folder = lorenz(1200);
    let found = document(
        folder.path(),
        "embed lorenz.csv states.npz --max-delay 15",
        0,
    );
    let coordinates = found["coordinates"].as_array().unwrap();
    let names: Vec<&str> = coordinates
        .iter()
        .map(|c| c["channel"].as_str().unwrap())
        .collect();
    assert!(names.len() >= 2 && names[0] != names[1], "{names:?}");
    // Every channel was tried as the first, with every channel as the second.
    assert_eq!(
        found["pecuzal"]["cycles"][0]["curves"]
            .as_array()
            .unwrap()
            .len(),
        9
    );
}

#[test]
fn one_delay_comes_with_its_dimension_or_takes_a_given_one() {
    let folder = lorenz(4000);
    let embed = "embed lorenz.csv states.npy --channels x --method delay";
    let found = document(folder.path(), embed, 0);
    let delay = delays(&found)[1];
    assert!(delay.abs_diff(17) <= 2, "{found}");
    assert_eq!(delays(&found), [0, delay, 2 * delay]);
    assert_eq!(
        found["delay"]["mutual_information"]
            .as_array()
            .unwrap()
            .len(),
        100
    );
    let given = document(folder.path(), &format!("{embed} --dims 5"), 0);
    assert_eq!(
        (delays(&given).len(), &given["delay"]["e1"]),
        (5, &Value::Null)
    );
    let (out, _) = said(folder.path(), embed, 0);
    assert!(
        out.contains("taken: first minimum") && out.contains("no false neighbours"),
        "{out}"
    );
}

#[test]
fn the_delay_of_a_map_is_told_with_its_rule() {
    let folder = TempDir::new().unwrap();
    said(
        folder.path(),
        "simulate henon --steps 2000 --out henon.csv",
        0,
    );
    let embed = "embed henon.csv states.csv --channels x --method delay";
    let found = document(folder.path(), embed, 0);
    assert_eq!((delays(&found), &found["theiler"]), (vec![0, 1], &1.into()));
    assert_eq!(found["delay"]["rule"], "uncorrelated");
    let (out, _) = said(folder.path(), embed, 0);
    let taken: Vec<&str> = out.lines().filter(|line| line.contains("taken")).collect();
    assert_eq!(taken.len(), 1, "{out}");
    assert!(
        taken[0].trim_start().starts_with("1 ") && taken[0].contains("below 1/e within a row"),
        "{out}"
    );
}

type Signal = fn(f64) -> f64;

#[test]
fn what_is_not_chaotic_has_no_exponent() {
    let folder = TempDir::new().unwrap();
    let series: [(&str, Signal); 3] = [
        ("sine.csv", |t| (0.1 * t).sin()),
        ("torus.csv", |t| {
            (0.1 * t).sin() + (0.1 * 2f64.sqrt() * t).sin()
        }),
        ("line.csv", |t| t),
    ];
    for (name, x) in series {
        let values = (0..2500).map(|t| x(f64::from(t)).to_string());
        write(folder.path(), name, values);
        let found = document(folder.path(), &format!("lyapunov {name}"), 0);
        assert_eq!(found["exponent"]["per_row"], Value::Null, "{name}");
        assert_eq!(found["predictability"], Value::Null, "{name}");
    }
    let (out, _) = said(folder.path(), "lyapunov sine.csv", 0);
    assert!(out.contains("no curve has a straight region"), "{out}");
}

/// The interval of the run that was just made.
fn read_interval(folder: &Path) -> f64 {
    let text = fs::read_to_string(folder.join("run/experiment.toml")).unwrap();
    let line = text.lines().find_map(|l| l.strip_prefix("interval = "));
    line.unwrap().parse().unwrap()
}

const SPARSE: &str =
    "train lorenz.csv --out run --epochs 1 --batches-per-epoch 2 --threads 1 --forcing stf";

#[test]
fn an_interval_that_no_window_reaches_is_told() {
    let folder = lorenz(4000);
    // ln 2/λ is 77 rows (λ = 0.0091 per row).
    for flags in ["--window 30", "--interval 50 --window 50"] {
        let (_, notes) = said(folder.path(), &format!("{SPARSE} {flags}"), 0);
        assert!(notes.contains("are forced at their start alone"), "{notes}");
        fs::remove_dir_all(folder.path().join("run")).unwrap();
    }
    let (_, notes) = said(
        folder.path(),
        &format!("{SPARSE} --interval 50 --window 51"),
        0,
    );
    assert!(!notes.contains("at their start alone"), "{notes}");
}

#[test]
fn what_is_not_chaotic_has_no_interval() {
    let folder = TempDir::new().unwrap();
    let sine = (0..2500).map(|t| (0.1 * f64::from(t)).sin().to_string());
    write(folder.path(), "lorenz.csv", sine);
    let (_, complaint) = said(folder.path(), SPARSE, 2);
    assert!(
        complaint.contains("no automatic interval of sparse forcing")
            && complaint.contains("lorenz.csv")
            && complaint.contains("hint: give the steps between forcings with `--interval`"),
        "{complaint}"
    );
    assert!(!folder.path().join("run").exists());
}

#[test]
fn the_interval_of_sparse_forcing_is_the_predictability_time() {
    let folder = lorenz(4000);
    let train = SPARSE;
    let (_, notes) = said(folder.path(), train, 0);
    assert!(
        notes.contains("note: states are replaced every ")
            && notes.contains("the predictability time of `x` (λ = 0.00"),
        "{notes}"
    );
    let found = document(folder.path(), "lyapunov lorenz.csv --channels x", 0);
    let time = found["predictability"]["rows"].as_f64().unwrap();
    // Standardising changes the last digits of the exponent.
    let steps = read_interval(folder.path());
    assert!((steps - time).abs() < 0.5 + 1e-6 * time, "{steps} {time}");
    fs::remove_dir_all(folder.path().join("run")).unwrap();
    said(folder.path(), &format!("{train} --interval 20"), 0);
    assert_eq!(read_interval(folder.path()), 20.0);
}

#[test]
fn a_recording_has_an_exponent_with_its_curves() {
    let folder = TempDir::new().unwrap();
    let logistic = std::iter::successors(Some(0.3), |x: &f64| Some(4.0 * x * (1.0 - x)));
    let rows = logistic.skip(100).take(2000).map(|x| x.to_string());
    write(folder.path(), "logistic.csv", rows);
    let command = "lyapunov logistic.csv --dt 0.5 --curves curves.csv";
    for method in ["rosenstein", "kantz"] {
        let found = document(folder.path(), &format!("{command} --method {method}"), 0);
        let exponent = &found["exponent"];
        let per_row = exponent["per_row"].as_f64().unwrap();
        assert!(
            (per_row / std::f64::consts::LN_2 - 1.0).abs() < 0.05,
            "{per_row}"
        );
        assert_eq!(exponent["per_time"].as_f64().unwrap(), per_row / 0.5);
        assert!(exponent["error_per_row"].as_f64().unwrap() < 0.05);
        let time = found["predictability"]["rows"].as_f64().unwrap();
        assert!((time - std::f64::consts::LN_2 / per_row).abs() < 1e-12);
        assert!(found["curves"][0]["fit"]["slope_per_row"].is_f64());
    }
    let table = fs::read_to_string(folder.path().join("curves.csv")).unwrap();
    assert!(table.lines().next().unwrap().contains("S1"), "{table}");
    let (out, _) = said(
        folder.path(),
        "lyapunov logistic.csv --dims 2:3 --fit 1:6",
        0,
    );
    assert!(
        out.contains("1 to 6") && out.contains("(spread over dimensions) per unit of time"),
        "{out}"
    );
    assert!(out.contains("predictability time"), "{out}");
    // Noise has no straight region: a result, and null.
    let noise = std::iter::successors(Some(1u64), |s| Some(s * 16_807 % 2_147_483_647));
    write(
        folder.path(),
        "noise.csv",
        noise.skip(1).take(1500).map(|s| s.to_string()),
    );
    let found = document(folder.path(), "lyapunov noise.csv --dims 1:2 --delay 1", 0);
    assert_eq!(found["exponent"]["per_row"], Value::Null);
    assert_eq!(found["predictability"], Value::Null);
}

#[test]
fn missing_rows_are_left_out_and_said_so() {
    let folder = TempDir::new().unwrap();
    let sine = |t: usize| ((0.1 * t as f64).sin() + 0.5 * (0.237 * t as f64).sin()).to_string();
    let value = |t: usize| if t == 100 { "nan".to_string() } else { sine(t) };
    write(folder.path(), "gap.csv", (0..900).map(value));
    let (_, notes) = said(folder.path(), "embed gap.csv out.csv --max-delay 20", 0);
    assert!(notes.contains("799 of 900 rows"), "{notes}");
    let (_, notes) = said(folder.path(), "lyapunov gap.csv --dims 3 --delay 5", 0);
    assert!(notes.contains("799 of 900 rows"), "{notes}");
}

/// What is asked, and what is part of the answer.
const INVALID: &[(&str, &str)] = &[
    ("embed flat.csv out.csv", "channel `x` is constant"),
    (
        "embed lorenz.csv out.csv --max-delay 400",
        "needed, found 300",
    ),
    (
        "embed lorenz.csv out.csv --theiler 200",
        "needed, found 300",
    ),
    (
        "embed lorenz.csv out.csv --channels w",
        "no column is named `w`",
    ),
    (
        "lyapunov lorenz63 --channels x",
        "reading data does not act on a known system",
    ),
    (
        "embed lorenz.csv out.csv --dims 3",
        "--dims does not act on PECUZAL",
    ),
    (
        "embed lorenz.csv out.csv --method delay",
        "expected one channel, found 3",
    ),
    (
        "embed lorenz.csv lorenz.csv",
        "the file to write is the one to read",
    ),
    ("embed lorenz.csv out.xyz", "xyz"),
    ("lyapunov lorenz.csv", "expected one channel, found 3"),
    (
        "lyapunov lorenz.csv --channels x --steps 500",
        "--steps does not act on a recording",
    ),
    (
        "lyapunov lorenz63 --dims 2:3",
        "--dims does not act on a known system",
    ),
    ("lyapunov flat.csv", "channel `x` is constant"),
    (
        "lyapunov lorenz.csv --channels x --delay 200",
        "needed, found 300",
    ),
    (
        "lyapunov lorenz.csv --channels x --fit 1:1e300",
        "--fit ends beyond the recording of 300 rows",
    ),
    (
        "lyapunov lorenz.csv --channels x --fit 0:1e9",
        "--fit ends beyond the recording of 300 rows",
    ),
    (
        "lyapunov lorenz.csv --channels x --fit 3:1",
        "the first smaller",
    ),
    (
        "lyapunov lorenz.csv --channels x --delay 200",
        "lower --delay, --dims, --theiler or the end of --fit",
    ),
    (
        "embed lorenz.csv out.csv --channels x --method delay --max-delay 3",
        "raise `--max-delay`, or let `--method pecuzal` find the delays",
    ),
    (
        "embed huge.csv out.csv",
        "squares of channel `x` overflow or vanish",
    ),
    (
        "embed tiny.csv out.csv --method delay",
        "squares of channel `x` overflow or vanish",
    ),
    (
        "lyapunov tiny.csv",
        "squares of channel `x` overflow or vanish",
    ),
    ("embed row.csv out.csv", "needed, found 1"),
    ("lyapunov row.csv", "needed, found 1"),
    ("lyapunov none.csv", "none.csv"),
];

#[test]
fn mistakes_are_told_and_nothing_is_written() {
    let folder = lorenz(300);
    write(folder.path(), "flat.csv", (0..300).map(|_| "4".to_string()));
    let sine = |scale: f64| (0..300).map(move |t| (scale * f64::from(t).sin()).to_string());
    write(folder.path(), "huge.csv", sine(1e300));
    write(folder.path(), "tiny.csv", sine(1e-310));
    write(folder.path(), "row.csv", ["4".to_string()].into_iter());
    for (arguments, expected) in INVALID {
        let (out, complaint) = said(folder.path(), arguments, 2);
        assert!(
            complaint.contains(expected) && out.is_empty(),
            "{arguments}: {complaint}"
        );
        assert!(!folder.path().join("out.csv").exists(), "{arguments}");
    }
}
