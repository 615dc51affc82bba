//! Floors and chance levels that were computed before, a file a data set, in a folder of the user's or of a run: never
//! beside the data. A file is found by a hash of the values and of all that the levels depend on; what cannot be read
//! is computed again, and what cannot be written is not kept.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use attractor_core::NUMERICS;
use attractor_core::measure::levels::Level;
use attractor_core::measure::{MEASURES, Options, Rows};
use serde_json::{Map, Value, json};

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
        let document: Value = serde_json::from_str(&text).ok()?;
        document.as_array()?.iter().map(from_json).collect()
    }

    /// Keeps levels under a key, if the folder lets us.
    pub(super) fn keep(&self, key: &Key, levels: &[Level]) {
        let Some(folder) = &self.folder else { return };
        let document = Value::Array(levels.iter().map(to_json).collect());
        // A cache that cannot be written costs time, nothing else.
        let _ = fs::create_dir_all(folder);
        let _ = store::write_whole(&folder.join(&key.0), |out| writeln!(out, "{document:#}"));
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

fn to_json(level: &Level) -> Value {
    let surrogates = level.surrogates.iter();
    let surrogates: Map<String, Value> = surrogates
        .map(|(name, value)| ((*name).to_string(), json!(value)))
        .collect();
    json!({ "id": level.id, "floor": level.floor, "chance": level.chance, "surrogates": surrogates })
}

fn from_json(value: &Value) -> Option<Level> {
    let id = value.get("id")?.as_str()?;
    let number = |v: &Value| (v.is_null() || v.is_f64() || v.is_i64()).then(|| v.as_f64());
    let named = value.get("surrogates")?.as_object()?;
    let surrogates = attractor_core::measure::levels::SURROGATES
        .iter()
        .filter_map(|&name| Some((name, number(named.get(name)?)?)));
    Some(Level {
        id: MEASURES.iter().find(|info| info.entry.id == id)?.entry.id,
        floor: number(value.get("floor")?)?,
        chance: number(value.get("chance")?)?,
        surrogates: surrogates.collect(),
    })
}
