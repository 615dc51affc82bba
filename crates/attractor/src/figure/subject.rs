//! What a figure is drawn from: runs with their names in the figure and their data.

use std::path::{Path, PathBuf};

use attractor_core::series::Series;

use super::{FigureError, Request};
use crate::generate;
use crate::model_file::Reconstruction;
use crate::run::Run;
use crate::{Error, format};

/// A run.
pub(super) struct Subject {
    /// What it is called in the figure.
    pub(super) name: String,
    /// The model.
    pub(super) reconstruction: Reconstruction,
    /// Its data.
    pub(super) data: Series,
}

impl Subject {
    /// Refuses data whose longest stretch without a gap or a missing value has fewer rows.
    pub(super) fn refuse_shorter(&self, needed: usize) -> Result<(), Error> {
        let longest = generate::longest_stretch(&self.reconstruction, &self.data, 1)?;
        let found = longest.map_or(0, |series| series.total_len());
        match found < needed {
            true => Err(FigureError::TooShort { needed, found }.into()),
            false => Ok(()),
        }
    }
}

impl Request {
    /// The runs, each with the given data or with what it was trained on.
    pub(super) fn runs(&self) -> Result<Vec<Subject>, Error> {
        let names = self.names();
        let open = |(path, name): (&PathBuf, String)| {
            let reconstruction = Run::open(path)?.reconstruction;
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
            let reconstruction = Run::open(path)?.reconstruction;
            let data = match (&self.data, runs.first()) {
                (None, Some(first)) => first.data.clone(),
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

    fn data_of(&self, run: &Path, reconstruction: &Reconstruction) -> Result<Series, Error> {
        match &self.data {
            Some(path) => reconstruction.prepared(format::read(path, &self.reading)?),
            None => Run::training_data(run).ok_or_else(|| {
                let path = run.to_path_buf();
                FigureError::NoData { path }.into()
            }),
        }
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
