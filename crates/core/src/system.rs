//! Known dynamical systems: flows dx/dt = f(x) and maps x ← F(x) with their Jacobians, parameters, default
//! sampling steps and known Lyapunov exponents. A new system is one file and one line in [`SYSTEMS`].
//!
//! All flows are autonomous. A driven system has the phase φ of its drive as last coordinate, dφ/dt = ω, so that its
//! state says all about its future; what is *observed* of φ is (cos φ, sin φ), which stays bounded and does not jump.
//!
//! ```
//! use attractor_core::system::{self, Time};
//!
//! let lorenz = system::find("lorenz63").expect("it is in the list");
//! assert_eq!(lorenz.time, Time::Flow { dt: 0.01 });
//! let system = lorenz.with(&[("rho", "24.5")])?;
//! let mut dx = [0.0; 3];
//! system.evaluate(&[1.0, 1.0, 0.0], &mut dx);
//! assert_eq!(dx, [0.0, 23.5, 1.0]);
//! # Ok::<(), attractor_core::settings::SettingError>(())
//! ```

pub mod halving;
pub mod integrate;
pub mod simulate;
mod tableau;

mod arnold_cat;
mod bursting_neuron;
mod chen;
mod chua;
mod coupled_map_lattice;
mod duffing;
mod fitzhugh_nagumo;
mod halvorsen;
mod henon;
mod henon_heiles;
mod hindmarsh_rose;
mod ikeda;
mod kuramoto_sivashinsky;
mod logistic;
mod lorenz_63;
mod lorenz_84;
mod lorenz_96;
mod lorenz_96_multiscale;
mod lozi;
mod lu;
mod moore_spiegel;
mod pendulum;
mod rabinovich_fabrikant;
mod rikitake;
mod rossler;
mod rossler_hyperchaotic;
mod rucklidge;
mod rulkov;
mod shimizu_morioka;
mod sprott;
mod sprott_jerk;
mod standard_map;
mod tent;
mod thomas;
mod tinkerbell;
mod van_der_pol;

#[cfg(test)]
mod tests;

use std::ops::Range;

use crate::catalogue::{Entry, Kind};
use crate::rng::Rng;
use crate::settings::{Domain, Setting, SettingError, Settings};

/// All known systems: first those of the paper, then other flows, then maps.
pub static SYSTEMS: &[&SystemInfo] = &[
    &lorenz_63::INFO,
    &lorenz_96::INFO,
    &lorenz_96_multiscale::INFO,
    &bursting_neuron::INFO,
    &chen::INFO,
    &chua::INFO,
    &duffing::INFO,
    &fitzhugh_nagumo::INFO,
    &halvorsen::INFO,
    &henon_heiles::INFO,
    &hindmarsh_rose::INFO,
    &kuramoto_sivashinsky::INFO,
    &lorenz_84::INFO,
    &lu::INFO,
    &moore_spiegel::INFO,
    &pendulum::INFO,
    &rabinovich_fabrikant::INFO,
    &rikitake::INFO,
    &rossler::INFO,
    &rossler_hyperchaotic::INFO,
    &rucklidge::INFO,
    &shimizu_morioka::INFO,
    &sprott::INFO,
    &sprott_jerk::INFO,
    &thomas::INFO,
    &van_der_pol::INFO,
    &arnold_cat::INFO,
    &coupled_map_lattice::INFO,
    &henon::INFO,
    &ikeda::INFO,
    &logistic::INFO,
    &lozi::INFO,
    &rulkov::INFO,
    &standard_map::INFO,
    &tent::INFO,
    &tinkerbell::INFO,
];

/// A dynamical system with fixed parameters.
pub trait System: Send + Sync {
    /// Number of coordinates M of the state.
    fn dim(&self) -> usize;

    /// Writes dx/dt of a flow, or the next state of a map.
    fn evaluate(&self, x: &[f64], out: &mut [f64]);

    /// Writes the Jacobian of [`System::evaluate`], M × M row-major, every entry.
    fn jacobian(&self, x: &[f64], jac: &mut [f64]);

    /// Draws an initial state; standard normal unless the system says otherwise.
    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        x.iter_mut().for_each(|x| *x = rng.normal());
    }

    /// Names of the observed channels; x, y, z or x1, x2, … unless the system says otherwise.
    fn channels(&self) -> Vec<String> {
        match self.dim() {
            dim @ 1..=3 => ["x", "y", "z"][..dim]
                .iter()
                .map(ToString::to_string)
                .collect(),
            dim => numbered("x", dim),
        }
    }

    /// Writes the observed channels; the leading coordinates unless the system says otherwise.
    fn observe(&self, x: &[f64], out: &mut [f64]) {
        out.copy_from_slice(&x[..out.len()]);
    }

    /// Channels that are standardised with one common mean and standard deviation, because they are alike; every
    /// channel has its own unless the system says otherwise.
    fn alike(&self) -> Vec<Range<usize>> {
        (0..self.channels().len()).map(|c| c..c + 1).collect()
    }

    /// A scheme of its own to go on by `dt`, for a flow too stiff for explicit Runge–Kutta steps.
    fn stepper(&self, _dt: f64) -> Option<Box<dyn Stepper>> {
        None
    }
}

/// A scheme that advances a flow by a fixed time.
pub trait Stepper {
    /// Advances the state `x` (M) together with any number of tangent vectors (M each, one after the other).
    fn step(&mut self, x: &mut [f64], tangents: &mut [f64]);
}

/// Whether time is continuous.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Time {
    /// Continuous time, by default read out every `dt`.
    Flow {
        /// The default sampling step.
        dt: f64,
    },
    /// Discrete time: one row per step.
    Map,
}

/// What is known of a system, and how to make one.
#[derive(Debug)]
pub struct SystemInfo {
    /// Name, sentence, equations, parameters, references.
    pub entry: Entry,
    /// Whether it is a flow or a map.
    pub time: Time,
    /// Makes the system with checked parameters.
    pub build: fn(&Settings) -> Box<dyn System>,
    /// Lyapunov exponents from the literature.
    pub known: &'static [Known],
}

/// Lyapunov exponents from the literature, per unit of time (flows) or per step (maps).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Known {
    /// Parameters that differ from the defaults.
    pub set: &'static [(&'static str, &'static str)],
    /// The largest exponents, descending; all of them unless the source gives only these.
    pub exponents: &'static [f64],
    /// How far the given numbers may be off: rounding, or what the source says.
    pub tolerance: f64,
    /// Key into `refs.bib`.
    pub source: &'static str,
}

impl SystemInfo {
    /// Checks parameters that a user gave.
    pub fn settings<'a>(
        &self,
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Settings, SettingError> {
        let list: Vec<&Setting> = self.entry.settings.iter().collect();
        Settings::resolve(&list, given)
    }

    /// The system with some parameters given and the others at their defaults.
    pub fn with(&self, given: &[(&str, &str)]) -> Result<Box<dyn System>, SettingError> {
        Ok((self.build)(&self.settings(given.iter().copied())?))
    }
}

/// The system of this name.
pub fn find(name: &str) -> Option<&'static SystemInfo> {
    SYSTEMS.iter().copied().find(|info| info.entry.id == name)
}

const fn entry(
    id: &'static str,
    summary: &'static str,
    details: &'static str,
    settings: &'static [Setting],
    references: &'static [&'static str],
) -> Entry {
    Entry {
        kind: Kind::System,
        id,
        summary,
        details,
        settings,
        references,
    }
}

const fn real(name: &'static str, default: &'static str, about: &'static str) -> Setting {
    Setting {
        name,
        default,
        domain: Domain::REAL,
        about,
    }
}

const fn positive(name: &'static str, default: &'static str, about: &'static str) -> Setting {
    Setting {
        name,
        default,
        domain: Domain::Positive,
        about,
    }
}

/// A number of coordinates. The upper end keeps a dense Jacobian within memory.
const fn size(name: &'static str, default: &'static str, low: u64, about: &'static str) -> Setting {
    Setting {
        name,
        default,
        domain: Domain::Integer { low, high: 4096 },
        about,
    }
}

fn numbered(prefix: &str, n: usize) -> Vec<String> {
    (1..=n).map(|i| format!("{prefix}{i}")).collect()
}

fn named<const N: usize>(names: [&str; N]) -> Vec<String> {
    names.map(str::to_string).to_vec()
}

/// The coordinates of a state whose dimension is fixed.
fn coordinates<const M: usize>(x: &[f64]) -> [f64; M] {
    x.try_into()
        .expect("the state has the dimension of its system")
}

/// A normal cloud around a point of a basin of attraction that does not hold the standard normal's.
fn draw_around(centre: &[f64], spread: f64, rng: &mut Rng, x: &mut [f64]) {
    for (x, c) in x.iter_mut().zip(centre) {
        *x = c + spread * rng.normal();
    }
}

/// Uniform numbers in [low, high).
fn draw_between(low: f64, high: f64, rng: &mut Rng, x: &mut [f64]) {
    x.iter_mut().for_each(|x| *x = rng.between(low, high));
}

/// What is observed of a driven system (x, v, φ): position, velocity and the phase of its drive on a circle.
fn observe_driven(x: &[f64], out: &mut [f64]) {
    let [position, velocity, phase] = coordinates(x);
    out.copy_from_slice(&[position, velocity, phase.cos(), phase.sin()]);
}

/// Channels of [`observe_driven`].
fn driven_channels() -> Vec<String> {
    named(["x", "v", "cos_phase", "sin_phase"])
}
