//! Running other programs from the root of the repository.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("this crate lies in a folder of the repository")
}

/// The folder that holds what is built.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root().join("target"), |dir| root().join(dir))
}

/// The cargo that started us, at the root.
pub(crate) fn cargo<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root()).args(args);
    command
}

/// Runs a command, its output shown, and says whether it succeeded.
pub(crate) fn succeeds(command: &mut Command) -> bool {
    command.status().is_ok_and(|status| status.success())
}

/// Runs a command, its output hidden. The error is the last line that it wrote to standard error.
pub(crate) fn quietly(command: &mut Command) -> Result<String, String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let told = String::from_utf8_lossy(&output.stderr);
    let last = told.lines().rev().find(|line| !line.trim().is_empty());
    Err(last
        .unwrap_or("it failed and said nothing")
        .trim()
        .to_string())
}

/// The exit code of a task.
pub(crate) fn exit_code(passed: bool) -> ExitCode {
    if passed {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_command_gives_its_last_words() {
        let mut failing = cargo(["no-such-verb-of-cargo"]);
        let told = quietly(&mut failing).unwrap_err();
        assert!(!told.is_empty() && !told.contains('\n'), "{told}");
        assert!(
            quietly(&mut cargo(["--version"]))
                .unwrap()
                .starts_with("cargo ")
        );
        assert!(quietly(&mut Command::new("no-such-program-at-all")).is_err());
    }
}
