//! Experiment files: settings as `name = value` lines of TOML, and the recording they are for.
//!
//! ```toml
//! alpha = 0.15
//! model = "clipped-shallow-plrnn"
//! data = "lorenz.npy"
//! ```
//!
//! `data` may be a table as well, of a [`DataSource`]; `prepare`, a list of steps, may stand in it or before it.

use std::fs;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::{DataSource, ExperimentError, Raw, data};
use crate::pipeline::{Pipeline, PipelineError};

/// What an experiment file says.
#[derive(Debug, Clone, Default)]
pub struct ExperimentFile {
    /// The recording, if it names one.
    pub data: Option<DataSource>,
    /// What is done to a recording that is named elsewhere.
    pub prepare: Pipeline,
    /// The settings, with their lines.
    pub raw: Raw,
}

/// The key of the recording.
pub(super) const DATA: &str = "data";

/// The key of what is done to it, where that is not in its table.
const PREPARE: &str = "prepare";

impl ExperimentFile {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<ExperimentFile, ExperimentError> {
        let text = fs::read_to_string(path).map_err(|source| ExperimentError::Read {
            path: path.to_path_buf(),
            source,
        })?;
        ExperimentFile::parse(&text, path)
    }

    /// Understands the content of a file; `path` is for messages.
    pub fn parse(text: &str, path: &Path) -> Result<ExperimentFile, ExperimentError> {
        let wrong = |reason: String, at: usize| ExperimentError::File {
            reason,
            line: line(text, at),
            path: path.to_path_buf(),
        };
        let no_steps = |error: Box<PipelineError>, at: usize| ExperimentError::Steps {
            error,
            line: line(text, at),
            path: path.to_path_buf(),
        };
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            wrong(error.message().replace('\n', ", "), at)
        })?;
        let mut file = ExperimentFile::default();
        // A table is sorted by name: settings are reported in the order of their lines.
        let mut lines: Vec<_> = table.get_ref().iter().collect();
        lines.sort_by_key(|(key, _)| key.span().start);
        for (key, value) in lines {
            let (name, at) = (key.get_ref().as_ref(), key.span().start);
            if name == DATA {
                let data = data_source(value.get_ref(), at);
                file.data = Some(data.map_err(|(wrong, at)| match wrong {
                    Wrong::Line(reason) => ExperimentError::Data {
                        reason,
                        line: line(text, at),
                        path: path.to_path_buf(),
                    },
                    Wrong::Steps(error) => no_steps(error, at),
                })?);
                continue;
            }
            if name == PREPARE {
                let list = texts(name, value.get_ref()).map_err(|reason| wrong(reason, at))?;
                file.prepare = data::pipeline(&list).map_err(|error| no_steps(error.into(), at))?;
                continue;
            }
            let value = plain(value.get_ref()).ok_or_else(|| {
                let kind = value.get_ref().type_str();
                wrong(format!("`{name}` must be a single value, found {kind}"), at)
            })?;
            file.raw.push_line(name, &value, path, line(text, at));
        }
        if let Some(data) = file.data.as_mut().filter(|data| data.prepare.is_empty()) {
            data.prepare = file.prepare.clone();
        }
        Ok(file)
    }
}

/// A word or path as TOML.
pub(crate) fn quoted(text: &str) -> String {
    toml::Value::String(text.to_string()).to_string()
}

/// The recording as a table at the end of a file.
pub(super) fn data_table(data: &DataSource) -> String {
    format!("\n[{DATA}]\n{}", reading_lines(data, "path"))
}

/// Keys of the table of data whose values are numbers.
const NUMBERS: [&str; 6] = [
    "dt",
    "rate",
    "missing-value",
    "resample",
    "grid",
    "own-times",
];

/// The recording and how it is read, as the lines of a table in which this is the key of its file.
pub(crate) fn reading_lines(data: &DataSource, file: &str) -> String {
    let line = |(key, texts): (&str, Vec<String>)| {
        let words: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
        match words.as_slice() {
            [_] if NUMBERS.contains(&key) => {
                format!("{key} = {}\n", texts[0])
            }
            [word] if key == "path" => format!("{file} = {word}\n"),
            [word] => format!("{key} = {word}\n"),
            words => format!("{key} = [{}]\n", words.join(", ")),
        }
    };
    data.texts().into_iter().map(line).collect()
}

/// Why a line of the table of data cannot be.
enum Wrong {
    /// Its key or its value.
    Line(String),
    /// A step of its list.
    Steps(Box<PipelineError>),
}

impl From<String> for Wrong {
    fn from(reason: String) -> Wrong {
        Wrong::Line(reason)
    }
}

/// The recording, from a path or a table whose key is at this byte; if it cannot be, why and at which byte.
fn data_source(value: &DeValue<'_>, at: usize) -> Result<DataSource, (Wrong, usize)> {
    let mut source = DataSource::default();
    let DeValue::Table(table) = value else {
        let path = plain(value).ok_or_else(|| "`data` must be a path or a table".to_string());
        let set = path.and_then(|path| source.set("path", &[path]));
        set.map_err(|reason| (reason.into(), at))?;
        return Ok(source);
    };
    let mut lines: Vec<_> = table.iter().collect();
    lines.sort_by_key(|(key, _)| key.span().start);
    for (key, value) in lines {
        set_line(&mut source, key.get_ref(), value.get_ref())
            .map_err(|wrong| (wrong, key.span().start))?;
    }
    if source.path.as_os_str().is_empty() {
        Err(("[data] has no `path`".to_string().into(), at))
    } else {
        Ok(source)
    }
}

fn set_line(source: &mut DataSource, key: &str, value: &DeValue<'_>) -> Result<(), Wrong> {
    let texts = texts(key, value)?;
    match key {
        PREPARE => {
            source.prepare = data::pipeline(&texts).map_err(|error| Wrong::Steps(error.into()))?
        }
        _ => source.set(key, &texts)?,
    }
    Ok(())
}

/// One or several words.
fn texts(key: &str, value: &DeValue<'_>) -> Result<Vec<String>, String> {
    let texts: Option<Vec<String>> = match value {
        DeValue::Array(list) => list.iter().map(|v| plain(v.get_ref())).collect(),
        single => plain(single).map(|text| vec![text]),
    };
    texts.ok_or_else(|| format!("`{key}` must be a word or a list of words"))
}

/// The value as a user would type it after a flag.
pub(crate) fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(digits) => {
            let number = i128::from_str_radix(digits.as_str(), digits.radix());
            Some(number.map_or_else(|_| digits.as_str().to_string(), |n| n.to_string()))
        }
        DeValue::Float(digits) => Some(digits.as_str().to_string()),
        DeValue::Boolean(flag) => Some(flag.to_string()),
        DeValue::Datetime(_) | DeValue::Array(_) | DeValue::Table(_) => None,
    }
}

/// The line of a byte, from 1.
fn line(text: &str, at: usize) -> usize {
    1 + text.bytes().take(at).filter(|&byte| byte == b'\n').count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Given, Origin};

    fn parse(text: &str) -> Result<ExperimentFile, ExperimentError> {
        ExperimentFile::parse(text, Path::new("a.toml"))
    }

    #[test]
    fn numbers_words_and_lines_are_kept() {
        let file =
            parse("# one\nwindow = 0x20\n\nalpha = 1e-1\nmodel = 'plrnn'\ndata = \"x.npy\"\n");
        let file = file.unwrap();
        let given = |name: &str, text: &str, line| Given {
            name: name.into(),
            text: text.into(),
            origin: Origin::File {
                path: "a.toml".into(),
                line,
            },
        };
        let expected = [
            given("window", "32", 2),
            given("alpha", "1e-1", 4),
            given("model", "plrnn", 5),
        ];
        assert_eq!(file.raw.given, expected);
        assert_eq!(file.data.unwrap().path, Path::new("x.npy"));
    }

    #[test]
    fn a_setting_that_is_gone_is_passed_over_where_it_said_nothing() {
        let given = |text: &str| parse(text).unwrap().raw.given.len();
        assert_eq!(given("best-alone = 'off'\n"), 0);
        assert_eq!(given("best-alone = 'on'\n"), 1);
    }

    #[test]
    fn what_is_no_toml_or_no_value_is_told_with_its_line() {
        let said = |text: &str| parse(text).unwrap_err().to_string();
        assert!(said("a = 1\nb = = 2\n").ends_with("(line 2 of a.toml)"));
        assert!(said("a = 1\na = 2\n").ends_with("(line 2 of a.toml)"));
        assert_eq!(
            said("\nwindow = [1, 2]\n"),
            "`window` must be a single value, found array (line 2 of a.toml)"
        );
    }

    #[test]
    fn mistakes_in_the_table_of_data_are_told_with_their_own_line() {
        for (text, reason, line) in [
            ("[data]\ndt = 1", "[data] has no `path`", 1),
            ("[data]\nfoo = 1", "unknown key `foo` of [data]", 2),
            (
                "[data]\npath = 'a'\n\ndt = \"x\"\nbar = 1",
                "`dt` must be a number",
                4,
            ),
            (
                "[data]\npath = [\"a\", \"b\"]",
                "`path` must be a single value",
                2,
            ),
            (
                "[data]\nheader = true",
                "`header` must be one of yes, no, found `true`",
                2,
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(
                error.to_string(),
                format!("{reason} (line {line} of a.toml)")
            );
            assert_eq!(
                error.hint().unwrap().to_string(),
                "keys of [data] are path, dt, time, channels, input, trajectory, only-trajectories, delimiter, decimal, header, array, from, to, rate, missing-value, resample, grid, own-times, prepare"
            );
        }
    }
}
