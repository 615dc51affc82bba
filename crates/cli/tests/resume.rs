//! Runs that are interrupted and continued, as a user sees them.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::{start, wait_for};
use tempfile::TempDir;

/// What a command that ends with this code says on standard error.
fn said(folder: &Path, arguments: &str, code: i32) -> String {
    common::said(folder, arguments, code).1
}

fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let simulate = "simulate lorenz63 --steps 600 --out l.csv";
    said(folder.path(), simulate, 0);
    folder
}

/// All that can be stored: adaptive forcing, an average, the best by a measure, noise.
const TRAIN: &str = "train l.csv --window 30 --hidden 20 --epochs 300 --batches-per-epoch 10 \
    --forcing agtf --average 0.99 --best-by d_stsp --best-every 20 --held-out 0.3 --noise 0.01 \
    --checkpoint-every 7 --retries 2 --quiet";

fn result(folder: &Path, run: &str) -> (Vec<u8>, Vec<u8>) {
    let read = |name: &str| fs::read(folder.join(run).join(name)).unwrap();
    (read("model.safetensors"), read("history.csv"))
}

/// A number in 0..1 from a counter.
fn fraction(i: u32) -> f64 {
    (f64::from(i) * 0.618_033_988_749_895).fract()
}

#[test]
fn a_run_killed_at_any_moment_ends_as_if_it_had_not_been() {
    let folder = folder();
    let here = folder.path();
    let begun = Instant::now();
    said(here, &format!("{TRAIN} --out whole"), 0);
    let whole = begun.elapsed();
    let expected = result(here, "whole");
    // Every kill may fall before the first checkpoint, on one, or while the end is written. A run that ends is compared,
    // and the next one is begun.
    let (mut runs, mut kills) = (1, 0);
    let mut child = start(here, &format!("{TRAIN} --out killed1"));
    while kills < 20 {
        let pause = fraction(kills + runs) * 0.3 * whole.as_secs_f64();
        std::thread::sleep(Duration::from_secs_f64(pause));
        if child.try_wait().unwrap().is_some() {
            assert!(result(here, &format!("killed{runs}")) == expected);
            runs += 1;
            child = start(here, &format!("{TRAIN} --out killed{runs}"));
            continue;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        kills += 1;
        let next = if here.join(format!("killed{runs}/experiment.toml")).exists() {
            format!("resume killed{runs} --threads {} --quiet", 1 + kills % 2)
        } else {
            // Nothing was written yet: there is nothing to resume.
            format!("{TRAIN} --out killed{runs}")
        };
        child = start(here, &next);
    }
    child.wait().unwrap();
    let last = format!("killed{runs}");
    assert!(result(here, &last) == expected);
    let names = fs::read_dir(here.join(last)).unwrap();
    let mut names: Vec<_> = names.map(|f| f.unwrap().file_name()).collect();
    // The lock's file stays; nobody holds it. A kill between the outcome and the end leaves the checkpoint.
    names.retain(|name| name != ".lock" && name != "checkpoint.safetensors");
    names.sort();
    assert_eq!(
        names,
        [
            "experiment.toml",
            "history.csv",
            "last.safetensors",
            "model.safetensors",
            "outcome.json"
        ]
    );
}

#[cfg(unix)]
#[test]
fn a_signal_stores_the_run_and_a_second_process_is_refused() {
    let folder = folder();
    let here = folder.path();
    said(here, &format!("{TRAIN} --out whole"), 0);
    for signal in ["INT", "TERM"] {
        let run = format!("by-{signal}");
        let arguments = TRAIN.replace("--checkpoint-every 7", "--checkpoint-every 1000");
        let mut child = start(here, &format!("{arguments} --out {run}"));
        wait_for(&here.join(&run).join("experiment.toml"), &mut child);
        let locked = said(here, &format!("resume {run}"), 2);
        assert!(
            locked.contains("another process is training this run"),
            "{locked}"
        );
        let locked = said(here, &format!("{TRAIN} --out {run}"), 2);
        assert!(
            locked.contains("another process is training this run"),
            "{locked}"
        );
        common::signal(&child, signal);
        assert_eq!(child.wait().unwrap().code(), Some(130));
        assert!(here.join(&run).join("checkpoint.safetensors").exists());
        let refused = said(here, &format!("{TRAIN} --out {run}"), 2);
        assert!(refused.contains(&format!("hint: `attractor resume {run}` continues it")));
        said(here, &format!("resume {run} --quiet"), 0);
        assert!(result(here, &run) == result(here, "whole"));
        let ended = said(here, &format!("resume {run}"), 2);
        assert!(
            ended.contains("this run has ended, with the outcome `finished`"),
            "{ended}"
        );
    }
}

/// An epoch that takes hours: the first signal is answered at once, and the second ends it.
#[cfg(unix)]
#[test]
fn a_signal_is_answered_before_the_epoch_ends() {
    let folder = folder();
    let here = folder.path();
    let endless = "train l.csv --out r --window 30 --hidden 20 --batches-per-epoch 1000000";
    let mut child = start(here, endless);
    wait_for(&here.join("r/experiment.toml"), &mut child);
    common::signal(&child, "INT");
    let mut told = BufReader::new(child.stderr.take().unwrap()).lines();
    let line = told.find(|line| line.as_ref().unwrap().starts_with("stopping"));
    assert_eq!(
        line.unwrap().unwrap(),
        "stopping after this epoch; a checkpoint will be written (Ctrl-C again ends at once)"
    );
    assert!(child.try_wait().unwrap().is_none());
    common::signal(&child, "INT");
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(!here.join("r/checkpoint.safetensors").exists());
}

#[test]
fn data_that_are_gone_are_told_with_where_they_were() {
    let folder = folder();
    let here = folder.path();
    let arguments = TRAIN.replace("--epochs 300", "--epochs 100000");
    let mut child = start(here, &format!("{arguments} --out r"));
    wait_for(&here.join("r/checkpoint.safetensors"), &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    fs::rename(here.join("l.csv"), here.join("moved.csv")).unwrap();
    let gone = said(here, "resume r", 2);
    let expected = here.canonicalize().unwrap().join("l.csv");
    let expected = format!(
        "error: the data of this run are not at {}: r\n",
        expected.display()
    );
    assert!(gone.contains(&expected), "{gone}");
    assert!(
        gone.contains("hint: restore the file, or name where it is now as `path` of [data] in r/experiment.toml"),
        "{gone}"
    );
    let file = here.join("r/experiment.toml");
    let settings = fs::read_to_string(&file).unwrap();
    fs::write(&file, settings.replace("l.csv", "moved.csv")).unwrap();
    let mut child = start(here, "resume r --quiet");
    let pause = Duration::from_millis(300);
    std::thread::sleep(pause);
    assert!(child.try_wait().unwrap().is_none(), "it goes on");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_does_not_fit_a_checkpoint_is_told() {
    let folder = folder();
    let here = folder.path();
    let no_run = said(here, "resume nothing", 2);
    assert!(no_run.contains("no such run or model: nothing"), "{no_run}");
    fs::create_dir(here.join("empty")).unwrap();
    let empty = said(here, "resume empty", 2);
    assert!(
        empty.contains("no experiment.toml in this folder"),
        "{empty}"
    );
    // A run that has a checkpoint and no outcome.
    let arguments = TRAIN.replace("--epochs 300", "--epochs 100000");
    let mut child = start(here, &format!("{arguments} --out r"));
    wait_for(&here.join("r/checkpoint.safetensors"), &mut child);
    child.kill().unwrap();
    child.wait().unwrap();
    let file = |name: &str| here.join("r").join(name);
    let checkpoint = fs::read(file("checkpoint.safetensors")).unwrap();
    fs::write(
        file("checkpoint.safetensors"),
        &checkpoint[..checkpoint.len() / 2],
    )
    .unwrap();
    let damaged = said(here, "resume r", 2);
    assert!(
        damaged.contains("error: the checkpoint is damaged: r"),
        "{damaged}"
    );
    assert!(damaged.contains("hint: remove this file to train the run from its start"));
    fs::write(file("checkpoint.safetensors"), &checkpoint).unwrap();
    let settings = fs::read_to_string(file("experiment.toml")).unwrap();
    fs::write(
        file("experiment.toml"),
        settings.replace("lr = 0.002", "lr = 0.003"),
    )
    .unwrap();
    let changed = said(here, "resume r", 2);
    assert!(changed.contains("the settings have changed"), "{changed}");
    fs::write(file("experiment.toml"), &settings).unwrap();
    said(
        here,
        "simulate lorenz63 --steps 600 --seed 5 --out l.csv",
        0,
    );
    let changed = said(here, "resume r", 2);
    assert!(changed.contains("the data have changed"), "{changed}");
}

#[test]
fn a_training_that_diverges_goes_back_and_says_so() {
    let folder = folder();
    let here = folder.path();
    let wild = "train l.csv --model shallow-plrnn --forcing none --window 100 --hidden 30 --lr 0.9 --lr-end 0.9 \
        --epochs 30 --batches-per-epoch 5 --checkpoint-every 1 --preset bare";
    let given_up = said(here, &format!("{wild} --out a"), 1);
    assert!(given_up.contains("diverged at update"), "{given_up}");
    assert!(given_up.contains("`--retries 3`"), "{given_up}");
    let used_up = said(here, &format!("{wild} --retries 1 --out u"), 1);
    assert!(
        used_up.contains("hint: one of these may help: a lower `--lr`, `--forcing agtf`"),
        "{used_up}"
    );
    assert!(!used_up.contains("--retries"), "{used_up}");
    let back = said(here, &format!("{wild} --retries 40 --out b --json"), 0);
    assert!(back.contains("went back to"), "{back}");
    let outcome = fs::read_to_string(here.join("b/outcome.json")).unwrap();
    assert!(outcome.contains("\"rate_scale\": 0.5"), "{outcome}");
    let no_alpha = said(
        here,
        &format!("{wild} --on-divergence raise-alpha --out c"),
        2,
    );
    assert!(
        no_alpha.contains("`forcing = none` does not have"),
        "{no_alpha}"
    );
    assert!(!here.join("c").exists());
}

#[test]
fn a_disk_that_is_full_leaves_the_last_checkpoint() {
    // A file-size limit stands for a full disk: the first checkpoint fits, a later one with its history does not.
    let folder = folder();
    let here = folder.path();
    let arguments = format!("{TRAIN} --out r").replace("--best-every 20", "--best-every 1000");
    let script = format!(
        "ulimit -f 16; trap '' XFSZ; exec {} {arguments}",
        env!("CARGO_BIN_EXE_attractor")
    );
    let output = Command::new("bash")
        .current_dir(here)
        .args(["-c", &script])
        .output();
    let Ok(output) = output else {
        return;
    };
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("cannot write: "), "{stderr}");
    assert!(stderr.contains("checkpoint.safetensors"), "{stderr}");
    assert!(here.join("r/checkpoint.safetensors").exists());
    said(here, "resume r --quiet", 0);
}

/// A command that is recommended can be pasted as it is.
#[cfg(unix)]
#[test]
fn recommended_commands_are_quoted() {
    let folder = folder();
    let here = folder.path();
    for (name, typed) in [("q $(touch X); x", "'q $(touch X); x'"), ("-rf", "./-rf")] {
        fs::create_dir(here.join(name)).unwrap();
        fs::write(here.join(name).join("experiment.toml"), "").unwrap();
        let mut train = common::command(here, "train l.csv");
        let output = train.arg(format!("--out={name}")).output().unwrap();
        let told = String::from_utf8(output.stderr).unwrap();
        let hint = format!("hint: `attractor resume {typed}` continues it");
        assert!(told.contains(&hint), "{told}");
    }
}
