//! A run's folder as others see it: what it holds, and what may not be written over.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::{
    CHECKPOINT, EXPERIMENT, HISTORY, LAST, MODEL, OUTCOME, RunError, Summary, lock, recording,
};
use crate::experiment::{DataSource, Experiment, ExperimentFile, Parts, Texts, difference};
use crate::model_file::Reconstruction;
use crate::{Error, format, store};

/// A folder that holds a run, or may; or a model file.
#[derive(Debug, Clone, Copy)]
pub struct Folder<'a> {
    path: &'a Path,
}

/// How a stored run differs from what is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// A setting has another value.
    Setting {
        /// The setting.
        name: &'static str,
        /// Its value in the folder.
        stored: String,
        /// The value that is asked for.
        asked: String,
    },
    /// The recording is read in another way.
    Reading,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::Setting {
                name,
                stored,
                asked,
            } => write!(f, "its `{name}` is {stored}, not {asked}"),
            Difference::Reading => f.write_str("its data are read in another way"),
        }
    }
}

impl<'a> Folder<'a> {
    /// The folder of a run, or a model file.
    pub fn new(path: &'a Path) -> Folder<'a> {
        Folder { path }
    }

    /// The model.
    pub fn model(self) -> Result<Reconstruction, Error> {
        let path = self.path.to_path_buf();
        let file = if path.is_dir() {
            path.join(MODEL)
        } else {
            path.clone()
        };
        if file.exists() {
            return Ok(Reconstruction::read(&file)?);
        }
        Err(Error::Run(if path.is_dir() {
            RunError::NoModel { path }
        } else {
            RunError::NotFound { path }
        }))
    }

    /// Whether it holds a run, ended or not.
    pub fn holds_run(self) -> bool {
        self.path.join(EXPERIMENT).exists()
    }

    /// How the run ended; none if it has not.
    pub fn summary(self) -> Option<Summary> {
        let text = fs::read_to_string(self.run()?.join(OUTCOME)).ok()?;
        Some(serde_json::from_str(&text).unwrap_or_default())
    }

    /// What the run was trained on, what its parameters were chosen by and what it held out; none if there is no run, or its
    /// recording is gone or has changed.
    pub fn parts(self) -> Option<Parts> {
        let (file, source) = self.experiment()?;
        let (series, _) = source.read().ok()?;
        // A file that has changed since holds other data.
        let known = self.summary().and_then(|summary| summary.data);
        if known.is_some_and(|known| known != recording::fingerprint(&series)) {
            return None;
        }
        let experiment = Experiment::check(&file.raw).ok()?;
        let mut parts = experiment.preparation().split(series).ok()?;
        // Before there was `select`, parameters were chosen by the rows that were held out.
        let could_select = file.raw.given.iter().any(|given| given.name == "select");
        if experiment.chooses() && !could_select {
            parts.selection = parts.held_out.clone();
        }
        Some(parts)
    }

    /// The file that the run was trained on; none if there is no run or the file is gone.
    pub fn recording(self) -> Option<PathBuf> {
        Some(self.experiment()?.1.path)
    }

    /// Refuses to write a file over a model file, or over one that the run consists of or was trained on.
    pub fn refuse_own(self, out: &Path) -> Result<(), Error> {
        store::refuse_same(self.path, out)?;
        let files = self.run().into_iter().flat_map(|folder| {
            [EXPERIMENT, MODEL, LAST, HISTORY, OUTCOME, CHECKPOINT].map(|name| folder.join(name))
        });
        let mut own = files.chain(self.recording());
        if own.any(|file| format::refuse_same(&file, out).is_err()) {
            let path = out.to_path_buf();
            return Err(Error::Run(RunError::Own { path }));
        }
        Ok(())
    }

    /// Refuses a folder that is not empty; nothing is made.
    pub fn refuse_occupied(self) -> Result<(), RunError> {
        let path = self.path.to_path_buf();
        if self.path.exists() && !self.path.is_dir() {
            return Err(RunError::NotFolder { path });
        }
        // What a process that was killed before it wrote anything left does not count.
        let is_left = |name: &str| lock::is_of_lock(name) || store::is_part(name);
        let files = fs::read_dir(self.path).into_iter().flatten().flatten();
        let mut names = files.map(|file| file.file_name().to_string_lossy().into_owned());
        if !names.any(|name| !is_left(&name)) {
            return Ok(());
        }
        if !self.holds_run() || self.summary().is_some() {
            return Err(RunError::NotEmpty { path });
        }
        Err(match lock::Lock::take(self.path) {
            Err(Error::Run(locked @ RunError::Locked { .. })) => locked,
            _ => RunError::Unfinished { path },
        })
    }

    /// Refuses a folder that holds something else, or a run with other settings that act or with data that are read in
    /// another way. Nothing is written.
    pub fn refuse_other(self, experiment: &Experiment, source: &DataSource) -> Result<(), Error> {
        let config = self.path.join(EXPERIMENT);
        let Ok(text) = fs::read_to_string(&config) else {
            return Ok(self.refuse_occupied()?);
        };
        // As it was written, if nobody touched it.
        if text.contains(&experiment.to_toml(source)) {
            return Ok(());
        }
        let file = ExperimentFile::parse(&text, &config)?;
        let stored = Experiment::check(&file.raw)?;
        let reading = file.data.map(|data| data.options);
        let difference = Difference::between(&stored.texts(), &experiment.texts())
            .or_else(|| (reading.as_ref() != Some(&source.options)).then_some(Difference::Reading));
        refuse_different(self.path, difference)
    }

    /// The stored experiment of the run, and its recording.
    fn experiment(self) -> Option<(ExperimentFile, DataSource)> {
        let config = self.run()?.join(EXPERIMENT);
        let file = ExperimentFile::read(&config).ok()?;
        let data = file.data.clone()?.found_from(&config).ok()?;
        Some((file, data))
    }

    /// The folder of the run, or of the run of a model file in it.
    fn run(self) -> Option<&'a Path> {
        match self.path.file_name() {
            Some(name) if name == MODEL || name == LAST => self.path.parent(),
            _ => Some(self.path),
        }
    }
}

pub(crate) fn refuse_different(path: &Path, difference: Option<Difference>) -> Result<(), Error> {
    match difference {
        None => Ok(()),
        Some(difference) => Err(Error::Run(RunError::OtherExperiment {
            difference,
            path: path.to_path_buf(),
        })),
    }
}

impl Difference {
    /// Between stored settings and those that are asked for; none if they train the same.
    pub(crate) fn between(stored: &Texts, asked: &Texts) -> Option<Difference> {
        difference(stored, asked).map(|name| Difference::Setting {
            name,
            stored: stored[name].clone(),
            asked: asked[name].clone(),
        })
    }
}
