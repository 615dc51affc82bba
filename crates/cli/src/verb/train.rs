//! `attractor train DATA --out RUN`: a model of a recording.

pub(super) mod flags;
pub(super) mod progress;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attractor::Error;
use attractor::experiment::{
    DataSource, Experiment, ExperimentError, ExperimentFile, Origin, PRESETS, Raw, Resolved,
};
use attractor::forcing::Forcing;
use attractor::inspect::{count, figure};
use attractor::recording_exponent::Predictability;
use attractor::run::{RunFolder, Trained};
use attractor::shell;
use attractor::train::{Outcome, Plan};
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::assignment;
use crate::reading::{Reading, tell_remarks};
use crate::visible::notes;
use flags::Flags;
use progress::Progress;

/// Train a model on a recording
///
/// Writes a folder with the model (model.safetensors), the settings (experiment.toml), the history of the loss
/// (history.csv) and how it ended (outcome.json). The exit code is 1 if training diverges. Ctrl-C stores where it is
/// (checkpoint.safetensors) and ends it with exit code 130; `attractor resume RUN` continues it.
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
    /// Settings under one name; files, --set and flags go before it
    #[arg(long, value_parser = PossibleValuesParser::new(PRESETS.iter().map(|p| p.name)))]
    preset: Option<String>,
    /// Any setting by name; may be repeated, flags go before it
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Print how it ended as a JSON document
    #[arg(long)]
    json: bool,
    /// Print nothing but mistakes and what --json asks for
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    reading: Reading,
}

impl Train {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let (raw, file) = self.settings()?;
        let experiment = Experiment::check(&raw)?;
        let data = self.data_source(file)?;
        let folder = RunFolder::check(&self.out)?;
        let (series, pipeline) = data.read()?;
        tell_remarks(&data.path, &data.options)?;
        let resolved = experiment
            .resolve(&series)
            .map_err(|error| error.of_file(&data.path))?
            .prepared_by(pipeline);
        let show = Show {
            json: self.json,
            quiet: self.quiet,
        };
        show.before(&resolved, &experiment.without_effect(&raw))?;
        // Signals are listened for before there is a folder, so that none leaves one without an explanation.
        let mut progress = show.progress(&resolved.plan);
        let run = folder.begin(&resolved, &data, &series)?;
        let trained = run.train(&resolved, &series, None, &mut progress)?;
        progress.finish();
        show.after(&trained, &resolved, run.path(), out)
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
    /// Says what was set for nothing, and what was done to the data.
    pub(super) fn before(self, resolved: &Resolved, idle: &[String]) -> io::Result<()> {
        if self.quiet {
            return Ok(());
        }
        let mut notes = notes();
        for setting in idle {
            writeln!(notes, "note: {setting}")?;
        }
        if let Some(far) = &resolved.data.reason {
            writeln!(
                notes,
                "note: all channels are standardised, because `{}` has mean {} and spread {}; `--standardize off` leaves them",
                far.name,
                figure(far.mean),
                figure(far.sd)
            )?;
        }
        if let Some(found) = &resolved.found_interval {
            let every = interval(found);
            writeln!(
                notes,
                "note: states are replaced every {every}; `--interval` sets another"
            )?;
        }
        if let Forcing::Sparse { interval } = resolved.plan.forcing
            && interval >= resolved.windows.window()
        {
            writeln!(
                notes,
                "note: windows of {} are forced at their start alone, because the interval has {interval}",
                count(resolved.windows.window(), "step")
            )?;
        }
        let windows = &resolved.windows;
        if windows.left_out() > 0 {
            writeln!(
                notes,
                "note: values are missing: {} of {} windows are left out",
                windows.left_out(),
                windows.left_out() + windows.count()
            )?;
        }
        Ok(())
    }

    pub(super) fn progress(self, plan: &Plan) -> Progress {
        match self.quiet {
            true => Progress::silent(plan),
            false => Progress::shown(plan),
        }
    }

    /// Says how it went; gives back the exit code.
    pub(super) fn after(
        self,
        trained: &Trained,
        resolved: &Resolved,
        folder: &Path,
        out: &mut dyn Write,
    ) -> Result<ExitCode, Error> {
        if self.json {
            writeln!(out, "{:#}", trained.to_json())?;
        }
        if !self.quiet {
            let mut notes = notes();
            summarize(trained, folder, &mut notes)?;
            if let Outcome::Diverged { .. } = trained.outcome {
                writeln!(notes, "hint: {}", resolved.against_divergence())?;
            }
        }
        Ok(match trained.outcome {
            Outcome::Diverged { .. } => ExitCode::from(crate::OUTCOME),
            Outcome::Stopped(_) => ExitCode::from(crate::INTERRUPTED),
            Outcome::Finished(_) => ExitCode::SUCCESS,
        })
    }
}

/// What an interval is that was left to the data.
pub(super) fn interval(found: &Predictability) -> String {
    let error = found.error.map(|error| format!(" ± {}", figure(error)));
    format!(
        "{}, the predictability time of `{}` (λ = {}{} per row)",
        count(found.rows, "step"),
        found.channel,
        figure(found.exponent),
        error.unwrap_or_default()
    )
}

/// A line on how it went.
fn summarize(trained: &Trained, run: &Path, notes: &mut dyn Write) -> io::Result<()> {
    let (seconds, folder) = (trained.seconds, run.display());
    let loss = trained
        .history
        .last()
        .map_or(String::new(), |epoch| format!(", loss {:.6}", epoch.loss));
    for back in &trained.rollbacks {
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
        let chosen = trained.reconstruction.card.chosen.as_deref();
        writeln!(
            notes,
            "note: --best-by found no parameters with a score: free orbits diverge or stand still; the model has others ({})",
            chosen.unwrap_or_default()
        )?;
    }
    let update = trained.outcome.state().update;
    match trained.outcome {
        Outcome::Finished(_) => writeln!(
            notes,
            "finished {update} updates in {seconds:.1} s{loss}: {folder}"
        ),
        Outcome::Stopped(_) => writeln!(
            notes,
            "stopped after {update} updates in {seconds:.1} s{loss}; `attractor resume {}` continues: {folder}",
            shell::path(run)
        ),
        Outcome::Diverged { .. } => writeln!(
            notes,
            "diverged at update {update} after {seconds:.1} s{loss}; the last finite state is kept: {folder}"
        ),
    }
}
