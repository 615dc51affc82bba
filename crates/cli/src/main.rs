//! The `attractor` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    attractor_cli::run(std::env::args_os())
}
