//! A study in one file: what it holds, and what is refused of it.

use std::fs;
use std::path::Path;

use attractor::study::{pack, unpack};

use super::refusals::refused;
use super::{files, folder, said};

const KEPT: [&str; 2] = ["scores.json", "study.json"];

/// Two runs of two cells each, in `d` and packed in `d.jsonl`.
fn packed() -> tempfile::TempDir {
    let folder = folder(|study| study.replace("seeds = 3", "seeds = 2"));
    let here = folder.path();
    said(here, "sweep s.toml --out d --quiet", 0);
    let runs = pack(&here.join("d"), &here.join("d.jsonl"));
    assert_eq!(runs.unwrap(), 4);
    folder
}

fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

#[test]
fn packing_and_unpacking_are_inverse() {
    let folder = packed();
    let [d, e] = ["d", "e"].map(|name| folder.path().join(name));
    let [packed, again] = ["d.jsonl", "e.jsonl"].map(|name| folder.path().join(name));
    assert_eq!(text(&packed).lines().count(), 1 + 4);
    assert_eq!(unpack(&packed, &e).unwrap(), 4);
    assert!(files(&e, &[]) == files(&d, &KEPT));
    pack(&e, &again).unwrap();
    assert_eq!(text(&again), text(&packed));
    // What is there is not written over.
    let refused = unpack(&packed, &e).unwrap_err();
    assert!(refused.to_string().starts_with("the folder is not empty: "));
}

#[test]
fn a_packed_study_is_shown_and_gone_on_with() {
    let folder = packed();
    let here = folder.path();
    for flags in ["", "--json", "--model last --format csv"] {
        let [of_folder, of_file] =
            ["d", "d.jsonl"].map(|study| said(here, &format!("table {study} {flags}"), 0));
        assert_eq!(of_folder, of_file);
    }
    unpack(&here.join("d.jsonl"), &here.join("e")).unwrap();
    let more = text(&here.join("s.toml")).replace("seeds = 2", "seeds = 3");
    fs::write(here.join("s.toml"), more).unwrap();
    let notes = said(here, "sweep s.toml --out e", 0).1;
    // A line for each of the two new runs, and one at the end.
    assert_eq!(notes.lines().count(), 3, "{notes}");
    assert!(notes.contains("6 of 6 runs are done"), "{notes}");
    said(here, "sweep s.toml --out d --quiet", 0);
    assert!(files(&here.join("e"), &KEPT) == files(&here.join("d"), &KEPT));
}

/// What is replaced, by what, and what is said then.
const WRONG: &[(&str, &str, &str)] = &[
    (
        "\"outcome\":\"finished\"",
        "\"outcome\":\"diverged\"",
        "the scores of the run have been changed since they were written (line 2 of",
    ),
    (
        "\"fingerprint\":",
        "\"finger\":",
        "the scores of the run have been changed since they were written (line 2 of",
    ),
    (
        "\"run\":\"alpha=0.1/seed-01\"",
        "\"run\":\"alpha=0.1/seed-03\"",
        "expected the folder and the scores of a run (line 2 of",
    ),
    (
        "\"run\":\"alpha=0.1/seed-01\"",
        "\"run\":\"../seed-01\"",
        "expected the folder and the scores of a run (line 2 of",
    ),
    (
        "{\"run\":",
        "{",
        "expected the folder and the scores of a run (line 2 of",
    ),
    (
        "\"study\":\"small\"",
        "\"study\":\"large\"",
        "the study, data or judging of the run are not those of the first line (line 2 of",
    ),
    (
        "\"schema\":1",
        "\"schema\":9",
        "expected the record of a study (line 1 of",
    ),
];

#[test]
fn a_line_that_was_changed_is_refused() {
    let folder = packed();
    let here = folder.path();
    let path = here.join("d.jsonl");
    let whole = text(&path);
    let is_refused = |text: String, words: &str| {
        fs::write(&path, text).unwrap();
        refused(here, "table d.jsonl", &[words]);
        assert!(unpack(&path, &here.join("f")).is_err());
        assert!(!here.join("f").exists());
    };
    for (old, new, words) in WRONG {
        assert!(whole.contains(old), "{old}");
        is_refused(whole.replacen(old, new, 1), words);
    }
    let lines: Vec<&str> = whole.lines().collect();
    let twice = [&whole, lines[4], "\n"].concat();
    is_refused(
        twice,
        "the run `alpha=0.3/seed-02` appears twice (line 6 of",
    );
    let cut = &whole[..whole.len() - 9];
    is_refused(
        cut.to_string(),
        "a run (line 5 of d.jsonl)\nhint: restore the file",
    );
    is_refused(String::new(), "expected the record of a study (line 1 of");
    fs::write(&path, format!("{}\n", lines[0])).unwrap();
    refused(here, "table d.jsonl", &["no run of this study has ended"]);
    refused(here, "table none.jsonl", &["no such file: none.jsonl"]);
}
