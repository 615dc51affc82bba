//! A study: many runs, described by one file.
//!
//! ```text
//! runs = (entries of the list) × (combinations of the grid) × seeds
//! ```
//!
//! A cell is an entry of the list with a combination of the grid; each has a folder, and in it one folder a seed. All
//! of a study is checked when it is read, so that an error is reported before anything runs.

mod cell;
mod error;
mod file;
mod folder;
mod judging;
mod packed;
mod scored;
mod sketch;

use std::env;
use std::fs;
use std::path::{self, Path, PathBuf};

use attractor_core::settings::nearest;

use crate::Error;
use crate::experiment::DataSource;

pub use cell::Cell;
pub use error::{StudyError, StudyFault};
pub(crate) use folder::{JOBS, LEVELS, ended, ended_beside, run_folder};
pub use folder::{Record, index};
pub use judging::Judging;
pub use packed::{Damage, pack, unpack};
pub use scored::{Measured, Scored};
pub(crate) use scored::{Parts, Reader, representatives};
pub use sketch::Sketch;

use file::StudyFile;

/// A checked study.
#[derive(Debug, Clone)]
pub struct Study {
    /// Its name.
    pub name: String,
    /// The training data.
    pub train: DataSource,
    /// The test data; else models are judged by the training data.
    pub test: Option<DataSource>,
    /// What is trained, in the order of the file.
    pub cells: Vec<Cell>,
    /// The seeds of every cell.
    pub seeds: Vec<u64>,
    /// How models are judged.
    pub judging: Judging,
}

impl Study {
    /// Reads and checks a file. Relative names of data count from `data_folder`, or else from the study's folder and
    /// then from the folder that the environment variable `ATTRACTOR_DATA` names.
    pub fn read(path: &Path, data_folder: Option<&Path>) -> Result<Study, Error> {
        let text = fs::read_to_string(path).map_err(|source| StudyError::Read {
            path: path.to_path_buf(),
            source,
        })?;
        Study::parse(&text, path, data_folder)
    }

    /// Checks what a file says.
    pub(crate) fn parse(
        text: &str,
        path: &Path,
        data_folder: Option<&Path>,
    ) -> Result<Study, Error> {
        let file = StudyFile::parse(text, path)?;
        let named = |name: &Path| found(name, path, data_folder);
        let test = file.test.as_ref().map(|name| named(Path::new(name)));
        let train = DataSource {
            path: named(&file.train.path)?,
            options: file.train.options.clone(),
            prepare: file.train.prepare.clone(),
        };
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        Ok(Study {
            name: file.name.clone().unwrap_or_else(|| stem.into_owned()),
            test: test.transpose()?.map(|path| DataSource {
                path,
                options: train.options.clone(),
                prepare: train.prepare.clone(),
            }),
            train,
            cells: cell::cells(&file, path)?,
            judging: Judging::check(&file)?,
            seeds: file.seeds,
        })
    }

    /// The folders of all runs of a study, or of entries of its list, from that of the study, without a look at its data.
    pub fn outline(path: &Path, only: &[String]) -> Result<Vec<PathBuf>, Error> {
        let text = fs::read_to_string(path).map_err(|source| StudyError::Read {
            path: path.to_path_buf(),
            source,
        })?;
        let file = StudyFile::parse(&text, path)?;
        let mut cells = cell::cells(&file, path)?;
        cells.retain(|cell| only.is_empty() || cell.is_of(only));
        let of_seed = |seed: &u64| {
            let folders = cells.iter().map(|cell| run_folder(&cell.folder, *seed));
            folders.collect::<Vec<_>>()
        };
        Ok(file.seeds.iter().flat_map(of_seed).collect())
    }

    /// The part of the study with entries of these names.
    pub fn only(mut self, names: &[String]) -> Result<Study, StudyError> {
        let known = || self.cells.iter().filter_map(|cell| cell.name.as_deref());
        if let Some(name) = names
            .iter()
            .find(|name| known().all(|other| other != *name))
        {
            let mut list: Vec<String> = known().map(String::from).collect();
            list.dedup();
            return Err(StudyError::UnknownEntry {
                name: name.clone(),
                near: nearest(name, known()).map(String::from),
                known: list,
            });
        }
        self.cells.retain(|cell| cell.is_of(names));
        Ok(self)
    }
}

/// The variable that names the folder of data.
const DATA_FOLDER: &str = "ATTRACTOR_DATA";

/// A file of data by its name in a study.
fn found(name: &Path, study: &Path, folder: Option<&Path>) -> Result<PathBuf, StudyError> {
    let beside = || study.parent().map(Path::to_path_buf);
    let of_environment = || env::var_os(DATA_FOLDER).map(PathBuf::from);
    let folders: Vec<PathBuf> = match folder {
        Some(folder) => vec![folder.to_path_buf()],
        None => beside().into_iter().chain(of_environment()).collect(),
    };
    let file = folders
        .iter()
        .map(|folder| folder.join(name))
        .find(|file| file.exists());
    let file = file.and_then(|file| path::absolute(file).ok());
    file.ok_or_else(|| StudyError::DataNotFound {
        data: name.to_path_buf(),
        path: study.to_path_buf(),
        folders,
    })
}
