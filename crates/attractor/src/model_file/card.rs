//! What a model file says beside the parameters, as texts under keys:
//!
//! | key | text |
//! | --- | --- |
//! | `channels`, `inputs` | JSON, `[{"name": "x", "unit": "mV"}, …]` |
//! | `step` | JSON, `{"dt": 0.01, "unit": "s"}` |
//! | `scaling` | JSON, `{"mean": […], "sd": […]}`: the model sees (x − mean)/sd |
//! | `start` | JSON, the first rows of the training data, as many as a state is inferred from; one row as a plain list |
//! | `prepare` | steps that data pass before, with `;` between |
//! | `chosen` | which parameters of the training these are, such as `last` |

use std::collections::{BTreeMap, HashMap};

use attractor_core::dynamics::Sizes;
use attractor_core::series::{Channel, Scaling, Step};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::ModelFault;
use crate::pipeline::Pipeline;

/// What is known of the data that a model was fitted to.
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
    /// Rows at the start of the training data, unscaled, as many as a state is inferred from; none if they are not known.
    pub start: Vec<Vec<f64>>,
    /// Which parameters of the training these are, in words.
    pub chosen: Option<String>,
    /// What is done to a recording before it is scaled.
    pub prepare: Pipeline,
}

/// One row, or several.
#[derive(Debug, Serialize, Deserialize)]
#[serde(untagged)]
enum Start {
    One(Vec<f64>),
    Several(Vec<Vec<f64>>),
}

impl Card {
    /// What is assumed of a model that came without: numbered channels, step 1, no scaling.
    pub fn blank(sizes: Sizes) -> Card {
        Card {
            channels: Channel::numbered("x", sizes.channels),
            inputs: Channel::numbered("s", sizes.inputs),
            step: Step::default(),
            scaling: Scaling::identity(sizes.channels),
            start: Vec::new(),
            chosen: None,
            prepare: Pipeline::default(),
        }
    }

    /// The texts.
    pub(super) fn to_texts(&self) -> BTreeMap<&'static str, String> {
        let mut texts = BTreeMap::from([
            ("channels", json!(self.channels).to_string()),
            ("inputs", json!(self.inputs).to_string()),
            ("step", json!(self.step).to_string()),
            ("scaling", json!(self.scaling).to_string()),
        ]);
        match self.start.as_slice() {
            [] => {}
            [row] => drop(texts.insert("start", json!(row).to_string())),
            rows => drop(texts.insert("start", json!(rows).to_string())),
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
        sizes: Sizes,
    ) -> Result<Card, ModelFault> {
        let blank = Card::blank(sizes);
        let (n, k) = (sizes.channels, sizes.inputs);
        let named = |count: usize| format!("{count} times {{\"name\": a text, \"unit\": a text}}");
        let of = |count: usize| move |list: &Vec<Channel>| list.len() == count;
        let card = Card {
            channels: entry(texts, "channels", &named(n), of(n))?.unwrap_or(blank.channels),
            inputs: entry(texts, "inputs", &named(k), of(k))?.unwrap_or(blank.inputs),
            step: entry(
                texts,
                "step",
                "{\"dt\": a number above 0, \"unit\": a text}",
                |step: &Step| step.dt > 0.0,
            )?
            .unwrap_or(blank.step),
            scaling: entry(
                texts,
                "scaling",
                &format!("{{\"mean\": {n} numbers, \"sd\": {n} numbers above 0}}"),
                |scaling: &Scaling| {
                    let lengths = (scaling.mean.len(), scaling.sd.len());
                    lengths == (n, n) && scaling.sd.iter().all(|&sd| sd > 0.0)
                },
            )?
            .unwrap_or(blank.scaling),
            start: start(texts, n)?,
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

/// Rows of n numbers.
fn start(texts: &HashMap<String, String>, n: usize) -> Result<Vec<Vec<f64>>, ModelFault> {
    let fits = |start: &Start| match start {
        Start::One(row) => row.len() == n,
        Start::Several(rows) => !rows.is_empty() && rows.iter().all(|row| row.len() == n),
    };
    let expected = format!("{n} numbers, or rows of {n} numbers");
    Ok(match entry(texts, "start", &expected, fits)? {
        None => Vec::new(),
        Some(Start::One(row)) => vec![row],
        Some(Start::Several(rows)) => rows,
    })
}

/// The value under a key, if there is one and it is sound.
fn entry<T: DeserializeOwned>(
    texts: &HashMap<String, String>,
    key: &'static str,
    expected: &str,
    is_sound: impl FnOnce(&T) -> bool,
) -> Result<Option<T>, ModelFault> {
    let Some(text) = texts.get(key) else {
        return Ok(None);
    };
    let value = serde_json::from_str(text).ok().filter(is_sound);
    let fault = || ModelFault::Metadata {
        key,
        expected: format!("JSON of {expected}"),
    };
    value.map(Some).ok_or_else(fault)
}
