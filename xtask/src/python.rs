//! The Python environment of the tests that compare with NumPy and SciPy: a virtual environment under `target`,
//! made anew when the pinned packages change.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{quietly, root, target};

/// The pinned packages, relative to the root.
const REQUIREMENTS: &str = "tests/python/requirements.txt";

/// Packages whose own pins are passed over.
const ALONE: &str = "tests/python/requirements-alone.txt";

/// What the Python package is built and tested with.
const PACKAGE: &str = "tests/python/requirements-package.txt";

/// The environment variable through which tests learn which Python to call.
pub(crate) const VARIABLE: &str = "ATTRACTOR_PYTHON";

/// The interpreter for the tests: the one that the user named, or our own. The error says why there is none.
pub(crate) fn prepare() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os(VARIABLE) {
        return Ok(named.into());
    }
    let folder = target().join("python");
    let interpreter = folder.join(if cfg!(windows) {
        "Scripts/python.exe"
    } else {
        "bin/python"
    });
    let read = |name| fs::read(root().join(name)).map_err(|e| format!("{e}: {name}"));
    let wanted = [read(REQUIREMENTS)?, read(ALONE)?].concat();
    let stamp = folder.join("installed.txt");
    if !is_fresh(&stamp, &wanted) {
        install(&folder, &interpreter)?;
        fs::write(&stamp, &wanted).map_err(|error| error.to_string())?;
    }
    Ok(interpreter)
}

/// The interpreter of our own environment with all that the Python package is built and tested with. The error says why there is none.
pub(crate) fn prepare_package(interpreter: &Result<PathBuf, String>) -> Result<PathBuf, String> {
    let interpreter = interpreter.clone()?;
    if std::env::var_os(VARIABLE).is_some() {
        return Err(format!(
            "nothing is installed beside the Python that {VARIABLE} names"
        ));
    }
    let wanted = fs::read(root().join(PACKAGE)).map_err(|e| format!("{e}: {PACKAGE}"))?;
    let stamp = target().join("python/installed-package.txt");
    if !is_fresh(&stamp, &wanted) {
        pip_install(&interpreter, &["-r", PACKAGE])?;
        fs::write(&stamp, &wanted).map_err(|error| error.to_string())?;
    }
    Ok(interpreter)
}

/// Whether what was installed last is what is wanted now.
fn is_fresh(stamp: &Path, wanted: &[u8]) -> bool {
    fs::read(stamp).is_ok_and(|installed| installed == wanted)
}

fn install(folder: &Path, interpreter: &Path) -> Result<(), String> {
    println!("making a Python environment for the comparisons with NumPy and SciPy");
    quietly(
        Command::new("python3")
            .args(["-m", "venv", "--clear"])
            .arg(folder),
    )
    .map_err(|told| format!("python3 -m venv: {told}"))?;
    pip_install(interpreter, &["-r", REQUIREMENTS])?;
    pip_install(interpreter, &["--no-deps", "-r", ALONE])
}

/// Installs what a file lists. Only wheels, few retries: a machine without network or wheels is to say so soon, not to
/// compile SciPy.
fn pip_install(interpreter: &Path, what: &[&str]) -> Result<(), String> {
    let pip = [
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ];
    let limits = ["--only-binary=:all:", "--timeout=15", "--retries=1"];
    let mut command = Command::new(interpreter);
    command
        .current_dir(root())
        .args(pip)
        .args(limits)
        .args(what);
    quietly(&mut command).map_err(|told| format!("pip install: {told}"))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_environment_is_fresh_only_if_the_same_packages_were_installed() {
        let stamp = std::env::temp_dir().join(format!("attractor-stamp-{}", std::process::id()));
        assert!(!is_fresh(&stamp, b"numpy==2"));
        fs::write(&stamp, "numpy==2").unwrap();
        assert!(is_fresh(&stamp, b"numpy==2"));
        assert!(!is_fresh(&stamp, b"numpy==3"));
        fs::remove_file(&stamp).unwrap();
    }

    #[test]
    fn packages_are_pinned() {
        let read = |name| fs::read_to_string(root().join(name)).unwrap();
        let requirements = read(REQUIREMENTS) + &read(ALONE) + &read(PACKAGE);
        let lines = requirements.lines().filter(|line| !line.starts_with('#'));
        assert!(lines.clone().count() >= 3);
        assert!(
            lines.clone().all(|line| line.contains("==")),
            "{requirements}"
        );
    }
}
