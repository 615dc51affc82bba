//! `learn.json`: what is raced for, and what was found of each candidate. A race that was interrupted goes on from it; a mark that is there
//! is never made again.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::parts::STATES;
use super::{LearnError, Request, Standing};
use crate::verdict::Word;
use crate::{Error, store};

/// The file.
const RECORD: &str = "learn.json";

/// What names of folders of repeated fits begin with.
pub(super) const REPEATED: &str = "final-";

/// Raised when a field is renamed or removed.
const SCHEMA: u32 = 1;

/// What is known of a race.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    schema: u32,
    /// What decides about the result, by name.
    pub request: BTreeMap<String, String>,
    /// Who races; none before the first fit.
    pub candidates: Vec<Candidate>,
    /// The winner of the race.
    pub winner: Option<String>,
    /// The winner's settings fitted to more rows, from several seeds.
    pub finals: Vec<Final>,
    /// The folder, in that of the race, of the run that is the result.
    pub chosen: Option<String>,
    /// Seconds so far.
    pub seconds: f64,
}

/// A method with settings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Candidate {
    /// Its name, and that of its folder.
    pub name: String,
    /// The method.
    pub method: String,
    /// What tells it from others of the method, in words.
    pub label: String,
    /// Its settings.
    pub settings: Vec<(String, String)>,
    /// Epochs of a whole training; 0 of what is solved at once.
    pub epochs: u64,
    /// Updates of a whole training; 0 of what is solved at once.
    pub updates: u64,
    /// What was found at each stop.
    pub marks: Vec<Mark>,
    /// Why it is out.
    pub out: Option<String>,
}

/// How a candidate stood at a stop.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mark {
    /// Updates that it had; 0 of what is solved at once.
    pub updates: u64,
    /// How it stood.
    pub standing: Standing,
}

/// The winner's settings from one seed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Final {
    /// The seed.
    pub seed: u64,
    /// Its folder, in that of the race.
    pub folder: String,
    /// By the rows that it was fitted to; none if it diverged.
    pub standing: Option<Standing>,
    /// What there is beside its attractor, where that was looked for.
    pub beside: Option<String>,
    /// D_stsp on the test part, which decides nothing.
    pub tested: Option<f64>,
    /// Its verdict by the test part, which decides nothing.
    #[serde(default)]
    pub word: Option<Word>,
}

impl Final {
    /// Whether it was fitted to all rows before the test part, from a seed of its own.
    pub fn is_repeated(&self) -> bool {
        self.folder.starts_with(REPEATED)
    }
}

impl Candidate {
    /// How it stood last.
    pub fn last(&self) -> Option<&Mark> {
        self.marks.last()
    }
}

impl Ledger {
    /// Refuses a folder that holds something else than a race.
    pub(super) fn refuse_foreign(folder: &Path) -> Result<(), LearnError> {
        let path = folder.to_path_buf();
        if folder.is_file() {
            return Err(LearnError::NotEmpty { path });
        }
        if folder.join(RECORD).exists() {
            return Ok(());
        }
        let mut files = fs::read_dir(folder).into_iter().flatten().flatten();
        let is_left = |name: &str| store::is_part(name) || name == STATES;
        if files.any(|file| !is_left(&file.file_name().to_string_lossy())) {
            return Err(LearnError::NotEmpty { path });
        }
        Ok(())
    }

    /// The ledger in the folder of a request, or a new one.
    pub(super) fn open(request: &Request, data: &str) -> Result<Ledger, Error> {
        let asked = request.texts(data);
        let path = request.out.join(RECORD);
        let Ok(text) = fs::read_to_string(&path) else {
            return Ok(Ledger {
                schema: SCHEMA,
                request: asked,
                candidates: Vec::new(),
                winner: None,
                finals: Vec::new(),
                chosen: None,
                seconds: 0.0,
            });
        };
        let found: Option<Ledger> = serde_json::from_str(&text).ok();
        let found = found.filter(|found| found.schema == SCHEMA);
        let found = found.ok_or(LearnError::Record { path })?;
        let differs = asked
            .iter()
            .find(|(name, text)| found.request.get(*name) != Some(text));
        match differs {
            None => Ok(found),
            Some((what, asked)) => Err(LearnError::OtherRace {
                what: what.clone(),
                stored: found.request.get(what).cloned().unwrap_or_default(),
                asked: asked.clone(),
                path: request.out.clone(),
            }
            .into()),
        }
    }

    /// Writes it, whole or not at all.
    pub(super) fn write(&self, folder: &Path) -> Result<(), Error> {
        store::make_folder(folder)?;
        let text = serde_json::to_string_pretty(self).expect("a ledger has texts for keys");
        store::write_whole(&folder.join(RECORD), |out| writeln!(out, "{text}"))
    }

    /// The winner of the race.
    pub fn winner(&self) -> Option<&Candidate> {
        let name = self.winner.as_ref()?;
        self.candidates.iter().find(|one| one.name == *name)
    }
}

impl Request {
    /// All that decides about the result, as texts.
    fn texts(&self, data: &str) -> BTreeMap<String, String> {
        let methods = if self.methods.is_empty() {
            "all".to_string()
        } else {
            self.methods.join(",")
        };
        let held_out = self.held_out_trajectories.clone();
        let texts = [
            ("data", data.to_string()),
            ("goal", self.goal.name().to_string()),
            ("budget", self.budget.text()),
            ("methods", methods),
            (
                "held-out-trajectories",
                held_out.unwrap_or("none".to_string()),
            ),
            ("seed", self.seed.to_string()),
        ];
        texts.map(|(name, text)| (name.to_string(), text)).into()
    }
}
