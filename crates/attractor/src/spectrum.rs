//! Lyapunov spectra as documents and from a request: those of known systems, along the orbit that
//! [`simulate`](attractor_core::system::simulate) makes with the same seed.

use attractor_core::analysis::lyapunov::{BLOCKS, LyapunovPlan, Spectrum, lyapunov_spectrum};
use attractor_core::progress::Follow;
use attractor_core::rng::{Rng, Stream};
use attractor_core::series::Step;
use attractor_core::system::integrate::IntegrateError;
use attractor_core::system::simulate::{Method, SimulateError, Simulation};
use attractor_core::system::{Known, Time};
use serde::Serialize;

use crate::anatomy::ExponentsDocument;

/// Sampling steps from one orthonormalisation of a flow to the next.
const STRIDE: usize = 10;

/// The fewest steps that a spectrum is made of.
pub const FEWEST_STEPS: usize = STRIDE * BLOCKS;

/// Exponents that are computed unless more are asked for.
pub const SOME: usize = 20;

/// The `count` largest exponents of a system, per unit of time (flows) or per step (maps), over the steps of a simulation
/// and after a tenth as many.
///
/// # Panics
/// If the simulation has fewer than [`FEWEST_STEPS`] steps, or the system fewer dimensions than `count`.
pub fn of_system(
    simulation: &Simulation,
    count: usize,
    follow: &mut dyn Follow,
) -> Result<Spectrum, SimulateError> {
    let (info, request) = (simulation.info(), simulation.request());
    let system = (info.build)(simulation.settings());
    let mut x = vec![0.0; system.dim()];
    system.draw_initial(&mut Rng::new(request.seed, Stream::InitialState), &mut x);
    let stride = if info.time == Time::Map { 1 } else { STRIDE };
    let plan = LyapunovPlan {
        count,
        interval: simulation.dt() * stride as f64,
        transient: request.steps / stride / 10,
        intervals: request.steps / stride,
        ..LyapunovPlan::full(count)
    };
    assert!(
        !matches!(request.method, Method::Fixed),
        "exponents of a flow take adaptive steps"
    );
    let spectrum = lyapunov_spectrum(&*system, info.time, &x, &plan, follow);
    spectrum.map_err(|error| match error {
        IntegrateError::Stopped(stopped) => stopped.into(),
        error => SimulateError::Orbit {
            system: info.entry.id,
            row: row(&error, simulation.dt()),
            error,
        },
    })
}

fn row(error: &IntegrateError, dt: f64) -> usize {
    match error {
        IntegrateError::Diverged { time } => (time / dt) as usize,
        _ => 0,
    }
}

/// How many exponents a system has.
pub fn dim(simulation: &Simulation) -> usize {
    (simulation.info().build)(simulation.settings()).dim()
}

/// The document that `attractor lyapunov --json` prints.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SpectrumDocument {
    schema: u32,
    system: &'static str,
    steps: usize,
    dt: f64,
    seed: u64,
    lyapunov: ExponentsDocument,
    kaplan_yorke: Option<f64>,
    known: Option<Vec<KnownDocument>>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct KnownDocument {
    set: &'static [(&'static str, &'static str)],
    exponents: &'static [f64],
    source: &'static str,
}

/// The document on the spectrum of a system.
pub fn document(simulation: &Simulation, spectrum: &Spectrum) -> SpectrumDocument {
    let info = simulation.info();
    let dt = simulation.dt();
    let step = match info.time {
        Time::Map => Step::default(),
        Time::Flow { .. } => Step {
            dt,
            unit: String::new(),
        },
    };
    // The document divides by the step, and a flow's exponents are per unit of time already.
    let per_step = spectrum.per_time(1.0 / dt);
    let is_whole = spectrum.exponents.len() == dim(simulation);
    SpectrumDocument {
        schema: 1,
        system: info.entry.id,
        steps: simulation.request().steps,
        dt,
        seed: simulation.request().seed,
        lyapunov: ExponentsDocument::new(&per_step, &step),
        kaplan_yorke: is_whole.then(|| spectrum.kaplan_yorke()),
        known: known(simulation),
    }
}

/// What the literature has for these very parameters; none if it has nothing.
fn known(simulation: &Simulation) -> Option<Vec<KnownDocument>> {
    let info = simulation.info();
    let same = |known: &&Known| {
        let parameters = info.settings(known.set.iter().copied());
        parameters.as_ref() == Ok(simulation.settings())
    };
    let known = info.known.iter().filter(same).map(|known| KnownDocument {
        set: known.set,
        exponents: known.exponents,
        source: known.source,
    });
    let known: Vec<KnownDocument> = known.collect();
    (!known.is_empty()).then_some(known)
}
