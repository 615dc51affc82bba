//! Floors and chance levels that were computed before, a file a data set, in a folder of the user's or of a run: never
//! beside the data. A file is found by a hash of the values and of all that the levels depend on; what cannot be read
//! is computed again, and what cannot be written is not kept.

use std::collections::BTreeMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use attractor_core::NUMERICS;
use attractor_core::measure::levels::{Level, SURROGATES};
use attractor_core::measure::{MEASURES, Options, Rows};
use serde::{Deserialize, Serialize};

use crate::fingerprint::Fingerprint;
use crate::store;

/// Where levels are kept, if anywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cache {
    folder: Option<PathBuf>,
}

/// The name of a data set with its settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Key(String);

impl Cache {
    /// Nothing is kept.
    pub fn none() -> Cache {
        Cache { folder: None }
    }

    /// In a folder, which is made when something is to be kept.
    pub fn in_folder(folder: &Path) -> Cache {
        Cache {
            folder: Some(folder.to_path_buf()),
        }
    }

    /// In the user's cache folder: `ATTRACTOR_CACHE`, else `attractor` where the system keeps such files. Where there is
    /// none, in `otherwise`.
    pub fn of_user(otherwise: Option<&Path>) -> Cache {
        let found = folder_in("ATTRACTOR_CACHE").or_else(system_folder);
        Cache {
            folder: found.or_else(|| otherwise.map(Path::to_path_buf)),
        }
    }

    /// The key of a truth, of what its floors are from, and of the options.
    pub(super) fn key(&self, truth: Rows<'_>, floor: &str, options: &Options) -> Key {
        let mut hash = Fingerprint::new();
        hash.add(env!("CARGO_PKG_VERSION").as_bytes());
        hash.add(format!("{NUMERICS} {options:?} {floor} {}", truth.dim()).as_bytes());
        let values = truth.values().iter();
        values.for_each(|v| hash.add(&v.to_le_bytes()));
        Key(format!("levels-{}.json", hash.text()))
    }

    /// What is kept under a key.
    pub(super) fn find(&self, key: &Key) -> Option<Vec<Level>> {
        let text = fs::read_to_string(self.folder.as_ref()?.join(&key.0)).ok()?;
        let kept: Vec<Kept> = serde_json::from_str(&text).ok()?;
        kept.into_iter().map(Kept::level).collect()
    }

    /// Keeps levels under a key, if the folder lets us.
    pub(super) fn keep(&self, key: &Key, levels: &[Level]) {
        let Some(folder) = &self.folder else { return };
        let kept: Vec<Kept> = levels.iter().map(Kept::of).collect();
        let document = serde_json::to_string_pretty(&kept).expect("levels are numbers by name");
        // A cache that cannot be written costs time, nothing else.
        let _ = fs::create_dir_all(folder);
        let _ = store::write_whole(&folder.join(&key.0), |out| writeln!(out, "{document}"));
    }
}

/// The folder that an environment variable names.
fn folder_in(variable: &str) -> Option<PathBuf> {
    let value = env::var_os(variable).filter(|value| !value.is_empty());
    value.map(PathBuf::from)
}

/// Our folder where this system keeps what can be computed again.
fn system_folder() -> Option<PathBuf> {
    let in_home = if cfg!(target_os = "macos") {
        "Library/Caches"
    } else {
        ".cache"
    };
    let home = || folder_in("HOME").map(|home| home.join(in_home));
    let folder = folder_in("XDG_CACHE_HOME").or_else(|| folder_in("LOCALAPPDATA"));
    folder.or_else(home).map(|folder| folder.join("attractor"))
}

/// A level as its file has it.
#[derive(Serialize, Deserialize)]
struct Kept {
    chance: Option<f64>,
    floor: Option<f64>,
    id: String,
    surrogates: BTreeMap<String, Option<f64>>,
}

impl Kept {
    fn of(level: &Level) -> Kept {
        let surrogates = level.surrogates.iter();
        Kept {
            chance: level.chance,
            floor: level.floor,
            id: level.id.to_string(),
            surrogates: surrogates.map(|&(name, v)| (name.into(), v)).collect(),
        }
    }

    /// The level; none of a measure that there is not.
    fn level(self) -> Option<Level> {
        let info = MEASURES.iter().find(|info| info.entry.id == self.id)?;
        let named = |&name: &&'static str| Some((name, *self.surrogates.get(name)?));
        Some(Level {
            id: info.entry.id,
            floor: self.floor,
            chance: self.chance,
            surrogates: SURROGATES.iter().filter_map(named).collect(),
        })
    }
}
