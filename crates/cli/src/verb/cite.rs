//! `attractor cite [NAME]…`: the BibTeX of what was used.

use std::io::{self, Write};
use std::process::ExitCode;

use attractor::catalogue::Entry;
use attractor::references::{self, PAPER, TOOL};
use attractor::{Error, library};
use clap::Args;

/// Print BibTeX for models, measures, systems or formats; without a name, for this program and its paper
#[derive(Debug, Args)]
pub(crate) struct Cite {
    /// Names, as `attractor list` prints them, or `attractor` for this program
    names: Vec<String>,
}

/// The name by which the program itself is cited.
const SELF: &str = "attractor";

impl Cite {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let (own, others): (Vec<_>, Vec<_>) = self.names.iter().partition(|name| *name == SELF);
        let entries = others
            .into_iter()
            .map(|name| library::find(name))
            .collect::<Result<Vec<_>, _>>()?;
        let with_tool = !own.is_empty() || self.names.is_empty();
        for text in bibtex(&entries, with_tool.then_some(PAPER)) {
            writeln!(out, "{text}\n")?;
        }
        tell_uncited(&entries, &mut io::stderr().lock());
        Ok(ExitCode::SUCCESS)
    }
}

/// The BibTeX of the program with its paper, if given, then of the entries, each text once.
fn bibtex(entries: &[&Entry], paper: Option<&str>) -> Vec<&'static str> {
    let of_paper = references::all()
        .into_iter()
        .filter(|reference| Some(reference.key) == paper);
    let mut texts: Vec<&'static str> = paper.map(|_| TOOL).into_iter().collect();
    texts.extend(of_paper.map(|reference| reference.bibtex));
    for reference in references::cited_by(entries.iter().copied()) {
        if !texts.contains(&reference.bibtex) {
            texts.push(reference.bibtex);
        }
    }
    texts
}

/// Says which entries have nothing to cite; nothing is left to do if standard error is closed.
fn tell_uncited(entries: &[&Entry], to: &mut impl Write) {
    for entry in entries.iter().filter(|entry| entry.references.is_empty()) {
        let _ = writeln!(to, "note: `{}` has no reference", entry.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verb::explain::tests::SAMPLE;

    #[test]
    fn a_reference_that_two_share_is_printed_once() {
        let texts = bibtex(&[&SAMPLE, &SAMPLE], Some(PAPER));
        assert_eq!(texts.len(), 2);
        assert_eq!(texts[0], TOOL);
        assert!(texts[1].starts_with("@inproceedings{hess2023,"));
        assert_eq!(bibtex(&[&SAMPLE], None), texts[1..]);
    }

    #[test]
    fn an_entry_without_references_is_named() {
        let bare = Entry {
            references: &[],
            ..SAMPLE
        };
        let mut told = Vec::new();
        tell_uncited(&[&bare, &SAMPLE], &mut told);
        assert_eq!(told, b"note: `sample` has no reference\n");
    }
}
