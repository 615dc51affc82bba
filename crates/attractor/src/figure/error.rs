//! Why there is no figure.

use std::path::PathBuf;

use attractor_core::hint::Hint;
use attractor_core::text::count;

/// Why there is no figure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FigureError {
    /// The name of the file does not say what to write.
    #[error("figures are written as .svg, .png or .pdf: {}", path.display())]
    Extension {
        /// The file to write.
        path: PathBuf,
    },
    /// A file that no figure of this name has written stands where its numbers go.
    #[error("the numbers of the figure would replace a file that is not known to be theirs: {}", path.display())]
    TableExists {
        /// The file.
        path: PathBuf,
    },
    /// There is nothing to draw from.
    #[error("`{kind}` needs a {what}")]
    NoSubject {
        /// The kind of figure.
        kind: &'static str,
        /// What it is drawn from.
        what: &'static str,
    },
    /// It is drawn from nothing.
    #[error("`{kind}` is a scheme: it takes no RUN")]
    NotNeeded {
        /// The kind of figure.
        kind: &'static str,
    },
    /// Flags for reading data, and no data.
    #[error("there are flags for reading data, and no data to read")]
    NothingToRead,
    /// As many names as runs are needed.
    #[error("{} for {needed} panels", count(*found, "label"))]
    Labels {
        /// How many were given.
        found: usize,
        /// How many are needed.
        needed: usize,
    },
    /// A run does not know its data any more.
    #[error("no data for this run, neither given nor where it was trained from: {}", path.display())]
    NoData {
        /// The run.
        path: PathBuf,
    },
    /// An orbit from a file without the data that it is compared with.
    #[error("no data to draw this orbit beside: {}", path.display())]
    NoTruth {
        /// The file with the orbit.
        path: PathBuf,
    },
    /// An orbit from a file has other columns than the data.
    #[error("the data have {}, the orbit has {found}: {}", count(*expected, "channel"), path.display())]
    OtherChannels {
        /// Channels of the data.
        expected: usize,
        /// Channels of the orbit.
        found: usize,
        /// The file with the orbit.
        path: PathBuf,
    },
    /// An orbit from a file ends before the data.
    #[error("{} are drawn, the orbit has {found}: {}", count(*needed, "row"), path.display())]
    ShortOrbit {
        /// Rows of data that are drawn.
        needed: usize,
        /// Rows of the orbit.
        found: usize,
        /// The file with the orbit.
        path: PathBuf,
    },
    /// The data are too short.
    #[error("{} without a gap or a missing value are needed, the data have {found}", count(*needed, "row"))]
    TooShort {
        /// Rows needed.
        needed: usize,
        /// Rows of the longest stretch.
        found: usize,
    },
    /// No channel has this name.
    #[error("no channel is named `{name}`: there are {}", known.join(", "))]
    UnknownChannel {
        /// What was typed.
        name: String,
        /// The names.
        known: Vec<String>,
    },
    /// An orbit that ends at once.
    #[error("the orbit of `{name}` diverges at once: there is nothing to draw")]
    NoOrbit {
        /// The run.
        name: String,
    },
    /// A figure about teacher forcing of a model that was fitted in another way.
    #[error("`{name}` was not trained under teacher forcing, which this figure is about")]
    NotForced {
        /// The run.
        name: String,
    },
    /// A model without the two parameters.
    #[error(
        "`{name}` has no matrix W1 or W with entries (1, 2) and (2, 1), over which the loss is drawn"
    )]
    NoLandscape {
        /// The run.
        name: String,
    },
    /// A study of whose runs none has scores.
    #[error("no run has scores: {}", path.display())]
    NoScores {
        /// The study.
        path: PathBuf,
    },
    /// A system whose exponents are not known.
    #[error("the exponents of `{name}` are not known")]
    NoExponents {
        /// The system, as typed.
        name: String,
    },
    /// A folder that is not that of a line search.
    #[error("no curve.csv of a line search in this folder: {}", path.display())]
    NoLineSearch {
        /// The folder.
        path: PathBuf,
    },
    /// A table that is not what a line search writes.
    #[error("line {line} is not one of a line search: {}", path.display())]
    NotCurve {
        /// The line, from 1.
        line: usize,
        /// The file.
        path: PathBuf,
    },
}

impl FigureError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            FigureError::Extension { .. } => {
                Some("name the file as in `--out figure.svg`".into())
            }
            FigureError::TableExists { .. } => {
                Some("name another figure with `--out`, or move the file away".into())
            }
            FigureError::NoSubject { kind, .. } => Some(format!(
                "as in `attractor plot {kind} RUN --out {kind}.svg`"
            ).into()),
            FigureError::NotNeeded { kind } => {
                Some(format!("`attractor plot {kind} --out {kind}.svg`").into())
            }
            FigureError::Labels { .. } => {
                Some("give one label a RUN, with commas between, or none".into())
            }
            FigureError::NothingToRead
            | FigureError::NoData { .. }
            | FigureError::NoTruth { .. } => {
                Some("give data with `--data FILE`".into())
            }
            FigureError::OtherChannels { .. } => {
                Some("`--channels` chooses columns of the data".into())
            }
            FigureError::ShortOrbit { found, .. } => {
                Some(format!("`--steps {found}` draws what there is").into())
            }
            FigureError::TooShort { found, .. } => match found {
                0 | 1 => Some("give more data with `--data FILE`".into()),
                _ => Some(format!(
                    "give more data with `--data FILE`, or ask for less where the figure takes `--steps` or `--ahead`: there are {found} rows"
                ).into()),
            },
            FigureError::UnknownChannel { .. } => {
                Some("`--show` takes names, or numbers from 1, with commas between".into())
            }
            FigureError::NotForced { .. } => {
                Some("leave it out; `attractor list models` says which models are trained under teacher forcing".into())
            }
            FigureError::NoOrbit { .. } => {
                Some("start from other data with `--data FILE`, or train it again".into())
            }
            FigureError::NoLineSearch { .. } => {
                Some("`attractor line-search DATA --out FOLDER` makes one".into())
            }
            FigureError::NotCurve { .. } => {
                Some("the same `attractor line-search` again writes it anew".into())
            }
            FigureError::NoScores { .. } => {
                Some("`attractor sweep STUDY.toml --out FOLDER` judges the runs that it trains".into())
            }
            FigureError::NoExponents { .. } => Some("`attractor list systems` has the names".into()),
            FigureError::NoLandscape { .. } => None,
        }
    }

    /// Whether nature did it, not the user.
    pub fn is_outcome(&self) -> bool {
        matches!(self, FigureError::NoOrbit { .. })
    }
}
