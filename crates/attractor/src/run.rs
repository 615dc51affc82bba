//! A run: a model that is fitted, stored on the way, and never lost. It is a folder:
//!
//! | file | content |
//! | --- | --- |
//! | `experiment.toml` | all settings, resolved, and the recording |
//! | `model.safetensors` | the model: the last state, or the last finite one, or the one that was chosen |
//! | `last.safetensors` | the last state, where another one was chosen |
//! | `history.csv` | one row per epoch, of the first 65,536; of longer trainings every second, fourth, … |
//! | `outcome.json` | how it ended |
//! | `checkpoint.safetensors` | while training runs, or was interrupted: what it continues from |
//! | `recording.csv` | the recording, if it was in memory alone |
//!
//! Its life has one shape, whoever starts it:
//!
//! ```text
//! Recording + Experiment ──▶ Task ──claim──▶ Run (locked folder) ──train──▶ Trained (model, how it ended)
//!                                 └──────────────train (nothing stored)───────▲
//! ```
//!
//! A run begins, goes on from its checkpoint, or is found ended, whatever an earlier process left in its folder. Models, history
//! and outcome are written when it ends, in that order; a run with an outcome has ended. One that diverges has all of them as
//! well.

mod checkpoint;
mod claim;
mod error;
mod folder;
mod history;
mod judge;
mod lock;
mod outcome;
mod progress;
mod recording;
mod snapshot;
mod training;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attractor_core::dynamics::Dynamics;
use attractor_core::train::Watch;

use crate::experiment::{Experiment, ExperimentError, ExperimentFile, Resolved};
use crate::model_file::{Card, Reconstruction};
use crate::{Error, format, store};

use checkpoint::Origin;
pub use checkpoint::{Best, Checkpoint, Rollback};
pub(crate) use claim::{Claim, claims_hold, host, is_claimed};
pub use error::RunError;
pub(crate) use folder::refuse_different;
pub use folder::{Difference, Folder};
pub(crate) use history::write as write_history;
use lock::Lock;
pub use outcome::{Ending, Summary, Trained};
pub use progress::RunProgress;
pub use recording::Recording;
pub(crate) use recording::fingerprint as fingerprint_of;
pub use snapshot::Snapshot;
use training::Training;
pub(crate) use training::{LAST_CHOSEN, SOLVED};

const EXPERIMENT: &str = "experiment.toml";
const MODEL: &str = "model.safetensors";
const LAST: &str = "last.safetensors";
const HISTORY: &str = "history.csv";
const OUTCOME: &str = "outcome.json";
const CHECKPOINT: &str = "checkpoint.safetensors";
const RECORDING: &str = "recording.csv";

/// What is fitted: an experiment, settled for a recording.
#[derive(Debug, Clone)]
pub struct Task {
    /// The recording.
    pub recording: Arc<Recording>,
    /// The experiment for it.
    pub resolved: Resolved,
}

impl Task {
    /// Settles an experiment for a recording; what cannot work is refused.
    pub fn new(experiment: &Experiment, recording: Arc<Recording>) -> Result<Task, Error> {
        let prepared = recording.prepared(experiment.preparation());
        let resolved = prepared.and_then(|data| experiment.resolve_prepared(data));
        let resolved = resolved.map_err(|error| error.of_file(&recording.source.path))?;
        let resolved = resolved.prepared_by(recording.pipeline.clone());
        let task = Task {
            recording,
            resolved,
        };
        judge::of(&task)?;
        Ok(task)
    }

    /// Fits the model from its start to the end, without storing anything.
    pub fn train(&self, watch: &mut dyn Watch) -> Result<Trained, Error> {
        self.train_from(None, watch)
    }

    /// The same from [where it was stopped](Trained::left), if it was.
    pub fn train_from(
        &self,
        left: Option<Checkpoint>,
        watch: &mut dyn Watch,
    ) -> Result<Trained, Error> {
        Training::of(self, None, watch).run(left)
    }

    /// What a user should know before it is fitted: what was done to the data, what is kept from training, what was left to the
    /// data.
    pub fn notes(&self) -> Vec<String> {
        let (recording, resolved) = (&self.recording, &self.resolved);
        let preparation = resolved.experiment.preparation();
        let mut notes = Vec::from_iter(recording.remark(&preparation));
        notes.extend(recording.held_out(&preparation));
        notes.extend(recording.warnings());
        notes.extend(resolved.notes());
        notes
    }

    /// A model with its card.
    pub(crate) fn reconstruction(
        &self,
        dynamics: Box<dyn Dynamics>,
        chosen: String,
    ) -> Reconstruction {
        let rows = dynamics.memory().rows();
        Reconstruction {
            method: self.resolved.experiment.method(),
            dynamics: dynamics.into(),
            card: Card {
                start: self.recording.first_rows(rows),
                chosen: Some(chosen),
                ..self.recording.card(self.resolved.data.scaling.clone())
            },
        }
    }

    fn origin(&self) -> Origin {
        let experiment = &self.resolved.experiment;
        Origin {
            data: self.recording.fingerprint().to_string(),
            settings: crate::fingerprint::fingerprint(experiment.fingerprint().as_bytes()),
            numerics: experiment.method().numerics,
        }
    }
}

/// A folder that this process alone fills, and what it is filled with.
#[derive(Debug)]
pub struct Run {
    path: PathBuf,
    task: Task,
    origin: Origin,
    lock: Lock,
}

impl Run {
    /// Begins a run in a folder that is empty or not there yet. A recording that is in memory alone is kept there as well.
    pub fn begin(path: &Path, mut task: Task) -> Result<Run, Error> {
        Folder::new(path).refuse_occupied()?;
        let is_kept = !task.recording.is_on_disk();
        if is_kept {
            let file = path.join(RECORDING);
            format::losses(&file, &task.recording.series)?;
            task.recording = Arc::new(task.recording.kept_as(file));
        }
        let run = Run::take(path, task)?;
        if is_kept {
            let recording = &run.task.recording;
            format::write(&recording.source.path, &recording.series)?;
        }
        run.write_experiment()?;
        Ok(run)
    }

    /// Writes what was fitted in memory as a run.
    pub fn keep(path: &Path, task: Task, trained: &Trained) -> Result<(), Error> {
        Run::begin(path, task)?.end(trained)
    }

    /// Takes a run, begun or not; it is refused while another process holds it, and where the folder holds another one.
    pub fn claim(path: &Path, task: Task) -> Result<Run, Error> {
        let run = Run::take(path, task)?;
        let (experiment, source) = (&run.task.resolved.experiment, &run.task.recording.source);
        Folder::new(path).refuse_other(experiment, source)?;
        Ok(run)
    }

    /// Opens a run that did not end; `threads` takes the place of its number of threads.
    pub fn resume(path: &Path, threads: Option<usize>) -> Result<Run, Error> {
        let path_of = || path.to_path_buf();
        if !path.exists() {
            return Err(RunError::NotFound { path: path_of() }.into());
        }
        let config = path.join(EXPERIMENT);
        if !config.exists() {
            return Err(RunError::NoExperiment { path: path_of() }.into());
        }
        let lock = Lock::take(path)?;
        if let Some(summary) = Folder::new(path).summary() {
            let (path, outcome) = (path_of(), summary.outcome.to_string());
            return Err(RunError::Ended { outcome, path }.into());
        }
        let file = ExperimentFile::read(&config)?;
        let source = file.data.clone().unwrap_or_default().found_from(&config);
        let source = source.map_err(|error| match error {
            ExperimentError::DataNotFound { data, .. } => Error::Run(RunError::DataGone {
                data,
                path: path_of(),
            }),
            other => Error::Experiment(other),
        })?;
        let experiment = match threads {
            None => Experiment::check(&file.raw)?,
            Some(threads) => Experiment::check(&file.raw.with_threads(threads))?,
        };
        let task = Task::new(&experiment, Arc::new(Recording::read(source)?))?;
        Ok(Run::locked(path, task, lock))
    }

    /// Makes the folder if it is not there, and locks it.
    fn take(path: &Path, task: Task) -> Result<Run, Error> {
        store::make_folder(path)?;
        let lock = Lock::take(path)?;
        Ok(Run::locked(path, task, lock))
    }

    fn locked(path: &Path, task: Task, lock: Lock) -> Run {
        Run {
            path: path.to_path_buf(),
            origin: task.origin(),
            task,
            lock,
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What it is filled with.
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The run at its end, fitted as far as it is not, and stored. If the watch stops it, it ends as [`Ending::Stopped`] and can be
    /// continued.
    pub fn train(&self, watch: &mut dyn Watch) -> Result<Trained, Error> {
        if let Some(ended) = Trained::read(&self.path)? {
            ended.refuse_other_data(&self.path, self.task.recording.fingerprint())?;
            return Ok(ended);
        }
        if !self.path.join(EXPERIMENT).exists() {
            self.write_experiment()?;
        }
        let from = self.checkpoint()?;
        let trained = match Training::of(&self.task, Some(self), watch).run(from) {
            Err(error @ Error::Experiment(_)) => {
                // What cannot be fitted to these data is no run that could be continued.
                let _ = fs::remove_file(self.path.join(EXPERIMENT));
                return Err(error);
            }
            other => other?,
        };
        if trained.summary.outcome != Ending::Stopped {
            self.end(&trained)?;
        }
        Ok(trained)
    }

    /// Writes what is to be done.
    fn write_experiment(&self) -> Result<(), Error> {
        let source = self.task.recording.source.absolute()?;
        let version = env!("CARGO_PKG_VERSION");
        let settings = self.task.resolved.experiment.to_toml(&source);
        self.write(EXPERIMENT, |out| {
            write!(out, "# attractor {version}\n{settings}")
        })
    }

    /// Where it was; none if it had not come to its first checkpoint.
    fn checkpoint(&self) -> Result<Option<Checkpoint>, Error> {
        store::remove_parts(&self.path);
        let stored = self.path.join(CHECKPOINT);
        if stored.exists() {
            return Checkpoint::read(&stored, &self.origin).map(Some);
        }
        Ok(None)
    }

    fn store(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        self.lock.refuse_lost()?;
        checkpoint.write(&self.path.join(CHECKPOINT), &self.origin)
    }

    /// Writes how it went; the outcome last, since it says that all else is there.
    fn end(&self, trained: &Trained) -> Result<(), Error> {
        self.lock.refuse_lost()?;
        trained.reconstruction.write(&self.path.join(MODEL))?;
        if let Some(last) = &trained.last {
            last.write(&self.path.join(LAST))?;
        }
        self.write(HISTORY, |out| history::write(&trained.history, out))?;
        let summary = serde_json::to_string_pretty(&trained.summary);
        let summary = summary.expect("a summary has texts for keys");
        self.write(OUTCOME, |out| writeln!(out, "{summary}"))?;
        // They are of no use any more, and do no harm if they stay.
        let _ = fs::remove_file(self.path.join(CHECKPOINT));
        progress::remove(&self.path);
        Ok(())
    }

    fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        store::write_whole(&self.path.join(name), fill)
    }
}
