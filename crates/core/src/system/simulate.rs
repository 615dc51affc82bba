//! Data from a known system: draw x₀, follow its orbit, read it out every Δt, standardise, add noise:
//!
//! ```text
//! x_t = (o(z(tΔt)) − mean)/sd + F·η_t,   η ~ N(0, 1)
//! ```
//!
//! The order is that of the paper's files: first standardised (with n − 1), then noise is added, and nothing is
//! standardised again. Without standardising the noise has F times the standard deviation of its channel. The first
//! row is the initial state itself unless a transient is asked to be left out.
//!
//! ```
//! use attractor_core::system::simulate::{Request, Simulation};
//!
//! let request = Request { standardize: true, ..Request::new("lorenz63", 10_000) };
//! let simulated = Simulation::check(&request)?.run()?;
//! assert_eq!((simulated.series.total_len(), simulated.series.dim_obs()), (10_000, 3));
//! assert!((simulated.scaling.sd[0] - 8.0).abs() < 1.0);
//! # Ok::<(), attractor_core::system::simulate::SimulateError>(())
//! ```

use super::integrate::{Dop853, IntegrateError, Rk4, Tolerance};
use super::{SYSTEMS, System, SystemInfo, Time, find};
use crate::hint::Hint;
use crate::progress::{Follow, Stopped, Unwatched, tell};
use crate::rng::{Rng, Stream};
use crate::series::{Channel, Scaling, Series, SeriesError, Step, Trajectory, mean_and_sd};
use crate::settings::{SettingError, Settings, nearest};
use crate::text::count;

/// What a user asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// Name of the system.
    pub system: String,
    /// Number of rows.
    pub steps: usize,
    /// Sampling step; the system's own when not given.
    pub dt: Option<f64>,
    /// Seed of the initial state and of the noise.
    pub seed: u64,
    /// Rows left out before the first.
    pub transient: usize,
    /// Whether the series is standardised.
    pub standardize: bool,
    /// Standard deviation of the noise, in units of each channel's standard deviation.
    pub noise: f64,
    /// Parameters as typed, name and value.
    pub set: Vec<(String, String)>,
    /// How a flow is integrated.
    pub method: Method,
}

/// How a flow is integrated. Maps and systems with a scheme of their own need none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Adaptive steps of order 8 with this relative and absolute tolerance.
    Adaptive {
        /// The tolerance.
        tolerance: f64,
    },
    /// One fixed step of order 4 per row.
    Fixed,
}

impl Default for Method {
    fn default() -> Method {
        Method::Adaptive { tolerance: 1e-9 }
    }
}

/// Hours of work for most systems; no transient takes so long.
const LONGEST_TRANSIENT: usize = 10_000_000_000;

/// Rows from one word on how far it is to the next: milliseconds of work, for most systems.
const BETWEEN: usize = 256;

/// What is simulated, checked.
#[derive(Debug, Clone)]
pub struct Simulation {
    info: &'static SystemInfo,
    settings: Settings,
    dt: f64,
    request: Request,
}

/// A simulated series.
#[derive(Debug, Clone, PartialEq)]
pub struct Simulated {
    /// The rows.
    pub series: Series,
    /// The mean and standard deviation that standardising took out; 0 and 1 if it was not asked for.
    pub scaling: Scaling,
}

/// Why nothing was simulated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SimulateError {
    /// The name is in no list.
    #[error("no system is named `{name}`")]
    UnknownSystem {
        /// What was typed.
        name: String,
        /// The most similar known name.
        near: Option<&'static str>,
    },
    /// A parameter is unknown or outside its range.
    #[error("{error} of system `{system}`")]
    Parameter {
        /// The system.
        system: &'static str,
        /// What is wrong.
        error: SettingError,
    },
    /// No rows are asked for.
    #[error("expected at least one step, found 0")]
    NoSteps,
    /// A transient that would never end.
    #[error("at most {LONGEST_TRANSIENT} rows can be left out, found {transient}")]
    Transient {
        /// What was given.
        transient: usize,
    },
    /// The sampling step is not a positive number.
    #[error("the sampling step must be a number above 0, found {dt}")]
    Step {
        /// What was given.
        dt: f64,
    },
    /// A sampling step for a system in discrete time.
    #[error("`{system}` is a map: it has no sampling step, found {dt}")]
    StepOfMap {
        /// The system.
        system: &'static str,
        /// What was given.
        dt: f64,
    },
    /// The noise is not a number of at least zero.
    #[error("the noise must be a number of at least 0, found {noise}")]
    Noise {
        /// What was given.
        noise: f64,
    },
    /// The tolerance is one that no step can meet, or no number.
    #[error("the tolerance must be a number from 1e-14 to 0.1, found {tolerance}")]
    Tolerance {
        /// What was given.
        tolerance: f64,
    },
    /// The rows do not fit into memory.
    #[error("{} of {} do not fit into memory", count(*rows, "row"), count(*channels, "channel"))]
    Memory {
        /// Number of rows.
        rows: usize,
        /// Number of channels.
        channels: usize,
    },
    /// The orbit ended early.
    #[error("`{system}` in row {} of the orbit: {error}", row + 1)]
    Orbit {
        /// The system.
        system: &'static str,
        /// The row that could not be reached, from 0, transient included.
        row: usize,
        /// What happened.
        error: IntegrateError,
    },
    /// The values do not form a series.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// It was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl SimulateError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            SimulateError::UnknownSystem {
                near: Some(near), ..
            } => Some(format!("did you mean `{near}`?").into()),
            SimulateError::UnknownSystem { .. } => {
                Some("`attractor list systems` prints all names".into())
            }
            SimulateError::Parameter { error, .. } => error.hint(),
            SimulateError::Orbit {
                error: IntegrateError::Diverged { .. },
                ..
            } => Some("other parameters or another seed may start in a basin of attraction".into()),
            SimulateError::Orbit { .. } => {
                Some("a larger tolerance or other parameters may help".into())
            }
            SimulateError::Transient { .. } => {
                Some("an orbit is on its attractor after some hundred of its cycles".into())
            }
            SimulateError::Memory { .. } => Some("ask for fewer steps".into()),
            _ => None,
        }
    }

    /// Whether the system did it (its orbit diverges), not the user.
    pub fn is_outcome(&self) -> bool {
        matches!(self, SimulateError::Orbit { .. })
    }
}

impl Request {
    /// A series of this system with everything else at its default.
    pub fn new(system: &str, steps: usize) -> Request {
        Request {
            system: system.to_string(),
            steps,
            dt: None,
            seed: 0,
            transient: 0,
            standardize: false,
            noise: 0.0,
            set: Vec::new(),
            method: Method::default(),
        }
    }
}

impl Simulation {
    /// Checks a request.
    pub fn check(request: &Request) -> Result<Simulation, SimulateError> {
        let info = find(&request.system).ok_or_else(|| unknown(&request.system))?;
        let given = request
            .set
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()));
        let settings = info
            .settings(given)
            .map_err(|error| SimulateError::Parameter {
                system: info.entry.id,
                error,
            })?;
        if request.steps == 0 {
            return Err(SimulateError::NoSteps);
        }
        let transient = request.transient;
        if transient > LONGEST_TRANSIENT {
            return Err(SimulateError::Transient { transient });
        }
        let noise = request.noise;
        if !(noise >= 0.0 && noise.is_finite()) {
            return Err(SimulateError::Noise { noise });
        }
        if let Method::Adaptive { tolerance } = request.method
            && !(1e-14..=0.1).contains(&tolerance)
        {
            return Err(SimulateError::Tolerance { tolerance });
        }
        Ok(Simulation {
            info,
            settings,
            dt: checked_step(info, request.dt)?,
            request: request.clone(),
        })
    }

    /// The system.
    pub fn info(&self) -> &'static SystemInfo {
        self.info
    }

    /// The system with these parameters.
    pub fn system(&self) -> Box<dyn System> {
        (self.info.build)(&self.settings)
    }

    /// Its parameters, defaults resolved.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The sampling step; 1 for a map.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// Whether the orbit depends on how a flow is integrated: not that of a map, nor of a system with its own scheme.
    pub fn takes_method(&self) -> bool {
        let system = self.system();
        self.info.time != Time::Map && system.stepper(self.dt).is_none()
    }

    /// What was asked for.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// Simulates.
    pub fn run(&self) -> Result<Simulated, SimulateError> {
        self.run_followed(&mut Unwatched)
    }

    /// Simulates, and tells how many rows there are.
    pub fn run_followed(&self, follow: &mut dyn Follow) -> Result<Simulated, SimulateError> {
        match self.run_as_far(follow)? {
            (simulated, None) => Ok(simulated),
            (_, Some(ended)) => Err(ended),
        }
    }

    /// The same as far as the orbit goes, with what there is to say if it ends early; an error if it has no row behind the transient.
    pub fn run_as_far(
        &self,
        follow: &mut dyn Follow,
    ) -> Result<(Simulated, Option<SimulateError>), SimulateError> {
        let Request {
            steps,
            transient,
            noise,
            seed,
            ..
        } = self.request;
        let system = self.system();
        let (mut series, ended) = self.observe_orbit(&*system, (steps, transient), follow)?;
        let mut scaling = Scaling::identity(series.dim_obs());
        if self.request.standardize {
            scaling = common_scaling(&series, &*system);
            series = scaling.apply(&series);
        }
        if noise > 0.0 {
            // Exactly 1 up to rounding where standardised.
            let spread = common_scaling(&series, &*system).sd;
            let sd: Vec<f64> = spread.iter().map(|sd| noise * sd).collect();
            series = add_noise(&series, &sd, seed)?;
        }
        Ok((Simulated { series, scaling }, ended))
    }

    /// The initial state as a series of one row, neither scaled nor noisy: what the rows will look like, without the
    /// work.
    pub fn first_row(&self) -> Result<Series, SimulateError> {
        let system = self.system();
        Ok(self.observe_orbit(&*system, (1, 0), &mut Unwatched)?.0)
    }

    /// The states behind the transient, rows of M, which the channels need not show.
    pub fn states(&self) -> Result<Vec<f64>, SimulateError> {
        let system = self.system();
        let Request {
            steps, transient, ..
        } = self.request;
        let mut states = Vec::new();
        let mut keep = |row: usize, x: &[f64]| {
            if row >= transient {
                states.extend_from_slice(x);
            }
            Ok(())
        };
        let x0 = drawn(&*system, self.request.seed);
        self.orbit(&*system, x0, transient.saturating_add(steps), &mut keep)?;
        Ok(states)
    }

    fn observe_orbit(
        &self,
        system: &dyn System,
        (steps, transient): (usize, usize),
        follow: &mut dyn Follow,
    ) -> Result<(Series, Option<SimulateError>), SimulateError> {
        let seed = self.request.seed;
        let names = system.channels();
        let channels = names.len();
        let memory = || SimulateError::Memory {
            rows: steps,
            channels,
        };
        let mut values: Vec<f64> = Vec::new();
        let total = steps.checked_mul(channels).ok_or_else(memory)?;
        values.try_reserve_exact(total).map_err(|_| memory())?;
        let x0 = drawn(system, seed);
        let mut row = vec![0.0; channels];
        let rows = transient.saturating_add(steps);
        let mut keep = |number: usize, x: &[f64]| {
            if number.is_multiple_of(BETWEEN) {
                tell(follow, "simulating rows", number as u64, rows as u64)?;
            }
            if number >= transient {
                system.observe(x, &mut row);
                values.extend_from_slice(&row);
            }
            Ok(())
        };
        let ended = match self.orbit(system, x0, rows, &mut keep) {
            Err(ended) if ended.is_outcome() && !values.is_empty() => Some(ended),
            other => other.map(|()| None)?,
        };
        let trajectory = Trajectory {
            start: transient as f64 * self.dt,
            ..Trajectory::new(values)
        };
        let step = Step {
            dt: self.dt,
            ..Step::default()
        };
        let channels = names.into_iter().map(Channel::named).collect();
        let series = Series::new(channels, Vec::new(), step, vec![trajectory])?;
        Ok((series, ended))
    }

    /// Visits the states of the rows 0, 1, … of the orbit; an error says which row could not be reached.
    fn orbit(
        &self,
        system: &dyn System,
        mut x: Vec<f64>,
        rows: usize,
        visit: &mut Visit<'_>,
    ) -> Result<(), SimulateError> {
        let ends = |row: usize, error: IntegrateError| SimulateError::Orbit {
            system: self.info.entry.id,
            row,
            error,
        };
        let mut advance = self.advance(system, &x);
        visit(0, &x)?;
        for row in 1..rows {
            advance(row, &mut x).map_err(|error| ends(row, error))?;
            if !x.iter().all(|x| x.is_finite()) {
                let time = (row - 1) as f64 * self.dt;
                return Err(ends(row, IntegrateError::Diverged { time }));
            }
            visit(row, &x)?;
        }
        Ok(())
    }

    /// What turns the state of a row into that of the next.
    fn advance<'a>(&self, system: &'a dyn System, x0: &[f64]) -> Advance<'a> {
        let dt = self.dt;
        let mut flow = |x: &[f64], dx: &mut [f64]| system.evaluate(x, dx);
        if self.info.time == Time::Map {
            let mut next = x0.to_vec();
            return Box::new(move |_, x| {
                flow(x, &mut next);
                x.copy_from_slice(&next);
                Ok(())
            });
        }
        if let Some(mut stepper) = system.stepper(dt) {
            return Box::new(move |_, x| {
                stepper.step(x, &mut []);
                Ok(())
            });
        }
        match self.request.method {
            Method::Adaptive { tolerance } => {
                let mut orbit = Dop853::new(flow, x0, Tolerance::relative(tolerance));
                Box::new(move |row, x| orbit.state_at(row as f64 * dt, x))
            }
            Method::Fixed => {
                let mut method = Rk4::new(x0.len());
                Box::new(move |_, x| {
                    method.step(&mut flow, x, dt);
                    Ok(())
                })
            }
        }
    }
}

/// Sees the state of a row, and may stop.
/// The initial state of a seed.
fn drawn(system: &dyn System, seed: u64) -> Vec<f64> {
    let mut x0 = vec![0.0; system.dim()];
    system.draw_initial(&mut Rng::new(seed, Stream::InitialState), &mut x0);
    x0
}

type Visit<'a> = dyn FnMut(usize, &[f64]) -> Result<(), Stopped> + 'a;

type Advance<'a> = Box<dyn FnMut(usize, &mut [f64]) -> Result<(), IntegrateError> + 'a>;

fn unknown(name: &str) -> SimulateError {
    SimulateError::UnknownSystem {
        name: name.to_string(),
        near: nearest(name, SYSTEMS.iter().map(|info| info.entry.id)),
    }
}

fn checked_step(info: &SystemInfo, given: Option<f64>) -> Result<f64, SimulateError> {
    match (info.time, given) {
        (Time::Map, None) => Ok(1.0),
        (Time::Map, Some(dt)) => Err(SimulateError::StepOfMap {
            system: info.entry.id,
            dt,
        }),
        (Time::Flow { dt }, None) => Ok(dt),
        (Time::Flow { .. }, Some(dt)) if dt > 0.0 && dt.is_finite() => Ok(dt),
        (Time::Flow { .. }, Some(dt)) => Err(SimulateError::Step { dt }),
    }
}

/// Mean and standard deviation (n − 1), common to the channels that are [alike](System::alike).
fn common_scaling(series: &Series, system: &dyn System) -> Scaling {
    let mut scaling = Scaling::identity(series.dim_obs());
    for group in system.alike() {
        let (mean, sd) = mean_and_sd(group.clone().flat_map(|c| series.column(c)));
        scaling.mean[group.clone()].fill(mean);
        // A constant channel is only centred, and its noise counts in its own unit.
        scaling.sd[group].fill(if sd > 0.0 { sd } else { 1.0 });
    }
    scaling
}

fn add_noise(series: &Series, sd: &[f64], seed: u64) -> Result<Series, SimulateError> {
    let mut rng = Rng::new(seed, Stream::Noise);
    let noisy = series.trajectories().iter().map(|t| {
        let mut t = t.clone();
        for row in t.x.chunks_exact_mut(sd.len()) {
            row.iter_mut()
                .zip(sd)
                .for_each(|(x, sd)| *x += sd * rng.normal());
        }
        t
    });
    Ok(series.with(noisy.collect())?)
}
