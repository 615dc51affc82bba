//! Files that were cut or changed: an answer always comes, and never a panic.

use std::fs;
use std::path::Path;

use super::common::{attractor, said};
use super::{TRAIN, folder};

/// A generator of numbers that are hard to foresee (Knuth's constants).
fn shuffled(from: u64) -> u64 {
    let mixed = from
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    mixed ^ (mixed >> 29)
}

/// The n-th damage of some bytes: cut, a byte changed, a stretch removed, doubled or zeroed.
fn damaged(bytes: &[u8], n: u64) -> Vec<u8> {
    let place = shuffled(3 * n) as usize % bytes.len();
    let other = shuffled(3 * n + 1) as usize % bytes.len();
    let (low, high) = (place.min(other), place.max(other));
    let mut bytes = bytes.to_vec();
    match n % 5 {
        0 => bytes.truncate(place),
        1 => bytes[place] ^= 1 << (shuffled(3 * n + 2) % 8),
        2 => drop(bytes.drain(low..high)),
        3 => bytes = [&bytes[..high], &bytes[low..]].concat(),
        _ => bytes[low..high].fill(0),
    }
    bytes
}

/// Runs a command on a damaged file; it ends with one of the known codes.
fn survives(here: &Path, file: &str, arguments: &str, count: u64) {
    let path = here.join(file);
    let whole = fs::read(&path).unwrap();
    for n in 0..count {
        fs::write(&path, damaged(&whole, n)).unwrap();
        let output = attractor(here, arguments);
        let told = String::from_utf8_lossy(&output.stderr);
        let code = output.status.code();
        assert!(
            matches!(code, Some(0..=2)),
            "{arguments}, damage {n}: {code:?} {told}"
        );
        assert!(
            !told.contains("panicked"),
            "{arguments}, damage {n}: {told}"
        );
        assert!(code != Some(2) || told.contains("error: "), "{told}");
    }
    fs::write(path, whole).unwrap();
}

#[test]
fn data_that_are_damaged() {
    let folder = folder();
    let here = folder.path();
    for name in ["l.csv.gz", "l.npy", "l.npz"] {
        said(here, &format!("convert l.csv {name}"), 0);
        survives(here, name, &format!("inspect {name}"), 10);
    }
    survives(here, "l.csv", "inspect l.csv", 10);
}

#[test]
fn models_and_outcomes_that_are_damaged() {
    let folder = folder();
    let here = folder.path();
    said(here, &format!("{TRAIN} --out r"), 0);
    survives(
        here,
        "r/model.safetensors",
        "generate r --steps 5 --out g.csv",
        15,
    );
    survives(
        here,
        "r/experiment.toml",
        "evaluate r --data l.csv --no-floors",
        10,
    );
    survives(here, "r/outcome.json", "resume r", 10);
}

#[test]
fn checkpoints_that_are_damaged() {
    let folder = folder();
    let here = folder.path();
    let Some(library) = super::library(here, "writes.c") else {
        return;
    };
    let mut train = super::common::command(here, &format!("{TRAIN} --out r"));
    train
        .env("LD_PRELOAD", library)
        .env("FAULT_IN", "/r/")
        .env("FAULT_AFTER", "20")
        .env("FAULT_KILL", "1");
    train.output().unwrap();
    let checkpoint = here.join("r/checkpoint.safetensors");
    let whole = fs::read(&checkpoint).unwrap();
    for n in 0..15 {
        fs::write(&checkpoint, damaged(&whole, n)).unwrap();
        if fs::read(&checkpoint).unwrap() == whole {
            continue;
        }
        let (_, told) = said(here, "resume r --quiet", 2);
        assert!(
            told.contains("error: the checkpoint is damaged") || told.contains("checkpoint"),
            "{told}"
        );
        assert!(told.contains("hint: "), "{told}");
    }
    fs::write(&checkpoint, whole).unwrap();
    said(here, "resume r --quiet", 0);
}
