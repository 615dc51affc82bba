//! A run is a folder:
//!
//! | file | content |
//! | --- | --- |
//! | `experiment.toml` | all settings, resolved, and the recording |
//! | `model.safetensors` | the model: the last state, or the last finite one |
//! | `history.csv` | one row an epoch |
//! | `outcome.json` | how training ended |
//!
//! All but the experiment are written when training ends. A run that diverges has all four as well.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Instant;

use attractor_core::model::Model;
use attractor_core::series::{Scaling, Series};
use attractor_core::train::{Control, Epoch, Outcome, State, Watch, train};
use serde_json::{Value, json};

use crate::experiment::{DataSource, Resolved};
use crate::model_file::{Card, Reconstruction};
use crate::{Error, store};

const EXPERIMENT: &str = "experiment.toml";
const MODEL: &str = "model.safetensors";
const HISTORY: &str = "history.csv";
const OUTCOME: &str = "outcome.json";

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

/// A training that ended.
pub struct Trained {
    /// The model at its end.
    pub reconstruction: Reconstruction,
    /// How it ended, with all that continues it.
    pub outcome: Outcome,
    /// What was known at the end of every epoch.
    pub history: Vec<Epoch>,
    /// How long it took.
    pub seconds: f64,
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
            RunError::NoModel { .. } => {
                Some("a run has a model once its training has ended".into())
            }
            RunError::Diverged { .. } => Some("standardise the data".into()),
            RunError::NotFound { .. } => None,
        }
    }

    /// Whether nature did it, not the user.
    pub fn is_outcome(&self) -> bool {
        matches!(self, RunError::Diverged { .. })
    }
}

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
}

impl RunFolder {
    /// A folder that is empty or not there yet; nothing is made.
    pub fn check(path: &Path) -> Result<RunFolder, RunError> {
        let path_of = || path.to_path_buf();
        match fs::read_dir(path).map(Iterator::count) {
            Ok(1..) => Err(RunError::NotEmpty { path: path_of() }),
            Err(_) if path.exists() => Err(RunError::NotFolder { path: path_of() }),
            _ => Ok(RunFolder { path: path_of() }),
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Makes the folder and writes what is to be done.
    pub fn begin(&self, resolved: &Resolved, data: &DataSource) -> Result<(), Error> {
        fs::create_dir_all(&self.path).map_err(|source| Error::Write {
            path: self.path.clone(),
            source,
        })?;
        let version = env!("CARGO_PKG_VERSION");
        let data = data.absolute().map_err(|source| Error::Write {
            path: self.path.clone(),
            source,
        })?;
        let settings = resolved.experiment.to_toml(&data);
        self.write(EXPERIMENT, |out| {
            write!(out, "# attractor {version}\n{settings}")
        })
    }

    /// Writes how it went.
    pub fn end(&self, trained: &Trained) -> Result<(), Error> {
        trained.reconstruction.write(&self.path.join(MODEL))?;
        self.write(HISTORY, |out| write_history(&trained.history, out))?;
        self.write(OUTCOME, |out| writeln!(out, "{:#}", trained.to_json()))
    }

    fn write(
        &self,
        name: &str,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Error> {
        store::write_whole(&self.path.join(name), fill)
    }
}

impl Trained {
    /// Trains a model from its random start to the end.
    pub fn from_start(resolved: &Resolved, series: &Series, watch: &mut dyn Watch) -> Trained {
        let from = State::new(&resolved.model(series), &resolved.plan);
        Trained::from_state(resolved, series, from, watch)
    }

    /// Trains on from a state.
    pub fn from_state(
        resolved: &Resolved,
        series: &Series,
        from: State,
        watch: &mut dyn Watch,
    ) -> Trained {
        let mut history = Vec::new();
        let mut record = |epoch: &Epoch, state: &State| -> Control {
            history.push(*epoch);
            watch.epoch(epoch, state)
        };
        let begun = Instant::now();
        let outcome = train(
            &resolved.plan,
            &resolved.windows,
            &resolved.architecture,
            from,
            &mut record,
        );
        Trained {
            reconstruction: Reconstruction {
                model: Model::new(resolved.architecture, outcome.state().theta.clone()),
                card: card(series),
            },
            seconds: begun.elapsed().as_secs_f64(),
            outcome,
            history,
        }
    }

    /// How it ended, in one word.
    pub fn word(&self) -> &'static str {
        match self.outcome {
            Outcome::Finished(_) => "finished",
            Outcome::Stopped(_) => "stopped",
            Outcome::Diverged { .. } => "diverged",
        }
    }

    /// The document `outcome.json`.
    pub fn to_json(&self) -> Value {
        json!({
            "outcome": self.word(),
            "update": self.outcome.state().update,
            "seconds": self.seconds,
            "loss": self.history.last().map(|epoch| epoch.loss),
        })
    }
}

/// What is known of the data.
fn card(series: &Series) -> Card {
    let first = &series.trajectories()[0];
    Card {
        channels: series.channels().to_vec(),
        inputs: series.inputs().to_vec(),
        step: series.step().clone(),
        scaling: Scaling::identity(series.dim_obs()),
        start: Some(first.x[..series.dim_obs()].to_vec()),
    }
}

fn write_history(history: &[Epoch], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "epoch,update,loss,penalty,alpha,lr,gradient_norm")?;
    for e in history {
        // The forcing acts in f32: as such 0.15 is written as 0.15.
        let alpha = e.alpha as f32;
        writeln!(
            out,
            "{},{},{},{},{},{},{}",
            e.epoch, e.update, e.loss, e.penalty, alpha, e.rate, e.gradient_norm
        )?;
    }
    Ok(())
}
