//! The `attractor` command: one file a verb under `verb/`.

mod interrupt;
mod reading;
mod scores;
mod table;
mod verb;

use std::io::{self, Write};
use std::process::ExitCode;
use std::{panic, thread};

use attractor::format::FOREIGN_THREAD;
use clap::Parser;

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
    let verb = Cli::parse().verb;
    if !verb.trains() {
        interrupt::end_at_once();
    }
    match verb.run(&mut io::stdout().lock()) {
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
