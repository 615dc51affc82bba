//! A trained model taken apart: exponents, fixed points, cycles and regions of its free orbit, in one document
//! ([`AnatomyDocument`]) and in tables ([`tables`]).
//!
//! The orbit starts where [`generate`](crate::generate::generate) starts one, and is driven by the inputs of the data, from
//! their first row again after their last. Fixed points and cycles belong to a constant input, the mean of these. What nature
//! does is a result: an orbit that diverges has no exponents, but the model still has fixed points.

mod document;
pub(crate) mod gradients;
mod known;
mod others;
mod tables;

pub use document::{AnatomyDocument, ExponentsDocument, ModelExponentsDocument, observe, per};
pub use known::{Known, KnownDocument, KnownPoint, Nearest};
pub use others::{OthersDocument, sentence};
pub use tables::{TABLES, Table, Tables, prepare, tables};

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use attractor_core::analysis::basins::Basins;
use attractor_core::analysis::cycles::{Expired, FixedInput, Found, Pool, newton};
use attractor_core::analysis::fixed_points::{Cells, Effort, cycles_of_period};
use attractor_core::analysis::lyapunov::{BLOCKS, LyapunovPlan, Spectrum, lyapunov_of_dynamics};
use attractor_core::analysis::membership::Attractor;
use attractor_core::analysis::period::period;
use attractor_core::analysis::regions::Itinerary;
use attractor_core::dynamics::{Dynamics, leaves_f32};
use attractor_core::map::piecewise::PiecewiseLinear;
use attractor_core::progress::{Follow, Stopped, Unwatched, tell};
use attractor_core::rng::{Rng, Stream};
use attractor_core::series::mean_and_sd;
use attractor_core::system::SystemInfo;
use attractor_core::system::integrate::IntegrateError;

use crate::Error;
use crate::generate::{self, GeneratedFrom};
use crate::model_file::Reconstruction;
use crate::run::Folder;
use crate::seen::Seen;
use others::Ground;

/// What to look for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Request {
    /// The longest period of cycles.
    pub cycles: usize,
    /// Seconds to spend on the search for fixed points and cycles, in seconds.
    pub seconds: f64,
    /// Steps of the orbit, at least [`BLOCKS`], after a transient of a tenth as many.
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

/// Multiplications for one variable of one vector that is carried along a system of many: a sparse step, and its share of making vectors orthogonal.
const CARRIED: usize = 100;

/// Steps of the orbit where none are given, the same for every verb: each costs M² (M + |θ|/M) multiplications for the Jacobian and the
/// tangents, or what carrying some vectors costs where exponents are the largest of many.
pub fn default_steps(reconstruction: &Reconstruction) -> usize {
    let sizes = reconstruction.dynamics.sizes();
    let cost = if sizes.state <= MANY {
        sizes.state * (sizes.state * sizes.state + sizes.parameters / 2)
    } else {
        CARRIED * most(sizes.state) * sizes.state
    };
    (WORK / cost.max(1)).clamp(1000, STEPS)
}

/// A model taken apart.
#[derive(Debug, Clone)]
pub struct Anatomy {
    /// What was looked for.
    pub request: Request,
    /// Where the orbit started.
    pub start: GeneratedFrom,
    /// The first step at which a state left what f32 holds, from 0.
    pub diverged_at: Option<usize>,
    /// The free orbit after its transient, rows of M, as far as it has not diverged; the first million of them.
    pub orbit: Vec<f64>,
    /// Exponents per step; none if the orbit diverges.
    pub lyapunov: Option<Spectrum>,
    /// Fixed points, then cycles of period 2, 3, …
    pub periodic: Vec<Found>,
    /// The constant input that fixed points and cycles belong to.
    pub input: Vec<f64>,
    /// The regions of the orbit; none if the map is smooth.
    pub regions: Option<Regions>,
    /// The period of the orbit in steps; none if it diverges, rests or does not come back.
    pub period: Option<f64>,
    /// The orbit as the attractor; none if it diverges.
    pub attractor: Option<Attractor>,
    /// Where other orbits end; none if the orbit diverges.
    pub basins: Option<Basins>,
}

/// What data there are.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sources<'a> {
    /// Data that the orbit starts from and is driven by; where there are none, it starts as the model card says.
    pub data: Option<&'a Seen>,
    /// Data whose rows other orbits start from.
    pub rows: Option<&'a Seen>,
}

impl<'a> Sources<'a> {
    /// The same data for both.
    pub fn of(data: Option<&'a Seen>) -> Sources<'a> {
        Sources { data, rows: data }
    }
}

/// The part of its recording that a run held out, else what it was trained on; none where it is not known, or the file has changed.
pub fn remembered(run: &Path, reconstruction: &Reconstruction) -> Option<Seen> {
    let parts = Folder::new(run).parts()?;
    let part = parts.held_out.as_ref().unwrap_or(&parts.training);
    reconstruction.see_prepared(part).ok()
}

/// Linear regions of a model.
#[derive(Debug, Clone)]
pub struct Regions {
    /// Planes on which the slope changes, and how many regions they can bound.
    pub planes: usize,
    /// The largest possible number of regions.
    pub at_most: f64,
    /// What the orbit visits.
    pub itinerary: Itinerary,
}

/// Exponents of systems with more variables than this are the largest [`SOME`] alone.
const MANY: usize = 128;
const SOME: usize = 20;

/// Takes a model apart.
pub fn dissect(
    reconstruction: &Reconstruction,
    Sources { data, rows }: Sources<'_>,
    request: &Request,
    follow: &mut dyn Follow,
) -> Result<Anatomy, Error> {
    let dynamics = reconstruction.dynamics.as_ref();
    let start = generate::departure(reconstruction, data)?;
    let inputs = generate::inputs(reconstruction, data, start.row)?;
    let free = free_run(dynamics, &start.z, &inputs, request, follow)?;
    let input = mean_input(&inputs, dynamics.sizes().inputs);
    let form = dynamics.piecewise().map(|form| form.under(&input));
    let search = Search::begin("fixed points and cycles", request, follow)?;
    let expired: Expired<'_> = &|| search.is_over();
    let periodic = match &form {
        Some(form) => {
            let points = [free.orbit.as_slice(), &states(dynamics, data)].concat();
            of_hinges(form, &points, request, expired)
        }
        None => of_smooth(dynamics, &input, &free.orbit, request, expired),
    };
    search.end()?;
    let is_bounded = free.diverged_at.is_none();
    let ground = Ground {
        dynamics,
        rows,
        orbit: &free.orbit,
        input: &input,
        periodic: &periodic,
        seed: request.seed,
    };
    let search = Search::begin("other attractors", request, follow)?;
    let basins = is_bounded.then(|| ground.basins(&|| search.is_over()));
    search.end()?;
    Ok(Anatomy {
        lyapunov: free.spectrum,
        attractor: is_bounded.then(|| Attractor::new(&free.orbit, start.z.len())),
        period: is_bounded
            .then(|| period(&free.orbit, start.z.len()))
            .flatten(),
        basins,
        regions: form.as_ref().map(|form| Regions::of(form, &free.orbit)),
        request: *request,
        start: start.from,
        diverged_at: free.diverged_at,
        orbit: free.orbit,
        periodic,
        input,
    })
}

/// A free orbit after its transient, and its exponents.
struct FreeRun {
    orbit: Vec<f64>,
    diverged_at: Option<usize>,
    spectrum: Option<Spectrum>,
}

fn free_run(
    dynamics: &dyn Dynamics,
    z: &[f64],
    inputs: &[f64],
    request: &Request,
    follow: &mut dyn Follow,
) -> Result<FreeRun, Stopped> {
    let (orbit, diverged_at) = free_orbit(dynamics, z, inputs, request.steps, follow)?;
    if diverged_at.is_some() {
        return Ok(FreeRun {
            orbit,
            diverged_at,
            spectrum: None,
        });
    }
    let (spectrum, diverged_at) =
        spectrum(dynamics, z, inputs, (request.steps, most(z.len())), follow)?;
    Ok(FreeRun {
        orbit,
        diverged_at,
        spectrum,
    })
}

/// A known system beside a model that was taken apart; `rows` are data as the model sees them. None of the points of a system are found
/// when time is up.
pub fn beside(
    info: &'static SystemInfo,
    anatomy: &Anatomy,
    reconstruction: &Reconstruction,
    rows: Option<&Seen>,
    follow: &mut dyn Follow,
) -> Result<Known, Stopped> {
    let search = Search::begin("fixed points of the system", &anatomy.request, follow)?;
    let expired: Expired<'_> = &|| search.is_over();
    let found = known::known(info, anatomy, reconstruction, rows, expired);
    search.end()?;
    Ok(found)
}

/// The largest exponent of a model, and others where it costs nothing more, as [`dissect`] computes them: from the state z, without inputs.
/// None if the orbit diverges.
pub(crate) fn largest_from(reconstruction: &Reconstruction, z: &[f64]) -> Option<Spectrum> {
    let dynamics = reconstruction.dynamics.as_ref();
    let count = if z.len() <= MANY { z.len() } else { 1 };
    let length = (default_steps(reconstruction), count);
    let found = spectrum(dynamics, z, &[], length, &mut Unwatched);
    found.ok().and_then(|(spectrum, _)| spectrum)
}

/// How many exponents a system of so many variables has, unless others are asked for.
fn most(dim: usize) -> usize {
    if dim <= MANY { dim } else { SOME }
}

/// So many of the largest exponents of an orbit over so many steps, after a tenth as many; if it diverges, where.
fn spectrum(
    dynamics: &dyn Dynamics,
    z: &[f64],
    inputs: &[f64],
    (steps, count): (usize, usize),
    follow: &mut dyn Follow,
) -> Result<(Option<Spectrum>, Option<usize>), Stopped> {
    let plan = LyapunovPlan {
        transient: steps / 10,
        intervals: steps,
        ..LyapunovPlan::full(count)
    };
    match lyapunov_of_dynamics(dynamics, z, inputs, &plan, follow) {
        Ok(spectrum) => Ok((Some(spectrum), None)),
        Err(IntegrateError::Stopped(stopped)) => Err(stopped),
        Err(IntegrateError::Diverged { time }) => Ok((None, Some(time as usize + 1))),
        Err(_) => Ok((None, None)),
    }
}

/// The exponents of a model alone.
#[derive(Debug, Clone)]
pub struct Exponents {
    /// Steps that they are the means of, after a tenth as many.
    pub steps: usize,
    /// Where the orbit started.
    pub start: GeneratedFrom,
    /// The exponents per step; none if the orbit diverges.
    pub spectrum: Option<Spectrum>,
    /// The step at which it diverges.
    pub diverged_at: Option<usize>,
}

/// The `count` largest exponents of a model, or all of a small one, along the orbit that [`dissect`] follows.
pub fn exponents(
    reconstruction: &Reconstruction,
    data: Option<&Seen>,
    steps: usize,
    count: Option<usize>,
    follow: &mut dyn Follow,
) -> Result<Exponents, Error> {
    let dynamics = reconstruction.dynamics.as_ref();
    let start = generate::departure(reconstruction, data)?;
    let inputs = generate::inputs(reconstruction, data, start.row)?;
    let count = count.map_or(most(start.z.len()), |count| count.clamp(1, start.z.len()));
    let (_, diverged_at) = free_orbit(dynamics, &start.z, &inputs, steps, follow)?;
    let (spectrum, diverged_at) = match diverged_at {
        Some(step) => (None, Some(step)),
        None => spectrum(dynamics, &start.z, &inputs, (steps, count), follow)?,
    };
    Ok(Exponents {
        steps,
        start: start.from,
        spectrum,
        diverged_at,
    })
}

/// A search, which goes on until its time is over or it is asked to stop.
struct Search<'a> {
    what: &'static str,
    begun: Instant,
    limit: Duration,
    stopped: AtomicBool,
    /// Who follows it, and when they were last asked.
    follow: Mutex<(Instant, &'a mut dyn Follow)>,
}

/// From one look at whether to go on to the next.
const LOOK: Duration = Duration::from_millis(50);

impl<'a> Search<'a> {
    fn begin(
        what: &'static str,
        request: &Request,
        follow: &'a mut dyn Follow,
    ) -> Result<Search<'a>, Stopped> {
        tell(follow, what, 0, 1)?;
        let begun = Instant::now();
        Ok(Search {
            what,
            begun,
            limit: Duration::try_from_secs_f64(request.seconds).unwrap_or(Duration::MAX),
            stopped: AtomicBool::new(false),
            follow: Mutex::new((begun, follow)),
        })
    }

    fn is_over(&self) -> bool {
        let now = Instant::now();
        // One thread at a time asks; the others learn of it.
        if let Ok(mut follow) = self.follow.try_lock()
            && now - follow.0 >= LOOK
        {
            follow.0 = now;
            if tell(&mut *follow.1, self.what, 0, 1).is_err() {
                self.stopped.store(true, Ordering::Relaxed);
            }
        }
        self.stopped.load(Ordering::Relaxed) || now - self.begun >= self.limit
    }

    fn end(&self) -> Result<(), Stopped> {
        if self.stopped.load(Ordering::Relaxed) {
            Err(Stopped)
        } else {
            Ok(())
        }
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

/// A free orbit after its transient, a tenth as long, in rows of states, and the step at which it diverges.
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

/// The orbit after its transient, and the step at which it diverges.
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
            tell(
                follow,
                "a free orbit",
                step as u64,
                (transient + steps) as u64,
            )?;
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
    dynamics: &dyn Dynamics,
    s: &[f64],
    orbit: &[f64],
    request: &Request,
    expired: Expired<'_>,
) -> Vec<Found> {
    let (map, dim) = (FixedInput { dynamics, s }, dynamics.sizes().state);
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
        .map(|period| newton(&map, period, &points, expired))
        .collect()
}

impl Request {
    /// The fewest steps of an orbit.
    pub const FEWEST_STEPS: usize = BLOCKS;
}
