//! `cargo xtask results DIR`: what came of a sweep, for `results/`.
//!
//! Of every run its scores and settings, and of the study what it was; neither models nor data. Files of data keep their
//! names and lose their folders, so that a result does not depend on whose machine it is from.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::command::root;

/// What is kept of a run or of a study.
const KEPT: [&str; 3] = ["scores.json", "experiment.toml", "study.json"];

/// Copies a sweep's folder to `results/`, under its own name.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let [folder] = words else {
        println!("error: one folder of a sweep is needed");
        return ExitCode::from(2);
    };
    let folder = Path::new(folder);
    let Some(name) = folder
        .file_name()
        .filter(|_| folder.join("study.json").is_file())
    else {
        println!("error: no folder of a sweep: {}", folder.display());
        return ExitCode::from(2);
    };
    let to = root().join("results").join(name);
    match collect(folder, &to) {
        Ok(files) => {
            println!("wrote {files} files: {}", to.display());
            ExitCode::SUCCESS
        }
        Err(error) => {
            println!("error: {error}: {}", to.display());
            ExitCode::FAILURE
        }
    }
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
