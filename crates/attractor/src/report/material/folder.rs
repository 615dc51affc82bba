//! What stands beside a model in the folder of its run.

use std::fs;
use std::path::{Path, PathBuf};

use attractor_core::train::Epoch;
use serde_json::{Map, Value};

use crate::experiment::{DataSource, Experiment, ExperimentFile};
use crate::report::numbers::{rounded, spread};
use crate::run::write_history;

pub(super) const EXPERIMENT: &str = "experiment.toml";
pub(super) const MODEL: &str = "model.safetensors";
pub(super) const CHECKPOINT: &str = "checkpoint.safetensors";

/// Points of a training curve.
const CURVE: usize = 400;

/// What was asked for.
pub(in crate::report) struct Told {
    /// The file.
    pub(super) path: PathBuf,
    /// What it says, letter by letter.
    pub(super) text: String,
    /// The settings; none if this version does not understand them.
    pub(in crate::report) experiment: Option<Experiment>,
    /// The recording, as the file names it.
    pub(super) data: Option<DataSource>,
}

impl Told {
    /// The experiment of a run; none if there is no such file.
    pub(super) fn read(folder: &Path) -> Option<Told> {
        let path = folder.join(EXPERIMENT);
        let text = fs::read_to_string(&path).ok()?;
        let file = ExperimentFile::parse(&text, &path).unwrap_or_default();
        Some(Told {
            experiment: Experiment::check(&file.raw).ok(),
            data: file.data,
            path,
            text,
        })
    }

    /// The version that trained the run, from the first line.
    pub(super) fn version(&self) -> Option<&str> {
        self.text.lines().next()?.strip_prefix("# attractor ")
    }

    /// The name of the recording's file.
    pub(in crate::report) fn file(&self) -> Option<String> {
        let name = self.data.as_ref()?.path.file_name()?;
        Some(name.to_string_lossy().into_owned())
    }

    /// Predicted steps of a window of the training.
    pub(super) fn window(&self) -> Option<usize> {
        let settings = self.experiment.as_ref()?.settings();
        settings.has("window").then(|| settings.integer("window"))
    }
}

/// The folder of a run, or of the model file in it.
pub(super) fn of(run: &Path) -> Option<PathBuf> {
    match run.file_name() {
        Some(name) if name == MODEL && run.is_file() => run.parent().map(Path::to_path_buf),
        _ => run.is_dir().then(|| run.to_path_buf()),
    }
}

/// A document of the folder; null if it is not there or cannot be understood.
pub(super) fn document(folder: Option<&Path>, name: &str) -> Value {
    let text = folder.and_then(|folder| fs::read_to_string(folder.join(name)).ok());
    text.and_then(|text| serde_json::from_str(&text).ok())
        .unwrap_or_default()
}

/// The columns of `history.csv` by name, thinned; null if there are no rows.
pub(super) fn history(folder: Option<&Path>) -> Value {
    let text = folder.and_then(|folder| fs::read_to_string(folder.join("history.csv")).ok());
    text.map_or(Value::Null, |text| columns(&text))
}

/// The columns of a history in memory.
pub(in crate::report) fn curves(history: &[Epoch]) -> Value {
    let mut text = Vec::new();
    match write_history(history, &mut text) {
        Ok(()) => columns(&String::from_utf8_lossy(&text)),
        Err(_) => Value::Null,
    }
}

fn columns(text: &str) -> Value {
    let mut lines = text.lines();
    let Some(names) = lines.next() else {
        return Value::Null;
    };
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split(',').collect()).collect();
    if rows.is_empty() {
        return Value::Null;
    }
    let shown = spread(rows.len(), CURVE);
    let cell = |row: &Vec<&str>, i: usize| row.get(i).and_then(|text| text.parse().ok());
    let column = |i: usize| -> Value {
        let cells = shown.iter().map(|&row| cell(&rows[row], i));
        cells.map(|v| v.map_or(Value::Null, rounded)).collect()
    };
    let named = names.split(',').enumerate();
    let named = named.map(|(i, name)| (name.to_string(), column(i)));
    Value::Object(named.collect::<Map<_, _>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_history_is_its_columns_and_keeps_its_ends() {
        let found = columns("epoch,loss,kappa\n1,0.5,\n2,NaN,1.25\n");
        let known = json!({ "epoch": [1, 2], "loss": [0.5, null], "kappa": [null, 1.25] });
        assert_eq!(found, known);
        let rows: String = (1..=5000).map(|epoch| format!("{epoch},1\n")).collect();
        let long = columns(&format!("epoch,loss\n{rows}"));
        let epochs = long["epoch"].as_array().unwrap();
        assert_eq!(epochs.len(), CURVE);
        assert_eq!((&epochs[0], &epochs[CURVE - 1]), (&json!(1), &json!(5000)));
        assert_eq!(columns("epoch,loss\n"), Value::Null);
    }
}
