//! The folder of a study:
//!
//! ```text
//! DIR/study.json                 which study, data and judging: written once, then only compared
//! DIR/study.toml, train.csv …    the study and its data, if they were in memory alone
//! DIR/alpha=0.1/seed-01/         a run, with its scores.json once it has ended
//! ```
//!
//! There is no other file that several processes write: what is done is known from the folders alone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use serde::{Deserialize, Serialize};

use super::Study;
use super::error::StudyError;
use super::packed::Packed;
use super::scored::{Reader, SCORES, Scored, representatives, unless_absent};
use super::sketch;
use crate::run::{Folder, RunError};
use crate::{Error, store};

/// Floors and chance levels of the study's data.
pub(crate) const LEVELS: &str = ".levels";

/// Submissions to other machines.
pub(crate) const JOBS: &str = ".jobs";

pub(super) const RECORD: &str = "study.json";

/// Raised when a field of it is renamed or removed.
const SCHEMA: u64 = 1;

/// Which study a folder holds, of which data, judged how.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// The study's name.
    pub name: String,
    /// Fingerprints of the training and the test data.
    pub data: [String; 2],
    /// How models are judged.
    pub judging: BTreeMap<String, String>,
}

impl Record {
    /// The record in a folder: none if the folder is empty, not there, or holds nothing but runs. A folder with something
    /// else is refused.
    pub fn find(folder: &Path) -> Result<Option<Record>, StudyError> {
        let path = folder.join(RECORD);
        if let Some(text) = unless_absent(fs::read_to_string(&path), &path)? {
            let record = serde_json::from_str(&text).ok();
            let record = record.and_then(Record::from_document);
            return record.map(Some).ok_or(StudyError::Record { path });
        }
        let path = || folder.to_path_buf();
        if folder.is_file() {
            return Err(StudyError::NotAFolder { path: path() });
        }
        let files = unless_absent(fs::read_dir(folder), folder)?;
        for file in files.into_iter().flatten().flatten() {
            let name = file.file_name();
            let name = name.to_string_lossy();
            let is_own = [LEVELS, JOBS].contains(&&*name)
                || sketch::FILES.contains(&&*name)
                || store::is_part(&name);
            if !is_own && !is_cell(&file.path())? {
                return Err(StudyError::OtherContent { path: path() });
            }
        }
        Ok(None)
    }

    /// Refuses a study that is not the one of this record.
    pub(crate) fn refuse_other(
        &self,
        asked: &Record,
        study: &Study,
        folder: &Path,
    ) -> Result<(), StudyError> {
        if self.name != asked.name {
            return Err(StudyError::OtherStudy {
                found: self.name.clone(),
                name: asked.name.clone(),
                path: folder.to_path_buf(),
            });
        }
        self.refuse_other_test(asked, study, folder)?;
        let test = study.test.as_ref().unwrap_or(&study.train);
        let sources = [("training", &study.train), ("test", test)];
        for (i, (which, source)) in sources.into_iter().enumerate() {
            if self.data[i] != asked.data[i] {
                let path = source.path.clone();
                return Err(StudyError::OtherData { which, path });
            }
        }
        self.refuse_other_judging(asked, folder)
    }

    /// Refuses a study that has lost or got test data; whether they are others is seen later.
    fn refuse_other_test(
        &self,
        asked: &Record,
        study: &Study,
        folder: &Path,
    ) -> Result<(), StudyError> {
        let had_test = self.data[0] != self.data[1];
        let has_test = asked.data[0] != asked.data[1];
        let is_other = self.data[1] != asked.data[1] && self.data[0] == asked.data[0];
        let by = |test: bool| {
            if test {
                "test data".to_string()
            } else {
                "the training data".to_string()
            }
        };
        if is_other && had_test != has_test && has_test == study.test.is_some() {
            Err(StudyError::OtherEvaluation {
                found: by(had_test),
                asked: by(has_test),
                path: folder.to_path_buf(),
            })
        } else {
            Ok(())
        }
    }

    fn refuse_other_judging(&self, asked: &Record, folder: &Path) -> Result<(), StudyError> {
        let names = self.judging.keys().chain(asked.judging.keys());
        let shown = |record: &Record, name: &String| match record.judging.get(name) {
            Some(text) => format!("`{name} = {text}`"),
            None => format!("no `{name}`"),
        };
        let other = |name: &&String| self.judging.get(*name) != asked.judging.get(*name);
        match names.into_iter().find(other) {
            None => Ok(()),
            Some(name) => Err(StudyError::OtherEvaluation {
                found: shown(self, name),
                asked: shown(asked, name),
                path: folder.to_path_buf(),
            }),
        }
    }

    /// Refuses scores of runs of another study, of other data, or with forecasts of other lengths.
    pub(crate) fn refuse_scores(&self, scored: &Scored, path: &Path) -> Result<(), Error> {
        let path = path.to_path_buf();
        if self.name != scored.study {
            let (found, name) = (scored.study.clone(), self.name.clone());
            return Err(StudyError::OtherStudy { found, name, path }.into());
        }
        if self.data[0] != scored.data[0] {
            return Err(RunError::OtherRecording { path }.into());
        }
        let pe_steps = scored.pe_steps.to_string();
        let (found, asked) = match self.judging.get("pe-steps") {
            _ if self.data[1] != scored.data[1] => ("other test data".into(), "the study's".into()),
            Some(asked) if *asked != pe_steps => (
                format!("`pe-steps = {pe_steps}`"),
                format!("`pe-steps = {asked}`"),
            ),
            _ => return Ok(()),
        };
        Err(StudyError::OtherEvaluation { found, asked, path }.into())
    }

    /// Makes the folder, with the record in it. If another process has made it meanwhile, for another study, that is reported.
    pub(crate) fn write(&self, study: &Study, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder).map_err(|source| Error::Write {
            path: folder.to_path_buf(),
            source,
        })?;
        let document = serde_json::to_string_pretty(&self.document());
        let document = document.expect("a record is plain text");
        store::write_new(&folder.join(RECORD), |out| writeln!(out, "{document}"))?;
        match Record::find(folder)? {
            Some(found) => Ok(found.refuse_other(self, study, folder)?),
            None => Ok(()),
        }
    }

    pub(super) fn document(&self) -> RecordDocument {
        let [train, test] = self.data.clone();
        RecordDocument {
            data: Data { test, train },
            evaluation: self.judging.clone(),
            schema: SCHEMA,
            study: self.name.clone(),
        }
    }

    pub(super) fn from_document(document: RecordDocument) -> Option<Record> {
        (document.schema == SCHEMA).then_some(())?;
        Some(Record {
            name: document.study,
            data: [document.data.train, document.data.test],
            judging: document.evaluation,
        })
    }
}

/// What the record's file holds, in alphabetical order.
#[derive(Serialize, Deserialize)]
pub(super) struct RecordDocument {
    data: Data,
    evaluation: BTreeMap<String, String>,
    schema: u64,
    study: String,
}

/// Fingerprints.
#[derive(Serialize, Deserialize)]
struct Data {
    test: String,
    train: String,
}

/// Whether a folder holds nothing but folders of runs, and so is one of a study's cells.
fn is_cell(folder: &Path) -> Result<bool, StudyError> {
    let runs = folders(folder)?;
    Ok(!runs.is_empty() && runs.iter().all(|run| is_run(&folder.join(run), run)))
}

/// Whether a folder has the name of a run, and holds one, or nothing yet.
fn is_run(folder: &Path, name: &str) -> bool {
    let seed = name.strip_prefix(RUN).unwrap_or_default();
    let is_named = !seed.is_empty() && seed.bytes().all(|byte| byte.is_ascii_digit());
    let run = Folder::new(folder);
    let is_ours = run.holds_run() || folder.join(SCORES).exists();
    is_named && (is_ours || run.refuse_occupied().is_ok())
}

/// What the names of runs' folders begin with.
const RUN: &str = "seed-";

/// The folder of a run, from that of the study.
pub(crate) fn run_folder(cell: &str, seed: u64) -> PathBuf {
    Path::new(cell).join(format!("{RUN}{seed:02}"))
}

/// Every run under a folder, or in the file that it was packed into, that has ended and was judged, by cell and seed. One
/// without any is refused, and one in which a run is twice.
pub fn index(folder: &Path) -> Result<Vec<Scored>, Error> {
    let is_packed = Packed::is_at(folder);
    let mut index = if is_packed {
        Packed::read(folder)?.runs
    } else {
        ended(folder)?
    };
    if index.is_empty() {
        let path = folder.to_path_buf();
        return Err(match Record::find(folder) {
            _ if is_packed => StudyError::NoRuns { path },
            Ok(Some(_)) => StudyError::NoRuns { path },
            Err(error @ (StudyError::Read { .. } | StudyError::NotAFolder { .. })) => error,
            _ if !folder.exists() => StudyError::NoFolder { path },
            _ => StudyError::NoStudy { path },
        }
        .into());
    }
    refuse_mixed(&index, folder)?;
    refuse_repeated(&index, folder)?;
    index.sort_by(|a, b| (a.place, a.seed, &a.folder).cmp(&(b.place, b.seed, &b.folder)));
    Ok(index)
}

/// Every run under a folder that has ended and was judged, in the order of their folders.
pub(crate) fn ended(folder: &Path) -> Result<Vec<Scored>, StudyError> {
    ended_beside(folder, &BTreeSet::new())
}

/// The same but for those in folders of known cells, which are not read.
pub(crate) fn ended_beside(
    folder: &Path,
    known: &BTreeSet<&str>,
) -> Result<Vec<Scored>, StudyError> {
    let runs = runs_beside(folder, known)?;
    let read = |runs: &[PathBuf]| -> Result<Vec<Scored>, StudyError> {
        let mut reader = Reader::default();
        let scored = runs.iter().map(|run| reader.read(folder, run));
        scored.filter_map(Result::transpose).collect()
    };
    // Small files: most of the time is spent in waiting for the disk and in understanding them.
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let parts = runs.chunks(runs.len().div_ceil(threads).max(1));
    let read: Vec<_> = thread::scope(|scope| {
        let readers: Vec<_> = parts.map(|part| scope.spawn(move || read(part))).collect();
        let joined = readers.into_iter().map(|reader| reader.join());
        joined
            .map(|part| part.expect("readers do not panic"))
            .collect()
    });
    let mut ended = Vec::with_capacity(runs.len());
    for part in read {
        ended.extend(part?);
    }
    Ok(ended)
}

/// The folders two levels down, in order, but for those of known cells.
fn runs_beside(folder: &Path, known: &BTreeSet<&str>) -> Result<Vec<PathBuf>, StudyError> {
    let mut runs = Vec::new();
    let cells = folders(folder)?.into_iter();
    for cell in cells.filter(|cell| !known.contains(cell.as_str())) {
        let of_cell = folders(&folder.join(&cell))?;
        runs.extend(of_cell.iter().map(|run| Path::new(&cell).join(run)));
    }
    Ok(runs)
}

/// The names of the folders in a folder, in order, through links; none in what is no folder.
fn folders(folder: &Path) -> Result<Vec<String>, StudyError> {
    let files = unless_absent(fs::read_dir(folder), folder)?;
    let is_folder = |file: &fs::DirEntry| match file.file_type() {
        Ok(kind) if kind.is_symlink() => file.path().is_dir(),
        kind => kind.is_ok_and(|kind| kind.is_dir()),
    };
    let names = files.into_iter().flatten().flatten().filter(is_folder);
    let mut names: Vec<String> = names
        .map(|file| file.file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    Ok(names)
}

/// Refuses a folder with two runs of the same settings and the same seed: one of them is a copy, and would count twice.
fn refuse_repeated(index: &[Scored], folder: &Path) -> Result<(), StudyError> {
    // Few settings are compared with one another, of many runs that share them.
    let kinds: BTreeMap<_, _> = representatives(index)
        .map(|run| (&*run.settings, run))
        .collect();
    let kind = |settings: &BTreeMap<_, _>| std::ptr::from_ref(&*kinds[settings].settings);
    let kinds: BTreeMap<_, _> = representatives(index)
        .map(|run| (Arc::as_ptr(&run.settings), kind(&run.settings)))
        .collect();
    let mut known = BTreeMap::new();
    for run in index {
        let kind = kinds[&Arc::as_ptr(&run.settings)];
        if let Some(first) = known.insert((run.seed, kind), &run.folder) {
            return Err(StudyError::Repeated {
                first: folder.join(first),
                other: folder.join(&run.folder),
            });
        }
    }
    Ok(())
}

/// Refuses runs of several studies, of other data, or with forecasts of other lengths, in one folder.
fn refuse_mixed(index: &[Scored], folder: &Path) -> Result<(), StudyError> {
    let first = &index[0];
    let of_first = |run: &&Scored| {
        (&run.study, &run.data, run.pe_steps) == (&first.study, &first.data, first.pe_steps)
    };
    match index.iter().find(|run| !of_first(run)) {
        None => Ok(()),
        Some(other) => Err(StudyError::Mixed {
            what: match (other.study == first.study, other.data == first.data) {
                (false, _) => "studies",
                (true, false) => "data",
                (true, true) => "lengths of forecasts",
            },
            first: folder.join(&first.folder),
            other: folder.join(&other.folder),
        }),
    }
}
