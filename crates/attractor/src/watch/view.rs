//! What is answered: files of the page, one run, its newest model, curves of trainings, a report.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use attractor_core::progress::Unwatched;
use serde_json::{Value, json};

use super::Watcher;
use super::page::POLICY;
use super::place::Place;
use super::request::Refusal;
use super::server::Answer;
use crate::Error;
use crate::report::{self, Glance};
use crate::run::{Snapshot, Task};

/// Seconds that a report made for the page looks for fixed points.
const SECONDS: f64 = 5.0;

/// Runs whose data are kept in memory while their models are followed.
const KEPT: usize = 6;

/// The tasks of the runs that were looked at last, so that a recording is not read again at every checkpoint.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    tasks: Mutex<Vec<Kept>>,
    /// Held while a report is made: one at a time is work enough.
    reports: Mutex<()>,
}

/// A task, the folder that it is of, and when its settings were written.
type Kept = (PathBuf, Option<SystemTime>, Arc<Task>);

impl Shelf {
    /// The task of a run.
    fn task(&self, folder: &Path) -> Result<Arc<Task>, Error> {
        let written = fs::metadata(folder.join("experiment.toml"));
        let written = written.and_then(|file| file.modified()).ok();
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let same = |kept: &&Kept| kept.0 == folder && kept.1 == written;
        if let Some((_, _, task)) = tasks.iter().find(same) {
            return Ok(task.clone());
        }
        let task = Arc::new(Snapshot::task(folder)?);
        tasks.retain(|(path, ..)| path != folder);
        tasks.truncate(KEPT - 1);
        tasks.insert(0, (folder.to_path_buf(), written, task.clone()));
        Ok(task)
    }
}

/// The answer to a request that may be answered.
pub(super) fn answer(watcher: &Watcher, place: &Place) -> Result<Answer, Refusal> {
    let folder = |id: u32| watcher.survey().folder(id).ok_or(Refusal::Unknown);
    match place {
        Place::Asset(asset) => Ok(Answer {
            kind: asset.kind,
            policy: POLICY.to_string(),
            body: asset.text().into_bytes(),
        }),
        Place::Run(id) => Ok(Answer::json(&run(watcher, &folder(*id)?))),
        Place::Model(id) => Ok(Answer::json(&model(watcher, &folder(*id)?))),
        Place::Curves(ids) => Ok(Answer::json(&curves(watcher, ids))),
        Place::Report(id) => report(watcher, &folder(*id)?),
        Place::Events => Err(Refusal::Unknown),
    }
}

/// A run with its data, its model and its orbit; `why` if there is no model yet.
fn run(watcher: &Watcher, folder: &Path) -> Value {
    let glance = snapshot(watcher, folder).and_then(|snapshot| Glance::of(folder, snapshot));
    match glance {
        Ok(glance) => glance.document(),
        Err(error) => json!({ "why": error.to_string() }),
    }
}

/// The newest model of a run; `why` if there is none.
fn model(watcher: &Watcher, folder: &Path) -> Value {
    match snapshot(watcher, folder) {
        Ok(Some(snapshot)) => report::newest(&snapshot),
        Ok(None) => json!({ "ended": true }),
        Err(error) => json!({ "why": error.to_string() }),
    }
}

/// A run as its checkpoint has it; none if it has ended.
fn snapshot(watcher: &Watcher, folder: &Path) -> Result<Option<Snapshot>, Error> {
    if crate::run::Folder::new(folder).summary().is_some() {
        return Ok(None);
    }
    let task = watcher.shelf.task(folder)?;
    Snapshot::of(&task, folder).map(Some)
}

/// The curves of several runs, in the order in which they are asked for; null where there are none.
fn curves(watcher: &Watcher, ids: &[u32]) -> Value {
    let folder = |id: &u32| watcher.survey().folder(*id);
    let curve = |id| folder(id).map_or(Value::Null, |folder| report::training_curves(&folder));
    ids.iter().map(curve).collect()
}

/// The report on a run.
fn report(watcher: &Watcher, folder: &Path) -> Result<Answer, Refusal> {
    let _alone = watcher
        .shelf
        .reports
        .lock()
        .unwrap_or_else(PoisonError::into_inner);
    let request = report::Request {
        seconds: SECONDS,
        ..report::Request::of(folder)
    };
    let report = report::report(&request, &mut Unwatched).map_err(|_| Refusal::Failed)?;
    Ok(Answer {
        kind: "text/html; charset=utf-8",
        policy: format!("{}; frame-ancestors 'none'", report.policy()),
        body: report.to_html().into_bytes(),
    })
}
