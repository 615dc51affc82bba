//! `attractor sweep STUDY --out DIR`: all runs of a study.

mod cluster;
pub(super) mod view;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attractor::Error;
use attractor::engine::{self, Share};
use attractor::experiment::threads;
use attractor::shell;
use attractor::study::Study;
use attractor::sweep::{Ended, Sweep as Runs};
use attractor::text::count;
use clap::Args;

use super::whole;
use crate::follow::Shown;
use crate::reading::tell_remarks;
use crate::visible::notes;
use cluster::ClusterFlags;
use view::View;

/// Train and judge all runs of a study
///
/// A study is a file (TOML): data, settings of all runs, a [grid] of settings and a [[list]] of combinations, seeds, and how
/// models are judged. Every run is a folder DIR/CELL/seed-NN with the files of `attractor train` and its scores (scores.json).
/// Runs go side by side, one per core. Runs that have ended are not done again: the same command continues a sweep that was
/// interrupted, in the middle of runs as well, and more processes can be started on the same folder. A run that diverges is a
/// result. `attractor table DIR` shows the results. Ctrl-C saves the state of all runs and ends with exit code 130; the exit code is 2 if a run could not go on.
#[derive(Debug, Args)]
pub(crate) struct Sweep {
    /// File that describes the study
    #[arg(required_unless_present_any = ["status", "cancel"])]
    study: Option<PathBuf>,
    /// Folder for the runs: new, empty or of the same study
    #[arg(long, value_name = "DIR", required_unless_present_any = ["status", "cancel"])]
    out: Option<PathBuf>,
    /// Do every N-th run only, from run I on, as in 0/16: for several machines that do not communicate
    #[arg(long, value_name = "I/N")]
    share: Option<Share>,
    /// With --share: once its own runs are done, also do those of other shares that nobody has begun, where claims on runs hold
    #[arg(long, requires = "share")]
    help_others: bool,
    /// The fingerprint of the program that was submitted
    #[arg(long, hide = true)]
    submitted: Option<String>,
    /// Compute floors and chance levels of the study's data, and end
    #[arg(long, hide = true)]
    levels_only: bool,
    /// Show how far the study in a folder is, and end
    #[arg(long, value_name = "DIR", exclusive = false)]
    status: Option<PathBuf>,
    /// End the job that was submitted from a folder
    #[arg(long, value_name = "DIR")]
    cancel: Option<PathBuf>,
    /// Runs side by side; 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<usize>)]
    workers: usize,
    /// Only the entry of the list with this name; may be repeated
    #[arg(long, value_name = "NAME")]
    only: Vec<String>,
    /// Folder of the data [default: the study's, then the one that ATTRACTOR_DATA names]
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Print what came of all runs as a JSON document
    #[arg(long)]
    json: bool,
    /// Print nothing but errors and what --json asks for
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    cluster: ClusterFlags,
}

impl Sweep {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        if let Some(folder) = &self.status {
            return cluster::show(folder, self.json, out);
        }
        if let Some(folder) = &self.cancel {
            return cluster::cancel(folder);
        }
        let (Some(file), Some(folder)) = (&self.study, &self.out) else {
            unreachable!("both are required by the flags");
        };
        let data_dir = self.data_dir.as_deref();
        match self.cluster.engine {
            Some(kind) => {
                let places = (folder.as_path(), data_dir);
                self.cluster.submit(kind, (file, &self.only), places, out)
            }
            None => self.run_here(file, folder, out),
        }
    }

    fn run_here(&self, file: &Path, folder: &Path, out: &mut dyn Write) -> Result<ExitCode, Error> {
        if let Some(program) = &self.submitted {
            engine::refuse_replaced(program)?;
        }
        let mut study = Study::read(file, self.data_dir.as_deref())?;
        if !self.only.is_empty() {
            study = study.only(&self.only)?;
        }
        if !self.quiet {
            let other = study.test.iter().filter(|test| **test != study.train);
            for data in [&study.train].into_iter().chain(other) {
                tell_remarks(&data.path, &data.options)?;
            }
        }
        let share = self.share.unwrap_or(Share::ALL);
        let sweep = Runs::prepare_share(study, folder, share)?;
        if self.levels_only {
            sweep.prepare_levels(&mut Shown::new())?;
            return Ok(ExitCode::SUCCESS);
        }
        if !self.quiet {
            tell_intervals(&sweep, &mut notes())?;
        }
        let view = if self.quiet {
            View::silent(sweep.jobs())
        } else {
            View::shown(sweep.jobs())
        };
        let ended = sweep.run(threads(self.workers), &view)?;
        if self.help_others && ended.left == 0 {
            sweep.help_others(threads(self.workers), &view)?;
        }
        view.finish();
        if self.json {
            crate::json::write(&ended.document(), out)?;
        }
        if !self.quiet {
            summarize(&ended, folder, &mut notes())?;
        }
        Ok(match (ended.failed.is_empty(), ended.left) {
            (false, _) => ExitCode::from(crate::INVALID),
            (true, 0) => ExitCode::SUCCESS,
            (true, _) => ExitCode::from(crate::INTERRUPTED),
        })
    }
}

fn summarize(ended: &Ended, folder: &Path, notes: &mut dyn Write) -> io::Result<()> {
    let folder = shell::path(folder);
    let done = ended.scored.len();
    let total = done + ended.failed.len() + ended.left;
    let diverged = ended.scored.iter().filter(|run| run.diverged()).count();
    let counts = format!(
        "{done} of {} {} done, {diverged} of them diverged",
        count(total, "run"),
        if total == 1 { "is" } else { "are" }
    );
    match (ended.failed.len(), ended.left) {
        (0, 0) => writeln!(notes, "{counts}; `attractor table {folder}` shows them"),
        (0, _) => writeln!(notes, "stopped: {counts}; the same command continues"),
        (failed, _) => writeln!(
            notes,
            "{counts}, {failed} could not go on; the same command tries them again"
        ),
    }
}

fn tell_intervals(sweep: &Runs, notes: &mut dyn Write) -> io::Result<()> {
    for found in sweep.found() {
        if let Some(note) = &found.settled.note {
            let (cell, name) = (&found.cell, found.settled.name);
            writeln!(notes, "note: `{cell}`: {note}; `{name}` sets another")?;
        }
    }
    Ok(())
}
