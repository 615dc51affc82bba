//! A study as it is written: a file of TOML, taken apart with the line of everything.
//!
//! ```toml
//! name = "forcing"
//! seeds = 20                        # 1 … 20, or a list
//! preset = "paper"
//!
//! [data]
//! train = "train.npy"
//! test = "test.npy"
//!
//! [settings]                        # of all runs, as for `attractor train`
//! hidden = 50
//!
//! [grid]                            # every combination
//! alpha = [0.1, 0.2]
//!
//! [[list]]                          # with every entry
//! name = "long"
//! window = 400
//!
//! [evaluation]
//! starts = 8
//! ```

use std::collections::BTreeSet;
use std::path::Path;

use attractor_core::measure;
use attractor_core::settings::nearest;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::error::{LIST, StudyError, StudyFault};
use crate::experiment::{DataSource, Origin, Raw, data_keys, plain};

/// What a study's file says, nothing of it checked but its shape.
#[derive(Debug, Default)]
pub(super) struct StudyFile {
    pub(super) name: Option<String>,
    pub(super) seeds: Vec<u64>,
    pub(super) preset: Option<String>,
    pub(super) train: DataSource,
    pub(super) test: Option<String>,
    pub(super) settings: Raw,
    pub(super) grid: Vec<Axis>,
    pub(super) list: Vec<Entry>,
    pub(super) evaluation: Raw,
    /// Parameters of the system that the data are from.
    pub(super) system_set: Pairs,
}

/// A setting with several values.
#[derive(Debug)]
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) texts: Vec<String>,
    pub(super) line: usize,
}

/// An entry of the list.
#[derive(Debug, Default)]
pub(super) struct Entry {
    pub(super) name: Option<String>,
    pub(super) paper: Option<String>,
    pub(super) settings: Raw,
    pub(super) line: usize,
}

/// Keys at the top.
const TOP: [&str; 8] = [
    "name",
    "seeds",
    "preset",
    "data",
    "settings",
    "grid",
    "list",
    "evaluation",
];

/// Keys of `[evaluation]` that are not settings of measures.
pub(super) const JUDGING: [&str; 4] = ["starts", "system", "lyapunov", "floors"];

/// The parameters of the system, a table within `[evaluation]`.
const SET: &str = "set";

type Value<'a> = Spanned<DeValue<'a>>;

/// Names and values.
type Pairs = Vec<(String, String)>;

/// A fault and its byte.
type At = (StudyFault, usize);

/// A key, its value and its byte.
type Line<'a> = (&'a str, &'a Value<'a>, usize);

impl StudyFile {
    /// Understands the content of a file; `path` is for messages.
    pub(super) fn parse(text: &str, path: &Path) -> Result<StudyFile, StudyError> {
        let reader = Reader {
            text,
            starts: line_starts(text),
            path,
        };
        reader.study().map_err(|(fault, at)| StudyError::Line {
            fault,
            line: reader.line(at),
            path: path.to_path_buf(),
        })
    }
}

/// What messages and lines refer to.
struct Reader<'a> {
    text: &'a str,
    /// Where lines begin, without the first: counting them for every setting of thousands of entries would take minutes.
    starts: Vec<usize>,
    path: &'a Path,
}

/// The bytes at which lines begin, without the first.
fn line_starts(text: &str) -> Vec<usize> {
    let ends = text.bytes().enumerate().filter(|&(_, byte)| byte == b'\n');
    ends.map(|(at, _)| at + 1).collect()
}

impl Reader<'_> {
    /// The line of a byte, from 1.
    fn line(&self, at: usize) -> usize {
        1 + self.starts.partition_point(|&start| start <= at)
    }

    fn study(&self) -> Result<StudyFile, At> {
        let table = DeTable::parse(self.text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            (StudyFault::Syntax(error.message().replace('\n', ", ")), at)
        })?;
        let mut study = StudyFile::default();
        let (mut seeded, mut sourced) = (false, false);
        for (key, value, at) in lines(table.get_ref()) {
            match key {
                "name" => study.name = Some(name(value, at)?),
                "preset" => study.preset = Some(text(key, value, at)?),
                "seeds" => {
                    study.seeds = seeds(value, at)?;
                    seeded = true;
                }
                "data" => {
                    (study.train, study.test) = data(inner(key, value, at)?, at)?;
                    sourced = true;
                }
                "settings" => study.settings = self.settings(inner(key, value, at)?)?,
                "grid" => study.grid = self.grid(inner(key, value, at)?, at)?,
                "list" => study.list = self.list(value, at)?,
                "evaluation" => {
                    let table = inner(key, value, at)?;
                    (study.evaluation, study.system_set) = self.evaluation(table)?;
                }
                _ => return Err((unknown(key, "", TOP.to_vec()), at)),
            }
        }
        if !sourced {
            return Err((StudyFault::NoTrain, 0));
        }
        if seeded {
            Ok(study)
        } else {
            Err((StudyFault::SeedsMissing, 0))
        }
    }

    fn settings(&self, table: &DeTable<'_>) -> Result<Raw, At> {
        let mut raw = Raw::default();
        for (key, value, at) in lines(table) {
            self.push(&mut raw, key, value, at)?;
        }
        Ok(raw)
    }

    fn push(&self, raw: &mut Raw, key: &str, value: &Value<'_>, at: usize) -> Result<(), At> {
        refuse_reserved(key, at)?;
        raw.push(key, &text(key, value, at)?, self.origin(at));
        Ok(())
    }

    fn origin(&self, at: usize) -> Origin {
        Origin::File {
            path: self.path.to_path_buf(),
            line: self.line(at),
        }
    }

    fn grid(&self, table: &DeTable<'_>, at: usize) -> Result<Vec<Axis>, At> {
        let mut grid = Vec::new();
        for (key, value, at) in lines(table) {
            refuse_reserved(key, at)?;
            let texts = texts(key, value, at)?;
            if texts.is_empty() {
                return Err((StudyFault::EmptyAxis(key.to_string()), at));
            }
            grid.push(Axis {
                name: key.to_string(),
                texts,
                line: self.line(at),
            });
        }
        if grid.is_empty() {
            Err((StudyFault::EmptyGrid, at))
        } else {
            Ok(grid)
        }
    }

    fn list(&self, value: &Value<'_>, at: usize) -> Result<Vec<Entry>, At> {
        let DeValue::Array(array) = value.get_ref() else {
            return Err((kind("list", "a list of tables, as `[[list]]`"), at));
        };
        let entry = |value: &Value<'_>| {
            let at = value.span().start;
            self.entry(inner("list", value, at)?, at)
        };
        let list: Vec<Entry> = array.iter().map(entry).collect::<Result<_, At>>()?;
        if list.is_empty() {
            Err((StudyFault::EmptyList, at))
        } else {
            Ok(list)
        }
    }

    fn entry(&self, table: &DeTable<'_>, at: usize) -> Result<Entry, At> {
        let mut entry = Entry {
            line: self.line(at),
            ..Entry::default()
        };
        for (key, value, at) in lines(table) {
            match key {
                "name" => entry.name = Some(name(value, at)?),
                "paper" => entry.paper = Some(text(key, value, at)?),
                _ => self.push(&mut entry.settings, key, value, at)?,
            }
        }
        Ok(entry)
    }

    /// How models are judged, and the parameters of the system that the data are from.
    fn evaluation(&self, table: &DeTable<'_>) -> Result<(Raw, Pairs), At> {
        let (mut raw, mut set) = (Raw::default(), Vec::new());
        let measures = measure::SETTINGS.iter().map(|setting| setting.name);
        let known: Vec<&str> = JUDGING.into_iter().chain([SET]).chain(measures).collect();
        for (key, value, at) in lines(table) {
            match key {
                SET if !table.contains_key("system") => return Err((StudyFault::SetAlone, at)),
                SET => {
                    for (name, value, at) in lines(inner(key, value, at)?) {
                        set.push((name.to_string(), text(name, value, at)?));
                    }
                }
                _ if known.contains(&key) => {
                    raw.push(key, &text(key, value, at)?, self.origin(at));
                }
                _ => return Err((unknown(key, "evaluation", known), at)),
            }
        }
        Ok((raw, set))
    }
}

/// The lines of a table in the order of the file.
fn lines<'a>(table: &'a DeTable<'a>) -> Vec<Line<'a>> {
    let lines = table.iter();
    let mut lines: Vec<Line<'_>> = lines
        .map(|(key, value)| (key.get_ref().as_ref(), value, key.span().start))
        .collect();
    lines.sort_by_key(|&(_, _, at)| at);
    lines
}

fn inner<'a>(key: &str, value: &'a Value<'a>, at: usize) -> Result<&'a DeTable<'a>, At> {
    match value.get_ref() {
        DeValue::Table(table) => Ok(table),
        _ => Err((kind(key, "a table"), at)),
    }
}

fn text(key: &str, value: &Value<'_>, at: usize) -> Result<String, At> {
    plain(value.get_ref()).ok_or_else(|| (kind(key, "a single value"), at))
}

/// A name, which tables show in one line.
fn name(value: &Value<'_>, at: usize) -> Result<String, At> {
    let name = text("name", value, at)?;
    if name.chars().any(char::is_control) {
        Err((StudyFault::Name, at))
    } else {
        Ok(name)
    }
}

fn texts(key: &str, value: &Value<'_>, at: usize) -> Result<Vec<String>, At> {
    let DeValue::Array(array) = value.get_ref() else {
        return Err((kind(key, LIST), at));
    };
    array.iter().map(|value| text(key, value, at)).collect()
}

fn kind(key: &str, expected: &'static str) -> StudyFault {
    StudyFault::Kind {
        key: key.to_string(),
        expected,
    }
}

fn unknown(key: &str, table: &'static str, known: Vec<&'static str>) -> StudyFault {
    StudyFault::UnknownKey {
        key: key.to_string(),
        table,
        near: nearest(key, known.iter().copied()),
        known,
    }
}

fn refuse_reserved(key: &str, at: usize) -> Result<(), At> {
    let reserved = ["seed", "threads"].into_iter().find(|name| *name == key);
    reserved.map_or(Ok(()), |name| Err((StudyFault::Reserved(name), at)))
}

/// The largest number of runs per cell.
const MOST_SEEDS: usize = 100_000;

/// 1 … n for a number n, or the seeds of a list.
fn seeds(value: &Value<'_>, at: usize) -> Result<Vec<u64>, At> {
    let expected = || {
        (
            kind("seeds", "a number of seeds, or a list of whole numbers"),
            at,
        )
    };
    let number = |v: &DeValue<'_>| {
        let text = plain(v).ok_or_else(expected)?;
        text.parse::<u64>().map_err(|_| expected())
    };
    let seeds: Vec<u64> = match value.get_ref() {
        DeValue::Array(array) => {
            let all = array.iter().map(|v| number(v.get_ref()));
            all.collect::<Result<_, At>>()?
        }
        // One more than may be, so that it is refused below.
        single => (1..=number(single)?.min(MOST_SEEDS as u64 + 1)).collect(),
    };
    match fault_of(&seeds) {
        Some(fault) => Err((fault, at)),
        None => Ok(seeds),
    }
}

fn fault_of(seeds: &[u64]) -> Option<StudyFault> {
    let mut seen = BTreeSet::new();
    match seeds.len() {
        0 => Some(StudyFault::NoSeeds),
        1..=MOST_SEEDS => seeds.iter().find_map(|&seed| match seed {
            seed if seed > i64::MAX as u64 => Some(StudyFault::SeedTooLarge(seed)),
            seed if !seen.insert(seed) => Some(StudyFault::SeedTwice(seed)),
            _ => None,
        }),
        _ => Some(StudyFault::TooManySeeds(MOST_SEEDS)),
    }
}

/// The training data with how all data are read, and the name of the test data.
fn data(table: &DeTable<'_>, at: usize) -> Result<(DataSource, Option<String>), At> {
    let (mut source, mut test) = (DataSource::default(), None);
    for (key, value, at) in lines(table) {
        let texts = match value.get_ref() {
            DeValue::Array(_) => texts(key, value, at)?,
            _ => vec![text(key, value, at)?],
        };
        let told = |reason| (StudyFault::Value(reason), at);
        match (key, texts.as_slice()) {
            ("train", path) => source.set("path", path).map_err(told)?,
            ("test", [path]) => test = Some(path.clone()),
            _ if key != "path" && data_keys().contains(&key) => {
                source.set(key, &texts).map_err(told)?;
            }
            _ => {
                let reading = data_keys().iter().copied().filter(|key| *key != "path");
                let known = ["train", "test"].into_iter().chain(reading);
                return Err((unknown(key, "data", known.collect()), at));
            }
        }
    }
    if source.path.as_os_str().is_empty() {
        Err((StudyFault::NoTrain, at))
    } else {
        Ok((source, test))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_those_that_are_counted() {
        let text = "a = 1\n\nb = 'µ'\nlast";
        let reader = Reader {
            text,
            starts: line_starts(text),
            path: Path::new("s.toml"),
        };
        for at in 0..=text.len() {
            let ends = text.bytes().take(at).filter(|&byte| byte == b'\n');
            assert_eq!(reader.line(at), 1 + ends.count(), "{at}");
        }
    }
}
