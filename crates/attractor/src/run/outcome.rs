//! How a fit ended: the document `outcome.json`, and the model with it.

use std::fmt;
use std::fs;
use std::path::Path;

use attractor_core::train::Epoch;
use serde::{Deserialize, Serialize};

use super::{Checkpoint, Folder, LAST, Rollback, RunError};
use crate::Error;
use crate::model_file::Reconstruction;

/// What a fit gave.
#[derive(Debug, Clone)]
pub struct Trained {
    /// The model at its end.
    pub reconstruction: Reconstruction,
    /// The last parameters, where the model has others.
    pub last: Option<Reconstruction>,
    /// What it continues from, if it was stopped.
    pub left: Option<Box<Checkpoint>>,
    /// How it ended.
    pub summary: Summary,
    /// What was known at the end of every epoch; empty of a run that ended before.
    pub history: Vec<Epoch>,
    /// Whether the best parameters were looked for, and none had a score.
    pub found_none: bool,
}

/// The document `outcome.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Summary {
    /// How it ended, in one word.
    #[serde(default)]
    pub outcome: Ending,
    /// Updates made.
    #[serde(default)]
    pub update: u64,
    /// How long it took.
    #[serde(default)]
    pub seconds: f64,
    /// The loss of the last epoch.
    #[serde(default)]
    pub loss: Option<f64>,
    /// Strength of forcing at the end.
    #[serde(default)]
    pub alpha: Option<f64>,
    /// Which parameters the model has, in words.
    #[serde(default)]
    pub chosen: Option<String>,
    /// A fingerprint of the recording.
    #[serde(default)]
    pub data: Option<String>,
    /// How often it went back after it diverged.
    #[serde(default)]
    pub rollbacks: Vec<Rollback>,
}

/// How a fit ended, in one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// As planned.
    Finished,
    /// Where it was stopped; it can be continued.
    Stopped,
    /// A number was no longer finite.
    Diverged,
    /// The document does not say.
    #[default]
    Unknown,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ending::Finished => "finished",
            Ending::Stopped => "stopped",
            Ending::Diverged => "diverged",
            Ending::Unknown => "unknown",
        })
    }
}

impl Trained {
    /// Reads a run; none if it has not ended.
    pub(super) fn read(path: &Path) -> Result<Option<Trained>, Error> {
        let folder = Folder::new(path);
        let Some(summary) = folder.summary() else {
            return Ok(None);
        };
        let last = path.join(LAST);
        let last = fs::exists(&last)
            .unwrap_or(false)
            .then(|| Reconstruction::read(&last));
        Ok(Some(Trained {
            last: last.transpose()?,
            left: None,
            reconstruction: folder.model()?,
            summary,
            history: Vec::new(),
            found_none: false,
        }))
    }

    /// Refuses a run that was trained on another recording.
    pub(super) fn refuse_other_data(&self, path: &Path, recording: &str) -> Result<(), RunError> {
        match &self.summary.data {
            Some(data) if data != recording => Err(RunError::OtherRecording {
                path: path.to_path_buf(),
            }),
            _ => Ok(()),
        }
    }
}
