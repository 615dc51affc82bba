//! The scores on the page: those of the data that are given; else those that a study stored beside the model; else those
//! of the data that the run remembers.

use attractor_core::measure::{Better, MEASURES, MeasureInfo};
use attractor_core::progress::Follow;
use serde_json::{Value, json};

use super::Request;
use super::material::Material;
use super::numbers::shortened;
use crate::Error;
use crate::evaluation::{self, Cache, EvaluationError, Origin, evaluate};

/// The part of the document: where scores are from, then one row per measure; `why` if there are none.
pub(super) fn judged(
    material: &Material,
    request: &Request,
    follow: &mut dyn Follow,
) -> Result<Value, Error> {
    let stored = &material.scored["evaluation"];
    if request.data.is_none() && stored.is_object() {
        let from = "the test data of the study that the run is part of";
        return Ok(shortened(rows(stored, from)));
    }
    let truth = match &material.truth {
        Ok(truth) => truth,
        Err(why) => return Ok(json!({ "why": why })),
    };
    let folder = request.run.is_dir().then_some(request.run.as_path());
    let asked = evaluation::Request {
        system: request.system.clone(),
        other_starts: 7,
        ..evaluation::Request::default()
    };
    let model = &material.reconstruction;
    let origin = Origin::of(model, &request.run);
    let cache = Cache::of_user(folder);
    match evaluate(model, &truth.seen, &origin, &asked, &cache, follow) {
        Ok(evaluation) => {
            let document = json!(evaluation.document());
            Ok(shortened(rows(&document, truth.role.words())))
        }
        Err(EvaluationError::Stopped(stopped)) => Err(stopped.into()),
        Err(error) => Ok(json!({ "why": error.to_string() })),
    }
}

/// An evaluation's document in the order of the list of measures.
fn rows(evaluation: &Value, from: &str) -> Value {
    let rows = MEASURES.iter().filter_map(|info| row(info, evaluation));
    json!({
        "from": from,
        "rows": evaluation["rows"],
        "diverged": evaluation["diverged"],
        "outside": evaluation["outside"],
        "starts": evaluation["starts"],
        "floor_from": evaluation["floor_from"],
        "notes": evaluation["notes"],
        "verdict": evaluation["verdict"],
        "period": evaluation["period"],
        "lyapunov": evaluation["lyapunov"],
        "lyapunov_estimates": evaluation["lyapunov_estimates"],
        "measures": rows.collect::<Vec<_>>(),
    })
}

fn row(info: &MeasureInfo, evaluation: &Value) -> Option<Value> {
    let id = info.entry.id;
    let score = evaluation.get(id)?;
    let name = match id {
        "pe" => format!("PE({})", score["pe_n"]),
        id => name(id).to_string(),
    };
    let mut row = json!({
        "id": id,
        "name": name,
        "about": info.entry.summary,
        "better": match info.better {
            Better::Lower => "lower",
            Better::Higher => "higher",
        },
    });
    let known = [
        "value",
        "floor",
        "chance",
        "standard_error",
        "median",
        "worst",
    ];
    let more = ["time", "lyapunov_times", "horizon", "at_least", "why"];
    for key in known.into_iter().chain(more) {
        row[key] = score[key].clone();
    }
    Some(row)
}

/// A measure as papers write it.
fn name(id: &str) -> &str {
    match id {
        "d_stsp" => "D_stsp",
        "d_stsp_paper" => "D_stsp (f32)",
        "d_h" => "D_H",
        "vpt" => "VPT",
        "wasserstein" => "Wasserstein",
        "mmd" => "MMD",
        "correlation_dimension" => "correlation dimension",
        id => id,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_that_were_not_scored_have_no_row() {
        let evaluation = json!({
            "rows": 10, "d_stsp": { "value": 0.5, "floor": 0.25, "chance": 4.0 },
            "pe": { "value": null, "why": "forecasts diverge", "pe_n": 20 },
        });
        let found = rows(&evaluation, "test");
        let measures = found["measures"].as_array().unwrap();
        assert_eq!(measures.len(), 2);
        assert_eq!(
            (&measures[0]["name"], &measures[0]["floor"]),
            (&json!("D_stsp"), &json!(0.25))
        );
        assert_eq!(measures[1]["name"], "PE(20)");
        assert_eq!(measures[1]["why"], "forecasts diverge");
    }
}
