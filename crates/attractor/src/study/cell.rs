//! Cells: the entries of the list, each with every combination of the grid, the last setting running fastest.

use std::collections::BTreeSet;
use std::path::Path;

use super::error::{StudyError, StudyFault};
use super::file::{Axis, Entry, StudyFile};
use super::folder::RECORD;
use crate::Error;
use crate::experiment::{Experiment, Origin, Raw};
use crate::fingerprint::Fingerprint;
use crate::paper;

/// What is trained with every seed.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// Its place in the study, from 0.
    pub place: usize,
    /// The name of its entry in the list.
    pub name: Option<String>,
    /// The row of the paper that it corresponds to.
    pub paper: Option<String>,
    /// The name of its folder, such as `alpha=0.1,window=50`.
    pub folder: String,
    /// Its settings, with the first seed there is.
    pub experiment: Experiment,
    /// How many updates each of its runs has, once its experiment is settled.
    pub updates: u64,
}

impl Cell {
    /// Whether it is of an entry with one of these names.
    pub(super) fn is_of(&self, names: &[String]) -> bool {
        self.name.as_ref().is_some_and(|name| names.contains(name))
    }

    /// Its settings with a seed.
    pub fn with_seed(&self, seed: u64) -> Experiment {
        self.experiment.with("seed", &seed.to_string())
    }
}

/// All cells of a study.
pub(super) fn cells(file: &StudyFile, path: &Path) -> Result<Vec<Cell>, Error> {
    let alone = [Entry::default()];
    let entries = if file.list.is_empty() {
        &alone[..]
    } else {
        &file.list
    };
    refuse_too_many(file, entries.len(), path)?;
    let mut cells: Vec<Cell> = Vec::new();
    let mut folders = BTreeSet::new();
    for entry in entries {
        let told = |fault| StudyError::Line {
            fault,
            line: entry.line.max(1),
            path: path.to_path_buf(),
        };
        check(entry, &file.grid).map_err(told)?;
        for combination in combinations(&file.grid) {
            let cell = cell(file, entry, &combination, (cells.len(), path))?;
            if !folders.insert(cell.folder.clone()) {
                return Err(told(StudyFault::SameCell(cell.folder)).into());
            }
            cells.push(cell);
        }
    }
    Ok(cells)
}

/// The largest number of runs of a study.
const MOST_RUNS: usize = 100_000;

fn refuse_too_many(file: &StudyFile, entries: usize, path: &Path) -> Result<(), StudyError> {
    let values = file.grid.iter().map(|axis| axis.texts.len());
    let cells = values.fold(entries, usize::saturating_mul);
    match cells.saturating_mul(file.seeds.len()) {
        runs if runs <= MOST_RUNS => Ok(()),
        runs => Err(StudyError::Line {
            fault: StudyFault::TooManyRuns {
                runs,
                most: MOST_RUNS,
            },
            line: file.grid.first().map_or(1, |axis| axis.line),
            path: path.to_path_buf(),
        }),
    }
}

fn check(entry: &Entry, grid: &[Axis]) -> Result<(), StudyFault> {
    let in_grid = |name: &str| grid.iter().any(|axis| axis.name == name);
    let mut given = entry.settings.given.iter();
    if let Some(given) = given.find(|given| in_grid(&given.name)) {
        return Err(StudyFault::GridAndList(given.name.clone()));
    }
    match &entry.paper {
        Some(name) if paper::find(name).is_none() => Err(StudyFault::UnknownRow {
            name: name.clone(),
            near: paper::near(name),
        }),
        _ => Ok(()),
    }
}

/// One value of every axis.
fn combinations(grid: &[Axis]) -> Vec<Vec<(&Axis, &str)>> {
    grid.iter().fold(vec![Vec::new()], |so_far, axis| {
        let longer = |begun: &Vec<(_, _)>| {
            let next = axis.texts.iter().map(|text| (axis, text.as_str()));
            let begun = begun.clone();
            next.map(move |next| [begun.clone(), vec![next]].concat())
                .collect::<Vec<_>>()
        };
        so_far.iter().flat_map(longer).collect()
    })
}

fn cell(
    file: &StudyFile,
    entry: &Entry,
    combination: &[(&Axis, &str)],
    (place, path): (usize, &Path),
) -> Result<Cell, Error> {
    let mut raw = Raw::default();
    if let Some(preset) = &file.preset {
        raw.preset(preset)?;
    }
    raw.given.extend(file.settings.given.iter().cloned());
    raw.given.extend(entry.settings.given.iter().cloned());
    for (axis, text) in combination {
        let origin = Origin::File {
            path: path.to_path_buf(),
            line: axis.line,
        };
        raw.push(&axis.name, text, origin);
    }
    let experiment = Experiment::check(&raw.with_threads(1))?;
    let own = entry.settings.given.iter().map(|given| given.name.as_str());
    let own: Vec<&str> = match entry.name {
        Some(_) => Vec::new(),
        None => own.collect(),
    };
    let varied = combination.iter().map(|(axis, _)| axis.name.as_str());
    let settings = own.into_iter().chain(varied);
    let texts = experiment.texts();
    let settings = settings.filter_map(|name| Some(format!("{name}={}", texts.get(name)?)));
    let parts = entry
        .name
        .as_deref()
        .map(readable)
        .into_iter()
        .chain(settings);
    Ok(Cell {
        place,
        name: entry.name.clone(),
        paper: entry.paper.clone(),
        folder: folder(parts.collect()),
        experiment,
        updates: 0,
    })
}

/// The longest name of a folder, and how much of it stays readable where it is too long.
const LONGEST: usize = 100;
const READABLE: usize = 80;

/// A name for a folder: all parts if they fit, else their beginning and a fingerprint of them.
fn folder(parts: Vec<String>) -> String {
    let whole = if parts.is_empty() {
        "base".to_string()
    } else {
        parts.join(",")
    };
    if whole.len() <= LONGEST {
        return whole;
    }
    let mut fingerprint = Fingerprint::new();
    fingerprint.add(whole.as_bytes());
    let begin = &whole[..whole.floor_char_boundary(READABLE)];
    format!("{begin}-{}", fingerprint.text())
}

/// A name with what every file system takes: letters of any alphabet, digits and a few signs. A fingerprint stands for one
/// without any of these, and for the name of the study's own file.
fn readable(name: &str) -> String {
    let taken = |c: char| c.is_alphanumeric() || "+-_.=".contains(c);
    let words = name.split(|c| !taken(c)).filter(|word| !word.is_empty());
    let folder = words.collect::<Vec<_>>().join("-");
    // A dot in front would hide the folder, a dash would make it a flag.
    match folder.trim_start_matches(['.', '-']) {
        "" | RECORD => {
            let mut fingerprint = Fingerprint::new();
            fingerprint.add(name.as_bytes());
            format!("entry-{}", fingerprint.text())
        }
        folder => folder.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn combinations_run_through_the_last_setting_first() {
        let axis = |name: &str, texts: &[&str]| Axis {
            name: name.into(),
            texts: texts.iter().map(|text| text.to_string()).collect(),
            line: 1,
        };
        let grid = [axis("a", &["1", "2"]), axis("b", &["x", "y", "z"])];
        let all: Vec<String> = combinations(&grid)
            .iter()
            .map(|c| c.iter().map(|(_, text)| *text).collect())
            .collect();
        assert_eq!(all, ["1x", "1y", "1z", "2x", "2y", "2z"]);
        assert_eq!(combinations(&[]).len(), 1);
    }

    #[test]
    fn folders_are_readable_and_differ_where_they_are_cut() {
        assert_eq!(folder(Vec::new()), "base");
        assert_eq!(readable("shPLRNN + GTF (tanh)"), "shPLRNN-+-GTF-tanh");
        assert_eq!(readable("../up/µ"), "up-µ");
        assert_eq!(readable("试 Ä"), "试-Ä");
        let unreadable = ["", ".", "..", "()", RECORD].map(readable);
        let parts: BTreeSet<&String> = unreadable.iter().collect();
        assert_eq!(parts.len(), unreadable.len());
        assert!(unreadable.iter().all(|name| name.starts_with("entry-")));
        assert!(folder(vec!["试".repeat(90)]).len() <= LONGEST);
        let long = |last: &str| folder(vec!["x".repeat(99), last.to_string()]);
        assert!(long("a") != long("b") && long("a").len() <= LONGEST);
    }
}
