//! An experiment: a method and all settings of its fit, checked once.
//!
//! ```text
//! Raw (as written) ──check──▶ Experiment (defaults resolved) ──resolve(series)──▶ Resolved (data, fit, what is kept)
//! ```
//!
//! Both steps refuse what cannot work before anything is computed or written. Settings are read by name here and in the method's
//! own file, once; what comes after has types.

mod advice;
mod data;
mod file;
mod fit;
mod prepared;
mod raw;
mod settings;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attractor_core::hint::Hint;
use attractor_core::measure::MeasureError;
use attractor_core::method::{self, Fit, FitError, Fitting, Method, Settled, Trainer};
use attractor_core::series::Series;
use attractor_core::settings::{Setting, SettingError, Settings, Value, nearest};
use attractor_core::simd::Isa;
use attractor_core::text::count;

use crate::pipeline::{Pipeline, PipelineError};
use crate::shell;
use crate::store::unreadable;

pub use data::DataSource;
pub use file::ExperimentFile;
pub(crate) use file::{plain, quoted, reading_lines};
pub(crate) use fit::prepare;
pub use prepared::{FarChannel, Parts, Preparation, Prepared, SplitError, Standardize};
pub use raw::{Given, Origin, Raw, usual};
pub(crate) use raw::{is_map, units_of, window_of};
use settings::HELD_OUT_TRAJECTORIES;
pub use settings::{
    ESSENTIAL, MODEL, PRESETS, Preset, all_settings, settings_by_method, settings_of,
};
pub(crate) use settings::{Texts, acting, acts, difference, method_of};

/// A method and all settings of its fit, in their domains.
#[derive(Debug, Clone, PartialEq)]
pub struct Experiment {
    method: &'static Method,
    settings: Settings,
}

/// An experiment for given data: everything that a fit needs.
#[derive(Debug, Clone)]
pub struct Resolved {
    /// The experiment, with what was automatic filled in.
    pub experiment: Experiment,
    /// The data, prepared.
    pub data: Arc<Prepared>,
    /// How it is fitted.
    pub job: Job,
    /// What was done to the recording before, for new data to pass as well.
    pub pipeline: Pipeline,
    /// What the settings left to the data.
    pub settled: Vec<Settled>,
}

/// How a model is fitted.
#[derive(Clone)]
pub enum Job {
    /// At once.
    Solve,
    /// By updates.
    Train(Training),
}

/// A training.
#[derive(Clone)]
pub struct Training {
    /// What makes the updates.
    pub trainer: Arc<dyn Trainer>,
    /// What is stored on the way, and what a divergence does.
    pub keeping: Keeping,
    /// Which parameters the model has at the end.
    pub choice: Choice,
}

impl fmt::Debug for Training {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Training")
            .field("length", &self.trainer.length())
            .field("keeping", &self.keeping)
            .field("choice", &self.choice)
            .finish_non_exhaustive()
    }
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
    /// How much of the average of the parameters stays at an update, where they are averaged.
    pub averaging: Option<f64>,
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
    /// Those with the lowest score.
    Best(BestBy),
}

/// By what parameters are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BestBy {
    /// The score.
    pub score: Criterion,
    /// Whether to do without where the data have no such score.
    pub if_possible: bool,
    /// Epochs from one evaluation to the next.
    pub every: u64,
    /// Orbits whose mean score it is.
    pub starts: usize,
    /// What becomes of B before.
    pub spread: Spread,
}

/// A score that parameters are chosen by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Criterion {
    /// D_stsp.
    StateSpace,
    /// D_H.
    Spectra,
    /// D_stsp × D_H.
    Both,
    /// PE(n).
    Forecasts,
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
    /// How a file is read is said in a way that is not understood.
    #[error("{reason}")]
    Option {
        /// What is wrong.
        reason: String,
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
    /// The name of a file of data cannot stand in a file of settings.
    #[error("the name of the data is not in UTF-8, so that a run could not find them again: {}", path.display())]
    DataName {
        /// The file of data.
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
    /// No method has this name.
    #[error("no model is named `{name}`{origin}")]
    UnknownMethod {
        /// What was typed.
        name: String,
        /// The most similar known name.
        near: Option<&'static str>,
        /// Where it was written.
        origin: Origin,
    },
    /// A setting is unknown or outside its range.
    #[error("{error}{origin}")]
    Setting {
        /// What is wrong.
        error: SettingError,
        /// Where it was written.
        origin: Origin,
    },
    /// The method cannot be fitted to these data.
    #[error(transparent)]
    Fit(#[from] FitError),
    /// No part can be held out so.
    #[error(transparent)]
    Split(#[from] SplitError),
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
    /// A column of times would be trained on.
    #[error("channel `{channel}` {why}: it is not a state of the system")]
    Clock {
        /// The channel.
        channel: String,
        /// Why it is taken for one.
        why: &'static str,
        /// All other channels.
        others: Vec<String>,
        /// Whether another column is the time axis already.
        has_time: bool,
    },
    /// The processor lacks an instruction set, or the program was built without its kernels.
    #[error("this processor has no {isa}, or this program was built without it")]
    NoIsa {
        /// Its name.
        isa: &'static str,
    },
}

impl ExperimentError {
    /// The error with the file of data, where it is about the data.
    pub fn of_file(self, path: &Path) -> ExperimentError {
        match self {
            // A recording in memory has none.
            _ if path.as_os_str().is_empty() => self,
            ExperimentError::Fit(ref error) if !error.is_of_data() => self,
            ExperimentError::Fit(_)
            | ExperimentError::TooLarge { .. }
            | ExperimentError::TooSmall { .. }
            | ExperimentError::Clock { .. }
            | ExperimentError::Smooth { .. } => ExperimentError::OfFile {
                error: Box::new(self),
                path: path.to_path_buf(),
            },
            other => other,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            ExperimentError::Setting { error, .. } => error.hint(),
            ExperimentError::UnknownMethod { near, .. } => Some(match near {
                Some(near) => format!("did you mean `{near}`?").into(),
                None => "`attractor list models` names all".into(),
            }),
            ExperimentError::UnknownPreset { near, .. } => Some(match near {
                Some(near) => format!("did you mean `{near}`?").into(),
                None => format!(
                    "the known names are {}",
                    names(PRESETS.iter().map(|p| p.name))
                )
                .into(),
            }),
            ExperimentError::Fit(error) => error.hint(),
            ExperimentError::TooLarge { .. } | ExperimentError::TooSmall { .. } => {
                Some("`--standardize on`: zero mean and unit spread train best".into())
            }
            ExperimentError::Clock {
                channel,
                others,
                has_time,
                ..
            } => Some(of_clock(channel, others, *has_time).into()),
            ExperimentError::NoIsa { .. } => {
                let available = names(Isa::available().map(Isa::name));
                Some(format!("it has {available}; `--isa auto` takes the best").into())
            }
            ExperimentError::NoData { .. } => {
                Some("give a file of data, or `data = \"…\"` in the file of settings".into())
            }
            ExperimentError::Data { .. } => {
                Some(format!("keys of [data] are {}", data::KEYS.join(", ")).into())
            }
            ExperimentError::Steps { error, .. } => error.hint(),
            ExperimentError::DataNotFound { .. } => {
                Some("name the file of data before `--config`; the other settings stay".into())
            }
            ExperimentError::DataName { .. } => {
                Some("rename the file or its folder, or copy the file to another".into())
            }
            ExperimentError::OfFile { error, .. } => error.hint(),
            ExperimentError::Split(error) => Some(error.hint()),
            ExperimentError::Smooth { longest, .. } => Some(
                format!(
                    "use `--smooth {}` or less",
                    (longest - 1) / (2 * fit::REACH)
                )
                .into(),
            ),
            ExperimentError::NoAlpha { .. } => Some("use `--on-divergence halve-lr`".into()),
            ExperimentError::NoMeasure { .. } => {
                Some("it needs a longer stretch of rows without a gap or a missing value".into())
            }
            ExperimentError::Read { .. }
            | ExperimentError::File { .. }
            | ExperimentError::Option { .. } => None,
        }
    }
}

/// What to do about a channel of times.
fn of_clock(channel: &str, others: &[String], has_time: bool) -> String {
    let without = shell::flag("channels", &others.join(","));
    if has_time {
        return format!("`{without}` leaves it out");
    }
    format!(
        "`{}` takes it as the time axis, `{without}` leaves it out, `{}` trains on it",
        shell::flag("time", channel),
        shell::flag("time", "none"),
    )
}

impl Experiment {
    /// Checks settings as written; what is not given takes its default. What only other methods have is left out.
    pub fn check(raw: &Raw) -> Result<Experiment, ExperimentError> {
        let method = named_in(raw)?;
        let list = settings_of(method);
        let mut given: Vec<(&str, &str)> = Vec::new();
        for one in raw.given.iter().filter(|given| given.name != MODEL.name) {
            let told = |error| ExperimentError::Setting {
                error,
                origin: one.origin.clone(),
            };
            let own = list
                .iter()
                .copied()
                .find(|setting| setting.name == one.name);
            match own.or_else(|| of_other(&one.name)) {
                Some(setting) => setting.check(&one.text).map_err(told)?,
                None => return Err(told(unknown(&one.name))),
            };
            if own.is_some() {
                given.push((&one.name, &one.text));
            }
        }
        let settings = Settings::resolve(&list, given).expect("each was checked alone");
        Ok(Experiment { method, settings })
    }

    /// The method.
    pub fn method(&self) -> &'static Method {
        self.method
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The seed of all random numbers.
    pub fn seed(&self) -> u64 {
        self.settings.integer("seed") as u64
    }

    /// All settings by name, as texts.
    pub(crate) fn texts(&self) -> Texts {
        let model = (MODEL.name.to_string(), self.method.entry.id.to_string());
        let texts = self.settings.iter();
        texts
            .map(|(name, value)| (name.to_string(), value.to_string()))
            .chain([model])
            .collect()
    }

    /// How data are split and scaled.
    pub fn preparation(&self) -> Preparation {
        Preparation {
            smooth: self.settings.real("smooth"),
            standardize: match self.settings.choice("standardize") {
                "on" => Standardize::On,
                "off" => Standardize::Off,
                _ => Standardize::Auto,
            },
            held_out: self.settings.real("held-out"),
            held_out_trajectories: match self.settings.get(HELD_OUT_TRAJECTORIES) {
                Value::Text(names) => names,
                other => other.to_string(),
            },
            select: match self.choice() {
                Some(Choice::Best(_)) => self.settings.real("select"),
                _ => 0.0,
            },
        }
    }

    /// The experiment for given data.
    pub fn resolve(&self, series: &Series) -> Result<Resolved, ExperimentError> {
        self.resolve_prepared(Arc::new(prepare(&self.preparation(), series)?))
    }

    /// The same for data that [`prepare`] has made as the experiment asks.
    pub(crate) fn resolve_prepared(
        &self,
        data: Arc<Prepared>,
    ) -> Result<Resolved, ExperimentError> {
        let settled = (self.method.settle)(self.fitting(&data)?)?;
        let experiment = settled.iter().fold(self.clone(), |experiment, settled| {
            experiment.with(settled.name, &settled.value)
        });
        let job = match self.method.fit {
            Fit::Solve(_) => Job::Solve,
            Fit::Train(make) => Job::Train(Training {
                trainer: make(self.method, experiment.fitting(&data)?)?.into(),
                keeping: experiment.keeping()?,
                choice: experiment.choice().unwrap_or(Choice::Last),
            }),
        };
        Ok(Resolved {
            experiment,
            data,
            job,
            pipeline: Pipeline::default(),
            settled,
        })
    }

    /// What the method is fitted with.
    pub(crate) fn fitting<'a>(
        &'a self,
        data: &'a Prepared,
    ) -> Result<Fitting<'a>, ExperimentError> {
        let asked = self.settings.integer_unless_auto("threads");
        Ok(Fitting {
            settings: &self.settings,
            data: &data.series,
            cuts: Some(&data.cuts),
            seed: self.seed(),
            threads: threads(asked.unwrap_or(0)),
            paced: asked.is_none(),
            isa: isa(self.settings.choice("isa"))?,
        })
    }

    /// The experiment as a file that [`ExperimentFile::read`] understands.
    pub fn to_toml(&self, data: &DataSource) -> String {
        let model = format!("{} = {}\n", MODEL.name, file::quoted(self.method.entry.id));
        let lines = settings_of(self.method).into_iter().map(|setting| {
            let value = match self.settings.get(setting.name) {
                Value::Choice(word) => file::quoted(word),
                Value::Text(text) => file::quoted(&text),
                other => other.to_string(),
            };
            format!("{} = {value}\n", setting.name)
        });
        let table = file::data_table(data);
        [model].into_iter().chain(lines).chain([table]).collect()
    }

    /// The same with another value of a setting, which lies in its domain.
    pub(crate) fn with(&self, name: &str, text: &str) -> Experiment {
        let given: Vec<(&str, String)> = self
            .settings
            .iter()
            .map(|(n, v)| (n, v.to_string()))
            .collect();
        let kept = given.iter().map(|(n, v)| (*n, v.as_str()));
        let list = settings_of(self.method);
        let settings = Settings::resolve(&list, kept.chain([(name, text)]))
            .expect("checked settings stay in their domains");
        Experiment {
            method: self.method,
            settings,
        }
    }

    /// Whether a setting acts with the others.
    pub(crate) fn acts(&self, name: &str) -> bool {
        acts(name, &self.texts())
    }

    fn keeping(&self) -> Result<Keeping, ExperimentError> {
        let set = &self.settings;
        let raises = set.has("on-divergence") && set.choice("on-divergence") == "raise-alpha";
        if raises && !set.choice("forcing").ends_with("gtf") {
            let forcing = set.choice("forcing");
            return Err(ExperimentError::NoAlpha { forcing });
        }
        let average = if set.has("average") {
            set.real("average")
        } else {
            0.0
        };
        Ok(Keeping {
            every: set.integer("checkpoint-every") as u64,
            retries: set.integer("retries"),
            remedy: if raises {
                Remedy::RaiseAlpha
            } else {
                Remedy::HalveRate
            },
            averaging: Some(average).filter(|&decay| decay > 0.0),
        })
    }

    /// Whether parameters are chosen by a score.
    pub(crate) fn chooses(&self) -> bool {
        matches!(self.choice(), Some(Choice::Best(_)))
    }

    /// Which parameters are kept; none of a method that is not trained.
    fn choice(&self) -> Option<Choice> {
        let set = &self.settings;
        if !self.method.is_trained() {
            return None;
        }
        let (score, if_possible) = match set.choice("best-by") {
            "none" => return Some(Choice::Last),
            "d_stsp" => (Criterion::StateSpace, false),
            "d_h" => (Criterion::Spectra, false),
            "pe" => (Criterion::Forecasts, false),
            "auto" => (Criterion::Both, true),
            _ => (Criterion::Both, false),
        };
        let is_matched = set.has("best-spread")
            && set.choice("best-spread") == "matched"
            && self.acts("best-spread");
        Some(Choice::Best(BestBy {
            score,
            if_possible,
            every: set.integer("best-every") as u64,
            starts: set.integer("best-starts"),
            spread: if is_matched {
                Spread::Matched
            } else {
                Spread::AsTrained
            },
        }))
    }

    /// The settings that a result depends on, as text: those that act, but for the number of threads.
    pub fn fingerprint(&self) -> String {
        let acting = acting(&self.texts()).into_iter();
        // Older runs do not have this.
        let new = (HELD_OUT_TRAJECTORIES, prepared::NONE);
        let is_usual = |name: &str, value: &str| new == (name, value);
        let lines = acting.filter(|(name, value)| name != "threads" && !is_usual(name, value));
        lines
            .map(|(name, value)| format!("{name}={value}\n"))
            .collect()
    }
}

/// The method that is named last; else the default.
fn named_in(raw: &Raw) -> Result<&'static Method, ExperimentError> {
    let mut found = method::default();
    for given in raw.given.iter().filter(|given| given.name == MODEL.name) {
        found = method::find(&given.text).map_err(|near| ExperimentError::UnknownMethod {
            name: given.text.clone(),
            near,
            origin: given.origin.clone(),
        })?;
    }
    Ok(found)
}

/// A setting of some method.
fn of_other(name: &str) -> Option<&'static Setting> {
    all_settings()
        .into_iter()
        .find(|setting| setting.name == name)
}

fn unknown(name: &str) -> SettingError {
    let known: Vec<&'static str> = all_settings().iter().map(|setting| setting.name).collect();
    SettingError::Unknown {
        name: name.to_string(),
        near: nearest(name, known.iter().copied()),
        known,
    }
}

impl Resolved {
    /// The same, of a recording that has passed a pipeline.
    pub fn prepared_by(self, pipeline: Pipeline) -> Resolved {
        Resolved { pipeline, ..self }
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Job::Solve => "Solve",
            Job::Train(_) => "Train",
        })
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

fn names<'a>(names: impl Iterator<Item = &'a str>) -> String {
    names.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
