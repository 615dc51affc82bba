//! Shares that take runs of others over: from one that sleeps, from one that died, and back from one that died while it helped.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use super::{command, folder, read_json, results, said, start};
use crate::common::signal;

/// A share has the runs of one of the two cells. Long enough to be disturbed in the middle of a run.
fn shared() -> TempDir {
    folder(|study| {
        let study = study.replace("epochs = 30", "epochs = 4000");
        study.replace("checkpoint-every = 5", "checkpoint-every = 500")
    })
}

/// Begins the second share of a study, and stops it when it has stored its first run once.
fn asleep(here: &Path) -> Child {
    let mut owner = start(here, "sweep s.toml --out d --share 1/2 --workers 1");
    until_stored(&mut owner, &here.join("d/alpha=0.3/seed-01"));
    signal(&owner, "STOP");
    assert!(!has_scores(here, "alpha=0.3/seed-01"));
    owner
}

fn until_stored(worker: &mut Child, run: &Path) {
    let begun = Instant::now();
    while !run.join("checkpoint.safetensors").exists() {
        assert!(worker.try_wait().unwrap().is_none(), "it ended early");
        assert!(begun.elapsed() < Duration::from_secs(120), "{run:?}");
        sleep(Duration::from_millis(2));
    }
}

fn has_scores(here: &Path, run: &str) -> bool {
    here.join("d").join(run).join("scores.json").exists()
}

/// Compares with a sweep without shares.
fn assert_as_a_whole(here: &Path) {
    said(here, "sweep s.toml --out whole --quiet", 0);
    let expected = results(here, "whole");
    assert_eq!(expected.len(), 18);
    assert!(results(here, "d") == expected);
}

/// Shares that said that they are done.
fn done(here: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(here.join("d/.jobs/done"))
        .into_iter()
        .flatten();
    entries.flatten().map(|entry| entry.path()).collect()
}

#[test]
fn a_share_that_is_done_does_what_a_sleeping_one_has_not_begun() {
    let folder = shared();
    let here = folder.path();
    let mut owner = asleep(here);
    let help = "sweep s.toml --out d --share 0/2 --workers 1 --help-others --json";
    let (out, _) = said(here, help, 0);
    // It reports its own share; the run that the other holds is the other's to end.
    let document: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["done"], 3);
    assert!(!has_scores(here, "alpha=0.3/seed-01"));
    assert!(has_scores(here, "alpha=0.3/seed-02") && has_scores(here, "alpha=0.3/seed-03"));
    signal(&owner, "CONT");
    assert!(owner.wait().unwrap().success());
    assert_as_a_whole(here);
}

#[test]
fn a_share_takes_over_the_run_of_one_that_died_in_it() {
    let folder = shared();
    let here = folder.path();
    let mut owner = asleep(here);
    let stored = read_json(&here.join("d/alpha=0.3/seed-01/progress.json"));
    assert_eq!(stored["process"], owner.id());
    owner.kill().unwrap();
    owner.wait().unwrap();
    let help = "sweep s.toml --out d --share 0/2 --workers 1 --help-others --quiet";
    said(here, help, 0);
    assert_as_a_whole(here);
    assert_eq!(done(here).len(), 1);
}

#[test]
fn a_share_goes_on_with_what_a_helper_left_when_it_died() {
    let folder = shared();
    let here = folder.path();
    let mut owner = asleep(here);
    let help = "sweep s.toml --out d --share 0/2 --workers 1 --help-others --quiet";
    let mut helper = command(here, help).spawn().unwrap();
    // Others are helped from their end.
    until_stored(&mut helper, &here.join("d/alpha=0.3/seed-03"));
    helper.kill().unwrap();
    helper.wait().unwrap();
    assert!(!has_scores(here, "alpha=0.3/seed-03"));
    signal(&owner, "CONT");
    assert!(owner.wait().unwrap().success());
    assert_as_a_whole(here);
}

/// Runs of a share that is done are not looked at by those that help, so that many shares do not read everything many times.
#[test]
fn what_is_done_is_looked_at_by_its_own_share_alone() {
    let folder = shared();
    let here = folder.path();
    let share =
        |i: u32| format!("sweep s.toml --out d --share {i}/2 --workers 1 --help-others --quiet");
    said(here, &share(1), 0);
    assert_as_a_whole(here);
    assert_eq!(done(here).len(), 1);
    // Whoever read these scores would refuse them.
    fs::write(here.join("d/alpha=0.3/seed-02/scores.json"), "{}").unwrap();
    said(here, &share(0), 0);
    assert_eq!(done(here).len(), 2);
    said(here, &share(1), 2);
}
