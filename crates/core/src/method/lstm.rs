//! LSTM networks, trained by truncated back-propagation through time as in Vlachas et al. (2018).
//!
//! Chunks of SL + PL rows follow one another along a window; of each, the last PL rows are forecast under the loss. States are carried
//! from chunk to chunk without gradient, as far as HSPL rows. The cell is in [`recurrent::lstm`](crate::recurrent::lstm).

use super::recurrent::{self, ALPHA, ALPHA_END, NOISE, RecurrentTrainer, hidden};
use super::trained::{self, setting, up_to};
use super::{Fit, FitError, Fitting, LoadError, Method, Settled, Tensors, Trainer};
use crate::catalogue::{Entry, Kind};
use crate::dynamics::Dynamics;
use crate::optim::Exponential;
use crate::recurrent::Cell;
use crate::recurrent::draw::Passes;
use crate::recurrent::lanes::LstmLanes;
use crate::recurrent::lstm::Lstm;
use crate::recurrent::training::{Chunks, Plan, batches_of_a_pass};
use crate::series::Series;
use crate::settings::{AUTO, Dependence, Domain, Settings, Value, depends};
use crate::text::{count, grouped};
use crate::train::{Rounds, Schedule};
use crate::windows::{Windows, WindowsError};

/// The method.
pub static LSTM: Method = Method {
    entry: Entry {
        kind: Kind::Model,
        id: "lstm",
        summary: "LSTM network, trained by truncated back-propagation through time",
        details: "(i, j, f, o) = W (x_t, s_t, h) + b\n\
                  c ← σ(f + 1) c + σ(i) tanh j,   h ← σ(o) tanh c,   x̂_{t+1} = W_o h + b_o\n\
                  The state (h, c) follows from all rows that the network has taken in. A batch of windows is trained\n\
                  on in chunks: each forecasts the last --prediction of its rows under the loss, after --sequence rows\n\
                  of warm-up, and hands its states on, without gradient, up to --propagation rows. With --alpha below 1\n\
                  the network is fed its own forecasts in part, with gradients through them.",
        settings: &[
            hidden("40"),
            setting(
                "sequence",
                "8",
                up_to(1, 1_000_000_000),
                "Rows that a chunk takes in before its forecasts count",
            ),
            setting(
                "prediction",
                "4",
                up_to(1, 1_000_000_000),
                "Number of forecasts of a chunk that count",
            ),
            setting(
                "propagation",
                "300",
                up_to(2, 1_000_000_000),
                "Rows over which states are carried from chunk to chunk; the warm-up of the network is a quarter of it behind a sequence",
            ),
            ALPHA,
            ALPHA_END,
            trained::batch("32"),
            setting(
                "schedule",
                "rounds",
                Domain::Choice(&["rounds", "exponential"]),
                "How the learning rate falls: in rounds that end when the validation loss no longer falls, or by the same factor every epoch",
            ),
            setting(
                "rounds",
                "5",
                up_to(1, 1000),
                "Rounds, each from the best parameters of the one before",
            ),
            setting(
                "patience",
                "20",
                up_to(1, 1_000_000),
                "Epochs without a lower validation loss after which a round ends; the next one has a tenth of its learning rate",
            ),
            setting(
                "validation",
                "0.2",
                Domain::Real {
                    low: 0.01,
                    high: 0.9,
                },
                "Share of the training rows, at the end of each trajectory, on which the validation loss is computed",
            ),
            setting(
                "epochs",
                "100",
                up_to(1, 1_000_000_000),
                "Epochs; with rounds, those of each round at most",
            ),
            setting(
                "batches-per-epoch",
                AUTO,
                Domain::Auto {
                    low: 1,
                    high: 1_000_000,
                },
                "Batches per epoch, each of several chunks; auto takes as many as one pass over the data has",
            ),
            trained::lr("1e-3"),
            trained::lr_end("1e-4"),
            trained::optimizer("adam"),
            trained::WEIGHT_DECAY,
            trained::CLIP_NORM,
            NOISE,
            trained::LEAST_OBSERVED,
            trained::AVERAGE,
            trained::on_divergence(&["halve-lr"]),
        ],
        references: &["hochreiter1997", "vlachas2018"],
    },
    dependences: DEPENDENCES,
    numerics: 2,
    fit: Fit::Train(trainer),
    settle,
    load,
    story,
};

static DEPENDENCES: &[Dependence] = &[
    depends("rounds", "schedule", in_rounds),
    depends("patience", "schedule", in_rounds),
    depends("validation", "schedule", in_rounds),
    depends("lr-end", "schedule", |v| v == Value::Choice("exponential")),
    trained::OF_RETRIES,
];

fn in_rounds(schedule: Value) -> bool {
    schedule == Value::Choice("rounds")
}

/// SL, PL and HSPL.
#[derive(Debug, Clone, Copy)]
struct Lengths {
    sequence: usize,
    prediction: usize,
    propagation: usize,
}

impl Lengths {
    fn new(set: &Settings) -> Result<Lengths, FitError> {
        let lengths = Lengths {
            sequence: set.integer("sequence"),
            prediction: set.integer("prediction"),
            propagation: set.integer("propagation"),
        };
        let chunk = lengths.sequence + lengths.prediction;
        if chunk > lengths.propagation {
            return Err(FitError::Own {
                message: format!(
                    "a chunk has {} and {}, more than the {} that states are carried over",
                    count(lengths.sequence, "row"),
                    count(lengths.prediction, "forecast"),
                    grouped(lengths.propagation)
                ),
                hint: Some(format!("use `--propagation {chunk}` or more").into()),
            });
        }
        Ok(lengths)
    }

    fn chunks(self) -> Chunks {
        let rows = self.sequence + self.prediction;
        Chunks {
            steps: rows - 1,
            counted: self.prediction,
            count: self.propagation / rows,
        }
    }

    fn passes(self, batch: usize) -> Passes {
        Passes {
            before: self.sequence,
            behind: self.propagation + self.prediction,
            least: self.propagation.max(batch),
        }
    }

    /// Rows after which the start of a state counts as forgotten.
    fn warm_up(self) -> usize {
        self.sequence + self.propagation / 4
    }

    /// All windows of some data, which have the rows of one sequence more than states are carried over.
    fn windows(self, data: &Series, share: f64) -> Result<Windows, FitError> {
        let rows = self.sequence + self.propagation;
        Windows::with_share(data, rows, share).map_err(|error| match error {
            WindowsError::TooShort { longest, .. } => self.too_short(longest),
            error => error.into(),
        })
    }

    fn too_short(self, longest: usize) -> FitError {
        let needed = self.sequence + self.propagation + 1;
        let left = longest.saturating_sub(self.sequence + 1);
        FitError::Own {
            message: format!(
                "states that are carried over {} need {} without a gap, the longest stretch has {}",
                count(self.propagation, "row"),
                needed,
                longest
            ),
            hint: (left >= self.sequence + self.prediction)
                .then(|| format!("use `--propagation {left}` or less").into()),
        }
    }
}

/// The training data, and those of validation where the learning rate falls in rounds.
fn parts(fitting: Fitting<'_>, lengths: Lengths) -> Result<(Windows, Option<Windows>), FitError> {
    let (set, noisy) = (fitting.settings, recurrent::with_noise(fitting));
    let data = noisy.as_ref().unwrap_or(fitting.data);
    let share = set.real("least-observed");
    if set.choice("schedule") != "rounds" {
        return Ok((lengths.windows(data, share)?, None));
    }
    let validation = set.real("validation");
    let (training, rest) = data
        .split_by_time(1.0 - validation)
        .map_err(|_| FitError::Own {
            message: format!("there are too few rows to keep {validation} of them for validation"),
            hint: Some("use `--schedule exponential`, which needs no validation".into()),
        })?;
    let of_rest = lengths.windows(&rest, share).map_err(|error| FitError::Own {
        message: format!("of the validation data: {error}"),
        hint: Some("use `--schedule exponential`, which needs no validation, a larger `--validation` or a shorter `--propagation`".into()),
    })?;
    Ok((lengths.windows(&training, share)?, Some(of_rest)))
}

/// The length of an epoch.
fn settle(fitting: Fitting<'_>) -> Result<Vec<Settled>, FitError> {
    let set = fitting.settings;
    if set.integer_unless_auto("batches-per-epoch").is_some() {
        return Ok(Vec::new());
    }
    let (lengths, batch) = (Lengths::new(set)?, set.integer("batch"));
    let (windows, _) = parts(fitting, lengths)?;
    let batches = batches_of_a_pass(
        &windows,
        lengths.chunks(),
        lengths.passes(batch),
        batch,
        fitting.seed,
    );
    Ok(vec![Settled {
        name: "batches-per-epoch",
        value: batches.to_string(),
        note: None,
    }])
}

fn trainer(_: &'static Method, fitting: Fitting<'_>) -> Result<Box<dyn Trainer>, FitError> {
    let set = fitting.settings;
    let (lengths, batch) = (Lengths::new(set)?, set.integer("batch"));
    let cell = Lstm::new(recurrent::sizes(fitting));
    recurrent::refuse_more_than_memory(cell.sizes(), lengths.chunks().steps, batch)?;
    let (windows, validation) = parts(fitting, lengths)?;
    let (alpha, alpha_end) = recurrent::read_alpha(set);
    let batches = set.integer("batches-per-epoch") as u64;
    let schedule = schedule(set, batches * lengths.chunks().count as u64);
    let plan = Plan {
        course: trained::course_of(fitting, &cell.layout(), schedule),
        batch,
        batches_per_epoch: batches,
        chunks: lengths.chunks(),
        windows,
        validation,
        passes: Some(lengths.passes(batch)),
        alpha,
        alpha_end,
        cell,
    };
    let trainer = RecurrentTrainer::<LstmLanes>::new(plan, lengths.warm_up(), set);
    Ok(Box::new(trainer))
}

/// How the learning rate falls, with so many updates per epoch.
fn schedule(set: &Settings, updates: u64) -> Schedule {
    let (start, epochs) = (set.real("lr"), set.integer("epochs") as u64);
    match set.choice("schedule") {
        "rounds" => Schedule::Rounds(Rounds {
            start,
            divisor: 10.0,
            rounds: set.integer("rounds") as u64,
            epochs,
            patience: set.integer("patience"),
        }),
        _ => Schedule::Exponential(Exponential {
            start,
            end: set.real("lr-end"),
            epochs,
            batches_per_epoch: updates,
        }),
    }
}

fn load(_: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let sizes = recurrent::sizes_of(tensors, ("W", 1), "W_o")?;
    recurrent::load(Lstm::new(sizes), tensors)
}

fn story(set: &Settings) -> String {
    let chunk = set.integer("sequence") + set.integer("prediction");
    let epochs = match set.choice("schedule") {
        "rounds" => format!(
            "in up to {} of at most",
            count(set.integer("rounds"), "round")
        ),
        _ => "for".to_string(),
    };
    format!(
        "by truncated back-propagation through time, in chunks of {} whose states are carried over {}, {epochs} {}",
        count(chunk, "row"),
        count(set.integer("propagation"), "row"),
        count(set.integer("epochs"), "epoch")
    )
}
