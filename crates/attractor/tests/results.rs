//! The tables under `results/`, and the overview in `docs/results.md`, say what the scores of the runs say.
//!
//! `cargo xtask results` writes them anew: it runs this test with `UPDATE_RESULTS` set.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use attractor::study::{Scored, index};
use attractor::table::{Beside, Format, Table};

/// The studies with rows of the paper, in the order of its tables, and what their data are called.
const STUDIES: [(&str, &str); 5] = [
    ("lorenz63", "Lorenz-63"),
    ("lorenz96", "Lorenz-96"),
    ("lorenz96-multiscale", "multiscale Lorenz-96"),
    ("ecg", "ECG"),
    ("eeg", "EEG"),
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

#[test]
fn tables_say_what_the_scores_say() {
    for folder in fs::read_dir(root().join("results")).unwrap() {
        let folder = folder.unwrap().path();
        let runs = index(&folder).unwrap();
        must_say(&folder.join("last.md"), &rendered(&with_last(&runs)));
        if runs.iter().any(|run| run.last.is_some()) {
            must_say(&folder.join("chosen.md"), &rendered(&runs));
        }
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
    let rows = cells(&rendered(runs));
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
        let runs = index(&root().join("results").join(study)).unwrap();
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
