//! Studies of data in memory, and their tables.

use std::path::PathBuf;

use attractor::experiment::threads;
use attractor::study::{Scored, Sketch, index};
use attractor::table::{Beside, Table};
use pyo3::prelude::*;

use crate::error::{self, Told};
use crate::series::Recorded;
use crate::work::{Work, quick};

/// Names and values as texts.
type Pairs = Vec<(String, String)>;

/// What a study is: name, seeds, preset, settings, grid, list, evaluation, and parameters of the system.
type Given = (
    Option<String>,
    Vec<u64>,
    Option<String>,
    Pairs,
    Vec<(String, Vec<String>)>,
    Vec<Pairs>,
    Pairs,
    Pairs,
);

/// Trains and judges all runs of a study in a folder, as far as that has not been done; gives back how many are done and left, and
/// what kept others from going on.
#[pyfunction]
pub(crate) fn sweep(
    folder: PathBuf,
    train: &Recorded,
    test: Option<&Recorded>,
    study: Given,
    workers: usize,
) -> Work {
    let train = train.recording.clone();
    let test = test.map(|test| test.recording.clone());
    let (name, seeds, preset, settings, grid, list, evaluation, system_set) = study;
    let sketch = Sketch {
        name,
        seeds,
        preset,
        settings,
        grid,
        list,
        evaluation,
        system_set,
    };
    Work::begin(
        move |listener| {
            let sweep = sketch.prepare(&folder, &train, test.as_deref())?;
            let done = sweep
                .jobs()
                .iter()
                .filter(|job| job.scored.is_some())
                .count();
            listener.expect_runs(done as u64, sweep.jobs().len() as u64);
            let ended = sweep.run(threads(workers), listener)?;
            let failed = ended.failed.iter();
            let failed = failed.map(|(folder, failure)| (folder.clone(), error::told(failure)));
            let failed: Vec<(PathBuf, Told)> = failed.collect();
            Ok((ended.scored.len(), ended.left, failed))
        },
        |py, ended| Ok(ended.into_pyobject(py)?.into_any().unbind()),
    )
}

/// A run: its folder, its seed, its scores by the names of their measures.
type RunScores = (PathBuf, u64, Vec<(&'static str, f64)>);

/// The table of the runs in a folder: a document as JSON, and the scores of every run.
#[pyfunction]
pub(crate) fn table(
    py: Python<'_>,
    folder: PathBuf,
    by: Vec<String>,
) -> PyResult<(String, Vec<RunScores>)> {
    quick(py, || {
        let runs = index(&folder)?;
        let table = Table::new(&runs, &by, Beside::Nothing)?;
        let document =
            serde_json::to_string(&table.document()).expect("a document has texts for keys");
        let scores = |run: &Scored| {
            let ids = run.scores.keys();
            let scores = ids.map(|id| (*id, run.value(id).unwrap_or(f64::NAN)));
            (run.folder.clone(), run.seed, scores.collect())
        };
        Ok((document, runs.iter().map(scores).collect()))
    })
}
