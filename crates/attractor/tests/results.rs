//! The tables under `results/`, and the overview in `docs/results.md`, say what the scores of the runs say, and the files
//! of scores are whole.
//!
//! `cargo xtask results` writes them anew: it runs this test with `UPDATE_RESULTS` set.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use attractor::study::{Scored, index, pack, unpack};
use attractor::table::{Beside, Format, Table};

/// The studies with rows of the paper, in the order of its tables, and what their data are called.
const STUDIES: [(&str, &str); 13] = [
    ("lorenz63", "Lorenz-63"),
    ("lorenz63-methods", "Lorenz-63"),
    ("lorenz63-reservoir", "Lorenz-63"),
    ("lorenz63-sindy", "Lorenz-63"),
    ("lorenz96", "Lorenz-96"),
    ("lorenz96-methods", "Lorenz-96"),
    ("lorenz96-reservoir", "Lorenz-96"),
    ("lorenz96-sindy", "Lorenz-96"),
    ("lorenz96-multiscale", "multiscale Lorenz-96"),
    ("ecg", "ECG"),
    ("ecg-reservoir", "ECG"),
    ("eeg", "EEG"),
    ("eeg-reservoir", "EEG"),
];

const BEGIN: &str = "<!-- made by `cargo xtask results` -->\n";
const END: &str = "<!-- end -->\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compares a file with what it must say, or writes it.
fn must_say(path: &Path, text: &str) {
    if env::var_os("UPDATE_RESULTS").is_some() {
        return fs::write(path, text).unwrap();
    }
    let said = fs::read_to_string(path).unwrap_or_default();
    let place = path.display();
    assert!(
        said == text,
        "{place} is not what the scores say; `cargo xtask results` writes it anew"
    );
}

fn rendered(runs: &[Scored]) -> String {
    let table = Table::new(runs, &[], Beside::Paper).unwrap();
    let mut text = Vec::new();
    table.write(Format::Markdown, &mut text).unwrap();
    String::from_utf8(text).unwrap()
}

fn with_last(runs: &[Scored]) -> Vec<Scored> {
    runs.iter().cloned().map(Scored::with_last).collect()
}

/// The files of all studies: those with rows, then those of searches.
fn studies() -> Vec<PathBuf> {
    let folders = ["results", "results/search"].map(|folder| root().join(folder));
    let files = folders
        .iter()
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "jsonl"));
    files.sort();
    files
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

/// The cells of a table in Markdown, row by row.
fn cells(table: &str) -> Vec<Vec<String>> {
    let row = |line: &str| {
        let line = line.trim_matches('|').replace(r"\|", "");
        line.split('|')
            .map(|cell| cell.trim().to_string())
            .collect()
    };
    table.lines().map(row).collect()
}

/// One line for every row of ours under which a row of the paper's stands: ours and theirs, measure by measure.
fn lines(data: &str, kind: &str, runs: &[Scored]) -> Vec<String> {
    let mut rows = cells(&rendered(runs));
    // The overview has the medians of the paper's rule alone.
    rows.retain(|row| row[0] != "all that have one");
    let column = |name: &str| rows[0].iter().position(|head| head == name);
    let d_stsp = column("D_stsp (f32)").or(column("D_stsp")).unwrap();
    let measures = [d_stsp, column("D_H").unwrap(), column("PE(20)").unwrap()];
    let [seeds, dropped] = ["runs", "dropped"].map(|name| column(name).unwrap());
    let pair = |pair: &[Vec<String>]| {
        let [ours, theirs] = pair else { unreachable!() };
        let model = theirs[0].strip_prefix("paper: ")?;
        let (model, _) = model.split_once(" / ").unwrap();
        let scores = measures.map(|i| format!("{} | {}", ours[i], theirs[i]));
        let scores = scores.join(" | ");
        Some(format!(
            "| {data} | `{}`{kind} | {} | {} | {model} | {scores} |\n",
            ours[0], ours[seeds], ours[dropped]
        ))
    };
    rows.windows(2).filter_map(pair).collect()
}

fn overview() -> String {
    let mut text = String::from(
        "| data | row | seeds | dropped | row of the paper | D_stsp | paper | D_H | paper | PE(20) | paper |\n",
    );
    text += "| --- | --- | ---: | ---: | --- | ---: | --- | ---: | --- | ---: | --- |\n";
    for (study, data) in STUDIES {
        let runs = index(&root().join(format!("results/{study}.jsonl"))).unwrap();
        text.extend(lines(data, "", &with_last(&runs)));
        let chose: Vec<_> = runs.iter().filter(|run| run.last.is_some()).collect();
        let chose = |run: &&Scored| chose.iter().any(|other| other.name == run.name);
        let chosen: Vec<Scored> = runs.iter().filter(chose).cloned().collect();
        if !chosen.is_empty() {
            text.extend(lines(data, ", chosen", &chosen));
        }
    }
    text
}

#[test]
fn the_overview_says_what_the_tables_say() {
    let page = root().join("docs/results.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, rest) = text.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    must_say(&page, &[before, BEGIN, &overview(), END, after].concat());
}
