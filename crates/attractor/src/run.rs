//! A run is a folder:
//!
//! | file | content |
//! | --- | --- |
//! | `experiment.toml` | all settings, resolved, and the recording |
//! | `model.safetensors` | the model: the last state, or the last finite one, or the one that was chosen |
//! | `last.safetensors` | the last state, where another one was chosen |
//! | `history.csv` | one row an epoch |
//! | `outcome.json` | how training ended |
//! | `checkpoint.safetensors` | while training runs, or was interrupted: what it continues from |
//!
//! Models, history and outcome are written when training ends, in that order; a run with an outcome has ended. One that
//! diverges has all of them as well.

mod checkpoint;
mod lock;
mod task;
mod training;

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use attractor_core::series::Series;
use attractor_core::train::{Epoch, Outcome, Watch};
use serde_json::{Value, json};

use crate::container::Fingerprint;
use crate::experiment::{DataSource, Experiment, ExperimentError, ExperimentFile, Resolved};
use crate::model_file::{Card, Reconstruction};
use crate::{Error, format, shell, store};

use checkpoint::Origin;
pub use checkpoint::{Best, Checkpoint, Rollback};
use lock::Lock;
pub(crate) use task::refuse_different;
pub use task::{Claim, Difference, Task};
pub(crate) use training::LAST_CHOSEN;
use training::Training;

const EXPERIMENT: &str = "experiment.toml";
const MODEL: &str = "model.safetensors";
const LAST: &str = "last.safetensors";
const HISTORY: &str = "history.csv";
const OUTCOME: &str = "outcome.json";
const CHECKPOINT: &str = "checkpoint.safetensors";

/// The key of the recording's fingerprint in an outcome.
const DATA: &str = "data";

/// A model to be used, from a run or a model file.
pub struct Run {
    /// The model.
    pub reconstruction: Reconstruction,
}

/// A folder that a run may fill.
#[derive(Debug)]
pub struct RunFolder {
    path: PathBuf,
}

/// A run that is being trained: nobody else writes its folder.
#[derive(Debug)]
pub struct OpenRun {
    path: PathBuf,
    origin: Origin,
    _lock: Lock,
}

/// A run that ended.
pub struct EndedRun {
    /// The model.
    pub reconstruction: Reconstruction,
    /// The last parameters, where the model has others.
    pub last: Option<Reconstruction>,
    /// How it ended, in one word.
    pub outcome: String,
    /// Strength of forcing at its end.
    pub alpha: f64,
    /// A fingerprint of the recording, if it is known.
    data: Option<String>,
}

/// A run that did not end, ready to be continued.
pub struct Interrupted {
    /// The run.
    pub run: OpenRun,
    /// What it trains.
    pub resolved: Resolved,
    /// Its recording.
    pub recording: Series,
    /// Where it was; `None` if it had not come to its first checkpoint.
    pub checkpoint: Option<Checkpoint>,
}

/// A training that ended.
pub struct Trained {
    /// The model at its end.
    pub reconstruction: Reconstruction,
    /// The last parameters, where the model has others.
    pub last: Option<Reconstruction>,
    /// Whether the best parameters were looked for, and none had a score.
    pub found_none: bool,
    /// How it ended, with all that continues it.
    pub outcome: Outcome,
    /// What was known at the end of every epoch.
    pub history: Vec<Epoch>,
    /// How often it went back after it diverged.
    pub rollbacks: Vec<Rollback>,
    /// How long it took.
    pub seconds: f64,
    /// A fingerprint of the recording.
    pub data: String,
}

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
    #[error("this checkpoint is of a version that computes other bits: {}", path.display())]
    OtherNumerics {
        /// The file.
        path: PathBuf,
    },
    /// A file stands in the way.
    #[error("a folder is needed for the run, found a file: {}", path.display())]
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
    pub fn hint(&self) -> Option<String> {
        match self {
            RunError::NotEmpty { .. } | RunError::NotFolder { .. } => {
                Some("name another folder with `--out`".into())
            }
            RunError::OtherRecording { .. } => Some(
                "bring the old data back, remove this folder to train the run again, or name another folder with `--out`".into(),
            ),
            RunError::OtherExperiment { .. } => {
                Some("undo the change, or name another folder with `--out`".into())
            }
            RunError::NoModel { .. } => {
                Some("a run has a model once its training has ended".into())
            }
            RunError::Own { .. } => Some("name another file to write".into()),
            RunError::Diverged { .. } => Some("standardise the data".into()),
            RunError::Unfinished { path } => Some(format!(
                "`attractor resume {}` continues it",
                shell::path(path)
            )),
            RunError::Locked { .. } => Some("wait for it, or stop it with Ctrl-C".into()),
            RunError::Ended { .. } => Some(
                "`attractor train --config RUN/experiment.toml --out …` trains it again".into(),
            ),
            RunError::NoExperiment { .. } => Some("`attractor train` makes a run".into()),
            RunError::DataGone { path, .. } => Some(format!(
                "bring the file back, or name where it is now as `path` of [data] in {}",
                path.join(EXPERIMENT).display()
            )),
            RunError::Damaged { .. } => Some(FROM_THE_START.into()),
            RunError::OtherData { .. } => {
                Some(format!("bring the old file back; else {FROM_THE_START}"))
            }
            RunError::OtherSettings { .. } => Some(format!(
                "undo the change of {EXPERIMENT}; else {FROM_THE_START}"
            )),
            RunError::OtherNumerics { .. } => Some(format!(
                "use the version that it began with; else {FROM_THE_START}"
            )),
            RunError::NotFound { .. } => None,
        }
    }

    /// Whether nature did it, not the user.
    pub fn is_outcome(&self) -> bool {
        matches!(self, RunError::Diverged { .. })
    }
}

const FROM_THE_START: &str = "remove this file to train the run from its start";

impl Run {
    /// Opens a run's folder or a model file.
    pub fn open(path: &Path) -> Result<Run, Error> {
        let path_of = || path.to_path_buf();
        let file = if path.is_dir() {
            path.join(MODEL)
        } else {
            path_of()
        };
        if !file.exists() {
            let path = path_of();
            return Err(Error::Run(if path.is_dir() {
                RunError::NoModel { path }
            } else {
                RunError::NotFound { path }
            }));
        }
        let reconstruction = Reconstruction::read(&file)?;
        Ok(Run { reconstruction })
    }

    /// What the run in a folder, or that of the model file in it, was trained on, without what was held out; none if
    /// there is no run, or its recording is gone or has changed.
    pub fn training_data(path: &Path) -> Option<Series> {
        let (file, data) = Run::experiment(path)?;
        let (recording, _) = data.read().ok()?;
        // A file that has changed since holds other data.
        let outcome: Value = fs::read_to_string(Run::folder_of(path)?.join(OUTCOME))
            .ok()
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default();
        let known = outcome[DATA].as_str();
        known
            .is_none_or(|known| known == data_fingerprint(&recording))
            .then_some(())?;
        let experiment = Experiment::check(&file.raw).ok()?;
        match experiment.settings().real("held-out") {
            0.0 => Some(recording),
            share => Some(recording.split_by_time(1.0 - share).ok()?.0),
        }
    }

    /// The file that the run in a folder, or that of the model file in it, was trained on; none if there is no run or the
    /// file is gone.
    pub fn recording(path: &Path) -> Option<PathBuf> {
        Some(Run::experiment(path)?.1.path)
    }

    /// Refuses to write a file over a model file, or over one that the run in a folder, or that of the model file in it,
    /// consists of or was trained on.
    pub fn refuse_own(path: &Path, out: &Path) -> Result<(), Error> {
        store::refuse_same(path, out)?;
        let files = Run::folder_of(path).into_iter().flat_map(|folder| {
            [EXPERIMENT, MODEL, LAST, HISTORY, OUTCOME, CHECKPOINT].map(|name| folder.join(name))
        });
        let mut own = files.chain(Run::recording(path));
        match own.any(|file| format::refuse_same(&file, out).is_err()) {
            true => Err(Error::Run(RunError::Own {
                path: out.to_path_buf(),
            })),
            false => Ok(()),
        }
    }

    /// The stored experiment of a run, and its recording.
    fn experiment(path: &Path) -> Option<(ExperimentFile, DataSource)> {
        let folder = Run::folder_of(path)?;
        let config = folder.join(EXPERIMENT);
        let file = ExperimentFile::read(&config).ok()?;
        let data = file.data.clone()?.found_from(&config).ok()?;
        Some((file, data))
    }

    /// The folder of a run, or of the run of a model file in it.
    fn folder_of(path: &Path) -> Option<&Path> {
        match path.file_name() {
            Some(name) if name == MODEL || name == LAST => path.parent(),
            _ => Some(path),
        }
    }
}

impl RunFolder {
    /// A folder that is empty or not there yet; nothing is made.
    pub fn check(path: &Path) -> Result<RunFolder, RunError> {
        let path_of = || path.to_path_buf();
        let unfinished = path.join(EXPERIMENT).exists() && !path.join(OUTCOME).exists();
        // What a process that was killed before it wrote anything left does not count.
        let counts = |file: &fs::DirEntry| !file.file_name().to_string_lossy().starts_with('.');
        let files = fs::read_dir(path).map(|files| files.flatten().filter(counts).count());
        match files {
            Ok(1..) if unfinished => Err(match Lock::take(path) {
                Err(Error::Run(locked @ RunError::Locked { .. })) => locked,
                _ => RunError::Unfinished { path: path_of() },
            }),
            Ok(1..) => Err(RunError::NotEmpty { path: path_of() }),
            Err(_) if path.exists() => Err(RunError::NotFolder { path: path_of() }),
            _ => Ok(RunFolder { path: path_of() }),
        }
    }

    /// Whether a folder holds a run, ended or not.
    pub fn holds_run(path: &Path) -> bool {
        path.join(EXPERIMENT).exists()
    }

    /// Makes the folder, locks it and writes what is to be done.
    pub fn begin(
        self,
        resolved: &Resolved,
        data: &DataSource,
        recording: &Series,
    ) -> Result<OpenRun, Error> {
        training::refuse_unjudged(resolved)?;
        let open = OpenRun::take(&self.path, &resolved.experiment, recording)?;
        open.write_experiment(resolved, data)?;
        Ok(open)
    }
}

impl OpenRun {
    /// Makes the folder if it is not there, and locks it.
    fn take(path: &Path, experiment: &Experiment, recording: &Series) -> Result<OpenRun, Error> {
        fs::create_dir_all(path).map_err(|source| Error::Write {
            path: path.to_path_buf(),
            source,
        })?;
        Ok(OpenRun {
            origin: origin(experiment, recording),
            path: path.to_path_buf(),
            _lock: Lock::take(path)?,
        })
    }

    /// Writes what is to be done.
    fn write_experiment(&self, resolved: &Resolved, data: &DataSource) -> Result<(), Error> {
        let data = data.absolute()?;
        let version = env!("CARGO_PKG_VERSION");
        let settings = resolved.experiment.to_toml(&data);
        self.write(EXPERIMENT, |out| {
            write!(out, "# attractor {version}\n{settings}")
        })
    }

    /// Where it was; `None` if it had not come to its first checkpoint.
    fn checkpoint(&self) -> Result<Option<Checkpoint>, Error> {
        store::remove_parts(&self.path);
        let stored = self.path.join(CHECKPOINT);
        match stored.exists() {
            true => Checkpoint::read(&stored, &self.origin).map(Some),
            false => Ok(None),
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Trains, from a checkpoint or from the start, and stores what comes of it.
    pub fn train(
        &self,
        resolved: &Resolved,
        recording: &Series,
        from: Option<Checkpoint>,
        watch: &mut dyn Watch,
    ) -> Result<Trained, Error> {
        let training = Training {
            resolved,
            recording,
            folder: Some(self),
            watch,
        };
        let from = from.unwrap_or_else(|| training.start());
        let trained = training.run(from)?;
        if !matches!(trained.outcome, Outcome::Stopped(_)) {
            self.end(&trained)?;
        }
        Ok(trained)
    }

    fn store(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        checkpoint.write(&self.path.join(CHECKPOINT), &self.origin)
    }

    /// Writes how it went; the outcome last, since it says that all else is there.
    fn end(&self, trained: &Trained) -> Result<(), Error> {
        trained.reconstruction.write(&self.path.join(MODEL))?;
        if let Some(last) = &trained.last {
            last.write(&self.path.join(LAST))?;
        }
        self.write(HISTORY, |out| write_history(&trained.history, out))?;
        self.write(OUTCOME, |out| writeln!(out, "{:#}", trained.to_json()))?;
        // It is of no use any more, and does no harm if it stays.
        let _ = fs::remove_file(self.path.join(CHECKPOINT));
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

impl EndedRun {
    /// Opens a run; `None` if it has not ended.
    pub fn open(path: &Path) -> Result<Option<EndedRun>, Error> {
        let Ok(text) = fs::read_to_string(path.join(OUTCOME)) else {
            return Ok(None);
        };
        let document: Value = serde_json::from_str(&text).unwrap_or_default();
        let last = path.join(LAST);
        let last = last.exists().then(|| Reconstruction::read(&last));
        Ok(Some(EndedRun {
            last: last.transpose()?,
            reconstruction: Run::open(path)?.reconstruction,
            outcome: word_of(&document),
            alpha: document["alpha"].as_f64().unwrap_or(f64::NAN),
            data: document[DATA].as_str().map(String::from),
        }))
    }

    /// Refuses a run that was trained on another recording.
    fn refuse_other_data(&self, path: &Path, recording: &Series) -> Result<(), RunError> {
        match &self.data {
            Some(data) if *data != data_fingerprint(recording) => Err(RunError::OtherRecording {
                path: path.to_path_buf(),
            }),
            _ => Ok(()),
        }
    }
}

impl Interrupted {
    /// Opens a run that did not end; `threads` takes the place of its number of threads.
    pub fn open(path: &Path, threads: Option<usize>) -> Result<Interrupted, Error> {
        let path_of = || path.to_path_buf();
        if !path.exists() {
            return Err(RunError::NotFound { path: path_of() }.into());
        }
        if !path.join(EXPERIMENT).exists() {
            return Err(RunError::NoExperiment { path: path_of() }.into());
        }
        let lock = Lock::take(path)?;
        if let Some(outcome) = outcome_word(&path.join(OUTCOME)) {
            let path = path_of();
            return Err(RunError::Ended { outcome, path }.into());
        }
        let config = path.join(EXPERIMENT);
        let file = ExperimentFile::read(&config)?;
        let data = file.data.clone().unwrap_or_default();
        let data = data.found_from(&config).map_err(|error| match error {
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
        let (recording, pipeline) = data.read()?;
        let resolved = experiment
            .resolve(&recording)
            .map_err(|error| error.of_file(&data.path))?
            .prepared_by(pipeline);
        let run = OpenRun {
            path: path_of(),
            origin: origin(&resolved.experiment, &recording),
            _lock: lock,
        };
        Ok(Interrupted {
            checkpoint: run.checkpoint()?,
            run,
            resolved,
            recording,
        })
    }
}

/// The word in a run's `outcome.json`, if it is there.
fn outcome_word(path: &Path) -> Option<String> {
    let text = fs::read_to_string(path).ok()?;
    Some(word_of(&serde_json::from_str(&text).unwrap_or_default()))
}

fn word_of(outcome: &Value) -> String {
    let word = outcome["outcome"].as_str();
    word.unwrap_or("unknown").to_string()
}

/// What must be the same when a run is continued.
fn origin(experiment: &Experiment, recording: &Series) -> Origin {
    let mut settings = Fingerprint::new();
    settings.add(experiment.fingerprint().as_bytes());
    Origin {
        data: data_fingerprint(recording),
        settings: settings.text(),
    }
}

/// A text that changes whenever a value of a recording does.
pub(crate) fn data_fingerprint(recording: &Series) -> String {
    let mut data = Fingerprint::new();
    for t in recording.trajectories() {
        for values in [&t.x, &t.s] {
            data.add(&(values.len() as u64).to_le_bytes());
            values.iter().for_each(|v| data.add(&v.to_le_bytes()));
        }
        for gap in &t.gaps {
            data.add(&(gap.row as u64).to_le_bytes());
        }
    }
    data.text()
}

impl Trained {
    /// Trains a model from its random start to the end, without storing anything.
    pub fn from_start(
        resolved: &Resolved,
        recording: &Series,
        watch: &mut dyn Watch,
    ) -> Result<Trained, Error> {
        let training = Training {
            resolved,
            recording,
            folder: None,
            watch,
        };
        let start = training.start();
        training.run(start)
    }

    /// A model at its random start.
    pub(crate) fn untrained(resolved: &Resolved, recording: &Series) -> Reconstruction {
        Reconstruction {
            model: resolved.model(),
            card: card(recording, resolved, "untrained".to_string()),
        }
    }

    /// The word for a training that diverged.
    pub const DIVERGED: &str = "diverged";

    /// How it ended, in one word.
    pub fn word(&self) -> &'static str {
        match self.outcome {
            Outcome::Finished(_) => "finished",
            Outcome::Stopped(_) => "stopped",
            Outcome::Diverged { .. } => Trained::DIVERGED,
        }
    }

    /// The document `outcome.json`.
    pub fn to_json(&self) -> Value {
        let rollbacks = self.rollbacks.iter().map(Rollback::to_json);
        json!({
            "outcome": self.word(),
            "update": self.outcome.state().update,
            "seconds": self.seconds,
            "loss": self.history.last().map(|epoch| epoch.loss),
            "alpha": self.history.last().map(|epoch| epoch.alpha),
            "chosen": self.reconstruction.card.chosen,
            (DATA): self.data,
            "rollbacks": rollbacks.collect::<Vec<_>>(),
        })
    }
}

/// What is known of the data, and of the parameters.
fn card(series: &Series, resolved: &Resolved, chosen: String) -> Card {
    let complete = |row: &&[f64]| row.iter().all(|v| !v.is_nan());
    Card {
        channels: series.channels().to_vec(),
        inputs: series.inputs().to_vec(),
        step: series.step().clone(),
        scaling: resolved.data.scaling.clone(),
        start: series.rows().find(complete).map(<[f64]>::to_vec),
        chosen: Some(chosen),
        prepare: resolved.pipeline.clone(),
    }
}

fn write_history(history: &[Epoch], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "epoch,update,loss,penalty,alpha,lr,gradient_norm,jacobian_norm,alpha_estimate,fallbacks"
    )?;
    for e in history {
        // The forcing acts in f32: as such 0.15 is written as 0.15.
        let alpha = e.alpha as f32;
        write!(
            out,
            "{},{},{},{},{},{},{}",
            e.epoch, e.update, e.loss, e.penalty, alpha, e.rate, e.gradient_norm
        )?;
        match e.norm {
            Some(norm) => writeln!(out, ",{},{},{}", norm.kappa, norm.alpha(), norm.fallbacks)?,
            None => writeln!(out, ",,,")?,
        }
    }
    Ok(())
}
