//! `attractor list [KIND]`: the names of all models, measures, systems and formats, or the kinds of figures.

use std::io::Write;
use std::process::ExitCode;

use attractor::Error;
use attractor::catalogue::{Entry, Kind};
use attractor::figure::KINDS;
use attractor::library;
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use super::plot;
use crate::table;

/// List all models, measures, systems and formats, or those of one kind, or the kinds of figures
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Which kind to list
    #[arg(value_parser = PossibleValuesParser::new(Kind::ALL.map(Kind::plural).into_iter().chain([FIGURES])))]
    kind: Option<String>,
    /// Print a JSON array, with the settings and references of each
    #[arg(long)]
    json: bool,
}

/// The word for figures: what is drawn, not what can be explained or cited, so that they are listed on request only.
const FIGURES: &str = "figures";

impl List {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let asked = |kind: Kind| {
            self.kind
                .as_deref()
                .is_none_or(|word| word == kind.plural())
        };
        let entries: Vec<&Entry> = library::entries().filter(|e| asked(e.kind)).collect();
        let with_figures = self.kind.as_deref() == Some(FIGURES);
        let figures = KINDS.iter().filter(|_| with_figures);
        if self.json {
            let entries = entries.into_iter().map(as_json);
            let array: Vec<_> = entries.chain(figures.map(plot::entry)).collect();
            writeln!(out, "{:#}", json!(array))?;
            return Ok(ExitCode::SUCCESS);
        }
        write_by_kind(out, &entries)?;
        if with_figures {
            writeln!(out, "{FIGURES}")?;
            plot::write_kinds(out)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes the entries under the plural of their kind; the columns line up across kinds.
fn write_by_kind(out: &mut dyn Write, entries: &[&Entry]) -> Result<(), Error> {
    let widest = entries
        .iter()
        .map(|entry| entry.id.len())
        .max()
        .unwrap_or(0);
    for kind in Kind::ALL {
        let rows: Vec<[String; 2]> = entries
            .iter()
            .filter(|entry| entry.kind == kind)
            .map(|entry| [format!("{:widest$}", entry.id), entry.summary.to_string()])
            .collect();
        if !rows.is_empty() {
            writeln!(out, "{}", kind.plural())?;
            table::write(out, &rows)?;
        }
    }
    Ok(())
}

fn as_json(entry: &Entry) -> serde_json::Value {
    let settings: Vec<_> = entry
        .settings
        .iter()
        .map(|s| {
            json!({
                "name": s.name,
                "default": s.default,
                "range": s.domain.to_string(),
                "about": s.about,
            })
        })
        .collect();
    json!({
        "kind": entry.kind.plural(),
        "name": entry.id,
        "summary": entry.summary,
        "settings": settings,
        "references": entry.references,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verb::explain::tests::SAMPLE;

    #[test]
    fn entries_stand_under_their_kind_in_columns() {
        let format = Entry {
            kind: Kind::Format,
            id: "a-longer-name",
            ..SAMPLE
        };
        let mut out = Vec::new();
        write_by_kind(&mut out, &[&SAMPLE, &format]).unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "systems\n  sample         A system for tests\nformats\n  a-longer-name  A system for tests\n"
        );
    }

    #[test]
    fn json_has_what_a_script_needs() {
        let value = as_json(&SAMPLE);
        assert_eq!(value["kind"], "systems");
        assert_eq!(value["settings"][0]["range"], "a number above 0");
        assert_eq!(value["references"], json!(["hess2023"]));
    }
}
