//! `attractor learn`, run as a user runs it, with trainings that are only long enough to see every step work.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::fs;
use std::path::Path;

use crate::common::said;
use serde_json::Value;
use tempfile::TempDir;

/// A race of a few methods that takes seconds.
const SHORT: &str = "--methods linear,nvar,clipped-shallow-plrnn --updates 90 --no-report";

fn henon(folder: &Path, rows: usize) {
    let simulate = format!("simulate henon --steps {rows} --out henon.csv");
    said(folder, &simulate, 0);
}

/// `learn.json`, without how long it took.
fn ledger(folder: &Path) -> Value {
    let text = fs::read_to_string(folder.join("learn.json")).unwrap();
    let mut ledger: Value = serde_json::from_str(&text).unwrap();
    ledger["seconds"] = Value::Null;
    ledger
}

fn model(folder: &Path) -> Vec<u8> {
    let chosen = ledger(folder)["chosen"].as_str().unwrap().to_string();
    fs::read(folder.join(chosen).join("model.safetensors")).unwrap()
}

#[test]
fn one_command_leads_from_a_file_to_a_verdict_whatever_the_workers() {
    let folder = TempDir::new().unwrap();
    henon(folder.path(), 1500);
    let (out, notes) = said(
        folder.path(),
        &format!("learn henon.csv {SHORT} --workers 1 --out a"),
        0,
    );
    for part in [
        "solved at once",
        "round 1 of 3",
        "seed 3",
        "attractor analyze a/",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    for part in ["the race", "nvar*", "verdict: good", "test part"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let again = format!("learn henon.csv {SHORT} --workers 2 --out b --json");
    let (out, _) = said(folder.path(), &again, 0);
    let document: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(document["evaluation"]["verdict"]["word"], "good");
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    assert_eq!(ledger(&a), ledger(&b));
    assert!(model(&a) == model(&b));
    let other = format!("learn henon.csv {SHORT} --seed 2 --out a");
    let (_, error) = said(folder.path(), &other, 2);
    assert!(error.contains("another race, its seed 1, not 2"), "{error}");
}

/// A race that ended is found ended; one that a signal interrupted ends as if it had not been.
#[cfg(unix)]
#[test]
fn an_interrupted_race_continues_to_the_same_end() {
    let folder = TempDir::new().unwrap();
    henon(folder.path(), 1500);
    let race = "learn henon.csv --methods linear,clipped-shallow-plrnn --updates 400 --no-report --workers 1 --out";
    let mut interrupted = 0;
    for wait in [400, 1200, 2000] {
        let mut child = crate::common::start(folder.path(), &format!("{race} a"));
        std::thread::sleep(std::time::Duration::from_millis(wait));
        crate::common::signal(&child, "INT");
        interrupted += usize::from(child.wait().unwrap().code() != Some(0));
        assert!(
            crate::common::parts(folder.path()).is_empty(),
            "after {wait} ms"
        );
    }
    assert!(interrupted > 0);
    said(folder.path(), &format!("{race} a"), 0);
    said(folder.path(), &format!("{race} b"), 0);
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    assert_eq!(ledger(&a), ledger(&b));
    assert!(model(&a) == model(&b));
    let (out, _) = said(folder.path(), &format!("{race} a"), 0);
    assert!(out.contains("verdict"), "{out}");
}

/// The last fifth enters the verdict alone: with another one, the same model wins with the same marks.
#[test]
fn the_test_part_decides_nothing() {
    let folder = TempDir::new().unwrap();
    henon(folder.path(), 1500);
    let text = fs::read_to_string(folder.path().join("henon.csv")).unwrap();
    let changed = text.lines().enumerate().map(|(i, line)| match i {
        // A title and 1200 rows.
        0..=1200 => format!("{line}\n"),
        _ => {
            let cells: Vec<&str> = line.split(',').collect();
            format!(
                "{},{:.3},{:.3}\n",
                cells[0],
                (i as f64).sin(),
                (i as f64).cos()
            )
        }
    });
    let changed: String = changed.collect();
    fs::write(folder.path().join("changed.csv"), changed).unwrap();
    for (file, out) in [("henon.csv", "a"), ("changed.csv", "b")] {
        said(
            folder.path(),
            &format!("learn {file} {SHORT} --out {out}"),
            0,
        );
    }
    let (a, b) = (folder.path().join("a"), folder.path().join("b"));
    for part in ["candidates", "winner", "chosen"] {
        assert_eq!(ledger(&a)[part], ledger(&b)[part], "{part}");
    }
    let tensors = |folder: &Path| {
        let bytes = model(folder);
        let header = u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        bytes[8 + header..].to_vec()
    };
    assert!(tensors(&a) == tensors(&b));
    // An orbit from the changed rows may diverge, and then has no score.
    let tested = |folder: &Path| {
        let tested = ledger(folder)["finals"][0]["tested"].as_f64();
        tested.unwrap_or(f64::INFINITY)
    };
    assert!(tested(&b) > 2.0 * tested(&a) && tested(&a).is_finite());
}

#[test]
fn a_recording_is_prepared_and_every_step_is_said() {
    let folder = TempDir::new().unwrap();
    said(
        folder.path(),
        "simulate lorenz63 --steps 3000 --out all.csv",
        0,
    );
    let text = fs::read_to_string(folder.path().join("all.csv")).unwrap();
    let rows = text.lines().skip(1).enumerate().map(|(i, line)| {
        let x = line.split(',').nth(1).unwrap();
        match i {
            // Alone, and in a row.
            700 | 1500 | 1501 | 2600 => "-999\n".to_string(),
            _ => format!("{x}\n"),
        }
    });
    let rows: String = rows.collect();
    fs::write(folder.path().join("x.csv"), format!("x\n{rows}")).unwrap();
    let (_, notes) = said(folder.path(), &format!("learn x.csv {SHORT}"), 0);
    for part in [
        "-999 occurs 4 times in `x`",
        "runs of at most 5 missing rows are interpolated",
        "`x` is one channel of a system with more states",
        "for the verdict alone",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    assert!(folder.path().join("attractor-learn/states.csv").exists());
}

#[test]
fn invalid_requests_are_reported_before_the_work() {
    let folder = TempDir::new().unwrap();
    henon(folder.path(), 1000);
    fs::create_dir(folder.path().join("full")).unwrap();
    fs::write(folder.path().join("full/mine.txt"), "kept").unwrap();
    fs::write(folder.path().join("few.csv"), "x\n1\n2\n4\n").unwrap();
    for (arguments, message) in [
        (
            "learn henon.csv --out full",
            "the folder is not empty: full",
        ),
        ("learn none.csv", "none.csv"),
        ("learn few.csv", "are needed to train, select and test with"),
        ("learn henon.csv --methods nvarr", "did you mean `nvar`?"),
        (
            "learn henon.csv --methods nvar --goal anatomy",
            "not piecewise linear",
        ),
        ("learn henon.csv --minutes 0", "above 0"),
        ("learn henon.csv --updates 0", "at least 1"),
    ] {
        let (_, error) = said(folder.path(), arguments, 2);
        assert!(error.contains(message), "{arguments}: {error}");
    }
    assert!(!folder.path().join("attractor-learn").exists());
}

/// Piecewise-linear models alone, and what stands beside their attractor.
#[test]
fn for_an_anatomy_only_piecewise_linear_models_race() {
    let folder = TempDir::new().unwrap();
    henon(folder.path(), 1500);
    let race = "learn henon.csv --goal anatomy --updates 90 --no-report";
    let (out, _) = said(folder.path(), race, 0);
    assert!(out.contains("beside its attractor"), "{out}");
    let ledger = ledger(&folder.path().join("attractor-learn"));
    let candidates = ledger["candidates"].as_array().unwrap();
    assert!(
        candidates
            .iter()
            .all(|one| one["method"].as_str().unwrap().ends_with("plrnn"))
    );
}
