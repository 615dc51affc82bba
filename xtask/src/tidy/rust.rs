//! Rules for Rust files.

use super::source::{Source, words};
use super::{Finding, Tree};

/// The longest function, in lines.
const LONGEST_FUNCTION: usize = 60;

/// The longest file, in lines.
const LONGEST_FILE: usize = 800;

/// Where `unsafe` may stand.
const VECTOR_KERNELS: &str = "crates/core/src/simd";

/// A reader learns from the first line what a file computes.
pub(crate) fn opens_with_its_purpose(tree: &Tree) -> Vec<Finding> {
    let opens = |source: &&Source| source.comments[0].starts_with("//! ");
    let silent = tree.rust.iter().filter(|source| !opens(source));
    silent
        .map(|source| {
            Finding::at(
                &source.path,
                0,
                "open the file with `//!` and what it computes",
            )
        })
        .collect()
}

/// What cannot fail says why, with `expect`.
pub(crate) fn no_unwrap(tree: &Tree) -> Vec<Finding> {
    lines_with(tree, Source::shipped, |line| {
        line.contains(".unwrap()").then(|| {
            "`unwrap()` outside tests: return an error, or `expect` the reason".to_string()
        })
    })
}

/// Nothing is left for later: an open end is an issue, not a comment.
pub(crate) fn nothing_unfinished(tree: &Tree) -> Vec<Finding> {
    let in_code = lines_with(tree, all_code, |line| {
        let unfinished = ["todo!", "unimplemented!"]
            .into_iter()
            .find(|name| line.contains(name));
        unfinished.map(|name| format!("`{name}` is not finished"))
    });
    let in_comments = tree.rust.iter().flat_map(|source| {
        let left =
            |line: &&str| words(line).any(|(_, word)| ["TODO", "FIXME", "XXX"].contains(&word));
        let lines = source.comments.iter().map(String::as_str).enumerate();
        lines
            .filter(move |(_, line)| left(line))
            .map(|(i, _)| Finding::at(&source.path, i, "do it, or open an issue"))
    });
    in_code.into_iter().chain(in_comments).collect()
}

/// One function, one sentence.
pub(crate) fn short_functions(tree: &Tree) -> Vec<Finding> {
    let functions = tree
        .rust
        .iter()
        .flat_map(|s| s.functions().into_iter().map(move |f| (s, f)));
    functions
        .filter(|(_, function)| function.lines.len() > LONGEST_FUNCTION)
        .map(|(source, function)| {
            let len = function.lines.len();
            let message = format!(
                "`{}` has {len} lines, more than {LONGEST_FUNCTION}: split it",
                function.name
            );
            Finding::at(&source.path, function.lines.start, message)
        })
        .collect()
}

/// One file, one subject.
pub(crate) fn short_files(tree: &Tree) -> Vec<Finding> {
    let long = tree
        .rust
        .iter()
        .filter(|source| source.code.len() > LONGEST_FILE);
    long.map(|source| {
        let len = source.code.len();
        Finding::about(
            &source.path,
            format!("{len} lines, more than {LONGEST_FILE}: split it"),
        )
    })
    .collect()
}

/// `unsafe` is for the vector kernels, and each says why it is sound.
pub(crate) fn unsafe_in_its_place(tree: &Tree) -> Vec<Finding> {
    let judge = |source: &Source, i: usize| {
        if !source.path.starts_with(VECTOR_KERNELS) {
            return Some(format!("`unsafe` outside {VECTOR_KERNELS}"));
        }
        let is_sound = source.is_explained(i, |comment| comment.contains("SAFETY:"));
        (!is_sound).then(|| "`unsafe` without a `SAFETY:` comment".to_string())
    };
    lines_of(tree, |source, i, line| {
        let is_unsafe = words(line).any(|(_, word)| word == "unsafe");
        is_unsafe.then(|| judge(source, i)).flatten()
    })
}

/// A lint that is switched off says why, with `reason = "…"` or a comment beside it.
pub(crate) fn allowances_have_reasons(tree: &Tree) -> Vec<Finding> {
    let is_reason = |comment: &str| comment.starts_with("// ");
    lines_of(tree, |source, i, line| {
        let allows = ["[allow(", "[expect("]
            .iter()
            .any(|start| line.contains(start));
        let is_bare =
            allows && !gives_reason(&source.code[i..]) && !source.is_explained(i, is_reason);
        is_bare.then(|| "a lint is switched off without a reason".to_string())
    })
}

/// Whether the attribute that begins on the first of these lines has a `reason`.
fn gives_reason(lines: &[String]) -> bool {
    let last = lines
        .iter()
        .position(|line| line.contains(")]"))
        .unwrap_or(0);
    let mut attribute = lines[..=last].iter().flat_map(|line| words(line));
    attribute.any(|(_, word)| word == "reason")
}

/// A test that does not run is not a test.
pub(crate) fn nothing_ignored(tree: &Tree) -> Vec<Finding> {
    lines_with(tree, all_code, |line| {
        line.contains("#[ignore")
            .then(|| "an ignored test: make it fast, or remove it".to_string())
    })
}

/// Libraries and commands do not print: they are given where to write. Examples do.
pub(crate) fn no_printing(tree: &Tree) -> Vec<Finding> {
    const MACROS: [&str; 5] = ["print", "println", "eprint", "eprintln", "dbg"];
    let findings = lines_with(tree, Source::shipped, |line| {
        let called = words(line)
            .find(|&(at, word)| MACROS.contains(&word) && line[at + word.len()..].starts_with('!'));
        called.map(|(_, word)| format!("`{word}!` in the program: write to what you are given"))
    });
    findings
        .into_iter()
        .filter(|finding| ships(&finding.path))
        .collect()
}

/// Whether a file is part of what users get.
fn ships(path: &str) -> bool {
    path.starts_with("crates/") && path.contains("/src/")
}

fn all_code(source: &Source) -> Box<dyn Iterator<Item = (usize, &str)> + '_> {
    Box::new(source.code.iter().map(String::as_str).enumerate())
}

/// Findings among the lines that `select` gives of each file.
fn lines_with<'a, I: Iterator<Item = (usize, &'a str)>>(
    tree: &'a Tree,
    select: impl Fn(&'a Source) -> I,
    judge: impl Fn(&str) -> Option<String>,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &tree.rust {
        for (i, line) in select(source) {
            findings.extend(judge(line).map(|message| Finding::at(&source.path, i, message)));
        }
    }
    findings
}

/// Findings among all lines of code, where the lines around matter too.
fn lines_of(tree: &Tree, judge: impl Fn(&Source, usize, &str) -> Option<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &tree.rust {
        for (i, line) in source.code.iter().enumerate() {
            findings.extend(
                judge(source, i, line).map(|message| Finding::at(&source.path, i, message)),
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines, counted from one, that a rule objects to in one file.
    fn lines(rule: fn(&Tree) -> Vec<Finding>, path: &str, text: &str) -> Vec<usize> {
        rule(&Tree::of(&[(path, text)]))
            .iter()
            .map(|finding| finding.line)
            .collect()
    }

    const PATH: &str = "crates/core/src/a.rs";

    #[test]
    fn a_file_opens_with_its_purpose() {
        assert!(lines(opens_with_its_purpose, PATH, "//! Computes λ.\n").is_empty());
        assert_eq!(
            lines(opens_with_its_purpose, PATH, "use std::fmt;\n//! Late.\n"),
            [1]
        );
        assert_eq!(lines(opens_with_its_purpose, PATH, "//!\n"), [1]);
    }

    #[test]
    fn unwrap_is_for_tests() {
        let text = "fn a() { x.unwrap(); }\n// x.unwrap()\nfn b() { x.unwrap_or(\".unwrap()\"); }\n\
                    #[cfg(test)]\nmod tests {\n    fn c() { x.unwrap(); }\n}\n";
        assert_eq!(lines(no_unwrap, PATH, text), [1]);
        assert!(lines(no_unwrap, "crates/core/tests/a.rs", text).is_empty());
    }

    #[test]
    fn what_is_unfinished_is_refused() {
        let text =
            "fn a() { todo!() }\n// TODO later\nlet b = \"TODO todo!\";\n/* FIXME */\n// todos\n";
        assert_eq!(lines(nothing_unfinished, PATH, text), [1, 2, 4]);
    }

    #[test]
    fn long_functions_and_files_are_refused() {
        let function = |n: usize| format!("\nfn a() {{\n{}}}\n", "    x();\n".repeat(n - 2));
        assert!(lines(short_functions, PATH, &function(LONGEST_FUNCTION)).is_empty());
        assert_eq!(
            lines(short_functions, PATH, &function(LONGEST_FUNCTION + 1)),
            [2]
        );
        assert!(lines(short_files, PATH, &"\n".repeat(LONGEST_FILE - 1)).is_empty());
        assert_eq!(lines(short_files, PATH, &"\n".repeat(LONGEST_FILE)), [0]);
    }

    #[test]
    fn unsafe_needs_its_place_and_its_reason() {
        let bare = "unsafe { f() }\n#![deny(unsafe_code)]\n";
        let argued =
            "// SAFETY: both are aligned,\n// as checked above.\n#[inline]\nunsafe { f() }\n";
        assert_eq!(lines(unsafe_in_its_place, PATH, argued), [4]);
        assert_eq!(
            lines(unsafe_in_its_place, "crates/core/src/simd/x.rs", bare),
            [1]
        );
        assert!(lines(unsafe_in_its_place, "crates/core/src/simd/x.rs", argued).is_empty());
    }

    #[test]
    fn allowances_need_a_reason() {
        let bare =
            "#[allow(dead_code)]\nfn a() {}\n#![expect(\n    dead_code\n)]\nlet reason = 1;\n";
        assert_eq!(lines(allowances_have_reasons, PATH, bare), [1, 3]);
        let argued = "#[allow(dead_code, reason = \"x\")]\n#![expect(\n  dead_code,\n  reason = \"x\"\n)]\n\
                      // Called by the linker.\n#[allow(dead_code)]\n#[allow(unused)] // why\n";
        assert!(lines(allowances_have_reasons, PATH, argued).is_empty());
    }

    #[test]
    fn ignored_tests_are_refused() {
        let text = "#[ignore]\n#[ignore = \"slow\"]\n// #[ignore]\n";
        assert_eq!(lines(nothing_ignored, PATH, text), [1, 2]);
    }

    #[test]
    fn printing_is_for_tests_examples_and_tasks() {
        let text = "println!(\"a\");\nwriteln!(out)?;\nlet print = 1;\n#[cfg(test)]\nmod t { fn a() { dbg!(1); } }\n";
        assert_eq!(lines(no_printing, PATH, text), [1]);
        assert!(lines(no_printing, "xtask/src/a.rs", text).is_empty());
        assert!(lines(no_printing, "crates/core/examples/a.rs", text).is_empty());
    }
}
