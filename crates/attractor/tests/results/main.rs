//! The tables under `results/`, and all numbers on the pages that have marks (CONTRIBUTING.md, "A result"), say what the scores of the runs say, and the
//! files of scores are whole.
//!
//! `cargo xtask results` writes them anew: it runs this test with `UPDATE_RESULTS` set.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

mod marks;
mod queries;
mod sheet;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use attractor::study::{Scored, index, pack, unpack};
use attractor::table::{Beside, Table};

use queries::Results;
use sheet::{with_last, written};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a file with what it must say, or writes it.
fn must_say(path: &Path, text: &str) {
    let said = fs::read_to_string(path).unwrap_or_default();
    if said != text && env::var_os("UPDATE_RESULTS").is_some() {
        return fs::write(path, text).unwrap();
    }
    let place = path.display();
    let mut lines = said.lines().zip(text.lines()).enumerate();
    let first = lines.find(|(_, (is, must))| is != must);
    let first = first.map(|(i, (_, must))| format!(", line {}: {must}", i + 1));
    assert!(
        said == text,
        "{place} is not what the scores say; `cargo xtask results` writes it anew{}",
        first.unwrap_or_default()
    );
}

fn rendered(runs: &[Scored]) -> String {
    written(&Table::new(runs, &[], Beside::Paper).unwrap())
}

/// The files with this ending in some folders, in order.
fn files(folders: &[&str], ending: &str) -> Vec<PathBuf> {
    let folders = folders.iter().map(|folder| root().join(folder));
    let files = folders.flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == ending));
    files.sort();
    files
}

/// The files of all studies: those with rows, and those of searches.
fn studies() -> Vec<PathBuf> {
    files(&["results", "results/search"], "jsonl")
}

/// The tables of a study: of the last parameters and, where others were chosen, of those.
fn page(name: &str, runs: &[Scored]) -> String {
    let mut page = format!("# {name}\n\nLast parameters of every training:\n\n");
    page += &rendered(&with_last(runs));
    if runs.iter().any(|run| run.last.is_some()) {
        page += "\nParameters that were chosen:\n\n";
        page += &rendered(runs);
    }
    page
}

#[test]
fn tables_say_what_the_scores_say() {
    for study in studies() {
        let name = study.file_stem().unwrap().to_string_lossy();
        let page = page(&name, &index(&study).unwrap());
        must_say(&study.with_extension("md"), &page);
    }
}

#[test]
fn every_study_can_be_unpacked_and_packed_again() {
    let folder = tempfile::tempdir().unwrap();
    for study in studies() {
        let unpacked = folder.path().join(study.file_stem().unwrap());
        let again = unpacked.with_extension("jsonl");
        unpack(&study, &unpacked).unwrap();
        pack(&unpacked, &again).unwrap();
        assert!(
            fs::read(&again).unwrap() == fs::read(&study).unwrap(),
            "{}",
            study.display()
        );
    }
}

#[test]
fn pages_say_what_the_scores_say() {
    let studies = studies();
    let results = Results::read(studies.iter().map(PathBuf::as_path));
    let mut pages = files(&["docs", "docs/results"], "md");
    pages.push(root().join("README.md"));
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        must_say(&page, &marks::filled(&text, |query| results.answer(query)));
    }
}
