//! `attractor demo`, run as a user runs it, with trainings that are only long enough to see every step work.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;

use common::said;
use serde_json::Value;
use tempfile::TempDir;

const SHORT: &str = "--updates 90";

#[test]
fn one_command_leads_from_nothing_to_a_page() {
    let folder = TempDir::new().unwrap();
    let (out, notes) = said(folder.path(), &format!("demo --seed 3 {SHORT}"), 0);
    for step in ["1. ", "2. ", "3. ", "4. ", "5. ", "open it in a browser"] {
        assert!(notes.contains(step), "{step}: {notes}");
    }
    for part in [
        "the race",
        "d_stsp",
        "floor",
        "verdict",
        "Lyapunov exponents",
        "fixed point",
    ] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let made = folder.path().join("attractor-demo");
    let page = fs::read_to_string(made.join("report.html")).unwrap();
    assert!(page.starts_with("<!doctype html>") && page.len() < 3_000_000);
    // The commands that are shown do the same.
    let command = |number: &str, line: usize| {
        let mut lines = notes.lines().skip_while(|line| !line.starts_with(number));
        let line = lines.nth(line).unwrap().trim();
        line.strip_prefix("attractor ").unwrap().to_string()
    };
    let again = command("2. ", 2).replace("attractor-demo/learn", "again");
    said(folder.path(), &format!("{again} --no-report"), 0);
    let chosen = |race: &str| {
        let race = folder.path().join(race);
        let text = fs::read_to_string(race.join("learn.json")).unwrap();
        let ledger: Value = serde_json::from_str(&text).unwrap();
        fs::read(
            race.join(ledger["chosen"].as_str().unwrap())
                .join("model.safetensors"),
        )
        .unwrap()
    };
    assert!(chosen("again") == chosen("attractor-demo/learn"));
    let (scores, _) = said(folder.path(), &command("3. ", 1), 0);
    assert!(out.contains(scores.lines().nth(1).unwrap()), "{scores}");
}

#[test]
fn a_recording_of_ones_own_takes_the_place_of_the_simulated_one() {
    let folder = TempDir::new().unwrap();
    let simulate = "simulate henon --steps 1500 --out mine.csv";
    said(folder.path(), simulate, 0);
    let demo = format!("demo --data mine.csv --out d --json {SHORT}");
    let (out, notes) = said(folder.path(), &demo, 0);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["evaluation"]["verdict"]["word"], "good", "{out}");
    assert!(
        notes.contains("the last 300 rows for the verdict alone"),
        "{notes}"
    );
    assert!(folder.path().join("d/report.html").exists());
}

#[test]
fn mistakes_are_told_before_the_work() {
    let folder = TempDir::new().unwrap();
    fs::create_dir(folder.path().join("full")).unwrap();
    fs::write(folder.path().join("full/mine.txt"), "kept").unwrap();
    fs::write(folder.path().join("few.csv"), "x\n1\n2\n").unwrap();
    for (arguments, message) in [
        (
            "demo --out full",
            "the folder for the run is not empty: full",
        ),
        ("demo --data none.csv", "none.csv"),
        ("demo --seed x", "expected a whole number"),
        ("demo --data few.csv", "rows"),
    ] {
        let (_, error) = said(folder.path(), arguments, 2);
        assert!(error.contains(message), "{arguments}: {error}");
    }
    assert!(!folder.path().join("attractor-demo").exists());
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Ctrl-C at any moment, in any step: it ends, and leaves nothing half-written.
#[cfg(unix)]
#[test]
fn a_signal_ends_every_step_and_leaves_nothing_half_written() {
    use std::os::unix::process::ExitStatusExt;
    let folder = TempDir::new().unwrap();
    for (i, wait) in [20, 60, 150, 300, 600, 3000].into_iter().enumerate() {
        let mut child = common::start(folder.path(), &format!("demo --out d{i} --updates 1000000"));
        std::thread::sleep(std::time::Duration::from_millis(wait));
        common::signal(&child, "INT");
        let ended = child.wait().unwrap();
        let is_ended_by_it = ended.signal() == Some(2) || ended.code() == Some(130);
        assert!(is_ended_by_it, "after {wait} ms: {ended:?}");
        assert!(common::parts(folder.path()).is_empty(), "after {wait} ms");
    }
}
