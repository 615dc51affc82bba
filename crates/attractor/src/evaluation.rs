//! How good a reconstruction is, every score beside its floor and its chance level: a generated series against a true one
//! ([`compare`]), and a model against data ([`evaluate`]).
//!
//! A model is judged in the units that it sees: with its scaling applied, without one in those of the data.

mod cache;
mod data;
mod document;
mod floors;
mod overlap;
mod scores;

use attractor_core::inspect::count;
use attractor_core::measure::d_stsp::Grid;
use attractor_core::measure::evaluate::{Plan, Reference, has_diverged};
use attractor_core::measure::levels::Level;
use attractor_core::measure::valid_time::ValidTime;
use attractor_core::measure::{Estimate, MEASURES, MeasureError, Options, Rows, refuse_unlike};
use attractor_core::series::{Series, Step};
use attractor_core::system::simulate::SimulateError;

use crate::generate::GenerateError;
use crate::model_file::Reconstruction;

pub use cache::Cache;

use data::Stretch;

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
    /// Whether floors and chance levels are wanted.
    pub levels: Levels,
    /// What a model was trained on, if that is known: to tell whether it is judged by the same.
    pub trained_on: Option<Series>,
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

/// What is said of a reconstruction.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// Rows that were compared.
    pub rows: usize,
    /// Channels.
    pub channels: usize,
    /// Whether the orbit left every bound; then there are no scores.
    pub diverged: bool,
    /// A score a measure, in the order of the list.
    pub scores: Vec<Score>,
    /// The share of generated rows outside the box around the truth.
    pub outside: Option<f64>,
    /// Steps n of PE(n).
    pub pe_steps: usize,
    /// What is known of orbits from other starts, for a model.
    pub starts: Option<Starts>,
    /// The share of the rows that a model was trained on, if its training data are known.
    pub trained_share: Option<f64>,
    /// Where floors are from; none if they were not asked for.
    pub floor: Option<Floor>,
    /// What a reader should know.
    pub notes: Vec<String>,
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
}

/// A measure over orbits from several starts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OverStarts {
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
    Unlike(#[from] GenerateError),
    /// A value is missing.
    #[error("`{channel}` of the {side} is missing in row {}", row + 1)]
    Missing {
        /// Truth, generated series or data.
        side: &'static str,
        /// The channel or input.
        channel: String,
        /// The row of its trajectory, from 0.
        row: usize,
    },
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
    #[error("a Lyapunov exponent above 0 is needed, found {found}")]
    Exponent {
        /// What was given.
        found: f64,
    },
}

impl EvaluationError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            EvaluationError::Measure(MeasureError::TooShort { found, .. }) if *found > 1 => {
                Some(format!(
                    "give more rows, or forecast fewer steps with `--pe-steps {}`",
                    found - 1
                ))
            }
            EvaluationError::Measure(error) => error.hint(),
            EvaluationError::Unlike(error) => error.hint(),
            EvaluationError::Simulate(error) => error.hint(),
            EvaluationError::Missing { .. } => Some(
                "cut out or fill in missing values: measures are not defined with holes".into(),
            ),
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
) -> Result<Evaluation, EvaluationError> {
    let mut notes = Vec::new();
    let truth = Stretch::longest(truth, "truth", &mut notes)?;
    let generated = Stretch::longest(generated, "generated series", &mut notes)?;
    let rows = truth.len().min(generated.len());
    if truth.len() != generated.len() {
        notes.push(format!(
            "lengths differ: the first {rows} rows of each are compared"
        ));
    }
    let (reference, orbit) = (truth.first(rows), generated.first(rows));
    refuse_unlike(reference, orbit)?;
    let scores = scores::of_orbit(reference, orbit, &request.options);
    let judged = Judged {
        truth: reference,
        orbit,
        scores,
        starts: None,
        trained_share: None,
        notes,
    };
    judged.finish(&truth.step, request, cache)
}

/// A model against data: the paper's orbit from their first row, orbits from other rows, and forecasts from all rows.
pub fn evaluate(
    reconstruction: &Reconstruction,
    data: &Series,
    request: &Request,
    cache: &Cache,
) -> Result<Evaluation, EvaluationError> {
    let mut notes = Vec::new();
    let data = Stretch::for_model(reconstruction, data, &mut notes)?;
    let trained_share = data.trained_share(request.trained_on.as_ref());
    notes.extend(trained_share.and_then(data::training_note));
    let data = data.scaled(&reconstruction.card.scaling);
    let (truth, model) = (data.first(data.len()), &reconstruction.model);
    let plan = Plan {
        options: request.options,
        ..Plan::default()
    };
    let reference = Reference::new(truth, &data.s, plan)?;
    let generated = reference.orbit(model);
    let orbit = Rows::new(&generated, truth.dim());
    let mut scores = scores::of_orbit(truth, orbit, &request.options);
    match has_diverged(truth, orbit) {
        true => scores.extend(scores::without_forecasts()),
        false => scores.extend(scores::of_forecasts(&reference, model, &data, request)?),
    }
    scores.sort_by_key(|score| MEASURES.iter().position(|info| info.entry.id == score.id));
    let others = reference
        .from_other_starts(model, request.other_starts)
        .collect();
    let starts = scores::add_starts(&mut scores, reference.judge(&generated), others);
    let judged = Judged {
        truth,
        orbit,
        scores,
        starts: Some(starts),
        trained_share,
        notes,
    };
    judged.finish(&data.step, request, cache)
}

/// What is known before floors and chance.
struct Judged<'a> {
    truth: Rows<'a>,
    orbit: Rows<'a>,
    scores: Vec<Score>,
    starts: Option<Starts>,
    trained_share: Option<f64>,
    notes: Vec<String>,
}

impl Judged<'_> {
    fn finish(
        mut self,
        step: &Step,
        request: &Request,
        cache: &Cache,
    ) -> Result<Evaluation, EvaluationError> {
        let floor = match request.levels {
            Levels::Shown => Some(floors::add(
                &mut self.scores,
                self.truth,
                (step, request),
                cache,
            )?),
            Levels::LeftOut => {
                floors::check(self.truth, step, request)?;
                None
            }
        };
        data::note_unscaled(self.truth, &mut self.notes);
        let diverged = has_diverged(self.truth, self.orbit);
        let grid = Grid::new(self.truth, request.options.state_box)?;
        Ok(Evaluation {
            rows: self.truth.len(),
            channels: self.truth.dim(),
            diverged,
            outside: (!diverged).then(|| grid.outside(self.orbit)),
            scores: self.scores,
            pe_steps: request.options.pe_steps,
            starts: self.starts,
            trained_share: self.trained_share,
            floor,
            notes: self.notes,
        })
    }
}
