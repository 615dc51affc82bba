//! The scores of the paper from the paper's orbit: D_stsp (with the paper's f32 form from six channels), D_H, PE(n).
//!
//! The orbit starts from the state inferred from the first rows of the truth, one for most methods, and has ⌊1.25 T⌋ rows, of which the first
//! ⌊0.25 T⌋ are dropped. With external inputs it has T rows and none is dropped. A model may have a second, small
//! attractor that only some starts fall into, so that other starts are judged as well.
//!
//! ```
//! use attractor_core::dynamics::Stretch;
//! use attractor_core::map::{Dims, MODELS};
//! use attractor_core::measure::evaluate::{Plan, Reference};
//! use attractor_core::model::{Architecture, Model};
//! use attractor_core::observation::{ObservationKind, ObservationStart};
//! use attractor_core::system::simulate::{Request, Simulation};
//!
//! let request = Request { standardize: true, ..Request::new("lorenz63", 2000) };
//! let series = Simulation::check(&request)?.run()?.series;
//! let dims = Dims { latent: 3, hidden: 20, inputs: 0 };
//! let architecture = Architecture::new(MODELS[0], dims, ObservationKind::Linear, 3)?;
//! let untrained = Model::start(architecture, ObservationStart::WellConditioned, &series, 1);
//! let scores = Reference::new(Stretch::longest(&series), Plan::default())?.scores(&untrained);
//! assert!(scores.pe.is_some_and(|pe| pe > 0.1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;
use std::iter;
use std::sync::Arc;

use super::d_hellinger::Spectra;
use super::d_stsp::{Binned, Grid, LARGEST_BINNED};
use super::mixture::Mixture;
use super::prediction_error::prediction_error;
use super::valid_time::{ValidForecasts, ValidTime};
use super::{
    Against, Estimate, Judges, MEASURES, MeasureError, Options, Rows, refuse_short, spread,
};
use crate::dynamics::{Dynamics, Stretch};
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
    /// All of the paper's.
    #[default]
    Paper,
    /// Those of the state space.
    StateSpace,
    /// Those of the spectra.
    Spectra,
}

/// Which part of a free orbit is judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OrbitPart {
    /// The last T of ⌊1.25 T⌋ rows, as in the paper's tables; all T where the system has inputs.
    #[default]
    Settled,
    /// The same, but the last T of at least 10,000 rows: an orbit no longer than a short recording does not show whether it stays on an attractor or
    /// ends in a cycle at last. For choosing among models.
    Late,
    /// All of T rows, as the paper monitors training.
    Whole,
}

/// Rows of an orbit that is judged late, at least.
const LATE: usize = 10_000;

/// A truth that fitted systems are judged against, prepared once.
#[derive(Debug, Clone)]
pub struct Reference {
    x: Vec<f64>,
    s: Vec<f64>,
    dim: usize,
    plan: Plan,
    moments: Vec<(f64, f64)>,
    grid: Grid,
    state_space: StateSpace,
    spectra: Spectra,
}

/// A score, or why there is none.
pub type Scored = Result<Estimate, MeasureError>;

#[derive(Debug, Clone)]
enum StateSpace {
    Binned(Binned),
    Mixture(Mixture),
}

impl StateSpace {
    /// D_stsp, and its f32 form where there is one.
    fn divergence(&self, orbit: Rows<'_>) -> Vec<(&'static str, Scored)> {
        match self {
            StateSpace::Binned(binned) => vec![("d_stsp", binned.judge(orbit))],
            StateSpace::Mixture(mixture) => {
                let divergence = mixture.divergence(orbit);
                let paper = divergence.paper.ok_or(MeasureError::Underflow);
                vec![("d_stsp", Ok(divergence.exact)), ("d_stsp_paper", paper)]
            }
        }
    }
}

/// What is said of one free orbit.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OrbitScores {
    /// Whether the orbit left every bound: not finite, or 10⁶ standard deviations from the truth. Then it has no scores.
    pub diverged: bool,
    /// The share of rows outside the box around the truth.
    pub outside: Option<f64>,
    /// By the names of measures, in the order of the list.
    pub scores: Vec<(&'static str, Scored)>,
}

impl OrbitScores {
    /// The value of a measure by its name; none if it was not computed or is not defined.
    pub fn value(&self, id: &str) -> Option<f64> {
        let score = self.scores.iter().find(|(name, _)| *name == id);
        score.and_then(|(_, score)| score.as_ref().ok().map(|estimate| estimate.value))
    }
}

/// The paper's scores of a fitted system.
#[derive(Debug, Clone, PartialEq)]
pub struct Scores {
    /// Of the orbit from the first rows of the truth.
    pub orbit: OrbitScores,
    /// PE(n); none if forecasts diverge.
    pub pe: Option<f64>,
}

/// Farther from the mean than this many standard deviations, an orbit has diverged.
const BOUND: f64 = 1e6;

/// The paper's scores of a system against a truth; to judge several, keep a [`Reference`].
pub fn scores(
    dynamics: &dyn Dynamics,
    truth: Stretch<'_>,
    plan: Plan,
) -> Result<Scores, MeasureError> {
    Ok(Reference::new(truth, plan)?.scores(dynamics))
}

impl Reference {
    /// Prepares a truth, in the units that models see.
    pub fn new(truth: Stretch<'_>, plan: Plan) -> Result<Reference, MeasureError> {
        let rows = truth.rows();
        refuse_short(rows, plan.options.pe_steps + 1)?;
        let state_space = if rows.dim() <= LARGEST_BINNED {
            StateSpace::Binned(Binned::new(rows, plan.options.state_box)?)
        } else {
            StateSpace::Mixture(Mixture::new(rows, plan.options.seed)?)
        };
        Ok(Reference {
            x: rows.values().to_vec(),
            s: truth.inputs().to_vec(),
            dim: rows.dim(),
            plan,
            moments: spread(rows)?,
            grid: Grid::new(rows, plan.options.state_box)?,
            state_space,
            spectra: Spectra::new(rows)?,
        })
    }

    /// The truth.
    pub fn truth(&self) -> Rows<'_> {
        Rows::new(&self.x, self.dim)
    }

    /// The truth with its inputs.
    pub fn data(&self) -> Stretch<'_> {
        Stretch::new(self.truth(), &self.s)
    }

    /// The paper's scores of a system.
    pub fn scores(&self, dynamics: &dyn Dynamics) -> Scores {
        Scores {
            orbit: self.judge(&self.orbit(dynamics)),
            pe: self.prediction_error(dynamics),
        }
    }

    /// PE(n) of a system; none if forecasts diverge.
    pub fn prediction_error(&self, dynamics: &dyn Dynamics) -> Option<f64> {
        let pe = prediction_error(dynamics, self.data(), self.plan.options.pe_steps);
        pe.ok().filter(|pe| pe.is_finite())
    }

    /// How long forecasts of a system are valid.
    pub fn valid_time(&self, dynamics: &dyn Dynamics) -> Result<ValidTime, MeasureError> {
        let forecasts = ValidForecasts::new(self.truth(), self.plan.options.threshold)?;
        Ok(forecasts.of_dynamics(dynamics, self.data()))
    }

    /// The paper's orbit of a system, in f64: from the first row at which it can infer a state, without what is dropped.
    pub fn orbit(&self, dynamics: &dyn Dynamics) -> Vec<f64> {
        self.orbit_from(dynamics, self.first_start(dynamics))
    }

    fn orbit_from(&self, dynamics: &dyn Dynamics, row: usize) -> Vec<f64> {
        let z = dynamics.states_at(self.data(), &[row]);
        let mut orbit = dynamics.orbit(&z, &self.inputs(dynamics), self.steps());
        orbit.drain(..self.dropped() * self.dim);
        orbit
    }

    /// The scores of orbits from `count` other rows, evenly spaced over the truth; each is judged when it is asked for. Inputs
    /// are those of the first orbit.
    pub fn from_other_starts(
        &self,
        dynamics: &dyn Dynamics,
        count: usize,
    ) -> impl Iterator<Item = OrbitScores> {
        let starts: Vec<usize> = self.other_starts(dynamics, count).collect();
        let dropped = self.dropped() * self.dim;
        let inputs = self.inputs(dynamics);
        let orbits = dynamics.orbits(self.data(), &starts, &inputs, self.steps());
        orbits
            .into_iter()
            .map(move |orbit| self.judge(&orbit[dropped..]))
    }

    /// The model with a B through which its free orbits, from the first row and `others` more, vary as the truth does
    /// ([`spread`](crate::spread)); none if there is no such B.
    pub fn with_matched_spread(&self, model: &Model, others: usize) -> Option<Model> {
        let first = self.first_start(model);
        let starts = iter::once(first).chain(self.other_starts(model, others));
        let orbits: Vec<Vec<f64>> = starts.map(|row| self.orbit_from(model, row)).collect();
        crate::spread::matched(model, self.truth(), &orbits)
    }

    /// The first row at which a system can infer a state.
    fn first_start(&self, dynamics: &dyn Dynamics) -> usize {
        (dynamics.memory().rows() - 1).min(self.truth().len() - 1)
    }

    /// `count` rows, evenly spaced, without the first.
    fn other_starts(
        &self,
        dynamics: &dyn Dynamics,
        count: usize,
    ) -> impl Iterator<Item = usize> + use<> {
        let (first, len) = (self.first_start(dynamics), self.truth().len());
        (0..count).map(move |i| ((i + 1) * len / (count + 1)).clamp(first, len - 1))
    }

    /// The inputs of an orbit: those from the row that it starts at, from their first row again behind their last.
    fn inputs(&self, dynamics: &dyn Dynamics) -> Vec<f64> {
        let k = dynamics.sizes().inputs;
        let from = self.s.iter().copied().cycle();
        from.skip(self.first_start(dynamics) * k)
            .take(if self.s.is_empty() {
                0
            } else {
                self.steps() * k
            })
            .collect()
    }

    /// The paper's scores of an orbit with the channels of the truth, row-major.
    pub fn judge(&self, orbit: &[f64]) -> OrbitScores {
        let orbit = Rows::new(orbit, self.dim);
        if leaves_bounds(&self.moments, orbit) {
            return OrbitScores {
                diverged: true,
                ..OrbitScores::default()
            };
        }
        let mut scores = OrbitScores::default();
        if self.plan.scores != Which::Spectra {
            scores.scores = self.state_space.divergence(orbit);
            scores.outside = Some(self.grid.outside(orbit));
        }
        if self.plan.scores != Which::StateSpace {
            scores.scores.push(("d_h", self.spectra.judge(orbit)));
        }
        scores
    }

    /// The names of the measures that [`Reference::judge`] computes.
    pub fn names(&self) -> Vec<&'static str> {
        let of_states: &[&str] = match (self.plan.scores, &self.state_space) {
            (Which::Spectra, _) => &[],
            (_, StateSpace::Binned(_)) => &["d_stsp"],
            (_, StateSpace::Mixture(_)) => &["d_stsp", "d_stsp_paper"],
        };
        let of_spectra = (self.plan.scores != Which::StateSpace).then_some("d_h");
        of_states.iter().copied().chain(of_spectra).collect()
    }

    fn dropped(&self) -> usize {
        let rows = self.truth().len();
        match self.plan.orbit {
            OrbitPart::Whole => 0,
            _ if !self.s.is_empty() => 0,
            OrbitPart::Settled => rows / 4,
            OrbitPart::Late => (rows / 4).max(LATE.saturating_sub(rows)),
        }
    }

    fn steps(&self) -> usize {
        self.truth().len() + self.dropped()
    }
}

/// A measure ready to compare with a truth, or why it cannot.
type Prepared = Result<Arc<dyn Against>, MeasureError>;

/// The measures of orbits that are not the paper's, against one truth.
#[derive(Clone)]
pub struct OtherMeasures {
    prepared: Vec<(&'static str, Prepared)>,
}

impl fmt::Debug for OtherMeasures {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.prepared.iter().map(|(name, _)| name);
        f.debug_list().entries(names).finish()
    }
}

impl OtherMeasures {
    /// Prepares those that have a meaning for the truth.
    pub fn new(truth: Rows<'_>, options: &Options) -> OtherMeasures {
        let of_paper = ["d_stsp", "d_stsp_paper", "d_h"];
        let others = MEASURES.iter().filter_map(|info| match info.judges {
            Judges::Orbit(prepare) if !of_paper.contains(&info.entry.id) => {
                let against = prepare(truth, options).transpose()?.map(Arc::from);
                Some((info.entry.id, against))
            }
            _ => None,
        });
        OtherMeasures {
            prepared: others.collect(),
        }
    }

    /// What they say of an orbit that has not diverged.
    pub fn judge(&self, orbit: Rows<'_>) -> Vec<(&'static str, Scored)> {
        let judged = self.prepared.iter().map(|(id, against)| {
            let score = match against {
                Ok(against) => against.judge(orbit),
                Err(error) => Err(error.clone()),
            };
            (*id, score)
        });
        judged.collect()
    }

    /// Their names.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.prepared.iter().map(|(id, _)| *id)
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
