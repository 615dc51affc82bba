//! The system that a model's data are from, where it is known, beside the model: the exponents of the literature, and the system's own
//! fixed points with their stability ([`equilibria`]) and the nearest of the model's.
//!
//! Data may have other units than the system's equations. Its orbit is given the mean and the spread that the data have in every
//! channel, unless both are the same already, up to what finite orbits differ by.

use attractor_core::analysis::cycles::{Cycle, Expired};
use attractor_core::analysis::equilibria::equilibria;
use attractor_core::analysis::stability::Kind;
use attractor_core::series::{Step, mean_and_sd};
use attractor_core::system::simulate::{Request as Orbit, Simulation};
use attractor_core::system::{self, SystemInfo, Time};
use attractor_core::text::{count, figure};
use serde::Serialize;

use super::{Anatomy, observe};
use crate::model_file::Reconstruction;
use crate::seen::Seen;

/// Numbers of the system's orbit, and rows of it, at least and at most.
const NUMBERS: usize = 150_000;
const ROWS: [usize; 2] = [2_000, 50_000];

/// Rows before them.
const TRANSIENT: usize = 1000;

/// Means that differ by less, in spreads, and logarithms of spreads that do, are those of the same units: an orbit that changes wings
/// has a mean that takes long to settle.
const SAME: [f64; 2] = [0.3, 0.15];

/// A fixed point of the model within so many spreads stands for one of the system.
const NEAR: f64 = 0.5;

/// A known system beside a model.
#[derive(Debug, Clone)]
pub struct Known {
    /// The system.
    pub info: &'static SystemInfo,
    /// Exponents of the literature.
    pub exponents: Option<&'static system::Known>,
    /// Its fixed points; or why they cannot stand beside the model's.
    pub points: Result<Vec<KnownPoint>, String>,
    /// Whether they were scaled as the data.
    pub is_scaled: bool,
}

/// A fixed point of a known system.
#[derive(Debug, Clone)]
pub struct KnownPoint {
    /// In the units of the system, with its multipliers over a sampling step of the model.
    pub cycle: Cycle,
    /// In the units of the data.
    pub observed: Vec<f64>,
    /// The nearest fixed point of the model.
    pub nearest: Option<Nearest>,
}

/// The fixed point of a model that is nearest to one of the system.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Nearest {
    /// Its place in the list, from 0.
    pub index: usize,
    /// The root of the mean squared distance, in spreads of the channels.
    pub distance: f64,
    /// What its neighbours do.
    pub kind: Kind,
}

/// Means and spreads of the channels.
type Moments = Vec<(f64, f64)>;

/// Fixed points in the units of a system, each with its place in those of the data, and whether these differ.
type Placed = (Vec<(Cycle, Vec<f64>)>, bool);

/// A known system beside a model that was taken apart; `rows` are data as the model sees them.
pub(super) fn known(
    info: &'static SystemInfo,
    anatomy: &Anatomy,
    reconstruction: &Reconstruction,
    rows: Option<&Seen>,
    expired: Expired<'_>,
) -> Known {
    let of_data = moments(anatomy, reconstruction, rows);
    let found = points(info, &of_data, &reconstruction.card.step, expired);
    let (points, is_scaled) = match found {
        Ok((points, is_scaled)) => (Ok(points), is_scaled),
        Err(why) => (Err(why), false),
    };
    let beside = |(cycle, observed): (Cycle, Vec<f64>)| KnownPoint {
        nearest: nearest(&observed, anatomy, reconstruction, &of_data),
        cycle,
        observed,
    };
    Known {
        info,
        exponents: info.known.iter().find(|known| known.set.is_empty()),
        points: points.map(|points| points.into_iter().map(beside).collect()),
        is_scaled,
    }
}

/// The moments of the data, in their units; of the model's free orbit where there are none.
fn moments(anatomy: &Anatomy, model: &Reconstruction, rows: Option<&Seen>) -> Moments {
    let scaling = &model.card.scaling;
    if let Some(rows) = rows {
        let seen = rows.longest().rows().moments();
        let units = scaling.mean.iter().zip(&scaling.sd);
        let pairs = seen.into_iter().zip(units);
        return pairs
            .map(|((mean, sd), (shift, unit))| (mean * unit + shift, sd * unit))
            .collect();
    }
    let states = anatomy.orbit.chunks_exact(model.dynamics.sizes().state);
    let every = states.len().div_ceil(ROWS[1]).max(1);
    let observed: Vec<Vec<f64>> = states.step_by(every).map(|z| observe(model, z)).collect();
    let channel = |c: usize| mean_and_sd(observed.iter().map(|x| x[c]));
    (0..model.card.channels.len()).map(channel).collect()
}

/// The fixed points of a system in its units and in those of the data, and whether these differ.
fn points(
    info: &SystemInfo,
    of_data: &Moments,
    step: &Step,
    expired: Expired<'_>,
) -> Result<Placed, String> {
    let simulation = simulation(info, step).map_err(|error| error.to_string())?;
    let system = simulation.system();
    let channels = system.channels().len();
    if channels != of_data.len() {
        let (its, has) = (count(channels, "channel"), of_data.len());
        return Err(format!("it has {its}, the model has {has}"));
    }
    let orbit = simulation.states().map_err(|error| error.to_string())?;
    let shown = |x: &[f64]| {
        let mut out = vec![0.0; channels];
        system.observe(x, &mut out);
        out
    };
    let rows: Vec<Vec<f64>> = orbit.chunks_exact(system.dim()).map(shown).collect();
    let own: Moments = (0..channels)
        .map(|c| mean_and_sd(rows.iter().map(|x| x[c])))
        .collect();
    let is_scaled = !are_alike(&own, of_data);
    let in_units = |x: Vec<f64>| {
        let moments = own.iter().zip(of_data);
        let pairs = x.into_iter().zip(moments);
        pairs
            .map(|(x, ((mean, sd), (data_mean, data_sd)))| data_mean + data_sd * (x - mean) / sd)
            .collect()
    };
    let found = equilibria(&simulation, &orbit, expired);
    let beside = |cycle: Cycle| {
        let own = shown(&cycle.points[0]);
        let observed = if is_scaled { in_units(own) } else { own };
        (cycle, observed)
    };
    Ok((found.cycles.into_iter().map(beside).collect(), is_scaled))
}

/// An orbit of a system, sampled as the data.
fn simulation(
    info: &SystemInfo,
    step: &Step,
) -> Result<Simulation, system::simulate::SimulateError> {
    let is_flow = matches!(info.time, Time::Flow { .. });
    let short = Orbit::new(info.entry.id, 1);
    let dim = Simulation::check(&short)?.system().dim();
    let request = Orbit {
        // A step of 1 without a unit is that of data that do not say.
        dt: (is_flow && *step != Step::default()).then_some(step.dt),
        transient: TRANSIENT,
        steps: (NUMBERS / dim).clamp(ROWS[0], ROWS[1]),
        ..short
    };
    Simulation::check(&request)
}

/// Whether moments are those of the same units.
fn are_alike(own: &Moments, of_data: &Moments) -> bool {
    let mut pairs = own.iter().zip(of_data);
    pairs.all(|((mean, sd), (data_mean, data_sd))| {
        (data_mean - mean).abs() < SAME[0] * sd && (data_sd / sd).ln().abs() < SAME[1]
    })
}

fn nearest(
    observed: &[f64],
    anatomy: &Anatomy,
    model: &Reconstruction,
    of_data: &Moments,
) -> Option<Nearest> {
    let distance = |cycle: &Cycle| {
        let x = observe(model, &cycle.points[0]);
        let parts = x.iter().zip(observed).zip(of_data);
        let squares = parts.map(|((a, b), (_, sd))| ((a - b) / sd).powi(2));
        (squares.sum::<f64>() / observed.len() as f64).sqrt()
    };
    let points = anatomy.periodic.first()?.cycles.iter().enumerate();
    let measured = points.map(|(index, cycle)| Nearest {
        index,
        distance: distance(cycle),
        kind: cycle.kind(),
    });
    let finite = measured.filter(|nearest| nearest.distance.is_finite());
    finite.min_by(|a, b| a.distance.total_cmp(&b.distance))
}

impl KnownPoint {
    /// The fixed point of the model that stands for it.
    fn counterpart(&self) -> Option<Nearest> {
        self.nearest.filter(|nearest| nearest.distance <= NEAR)
    }

    /// Whether the model's counterpart is stable and it is not, or the other way round.
    fn differs(&self) -> bool {
        let is_stable = |kind: Kind| kind == Kind::Stable;
        let counterpart = self.counterpart();
        counterpart.is_some_and(|found| is_stable(found.kind) != is_stable(self.cycle.kind()))
    }

    /// The nearest fixed point of the model in words.
    pub fn beside(&self) -> String {
        let Some(nearest) = self.nearest else {
            return "the model has none".to_string();
        };
        let distance = figure(nearest.distance);
        let kind = nearest.kind.name();
        let unlike = if self.differs() { ", unlike this" } else { "" };
        format!("the model's nearest: {distance} spreads away, {kind}{unlike}")
    }
}

impl Known {
    /// How the model's fixed points compare with those of the system, in one sentence; none where there are no points.
    pub fn sentence(&self) -> Option<String> {
        let points = self
            .points
            .as_ref()
            .ok()
            .filter(|points| !points.is_empty())?;
        let name = self.info.entry.id;
        let has = |number: usize| if number == 1 { "has" } else { "have" };
        let are = |number: usize| if number == 1 { "is" } else { "are" };
        let of = |wanted: &dyn Fn(&KnownPoint) -> bool| points.iter().filter(|p| wanted(p)).count();
        let wrong = of(&KnownPoint::differs);
        let alone = of(&|point| point.counterpart().is_none());
        let all = count(points.len(), "fixed point");
        let mut parts = Vec::new();
        if wrong > 0 {
            parts.push(format!(
                "{wrong} {} another stability in the model",
                has(wrong)
            ));
        }
        if alone > 0 {
            parts.push(format!("{alone} {} not in the model", are(alone)));
        }
        if parts.is_empty() {
            parts.push("all are in the model, with the same stability".to_string());
        }
        Some(format!("of {all} of {name}, {}", parts.join(" and ")))
    }

    /// The document.
    pub fn document(&self) -> KnownDocument {
        let point = |point: &KnownPoint| KnownPointDocument {
            point: point.cycle.points[0].clone(),
            observed: point.observed.clone(),
            multipliers: point
                .cycle
                .multipliers
                .iter()
                .map(|m| [m.re, m.im])
                .collect(),
            kind: point.cycle.kind().name(),
            leading: point.cycle.leading().name(),
            nearest: point.nearest.map(|nearest| NearestDocument {
                index: nearest.index,
                distance: nearest.distance,
                kind: nearest.kind.name(),
            }),
            differs: point.differs(),
        };
        let points = self.points.as_ref();
        KnownDocument {
            name: self.info.entry.id,
            exponents: self.exponents.map(|known| known.exponents.to_vec()),
            source: self.exponents.map(|known| known.source),
            fixed_points: points.ok().map(|points| points.iter().map(point).collect()),
            scaled: self.is_scaled,
            sentence: self.sentence(),
            why: self.points.as_ref().err().cloned(),
        }
    }
}

/// A known system as a document.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnownDocument {
    name: &'static str,
    exponents: Option<Vec<f64>>,
    source: Option<&'static str>,
    fixed_points: Option<Vec<KnownPointDocument>>,
    scaled: bool,
    /// How the fixed points of the model compare with its.
    pub sentence: Option<String>,
    why: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct KnownPointDocument {
    point: Vec<f64>,
    observed: Vec<f64>,
    multipliers: Vec<[f64; 2]>,
    kind: &'static str,
    leading: &'static str,
    nearest: Option<NearestDocument>,
    differs: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct NearestDocument {
    index: usize,
    distance: f64,
    kind: &'static str,
}
