//! LSTM and LEM as a user trains them: every verb works with them, an interrupted training goes on with the same bits, and invalid
//! input is met with a remedy.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::fs;
use std::path::Path;

use crate::common::{self, document, said};
use tempfile::TempDir;

const ROWS: usize = 400;

/// Two trajectories of a turn in the plane with an input that shakes it, and a value that is missing.
fn write_data(folder: &Path) {
    let mut text = String::from("id,x,y,input:s\n");
    for t in 0..2 * ROWS {
        let time = 0.1 * t as f64;
        let s = (0.2 * time).sin();
        let (x, y) = ((2.0 * time).cos() + 0.1 * s, (2.0 * time).sin());
        let y = if t == 380 {
            String::new()
        } else {
            y.to_string()
        };
        text.push_str(&format!("{},{x},{y},{s}\n", t / ROWS));
    }
    fs::write(folder.join("d.csv"), text).unwrap();
}

const LSTM: &str =
    "--trajectory id --model lstm --hidden 6 --sequence 8 --prediction 4 --propagation 60 --quiet";
const LEM: &str =
    "--trajectory id --model lem --hidden 6 --window 20 --warm-up 20 --batches-per-epoch 5 --quiet";

#[test]
fn recurrent_networks_go_through_every_verb() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_data(path);
    // 4 n (n + N + K + 1) + N (n + 1) parameters, and 4 n (N + K + 1) + 4 n (n + 1) + N (n + 1).
    for (model, short, more, parameters) in [
        (
            "lstm",
            LSTM,
            "--epochs 4 --rounds 2 --validation 0.3 --noise 5 --average 0.9",
            254,
        ),
        (
            "lem",
            LEM,
            "--epochs 8 --alpha 0.8 --alpha-end 0.5 --best-by both --best-every 4",
            278,
        ),
    ] {
        said(
            path,
            &format!("train d.csv --out {model} {short} {more}"),
            0,
        );
        let evaluate = format!("evaluate {model} --data d.csv --trajectory id --starts 2");
        assert_eq!(document(path, &evaluate, 0)["parameters"], parameters);
        let generate = format!("generate {model} --data d.csv --trajectory id --steps 50");
        said(path, &format!("{generate} --out {model}.csv"), 0);
        let analyze = format!("analyze {model} --data d.csv --trajectory id");
        document(path, &format!("{analyze} --steps 50 --seconds 1"), 0);
        said(path, &format!("report {model} --seconds 1"), 0);
    }
    assert!(said(path, "cite lstm", 0).0.contains("vlachas2018"));
    assert!(said(path, "cite lem", 0).0.contains("rusch2022"));
}

#[test]
fn a_resumed_training_is_the_whole_one() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_data(path);
    let lstm = format!("{LSTM} --epochs 15 --rounds 2 --validation 0.3 --weight-decay 1e-4");
    let lem = format!("{LEM} --epochs 60 --alpha 0.7 --clip-norm 1");
    for (model, settings) in [("lstm", lstm), ("lem", lem)] {
        let train = |out: &str, threads: usize| {
            format!(
                "train d.csv --out {model}-{out} {settings} --threads {threads} --checkpoint-every 3"
            )
        };
        said(path, &train("whole", 1), 0);
        let mut child = common::start(path, &train("cut", 2));
        let cut = path.join(format!("{model}-cut"));
        common::wait_for(&cut.join("checkpoint.safetensors"), &mut child);
        // It may have ended by now; then there is nothing to resume, and the bits are compared all the same.
        let _ = child.kill();
        child.wait().unwrap();
        if !cut.join("outcome.json").exists() {
            said(path, &format!("resume {model}-cut --quiet"), 0);
        }
        let bits = |folder: &Path| fs::read(folder.join("model.safetensors")).unwrap();
        assert!(bits(&path.join(format!("{model}-whole"))) == bits(&cut));
    }
}

#[test]
fn invalid_input_is_met_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_data(path);
    for (wrong, expected) in [
        ("lstm --hidden 0", "a whole number from 1 to 65536"),
        (
            "lstm --sequence 20 --prediction 5 --propagation 24",
            "use `--propagation 25`",
        ),
        (
            "lstm --propagation 1000 --schedule exponential",
            "use `--propagation 391`",
        ),
        ("lstm --schedule falling", "rounds, exponential"),
        ("lem --hidden 0", "a whole number from 1 to 65536"),
        ("lem --delta-t 0", "a number above 0"),
        ("lem --delta-t -1", "a number above 0"),
        ("lem --window 900", "use `--window 399`"),
        ("lem --alpha 1.5", "a number from 0 to 1"),
        ("lsmt", "did you mean `lstm`"),
    ] {
        let train = format!("train d.csv --trajectory id --out w --model {wrong}");
        let (_, stderr) = said(path, &train, 2);
        assert!(stderr.contains(expected), "{wrong}: {stderr}");
    }
}

/// Settings of another method, and those without effect beside others, are reported.
#[test]
fn settings_without_effect_are_reported() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_data(path);
    let loud = LSTM.replace(" --quiet", "");
    let train = format!(
        "train d.csv --out r {loud} --epochs 1 --schedule exponential --rounds 3 --delta-t 0.5 --set solver=euler"
    );
    let (_, stderr) = said(path, &train, 0);
    for name in ["--rounds", "--delta-t", "solver"] {
        let noted = |line: &&str| line.starts_with("note: ") && line.contains(name);
        assert!(stderr.lines().any(|line| noted(&line)), "{name}: {stderr}");
    }
}
