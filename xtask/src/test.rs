//! `cargo xtask test`: all that must hold, in one command, ending with the line `N passed, M failed`. A step that is
//! not a test suite counts as one; a failed step does not keep the others from running.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::Instant;

use crate::command::{cargo, exit_code, succeeds};
use crate::debian::QUEUES;
use crate::tally::{Tally, Transcript};
use crate::{browser, deny, pages, python, tidy};

/// The flag that has missing tools compiled first.
const INSTALL_TOOLS: &str = "--install-tools";

/// Runs every step and prints the closing line.
pub(crate) fn run(words: &[String]) -> ExitCode {
    if let Some(word) = words.iter().find(|word| *word != INSTALL_TOOLS) {
        println!("error: unknown flag `{word}`\nhint: the only one is `{INSTALL_TOOLS}`");
        return ExitCode::from(2);
    }
    let mut tally = Tally::default();
    // What is fetched from elsewhere comes while the sources are checked.
    let installed = thread::spawn(|| (QUEUES.install(), browser::install()));
    let python = thread::spawn(python::prepare);
    check_sources(&mut tally);
    let python = python.join().expect("it gives back a reason");
    let (queues, browser) = installed.join().expect("it gives back reasons");
    if let Err(reason) = queues {
        tally.skip(format!("studies on Slurm and with GNU parallel: {reason}"));
    }
    check_tests(&mut tally, python);
    check_documents(&mut tally);
    heading("browser");
    browser::check(&mut tally, browser);
    heading("deny");
    if !words.is_empty() {
        deny::install(&mut tally);
    }
    deny::check(&mut tally);
    println!("\n{}", tally.summary());
    exit_code(tally.all_passed())
}

/// Says which step begins, and when.
fn heading(step: &str) {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    let seconds = BEGUN.get_or_init(Instant::now).elapsed().as_secs();
    println!("\n== {step} (after {seconds} s)");
}

/// Layout, lints and house rules.
fn check_sources(tally: &mut Tally) {
    heading("fmt");
    tally.check("fmt", succeeds(&mut cargo(["fmt", "--all", "--check"])));
    heading("clippy");
    let clippy = [
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
    ];
    tally.check("clippy", succeeds(&mut cargo(clippy)));
    heading("tidy");
    tally.check("tidy", tidy::check());
}

/// Tests of the code. Benchmarks are not run: clippy has seen that they compile.
fn check_tests(tally: &mut Tally, python: Result<PathBuf, String>) {
    heading("tests");
    if let Err(reason) = &python {
        tally.skip(format!("comparisons with NumPy and SciPy: {reason}"));
    }
    let kinds = ["--lib", "--bins", "--tests", "--examples"];
    test_binaries(tally, "tests", &kinds, python.as_deref().ok());
    heading("documentation tests");
    test_binaries(tally, "documentation tests", &["--doc"], None);
}

/// The documentation and the examples of its pages.
fn check_documents(tally: &mut Tally) {
    heading("docs");
    tally.check("docs", pages::build());
    heading("pages");
    pages::check_all(tally);
}

/// Runs `cargo test` for some kinds of targets and counts each test.
fn test_binaries(tally: &mut Tally, name: &str, kinds: &[&str], python: Option<&Path>) {
    let mut command = cargo(["test", "--workspace", "--no-fail-fast"]);
    command.args(kinds).args(["--", "--show-output"]);
    command.envs(python.map(|path| (python::VARIABLE, path)));
    let (transcript, succeeded) = follow(&mut command);
    tally.tests(name, transcript, succeeded);
}

/// Runs a command and reads its output line by line, showing it.
fn follow(command: &mut Command) -> (Transcript, bool) {
    let mut transcript = Transcript::default();
    let Ok(mut child) = command.stdout(Stdio::piped()).spawn() else {
        return (transcript, false);
    };
    let output = child.stdout.take().expect("standard output is piped");
    for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
        if let Some(line) = transcript.read(String::from_utf8_lossy(&line).trim_end_matches('\r')) {
            println!("{line}");
        }
    }
    let succeeded = child.wait().is_ok_and(|status| status.success());
    (transcript, succeeded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_flag_runs_nothing() {
        assert_eq!(run(&["--fast".to_string()]), ExitCode::from(2));
    }

    #[test]
    fn a_command_that_cannot_start_has_not_succeeded() {
        let (_, succeeded) = follow(&mut Command::new("no-such-program-at-all"));
        assert!(!succeeded);
    }
}
