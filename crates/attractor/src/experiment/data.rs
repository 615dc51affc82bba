//! The recording of an experiment: a file and how it is read, as the table `[data]` of an experiment file.
//!
//! ```toml
//! [data]
//! path = "recording.csv"
//! dt = 0.01
//! channels = ["x", "z"]
//! ```
//!
//! The keys are the names of the flags of every verb that reads data.

use std::path::{self, Path, PathBuf};

use attractor_core::series::Series;
use attractor_core::settings::{SettingError, nearest};

use super::ExperimentError;
use crate::format::{self, Column, Decimal, Delimiter, Header, Moment, Pattern, ReadOptions};
use crate::pipeline::{Pipeline, PipelineError, Step};
use crate::{Error, shell};

/// A recording and how it is read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DataSource {
    /// The file.
    pub path: PathBuf,
    /// How it is read.
    pub options: ReadOptions,
    /// What is done to it then.
    pub prepare: Pipeline,
}

/// Every key of the table.
pub(super) const KEYS: [&str; 19] = [
    "path",
    "dt",
    "time",
    "channels",
    "input",
    "trajectory",
    "only-trajectories",
    "delimiter",
    "decimal",
    "header",
    "array",
    "from",
    "to",
    "rate",
    "missing-value",
    "resample",
    "grid",
    "own-times",
    "prepare",
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
    /// A file that is read as these options say, by the names of the flags.
    pub fn of(path: &Path, options: &[(String, Vec<String>)]) -> Result<DataSource, Error> {
        let mut source = DataSource {
            path: path.to_path_buf(),
            ..DataSource::default()
        };
        for (name, texts) in options {
            if name == "path" || !KEYS.contains(&name.as_str()) {
                return Err(unknown_option(name).into());
            }
            if name == "prepare" {
                source.prepare = pipeline(texts)?;
            } else {
                let told = |reason| ExperimentError::Option { reason };
                source.set(name, texts).map_err(told)?;
            }
        }
        Ok(source)
    }

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

    /// The recording under a name that holds in every folder, and in a file of settings.
    pub(crate) fn absolute(&self) -> Result<DataSource, Error> {
        let path = path::absolute(&self.path).map_err(|source| Error::Read {
            path: self.path.clone(),
            source,
        })?;
        match path.to_str() {
            Some(_) => Ok(DataSource {
                path,
                ..self.clone()
            }),
            None => Err(ExperimentError::DataName { path }.into()),
        }
    }

    /// The recording after what is done to it, and what is to be done to new data.
    pub fn read(&self) -> Result<(Series, Pipeline), Error> {
        self.absolute()?;
        let series = format::read(&self.path, &self.options)?;
        let (series, fitted) = self.prepare.fit(&series)?;
        Ok((series, fitted.after_missing(&self.options.missing)))
    }

    /// The file and how it is read, as it would be typed.
    pub fn as_typed(&self) -> String {
        let typed = |(key, texts): (&str, Vec<String>)| match key {
            "path" => shell::path(&self.path),
            key => format!(" {}", shell::flag(key, &texts.join(","))),
        };
        let texts = self.texts().into_iter();
        texts
            .filter(|(key, _)| *key != "prepare")
            .map(typed)
            .collect()
    }

    /// Everything that is not left to be detected, by key.
    pub(super) fn texts(&self) -> Vec<(&'static str, Vec<String>)> {
        let options = &self.options;
        let columns = |list: &[Column]| list.iter().map(word).collect::<Vec<_>>();
        let patterns = |list: &[Pattern]| list.iter().map(Pattern::to_string).collect::<Vec<_>>();
        let one = |text: Option<String>| text.into_iter().collect();
        let mut texts = vec![
            ("path", vec![self.path.display().to_string()]),
            ("dt", one(options.dt.map(|dt| dt.to_string()))),
            ("time", one(options.time.as_ref().map(word))),
            ("channels", columns(&options.channels)),
            ("input", columns(&options.input)),
            ("trajectory", one(options.trajectory.as_ref().map(word))),
            ("only-trajectories", patterns(&options.only_trajectories)),
            ("delimiter", one(name(options.delimiter, &DELIMITERS))),
            ("decimal", one(name(options.decimal, &DECIMALS))),
            ("header", one(name(options.header, &HEADERS))),
            ("array", one(options.array.clone())),
            ("from", one(options.from.map(|m| m.to_string()))),
            ("to", one(options.to.map(|m| m.to_string()))),
            ("rate", one(options.rate.map(|rate| rate.to_string()))),
            (
                "missing-value",
                options.missing.iter().map(f64::to_string).collect(),
            ),
            ("resample", one(options.resample.map(|dt| dt.to_string()))),
            ("grid", one(options.grid.map(|dt| dt.to_string()))),
            ("own-times", one(options.own_times.map(|dt| dt.to_string()))),
            (
                "prepare",
                self.prepare.steps.iter().map(Step::to_string).collect(),
            ),
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
            ("rate", [rate]) => {
                let rate = rate.parse().map_err(|_| "`rate` must be a number")?;
                options.rate = Some(rate);
            }
            ("resample", [dt]) => {
                let dt = dt.parse().map_err(|_| "`resample` must be a number")?;
                options.resample = Some(dt);
            }
            ("grid", [dt]) => {
                let dt = dt.parse().map_err(|_| "`grid` must be a number")?;
                options.grid = Some(dt);
            }
            ("own-times", [dt]) => {
                let dt = dt.parse().map_err(|_| "`own-times` must be a number")?;
                options.own_times = Some(dt);
            }
            ("missing-value", list) => {
                let numbers = list.iter().map(|text| text.parse());
                let numbers: Result<Vec<f64>, _> = numbers.collect();
                options.missing = numbers.map_err(|_| "`missing-value` must be numbers")?;
            }
            ("from", [text]) => options.from = Some(moment(key, text)?),
            ("to", [text]) => options.to = Some(moment(key, text)?),
            ("array", [text]) => options.array = Some(text.clone()),
            ("prepare", list) => {
                self.prepare = pipeline(list).map_err(|error| error.to_string())?;
            }
            ("only-trajectories", list) => {
                options.only_trajectories = list.iter().map(|text| pattern(text)).collect()
            }
            ("time", [text]) => options.time = Some(column(text)),
            // Files of before 0.2 have `state`.
            ("channels" | "state", list) => {
                options.channels = list.iter().map(|text| column(text)).collect()
            }
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

fn unknown_option(name: &str) -> SettingError {
    let known: Vec<&'static str> = KEYS.into_iter().filter(|key| *key != "path").collect();
    SettingError::Unknown {
        name: name.to_string(),
        near: nearest(name, known.iter().copied()),
        known,
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

fn pattern(text: &str) -> Pattern {
    let Ok(pattern) = text.parse();
    pattern
}

/// Steps, each of which may itself be several with `;` between.
pub(super) fn pipeline(list: &[String]) -> Result<Pipeline, PipelineError> {
    list.join(";").parse()
}

fn moment(key: &str, text: &str) -> Result<Moment, String> {
    text.parse()
        .map_err(|expected| format!("`{key}`: {expected}"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_detected_is_typed() {
        let source = DataSource {
            path: "my data.csv".into(),
            options: ReadOptions {
                dt: Some(0.5),
                array: Some("x".into()),
                ..ReadOptions::default()
            },
            ..DataSource::default()
        };
        assert_eq!(source.as_typed(), "'my data.csv' --dt 0.5 --array x");
    }
}
