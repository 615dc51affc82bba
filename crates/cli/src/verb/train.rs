//! `attractor train DATA --out RUN`: a model of a recording.

mod flags;
mod progress;

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attractor::Error;
use attractor::experiment::{
    DataSource, Experiment, ExperimentError, ExperimentFile, Origin, PRESETS, Raw,
};
use attractor::format;
use attractor::run::{RunFolder, Trained};
use attractor::train::Outcome;
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::assignment;
use crate::reading::Reading;
use flags::Flags;
use progress::Progress;

/// Train a model on a recording
///
/// Writes a folder with the model (model.safetensors), the settings (experiment.toml), the history of the loss
/// (history.csv) and how it ended (outcome.json). The exit code is 1 if training diverges.
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
    /// Print no progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    reading: Reading,
}

impl Train {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let (experiment, data) = self.experiment()?;
        let folder = RunFolder::check(&self.out)?;
        let series = format::read(&data.path, &data.options)?;
        let resolved = experiment.resolve(&series)?;
        folder.begin(&resolved, &data)?;
        let mut progress = match self.quiet {
            true => Progress::silent(&resolved.plan),
            false => Progress::shown(&resolved.plan),
        };
        let trained = Trained::from_start(&resolved, &series, &mut progress);
        progress.finish();
        folder.end(&trained)?;
        if self.json {
            writeln!(out, "{:#}", trained.to_json())?;
        }
        if !self.quiet {
            summarize(&trained, folder.path(), &mut io::stderr().lock())?;
        }
        Ok(match trained.outcome {
            Outcome::Diverged { .. } => ExitCode::from(crate::OUTCOME),
            Outcome::Finished(_) | Outcome::Stopped(_) => ExitCode::SUCCESS,
        })
    }

    /// The checked settings and the recording:  defaults < preset < file < `--set` < flags.
    fn experiment(&self) -> Result<(Experiment, DataSource), Error> {
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
        let experiment = Experiment::check(&raw)?;
        Ok((experiment, self.data_source(file.data)?))
    }

    /// The recording that was typed, else that of the file; flags go before what the file says.
    fn data_source(&self, of_file: Option<DataSource>) -> Result<DataSource, ExperimentError> {
        let typed = self.data.clone().map(|path| DataSource {
            path,
            ..DataSource::default()
        });
        let path = self.config.clone().unwrap_or_default();
        let source = typed.or(of_file).ok_or(ExperimentError::NoData { path })?;
        Ok(DataSource {
            options: self.reading.options_over(source.options),
            ..source
        })
    }
}

/// One or two lines on how it went.
fn summarize(trained: &Trained, folder: &Path, notes: &mut dyn Write) -> io::Result<()> {
    let (word, seconds) = (trained.word(), trained.seconds);
    let loss = trained
        .history
        .last()
        .map_or(String::new(), |epoch| format!(", loss {:.6}", epoch.loss));
    let update = trained.outcome.state().update;
    if let Outcome::Diverged { .. } = trained.outcome {
        writeln!(
            notes,
            "diverged at update {update} after {seconds:.1} s{loss}; the last finite state is kept: {}",
            folder.display()
        )?;
        return writeln!(
            notes,
            "hint: a lower `--lr`, a higher `--alpha`, a shorter `--window` or `--clip-norm 10` may help"
        );
    }
    writeln!(
        notes,
        "{word} {update} updates in {seconds:.1} s{loss}: {}",
        folder.display()
    )
}
