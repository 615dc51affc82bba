//! Why there is no run, or none may be made.

use std::path::PathBuf;

use attractor_core::hint::Hint;

use super::{Difference, EXPERIMENT, MODEL};
use crate::shell;

/// Why there is no run, or none may be made.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// There is something already.
    #[error("the folder for the run is not empty: {}", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// There is a run that did not end.
    #[error("the folder holds a run that was interrupted: {}", path.display())]
    Unfinished {
        /// The folder.
        path: PathBuf,
    },
    /// Another process trains this run.
    #[error("another process is training this run: {}", path.display())]
    Locked {
        /// The folder.
        path: PathBuf,
    },
    /// This process gave no sign of life for so long that another went on with the run.
    #[error("another process has taken over this run, which made no progress here for over a minute: {}", path.display())]
    TakenOver {
        /// The folder.
        path: PathBuf,
    },
    /// There is nothing to continue.
    #[error("this run has ended, with the outcome `{outcome}`: {}", path.display())]
    Ended {
        /// How.
        outcome: String,
        /// The folder.
        path: PathBuf,
    },
    /// A folder that holds something else.
    #[error("the folder holds another run, {difference}: {}", path.display())]
    OtherExperiment {
        /// How it differs.
        difference: Difference,
        /// The folder.
        path: PathBuf,
    },
    /// A folder that is no run.
    #[error("no {EXPERIMENT} in this folder: {}", path.display())]
    NoExperiment {
        /// The folder.
        path: PathBuf,
    },
    /// The recording that a run began with is gone.
    #[error("the data of this run are not at {}: {}", data.display(), path.display())]
    DataGone {
        /// Where they were.
        data: PathBuf,
        /// The folder.
        path: PathBuf,
    },
    /// A checkpoint was cut or changed.
    #[error("the checkpoint is damaged: {}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
    },
    /// The recording is not the one that the run began with.
    #[error("the data have changed since this checkpoint was written: {}", path.display())]
    OtherData {
        /// The file.
        path: PathBuf,
    },
    /// The recording is not the one that the run was trained on.
    #[error("the run was trained on other data: {}", path.display())]
    OtherRecording {
        /// The folder.
        path: PathBuf,
    },
    /// The settings are not those that the run began with.
    #[error("the settings have changed since this checkpoint was written: {}", path.display())]
    OtherSettings {
        /// The file.
        path: PathBuf,
    },
    /// The version computes other bits.
    #[error("this checkpoint is from a version that computes other bits: {}", path.display())]
    OtherNumerics {
        /// The file.
        path: PathBuf,
    },
    /// A file stands in the way.
    #[error("expected a folder for the run, found a file: {}", path.display())]
    NotFolder {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing of this name.
    #[error("no such run or model: {}", path.display())]
    NotFound {
        /// What was typed.
        path: PathBuf,
    },
    /// A training that was to be timed did not last.
    #[error("training diverged at update {update}, before anything was timed")]
    Diverged {
        /// The update, from 0.
        update: u64,
    },
    /// A model that is solved at once was interrupted: there is nothing to continue from.
    #[error("stopped before the model was solved: {}", path.display())]
    NotSolved {
        /// The folder.
        path: PathBuf,
    },
    /// A file would be written over one of a run's.
    #[error("the file to write is one that the run consists of or was trained on: {}", path.display())]
    Own {
        /// The file to write, as typed.
        path: PathBuf,
    },
    /// A folder has no model.
    #[error("no {MODEL} in this folder: {}", path.display())]
    NoModel {
        /// The folder.
        path: PathBuf,
    },
}

impl RunError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            RunError::NotEmpty { .. } | RunError::NotFolder { .. } => {
                Some("name another folder with `--out`".into())
            }
            RunError::OtherRecording { .. } => Some(
                "restore the old data, remove this folder to train the run again, or name another folder with `--out`".into(),
            ),
            RunError::OtherExperiment { .. } => {
                Some("undo the change, or name another folder with `--out`".into())
            }
            RunError::NoModel { .. } => {
                Some("a run has a model once its training has ended".into())
            }
            RunError::Own { .. } => Some("name another file to write".into()),
            RunError::Diverged { .. } => Some("standardise the data, or use a smaller `--lr`".into()),
            RunError::Unfinished { path } => Some(format!(
                "`attractor resume {}` continues it",
                shell::path(path)
            ).into()),
            RunError::Locked { .. } => Some(
                "wait for it, or stop it with Ctrl-C; where the file system has no locks, a run that was killed is free after a minute".into(),
            ),
            RunError::TakenOver { .. } => Some("leave it to the other process".into()),
            RunError::Ended { .. } => Some(
                "`attractor train --config RUN/experiment.toml --out AGAIN` trains it again".into(),
            ),
            RunError::NoExperiment { .. } => Some("`attractor train` makes a run".into()),
            RunError::DataGone { path, .. } => Some(format!(
                "restore the file, or name where it is now as `path` of [data] in {}",
                path.join(EXPERIMENT).display()
            ).into()),
            RunError::Damaged { .. } => Some(FROM_THE_START.into()),
            RunError::OtherData { .. } => {
                Some(format!("restore the old file; else {FROM_THE_START}").into())
            }
            RunError::OtherSettings { .. } => Some(format!(
                "undo the change to {EXPERIMENT}; else {FROM_THE_START}"
            ).into()),
            RunError::OtherNumerics { .. } => Some(format!(
                "use the version that started it; else {FROM_THE_START}"
            ).into()),
            RunError::NotSolved { path } => Some(format!(
                "`attractor resume {}` solves it from the start",
                shell::path(path)
            ).into()),
            RunError::NotFound { .. } => {
                Some("a run is a folder that `attractor train` made; a model is its model.safetensors".into())
            }
        }
    }

    /// Whether nature did it, not the user.
    pub fn is_outcome(&self) -> bool {
        matches!(self, RunError::Diverged { .. })
    }
}

const FROM_THE_START: &str = "remove this file to train the run from its start";
