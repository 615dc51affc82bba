//! One run as a row of the overview: its state, its settings and its scores, from the small files of its folder.
//!
//! | state | what is found |
//! | --- | --- |
//! | running | a process works in the folder: its claim was written in the last minute |
//! | finished, diverged | `outcome.json` or `scores.json` says so |
//! | interrupted | it has begun, has not ended, and nobody works on it |
//! | waiting | there are no settings yet |
//! | failed | a file cannot be understood |

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use crate::experiment::ExperimentFile;
use crate::run::{Ending, Folder, RunProgress, is_claimed};
use crate::study::{Measured, Scored};

const EXPERIMENT: &str = "experiment.toml";
const SCORES: &str = "scores.json";

/// Settings that do not tell runs apart.
const ASIDE: [&str; 3] = ["seed", "threads", "isa"];

/// What is known of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Row {
    /// The name of its study.
    study: Option<String>,
    seed: Option<u64>,
    /// All settings but the seed, as text.
    pub(super) settings: BTreeMap<String, String>,
    state: State,
    /// Updates made, and in all.
    update: u64,
    updates: u64,
    epoch: u64,
    /// Seconds of training so far.
    seconds: f64,
    loss: Option<f64>,
    alpha: Option<f64>,
    scored: Option<Box<Scored>>,
}

/// How far a run is.
#[derive(Debug, Clone, PartialEq, Default)]
enum State {
    #[default]
    Waiting,
    Running,
    Interrupted,
    Finished,
    Diverged,
    /// With what cannot be understood.
    Failed(String),
}

/// Whether a folder is that of a run.
pub(super) fn is_run(folder: &Path) -> bool {
    [EXPERIMENT, SCORES]
        .iter()
        .any(|name| folder.join(name).exists())
}

impl Row {
    /// Reads what there is.
    pub(super) fn read(folder: &Path) -> Row {
        match Scored::read(folder, Path::new("")) {
            Ok(Some(scored)) => Row::judged(folder, scored),
            Ok(None) => Row::begun(folder),
            Err(error) => Row {
                state: State::Failed(error.to_string()),
                ..Row::begun(folder)
            },
        }
    }

    /// Whether nothing but its end will change it.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.state, State::Finished | State::Diverged)
    }

    /// A run of a study that was judged.
    fn judged(folder: &Path, scored: Scored) -> Row {
        let summary = Folder::new(folder).summary().unwrap_or_default();
        Row {
            study: Some(scored.study.clone()),
            seed: Some(scored.seed),
            settings: BTreeMap::clone(&scored.settings),
            state: match scored.outcome.as_str() {
                "diverged" => State::Diverged,
                _ => State::Finished,
            },
            update: summary.update,
            updates: summary.update,
            epoch: 0,
            seconds: summary.seconds,
            loss: summary.loss,
            alpha: scored.alpha,
            scored: Some(Box::new(scored)),
        }
    }

    /// A run without scores.
    fn begun(folder: &Path) -> Row {
        let path = folder.join(EXPERIMENT);
        let file = fs::read_to_string(&path).ok();
        let file = file.map(|text| ExperimentFile::parse(&text, &path));
        let mut row = match file {
            None => Row::default(),
            Some(Err(error)) => Row {
                state: State::Failed(error.to_string()),
                ..Row::default()
            },
            Some(Ok(file)) => Row {
                state: State::Interrupted,
                ..Row::asked(&file)
            },
        };
        row.advance(folder);
        row
    }

    fn asked(file: &ExperimentFile) -> Row {
        let given = file.raw.given.iter();
        let pairs = given.map(|given| (given.name.clone(), given.text.clone()));
        let mut settings: BTreeMap<String, String> = pairs.collect();
        let seed = settings.get("seed").and_then(|seed| seed.parse().ok());
        ASIDE.iter().for_each(|name| drop(settings.remove(*name)));
        Row {
            seed,
            settings,
            ..Row::default()
        }
    }

    /// Takes in how far the run is, or how it ended.
    fn advance(&mut self, folder: &Path) {
        if let Some(summary) = Folder::new(folder).summary() {
            self.state = match summary.outcome {
                Ending::Diverged => State::Diverged,
                Ending::Unknown => State::Failed("outcome.json cannot be understood".to_string()),
                Ending::Finished | Ending::Stopped => State::Finished,
            };
            (self.update, self.updates) = (summary.update, summary.update);
            (self.loss, self.alpha) = (summary.loss, summary.alpha);
            self.seconds = summary.seconds;
            return;
        }
        if let Some(progress) = RunProgress::read(folder) {
            (self.update, self.updates) = (progress.update, progress.updates);
            (self.epoch, self.seconds) = (progress.epoch, progress.seconds);
            (self.loss, self.alpha) = (Some(progress.loss), Some(progress.alpha));
        }
        if is_claimed(folder) && !matches!(self.state, State::Failed(_)) {
            self.state = State::Running;
        }
    }

    /// Seconds until a running training ends, if the rest takes as long as what is done.
    fn left(&self) -> Option<f64> {
        let is_known = self.state == State::Running && self.update > 0 && self.seconds > 0.0;
        let rest = self.updates.saturating_sub(self.update) as f64;
        is_known.then(|| rest * self.seconds / self.update as f64)
    }

    /// As the page reads it.
    pub(super) fn document(&self) -> Value {
        let (state, why) = match &self.state {
            State::Waiting => ("waiting", None),
            State::Running => ("running", None),
            State::Interrupted => ("interrupted", None),
            State::Finished => ("finished", None),
            State::Diverged => ("diverged", None),
            State::Failed(why) => ("failed", Some(why)),
        };
        let scored = self.scored.as_deref();
        let seconds = Duration::from_secs_f64(self.seconds.clamp(0.0, 1e12));
        json!({
            "study": self.study,
            "seed": self.seed,
            "state": state,
            "why": why,
            "update": self.update,
            "updates": self.updates,
            "epoch": self.epoch,
            "seconds": seconds.as_secs(),
            "left": self.left().map(f64::round),
            "loss": self.loss,
            "alpha": self.alpha,
            "verdict": scored.and_then(|run| run.verdict).map(|word| word.text()),
            "scores": scored.map(scores),
        })
    }
}

/// Value, floor and chance of every measure.
fn scores(scored: &Scored) -> Value {
    let scores = scored.scores.iter();
    let levels = |m: &Measured| json!([m.value, m.floor, m.chance].map(|v| v.map(rounded)));
    let scores = scores.map(|(id, m)| (id.to_string(), levels(m)));
    Value::Object(scores.collect::<Map<_, _>>())
}

/// With six significant digits: more than are shown, and a third of the text.
fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
