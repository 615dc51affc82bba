//! How good a reconstruction is, every score beside its floor and its chance level: a generated series against a true one
//! ([`compare`]), and a model against data ([`evaluate`], or a [`Judge`] for many models and the same data).
//!
//! A model is judged in the units that it sees: with its scaling applied, without one in those of the data.

mod cache;
mod data;
mod document;
mod exponent;
mod floors;
mod overlap;
mod scores;

use std::path::Path;

use attractor_core::analysis::period::period;
use attractor_core::dynamics::Stretch;
use attractor_core::hint::Hint;
use attractor_core::measure::evaluate::{OrbitPart, OrbitScores, OtherMeasures, Plan, Reference};
use attractor_core::measure::levels::{Level, LevelsError};
use attractor_core::measure::valid_time::ValidTime;
use attractor_core::measure::{Estimate, MeasureError, Options, Rows, refuse_unlike};
use attractor_core::progress::{Follow, Stopped};
use attractor_core::series::{Series, Step};
use attractor_core::system::simulate::SimulateError;
use attractor_core::text::count;

use crate::experiment::Parts;
use crate::model_file::Reconstruction;
use crate::run::Folder;
use crate::seen::{Seen, UnlikeError};
use crate::verdict::{OfSeed, Verdict};

pub use cache::Cache;
pub use document::{EvaluationDocument, ScoreDocument};
pub(crate) use exponent::ROWS;
pub use exponent::{Estimates, Exponents};

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Request {
    /// What can be set about measures.
    pub options: Options,
    /// The system that the truth is from, if it is known: floors are then those of other true orbits.
    pub system: Option<String>,
    /// Its parameters that differ from the defaults, name and value.
    pub set: Vec<(String, String)>,
    /// The largest Lyapunov exponent per unit of time; else the system's.
    pub lyapunov: Option<f64>,
    /// Orbits from other rows of the data than the first.
    pub other_starts: usize,
    /// Which part of an orbit is judged.
    pub orbit: OrbitPart,
    /// Whether floors and chance levels are wanted.
    pub levels: Levels,
}

/// Whether floors and chance levels are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Levels {
    /// Beside every score.
    #[default]
    Shown,
    /// Not at all: they take longer than the scores when they are not in the cache.
    LeftOut,
}

/// The data that a model is from, where they are known: to tell whether it is judged by the same. In the model's columns and in
/// its order, as [`Reconstruction::see_prepared`] gives them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Origin {
    /// What it was trained on.
    pub trained_on: Option<Seen>,
    /// What its parameters were chosen by, if that is something else.
    pub chosen_by: Option<Seen>,
}

impl Origin {
    /// The data of the run that a model is from, if they are still known.
    pub fn of(reconstruction: &Reconstruction, run: &Path) -> Origin {
        let parts = Folder::new(run).parts();
        parts.map_or_else(Origin::default, |parts| {
            Origin::of_parts(reconstruction, &parts)
        })
    }

    /// The parts of the recording that a model is from.
    pub fn of_parts(reconstruction: &Reconstruction, parts: &Parts) -> Origin {
        let seen = |part: &Series| reconstruction.see_prepared(part).ok();
        Origin {
            trained_on: seen(&parts.training),
            chosen_by: parts.selection.as_ref().and_then(seen),
        }
    }
}

/// What is said of a reconstruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Which model, for a model.
    pub model: Option<ModelSizes>,
    /// Rows that were compared.
    pub rows: usize,
    /// Channels.
    pub channels: usize,
    /// Whether the orbit left every bound; then there are no scores.
    pub diverged: bool,
    /// One score per measure, in the order of the list.
    pub scores: Vec<Score>,
    /// The share of generated rows outside the box around the truth.
    pub outside: Option<f64>,
    /// Steps n of PE(n).
    pub pe_steps: usize,
    /// What is known of orbits from other starts, for a model.
    pub starts: Option<Starts>,
    /// The period of an orbit that is regular, in units of time.
    pub period: Option<f64>,
    /// The largest Lyapunov exponent of a model beside that of the system, where it is known.
    pub exponents: Option<Exponents>,
    /// Where it is not known, and it was asked for: estimates of the largest exponent from the orbit and from the data.
    pub estimates: Option<Estimates>,
    /// What fits of the same settings from several seeds amount to on the same rows, this one among them; empty where there are no others.
    pub seeds: Vec<OfSeed>,
    /// The share of the rows that a model was trained on, if its training data are known.
    pub trained_share: Option<f64>,
    /// The share of the rows that its parameters were chosen by, if that is known.
    pub chosen_share: Option<f64>,
    /// Where floors are from; none if they were not asked for.
    pub floor: Option<Floor>,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl Evaluation {
    /// What the reconstruction is worth, in one word with its reasons.
    pub fn verdict(&self) -> Verdict {
        Verdict::of(self)
    }
}

/// Which model was judged, and its size as the paper counts it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelSizes {
    /// Its name.
    pub id: &'static str,
    /// Dynamical variables.
    pub dim: usize,
    /// Parameters |θ|.
    pub parameters: usize,
}

/// One score.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The measure.
    pub id: &'static str,
    /// The value, or why there is none.
    pub value: Result<Estimate, String>,
    /// Floor and chance.
    pub level: Option<Level>,
    /// Over all starts, for a measure of orbits of a model.
    pub over_starts: Option<OverStarts>,
    /// More about a valid prediction time.
    pub valid_time: Option<ValidTimeDetails>,
}

impl Score {
    fn new(id: &'static str, value: Result<Estimate, String>) -> Score {
        Score {
            id,
            value,
            level: None,
            over_starts: None,
            valid_time: None,
        }
    }

    /// Whether the value is only a lower bound, as of forecasts that were all still valid where they ended.
    pub fn is_lower_bound(&self) -> bool {
        let details = self.valid_time.as_ref();
        details.is_some_and(|details| details.found.is_lower_bound())
    }
}

/// A measure over orbits from several starts.
#[derive(Debug, Clone, PartialEq)]
pub struct OverStarts {
    /// One value per start; none where its orbit has none.
    pub each: Vec<Option<f64>>,
    /// The median; none if it is that of a start without a score.
    pub median: Option<f64>,
    /// The worst; none if a start has no score.
    pub worst: Option<f64>,
}

/// How many orbits were judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Starts {
    /// All of them, the paper's among them.
    pub count: usize,
    /// Those that diverged.
    pub diverged: usize,
}

/// More about a valid prediction time.
#[derive(Debug, Clone, PartialEq)]
pub struct ValidTimeDetails {
    /// In steps.
    pub found: ValidTime,
    /// In units of time.
    pub time: f64,
    /// In Lyapunov times, where an exponent is known.
    pub lyapunov_times: Option<f64>,
}

/// Where floors are from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Floor {
    /// The two halves of the truth.
    Halves,
    /// Other orbits of the system, their median.
    OtherOrbits(String),
}

/// Why nothing can be said.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvaluationError {
    /// A measure cannot be computed for these data at all.
    #[error(transparent)]
    Measure(#[from] MeasureError),
    /// The data are not those of the model.
    #[error(transparent)]
    Unlike(#[from] UnlikeError),
    /// No row is complete.
    #[error("no row of the {side} is complete")]
    NoRow {
        /// Truth, generated series or data.
        side: &'static str,
    },
    /// It was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// The system cannot be simulated.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// The truth is from another system.
    #[error("`{system}` has {}, the truth has {found}", count(*expected, "channel"))]
    SystemChannels {
        /// The system.
        system: String,
        /// Its channels.
        expected: usize,
        /// The truth's.
        found: usize,
    },
    /// An exponent that no time can be measured in.
    #[error("expected a Lyapunov exponent above 0, found {found}")]
    Exponent {
        /// What was given.
        found: f64,
    },
}

impl From<LevelsError> for EvaluationError {
    fn from(error: LevelsError) -> EvaluationError {
        match error {
            LevelsError::Measure(error) => EvaluationError::Measure(error),
            LevelsError::Stopped(stopped) => EvaluationError::Stopped(stopped),
        }
    }
}

impl EvaluationError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            EvaluationError::Measure(MeasureError::TooShort { found, .. }) if *found > 1 => Some(
                format!(
                    "give more rows, or forecast fewer steps with `--pe-steps {}`",
                    found - 1
                )
                .into(),
            ),
            EvaluationError::Measure(error) => error.hint(),
            EvaluationError::Unlike(error) => error.hint(),
            EvaluationError::Simulate(error) => error.hint(),
            EvaluationError::NoRow { .. } => {
                Some("leave out with `--channels` what is never recorded with the rest".into())
            }
            EvaluationError::Stopped(_) => None,
            EvaluationError::SystemChannels { .. } => {
                Some("`--system` names the system that the truth was simulated with".into())
            }
            EvaluationError::Exponent { .. } => {
                Some("a system with a positive exponent is chaotic; leave it out for others".into())
            }
        }
    }
}

/// A generated series against a true one, both cut to the shorter.
pub fn compare(
    truth: &Series,
    generated: &Series,
    request: &Request,
    cache: &Cache,
    follow: &mut dyn Follow,
) -> Result<Evaluation, EvaluationError> {
    let mut notes = Vec::new();
    let whole = data::longest(truth, "truth", &mut notes)?.rows();
    let orbit = data::longest(generated, "generated series", &mut notes)?.rows();
    let rows = whole.len().min(orbit.len());
    if whole.len() != orbit.len() {
        notes.push(format!(
            "lengths differ: the first {} of each are compared",
            count(rows, "row")
        ));
    }
    let (whole, orbit) = (whole.slice(0..rows), orbit.slice(0..rows));
    refuse_unlike(whole, orbit)?;
    // No forecasts are made, so that two rows are enough.
    let judge = Judge::prepare(Stretch::of(whole), truth.step(), request, 1, notes)?;
    let levels = judge.levels(cache, follow)?;
    let (scores, found) = scores::of_orbit(&judge.reference, &judge.others, orbit.values());
    let period = judge.period(orbit.values(), found.diverged);
    Ok(Evaluation {
        period,
        ..judge.gather(scores, &found, levels)
    })
}

/// A model against data: the paper's orbit from their first rows, orbits from other rows, and forecasts from all rows.
pub fn evaluate(
    reconstruction: &Reconstruction,
    data: &Seen,
    origin: &Origin,
    request: &Request,
    cache: &Cache,
    follow: &mut dyn Follow,
) -> Result<Evaluation, EvaluationError> {
    let judge = Judge::new(data, origin, request)?;
    let levels = judge.levels(cache, follow)?;
    judge.evaluate_with_estimates(reconstruction, levels)
}

/// A model against the recording that it is from: by what its fit held out, else by what it was trained on.
pub fn evaluate_by_parts(
    reconstruction: &Reconstruction,
    parts: &Parts,
    request: &Request,
    cache: &Cache,
    follow: &mut dyn Follow,
) -> Result<Evaluation, EvaluationError> {
    let origin = Origin::of_parts(reconstruction, parts);
    let judged_by = parts.held_out.as_ref().unwrap_or(&parts.training);
    let data = reconstruction.see_prepared(judged_by)?;
    evaluate(reconstruction, &data, &origin, request, cache, follow)
}

/// Data that models are judged by, prepared once: all of them must see the data alike.
#[derive(Debug, Clone)]
pub struct Judge {
    reference: Reference,
    others: OtherMeasures,
    request: Request,
    step: Step,
    trained_share: Option<f64>,
    chosen_share: Option<f64>,
    notes: Vec<String>,
}

impl Judge {
    /// Prepares data for models that see them like this.
    pub fn new(data: &Seen, origin: &Origin, request: &Request) -> Result<Judge, EvaluationError> {
        let mut notes = Vec::from_iter(data.other_scale(origin.trained_on.as_ref()));
        let series = data.series();
        let truth = data::longest(series, "data", &mut notes)?;
        let share = |of: &Option<Seen>| {
            let of = of.as_ref()?;
            Some(overlap::share(of.series(), truth.rows()))
        };
        let (trained, chosen) = (share(&origin.trained_on), share(&origin.chosen_by));
        notes.extend(data::origin_note(trained, chosen));
        let ahead = request.options.pe_steps;
        let judge = Judge::prepare(truth, series.step(), request, ahead, notes)?;
        Ok(Judge {
            trained_share: trained,
            chosen_share: chosen,
            ..judge
        })
    }

    /// Prepares a truth for forecasts so many steps ahead.
    fn prepare(
        truth: Stretch<'_>,
        step: &Step,
        request: &Request,
        ahead: usize,
        mut notes: Vec<String>,
    ) -> Result<Judge, EvaluationError> {
        let plan = Plan {
            options: Options {
                pe_steps: ahead,
                ..request.options
            },
            orbit: request.orbit,
            ..Plan::default()
        };
        data::note_unscaled(truth.rows(), &mut notes);
        floors::check(truth.rows(), step, request)?;
        Ok(Judge {
            reference: Reference::new(truth, plan)?,
            others: OtherMeasures::new(truth.rows(), &request.options),
            request: request.clone(),
            step: step.clone(),
            trained_share: None,
            chosen_share: None,
            notes,
        })
    }

    /// Floors and chance levels of the data, if they are asked for.
    pub fn levels(
        &self,
        cache: &Cache,
        follow: &mut dyn Follow,
    ) -> Result<Option<Vec<Level>>, EvaluationError> {
        match self.request.levels {
            Levels::LeftOut => Ok(None),
            Levels::Shown => {
                let truth = self.reference.truth();
                let found = floors::find(truth, &self.step, &self.request, cache, follow);
                found.map(Some)
            }
        }
    }

    /// Judges a model, beside the levels of the data.
    pub fn evaluate(
        &self,
        reconstruction: &Reconstruction,
        levels: Option<Vec<Level>>,
    ) -> Result<Evaluation, EvaluationError> {
        let orbit = self.reference.orbit(reconstruction.dynamics.as_ref());
        self.by_orbit(reconstruction, &orbit, levels)
    }

    /// Judges a model as [`Judge::evaluate`] does; where there are levels, with estimates of the largest exponent from recordings, unless that
    /// of the system is known.
    pub fn evaluate_with_estimates(
        &self,
        reconstruction: &Reconstruction,
        levels: Option<Vec<Level>>,
    ) -> Result<Evaluation, EvaluationError> {
        let is_wanted = levels.is_some() && scores::exponent(&self.request)?.is_none();
        let orbit = self.reference.orbit(reconstruction.dynamics.as_ref());
        let judged = self.by_orbit(reconstruction, &orbit, levels)?;
        let truth = self.reference.truth();
        let estimates = || exponent::estimates(Rows::new(&orbit, truth.dim()), truth, &self.step);
        let is_there = is_wanted && !judged.diverged;
        Ok(Evaluation {
            estimates: is_there.then(estimates).flatten(),
            ..judged
        })
    }

    fn by_orbit(
        &self,
        reconstruction: &Reconstruction,
        orbit: &[f64],
        levels: Option<Vec<Level>>,
    ) -> Result<Evaluation, EvaluationError> {
        let dynamics = reconstruction.dynamics.as_ref();
        let (mut scores, found) = scores::of_orbit(&self.reference, &self.others, orbit);
        let period = self.period(orbit, found.diverged);
        let orbit = found;
        if orbit.diverged {
            scores.extend(scores::without_forecasts());
        } else {
            scores.extend(scores::of_forecasts(
                &self.reference,
                dynamics,
                (&self.step, &self.request),
            )?);
        }
        let others = self
            .reference
            .from_other_starts(dynamics, self.request.other_starts);
        let starts = scores::add_starts(&mut scores, &orbit, others.collect());
        let sizes = dynamics.sizes();
        Ok(Evaluation {
            model: Some(ModelSizes {
                id: reconstruction.method.entry.id,
                dim: sizes.dim,
                parameters: sizes.parameters,
            }),
            starts: Some(starts),
            period,
            exponents: self.exponents(reconstruction, orbit.diverged)?,
            trained_share: self.trained_share,
            chosen_share: self.chosen_share,
            ..self.gather(scores, &orbit, levels)
        })
    }

    /// The period of an orbit that does not diverge, if it is regular.
    fn period(&self, orbit: &[f64], diverged: bool) -> Option<f64> {
        let steps = (!diverged).then(|| period(orbit, self.reference.truth().dim()))?;
        steps.map(|steps| steps * scores::sampling_step(&self.step, &self.request))
    }

    /// The exponents of a model that does not diverge and of the system.
    fn exponents(
        &self,
        reconstruction: &Reconstruction,
        diverged: bool,
    ) -> Result<Option<Exponents>, EvaluationError> {
        let truth = scores::exponent(&self.request)?.filter(|_| !diverged);
        let dt = scores::sampling_step(&self.step, &self.request);
        let data = self.reference.data();
        Ok(truth.and_then(|truth| exponent::of_model(reconstruction, data, dt, truth)))
    }

    /// What is said of an orbit, and of the model behind it where there is one.
    fn gather(
        &self,
        mut scores: Vec<Score>,
        orbit: &OrbitScores,
        levels: Option<Vec<Level>>,
    ) -> Evaluation {
        scores::sort(&mut scores);
        for score in &mut scores {
            let mut levels = levels.iter().flatten();
            score.level = levels.find(|level| level.id == score.id).cloned();
        }
        let truth = self.reference.truth();
        Evaluation {
            model: None,
            rows: truth.len(),
            channels: truth.dim(),
            diverged: orbit.diverged,
            outside: orbit.outside,
            scores,
            pe_steps: self.request.options.pe_steps,
            starts: None,
            period: None,
            exponents: None,
            estimates: None,
            seeds: Vec::new(),
            trained_share: None,
            chosen_share: None,
            floor: levels.map(|_| match &self.request.system {
                None => Floor::Halves,
                Some(system) => Floor::OtherOrbits(system.clone()),
            }),
            notes: self.notes.clone(),
        }
    }
}

/// Refuses data that no model which sees them like this could be judged by.
pub fn refuse_unfit(data: &Seen, request: &Request) -> Result<(), EvaluationError> {
    Judge::new(data, &Origin::default(), request).map(|_| ())
}
