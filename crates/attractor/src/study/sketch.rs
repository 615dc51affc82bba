//! A study of data in memory: written into its folder as a file that `attractor sweep` understands, with its data beside it, and made
//! ready to be run there.

use std::fs;
use std::path::{Path, PathBuf};

use super::{Record, Study, StudyError};
use crate::experiment::{quoted, reading_lines};
use crate::run::{Recording, fingerprint_of};
use crate::sweep::Sweep;
use crate::{Error, format, store};

const STUDY: &str = "study.toml";
const TRAIN: &str = "train.csv";
const TEST: &str = "test.csv";

/// Files of the folder that are written here.
pub(super) const FILES: [&str; 3] = [STUDY, TRAIN, TEST];

/// Names and values, as they would be typed.
type Pairs = Vec<(String, String)>;

/// What a study's file would say, but for its data.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Sketch {
    /// Its name; that of its folder if there is none.
    pub name: Option<String>,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// A preset of all runs.
    pub preset: Option<String>,
    /// Settings of all runs.
    pub settings: Pairs,
    /// Settings with several values each: every combination.
    pub grid: Vec<(String, Vec<String>)>,
    /// Combinations of settings, one by one.
    pub list: Vec<Pairs>,
    /// How models are judged.
    pub evaluation: Pairs,
    /// Parameters of the system that the data are from.
    pub system_set: Pairs,
}

impl Sketch {
    /// The study with its data, in a folder that is new, empty or of the same study.
    pub fn prepare(
        &self,
        folder: &Path,
        train: &Recording,
        test: Option<&Recording>,
    ) -> Result<Sweep, Error> {
        let mut made = Made::default();
        let prepared = self.prepare_with(folder, train, test, &mut made);
        if prepared.is_err() {
            made.remove();
        }
        prepared
    }

    fn prepare_with(
        &self,
        folder: &Path,
        train: &Recording,
        test: Option<&Recording>,
        made: &mut Made,
    ) -> Result<Sweep, Error> {
        let train = made.file_of(train, folder, TRAIN)?;
        let test = test.map(|test| made.file_of(test, folder, TEST));
        let text = self.to_toml(&self.named(folder)?, &train, test.transpose()?.as_ref());
        let path = folder.join(STUDY);
        let study = Study::parse(&text, &path, None)?;
        let sweep = Sweep::prepare(study, folder)?;
        made.make(folder)?;
        store::write_whole(&path, |out| out.write_all(text.as_bytes()))?;
        Ok(sweep)
    }

    /// Its name, else the one that its folder knows it by, since folders are renamed, else that of the folder.
    fn named(&self, folder: &Path) -> Result<String, Error> {
        let known = Record::find(folder)?.map(|record| record.name);
        let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_path_buf());
        let last = folder.file_name().unwrap_or_default().to_string_lossy();
        let known = self.name.clone().or(known);
        Ok(known.unwrap_or_else(|| last.into_owned()))
    }

    fn to_toml(&self, name: &str, train: &Recording, test: Option<&Recording>) -> String {
        let pair = |(name, text): &(String, String)| format!("{name} = {}\n", quoted(text));
        let pairs = |pairs: &Pairs| pairs.iter().map(pair).collect::<String>();
        let table = |name: &str, lines: String| match lines.as_str() {
            "" => String::new(),
            lines => format!("\n{name}\n{lines}"),
        };
        let seeds: Vec<String> = self.seeds.iter().map(u64::to_string).collect();
        let preset = self
            .preset
            .iter()
            .map(|name| format!("preset = {}\n", quoted(name)));
        let test = test.map(|test| quoted(&test.source.path.display().to_string()));
        let test = test.map_or(String::new(), |test| format!("test = {test}\n"));
        let axis = |(name, texts): &(String, Vec<String>)| {
            let words: Vec<String> = texts.iter().map(|text| quoted(text)).collect();
            format!("{name} = [{}]\n", words.join(", "))
        };
        let mut text = format!("name = {}\nseeds = [{}]\n", quoted(name), seeds.join(", "));
        text.extend(preset);
        text += &table("[data]", reading_lines(&train.source, "train") + &test);
        text += &table("[settings]", pairs(&self.settings));
        text += &table("[grid]", self.grid.iter().map(axis).collect());
        text.extend(
            self.list
                .iter()
                .map(|entry| format!("\n[[list]]\n{}", pairs(entry))),
        );
        text += &table("[evaluation]", pairs(&self.evaluation));
        text + &table("[evaluation.set]", pairs(&self.system_set))
    }
}

/// What was made, to be removed if the study cannot be.
#[derive(Debug, Default)]
struct Made {
    files: Vec<PathBuf>,
    folder: Option<PathBuf>,
}

impl Made {
    /// A recording as the file that it is read from; one in memory is written into the folder, unless it is there.
    fn file_of(
        &mut self,
        recording: &Recording,
        folder: &Path,
        name: &'static str,
    ) -> Result<Recording, Error> {
        if recording.is_on_disk() {
            let source = recording.source.absolute()?;
            return Ok(Recording::new(
                recording.series.clone(),
                source,
                recording.pipeline.clone(),
            ));
        }
        let path = std::path::absolute(folder.join(name)).unwrap_or_else(|_| folder.join(name));
        let kept = recording.kept_as(path.clone());
        if !path.exists() {
            format::losses(&path, &recording.series)?;
            self.make(folder)?;
            format::write(&path, &recording.series)?;
            self.files.push(path);
            return Ok(kept);
        }
        let found = format::read(&path, &kept.source.options)?;
        if fingerprint_of(&found) == recording.fingerprint() {
            return Ok(kept);
        }
        let which = if name == TRAIN { "training" } else { "test" };
        Err(StudyError::OtherData { which, path }.into())
    }

    fn make(&mut self, folder: &Path) -> Result<(), Error> {
        if folder.exists() {
            return Ok(());
        }
        fs::create_dir_all(folder).map_err(|source| Error::Write {
            path: folder.to_path_buf(),
            source,
        })?;
        self.folder = Some(folder.to_path_buf());
        Ok(())
    }

    /// Removes it; what cannot be removed does no harm.
    fn remove(&self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        if let Some(folder) = &self.folder {
            let _ = fs::remove_dir(folder);
        }
    }
}
