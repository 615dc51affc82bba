//! What there is of a run: its model, what stands beside it in its folder, and its data. Of these only the model must be
//! there; what is missing leaves a note.

mod data;
mod folder;

use std::path::{Path, PathBuf};

use attractor_core::inspect::{Options, inspect};
use attractor_core::settings::Setting;
use serde_json::{Value, json};

use super::numbers::shortened;
use super::signals::Signals;
use super::story;
use super::{FILE, Request};
use crate::anatomy::{CYCLES, SECONDS};
use crate::experiment::{MODEL, settings_of};
use crate::inspection::InspectionDocument;
use crate::model_file::Reconstruction;
use crate::run::{Folder, RunError, Snapshot};
use crate::seen::OTHER_SCALE;
use crate::{Error, shell};

pub(super) use data::Truth;
pub(super) use folder::{Told, curves};

/// All that is known of a run.
pub(super) struct Material {
    /// What the page is called.
    pub(super) name: String,
    /// The model.
    pub(super) reconstruction: Reconstruction,
    /// What was asked for.
    pub(super) told: Option<Told>,
    /// `outcome.json`, null if there is none.
    pub(super) outcome: Value,
    /// `scores.json` of a study, null if there is none.
    pub(super) scored: Value,
    /// The curves of `history.csv`, null if there is none.
    pub(super) history: Value,
    /// The data, or why there are none.
    pub(super) truth: Result<Truth, String>,
}

impl Material {
    /// Opens a run, and its data unless others are given.
    pub(super) fn gather(request: &Request) -> Result<Material, Error> {
        match Folder::new(&request.run).model() {
            Ok(model) => {
                let history = folder::history(folder::of(&request.run).as_deref());
                Material::of_model(request, model, history)
            }
            // A run that has not ended has what its checkpoint has.
            Err(missing @ Error::Run(RunError::NoModel { .. })) => {
                let Ok(snapshot) = Snapshot::read(&request.run) else {
                    return Err(missing);
                };
                let history = curves(&snapshot.history);
                let outcome = json!({ "outcome": "interrupted", "update": snapshot.update });
                let model = snapshot.best.unwrap_or(snapshot.newest);
                let material = Material::of_model(request, model, history)?;
                Ok(Material {
                    outcome,
                    ..material
                })
            }
            Err(other) => Err(other),
        }
    }

    /// What stands beside a model of a run whose training had these curves.
    pub(super) fn of_model(
        request: &Request,
        reconstruction: Reconstruction,
        history: Value,
    ) -> Result<Material, Error> {
        let folder = folder::of(&request.run);
        let told = folder.as_deref().and_then(Told::read);
        let truth = match &request.data {
            Some(source) => data::given(source, &reconstruction)?,
            None => data::remembered(told.as_ref(), &reconstruction),
        };
        let document = |name| folder::document(folder.as_deref(), name);
        Ok(Material {
            name: name(&request.run),
            outcome: document("outcome.json"),
            scored: document("scores.json"),
            history,
            truth,
            told,
            reconstruction,
        })
    }

    /// What the page cannot show, and why.
    pub(super) fn notes(&self, signals: &Signals, judged: &Value) -> Vec<String> {
        let mut notes = Vec::new();
        if let Err(why) = &self.truth {
            notes.push(format!("there are no data to compare with: {why}"));
        }
        if self.told.is_none() {
            notes
                .push("there is no experiment.toml: how the model was trained is not known".into());
        }
        if self.history.is_null() && !story::is_solved(&self.outcome) {
            notes.push("there is no epoch in history.csv: there are no training curves".into());
        }
        if let (Ok(_), Some(why)) = (&self.truth, judged["why"].as_str()) {
            notes.push(format!("there are no scores: {why}"));
        }
        // Of an orbit that diverges the verdict says so once.
        let measures = judged["measures"].as_array();
        let measures = measures.filter(|_| judged["diverged"] != true);
        for measure in measures.into_iter().flatten() {
            if let (Some(name), Some(why)) = (measure["name"].as_str(), measure["why"].as_str()) {
                notes.push(format!("there is no {name}: {why}"));
            }
        }
        let found = judged["notes"].as_array().into_iter().flatten();
        let found = found.filter_map(|note| note.as_str());
        let scale = found.filter(|note| note.starts_with(OTHER_SCALE));
        notes.extend(scale.map(String::from));
        notes.extend(signals.note(&self.reconstruction));
        notes
    }

    /// What a colleague would notice in the data; null without any.
    pub(super) fn findings(&self) -> Value {
        let Ok(truth) = &self.truth else {
            return Value::Null;
        };
        let window = self.told.as_ref().and_then(Told::window);
        let options = window.map_or_else(Options::default, |window| Options { window });
        let inspection = inspect(&truth.recording, options);
        let path = Path::new(&truth.name);
        let mut document = json!(InspectionDocument::new(&inspection, path, None));
        document["role"] = json!(truth.role.words());
        shortened(document)
    }

    /// Every setting: its name, value, meaning, and whether the value is the default.
    pub(super) fn settings(&self) -> Value {
        let Some(experiment) = self.told.as_ref().and_then(|told| told.experiment.as_ref()) else {
            return Value::Null;
        };
        let row = |setting: &Setting| {
            let value = experiment.settings().get(setting.name);
            json!({
                "name": setting.name,
                "value": value.to_string(),
                "about": setting.about,
                "usual": value == setting.default_value(),
            })
        };
        let method = experiment.method();
        let model = json!({
            "name": MODEL.name,
            "value": method.entry.id,
            "about": MODEL.about,
            "usual": method == attractor_core::method::default(),
        });
        let list = settings_of(method).into_iter();
        [model].into_iter().chain(list.map(row)).collect()
    }

    /// How to come to the same again.
    pub(super) fn repeat(&self, request: &Request) -> Value {
        let run = &request.run;
        let mut page = format!("attractor report {}", shell::path(run));
        if let Some(source) = &request.data {
            page += &format!(" --data {}", source.as_typed());
        }
        if let Some(system) = &request.system {
            page += &format!(" {}", shell::flag("system", system));
        }
        if request.seconds != SECONDS {
            page += &format!(" --seconds {}", request.seconds);
        }
        if request.cycles != CYCLES {
            page += &format!(" --cycles {}", request.cycles);
        }
        let config = folder::of(run).map(|folder| folder.join(folder::EXPERIMENT));
        let config = config.filter(|_| self.told.is_some());
        let train = config.map(|config| {
            let config = shell::path(&config);
            format!("attractor train --config {config} --out again")
        });
        let told = self.told.as_ref();
        json!({
            "train": train,
            "report": page,
            "experiment": told.map(|told| &told.text),
            "trained_by": told.and_then(Told::version),
            "seed": told.and_then(|told| Some(told.experiment.as_ref()?.seed())),
        })
    }
}

/// The curves of a training that has ended; null if there are none.
pub(super) fn history(run: &Path) -> Value {
    folder::history(Some(run))
}

/// The file that holds the parameters of a run, ended or not.
pub(super) fn parameters(run: &Path) -> Option<PathBuf> {
    let folder = |name: &str| run.join(name);
    let files = [
        run.to_path_buf(),
        folder(folder::MODEL),
        folder(folder::CHECKPOINT),
    ];
    files.into_iter().find(|file| file.is_file())
}

/// The name of a run: its folder's, with that of the folder above where its own says little.
fn name(run: &Path) -> String {
    let whole = std::path::absolute(run).unwrap_or_else(|_| run.to_path_buf());
    let parts: Vec<String> = (whole.components())
        .map(|part| part.as_os_str().to_string_lossy().into_owned())
        .collect();
    let own = parts.last().cloned().unwrap_or_else(|| FILE.to_string());
    match parts.len().checked_sub(2).map(|i| &parts[i]) {
        Some(above) if own.starts_with("seed-") || own == folder::MODEL => format!("{above}/{own}"),
        _ => own,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_say_little_have_the_folder_above() {
        assert_eq!(name(Path::new("runs/lorenz")), "lorenz");
        assert_eq!(name(Path::new("gtf/seed-01")), "gtf/seed-01");
        assert_eq!(
            name(Path::new("r/model.safetensors")),
            "r/model.safetensors"
        );
    }
}
