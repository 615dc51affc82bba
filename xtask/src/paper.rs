//! `cargo xtask paper [--quick] [--data DIR] [--out DIR] [--workers N]`: the paper, whole.
//!
//! ```text
//! experiments/*.toml ──sweep──▶ OUT/STUDY ──table──▶ OUT/tables/N.{txt,md,tex}
//!                                         └──plot──▶ OUT/figures/N.svg, N.csv
//! ```
//!
//! Simulated data are made by the commands that the studies name, into OUT/data; real recordings come from the folder of the data. What was interrupted
//! goes on: finished runs are not trained again, and tables and figures are made anew from what there is. `--quick` trains one seed of every row for a
//! tenth of its epochs, which shows that everything works, and no more.

mod figures;
mod studies;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use crate::command::{cargo, exit_code, root, succeeds, target};
use studies::Study;

/// What was asked for.
struct Request {
    quick: bool,
    /// Real recordings.
    data: PathBuf,
    /// Everything that is made.
    out: PathBuf,
    workers: String,
}

/// The tables of the paper, and how they are written.
const TABLES: [&str; 5] = ["1", "S1", "S2", "S3", "S4"];
const FORMATS: [(&str, &str); 3] = [("text", "txt"), ("md", "md"), ("latex", "tex")];

/// Trains what is left, and makes all tables and figures.
pub(crate) fn run(words: &[String]) -> ExitCode {
    let request = match Request::of(words) {
        Ok(request) => request,
        Err(error) => {
            println!("error: {error}");
            println!("hint: cargo xtask paper [--quick] [--data DIR] [--out DIR] [--workers N]");
            return ExitCode::from(2);
        }
    };
    let build = ["build", "--release", "--package", "attractor-cli"];
    if !succeeds(&mut cargo(build)) {
        return ExitCode::FAILURE;
    }
    let studies = match studies::of_the_paper() {
        Ok(studies) => studies,
        Err(error) => {
            println!("error: {error}");
            return ExitCode::FAILURE;
        }
    };
    exit_code(request.make(&studies))
}

impl Request {
    fn of(words: &[String]) -> Result<Request, String> {
        let folder = std::env::var_os("ATTRACTOR_DATA").unwrap_or_else(|| "../shared/data".into());
        let mut request = Request {
            quick: false,
            data: root().join(folder),
            out: target().join("paper"),
            workers: "0".to_string(),
        };
        let mut words = words.iter();
        while let Some(word) = words.next() {
            let mut value = || words.next().ok_or(format!("`{word}` takes a value"));
            let folder = |path: &String| std::path::absolute(path).map_err(|e| e.to_string());
            match word.as_str() {
                "--quick" => request.quick = true,
                "--data" => request.data = folder(value()?)?,
                "--out" => request.out = folder(value()?)?,
                "--workers" => request.workers.clone_from(value()?),
                _ => return Err(format!("unknown flag `{word}`")),
            }
        }
        Ok(request)
    }

    /// Whether everything could be made; what could not does not keep the rest.
    fn make(&self, studies: &[Study]) -> bool {
        let trained = studies.iter().map(|study| study.train(self));
        let trained: Vec<bool> = trained.collect();
        let tables = TABLES.iter().map(|name| self.table(name, studies));
        let tables: Vec<bool> = tables.collect();
        let figures = figures::draw(self, studies);
        let parts = [
            ("studies", trained),
            ("tables", tables),
            ("figures", figures),
        ];
        let mut is_whole = true;
        println!("\n{}", self.out.display());
        for (what, made) in parts {
            let count = made.iter().filter(|made| **made).count();
            println!("{count} of {} {what}", made.len());
            is_whole &= count == made.len();
        }
        is_whole
    }

    /// One table in all formats, of the last parameters as in the paper.
    fn table(&self, name: &str, studies: &[Study]) -> bool {
        let folder = self.out.join("tables");
        let folders = studies.iter().map(|study| self.folder(&study.name));
        let folders: Vec<PathBuf> = folders.filter(|folder| folder.exists()).collect();
        FORMATS.iter().all(|(format, end)| {
            let mut command = self.attractor(["table", "--model", "last", "--paper-table", name]);
            let table = command.args(["--format", format]).args(&folders).output();
            let Ok(table) = table else { return false };
            let written = fs::create_dir_all(&folder)
                .and_then(|()| fs::write(folder.join(format!("{name}.{end}")), &table.stdout));
            table.status.success() && written.is_ok()
        })
    }

    /// The folder of a study.
    fn folder(&self, study: &str) -> PathBuf {
        self.out.join(study)
    }

    /// The folder of simulated data.
    fn simulated(&self) -> PathBuf {
        self.out.join("data")
    }

    /// Where a file of data is, if it is anywhere.
    fn found(&self, file: &str) -> Option<PathBuf> {
        let places = [&self.data, &self.simulated()].map(|folder| folder.join(file));
        places.into_iter().find(|path| path.exists())
    }

    fn attractor<'a>(&self, words: impl IntoIterator<Item = &'a str>) -> Command {
        let program = target().join("release/attractor");
        let mut command = Command::new(program);
        command.args(words);
        command
    }
}

/// Says what is left out, and why.
fn skipped(what: &str, why: &str) -> bool {
    println!("skipped {what}: {why}");
    false
}

/// Shows a path as it is typed at the root of the repository.
fn shown(path: &Path) -> String {
    path.strip_prefix(root())
        .unwrap_or(path)
        .display()
        .to_string()
}
