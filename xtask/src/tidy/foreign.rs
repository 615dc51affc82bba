//! Foreign crates: each is adopted for a reason, and named in one place, so that it can be replaced by changing it.

use std::collections::BTreeSet;

use super::source::{Source, words};
use super::{Finding, Tree};

/// A foreign crate that we have adopted.
struct Adopted {
    name: &'static str,
    /// The files, or folders with a final `/`, that may name it.
    places: &'static [&'static str],
    reason: &'static str,
}

/// A row of the table.
const fn adopt(
    name: &'static str,
    places: &'static [&'static str],
    reason: &'static str,
) -> Adopted {
    Adopted {
        name,
        places,
        reason,
    }
}

/// Where each foreign crate may be named. Crates that only tests use are free.
const TABLE: &[Adopted] = &[
    adopt(
        "clap",
        &["crates/cli/src/"],
        "the command line is declared verb by verb",
    ),
    adopt(
        "clap_complete",
        &["crates/cli/src/verb/completions.rs"],
        "completions of five shells, made of the command line itself",
    ),
    adopt(
        "clap_mangen",
        &["crates/cli/src/verb/completions.rs"],
        "man pages, made of the command line itself",
    ),
    adopt(
        "csv",
        TEXT_FORMATS,
        "quoting and separators of delimited text",
    ),
    adopt(
        "faer",
        &["crates/numerics/src/dense.rs"],
        "its eigenvalues converge on the Jacobians of cycles",
    ),
    adopt(
        "fearless_simd",
        &["crates/core/src/simd.rs", "crates/core/src/simd/"],
        "vectors, with the instruction set chosen at run time",
    ),
    adopt(
        "flate2",
        &[
            "crates/attractor/src/format/text.rs",
            "crates/attractor/src/format/text/",
            "crates/attractor/src/format/mat/element.rs",
            "crates/attractor/src/drawing/png.rs",
        ],
        "compressed text, matrices and pixels",
    ),
    adopt(
        "hdf5-reader",
        &[
            "crates/attractor/src/format/hdf5.rs",
            "crates/attractor/src/format/netcdf.rs",
        ],
        "HDF5 without C, in bounded memory",
    ),
    adopt(
        "indicatif",
        &[
            "crates/cli/src/verb/train/progress.rs",
            "crates/cli/src/verb/sweep/view.rs",
            "crates/cli/src/follow.rs",
        ],
        "a bar that knows how much time is left",
    ),
    adopt(
        "numpy",
        &["crates/python/src/"],
        "arrays of Python, with their types checked",
    ),
    adopt(
        "parquet",
        &["crates/attractor/src/format/parquet.rs"],
        "pages of Parquet tables, without Arrow",
    ),
    adopt(
        "pdf-writer",
        &["crates/attractor/src/drawing/pdf.rs"],
        "objects and streams of PDF files",
    ),
    adopt(
        "pyo3",
        &["crates/python/src/"],
        "functions and classes of Python, without unsafe code of ours",
    ),
    adopt(
        "rand_chacha",
        &["crates/core/src/rng.rs"],
        "a seekable generator with independent streams",
    ),
    adopt(
        "realfft",
        &["crates/numerics/src/fft.rs"],
        "Fourier transforms of real numbers",
    ),
    adopt(
        "serde",
        &[
            "crates/core/src/",
            "crates/attractor/src/",
            "crates/cli/src/",
            "crates/python/src/",
        ],
        "what is stored or printed as documents, as typed structs",
    ),
    adopt(
        "serde_json",
        &[
            "crates/cli/src/",
            "crates/python/src/",
            "crates/attractor/src/engine.rs",
            "crates/attractor/src/evaluation/",
            "crates/attractor/src/anatomy/document.rs",
            "crates/attractor/src/embedding.rs",
            "crates/attractor/src/recording_exponent.rs",
            "crates/attractor/src/inspection.rs",
            "crates/attractor/src/learn/ledger.rs",
            "crates/attractor/src/model_file.rs",
            "crates/attractor/src/model_file/",
            "crates/attractor/src/container.rs",
            "crates/attractor/src/run.rs",
            "crates/attractor/src/run/",
            "crates/attractor/src/study/",
            "crates/attractor/src/report.rs",
            "crates/attractor/src/report/",
            "crates/attractor/src/watch/",
            "crates/attractor/src/table/document.rs",
            "xtask/src/bench.rs",
            "xtask/src/bench/",
            "xtask/src/benchmark.rs",
            "xtask/src/benchmark/",
            "crates/attractor/src/spectrum.rs",
            "xtask/src/deny.rs",
            "xtask/src/paper/",
            "xtask/src/suite.rs",
        ],
        "`--json`, what is stored beside a model, and what cargo says of itself",
    ),
    adopt(
        "safetensors",
        &[
            "crates/attractor/src/model_file.rs",
            "crates/attractor/src/run/checkpoint.rs",
        ],
        "models that Python reads in two lines",
    ),
    adopt(
        "signal-hook",
        &["crates/cli/src/interrupt.rs"],
        "signals as a flag, without unsafe code of ours",
    ),
    adopt("strsim", &["crates/core/src/settings.rs"], "did you mean"),
    adopt(
        "thiserror",
        &["crates/"],
        "error types stand beside what fails",
    ),
    adopt(
        "tiny-skia",
        &["crates/attractor/src/drawing/png.rs"],
        "anti-aliased lines and areas",
    ),
    adopt(
        "toml",
        &[
            "crates/attractor/src/experiment/file.rs",
            "crates/attractor/src/study/file.rs",
            "xtask/src/benchmark.rs",
            "xtask/src/deny.rs",
            "xtask/src/paper/",
            "xtask/src/tidy/foreign.rs",
        ],
        "experiments, studies, manifests and the policy on dependencies",
    ),
    adopt(
        "ttf-parser",
        &["crates/attractor/src/drawing/font.rs"],
        "outlines of letters",
    ),
    adopt(
        "zip",
        &["crates/attractor/src/format/npz.rs"],
        "`.npz` files are archives",
    ),
];

/// The reader and the writer of delimited text.
const TEXT_FORMATS: &[&str] = &[
    "crates/attractor/src/format/text.rs",
    "crates/attractor/src/format/text/",
];

/// Every dependency is in the table, and named only where the table says.
pub(crate) fn named_in_one_place(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (manifest, text) in tree
        .texts()
        .filter(|(path, _)| path.ends_with("/Cargo.toml"))
    {
        let folder = manifest.trim_end_matches("Cargo.toml");
        for name in dependencies(text) {
            match TABLE.iter().find(|adopted| adopted.name == name) {
                Some(adopted) => findings.extend(misplaced(tree, folder, adopted)),
                None => {
                    let message = format!(
                        "`{name}` is not in the table of xtask/src/tidy/foreign.rs: say where it may be named, and why"
                    );
                    findings.push(Finding::about(manifest, message));
                }
            }
        }
    }
    findings
}

/// Every row of the table is a dependency of the workspace, and has a reason.
pub(crate) fn the_table_is_current(tree: &Tree) -> Vec<Finding> {
    let known = tree
        .text("Cargo.toml")
        .map(workspace_dependencies)
        .unwrap_or_default();
    let stale = TABLE
        .iter()
        .filter(|row| !known.contains(row.name) || row.reason.is_empty());
    stale
        .map(|row| {
            Finding::about(
                "xtask/src/tidy/foreign.rs",
                format!("`{}` is no longer used", row.name),
            )
        })
        .collect()
}

fn misplaced(tree: &Tree, folder: &str, adopted: &Adopted) -> Vec<Finding> {
    let sources = tree
        .rust
        .iter()
        .filter(|source| source.path.starts_with(&format!("{folder}src/")));
    let outside = sources.filter(|source| {
        !adopted
            .places
            .iter()
            .any(|place| source.path.starts_with(place))
    });
    let word = adopted.name.replace('-', "_");
    let mut findings = Vec::new();
    for source in outside {
        let lines = source
            .shipped()
            .filter(|(_, line)| names(source, line, &word));
        let message = format!(
            "`{}` is named here; its place is {}",
            adopted.name,
            adopted.places.join(", ")
        );
        findings.extend(lines.map(|(i, _)| Finding::at(&source.path, i, message.clone())));
    }
    findings
}

/// Whether a line names the foreign crate: `word::…` or `use word`, unless `word` is a module of ours in this file.
fn names(source: &Source, line: &str, word: &str) -> bool {
    if !line.contains(word) {
        return false;
    }
    let is_used = |at: usize| {
        let (before, after) = (line[..at].trim_end(), line[at + word.len()..].trim_start());
        after.starts_with("::") || (before.ends_with("use") && after.starts_with([';', ' ']))
    };
    let own = words(line).filter(|(_, other)| *other == word);
    let mut used = own.map(|(at, _)| at).filter(|at| is_used(*at)).peekable();
    // Few lines do; the whole file is read only for those.
    if used.peek().is_none() {
        return false;
    }
    let is_ours = local_names(source).contains(word);
    used.any(|at| {
        let before = line[..at].trim_end();
        let from_root = before.ends_with("::")
            && words(before)
                .last()
                .is_none_or(|(i, w)| i + w.len() + 2 < before.len());
        let is_bare = !before.ends_with("::") && !is_ours;
        is_bare || from_root
    })
}

/// The modules that a file declares, and what it imports from our own crates.
fn local_names(source: &Source) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut is_own_import = false;
    for (_, line) in source.shipped() {
        let line_words: Vec<&str> = words(line).map(|(_, word)| word).collect();
        for pair in line_words.windows(2).filter(|pair| pair[0] == "mod") {
            found.insert(pair[1]);
        }
        let own = ["crate", "super", "self", "attractor", "attractor_core"];
        if let Some(start) = line_words.iter().position(|word| *word == "use") {
            is_own_import = line_words
                .get(start + 1)
                .is_some_and(|word| own.contains(word));
        }
        if is_own_import {
            found.extend(line_words);
        }
        is_own_import &= !line.contains(';');
    }
    found
}

/// The dependencies of a manifest that ship, without our own.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let Ok(table) = manifest.parse::<toml::Table>() else {
        return BTreeSet::new();
    };
    let targets = table
        .get("target")
        .and_then(toml::Value::as_table)
        .into_iter()
        .flatten();
    let sections = targets
        .filter_map(|(_, target)| target.as_table())
        .chain([&table]);
    sections
        .flat_map(|section| {
            [
                section.get("dependencies"),
                section.get("build-dependencies"),
            ]
        })
        .flatten()
        .filter_map(toml::Value::as_table)
        .flat_map(|list| list.keys().cloned())
        .filter(|name| !name.starts_with("attractor"))
        .collect()
}

fn workspace_dependencies(manifest: &str) -> BTreeSet<String> {
    let table = manifest.parse::<toml::Table>().unwrap_or_default();
    let list = table
        .get("workspace")
        .and_then(|workspace| workspace.get("dependencies"));
    list.and_then(toml::Value::as_table)
        .into_iter()
        .flat_map(|list| list.keys().cloned())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MANIFEST: &str =
        "[dependencies]\nstrsim.workspace = true\nattractor-core.workspace = true\n";

    fn found(path: &str, text: &str) -> Vec<usize> {
        let tree = Tree::of(&[("crates/core/Cargo.toml", MANIFEST), (path, text)]);
        named_in_one_place(&tree)
            .iter()
            .map(|finding| finding.line)
            .collect()
    }

    #[test]
    fn a_crate_is_named_in_its_place_only() {
        let text = "//! A.\nuse strsim::jaro;\nfn a() { ::strsim::jaro() }\nfn b() { x::strsim::y() }\n\
                    // strsim::z\nlet strsim = 1;\nuse strsim;\n#[cfg(test)]\nmod t { use strsim::z; }\n";
        assert_eq!(found("crates/core/src/other.rs", text), [2, 3, 7]);
        assert!(found("crates/core/src/settings.rs", text).is_empty());
        assert!(found("crates/cli/src/other.rs", text).is_empty());
    }

    #[test]
    fn a_module_of_ours_may_have_the_same_name() {
        assert!(
            found(
                "crates/core/src/a.rs",
                "mod strsim;\nfn a() { strsim::b() }\n"
            )
            .is_empty()
        );
        let imported = "use crate::c::{\n    strsim,\n    d,\n};\nfn a() { strsim::b() }\nfn c() { ::strsim::b() }\n";
        assert_eq!(found("crates/core/src/a.rs", imported), [6]);
    }

    #[test]
    fn a_crate_that_nobody_adopted_is_refused() {
        let manifest = "[target.'cfg(unix)'.dependencies]\nleftpad = \"1\"\n[dev-dependencies]\nproptest = \"1\"\n";
        let findings = named_in_one_place(&Tree::of(&[("crates/core/Cargo.toml", manifest)]));
        assert_eq!(findings.len(), 1);
        assert!(
            findings[0]
                .message
                .contains("`leftpad` is not in the table")
        );
    }

    #[test]
    fn a_row_that_is_no_longer_used_is_refused() {
        let rows: String = TABLE
            .iter()
            .skip(1)
            .map(|row| format!("{} = \"1\"\n", row.name))
            .collect();
        let manifest = format!("[workspace.dependencies]\n{rows}");
        let findings = the_table_is_current(&Tree::of(&[("Cargo.toml", &manifest)]));
        assert_eq!(findings.len(), 1);
        assert!(findings[0].message.contains(TABLE[0].name));
    }
}
