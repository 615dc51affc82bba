//! What a figure is drawn from: runs with their names in the figure and their data.

use std::path::{Path, PathBuf};

use super::{FigureError, Request};
use crate::model_file::Reconstruction;
use crate::run::Folder;
use crate::seen::Seen;
use crate::{Error, format};

/// A run.
pub(super) struct Subject {
    /// What it is called in the figure.
    pub(super) name: String,
    /// The model.
    pub(super) reconstruction: Reconstruction,
    /// Its data, as the model sees them.
    pub(super) data: Seen,
}

impl Subject {
    /// Refuses data whose longest stretch without a gap or a missing value has fewer rows.
    pub(super) fn refuse_shorter(&self, needed: usize) -> Result<(), Error> {
        let found = self.data.longest().len();
        if found < needed {
            return Err(FigureError::TooShort { needed, found }.into());
        }
        Ok(())
    }
}

impl Subject {
    /// Why a figure about teacher forcing cannot be drawn.
    pub(super) fn not_forced(&self) -> Error {
        FigureError::NotForced {
            name: self.name.clone(),
        }
        .into()
    }
}

impl Request {
    /// The runs, each with the given data or with what it was trained on.
    pub(super) fn runs(&self) -> Result<Vec<Subject>, Error> {
        let names = self.names();
        let open = |(path, name): (&PathBuf, String)| {
            let reconstruction = Folder::new(path).model()?;
            let data = self.data_of(path, &reconstruction)?;
            Ok(Subject {
                name,
                reconstruction,
                data,
            })
        };
        self.subjects.iter().zip(names).map(open).collect()
    }

    /// The runs, all with the same data: the given ones, or what the first was trained on.
    pub(super) fn runs_beside_truth(&self) -> Result<Vec<Subject>, Error> {
        let names = self.names();
        let mut runs: Vec<Subject> = Vec::new();
        for (path, name) in self.subjects.iter().zip(names) {
            let reconstruction = Folder::new(path).model()?;
            let data = match (&self.data, self.subjects.first()) {
                (None, Some(first)) => self.data_of(first, &reconstruction)?,
                _ => self.data_of(path, &reconstruction)?,
            };
            runs.push(Subject {
                name,
                reconstruction,
                data,
            });
        }
        Ok(runs)
    }

    fn data_of(&self, run: &Path, reconstruction: &Reconstruction) -> Result<Seen, Error> {
        if let Some(path) = &self.data {
            return reconstruction.see(&format::read(path, &self.reading)?);
        }
        let parts = Folder::new(run).parts().ok_or_else(|| {
            let path = run.to_path_buf();
            Error::Figure(FigureError::NoData { path })
        })?;
        Ok(reconstruction.see_prepared(&parts.training)?)
    }

    /// The labels; without them the ends of the paths, as long as they must be to differ.
    pub(super) fn names(&self) -> Vec<String> {
        if !self.labels.is_empty() {
            return self.labels.clone();
        }
        let named = |parts: usize| -> Vec<String> {
            let ends = self.subjects.iter().map(|path| end_of(path, parts));
            ends.collect()
        };
        let differ = |names: &[String]| {
            let mut sorted = names.to_vec();
            sorted.sort();
            sorted.windows(2).all(|pair| pair[0] != pair[1])
        };
        let found = (1..=4).map(named).find(|names| differ(names));
        found.unwrap_or_else(|| {
            let numbers = named(1).into_iter().enumerate();
            numbers
                .map(|(i, name)| format!("{name} ({})", i + 1))
                .collect()
        })
    }
}

/// The last parts of a path; of a model file in a run, those of the run.
fn end_of(path: &Path, parts: usize) -> String {
    let folder = match (path.file_name(), path.parent()) {
        (Some(name), Some(parent))
            if name == "model.safetensors" && parent.file_name().is_some() =>
        {
            parent
        }
        _ => path,
    };
    let all: Vec<String> = folder
        .components()
        .filter(|part| matches!(part, std::path::Component::Normal(_)))
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    all[all.len().saturating_sub(parts)..].join("/")
}
