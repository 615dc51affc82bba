//! The model as the page's script runs it: the tensors of θ by name, the inference of initial states
//! z_1 = P (x_1 − b), and the scaling. All numbers are read back as they are here. The script knows the maps that teacher forcing
//! trains; of other models the page shows orbits that were made here.

use std::collections::BTreeMap;

use attractor_core::series::Step;
use attractor_core::theta::Tensor;
use serde::Serialize;
use serde_json::Value;

use super::numbers::{exact, single};
use crate::model_file::{Reconstruction, observation_name};

/// The part of the document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Live {
    model: &'static str,
    equation: &'static str,
    latent: usize,
    hidden: usize,
    inputs: usize,
    parameters: usize,
    observation: &'static str,
    tensors: BTreeMap<&'static str, Value>,
    initial: Value,
    mean: Value,
    sd: Value,
    /// The last of the rows that a state is inferred from.
    start: Option<Value>,
}

impl Live {
    /// None of a model that the script does not know.
    pub(super) fn of(reconstruction: &Reconstruction) -> Option<Live> {
        let (model, card) = (reconstruction.model()?, &reconstruction.card);
        let architecture = model.architecture();
        let theta = model.theta();
        let tensors = model.layout().tensors().iter();
        Some(Live {
            model: architecture.info.entry.id,
            equation: architecture.info.entry.details,
            latent: architecture.dims.latent,
            hidden: architecture.dims.hidden,
            inputs: architecture.dims.inputs,
            parameters: theta.len(),
            observation: observation_name(architecture.observation.kind),
            tensors: tensors
                .map(|Tensor { name, range, .. }| (*name, single(&theta[range.clone()])))
                .collect(),
            initial: exact(model.initial_states().matrix()),
            mean: exact(&card.scaling.mean),
            sd: exact(&card.scaling.sd),
            start: card.start.last().map(|row| exact(row)),
        })
    }
}

/// Time from row to row.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct StepDocument {
    dt: f64,
    unit: String,
    /// False for data that do not say.
    known: bool,
}

impl StepDocument {
    pub(super) fn of(step: &Step) -> StepDocument {
        StepDocument {
            dt: step.dt,
            unit: step.unit.clone(),
            known: *step != Step::default(),
        }
    }
}
