//! An experiment: all settings of a training, checked once.
//!
//! ```text
//! Raw (as written) ──check──▶ Experiment (defaults resolved) ──resolve(series)──▶ Resolved (model, plan, windows)
//! ```
//!
//! Both steps refuse what cannot work before anything is computed or written.

mod advice;
mod data;
mod file;
mod prepared;
mod raw;
mod settings;

use std::io;
use std::path::{Path, PathBuf};

use attractor_core::forcing::adaptive::Adaptation;
use attractor_core::forcing::alpha::Estimator;
use attractor_core::forcing::{Forcing, ForcingGradient};
use attractor_core::inspect::count;
use attractor_core::map::{Dims, MODELS, ModelInfo};
use attractor_core::measure::MeasureError;
use attractor_core::model::{Architecture, ArchitectureError, Model};
use attractor_core::observation::{ObservationKind, ObservationStart};
use attractor_core::optim::Schedule;
use attractor_core::penalty::PenaltyWeights;
use attractor_core::series::{Channel, Series, SeriesError};
use attractor_core::settings::{SettingError, Settings, Value};
use attractor_core::simd::Isa;
use attractor_core::train::{Plan, numbers_a_step};
use attractor_core::windows::{Windows, WindowsError};

use crate::embedding::EmbeddingError;
use crate::pipeline::{Pipeline, PipelineError};
use crate::recording_exponent::{self, Predictability};
use crate::store::unreadable;

pub use data::{DataSource, quoted};
pub use file::ExperimentFile;
pub(crate) use file::{line, plain};
pub use prepared::{FarChannel, Prepared};
pub use raw::{Given, Origin, Raw};
pub use settings::{PRESETS, Preset, SETTINGS};
pub(crate) use settings::{Texts, acting, acts, difference};

/// All settings of a training, in their domains.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    settings: Settings,
}

/// An experiment for given data: everything that training needs.
pub struct Resolved {
    /// The experiment, with what was automatic filled in.
    pub experiment: Experiment,
    /// Which model, of which sizes.
    pub architecture: Architecture,
    /// Where the observation model starts.
    pub start: ObservationStart,
    /// What training does.
    pub plan: Plan,
    /// The data, prepared.
    pub data: Prepared,
    /// The data in windows.
    pub windows: Windows,
    /// What is stored on the way, and what a divergence does.
    pub keeping: Keeping,
    /// Which parameters the model has at the end.
    pub choice: Choice,
    /// What was done to the recording before, for new data to pass as well.
    pub pipeline: Pipeline,
    /// What the interval of sparse forcing is, where it was left to the data.
    pub found_interval: Option<Predictability>,
}

/// What a run stores on the way, and what it does when it diverges.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Keeping {
    /// Epochs from one checkpoint to the next.
    pub every: u64,
    /// How often a divergence goes back to the last checkpoint.
    pub retries: usize,
    /// What is changed then.
    pub remedy: Remedy,
}

/// What is changed when training goes back after it diverged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// Half the learning rate.
    HalveRate,
    /// Forcing half as far from 1.
    RaiseAlpha,
}

/// Which parameters a run's model has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Choice {
    /// The last ones, as in the paper, or their average.
    Last,
    /// Those with the lowest score of a measure.
    Best {
        /// The measure's name.
        measure: &'static str,
        /// Epochs from one evaluation to the next.
        every: u64,
        /// Orbits whose mean score it is.
        starts: usize,
        /// What becomes of B before.
        spread: Spread,
    },
}

/// What becomes of B before parameters are judged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spread {
    /// Nothing.
    AsTrained,
    /// Free orbits vary as the data do.
    Matched,
}

/// Why an experiment cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A file of settings cannot be read.
    #[error("{}: {}", unreadable(source), path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The interval of sparse forcing cannot be found from the data.
    #[error("no automatic interval of sparse forcing: {0}")]
    Interval(EmbeddingError),
    /// A file of settings is not TOML, or a value is a list.
    #[error("{reason} (line {line} of {})", path.display())]
    File {
        /// What is wrong.
        reason: String,
        /// The line, from 1.
        line: usize,
        /// The file.
        path: PathBuf,
    },
    /// The table of data in a file of settings has a wrong line.
    #[error("{reason} (line {line} of {})", path.display())]
    Data {
        /// What is wrong.
        reason: String,
        /// The line, from 1.
        line: usize,
        /// The file.
        path: PathBuf,
    },
    /// A step of the preparation in a file of settings is none.
    #[error("{error} (line {line} of {})", path.display())]
    Steps {
        /// What is wrong.
        #[source]
        error: Box<PipelineError>,
        /// The line, from 1.
        line: usize,
        /// The file.
        path: PathBuf,
    },
    /// A file of settings names data that are not there.
    #[error("no such file: {} (named in {})", data.display(), path.display())]
    DataNotFound {
        /// The file of data.
        data: PathBuf,
        /// The file of settings.
        path: PathBuf,
    },
    /// A file of data does not fit the experiment.
    #[error("{error}: {}", path.display())]
    OfFile {
        /// What is wrong.
        #[source]
        error: Box<ExperimentError>,
        /// The file of data.
        path: PathBuf,
    },
    /// Neither the command line nor the file of settings names data.
    #[error("no data: the file names none: {}", path.display())]
    NoData {
        /// The file of settings.
        path: PathBuf,
    },
    /// No preset has this name.
    #[error("no preset is named `{name}`")]
    UnknownPreset {
        /// What was typed.
        name: String,
        /// The most similar known name.
        near: Option<&'static str>,
    },
    /// A setting is unknown or outside its range.
    #[error("{error}{origin}")]
    Setting {
        /// What is wrong.
        error: SettingError,
        /// Where it was written.
        origin: Origin,
    },
    /// The sizes do not fit together.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    /// The data have no windows.
    #[error(transparent)]
    Windows(#[from] WindowsError),
    /// Too little is left once a part is held out.
    #[error("`held-out` leaves nothing to train on or nothing to judge by")]
    Split(SeriesError),
    /// The data are shorter than what they are smoothed over.
    #[error("smoothing over {} needs as many without a gap, the longest stretch has {longest}", count(*rows, "row"))]
    Smooth {
        /// Rows that a smoothed value is made of.
        rows: usize,
        /// Rows of the longest stretch.
        longest: usize,
    },
    /// A remedy that has no effect.
    #[error("`on-divergence` raises alpha, which `forcing = {forcing}` does not have")]
    NoAlpha {
        /// The forcing.
        forcing: &'static str,
    },
    /// A measure that cannot be computed of these data.
    #[error("no `{measure}` of the data to judge by: {error}")]
    NoMeasure {
        /// The measure.
        measure: &'static str,
        /// Why not.
        error: MeasureError,
    },
    /// A value has a square beyond single precision.
    #[error("channel `{channel}` reaches {value:e}, too large for training in single precision")]
    TooLarge {
        /// The channel or input.
        channel: String,
        /// The value.
        value: f64,
    },
    /// A channel varies by less than single precision resolves in its squares.
    #[error(
        "channel `{channel}` varies by only {range:e}, too little for training in single precision"
    )]
    TooSmall {
        /// The channel.
        channel: String,
        /// The largest value less the least.
        range: f64,
    },
    /// What one update works on does not fit into memory.
    #[error("an update works on about {gib} GiB, which do not fit into memory")]
    Memory {
        /// How much it is.
        gib: u64,
    },
    /// The processor lacks an instruction set.
    #[error("this processor has no {isa}")]
    NoIsa {
        /// Its name.
        isa: &'static str,
    },
}

impl ExperimentError {
    /// The error with the file of data, where it is about the data.
    pub fn of_file(self, path: &Path) -> ExperimentError {
        match self {
            ExperimentError::Windows(_)
            | ExperimentError::Interval(_)
            | ExperimentError::TooLarge { .. }
            | ExperimentError::TooSmall { .. }
            | ExperimentError::Smooth { .. } => ExperimentError::OfFile {
                error: Box::new(self),
                path: path.to_path_buf(),
            },
            other => other,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            ExperimentError::Setting { error, .. } => error.hint(),
            ExperimentError::UnknownPreset { near, .. } => Some(match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known are {}", names(PRESETS.iter().map(|p| p.name))),
            }),
            ExperimentError::Interval(_) => Some(
                "give the steps between forcings with `--interval`, or name a chaotic channel first with `--state`".into(),
            ),
            ExperimentError::Architecture(error) => error.hint(),
            ExperimentError::Windows(WindowsError::TooShort { longest, .. }) => match longest {
                0 | 1 => None,
                rows => Some(format!("use `--window {}` or less", rows - 1)),
            },
            ExperimentError::Windows(WindowsError::TooSparse { .. }) => {
                Some("use a shorter `--window` or a smaller `--least-observed`, or leave channels out with `--state`".into())
            }
            ExperimentError::TooLarge { .. } | ExperimentError::TooSmall { .. } => {
                Some("standardise the data: zero mean and unit spread train best".into())
            }
            ExperimentError::Memory { .. } => {
                Some("use a smaller `--batch`, `--window`, `--hidden` or `--latent`".into())
            }
            ExperimentError::NoIsa { .. } => {
                let available = names(Isa::available().map(Isa::name));
                Some(format!("it has {available}; `--isa auto` takes the best"))
            }
            ExperimentError::NoData { .. } => {
                Some("give a file of data, or `data = \"…\"` in the file of settings".into())
            }
            ExperimentError::Data { .. } => {
                Some(format!("keys of [data] are {}", data::KEYS.join(", ")))
            }
            ExperimentError::Steps { error, .. } => error.hint(),
            ExperimentError::DataNotFound { .. } => {
                Some("name the file of data before `--config`; the other settings stay".into())
            }
            ExperimentError::OfFile { error, .. } => error.hint(),
            ExperimentError::Split(_) => Some("use another share, such as 0.2".into()),
            ExperimentError::Smooth { longest, .. } => Some(format!(
                "use `--smooth {}` or less",
                (longest - 1) / (2 * REACH)
            )),
            ExperimentError::NoAlpha { .. } => Some("use `--on-divergence halve-lr`".into()),
            ExperimentError::NoMeasure { .. } => {
                Some("it needs a longer stretch of rows without a gap or a missing value".into())
            }
            ExperimentError::Read { .. } | ExperimentError::File { .. } => None,
        }
    }
}

impl Experiment {
    /// Checks settings as written; what is not given takes its default.
    pub fn check(raw: &Raw) -> Result<Experiment, ExperimentError> {
        let list = raw::list();
        for given in &raw.given {
            let one = [(given.name.as_str(), given.text.as_str())];
            Settings::resolve(&list, one).map_err(|error| ExperimentError::Setting {
                error,
                origin: given.origin.clone(),
            })?;
        }
        let all = raw.given.iter().map(|g| (g.name.as_str(), g.text.as_str()));
        let settings = Settings::resolve(&list, all).expect("each was checked alone");
        Ok(Experiment { settings })
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// All settings by name, as texts.
    pub(crate) fn texts(&self) -> Texts {
        let texts = self.settings.iter();
        texts
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .collect()
    }

    /// The experiment for given data.
    pub fn resolve(&self, series: &Series) -> Result<Resolved, ExperimentError> {
        let latent = match self.settings.integer_unless_auto("latent") {
            Some(latent) => latent,
            None if series.dim_obs() <= 20 => series.dim_obs(),
            None => 16,
        };
        let dims = Dims {
            latent,
            hidden: self.settings.integer("hidden"),
            inputs: series.dim_input(),
        };
        let architecture =
            Architecture::new(self.model(), dims, self.observation(), series.dim_obs())?;
        refuse_over_smoothing(series, self.settings.real("smooth"))?;
        let data = Prepared::new(series, &self.settings).map_err(ExperimentError::Split)?;
        refuse_large(&data.series)?;
        refuse_small(&data.series)?;
        let window = self.settings.integer("window");
        let share = self.settings.real("least-observed");
        let windows = Windows::with_share(&data.series, window, share)?;
        refuse_more_than_memory(&architecture, &windows, self.settings.integer("batch"))?;
        let mut experiment = self.with("latent", &latent.to_string());
        let found_interval = self.find_interval(&data.series)?;
        if let Some(found) = &found_interval {
            experiment = experiment.with("interval", &found.rows.to_string());
        }
        Ok(Resolved {
            plan: experiment.plan()?,
            experiment,
            architecture,
            start: match self.settings.choice("observation-start") {
                "random" => ObservationStart::Random,
                _ => ObservationStart::WellConditioned,
            },
            data,
            windows,
            keeping: self.keeping()?,
            choice: self.choice(),
            pipeline: Pipeline::default(),
            found_interval,
        })
    }

    /// The experiment as a file that [`ExperimentFile::read`] understands.
    pub fn to_toml(&self, data: &DataSource) -> String {
        let lines = SETTINGS.iter().map(|setting| {
            let value = match self.settings.get(setting.name) {
                Value::Choice(word) => file::quoted(word),
                other => other.to_string(),
            };
            format!("{} = {value}\n", setting.name)
        });
        lines.chain([file::data_table(data)]).collect()
    }

    /// The same with another value of a setting, which lies in its domain.
    pub(crate) fn with(&self, name: &str, text: &str) -> Experiment {
        let given: Vec<(&str, String)> = self
            .settings
            .iter()
            .map(|(n, v)| (n, v.to_string()))
            .collect();
        let kept = given.iter().map(|(n, v)| (*n, v.as_str()));
        let settings = Settings::resolve(&raw::list(), kept.chain([(name, text)]))
            .expect("checked settings stay in their domains");
        Experiment { settings }
    }

    /// Whether the interval of sparse forcing is left to the data.
    pub(crate) fn leaves_interval_open(&self) -> bool {
        let is_sparse = self.settings.choice("forcing") == "stf";
        is_sparse && self.settings.integer_unless_auto("interval").is_none()
    }

    /// The predictability time of the data, where the interval of sparse forcing is left to them.
    fn find_interval(&self, series: &Series) -> Result<Option<Predictability>, ExperimentError> {
        if !self.leaves_interval_open() {
            return Ok(None);
        }
        let threads = threads(self.settings.integer("threads"));
        let found = recording_exponent::predictability(series, threads);
        found.map(Some).map_err(ExperimentError::Interval)
    }

    fn model(&self) -> &'static ModelInfo {
        let name = self.settings.choice("model");
        let found = MODELS.iter().find(|info| info.entry.id == name);
        found.expect("the choices are the list of models")
    }

    fn observation(&self) -> ObservationKind {
        match self.settings.choice("observation") {
            "identity" => ObservationKind::Identity,
            "linear-bias" => ObservationKind::LinearWithBias,
            _ => ObservationKind::Linear,
        }
    }

    fn forcing(&self) -> Forcing {
        match self.settings.choice("forcing") {
            "gtf" => Forcing::Generalized {
                alpha: self.settings.real("alpha"),
            },
            "agtf" => Forcing::Generalized {
                alpha: self.settings.real("alpha-start"),
            },
            "stf" => Forcing::Sparse {
                interval: self.settings.integer("interval"),
            },
            _ => Forcing::None,
        }
    }

    fn adaptation(&self) -> Option<Adaptation> {
        let set = &self.settings;
        let name = set.choice("alpha-estimator");
        let estimator = Estimator::ALL.into_iter().find(|e| e.name() == name);
        (set.choice("forcing") == "agtf").then(|| Adaptation {
            estimator: estimator.expect("the choices are the list of estimators"),
            decay: set.real("decay"),
            every: set.integer("every") as u64,
        })
    }

    fn keeping(&self) -> Result<Keeping, ExperimentError> {
        let set = &self.settings;
        let forcing = set.choice("forcing");
        let remedy = match set.choice("on-divergence") {
            "raise-alpha" if !forcing.ends_with("gtf") => {
                return Err(ExperimentError::NoAlpha { forcing });
            }
            "raise-alpha" => Remedy::RaiseAlpha,
            _ => Remedy::HalveRate,
        };
        Ok(Keeping {
            every: set.integer("checkpoint-every") as u64,
            retries: set.integer("retries"),
            remedy,
        })
    }

    fn choice(&self) -> Choice {
        match self.settings.choice("best-by") {
            "none" => Choice::Last,
            measure => Choice::Best {
                measure,
                every: self.settings.integer("best-every") as u64,
                starts: self.settings.integer("best-starts"),
                spread: match self.settings.choice("best-spread") {
                    "matched" if acts("best-spread", &self.texts()) => Spread::Matched,
                    _ => Spread::AsTrained,
                },
            },
        }
    }

    /// The settings that a result depends on, as text: those that act, but for the number of threads.
    pub fn fingerprint(&self) -> String {
        let acting = acting(&self.texts()).into_iter();
        let lines = acting.filter(|(name, _)| name != "threads");
        lines
            .map(|(name, value)| format!("{name}={value}\n"))
            .collect()
    }

    fn plan(&self) -> Result<Plan, ExperimentError> {
        let set = &self.settings;
        Ok(Plan {
            batch: set.integer("batch"),
            schedule: Schedule {
                start: set.real("lr"),
                end: set.real("lr-end"),
                epochs: set.integer("epochs") as u64,
                batches_per_epoch: set.integer("batches-per-epoch") as u64,
            },
            forcing: self.forcing(),
            adaptation: self.adaptation(),
            forcing_gradient: match set.choice("forcing-gradient") {
                "full" => ForcingGradient::Full,
                _ => ForcingGradient::Detached,
            },
            penalties: PenaltyWeights {
                latent: set.real("latent-penalty"),
                observation: set.real("condition-penalty"),
                manifold: set.real("manifold-penalty"),
                manifold_share: set.real("manifold-share"),
            },
            clip_norm: Some(set.real("clip-norm")).filter(|&norm| norm > 0.0),
            largest_a: Some(set.real("largest-a")).filter(|&largest| largest > 0.0),
            noise: set.real("noise"),
            averaging: Some(set.real("average")).filter(|&decay| decay > 0.0),
            seed: set.integer("seed") as u64,
            threads: threads(set.integer("threads")),
            isa: isa(set.choice("isa"))?,
        })
    }
}

impl Resolved {
    /// The same, of a recording that has passed a pipeline.
    pub fn prepared_by(self, pipeline: Pipeline) -> Resolved {
        Resolved { pipeline, ..self }
    }

    /// The model at its random start.
    pub fn model(&self) -> Model {
        let series = &self.data.series;
        Model::start(self.architecture, self.start, series, self.plan.seed)
    }
}

/// Every key of the table of data.
pub(crate) fn data_keys() -> &'static [&'static str] {
    &data::KEYS
}

/// That many threads; for 0 as many as there are cores.
pub fn threads(asked: usize) -> usize {
    match asked {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        some => some,
    }
}

/// The instruction set of this name, or the best for `auto`.
pub fn isa(name: &'static str) -> Result<Isa, ExperimentError> {
    if name == "auto" {
        return Ok(Isa::detect());
    }
    Isa::available()
        .find(|isa| isa.name() == name)
        .ok_or(ExperimentError::NoIsa { isa: name })
}

/// Squares of values beyond this are beyond single precision.
const LARGEST: f64 = 1e18;

/// Squares of differences below this are below single precision.
const LEAST: f64 = 1e-18;

/// Names the first channel that varies, but by too little.
fn refuse_small(series: &Series) -> Result<(), ExperimentError> {
    for (c, channel) in series.channels().iter().enumerate() {
        let present = series.column(c).filter(|v| !v.is_nan());
        let (low, high) = present.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        if low < high && high - low < LEAST {
            return Err(ExperimentError::TooSmall {
                channel: channel.name.clone(),
                range: high - low,
            });
        }
    }
    Ok(())
}

/// Names the largest of the values that are too large.
fn refuse_large(series: &Series) -> Result<(), ExperimentError> {
    let columns = |values: &'_ [f64], channels: &'_ [Channel]| -> Option<(f64, String)> {
        let size = |i: &usize| values[*i].abs();
        let large = (0..values.len()).filter(|i| size(i) > LARGEST);
        let largest = large.max_by(|i, j| size(i).total_cmp(&size(j)))?;
        let channel = &channels[largest % channels.len()];
        Some((values[largest], channel.name.clone()))
    };
    let found = series.trajectories().iter().flat_map(|t| {
        let of_x = columns(&t.x, series.channels());
        [of_x, columns(&t.s, series.inputs())]
    });
    let largest = found
        .flatten()
        .max_by(|(a, _), (b, _)| a.abs().total_cmp(&b.abs()));
    match largest {
        Some((value, channel)) => Err(ExperimentError::TooLarge { channel, value }),
        None => Ok(()),
    }
}

/// Half of the kernel that data are smoothed with, in widths of the Gaussian.
const REACH: usize = 4;

/// A kernel that is wider than all data mirrors them again and again: little but their mean is left.
fn refuse_over_smoothing(series: &Series, sigma: f64) -> Result<(), ExperimentError> {
    let rows = 2 * (REACH as f64 * sigma).ceil() as usize + 1;
    let trajectories = 0..series.trajectories().len();
    let lengths = trajectories
        .flat_map(|i| series.segments(i))
        .map(|rows| rows.len());
    let longest = lengths.max().expect("a series has a row");
    match sigma > 0.0 && rows > longest {
        true => Err(ExperimentError::Smooth { rows, longest }),
        false => Ok(()),
    }
}

/// What an update keeps of a batch must fit into memory.
fn refuse_more_than_memory(
    architecture: &Architecture,
    windows: &Windows,
    batch: usize,
) -> Result<(), ExperimentError> {
    let a_step = numbers_a_step(architecture) as u128;
    let numbers = batch as u128 * (windows.window() as u128 + 1) * a_step;
    let gib = (4 * numbers).div_ceil(1 << 30) as u64;
    // Some systems promise any amount; none of ours has a tebibyte.
    let fits = gib < 1024
        && Vec::<f32>::new()
            .try_reserve_exact(numbers as usize)
            .is_ok();
    fits.then_some(()).ok_or(ExperimentError::Memory { gib })
}

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
