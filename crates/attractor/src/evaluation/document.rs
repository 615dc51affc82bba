//! An evaluation as a document, as `attractor evaluate --json` and `attractor measure --json` print it. Its fields are described in
//! `docs/measures.md`; a field may be added, but none is renamed or removed without a higher `schema`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::{Evaluation, Floor, Score};
use crate::verdict::Verdict;

/// Raised when a field is renamed or removed.
const SCHEMA: u32 = 1;

/// The document: one key per measure, and what else is known. Numbers that do not exist are null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct EvaluationDocument {
    schema: u32,
    #[serde(flatten)]
    model: Option<SizesDocument>,
    rows: usize,
    channels: usize,
    diverged: bool,
    #[serde(flatten)]
    scores: BTreeMap<&'static str, ScoreDocument>,
    outside: Option<f64>,
    period: Option<f64>,
    #[serde(flatten)]
    of_model: Option<OfModel>,
    floor_from: Option<String>,
    verdict: Verdict,
    notes: Vec<String>,
}

/// Which model it is.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct SizesDocument {
    model: &'static str,
    dim: usize,
    parameters: usize,
}

/// What only a model has.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct OfModel {
    pe_n: usize,
    starts: StartsDocument,
    lyapunov: Option<LyapunovDocument>,
    lyapunov_estimates: Option<EstimatesDocument>,
    trained_share: Option<f64>,
    chosen_share: Option<f64>,
}

/// The largest exponent per unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct LyapunovDocument {
    value: f64,
    standard_error: f64,
    system: f64,
}

/// The largest exponent per unit of time, estimated from recordings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct EstimatesDocument {
    model: f64,
    model_error: f64,
    data: f64,
    data_error: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct StartsDocument {
    count: usize,
    diverged: usize,
}

/// One score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ScoreDocument {
    value: Option<f64>,
    floor: Option<f64>,
    chance: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dropped: Option<Option<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pe_n: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    median: Option<Option<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    worst: Option<Option<f64>>,
    #[serde(flatten)]
    valid_time: Option<ValidTimeDocument>,
    #[serde(skip_serializing_if = "Option::is_none")]
    surrogates: Option<BTreeMap<&'static str, Option<f64>>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct ValidTimeDocument {
    time: f64,
    lyapunov_times: Option<f64>,
    horizon: usize,
    still_valid: usize,
    at_least: bool,
}

impl Evaluation {
    /// The document.
    pub fn document(&self) -> EvaluationDocument {
        let scores = self.scores.iter();
        EvaluationDocument {
            schema: SCHEMA,
            model: self.model.as_ref().map(|model| SizesDocument {
                model: model.id,
                dim: model.dim,
                parameters: model.parameters,
            }),
            rows: self.rows,
            channels: self.channels,
            diverged: self.diverged,
            scores: scores.map(|score| (score.id, self.score(score))).collect(),
            outside: self.outside,
            period: self.period,
            of_model: self.starts.map(|starts| OfModel {
                pe_n: self.pe_steps,
                starts: StartsDocument {
                    count: starts.count,
                    diverged: starts.diverged,
                },
                lyapunov: self.exponents.map(|found| LyapunovDocument {
                    value: found.model,
                    standard_error: found.error,
                    system: found.truth,
                }),
                lyapunov_estimates: self.estimates.map(|found| EstimatesDocument {
                    model: found.model.0,
                    model_error: found.model.1,
                    data: found.data.0,
                    data_error: found.data.1,
                }),
                trained_share: self.trained_share,
                chosen_share: self.chosen_share,
            }),
            floor_from: self.floor.as_ref().map(|floor| match floor {
                Floor::Halves => "halves".to_string(),
                Floor::OtherOrbits(system) => format!("orbits of {system}"),
            }),
            verdict: self.verdict(),
            notes: self.notes.clone(),
        }
    }

    fn score(&self, score: &Score) -> ScoreDocument {
        let estimate = score.value.as_ref().ok();
        let level = score.level.as_ref();
        let over = score.over_starts.as_ref();
        let details = score.valid_time.as_ref();
        ScoreDocument {
            value: estimate.map(|estimate| estimate.value),
            floor: level.and_then(|level| level.floor),
            chance: level.and_then(|level| level.chance),
            standard_error: estimate.and_then(|estimate| estimate.standard_error),
            why: score.value.as_ref().err().cloned(),
            dropped: (score.id == "d_stsp_paper").then(|| estimate.map(|e| e.dropped)),
            pe_n: (score.id == "pe").then_some(self.pe_steps),
            median: details
                .map(|details| Some(details.found.median))
                .or(over.map(|over| over.median)),
            worst: over.map(|over| over.worst),
            valid_time: details.map(|details| ValidTimeDocument {
                time: details.time,
                lyapunov_times: details.lyapunov_times,
                horizon: details.found.horizon,
                still_valid: details.found.censored,
                at_least: details.found.is_lower_bound(),
            }),
            surrogates: level.map(|level| level.surrogates.iter().copied().collect()),
        }
    }
}
