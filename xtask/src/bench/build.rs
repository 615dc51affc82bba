//! `cargo xtask bench --build [--record]`: how long a release takes to compile from nothing, which a newcomer waits for, as a whole and by crate,
//! and how large the program is. It says something on an idle machine alone.
//!
//! Cargo's own report of a build has the numbers; a crate of several parts (its build script, its metadata) is one line.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use crate::command::{cargo, succeeds, target};

/// Where in cargo's report the units begin.
const UNITS: &str = "const UNIT_DATA = ";

/// Crates that take less are not shown.
const SHOWN: f64 = 2.0;

/// Seconds of the whole build, then of every crate that takes some; none if it failed.
pub(super) fn run() -> Option<Vec<(String, f64)>> {
    let folder = target().join("build-times");
    let _ = fs::remove_dir_all(&folder);
    let mut build = cargo([
        "build",
        "--release",
        "--package",
        "attractor-cli",
        "--timings",
    ]);
    let begun = Instant::now();
    if !succeeds(build.env("CARGO_TARGET_DIR", &folder)) {
        return None;
    }
    let whole = begun.elapsed().as_secs_f64();
    let report = fs::read_to_string(folder.join("cargo-timings/cargo-timing.html")).ok()?;
    let crates = crates(&report)?;
    let processor: f64 = crates.values().sum();
    let size = fs::metadata(folder.join("release/attractor")).map_or(0, |file| file.len());
    println!(
        "release from nothing: {whole:.0} s, {processor:.0} s of compilers, {:.1} MB",
        size as f64 / 1e6
    );
    let mut shown: Vec<(String, f64)> = crates
        .into_iter()
        .filter(|(_, seconds)| *seconds >= SHOWN)
        .collect();
    shown.sort_by(|a, b| b.1.total_cmp(&a.1));
    for (name, seconds) in &shown {
        println!("{seconds:8.1}  {name}");
    }
    clean(&folder);
    Some(
        [("all".to_string(), whole)]
            .into_iter()
            .chain(shown)
            .collect(),
    )
}

/// What was built is of no further use, but for cargo's report.
fn clean(folder: &Path) {
    let _ = fs::remove_dir_all(folder.join("release"));
}

/// Seconds by crate, of cargo's report.
fn crates(report: &str) -> Option<BTreeMap<String, f64>> {
    let from = report.find(UNITS)? + UNITS.len();
    let mut values = serde_json::Deserializer::from_str(&report[from..]).into_iter::<Value>();
    let units = values.next()?.ok()?;
    let mut crates = BTreeMap::new();
    for unit in units.as_array()? {
        let (name, seconds) = (unit["name"].as_str()?, unit["duration"].as_f64()?);
        *crates.entry(name.to_string()).or_insert(0.0) += seconds;
    }
    Some(crates)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_crate_are_added() {
        let report = r#"<script>const UNIT_DATA = [{"name": "core", "target": "", "duration": 2.5},
            {"name": "core", "target": " build-script", "duration": 0.5}, {"name": "cli", "duration": 1}];
            const CONCURRENCY_DATA = [];</script>"#;
        let crates = crates(report).unwrap();
        assert_eq!((crates["core"], crates["cli"], crates.len()), (3.0, 1.0, 2));
        assert!(super::crates("no report").is_none());
    }
}
