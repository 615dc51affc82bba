//! `attractor train`, run as a user runs it.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;
use std::path::Path;

use common::{attractor, said};
use tempfile::TempDir;

/// A folder with a short recording `l.csv`.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let simulate = "simulate lorenz63 --steps 400 --standardize --out l.csv";
    said(folder.path(), simulate, 0);
    folder
}

fn read(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).unwrap()
}

/// A training of a second or less.
const SHORT: &str =
    "--epochs 4 --batches-per-epoch 10 --window 30 --hidden 20 --lr 5e-3 --lr-end 1e-3";

#[test]
fn a_run_has_its_settings_its_model_its_history_and_its_outcome() {
    let folder = folder();
    let arguments = format!("train l.csv --out r {SHORT} --preset bare --json");
    let (out, notes) = said(folder.path(), &arguments, 0);
    assert!(out.contains("\"outcome\": \"finished\""), "{out}");
    assert!(out.contains("\"update\": 40"), "{out}");
    assert!(
        notes
            .lines()
            .last()
            .unwrap()
            .starts_with("finished 40 updates in "),
        "{notes}"
    );
    assert!(notes.contains("100 %  epoch 4  loss "), "{notes}");
    let settings = read(folder.path(), "r/experiment.toml");
    for line in ["latent = 3", "hidden = 20", "alpha = 0.15"] {
        assert!(settings.lines().any(|l| l == line), "{line}\n{settings}");
    }
    let history = read(folder.path(), "r/history.csv");
    let rows: Vec<Vec<&str>> = history.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(
        rows[0].join(","),
        "epoch,update,loss,penalty,alpha,lr,gradient_norm,jacobian_norm,alpha_estimate,fallbacks"
    );
    assert_eq!(rows.len(), 5);
    assert_eq!((rows[4][0], rows[4][1], rows[4][4]), ("4", "40", "0.15"));
    let loss = |row: usize| rows[row][2].parse::<f64>().unwrap();
    assert!(loss(4) < loss(1), "{history}");
    assert!(folder.path().join("r/model.safetensors").exists());
    assert_eq!(fs::read_dir(folder.path().join("r")).unwrap().count(), 5);
}

#[test]
fn adaptive_forcing_tells_its_estimates() {
    let folder = folder();
    for estimator in
        "parameter-bound batch-maximum product-upper-bound exp-log arithmetic-mean product"
            .split(' ')
    {
        let arguments = format!(
            "train l.csv --out {estimator} {SHORT} --forcing agtf --alpha-estimator {estimator} --decay 0.5 --quiet"
        );
        said(folder.path(), &arguments, 0);
        let history = read(folder.path(), &format!("{estimator}/history.csv"));
        let last: Vec<f64> = history
            .lines()
            .last()
            .unwrap()
            .split(',')
            .map(|number| number.parse().unwrap())
            .collect();
        let (alpha, norm, estimate) = (last[4], last[7], last[8]);
        assert!((0.0..1.0).contains(&alpha), "{estimator}: {alpha}");
        // The estimate follows from the norm; both are written in full.
        assert!((estimate - (1.0 - 1.0 / norm).max(0.0)).abs() < 1e-12);
    }
}

#[test]
fn raw_data_are_standardised_and_generated_in_their_own_units() {
    let folder = folder();
    said(
        folder.path(),
        "simulate lorenz63 --steps 2000 --out raw.csv",
        0,
    );
    let arguments = format!("train raw.csv --out r {SHORT}");
    let (_, notes) = said(folder.path(), &arguments, 0);
    assert!(
        notes.contains("note: all channels are standardised, because `"),
        "{notes}"
    );
    let (orbit, _) = said(folder.path(), "generate r --steps 2", 0);
    let raw = read(folder.path(), "raw.csv");
    let z = |text: &str| -> f64 {
        let row = text.lines().nth(1).unwrap();
        row.split(',').next_back().unwrap().parse().unwrap()
    };
    // The first row of an orbit is the first row of the data, seen through the model: B starts at the identity and
    // stays invertible, so that only rounding in single precision separates them.
    assert!((z(&orbit) / z(&raw) - 1.0).abs() < 1e-4, "{orbit}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_whatever_the_threads() {
    let folder = folder();
    let models = "shallow-plrnn clipped-dendritic-plrnn clipped-shallow-plrnn";
    for model in models.split(' ') {
        let run = |name: &str, more: &str| {
            let arguments =
                format!("train l.csv --out {model}-{name} --model {model} {SHORT} {more} --quiet");
            assert_eq!(said(folder.path(), &arguments, 0), Default::default());
            let file = |file: &str| {
                fs::read(folder.path().join(format!("{model}-{name}/{file}"))).unwrap()
            };
            (file("model.safetensors"), file("history.csv"))
        };
        let one = run("one", "--threads 1 --noise 0.01");
        assert!(one == run("two", "--threads 2 --noise 0.01"), "{model}");
        assert!(one != run("other", "--seed 2 --noise 0.01"), "{model}");
    }
}

#[test]
fn a_run_can_be_done_again_from_its_settings() {
    let folder = folder();
    let first =
        format!("train l.csv --out a {SHORT} --preset paper --dt 0.5 --channels x,z --quiet");
    said(folder.path(), &first, 0);
    said(
        folder.path(),
        "train --config a/experiment.toml --out b --quiet",
        0,
    );
    let model = |run: &str| fs::read(folder.path().join(run).join("model.safetensors")).unwrap();
    assert!(model("a") == model("b"));
    assert_eq!(
        read(folder.path(), "a/experiment.toml"),
        read(folder.path(), "b/experiment.toml")
    );
}

#[test]
fn a_run_can_be_done_again_from_any_folder() {
    let folder = folder();
    let here = folder.path();
    said(here, &format!("train l.csv --out a {SHORT} --quiet"), 0);
    fs::create_dir(here.join("other")).unwrap();
    let again = "train --config ../a/experiment.toml --out b --quiet";
    said(&here.join("other"), again, 0);
    assert_eq!(
        read(here, "a/history.csv"),
        read(here, "other/b/history.csv")
    );
    // A name in a file of one's own counts from the file's folder where the current one has no such file.
    let file = "epochs = 1\nbatches-per-epoch = 1\nwindow = 9\nhidden = 5\ndata = 'l.csv'\n";
    fs::write(here.join("a.toml"), file).unwrap();
    said(
        &here.join("other"),
        "train --config ../a.toml --out c --quiet",
        0,
    );
    fs::write(here.join("a.toml"), file.replace("l.csv", "none.csv")).unwrap();
    refused(
        &here.join("other"),
        "--config ../a.toml --out d",
        &[
            "error: no such file: none.csv (named in ../a.toml)\n",
            "hint: name the file of data",
        ],
    );
}

#[test]
fn data_on_the_command_line_are_read_as_the_file_says() {
    let folder = folder();
    let file = "epochs = 1\nbatches-per-epoch = 1\nwindow = 9\nhidden = 5\n\
                [data]\npath = 'none.csv'\nstate = ['x', 'z']\ndt = 0.5\n";
    fs::write(folder.path().join("a.toml"), file).unwrap();
    let arguments = "train l.csv --config a.toml --out r --quiet --dt 0.25";
    said(folder.path(), arguments, 0);
    let settings = read(folder.path(), "r/experiment.toml");
    for line in ["channels = [\"x\", \"z\"]", "dt = 0.25", "latent = 2"] {
        assert!(settings.lines().any(|l| l == line), "{line}\n{settings}");
    }
}

#[test]
fn flags_win_over_set_over_the_file_over_the_preset() {
    let folder = folder();
    let file = "epochs = 1\nbatches-per-epoch = 1\nwindow = 9\nalpha = 0.2\nlr = 0.1\nhidden = 7\n";
    fs::write(folder.path().join("a.toml"), file).unwrap();
    let arguments = "train l.csv --out r --quiet --config a.toml --preset paper \
                     --set alpha=0.3 --set lr=0.2 --alpha 0.4 --seed 5";
    said(folder.path(), arguments, 0);
    let settings = read(folder.path(), "r/experiment.toml");
    let expected = [
        "alpha = 0.4",
        "lr = 0.2",
        "hidden = 7",
        "observation-start = \"random\"",
        "seed = 5",
    ];
    for line in expected {
        assert!(settings.lines().any(|l| l == line), "{line}\n{settings}");
    }
}

/// Tries what must not work: exit code 2, these words, and nothing written.
fn refused(folder: &Path, arguments: &str, words: &[&str]) {
    let before = fs::read_dir(folder).unwrap().count();
    let (out, notes) = said(folder, &format!("train {arguments}"), 2);
    assert!(out.is_empty());
    for word in words {
        assert!(notes.contains(word), "{arguments}: {notes}");
    }
    assert_eq!(fs::read_dir(folder).unwrap().count(), before, "{arguments}");
}

#[test]
fn mistakes_in_settings_are_told_before_anything_is_written() {
    let folder = folder();
    let cases: &[(&str, &[&str])] = &[
        (
            "--alpha 1.5",
            &[
                "error: `alpha` must be a number from 0 to 1, found `1.5`\n",
                "hint: the default is 0.15",
            ],
        ),
        (
            "--alpha -0.1",
            &["`alpha` must be a number from 0 to 1, found `-0.1`"],
        ),
        (
            "--interval 0 --forcing stf",
            &["`interval` must be", "found `0`"],
        ),
        ("--batch 0", &["`batch` must be"]),
        ("--window 0", &["`window` must be"]),
        ("--epochs 0", &["`epochs` must be"]),
        ("--hidden 0", &["`hidden` must be"]),
        ("--lr 0", &["`lr` must be"]),
        ("--lr nan", &["`lr` must be"]),
        ("--lr 2", &["`lr` must be"]),
        ("--noise -1", &["`noise` must be"]),
        ("--latent 99999999999999999999", &["`latent` must be"]),
        ("--latent 2.5", &["`latent` must be a whole number"]),
        ("--latent 0", &["`latent` must be", "or auto, found `0`"]),
        ("--model plrn", &["`plrn`\nhint: did you mean `plrnn`?"]),
        (
            "--set aplha=0.2",
            &[
                "error: unknown setting `aplha` (--set)\n",
                "hint: did you mean `alpha`?",
            ],
        ),
        (
            "--window 400",
            &[
                "a window of 400 steps needs 401 rows",
                "the longest stretch has 400",
                "hint: use `--window 399` or less",
            ],
        ),
        (
            "--latent 2 --observation identity",
            &[
                "2 latent states cannot show 3 channels",
                "hint: use `--latent 3`",
            ],
        ),
        ("--preset papre", &["papre"]),
        ("--config none.toml", &["no such file: none.toml"]),
        ("--window", &["--window"]),
    ];
    for (flags, words) in cases {
        refused(folder.path(), &format!("l.csv --out r {flags}"), words);
    }
}

#[test]
fn mistakes_in_files_are_told_with_their_line() {
    let folder = folder();
    let cases: &[(&str, &[&str])] = &[
        (
            "# a\n\naplha = 0.1\n",
            &[
                "unknown setting `aplha` (line 3 of a.toml)",
                "did you mean `alpha`?",
            ],
        ),
        (
            "batch = true\n",
            &["`batch` must be", "found `true` (line 1 of a.toml)"],
        ),
        ("batch = 16\nalpha = [0.1]\n", &["(line 2 of a.toml)"]),
        ("batch = 16\nalpha 0.1\n", &["(line 2 of a.toml)"]),
        (
            "[forcing]\nalpha = 1\n",
            &["`forcing` must be a single value", "(line 1 of a.toml)"],
        ),
    ];
    for (text, words) in cases {
        fs::write(folder.path().join("a.toml"), text).unwrap();
        refused(folder.path(), "l.csv --out r --config a.toml", words);
    }
    fs::write(folder.path().join("a.toml"), "batch = 16\n").unwrap();
    refused(
        folder.path(),
        "--out r --config a.toml",
        &["no data", ": a.toml"],
    );
}

#[test]
fn data_that_cannot_be_trained_on_are_refused() {
    let folder = folder();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("missing.csv", "x,y\n1,\n3,\n5,6\n7,8\n");
    write("huge.csv", "x\n1\n1e25\n-1e30\n4\n");
    refused(
        folder.path(),
        "missing.csv --out r --window 2",
        &[
            "none of 2 windows of 2 steps begins with a complete row",
            "has all inputs and 50 % of its values: missing.csv",
            "hint: use a shorter `--window` or a smaller `--least-observed`",
        ],
    );
    refused(
        folder.path(),
        "huge.csv --out r --window 2 --standardize off",
        &[
            "channel `x` reaches -1e30",
            "in single precision: huge.csv\n",
        ],
    );
    refused(
        folder.path(),
        "l.csv --out r --smooth 9999",
        &[
            "smoothing over 79993 rows needs as many without a gap, the longest stretch has 400: l.csv\n",
            "hint: use `--smooth 49` or less",
        ],
    );
    refused(
        folder.path(),
        "none.csv --out r",
        &["no such file: none.csv"],
    );
    refused(folder.path(), "l.csv --out r --channels q", &["q"]);
}

#[test]
fn a_folder_in_use_is_left_alone() {
    let folder = folder();
    fs::create_dir(folder.path().join("r")).unwrap();
    fs::write(folder.path().join("r/model.safetensors"), "precious").unwrap();
    refused(
        folder.path(),
        "l.csv --out r",
        &[
            "the folder for the run is not empty: r",
            "hint: name another folder with `--out`",
        ],
    );
    assert_eq!(read(folder.path(), "r/model.safetensors"), "precious");
    refused(
        folder.path(),
        "l.csv --out l.csv",
        &["expected a folder for the run"],
    );
    fs::create_dir(folder.path().join("empty")).unwrap();
    said(
        folder.path(),
        &format!("train l.csv --out empty {SHORT}"),
        0,
    );
}

/// What was given wins over what `train` begins with, without a note; a preset or a file takes its place.
#[test]
fn without_a_preset_training_begins_with_robust_settings() {
    let folder = folder();
    said(
        folder.path(),
        "simulate lorenz63 --steps 150 --out few.csv",
        0,
    );
    let train = |out: &str, more: &str| {
        let train = format!("train few.csv --out {out} --epochs 2 --batches-per-epoch 2 {more}");
        said(folder.path(), &train, 0).1
    };
    let has = |run: &str, lines: &[&str]| {
        let settings = read(folder.path(), &format!("{run}/experiment.toml"));
        for line in lines {
            assert!(settings.lines().any(|l| l == *line), "{line}\n{settings}");
        }
    };
    let notes = train("a", "");
    assert!(!notes.contains("has no effect"), "{notes}");
    has(
        "a",
        &[
            "forcing = \"agtf\"",
            "epochs = 2",
            "best-by = \"auto\"",
            "window = 15",
        ],
    );
    train("b", "--forcing gtf --window 9");
    has("b", &["forcing = \"gtf\"", "window = 9", "average = 0.999"]);
    train("c", "--preset bare --window 9");
    has("c", &["forcing = \"gtf\"", "average = 0", "retries = 0"]);
    train("d", "--model nvar");
    let (_, error) = said(folder.path(), "train few.csv --out e --preset paper", 2);
    assert!(error.contains("`--window 149` or less"), "{error}");
}

#[test]
fn settings_that_change_nothing_are_told_if_the_user_gave_them() {
    let folder = folder();
    let told = |run: &str, more: &str| {
        let train = format!("train l.csv --out {run} {SHORT} --preset bare {more}");
        let (_, notes) = said(folder.path(), &train, 0);
        let notes = notes.lines().filter(|line| line.starts_with("note: "));
        notes.map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(
        told("a", "--forcing agtf --alpha 0.3 --set interval=5"),
        [
            "note: --alpha has no effect with forcing agtf; it starts at --alpha-start",
            "note: --interval (--set) has no effect with forcing agtf",
        ]
    );
    assert_eq!(
        told("b", "--decay 0.9 --best-by none --best-every 3"),
        [
            "note: --decay has no effect with forcing gtf",
            "note: --best-every has no effect with best-by none",
        ]
    );
    assert!(told("c", "--forcing agtf").is_empty());
    // The file of a run names every setting, most of them defaults.
    let again = "train --config c/experiment.toml --out d --forcing stf --interval 4";
    let (_, notes) = said(folder.path(), again, 0);
    assert!(!notes.contains("has no effect"), "{notes}");
    let quiet = "train l.csv --out e --quiet --epochs 1 --window 9 --forcing none --alpha 0.3";
    assert_eq!(said(folder.path(), quiet, 0), Default::default());
}

#[test]
fn divergence_is_an_outcome() {
    let folder = folder();
    let arguments = "train l.csv --out r --model shallow-plrnn --forcing none --lr 1 --json";
    let (out, notes) = said(folder.path(), arguments, 1);
    assert!(notes.contains("diverged at update "), "{notes}");
    assert!(out.contains("\"outcome\": \"diverged\""), "{out}");
    assert_eq!(out, read(folder.path(), "r/outcome.json"));
    // What is kept is finite: a model file with other numbers would be refused.
    let output = attractor(folder.path(), "generate r --steps 1");
    assert!(output.status.success(), "{output:?}");
}

/// The name of the data is kept in a file of settings, which is text.
#[cfg(unix)]
#[test]
fn data_that_a_run_could_not_find_again_are_refused_at_the_start() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    let folder = folder();
    let name = OsStr::from_bytes(b"l\xe9.csv");
    fs::copy(folder.path().join("l.csv"), folder.path().join(name)).unwrap();
    let mut train = common::command(folder.path(), "train --out r");
    let output = train.arg(name).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let told = String::from_utf8(output.stderr).unwrap();
    let expected =
        "error: the name of the data is not in UTF-8, so that a run could not find them again: ";
    assert!(told.starts_with(expected), "{told}");
    assert!(told.contains("hint: rename the file"), "{told}");
    assert!(!folder.path().join("r").exists());
}

/// Files with a column of times, its name, and the other columns.
fn files_with_times() -> [(&'static str, String, &'static str, &'static str); 2] {
    let waves = |t: u32| (f64::from(t).sin(), (0.7 * f64::from(t)).cos());
    let rows = |head: &str, row: &dyn Fn(u32) -> String| -> String {
        (0..120).fold(head.to_string(), |text, t| text + "\n" + &row(t)) + "\n"
    };
    // A header in another language with semicolons, and the index that a data frame leaves.
    let zeit = rows("Zeit [s];x;y", &|t| {
        format!("{};{};{}", 0.5 * f64::from(t), waves(t).0, waves(t).1)
    });
    let frame = rows("i,x,y", &|t| format!("{t},{},{}", waves(t).0, waves(t).1));
    [
        ("zeit.csv", zeit, "Zeit", "x,y"),
        ("frame.csv", frame, "i", "x,y"),
    ]
}

#[test]
fn a_column_of_times_is_not_trained_on() {
    let folder = TempDir::new().unwrap();
    let at = folder.path();
    let small = "--hidden 4 --window 10 --batch 2 --epochs 1 --batches-per-epoch 1 --quiet";
    for (name, text, clock, others) in files_with_times() {
        fs::write(at.join(name), text).unwrap();
        let train = format!("train {name} --out r {small}");
        for verb in [train, format!("demo --data {name} --out d")] {
            let (_, told) = said(at, &verb, 2);
            assert!(told.contains(&format!("channel `{clock}`")), "{told}");
            let hint = format!("`--time {clock}` takes it as the time axis, `--channels {others}`");
            assert!(told.contains(&hint), "{told}");
        }
        assert!(!at.join("r").exists() && !at.join("d").exists());
    }
    // What the hint recommends works, each as one flag.
    for (out, flag) in [
        ("a", "--time Zeit"),
        ("b", "--channels x,y"),
        ("c", "--time none"),
    ] {
        let train = format!("train zeit.csv --out {out} {flag} {small}");
        said(at, &train, 0);
    }
    // Inspecting names it, too.
    let (told, _) = said(at, "inspect zeit.csv", 1);
    let problem = "problem: Zeit: is named like a column of times";
    assert!(told.contains(problem), "{told}");
}
