//! `list`, `explain` and `cite`, run as a user runs them, over everything that can be named.

#![allow(
    clippy::unwrap_used,
    reason = "a helper of a test fails as a test does"
)]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn attractor(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_attractor"))
        .args(args)
        .output()
        .unwrap()
}

/// Standard output of a run that succeeds.
fn stdout(args: &[&str]) -> String {
    let output = attractor(args);
    assert!(output.status.success(), "{args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Everything that can be named, as `list --json` gives it.
fn entries() -> Vec<Value> {
    serde_json::from_str(&stdout(&["list", "--json"])).unwrap()
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap()
}

#[test]
fn names_are_listed_once_under_their_kind() {
    let mut names: Vec<String> = entries().iter().map(|e| text(e, "name").into()).collect();
    let page = stdout(&["list"]);
    for entry in entries() {
        let of_kind = stdout(&["list", text(&entry, "kind")]);
        assert!(
            of_kind.contains(text(&entry, "summary")) && page.contains(text(&entry, "summary"))
        );
    }
    names.sort();
    names.dedup();
    assert_eq!(names.len(), entries().len());
}

#[test]
fn every_entry_is_explained_with_all_its_settings() {
    for entry in entries() {
        let page = stdout(&["explain", text(&entry, "name")]);
        assert!(page.contains(text(&entry, "summary")));
        for setting in entry["settings"].as_array().unwrap() {
            for field in ["name", "default", "range", "about"] {
                assert!(page.contains(text(setting, field)), "{setting} in\n{page}");
            }
        }
    }
}

#[test]
fn every_entry_is_cited_by_its_references_in_order() {
    for entry in entries() {
        let page = stdout(&["cite", text(&entry, "name")]);
        let keys: Vec<String> = page
            .lines()
            .filter(|line| line.starts_with('@'))
            .map(|line| line.split(['{', ',']).nth(1).unwrap().to_string())
            .collect();
        assert_eq!(serde_json::json!(keys), entry["references"], "{page}");
    }
}

#[test]
fn without_a_name_the_program_and_its_paper_are_cited() {
    let page = stdout(&["cite"]);
    assert!(page.starts_with("@misc{attractor,"));
    assert!(page.contains(concat!("version ", env!("CARGO_PKG_VERSION"))));
    assert!(page.contains("@inproceedings{hess2023,"));
    assert_eq!(page, stdout(&["cite", "attractor"]));
    assert_eq!(page, stdout(&["cite", "attractor", "attractor"]));
}

#[test]
fn methods_are_cited_by_their_verb() {
    let page = stdout(&["cite", "analyze"]);
    for key in ["benettin1980", "kaplan1979", "eisenmann2023"] {
        assert!(page.contains(&format!("{{{key},")), "{key} in {page}");
    }
    assert!(page.contains("Bifurcations and Loss Jumps in {RNN} Training"));
}

#[test]
fn values_and_presets_of_training_are_explained() {
    for (value, setting) in [("agtf", "forcing"), ("exp-log", "alpha-estimator")] {
        let page = stdout(&["explain", value]);
        assert!(page.contains(&format!("\n  {setting} = ")), "{page}");
    }
    let page = stdout(&["explain", "best"]);
    assert!(page.contains("\n  best-by = d_stsp\n"), "{page}");
    // What is in a list is explained as such, also where it is the value of a setting.
    assert!(stdout(&["explain", "d_stsp"]).starts_with("d_stsp (one of the measures)"));
}

#[test]
fn words_of_the_output_and_verbs_are_explained() {
    assert!(stdout(&["explain", "Chance", "level"]).starts_with("chance (a word of the output)"));
    let page = stdout(&["explain", "demo"]);
    assert!(page.starts_with("demo (a verb of `attractor`)"), "{page}");
}

/// Every verb has a page, and the completions know the words that a setting can be.
#[test]
fn completions_and_man_pages_are_installed_where_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let shells = ["bash", "zsh", "fish", "elvish", "powershell"];
    let files = [
        "attractor",
        "_attractor",
        "attractor.fish",
        "attractor.elv",
        "attractor.ps1",
    ];
    for (shell, file) in shells.into_iter().zip(files) {
        let home = folder.path().join(shell);
        let run = |arguments: &[&str]| {
            let mut command = Command::new(env!("CARGO_BIN_EXE_attractor"));
            command
                .env("HOME", &home)
                .env_remove("XDG_DATA_HOME")
                .env_remove("XDG_CONFIG_HOME");
            let output = command
                .args(["completions", shell])
                .args(arguments)
                .output()
                .unwrap();
            assert!(output.status.success(), "{output:?}");
            output
        };
        let told = String::from_utf8(run(&[]).stderr).unwrap();
        let (_, path) = told.lines().next().unwrap().split_once(": ").unwrap();
        assert!(
            Path::new(path).starts_with(&home) && path.ends_with(file),
            "{told}"
        );
        let script = fs::read_to_string(path).unwrap();
        assert!(script.contains("alpha-estimator") && script.contains("line-search"));
        assert!(
            shell == "powershell" || script.contains("arithmetic-mean"),
            "{shell}"
        );
        assert_eq!(run(&["--print"]).stdout, script.as_bytes());
        let one = folder.path().join("one").join(shell);
        run(&["--dir", one.to_str().unwrap()]);
        let pages = fs::read_dir(one.join("man1")).unwrap().count();
        let verbs = stdout(&["--help"])
            .lines()
            .filter(|line| line.starts_with("  ") && !line.starts_with("  -"))
            .count();
        assert_eq!(pages, verbs + 1);
    }
}

#[test]
fn an_unknown_name_is_a_mistake_with_a_hint() {
    for verb in ["explain", "cite"] {
        let output = attractor(&[verb, "qqqq"]);
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(
            told.starts_with("error: no ") && told.contains("`qqqq`"),
            "{told}"
        );
        assert!(told.contains("hint: `attractor list`"), "{told}");
    }
}

#[test]
fn a_mistyped_name_gets_the_near_one_as_hint() {
    for entry in entries() {
        let name = text(&entry, "name");
        let output = attractor(&["explain", &format!("{name}q")]);
        let told = String::from_utf8(output.stderr).unwrap();
        assert!(told.contains("hint: did you mean `"), "{name}: {told}");
    }
    for (mistyped, meant) in [
        ("hiden", "hidden"),
        ("heatmap", "heat-map"),
        ("agtff", "agtf"),
        ("best-atractor", "best-attractor"),
    ] {
        let output = attractor(&["explain", mistyped]);
        let told = String::from_utf8(output.stderr).unwrap();
        let hint = format!("hint: did you mean `{meant}`?");
        assert!(told.contains(&hint), "{told}");
    }
}

#[test]
fn an_unknown_kind_is_a_mistake() {
    assert_eq!(attractor(&["list", "planets"]).status.code(), Some(2));
}
