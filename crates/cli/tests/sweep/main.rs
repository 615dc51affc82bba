//! `attractor sweep` and `attractor table`, run as a user runs them.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

mod packed;
mod refusals;
#[cfg(unix)]
mod shares;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

fn command(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_attractor"));
    command
        .current_dir(folder)
        .env_remove("ATTRACTOR_DATA")
        .env("ATTRACTOR_CACHE", folder.join("cache"))
        .args(arguments.split_whitespace());
    command
}

/// What a command that ends with this code says on standard output and on standard error.
fn said(folder: &Path, arguments: &str, code: i32) -> (String, String) {
    let output = command(folder, arguments).output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{arguments}: {stderr}");
    (String::from_utf8(output.stdout).unwrap(), stderr)
}

fn start(folder: &Path, arguments: &str) -> Child {
    let mut command = command(folder, arguments);
    command.stderr(Stdio::null()).spawn().unwrap()
}

/// Two cells with three seeds each, of a second or less in all.
const STUDY: &str = "\
name = 'small'
seeds = 3

[data]
train = 'train.csv'
test = 'test.csv'

[settings]
epochs = 30
batches-per-epoch = 10
hidden = 10
window = 20
lr = 5e-3
lr-end = 1e-3
checkpoint-every = 5

[grid]
alpha = [0.1, 0.3]

[evaluation]
starts = 2
floors = false
";

/// A folder with short recordings and the study, changed as asked.
fn folder(change: impl Fn(&str) -> String) -> TempDir {
    let folder = TempDir::new().unwrap();
    for (name, seed) in [("train", 1), ("test", 2)] {
        let simulate = format!(
            "simulate lorenz63 --steps 500 --transient 500 --standardize --seed {seed} --out {name}.csv"
        );
        said(folder.path(), &simulate, 0);
    }
    fs::write(folder.path().join("s.toml"), change(STUDY)).unwrap();
    folder
}

/// Long enough to be interrupted.
fn longer(study: &str) -> String {
    study.replace("epochs = 30", "epochs = 400")
}

/// All files under a folder with these names, or all, by path.
fn files(folder: &Path, names: &[&str]) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            let wanted = names.is_empty() || names.iter().any(|name| path.ends_with(name));
            if path.is_dir() {
                folders.push(path);
            } else if wanted {
                let bytes = fs::read(&path).unwrap();
                found.insert(path.strip_prefix(folder).unwrap().to_path_buf(), bytes);
            }
        }
    }
    found
}

const RESULTS: [&str; 3] = ["scores.json", "model.safetensors", "history.csv"];

fn results(folder: &Path, study: &str) -> BTreeMap<PathBuf, Vec<u8>> {
    files(&folder.join(study), &RESULTS)
}

fn read_json(path: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The middle of values, the mean of the middle two of an even number; none of none.
fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |i: usize| sorted.get(i).copied();
    let upper = at(sorted.len() / 2)?;
    let lower = at((sorted.len() - 1) / 2)?;
    Some(0.5 * (lower + upper))
}

/// Checks that the medians of the table are those of the files of scores.
fn check_medians(here: &Path) {
    let table: Value = serde_json::from_str(&said(here, "table d --json", 0).0).unwrap();
    for (i, cell) in ["alpha=0.1", "alpha=0.3"].iter().enumerate() {
        let run = |seed: u32| {
            let run = here.join(format!("d/{cell}/seed-0{seed}/scores.json"));
            let scores = read_json(&run);
            ["d_stsp", "d_h", "pe"].map(|id| scores["evaluation"][id]["value"].as_f64())
        };
        // A run without one of the scores counts in none of the medians.
        let complete: Vec<[Option<f64>; 3]> = (1..=3)
            .map(run)
            .filter(|scores| scores.iter().all(Option::is_some))
            .collect();
        let group = &table["groups"][i];
        assert_eq!(group["dropped"], 3 - complete.len());
        for (k, id) in ["d_stsp", "d_h", "pe"].iter().enumerate() {
            let values: Vec<f64> = complete.iter().filter_map(|scores| scores[k]).collect();
            let of_table = group["measures"][id]["median"].as_f64();
            assert_eq!(of_table, median(&values), "{cell} {id}");
        }
        let of_table = &group["measures"]["pe"];
        assert_eq!(group["runs"], 3);
        let first = read_json(&here.join(format!("d/{cell}/seed-01/scores.json")));
        assert_eq!(of_table["floor"], first["evaluation"]["pe"]["floor"]);
    }
}

#[test]
fn a_study_is_trained_judged_and_shown() {
    let folder = folder(|study| study.replace("floors = false", "system = 'lorenz63'"));
    let here = folder.path();
    let (out, notes) = said(here, "sweep s.toml --out d --json", 0);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (&document["done"], &document["left"]),
        (&6.into(), &0.into())
    );
    assert_eq!(document["runs"][3]["folder"], "alpha=0.3/seed-01");
    // One line per run, and one at the end.
    assert_eq!(notes.lines().count(), 7, "{notes}");
    assert!(
        notes.contains(": alpha=0.1/seed-02: finished, d_stsp "),
        "{notes}"
    );
    assert!(
        notes.ends_with("`attractor table d` shows them\n"),
        "{notes}"
    );
    // A run is as `train` makes it of the settings' own defaults, and its scores are those of `evaluate`.
    let run = here.join("d/alpha=0.3/seed-02");
    let settings = "--preset bare --epochs 30 --batches-per-epoch 10 --hidden 10 --window 20 --lr 5e-3 \
                    --lr-end 1e-3 --alpha 0.3 --seed 2 --threads 1";
    said(
        here,
        &format!("train train.csv --out alone --quiet {settings}"),
        0,
    );
    let model = |run: &Path| fs::read(run.join("model.safetensors")).unwrap();
    assert!(model(&run) == model(&here.join("alone")));
    let evaluate = "evaluate alone --data test.csv --starts 2 --system lorenz63 --json";
    let alone: Value = serde_json::from_str(&said(here, evaluate, 0).0).unwrap();
    let scores = read_json(&run.join("scores.json"));
    assert_eq!(scores["evaluation"], alone);
    assert_eq!((&scores["seed"], &scores["dim"]), (&2.into(), &3.into()));
    assert_eq!(scores["evaluation"]["floor_from"], "orbits of lorenz63");
    check_medians(here);
    // Nothing is done again.
    let before = files(&here.join("d"), &[]);
    let (_, notes) = said(here, "sweep s.toml --out d", 0);
    assert_eq!(notes.lines().count(), 1, "{notes}");
    assert!(before == files(&here.join("d"), &[]));
}

#[test]
fn a_study_can_grow_and_be_done_in_parts() {
    let folder = folder(|study| {
        study
            .replace(
                "[grid]\nalpha = [0.1, 0.3]",
                "[[list]]\nname = 'a b'\nalpha = 0.1\n[[list]]\nname = 'c'\nalpha = 0.3",
            )
            .replace("seeds = 3", "seeds = 1")
    });
    let here = folder.path();
    said(here, "sweep s.toml --out d --only c --quiet", 0);
    assert_eq!(results(here, "d").len(), 3);
    let wrong = said(here, "sweep s.toml --out d --only d", 2).1;
    assert!(
        wrong.contains("no entry of the list is named `d`\nhint: the known names are a b, c"),
        "{wrong}"
    );
    let study = fs::read_to_string(here.join("s.toml")).unwrap();
    fs::write(
        here.join("s.toml"),
        study.replace("seeds = 1", "seeds = [1, 12]"),
    )
    .unwrap();
    let notes = said(here, "sweep s.toml --out d", 0).1;
    assert!(notes.contains("4 of 4 runs are done"), "{notes}");
    assert!(here.join("d/a-b/seed-12/scores.json").exists());
    // The data may lie elsewhere.
    fs::create_dir(here.join("far")).unwrap();
    for name in ["train.csv", "test.csv"] {
        fs::rename(here.join(name), here.join("far").join(name)).unwrap();
    }
    let lost = said(here, "sweep s.toml --out d", 2).1;
    assert!(
        lost.contains("no such file: train.csv (named in s.toml)"),
        "{lost}"
    );
    said(here, "sweep s.toml --out d --data-dir far", 0);
    let mut by_variable = command(here, "sweep s.toml --out d --quiet");
    assert!(
        by_variable
            .env("ATTRACTOR_DATA", "far")
            .status()
            .unwrap()
            .success()
    );
    let table = said(here, "table d", 0).0;
    assert!(table.starts_with("  name"), "{table}");
}

#[test]
fn a_sweep_killed_at_any_moment_ends_as_if_it_had_not_been() {
    let folder = folder(longer);
    let here = folder.path();
    let begun = Instant::now();
    said(here, "sweep s.toml --out whole --quiet", 0);
    let whole = begun.elapsed();
    let mut kills = 0;
    for i in 1..=12u32 {
        // A number in 0..1 from a counter.
        let fraction = (f64::from(i) * 0.618_033_988_749_895).fract();
        let mut child = start(
            here,
            &format!("sweep s.toml --out killed --quiet --workers {}", 1 + i % 2),
        );
        std::thread::sleep(Duration::from_secs_f64(
            0.3 * fraction * whole.as_secs_f64(),
        ));
        kills += u32::from(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(kills > 3, "{kills}");
    said(here, "sweep s.toml --out killed --quiet", 0);
    let expected = results(here, "whole");
    assert_eq!(expected.len(), 18);
    assert!(results(here, "killed") == expected);
}

#[test]
fn two_processes_share_a_folder() {
    let folder = folder(longer);
    let here = folder.path();
    said(here, "sweep s.toml --out whole --quiet", 0);
    let mut other = start(here, "sweep s.toml --out shared --workers 1");
    let (out, _) = said(here, "sweep s.toml --out shared --workers 1 --json", 0);
    assert!(other.wait().unwrap().success());
    assert!(out.contains("\"done\": 6"), "{out}");
    assert!(results(here, "shared") == results(here, "whole"));
}

#[cfg(unix)]
#[test]
fn a_signal_stores_all_runs_and_the_same_command_continues() {
    let folder = folder(|study| {
        longer(study)
            .replace("400", "4000")
            .replace("every = 5", "every = 10000")
    });
    let here = folder.path();
    said(here, "sweep s.toml --out whole --quiet", 0);
    for signal in ["INT", "TERM"] {
        let out = format!("by-{signal}");
        let mut child = command(here, &format!("sweep s.toml --out {out} --workers 2"));
        let mut child = child.stderr(Stdio::piped()).spawn().unwrap();
        let run = here.join(&out).join("alpha=0.3/seed-01/experiment.toml");
        while !run.exists() {
            assert!(child.try_wait().unwrap().is_none(), "the sweep ended early");
            std::thread::sleep(Duration::from_millis(5));
        }
        let pid = child.id().to_string();
        assert!(
            Command::new("kill")
                .args(["-s", signal, &pid])
                .status()
                .unwrap()
                .success()
        );
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130));
        let notes = String::from_utf8(output.stderr).unwrap();
        assert!(notes.ends_with("the same command continues\n"), "{notes}");
        assert!(!files(&here.join(&out), &["checkpoint.safetensors"]).is_empty());
        said(here, &format!("sweep s.toml --out {out} --quiet"), 0);
        assert!(results(here, &out) == results(here, "whole"));
    }
}

#[test]
fn names_are_of_any_alphabet_and_workers_no_more_than_runs() {
    let folder = folder(|study| {
        let entry = "[[list]]\nname = '试'\nalpha = 0.1";
        let study = study.replace("[grid]\nalpha = [0.1, 0.3]", entry);
        study.replace("seeds = 3", "seeds = 1")
    });
    let here = folder.path();
    said(here, "sweep s.toml --out d --quiet --workers 999999999", 0);
    assert!(here.join("d/试/seed-01/scores.json").exists());
    assert!(said(here, "table d", 0).0.contains("试"));
}

#[test]
fn rows_of_the_paper_can_be_named_later() {
    let list = "[[list]]\nname = 'gtf'\nalpha = 0.1\n[[list]]\nname = 'strong'\nalpha = 0.3";
    let folder = folder(|study| {
        let study = study.replace("[grid]\nalpha = [0.1, 0.3]", list);
        study.replace("seeds = 3", "seeds = 1")
    });
    let here = folder.path();
    said(here, "sweep s.toml --out d --quiet", 0);
    let (_, note) = said(here, "table d --reference paper", 0);
    assert!(note.contains("`attractor sweep` again names it"), "{note}");
    let model = fs::read(here.join("d/gtf/seed-01/model.safetensors")).unwrap();
    let study = fs::read_to_string(here.join("s.toml")).unwrap();
    let row = "name = 'gtf'\npaper = 'shPLRNN + GTF / Lorenz-63'";
    fs::write(here.join("s.toml"), study.replace("name = 'gtf'", row)).unwrap();
    said(here, "sweep s.toml --out d --quiet", 0);
    let (table, note) = said(here, "table d --reference paper", 0);
    assert!(
        table.contains("paper: shPLRNN + GTF / Lorenz-63"),
        "{table}"
    );
    assert!(note.is_empty(), "{note}");
    assert!(fs::read(here.join("d/gtf/seed-01/model.safetensors")).unwrap() == model);
}

#[test]
fn divergence_is_a_result_and_counted() {
    let folder = folder(|study| {
        let entries = "[[list]]\nname = 'calm'\n[[list]]\nname = 'wild'\nmodel = 'shallow-plrnn'\nforcing = 'none'\nlr = 1";
        study.replace("[grid]\nalpha = [0.1, 0.3]", entries)
    });
    let here = folder.path();
    let notes = said(here, "sweep s.toml --out d", 0).1;
    assert!(
        notes.contains("6 of 6 runs are done, 3 of them diverged"),
        "{notes}"
    );
    assert!(notes.contains(": wild/seed-01: diverged\n"), "{notes}");
    let scores = read_json(&here.join("d/wild/seed-01/scores.json"));
    assert_eq!(
        (scores["outcome"].as_str(), &scores["evaluation"]),
        (Some("diverged"), &Value::Null)
    );
    let table: Value = serde_json::from_str(&said(here, "table d --json", 0).0).unwrap();
    let wild = &table["groups"][1];
    assert_eq!(
        (&wild["runs"], &wild["diverged"], &wild["dropped"]),
        (&3.into(), &3.into(), &3.into())
    );
    assert_eq!(wild["measures"]["d_stsp"]["median"], Value::Null);
    let text = said(here, "table d", 0).0;
    assert!(
        text.lines()
            .nth(2)
            .unwrap()
            .trim_start()
            .starts_with("wild  3     3 "),
        "{text}"
    );
}

#[test]
fn a_run_that_cannot_go_on_does_not_keep_the_others() {
    let folder = folder(|study| longer(study).replace("seeds = 3", "seeds = 2"));
    let here = folder.path();
    let checkpoint = here.join("d/alpha=0.1/seed-01/checkpoint.safetensors");
    let mut child = start(here, "sweep s.toml --out d --workers 1");
    while !checkpoint.exists() {
        assert!(child.try_wait().unwrap().is_none(), "the sweep ended early");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    fs::write(&checkpoint, "cut").unwrap();
    let notes = said(here, "sweep s.toml --out d", 2).1;
    assert!(
        notes.contains("error: the checkpoint is damaged: d/alpha=0.1/seed-01"),
        "{notes}"
    );
    assert!(
        notes.contains("3 of 4 runs are done, 0 of them diverged, 1 could not go on"),
        "{notes}"
    );
    fs::remove_file(&checkpoint).unwrap();
    said(here, "sweep s.toml --out d --quiet", 0);
}

/// Where the best parameters are kept, the last ones are judged too: they are those of a run that keeps the last.
#[test]
fn the_last_parameters_are_judged_beside_those_that_were_chosen() {
    let chosen =
        |study: &str| study.replace("lr-end", "best-by = 'd_stsp'\nbest-every = 3\nlr-end");
    let (chosen, last) = (folder(chosen), folder(str::to_string));
    let values = |here: &TempDir, which: &str| -> Vec<f64> {
        let table = format!("table t --json --model {which}");
        let table: Value = serde_json::from_str(&said(here.path(), &table, 0).0).unwrap();
        let groups = table["groups"].as_array().unwrap();
        let median = |group: &Value| group["measures"]["d_stsp"]["median"].as_f64().unwrap();
        groups.iter().map(median).collect()
    };
    for here in [&chosen, &last] {
        said(here.path(), "sweep s.toml --out t", 0);
    }
    assert_eq!(values(&chosen, "last"), values(&last, "chosen"));
    assert_ne!(values(&chosen, "chosen"), values(&last, "chosen"));
    assert_eq!(values(&last, "last"), values(&last, "chosen"));
}

#[test]
fn tables_have_formats_and_the_paper_beside_them() {
    let folder = folder(|study| {
        let entry = "[[list]]\nname = 'gtf'\npaper = 'shPLRNN + GTF / Lorenz-63'";
        let study = study.replace("[grid]\nalpha = [0.1, 0.3]", entry);
        study.replace("seeds = 3", "seeds = 1")
    });
    let here = folder.path();
    said(here, "sweep s.toml --out d --quiet", 0);
    let text = said(here, "table d --reference paper", 0).0;
    assert!(text.contains("paper: shPLRNN + GTF / Lorenz-63"), "{text}");
    // A model that small has not learnt much.
    assert!(text.contains("0.26 ± 0.03, worse"), "{text}");
    for (format, begin) in [
        ("text", "  name"),
        ("md", "| name | runs |"),
        ("csv", "name,runs,diverged,dropped,"),
        ("latex", "\\begin{tabular}{lcccccccc}"),
    ] {
        let out = said(here, &format!("table d --format {format}"), 0).0;
        assert!(out.starts_with(begin), "{out}");
    }
    let wrong = said(here, "table d --by alhpa", 2).1;
    assert!(wrong.contains("hint: did you mean `alpha`?"), "{wrong}");
}

#[test]
fn what_cells_leave_to_the_data_is_found_once_and_told() {
    let with_intervals = |intervals: &str| {
        STUDY
            .replace("seeds = 3", "seeds = 1")
            .replace("epochs = 30", "epochs = 2")
            .replace("[settings]", "[settings]\nforcing = 'stf'")
            .replace("alpha = [0.1, 0.3]", &format!("interval = {intervals}"))
    };
    let folder = folder(|_| with_intervals("['auto', 3]\nwindow = [20, 30]"));
    let here = folder.path();
    let simulate = "simulate lorenz63 --steps 5000 --standardize --seed 1 --out train.csv";
    said(here, simulate, 0);
    let study = fs::read_to_string(here.join("s.toml")).unwrap();
    fs::write(here.join("s.toml"), study.replace("window = 20\n", "")).unwrap();
    let (_, notes) = said(here, "sweep s.toml --out d", 0);
    let found: Vec<&str> = notes
        .lines()
        .filter(|l| l.contains("predictability"))
        .collect();
    assert_eq!(found.len(), 1, "{notes}");
    let rows = found[0]
        .split("every ")
        .nth(1)
        .unwrap()
        .split(' ')
        .next()
        .unwrap();
    // Both cells got it.
    for window in [20, 30] {
        let run = here.join(format!(
            "d/interval=auto,window={window}/seed-01/scores.json"
        ));
        assert_eq!(read_json(&run)["settings"]["interval"], rows);
    }
    // Trained once is enough.
    fs::write(
        here.join("s.toml"),
        with_intervals(&format!("['auto', {rows}]")),
    )
    .unwrap();
    let wrong = said(here, "sweep s.toml --out e", 2).1;
    let cells = format!("the cells `interval=auto` and `interval={rows}` train the same");
    assert!(wrong.contains(&cells), "{wrong}");
    // An error in one of several cells names it.
    fs::write(
        here.join("s.toml"),
        STUDY
            .replace("alpha = [0.1, 0.3]", "batch = [1, 16]\nwindow = [20, 9000]")
            .replace("window = 20\n", ""),
    )
    .unwrap();
    let wrong = said(here, "sweep s.toml --out e", 2).1;
    assert!(wrong.contains("(cell `batch=1,window=9000`)"), "{wrong}");
    assert!(!here.join("e").exists());
}
