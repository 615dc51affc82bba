//! The data that a model is shown beside: those that are given, else what the run held out, else what it was trained on.

use std::path::Path;

use attractor_core::series::Series;

use super::Told;
use crate::Error;
use crate::experiment::DataSource;
use crate::format;
use crate::generate;
use crate::model_file::Reconstruction;

/// Data, and what they are to the model.
pub(in crate::report) struct Truth {
    /// The name of the file.
    pub(in crate::report) name: String,
    /// What they are to the model.
    pub(in crate::report) role: Role,
    /// As read and prepared.
    pub(in crate::report) recording: Series,
    /// Their longest stretch without gaps and missing values, with the columns of the model, in the units of the data.
    pub(in crate::report) stretch: Series,
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
    let series = format::read(&source.path, &source.options)?;
    let series = reconstruction.prepared(series)?;
    let stretch = generate::longest_stretch(reconstruction, &series, 2)?;
    let name = file_name(&source.path);
    Ok(truth(name, Role::Given, series, stretch, reconstruction))
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
    let share = experiment.map_or(0.0, |told| told.settings().real("held-out"));
    let (series, role) = match recording.split_by_time(1.0 - share) {
        Ok((_, held_out)) if share > 0.0 => (held_out, Role::HeldOut),
        _ => (recording, Role::Training),
    };
    let stretch = generate::longest_stretch(reconstruction, &series, 2);
    let stretch = stretch.map_err(|error| error.to_string())?;
    let name = file_name(&source.path);
    truth(name, role, series, stretch, reconstruction)
}

fn truth(
    name: String,
    role: Role,
    recording: Series,
    stretch: Option<Series>,
    reconstruction: &Reconstruction,
) -> Result<Truth, String> {
    let stretch =
        stretch.ok_or_else(|| format!("no two complete rows follow one another: {name}"))?;
    Ok(Truth {
        stretch: reconstruction.card.scaling.invert(&stretch),
        name,
        role,
        recording,
    })
}

fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
