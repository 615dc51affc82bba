//! A run as it is now, for a page that follows it: its data, its newest model and the curves of its training.

use std::path::Path;

use serde_json::{Value, json};

use super::Request;
use super::live::{Live, StepDocument};
use super::material::{self, Material};
use super::signals::Signals;
use crate::Error;
use crate::run::Snapshot;

/// A run as it is now.
pub(crate) struct Glance {
    material: Material,
    /// Epochs and updates of a training that has not ended.
    done: Option<(u64, u64)>,
}

impl Glance {
    /// Looks at a run, of which there is a snapshot if it has not ended.
    pub(crate) fn of(run: &Path, snapshot: Option<Snapshot>) -> Result<Glance, Error> {
        let request = Request::of(run);
        let done = snapshot
            .as_ref()
            .map(|snapshot| (snapshot.epoch, snapshot.update));
        let material = match snapshot {
            Some(snapshot) => Material::of_model(
                &request,
                snapshot.newest,
                material::curves(&snapshot.history),
            )?,
            None => Material::gather(&request)?,
        };
        Ok(Glance { material, done })
    }

    /// As the page reads it.
    pub(crate) fn document(&self) -> Value {
        let Material { reconstruction, .. } = &self.material;
        let signals = Signals::of(&self.material);
        json!({
            "channels": reconstruction.card.channels,
            "step": StepDocument::of(&reconstruction.card.step),
            "signals": signals.to_json(&self.material),
            "live": Live::of(reconstruction),
            "epoch": self.done.map(|(epoch, _)| epoch),
            "update": self.done.map(|(_, update)| update),
        })
    }
}

/// The model of a snapshot as a page runs it.
pub(crate) fn newest(snapshot: &Snapshot) -> Value {
    json!({
        "live": Live::of(&snapshot.newest),
        "epoch": snapshot.epoch,
        "update": snapshot.update,
    })
}

/// The curves of a training, ended or not; null if there is no epoch yet.
pub(crate) fn training_curves(run: &Path) -> Value {
    match material::history(run) {
        Value::Null => material::curves(&crate::run::Checkpoint::history_in(run)),
        curves => curves,
    }
}
