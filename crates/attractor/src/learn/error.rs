//! Why a race is not run, or has no winner.

use std::path::PathBuf;

use attractor_core::hint::Hint;

use crate::shell;

/// Why a race is not run, or has no winner.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LearnError {
    /// A method does not suit the goal.
    #[error("`{method}` is not piecewise linear, which the goal `anatomy` asks for")]
    NotPiecewise {
        /// The method.
        method: String,
    },
    /// The folder holds a race for something else.
    #[error("the folder holds another race, its {what} {stored}, not {asked}: {}", path.display())]
    OtherRace {
        /// What differs.
        what: String,
        /// As stored.
        stored: String,
        /// As asked.
        asked: String,
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds something else.
    #[error("the folder is not empty: {}", path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// The record cannot be understood.
    #[error("not a record of a race: {}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
    },
    /// There are too few rows for three parts.
    #[error("the longest stretch has {rows} consecutive rows; {needed} are needed to train, select and test with: {}", path.display())]
    Short {
        /// The longest stretch.
        rows: usize,
        /// How many are needed.
        needed: usize,
        /// The file.
        path: PathBuf,
    },
    /// All candidates are out.
    #[error("no candidate has an orbit that stays bounded: the first failed because {why}")]
    Nothing {
        /// Why the first is out.
        why: String,
    },
    /// It was stopped.
    #[error("stopped: the same command continues: {}", path.display())]
    Stopped {
        /// The folder.
        path: PathBuf,
    },
}

impl LearnError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            LearnError::NotPiecewise { .. } => {
                Some("leave `--methods` out, or use `--goal attractor`".into())
            }
            LearnError::OtherRace { path, .. } | LearnError::NotEmpty { path } => {
                let other = path.with_file_name("another");
                Some(format!("name another folder: `--out {}`", shell::path(&other)).into())
            }
            LearnError::Record { path } => {
                let folder = path.parent().unwrap_or(path);
                let other = folder.with_file_name("another");
                Some(format!("name another folder: `--out {}`", shell::path(&other)).into())
            }
            LearnError::Short { path, .. } => Some(
                format!(
                    "record longer; `attractor train {} --out run` trains without parts",
                    shell::path(path)
                )
                .into(),
            ),
            LearnError::Nothing { .. } => {
                Some("`attractor inspect FILE` says what may be wrong with the data".into())
            }
            LearnError::Stopped { .. } => None,
        }
    }
}
