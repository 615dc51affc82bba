//! What can be wrong with a study, its data or its folder.

use std::io;
use std::path::PathBuf;

use attractor_core::hint::{Hint, Style};
use attractor_core::settings::SettingError;

use super::packed::Damage;
use crate::experiment::all_settings;
use crate::store::unreadable;

/// Why a study cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum StudyError {
    /// The file cannot be read.
    #[error("{}: {}", unreadable(source), path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// A line of the file is wrong.
    #[error("{fault} (line {line} of {})", path.display())]
    Line {
        /// What is wrong.
        fault: StudyFault,
        /// The line, from 1.
        line: usize,
        /// The file.
        path: PathBuf,
    },
    /// A file of data is not there.
    #[error("no such file: {}{} (named in {})", data.display(), not_in(folders), path.display())]
    DataNotFound {
        /// The file of data.
        data: PathBuf,
        /// Where it was looked for.
        folders: Vec<PathBuf>,
        /// The study.
        path: PathBuf,
    },
    /// No cell has the name that was asked for.
    #[error("no entry of the list is named `{name}`")]
    UnknownEntry {
        /// What was asked for.
        name: String,
        /// The most similar name.
        near: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// A cell does not fit the data.
    #[error("{error} (cell `{cell}`)")]
    OfCell {
        /// The cell's folder.
        cell: String,
        /// What is wrong.
        error: Box<crate::Error>,
    },
    /// Settings or data do not fit each other.
    #[error("{error}")]
    Unfit {
        /// What is wrong.
        error: Box<crate::Error>,
    },
    /// Two cells have the same settings.
    #[error(
        "the cells `{first}` and `{second}` train the same: they differ in nothing, or in settings that do not act"
    )]
    SameCells {
        /// The folder of the first one.
        first: String,
        /// The folder of the second one.
        second: String,
    },
    /// The folder is in other use.
    #[error("the folder holds something other than a study: {}", path.display())]
    OtherContent {
        /// The folder.
        path: PathBuf,
    },
    /// The record of a study cannot be understood.
    #[error("the record of the study cannot be read: {}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
    },
    /// Runs in one folder do not belong together.
    #[error("runs of different {what} are in one folder: {} and {}", first.display(), other.display())]
    Mixed {
        /// What they differ in.
        what: &'static str,
        /// The folder of the first one.
        first: PathBuf,
        /// The folder of another one.
        other: PathBuf,
    },
    /// A run is in the folder twice.
    #[error("two runs have the same settings and the same seed: {} and {}", first.display(), other.display())]
    Repeated {
        /// The folder of the first one.
        first: PathBuf,
        /// The folder of the other one.
        other: PathBuf,
    },
    /// A run that is to be trained is in the folder under another name.
    #[error("the run is there already, in {}: {}", found.display(), asked.display())]
    ElsewhereInFolder {
        /// Its folder.
        found: PathBuf,
        /// The folder that it is to have.
        asked: PathBuf,
    },
    /// There is no such folder.
    #[error("no such folder: {}", path.display())]
    NoFolder {
        /// What should be one.
        path: PathBuf,
    },
    /// There is a file instead of a folder.
    #[error("expected a folder, found a file: {}", path.display())]
    NotAFolder {
        /// The file.
        path: PathBuf,
    },
    /// The folder is to be filled, and is not empty.
    #[error("the folder is not empty: {}", path.display())]
    Filled {
        /// The folder.
        path: PathBuf,
    },
    /// The folder is no study's.
    #[error("no study in this folder: {}", path.display())]
    NoStudy {
        /// The folder.
        path: PathBuf,
    },
    /// The folder holds another study.
    #[error("the folder holds the study `{found}`, not `{name}`: {}", path.display())]
    OtherStudy {
        /// The study of the folder.
        found: String,
        /// The study that is asked for.
        name: String,
        /// The folder.
        path: PathBuf,
    },
    /// Data are not those that the runs were made with.
    #[error("the {which} data have changed since the runs were made: {}", path.display())]
    OtherData {
        /// `training` or `test`.
        which: &'static str,
        /// The file of data.
        path: PathBuf,
    },
    /// Runs were judged in another way.
    #[error("the runs in the folder were judged with {found}, not with {asked}: {}", path.display())]
    OtherEvaluation {
        /// How they were.
        found: String,
        /// How they are to be.
        asked: String,
        /// The folder.
        path: PathBuf,
    },
    /// A table is asked for by something that runs do not have.
    #[error(transparent)]
    UnknownKey(SettingError),
    /// No run has ended.
    #[error("no run of this study has ended: {}", path.display())]
    NoRuns {
        /// The folder.
        path: PathBuf,
    },
    /// A stored file of scores is not ours.
    #[error("the scores of a run cannot be read: {}", path.display())]
    Scores {
        /// The file.
        path: PathBuf,
    },
    /// A stored file of scores is not as it was written.
    #[error("the scores of a run have been changed since they were written: {}", path.display())]
    Edited {
        /// The file.
        path: PathBuf,
    },
}

/// What is wrong with a line of a study.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum StudyFault {
    /// It is no TOML.
    #[error("{0}")]
    Syntax(String),
    /// A key that means nothing.
    #[error("unknown key `{key}`{}", within(table))]
    UnknownKey {
        /// The key.
        key: String,
        /// The table it stands in; empty at the top.
        table: &'static str,
        /// All that may stand there.
        known: Vec<&'static str>,
        /// The most similar one.
        near: Option<&'static str>,
    },
    /// A value of another kind.
    #[error("`{key}` must be {expected}")]
    Kind {
        /// The key.
        key: String,
        /// What it must be.
        expected: &'static str,
    },
    /// A value that cannot be.
    #[error("{0}")]
    Value(String),
    /// A grid over nothing.
    #[error("[grid] is empty")]
    EmptyGrid,
    /// A setting without values.
    #[error("`{0}` of [grid] has no values")]
    EmptyAxis(String),
    /// A list of nothing.
    #[error("`list` is empty")]
    EmptyList,
    /// No seeds.
    #[error("`seeds` is empty: nothing would be run")]
    NoSeeds,
    /// Nothing is said of seeds.
    #[error("the study has no `seeds`")]
    SeedsMissing,
    /// More runs than a study may have.
    #[error("the study has {runs} runs, more than {most}")]
    TooManyRuns {
        /// How many.
        runs: usize,
        /// How many there may be.
        most: usize,
    },
    /// A name that tables cannot show.
    #[error("`name` must be one line of text")]
    Name,
    /// A seed twice.
    #[error("seed {0} appears twice in `seeds`")]
    SeedTwice(u64),
    /// A seed that no run takes.
    #[error("seed {0} is above {max}, the largest one", max = i64::MAX)]
    SeedTooLarge(u64),
    /// More seeds than a study may have.
    #[error("`seeds` has more than {0} seeds")]
    TooManySeeds(usize),
    /// A setting that the study sets itself.
    #[error("`{0}` cannot be set here")]
    Reserved(&'static str),
    /// A setting that both the grid and an entry of the list have.
    #[error("`{0}` is set in [grid] and in an entry of the list")]
    GridAndList(String),
    /// Two cells that cannot be told apart.
    #[error("two combinations go to the same folder `{0}`")]
    SameCell(String),
    /// The paper has no such row.
    #[error("no row of the paper is named `{name}`")]
    UnknownRow {
        /// What was written.
        name: String,
        /// The most similar one.
        near: Option<&'static str>,
    },
    /// Parameters of no system.
    #[error("[evaluation.set] has parameters of a system, but no system is named")]
    SetAlone,
    /// There are no training data.
    #[error("[data] has no `train`")]
    NoTrain,
    /// A line of a packed study is not as it was written.
    #[error("{0}")]
    Packed(Damage),
}

/// What an axis of the grid must be.
pub(super) const LIST: &str = "a list of values";

fn within(table: &str) -> String {
    match table {
        "" => String::new(),
        table => format!(" of [{table}]"),
    }
}

/// The folders in which a file is not, but for the one that a user is in.
fn not_in(folders: &[PathBuf]) -> String {
    let folders = folders
        .iter()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folders: Vec<String> = folders.map(|f| f.display().to_string()).collect();
    if folders.is_empty() {
        String::new()
    } else {
        format!(" in {}", folders.join(" or "))
    }
}

fn did_you_mean(near: &str) -> Hint {
    format!("did you mean `{near}`?").into()
}

impl StudyFault {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            StudyFault::UnknownKey {
                near: Some(near), ..
            } => Some(did_you_mean(near)),
            // A setting of training belongs into its table.
            StudyFault::UnknownKey { key, table: "", .. }
                if all_settings().iter().any(|setting| setting.name == key) =>
            {
                Some(format!("settings of all runs belong in [settings]: `{key}` there").into())
            }
            StudyFault::UnknownKey { known, .. } => {
                Some(format!("the known names are {}", known.join(", ")).into())
            }
            StudyFault::EmptyGrid | StudyFault::EmptyAxis(_) => Some(
                "give settings lists of values, as in `alpha = [0.1, 0.2]`, or leave it out".into(),
            ),
            StudyFault::EmptyList => Some("add an entry with `[[list]]`, or leave it out".into()),
            StudyFault::NoSeeds
            | StudyFault::SeedsMissing
            | StudyFault::SeedTooLarge(_)
            | StudyFault::TooManySeeds(_) => {
                Some("give a number of seeds, or a list of them".into())
            }
            StudyFault::SeedTwice(_) => Some("leave one of them out".into()),
            StudyFault::Reserved("seed") => {
                Some("`seeds` of the study sets the seeds of its runs".into())
            }
            StudyFault::Reserved(_) => {
                Some("every run has one thread; `--workers` says how many run side by side".into())
            }
            StudyFault::GridAndList(_) => Some("leave it out of one of them".into()),
            StudyFault::SameCell(_) => {
                Some("leave one of them out, or give an entry of the list another `name`".into())
            }
            StudyFault::UnknownRow {
                near: Some(near), ..
            } => Some(did_you_mean(near)),
            StudyFault::UnknownRow { .. } => {
                Some("rows are named as in \"shPLRNN + GTF / ECG\"".into())
            }
            StudyFault::TooManyRuns { .. } => {
                Some("leave out values of [grid] or seeds, or make several studies of it".into())
            }
            StudyFault::Name => Some("leave line breaks and other control characters out".into()),
            StudyFault::Kind {
                key,
                expected: LIST,
            } => Some(format!("write `{key} = […]`").into()),
            StudyFault::Kind { .. } => {
                Some("`attractor help sweep` and docs/sweeps.md show the form of a study".into())
            }
            StudyFault::SetAlone => Some("`system = \"…\"` of [evaluation] names it".into()),
            StudyFault::NoTrain => Some("`train = \"…\"` names the training data".into()),
            StudyFault::Packed(_) => {
                Some("restore the file as it was written; it cannot be edited".into())
            }
            StudyFault::Syntax(_) | StudyFault::Value(_) => None,
        }
    }
}

impl StudyError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            StudyError::Line { fault, .. } => fault.hint(),
            // Who writes a study writes settings as lines of its file.
            StudyError::OfCell { error, .. } | StudyError::Unfit { error } => {
                error.hint().map(|hint| hint.in_style(Style::File))
            }
            StudyError::SameCells { .. } => {
                Some("leave one of them out; `[[list]]` names cells one by one, where a grid makes both".into())
            }
            StudyError::DataNotFound { .. } => Some(
                "relative names count from the folder of the study; `--data-dir` or ATTRACTOR_DATA names another".into(),
            ),
            StudyError::UnknownEntry { near: Some(near), .. } => Some(did_you_mean(near)),
            StudyError::UnknownEntry { known, .. } if known.is_empty() => {
                Some("the study has no entries with a name".into())
            }
            StudyError::UnknownEntry { known, .. } => Some(format!("the known names are {}", known.join(", ")).into()),
            StudyError::OtherContent { .. } | StudyError::OtherStudy { .. } => {
                Some("name another folder with `--out`".into())
            }
            StudyError::Filled { .. } => Some("name a folder that is not there yet".into()),
            StudyError::Record { .. } => {
                Some("remove this file: `attractor sweep` compares the runs and makes it anew".into())
            }
            StudyError::Mixed { .. } => Some("move those of one kind into a folder of their own".into()),
            StudyError::Repeated { .. } => Some("move one of them elsewhere: a run counts once".into()),
            StudyError::ElsewhereInFolder { found, asked } => {
                let [found, asked] = [found, asked].map(|run| run.parent().unwrap_or(run).display());
                Some(format!("rename {found} to {asked}: its runs are then those of the new cell").into())
            }
            StudyError::NoFolder { .. } | StudyError::NotAFolder { .. } | StudyError::NoStudy { .. } => {
                Some("`attractor sweep STUDY --out DIR` makes one".into())
            }
            StudyError::OtherData { .. } => {
                Some("restore the old file, or name another folder with `--out`".into())
            }
            StudyError::OtherEvaluation { .. } => {
                Some("undo the change to [evaluation] or to `test`, or name another folder with `--out`".into())
            }
            StudyError::Scores { .. } => {
                Some("remove this file: the run is then judged again, not trained again".into())
            }
            StudyError::Edited { .. } => Some(
                "restore the old file, or remove it: the run is then judged again, not trained again".into(),
            ),
            StudyError::UnknownKey(error) => error.hint(),
            StudyError::NoRuns { .. } => Some("`attractor sweep` runs it, or continues it".into()),
            StudyError::Read { .. } => None,
        }
    }
}
