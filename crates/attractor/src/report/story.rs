//! What was asked and what came out, in plain words made from settings and scores; and what to cite.

use attractor_core::measure::MEASURES;
use attractor_core::text::{count, figure, grouped};
use serde_json::Value;

use super::material::Material;
use crate::model_file::Reconstruction;
use crate::references::{self, METHODS, PAPER, TOOL};
use crate::run::LAST_CHOSEN;

/// Two paragraphs: the question, then the answer.
pub(super) fn paragraphs(material: &Material, document: &Value) -> Vec<String> {
    let asked = asked(material);
    let ended = ended(&material.outcome);
    let kept = kept(
        material.reconstruction.card.chosen.as_deref(),
        &material.outcome,
    );
    let answers = [
        judged(&document["scores"]),
        forecast(&document["scores"]),
        dynamics(&document["dynamics"], &document["signals"]),
    ];
    let answers: Vec<String> = answers.into_iter().flatten().collect();
    let question = [Some(asked), ended, kept].into_iter().flatten();
    let mut paragraphs = vec![question.collect::<Vec<_>>().join(" ")];
    paragraphs.extend((!answers.is_empty()).then(|| answers.join(" ")));
    paragraphs
}

/// Which model was trained on what, and how.
fn asked(material: &Material) -> String {
    let Reconstruction {
        dynamics, method, ..
    } = &material.reconstruction;
    let sizes = dynamics.sizes();
    let model = format!(
        "{} with {} ({} parameters)",
        method.entry.id,
        dynamics.describe(),
        grouped(sizes.parameters),
    );
    let told = material.told.as_ref();
    let Some(experiment) = told.and_then(|told| told.experiment.as_ref()) else {
        return format!("This is a {model}; how it was trained is not known.");
    };
    let data = told.and_then(|told| told.file());
    format!(
        "A {model} was trained on {}{} {}, with seed {}.",
        count(sizes.channels, "channel"),
        data.map_or(String::new(), |file| format!(" of {file}")),
        (method.story)(experiment.settings()),
        experiment.seed(),
    )
}

/// How training ended; none if nothing says so.
fn ended(outcome: &Value) -> Option<String> {
    let word = outcome["outcome"].as_str()?;
    let updates = grouped(outcome["update"].as_u64()? as usize);
    if word == "diverged" {
        return Some(format!("Training diverged at update {updates}."));
    }
    let loss = outcome["loss"].as_f64();
    let loss = loss.map_or(String::new(), |loss| {
        format!(" with a loss of {}", figure(loss))
    });
    Some(format!("Training {word} after {updates} updates{loss}."))
}

/// Which parameters of the training the model has; none where they are those at its end, or nobody knows.
fn kept(chosen: Option<&str>, outcome: &Value) -> Option<String> {
    let Some(chosen) = chosen.filter(|chosen| *chosen != LAST_CHOSEN) else {
        let diverged = outcome["outcome"] == "diverged";
        return diverged.then(|| "The model is its last finite state.".to_string());
    };
    let short = |word: &str| {
        let bare = word.trim_matches(['(', ')', ',']);
        match bare.parse::<f64>() {
            Ok(number) if bare.contains('.') => word.replace(bare, &figure(number)),
            _ => word.to_string(),
        }
    };
    let words: Vec<String> = chosen.split(' ').map(short).collect();
    let words = words.join(" ");
    Some(match words.strip_prefix("chosen ") {
        Some(how) => format!("Its parameters were chosen {how}."),
        None => format!("Its parameters are the {words}."),
    })
}

/// The paper's scores, each with its floor and chance where they are known.
fn judged(scores: &Value) -> Option<String> {
    let from = scores["from"].as_str()?;
    if scores["diverged"] == true {
        return Some(format!(
            "Judged by {from}, its free orbit diverges: there are no scores."
        ));
    }
    let measures = scores["measures"].as_array()?;
    let paper = ["d_stsp", "d_h", "pe"];
    let said = measures
        .iter()
        .filter(|m| paper.iter().any(|id| m["id"] == *id));
    let said: Vec<String> = said.filter_map(score).collect();
    let rows = grouped(scores["rows"].as_u64()? as usize);
    let verdict = measures
        .iter()
        .find(|m| m["id"] == "d_stsp")
        .and_then(verdict);
    Some(format!(
        "Judged by {rows} rows of {from}: {}.{}",
        said.join(", "),
        verdict.map_or(String::new(), |verdict| format!(" {verdict}"))
    ))
}

fn score(measure: &Value) -> Option<String> {
    let name = measure["name"].as_str()?;
    let value = figure(measure["value"].as_f64()?);
    let level = |key: &str| Some(format!("{key} {}", figure(measure[key].as_f64()?)));
    let levels: Vec<String> = ["floor", "chance"].into_iter().filter_map(level).collect();
    Some(if levels.is_empty() {
        format!("{name} {value}")
    } else {
        format!("{name} {value} ({})", levels.join(", "))
    })
}

/// Where a value lies between floor and chance, in proportion.
fn verdict(measure: &Value) -> Option<&'static str> {
    let number = |key: &str| measure[key].as_f64().filter(|&v| v > 0.0);
    let (value, floor, chance) = (number("value")?, number("floor")?, number("chance")?);
    if chance <= floor {
        return None;
    }
    Some(match (value / floor).ln() / (chance / floor).ln() {
        share if share <= 0.15 => {
            "In state space the model is as near to the data as the data are to themselves."
        }
        share if share <= 0.5 => "In state space the model is nearer to the floor than to chance.",
        share if share < 1.0 => "In state space the model is nearer to chance than to the floor.",
        _ => "In state space the model is no better than a surrogate without dynamics.",
    })
}

fn forecast(scores: &Value) -> Option<String> {
    let measures = scores["measures"].as_array()?;
    let vpt = measures.iter().find(|m| m["id"] == "vpt")?;
    let steps = figure(vpt["value"].as_f64()?);
    let time = vpt["time"]
        .as_f64()
        .map(figure)
        .filter(|time| *time != steps);
    Some(format!(
        "Its forecasts are off by half a standard deviation after {steps} steps on average{}.",
        time.map_or(String::new(), |time| format!(" (a time of {time})"))
    ))
}

fn dynamics(dynamics: &Value, signals: &Value) -> Option<String> {
    let diverged = [signals, dynamics].map(|part| part["diverged_at"].as_u64());
    if let Some(step) = diverged.into_iter().flatten().next() {
        let step = grouped(step as usize);
        return Some(format!(
            "Its free orbit leaves all bounds after {step} steps."
        ));
    }
    let lyapunov = &dynamics["lyapunov"];
    let largest = lyapunov["exponents"][0].as_f64()?;
    let error = lyapunov["standard_errors"][0].as_f64()?;
    let per = lyapunov["per"].as_str()?;
    let per = if per == "time" { "unit of time" } else { per };
    let meaning = match largest {
        v if v > 3.0 * error => "the orbit is chaotic",
        v if v < -3.0 * error => "the orbit settles on a stable point or cycle",
        _ => "the orbit is at the border of chaos, or too short to tell",
    };
    // An orbit that has come to rest has no scatter to speak of.
    let error = if error > 1e-4 * largest.abs() {
        format!(" ± {}", figure(error))
    } else {
        String::new()
    };
    Some(format!(
        "The largest Lyapunov exponent of its free orbit is {}{error} per {per}: {meaning}.",
        figure(largest).replace('-', "−"),
    ))
}

/// The program, its paper, and what the model, the training, the analysis and the measures are from.
pub(super) fn bibtex(reconstruction: &Reconstruction) -> String {
    let used = ["train", "analyze"];
    let methods = METHODS.iter().filter(|(verb, _)| used.contains(verb));
    let methods = methods.flat_map(|(_, keys)| keys.iter().copied());
    let entry = &reconstruction.method.entry;
    let of_model = entry.references.iter().copied();
    let of_measures = MEASURES
        .iter()
        .flat_map(|info| info.entry.references.iter().copied());
    let keys = [PAPER]
        .into_iter()
        .chain(of_model)
        .chain(methods)
        .chain(of_measures);
    let texts = references::of_keys(keys)
        .into_iter()
        .map(|reference| reference.bibtex);
    [TOOL]
        .into_iter()
        .chain(texts)
        .collect::<Vec<_>>()
        .join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Origin, Raw};
    use serde_json::json;

    #[test]
    fn thousands_are_grouped() {
        let texts = [0, 12, 123, 1234, 250_000, 1_000_000].map(grouped);
        assert_eq!(texts, ["0", "12", "123", "1,234", "250,000", "1,000,000"]);
    }

    #[test]
    fn a_verdict_is_where_the_value_lies() {
        let of = |value: f64| {
            let measure = json!({ "value": value, "floor": 0.1, "chance": 10.0 });
            verdict(&measure)
                .unwrap()
                .split(" the model is ")
                .nth(1)
                .unwrap()
        };
        assert!(of(0.05).starts_with("as near"));
        assert!(of(0.5).starts_with("nearer to the floor"));
        assert!(of(5.0).starts_with("nearer to chance"));
        assert!(of(20.0).starts_with("no better"));
        assert_eq!(
            verdict(&json!({ "value": 1.0, "floor": null, "chance": 2.0 })),
            None
        );
    }

    #[test]
    fn what_nature_does_is_told() {
        let lyapunov = |largest: f64| {
            let lyapunov =
                json!({ "exponents": [largest], "standard_errors": [0.05], "per": "time" });
            dynamics(&json!({ "lyapunov": lyapunov }), &Value::Null).unwrap()
        };
        assert!(lyapunov(0.9).ends_with("0.9 ± 0.05 per unit of time: the orbit is chaotic."));
        assert!(lyapunov(-0.9).contains("is −0.9 ± 0.05 per unit of time: the orbit settles"));
        assert!(lyapunov(0.1).contains("too short to tell"));
        let diverged = dynamics(&json!({ "diverged_at": 1234 }), &Value::Null).unwrap();
        assert!(diverged.contains("after 1,234 steps"));
        let scores = json!({ "from": "the data", "rows": 5, "diverged": true, "measures": [] });
        assert!(judged(&scores).unwrap().contains("diverges"));
    }

    #[test]
    fn a_run_without_scores_still_has_a_story() {
        assert_eq!(judged(&json!({ "why": "gone" })), None);
        assert_eq!(forecast(&Value::Null), None);
        assert_eq!(ended(&Value::Null), None);
        let diverged = json!({ "outcome": "diverged", "update": 1000, "loss": null });
        assert!(
            ended(&diverged)
                .unwrap()
                .contains("diverged at update 1,000")
        );
    }

    #[test]
    fn parameters_are_told_where_they_are_not_the_last() {
        let diverged = json!({ "outcome": "diverged" });
        assert_eq!(kept(None, &Value::Null), None);
        assert_eq!(kept(Some(LAST_CHOSEN), &Value::Null), None);
        let told = kept(Some(LAST_CHOSEN), &diverged).unwrap();
        assert_eq!(told, "The model is its last finite state.");
        let best = "best by d_stsp: 1.698527274683443 after epoch 525, average of updates";
        assert_eq!(
            kept(Some(best), &diverged).unwrap(),
            "Its parameters are the best by d_stsp: 1.699 after epoch 525, average of updates."
        );
    }

    #[test]
    fn sparse_forcing_is_told_with_and_without_its_interval() {
        let told = |interval: &str| {
            let mut raw = Raw::default();
            raw.push("forcing", "stf", Origin::Flag);
            raw.push("interval", interval, Origin::Flag);
            let experiment = Experiment::check(&raw).unwrap();
            (experiment.method().story)(experiment.settings())
        };
        assert!(told("1").starts_with("by sparse teacher forcing, every 1 step,"));
        assert!(told("76").starts_with("by sparse teacher forcing, every 76 steps,"));
        assert!(told("auto").contains("predictability time"));
    }
}
