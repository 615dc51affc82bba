//! The largest Lyapunov exponent that the model's is shown beside: that of the system where it is known. Else Rosenstein's method estimates it
//! from the first channel of the data, and in the same way from that of the model's free orbit: such estimates are biased, the two alike.

use attractor_core::progress::Unwatched;
use attractor_core::series::{Channel, Series, Trajectory};
use serde_json::{Value, json};

use super::Request;
use super::material::Material;
use super::signals::Signals;
use crate::anatomy;
use crate::recording_exponent::{self, of_recording};

/// Rows that it is estimated from, at most, as in an evaluation.
const ROWS: usize = crate::evaluation::ROWS;

/// The part of the document: value, error and where it is from; `why` if there is none.
pub(super) fn beside(
    material: &Material,
    signals: &Signals,
    judged: &Value,
    request: &Request,
) -> Value {
    if let Some(system) = judged["lyapunov"]["system"].as_f64() {
        return json!({ "value": system, "from": "system" });
    }
    let known = &judged["lyapunov_estimates"];
    if known.is_object() {
        return json!({
            "value": known["data"],
            "error": known["data_error"],
            "from": "data",
            "model": known["model"],
            "model_error": known["model_error"],
        });
    }
    if let Err(why) = &material.truth {
        return json!({ "why": why });
    }
    let [data, model] = signals
        .first_channels(ROWS)
        .map(|x| estimate(material, x, request.threads));
    match data {
        Ok((value, error)) => {
            let (model, model_error) = model.unwrap_or_default();
            json!({
                "value": value,
                "error": error,
                "from": "data",
                "model": model,
                "model_error": model_error,
            })
        }
        Err(why) => json!({ "why": why }),
    }
}

/// An exponent in the units of the model's with its error, where there is one.
fn estimate(
    material: &Material,
    x: Vec<f64>,
    threads: usize,
) -> Result<(Option<f64>, Option<f64>), String> {
    let card = &material.reconstruction.card;
    let channel = Channel::named("x");
    let trajectory = Trajectory::new(x);
    let series = Series::new(
        vec![channel],
        Vec::new(),
        card.step.clone(),
        vec![trajectory],
    );
    let series = series.map_err(|error| error.to_string())?;
    let asked = recording_exponent::Request {
        threads,
        ..recording_exponent::Request::default()
    };
    let found = of_recording(&series, &asked, &mut Unwatched).map_err(|error| error.to_string())?;
    Ok(found.exponent.per_time(anatomy::per(&card.step).0))
}
