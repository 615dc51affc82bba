//! What can go wrong for a user, as one type with a hint.

use std::io;
use std::path::PathBuf;

use attractor_core::analysis::conversion::ConversionError;
use attractor_core::hint::Hint;
use attractor_core::progress::Stopped;
use attractor_core::series::SeriesError;
use attractor_core::settings::SettingError;
use attractor_core::system::simulate::SimulateError;

use crate::arrays::ArrayError;
use crate::embedding::EmbeddingError;
use crate::engine::EngineError;
use crate::evaluation::EvaluationError;
use crate::experiment::{ExperimentError, SplitError};
use crate::figure::FigureError;
use crate::format::FormatError;
use crate::generate::GenerateError;
use crate::learn::LearnError;
use crate::line_search::LineSearchError;
use crate::model_file::ModelFileError;
use crate::pipeline::PipelineError;
use crate::report::ReportError;
use crate::run::RunError;
use crate::seen::UnlikeError;
use crate::store::unreadable;
use crate::study::StudyError;
use crate::watch::WatchError;

/// Invalid input, or a failure of the machine: what it says, where, and [what next](Error::hint).
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A setting is unknown or outside its range.
    #[error(transparent)]
    Setting(#[from] SettingError),
    /// Values do not form a series.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// Arrays form no recording.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// A file of data cannot be read or written.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// A recording cannot be prepared as asked.
    #[error(transparent)]
    Pipeline(#[from] PipelineError),
    /// A system cannot be simulated as asked, or its orbit ends early.
    #[error(transparent)]
    Simulate(#[from] SimulateError),
    /// An experiment cannot be done.
    #[error(transparent)]
    Experiment(#[from] ExperimentError),
    /// A model file cannot be read.
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
    /// There is no run, or none may be made.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A model has no orbit as asked, or it diverges.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// Data are not those of a model.
    #[error(transparent)]
    Unlike(#[from] UnlikeError),
    /// Work was stopped before its end.
    #[error(transparent)]
    Stopped(#[from] Stopped),
    /// A reconstruction cannot be judged by these data.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// A line search is not possible as asked.
    #[error(transparent)]
    LineSearch(#[from] LineSearchError),
    /// A race for the best model has no winner, or cannot be run.
    #[error(transparent)]
    Learn(#[from] LearnError),
    /// A study cannot be done, or its folder not be used.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A study is not handed to a cluster.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A model has no form as another.
    #[error(transparent)]
    Conversion(#[from] ConversionError),
    /// A recording is not embedded, or has no exponent.
    #[error(transparent)]
    Embedding(#[from] EmbeddingError),
    /// A report is not written.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// There is no page to watch runs on.
    #[error(transparent)]
    Watch(#[from] WatchError),
    /// There is no figure.
    #[error(transparent)]
    Figure(#[from] FigureError),
    /// No entry of the lists has this name.
    #[error("no {what} is named `{name}`")]
    UnknownName {
        /// What was looked for, such as `system`.
        what: &'static str,
        /// What was typed.
        name: String,
        /// The most similar known name.
        near: Option<&'static str>,
    },
    /// A file would be written over the one that is read.
    #[error("the file to write is the one to read: {}", path.display())]
    SameFile {
        /// The file to write, as typed.
        path: PathBuf,
    },
    /// A folder to write into has files that were not written by the same command.
    #[error("the folder has other files, such as `{found}`: {}", path.display())]
    ForeignFiles {
        /// The first of them.
        found: String,
        /// The folder.
        path: PathBuf,
    },
    /// The folder of a file to write is not there.
    #[error("no such folder: {}", path.display())]
    NoFolder {
        /// The folder.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("{}: {}", unreadable(source), path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write: {source}: {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// Standard output was closed or is full.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] io::Error),
}

const CREATE_FOLDER: &str = "create the folder first, or name a file in another one";

/// How to find a name.
fn known_name(what: &str, near: Option<&str>) -> Hint {
    match (near, what) {
        (Some(near), _) => format!("did you mean `{near}`?").into(),
        (None, "figure") => "`attractor plot` lists the kinds of figures".into(),
        (None, "table of the paper") => "the known tables are 1, S1, S2, S3 and S4".into(),
        (None, _) => "`attractor list` prints all names".into(),
    }
}

impl From<SplitError> for Error {
    fn from(error: SplitError) -> Error {
        ExperimentError::Split(error).into()
    }
}

impl Error {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            Error::Setting(error) => error.hint(),
            Error::Array(error) => error.hint(),
            Error::Format(error) => error.hint(),
            Error::Pipeline(error) => error.hint(),
            Error::Simulate(error) => error.hint(),
            Error::Experiment(error) => error.hint(),
            Error::ModelFile(error) => error.hint(),
            Error::Run(error) => error.hint(),
            Error::Engine(error) => error.hint(),
            Error::Generate(error) => error.hint(),
            Error::Evaluation(error) => error.hint(),
            Error::LineSearch(error) => Some(error.hint()),
            Error::Learn(error) => error.hint(),
            Error::Unlike(error) => error.hint(),
            Error::Study(error) => error.hint(),
            Error::Conversion(error) => error.hint(),
            Error::Embedding(error) => error.hint(),
            Error::Report(error) => Some(error.hint()),
            Error::Watch(error) => Some(error.hint()),
            Error::Figure(error) => error.hint(),
            Error::UnknownName { what, near, .. } => Some(known_name(what, *near)),
            _ => self.of_files().map(Hint::from),
        }
    }

    /// What the user can do about files and folders.
    fn of_files(&self) -> Option<&'static str> {
        match self {
            Error::SameFile { .. } => Some("name another file to write"),
            Error::NoFolder { .. } => Some(CREATE_FOLDER),
            Error::ForeignFiles { .. } => Some("name a folder that is empty or not there yet"),
            Error::Write { source, .. } => match source.kind() {
                io::ErrorKind::NotFound => Some(CREATE_FOLDER),
                io::ErrorKind::StorageFull => {
                    Some("make room on the disk; what was written before is whole")
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Whether nature did it (an orbit that diverges), not the user.
    pub fn is_outcome(&self) -> bool {
        match self {
            Error::Simulate(error) => error.is_outcome(),
            Error::Generate(error) => error.is_outcome(),
            Error::Run(error) => error.is_outcome(),
            Error::Figure(error) => error.is_outcome(),
            _ => false,
        }
    }
}
