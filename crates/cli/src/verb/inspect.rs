//! `attractor inspect FILE [--against FILE2]`: what to know about data before hours of training.

mod text;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::experiment::DataSource;
use attractor::inspect::{Inspection, Options, Severity, inspect_followed};
use attractor::inspection::InspectionDocument;
use clap::{Args, ValueEnum};

use crate::follow::Shown;
use crate::reading::Reading;

/// Exit code when a finding is a problem, so that a script stops before it trains.
const PROBLEM: u8 = 1;

/// Look for what spoils training: copies, drift, gaps, wrong scale, too little data
///
/// With --against it also looks for test data that are training data. It prints a table of the channels, then findings with remedies, the most serious first. The exit code is 1 if one of them
/// is a problem, 0 otherwise.
#[derive(Debug, Args)]
pub(crate) struct Inspect {
    /// File to inspect
    file: PathBuf,
    /// Second file, such as the test set: is it the first, does it overlap, continue or differ?
    #[arg(long, value_name = "FILE2")]
    against: Option<PathBuf>,
    /// Steps of the training window that the data must be long enough for: T steps need T + 1 rows
    #[arg(long, value_name = "T", default_value_t = 200, allow_negative_numbers = true, value_parser = window)]
    window: usize,
    /// Which channels the table lists; a summary takes the place of more than 16
    #[arg(long, value_name = "WHICH", default_value = "some")]
    list: Listed,
    /// Print a JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// Which channels the table lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Listed {
    /// All up to 16, a summary of more
    Some,
    /// All
    All,
}

impl Inspect {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let inspection = self.look()?;
        if self.json {
            let against = self.against.as_deref();
            let document = InspectionDocument::new(&inspection, &self.file, against);
            crate::json::write(&document, out)?;
        } else {
            self.print(&inspection, out)?;
        }
        Ok(exit_code(&inspection))
    }

    fn look(&self) -> Result<Inspection, Error> {
        let options = Options {
            window: self.window,
        };
        let series = self.reading.read(&self.file)?;
        let second = self.against.as_ref().map(|path| self.reading.read(path));
        let second = second.transpose()?;
        Ok(inspect_followed(
            &series,
            second.as_ref(),
            options,
            &mut Shown::new(),
        )?)
    }

    fn print(&self, inspection: &Inspection, out: &mut dyn Write) -> Result<(), Error> {
        writeln!(out, "{}: {}", self.file.display(), text::shape(inspection))?;
        if let (Some(path), Some(comparison)) = (&self.against, &inspection.against) {
            writeln!(out, "{}: {}", path.display(), text::comparison(comparison))?;
        }
        writeln!(out)?;
        match self.list {
            Listed::Some => text::short_table(inspection, out)?,
            Listed::All => text::full_table(inspection, out)?,
        }
        writeln!(out)?;
        let source = DataSource {
            path: self.file.clone(),
            options: self.reading.options(),
            ..DataSource::default()
        };
        text::findings(inspection, &source.as_typed(), out)?;
        Ok(())
    }
}

/// The channels, and what looks wrong; `file` is what a command names the recording.
pub(super) fn write_short(
    inspection: &Inspection,
    file: &str,
    out: &mut dyn Write,
) -> Result<(), Error> {
    text::short_table(inspection, out)?;
    writeln!(out)?;
    text::findings(inspection, file, out)?;
    Ok(out.flush()?)
}

fn exit_code(inspection: &Inspection) -> ExitCode {
    let problem = |f: &attractor::inspect::Finding| f.severity == Severity::Problem;
    if inspection.findings.iter().any(problem) {
        ExitCode::from(PROBLEM)
    } else {
        ExitCode::SUCCESS
    }
}

fn window(text: &str) -> Result<usize, String> {
    let steps = text.parse().ok();
    steps
        .filter(|steps| (1..=1_000_000_000).contains(steps))
        .ok_or_else(|| "a window has between 1 and 1000000000 steps".to_string())
}
