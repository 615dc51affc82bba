//! A neural ODE as a user trains it: every verb works with it, an interrupted training goes on with the same bits, and invalid input
//! is met with a remedy.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;
use std::path::Path;

use common::{document, said};
use tempfile::TempDir;

/// A turn in the plane with an input that shakes it, and a value that is missing.
fn write_data(folder: &Path) {
    let mut text = String::from("x,y,input:s\n");
    for t in 0..400 {
        let time = 0.1 * f64::from(t);
        let s = (0.2 * time).sin();
        let (x, y) = ((2.0 * time).cos() + 0.1 * s, (2.0 * time).sin());
        let y = if t == 380 {
            String::new()
        } else {
            y.to_string()
        };
        text.push_str(&format!("{x},{y},{s}\n"));
    }
    fs::write(folder.join("d.csv"), text).unwrap();
}

const SHORT: &str = "--model neural-ode --hidden 12 --window 8 --batches-per-epoch 5 --quiet";

#[test]
fn a_neural_ode_goes_through_every_verb() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_data(path);
    let train =
        "--epochs 60 --activation tanh --forcing agtf --decay 0.9 --noise 0.01 --average 0.9";
    said(path, &format!("train d.csv --out r {SHORT} {train}"), 0);
    let scores = document(path, "evaluate r --data d.csv --starts 2", 0);
    // (2 + 1 + 1) 12 + 13 · 2 parameters.
    assert_eq!(scores["parameters"], 74);
    said(path, "generate r --steps 50 --data d.csv --out g.csv", 0);
    document(path, "analyze r --data d.csv --steps 50 --seconds 1", 0);
    said(path, "report r --seconds 1", 0);
    let (text, _) = said(path, "explain neural-ode", 0);
    assert!(text.contains("W_b σ(W_a x + b_a + C s) + b_b"), "{text}");
    assert!(said(path, "cite neural-ode", 0).0.contains("chen2018"));
}

#[test]
fn a_resumed_training_is_the_whole_one() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_data(path);
    let train = "--epochs 40 --checkpoint-every 3 --forcing gtf --alpha 0.2 --optimizer adamax --weight-decay 1e-4";
    said(
        path,
        &format!("train d.csv --out whole {SHORT} {train} --threads 1"),
        0,
    );
    let mut child = common::start(
        path,
        &format!("train d.csv --out cut {SHORT} {train} --threads 2"),
    );
    common::wait_for(&path.join("cut/checkpoint.safetensors"), &mut child);
    // It may have ended by now; then there is nothing to resume, and the bits are compared all the same.
    let _ = child.kill();
    child.wait().unwrap();
    if !path.join("cut/outcome.json").exists() {
        said(path, "resume cut --quiet", 0);
    }
    let model = |run: &str| fs::read(path.join(run).join("model.safetensors")).unwrap();
    assert!(model("whole") == model("cut"));
}

#[test]
fn invalid_input_is_met_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_data(path);
    for (wrong, expected) in [
        ("--hidden 0", "a whole number from 1 to 65536"),
        ("--time-step 0", "a number from 0.000001 to 1000000"),
        ("--solver rk5", "euler, midpoint, rk4"),
        ("--activation relo", "relu, tanh"),
        ("--window 900", "use `--window 399`"),
        ("--batch 60000 --hidden 60000", "smaller `--batch`"),
    ] {
        let train = format!("train d.csv --out w --model neural-ode {wrong}");
        let (_, stderr) = said(path, &train, 2);
        assert!(stderr.contains(expected), "{wrong}: {stderr}");
    }
}
