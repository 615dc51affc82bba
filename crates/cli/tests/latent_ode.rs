//! ODE-RNN and Latent-ODE as a user trains them: every verb works with them, an interrupted training goes on with the same bits, and
//! invalid input is met with a remedy.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;
use std::path::Path;

use common::{document, said};
use tempfile::TempDir;

/// A turn in the plane, of which some values and some rows are missing on the way.
fn write_data(folder: &Path) {
    let mut text = String::from("x,y\n");
    for t in 0..400 {
        let time = 0.1 * f64::from(t);
        let (x, y) = ((2.0 * time).cos(), (2.0 * time).sin());
        let is_there = |value: f64, missing: bool| {
            if missing {
                String::new()
            } else {
                value.to_string()
            }
        };
        let worn = (200..330).contains(&t);
        let (x, y) = (
            is_there(x, worn && t % 3 == 1),
            is_there(y, worn && (t % 5 == 2 || t % 3 == 1)),
        );
        text.push_str(&format!("{x},{y}\n"));
    }
    fs::write(folder.join("d.csv"), text).unwrap();
}

const SHORT: &str = "--hidden 6 --latent 3 --gate-hidden 5 --window 20 --batch 8 --batches-per-epoch 5 --standardize off --quiet";

#[test]
fn both_go_through_every_verb() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_data(path);
    // (3 + 1) 6 + 7·6 + 7·3 of the field; 3 (6 + 4 + 1) 5 + 2·6·3 + 6·6 of the unit; for ode-rnn 4·9 + 10·2 of the decoder and
    // 7·9 + 10·6 unused; for latent-ode an encoder of 4 states, 9·6 + 7·6 of the transform and 4·2 of the decoder.
    for (model, more, parameters) in [
        (
            "ode-rnn",
            "--decoder-hidden 9 --noise 0.01",
            87 + 237 + 56 + 123,
        ),
        (
            "latent-ode",
            "--encoder-latent 4 --transform-hidden 6 --time-step 0.1 --sigma 0.1 --kl-wait 1",
            87 + 100 + 291 + 96 + 8,
        ),
    ] {
        let train = format!("train d.csv --out {model} --model {model} {SHORT} --epochs 8 {more}");
        said(path, &train, 0);
        let scores = document(
            path,
            &format!("evaluate {model} --data d.csv --starts 2"),
            0,
        );
        assert_eq!(scores["parameters"], parameters, "{model}");
        let generate = format!("generate {model} --steps 50 --data d.csv --out {model}.csv");
        said(path, &generate, 0);
        let analyze = format!("analyze {model} --data d.csv --steps 50 --seconds 1");
        document(path, &analyze, 0);
        said(path, &format!("report {model} --seconds 1"), 0);
        let (text, _) = said(path, &format!("explain {model}"), 0);
        assert!(text.contains("tanh(W₁ (m, "), "{text}");
        let (cited, _) = said(path, &format!("cite {model}"), 0);
        assert!(cited.contains("rubanova2019"), "{cited}");
    }
}

/// Some 400 rows of the same turn at their own times, from a generator of whole numbers.
fn write_irregular(folder: &Path) {
    let (mut text, mut time, mut word) = (String::from("time,x,y\n"), 0.0_f64, 1u32);
    for _ in 0..400 {
        text.push_str(&format!(
            "{time},{},{}\n",
            (2.0 * time).cos(),
            (2.0 * time).sin()
        ));
        word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        time += 0.06 + 0.14 * f64::from(word >> 16) / 65536.0;
    }
    fs::write(folder.join("i.csv"), text).unwrap();
}

/// Settings of short trainings, model by model.
const BOTH: [(&str, &str); 2] = [
    ("ode-rnn", "--decoder-hidden 9 --euler-steps 2"),
    (
        "latent-ode",
        "--encoder-latent 4 --transform-hidden 6 --sigma 0.1 --kl-wait 1",
    ),
];

#[test]
fn rows_at_their_own_times_are_trained_on_and_continued() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_irregular(path);
    let (_, refused) = said(path, "train i.csv --model ode-rnn --out w", 2);
    assert!(
        refused.contains("not uniform") && refused.contains("`--own-times "),
        "{refused}"
    );
    let own = "--own-times 0.13";
    for (model, more) in BOTH {
        let train =
            format!("train i.csv {own} --out {model} --model {model} {SHORT} --epochs 3 {more}");
        said(path, &train, 0);
        // The flag is kept with the run, and data to start from are read in the same way.
        let experiment = fs::read_to_string(path.join(model).join("experiment.toml")).unwrap();
        assert!(experiment.contains("own-times = 0.13"), "{experiment}");
        let generate = format!("generate {model} --data i.csv {own} --steps 30 --out {model}.csv");
        said(path, &generate, 0);
        let rows = fs::read_to_string(path.join(format!("{model}.csv"))).unwrap();
        let times = rows.lines().skip(1).map(|row| row.split(',').next());
        let times: Vec<f64> = times.map(|t| t.unwrap().parse().unwrap()).collect();
        assert_eq!(times.len(), 30);
        assert!(times.windows(2).all(|t| (t[1] - t[0] - 0.13).abs() < 1e-9));
        // Of the window that a state is inferred from, of 20 rows: its last row, or the step behind it.
        let last = time_of_row(path, 19) + if model == "ode-rnn" { 0.13 } else { 0.0 };
        assert!((times[0] - last).abs() < 1e-9, "{model}: {times:?} {last}");
        let report = format!("report {model} --seconds 1");
        said(path, &report, 0);
        let evaluate =
            format!("evaluate {model} --data i.csv --resample 0.13 --starts 1 --no-floors");
        document(path, &evaluate, 0);
    }
    // For windows of equal steps there is too little.
    let (text, _) = said(path, "inspect i.csv --own-times 0.13", 1);
    assert!(text.contains("times of their own"), "{text}");
    said(path, "convert i.csv same.csv --own-times 0.13", 0);
    let [from, to] = ["i.csv", "same.csv"].map(|file| fs::read(path.join(file)).unwrap());
    assert!(from == to, "times of rows are written as they were read");
}

/// The time of a row of the irregular file.
fn time_of_row(folder: &Path, row: usize) -> f64 {
    let text = fs::read_to_string(folder.join("i.csv")).unwrap();
    let line = text.lines().nth(row + 1).unwrap();
    line.split(',').next().unwrap().parse().unwrap()
}

#[test]
fn rows_on_a_grid_are_trained_on() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_irregular(path);
    let (_, coarse) = said(path, "train i.csv --grid 1 --model ode-rnn --out w", 2);
    let hint = coarse.split('`').find(|part| part.starts_with("--grid "));
    let grid = hint.unwrap_or_else(|| panic!("{coarse}"));
    let (model, more) = BOTH[0];
    let train = format!("train i.csv {grid} --out grid --model {model} {SHORT} --epochs 3 {more}");
    said(path, &train, 0);
    let experiment = fs::read_to_string(path.join("grid").join("experiment.toml")).unwrap();
    assert!(experiment.contains("grid = 0.05"), "{experiment}");
    let generate = format!("generate grid --data i.csv {grid} --steps 30 --out grid.csv");
    said(path, &generate, 0);
}

/// A turn that an input stops and starts, of which the file has the column.
fn write_driven(folder: &Path) {
    let (mut text, mut angle) = (String::from("x,y,input:s\n"), 0.0_f64);
    for t in 0..300 {
        let s = if t / 40 % 2 == 0 { 1.0 } else { 0.3 };
        angle += 0.2 * s;
        text.push_str(&format!("{},{},{s}\n", angle.cos(), angle.sin()));
    }
    fs::write(folder.join("s.csv"), text).unwrap();
}

#[test]
fn both_are_driven_by_inputs() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_driven(path);
    for (model, more) in BOTH {
        let train = format!("train s.csv --out {model} --model {model} {SHORT} --epochs 5 {more}");
        said(path, &train, 0);
        let evaluate = format!("evaluate {model} --data s.csv --starts 2 --no-floors");
        document(path, &evaluate, 0);
        let generate = format!("generate {model} --steps 40 --data s.csv --out {model}.csv");
        said(path, &generate, 0);
        let (_, refused) = said(path, &format!("generate {model} --steps 40 --out o.csv"), 2);
        assert!(refused.contains("1 external input"), "{refused}");
        said(path, &format!("report {model} --seconds 1"), 0);
    }
}

#[test]
fn both_are_swept_and_tabled() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_data(path);
    let study = "name = \"both\"\nseeds = 2\n[data]\ntrain = \"d.csv\"\n[settings]\nhidden = 4\nlatent = 2\ngate-hidden = 3\nwindow = 15\n\
                 batch = 8\nepochs = 2\nbatches-per-epoch = 3\nstandardize = \"off\"\n\
                 [[list]]\nname = \"rnn\"\nmodel = \"ode-rnn\"\n[[list]]\nname = \"latent\"\nmodel = \"latent-ode\"\n\
                 [evaluation]\nfloors = false\nstarts = 1\n";
    fs::write(path.join("both.toml"), study).unwrap();
    said(path, "sweep both.toml --out both --quiet", 0);
    let (table, _) = said(path, "table both", 0);
    assert!(table.contains("rnn") && table.contains("latent"), "{table}");
}

#[test]
fn a_resumed_training_is_the_whole_one() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_data(path);
    write_driven(path);
    for (model, data) in [
        ("ode-rnn", "d.csv"),
        ("latent-ode", "d.csv"),
        ("latent-ode", "s.csv"),
    ] {
        let train =
            format!("--model {model} {SHORT} --epochs 40 --checkpoint-every 3 --time-step 0.05");
        let run = |name: &str| format!("{model}-{data}-{name}");
        let whole = format!("train {data} --out {} {train} --threads 1", run("whole"));
        said(path, &whole, 0);
        let cut = format!("train {data} --out {} {train} --threads 2", run("cut"));
        let mut child = common::start(path, &cut);
        let folder = path.join(run("cut"));
        common::wait_for(&folder.join("checkpoint.safetensors"), &mut child);
        // It may have ended by now; then there is nothing to resume, and the bits are compared all the same.
        let _ = child.kill();
        child.wait().unwrap();
        if !folder.join("outcome.json").exists() {
            said(path, &format!("resume {} --quiet", run("cut")), 0);
        }
        let bytes = |name: &str| fs::read(path.join(run(name)).join("model.safetensors")).unwrap();
        assert!(bytes("whole") == bytes("cut"), "{model} {data}");
    }
}

#[test]
fn invalid_input_is_met_with_a_remedy() {
    let folder = TempDir::new().unwrap();
    let path = folder.path();
    write_data(path);
    write_irregular(path);
    for (data, wrong, expected) in [
        (
            "d.csv",
            "--model ode-rnn --hidden-layers 8",
            "a whole number from 1 to 7",
        ),
        (
            "d.csv",
            "--model latent-ode --solver rk5",
            "dopri5, euler, midpoint, rk4",
        ),
        ("d.csv", "--model latent-ode --rtol 0", "a number above 0"),
        (
            "d.csv",
            "--model latent-ode --window 1",
            "a whole number from 2",
        ),
        (
            "d.csv",
            "--model ode-rnn --window 900",
            "use `--window 399`",
        ),
        (
            "d.csv",
            "--model latent-ode --window 900",
            "use `--window 399`",
        ),
        (
            "i.csv",
            "--model neural-ode --own-times 0.1",
            "or interpolate to equal steps with `--resample DT`",
        ),
        (
            "i.csv",
            "--model sindy --own-times 0.1",
            "use `--model ode-rnn` or `--model latent-ode`",
        ),
        (
            "i.csv",
            "--model ode-rnn --own-times 0.1 --grid 0.04",
            "cannot be used with",
        ),
        ("i.csv", "--model ode-rnn --own-times 0", "a number above 0"),
    ] {
        let train = format!("train {data} --out w {wrong}");
        let (_, stderr) = said(path, &train, 2);
        assert!(stderr.contains(expected), "{wrong}: {stderr}");
    }
    let prepare = "prepare i.csv o.csv --own-times 0.1 --smooth gaussian:2";
    let (_, stderr) = said(path, prepare, 2);
    assert!(stderr.contains("needs equal steps"), "{stderr}");
}
