//! `cargo xtask test`: all that must hold, in one command, ending with the line `N passed, M failed`. A step that is
//! not a test suite counts as one; a failed step does not keep the others from running.
//!
//! The test binaries are built first. Then two lanes go side by side: in one they run, several at a time, with the pages and the browser
//! after them; in the other cargo lints, documents and tests the documentation, for which it locks the folder of what is built.

use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::Instant;

use crate::command::{cargo, exit_code, succeeds};
use crate::debian::QUEUES;
use crate::suite::{self, Binary, Request};
use crate::tally::{Tally, Transcript};
use crate::{browser, crates, deny, package, pages, python, tidy, tool};

/// The flag that has missing tools compiled first.
const INSTALL_TOOLS: &str = "--install-tools";

/// The flag for daily work.
const QUICK: &str = "--quick";

/// Tests that `--quick` leaves out, by what is in their names: those that train, wait or try many inputs, and all others that take more than
/// two and a half seconds of processor time.
const SLOW: &[&str] = &[
    "bits::",
    "calibration::",
    "clusters::",
    "demo::",
    "faults::",
    "gradients::",
    "latent_ode::",
    "learn::",
    "mutations",
    "neural_ode::",
    "recurrent::recurrent_networks",
    "results::",
    "sindy::",
    "sweep::",
    "watch::",
    "a_climate_table_is_read",
    "a_csv_file_becomes_a_model",
    "a_model_is_judged_by_orbits",
    "a_plrnn_with_two_80_cycles",
    "a_trained_model_is_taken_apart",
    "a_study_in_memory",
    "all_files_of_the_paper",
    "arrays_of_an_archive",
    "data_in_other_units_are_told",
    "errors::mmd",
    "every_score_stands_beside",
    "exponents_agree_with_the_literature",
    "exponents_are_those_of_the_literature",
    "forcing_smooths_the_loss",
    "gradients_under_forcing",
    "levels_are_computed_once",
    "levels_put_the_floor",
    "lorenz_96_has_the_spectrum",
    "many_channels_fit_into",
    "multiscale_has_the_moments",
    "noise_is_taken_as_it_is",
    "states_are_made_of_one_channel",
    "ten_thousand_runs",
    "the_ecg_has",
    "the_page_computes_what",
    "the_page_integrates",
    "two_channels_are_taken",
    "whole_trajectories_are_held_out",
];

/// Runs every step and prints the closing line.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let known = |word: &&String| [INSTALL_TOOLS, QUICK].contains(&word.as_str());
    if let Some(word) = words.iter().find(|word| !known(word)) {
        println!("error: unknown flag `{word}`\nhint: `{QUICK}` or `{INSTALL_TOOLS}`");
        return ExitCode::from(2);
    }
    let has = |flag: &str| words.iter().any(|word| word == flag);
    let mut tally = Tally::default();
    if has(QUICK) {
        quick(&mut tally);
    } else {
        whole(&mut tally, has(INSTALL_TOOLS));
    }
    heading("end");
    println!("\n{}", tally.summary());
    exit_code(tally.all_passed())
}

/// What daily work needs: house rules, lints of what ships, and all tests but the slow ones.
fn quick(tally: &mut Tally) {
    check_house(tally);
    let binaries = build(tally);
    let request = Request {
        skip: SLOW,
        ..Request::default()
    };
    thread::scope(|scope| {
        let tests = scope.spawn(|| suite::run(binaries, &request));
        heading("clippy");
        clippy(tally, &[]);
        tally.merge(tests.join().expect("counting does not panic"));
    });
    tally.skip(format!(
        "`{QUICK}`: tests with {} in their names, comparisons with Python, documentation, pages, browser, crates, dependencies",
        SLOW.join(" ")
    ));
}

/// Everything.
fn whole(tally: &mut Tally, install_tools: bool) {
    // What is fetched from elsewhere comes while the sources are checked.
    let installed = thread::spawn(|| (QUEUES.install(), browser::install()));
    let python = thread::spawn(|| {
        let interpreter = python::prepare();
        let package = python::prepare_package(&interpreter);
        (interpreter, package)
    });
    check_house(tally);
    let binaries = build(tally);
    let (python, package) = python.join().expect("it gives back a reason");
    let (queues, browser) = installed.join().expect("it gives back reasons");
    if let Err(reason) = queues {
        tally.skip(format!("studies on Slurm and with GNU parallel: {reason}"));
    }
    thread::scope(|scope| {
        let running = scope.spawn(|| {
            let mut tally = run_tests(binaries, python, browser);
            heading("Python package");
            package::check(&mut tally, &package);
            tally
        });
        heading("clippy");
        clippy(tally, &["--all-targets"]);
        if install_tools {
            [tool::DENY, tool::BOOK]
                .iter()
                .for_each(|tool| tool.install(tally));
        }
        heading("docs");
        tally.check("docs", pages::build());
        pages::book(tally);
        heading("crates");
        crates::check(tally);
        heading("documentation tests");
        documentation_tests(tally);
        heading("deny");
        deny::check(tally);
        tally.merge(running.join().expect("counting does not panic"));
    });
}

/// Says which step begins, and when.
fn heading(step: &str) {
    static BEGUN: OnceLock<Instant> = OnceLock::new();
    let seconds = BEGUN.get_or_init(Instant::now).elapsed().as_secs();
    println!("\n== {step} (after {seconds} s)");
}

/// Layout and house rules.
fn check_house(tally: &mut Tally) {
    heading("fmt");
    tally.check("fmt", succeeds(&mut cargo(["fmt", "--all", "--check"])));
    heading("tidy");
    tally.check("tidy", tidy::check());
}

/// Lints of the workspace; a warning is an error.
fn clippy(tally: &mut Tally, targets: &[&str]) {
    let mut clippy = cargo(["clippy", "--workspace"]);
    clippy.args(targets).args(["--", "-D", "warnings"]);
    tally.check("clippy", succeeds(&mut clippy));
}

/// The test binaries. Benchmarks are not built: clippy sees that they compile.
fn build(tally: &mut Tally) -> Vec<Binary> {
    heading("building the tests");
    let built = suite::build();
    if built.is_none() {
        tally.check("tests (not built)", false);
    }
    built.unwrap_or_default()
}

/// Runs the tests, then what needs the built command: the examples of the pages, and pages in a browser.
fn run_tests(
    binaries: Vec<Binary>,
    python: Result<PathBuf, String>,
    browser: Result<(), String>,
) -> Tally {
    let mut tally = Tally::default();
    if let Err(reason) = &python {
        tally.skip(format!("comparisons with NumPy and SciPy: {reason}"));
    }
    if binaries.is_empty() {
        return tally;
    }
    heading("tests");
    let request = Request {
        python: python.ok().map(|path| (python::VARIABLE, path)),
        ..Request::default()
    };
    tally.merge(suite::run(binaries, &request));
    heading("pages");
    pages::check_all(&mut tally);
    heading("browser");
    browser::check(&mut tally, browser);
    tally
}

/// Runs the examples in the documentation of the code, and counts each.
fn documentation_tests(tally: &mut Tally) {
    let mut command = cargo(["test", "--workspace", "--no-fail-fast", "--doc"]);
    let (transcript, succeeded) = follow(command.args(["--", "--show-output"]));
    tally.tests("documentation tests", transcript, succeeded);
}

/// Runs a command, shows and reads what it prints.
fn follow(command: &mut Command) -> (Transcript, bool) {
    let mut transcript = Transcript::default();
    let Ok(output) = command.stderr(Stdio::inherit()).output() else {
        return (transcript, false);
    };
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        if let Some(line) = transcript.read(line) {
            println!("{line}");
        }
    }
    (transcript, output.status.success())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::root;

    /// A name that no test has any more would leave nothing out.
    #[test]
    fn every_slow_name_is_one_of_a_test() {
        for name in SLOW {
            let (module, test) = name.rsplit_once("::").unwrap_or(("", name));
            let words = [
                format!("fn [a-z0-9_]*{test}"),
                format!("mod {module}( \\{{|;)"),
            ];
            let wanted = words
                .iter()
                .zip([test, module])
                .filter(|(_, part)| !part.is_empty());
            for (pattern, _) in wanted {
                let mut grep = Command::new("git");
                grep.current_dir(root());
                grep.args(["grep", "-qE", pattern, "--", "crates"]);
                assert!(succeeds(&mut grep), "{name}: {pattern}");
            }
        }
    }

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
