//! `attractor line-search`, run as a user runs it.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;

use std::fs;
use std::path::Path;

use common::{document, said};
use tempfile::TempDir;

/// A folder with a short recording `l.csv`.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let simulate = "simulate lorenz63 --steps 400 --standardize --out l.csv";
    said(folder.path(), simulate, 0);
    folder
}

/// A search of eight trainings, each of a moment.
const SEARCH: &str = "line-search l.csv --test l.csv --out s --step 0.5 --seeds 2 --workers 1 \
    --window 30 --hidden 10 --batches-per-epoch 10";

fn lines(folder: &Path, name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.join("s").join(name)).unwrap();
    text.lines().map(String::from).collect()
}

#[test]
fn a_search_gives_its_curve_and_its_trainings() {
    let folder = folder();
    let found = document(folder.path(), &format!("{SEARCH} --epochs 2"), 0);
    assert_eq!(
        (&found["trainings"], &found["ended"]),
        (&8.into(), &8.into())
    );
    let groups = found["groups"].as_array().unwrap();
    assert_eq!((groups.len(), &groups[3]["forcing"]), (4, &"agtf".into()));
    for group in groups {
        let pe = &group["pe"];
        let runs = pe["runs"].as_u64().unwrap() + pe["missing"].as_u64().unwrap();
        assert_eq!(Some(runs), group["runs"].as_u64());
    }
    assert_eq!(found["points"].as_array().unwrap().len(), 8);
    assert_eq!(found["points"][1]["seed"], 2);
    assert_eq!(lines(folder.path(), "line-search.csv").len(), 9);
    let curve = lines(folder.path(), "curve.csv");
    assert!(
        curve[0].ends_with(",pe,pe_mad,pe_missing") && curve.len() == 5,
        "{curve:?}"
    );
    let (table, _) = said(folder.path(), &format!("{SEARCH} --epochs 2"), 0);
    // A head, four forcings, floor and chance; a strength is chosen where all scores are there.
    assert!((7..=8).contains(&table.lines().count()), "{table}");
    assert!(found["groups"][0]["pe"]["floor"].is_number());
    // It is a study, which tables show as well.
    said(folder.path(), "table s", 0);
}

/// A constant map, z ← h, is what collapses: its orbit has no spectrum.
#[test]
fn a_collapsed_orbit_counts_in_the_measures_that_it_has() {
    let folder = folder();
    let search = format!("{SEARCH} --epochs 1");
    said(folder.path(), &search, 0);
    let tensors: [common::Tensor<'_>; 3] = [
        ("A", &[3], &[0.0; 3]),
        ("W", &[3, 3], &[0.0; 9]),
        ("h", &[3], &[0.1, 0.2, 0.3]),
    ];
    common::model_file(folder.path(), "plrnn", &[], &tensors);
    for seed in [1, 2] {
        let run = folder.path().join(format!("s/alpha-0/seed-0{seed}"));
        fs::copy(
            folder.path().join("m.safetensors"),
            run.join("model.safetensors"),
        )
        .unwrap();
        fs::remove_file(run.join("scores.json")).unwrap();
    }
    let found = document(folder.path(), &search, 0);
    let group = &found["groups"][0];
    assert_eq!(
        (&group["d_h"]["missing"], &group["d_h"]["median"]),
        (&2.into(), &serde_json::Value::Null)
    );
    assert_eq!(group["d_stsp"]["missing"], 0);
    // A point where the attractor is not: no better than any trained model.
    assert!(group["d_stsp"]["median"].as_f64().unwrap() > 5.0, "{group}");
    assert!(group["pe"]["median"].as_f64().unwrap() > 0.5, "{group}");
    let (table, told) = said(folder.path(), &search, 0);
    assert!(table.contains("– (none of 2)"), "{table}");
    assert!(!told.contains("NaN"), "{told}");
    assert!(lines(folder.path(), "curve.csv")[1].contains(",,2,"));
}

#[test]
fn what_is_scanned_cannot_be_set_and_a_run_is_not_searched_in() {
    let folder = folder();
    for (flag, name) in [
        ("--alpha 0.3", "alpha"),
        ("--forcing agtf", "forcing"),
        ("--seed 7", "seed"),
        ("--set threads=2", "threads"),
    ] {
        let (out, told) = said(folder.path(), &format!("{SEARCH} {flag}"), 2);
        assert!(
            told.contains(&format!("error: a line search sets `{name}` itself")),
            "{told}"
        );
        assert!(
            told.contains("hint: leave it out; `--step`, `--seeds`"),
            "{told}"
        );
        assert!(out.is_empty() && !folder.path().join("s").exists());
    }
    let train = "train l.csv --out s --epochs 1 --window 30 --hidden 10 --quiet";
    said(folder.path(), train, 0);
    let (_, told) = said(folder.path(), SEARCH, 2);
    assert!(
        told.contains("error: the folder holds a run, not a line search: s\nhint: name another"),
        "{told}"
    );
    assert!(!folder.path().join("s/alpha-0").exists());
}

/// A folder is ours if it is empty or says so: neither files nor folders of others are written over, or taken for runs.
#[test]
fn a_folder_of_others_is_refused_and_stays_as_it_is() {
    let folder = folder();
    let here = folder.path();
    for file in [
        "curve.csv",
        "line-search.csv",
        ".git/config",
        "a/seed-bank/x",
        "a/seed-01/x",
    ] {
        let path = here.join("s").join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "mine").unwrap();
        let (_, told) = said(here, SEARCH, 2);
        assert!(
            told.contains("error: the folder holds something other than a study: s\nhint: "),
            "{told}"
        );
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        assert_eq!(fs::read_dir(here.join("s")).unwrap().count(), 1, "{file}");
        fs::remove_dir_all(here.join("s")).unwrap();
    }
}

#[cfg(unix)]
#[test]
fn a_signal_leaves_what_ended_and_says_how_to_go_on() {
    let folder = folder();
    let here = folder.path();
    let long = format!("{SEARCH} --epochs 1000000 --json");
    let mut child = common::start(here, &long);
    common::wait_for(&here.join("s/alpha-0/seed-01/experiment.toml"), &mut child);
    common::signal(&child, "INT");
    let output = child.wait_with_output().unwrap();
    let told = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{told}");
    let last = told.lines().last().unwrap();
    assert_eq!(
        last,
        "stopped after 0 of 8 trainings; the same command continues: s"
    );
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["ended"], 0);
    assert!(
        here.join("s/alpha-0/seed-01/checkpoint.safetensors")
            .exists()
    );
}
