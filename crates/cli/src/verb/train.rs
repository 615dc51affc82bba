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
use attractor::inspect::figure;
use attractor::run::{RunFolder, Trained};
use attractor::series::{Series, mean_and_sd};
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
        let (experiment, data) = self.experiment()?;
        let folder = RunFolder::check(&self.out)?;
        let series = format::read(&data.path, &data.options)?;
        let resolved = experiment
            .resolve(&series)
            .map_err(|error| error.of_file(&data.path))?;
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
            let mut notes = io::stderr().lock();
            summarize(&trained, folder.path(), &mut notes)?;
            if let Outcome::Diverged { .. } = trained.outcome {
                writeln!(notes, "hint: {}", against_divergence(&series))?;
            }
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

    /// The recording that was typed, else that of the file; it is read as the flags say, else as the file says.
    fn data_source(&self, of_file: Option<DataSource>) -> Result<DataSource, ExperimentError> {
        let config = self.config.clone().unwrap_or_default();
        let source = match (&self.data, of_file) {
            (Some(path), of_file) => DataSource {
                path: path.clone(),
                ..of_file.unwrap_or_default()
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

/// A line on how it went.
fn summarize(trained: &Trained, folder: &Path, notes: &mut dyn Write) -> io::Result<()> {
    let (word, seconds) = (trained.word(), trained.seconds);
    let loss = trained
        .history
        .last()
        .map_or(String::new(), |epoch| format!(", loss {:.6}", epoch.loss));
    let update = trained.outcome.state().update;
    if let Outcome::Diverged { .. } = trained.outcome {
        return writeln!(
            notes,
            "diverged at update {update} after {seconds:.1} s{loss}; the last finite state is kept: {}",
            folder.display()
        );
    }
    writeln!(
        notes,
        "{word} {update} updates in {seconds:.1} s{loss}: {}",
        folder.display()
    )
}

/// What may keep training finite. Most often the data are not standardised: parameters start for mean 0 and spread 1.
fn against_divergence(series: &Series) -> String {
    let settings =
        "a lower `--lr`, a higher `--alpha`, a shorter `--window` or `--clip-norm 10` may help";
    let far = |(mean, sd): (f64, f64)| mean.abs() > 1.0 || !(0.2..=5.0).contains(&sd);
    let moments = (0..series.dim_obs()).map(|c| mean_and_sd(series.column(c)));
    match moments.enumerate().find(|(_, moments)| far(*moments)) {
        None => settings.to_string(),
        Some((c, (mean, sd))) => format!(
            "standardise the data (channel `{}` has mean {} and spread {}, 0 and 1 train best); then {settings}",
            series.channels()[c].name,
            figure(mean),
            figure(sd)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_are_not_standardised_are_the_first_suspect() {
        let hint = |offset: f64, scale: f64| {
            let x = (0..100).map(|i| offset + scale * f64::from(i % 10 - 5));
            against_divergence(&Series::from_rows(x.collect(), 1, 1.0).unwrap())
        };
        assert!(hint(0.0, 0.3).starts_with("a lower `--lr`"));
        let far = "standardise the data (channel `x1` has mean";
        assert!(hint(100.0, 0.3).starts_with(far));
        assert!(hint(0.0, 50.0).starts_with(far));
        assert!(hint(0.0, 0.01).starts_with(far));
    }
}
