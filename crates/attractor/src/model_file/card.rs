//! What a model file says beside the parameters, as texts under keys:
//!
//! | key | text |
//! | --- | --- |
//! | `channels`, `inputs` | JSON, `[{"name": "x", "unit": "mV"}, …]` |
//! | `step` | JSON, `{"dt": 0.01, "unit": "s"}` |
//! | `scaling` | JSON, `{"mean": […], "sd": […]}`: the model sees (x − mean)/sd |
//! | `start` | JSON, the first row of the training data |
//! | `prepare` | steps that data pass before, with `;` between |
//! | `chosen` | which parameters of the training these are, such as `last` |

use std::collections::{BTreeMap, HashMap};

use attractor_core::model::Architecture;
use attractor_core::series::{Channel, Scaling, Step};
use serde_json::{Value, json};

use super::ModelFault;
use crate::pipeline::Pipeline;

/// What is known of the data that a model was trained on.
#[derive(Debug, Clone, PartialEq)]
pub struct Card {
    /// The channels.
    pub channels: Vec<Channel>,
    /// The external inputs.
    pub inputs: Vec<Channel>,
    /// The sampling step.
    pub step: Step,
    /// How data are scaled before the model sees them.
    pub scaling: Scaling,
    /// The first row of the training data, unscaled.
    pub start: Option<Vec<f64>>,
    /// Which parameters of the training these are, in words.
    pub chosen: Option<String>,
    /// What is done to a recording before it is scaled.
    pub prepare: Pipeline,
}

impl Card {
    /// What is assumed of a model that came without: numbered channels, step 1, no scaling.
    pub fn blank(architecture: &Architecture) -> Card {
        let dim_obs = architecture.observation.dim_obs;
        Card {
            channels: Channel::numbered("x", dim_obs),
            inputs: Channel::numbered("s", architecture.dims.inputs),
            step: Step::default(),
            scaling: Scaling::identity(dim_obs),
            start: None,
            chosen: None,
            prepare: Pipeline::default(),
        }
    }

    /// The texts.
    pub(super) fn to_texts(&self) -> BTreeMap<&'static str, String> {
        let channels = |list: &[Channel]| {
            let one = |c: &Channel| json!({ "name": c.name, "unit": c.unit });
            Value::Array(list.iter().map(one).collect()).to_string()
        };
        let mut texts = BTreeMap::from([
            ("channels", channels(&self.channels)),
            ("inputs", channels(&self.inputs)),
            (
                "step",
                json!({ "dt": self.step.dt, "unit": self.step.unit }).to_string(),
            ),
            (
                "scaling",
                json!({ "mean": self.scaling.mean, "sd": self.scaling.sd }).to_string(),
            ),
        ]);
        if let Some(start) = &self.start {
            texts.insert("start", json!(start).to_string());
        }
        if let Some(chosen) = &self.chosen {
            texts.insert("chosen", chosen.clone());
        }
        if !self.prepare.is_empty() {
            texts.insert("prepare", self.prepare.to_string());
        }
        texts
    }

    /// The card of a file; what it does not say stays blank.
    pub(super) fn from_texts(
        texts: &HashMap<String, String>,
        architecture: &Architecture,
    ) -> Result<Card, ModelFault> {
        let blank = Card::blank(architecture);
        let (n, k) = (blank.channels.len(), blank.inputs.len());
        let card = Card {
            channels: entry(texts, "channels", &named(n), |v| channels(v, n))?
                .unwrap_or(blank.channels),
            inputs: entry(texts, "inputs", &named(k), |v| channels(v, k))?.unwrap_or(blank.inputs),
            step: entry(
                texts,
                "step",
                "{\"dt\": a number above 0, \"unit\": a text}",
                step,
            )?
            .unwrap_or(blank.step),
            scaling: entry(
                texts,
                "scaling",
                &format!("{{\"mean\": {n} numbers, \"sd\": {n} numbers above 0}}"),
                |v| scaling(v, n),
            )?
            .unwrap_or(blank.scaling),
            start: entry(texts, "start", &format!("{n} numbers"), |v| numbers(v, n))?,
            chosen: texts.get("chosen").cloned(),
            prepare: pipeline(texts.get("prepare"))?,
        };
        card.refuse_twins()
    }

    /// Names must differ, or what is generated could not be written.
    fn refuse_twins(self) -> Result<Card, ModelFault> {
        let names: Vec<&str> = self
            .channels
            .iter()
            .chain(&self.inputs)
            .map(|c| c.name.as_str())
            .collect();
        if (1..names.len()).any(|i| names[..i].contains(&names[i])) {
            return Err(ModelFault::Metadata {
                key: "channels",
                expected: "names that differ, also from those of the inputs".into(),
            });
        }
        Ok(self)
    }
}

fn pipeline(text: Option<&String>) -> Result<Pipeline, ModelFault> {
    let parsed = text.map_or(Ok(Pipeline::default()), |text| text.parse());
    parsed.map_err(|_| ModelFault::Metadata {
        key: "prepare",
        expected: "steps such as `smooth gaussian:6; detrend`".into(),
    })
}

/// The value under a key, if there is one.
fn entry<T>(
    texts: &HashMap<String, String>,
    key: &'static str,
    expected: &str,
    understand: impl FnOnce(&Value) -> Option<T>,
) -> Result<Option<T>, ModelFault> {
    let Some(text) = texts.get(key) else {
        return Ok(None);
    };
    let value = serde_json::from_str(text).ok();
    match value.as_ref().and_then(understand) {
        Some(understood) => Ok(Some(understood)),
        None => Err(ModelFault::Metadata {
            key,
            expected: format!("JSON of {expected}"),
        }),
    }
}

fn named(count: usize) -> String {
    format!("{count} times {{\"name\": a text, \"unit\": a text}}")
}

fn channels(value: &Value, count: usize) -> Option<Vec<Channel>> {
    let one = |v: &Value| {
        Some(Channel {
            name: v.get("name")?.as_str()?.to_string(),
            unit: v.get("unit")?.as_str()?.to_string(),
        })
    };
    let list = value.as_array().filter(|list| list.len() == count)?;
    list.iter().map(one).collect()
}

fn step(value: &Value) -> Option<Step> {
    let dt = value.get("dt")?.as_f64().filter(|&dt| dt > 0.0)?;
    let unit = value.get("unit")?.as_str()?.to_string();
    Some(Step { dt, unit })
}

fn scaling(value: &Value, count: usize) -> Option<Scaling> {
    let mean = numbers(value.get("mean")?, count)?;
    let sd = numbers(value.get("sd")?, count)?;
    sd.iter()
        .all(|&sd| sd > 0.0)
        .then_some(Scaling { mean, sd })
}

fn numbers(value: &Value, count: usize) -> Option<Vec<f64>> {
    let list = value.as_array().filter(|list| list.len() == count)?;
    list.iter().map(Value::as_f64).collect()
}
