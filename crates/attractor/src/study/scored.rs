//! `scores.json`: all that is known of a run of a study once it has ended, in one file that stands for itself. Tables
//! are made from these files alone. It says nothing of times and places, so that the same run has the same bytes, and it
//! holds a fingerprint of its lines, so that a number that was changed later is noticed.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use attractor_core::NUMERICS;
use attractor_core::measure::MEASURES;
use serde::de::{IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::Cell;
use super::error::StudyError;
use crate::evaluation::{Evaluation, EvaluationDocument};
use crate::experiment::{Texts, method_of, settings_of};
use crate::fingerprint::Fingerprint;
use crate::run::{Ending, Trained};
use crate::verdict::Word;
use crate::{Error, store};

/// Its name in the run's folder.
pub(super) const SCORES: &str = "scores.json";

/// Raised when a field is renamed or removed.
const SCHEMA: u32 = 1;

/// The field with the fingerprint of all other lines. Files from before there was one have none, and do not name their
/// numerics either.
pub(super) const FINGERPRINT: &str = "fingerprint";

/// A run that ended and was judged.
#[derive(Debug, Clone, PartialEq)]
pub struct Scored {
    /// The run's folder, from the folder of the study.
    pub folder: PathBuf,
    /// The name of the study.
    pub study: String,
    /// The place of its cell in the study.
    pub place: usize,
    /// The name of its cell.
    pub name: Option<String>,
    /// The row of the paper that it corresponds to.
    pub paper: Option<String>,
    /// The seed.
    pub seed: u64,
    /// Fingerprints of the training and the test data.
    pub data: [String; 2],
    /// The version of the numbers of the program that judged it, if it is known.
    pub numerics: Option<u64>,
    /// All settings but the seed and the threads, by name, as text; those that there were not then have their defaults. Runs that are read
    /// together share those that are the same.
    pub settings: Arc<BTreeMap<String, String>>,
    /// How training ended: `finished` or `diverged`.
    pub outcome: String,
    /// Strength of forcing at its end.
    pub alpha: Option<f64>,
    /// Latent states M.
    pub dim: usize,
    /// Parameters |θ|.
    pub parameters: usize,
    /// Steps n of PE(n).
    pub pe_steps: usize,
    /// The scores by the name of their measure; none at all if training diverged.
    pub scores: BTreeMap<&'static str, Measured>,
    /// Those of the last parameters, where the model has others.
    pub last: Option<BTreeMap<&'static str, Measured>>,
    /// What the model amounts to; none of runs from before there were verdicts.
    pub verdict: Option<Word>,
    /// Whether it was judged by rows that it was trained on or chosen by, as far as that is known.
    pub is_seen: bool,
}

/// One score.
#[derive(Debug, Clone, Copy, PartialEq, Default, Deserialize)]
#[serde(default)]
pub struct Measured {
    /// The value.
    pub value: Option<f64>,
    /// What the data themselves reach.
    pub floor: Option<f64>,
    /// What surrogates without the dynamics reach.
    pub chance: Option<f64>,
}

/// What a document is made of.
pub(crate) struct Parts<'a> {
    pub(crate) study: &'a str,
    pub(crate) cell: &'a Cell,
    pub(crate) seed: u64,
    pub(crate) run: &'a Trained,
    /// Fingerprints of the training and the test data.
    pub(crate) data: [&'a str; 2],
    pub(crate) pe_steps: usize,
    /// None if training diverged.
    pub(crate) evaluation: Option<&'a Evaluation>,
    /// Of the last parameters, where the model has others.
    pub(crate) last: Option<&'a Evaluation>,
}

/// The file, with evaluations as they are written or as they are read. What versions before this one did not write has a default.
#[derive(Serialize, Deserialize)]
struct Document<E> {
    schema: u32,
    numerics: Option<u64>,
    study: String,
    cell: usize,
    name: Option<String>,
    paper: Option<String>,
    seed: u64,
    settings: Texts,
    #[serde(default)]
    data: Data,
    outcome: String,
    alpha: Option<f64>,
    chosen: Option<String>,
    dim: usize,
    parameters: usize,
    pe_n: usize,
    evaluation: Option<E>,
    last: Option<E>,
    #[serde(skip_serializing)]
    fingerprint: Option<String>,
}

/// Fingerprints of the training and the test data.
#[derive(Default, Serialize, Deserialize)]
#[serde(default)]
struct Data {
    train: String,
    test: String,
}

/// What is read of an evaluation, among much else.
#[derive(Default)]
struct Judged {
    scores: BTreeMap<&'static str, Measured>,
    verdict: Option<Word>,
    trained_share: Option<f64>,
    chosen_share: Option<f64>,
}

impl<'de> Deserialize<'de> for Judged {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Judged, D::Error> {
        from.deserialize_map(Keys)
    }
}

/// Takes scores and verdict from the keys of an evaluation and passes over the rest: a table reads ten thousand of them.
struct Keys;

impl<'de> Visitor<'de> for Keys {
    type Value = Judged;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an evaluation")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Judged, A::Error> {
        #[derive(Deserialize)]
        struct Spoken {
            word: Option<String>,
        }
        let mut judged = Judged::default();
        while let Some(key) = map.next_key::<Cow<'de, str>>()? {
            let measure = MEASURES.iter().find(|info| info.entry.id == key);
            if let Some(info) = measure {
                judged.scores.insert(info.entry.id, map.next_value()?);
            } else if key == "verdict" {
                let spoken: Option<Spoken> = map.next_value()?;
                let word = spoken.and_then(|spoken| spoken.word);
                judged.verdict = word.and_then(|word| Word::parse(&word));
            } else if key == "trained_share" {
                judged.trained_share = map.next_value()?;
            } else if key == "chosen_share" {
                judged.chosen_share = map.next_value()?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(judged)
    }
}

impl Parts<'_> {
    fn document(&self) -> Document<EvaluationDocument> {
        let mut settings = self.cell.experiment.texts();
        settings.retain(|name, _| is_of_cell(name));
        let summary = &self.run.summary;
        let sizes = self.run.reconstruction.dynamics.sizes();
        let [train, test] = self.data.map(String::from);
        Document {
            schema: SCHEMA,
            numerics: Some(NUMERICS.into()),
            study: self.study.into(),
            cell: self.cell.place,
            name: self.cell.name.clone(),
            paper: self.cell.paper.clone(),
            seed: self.seed,
            settings,
            data: Data { train, test },
            outcome: summary.outcome.to_string(),
            alpha: summary.alpha.filter(|alpha| alpha.is_finite()),
            chosen: self.run.reconstruction.card.chosen.clone(),
            dim: sizes.dim,
            parameters: sizes.parameters,
            pe_n: self.pe_steps,
            evaluation: self.evaluation.map(Evaluation::document),
            last: self.last.map(Evaluation::document),
            fingerprint: None,
        }
    }

    /// Writes the document into the run's folder, which from that of the study is `run`.
    pub(crate) fn write(&self, study: &Path, run: &Path) -> Result<Scored, Error> {
        // By way of a value, whose keys are in alphabetical order.
        let document = serde_json::to_value(self.document());
        let document = document.expect("its keys are texts");
        let scored = Scored::from_json(&document, run);
        write(document, &study.join(run).join(SCORES))?;
        Ok(scored.expect("what is written can be read"))
    }
}

/// Writes a document with its fingerprint.
fn write(mut document: Value, path: &Path) -> Result<(), Error> {
    // A line of its own: the fingerprint is that of the others.
    document[FINGERPRINT] = json!("");
    document[FINGERPRINT] = json!(fingerprint(&format!("{document:#}")));
    store::write_whole(path, |out| writeln!(out, "{document:#}"))
}

impl Scored {
    /// The scores of the run in `study`/`folder`; none if it has not been judged.
    pub fn read(study: &Path, folder: &Path) -> Result<Option<Scored>, StudyError> {
        Reader::default().read(study, folder)
    }

    /// Refuses scores of another seed than that of the folder that they are in.
    pub(crate) fn refuse_other_seed(&self, seed: u64, study: &Path) -> Result<(), StudyError> {
        if self.seed == seed {
            Ok(())
        } else {
            Err(StudyError::Edited {
                path: study.join(&self.folder).join(SCORES),
            })
        }
    }

    /// Gives the run the place, the name and the row of the paper that its cell has now; says whether they were others.
    pub(crate) fn relabel(&mut self, cell: &Cell) -> bool {
        let now = (cell.place, cell.name.clone(), cell.paper.clone());
        let before = (self.place, self.name.clone(), self.paper.clone());
        (self.place, self.name, self.paper) = now.clone();
        before != now
    }

    /// Writes its place, name and row of the paper into its file.
    pub(crate) fn write_label(&self, study: &Path) -> Result<(), Error> {
        let path = study.join(&self.folder).join(SCORES);
        let Some(mut document) = document(&path)? else {
            return Ok(());
        };
        document["cell"] = json!(self.place);
        document["name"] = json!(self.name);
        document["paper"] = json!(self.paper);
        write(document, &path)
    }

    /// The scores that a document holds; none if it is no document of scores.
    pub(super) fn from_json(document: &Value, folder: &Path) -> Option<Scored> {
        Reader::default().scored(Document::deserialize(document).ok()?, folder)
    }

    /// The run with the scores of its last parameters.
    pub fn with_last(self) -> Scored {
        let has_last = self.last.is_some();
        Scored {
            scores: self.last.unwrap_or(self.scores),
            last: None,
            // It is that of the chosen ones.
            verdict: self.verdict.filter(|_| !has_last),
            ..self
        }
    }

    /// The value of a measure; none if it has none.
    pub fn value(&self, measure: &str) -> Option<f64> {
        self.scores.get(measure).and_then(|measured| measured.value)
    }

    /// Whether training diverged.
    pub fn diverged(&self) -> bool {
        self.outcome == Ending::Diverged.to_string()
    }
}

/// Reads scores of many runs, most of which have the settings of others.
#[derive(Debug, Default)]
pub(crate) struct Reader {
    /// Settings as they were stored, and as they are today.
    known: BTreeMap<Texts, Arc<Texts>>,
}

impl Reader {
    /// The scores of the run in `study`/`folder`; none if it has not been judged.
    pub(crate) fn read(
        &mut self,
        study: &Path,
        folder: &Path,
    ) -> Result<Option<Scored>, StudyError> {
        let path = study.join(folder).join(SCORES);
        let Some(text) = text(&path)? else {
            return Ok(None);
        };
        let Ok(document) = serde_json::from_str::<Document<Judged>>(&text) else {
            // It says something else, or it is no document of scores.
            as_written(&text).ok_or_else(|| edited(&path))?;
            return Err(StudyError::Scores { path });
        };
        let (stored, numerics) = (document.fingerprint.as_deref(), document.numerics);
        is_as_written(&text, stored, numerics.is_some())
            .then_some(())
            .ok_or_else(|| edited(&path))?;
        let scored = self.scored(document, folder);
        scored.map(Some).ok_or(StudyError::Scores { path })
    }

    /// A document that was read; none of another version.
    fn scored(&mut self, document: Document<Judged>, folder: &Path) -> Option<Scored> {
        (document.schema == SCHEMA).then_some(())?;
        let settings = self.completed(document.settings);
        let judged = document.evaluation.unwrap_or_default();
        Some(Scored {
            folder: folder.to_path_buf(),
            study: document.study,
            place: document.cell,
            name: document.name,
            paper: document.paper,
            seed: document.seed,
            data: [document.data.train, document.data.test],
            numerics: document.numerics,
            settings,
            outcome: document.outcome,
            alpha: document.alpha,
            dim: document.dim,
            parameters: document.parameters,
            pe_steps: document.pe_n,
            scores: judged.scores,
            last: document.last.map(|last| last.scores),
            verdict: judged.verdict,
            is_seen: [judged.trained_share, judged.chosen_share]
                .into_iter()
                .flatten()
                .any(|share| share > 0.0),
        })
    }

    /// Stored settings with those that there were not then.
    fn completed(&mut self, stored: Texts) -> Arc<Texts> {
        if let Some(known) = self.known.get(&stored) {
            return known.clone();
        }
        let mut settings = stored.clone();
        complete(&mut settings);
        let settings = Arc::new(settings);
        self.known.insert(stored, settings.clone());
        settings
    }
}

/// One run of each group that shares its settings; groups with the same settings are not joined.
pub(crate) fn representatives<'a>(
    runs: impl IntoIterator<Item = &'a Scored>,
) -> impl Iterator<Item = &'a Scored> {
    let mut known = BTreeSet::new();
    let runs = runs.into_iter();
    runs.filter(move |run| known.insert(Arc::as_ptr(&run.settings)))
}

/// Whether a setting is that of a cell, and not of a single run or of the machine.
fn is_of_cell(name: &str) -> bool {
    !["seed", "threads"].contains(&name)
}

/// Gives settings that there were not when they were stored their defaults, with which they do nothing.
fn complete(settings: &mut Texts) {
    let of_cell = settings_of(method_of(settings)).into_iter();
    for setting in of_cell.filter(|setting| is_of_cell(setting.name)) {
        if !settings.contains_key(setting.name) {
            let default = setting.default_value().to_string();
            settings.insert(setting.name.to_string(), default);
        }
    }
}

/// A document of scores as it was written; none if there is no file.
pub(super) fn document(path: &Path) -> Result<Option<Value>, StudyError> {
    let Some(text) = text(path)? else {
        return Ok(None);
    };
    as_written(&text).map(Some).ok_or_else(|| edited(path))
}

/// The text of a document of scores; none if there is no file.
fn text(path: &Path) -> Result<Option<String>, StudyError> {
    let bytes = unless_absent(fs::read(path), path)?;
    Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()))
}

fn edited(path: &Path) -> StudyError {
    StudyError::Edited {
        path: path.to_path_buf(),
    }
}

/// A document of scores from its text; none if it has been changed since it was written.
pub(super) fn as_written(text: &str) -> Option<Value> {
    let document: Value = serde_json::from_str(text).unwrap_or_default();
    let stored = document[FINGERPRINT].as_str();
    is_as_written(text, stored, !document["numerics"].is_null()).then_some(document)
}

/// Whether a text has the fingerprint that is stored in it; those from before there was one do not name their numerics either.
fn is_as_written(text: &str, stored: Option<&str>, has_numerics: bool) -> bool {
    stored.map_or(!has_numerics, |stored| stored == fingerprint(text))
}

/// What was read; none if there is no file, as when something else stands where its folder would be.
pub(super) fn unless_absent<T>(read: io::Result<T>, path: &Path) -> Result<Option<T>, StudyError> {
    let absent = [io::ErrorKind::NotFound, io::ErrorKind::NotADirectory];
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if absent.contains(&error.kind()) => Ok(None),
        Err(source) => Err(StudyError::Read {
            path: path.to_path_buf(),
            source,
        }),
    }
}

/// The fingerprint of the lines of a document but for the one that holds it.
fn fingerprint(text: &str) -> String {
    let mut print = Fingerprint::new();
    let key = format!("\"{FINGERPRINT}\":");
    for line in text
        .lines()
        .filter(|line| !line.trim_start().starts_with(&key))
    {
        print.add(line.as_bytes());
        print.add(b"\n");
    }
    print.text()
}
