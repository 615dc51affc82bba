//! The studies under `experiments/` that name rows of the paper, and how they are trained: their data found or simulated, then one sweep each.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};

use super::{Request, shown, skipped};
use crate::command::{root, succeeds};

/// A study.
pub(super) struct Study {
    /// Its file without the ending.
    pub(super) name: String,
    pub(super) file: PathBuf,
    pub(super) table: Table,
    /// What simulates its data, as the file says: the arguments of `attractor`.
    simulations: Vec<Vec<String>>,
}

/// What stands before a command that makes data, in the opening comment of a study.
const SIMULATE: &str = "#   attractor simulate ";

/// All studies with a row of the paper, by name.
pub(super) fn of_the_paper() -> Result<Vec<Study>, String> {
    let folder = root().join("experiments");
    let files = fs::read_dir(&folder).map_err(|error| error.to_string())?;
    let mut files: Vec<PathBuf> = files.flatten().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "toml"));
    files.sort();
    let studies: Result<Vec<Study>, String> = files.into_iter().map(Study::read).collect();
    let mut studies = studies?;
    studies.retain(|study| study.entries().any(|entry| entry.contains_key("paper")));
    Ok(studies)
}

impl Study {
    fn read(file: PathBuf) -> Result<Study, String> {
        let text = fs::read_to_string(&file).map_err(|e| format!("{e}: {}", shown(&file)))?;
        let table = text.parse().map_err(|e| format!("{e}: {}", shown(&file)))?;
        let name = file.file_stem().unwrap_or_default();
        Ok(Study {
            name: name.to_string_lossy().into_owned(),
            table,
            simulations: simulations(&text),
            file,
        })
    }

    /// The entries of its list.
    pub(super) fn entries(&self) -> impl Iterator<Item = &Table> {
        let list = self.table.get("list").and_then(Value::as_array);
        list.into_iter().flatten().filter_map(Value::as_table)
    }

    /// A file of its data.
    pub(super) fn data(&self, which: &str) -> Option<&str> {
        self.table.get("data")?.get(which)?.as_str()
    }

    /// Sweeps it, or goes on with it.
    pub(super) fn train(&self, request: &Request) -> bool {
        if !self.prepare(request) {
            return false;
        }
        let file = match self.for_request(request) {
            Ok(file) => file,
            Err(error) => return skipped(&self.name, &error),
        };
        println!("{}", self.name);
        let mut sweep = request.attractor(["sweep", "--workers", &request.workers]);
        sweep.arg(file).arg("--out").arg(request.folder(&self.name));
        succeeds(sweep.arg("--data-dir").arg(request.simulated()))
    }

    /// Brings its data into the folder of simulated data; real recordings by a link.
    fn prepare(&self, request: &Request) -> bool {
        let folder = request.simulated();
        if let Err(error) = fs::create_dir_all(&folder) {
            return skipped(&self.name, &error.to_string());
        }
        ["train", "test"].iter().all(|which| {
            let Some(file) = self.data(which) else {
                return *which == "test";
            };
            let there = folder.join(file);
            let given = request.data.join(file);
            there.exists()
                || (given.exists() && link(&given, &there))
                || self.simulate(request, file)
        })
    }

    /// Makes a file of data by the command that the study names.
    fn simulate(&self, request: &Request, file: &str) -> bool {
        let makes = |words: &&Vec<String>| words.last().is_some_and(|word| word == file);
        let Some(words) = self.simulations.iter().find(makes) else {
            let why = format!("{file} is not in {}", shown(&request.data));
            return skipped(&self.name, &why);
        };
        let mut command = request.attractor(words.iter().map(String::as_str));
        succeeds(command.current_dir(request.simulated()))
    }

    /// The file to sweep: the study's own, or a shorter form of it.
    fn for_request(&self, request: &Request) -> Result<PathBuf, String> {
        if !request.quick {
            return Ok(self.file.clone());
        }
        let mut table = self.table.clone();
        table.insert("seeds".to_string(), Value::Integer(1));
        shorten(&mut table);
        let file = request
            .out
            .join("quick")
            .join(format!("{}.toml", self.name));
        fs::create_dir_all(request.out.join("quick")).map_err(|error| error.to_string())?;
        fs::write(&file, table.to_string()).map_err(|error| error.to_string())?;
        Ok(file)
    }
}

/// The commands in the opening comment that make data.
fn simulations(text: &str) -> Vec<Vec<String>> {
    let commands = text.lines().filter_map(|line| line.strip_prefix(SIMULATE));
    let words = commands.map(|words| ["simulate"].into_iter().chain(words.split_whitespace()));
    words
        .map(|words| words.map(String::from).collect())
        .collect()
}

/// Every number of epochs, wherever it stands, a tenth of it.
fn shorten(table: &mut Table) {
    for (name, value) in table.iter_mut() {
        match value {
            Value::Integer(epochs) if name == "epochs" => *epochs = (*epochs / 10).max(1),
            Value::Table(inner) => shorten(inner),
            Value::Array(list) => list
                .iter_mut()
                .filter_map(Value::as_table_mut)
                .for_each(shorten),
            _ => {}
        }
    }
}

/// A second name of a file; a copy where there are no links.
fn link(file: &Path, name: &Path) -> bool {
    #[cfg(unix)]
    let linked = std::os::unix::fs::symlink(file, name);
    #[cfg(not(unix))]
    let linked = fs::copy(file, name).map(drop);
    linked.is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_studies_of_the_paper_are_found_with_their_data() {
        let studies = of_the_paper().unwrap();
        let find = |name: &str| studies.iter().find(|study| study.name == name).unwrap();
        let simulated = &find("lorenz96").simulations;
        assert_eq!(simulated.len(), 2);
        assert_eq!(
            simulated[0].last().unwrap(),
            find("lorenz96").data("train").unwrap()
        );
        assert_eq!(
            simulated[1].last().unwrap(),
            find("lorenz96").data("test").unwrap()
        );
        assert!(find("ecg").simulations.is_empty());
        assert!(studies.iter().all(|study| study.data("train").is_some()));
    }

    #[test]
    fn epochs_are_shortened_wherever_they_stand() {
        let text = "seeds = 2\n[settings]\nepochs = 50\n[[list]]\nepochs = 7\nname = \"a\"";
        let mut table: Table = text.parse().unwrap();
        shorten(&mut table);
        assert_eq!(table["settings"]["epochs"].as_integer(), Some(5));
        assert_eq!(table["list"][0]["epochs"].as_integer(), Some(1));
        assert_eq!(table["seeds"].as_integer(), Some(2));
    }
}
