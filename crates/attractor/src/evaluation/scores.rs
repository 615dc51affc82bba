//! The scores of one orbit, of a model's forecasts, and of orbits from several starts.

use attractor_core::measure::evaluate::{OrbitScores, Reference, has_diverged};
use attractor_core::measure::summary::median;
use attractor_core::measure::valid_time::{Forecasts, ValidTime};
use attractor_core::measure::{Estimate, Forecast, Judges, MEASURES, Options, Prepare, Rows};
use attractor_core::model::Model;
use attractor_core::series::Step;
use attractor_core::system::{Known, Time, find};

use super::data::Stretch;
use super::{EvaluationError, OverStarts, Request, Score, Starts, ValidTimeDetails};

const DIVERGED: &str = "the orbit diverges";

/// A score of every measure that compares an orbit with a truth.
pub(super) fn of_orbit(truth: Rows<'_>, orbit: Rows<'_>, options: &Options) -> Vec<Score> {
    let diverged = has_diverged(truth, orbit);
    let value = |prepare: Prepare| -> Option<Result<Estimate, String>> {
        match prepare(truth, options) {
            Ok(None) => None,
            Ok(Some(_)) if diverged => Some(Err(DIVERGED.to_string())),
            Ok(Some(against)) => Some(against.judge(orbit).map_err(|error| error.to_string())),
            Err(error) => Some(Err(error.to_string())),
        }
    };
    let of_orbits = MEASURES.iter().filter_map(|info| match info.judges {
        Judges::Orbit(prepare) => Some(Score::new(info.entry.id, value(prepare)?)),
        Judges::Forecasts(_) => None,
    });
    of_orbits.collect()
}

/// The places of forecasts for a model whose orbit diverges.
pub(super) fn without_forecasts() -> impl Iterator<Item = Score> {
    forecasts().map(|(id, _)| Score::new(id, Err(DIVERGED.to_string())))
}

/// A score of every measure of forecasts.
pub(super) fn of_forecasts(
    reference: &Reference<'_>,
    model: &Model,
    data: &Stretch,
    request: &Request,
) -> Result<Vec<Score>, EvaluationError> {
    let exponent = exponent(request)?;
    let judge = |(id, forecast)| match forecast {
        Forecast::Error => {
            let pe = reference.prediction_error(model).map(Estimate::exact);
            Score::new(id, pe.ok_or_else(|| "forecasts diverge".to_string()))
        }
        Forecast::Time => match Forecasts::new(reference.truth(), request.options.threshold) {
            Err(error) => Score::new(id, Err(error.to_string())),
            Ok(forecasts) => {
                let found = forecasts.of_model(model, &data.s);
                let score = Score::new(id, Ok(found.steps));
                Score {
                    valid_time: Some(details(found, &data.step, request, exponent)),
                    ..score
                }
            }
        },
    };
    Ok(forecasts().map(judge).collect())
}

/// Adds median and worst over all starts to the measures of orbits.
pub(super) fn add_starts(
    scores: &mut [Score],
    first: OrbitScores,
    others: Vec<OrbitScores>,
) -> Starts {
    let all: Vec<OrbitScores> = [first].into_iter().chain(others).collect();
    for score in scores {
        // Where a start has no score it is the worst there is.
        let values = all.iter().map(|orbit| orbit.value(score.id));
        let Some(values) = values.collect::<Option<Vec<_>>>() else {
            continue;
        };
        let mut values: Vec<f64> = values
            .into_iter()
            .map(|v| v.unwrap_or(f64::INFINITY))
            .collect();
        let finite = |v: f64| v.is_finite().then_some(v);
        score.over_starts = Some(OverStarts {
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
fn exponent(request: &Request) -> Result<Option<f64>, EvaluationError> {
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
fn sampling_step(step: &Step, request: &Request) -> f64 {
    let system = request.system.as_deref().and_then(find);
    match system.map(|info| info.time) {
        Some(Time::Flow { dt }) if *step == Step::default() => dt,
        _ => step.dt,
    }
}
