//! An evaluation as JSON, the document that `attractor evaluate --json` and `attractor measure --json` print. Its fields
//! are described in `docs/measures.md`; a field may be added, but none is renamed or removed without a higher `schema`.

use serde_json::{Map, Value, json};

use super::{Evaluation, Floor, Score};

/// Raised when a field is renamed or removed.
const SCHEMA: u32 = 1;

impl Evaluation {
    /// The document: a key a measure, and what else is known. Numbers that do not exist are null.
    pub fn to_json(&self) -> Value {
        let mut document = Map::new();
        document.insert("schema".into(), json!(SCHEMA));
        document.insert("rows".into(), json!(self.rows));
        document.insert("channels".into(), json!(self.channels));
        document.insert("diverged".into(), json!(self.diverged));
        for score in &self.scores {
            document.insert(score.id.into(), self.score(score));
        }
        document.insert("outside".into(), json!(self.outside));
        if let Some(starts) = self.starts {
            document.insert("pe_n".into(), json!(self.pe_steps));
            let starts = json!({ "count": starts.count, "diverged": starts.diverged });
            document.insert("starts".into(), starts);
            document.insert("trained_share".into(), json!(self.trained_share));
        }
        let floor = self.floor.as_ref().map(|floor| match floor {
            Floor::Halves => "halves".to_string(),
            Floor::OtherOrbits(system) => format!("orbits of {system}"),
        });
        document.insert("floor_from".into(), json!(floor));
        document.insert("notes".into(), json!(self.notes));
        Value::Object(document)
    }

    fn score(&self, score: &Score) -> Value {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Value| fields.insert(name.to_string(), value);
        let estimate = score.value.as_ref().ok();
        put("value", json!(estimate.map(|estimate| estimate.value)));
        let level = score.level.as_ref();
        put("floor", json!(level.and_then(|level| level.floor)));
        put("chance", json!(level.and_then(|level| level.chance)));
        if let Some(error) = estimate.and_then(|estimate| estimate.standard_error) {
            put("standard_error", json!(error));
        }
        if let Err(why) = &score.value {
            put("why", json!(why));
        }
        if score.id == "d_stsp_paper" {
            put("dropped", json!(estimate.map(|estimate| estimate.dropped)));
        }
        if score.id == "pe" {
            put("pe_n", json!(self.pe_steps));
        }
        if let Some(over) = score.over_starts {
            put("median", json!(over.median));
            put("worst", json!(over.worst));
        }
        if let Some(details) = &score.valid_time {
            put("median", json!(details.found.median));
            put("time", json!(details.time));
            put("lyapunov_times", json!(details.lyapunov_times));
            put("horizon", json!(details.found.horizon));
            put("still_valid", json!(details.found.censored));
        }
        if let Some(level) = level {
            let surrogates = level.surrogates.iter();
            let surrogates: Map<String, Value> = surrogates
                .map(|(name, value)| ((*name).to_string(), json!(value)))
                .collect();
            put("surrogates", Value::Object(surrogates));
        }
        Value::Object(fields)
    }
}
