//! `attractor train DATA --out RUN`: a model of a recording.

pub(crate) mod flags;
pub(super) mod progress;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use attractor::Error;
use attractor::equations::equations;
use attractor::experiment::{
    DataSource, Experiment, ExperimentError, ExperimentFile, Job, Origin, PRESETS, Raw, Resolved,
};
use attractor::run::{Ending, Folder, Recording, Run, Summary, Task, Trained};
use attractor::shell;
use attractor::text::{count, figure};
use clap::builder::PossibleValuesParser;
use clap::{ArgAction, Args};

use super::analyze::write_equations;
use super::assignment;
use crate::reading::{Reading, tell_remarks};
use crate::visible::notes;
use flags::Flags;
use progress::Progress;

/// Train a model on a recording
///
/// Writes a folder with the model (model.safetensors), the settings (experiment.toml), the history of the loss
/// (history.csv) and how it ended (outcome.json). The exit code is 1 if training diverges. Ctrl-C saves the state (checkpoint.safetensors) and ends with exit code 130; `attractor resume RUN` continues it.
#[derive(Debug, Args)]
pub(crate) struct Train {
    /// File of data; by default the one that the --config file names
    #[arg(required_unless_present = "config")]
    data: Option<PathBuf>,
    /// Folder for the run, new or empty
    #[arg(long, value_name = "RUN")]
    out: PathBuf,
    /// File of settings (TOML), such as the experiment.toml of another run
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Settings under one name, which override the defaults below; files, --set and flags override them [default: robust, without --config]
    #[arg(long, value_parser = PossibleValuesParser::new(PRESETS.iter().map(|p| p.name)))]
    preset: Option<String>,
    /// Any setting by name; may be repeated, flags override it
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Print how it ended as a JSON document
    #[arg(long)]
    json: bool,
    /// Print nothing but errors and what --json asks for
    #[arg(long)]
    quiet: bool,
    /// Print help with every setting, by method
    #[arg(long, action = ArgAction::HelpLong)]
    help_all: (),
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    reading: Reading,
}

impl Train {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let (mut raw, file) = self.settings()?;
        // What is wrong with it is reported before anything is read.
        Experiment::check(&raw)?;
        let data = self.data_source(file)?;
        Folder::new(&self.out).refuse_occupied()?;
        let recording = Arc::new(Recording::read(data)?);
        recording.refuse_clock()?;
        tell_remarks(&recording.source.path, &recording.source.options)?;
        if self.preset.is_none() && self.config.is_none() {
            raw = raw.with_usual(&recording.series)?;
        }
        let experiment = Experiment::check(&raw)?;
        let task = Task::new(&experiment, recording)?;
        let show = Show {
            json: self.json,
            quiet: self.quiet,
        };
        let mut notes = experiment.without_effect(&raw);
        notes.extend(task.notes());
        show.before(&notes)?;
        // Signals are listened for before there is a folder, so that none leaves one without an explanation.
        let mut progress = show.progress(&task.resolved);
        let run = Run::begin(&self.out, task)?;
        let trained = run.train(&mut progress)?;
        progress.finish();
        show.after(&trained, &run, out)
    }

    /// The settings as written, and the file:  defaults < preset < file < `--set` < flags.
    fn settings(&self) -> Result<(Raw, ExperimentFile), ExperimentError> {
        let mut raw = Raw::default();
        if let Some(preset) = &self.preset {
            raw.preset(preset)?;
        }
        let mut file = match &self.config {
            Some(path) => ExperimentFile::read(path)?,
            None => ExperimentFile::default(),
        };
        raw.given.append(&mut file.raw.given);
        for (name, text) in &self.set {
            raw.push(name, text, Origin::Set);
        }
        for (name, text) in &self.flags.given {
            raw.push(name, text, Origin::Flag);
        }
        Ok((raw, file))
    }

    /// The recording that was typed, else that of the file; it is read as the flags say, else as the file says.
    fn data_source(&self, file: ExperimentFile) -> Result<DataSource, ExperimentError> {
        let config = self.config.clone().unwrap_or_default();
        let source = match (&self.data, file.data) {
            (Some(path), Some(of_file)) => DataSource {
                path: path.clone(),
                ..of_file
            },
            (Some(path), None) => DataSource {
                path: path.clone(),
                prepare: file.prepare,
                ..DataSource::default()
            },
            (None, Some(source)) => source.found_from(&config)?,
            (None, None) => return Err(ExperimentError::NoData { path: config }),
        };
        Ok(DataSource {
            options: self.reading.options_over(source.options),
            ..source
        })
    }
}

/// What is printed of a training.
#[derive(Debug, Clone, Copy)]
pub(super) struct Show {
    /// How it ended, as JSON on standard output.
    pub(super) json: bool,
    /// Nothing on standard error.
    pub(super) quiet: bool,
}

impl Show {
    /// Says what was set for nothing, what was done to the data, and other remarks.
    pub(super) fn before(self, remarks: &[String]) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        let mut notes = notes();
        remarks
            .iter()
            .try_for_each(|remark| writeln!(notes, "note: {remark}"))
    }

    pub(super) fn progress(self, resolved: &Resolved) -> Progress {
        let updates = match &resolved.job {
            Job::Train(training) => training.trainer.length().updates(),
            Job::Solve => 0,
        };
        if self.quiet {
            Progress::silent(updates)
        } else {
            Progress::shown(updates)
        }
    }

    /// Says how it went; gives back the exit code.
    pub(super) fn after(
        self,
        trained: &Trained,
        run: &Run,
        out: &mut dyn Write,
    ) -> Result<ExitCode, Error> {
        let outcome = trained.summary.outcome;
        if self.json {
            let document =
                serde_json::to_string_pretty(&trained.summary).map_err(io::Error::from)?;
            writeln!(out, "{document}")?;
        }
        if !self.quiet {
            let mut notes = notes();
            if let Some(found) = equations(&trained.reconstruction, None) {
                writeln!(notes, "{}", trained.reconstruction.dynamics.describe())?;
                write_equations(&found, &mut notes)?;
            }
            summarize(trained, run.path(), &mut notes)?;
            if outcome == Ending::Diverged {
                let hint = run.task().resolved.against_divergence();
                writeln!(notes, "hint: {hint}")?;
            }
        }
        Ok(match outcome {
            Ending::Diverged => ExitCode::from(crate::OUTCOME),
            Ending::Stopped => ExitCode::from(crate::INTERRUPTED),
            Ending::Finished | Ending::Unknown => ExitCode::SUCCESS,
        })
    }
}

/// A line on how it went.
fn summarize(trained: &Trained, run: &Path, notes: &mut dyn Write) -> io::Result<()> {
    let Summary {
        seconds,
        update,
        outcome,
        ..
    } = trained.summary;
    let folder = run.display();
    let updates = count(update as usize, "update");
    let loss = trained.summary.loss;
    let loss = loss.map_or(String::new(), |loss| format!(", loss {loss:.6}"));
    for back in &trained.summary.rollbacks {
        writeln!(
            notes,
            "note: diverged at update {}, went back to {} with learning rate × {} and alpha {}",
            back.diverged,
            back.back_to,
            back.rate_scale,
            figure(back.alpha)
        )?;
    }
    if trained.found_none {
        let chosen = trained.summary.chosen.as_deref();
        writeln!(
            notes,
            "note: --best-by found no parameters with a score: free orbits diverge or come to rest; the model has others ({})",
            chosen.unwrap_or_default()
        )?;
    }
    match outcome {
        Ending::Finished | Ending::Unknown if update == 0 => {
            writeln!(notes, "solved in {seconds:.1} s: {folder}")
        }
        Ending::Finished | Ending::Unknown => writeln!(
            notes,
            "finished {updates} in {seconds:.1} s{loss}: {folder}"
        ),
        Ending::Stopped => writeln!(
            notes,
            "stopped after {updates} in {seconds:.1} s{loss}; `attractor resume {}` continues: {folder}",
            shell::path(run)
        ),
        Ending::Diverged => writeln!(
            notes,
            "diverged at update {update} after {seconds:.1} s{loss}; the last finite state is kept: {folder}"
        ),
    }
}
