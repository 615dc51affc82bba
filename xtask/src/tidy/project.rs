//! Rules for the repository as a whole.

use super::source::words;
use super::{Finding, Tree};
use std::collections::BTreeSet;

/// The largest file, in bytes.
const LARGEST: u64 = 1_000_000;

/// Beginnings of paths that exist on one machine only, split so that this file does not hold them.
const MACHINE_PATHS: [&str; 5] = [
    concat!("/ho", "me/"),
    concat!("/ro", "ot/"),
    concat!("/wo", "rk/"),
    concat!("/Use", "rs/"),
    concat!("C:\\", "Users"),
];

/// A path of somebody's machine means nothing elsewhere.
pub(crate) fn no_path_of_a_machine(tree: &Tree) -> Vec<Finding> {
    each_line(tree, |line| {
        let path = MACHINE_PATHS.into_iter().find(|path| begins_in(line, path));
        path.map(|path| format!("`{path}…` is a path of one machine"))
    })
}

/// Whether a path begins somewhere in the line, rather than goes on there.
fn begins_in(line: &str, path: &str) -> bool {
    let goes_on = |c: char| c.is_alphanumeric() || "._-~}>)*".contains(c);
    line.match_indices(path)
        .any(|(at, _)| !line[..at].ends_with(goes_on))
}

/// Spaces that nobody sees.
pub(crate) fn no_trailing_space(tree: &Tree) -> Vec<Finding> {
    each_line(tree, |line| {
        line.ends_with(char::is_whitespace)
            .then(|| "white space at the end of the line".to_string())
    })
}

/// Data live elsewhere.
pub(crate) fn no_large_file(tree: &Tree) -> Vec<Finding> {
    let large = tree.files.iter().filter(|file| file.bytes > LARGEST);
    large
        .map(|file| {
            Finding::about(
                &file.path,
                format!("{} bytes, more than {LARGEST}", file.bytes),
            )
        })
        .collect()
}

/// A file of tests is a module of the one binary of its crate, or a binary of its own in the manifest: else nothing runs it.
pub(crate) fn every_test_is_run(tree: &Tree) -> Vec<Finding> {
    let paths = tree.texts().map(|(path, _)| path);
    let is_left = |path: &&str| {
        let Some((folder, file)) = path.split_once("/tests/") else {
            return false;
        };
        let Some(name) = file
            .strip_suffix("/main.rs")
            .or_else(|| file.strip_suffix(".rs"))
        else {
            return false;
        };
        let one = tree.text(&format!("{folder}/tests/all.rs"));
        let manifest = tree.text(&format!("{folder}/Cargo.toml"));
        let has = |text: Option<&str>, line: String| text.is_some_and(|text| text.contains(&line));
        let is_nested = name.contains('/');
        let is_run = has(one, format!("mod {name};")) || has(manifest, format!("tests/{file}"));
        one.is_some() && name != "all" && !is_nested && !is_run
    };
    paths
        .filter(is_left)
        .map(|path| {
            Finding::about(
                path,
                "no binary runs these tests: add a line to tests/all.rs",
            )
        })
        .collect()
}

/// The bibliography, which the crate of this folder embeds.
const BIBLIOGRAPHY: &str = "crates/attractor/refs.bib";

/// Every key of `refs.bib` is cited in the code or on a page.
pub(crate) fn every_reference_is_used(tree: &Tree) -> Vec<Finding> {
    let bibliography = tree.text(BIBLIOGRAPHY).unwrap_or_default();
    let is_read = |path: &str| path.ends_with(".rs") || path.ends_with(".md");
    let texts = tree.texts().filter(|(path, _)| is_read(path));
    let known: Vec<BTreeSet<String>> = texts.map(|(_, text)| lower_words(text)).collect();
    let is_used = |key: &str| known.iter().any(|words| cites(words, key));
    let keys = bibliography.lines().enumerate().filter_map(|(i, line)| {
        let (_, rest) = line.strip_prefix('@')?.split_once('{')?;
        Some((i, rest.trim_end_matches(',').trim()))
    });
    keys.filter(|(_, key)| !is_used(key))
        .map(|(i, key)| Finding::at(BIBLIOGRAPHY, i, format!("`{key}` is cited nowhere")))
        .collect()
}

/// The words of a text, each once, in small letters.
fn lower_words(text: &str) -> BTreeSet<String> {
    words(text)
        .map(|(_, word)| word.to_ascii_lowercase())
        .collect()
}

/// Whether a text with these words has the key `hess2023`, or the name and the year as in "Hess et al. 2023".
fn cites(words: &BTreeSet<String>, key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let (name, year) = key.split_at(key.find(|c: char| c.is_ascii_digit()).unwrap_or(key.len()));
    let has = |wanted: &str| words.contains(wanted);
    has(&key) || (has(name) && has(year))
}

/// The changelog has a place for what comes next, and for numbers that change.
pub(crate) fn the_changelog_is_open(tree: &Tree) -> Vec<Finding> {
    let text = tree.text("CHANGELOG.md").unwrap_or_default();
    let unreleased = text
        .split("\n## ")
        .find(|section| section.starts_with("[Unreleased]"));
    let message = match unreleased {
        None => "no section `## [Unreleased]`",
        Some(section) if !section.contains("\n### Numerical changes\n") => {
            "no `### Numerical changes` under `## [Unreleased]`"
        }
        Some(_) => return Vec::new(),
    };
    vec![Finding::about("CHANGELOG.md", message)]
}

/// A page that no other page leads to is not read.
pub(crate) fn every_page_is_linked(tree: &Tree) -> Vec<Finding> {
    let index = ["README.md", "docs/README.md"];
    let linked: Vec<String> = index
        .iter()
        .filter_map(|page| Some(links(page, tree.text(page)?)))
        .flatten()
        .map(|(_, target)| target)
        .collect();
    let pages = tree.texts().map(|(path, _)| path);
    pages
        .filter(|path| {
            path.starts_with("docs/")
                && path.ends_with(".md")
                && !linked.contains(&path.to_string())
        })
        .map(|path| Finding::about(path, "linked from neither README.md nor docs/README.md"))
        .collect()
}

/// A link to a file of the repository leads to one.
pub(crate) fn links_lead_somewhere(tree: &Tree) -> Vec<Finding> {
    let exists = |target: &str| {
        let folder = format!("{}/", target.trim_end_matches('/'));
        tree.files
            .iter()
            .any(|file| file.path == target || file.path.starts_with(&folder))
    };
    let mut findings = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.ends_with(".md")) {
        let broken = links(path, text)
            .into_iter()
            .filter(|(_, target)| !exists(target));
        findings.extend(
            broken.map(|(i, target)| Finding::at(path, i, format!("no such file: {target}"))),
        );
    }
    findings
}

/// The links of a page to files of the repository: line indices, and paths from the root.
fn links(page: &str, text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (i, line) in text.lines().enumerate() {
        for rest in line.split("](").skip(1) {
            let target = rest.split([')', '#', ' ']).next().unwrap_or_default();
            if !target.is_empty() && !target.contains(':') {
                found.push((i, resolve(page, target)));
            }
        }
    }
    found
}

/// The path from the root that a relative link of a page leads to.
fn resolve(page: &str, target: &str) -> String {
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

/// Findings among all lines of all our texts.
fn each_line(tree: &Tree, judge: impl Fn(&str) -> Option<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (path, text) in tree.texts() {
        for (i, line) in text.lines().enumerate() {
            findings.extend(judge(line).map(|message| Finding::at(path, i, message)));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::Tracked;

    fn lines(rule: fn(&Tree) -> Vec<Finding>, files: &[(&str, &str)]) -> Vec<usize> {
        rule(&Tree::of(files))
            .iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn paths_of_a_machine_are_refused() {
        for path in MACHINE_PATHS {
            let text = format!("fine\ncd {path}x\n`{path}`\nhttps://a.org{path}x\n../a{path}x\n");
            assert_eq!(
                lines(no_path_of_a_machine, &[("a.md", &text)]),
                [2, 3],
                "{text}"
            );
        }
    }

    #[test]
    fn trailing_space_is_refused() {
        assert_eq!(lines(no_trailing_space, &[("a.md", "a\nb \n\t\n")]), [2, 3]);
    }

    #[test]
    fn tests_that_no_binary_runs_are_refused() {
        let all = ("crates/a/tests/all.rs", "mod one;\nmod sweep;\n");
        let manifest = (
            "crates/a/Cargo.toml",
            "[[test]]\npath = \"tests/fuzz/main.rs\"\n",
        );
        let found = |path: &str| lines(every_test_is_run, &[all, manifest, (path, "")]).len();
        for run in [
            "one.rs",
            "sweep/main.rs",
            "sweep/packed.rs",
            "fuzz/main.rs",
            "data/x.csv",
        ] {
            assert_eq!(found(&format!("crates/a/tests/{run}")), 0, "{run}");
        }
        for left in ["two.rs", "more/main.rs"] {
            assert_eq!(found(&format!("crates/a/tests/{left}")), 1, "{left}");
        }
        // A crate without the one binary has one per file.
        assert_eq!(found("crates/b/tests/two.rs"), 0);
    }

    #[test]
    fn large_files_are_refused() {
        let file = |bytes| Tracked {
            path: "a.npy".into(),
            bytes,
            text: None,
        };
        let count = |bytes| no_large_file(&Tree::new(vec![file(bytes)])).len();
        assert_eq!((count(LARGEST), count(LARGEST + 1)), (0, 1));
    }

    #[test]
    fn references_that_nobody_cites_are_refused() {
        let bibliography = (
            BIBLIOGRAPHY,
            "@book{a1999,\n  year = 1999\n}\n@misc{b2000,\n}\n",
        );
        let uncited = |text| lines(every_reference_is_used, &[bibliography, ("a.rs", text)]);
        assert_eq!(uncited("\"a1999\" b2000x"), [4]);
        assert_eq!(uncited("(A and C 1999) b 2001"), [4]);
        assert!(uncited("a1999 (B 2000)").is_empty());
    }

    #[test]
    fn the_changelog_needs_its_open_section() {
        let judge = |text| lines(the_changelog_is_open, &[("CHANGELOG.md", text)]).len();
        assert_eq!(
            judge("# Changelog\n\n## [Unreleased]\n\n### Numerical changes\n\n- none\n"),
            0
        );
        assert_eq!(
            judge("# Changelog\n\n## [Unreleased]\n\n## 0.1\n\n### Numerical changes\n"),
            1
        );
        assert_eq!(judge("# Changelog\n"), 1);
        assert_eq!(lines(the_changelog_is_open, &[]), [0]);
    }

    #[test]
    fn pages_need_a_link() {
        let pages = [
            ("README.md", "[a](docs/a.md#part)"),
            (
                "docs/README.md",
                "[b](b.md) [readme](../README.md) [self](README.md)",
            ),
        ];
        let with = |page| [pages[0], pages[1], (page, "")];
        assert!(lines(every_page_is_linked, &with("docs/a.md")).is_empty());
        assert!(lines(every_page_is_linked, &with("docs/b.md")).is_empty());
        assert_eq!(lines(every_page_is_linked, &with("docs/c.md")), [0]);
    }

    #[test]
    fn broken_links_are_refused() {
        let page = "[web](https://a.org/b) [here](#x)\n[file](../a.rs)\n[folder](../docs/)\n[gone](../b.rs)\n";
        assert_eq!(
            lines(links_lead_somewhere, &[("docs/p.md", page), ("a.rs", "")]),
            [4]
        );
    }
}
