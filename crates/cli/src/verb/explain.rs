//! `attractor explain NAME`: what it computes, its settings, and where it comes from.

use std::io::{self, Write};
use std::process::ExitCode;

use attractor::catalogue::Entry;
use attractor::{Error, library, references};
use clap::Args;

use crate::table;

/// Explain a model, measure, system or format: what it computes, its settings and its references
#[derive(Debug, Args)]
pub(crate) struct Explain {
    /// A name, as `attractor list` prints it
    name: String,
}

impl Explain {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        write_entry(out, library::find(&self.name)?)?;
        Ok(ExitCode::SUCCESS)
    }
}

fn write_entry(out: &mut dyn Write, entry: &Entry) -> io::Result<()> {
    writeln!(out, "{} (one of the {})", entry.id, entry.kind.plural())?;
    writeln!(out, "{}", entry.summary)?;
    write_indented(out, entry.details)?;
    write_settings(out, entry)?;
    write_references(out, entry)
}

/// The details under a blank line; their own indentation stays.
fn write_indented(out: &mut dyn Write, details: &str) -> io::Result<()> {
    let details = details.trim_matches('\n').trim_end();
    if details.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    for line in details.lines() {
        writeln!(out, "{}", format!("  {line}").trim_end())?;
    }
    Ok(())
}

fn write_settings(out: &mut dyn Write, entry: &Entry) -> io::Result<()> {
    if entry.settings.is_empty() {
        return writeln!(out, "\nno settings");
    }
    let head = ["setting", "default", "range", "meaning"].map(String::from);
    let rows = entry.settings.iter().map(|setting| {
        let range = setting.domain.to_string();
        [
            setting.name.into(),
            setting.default.into(),
            range,
            setting.about.into(),
        ]
    });
    writeln!(out, "\nsettings")?;
    table::write(out, &std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn write_references(out: &mut dyn Write, entry: &Entry) -> io::Result<()> {
    if entry.references.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nreferences (`attractor cite {}` prints BibTeX)",
        entry.id
    )?;
    for reference in references::cited_by([entry]) {
        writeln!(out, "  {}", reference.formatted())?;
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use attractor::catalogue::Kind;
    use attractor::settings::{Domain, Setting};

    /// An entry for the tests of the verbs that print entries.
    pub(crate) const SAMPLE: Entry = Entry {
        kind: Kind::System,
        id: "sample",
        summary: "A system for tests",
        details: "\nx' = −σ x\n  and so on\n",
        settings: &[
            Setting {
                name: "sigma",
                default: "10",
                domain: Domain::Positive,
                about: "rate of decay",
            },
            Setting {
                name: "n",
                default: "3",
                domain: Domain::COUNT,
                about: "how many",
            },
        ],
        references: &["hess2023"],
    };

    fn explained(entry: &Entry) -> String {
        let mut out = Vec::new();
        write_entry(&mut out, entry).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn an_entry_is_explained_on_one_page() {
        let expected = "\
sample (one of the systems)
A system for tests

  x' = −σ x
    and so on

settings
  setting  default  range                         meaning
  sigma    10       a number above 0              rate of decay
  n        3        a whole number of at least 1  how many

references (`attractor cite sample` prints BibTeX)
  Hess, Monfared, Brenner & Durstewitz (2023). Generalized Teacher Forcing for Learning Chaotic Dynamics. \
Proceedings of the 40th International Conference on Machine Learning, 202.
";
        assert_eq!(explained(&SAMPLE), expected);
    }

    #[test]
    fn what_is_empty_leaves_no_heading() {
        let bare = Entry {
            details: "",
            settings: &[],
            references: &[],
            ..SAMPLE
        };
        let page = "sample (one of the systems)\nA system for tests\n\nno settings\n";
        assert_eq!(explained(&bare), page);
    }
}
