//! How far a study on a cluster is, from its folders and one look at the queue.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::Serialize;

use super::{STUDY, Submission, last_place, latest, slurm};
use crate::Error;
use crate::run::{Folder, RunProgress};
use crate::study::Study;

/// What the first job of a submission says.
const LEVELS_LOG: &str = "levels.log";

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
    /// What the queue says of it; none if it is not in the queue, or there is none here.
    pub queue: Option<String>,
    /// What seems to be wrong.
    pub trouble: Option<String>,
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
    let only = submitted.as_ref().map_or(&[][..], |job| &job.only);
    let place = last_place(folder);
    let study = place.as_ref().map(|place| place.join(STUDY));
    if let Some(study) = study.and_then(|path| Study::outline(&path, only).ok()) {
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
    let job = submitted.as_ref().and_then(|job| job.job.as_deref());
    let queue = job.map(slurm::state).transpose();
    let has_left_queue = matches!(queue, Ok(Some(None)));
    let trouble = match (&submitted, &place) {
        _ if scored.len() >= runs => None,
        (Some(job), _) if job.program_has_changed() => Some(format!(
            "the program was replaced since the study was submitted: {}",
            job.program.display()
        )),
        (Some(_), Some(place)) if has_left_queue => trouble(place),
        _ => None,
    };
    Ok(Status {
        runs,
        done: scored.len(),
        diverged: scored.iter().filter(|run| run.diverged()).count(),
        begun,
        submitted,
        queue: queue.ok().flatten().flatten(),
        trouble,
    })
}

/// Why a job that is over has left runs: what its first job said last, or that it could not say anything.
fn trouble(place: &Path) -> Option<String> {
    let log = place.join(LEVELS_LOG);
    match fs::read_to_string(&log) {
        Ok(said) => {
            let last = said.lines().rfind(|line| !line.trim().is_empty())?;
            Some(format!("{}: {}", log.display(), last.trim()))
        }
        Err(_) => Some(format!(
            "the first job has ended and left no log: do the nodes see this folder? {}",
            place.display()
        )),
    }
}
