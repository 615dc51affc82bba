//! The house rules as code. Each rule is one function from the files of the repository to what it finds wrong, and
//! one line in [`RULES`].

mod foreign;
mod project;
mod rust;
mod source;

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::command::{exit_code, quietly, root};
use source::Source;

/// A house rule.
type Rule = fn(&Tree) -> Vec<Finding>;

const RULES: &[Rule] = &[
    rust::opens_with_its_purpose,
    rust::no_unwrap,
    rust::nothing_unfinished,
    rust::short_functions,
    rust::short_files,
    rust::unsafe_in_its_place,
    rust::allowances_have_reasons,
    rust::nothing_ignored,
    rust::no_printing,
    foreign::named_in_one_place,
    foreign::the_table_is_current,
    project::no_path_of_a_machine,
    project::no_trailing_space,
    project::no_large_file,
    project::every_reference_is_used,
    project::the_changelog_is_open,
    project::every_page_is_linked,
    project::links_lead_somewhere,
    project::every_test_is_run,
];

/// Something that a rule finds wrong.
#[derive(Debug, PartialEq)]
pub(crate) struct Finding {
    path: String,
    /// Counted from one; zero for a file as a whole.
    line: usize,
    message: String,
}

impl Finding {
    /// About a line, by its index.
    fn at(path: &str, index: usize, message: impl Into<String>) -> Finding {
        Finding {
            path: path.to_string(),
            line: index + 1,
            message: message.into(),
        }
    }

    /// About a file as a whole.
    fn about(path: &str, message: impl Into<String>) -> Finding {
        Finding {
            path: path.to_string(),
            line: 0,
            message: message.into(),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// The files of the repository.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    files: Vec<Tracked>,
    rust: Vec<Source>,
}

/// A file of the repository.
#[derive(Debug)]
struct Tracked {
    /// From the root, with `/`.
    path: String,
    bytes: u64,
    /// What it says, if it is one of our texts rather than data.
    text: Option<String>,
}

impl Tree {
    /// Reads all files that are tracked or could be.
    fn read(root: &Path) -> Result<Tree, String> {
        let mut git = Command::new("git");
        git.current_dir(root).args([
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        let listed = quietly(&mut git).map_err(|told| format!("git ls-files: {told}"))?;
        let mut files: Vec<Tracked> = listed
            .split('\0')
            .filter_map(|path| read_file(root, path))
            .collect();
        files.sort_by(|a, b| a.path.cmp(&b.path));
        // Git names a file once for each side of an unfinished merge.
        files.dedup_by(|a, b| a.path == b.path);
        Ok(Tree::new(files))
    }

    fn new(files: Vec<Tracked>) -> Tree {
        let rust = files.iter().filter(|file| file.path.ends_with(".rs"));
        let rust = rust.filter_map(|file| Some(Source::new(&file.path, file.text.as_deref()?)));
        Tree {
            rust: rust.collect(),
            files,
        }
    }

    /// A tree of texts, for tests.
    #[cfg(test)]
    fn of(files: &[(&str, &str)]) -> Tree {
        let file = |&(path, text): &(&str, &str)| Tracked {
            path: path.to_string(),
            bytes: text.len() as u64,
            text: Some(text.to_string()),
        };
        Tree::new(files.iter().map(file).collect())
    }

    /// The paths and contents of our texts.
    fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.files
            .iter()
            .filter_map(|file| Some((file.path.as_str(), file.text.as_deref()?)))
    }

    /// What a text says.
    fn text(&self, path: &str) -> Option<&str> {
        self.texts()
            .find(|(other, _)| *other == path)
            .map(|(_, text)| text)
    }
}

/// Names of files that we write, by how they end; all else is data or made by a program.
const TEXTS: [&str; 10] = [
    ".rs", ".md", ".toml", ".bib", ".py", ".txt", ".html", ".css", ".js", ".ci/run",
];

/// Reads a file of the list; one that was deleted is left out.
fn read_file(root: &Path, path: &str) -> Option<Tracked> {
    let on_disk = root.join(path);
    let bytes = fs::metadata(&on_disk)
        .ok()
        .filter(fs::Metadata::is_file)?
        .len();
    let is_text = TEXTS.iter().any(|end| path.ends_with(end));
    let text = is_text.then(|| fs::read_to_string(&on_disk).ok()).flatten();
    Some(Tracked {
        path: path.to_string(),
        bytes,
        text,
    })
}

/// Checks the rules, prints what they find, and says whether they hold.
pub(crate) fn check() -> bool {
    let findings = match Tree::read(root()) {
        Ok(tree) => RULES.iter().flat_map(|rule| rule(&tree)).collect(),
        Err(told) => vec![Finding::about("the list of files", told)],
    };
    for finding in &findings {
        println!("{finding}");
    }
    println!(
        "{} house rules, {} broken lines",
        RULES.len(),
        findings.len()
    );
    findings.is_empty()
}

/// `cargo xtask tidy`.
pub(crate) fn run(_: &[String]) -> ExitCode {
    exit_code(check())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_says_where() {
        assert_eq!(Finding::at("a.rs", 0, "bad").to_string(), "a.rs:1: bad");
        assert_eq!(Finding::about("a.rs", "bad").to_string(), "a.rs: bad");
    }

    #[test]
    fn the_repository_is_read() {
        let tree = Tree::read(root()).unwrap();
        assert!(tree.text("Cargo.toml").unwrap().contains("[workspace]"));
        assert!(
            tree.rust
                .iter()
                .any(|source| source.path == "xtask/src/tidy.rs")
        );
    }
}
