//! A study packed into one file of JSON lines, to be kept or shared without its models:
//!
//! ```text
//! {"data":{…},"evaluation":{…},"schema":1,"study":"ecg"}     which study, data and judging: its study.json
//! {"run":"gtf/seed-01","alpha":0.3,…}                        a run that ended: its folder, and its scores.json
//! ```
//!
//! Runs are in the order of the table. Unpacking restores the same files to the byte, and a sweep of that folder takes
//! these runs as done. The scores include the settings, so `experiment.toml` is not kept.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::{StudyError, StudyFault};
use super::folder::{RECORD, Record, index, run_folder};
use super::scored::{FINGERPRINT, SCORES, Scored, as_written, document};
use crate::{Error, store};

/// How the names of such files end.
const EXTENSION: &str = "jsonl";

/// A study as its file has it, checked.
pub(super) struct Packed {
    record: Record,
    lines: Vec<Line>,
    /// What the lines say.
    pub(super) runs: Vec<Scored>,
}

/// A run that ended.
#[derive(Serialize, Deserialize)]
struct Line {
    /// Its folder, from that of the study, with `/` between.
    run: String,
    /// Its `scores.json`.
    #[serde(flatten)]
    scores: Value,
}

/// What is wrong with a line of a packed study.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Damage {
    /// The first line is no record of a study.
    #[error("expected the record of a study")]
    NoRecord,
    /// Another line is no run.
    #[error("expected the folder and the scores of a run")]
    NoRun,
    /// The scores do not have their fingerprint.
    #[error("the scores of the run have been changed since they were written")]
    Edited,
    /// The scores do not fit the record.
    #[error("the study, data or judging of the run are not those of the first line")]
    OtherStudy,
    /// The run is in another line as well.
    #[error("the run `{0}` appears twice")]
    Twice(String),
}

/// Packs the runs of a study's folder that have ended into a file, and gives their number.
pub fn pack(folder: &Path, file: &Path) -> Result<usize, Error> {
    let runs = index(folder)?;
    let Some(record) = Record::find(folder)? else {
        let path = folder.to_path_buf();
        return Err(StudyError::NoStudy { path }.into());
    };
    let record = serde_json::to_string(&record.document());
    let mut text = record.expect("a record is plain text") + "\n";
    for run in &runs {
        let line = serde_json::to_string(&Line::of(run, folder)?);
        text += &line.expect("scores are JSON, whose keys are texts");
        text += "\n";
    }
    // What is written can be read: runs that are not of this study are refused here.
    Packed::parse(&text, file)?;
    store::write_whole(file, |out| out.write_all(text.as_bytes()))?;
    Ok(runs.len())
}

/// Unpacks a file into a folder that is empty or not there, and gives the number of runs.
pub fn unpack(file: &Path, folder: &Path) -> Result<usize, Error> {
    let packed = Packed::read(file)?;
    refuse_filled(folder)?;
    for line in &packed.lines {
        write(&folder.join(&line.run), SCORES, &line.scores)?;
    }
    write(folder, RECORD, &packed.record.document())?;
    Ok(packed.lines.len())
}

impl Packed {
    /// Whether a path is that of a packed study, and not of a folder.
    pub(super) fn is_at(path: &Path) -> bool {
        path.extension().is_some_and(|end| end == EXTENSION) && !path.is_dir()
    }

    /// Reads a file. A line that is not as it was written is refused.
    pub(super) fn read(path: &Path) -> Result<Packed, StudyError> {
        let text = fs::read_to_string(path).map_err(|source| StudyError::Read {
            path: path.to_path_buf(),
            source,
        })?;
        Packed::parse(&text, path)
    }

    fn parse(text: &str, path: &Path) -> Result<Packed, StudyError> {
        let told = |line: usize| {
            move |damage| StudyError::Line {
                fault: StudyFault::Packed(damage),
                line,
                path: path.to_path_buf(),
            }
        };
        let mut texts = (1..).zip(text.lines());
        let record = texts.next().and_then(|(_, text)| record(text));
        let mut packed = Packed {
            record: record.ok_or(Damage::NoRecord).map_err(told(1))?,
            lines: Vec::new(),
            runs: Vec::new(),
        };
        let mut folders = BTreeSet::new();
        for (i, text) in texts {
            let line: Line = serde_json::from_str(text).map_err(|_| told(i)(Damage::NoRun))?;
            let run = line.check(&packed.record).map_err(told(i))?;
            if !folders.insert(run.folder.clone()) {
                return Err(told(i)(Damage::Twice(line.run)));
            }
            packed.lines.push(line);
            packed.runs.push(run);
        }
        Ok(packed)
    }
}

impl Line {
    /// A run of a study's folder.
    fn of(run: &Scored, study: &Path) -> Result<Line, StudyError> {
        let path = study.join(&run.folder).join(SCORES);
        let scores = document(&path)?.ok_or(StudyError::Scores { path })?;
        let parts = run.folder.iter().map(|part| part.to_string_lossy());
        let run = parts.collect::<Vec<_>>().join("/");
        Ok(Line { run, scores })
    }

    /// The scores, if they are those that were written, of a run of this study.
    fn check(&self, record: &Record) -> Result<Scored, Damage> {
        // The fingerprint is that of the lines of `scores.json`.
        let has_fingerprint = self.scores[FINGERPRINT].is_string();
        let document = as_written(&format!("{:#}", self.scores));
        let document = document.filter(|_| has_fingerprint).ok_or(Damage::Edited)?;
        let folder = self.folder(&document).ok_or(Damage::NoRun)?;
        let scored = Scored::from_json(&document, &folder).ok_or(Damage::NoRun)?;
        let fits = record.refuse_scores(&scored, &folder);
        fits.map_err(|_| Damage::OtherStudy)?;
        Ok(scored)
    }

    /// The run's folder: two levels, the second one that of its seed.
    fn folder(&self, scores: &Value) -> Option<PathBuf> {
        let mut parts = Path::new(&self.run).components();
        let (Some(Component::Normal(cell)), Some(_), None) =
            (parts.next(), parts.next(), parts.next())
        else {
            return None;
        };
        let folder = run_folder(cell.to_str()?, scores["seed"].as_u64()?);
        (Path::new(&self.run) == folder).then_some(folder)
    }
}

fn record(line: &str) -> Option<Record> {
    Record::from_document(serde_json::from_str(line).ok()?)
}

fn refuse_filled(folder: &Path) -> Result<(), StudyError> {
    let is_filled = fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some());
    if is_filled {
        let path = folder.to_path_buf();
        return Err(StudyError::Filled { path });
    }
    Ok(())
}

/// Writes a document into a folder, which is made if it is not there.
fn write(folder: &Path, name: &str, document: &impl Serialize) -> Result<(), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::Write {
        path: folder.to_path_buf(),
        source,
    })?;
    let text = serde_json::to_string_pretty(document);
    let text = text.expect("documents have texts as keys");
    store::write_whole(&folder.join(name), |out| writeln!(out, "{text}"))
}
