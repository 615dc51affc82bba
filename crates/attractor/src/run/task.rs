//! One run of many: claimed, so that no other process works on it, then begun, continued or found ended, whatever an
//! earlier process left in its folder.

use std::fmt;
use std::fs;
use std::path::Path;

use attractor_core::series::Series;
use attractor_core::train::Watch;

use super::{EXPERIMENT, EndedRun, OpenRun, RunError, RunFolder};
use crate::Error;
use crate::experiment::{DataSource, Experiment, ExperimentFile, Resolved, Texts, difference};

/// What is trained, and where it is kept.
#[derive(Clone, Copy)]
pub struct Task<'a> {
    /// The run's folder.
    pub path: &'a Path,
    /// What is trained.
    pub resolved: &'a Resolved,
    /// Where the recording is.
    pub data: &'a DataSource,
    /// The recording.
    pub recording: &'a Series,
}

/// A run that this process alone works on, until it is dropped.
pub struct Claim<'a> {
    task: Task<'a>,
    run: OpenRun,
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
    /// The recording is another file.
    File,
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
            Difference::File => f.write_str("its data are another file"),
        }
    }
}

impl<'a> Task<'a> {
    /// Takes the run; it is refused while another process holds it, and where the folder holds another one.
    pub fn claim(self) -> Result<Claim<'a>, Error> {
        let experiment = &self.resolved.experiment;
        let run = OpenRun::take(self.path, experiment, self.recording)?;
        RunFolder::refuse_other(self.path, experiment, self.data)?;
        Ok(Claim { task: self, run })
    }
}

impl Claim<'_> {
    /// The run at its end, trained as far as it is not; `None` if training was stopped.
    pub fn train(&self, watch: &mut dyn Watch) -> Result<Option<EndedRun>, Error> {
        let Task {
            path,
            resolved,
            data,
            recording,
        } = self.task;
        if let Some(ended) = EndedRun::open(path)? {
            ended.refuse_other_data(path, recording)?;
            return Ok(Some(ended));
        }
        if !RunFolder::holds_run(path) {
            self.run.write_experiment(resolved, data)?;
        }
        let checkpoint = self.run.checkpoint()?;
        self.run.train(resolved, recording, checkpoint, watch)?;
        EndedRun::open(path)
    }

    /// The run's folder, which nobody else writes.
    pub fn path(&self) -> &Path {
        self.task.path
    }
}

impl RunFolder {
    /// Refuses a folder that holds something else, or a run with other settings that act or with data that are read in
    /// another way. Nothing is written.
    pub fn refuse_other(
        path: &Path,
        experiment: &Experiment,
        data: &DataSource,
    ) -> Result<(), Error> {
        let config = path.join(EXPERIMENT);
        let Ok(text) = fs::read_to_string(&config) else {
            RunFolder::check(path)?;
            return Ok(());
        };
        // As it was written, if nobody touched it.
        if text.contains(&experiment.to_toml(data)) {
            return Ok(());
        }
        let file = ExperimentFile::parse(&text, &config)?;
        let stored = Experiment::check(&file.raw)?;
        let reading = file.data.map(|data| data.options);
        let difference = Difference::between(&stored.texts(), &experiment.texts())
            .or_else(|| (reading.as_ref() != Some(&data.options)).then_some(Difference::Reading));
        refuse_different(path, difference)
    }

    /// Refuses a folder with a run of another file of data, by its name.
    pub fn refuse_other_file(path: &Path, data: &DataSource) -> Result<(), Error> {
        let config = path.join(EXPERIMENT);
        if !config.exists() {
            return Ok(());
        }
        let stored = ExperimentFile::read(&config)?.data;
        let data = data.absolute()?;
        let other = stored.is_none_or(|stored| stored.path != data.path);
        refuse_different(path, other.then_some(Difference::File))
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
