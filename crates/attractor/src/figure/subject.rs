//! What a figure is drawn from: runs with their names in the figure and their data, or files with orbits of runs.

use std::path::{Path, PathBuf};

use attractor_core::series::Series;

use super::excerpt::Excerpt;
use super::{FigureError, Request};
use crate::format::ReadOptions;
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

/// What is drawn beside the truth.
pub(super) enum Beside {
    /// A run, whose orbit or predictions are computed.
    Run(Box<Subject>),
    /// Orbit or predictions from a file.
    File(Box<Stored>),
}

/// An orbit, or predictions row by row, from a file of data in the units of the truth.
pub(super) struct Stored {
    /// What it is called in the figure.
    pub(super) name: String,
    /// The truth beside it.
    pub(super) truth: Series,
    series: Series,
    path: PathBuf,
}

impl Beside {
    /// What it is called in the figure.
    pub(super) fn name(&self) -> &str {
        match self {
            Beside::Run(run) => &run.name,
            Beside::File(stored) => &stored.name,
        }
    }
}

impl Stored {
    /// As many of its rows as an excerpt of the truth has.
    pub(super) fn rows(&self, excerpt: &Excerpt) -> Result<Vec<f64>, Error> {
        let path = || self.path.clone();
        let (expected, found) = (excerpt.dim(), self.series.dim_obs());
        if found != expected {
            return Err(FigureError::OtherChannels {
                expected,
                found,
                path: path(),
            }
            .into());
        }
        let (needed, found) = (excerpt.len(), self.series.len_of(0));
        if found < needed {
            return Err(FigureError::ShortOrbit {
                needed,
                found,
                path: path(),
            }
            .into());
        }
        Ok(self.series.trajectories()[0].x[..needed * expected].to_vec())
    }
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
        let named = self.subjects.iter().zip(self.names());
        named
            .map(|(path, name)| self.run_beside_truth(path, name))
            .collect()
    }

    /// The same where a file of data may stand for a run: what it holds is drawn as it is.
    pub(super) fn all_beside_truth(&self) -> Result<Vec<Beside>, Error> {
        let named = self.subjects.iter().zip(self.names());
        let open = |(path, name): (&PathBuf, String)| {
            if path.is_file() && format::is_known(path) {
                self.stored(path, name)
                    .map(|stored| Beside::File(Box::new(stored)))
            } else {
                let run = self.run_beside_truth(path, name);
                run.map(|run| Beside::Run(Box::new(run)))
            }
        };
        named.map(open).collect()
    }

    fn run_beside_truth(&self, path: &Path, name: String) -> Result<Subject, Error> {
        let reconstruction = Folder::new(path).model()?;
        let data = match (&self.data, self.subjects.first()) {
            (None, Some(first)) => self.data_of(first, &reconstruction)?,
            _ => self.data_of(path, &reconstruction)?,
        };
        Ok(Subject {
            name,
            reconstruction,
            data,
        })
    }

    /// Rows of a file beside the given data. How these are read does not concern it: it begins with its first row.
    fn stored(&self, path: &Path, name: String) -> Result<Stored, Error> {
        let Some(data) = &self.data else {
            let path = path.to_path_buf();
            return Err(FigureError::NoTruth { path }.into());
        };
        Ok(Stored {
            name,
            truth: format::read(data, &self.reading)?,
            series: format::read(path, &ReadOptions::default())?,
            path: path.to_path_buf(),
        })
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
