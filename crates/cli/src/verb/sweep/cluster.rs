//! `attractor sweep --engine …`, `--status DIR` and `--cancel DIR`: a study on other machines.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use attractor::Error;
use attractor::engine::{self, Engine, Request, Slurm, Status};
use attractor::shell;
use attractor::study::Study;
use attractor::sweep::Sweep as Runs;
use attractor::text::{count, figure};
use clap::{Args, ValueEnum};

use super::super::whole;
use crate::json;
use crate::visible::notes;

/// Flags of a study on other machines
#[derive(Debug, Args)]
#[command(next_help_heading = "On a cluster")]
pub(super) struct ClusterFlags {
    /// Hand the study to a queue instead of running it here; the same command continues it later
    #[arg(long, value_enum)]
    pub(super) engine: Option<Kind>,
    /// Tasks, each of which does its share of the runs
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = at_least_one, requires = "engine")]
    jobs: usize,
    /// Tasks that run at once, at most
    #[arg(long, value_name = "K", value_parser = at_least_one, requires = "engine")]
    at_once: Option<usize>,
    /// Time limit of a task, as Slurm writes it: 4:00:00, 2-00:00:00
    #[arg(long, value_name = "T", requires = "engine")]
    time: Option<String>,
    /// Seconds before the limit at which a task stores its run and queues again
    #[arg(long, value_name = "S", default_value_t = 120, value_parser = whole::<u64>, requires = "engine")]
    signal_before: u64,
    /// How often a task queues again, at most
    #[arg(long, value_name = "R", default_value_t = 20, value_parser = whole::<usize>, requires = "engine")]
    restarts: usize,
    /// Further flags of sbatch, as in "--partition=long --mem-per-cpu=2G"
    #[arg(
        long,
        value_name = "FLAGS",
        allow_hyphen_values = true,
        requires = "engine"
    )]
    slurm: Option<String>,
    /// Shell commands that each task runs first, as in "module load gcc"
    #[arg(long, value_name = "COMMANDS", requires = "engine")]
    setup: Option<String>,
    /// The command that submits, for `--engine command`; {script} takes a share, from 0 to {last}, as its argument
    #[arg(long, value_name = "TEMPLATE", requires = "engine")]
    submit: Option<String>,
    /// Show the script that would be submitted, and submit nothing
    #[arg(long, requires = "engine")]
    dry_run: bool,
    /// Wait until the job is over
    #[arg(long, requires = "engine")]
    wait: bool,
}

/// Who runs the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Kind {
    /// Slurm, by sbatch
    Slurm,
    /// Any other, by the command of --submit
    Command,
}

fn at_least_one(text: &str) -> Result<usize, String> {
    let parsed = text.parse().ok().filter(|&n| (1..=100_000).contains(&n));
    parsed.ok_or_else(|| "expected a whole number from 1 to 100000".to_string())
}

impl ClusterFlags {
    fn engine(&self, kind: Kind) -> Engine {
        match kind {
            Kind::Slurm => Engine::Slurm(Slurm {
                at_once: self.at_once,
                time: self.time.clone(),
                signal_before: self.signal_before,
                restarts: self.restarts,
                flags: self.slurm.clone(),
            }),
            Kind::Command => Engine::Command(self.submit.clone().unwrap_or(DEFAULT.to_string())),
        }
    }

    /// Hands a study over.
    pub(super) fn submit(
        &self,
        kind: Kind,
        (file, only): (&Path, &[String]),
        (folder, data_folder): (&Path, Option<&Path>),
        out: &mut dyn Write,
    ) -> Result<ExitCode, Error> {
        let request = Request {
            study: file.to_path_buf(),
            folder: folder.to_path_buf(),
            only: only.to_vec(),
            data_folder: data_folder.map(Path::to_path_buf),
            jobs: self.jobs,
            setup: self.setup.clone(),
            engine: self.engine(kind),
        };
        if self.dry_run {
            let [share, _] = request.scripts(Path::new("DIR/.jobs/1"))?;
            out.write_all(share.as_bytes())?;
            return Ok(ExitCode::SUCCESS);
        }
        // Errors are reported here, not by a task in the night.
        let mut study = Study::read(file, data_folder)?;
        if !only.is_empty() {
            study = study.only(only)?;
        }
        let sweep = Runs::prepare(study, folder)?;
        if sweep.jobs().iter().all(|job| job.scored.is_some()) {
            let folder = folder.to_path_buf();
            return Err(engine::EngineError::Done { folder }.into());
        }
        let submitted = request.submit(sweep.study())?;
        let path = shell::path(folder);
        if let Some(job) = &submitted.job {
            writeln!(
                notes(),
                "submitted job {job}: {} for {}; `attractor sweep --status {path}` shows how far it is",
                count(submitted.shares, "task"),
                count(submitted.runs, "run")
            )?;
        }
        if self.wait {
            while engine::status(folder)?.queue.is_some() {
                thread::sleep(POLL);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Where no command is given: one task after another, here.
const DEFAULT: &str = "for i in $(seq 0 {last}); do {script} $i || exit 1; done";

/// From one look at the queue to the next.
const POLL: Duration = Duration::from_secs(2);

/// Shows how far a study is.
pub(super) fn show(folder: &Path, as_json: bool, out: &mut dyn Write) -> Result<ExitCode, Error> {
    let status = engine::status(folder)?;
    if as_json {
        json::write(&status, out)?;
    } else {
        write_status(&status, out)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_status(status: &Status, out: &mut dyn Write) -> io::Result<()> {
    let Status {
        runs,
        done,
        diverged,
        begun,
        ..
    } = status;
    let waiting = runs.saturating_sub(done + begun.len());
    writeln!(
        out,
        "{done} of {} done ({diverged} diverged), {} begun, {waiting} waiting",
        count(*runs, "run"),
        begun.len()
    )?;
    for run in begun {
        match &run.progress {
            Some(progress) => writeln!(
                out,
                "  {}  epoch {}  {:.0} %  loss {}  on {}{}",
                run.folder,
                progress.epoch,
                100.0 * progress.update as f64 / progress.updates.max(1) as f64,
                figure(progress.loss),
                progress.host,
                progress
                    .job
                    .as_ref()
                    .map_or(String::new(), |job| format!(", job {job}"))
            )?,
            None => writeln!(out, "  {}", run.folder)?,
        }
    }
    match (&status.submitted, &status.queue) {
        (Some(job), Some(queue)) => writeln!(
            out,
            "job {}: {queue}",
            job.job.as_deref().unwrap_or_default()
        ),
        (Some(job), None) if job.job.is_some() => writeln!(out, "nothing is in the queue"),
        _ => Ok(()),
    }?;
    match &status.trouble {
        Some(trouble) => writeln!(out, "{trouble}"),
        None => Ok(()),
    }
}

/// Ends the job of a folder.
pub(super) fn cancel(folder: &Path) -> Result<ExitCode, Error> {
    let job = engine::cancel(folder)?;
    writeln!(
        notes(),
        "cancelled job {job}; runs are stored where they were"
    )?;
    Ok(ExitCode::SUCCESS)
}
