//! `progress.json`: how far a run is, for those who look from elsewhere. A small whole file, at most every two seconds, gone when the run
//! has ended.

use std::env;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use attractor_core::train::Epoch;
use serde::{Deserialize, Serialize};

use super::claim;
use crate::store;

const PROGRESS: &str = "progress.json";

/// From one to the next, at least.
const EVERY: Duration = Duration::from_secs(2);

/// The last progress report of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunProgress {
    /// Epochs done.
    pub epoch: u64,
    /// Updates done.
    pub update: u64,
    /// Updates in all, at most.
    pub updates: u64,
    /// The loss of the last epoch.
    pub loss: f64,
    /// Strength of forcing.
    pub alpha: f64,
    /// Seconds of training so far; 0 of runs of older versions.
    #[serde(default)]
    pub seconds: f64,
    /// The machine.
    pub host: String,
    /// The process.
    pub process: u32,
    /// What the queue calls the job that it belongs to; none where no queue runs it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<String>,
}

impl RunProgress {
    /// The last report of the run in a folder; none if it has ended, or not reported yet.
    pub fn read(folder: &Path) -> Option<RunProgress> {
        let text = fs::read_to_string(folder.join(PROGRESS)).ok()?;
        serde_json::from_str(&text).ok()
    }
}

/// Reports how far a run is, now and then.
pub(super) struct Reporter {
    updates: u64,
    last: Option<Instant>,
}

impl Reporter {
    /// Of a run with so many updates.
    pub(super) fn new(updates: u64) -> Reporter {
        Reporter {
            updates,
            last: None,
        }
    }

    /// Reports an epoch, if the last report is long enough ago. A report that cannot be written is left out: nobody depends on it.
    pub(super) fn report(&mut self, folder: &Path, epoch: &Epoch, seconds: f64) {
        if self.last.is_some_and(|last| last.elapsed() < EVERY) {
            return;
        }
        self.last = Some(Instant::now());
        let progress = RunProgress {
            epoch: epoch.epoch,
            update: epoch.update,
            updates: self.updates,
            loss: epoch.loss,
            alpha: epoch.alpha,
            seconds,
            host: claim::host(),
            process: std::process::id(),
            job: job(),
        };
        if let Ok(text) = serde_json::to_string(&progress) {
            let _ = store::write_whole(&folder.join(PROGRESS), |out| writeln!(out, "{text}"));
        }
    }
}

/// What Slurm calls the job of this process, as in `12_3` for task 3 of an array; else what SGE or PBS do.
fn job() -> Option<String> {
    let known = |name: &str| env::var(name).ok().filter(|text| !text.is_empty());
    let of_array = known("SLURM_ARRAY_JOB_ID").zip(known("SLURM_ARRAY_TASK_ID"));
    let others = ["SLURM_JOB_ID", "PBS_JOBID", "JOB_ID"];
    of_array
        .map(|(job, task)| format!("{job}_{task}"))
        .or_else(|| others.into_iter().find_map(known))
}

/// Removes the report, at the end of a run.
pub(super) fn remove(folder: &Path) {
    let _ = fs::remove_file(folder.join(PROGRESS));
}
