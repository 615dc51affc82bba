//! The scores of one orbit, of a model's forecasts, and of orbits from several starts.

use attractor_core::dynamics::Dynamics;
use attractor_core::measure::evaluate::{OrbitScores, OtherMeasures, Reference};
use attractor_core::measure::summary::median;
use attractor_core::measure::valid_time::ValidTime;
use attractor_core::measure::{Estimate, Forecast, Judges, MEASURES, Rows};
use attractor_core::series::Step;
use attractor_core::system::{Known, Time, find};

use super::{EvaluationError, OverStarts, Request, Score, Starts, ValidTimeDetails};

const DIVERGED: &str = "the orbit diverges";

/// A score of every measure that compares an orbit with a truth, and what the paper's say of it.
pub(super) fn of_orbit(
    reference: &Reference,
    others: &OtherMeasures,
    orbit: &[f64],
) -> (Vec<Score>, OrbitScores) {
    let judged = reference.judge(orbit);
    if judged.diverged {
        let of_paper = reference.names().into_iter();
        let all = of_paper.chain(others.names());
        let scores = all.map(|id| Score::new(id, Err(DIVERGED.to_string())));
        return (scores.collect(), judged);
    }
    let orbit = Rows::new(orbit, reference.truth().dim());
    let of_paper = judged.scores.iter().cloned();
    let scores = of_paper
        .chain(others.judge(orbit))
        .map(|(id, score)| Score::new(id, score.map_err(|error| error.to_string())));
    (scores.collect(), judged)
}

/// In the order of the list.
pub(super) fn sort(scores: &mut [Score]) {
    scores.sort_by_key(|score| MEASURES.iter().position(|info| info.entry.id == score.id));
}

/// The places of forecasts for a model whose orbit diverges.
pub(super) fn without_forecasts() -> impl Iterator<Item = Score> {
    forecasts().map(|(id, _)| Score::new(id, Err(DIVERGED.to_string())))
}

/// A score of every measure of forecasts.
pub(super) fn of_forecasts(
    reference: &Reference,
    dynamics: &dyn Dynamics,
    (step, request): (&Step, &Request),
) -> Result<Vec<Score>, EvaluationError> {
    let exponent = exponent(request)?;
    let judge = |(id, forecast)| match forecast {
        Forecast::Error => {
            let pe = reference.prediction_error(dynamics).map(Estimate::exact);
            Score::new(id, pe.ok_or_else(|| "forecasts diverge".to_string()))
        }
        Forecast::Time => match reference.valid_time(dynamics) {
            Err(error) => Score::new(id, Err(error.to_string())),
            Ok(found) => Score {
                valid_time: Some(details(found.clone(), step, request, exponent)),
                ..Score::new(id, Ok(found.steps))
            },
        },
    };
    Ok(forecasts().map(judge).collect())
}

/// Adds median and worst over all starts to the paper's measures of orbits.
pub(super) fn add_starts(
    scores: &mut [Score],
    first: &OrbitScores,
    others: Vec<OrbitScores>,
) -> Starts {
    let all: Vec<&OrbitScores> = [first].into_iter().chain(&others).collect();
    let of_paper = ["d_stsp", "d_stsp_paper", "d_h"];
    for score in scores
        .iter_mut()
        .filter(|score| of_paper.contains(&score.id))
    {
        let finite = |v: f64| v.is_finite().then_some(v);
        let value = |orbit: &&OrbitScores| orbit.value(score.id).and_then(finite);
        let each: Vec<Option<f64>> = all.iter().map(value).collect();
        // Where a start has no score it is the worst there is.
        let values = each.iter().map(|value| value.unwrap_or(f64::INFINITY));
        let mut values: Vec<f64> = values.collect();
        score.over_starts = Some(OverStarts {
            each,
            median: finite(median(&mut values)),
            worst: finite(values[values.len() - 1]),
        });
    }
    Starts {
        count: all.len(),
        diverged: all.iter().filter(|orbit| orbit.diverged).count(),
    }
}

fn forecasts() -> impl Iterator<Item = (&'static str, Forecast)> {
    MEASURES.iter().filter_map(|info| match info.judges {
        Judges::Forecasts(forecast) => Some((info.entry.id, forecast)),
        Judges::Orbit(_) => None,
    })
}

/// The largest Lyapunov exponent, per unit of time: as given, else from the literature on the system.
pub(super) fn exponent(request: &Request) -> Result<Option<f64>, EvaluationError> {
    match (request.lyapunov, &request.system) {
        (Some(found), _) if found > 0.0 && found.is_finite() => Ok(Some(found)),
        (Some(found), _) => Err(EvaluationError::Exponent { found }),
        (None, Some(system)) => Ok(known_exponent(system, &request.set)),
        (None, None) => Ok(None),
    }
}

/// The largest exponent in the literature for just these parameters, if it is positive.
fn known_exponent(system: &str, set: &[(String, String)]) -> Option<f64> {
    let same = |known: &&Known| {
        let given = set
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        given.eq(known.set.iter().copied())
    };
    let known = find(system)?.known.iter().find(same)?;
    Some(known.exponents[0]).filter(|&exponent| exponent > 0.0)
}

fn details(
    found: ValidTime,
    step: &Step,
    request: &Request,
    exponent: Option<f64>,
) -> ValidTimeDetails {
    let time = found.steps.value * sampling_step(step, request);
    ValidTimeDetails {
        time,
        lyapunov_times: exponent.map(|exponent| exponent * time),
        found,
    }
}

/// Δt of the data; that of the system for data that do not say.
pub(super) fn sampling_step(step: &Step, request: &Request) -> f64 {
    let system = request.system.as_deref().and_then(find);
    match system.map(|info| info.time) {
        Some(Time::Flow { dt }) if *step == Step::default() => dt,
        _ => step.dt,
    }
}
