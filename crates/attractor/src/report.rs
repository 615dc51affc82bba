//! A run as one page: an HTML file that holds all it shows and opens without a network.
//!
//! [`report`] gathers what is known of a run (its settings, history and scores), lets the model run freely beside its
//! data, takes it apart, and puts the figures into one document; [`Report::to_html`] joins that document with the page's
//! own style and scripts. What is missing, such as a recording that has moved, is reported on the page: only a run that is
//! none, or data that are given and do not fit, are errors.

mod dynamics;
mod exponent;
mod glance;
mod headline;
mod live;
mod material;
mod numbers;
mod page;
mod scores;
pub(crate) mod script;
mod signals;
mod story;

use std::path::{Path, PathBuf};

use attractor_core::hint::Hint;
use attractor_core::progress::Follow;
use attractor_core::system::{SystemInfo, find};
use serde_json::{Value, json};

use crate::anatomy::{CYCLES, SECONDS};
use crate::equations::equations;
use crate::experiment::DataSource;
use crate::{Error, shell, store};

pub(crate) use glance::{Glance, newest, training_curves};
use live::{Live, StepDocument};
use material::Material;
use signals::Signals;

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The folder of a run, or a model file.
    pub run: PathBuf,
    /// The data that the model is shown beside and judged by; else those that the run remembers.
    pub data: Option<DataSource>,
    /// The system that the data are from, if it is known: floors are then those of other true orbits.
    pub system: Option<String>,
    /// How long to look for fixed points and cycles, in seconds.
    pub seconds: f64,
    /// The longest period of cycles.
    pub cycles: usize,
    /// Worker threads of that search.
    pub threads: usize,
}

impl Request {
    /// A page on a run with all else left to the defaults.
    pub fn of(run: impl Into<PathBuf>) -> Request {
        Request {
            run: run.into(),
            data: None,
            system: None,
            seconds: SECONDS,
            cycles: CYCLES,
            threads: crate::experiment::threads(0),
        }
    }
}

/// What the page says.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    document: Value,
    title: String,
    story: Vec<String>,
}

/// Why a page is not written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    /// A folder stands where the page should be.
    #[error("the report is a file, found a folder: {}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// The name is not that of a page: it may be that of a model.
    #[error("the name of a report ends in `.html`: {}", path.display())]
    NotHtml {
        /// The file, as typed.
        path: PathBuf,
    },
}

impl ReportError {
    /// What the user can do about it.
    pub fn hint(&self) -> Hint {
        let path = match self {
            ReportError::Folder { path } => path.join(FILE),
            ReportError::NotHtml { path } => path.with_extension("html"),
        };
        format!("use `--out {}`", shell::path(&path)).into()
    }
}

/// The usual name of a page.
pub const FILE: &str = "report.html";

/// Gathers a page on a run.
pub fn report(request: &Request, follow: &mut dyn Follow) -> Result<Report, Error> {
    let material = Material::gather(request)?;
    let signals = Signals::of(&material);
    let anatomy = dynamics::dissected(&material, request, follow)?;
    let judged = scores::judged(&material, request, follow)?;
    let headline = headline::headline(&material, request);
    let title = headline["title"].as_str().unwrap_or(&material.name);
    let title = format!("{title} · attractor report");
    let document = json!({
        "title": headline["title"],
        "facts": headline["facts"],
        "name": material.name,
        "version": env!("CARGO_PKG_VERSION"),
        "notes": material.notes(&signals, &judged),
        "channels": material.reconstruction.card.channels,
        "step": StepDocument::of(&material.reconstruction.card.step),
        "signals": signals.to_json(&material),
        "exponent": exponent::beside(&material, &signals, &judged, request),
        "scores": judged,
        "history": material.history,
        "dynamics": anatomy,
        "live": Live::of(&material.reconstruction),
        "equations": equations(&material.reconstruction, known(request)),
        "equation": material.reconstruction.method.entry.details,
        "data": material.findings(),
        "settings": material.settings(),
        "repeat": material.repeat(request),
        "bibtex": story::bibtex(&material.reconstruction),
    });
    Ok(Report {
        title,
        story: story::paragraphs(&material, &document),
        document,
    })
}

/// The system that the data are from, if it is in the list.
fn known(request: &Request) -> Option<&'static SystemInfo> {
    request.system.as_deref().and_then(find)
}

/// Gathers a page and writes it, whole or not at all.
pub fn write_report(
    request: &Request,
    out: &Path,
    follow: &mut dyn Follow,
) -> Result<Report, Error> {
    refuse_unwritable(out)?;
    let report = report(request, follow)?;
    let page = report.to_html();
    store::write_whole(out, |file| file.write_all(page.as_bytes()))?;
    Ok(report)
}

/// Refuses a name that no page can have, before the work.
fn refuse_unwritable(out: &Path) -> Result<(), Error> {
    let path = out.to_path_buf();
    if out.is_dir() {
        return Err(ReportError::Folder { path }.into());
    }
    let end = out.extension().and_then(|end| end.to_str());
    match end.map(str::to_ascii_lowercase).as_deref() {
        Some("html" | "htm") => store::refuse_unwritable(out),
        _ => Err(ReportError::NotHtml { path }.into()),
    }
}

impl Report {
    /// The page: one file, nothing to load.
    pub fn to_html(&self) -> String {
        page::html(&self.title, &self.story, &self.document)
    }

    /// The content-security policy of the page, which it names itself: a server may send it as well.
    pub fn policy(&self) -> String {
        page::policy()
    }

    /// The figures on the page as JSON, as they stand in it.
    pub fn document(&self) -> String {
        self.document.to_string()
    }

    /// What came out, in plain words.
    pub fn story(&self) -> &[String] {
        &self.story
    }

    /// What the page cannot show, and why.
    pub fn notes(&self) -> Vec<&str> {
        let notes = self.document["notes"].as_array();
        notes
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_an_html_file() {
        let folder = tempfile::tempdir().unwrap();
        let said = |name: &str| {
            refuse_unwritable(&folder.path().join(name))
                .map_err(|e| e.hint().map(|hint| hint.to_string()))
        };
        assert_eq!(said("a.html"), Ok(()));
        assert_eq!(said("a.HTM"), Ok(()));
        let refused = said("model.safetensors").unwrap_err().unwrap();
        assert!(refused.ends_with("model.html`"), "{refused}");
        let refused = said("").unwrap_err().unwrap();
        assert!(refused.ends_with("report.html`"), "{refused}");
        assert!(said("no/such/a.html").unwrap_err().is_some());
    }
}
