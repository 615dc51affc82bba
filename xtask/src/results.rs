//! `cargo xtask results [DIR]`: what came of a sweep, for `results/`; then all tables there, and the overview in
//! `docs/results.md`, made anew.
//!
//! Of every run its scores and settings, and of the study what it was; neither models nor data. Files of data keep their
//! names and lose their folders, so that a result does not depend on whose machine it is from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::command::{cargo, exit_code, root, succeeds};

/// What is kept of a run or of a study.
const KEPT: [&str; 3] = ["scores.json", "experiment.toml", "study.json"];

/// Copies a sweep's folder to `results/`, under its own name, and makes the tables anew.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let copied = match words {
        [] => Ok(()),
        [folder] => copy(Path::new(folder)),
        _ => Err("one folder of a sweep is needed".to_string()),
    };
    if let Err(error) = copied {
        println!("error: {error}");
        return ExitCode::from(2);
    }
    tables()
}

/// Copies what is kept of a sweep.
fn copy(folder: &Path) -> Result<(), String> {
    let Some(name) = folder
        .file_name()
        .filter(|_| folder.join("study.json").is_file())
    else {
        return Err(format!("no folder of a sweep: {}", folder.display()));
    };
    let to = root().join("results").join(name);
    let files = collect(folder, &to).map_err(|error| format!("{error}: {}", to.display()))?;
    println!("wrote {files} files: {}", to.display());
    Ok(())
}

/// Writes all tables: the test that compares them with the scores does it when it is asked to.
fn tables() -> ExitCode {
    let test = [
        "test",
        "--quiet",
        "--package",
        "attractor",
        "--test",
        "results",
    ];
    exit_code(succeeds(cargo(test).env("UPDATE_RESULTS", "1")))
}

/// Copies what is kept of a folder and of those in it, of runs only if they have ended; gives back the number of files.
fn collect(from: &Path, to: &Path) -> io::Result<usize> {
    let mut files = 0;
    let has_ended = ["scores.json", "study.json"]
        .iter()
        .any(|name| from.join(name).is_file());
    for name in KEPT {
        let path = from.join(name);
        if has_ended && path.is_file() {
            fs::create_dir_all(to)?;
            fs::write(to.join(name), without_folders(&fs::read_to_string(path)?))?;
            files += 1;
        }
    }
    for folder in folders(from)? {
        let name = folder.file_name().expect("entries of a folder have names");
        files += collect(&folder, &to.join(name))?;
    }
    Ok(files)
}

fn folders(of: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = fs::read_dir(of)?.collect::<io::Result<Vec<_>>>()?;
    let paths = entries.into_iter().map(|entry| entry.path());
    Ok(paths.filter(|path| path.is_dir()).collect())
}

/// A settings file whose `path` is a name alone.
fn without_folders(text: &str) -> String {
    let name_alone = |line: &str| {
        let path = line.strip_prefix("path = \"")?;
        let (_, name) = path.rsplit_once('/')?;
        Some(format!("path = \"{name}"))
    };
    text.lines()
        .map(|line| name_alone(line).unwrap_or_else(|| line.to_string()) + "\n")
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_keep_their_names_alone() {
        let settings = "seed = 1\n\n[data]\npath = \"/a/b/c.npy\"\ndt = 0.01\n";
        assert_eq!(
            without_folders(settings),
            "seed = 1\n\n[data]\npath = \"c.npy\"\ndt = 0.01\n"
        );
        assert_eq!(without_folders("path = \"c.npy\"\n"), "path = \"c.npy\"\n");
    }
}
