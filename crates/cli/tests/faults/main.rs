//! What kills, full disks, missing locks and damaged files do: no run is lost, nothing half-written is left, and whatever is wrong is said.
//!
//! Faults are injected by small libraries in C that are put before the system's (`LD_PRELOAD`), built here; where there is no compiler, a line says so.
#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "helpers of tests are not marked as tests"
)]

use crate::common;
mod damaged;
mod kills;
mod no_locks;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{parts, said};
use tempfile::TempDir;

/// Builds a library that is put before the system's; none, with a line that says so, where there is no compiler.
fn library(folder: &Path, source: &str) -> Option<PathBuf> {
    let from = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/faults")
        .join(source);
    let made = folder.join(source).with_extension("so");
    let mut compile = Command::new("cc");
    compile
        .args(["-shared", "-fPIC", "-O1", "-o"])
        .arg(&made)
        .arg(from)
        .arg("-ldl");
    match compile.output() {
        Ok(output) => {
            let told = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{told}");
            Some(made)
        }
        Err(_) => {
            eprintln!("skipped: no C compiler `cc` to inject faults with");
            None
        }
    }
}

/// A folder with a short recording.
fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    let simulate = "simulate lorenz63 --steps 400 --transient 500 --standardize --out l.csv";
    said(folder.path(), simulate, 0);
    folder
}

/// A training with a checkpoint every epoch, of a fraction of a second.
const TRAIN: &str = "train l.csv --window 20 --hidden 8 --epochs 6 --batches-per-epoch 2 --checkpoint-every 1 --quiet";

/// All files under a folder with one of these names.
fn files(folder: &Path, names: &[&str]) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            let inside = files(&path, names);
            found.extend(
                inside
                    .into_iter()
                    .map(|(p, bytes)| (Path::new(path.file_name().unwrap()).join(p), bytes)),
            );
        } else if names.iter().any(|name| path.ends_with(name)) {
            found.insert(
                PathBuf::from(path.file_name().unwrap()),
                fs::read(&path).unwrap(),
            );
        }
    }
    found
}

const RESULTS: [&str; 3] = ["scores.json", "model.safetensors", "history.csv"];
