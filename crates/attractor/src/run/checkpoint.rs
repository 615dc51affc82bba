//! `checkpoint.safetensors`: all that a run continues from, bit for bit.
//!
//! | tensor | content |
//! | --- | --- |
//! | `theta`, `m`, `v`, `average` | parameters, the optimiser's moments, the average of the parameters |
//! | `extra.…` | what else the method remembers, by name |
//! | `good.theta`, … | the same of the state to go back to, where a divergence may do so |
//! | `history` | one row per epoch |
//! | `best.theta` | the parameters that were best so far, where the best are kept |
//!
//! Positions in random streams and on the schedule follow from the number of updates. The metadata hold the numbers that
//! are not tensors, fingerprints of the data and the settings, and one of everything else, so that a file that was
//! changed is distinguished from one that was not.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use attractor_core::dynamics::Values;
use attractor_core::forcing::alpha::Norm;
use attractor_core::method::LoadedValues;
use attractor_core::optim::Moments;
use attractor_core::train::{Epoch, State};
use safetensors::tensor::{Dtype, SafeTensors};
use serde::{Deserialize, Serialize};

use super::RunError;
use crate::container::{self, Block};
use crate::fingerprint::fingerprint;
use crate::{Error, store};

/// What a run continues from.
#[derive(Debug, Clone, PartialEq)]
pub struct Checkpoint {
    /// Where training is.
    pub state: State,
    /// Where it goes back to if it diverges: the last state at a regular checkpoint.
    pub good: Option<State>,
    /// What was known at the end of every epoch so far.
    pub history: Vec<Epoch>,
    /// How often it went back, and why.
    pub rollbacks: Vec<Rollback>,
    /// The best parameters so far.
    pub best: Option<Best>,
    /// Seconds of training so far.
    pub seconds: f64,
}

/// Training diverged and went back.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rollback {
    /// The update at which it diverged, from 0.
    pub diverged: u64,
    /// Updates that the state it went back to has.
    pub back_to: u64,
    /// What the learning rate is multiplied by from then on.
    pub rate_scale: f64,
    /// Strength of forcing from then on.
    pub alpha: f64,
}

/// The parameters with the lowest score.
#[derive(Debug, Clone, PartialEq)]
pub struct Best {
    /// θ.
    pub theta: Vec<f32>,
    /// Its score.
    pub score: f64,
    /// Epochs after which it was found.
    pub epoch: u64,
    /// Whether it is an average of updates.
    pub averaged: bool,
}

/// What must be the same when a run is continued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Origin {
    /// Of the data.
    pub(super) data: String,
    /// Of the settings.
    pub(super) settings: String,
    /// The version of the method's numbers.
    pub(super) numerics: u32,
}

/// Numbers of a row of the history.
const COLUMNS: usize = 9;

impl Checkpoint {
    /// A state without a past.
    pub(super) fn at(state: State) -> Checkpoint {
        Checkpoint {
            good: None,
            state,
            history: Vec::new(),
            rollbacks: Vec::new(),
            best: None,
            seconds: 0.0,
        }
    }

    /// Writes it, whole or not at all.
    pub(super) fn write(&self, path: &Path, origin: &Origin) -> Result<(), Error> {
        let bytes = self.to_bytes(origin);
        store::write_whole(path, |out| out.write_all(&bytes))
    }

    /// Reads it, if it is of the same data and settings.
    pub(super) fn read(path: &Path, origin: &Origin) -> Result<Checkpoint, Error> {
        let bytes = fs::read(path).map_err(|source| Error::Read {
            path: path.to_path_buf(),
            source,
        })?;
        Checkpoint::from_bytes(&bytes, origin).map_err(|fault| {
            let path = path.to_path_buf();
            Error::Run(match fault {
                Fault::Damaged => RunError::Damaged { path },
                Fault::Data => RunError::OtherData { path },
                Fault::Settings => RunError::OtherSettings { path },
                Fault::Numerics => RunError::OtherNumerics { path },
            })
        })
    }

    /// The history of the run in a folder, as far as its checkpoint has it; of whichever data and settings it is.
    pub(crate) fn history_in(folder: &Path) -> Vec<Epoch> {
        let bytes = fs::read(folder.join(super::CHECKPOINT)).unwrap_or_default();
        let file = File::open(&bytes);
        let checkpoint = file.and_then(|file| file.checkpoint());
        checkpoint.map_or(Vec::new(), |checkpoint| checkpoint.history)
    }

    fn to_bytes(&self, origin: &Origin) -> Vec<u8> {
        let history: Vec<f64> = self.history.iter().flat_map(row).collect();
        let names = extra_names(&self.state, "");
        let mut blocks = state_blocks(&self.state, ["theta", "m", "v", "average"], &names);
        let good_names = self.good.as_ref().map(|good| extra_names(good, GOOD));
        if let (Some(good), Some(extra)) = (&self.good, &good_names) {
            let names = ["good.theta", "good.m", "good.v", "good.average"];
            blocks.extend(state_blocks(good, names, extra));
        }
        if let Some(best) = &self.best {
            blocks.push(vector("best.theta", &best.theta));
        }
        blocks.push(Block {
            name: "history",
            shape: vec![self.history.len(), COLUMNS],
            values: Values::F64(&history),
        });
        let mut texts = BTreeMap::from([
            ("data", origin.data.clone()),
            ("settings", origin.settings.clone()),
            ("numerics", origin.numerics.to_string()),
            ("numbers", self.numbers().to_text()),
        ]);
        let plain = container::to_bytes(&texts, &blocks);
        texts.insert("fingerprint", fingerprint(&plain));
        container::to_bytes(&texts, &blocks)
    }

    fn numbers(&self) -> Numbers {
        let best = self.best.as_ref().map(|best| BestNumbers {
            averaged: best.averaged,
            epoch: best.epoch,
            score: best.score,
        });
        Numbers {
            best,
            good: self.good.as_ref().map(StateNumbers::of),
            rollbacks: self.rollbacks.clone(),
            seconds: self.seconds,
            state: StateNumbers::of(&self.state),
        }
    }

    fn from_bytes(bytes: &[u8], origin: &Origin) -> Result<Checkpoint, Fault> {
        let file = File::open(bytes).ok_or(Fault::Damaged)?;
        if file.text("numerics") != Some(origin.numerics.to_string().as_str()) {
            return Err(Fault::Numerics);
        }
        if file.text("data") != Some(&origin.data) {
            return Err(Fault::Data);
        }
        if file.text("settings") != Some(&origin.settings) {
            return Err(Fault::Settings);
        }
        let checkpoint = file.checkpoint().ok_or(Fault::Damaged)?;
        // Written again it is the same, or a byte of it was changed.
        if checkpoint.to_bytes(origin) != bytes {
            return Err(Fault::Damaged);
        }
        Ok(checkpoint)
    }
}

/// The numbers of a checkpoint that are not tensors.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Numbers {
    best: Option<BestNumbers>,
    good: Option<StateNumbers>,
    rollbacks: Vec<Rollback>,
    seconds: f64,
    state: StateNumbers,
}

impl Numbers {
    fn to_text(&self) -> String {
        serde_json::to_string(self).expect("all keys are texts")
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct BestNumbers {
    averaged: bool,
    epoch: u64,
    score: f64,
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct StateNumbers {
    alpha: f64,
    epoch: u64,
    rate_scale: f64,
    steps: u64,
    update: u64,
}

impl StateNumbers {
    fn of(state: &State) -> StateNumbers {
        StateNumbers {
            alpha: state.alpha,
            epoch: state.epoch,
            rate_scale: state.rate_scale,
            steps: state.moments.steps,
            update: state.update,
        }
    }
}

/// Why a checkpoint is of no use.
#[derive(Debug, PartialEq, Eq)]
enum Fault {
    Damaged,
    Data,
    Settings,
    Numerics,
}

fn vector<'a>(name: &'a str, values: &'a [f32]) -> Block<'a> {
    Block {
        name,
        shape: vec![values.len()],
        values: Values::F32(values),
    }
}

/// How the names of tensors of the state to go back to begin.
const GOOD: &str = "good.";

/// How the names of what a method remembers begin.
const EXTRA: &str = "extra.";

/// The names of what a method remembers, in order.
fn extra_names(state: &State, prefix: &str) -> Vec<String> {
    let names = state.extra.keys();
    names.map(|name| format!("{prefix}{EXTRA}{name}")).collect()
}

fn state_blocks<'a>(
    state: &'a State,
    names: [&'a str; 4],
    extra_names: &'a [String],
) -> Vec<Block<'a>> {
    let State {
        theta,
        moments,
        average,
        extra,
        ..
    } = state;
    let all = [theta, &moments.m, &moments.v, average];
    let pairs = names.into_iter().zip(all);
    let own = pairs.map(|(name, values)| vector(name, values));
    let extra = extra_names.iter().zip(extra.values());
    own.chain(extra.map(|(name, values)| remembered(name, values)))
        .collect()
}

/// Something that a method remembers.
fn remembered<'a>(name: &'a str, values: &'a LoadedValues) -> Block<'a> {
    let (len, values) = match values {
        LoadedValues::F32(values) => (values.len(), Values::F32(values)),
        LoadedValues::F64(values) => (values.len(), Values::F64(values)),
    };
    Block {
        name,
        shape: vec![len],
        values,
    }
}

/// An epoch as numbers; NaN where there was no estimate.
fn row(epoch: &Epoch) -> [f64; COLUMNS] {
    let (kappa, fallbacks) = epoch
        .norm
        .map_or((f64::NAN, 0.0), |n| (n.kappa, n.fallbacks as f64));
    [
        epoch.epoch as f64,
        epoch.update as f64,
        epoch.loss,
        epoch.penalty,
        epoch.alpha,
        kappa,
        fallbacks,
        epoch.rate,
        epoch.gradient_norm,
    ]
}

fn epoch(row: &[f64]) -> Epoch {
    let norm = Norm {
        kappa: row[5],
        fallbacks: row[6] as usize,
    };
    Epoch {
        epoch: row[0] as u64,
        update: row[1] as u64,
        loss: row[2],
        penalty: row[3],
        alpha: row[4],
        norm: Some(norm).filter(|norm| !norm.kappa.is_nan()),
        rate: row[7],
        gradient_norm: row[8],
    }
}

/// A checkpoint's file, taken apart. What is not there or has another form gives `None`.
struct File<'a> {
    texts: HashMap<String, String>,
    tensors: SafeTensors<'a>,
}

impl<'a> File<'a> {
    fn open(bytes: &'a [u8]) -> Option<File<'a>> {
        let tensors = SafeTensors::deserialize(bytes).ok()?;
        let (_, header) = SafeTensors::read_metadata(bytes).ok()?;
        Some(File {
            texts: header.metadata().clone()?,
            tensors,
        })
    }

    fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    fn checkpoint(&self) -> Option<Checkpoint> {
        let numbers: Numbers = serde_json::from_str(self.text("numbers")?).ok()?;
        let best = match numbers.best {
            None => None,
            Some(best) => Some(Best {
                theta: self.f32s("best.theta")?,
                score: best.score,
                epoch: best.epoch,
                averaged: best.averaged,
            }),
        };
        let good = match numbers.good {
            None => None,
            Some(good) => Some(self.state(GOOD, good)?),
        };
        Some(Checkpoint {
            state: self.state("", numbers.state)?,
            good,
            history: self.history()?,
            rollbacks: numbers.rollbacks,
            best,
            seconds: numbers.seconds,
        })
    }

    fn state(&self, prefix: &str, numbers: StateNumbers) -> Option<State> {
        let tensor = |name: &str| self.f32s(&format!("{prefix}{name}"));
        Some(State {
            theta: tensor("theta")?,
            moments: Moments {
                m: tensor("m")?,
                v: tensor("v")?,
                steps: numbers.steps,
            },
            update: numbers.update,
            epoch: numbers.epoch,
            alpha: numbers.alpha,
            rate_scale: numbers.rate_scale,
            average: tensor("average")?,
            extra: self.extra(&format!("{prefix}{EXTRA}"))?,
        })
    }

    /// What a method remembers, under names that begin alike.
    fn extra(&self, prefix: &str) -> Option<BTreeMap<String, LoadedValues>> {
        let names = self.tensors.names().into_iter();
        let own = names.filter_map(|name| Some((name, name.strip_prefix(prefix)?)));
        let values = |name: &str| match self.tensors.tensor(name).ok()?.dtype() {
            Dtype::F32 => self.f32s(name).map(LoadedValues::F32),
            _ => self.f64s(name).map(LoadedValues::F64),
        };
        own.map(|(name, short)| Some((short.to_string(), values(name)?)))
            .collect()
    }

    fn history(&self) -> Option<Vec<Epoch>> {
        let view = self.tensors.tensor("history").ok()?;
        let numbers = self.f64s("history")?;
        let right = view.shape().get(1) == Some(&COLUMNS);
        right.then(|| numbers.chunks_exact(COLUMNS).map(epoch).collect())
    }

    fn f64s(&self, name: &str) -> Option<Vec<f64>> {
        let view = self.tensors.tensor(name).ok()?;
        let (numbers, _) = view.data().as_chunks::<8>();
        (view.dtype() == Dtype::F64)
            .then(|| numbers.iter().map(|&b| f64::from_le_bytes(b)).collect())
    }

    fn f32s(&self, name: &str) -> Option<Vec<f32>> {
        let view = self.tensors.tensor(name).ok()?;
        let (numbers, _) = view.data().as_chunks::<4>();
        (view.dtype() == Dtype::F32)
            .then(|| numbers.iter().map(|&b| f32::from_le_bytes(b)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(first: f32, update: u64) -> State {
        State {
            theta: vec![first, -2.5],
            moments: Moments {
                m: vec![1e-30, 3.0],
                v: vec![0.1, 0.2],
                steps: update,
            },
            update,
            epoch: update / 3,
            alpha: 0.1 + 0.2,
            rate_scale: 0.5,
            average: vec![first, 1.0 / 3.0],
            extra: BTreeMap::from([
                (String::from("lowest"), LoadedValues::F32(vec![first])),
                (String::from("losses"), LoadedValues::F64(vec![0.1, 1e-300])),
            ]),
        }
    }

    fn sample() -> (Checkpoint, Origin) {
        let epoch = |epoch: u64, norm: Option<Norm>| Epoch {
            epoch,
            update: 3 * epoch,
            loss: 1.0 / 3.0,
            penalty: 1e-300,
            alpha: 0.7,
            norm,
            rate: 1e-3,
            gradient_norm: 12.5,
        };
        let norm = Norm {
            kappa: 1.1,
            fallbacks: 3,
        };
        let checkpoint = Checkpoint {
            state: state(1.5, 6),
            good: Some(state(0.1, 3)),
            history: vec![epoch(1, None), epoch(2, Some(norm))],
            rollbacks: vec![Rollback {
                diverged: 5,
                back_to: 3,
                rate_scale: 0.5,
                alpha: 0.3,
            }],
            best: Some(Best {
                theta: vec![0.3, 0.4],
                score: 0.123,
                epoch: 1,
                averaged: true,
            }),
            seconds: 1.25,
        };
        let origin = Origin {
            data: "a".into(),
            settings: "b".into(),
            numerics: 7,
        };
        (checkpoint, origin)
    }

    #[test]
    fn what_is_read_is_what_was_written() {
        let (checkpoint, origin) = sample();
        let bytes = checkpoint.to_bytes(&origin);
        assert_eq!(Checkpoint::from_bytes(&bytes, &origin).unwrap(), checkpoint);
        let bare = Checkpoint {
            good: None,
            best: None,
            history: Vec::new(),
            ..checkpoint
        };
        let bytes = bare.to_bytes(&origin);
        assert_eq!(Checkpoint::from_bytes(&bytes, &origin).unwrap(), bare);
    }

    #[test]
    fn every_changed_byte_and_every_cut_is_noticed() {
        let (checkpoint, origin) = sample();
        let bytes = checkpoint.to_bytes(&origin);
        for i in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[i] ^= 1;
            assert!(
                Checkpoint::from_bytes(&changed, &origin).is_err(),
                "byte {i}"
            );
            assert!(Checkpoint::from_bytes(&bytes[..i], &origin).is_err());
        }
    }

    #[test]
    fn other_data_and_other_settings_are_told() {
        let (checkpoint, origin) = sample();
        let bytes = checkpoint.to_bytes(&origin);
        let other = Origin {
            data: "c".into(),
            ..origin.clone()
        };
        assert_eq!(Checkpoint::from_bytes(&bytes, &other), Err(Fault::Data));
        let other = Origin {
            settings: "c".into(),
            ..origin
        };
        assert_eq!(Checkpoint::from_bytes(&bytes, &other), Err(Fault::Settings));
    }
}
