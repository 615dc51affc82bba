//! Floors and chance levels of the scores, from the cache where they are known.

use attractor_core::measure::Rows;
use attractor_core::measure::levels::{Level, levels};
use attractor_core::progress::{Follow, tell};
use attractor_core::series::{Step, mean_and_sd};
use attractor_core::system::Time;
use attractor_core::system::simulate::{Request as SimulationRequest, Simulation};

use super::{Cache, EvaluationError, Request};

/// Orbits of a known system whose median is the floor: single ones scatter by a factor of two.
const ORBITS: u64 = 5;

/// The levels of all measures: from the cache, else computed and kept there.
pub(super) fn find(
    truth: Rows<'_>,
    step: &Step,
    request: &Request,
    cache: &Cache,
    follow: &mut dyn Follow,
) -> Result<Vec<Level>, EvaluationError> {
    let from = format!("{:?} {step:?}", request.system);
    let key = cache.key(truth, &from, &request.options);
    if let Some(found) = cache.find(&key) {
        return Ok(found);
    }
    let orbits = match check(truth, step, request)? {
        Some(simulation) => orbits(truth, &simulation, request.options.seed, follow)?,
        None => Vec::new(),
    };
    let orbits: Vec<Rows<'_>> = orbits.iter().map(|x| Rows::new(x, truth.dim())).collect();
    let found = levels(truth, &orbits, &request.options, follow)?;
    cache.keep(&key, &found);
    Ok(found)
}

/// How other orbits are simulated, if the system is known.
pub(super) fn check(
    truth: Rows<'_>,
    step: &Step,
    request: &Request,
) -> Result<Option<SimulationRequest>, EvaluationError> {
    let known = request.system.as_ref();
    known
        .map(|system| simulation(system, &request.set, truth, step))
        .transpose()
}

/// Sampled as the truth, after a quarter of its length.
fn simulation(
    system: &str,
    set: &[(String, String)],
    truth: Rows<'_>,
    step: &Step,
) -> Result<SimulationRequest, EvaluationError> {
    let info = attractor_core::system::find(system);
    let is_flow = info.is_some_and(|info| matches!(info.time, Time::Flow { .. }));
    let request = SimulationRequest {
        // A step of 1 without a unit is that of data that do not say.
        dt: (is_flow && *step != Step::default()).then_some(step.dt),
        transient: truth.len() / 4,
        set: set.to_vec(),
        ..SimulationRequest::new(system, truth.len())
    };
    let expected = Simulation::check(&request)?.first_row()?.dim_obs();
    if expected == truth.dim() {
        Ok(request)
    } else {
        Err(EvaluationError::SystemChannels {
            system: system.to_string(),
            expected,
            found: truth.dim(),
        })
    }
}

/// Other orbits of the known system, with the scale of the truth.
fn orbits(
    truth: Rows<'_>,
    request: &SimulationRequest,
    seed: u64,
    follow: &mut dyn Follow,
) -> Result<Vec<Vec<f64>>, EvaluationError> {
    let mut orbit = |i: u64| {
        tell(follow, "simulating other orbits", i, ORBITS)?;
        let seed = seed.wrapping_add(i);
        let simulation = Simulation::check(&SimulationRequest {
            seed,
            ..request.clone()
        })?;
        let mut x = simulation.run()?.series.trajectories()[0].x.clone();
        scale_as(truth, &mut x);
        Ok(x)
    };
    (0..ORBITS).map(&mut orbit).collect()
}

/// Gives every channel the mean and the spread of the truth's.
fn scale_as(truth: Rows<'_>, x: &mut [f64]) {
    let n = truth.dim();
    for (i, (mean, sd)) in truth.moments().into_iter().enumerate() {
        let (own_mean, own_sd) = mean_and_sd(x.iter().skip(i).step_by(n).copied());
        let channel = x.iter_mut().skip(i).step_by(n);
        channel.for_each(|x| *x = mean + sd * (*x - own_mean) / own_sd);
    }
}
