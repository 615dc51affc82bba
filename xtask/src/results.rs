//! `cargo xtask results [DIR]`: packs what came of a sweep into one file under `results/`, then makes all tables there, and
//! the tables and numbers of the pages that have marks, anew.
//!
//! `cargo xtask results --unpack FILE DIR`: the folder of a study from its file, with which `attractor sweep` can continue.
//!
//! The file has the scores and settings of every run, and what the study was; neither models nor data, and no paths.

use std::path::{self, Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::command::{cargo, exit_code, root, succeeds};

/// As the tests are built: other packages together would be built with other features, and all that they need with them.
const AS_IN_TESTS: [&str; 1] = ["--workspace"];

/// Packs a sweep's folder and makes the tables, makes the tables alone, or unpacks a file.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [] => exit_code(tables()),
        ["--unpack", file, folder] => exit_code(packed("unpack", &whole(file), &whole(folder))),
        [folder] if !folder.starts_with('-') => {
            let folder = whole(folder);
            exit_code(packed("pack", &folder, &kept(&folder)) && tables())
        }
        _ => {
            println!("error: expected the folder of a sweep, or `--unpack FILE DIR`");
            ExitCode::from(2)
        }
    }
}

/// A path from the folder we are in: other programs are started at the root.
fn whole(path: &str) -> PathBuf {
    path::absolute(path).unwrap_or_else(|_| path.into())
}

/// The file of a sweep: among the searches, if its study is one of them.
fn kept(folder: &Path) -> PathBuf {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let study = root().join(format!("experiments/search/{name}.toml"));
    let results = if study.is_file() {
        "results/search"
    } else {
        "results"
    };
    root().join(results).join(format!("{name}.jsonl"))
}

/// Packs or unpacks, through an example of the library, so that the other tasks need not wait for it to be built.
fn packed(verb: &str, from: &Path, to: &Path) -> bool {
    let mut build = cargo(["build", "--quiet", "--example", "packed"]);
    let program = root().join("target/debug/examples/packed");
    succeeds(build.args(AS_IN_TESTS)) && succeeds(Command::new(program).arg(verb).args([from, to]))
}

/// Writes all tables: the test that compares them with the scores does it when it is asked to.
fn tables() -> bool {
    let mut command = cargo(["test", "--quiet"]);
    command.args(AS_IN_TESTS);
    command.args(["--test", "all", "results::"]);
    succeeds(command.env("UPDATE_RESULTS", "1"))
}
