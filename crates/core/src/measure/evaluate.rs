//! The scores of the paper from the paper's orbit: D_stsp (with the paper's f32 form from six channels), D_H, PE(n).
//!
//! The orbit starts from the state inferred from the first row of the truth and has ⌊1.25 T⌋ rows, of which the first
//! ⌊0.25 T⌋ are dropped. With external inputs it has T rows and none is dropped. A model may have a second, small
//! attractor that only some starts fall into, so that other starts are judged as well.
//!
//! ```
//! use attractor_core::map::{Dims, MODELS};
//! use attractor_core::measure::Rows;
//! use attractor_core::measure::evaluate::{Plan, Reference};
//! use attractor_core::model::{Architecture, Model};
//! use attractor_core::observation::{ObservationKind, ObservationStart};
//! use attractor_core::system::simulate::{Request, Simulation};
//!
//! let request = Request { standardize: true, ..Request::new("lorenz63", 2000) };
//! let series = Simulation::check(&request)?.run()?.series;
//! let truth = Rows::new(&series.trajectories()[0].x, 3);
//! let dims = Dims { latent: 3, hidden: 20, inputs: 0 };
//! let architecture = Architecture::new(MODELS[0], dims, ObservationKind::Linear, 3)?;
//! let untrained = Model::start(architecture, ObservationStart::WellConditioned, &series, 1);
//! let scores = Reference::new(truth, &[], Plan::default())?.scores(&untrained);
//! assert!(scores.pe.is_some_and(|pe| pe > 0.1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::iter;

use super::d_hellinger::Spectra;
use super::d_stsp::{Binned, Grid, LARGEST_BINNED};
use super::free_run::orbits;
use super::mixture::Mixture;
use super::prediction_error::prediction_error;
use super::{Estimate, MeasureError, Options, Rows, refuse_short, spread};
use crate::model::Model;

/// How the paper's scores are computed.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Plan {
    /// What can be set about the measures.
    pub options: Options,
    /// Which part of a free orbit counts.
    pub orbit: OrbitPart,
    /// What is said of a free orbit.
    pub scores: Which,
}

/// Which scores of a free orbit are computed; the others are none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Which {
    /// All.
    #[default]
    All,
    /// Those of the state space.
    StateSpace,
    /// Those of the spectra.
    Spectra,
}

/// Which part of a free orbit is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OrbitPart {
    /// The last T of ⌊1.25 T⌋ rows, as in the paper's tables; all T where the model has inputs.
    #[default]
    Settled,
    /// All of T rows, as the paper monitors training.
    Whole,
}

/// A truth that models are judged against, prepared once.
pub struct Reference<'a> {
    truth: Rows<'a>,
    inputs: &'a [f64],
    plan: Plan,
    moments: Vec<(f64, f64)>,
    grid: Grid,
    state_space: StateSpace,
    spectra: Spectra,
}

enum StateSpace {
    Binned(Binned),
    Mixture(Mixture),
}

impl StateSpace {
    /// D_stsp, and its f32 form where there is one.
    fn divergence(&self, orbit: Rows<'_>) -> (Option<Estimate>, Option<Estimate>) {
        match self {
            StateSpace::Binned(binned) => {
                let divergence = binned.divergence(orbit).ok();
                (divergence.map(|d| Estimate::exact(d.value)), None)
            }
            StateSpace::Mixture(mixture) => {
                let divergence = mixture.divergence(orbit);
                (Some(divergence.exact), divergence.paper)
            }
        }
    }
}

/// What is said of one free orbit. A score that is not defined is none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OrbitScores {
    /// Whether the orbit left every bound: not finite, or 10⁶ standard deviations from the truth. Then all else is
    /// none.
    pub diverged: bool,
    /// State-space divergence; none if no row lies in the box.
    pub d_stsp: Option<Estimate>,
    /// The same in the f32 form of the paper's tables, from six channels.
    pub d_stsp_paper: Option<Estimate>,
    /// Hellinger distance of spectra; none if a channel of the orbit is constant.
    pub d_h: Option<f64>,
    /// The share of rows outside the box around the truth.
    pub outside: Option<f64>,
}

impl OrbitScores {
    /// The value of a measure by its name, none within if it is not defined; none for other measures.
    pub fn value(&self, id: &str) -> Option<Option<f64>> {
        let value = |estimate: Option<Estimate>| estimate.map(|estimate| estimate.value);
        match id {
            "d_stsp" => Some(value(self.d_stsp)),
            "d_stsp_paper" => Some(value(self.d_stsp_paper)),
            "d_h" => Some(self.d_h),
            _ => None,
        }
    }
}

/// The paper's scores of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scores {
    /// Of the orbit from the first row of the truth.
    pub orbit: OrbitScores,
    /// PE(n); none if forecasts diverge.
    pub pe: Option<f64>,
}

/// Farther from the mean than this many standard deviations, an orbit has diverged.
const BOUND: f64 = 1e6;

/// The paper's scores of a model against a truth; to judge several models, keep a [`Reference`].
pub fn scores(
    model: &Model,
    truth: Rows<'_>,
    inputs: &[f64],
    plan: Plan,
) -> Result<Scores, MeasureError> {
    Ok(Reference::new(truth, inputs, plan)?.scores(model))
}

impl<'a> Reference<'a> {
    /// Prepares a truth, in the units that models see, with its inputs (T × K, empty without).
    pub fn new(
        truth: Rows<'a>,
        inputs: &'a [f64],
        plan: Plan,
    ) -> Result<Reference<'a>, MeasureError> {
        refuse_short(truth, plan.options.pe_steps + 1)?;
        let state_space = match truth.dim() <= LARGEST_BINNED {
            true => StateSpace::Binned(Binned::new(truth, plan.options.state_box)?),
            false => StateSpace::Mixture(Mixture::new(truth, plan.options.seed)?),
        };
        Ok(Reference {
            truth,
            inputs,
            plan,
            moments: spread(truth)?,
            grid: Grid::new(truth, plan.options.state_box)?,
            state_space,
            spectra: Spectra::new(truth)?,
        })
    }

    /// The truth.
    pub fn truth(&self) -> Rows<'a> {
        self.truth
    }

    /// The paper's scores of a model.
    pub fn scores(&self, model: &Model) -> Scores {
        Scores {
            orbit: self.judge(&self.orbit(model)),
            pe: self.prediction_error(model),
        }
    }

    /// PE(n) of a model; none if forecasts diverge.
    pub fn prediction_error(&self, model: &Model) -> Option<f64> {
        let pe = prediction_error(model, self.truth, self.inputs, self.plan.options.pe_steps);
        pe.ok().filter(|pe| pe.is_finite())
    }

    /// The paper's orbit of a model, in f64: from the first row of the truth, without what is dropped.
    pub fn orbit(&self, model: &Model) -> Vec<f64> {
        self.orbit_from(model, self.truth.row(0))
    }

    fn orbit_from(&self, model: &Model, x: &[f64]) -> Vec<f64> {
        let mut orbit = model.orbit(x, self.inputs, self.steps());
        orbit.drain(..self.dropped() * self.truth.dim());
        orbit
    }

    /// The scores of orbits from `count` other rows, evenly spaced over the truth, in f32 lanes; each is judged when it is
    /// asked for. Inputs are those from the first row on.
    pub fn from_other_starts(
        &self,
        model: &Model,
        count: usize,
    ) -> impl Iterator<Item = OrbitScores> {
        let starts: Vec<&[f64]> = self.other_starts(count).collect();
        let dropped = self.dropped() * self.truth.dim();
        let orbits = orbits(model, &starts, self.inputs, self.steps());
        orbits
            .into_iter()
            .map(move |orbit| self.judge(&orbit[dropped..]))
    }

    /// The model with a B through which its free orbits, from the first row and `others` more, vary as the truth does
    /// ([`spread`](crate::spread)); none if there is no such B.
    pub fn with_matched_spread(&self, model: &Model, others: usize) -> Option<Model> {
        let starts = iter::once(self.truth.row(0)).chain(self.other_starts(others));
        let orbits: Vec<Vec<f64>> = starts.map(|x| self.orbit_from(model, x)).collect();
        crate::spread::matched(model, self.truth, &orbits)
    }

    /// `count` rows, evenly spaced, without the first.
    fn other_starts(&self, count: usize) -> impl Iterator<Item = &'a [f64]> {
        let (truth, len) = (self.truth, self.truth.len());
        (0..count).map(move |i| truth.row(((i + 1) * len / (count + 1)).min(len - 1)))
    }

    /// What is said of an orbit with the channels of the truth, row-major.
    pub fn judge(&self, orbit: &[f64]) -> OrbitScores {
        let orbit = Rows::new(orbit, self.truth.dim());
        if leaves_bounds(&self.moments, orbit) {
            return OrbitScores {
                diverged: true,
                ..OrbitScores::default()
            };
        }
        let mut scores = OrbitScores::default();
        if self.plan.scores != Which::Spectra {
            (scores.d_stsp, scores.d_stsp_paper) = self.state_space.divergence(orbit);
            scores.outside = Some(self.grid.outside(orbit));
        }
        if self.plan.scores != Which::StateSpace {
            scores.d_h = self.spectra.distance(orbit).ok();
        }
        scores
    }

    fn dropped(&self) -> usize {
        match self.plan.orbit {
            OrbitPart::Settled if self.inputs.is_empty() => self.truth.len() / 4,
            _ => 0,
        }
    }

    fn steps(&self) -> usize {
        self.truth.len() + self.dropped()
    }
}

/// Whether an orbit left every bound: it is not finite, or farther from the truth than 10⁶ standard deviations.
pub fn has_diverged(truth: Rows<'_>, orbit: Rows<'_>) -> bool {
    leaves_bounds(&truth.moments(), orbit)
}

fn leaves_bounds(moments: &[(f64, f64)], orbit: Rows<'_>) -> bool {
    let within = |row: &[f64]| {
        let mut values = row.iter().zip(moments);
        // Written so that NaN is not within.
        values.all(|(x, (mean, sd))| (x - mean).abs() <= BOUND * sd)
    };
    !orbit.iter().all(within)
}
