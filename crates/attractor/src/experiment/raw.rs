//! An experiment as it was written: settings by name, as text, each with where it came from.
//!
//! What comes later wins:  defaults < preset < file < `--set` < flags. Where neither a preset nor a file is named, `train` begins with the preset
//! `robust`.

use std::fmt;
use std::path::{Path, PathBuf};

use attractor_core::method::Method;
use attractor_core::series::Series;
use attractor_core::settings::nearest;

use super::settings::{PRESETS, USUAL, settings_of};
use super::{ExperimentError, named_in};

/// Settings as written, in the order in which they are applied.
#[derive(Debug, Clone, Default)]
pub struct Raw {
    /// What was given.
    pub given: Vec<Given>,
}

/// One setting as written.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// The name.
    pub name: String,
    /// The value.
    pub text: String,
    /// Where it was written.
    pub origin: Origin,
}

/// Where a setting was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// In a preset.
    Preset(&'static str),
    /// In a file.
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
    },
    /// In what `train` sets by itself.
    Usual,
    /// With `--set`.
    Set,
    /// As a flag, or as an argument of the library.
    Flag,
}

/// What to say after a message: where the setting was written, unless the user sees it.
impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Preset(name) => write!(f, " (preset {name})"),
            Origin::File { path, line } => write!(f, " (line {line} of {})", path.display()),
            Origin::Set => write!(f, " (--set)"),
            Origin::Flag | Origin::Usual => Ok(()),
        }
    }
}

/// A setting that only maps under teacher forcing have.
const OF_MAPS: &str = "observation";

/// Steps of a training window where there is room.
const LONGEST_WINDOW: usize = 200;

/// Steps of a training window for which a recording has room: a tenth of its rows, half of its longest stretch.
pub(crate) fn window_of(series: &Series) -> usize {
    let longest = series.longest_whole().1.len();
    LONGEST_WINDOW
        .min(series.total_len() / 10)
        .min(longest / 2)
        .max(1)
}

/// Units of a hidden layer that so many channels ask for: fifty for a few, ten for each of many.
pub(crate) fn units_of(channels: usize) -> usize {
    (10 * channels).clamp(50, 300)
}

/// Whether a method is a map under teacher forcing.
pub(crate) fn is_map(method: &Method) -> bool {
    method.entry.settings.iter().any(|s| s.name == OF_MAPS)
}

/// What `train` sets by itself in place of a setting's default, where neither a preset nor a file is named.
pub fn usual(method: &Method, setting: &str) -> Option<&'static str> {
    let preset = PRESETS.iter().find(|preset| preset.name == USUAL)?;
    let mut set = preset.set.iter().filter(|_| is_map(method));
    set.find(|(name, _)| *name == setting)
        .map(|(_, text)| *text)
}

/// A setting that there was before it turned out to change nothing; runs of that time have its default in their files.
const GONE: (&str, &str) = ("best-alone", "off");

impl Raw {
    /// Adds a preset.
    pub fn preset(&mut self, name: &str) -> Result<(), ExperimentError> {
        let preset = PRESETS.iter().find(|preset| preset.name == name);
        let preset = preset.ok_or_else(|| ExperimentError::UnknownPreset {
            name: name.to_string(),
            near: nearest(name, PRESETS.iter().map(|preset| preset.name)),
        })?;
        for (name, text) in preset.set {
            self.push(name, text, Origin::Preset(preset.name));
        }
        Ok(())
    }

    /// Adds a setting.
    pub fn push(&mut self, name: &str, text: &str, origin: Origin) {
        self.given.push(Given {
            name: name.to_string(),
            text: text.to_string(),
            origin,
        });
    }

    /// The same, and under it what `train` sets by itself for a map under teacher forcing: the preset `robust`, a window for which a
    /// short recording has room, and units for all channels of many.
    pub fn with_usual(&self, series: &Series) -> Result<Raw, ExperimentError> {
        let method = named_in(self)?;
        if !is_map(method) {
            return Ok(self.clone());
        }
        let mut usual = Raw::default();
        usual.preset(USUAL)?;
        let window = window_of(series);
        if window < LONGEST_WINDOW {
            usual.push("window", &window.to_string(), Origin::Usual);
        }
        let (units, few) = (units_of(series.dim_obs()), units_of(1));
        if units > few && settings_of(method).iter().any(|s| s.name == "hidden") {
            usual.push("hidden", &units.to_string(), Origin::Usual);
        }
        for given in &mut usual.given {
            given.origin = Origin::Usual;
        }
        usual.given.extend(self.given.iter().cloned());
        Ok(usual)
    }

    /// The same with another number of threads, which has no effect on the result.
    pub fn with_threads(&self, threads: usize) -> Raw {
        let mut raw = self.clone();
        raw.push("threads", &threads.to_string(), Origin::Flag);
        raw
    }

    /// Adds a line of a file, unless it says nothing any more.
    pub(super) fn push_line(&mut self, name: &str, text: &str, path: &Path, line: usize) {
        if (name, text) == GONE {
            return;
        }
        let path = path.to_path_buf();
        self.push(name, text, Origin::File { path, line });
    }
}
