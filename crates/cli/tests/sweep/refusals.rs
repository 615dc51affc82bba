//! What `attractor sweep` and `attractor table` refuse, leaving everything as it was.

use std::fs;
use std::path::Path;

use super::{STUDY, files, folder, said};

/// Tries what must not work: exit code 2, these words, and nothing written.
pub(super) fn refused(here: &Path, arguments: &str, words: &[&str]) {
    let before = files(here, &[]);
    let (out, notes) = said(here, arguments, 2);
    assert!(out.is_empty());
    for word in words {
        assert!(notes.contains(word), "{arguments}: {notes}");
    }
    assert!(files(here, &[]) == before, "{arguments}");
}

/// What is replaced in the study, by what, and what is said then.
const WRONG: &[(&str, &str, &[&str])] = &[
    (
        "alpha = [",
        "aplha = [",
        &[
            "unknown setting `aplha` (line 18 of s.toml)",
            "did you mean `alpha`?",
        ],
    ),
    (
        "alpha = [0.1, 0.3]\n",
        "",
        &["[grid] is empty (line 17 of s.toml)"],
    ),
    (
        "seeds = 3",
        "seeds = []",
        &["`seeds` is empty: nothing would be run (line 2 of s.toml)"],
    ),
    (
        "window = 20",
        "window = 600",
        &[
            "a window of 600 steps needs 601 rows",
            "train.csv",
            "hint: use `window = 499` or less",
        ],
    ),
    (
        "starts = 2",
        "pe-steps = 600",
        &[
            "601 rows needed, found 500",
            "hint: give more rows, or forecast fewer steps with `pe-steps = 499`",
        ],
    ),
    (
        "floors = false",
        "system = 'lorenz96'",
        &["`lorenz96` has 20 channels, the truth has 3"],
    ),
    ("test = 'test.csv'", "test = 's.toml'", &["s.toml"]),
    // Alpha does not act under adaptive forcing: both cells would train the same.
    (
        "window = 20",
        "window = 20\nforcing = 'agtf'",
        &["the cells `alpha=0.1` and `alpha=0.3` train the same"],
    ),
    (
        "seeds = 3\n",
        "",
        &["the study has no `seeds`", "hint: give a number of seeds"],
    ),
    (
        "seeds = 3",
        "seeds = 60000",
        &["the study has 120000 runs, more than 100000"],
    ),
    (
        "alpha = [0.1, 0.3]",
        "alpha = 0.1",
        &[
            "`alpha` must be a list of values",
            "hint: write `alpha = […]`",
        ],
    ),
    (
        "name = 'small'",
        "name = \"a\\nb\"",
        &["`name` must be one line of text"],
    ),
];

#[test]
fn mistakes_are_told_and_nothing_is_written() {
    let folder = folder(str::to_string);
    let here = folder.path();
    let study = |change: &dyn Fn(String) -> String| {
        fs::write(here.join("s.toml"), change(STUDY.to_string())).unwrap();
    };
    for (old, new, words) in WRONG {
        study(&|text| text.replace(old, new));
        refused(here, "sweep s.toml --out d", words);
    }
    study(&|text| text);
    refused(
        here,
        "sweep none.toml --out d",
        &["no such file: none.toml"],
    );
    refused(
        here,
        "sweep s.toml --out .",
        &[
            "the folder holds something other than a study: .",
            "hint: name another folder",
        ],
    );
    refused(
        here,
        "sweep s.toml --out s.toml",
        &["expected a folder, found a file: s.toml"],
    );
    let makes = "hint: `attractor sweep STUDY --out DIR` makes one";
    refused(here, "table d", &["no such folder: d", makes]);
    refused(here, "table .", &["no study in this folder: .", makes]);
}

#[test]
fn a_run_counts_once() {
    let folder = folder(|study| study.replace("seeds = 3", "seeds = 2"));
    let here = folder.path();
    let again = "sweep s.toml --out d";
    said(here, again, 0);
    let run = |cell: &str, seed: u64| here.join(format!("d/{cell}/seed-0{seed}/scores.json"));
    // A copy of a run, under another name.
    let copy = here.join("d/alpha=0.1/seed-01-backup");
    fs::create_dir(&copy).unwrap();
    fs::copy(run("alpha=0.1", 1), copy.join("scores.json")).unwrap();
    refused(
        here,
        "table d",
        &[
            "the same seed: d/alpha=0.1/seed-01 and d/alpha=0.1/seed-01-backup",
            "hint: move one of them elsewhere",
        ],
    );
    fs::remove_dir_all(&copy).unwrap();
    // The scores of another seed.
    let scores = fs::read(run("alpha=0.1", 1)).unwrap();
    fs::copy(run("alpha=0.1", 2), run("alpha=0.1", 1)).unwrap();
    refused(here, "table d", &["the same seed: d/alpha=0.1/seed-01 and"]);
    refused(
        here,
        again,
        &["have been changed since they were written: d/alpha=0.1/seed-01/scores.json"],
    );
    fs::write(run("alpha=0.1", 1), scores).unwrap();
    said(here, "table d", 0);
}

#[test]
fn runs_that_are_there_under_another_name_are_not_trained_again() {
    let folder = folder(|study| study.replace("seeds = 3", "seeds = 1"));
    let here = folder.path();
    let again = "sweep s.toml --out d";
    said(here, again, 0);
    let study = fs::read_to_string(here.join("s.toml")).unwrap();
    let grown = study.replace("0.3]", "0.3]\nhidden = [10, 12]");
    fs::write(here.join("s.toml"), grown).unwrap();
    let old = files(here, &["scores.json"]).len();
    for alpha in ["0.1", "0.3"] {
        let (before, now) = (
            format!("d/alpha={alpha}"),
            format!("d/alpha={alpha},hidden=10"),
        );
        refused(
            here,
            again,
            &[
                &format!("the run is there already, in {before}/seed-01: {now}/seed-01"),
                &format!("hint: rename {before} to {now}"),
            ],
        );
        fs::rename(here.join(before), here.join(now)).unwrap();
    }
    let (_, notes) = said(here, again, 0);
    assert!(notes.contains("4 of 4 runs are done"), "{notes}");
    assert_eq!(files(here, &["scores.json"]).len(), old + 2);
}

#[test]
fn a_folder_that_does_not_fit_is_left_alone() {
    let folder = folder(|study| study.replace("seeds = 3", "seeds = 1"));
    let here = folder.path();
    said(here, "sweep s.toml --out d --quiet", 0);
    let study = fs::read_to_string(here.join("s.toml")).unwrap();
    let change =
        |old: &str, new: &str| fs::write(here.join("s.toml"), study.replace(old, new)).unwrap();
    let again = "sweep s.toml --out d";
    change("'small'", "'other'");
    refused(
        here,
        again,
        &["the folder holds the study `small`, not `other`: d"],
    );
    change("starts = 2", "starts = 3");
    refused(
        here,
        again,
        &[
            "judged with `starts = 2`, not with `starts = 3`: d",
            "hint: undo the change to [evaluation]",
        ],
    );
    change("hidden = 10", "hidden = 11");
    refused(
        here,
        again,
        &["the folder holds another run, its `hidden` is 10, not 11: d/alpha=0.1/seed-01"],
    );
    change("", "");
    // A run that was edited by hand, judged or not.
    let scores = here.join("d/alpha=0.3/seed-01/scores.json");
    let experiment = here.join("d/alpha=0.3/seed-01/experiment.toml");
    let settings = fs::read_to_string(&experiment).unwrap();
    fs::write(&experiment, settings.replace("lr = 0.005", "lr = 0.006")).unwrap();
    refused(
        here,
        again,
        &["its `lr` is 0.006, not 0.005: d/alpha=0.3/seed-01"],
    );
    fs::remove_file(&scores).unwrap();
    fs::write(&experiment, settings.replace("[data]", "[data]\ndt = 2")).unwrap();
    refused(
        here,
        again,
        &["its data are read in another way: d/alpha=0.3/seed-01"],
    );
    fs::write(&experiment, &settings).unwrap();
}

#[test]
fn a_study_that_loses_its_test_data_is_refused() {
    let folder = folder(|study| study.replace("seeds = 3", "seeds = 1"));
    let here = folder.path();
    said(here, "sweep s.toml --out d --quiet", 0);
    let study = fs::read_to_string(here.join("s.toml")).unwrap();
    let without = study.replace("test = 'test.csv'\n", "");
    fs::write(here.join("s.toml"), &without).unwrap();
    refused(
        here,
        "sweep s.toml --out d",
        &[
            "judged with test data, not with the training data: d",
            "hint: undo the change to [evaluation] or to `test`",
        ],
    );
    said(here, "sweep s.toml --out e --quiet", 0);
    fs::write(here.join("s.toml"), &study).unwrap();
    refused(
        here,
        "sweep s.toml --out e",
        &["judged with the training data, not with test data: e"],
    );
}

#[test]
fn what_is_not_ours_or_damaged_is_left_alone() {
    let folder = folder(|study| study.replace("seeds = 3", "seeds = 1"));
    let here = folder.path();
    said(here, "sweep s.toml --out d --quiet", 0);
    let study = fs::read_to_string(here.join("s.toml")).unwrap();
    let change =
        |old: &str, new: &str| fs::write(here.join("s.toml"), study.replace(old, new)).unwrap();
    let again = "sweep s.toml --out d";
    // What has no place in a run's folder.
    change("[0.1, 0.3]", "[0.1, 0.3, 0.5]");
    fs::create_dir_all(here.join("d/alpha=0.5/seed-01")).unwrap();
    fs::write(here.join("d/alpha=0.5/seed-01/precious.txt"), "x").unwrap();
    refused(
        here,
        again,
        &["the folder for the run is not empty: d/alpha=0.5/seed-01"],
    );
    fs::remove_dir_all(here.join("d/alpha=0.5")).unwrap();
    // Scores that were cut.
    let scores = here.join("d/alpha=0.3/seed-01/scores.json");
    let whole = fs::read(&scores).unwrap();
    fs::write(&scores, &whole[..whole.len() / 2]).unwrap();
    refused(
        here,
        again,
        &[
            "the scores of a run cannot be read: d/alpha=0.3/seed-01/scores.json",
            "hint: remove this file",
        ],
    );
    fs::remove_file(&scores).unwrap();
    fs::create_dir(&scores).unwrap();
    refused(
        here,
        again,
        &["expected a file, found a folder: d/alpha=0.3"],
    );
    fs::remove_dir(&scores).unwrap();
    change("", "");
    said(here, again, 0);
    assert!(fs::read(&scores).unwrap() == whole);
}

#[test]
fn scores_that_were_changed_are_refused() {
    let folder = folder(|study| study.replace("seeds = 3", "seeds = 1"));
    let here = folder.path();
    let sweep = "sweep s.toml --out d";
    said(here, sweep, 0);
    let scores = here.join("d/alpha=0.3/seed-01/scores.json");
    let text = fs::read_to_string(&scores).unwrap();
    let (_, value) = text.split_once("\"value\": ").unwrap();
    let (value, _) = value.split_once([',', '\n']).unwrap();
    fs::write(&scores, text.replacen(value, &format!("{value}1"), 1)).unwrap();
    let changed = [
        "the scores of a run have been changed since they were written: d/alpha=0.3/seed-01/scores.json",
        "hint: restore the old file, or remove it",
    ];
    for command in [sweep, "table d"] {
        refused(here, command, &changed);
    }
    let without = |fields: &[&str]| -> String {
        let is_left = |line: &&str| !fields.iter().any(|field| line.contains(field));
        text.split_inclusive('\n').filter(is_left).collect()
    };
    fs::write(&scores, without(&["\"fingerprint\""])).unwrap();
    refused(here, "table d", &changed);
    // A file from before there was a fingerprint, with a number that became a text.
    let old = without(&["\"fingerprint\"", "\"numerics\""]);
    fs::write(&scores, &old).unwrap();
    said(here, "table d", 0);
    let quoted = format!("\"{value}\"");
    fs::write(&scores, old.replacen(value, &quoted, 1)).unwrap();
    refused(here, "table d", &["the scores of a run cannot be read"]);
    fs::write(&scores, &text).unwrap();
    said(here, sweep, 0);
}

#[test]
fn runs_of_data_that_changed_are_left_alone() {
    let folder = folder(|study| study.replace("seeds = 3", "seeds = 1"));
    let here = folder.path();
    said(here, "sweep s.toml --out d --quiet", 0);
    let again = "sweep s.toml --out d";
    let data = fs::read_to_string(here.join("test.csv")).unwrap();
    fs::write(
        here.join("test.csv"),
        data.trim_end().rsplit_once('\n').unwrap().0,
    )
    .unwrap();
    refused(
        here,
        again,
        &[
            "the test data have changed since the runs were made: ",
            "test.csv",
        ],
    );
    fs::write(here.join("test.csv"), data).unwrap();
    fs::copy(here.join("test.csv"), here.join("train.csv")).unwrap();
    refused(
        here,
        again,
        &[
            "the training data have changed since the runs were made: ",
            "hint: restore the old file",
        ],
    );
}

#[test]
fn a_run_of_other_data_is_refused_judged_or_not() {
    let folder = folder(|study| study.replace("seeds = 3", "seeds = 1"));
    let here = folder.path();
    said(here, "sweep s.toml --out d --quiet", 0);
    // The same study of other data, and a run of it among those of the first.
    let other = here.join("other");
    fs::create_dir(&other).unwrap();
    for (from, to) in [
        ("train.csv", "test.csv"),
        ("test.csv", "train.csv"),
        ("s.toml", "s.toml"),
    ] {
        fs::copy(here.join(from), other.join(to)).unwrap();
    }
    said(here, "sweep other/s.toml --out e --quiet", 0);
    let run = here.join("d/alpha=0.3/seed-01");
    fs::remove_dir_all(&run).unwrap();
    fs::rename(here.join("e/alpha=0.3/seed-01"), &run).unwrap();
    let told = "the run was trained on other data: d/alpha=0.3/seed-01";
    refused(
        here,
        "sweep s.toml --out d",
        &[told, "hint: restore the old data"],
    );
    refused(
        here,
        "table d",
        &["runs of different data are in one folder: d/alpha=0.1/seed-01 and d/alpha=0.3"],
    );
    fs::remove_file(run.join("scores.json")).unwrap();
    let (_, notes) = said(here, "sweep s.toml --out d", 2);
    assert!(notes.contains(told), "{notes}");
    assert!(!run.join("scores.json").exists());
}

#[test]
fn the_record_of_a_study_is_written_once_and_made_anew_from_its_runs() {
    let folder = folder(|study| study.replace("seeds = 3", "seeds = 1"));
    let here = folder.path();
    let sweep = "sweep s.toml --out d";
    said(here, sweep, 0);
    let record = here.join("d/study.json");
    let before = fs::read(&record).unwrap();
    fs::remove_file(&record).unwrap();
    said(here, sweep, 0);
    assert!(fs::read(&record).unwrap() == before);
    // Without it, runs that were judged in another way are still known by their scores.
    let study = fs::read_to_string(here.join("s.toml")).unwrap();
    fs::remove_file(&record).unwrap();
    fs::write(
        here.join("s.toml"),
        study.replace("starts = 2", "starts = 2\npe-steps = 5"),
    )
    .unwrap();
    refused(
        here,
        sweep,
        &["judged with `pe-steps = 20`, not with `pe-steps = 5`"],
    );
    fs::write(&record, "{\"schema\": 99}").unwrap();
    refused(
        here,
        sweep,
        &[
            "the record of the study cannot be read: d/study.json",
            "hint: remove this file",
        ],
    );
}
