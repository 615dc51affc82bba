//! The `attractor` command: one file a verb under `verb/`.

mod interrupt;
mod reading;
mod scores;
mod table;
mod verb;
mod visible;

use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::{env, panic, thread};

use attractor::format::FOREIGN_THREAD;
use clap::Parser;

use crate::visible::{Visible, notes, shown};

/// Learn the dynamics of a chaotic system from its time series, run them forward, and take them apart.
#[derive(Debug, Parser)]
#[command(name = "attractor", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    verb: verb::Verb,
}

/// Exit code for a mistake of the user.
const MISTAKE: u8 = 2;

/// Exit code where nature leaves nothing to give, such as a training or an orbit that diverges, or where a check fails. A
/// report that tells of a diverging orbit has succeeded.
const OUTCOME: u8 = 1;

/// Exit code for a training that was interrupted, as shells have it for Ctrl-C.
const INTERRUPTED: u8 = 130;

fn main() -> ExitCode {
    hush_foreign_panics();
    let verb = Cli::try_parse().unwrap_or_else(|error| refuse(&error)).verb;
    if !verb.trains() {
        interrupt::end_at_once();
    }
    let mut out = io::stdout().lock();
    let is_file = verb.prints_data() && !out.is_terminal();
    let ended = match is_file {
        true => verb.run(&mut out),
        false => verb.run(&mut Visible::new(out)),
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
fn refuse(error: &clap::Error) -> ! {
    let mut words = env::args_os().map(|word| word.to_string_lossy().into_owned());
    if words.all(|word| shown(&word) == word) {
        error.exit();
    }
    let _ = write!(notes(), "{error}");
    interrupt::end(error.exit_code())
}

/// Keeps a panic of foreign code, which becomes an error, from being told as well.
fn hush_foreign_panics() {
    let tell = panic::take_hook();
    panic::set_hook(Box::new(move |panic| {
        if thread::current().name() != Some(FOREIGN_THREAD) {
            tell(panic);
        }
    }));
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
