//! The model as the page's script runs it. Of the maps that teacher forcing trains: the tensors of θ by name, the inference of initial
//! states z_1 = P (x_1 − b), and the scaling. Of systems in closed form: their [recipe](attractor_core::dynamics::Recipe), and the scaling. All
//! numbers are read back as they are here. Of other models the page shows orbits that were made here.

use std::collections::BTreeMap;

use attractor_core::dynamics::Recipe;
use attractor_core::series::Step;
use attractor_core::theta::Tensor;
use serde::Serialize;
use serde_json::Value;

use super::numbers::{exact, single};
use crate::model_file::{Reconstruction, observation_name};

/// The part of the document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub(super) enum Live {
    /// A map that teacher forcing trains.
    Map(Box<LiveMap>),
    /// A system in closed form.
    Recipe(Box<LiveRecipe>),
}

/// A system in closed form.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct LiveRecipe {
    model: &'static str,
    parameters: usize,
    inputs: usize,
    recipe: Recipe,
    mean: Value,
    sd: Value,
    start: Option<Value>,
}

/// A map that teacher forcing trains.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct LiveMap {
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
        let map = LiveMap::of(reconstruction).map(|map| Live::Map(Box::new(map)));
        map.or_else(|| Some(Live::Recipe(Box::new(LiveRecipe::of(reconstruction)?))))
    }
}

impl LiveRecipe {
    fn of(reconstruction: &Reconstruction) -> Option<LiveRecipe> {
        let (dynamics, card) = (&reconstruction.dynamics, &reconstruction.card);
        let sizes = dynamics.sizes();
        Some(LiveRecipe {
            model: reconstruction.method.entry.id,
            parameters: sizes.parameters,
            inputs: sizes.inputs,
            recipe: dynamics.recipe()?,
            mean: exact(&card.scaling.mean),
            sd: exact(&card.scaling.sd),
            start: card.start.last().map(|row| exact(row)),
        })
    }
}

impl LiveMap {
    fn of(reconstruction: &Reconstruction) -> Option<LiveMap> {
        let (model, card) = (reconstruction.model()?, &reconstruction.card);
        let architecture = model.architecture();
        let theta = model.theta();
        let tensors = model.layout().tensors().iter();
        Some(LiveMap {
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
