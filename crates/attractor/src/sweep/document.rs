//! What a sweep gave as a document, as `attractor sweep --json` prints it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::Serialize;

use super::Ended;
use crate::study::Scored;

/// The document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SweepDocument {
    done: usize,
    failed: Vec<FailedDocument>,
    left: usize,
    runs: Vec<RunDocument>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct FailedDocument {
    error: String,
    folder: PathBuf,
}

/// A run; a score is null where there is none.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct RunDocument {
    alpha: Option<f64>,
    folder: PathBuf,
    name: Option<String>,
    outcome: String,
    scores: BTreeMap<&'static str, Option<f64>>,
    seed: u64,
}

impl Ended {
    /// The document.
    pub fn document(&self) -> SweepDocument {
        let failed = self.failed.iter().map(|(folder, error)| FailedDocument {
            error: error.to_string(),
            folder: folder.clone(),
        });
        SweepDocument {
            done: self.scored.len(),
            failed: failed.collect(),
            left: self.left,
            runs: self.scored.iter().map(run).collect(),
        }
    }
}

fn run(scored: &Scored) -> RunDocument {
    let values = scored.scores.iter();
    RunDocument {
        alpha: scored.alpha,
        folder: scored.folder.clone(),
        name: scored.name.clone(),
        outcome: scored.outcome.clone(),
        scores: values.map(|(id, score)| (*id, score.value)).collect(),
        seed: scored.seed,
    }
}
