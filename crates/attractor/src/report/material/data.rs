//! The data that a model is shown beside: those that are given, else what the run held out, else what it was trained on.

use std::path::Path;

use attractor_core::series::Series;

use super::Told;
use crate::Error;
use crate::experiment::{DataSource, Parts};
use crate::format;
use crate::model_file::Reconstruction;
use crate::seen::Seen;

/// Data, and what they are to the model.
pub(in crate::report) struct Truth {
    /// The name of the file.
    pub(in crate::report) name: String,
    /// What they are to the model.
    pub(in crate::report) role: Role,
    /// As read and prepared.
    pub(in crate::report) recording: Series,
    /// As the model sees them.
    pub(in crate::report) seen: Seen,
}

/// What data are to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::report) enum Role {
    /// They were given for the page.
    Given,
    /// The run held them out.
    HeldOut,
    /// It was trained on them.
    Training,
}

impl Role {
    /// The words for it.
    pub(in crate::report) fn words(self) -> &'static str {
        match self {
            Role::Given => "the data given for this page",
            Role::HeldOut => "the part of the recording that training held out",
            Role::Training => "the data that the model was trained on",
        }
    }
}

/// Data that are given; the model must know them.
pub(super) fn given(
    source: &DataSource,
    reconstruction: &Reconstruction,
) -> Result<Result<Truth, String>, Error> {
    let recording = format::read(&source.path, &source.options)?;
    let seen = reconstruction.see(&recording)?;
    Ok(truth(&source.path, Role::Given, recording, seen))
}

/// The data that a run remembers, or why they are not there.
pub(super) fn remembered(
    told: Option<&Told>,
    reconstruction: &Reconstruction,
) -> Result<Truth, String> {
    let none = "a model file does not hold its data; `--data FILE` gives some";
    let told = told.ok_or(none)?;
    let source = told.data.clone().ok_or("the run names no recording")?;
    let source = source.found_from(&told.path);
    let source = source.map_err(|error| error.to_string())?;
    let (recording, _) = source.read().map_err(|error| error.to_string())?;
    let experiment = told.experiment.as_ref();
    let parts = experiment.map(|told| told.preparation().split(recording.clone()));
    let (series, role) = match parts {
        Some(Ok(Parts {
            held_out: Some(held_out),
            ..
        })) => (held_out, Role::HeldOut),
        _ => (recording, Role::Training),
    };
    let seen = reconstruction.see_prepared(&series);
    let seen = seen.map_err(|error| error.to_string())?;
    truth(&source.path, role, series, seen)
}

fn truth(path: &Path, role: Role, recording: Series, seen: Seen) -> Result<Truth, String> {
    let name = file_name(path);
    if seen.longest().len() < 2 {
        return Err(format!("no two complete rows follow one another: {name}"));
    }
    Ok(Truth {
        name,
        role,
        recording,
        seen,
    })
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
