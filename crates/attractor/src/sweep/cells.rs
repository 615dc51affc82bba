//! What the cells of a study leave to the data: found once for all cells that see the same data.

use std::collections::HashMap;
use std::sync::Arc;

use attractor_core::method::Settled;
use attractor_core::settings::AUTO;

use crate::Error;
use crate::experiment::{Experiment, Job, Preparation, acting};
use crate::run::{Recording, Task};
use crate::study::{Study, StudyError};

/// A setting that a cell left to the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The folder of the first cell that asked for it.
    pub cell: String,
    /// What was found.
    pub settled: Settled,
    /// How that cell prepares the data.
    preparation: Preparation,
}

/// Settles every cell's experiment for a recording. Cells that are then the same are refused: they would be trained twice.
pub(super) fn resolve(study: &mut Study, recording: &Arc<Recording>) -> Result<Vec<Found>, Error> {
    let mut found: Vec<Found> = Vec::new();
    let mut trained = HashMap::new();
    for i in 0..study.cells.len() {
        let asked = settled(&study.cells[i].experiment, &found);
        let task =
            Task::new(&asked, recording.clone()).map_err(|error| of_cell(study, i, error))?;
        let cell = &mut study.cells[i];
        let resolved = task.resolved;
        cell.updates = match &resolved.job {
            Job::Train(training) => training.trainer.length().updates(),
            Job::Solve => 1,
        };
        cell.experiment = resolved.experiment;
        if let Some(first) = trained.insert(acting(&cell.experiment.texts()), cell.folder.clone()) {
            let second = cell.folder.clone();
            return Err(StudyError::SameCells { first, second }.into());
        }
        // What costs time has a note; the rest may depend on other settings.
        let noted = resolved
            .settled
            .into_iter()
            .filter(|settled| settled.note.is_some());
        found.extend(noted.map(|settled| Found {
            cell: cell.folder.clone(),
            settled,
            preparation: asked.preparation(),
        }));
    }
    Ok(found)
}

/// An experiment with what is known of the same data.
fn settled(asked: &Experiment, found: &[Found]) -> Experiment {
    let is_open = |name: &str| {
        let settings = asked.settings();
        settings.has(name) && settings.get(name).to_string() == AUTO && asked.acts(name)
    };
    let known = found
        .iter()
        .filter(|found| found.preparation == asked.preparation() && is_open(found.settled.name));
    known.fold(asked.clone(), |experiment, found| {
        experiment.with(found.settled.name, &found.settled.value)
    })
}

/// Names the cell of an error, where there are several.
fn of_cell(study: &Study, i: usize, error: Error) -> StudyError {
    let error = Box::new(error);
    if study.cells.len() == 1 {
        return StudyError::Unfit { error };
    }
    StudyError::OfCell {
        cell: study.cells[i].folder.clone(),
        error,
    }
}
