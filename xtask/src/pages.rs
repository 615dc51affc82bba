//! The pages for readers: builds the documentation, and runs the examples of `README.md` and `docs/*.md`.
//!
//! A fenced block that begins with ```` ```sh run ```` is run. The blocks of a page are one script, run by bash in an
//! empty folder with the built `attractor` first in the path; a page passes if no command fails. The built binary
//! stands in for `cargo run --release --`.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::thread;

use crate::command::{cargo, exit_code, quietly, root, succeeds, target};
use crate::tally::Tally;
use crate::tool::BOOK;

/// What opens a block that is run.
const MARKER: &str = "```sh run";

/// Builds the documentation and runs the pages.
pub(crate) fn run(_: &[String]) -> ExitCode {
    let mut tally = Tally::default();
    tally.check("docs", build());
    book(&mut tally);
    // As the tests build it: with other features, half of the dependencies would be compiled again.
    let build = ["test", "--workspace", "--tests", "--no-run", "--quiet"];
    if succeeds(&mut cargo(build)) {
        check_all(&mut tally);
    } else {
        tally.check("examples of the pages (not built)", false);
    }
    println!("{}", tally.summary());
    exit_code(tally.all_passed())
}

/// Builds the documentation of the workspace; a broken link is an error.
pub(crate) fn build() -> bool {
    succeeds(cargo(["doc", "--workspace", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings"))
}

/// Makes a book of the pages under `target/book`; its contents are the table of `docs/README.md`. All its links are checked; mdbook makes
/// web pages of it where it is installed.
pub(crate) fn book(tally: &mut Tally) {
    let folder = target().join("book");
    let written = write_book(&folder).map_err(|error| vec![error.to_string()]);
    let broken = written.map_or_else(|told| told, |()| broken_links(&folder.join("src")));
    broken.iter().for_each(|link| println!("book: {link}"));
    tally.check("links of the book", broken.is_empty());
    match BOOK.program() {
        Some(mdbook) => tally.check(
            "book",
            succeeds(Command::new(mdbook).arg("build").arg(&folder)),
        ),
        None => tally.skip(
            "the book as web pages: mdbook is not installed (`cargo xtask test --install-tools`)",
        ),
    }
}

/// The pages and their contents where mdbook looks for them.
fn write_book(folder: &Path) -> std::io::Result<()> {
    let from = root().join("docs");
    emptied(folder)?;
    fs::copy(from.join("book.toml"), folder.join("book.toml"))?;
    for inside in ["", "results", "pictures", "pictures/paper", "notebooks"] {
        let to = folder.join("src").join(inside);
        fs::create_dir_all(&to)?;
        for entry in fs::read_dir(from.join(inside))?.flatten() {
            let (path, name) = (entry.path(), entry.file_name());
            match path.extension().and_then(|end| end.to_str()) {
                Some("md") => {
                    let up = if inside.is_empty() { "../" } else { "../../" };
                    fs::write(to.join(name), links_inside(&fs::read_to_string(path)?, up))?;
                }
                Some("svg" | "png" | "ipynb") => drop(fs::copy(path, to.join(name))?),
                _ => {}
            }
        }
    }
    let contents = contents(&fs::read_to_string(from.join("README.md"))?);
    fs::write(folder.join("src/SUMMARY.md"), contents)
}

/// A page whose links to files outside of `docs`, which begin with `up`, are plain words: these files are not in the book.
fn links_inside(page: &str, up: &str) -> String {
    let outside = format!("]({up}");
    let mut parts = page.split(&outside);
    let mut text = parts.next().unwrap_or_default().to_string();
    for part in parts {
        if let Some(begin) = text.rfind('[') {
            text.remove(begin);
        }
        text.push_str(part.split_once(')').map_or("", |(_, rest)| rest));
    }
    text
}

/// The links between pages of a book, and in its contents, that lead to no file.
fn broken_links(book: &Path) -> Vec<String> {
    let mut broken = Vec::new();
    for folder in ["", "results"] {
        for entry in fs::read_dir(book.join(folder))
            .into_iter()
            .flatten()
            .flatten()
        {
            let page = fs::read_to_string(entry.path()).unwrap_or_default();
            let links = page
                .split("](")
                .skip(1)
                .filter_map(|rest| rest.split([')', '#', ' ']).next());
            let files = links.filter(|link| !link.is_empty() && !link.contains(':'));
            let lost = files.filter(|link| !book.join(folder).join(link).exists());
            broken.extend(
                lost.map(|link| format!("{}: {link}", entry.file_name().to_string_lossy())),
            );
        }
    }
    broken
}

/// The contents of the book: the links in the first column of the table, the second and later ones of a cell below its first.
fn contents(page: &str) -> String {
    let cells = page.lines().filter_map(|line| {
        let cell = line.strip_prefix("| ")?.split(" | ").next()?;
        cell.starts_with('[').then_some(cell)
    });
    let links: String = cells.map(links).collect();
    format!("# Contents\n\n- [Pages](README.md)\n{links}")
}

fn links(cell: &str) -> String {
    let targets = cell.split_inclusive(')').filter_map(|link| {
        let start = link.find('[')?;
        link.ends_with(')').then(|| &link[start..])
    });
    let lines = targets.enumerate().map(|(i, link)| match i {
        0 => format!("- {link}\n"),
        _ => format!("    - {link}\n"),
    });
    lines.collect()
}

/// Runs every page that has an example with the command that was built for the tests, one per core, counting one per page.
pub(crate) fn check_all(tally: &mut Tally) {
    if quietly(Command::new("bash").arg("--version")).is_err() {
        return tally.skip("examples of the pages: no bash");
    }
    let scripts = pages().into_iter().filter_map(|page| {
        let text = fs::read_to_string(&page).unwrap_or_default();
        let name = page.strip_prefix(root()).unwrap_or(&page).display();
        Some((name.to_string(), script(&text)?))
    });
    let left: Mutex<VecDeque<(String, String)>> = Mutex::new(scripts.collect());
    let next = || left.lock().expect("no one panics while taking").pop_front();
    let tally = Mutex::new(tally);
    let cores = thread::available_parallelism().map_or(1, |n| n.get());
    thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                while let Some((name, script)) = next() {
                    println!("running the examples of {name}");
                    let passed = run_script(&name, &script);
                    let mut tally = tally.lock().expect("no one panics while counting");
                    tally.check(&name, passed);
                }
            });
        }
    });
}

/// `README.md` and the pages under `docs`, in order.
fn pages() -> Vec<PathBuf> {
    let folders = ["docs", "docs/results"].map(|folder| fs::read_dir(root().join(folder)));
    let entries = folders.into_iter().flatten().flatten().flatten();
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    pages.retain(|path| path.extension().is_some_and(|end| end == "md"));
    pages.sort();
    pages.insert(0, root().join("README.md"));
    pages
}

/// The blocks of a page that are to be run, as one script; none if it has no such block.
fn script(page: &str) -> Option<String> {
    let mut script = String::new();
    let mut lines = page.lines();
    while lines.by_ref().any(|line| line.trim_end() == MARKER) {
        for line in lines.by_ref().take_while(|line| line.trim_end() != "```") {
            script.push_str(&line.replace("cargo run --release --", "attractor"));
            script.push('\n');
        }
    }
    (!script.is_empty()).then_some(script)
}

/// Runs a script in an empty folder of its own.
fn run_script(name: &str, script: &str) -> bool {
    let folder = target()
        .join("pages")
        .join(name.replace(['/', '\\', '.'], "-"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let binaries = [target().join("debug")]
        .into_iter()
        .chain(std::env::split_paths(&path));
    let (Ok(path), Ok(())) = (std::env::join_paths(binaries), emptied(&folder)) else {
        return false;
    };
    let mut bash = Command::new("bash");
    bash.args(["-euo", "pipefail", "-c", script]);
    succeeds(bash.current_dir(&folder).env("PATH", path))
}

fn emptied(folder: &Path) -> std::io::Result<()> {
    // There may be nothing to remove.
    let _ = fs::remove_dir_all(folder);
    fs::create_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_book_has_the_pages_of_the_table() {
        let page = "# Pages\n\n| page | for whom |\n| --- | --- |\n| [a b](a.md) | those |\n";
        assert_eq!(
            contents(page),
            "# Contents\n\n- [Pages](README.md)\n- [a b](a.md)\n"
        );
        let page = "| [a](a.md): [b c](a/b.md), [d](a/d.md) | those |\n";
        let nested = "- [a](a.md)\n    - [b c](a/b.md)\n    - [d](a/d.md)\n";
        assert!(contents(page).ends_with(nested), "{}", contents(page));
    }

    #[test]
    fn links_out_of_the_book_are_words() {
        let page = "[a](b.md), [the table](../c/d.md) and [e](../f)";
        assert_eq!(links_inside(page, "../"), "[a](b.md), the table and e");
    }

    #[test]
    fn links_of_the_book_lead_to_its_pages() {
        let folder = target().join("book-test");
        write_book(&folder).unwrap();
        assert_eq!(broken_links(&folder.join("src")), Vec::<String>::new());
        fs::write(
            folder.join("src/results/new.md"),
            "[x](gone.md) [y](../training.md#z)",
        )
        .unwrap();
        assert_eq!(broken_links(&folder.join("src")), ["new.md: gone.md"]);
    }

    #[test]
    fn only_marked_blocks_are_run_and_in_order() {
        let page = "\
# Title
```sh
rm -rf everything
```
```sh run
cargo run --release -- list
```
text
```text
output
```
```sh run
x=1
```
";
        assert_eq!(script(page).unwrap(), "attractor list\nx=1\n");
        assert_eq!(script("# Title\n```sh\nls\n```\n"), None);
    }

    #[test]
    fn a_page_fails_with_its_first_failing_command() {
        assert!(run_script("test-passing", "touch a\ntest -e a"));
        assert!(!run_script("test-failing", "false\ntrue"));
        assert!(!run_script("test-pipe", "false | true"));
        // The folder is empty again each time.
        assert!(run_script("test-passing", "test ! -e a"));
    }
}
