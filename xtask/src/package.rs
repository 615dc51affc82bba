//! The Python package in `cargo xtask test`: its wheel is built in the dev profile from what the tests have compiled, installed into
//! the environment of the comparisons, and tested by pytest there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{quietly, root, target};
use crate::tally::Tally;

/// The crate of the package.
const CRATE: &str = "crates/python";

/// Builds, installs and tests the package, or says in one line why not.
pub(crate) fn check(tally: &mut Tally, interpreter: &Result<PathBuf, String>) {
    let interpreter = match interpreter {
        Ok(interpreter) => interpreter,
        Err(reason) => return tally.skip(format!("the Python package: {reason}")),
    };
    match install(interpreter) {
        Ok(()) => test(tally, interpreter),
        Err(told) => {
            println!("{told}");
            tally.check("the wheel of the Python package", false);
        }
    }
}

/// Builds the wheel and installs it without its dependencies, which are there.
fn install(interpreter: &Path) -> Result<(), String> {
    let wheels = target().join("python-package");
    let _ = fs::remove_dir_all(&wheels);
    let mut build = python(
        interpreter,
        &["-m", "maturin", "build", "--strip", "--quiet"],
    );
    build.args([
        "--profile",
        "dev",
        "--manifest-path",
        "crates/python/Cargo.toml",
        "--out",
    ]);
    build.arg(&wheels).env("CARGO_TARGET_DIR", target());
    quietly(&mut build).map_err(|told| format!("maturin build: {told}"))?;
    let wheel = fs::read_dir(&wheels).map_err(|error| error.to_string())?;
    let wheel = wheel.flatten().map(|file| file.path()).next();
    let mut install = python(
        interpreter,
        &["-m", "pip", "install", "--quiet", "--no-deps"],
    );
    install.args(["--force-reinstall", "--disable-pip-version-check"]);
    install.arg(wheel.ok_or("maturin made no wheel")?);
    quietly(&mut install).map_err(|told| format!("pip install: {told}"))?;
    Ok(())
}

fn python(interpreter: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(interpreter);
    command.current_dir(root()).args(words);
    command
}

/// Runs pytest and counts its tests.
fn test(tally: &mut Tally, interpreter: &Path) {
    let words = ["-m", "pytest", "--quiet", "-rs", "-p", "no:cacheprovider"];
    let mut pytest = python(interpreter, &words);
    pytest
        .current_dir(root().join(CRATE))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let Ok(output) = pytest.output() else {
        return tally.check("pytest (not started)", false);
    };
    let text = String::from_utf8_lossy(&output.stdout);
    println!("{text}{}", String::from_utf8_lossy(&output.stderr));
    tally.pytest(&text, output.status.success());
}
