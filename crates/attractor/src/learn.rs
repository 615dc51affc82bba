//! The best model of a recording that nobody tuned on: several methods and settings race under a budget, judged by rows that none of
//! them has seen, and the winner is fitted again from several seeds.
//!
//! ```text
//! recording ──▶  training  │  selection  │  test          of every trajectory, in time
//!                    60 %  │        20 %  │   20 %
//!
//! race     candidates are fitted to the training part and judged by the selection part; what is trained stops after 1/9 and 1/3 of
//!          its updates, and the best third goes on
//! finals   the winner's settings, from several seeds, fitted to training and selection part together; the best by those rows stays.
//!          Where most of these fits diverge, the race goes on without that winner
//! verdict  the test part, which has entered nothing so far
//! ```
//!
//! A candidate is the folder of a [run](crate::run), and `learn.json` has what was found of each: what was interrupted continues with the
//! same request, and ends as if it had not been. With a budget in updates the result depends on the data, the request and the seed
//! alone; with one in minutes the lengths of trainings depend on the machine, once, at the start.

mod bench;
mod candidates;
mod error;
mod finals;
mod fit;
mod ledger;
mod parts;
mod race;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use attractor_core::progress::Follow;
use attractor_core::text::{count, measure};

use crate::Error;
use crate::evaluation::{Evaluation, EvaluationDocument};
use crate::experiment::DataSource;
use crate::run::Recording;

pub use bench::Standing;
pub use error::LearnError;
pub use ledger::{Candidate, Final, Ledger, Mark};
use parts::Shares;

/// What is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// The recording, and how it is read.
    pub source: DataSource,
    /// The folder for all that is made.
    pub out: PathBuf,
    /// What the model is for.
    pub goal: Goal,
    /// How long it may take.
    pub budget: Budget,
    /// The methods that race; all that suit the goal where none are named.
    pub methods: Vec<String>,
    /// Whole trajectories that are kept as the test part, as the setting says it.
    pub held_out_trajectories: Option<String>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Fits side by side.
    pub workers: usize,
}

/// What a model is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Goal {
    /// Free orbits like those of the system.
    Attractor,
    /// Forecasts.
    Forecast,
    /// Free orbits like those of the system, of a piecewise-linear model: its fixed points, cycles and regions can be had completely.
    Anatomy,
}

/// How long a race may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// About so many minutes, on all workers together.
    Minutes(f64),
    /// Trainings of so many updates: the same seed gives the same result.
    Updates(u64),
}

impl Goal {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Goal::Attractor => "attractor",
            Goal::Forecast => "forecast",
            Goal::Anatomy => "anatomy",
        }
    }
}

impl Budget {
    fn text(self) -> String {
        match self {
            Budget::Minutes(minutes) => measure(minutes, "minute"),
            Budget::Updates(updates) => count(updates as usize, "update"),
        }
    }
}

/// Follows a race, and may end it.
pub trait Spectator: Sync {
    /// Whether all shall be stored where it is.
    fn asks_to_stop(&self) -> bool;

    /// Something happened.
    fn sees(&self, event: Event<'_>);
}

/// What happens in a race.
#[derive(Debug, Clone, Copy)]
pub enum Event<'a> {
    /// A stage begins: so many fits.
    Stage {
        /// What they are.
        what: &'a str,
        /// How many.
        fits: usize,
    },
    /// A candidate was judged by the selection part.
    Judged(&'a Candidate, &'a Mark),
    /// A candidate is out.
    Out(&'a Candidate, &'a str),
    /// The winner from one more seed was judged.
    Repeated(&'a Final),
}

/// A recording that is ready to be raced on.
#[derive(Debug, Clone)]
pub struct Learn {
    request: Request,
    recording: Arc<Recording>,
    shares: Shares,
    notes: Vec<String>,
    begun: Instant,
}

/// What a race gave.
#[derive(Debug, Clone)]
pub struct Learned {
    /// Who came how far.
    pub ledger: Ledger,
    /// The folder of the run with the best model.
    pub run: PathBuf,
    /// The model judged by the test part; or why it cannot be.
    pub evaluation: Result<Evaluation, String>,
}

impl Learned {
    /// The evaluation as a document.
    pub fn document(&self) -> Option<EvaluationDocument> {
        self.evaluation.as_ref().ok().map(Evaluation::document)
    }
}

impl Learn {
    /// Reads, checks and prepares the recording: numbers that stand for missing values are read as such, short gaps are interpolated, one
    /// channel that hides states becomes delay vectors (in a file of the folder), and a test part is set aside. Each is said in a note.
    pub fn prepare(request: Request, follow: &mut dyn Follow) -> Result<Learn, Error> {
        candidates::refuse_unknown(&request)?;
        Ledger::refuse_foreign(&request.out)?;
        let begun = Instant::now();
        let prepared = parts::prepare(&request, follow)?;
        Ok(Learn {
            recording: Arc::new(prepared.recording),
            shares: prepared.shares,
            notes: prepared.notes,
            request,
            begun,
        })
    }

    /// What was done to the recording, in sentences.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The recording that models are fitted to.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Races, or goes on with a race that was interrupted.
    pub fn run(&self, spectator: &dyn Spectator) -> Result<Learned, Error> {
        let mut ledger = Ledger::open(&self.request, self.recording.fingerprint())?;
        loop {
            race::race(self, &mut ledger, spectator)?;
            if finals::finals(self, &mut ledger, spectator)? {
                break;
            }
        }
        let (run, evaluation) = finals::tested(self, &mut ledger)?;
        ledger.write(&self.request.out)?;
        Ok(Learned {
            ledger,
            run,
            evaluation,
        })
    }
}
