//! The `attractor` command: one file per verb under `verb/`.

mod follow;
mod interrupt;
mod json;
mod reading;
mod scores;
mod table;
mod verb;

use std::ffi::OsString;
use std::io::{self, Write};
use std::process::ExitCode;

use clap::{Command, CommandFactory, FromArgMatches, Parser};

/// Learn the dynamics of a chaotic system from its time series, run them forward, and take them apart.
#[derive(Debug, Parser)]
#[command(name = "attractor", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: verb::Verb,
}

/// Exit code for invalid input.
const MISTAKE: u8 = 2;

/// Exit code where a training or an orbit diverged, so that there is nothing to write, or where a check fails. A report on an
/// orbit that diverged has succeeded.
const OUTCOME: u8 = 1;

/// Exit code for a training that was interrupted, as shells have it for Ctrl-C.
const INTERRUPTED: u8 = 130;

/// Runs the command with these arguments, the first of which is its name, and gives back its exit code. A program that
/// [registers](attractor::method::register) methods of its own before has them in all verbs.
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString> + Clone>) -> ExitCode {
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let matches = command(&arguments).get_matches_from(&arguments);
    let cli = Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit());
    match cli.verb.run(&mut io::stdout().lock()) {
        Ok(code) => code,
        // The reader of our output has seen enough, as in `attractor generate RUN --steps 1000000 | head`. That is
        // success, not 141 as of a program that a signal ends: scripts with `pipefail` go on.
        Err(attractor::Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            report(&error, &mut io::stderr().lock());
            ExitCode::from(if error.is_outcome() { OUTCOME } else { MISTAKE })
        }
    }
}

/// The command line. Where a model is named, its help shows the settings of that model alone.
fn command(arguments: &[OsString]) -> Command {
    let model = verb::train::flags::model_in(arguments);
    let command = Cli::command();
    match model {
        None => command,
        Some(method) => command.mut_subcommand("train", |train| {
            verb::train::flags::of_method(train, method)
        }),
    }
}

/// Prints what went wrong and what to do next; nothing is left to do if standard error is closed too.
fn report(error: &attractor::Error, to: &mut impl Write) {
    let _ = writeln!(to, "error: {error}");
    if let Some(hint) = error.hint() {
        let _ = writeln!(to, "hint: {hint}");
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::Cli;

    #[test]
    fn no_verb_has_a_flag_twice() {
        Cli::command().debug_assert();
    }
}
