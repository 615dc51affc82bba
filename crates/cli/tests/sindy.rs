//! `--model sindy` as a user runs it: training, equations, orbits, scores, a page.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;

use common::said;
use serde_json::Value;
use tempfile::TempDir;

#[test]
fn equations_go_through_every_verb() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    said(
        path,
        "simulate lorenz63 --steps 4000 --dt 0.002 --out l.csv",
        0,
    );
    let train = "train l.csv --model sindy --standardize off --held-out 0.25 --out r";
    let (_, told) = said(path, train, 0);
    assert!(
        told.contains("7 terms of 30 candidates, degree 2"),
        "{told}"
    );
    assert!(told.contains("  dz/dt = -2.66"), "{told}");
    let (out, _) = said(
        path,
        "analyze r --system lorenz63 --steps 2000 --seconds 1",
        0,
    );
    assert!(
        out.contains("Equations of lorenz63, in its own units\n  dx/dt = -10 x + 10 y\n"),
        "{out}"
    );
    let (out, _) = said(
        path,
        "analyze r --system henon --steps 2000 --seconds 1 --json",
        0,
    );
    let document: Value = serde_json::from_str(&out).unwrap();
    let equations = &document["equations"];
    assert_eq!(equations["terms"], 7);
    assert!(
        equations["latex"][0]
            .as_str()
            .unwrap()
            .starts_with(r"\dot{x} = -")
    );
    assert!(equations["truth"]["why"].is_string());
    let (_, told) = said(path, "analyze r --system lorenz64", 2);
    assert!(told.contains("did you mean `lorenz63`?"), "{told}");
    said(path, "generate r --steps 500 --out g.csv", 0);
    let (out, _) = said(path, "evaluate r --data l.csv --json", 0);
    let scores: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(scores["parameters"], 30);
    said(path, "report r --seconds 1 --cycles 1 --system lorenz63", 0);
    let page = fs::read_to_string(path.join("r/report.html")).unwrap();
    assert!(page.contains("\"equations\":{"));
}

/// In scaled units every product has a constant and linear parts; multiplied out, the equations are those of the data's units.
#[test]
fn equations_of_standardised_data_are_shown_in_their_own_units() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    said(
        path,
        "simulate lorenz63 --steps 8000 --dt 0.002 --out l.csv",
        0,
    );
    said(
        path,
        "train l.csv --model sindy --threshold 0 --standardize on --quiet --out r",
        0,
    );
    let (out, _) = said(path, "analyze r --steps 1000 --seconds 1 --json", 0);
    let document: Value = serde_json::from_str(&out).unwrap();
    let line = document["equations"]["text"][0].as_str().unwrap();
    let linear = line
        .split(" x ")
        .next()
        .unwrap()
        .rsplit(' ')
        .next()
        .unwrap();
    let found: f64 = linear.parse().unwrap();
    // Slopes err by some parts in 1e4.
    assert!((found - 10.0).abs() < 0.05, "{line}");
}

#[test]
fn what_cannot_be_fitted_is_told_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    said(
        path,
        "simulate lorenz63 --steps 60 --dt 0.01 --out l.csv",
        0,
    );
    for (flags, what, remedy) in [
        (
            "--degree 9",
            "60 usable rows for 220 unknown coefficients",
            "`--degree`",
        ),
        ("--degree 400", "10,827,401 terms", "`--degree`"),
        (
            "--savgol-window 61",
            "slopes need 61",
            "`--savgol-window 59`",
        ),
        (
            "--threshold -1",
            "must be a number of at least 0, or auto",
            "the default is auto",
        ),
    ] {
        let (_, told) = said(
            path,
            &format!("train l.csv --model sindy {flags} --out r"),
            2,
        );
        assert!(told.contains(what) && told.contains(remedy), "{told}");
        assert!(!path.join("r/model.safetensors").exists());
    }
}
