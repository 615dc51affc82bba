//! Methods: everything that makes a [`Dynamics`] of a recording, in one list.
//!
//! ```text
//!                  ┌─ solve   at once
//! Series ── fit ───┤                                 ──▶ Dynamics
//!                  └─ train   by updates: watched, judged on the way, resumed bit for bit
//! ```
//!
//! A method is a file with a [`Method`] and a line in [`METHODS`]: its description and own settings, how it is fitted, how it is
//! loaded. `train`, `resume`, `sweep`, model files, `evaluate`, `table`, `report` and the laws follow from the list. A program can
//! [`register`] methods of its own before it uses them.

pub mod latent_ode;
pub mod lem;
pub mod linear;
pub mod lstm;
pub mod neural_ode;
pub mod nvar;
pub mod ode_rnn;
mod recording;
mod recurrent;
pub mod reservoir;
pub mod sindy;
pub mod teacher_forced;
mod trained;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::RwLock;

use crate::catalogue::{Entry, Kind};
use crate::dynamics::{Dynamics, Values};
use crate::exponent::automatic::PredictabilityError;
use crate::hint::Hint;
use crate::model::ArchitectureError;
use crate::progress::{Follow, Stopped};
use crate::series::Series;
use crate::settings::{Dependence, Setting, Settings, nearest};
use crate::simd::Isa;
use crate::text::grouped;
use crate::theta::Shape;
use crate::train::{Outcome, State, Watch};
use crate::windows::{Cuts, Windows, WindowsError};

/// A way to make a [`Dynamics`] of a recording.
pub struct Method {
    /// Its description; the settings are its own.
    pub entry: Entry,
    /// Which of its settings act only with certain values of others.
    pub dependences: &'static [Dependence],
    /// The version of its numbers: it grows when the same data, settings and seed give another fit than before.
    pub numerics: u32,
    /// How it is fitted.
    pub fit: Fit,
    /// Settles what its settings leave to the data.
    pub settle: fn(Fitting<'_>) -> Result<Vec<Settled>, FitError>,
    /// How it is loaded from the tensors of a model file.
    pub load: Load,
    /// How it was fitted, in words that follow `was trained`, such as `by teacher forcing, for 5,000 epochs of 50 batches`.
    pub story: fn(&Settings) -> String,
}

/// How a method is fitted.
#[derive(Clone, Copy, Debug)]
pub enum Fit {
    /// Solved at once.
    Solve(Solve),
    /// Trained by updates.
    Train(Train),
}

/// Solves a method at once.
pub type Solve = fn(&'static Method, Fitting<'_>, &mut dyn Follow) -> Solved;

/// What comes of solving a method: a system, or why there is none.
pub type Solved = Result<Box<dyn Dynamics>, FitError>;

/// Makes ready to train a method by updates.
pub type Train = fn(&'static Method, Fitting<'_>) -> Result<Box<dyn Trainer>, FitError>;

/// Loads a system from the tensors of a model file.
pub type Load = fn(&'static Method, &Tensors) -> Result<Box<dyn Dynamics>, LoadError>;

/// What a fit is made of.
#[derive(Debug, Clone, Copy)]
pub struct Fitting<'a> {
    /// The method's own settings, those of all methods, and for one that is trained those of the loop.
    pub settings: &'a Settings,
    /// The training data, as the model sees them.
    pub data: &'a Series,
    /// Windows that other fits of these data have cut, if several are made.
    pub cuts: Option<&'a Cuts>,
    /// The seed of all random streams.
    pub seed: u64,
    /// Worker threads, without effect on the result.
    pub threads: usize,
    /// Whether only as many of them work as pay.
    pub paced: bool,
    /// The instruction set.
    pub isa: Isa,
}

impl Fitting<'_> {
    /// [`Windows::with_share`] of the data.
    pub(crate) fn windows(&self, window: usize, least: f64) -> Result<Windows, WindowsError> {
        let own = Cuts::default();
        let cuts = self.cuts.unwrap_or(&own);
        cuts.with_share(self.data, window, least)
    }

    /// [`Windows::from_any_row`] of the data.
    pub(crate) fn windows_from_any_row(
        &self,
        window: usize,
        least: f64,
    ) -> Result<Windows, WindowsError> {
        let own = Cuts::default();
        let cuts = self.cuts.unwrap_or(&own);
        cuts.from_any_row(self.data, window, least)
    }
}

/// A setting that was left to the data.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// The setting.
    pub name: &'static str,
    /// Its value for these data.
    pub value: String,
    /// What follows from it, for the user to know.
    pub note: Option<String>,
}

/// A method that is trained by updates, for given data and settings. With the same [`State`] it goes on with the same bits.
pub trait Trainer: Send + Sync {
    /// Where training starts.
    fn start(&self) -> State;

    /// Trains from a state to the end.
    fn train(&self, from: State, watch: &mut dyn Watch) -> Outcome;

    /// The system with these parameters.
    fn dynamics(&self, theta: &[f32]) -> Box<dyn Dynamics>;

    /// Epochs, and updates of each.
    fn length(&self) -> Length;

    /// What the user should know before it begins.
    fn notes(&self) -> Vec<String> {
        Vec::new()
    }

    /// What may keep training finite, given what was set; settings as flags in backticks.
    fn against_divergence(&self) -> Vec<&'static str> {
        Vec::new()
    }
}

/// How long a training is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Length {
    /// Epochs.
    pub epochs: u64,
    /// Updates per epoch.
    pub updates_per_epoch: u64,
    /// Worker threads that it uses.
    pub threads: usize,
}

impl Length {
    /// All updates.
    pub fn updates(self) -> u64 {
        self.epochs * self.updates_per_epoch
    }
}

/// Why a method cannot be fitted to data.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FitError {
    /// The sizes do not fit together.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    /// The data have no windows.
    #[error(transparent)]
    Windows(#[from] WindowsError),
    /// The interval of sparse forcing cannot be found from the data.
    #[error("no automatic interval of sparse forcing: {0}")]
    Interval(#[from] PredictabilityError),
    /// What one update works on does not fit into memory.
    #[error("an update works on about {gib} GiB, which do not fit into memory")]
    Memory {
        /// How much it is.
        gib: u64,
    },
    /// A channel does not vary.
    #[error("channel `{channel}` is constant")]
    Constant {
        /// Its name.
        channel: String,
    },
    /// No stretch of rows without a gap or a missing value is long enough.
    #[error("{} rows in a row are needed, the longest stretch without gaps has {}", grouped(*needed), grouped(*longest))]
    Short {
        /// Rows of the longest stretch.
        longest: usize,
        /// Rows that are needed.
        needed: usize,
        /// The setting that so many rows are needed for, if it can be less.
        because: Option<&'static str>,
    },
    /// Something of the method's own.
    #[error("{message}")]
    Own {
        /// What is wrong.
        message: String,
        /// What to do about it, settings as flags in backticks.
        hint: Option<Hint>,
    },
    /// It was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl FitError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            FitError::Architecture(error) => error.hint(),
            FitError::Windows(WindowsError::TooShort { longest, .. }) => match longest {
                0 | 1 => None,
                rows => Some(format!("use `--window {}` or less", rows - 1).into()),
            },
            FitError::Windows(WindowsError::OwnTimes) => Some(
                "use `--model ode-rnn` or `--model latent-ode`, or interpolate to equal steps with `--resample DT` in place of `--own-times`".into(),
            ),
            FitError::Windows(WindowsError::TooSparse { .. } | WindowsError::Sparse { .. }) => {
                Some("use a shorter `--window` or a smaller `--least-observed`, or leave channels out with `--channels`".into())
            }
            FitError::Interval(_) => Some(
                "give the steps between forcings with `--interval`, or name a chaotic channel first with `--channels`".into(),
            ),
            FitError::Memory { .. } => {
                Some("use a smaller `--batch`, `--window`, `--hidden` or `--latent`".into())
            }
            FitError::Constant { .. } => {
                Some("leave it out: name the channels that vary with `--channels`".into())
            }
            FitError::Short {
                longest,
                needed,
                because,
            } => because.map(|name| shorter(name, *needed - *longest).into()),
            FitError::Own { hint, .. } => hint.clone(),
            FitError::Stopped(_) => None,
        }
    }

    /// Whether it is about the data, so that a message should name their file.
    pub fn is_of_data(&self) -> bool {
        matches!(
            self,
            FitError::Windows(_)
                | FitError::Interval(_)
                | FitError::Constant { .. }
                | FitError::Short { .. }
        )
    }
}

/// How a setting can need fewer rows.
fn shorter(name: &str, rows: usize) -> String {
    format!("use a smaller `--{name}`, by {} or more", grouped(rows))
}

/// The tensors of a model file, by name.
pub type Tensors = BTreeMap<String, Loaded>;

/// A tensor of a model file.
#[derive(Debug, Clone, PartialEq)]
pub struct Loaded {
    /// Sizes along each axis.
    pub sizes: Vec<usize>,
    /// The numbers, row-major.
    pub values: LoadedValues,
}

/// The numbers of a tensor of a model file.
#[derive(Debug, Clone, PartialEq)]
pub enum LoadedValues {
    /// In single precision.
    F32(Vec<f32>),
    /// In double precision.
    F64(Vec<f64>),
}

impl Loaded {
    /// The numbers in single precision.
    pub fn f32s(&self) -> Vec<f32> {
        match &self.values {
            LoadedValues::F32(values) => values.clone(),
            LoadedValues::F64(values) => values.iter().map(|&v| v as f32).collect(),
        }
    }

    /// The numbers in double precision.
    pub fn f64s(&self) -> Vec<f64> {
        match &self.values {
            LoadedValues::F32(values) => values.iter().map(|&v| f64::from(v)).collect(),
            LoadedValues::F64(values) => values.clone(),
        }
    }
}

/// Why tensors make no system.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// A tensor is not there.
    #[error("tensor `{name}` is missing")]
    Missing {
        /// Its name.
        name: &'static str,
    },
    /// A tensor has another number of axes.
    #[error("tensor `{name}` must have {expected} axes, found {found}")]
    Axes {
        /// Its name.
        name: &'static str,
        /// How many it must have.
        expected: usize,
        /// How many it has.
        found: usize,
    },
    /// A tensor has other sizes than the others ask for.
    #[error("tensor `{name}` must have shape {expected:?}, found {found:?}")]
    Shape {
        /// Its name.
        name: &'static str,
        /// What it must be.
        expected: Vec<usize>,
        /// What it is.
        found: Vec<usize>,
    },
    /// A tensor that the method does not know.
    #[error("tensor `{name}` is unknown")]
    Unknown {
        /// Its name.
        name: String,
        /// All that it knows.
        known: Vec<&'static str>,
    },
    /// A number is not finite.
    #[error("tensor `{name}` is not finite at entry {entry}")]
    NotFinite {
        /// The tensor.
        name: &'static str,
        /// The entry, from 0.
        entry: usize,
    },
    /// A tensor has numbers that mean nothing.
    #[error("tensor `{name}`: {reason}")]
    Invalid {
        /// The tensor.
        name: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A number of a tensor is not one that it can have.
    #[error("tensor `{name}` must hold {expected}: entry {entry} does not")]
    Entry {
        /// The tensor.
        name: &'static str,
        /// The entry, from 0.
        entry: usize,
        /// What it must hold.
        expected: &'static str,
    },
    /// The sizes do not fit together.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
}

impl LoadError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            LoadError::Unknown { known, .. } => {
                Some(format!("the model has {}", known.join(", ")).into())
            }
            _ => None,
        }
    }
}

/// The sizes of a tensor that must be there, along so many axes.
pub fn axes<const AXES: usize>(
    tensors: &Tensors,
    name: &'static str,
) -> Result<[usize; AXES], LoadError> {
    let tensor = tensors.get(name).ok_or(LoadError::Missing { name })?;
    let sizes = tensor.sizes.as_slice();
    sizes.try_into().map_err(|_| LoadError::Axes {
        name,
        expected: AXES,
        found: sizes.len(),
    })
}

/// Refuses tensors that are not just those of a layout, each with its shape and all its numbers finite.
pub fn refuse_other(tensors: &Tensors, layout: &[(&'static str, Shape)]) -> Result<(), LoadError> {
    let known = || layout.iter().map(|(name, _)| *name);
    if let Some(name) = tensors.keys().find(|&name| known().all(|k| k != name)) {
        return Err(LoadError::Unknown {
            name: name.clone(),
            known: known().collect(),
        });
    }
    for &(name, shape) in layout {
        let tensor = tensors.get(name).ok_or(LoadError::Missing { name })?;
        if tensor.sizes != shape.sizes() {
            return Err(LoadError::Shape {
                name,
                expected: shape.sizes(),
                found: tensor.sizes.clone(),
            });
        }
        let not_finite = match &tensor.values {
            LoadedValues::F32(values) => values.iter().position(|v| !v.is_finite()),
            LoadedValues::F64(values) => values.iter().position(|v| !v.is_finite()),
        };
        if let Some(entry) = not_finite {
            return Err(LoadError::NotFinite { name, entry });
        }
    }
    Ok(())
}

/// The tensors of a system, as a model file gives them back.
pub fn tensors_of(dynamics: &dyn Dynamics) -> Tensors {
    let tensors = dynamics.tensors().into_iter().map(|named| {
        let values = match named.values {
            Values::F32(values) => LoadedValues::F32(values.to_vec()),
            Values::F64(values) => LoadedValues::F64(values.to_vec()),
        };
        let sizes = named.shape.sizes();
        (named.name.to_string(), Loaded { sizes, values })
    });
    tensors.collect()
}

/// The methods that come with the library.
pub static METHODS: &[&Method] = &[
    &teacher_forced::CLIPPED_SHALLOW,
    &teacher_forced::SHALLOW,
    &teacher_forced::TANH_SHALLOW,
    &teacher_forced::CLIPPED_DENDRITIC,
    &teacher_forced::DENDRITIC,
    &teacher_forced::PLRNN,
    &teacher_forced::MEAN_CENTRED,
    &reservoir::RESERVOIR,
    &nvar::NVAR,
    &linear::LINEAR,
    &linear::PERSISTENCE,
    &sindy::SINDY,
    &lstm::LSTM,
    &lem::LEM,
    &neural_ode::NEURAL_ODE,
    &ode_rnn::ODE_RNN,
    &latent_ode::LATENT_ODE,
];

/// Methods of the program that uses the library.
static REGISTERED: RwLock<Vec<&'static Method>> = RwLock::new(Vec::new());

/// Adds a method to the list, for a program that brings its own.
///
/// # Panics
/// If the list has one of this name.
pub fn register(method: &'static Method) {
    assert!(
        find(method.entry.id).is_err(),
        "there is a method named `{}` already",
        method.entry.id
    );
    let registered = REGISTERED.write();
    registered
        .expect("no one panics while holding it")
        .push(method);
}

/// All methods: those that come with the library, then those that were registered.
pub fn methods() -> Vec<&'static Method> {
    let registered = REGISTERED.read().expect("no one panics while holding it");
    METHODS.iter().chain(registered.iter()).copied().collect()
}

/// The method of this name; else the most similar name.
pub fn find(name: &str) -> Result<&'static Method, Option<&'static str>> {
    let methods = methods();
    let found = methods.iter().find(|method| method.entry.id == name);
    let ids = || methods.iter().map(|method| method.entry.id);
    found.copied().ok_or_else(|| nearest(name, ids()))
}

/// The default method.
pub fn default() -> &'static Method {
    METHODS[0]
}

impl Method {
    /// Whether it is trained by updates.
    pub fn is_trained(&self) -> bool {
        matches!(self.fit, Fit::Train(_))
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.id)
    }
}

impl PartialEq for Method {
    fn eq(&self, other: &Method) -> bool {
        self.entry.id == other.entry.id
    }
}

impl Eq for Method {}

impl Method {
    /// A method that is solved at once, in the first version of its numbers. What it leaves out can be named beside it:
    /// `Method { settle, ..Method::solved(…) }`.
    pub const fn solved(
        id: &'static str,
        summary: &'static str,
        settings: &'static [Setting],
        solve: Solve,
        load: Load,
    ) -> Method {
        Method {
            entry: Entry {
                kind: Kind::Model,
                id,
                summary,
                details: summary,
                settings,
                references: &[],
            },
            dependences: &[],
            numerics: 1,
            fit: Fit::Solve(solve),
            settle: nothing_to_settle,
            load,
            story: |_| "at once".to_string(),
        }
    }
}

/// [`Method::settle`] of methods that leave nothing to the data.
pub fn nothing_to_settle(_: Fitting<'_>) -> Result<Vec<Settled>, FitError> {
    Ok(Vec::new())
}
