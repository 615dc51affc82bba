//! The model as the page's script runs it: the tensors of θ by name, the inference of initial states
//! z_1 = P (x_1 − b), and the scaling. All numbers are read back as they are here.

use attractor_core::series::{Channel, Step};
use attractor_core::theta::Tensor;
use serde_json::{Map, Value, json};

use super::numbers::{exact, single};
use crate::model_file::{Reconstruction, observation_name};

/// The part of the document.
pub(super) fn to_json(reconstruction: &Reconstruction) -> Value {
    let Reconstruction { model, card } = reconstruction;
    let architecture = model.architecture();
    let theta = model.theta();
    let tensors = model.layout().tensors().iter();
    let tensors = tensors.map(|Tensor { name, range, .. }| {
        let values = single(&theta[range.clone()]);
        ((*name).to_string(), values)
    });
    json!({
        "model": architecture.info.entry.id,
        "equation": architecture.info.entry.details,
        "latent": architecture.dims.latent,
        "hidden": architecture.dims.hidden,
        "inputs": architecture.dims.inputs,
        "parameters": theta.len(),
        "observation": observation_name(architecture.observation.kind),
        "tensors": Value::Object(tensors.collect::<Map<_, _>>()),
        "initial": exact(model.initial_states().matrix()),
        "mean": exact(&card.scaling.mean),
        "sd": exact(&card.scaling.sd),
        "start": card.start.as_deref().map(exact),
    })
}

/// The names and units of channels.
pub(super) fn channels(channels: &[Channel]) -> Value {
    let one = |c: &Channel| json!({ "name": c.name, "unit": c.unit });
    channels.iter().map(one).collect()
}

/// Time from row to row; `known` is false for data that do not say.
pub(super) fn step(step: &Step) -> Value {
    json!({ "dt": step.dt, "unit": step.unit, "known": *step != Step::default() })
}
