//! The verbs, one file each: what is typed, then what it calls.

mod cite;
mod convert;
mod explain;
mod inspect;
mod list;
mod simulate;

use std::io::Write;
use std::process::ExitCode;

use attractor::Error;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Convert(convert::Convert),
    Inspect(inspect::Inspect),
    List(list::List),
    Explain(explain::Explain),
    Cite(cite::Cite),
    Simulate(simulate::Simulate),
}

impl Verb {
    /// Runs the verb; data go to `out`.
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        match self {
            Verb::Convert(convert) => convert.run(),
            Verb::Inspect(inspect) => inspect.run(out),
            Verb::List(list) => list.run(out),
            Verb::Explain(explain) => explain.run(out),
            Verb::Cite(cite) => cite.run(out),
            Verb::Simulate(simulate) => simulate.run(out),
        }
    }
}
