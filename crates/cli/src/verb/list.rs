//! `attractor list [KIND]`: the names of all models, measures, systems and formats.

use std::io::Write;
use std::process::ExitCode;

use attractor::Error;
use attractor::catalogue::Kind;
use attractor::library;
use clap::Args;
use clap::builder::PossibleValuesParser;

/// List all models, measures, systems and formats, or those of one kind
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Which kind to list
    #[arg(value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::plural)))]
    kind: Option<String>,
}

impl List {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        for kind in Kind::ALL
            .into_iter()
            .filter(|k| self.kind.as_deref().is_none_or(|word| word == k.plural()))
        {
            writeln!(out, "{}", kind.plural())?;
            for entry in library::entries().filter(|entry| entry.kind == kind) {
                writeln!(out, "  {:24} {}", entry.id, entry.summary)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
