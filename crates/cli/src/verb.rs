//! The verbs, one file each: what is typed, then what it calls.

mod convert;
mod inspect;
mod list;

use std::io::Write;
use std::process::ExitCode;

use attractor::Error;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Convert(convert::Convert),
    Inspect(inspect::Inspect),
    List(list::List),
}

impl Verb {
    /// Runs the verb; data go to `out`.
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        match self {
            Verb::Convert(convert) => convert.run(),
            Verb::Inspect(inspect) => inspect.run(out),
            Verb::List(list) => list.run(out),
        }
    }
}
