//! `attractor cite [NAME]…`: the BibTeX of what was used.

use std::io::Write;
use std::process::ExitCode;

use attractor::references::{self, METHODS, PAPER, TOOL};
use attractor::{Error, library};
use clap::Args;

use crate::visible::notes;

/// Print BibTeX for models, measures, systems, formats or verbs; without a name, for this program and its paper
#[derive(Debug, Args)]
pub(crate) struct Cite {
    /// Names, as `attractor list` prints them, verbs that compute something, or `attractor` for this program
    names: Vec<String>,
}

/// The name by which the program itself is cited.
const SELF: &str = "attractor";

impl Cite {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let (own, others): (Vec<_>, Vec<_>) = self.names.iter().partition(|name| *name == SELF);
        let cited = others.into_iter().map(|name| Cited::find(name));
        let cited = cited.collect::<Result<Vec<_>, _>>()?;
        let with_tool = !own.is_empty() || self.names.is_empty();
        for text in bibtex(&cited, with_tool.then_some(PAPER)) {
            writeln!(out, "{text}\n")?;
        }
        tell_uncited(&cited, &mut notes());
        Ok(ExitCode::SUCCESS)
    }
}

/// Something that can be cited, and the keys of its references.
#[derive(Debug, Clone, Copy)]
struct Cited {
    name: &'static str,
    keys: &'static [&'static str],
}

impl Cited {
    /// The verb of this name, else the entry of the lists.
    fn find(name: &str) -> Result<Cited, Error> {
        if let Some(&(name, keys)) = METHODS.iter().find(|(verb, _)| *verb == name) {
            return Ok(Cited { name, keys });
        }
        let entry = library::find(name)?;
        Ok(Cited {
            name: entry.id,
            keys: entry.references,
        })
    }
}

/// The BibTeX of the program with its paper, if given, then of what is cited, each text once.
fn bibtex(cited: &[Cited], paper: Option<&str>) -> Vec<&'static str> {
    let mut texts: Vec<&'static str> = paper.map(|_| TOOL).into_iter().collect();
    let keys = cited.iter().flat_map(|cited| cited.keys.iter().copied());
    let references = references::of_keys(paper.into_iter().chain(keys));
    texts.extend(references.iter().map(|reference| reference.bibtex));
    texts
}

/// Says what has nothing to cite; nothing is left to do if standard error is closed.
fn tell_uncited(cited: &[Cited], to: &mut impl Write) {
    for cited in cited.iter().filter(|cited| cited.keys.is_empty()) {
        let _ = writeln!(to, "note: `{}` has no reference", cited.name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: Cited = Cited {
        name: "sample",
        keys: &[PAPER],
    };

    #[test]
    fn a_reference_that_two_share_is_printed_once() {
        let texts = bibtex(&[SAMPLE, SAMPLE], Some(PAPER));
        assert_eq!(texts.len(), 2);
        assert_eq!(texts[0], TOOL);
        assert!(texts[1].starts_with("@inproceedings{hess2023,"));
        assert_eq!(bibtex(&[SAMPLE], None), texts[1..]);
    }

    #[test]
    fn what_has_no_reference_is_named() {
        let bare = Cited {
            keys: &[],
            ..SAMPLE
        };
        let mut told = Vec::new();
        tell_uncited(&[bare, SAMPLE], &mut told);
        assert_eq!(told, b"note: `sample` has no reference\n");
    }
}
