//! What groups of runs differ in: the name of their cell, and settings.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use attractor_core::settings::{SettingError, nearest};

use crate::experiment::{acts, all_settings};
use crate::study::{Scored, StudyError, representatives};

/// Something that runs may differ in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Key {
    /// The study, for runs that do not differ.
    Study,
    /// The name of the cell.
    Name,
    /// A setting.
    Setting(&'static str),
}

impl Key {
    /// The key of this name.
    pub(super) fn find(name: &str) -> Result<Key, StudyError> {
        // The number of threads is no property of a run.
        let known = all_settings().into_iter().map(|setting| setting.name);
        let known = known.filter(|name| *name != "threads");
        let known: Vec<&'static str> = [Key::Name.name()].into_iter().chain(known).collect();
        match known.iter().find(|known| **known == name) {
            Some(_) if name == Key::Name.name() => Ok(Key::Name),
            Some(name) => Ok(Key::Setting(name)),
            None => Err(StudyError::UnknownKey(SettingError::Unknown {
                name: name.to_string(),
                near: nearest(name, known.iter().copied()),
                known,
            })),
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Key::Study => "study",
            Key::Name => "name",
            Key::Setting(name) => name,
        }
    }

    /// Its value for a run.
    pub(super) fn value(self, run: &Scored) -> Cow<'_, str> {
        match self {
            Key::Study => Cow::Borrowed(&run.study),
            Key::Name => Cow::Borrowed(run.name.as_deref().unwrap_or_default()),
            Key::Setting("seed") => Cow::Owned(run.seed.to_string()),
            Key::Setting(name) => Cow::Borrowed(acting(name, run).unwrap_or_default()),
        }
    }
}

/// The keys of these names, each once.
pub(super) fn named(names: &[String]) -> Result<Vec<Key>, StudyError> {
    let mut keys = Vec::new();
    for name in names {
        let key = Key::find(name)?;
        if !keys.contains(&key) {
            keys.push(key);
        }
    }
    Ok(keys)
}

/// The name of the cell, if there are names, and the settings that differ between runs of the same name.
pub(super) fn varied(runs: &[Scored]) -> Vec<Key> {
    let mut keys = Vec::new();
    if runs.iter().any(|run| run.name.is_some()) {
        keys.push(Key::Name);
    }
    let all: Vec<&Scored> = runs.iter().collect();
    let named = parts(runs, &[Key::Name]);
    let named = if keys.is_empty() { vec![all] } else { named };
    let differing: BTreeSet<&str> = named.iter().flat_map(|part| differing(part)).collect();
    let settings = all_settings().into_iter().map(|setting| setting.name);
    keys.extend(
        settings
            .filter(|name| differing.contains(name))
            .map(Key::Setting),
    );
    if keys.is_empty() {
        vec![Key::Study]
    } else {
        keys
    }
}

/// The text of a setting, if it acts in a run.
fn acting<'a>(name: &str, run: &'a Scored) -> Option<&'a str> {
    let text = run.settings.get(name)?;
    acts(name, &run.settings).then_some(text)
}

/// The settings that have several values in the runs in which they act.
fn differing(runs: &[&Scored]) -> BTreeSet<&'static str> {
    // Runs of one cell have the same settings: one for all of them is looked at.
    let runs = representatives(runs.iter().copied());
    let cells: BTreeMap<_, &Scored> = runs.map(|run| (&run.settings, run)).collect();
    let several = |name: &&str| {
        let values: BTreeSet<&str> = cells.values().filter_map(|run| acting(name, run)).collect();
        values.len() > 1
    };
    let names = all_settings().into_iter().map(|setting| setting.name);
    names.filter(several).collect()
}

/// The runs by the values of keys, in the order in which they first occur.
pub(super) fn parts<'a>(runs: &'a [Scored], keys: &[Key]) -> Vec<Vec<&'a Scored>> {
    let mut parts: Vec<Vec<&Scored>> = Vec::new();
    let mut places = BTreeMap::new();
    for run in runs {
        let values: Vec<Cow<'_, str>> = keys.iter().map(|key| key.value(run)).collect();
        let place = *places.entry(values).or_insert(parts.len());
        match parts.get_mut(place) {
            Some(part) => part.push(run),
            None => parts.push(vec![run]),
        }
    }
    parts
}
