//! Benchmarks, and their records: `benches/records.csv` has, for every benchmark that was ever recorded, when, where and
//! how long, so that a later run can be set beside it; with `--build`, how long a release takes to compile.

mod build;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::Value;

use crate::command;

const RECORD: &str = "--record";
const BUILD: &str = "--build";
const HEAD: &str = "date,machine,benchmark,median_ns";

/// Runs every benchmark of the workspace, and none of the libraries' own test harnesses.
pub(crate) fn run(rest: &[String]) -> ExitCode {
    let words: Vec<&String> = rest.iter().filter(|word| *word != RECORD).collect();
    let results = command::root().join("target/criterion");
    let record = words.len() < rest.len();
    if words.iter().any(|word| *word == BUILD) {
        return build(record);
    }
    if record {
        // Results of earlier runs are not to be recorded as if they were of this one.
        let _ = fs::remove_dir_all(&results);
    }
    let mut cargo = command::cargo(["bench", "--workspace", "--bench", "*", "--"]);
    let succeeded = command::succeeds(cargo.args(words));
    if succeeded && record {
        append(&medians(&results));
    }
    command::exit_code(succeeded)
}

/// Compiles a release from nothing.
fn build(record: bool) -> ExitCode {
    let found = build::run();
    if let Some(found) = found.as_ref().filter(|_| record) {
        let named =
            |(name, seconds): &(String, f64)| (format!("release build/{name}"), 1e9 * seconds);
        append(&found.iter().map(named).collect::<Vec<_>>());
    }
    command::exit_code(found.is_some())
}

/// Appends names and nanoseconds.
fn append(found: &[(String, f64)]) {
    let path = command::root().join("benches/records.csv");
    let mut text = fs::read_to_string(&path).unwrap_or_else(|_| format!("{HEAD}\n"));
    let (date, machine) = (today(), machine());
    for (name, median) in found {
        text += &format!("{date},{machine},\"{name}\",{median:.0}\n");
    }
    if let Err(error) = fs::write(&path, text) {
        println!("cannot write: {error}: {}", path.display());
    }
}

/// Names and medians in nanoseconds, sorted by name.
fn medians(results: &Path) -> Vec<(String, f64)> {
    let mut found = Vec::new();
    for folder in folders(results).iter().flat_map(|group| folders(group)) {
        let read = |file: &str| -> Option<Value> {
            let text = fs::read_to_string(folder.join("new").join(file)).ok()?;
            serde_json::from_str(&text).ok()
        };
        let (Some(of), Some(is)) = (read("benchmark.json"), read("estimates.json")) else {
            continue;
        };
        let name = of["full_id"].as_str().map(str::to_string);
        found.extend(name.zip(is["median"]["point_estimate"].as_f64()));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    found
}

fn folders(of: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(of).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.is_dir()).collect()
}

/// The date, as the system tells it.
fn today() -> String {
    let output = std::process::Command::new("date").arg("+%F").output();
    let text = output.map_or(String::new(), |o| String::from_utf8_lossy(&o.stdout).into());
    text.trim().to_string()
}

/// The processor's name and whether it has wide vectors.
fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let line = |key: &str| info.lines().find(|line| line.starts_with(key));
    let after = |line: &str| {
        line.split_once(':')
            .map(|(_, text)| text.trim().to_string())
    };
    let name = line("model name").and_then(after).unwrap_or_default();
    let flags = line("flags").unwrap_or_default();
    let width = ["avx512f", "avx2"].into_iter().find(|f| flags.contains(f));
    format!("{name} {}", width.unwrap_or("baseline")).replace(',', " ")
}
