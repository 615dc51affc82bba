//! The folder of a study:
//!
//! ```text
//! DIR/study.json                 which study, data and judging: written once, then only compared
//! DIR/alpha=0.1/seed-01/         a run, with its scores.json once it has ended
//! ```
//!
//! There is no other file that several processes write: what is done is known from the folders alone.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::{Value, json};

use super::Study;
use super::error::StudyError;
use super::scored::Scored;
use crate::{Error, store};

pub(super) const RECORD: &str = "study.json";

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
    /// The record in a folder: none if the folder is empty or not there. A folder with something else is refused.
    pub fn find(folder: &Path) -> Result<Option<Record>, StudyError> {
        let path = || folder.to_path_buf();
        if let Ok(text) = fs::read_to_string(folder.join(RECORD)) {
            let document: Value = serde_json::from_str(&text).unwrap_or_default();
            let record = Record::from_json(&document);
            return record
                .map(Some)
                .ok_or(StudyError::OtherContent { path: path() });
        }
        // What begins with a dot is being written.
        let counts = |file: &fs::DirEntry| !file.file_name().to_string_lossy().starts_with('.');
        let files = fs::read_dir(folder).map(|files| files.flatten().filter(counts).count());
        match files {
            Ok(1..) => Err(StudyError::OtherContent { path: path() }),
            Err(_) if folder.exists() => Err(StudyError::OtherContent { path: path() }),
            _ => Ok(None),
        }
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

    /// Makes the folder, with the record in it.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), Error> {
        fs::create_dir_all(folder).map_err(|source| Error::Write {
            path: folder.to_path_buf(),
            source,
        })?;
        let document = json!({
            "schema": 1,
            "study": self.name,
            "data": { "train": self.data[0], "test": self.data[1] },
            "evaluation": self.judging,
        });
        store::write_whole(&folder.join(RECORD), |out| writeln!(out, "{document:#}"))
    }

    fn from_json(document: &Value) -> Option<Record> {
        let text = |value: &Value| value.as_str().map(String::from);
        let judging = document["evaluation"].as_object()?.iter();
        let judging = judging.map(|(name, value)| Some((name.clone(), text(value)?)));
        let data = &document["data"];
        Some(Record {
            name: text(&document["study"])?,
            data: [text(&data["train"])?, text(&data["test"])?],
            judging: judging.collect::<Option<_>>()?,
        })
    }
}

/// The folder of a run, from that of the study.
pub(crate) fn run_folder(cell: &str, seed: u64) -> PathBuf {
    Path::new(cell).join(format!("seed-{seed:02}"))
}

/// Every run under a folder that has ended and was judged, by cell and seed; a folder without any is refused.
pub fn index(folder: &Path) -> Result<Vec<Scored>, Error> {
    let runs = runs(folder);
    let read = |runs: &[PathBuf]| -> Result<Vec<Scored>, StudyError> {
        let scored = runs.iter().map(|run| Scored::read(folder, run));
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
    let mut index = Vec::with_capacity(runs.len());
    for part in read {
        index.extend(part?);
    }
    if index.is_empty() {
        let path = folder.to_path_buf();
        return Err(match Record::find(folder) {
            Ok(Some(_)) => StudyError::NoRuns { path }.into(),
            _ => StudyError::NoStudy { path }.into(),
        });
    }
    index.sort_by(|a, b| (a.place, a.seed, &a.folder).cmp(&(b.place, b.seed, &b.folder)));
    Ok(index)
}

/// The folders two levels down, in order.
fn runs(folder: &Path) -> Vec<PathBuf> {
    let names = |folder: &Path| -> Vec<String> {
        let files = fs::read_dir(folder).into_iter().flatten().flatten();
        let folders = files.filter(|file| file.file_type().is_ok_and(|kind| kind.is_dir()));
        let mut names: Vec<String> = folders
            .map(|file| file.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    };
    let in_cell = |cell: String| {
        let runs = names(&folder.join(&cell));
        runs.into_iter().map(move |run| Path::new(&cell).join(run))
    };
    names(folder).into_iter().flat_map(in_cell).collect()
}
