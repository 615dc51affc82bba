//! A trained model taken apart: exponents, fixed points, cycles and regions of its free orbit, in one document
//! ([`AnatomyDocument`]) and in tables ([`tables`]).
//!
//! The orbit starts where [`generate`](crate::generate::generate) starts one, and is driven by the inputs of the data, from
//! their first row again behind their last. Fixed points and cycles belong to a constant input, the mean of these. What nature
//! does is a result: an orbit that diverges has no exponents, but the model still has fixed points.

mod document;
pub(crate) mod gradients;
mod tables;

pub use document::{AnatomyDocument, ExponentsDocument, observe, per};
pub use tables::{TABLES, Table, Tables, prepare, tables};

use std::time::{Duration, Instant};

use attractor_core::analysis::cycles::{Expired, FixedInput, Found, Pool, newton};
use attractor_core::analysis::fixed_points::{Cells, Effort, cycles_of_period};
use attractor_core::analysis::lyapunov::{BLOCKS, LyapunovPlan, Spectrum, lyapunov_of_dynamics};
use attractor_core::analysis::membership::Attractor;
use attractor_core::analysis::regions::Itinerary;
use attractor_core::dynamics::{Dynamics, leaves_f32};
use attractor_core::map::piecewise::PiecewiseLinear;
use attractor_core::progress::{Follow, Stopped, Unwatched, tell};
use attractor_core::rng::{Rng, Stream};
use attractor_core::series::mean_and_sd;
use attractor_core::system::integrate::IntegrateError;

use crate::Error;
use crate::generate::{self, GeneratedFrom};
use crate::model_file::Reconstruction;
use crate::seen::Seen;

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// The longest period of cycles.
    pub cycles: usize,
    /// How long to look for fixed points and cycles, in seconds.
    pub seconds: f64,
    /// Steps of the orbit, at least [`BLOCKS`], after a tenth as many that do not count.
    pub steps: usize,
    /// Threads of the search.
    pub threads: usize,
    /// Seed of the search.
    pub seed: u64,
}

/// How long every verb looks for fixed points and cycles where nothing else is asked, in seconds, and up to which period.
pub const SECONDS: f64 = 10.0;
/// The longest period that is looked for.
pub const CYCLES: usize = 3;

/// Steps of the orbit where none are given, fewer where a step costs more than so many multiplications in all allow.
const STEPS: usize = 100_000;
const WORK: usize = 10_000_000_000;

/// Steps of the orbit where none are given, the same for every verb: each costs M² (M + |θ|/M) multiplications for the Jacobian and the
/// tangents.
pub fn default_steps(reconstruction: &Reconstruction) -> usize {
    let sizes = reconstruction.dynamics.sizes();
    let cost = sizes.state * (sizes.state * sizes.state + sizes.parameters / 2);
    (WORK / cost.max(1)).clamp(1000, STEPS)
}

/// A model taken apart.
pub struct Anatomy {
    /// What was looked for.
    pub request: Request,
    /// Where the orbit started.
    pub start: GeneratedFrom,
    /// The first step at which a state left what f32 holds, from 0.
    pub diverged_at: Option<usize>,
    /// The free orbit behind its transient, rows of M, as far as it has not diverged; the first million of them.
    pub orbit: Vec<f64>,
    /// Exponents per step; none if the orbit diverges.
    pub lyapunov: Option<Spectrum>,
    /// Fixed points, then cycles of period 2, 3, …
    pub periodic: Vec<Found>,
    /// The constant input that fixed points and cycles belong to.
    pub input: Vec<f64>,
    /// The regions of the orbit; none if the map is smooth.
    pub regions: Option<Regions>,
    /// The orbit as the attractor; none if it diverges.
    pub attractor: Option<Attractor>,
}

/// Linear regions of a model.
pub struct Regions {
    /// Planes on which the slope changes, and how many regions they can bound.
    pub planes: usize,
    /// The largest possible number of regions.
    pub at_most: f64,
    /// What the orbit visits.
    pub itinerary: Itinerary,
}

/// What is done, in order: an orbit, its exponents, fixed points and cycles.
const PARTS: u64 = 3;

/// Exponents of systems with more variables than this are the largest [`SOME`] alone.
const MANY: usize = 128;
const SOME: usize = 20;

/// Takes a model apart.
pub fn dissect(
    reconstruction: &Reconstruction,
    data: Option<&Seen>,
    request: &Request,
    follow: &mut dyn Follow,
) -> Result<Anatomy, Error> {
    let dynamics = reconstruction.dynamics.as_ref();
    let start = generate::departure(reconstruction, data)?;
    let inputs = generate::inputs(reconstruction, data, start.row)?;
    let (orbit, diverged_at) = free_orbit(dynamics, &start.z, &inputs, request.steps, follow)?;
    tell(follow, "exponents", 1, PARTS)?;
    let dim = start.z.len();
    let plan = LyapunovPlan {
        transient: request.steps / 10,
        intervals: request.steps,
        ..LyapunovPlan::full(if dim <= MANY { dim } else { SOME })
    };
    let is_bounded = diverged_at.is_none();
    let spectrum = is_bounded.then(|| lyapunov_of_dynamics(dynamics, &start.z, &inputs, &plan));
    let diverged_at = diverged_at.or(match spectrum {
        Some(Err(IntegrateError::Diverged { time })) => Some(time as usize + 1),
        _ => None,
    });
    tell(follow, "fixed points and cycles", 2, PARTS)?;
    let input = mean_input(&inputs, dynamics.sizes().inputs);
    let form = dynamics.piecewise().map(|form| form.under(&input));
    let search = Search::begin(request);
    let periodic = match &form {
        Some(form) => {
            let points = [orbit.as_slice(), &states(dynamics, data)].concat();
            of_hinges(form, &points, request, &|| search.is_over())
        }
        None => {
            let map = FixedInput {
                dynamics,
                s: &input,
            };
            of_smooth(&map, &orbit, dim, request, &|| search.is_over())
        }
    };
    let is_bounded = diverged_at.is_none();
    Ok(Anatomy {
        lyapunov: spectrum.and_then(Result::ok),
        attractor: is_bounded.then(|| Attractor::new(&orbit, dim)),
        regions: form.as_ref().map(|form| Regions::of(form, &orbit)),
        request: *request,
        start: start.from,
        diverged_at,
        orbit,
        periodic,
        input,
    })
}

/// How long a search goes on.
struct Search {
    begun: Instant,
    limit: Duration,
}

impl Search {
    fn begin(request: &Request) -> Search {
        Search {
            begun: Instant::now(),
            limit: Duration::try_from_secs_f64(request.seconds).unwrap_or(Duration::MAX),
        }
    }

    fn is_over(&self) -> bool {
        self.begun.elapsed() >= self.limit
    }
}

impl Regions {
    fn of(form: &PiecewiseLinear, orbit: &[f64]) -> Regions {
        Regions {
            planes: form.hinges(),
            at_most: Cells::new(form).at_most(),
            itinerary: Itinerary::of(form, orbit),
        }
    }
}

/// A free orbit behind its transient, a tenth as long, in rows of states, and the step at which it diverges.
pub(crate) fn orbit(
    reconstruction: &Reconstruction,
    data: Option<&Seen>,
    steps: usize,
) -> Result<(Vec<f64>, Option<usize>), Error> {
    let start = generate::departure(reconstruction, data)?;
    let inputs = generate::inputs(reconstruction, data, start.row)?;
    let dynamics = reconstruction.dynamics.as_ref();
    let never = &mut Unwatched;
    Ok(free_orbit(dynamics, &start.z, &inputs, steps, never)?)
}

fn mean_input(inputs: &[f64], k: usize) -> Vec<f64> {
    let column = |i: usize| inputs.iter().skip(i).step_by(k).copied();
    (0..k).map(|i| mean_and_sd(column(i)).0).collect()
}

/// Rows of the orbit that are kept; exponents are those of all its steps.
const KEPT: usize = 1_000_000;

/// Numbers of the orbit that are kept, for systems of many variables.
const KEPT_NUMBERS: usize = 1 << 25;

/// Steps from one look at whether to go on to the next.
const STRETCH: usize = 4096;

/// The orbit behind its transient, and the step at which it diverges.
fn free_orbit(
    dynamics: &dyn Dynamics,
    z: &[f64],
    inputs: &[f64],
    steps: usize,
    follow: &mut dyn Follow,
) -> Result<(Vec<f64>, Option<usize>), Stopped> {
    let (m, k) = (z.len(), dynamics.sizes().inputs);
    let rows = (inputs.len() / k.max(1)).max(1);
    let (transient, steps) = (steps / 10, steps.min(KEPT).min(KEPT_NUMBERS / m));
    let mut tangent = dynamics.tangent();
    let mut jac = Vec::new();
    let mut z = z.to_vec();
    let mut orbit = Vec::with_capacity(steps * m);
    for step in 0..transient + steps {
        if step.is_multiple_of(STRETCH) {
            tell(follow, "a free orbit", 0, PARTS)?;
        }
        if step == transient {
            orbit.clear();
        }
        if orbit.len() < steps * m {
            orbit.extend_from_slice(&z);
        }
        let s = &inputs[step % rows * k..][..k];
        tangent.carry(&mut z, s, &[], &mut [], &mut jac);
        if z.iter().any(|&z| leaves_f32(z)) {
            // In its transient an orbit that ends is all there is.
            return Ok((orbit, Some(step + 1)));
        }
    }
    Ok((orbit, None))
}

/// The states at all rows of the longest stretch of the data; none without data.
fn states(dynamics: &dyn Dynamics, data: Option<&Seen>) -> Vec<f64> {
    let Some(data) = data else {
        return Vec::new();
    };
    let stretch = data.longest();
    let rows: Vec<usize> = (0..stretch.len()).collect();
    dynamics.states_at(stretch, &rows)
}

/// Points of the orbit that searches start from; beyond 1e6 an orbit is already diverging.
fn starts(orbit: &[f64], dim: usize, count: usize) -> Vec<f64> {
    let rows = orbit.chunks_exact(dim);
    let every = rows.len().div_ceil(count).max(1);
    let near = rows.filter(|z| z.iter().all(|v| v.abs() < 1e6));
    near.step_by(every).flatten().copied().collect()
}

fn of_hinges(
    form: &PiecewiseLinear,
    points: &[f64],
    request: &Request,
    expired: Expired<'_>,
) -> Vec<Found> {
    let effort = Effort {
        threads: request.threads,
        seed: request.seed,
        ..Effort::default()
    };
    let near = starts(points, form.dim, points.len() / form.dim);
    let pool = Pool::of_points(near, form.dim);
    (1..=request.cycles.max(1))
        .map(|period| cycles_of_period(form, period, &pool, &effort, expired))
        .collect()
}

/// Newton's method from points of the orbit, and from as many scattered about it.
fn of_smooth(
    map: &FixedInput<'_>,
    orbit: &[f64],
    dim: usize,
    request: &Request,
    expired: Expired<'_>,
) -> Vec<Found> {
    let mut points = starts(orbit, dim, 200);
    let mut rng = Rng::new(request.seed, Stream::MonteCarlo);
    // An orbit that rests has no spread.
    let spread = |i: usize| match mean_and_sd(points.iter().skip(i).step_by(dim).copied()).1 {
        sd if sd > 1e-3 => sd,
        _ => 1.0,
    };
    let spread: Vec<f64> = (0..dim).map(spread).collect();
    let scattered = points.iter().enumerate();
    let scattered: Vec<f64> = scattered
        .map(|(e, z)| z + 2.0 * spread[e % dim] * rng.normal())
        .collect();
    points.extend(scattered);
    points.extend(vec![0.0; dim]);
    (1..=request.cycles.max(1))
        .map(|period| newton(map, period, &points, expired))
        .collect()
}

impl Request {
    /// The fewest steps of an orbit.
    pub const FEWEST_STEPS: usize = BLOCKS;
}
