//! A run that has not ended, as its newest checkpoint has it: for pages that follow a training, and for reports on one that was
//! interrupted.

use std::path::Path;
use std::sync::Arc;

use attractor_core::train::Epoch;

use super::training::{LAST_CHOSEN, chosen_as};
use super::{CHECKPOINT, Checkpoint, EXPERIMENT, Recording, RunError, Task};
use crate::Error;
use crate::experiment::{Experiment, ExperimentError, ExperimentFile, Job};
use crate::model_file::Reconstruction;

/// The newest checkpoint of a run.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The model with the last parameters.
    pub newest: Reconstruction,
    /// The model with the best ones so far, where the best are kept.
    pub best: Option<Reconstruction>,
    /// What was known at the end of every epoch so far.
    pub history: Vec<Epoch>,
    /// Updates made.
    pub update: u64,
    /// Epochs made.
    pub epoch: u64,
    /// Seconds of training.
    pub seconds: f64,
}

impl Snapshot {
    /// Reads the checkpoint in a folder.
    pub fn read(folder: &Path) -> Result<Snapshot, Error> {
        Snapshot::of(&Snapshot::task(folder)?, folder)
    }

    /// What is fitted in a folder, with its recording.
    pub fn task(folder: &Path) -> Result<Task, Error> {
        let config = folder.join(EXPERIMENT);
        let file = ExperimentFile::read(&config)?;
        let source = file.data.clone().unwrap_or_default().found_from(&config);
        let source = source.map_err(|error| match error {
            ExperimentError::DataNotFound { data, .. } => Error::Run(RunError::DataGone {
                data,
                path: folder.to_path_buf(),
            }),
            other => Error::Experiment(other),
        })?;
        let experiment = Experiment::check(&file.raw)?;
        Task::new(&experiment, Arc::new(Recording::read(source)?))
    }

    /// Reads the checkpoint in the folder of a task.
    pub fn of(task: &Task, folder: &Path) -> Result<Snapshot, Error> {
        let path = folder.join(CHECKPOINT);
        let Job::Train(training) = &task.resolved.job else {
            return Err(no_model(folder));
        };
        if !path.exists() {
            return Err(no_model(folder));
        }
        let checkpoint = Checkpoint::read(&path, &task.origin())?;
        let model = |theta: &[f32], chosen: String| {
            task.reconstruction(training.trainer.dynamics(theta), chosen)
        };
        let best = checkpoint.best.as_ref();
        Ok(Snapshot {
            newest: model(&checkpoint.state.theta, LAST_CHOSEN.to_string()),
            best: best.map(|best| model(&best.theta, chosen_as(best, training.choice))),
            update: checkpoint.state.update,
            epoch: checkpoint.state.epoch,
            seconds: checkpoint.seconds,
            history: checkpoint.history,
        })
    }
}

fn no_model(folder: &Path) -> Error {
    Error::Run(RunError::NoModel {
        path: folder.to_path_buf(),
    })
}
