//! The test binaries of the workspace, several at a time. `cargo test` runs one after another, and many of them wait (for a signal to
//! be heard, for a queue) or end with one long test, while the other cores idle.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use serde_json::Value;

use crate::command::cargo;
use crate::tally::{Tally, Transcript};

/// A test binary: the crate and target that it is of, the file, and the folder that it is run in.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Binary {
    pub(crate) name: String,
    program: PathBuf,
    folder: PathBuf,
}

/// Builds the test binaries of all crates; none if that fails.
pub(crate) fn build() -> Option<Vec<Binary>> {
    let mut command = cargo(["test", "--workspace", "--no-run"]);
    command.args(["--lib", "--bins", "--tests", "--examples"]);
    command.arg("--message-format=json-render-diagnostics");
    let output = command.stderr(Stdio::inherit()).output().ok()?;
    let messages = String::from_utf8_lossy(&output.stdout);
    let binaries = messages.lines().filter_map(binary).collect();
    output.status.success().then_some(binaries)
}

/// The test binary that a message of cargo is about.
fn binary(message: &str) -> Option<Binary> {
    let message: Value = serde_json::from_str(message).ok()?;
    let is_test = message["profile"]["test"].as_bool()?;
    let program = PathBuf::from(message["executable"].as_str()?);
    let folder = Path::new(message["manifest_path"].as_str()?).parent()?;
    let package = folder.file_name()?.to_string_lossy();
    let (target, kind) = (&message["target"]["name"], &message["target"]["kind"][0]);
    is_test.then(|| Binary {
        name: format!("{package}: {} {}", text(kind), text(target)),
        program,
        folder: folder.to_path_buf(),
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// What all binaries are run with.
#[derive(Debug, Clone, Default)]
pub(crate) struct Request {
    /// The interpreter of the comparisons with Python.
    pub(crate) python: Option<(&'static str, PathBuf)>,
    /// Tests whose names have one of these in them are left out.
    pub(crate) skip: &'static [&'static str],
}

/// Runs binaries, one per core, those that take longest first, and counts each test. Each is shown when it has ended.
pub(crate) fn run(binaries: Vec<Binary>, request: &Request) -> Tally {
    let mut binaries = binaries;
    binaries.sort_by_key(|binary| position(&binary.name));
    let left = Mutex::new(VecDeque::from(binaries));
    let tally = Mutex::new(Tally::default());
    let cores = thread::available_parallelism().map_or(1, |n| n.get());
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some(binary) = next(&left) {
                    let (transcript, shown, succeeded) = run_one(&binary, request);
                    println!("{shown}");
                    let mut tally = tally.lock().expect("no one panics while counting");
                    tally.tests(&binary.name, transcript, succeeded);
                }
            });
        }
    });
    tally.into_inner().expect("no one panics while counting")
}

fn next(left: &Mutex<VecDeque<Binary>>) -> Option<Binary> {
    left.lock().expect("no one panics while taking").pop_front()
}

/// Where in the order a binary is: whole commands take longest, then what trains.
fn position(name: &str) -> usize {
    const FIRST: [&str; 4] = [
        "cli: test all",
        "core: lib",
        "core: test all",
        "attractor: test",
    ];
    let found = FIRST.iter().position(|first| name.starts_with(first));
    found.unwrap_or(FIRST.len())
}

/// Runs a binary: what it printed, as numbers and as a text to show, and whether it succeeded.
fn run_one(binary: &Binary, request: &Request) -> (Transcript, String, bool) {
    let begun = Instant::now();
    let mut command = Command::new(&binary.program);
    command.arg("--show-output").current_dir(&binary.folder);
    command.args(request.skip.iter().flat_map(|skip| ["--skip", skip]));
    command.env("CARGO_MANIFEST_DIR", &binary.folder);
    command.envs(request.python.iter().map(|(name, path)| (name, path)));
    let mut transcript = Transcript::default();
    let mut shown = String::new();
    let output = command.stdin(Stdio::null()).output();
    if let Ok(output) = &output {
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            if let Some(line) = transcript.read(line) {
                shown += &format!("{line}\n");
            }
        }
        shown += &String::from_utf8_lossy(&output.stderr);
    }
    let head = format!("\n{} ({} s)\n", binary.name, begun.elapsed().as_secs());
    let succeeded = output.is_ok_and(|output| output.status.success());
    (transcript, head + shown.trim_end(), succeeded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_about_test_binaries_name_them() {
        let message = |test: bool, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/cli/Cargo.toml","target":{{"kind":["test"],"name":"all"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let found = binary(&message(true, "\"/w/target/all\"")).unwrap();
        assert_eq!(found.name, "cli: test all");
        assert_eq!(found.folder, Path::new("/w/crates/cli"));
        assert_eq!(binary(&message(false, "\"/w/target/attractor\"")), None);
        assert_eq!(binary(&message(true, "null")), None);
        assert_eq!(
            binary(r#"{"reason":"build-finished","success":true}"#),
            None
        );
    }

    #[test]
    fn a_binary_that_cannot_start_is_a_failure() {
        let binary = Binary {
            name: "none".to_string(),
            program: "no-such-program-at-all".into(),
            folder: ".".into(),
        };
        let tally = run(vec![binary], &Request::default());
        assert_eq!(
            tally.summary(),
            "FAILED: none (not built, or stopped)\n0 passed, 1 failed"
        );
    }
}
