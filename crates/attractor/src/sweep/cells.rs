//! What the cells of a study leave to the data: found once for all cells that see the same data.

use std::collections::BTreeMap;

use attractor_core::series::Series;

use crate::Error;
use crate::experiment::{Experiment, acting};
use crate::recording_exponent::Predictability;
use crate::study::{Study, StudyError};

/// The settings that decide what a model sees of a recording.
const OF_DATA: [&str; 3] = ["smooth", "standardize", "held-out"];

/// An interval of forcing that was left to the data.
#[derive(Debug, Clone)]
pub struct FoundInterval {
    /// The folder of the first cell that asked for it.
    pub cell: String,
    /// What was found.
    pub found: Predictability,
    asked: Experiment,
}

/// Settles every cell's experiment for a recording. Cells that are then the same are refused: they would be trained twice.
pub(super) fn resolve(study: &mut Study, recording: &Series) -> Result<Vec<FoundInterval>, Error> {
    let mut intervals: Vec<FoundInterval> = Vec::new();
    let mut trained = BTreeMap::new();
    for i in 0..study.cells.len() {
        let asked = study.cells[i].experiment.clone();
        let known = intervals.iter().find(|known| known.serves(&asked));
        let experiment = match known {
            Some(known) => asked.with("interval", &known.found.rows.to_string()),
            None => asked.clone(),
        };
        let resolved = experiment.resolve(recording).map_err(|error| {
            let error = error.of_file(&study.train.path);
            of_cell(study, i, error.into())
        })?;
        let cell = &mut study.cells[i];
        cell.experiment = resolved.experiment;
        if let Some(first) = trained.insert(acting(&cell.experiment.texts()), cell.folder.clone()) {
            let second = cell.folder.clone();
            return Err(StudyError::SameCells { first, second }.into());
        }
        intervals.extend(resolved.found_interval.map(|found| FoundInterval {
            cell: cell.folder.clone(),
            found,
            asked,
        }));
    }
    Ok(intervals)
}

impl FoundInterval {
    /// Whether an experiment asks for the interval of the same data.
    fn serves(&self, asked: &Experiment) -> bool {
        let same = |name: &&str| asked.settings().get(name) == self.asked.settings().get(name);
        asked.leaves_interval_open() && OF_DATA.iter().all(same)
    }
}

/// Names the cell of an error, where there are several.
fn of_cell(study: &Study, i: usize, error: Error) -> StudyError {
    let error = Box::new(error);
    match study.cells.len() {
        1 => StudyError::Unfit { error },
        _ => StudyError::OfCell {
            cell: study.cells[i].folder.clone(),
            error,
        },
    }
}
