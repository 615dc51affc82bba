//! `attractor inspect` as a user runs it: on the paper's files, on bad files, and as its documentation shows.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const BINARY: &str = env!("CARGO_BIN_EXE_attractor");

fn inspect(arguments: &[&Path]) -> Output {
    let mut command = Command::new(BINARY);
    let ran = command.arg("inspect").args(arguments).output();
    ran.expect("the binary was built for this test")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("output is text")
}

/// The folder of the paper's files, or none with a line that says what is skipped.
fn data(what: &str) -> Option<PathBuf> {
    let default = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    let folder = std::env::var_os("ATTRACTOR_DATA").map_or(PathBuf::from(default), PathBuf::from);
    if !folder.is_dir() {
        writeln!(io::stderr(), "skipped, no data folder: {what}").expect("standard error is open");
        return None;
    }
    Some(folder)
}

#[test]
fn all_files_of_the_paper_are_read() {
    let Some(folder) = data("inspecting the paper's files") else {
        return;
    };
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "npy") {
            let output = inspect(&[&path]);
            assert_eq!(output.status.code(), Some(0), "{}", path.display());
            let name = path.file_name().unwrap().to_str().unwrap();
            // The ECG's spreads are 0.824 and 0.830, Lorenz-63's with noise 1.001, all others 1.
            let warned = ["spread 0.82", "spread 0.83"]
                .iter()
                .any(|s| text(&output).contains(s));
            assert_eq!(warned, name.starts_with("ECG"), "{name}: {}", text(&output));
            assert_eq!(
                text(&output).contains("not 1"),
                warned,
                "{name}: {}",
                text(&output)
            );
        }
    }
}

#[test]
fn the_embedding_of_the_ecg_and_its_continuation_are_found() {
    let Some(folder) = data("the delays of the ECG") else {
        return;
    };
    let train = folder.join("ECG_pecuzal_5d_train.npy");
    let test = folder.join("ECG_pecuzal_5d_test.npy");
    let seen = text(&inspect(&[&train, Path::new("--against"), &test]));
    // The lags that the paper's preprocessing chose; the test file is the next 100000 rows.
    assert!(seen.contains("lags 0, 20, 68, 55, 10 rows"), "{seen}");
    assert!(
        seen.contains("continues the first without a gap: its first 68 values"),
        "{seen}"
    );
    assert!(!seen.contains("problem"), "{seen}");
}

#[test]
fn the_eeg_test_set_is_the_training_set() {
    let Some(folder) = data("the EEG compared with itself") else {
        return;
    };
    let file = folder.join("EEG_train.npy");
    let output = inspect(&[&file, Path::new("--against"), &file]);
    let findings = text(&output);
    let top = findings
        .lines()
        .find(|l| l.contains(": both recordings"))
        .unwrap();
    assert!(top.starts_with("problem") && top.ends_with("all 9640 rows are equal"));
    assert!(findings.contains("of 64 channels; --list all lists them"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn the_smallest_files_are_inspected() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.csv");
    for content in ["5\n", "a,b\n1,nan\n2,nan\nnan,3\n", "1\n1\n1\n1\n"] {
        fs::write(&path, content).unwrap();
        for arguments in [
            vec![path.as_path()],
            vec![path.as_path(), Path::new("--json")],
        ] {
            let output = inspect(&arguments);
            // Too short for a window, which is a problem, not an error.
            assert_eq!(output.status.code(), Some(1), "{content}");
            assert!(text(&output).contains("too") && output.stderr.is_empty());
        }
    }
}

#[test]
fn mistakes_have_exit_code_two_and_a_hint() {
    let output = inspect(&[Path::new("no such file.npy")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("hint: "));
    let output = inspect(&["a.npy", "--window", "-3"].map(Path::new));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("a window has between 1 and 1000000000 steps"),
        "{said}"
    );
}

/// The fenced block of this language in the documentation.
#[cfg(unix)]
fn block<'a>(page: &'a str, language: &str) -> &'a str {
    let start = format!("```{language}\n");
    let (_, rest) = page.split_once(&start).expect("the page has the block");
    rest.split_once("```").expect("the block ends").0
}

#[cfg(unix)]
#[test]
fn the_documented_example_prints_what_is_documented() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/inspect.md");
    let page = fs::read_to_string(page).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let binaries = Path::new(BINARY).parent().unwrap().to_str().unwrap();
    let path = format!("{binaries}:{}", std::env::var("PATH").unwrap());
    let output = Command::new("sh")
        .args(["-c", block(&page, "sh")])
        .current_dir(folder.path())
        .env("PATH", path)
        .output()
        .unwrap();
    assert_eq!(text(&output), block(&page, "text"));
}
