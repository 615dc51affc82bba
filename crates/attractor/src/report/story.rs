//! What was asked and what came out, in plain words made from settings and scores; the verdict on it; and what to cite.

use attractor_core::measure::MEASURES;
use attractor_core::text::{count, figure, grouped, grouped_count, measure};
use serde_json::Value;

use super::material::Material;
use crate::model_file::Reconstruction;
use crate::references::{self, METHODS, PAPER, TOOL};
use crate::run::{LAST_CHOSEN, SOLVED};
use crate::verdict::Word;

/// The question, then the answer, a paragraph each.
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
        dynamics(&document["dynamics"], document),
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
        "{} with {} ({})",
        method.entry.id,
        dynamics.describe(),
        grouped_count(sizes.parameters, "parameter"),
    );
    let told = material.told.as_ref();
    let Some(experiment) = told.and_then(|told| told.experiment.as_ref()) else {
        return format!("The model is {model}; how it was trained is not known.");
    };
    let data = told.and_then(|told| told.file());
    let verb = if is_solved(&material.outcome) {
        "fitted to"
    } else {
        "trained on"
    };
    format!(
        "The model, {model}, was {verb} {}{} {}, with seed {}.",
        count(sizes.channels, "channel"),
        data.map_or(String::new(), |file| format!(" of {file}")),
        (method.story)(experiment.settings()),
        experiment.seed(),
    )
}

/// Whether the parameters were solved for at once, without any training.
pub(super) fn is_solved(outcome: &Value) -> bool {
    outcome["chosen"] == SOLVED
}

/// How training ended; none if nothing says so.
fn ended(outcome: &Value) -> Option<String> {
    let word = outcome["outcome"].as_str()?;
    let update = outcome["update"].as_u64()? as usize;
    if is_solved(outcome) {
        return Some("Its parameters were solved for at once.".to_string());
    }
    if word == "diverged" {
        return Some(format!("Training diverged at update {}.", grouped(update)));
    }
    let loss = outcome["loss"].as_f64();
    let loss = loss.map_or(String::new(), |loss| {
        format!(" with a loss of {}", figure(loss))
    });
    let word = match word {
        "interrupted" => "was interrupted",
        word => word,
    };
    let updates = grouped_count(update, "update");
    Some(format!("Training {word} after {updates}{loss}."))
}

/// Which parameters of the training the model has; none where they are those at its end, or nobody knows.
fn kept(chosen: Option<&str>, outcome: &Value) -> Option<String> {
    let Some(chosen) = chosen.filter(|chosen| ![LAST_CHOSEN, SOLVED].contains(chosen)) else {
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
    let rows = grouped_count(scores["rows"].as_u64()? as usize, "row");
    Some(format!("Judged by {rows} of {from}: {}.", said.join(", ")))
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

/// What a page says first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    /// How it is shown: good, partly, bad or unknown.
    pub(super) kind: &'static str,
    /// In a few words.
    pub(super) words: &'static str,
    /// Why, and what to try next.
    pub(super) reasons: Vec<String>,
}

/// The verdict with its reasons; or why there is none.
pub(super) fn answer(scores: &Value) -> Answer {
    let verdict = &scores["verdict"];
    let (kind, words) = match verdict["word"].as_str().and_then(Word::parse) {
        Some(Word::Good) => ("good", "A good reconstruction"),
        Some(Word::Partly) => ("partly", "Partly a reconstruction"),
        Some(Word::NotAReconstruction) => ("bad", "Not a reconstruction"),
        Some(Word::CannotTell) => ("unknown", "Whether it is a reconstruction cannot be told"),
        None => ("unknown", "Not judged"),
    };
    let reasons = verdict["reasons"].as_array().into_iter().flatten();
    let reasons = reasons.filter_map(Value::as_str).map(capital);
    let next = verdict["next"].as_str();
    let why = scores["why"].as_str().map(capital);
    let next = next.map(|next| format!("Next: {next}"));
    Answer {
        kind,
        words,
        reasons: reasons.chain(why).chain(next).collect(),
    }
}

/// A sentence begins with a capital letter.
fn capital(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(char::to_uppercase);
    first.into_iter().flatten().chain(letters).collect()
}

fn forecast(scores: &Value) -> Option<String> {
    let measures = scores["measures"].as_array()?;
    let vpt = measures.iter().find(|m| m["id"] == "vpt")?;
    let value = vpt["value"].as_f64()?;
    let steps = measure(value, "step");
    let time = vpt["time"].as_f64().filter(|time| *time != value);
    let time = time.map_or(String::new(), |time| {
        format!(" (a time of {})", figure(time))
    });
    Some(if vpt["at_least"] == true {
        format!(
            "None of its forecasts is off by half a standard deviation within {steps}{time}, where they end."
        )
    } else {
        format!(
            "Its forecasts are off by half a standard deviation after {steps} on average{time}."
        )
    })
}

fn dynamics(dynamics: &Value, document: &Value) -> Option<String> {
    let diverged = [&document["signals"], dynamics].map(|part| part["diverged_at"].as_u64());
    if let Some(step) = diverged.into_iter().flatten().next() {
        let steps = grouped_count(step as usize, "step");
        return Some(format!("Its free orbit leaves all bounds after {steps}."));
    }
    let lyapunov = &dynamics["lyapunov"];
    let largest = lyapunov["exponents"][0].as_f64()?;
    let error = lyapunov["standard_errors"][0].as_f64()?;
    let steps = dynamics["steps"].as_f64()?;
    let growth = lyapunov["per_step"][0].as_f64()? * steps;
    let per = lyapunov["per"].as_str()?;
    let per = if per == "time" { "unit of time" } else { per };
    // That of the verdict, where it has one: a longer orbit has another in the last digits.
    let period = [&document["scores"], dynamics].map(|part| part["period"].as_f64());
    let meaning = match (period.into_iter().flatten().next(), largest) {
        (Some(period), _) => format!("the orbit is regular, with a period of {}", figure(period)),
        // Distances grow with the length of a regular orbit at most, those of a chaotic one exponentially.
        (None, v) if v > 3.0 * error && growth > steps.ln() => "the orbit is chaotic".to_string(),
        (None, v) if v < -3.0 * error => "the orbit settles on a stable point or cycle".to_string(),
        _ => "the orbit is regular without a period, or too short to tell".to_string(),
    };
    let (largest, error) = with_error(largest, error);
    let more = ["attractors", "system"].map(|part| dynamics[part]["sentence"].as_str());
    let more = more.into_iter().flatten();
    let more: String = more
        .map(|sentence| format!(" {}.", capital(sentence)))
        .collect();
    Some(format!(
        "The largest Lyapunov exponent of its free orbit is {}{error} per {per}: {meaning}.{more}",
        largest.replace('-', "−"),
    ))
}

/// A value and its error as texts, to the place of the error; an orbit that has come to rest has no scatter to speak of.
fn with_error(value: f64, error: f64) -> (String, String) {
    if error.is_nan() || error <= 1e-4 * value.abs() {
        return (figure(value), String::new());
    }
    // The place of its first digit as it is rounded; of one or two units the next one is given as well.
    let short = format!("{error:.0e}");
    let (digit, place) = short.split_once('e').unwrap_or(("1", "0"));
    let place = -place.parse::<i32>().unwrap_or(0) + i32::from(digit < "3");
    let places = place.max(0) as usize;
    (format!("{value:.places$}"), format!(" ± {error:.places$}"))
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
    fn the_verdict_comes_with_its_reasons() {
        let verdict = json!({
            "word": "partly", "reasons": ["state space: weak", "spectrum: good"], "next": "train longer",
        });
        let found = answer(&json!({ "verdict": verdict }));
        assert_eq!(
            (found.kind, found.words),
            ("partly", "Partly a reconstruction")
        );
        assert_eq!(
            found.reasons,
            ["State space: weak", "Spectrum: good", "Next: train longer"]
        );
        let none = answer(&json!({ "why": "there are no data" }));
        assert_eq!((none.kind, none.words), ("unknown", "Not judged"));
        assert_eq!(none.reasons, ["There are no data"]);
    }

    #[test]
    fn errors_are_given_to_their_first_digits() {
        let told = |value, error| {
            let (value, error) = with_error(value, error);
            value + &error
        };
        assert_eq!(told(2.0789, 0.0518), "2.08 ± 0.05");
        assert_eq!(told(-0.00152, 0.0177), "-0.002 ± 0.018");
        assert_eq!(told(0.90923, 0.0096), "0.909 ± 0.010");
        assert_eq!(told(1234.5, 321.0), "1234 ± 321");
        assert_eq!(told(-36.5, 1e-9), "-36.5");
    }

    #[test]
    fn what_is_solved_was_not_trained() {
        let solved = json!({ "outcome": "finished", "update": 0, "chosen": SOLVED });
        assert_eq!(
            ended(&solved).unwrap(),
            "Its parameters were solved for at once."
        );
        assert_eq!(kept(Some(SOLVED), &solved), None);
    }

    #[test]
    fn what_nature_does_is_told() {
        let over = |steps: usize, largest: f64| {
            let lyapunov = json!({
                "exponents": [largest], "standard_errors": [0.05], "per": "time", "per_step": [0.01 * largest],
            });
            let document = json!({ "lyapunov": lyapunov, "steps": steps });
            dynamics(&document, &Value::Null).unwrap()
        };
        let lyapunov = |largest| over(10_000, largest);
        // Distances have not yet grown by more than an orbit without chaos would let them.
        assert!(over(500, 0.9).contains("too short to tell"));
        assert!(lyapunov(0.9).ends_with("0.90 ± 0.05 per unit of time: the orbit is chaotic."));
        assert!(lyapunov(-0.9).contains("is −0.90 ± 0.05 per unit of time: the orbit settles"));
        assert!(lyapunov(0.1).contains("too short to tell"));
        let diverged = dynamics(&json!({ "diverged_at": 1234 }), &Value::Null).unwrap();
        assert!(diverged.contains("after 1,234 steps"));
        let scores = json!({ "from": "the data", "rows": 5, "diverged": true, "measures": [] });
        assert!(judged(&scores).unwrap().contains("diverges"));
    }

    #[test]
    fn a_valid_time_of_forecasts_that_were_all_valid_is_a_lower_bound() {
        let told = |at_least: bool| {
            let vpt = json!({ "id": "vpt", "value": 99.0, "time": 0.99, "at_least": at_least });
            forecast(&json!({ "measures": [vpt] })).unwrap()
        };
        assert_eq!(
            told(true),
            "None of its forecasts is off by half a standard deviation within 99 steps (a time of 0.99), where they end."
        );
        assert!(told(false).contains("after 99 steps on average (a time of 0.99)"));
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
