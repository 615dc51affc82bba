//! How far a study on a cluster is, from its folders and one look at the queue.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use super::{Submission, frozen, latest, slurm};
use crate::Error;
use crate::run::{Folder, RunProgress};
use crate::study::Study;

/// How far a study is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// Runs of the study; those with a folder if no study was submitted.
    pub runs: usize,
    /// Runs with scores.
    pub done: usize,
    /// Those of them that diverged.
    pub diverged: usize,
    /// Runs that have begun, with their last reports.
    pub begun: Vec<Begun>,
    /// What was submitted last.
    pub submitted: Option<Submission>,
    /// What the queue says of it; none if it is not in the queue.
    pub queue: Option<String>,
}

/// A run that has begun and not ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Begun {
    /// Its folder, from that of the study.
    pub folder: String,
    /// Its last report; none if there is none yet.
    pub progress: Option<RunProgress>,
}

/// How far the study in a folder is.
pub fn status(folder: &Path) -> Result<Status, Error> {
    let submitted = latest(folder)?;
    let scored = crate::study::ended(folder)?;
    let mut begun = Vec::new();
    let mut runs = scored.len();
    let judged: BTreeSet<&Path> = scored.iter().map(|run| run.folder.as_path()).collect();
    if let Some(study) = frozen(folder).and_then(|path| Study::outline(&path).ok()) {
        runs = study.len();
        for run in study {
            let path = folder.join(&run);
            if !judged.contains(run.as_path()) && Folder::new(&path).holds_run() {
                begun.push(Begun {
                    folder: run.to_string_lossy().into_owned(),
                    progress: RunProgress::read(&path),
                });
            }
        }
    }
    let queue = submitted
        .as_ref()
        .and_then(|job| job.job.as_deref())
        .and_then(slurm::state);
    Ok(Status {
        runs,
        done: scored.len(),
        diverged: scored.iter().filter(|run| run.diverged()).count(),
        begun,
        submitted,
        queue,
    })
}
