//! The runs under some folders, and what has changed since somebody looked.
//!
//! A run is a folder with an `experiment.toml` or a `scores.json`, up to [`DEEPEST`] levels down. Every file of a run is written beside and
//! renamed, so that the time of its folder changes with it: one look at that time says whether a run must be read again. Runs that have not
//! ended are looked at more closely, since the claim of a process that works in one is written in place.
//!
//! Folders may appear, vanish or be half copied at any time. What cannot be read is a row that says so, until it can.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use super::row::{Row, is_run};

/// Levels of folders below a given one: a folder of studies, a study, a cell, a run.
const DEEPEST: usize = 4;

/// From one look to the next, at least.
const PAUSE: Duration = Duration::from_secs(2);

/// A look may take so small a part of the time, so that watching costs a training nothing that could be noticed.
const SHARE: u32 = 100;

/// From one look to the next, at most: a slow file system is waited for more than worked on.
const LONGEST: Duration = Duration::from_secs(20);

/// Files that changed less than this ago may change again without another time.
const UNSURE: Duration = Duration::from_secs(2);

/// All runs, as they were when somebody looked.
#[derive(Debug, Default)]
pub(super) struct Survey {
    roots: Vec<PathBuf>,
    known: BTreeMap<PathBuf, Known>,
    /// Runs that vanished: the version at which they did, and their numbers.
    gone: Vec<(u64, u32)>,
    /// Settings in which runs differ, and the version since which it is these.
    differing: (u64, Vec<String>),
    version: u64,
    given: u32,
    next_look: Option<Instant>,
    /// How long the last look took.
    took: Option<Duration>,
}

/// A run that was found.
#[derive(Debug)]
struct Known {
    id: u32,
    row: Row,
    /// The row as the page reads it, so that thousands of them are sent at once.
    text: String,
    /// The time of its folder; none if it must be read again.
    time: Option<SystemTime>,
    /// The version at which it changed.
    changed: u64,
}

impl Survey {
    /// Of these folders; nothing is read yet.
    pub(super) fn of(roots: Vec<PathBuf>) -> Survey {
        Survey {
            roots,
            ..Survey::default()
        }
    }

    /// Looks at all folders, unless somebody just did.
    pub(super) fn refresh(&mut self) {
        let now = Instant::now();
        if self.next_look.is_some_and(|next| now < next) {
            return;
        }
        self.look();
        let took = now.elapsed();
        // The faster of two: where other work came between, a look seems to take long.
        let usual = self.took.map_or(took, |before| before.min(took));
        self.took = Some(took);
        let pause = (usual * SHARE).clamp(PAUSE, LONGEST);
        self.next_look = Some(Instant::now() + pause);
    }

    /// Looks at all folders.
    pub(super) fn look(&mut self) {
        let found = found(&self.roots);
        self.version += 1;
        self.forget(&found);
        let is_stale = |path: &PathBuf| {
            let known = self.known.get(path);
            known.is_none_or(|known| known.time.is_none() || known.time != time(path))
        };
        let stale: Vec<PathBuf> = found.into_iter().filter(is_stale).collect();
        let rows = read(&stale);
        for (path, (row, time)) in stale.into_iter().zip(rows) {
            self.note(path, row, time);
        }
        let differing = self.compare();
        if differing != self.differing.1 {
            self.differing = (self.version, differing);
        }
        self.write();
    }

    /// Drops runs that are not there any more.
    fn forget(&mut self, found: &BTreeSet<PathBuf>) {
        let (version, gone) = (self.version, &mut self.gone);
        self.known.retain(|path, known| {
            let stays = found.contains(path);
            if !stays {
                gone.push((version, known.id));
            }
            stays
        });
    }

    fn note(&mut self, path: PathBuf, row: Row, time: Option<SystemTime>) {
        let (version, given) = (self.version, &mut self.given);
        let known = self.known.entry(path).or_insert_with(|| {
            *given += 1;
            Known {
                id: *given,
                row: Row::default(),
                text: String::new(),
                time: None,
                changed: version,
            }
        });
        if known.row != row {
            known.changed = version;
        }
        (known.row, known.time) = (row, time);
    }

    /// The settings in which runs differ that have them.
    fn compare(&self) -> Vec<String> {
        let mut first: BTreeMap<&str, &str> = BTreeMap::new();
        let mut differing = BTreeSet::new();
        for (name, value) in self.known.values().flat_map(|known| &known.row.settings) {
            let seen = first.entry(name).or_insert(value);
            if seen != value {
                differing.insert(name.clone());
            }
        }
        differing.into_iter().collect()
    }

    /// Writes the rows that have changed as texts; all of them if they now differ in other settings.
    fn write(&mut self) {
        let (version, (since, names)) = (self.version, &self.differing);
        let is_new = |known: &Known| known.changed == version || *since == version;
        for (path, known) in self.known.iter_mut().filter(|(_, known)| is_new(known)) {
            known.text = document(&self.roots, names, path, known).to_string();
        }
    }

    /// How many runs there are.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// The folder of a run, by its number.
    pub(super) fn folder(&self, id: u32) -> Option<PathBuf> {
        let known = self.known.iter().find(|(_, known)| known.id == id);
        known.map(|(path, _)| path.clone())
    }

    /// What has changed since a version, as a document, and the version now; none if nothing has. From version 0 on it is everything.
    pub(super) fn since(&self, seen: u64) -> Option<(u64, String)> {
        let is_whole = self.differing.0 > seen || seen == 0;
        let changed = self.known.values();
        let changed = changed.filter(|known| is_whole || known.changed > seen);
        let runs: Vec<&str> = changed.map(|known| known.text.as_str()).collect();
        let gone = self.gone.iter().filter(|(version, _)| *version > seen);
        let gone: Vec<u32> = gone.map(|(_, id)| *id).collect();
        if !is_whole && runs.is_empty() && gone.is_empty() {
            return None;
        }
        let rest = [
            ("whole", json!(is_whole)),
            ("settings", json!(self.differing.1)),
            ("gone", json!(gone)),
        ];
        let rest = rest.map(|(name, value)| format!("\"{name}\":{value},"));
        let document = format!("{{{}\"runs\":[{}]}}", rest.concat(), runs.join(","));
        Some((self.version, document))
    }
}

/// A run as the page reads it, with its values of the settings in which runs differ.
fn document(roots: &[PathBuf], differing: &[String], path: &Path, known: &Known) -> Value {
    let names = differing.iter();
    let values: Vec<Option<&String>> = names.map(|name| known.row.settings.get(name)).collect();
    let mut document = known.row.document();
    document["id"] = json!(known.id);
    document["name"] = json!(name(roots, path));
    document["values"] = json!(values);
    document
}

/// A run's folder as it is shown: from the folder that was given on.
fn name(roots: &[PathBuf], path: &Path) -> String {
    let root = roots.iter().find(|root| path.starts_with(root));
    let inside = root.and_then(|root| path.strip_prefix(root).ok());
    let own = |path: &Path| {
        path.file_name()
            .map(|name| name.to_string_lossy().into_owned())
    };
    match (root.and_then(|root| own(root)), inside) {
        (Some(root), Some(inside)) if inside.as_os_str().is_empty() => root,
        (Some(root), Some(inside)) if roots.len() > 1 => format!("{root}/{}", inside.display()),
        (_, Some(inside)) if !inside.as_os_str().is_empty() => inside.display().to_string(),
        _ => path.display().to_string(),
    }
}

/// Reads runs, several at a time: most of it is waiting for the disk.
fn read(folders: &[PathBuf]) -> Vec<(Row, Option<SystemTime>)> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let parts = folders.chunks(folders.len().div_ceil(threads).max(1));
    thread::scope(|scope| {
        let of_part = |part: &[PathBuf]| part.iter().map(|path| one(path)).collect::<Vec<_>>();
        let readers: Vec<_> = parts
            .map(|part| scope.spawn(move || of_part(part)))
            .collect();
        let read = readers.into_iter().map(|reader| reader.join());
        read.flat_map(|part| part.expect("readers do not panic"))
            .collect()
    })
}

/// A run, and the time of its folder where that will tell whether it has changed.
fn one(folder: &Path) -> (Row, Option<SystemTime>) {
    // Before it is read: what changes meanwhile is then seen the next time.
    let before = time(folder);
    let row = Row::read(folder);
    let is_sure = |time: &SystemTime| time.elapsed().is_ok_and(|age| age > UNSURE);
    let time = before.filter(|time| row.has_ended() && is_sure(time));
    (row, time)
}

fn time(folder: &Path) -> Option<SystemTime> {
    fs::metadata(folder).ok()?.modified().ok()
}

/// The folders of all runs.
fn found(roots: &[PathBuf]) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for root in roots {
        if is_run(root) {
            found.insert(root.clone());
        } else {
            descend(root, DEEPEST, &mut found);
        }
    }
    found
}

/// Collects the runs under a folder. What cannot be listed now may be the next time.
fn descend(folder: &Path, levels: usize, found: &mut BTreeSet<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        let path = entry.path();
        let is_folder = match entry.file_type() {
            Ok(kind) if kind.is_symlink() => path.is_dir(),
            kind => kind.is_ok_and(|kind| kind.is_dir()),
        };
        if is_hidden || !is_folder {
            continue;
        }
        if is_run(&path) {
            found.insert(path);
        } else if levels > 1 {
            descend(&path, levels - 1, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// What has changed since a version, understood.
    fn since(survey: &Survey, seen: u64) -> (u64, Value) {
        let (version, text) = survey.since(seen).unwrap();
        (version, serde_json::from_str(&text).unwrap())
    }

    #[test]
    fn runs_appear_change_and_vanish() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("runs");
        let mut survey = Survey::of(vec![root.clone()]);
        survey.look();
        // A folder that is not there yet holds nothing.
        let (seen, all) = since(&survey, 0);
        assert_eq!(all["runs"], json!([]));
        write(
            &root.join("a/experiment.toml"),
            "model = \"plrnn\"\nhidden = 3\nseed = 1\n",
        );
        write(
            &root.join("s/c/seed-02/experiment.toml"),
            "model = \"plrnn\"\nhidden = 4\nseed = 2\n",
        );
        survey.look();
        let (seen, all) = since(&survey, seen);
        assert_eq!(all["settings"], json!(["hidden"]));
        let runs = all["runs"].as_array().unwrap();
        assert_eq!(
            (&runs[0]["name"], &runs[0]["values"]),
            (&json!("a"), &json!(["3"]))
        );
        assert_eq!(
            (&runs[1]["name"], &runs[1]["seed"]),
            (&json!("s/c/seed-02"), &json!(2))
        );
        assert_eq!(runs[0]["state"], "interrupted");
        survey.look();
        assert_eq!(survey.since(seen), None);
        write(
            &root.join("a/outcome.json"),
            "{\"outcome\": \"diverged\", \"update\": 5}",
        );
        survey.look();
        let (seen, change) = since(&survey, seen);
        assert_eq!(
            (&change["whole"], &change["runs"][0]["state"]),
            (&json!(false), &json!("diverged"))
        );
        let id = change["runs"][0]["id"].as_u64().unwrap() as u32;
        assert_eq!(survey.folder(id), Some(root.join("a")));
        fs::remove_dir_all(root.join("a")).unwrap();
        survey.look();
        let (_, change) = since(&survey, seen);
        assert_eq!(change["gone"], json!([id]));
        assert_eq!(survey.folder(id), None);
    }

    #[test]
    fn what_is_half_written_is_a_row_that_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("a");
        write(&run.join("experiment.toml"), "model = \"plr");
        write(&run.join("scores.json"), "{\"schema\": 1, ");
        write(&run.join("progress.json"), "{");
        let mut survey = Survey::of(vec![folder.path().to_path_buf()]);
        survey.look();
        let (_, all) = since(&survey, 0);
        let row = &all["runs"][0];
        assert_eq!(row["state"], "failed");
        assert!(
            row["why"].as_str().unwrap().contains("scores.json"),
            "{row}"
        );
        fs::remove_file(run.join("scores.json")).unwrap();
        write(&run.join("experiment.toml"), "model = \"plrnn\"");
        survey.look();
        let (_, all) = since(&survey, 0);
        assert_eq!(all["runs"][0]["state"], "interrupted");
    }
}
