//! The `attractor` command: one file per verb under `verb/`.

mod follow;
mod interrupt;
mod json;
mod reading;
mod scores;
mod table;
mod verb;
mod visible;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::{panic, thread};

use attractor::format::FOREIGN_THREAD;
use clap::{Command, CommandFactory, FromArgMatches, Parser};

use crate::visible::{Visible, notes, shown};

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
pub fn run(arguments: impl IntoIterator<Item = impl Into<OsString>>) -> ExitCode {
    hush_foreign_panics();
    let arguments: Vec<OsString> = arguments.into_iter().map(Into::into).collect();
    let parsed = command(&arguments).try_get_matches_from(&arguments);
    let parsed = parsed.and_then(|matches| Cli::from_arg_matches(&matches));
    let verb = parsed
        .unwrap_or_else(|error| refuse(&error, &arguments))
        .verb;
    interrupt::answer();
    let mut out = io::stdout().lock();
    let is_file = verb.prints_data() && !out.is_terminal();
    let ended = if is_file {
        verb.run(&mut out)
    } else {
        verb.run(&mut Visible::new(out))
    };
    match ended {
        Ok(code) => code,
        // The reader of our output has seen enough, as in `attractor generate RUN --steps 1000000 | head`. That is
        // success, not 141 as of a program that a signal ends: scripts with `pipefail` go on.
        Err(attractor::Error::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            report(&error, &mut notes());
            ExitCode::from(if error.is_outcome() { OUTCOME } else { MISTAKE })
        }
    }
}

/// Ends with what is wrong with a command line, in colours unless a terminal would take its words for more than text.
fn refuse(error: &clap::Error, arguments: &[OsString]) -> ! {
    let mut words = arguments.iter().map(|word| word.to_string_lossy());
    if words.all(|word| shown(&word) == word) {
        error.exit();
    }
    let _ = write!(notes(), "{error}");
    interrupt::end(error.exit_code())
}

/// Keeps a panic of foreign code, which becomes an error, from being printed as well.
fn hush_foreign_panics() {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if thread::current().name() != Some(FOREIGN_THREAD) {
            tell(panic);
        }
    }));
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
