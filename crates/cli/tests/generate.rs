//! `attractor generate`, run as a user runs it; and agreement with ten lines of NumPy where Python has it.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;

use common::{linear_model, said};
use tempfile::TempDir;

/// A folder with a recording `l.csv` and a short run `r` on it.
fn trained() -> TempDir {
    let folder = TempDir::new().unwrap();
    let simulate = "simulate lorenz63 --steps 400 --standardize --out l.csv";
    said(folder.path(), simulate, 0);
    let train = "train l.csv --out r --quiet --epochs 4 --window 30 --hidden 20 --lr 5e-3";
    said(folder.path(), train, 0);
    folder
}

/// The numbers of a table, without the times.
fn table(text: &str) -> Vec<Vec<f64>> {
    let row = |line: &str| -> Vec<f64> {
        let cells = line.split(',').skip(1);
        cells.map(|v| v.parse().unwrap()).collect()
    };
    text.lines().skip(1).map(row).collect()
}

#[test]
fn a_table_has_the_names_and_the_step_of_the_data() {
    let folder = trained();
    let (out, notes) = said(folder.path(), "generate r --steps 5", 0);
    assert!(notes.is_empty(), "{notes}");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!((lines[0], lines.len()), ("time,x,y,z", 6));
    assert!(lines[2].starts_with("0.01,"));
    // The orbit starts at the first row of the training data: B is invertible and near the identity, so what the
    // model makes of it differs by rounding of f64.
    let data = fs::read_to_string(folder.path().join("l.csv")).unwrap();
    for (generated, data) in table(&out)[0].iter().zip(&table(&data)[0]) {
        assert!((generated - data).abs() < 1e-12);
    }
    let by_file = said(folder.path(), "generate r/model.safetensors --steps 5", 0);
    assert_eq!(by_file.0, out);
    let same = said(folder.path(), "generate r --steps 5 --data l.csv", 0);
    assert_eq!(same.0, out);
    let (none, notes) = said(folder.path(), "generate r --steps 5 --out o.csv", 0);
    assert_eq!(notes, "wrote 5 rows, 3 channels: o.csv\n");
    assert!(none.is_empty());
    assert_eq!(
        fs::read_to_string(folder.path().join("o.csv")).unwrap(),
        out
    );
}

#[test]
fn a_model_without_a_start_begins_at_zero_and_says_so() {
    let folder = TempDir::new().unwrap();
    linear_model(folder.path(), 0.5, 1.0, &[]);
    let (out, notes) = said(folder.path(), "generate m.safetensors --steps 4", 0);
    assert!(notes.contains("starts from zeros"), "{notes}");
    assert_eq!(out, "time,x1\n0,0\n1,1\n2,1.5\n3,1.75\n");
}

#[test]
fn names_step_scaling_and_start_are_the_model_s() {
    let folder = TempDir::new().unwrap();
    let metadata = [
        ("channels", r#"[{"name": "V", "unit": "mV"}]"#),
        ("step", r#"{"dt": 0.5, "unit": "s"}"#),
        ("scaling", r#"{"mean": [10], "sd": [2]}"#),
        ("start", "[14]"),
    ];
    linear_model(folder.path(), 0.5, 1.0, &metadata);
    let (out, notes) = said(folder.path(), "generate m.safetensors --steps 3", 0);
    assert!(notes.is_empty(), "{notes}");
    // Scaled: 2 → 2 → 2, the fixed point.
    assert_eq!(out, "time [s],V [mV]\n0,14\n0.5,14\n1,14\n");
}

#[test]
fn an_orbit_that_diverges_is_an_outcome_with_its_row() {
    let folder = TempDir::new().unwrap();
    linear_model(folder.path(), 1e38, 1.0, &[]);
    // z = 0, 1, 1e38, then beyond f32.
    let (out, notes) = said(
        folder.path(),
        "generate m.safetensors --steps 50 --out o.csv",
        1,
    );
    assert!(notes.contains("the orbit has diverged in row 4"), "{notes}");
    assert!(notes.contains("hint: `--steps 3` ends before"), "{notes}");
    assert!(out.is_empty() && !folder.path().join("o.csv").exists());
    said(folder.path(), "generate m.safetensors --steps 3", 0);
}

/// As `| head -n 1` does: the reader leaves after the first line.
#[test]
fn a_reader_that_has_seen_enough_is_no_mistake() {
    let folder = trained();
    for arguments in [
        "generate r --steps 200000",
        "analyze r --json --steps 2000 --cycles 1",
        "list",
        "explain train",
    ] {
        let mut child = common::start(folder.path(), arguments);
        let mut line = String::new();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        reader.read_line(&mut line).unwrap();
        drop(reader);
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments}");
        assert_eq!(String::from_utf8(output.stderr).unwrap(), "", "{arguments}");
        assert!(!line.is_empty());
    }
}

#[test]
fn mistakes_are_told() {
    let folder = trained();
    fs::create_dir(folder.path().join("empty")).unwrap();
    fs::write(folder.path().join("two.csv"), "x,y\n1,2\n3,4\n").unwrap();
    fs::write(folder.path().join("gap.csv"), "x,y,z\n1,,2\n3,4,5\n").unwrap();
    fs::write(folder.path().join("other.csv"), "x,y,w\n1,2,3\n4,5,6\n").unwrap();
    let slow = "time,x,y,z\n0,1,2,3\n0.5,4,5,6\n";
    fs::write(folder.path().join("slow.csv"), slow).unwrap();
    let cases = [
        ("none --steps 3", "no such run or model: none"),
        (
            "empty --steps 3",
            "no model.safetensors in this folder: empty",
        ),
        ("l.csv --steps 3", "not a safetensors file"),
        ("r --steps 0", "expected at least one step"),
        ("r --steps 1000000000000000000", "do not fit into memory"),
        (
            "r --steps 3 --data two.csv",
            "the model has 3 channels, the data have 2",
        ),
        (
            "r --steps 3 --data gap.csv",
            "`y` is missing in row 1 of the data",
        ),
        (
            "r --steps 3 --data other.csv",
            "the model has no channel `w`: it has x, y, z",
        ),
        (
            "r --steps 3 --data slow.csv",
            "the model has a step of 0.01, the data have 0.5\nhint: `--resample 0.01` brings the data to it; `--dt 0.01`",
        ),
        ("r --steps 3 --out o.xyz", "no format has"),
        (
            "r --steps 3 --out no/o.csv",
            "no such folder: no\nhint: create the folder first",
        ),
    ];
    for (arguments, words) in cases {
        let (out, notes) = said(folder.path(), &format!("generate {arguments}"), 2);
        assert!(notes.contains(words), "{arguments}: {notes}");
        assert!(out.is_empty());
    }
    assert!(!folder.path().join("o.xyz").exists());
}

#[test]
fn columns_are_found_by_name_where_they_have_names() {
    let folder = trained();
    let with = |name: &str, text: &str| {
        fs::write(folder.path().join(name), text).unwrap();
        let arguments = format!("generate r --steps 4 --data {name}");
        said(folder.path(), &arguments, 0).0
    };
    let straight = with("a.csv", "x,y,z\n0.1,0.2,0.3\n0,0,0\n");
    assert_eq!(with("b.csv", "z,x,y\n0.3,0.1,0.2\n0,0,0\n"), straight);
    // Without names the place decides.
    assert_eq!(with("c.csv", "0.1,0.2,0.3\n0,0,0\n"), straight);
}

#[test]
fn a_driven_model_needs_its_inputs() {
    let folder = TempDir::new().unwrap();
    let rows = (0..60).map(|i| {
        let t = f64::from(i);
        format!("{},{}\n", (0.3 * t).sin(), (0.1 * t).cos())
    });
    let text: String = std::iter::once("x,input:u\n".to_string())
        .chain(rows)
        .collect();
    fs::write(folder.path().join("d.csv"), &text).unwrap();
    let train = "train d.csv --out r --quiet --epochs 2 --window 10 --hidden 5";
    said(folder.path(), train, 0);
    let refused = |arguments: &str, words: &str| {
        let (_, notes) = said(folder.path(), &format!("generate r {arguments}"), 2);
        assert!(notes.contains(words), "{notes}");
    };
    refused(
        "--steps 9",
        "driven by 1 external input, and no data are given",
    );
    refused("--steps 61 --data d.csv", "the first trajectory has 60");
    refused(
        "--steps 9 --data d.csv --channels 1 --input 2 --time 1",
        "column",
    );
    let (out, _) = said(folder.path(), "generate r --steps 60 --data d.csv", 0);
    assert_eq!(table(&out).len(), 60);
    // Time jumps after row 30: the orbit ends there, and does not go on as if nothing had happened.
    let timed = text.lines().skip(1).enumerate().map(|(i, line)| {
        let time = if i < 30 { i } else { i + 100 };
        format!("{time},{line}\n")
    });
    let timed: String = std::iter::once("time,x,input:u\n".to_string())
        .chain(timed)
        .collect();
    fs::write(folder.path().join("gap.csv"), timed).unwrap();
    refused(
        "--steps 31 --data gap.csv",
        "error: the inputs have a gap after row 30, and 31 steps are asked for\nhint: use `--steps 30` or less",
    );
    said(folder.path(), "generate r --steps 30 --data gap.csv", 0);
    // Other inputs, another orbit from the second row on.
    let quiet = text.lines().map(|line| line.rsplit_once(',').unwrap().0);
    let quiet: Vec<String> = quiet.map(|x| format!("{x},0.5")).collect();
    let quiet = quiet.join("\n").replacen("x,0.5", "x,input:u", 1);
    fs::write(folder.path().join("q.csv"), quiet).unwrap();
    let (other, _) = said(folder.path(), "generate r --steps 60 --data q.csv", 0);
    assert_eq!(table(&out)[0], table(&other)[0]);
    assert_ne!(table(&out)[1], table(&other)[1]);
}

/// The interpreter of the comparison, if it has what is needed.
fn python() -> Option<String> {
    let python = std::env::var("ATTRACTOR_PYTHON").unwrap_or("python3".to_string());
    let asked = Command::new(&python)
        .args(["-c", "import numpy, safetensors"])
        .output();
    let found = asked.is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: `{python}` has no NumPy and safetensors");
    }
    found.then_some(python)
}

fn run_python(python: &str, folder: &Path, program: &str) -> String {
    let output = Command::new(python)
        .current_dir(folder)
        .args(["-c", program])
        .output()
        .unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    String::from_utf8(output.stdout).unwrap()
}

const NUMPY_GENERATES: &str = r#"
import json
import numpy as np
from safetensors import safe_open
with safe_open("r/model.safetensors", framework="np") as file:
    p = {name: file.get_tensor(name).astype(float) for name in file.keys()}
    start = np.array(json.loads(file.metadata()["start"]))
z = np.linalg.pinv(p["B"]) @ start
for t in range(60):
    print(t, *(repr(float(x)) for x in p["B"] @ z), sep=",")
    u = p["W2"] @ z
    z = p["A"] * z + p["W1"] @ (np.maximum(u + p["h2"], 0) - np.maximum(u, 0)) + p["h1"]
"#;

#[test]
fn numpy_generates_the_same_orbit() {
    let Some(python) = python() else { return };
    let folder = trained();
    let theirs = run_python(&python, folder.path(), NUMPY_GENERATES);
    let theirs = table(&format!("head\n{theirs}"));
    let ours = table(&said(folder.path(), "generate r --steps 60", 0).0);
    assert_eq!((ours.len(), theirs.len()), (60, 60));
    for (t, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        for (a, b) in ours.iter().zip(theirs) {
            // Sums of some twenty terms of size one, rounded in another order: 20 · 1.1e-16 per step, over 60 steps of
            // a map that hardly expands, and a start through B⁺ whose condition number is below 100.
            assert!(
                (a - b).abs() < 60.0 * 100.0 * 20.0 * 1.1e-16,
                "row {t}: {a} {b}"
            );
        }
    }
}

const PYTHON_WRITES: &str = r#"
import numpy as np
from safetensors.numpy import save_file
rng = np.random.default_rng(1)
def save(name, model, dtype, **shapes):
    tensors = {k: rng.uniform(-0.5, 0.5, s).astype(dtype) for k, s in shapes.items()}
    save_file(tensors, name, metadata={"model": model})
save("shallow.safetensors", "clipped-shallow-plrnn", "f8", h2=5, W2=(5, 3), W1=(3, 5), h1=3, A=3, B=(7, 3), b=7)
save("dendritic.safetensors", "dendritic-plrnn", "f4", A=4, W=(4, 4), h=4, slopes=6, thresholds=(4, 6), L=(2, 2))
save("plain.safetensors", "plrnn", "f4", A=2, W=(2, 2), h=2)
"#;

#[test]
fn models_by_python_are_accepted_and_sizes_follow_from_shapes() {
    let Some(python) = python() else { return };
    let folder = TempDir::new().unwrap();
    run_python(&python, folder.path(), PYTHON_WRITES);
    for (name, channels) in [("shallow", 7), ("dendritic", 2), ("plain", 2)] {
        let arguments = format!("generate {name}.safetensors --steps 9");
        let rows = table(&said(folder.path(), &arguments, 0).0);
        assert_eq!((rows.len(), rows[0].len()), (9, channels), "{name}");
        assert_ne!(rows[0], rows[8]);
    }
}

#[test]
fn an_orbit_is_not_written_over_the_data() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    linear_model(at, 0.5, 0.1, &[]);
    fs::write(at.join("d.csv"), "x1\n1\n2\n").unwrap();
    let generate = "generate m.safetensors --steps 3 --data d.csv --out";
    let (_, told) = said(at, &format!("{generate} ./d.csv"), 2);
    assert_eq!(
        told,
        "error: the file to write is the one to read: ./d.csv\nhint: name another file to write\n"
    );
    assert_eq!(fs::read_to_string(at.join("d.csv")).unwrap(), "x1\n1\n2\n");
    said(at, &format!("{generate} o.csv"), 0);
}

#[test]
fn an_orbit_is_not_written_over_what_a_run_consists_of_or_was_trained_on() {
    let folder = trained();
    let at = folder.path();
    let own = ["l.csv", "r/history.csv"].map(|name| at.join(name));
    let before = own.clone().map(|file| fs::read(file).unwrap());
    for (model, out) in [
        ("r", "./l.csv"),
        ("r", "r/history.csv"),
        ("r/model.safetensors", "l.csv"),
    ] {
        let (_, told) = said(at, &format!("generate {model} --steps 3 --out {out}"), 2);
        assert_eq!(
            told,
            format!(
                "error: the file to write is one that the run consists of or was trained on: {out}\n\
                 hint: name another file to write\n"
            )
        );
    }
    assert!(own.map(|file| fs::read(file).unwrap()) == before);
    said(at, "generate r --steps 3 --out r/orbit.csv", 0);
}

#[cfg(unix)]
#[test]
fn an_interrupted_orbit_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    linear_model(folder.path(), 0.999, 1.0, &[]);
    common::interrupt_writing(
        folder.path(),
        "generate m.safetensors --steps 1000000 --out a.csv.gz",
    );
}
