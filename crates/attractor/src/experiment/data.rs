//! The recording of an experiment: a file and how it is read, as the table `[data]` of an experiment file.
//!
//! ```toml
//! [data]
//! path = "recording.csv"
//! dt = 0.01
//! state = ["x", "z"]
//! ```
//!
//! The keys are the names of the flags of every verb that reads data.

use std::io;
use std::path::{self, Path, PathBuf};

use super::ExperimentError;
use crate::format::{Column, Decimal, Delimiter, Header, ReadOptions};

/// A recording and how it is read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataSource {
    /// The file.
    pub path: PathBuf,
    /// How it is read.
    pub options: ReadOptions,
}

/// Every key of the table.
pub(super) const KEYS: [&str; 9] = [
    "path",
    "dt",
    "time",
    "state",
    "input",
    "trajectory",
    "delimiter",
    "decimal",
    "header",
];

const DELIMITERS: [(&str, Delimiter); 4] = [
    ("comma", Delimiter::Comma),
    ("semicolon", Delimiter::Semicolon),
    ("tab", Delimiter::Tab),
    ("whitespace", Delimiter::Whitespace),
];
const DECIMALS: [(&str, Decimal); 2] = [("point", Decimal::Point), ("comma", Decimal::Comma)];
const HEADERS: [(&str, Header); 2] = [("yes", Header::Present), ("no", Header::Absent)];

impl DataSource {
    /// The recording that a file of settings names, found from the current folder, else from that of the file.
    pub fn found_from(self, file: &Path) -> Result<DataSource, ExperimentError> {
        let beside = file.with_file_name(&self.path);
        match (self.path.exists(), beside.exists()) {
            (true, _) => Ok(self),
            (false, true) => Ok(DataSource {
                path: beside,
                ..self
            }),
            (false, false) => Err(ExperimentError::DataNotFound {
                data: self.path,
                path: file.to_path_buf(),
            }),
        }
    }

    /// The recording under a name that holds in every folder.
    pub(crate) fn absolute(&self) -> io::Result<DataSource> {
        Ok(DataSource {
            path: path::absolute(&self.path)?,
            options: self.options.clone(),
        })
    }

    /// Everything that is not left to be detected, by key.
    pub(super) fn texts(&self) -> Vec<(&'static str, Vec<String>)> {
        let options = &self.options;
        let columns = |list: &[Column]| list.iter().map(word).collect::<Vec<_>>();
        let one = |text: Option<String>| text.into_iter().collect();
        let mut texts = vec![
            ("path", vec![self.path.display().to_string()]),
            ("dt", one(options.dt.map(|dt| dt.to_string()))),
            ("time", one(options.time.as_ref().map(word))),
            ("state", columns(&options.state)),
            ("input", columns(&options.input)),
            ("trajectory", one(options.trajectory.as_ref().map(word))),
            ("delimiter", one(name(options.delimiter, &DELIMITERS))),
            ("decimal", one(name(options.decimal, &DECIMALS))),
            ("header", one(name(options.header, &HEADERS))),
        ];
        texts.retain(|(_, text)| !text.is_empty());
        texts
    }

    /// Sets one key; if it cannot, says what is expected.
    pub(crate) fn set(&mut self, key: &str, texts: &[String]) -> Result<(), String> {
        let options = &mut self.options;
        match (key, texts) {
            ("path", [path]) => self.path = PathBuf::from(path),
            ("dt", [dt]) => {
                let dt = dt.parse().map_err(|_| "`dt` must be a number")?;
                options.dt = Some(dt);
            }
            ("time", [text]) => options.time = Some(column(text)),
            ("state", list) => options.state = list.iter().map(|text| column(text)).collect(),
            ("input", list) => options.input = list.iter().map(|text| column(text)).collect(),
            ("trajectory", [text]) => options.trajectory = Some(column(text)),
            ("delimiter", [text]) => options.delimiter = Some(one_of(key, text, &DELIMITERS)?),
            ("decimal", [text]) => options.decimal = Some(one_of(key, text, &DECIMALS)?),
            ("header", [text]) => options.header = Some(one_of(key, text, &HEADERS)?),
            (key, _) if KEYS.contains(&key) => {
                return Err(format!("`{key}` must be a single value"));
            }
            _ => return Err(format!("unknown key `{key}` of [data]")),
        }
        Ok(())
    }
}

/// A column as a user types it.
fn word(column: &Column) -> String {
    match column {
        Column::Name(name) => name.clone(),
        Column::Index(index) => index.to_string(),
    }
}

fn column(text: &str) -> Column {
    let Ok(column) = text.parse();
    column
}

fn name<T: Copy + PartialEq>(value: Option<T>, words: &[(&str, T)]) -> Option<String> {
    let found = words.iter().find(|(_, meaning)| Some(*meaning) == value);
    found.map(|(word, _)| (*word).to_string())
}

fn one_of<T: Copy>(key: &str, text: &str, words: &[(&str, T)]) -> Result<T, String> {
    let found = words.iter().find(|(word, _)| *word == text);
    found.map(|(_, meaning)| *meaning).ok_or_else(|| {
        let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        format!(
            "`{key}` must be one of {}, found `{text}`",
            known.join(", ")
        )
    })
}
