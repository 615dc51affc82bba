//! `attractor plot KIND RUN… --out FILE`: a figure of the paper, drawn from runs.

use std::io::{self, Write};
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::experiment::threads;
use attractor::figure::{self, Figure, FigureFormat, KINDS, Kind, Request, Units};
use attractor::run::Folder;
use attractor::text::figure as in_figures;
use attractor::{Error, recording_exponent, store};
use clap::Args;
use serde_json::{Map, Value, json};

use super::lyapunov::{delay, dims, region};
use super::whole;
use crate::reading::Reading;
use crate::table;
use crate::visible::notes;

/// Steps ahead that are predicted if none are given.
const AHEAD: usize = 5;

/// Draw a figure of the paper from runs, with its numbers as CSV beside it
///
/// Without KIND the kinds are listed. FILE is .svg, .png or .pdf; the numbers go to FILE.csv with the same stem, several
/// tables to FILE-NAME.csv. Most figures have one panel per RUN. A run that diverges is drawn as far as it goes, and a note
/// says so.
#[derive(Debug, Args)]
pub(crate) struct Plot {
    /// Which figure to draw
    #[arg(requires = "out")]
    kind: Option<String>,
    /// Folders of runs or model files, also files of data with their orbits where a figure has orbits; of line searches for line-search, of studies for scores and comparison; files of data for lyapunov-fit
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
    /// File to write, in the format that its name says
    #[arg(long, value_name = "FILE", requires = "kind")]
    out: Option<PathBuf>,
    /// True data to draw beside the runs, from whose first row they start [default: the training data]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Rows of data to draw [default: 200 to 2000, by kind]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = steps)]
    steps: Option<usize>,
    /// Channels to draw, by name or number from 1, separated by commas [default: the first, or all of up to three]
    #[arg(long, value_name = "CHANNELS", value_delimiter = ',')]
    show: Vec<String>,
    /// What the runs are called in the figure, separated by commas [default: the names of their folders]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    labels: Vec<String>,
    /// Width in mm [default: 88 or 180, one column or two]
    #[arg(long, value_name = "MM", allow_negative_numbers = true, value_parser = width)]
    width: Option<f64>,
    /// Show every channel of a heat map in its own standard deviations
    #[arg(long)]
    z_score: bool,
    /// From where three channels, or a surface, are seen: azimuth and elevation in degrees [default: from where the truth covers most]
    #[arg(long, value_name = "AZ,EL", allow_hyphen_values = true, value_parser = view)]
    view: Option<(f64, f64)>,
    /// The system that the data are from, whose exponents lyapunov shows too
    #[arg(long, value_name = "NAME")]
    system: Option<String>,
    /// Steps ahead that n-step predicts [default: 5]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = steps)]
    ahead: Option<usize>,
    /// Dimensions of the delay vectors of lyapunov-fit, first and last [default: found]
    #[arg(long, value_name = "A:B", value_parser = dims)]
    dims: Option<RangeInclusive<usize>>,
    /// Delay of lyapunov-fit in rows [default: found]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true, value_parser = delay)]
    delay: Option<usize>,
    /// Region of the fit of lyapunov-fit in units of time [default: found]
    #[arg(long, value_name = "A:B", allow_negative_numbers = true, value_parser = region)]
    fit: Option<RangeInclusive<f64>>,
    /// Worker threads, 0 for all cores; the result does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<usize>)]
    threads: usize,
    /// Print a JSON document: files, key numbers and notes
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Plot {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let (Some(name), Some(path)) = (&self.kind, &self.out) else {
            return self.list(out);
        };
        let kind = figure::find(name)?;
        // What cannot be written is reported before the work begins.
        FigureFormat::of(path)?;
        store::refuse_unwritable(path)?;
        let figure = kind.draw(&self.request())?;
        let files = figure.write(path, &self.read())?;
        let idle = self.idle(kind);
        let idle = idle.map(|flag| format!("{flag} has no effect on {}", kind.id));
        let all: Vec<String> = idle.chain(figure.notes.iter().cloned()).collect();
        if self.json {
            writeln!(out, "{:#}", document(kind, &figure, &files, &all))?
        } else {
            write_numbers(&figure, out)?
        }
        out.flush()?;
        let mut notes = notes();
        for note in &all {
            writeln!(notes, "note: {note}")?;
        }
        for file in &files {
            writeln!(notes, "wrote {}", file.display())?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn list(&self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        if self.json {
            writeln!(
                out,
                "{:#}",
                json!(KINDS.iter().map(entry).collect::<Vec<_>>())
            )?
        } else {
            write_kinds(out)?
        }
        Ok(ExitCode::SUCCESS)
    }

    /// Flags that were given and belong to other kinds.
    fn idle(&self, kind: &Kind) -> impl Iterator<Item = &'static str> {
        let flags = [
            ("--data", self.data.is_some()),
            ("--steps", self.steps.is_some()),
            ("--show", !self.show.is_empty()),
            ("--z-score", self.z_score),
            ("--view", self.view.is_some()),
            ("--system", self.system.is_some()),
            ("--ahead", self.ahead.is_some()),
            ("--dims", self.dims.is_some()),
            ("--delay", self.delay.is_some()),
            ("--fit", self.fit.is_some()),
        ];
        let given = flags.into_iter().filter(|(_, given)| *given);
        given
            .map(|(flag, _)| flag)
            .filter(|flag| !kind.heeds.contains(flag))
    }

    /// The files that the figure is drawn from, with the recordings of the runs.
    fn read(&self) -> Vec<PathBuf> {
        let named = self.runs.iter().chain(&self.data).cloned();
        let trained_on = self
            .runs
            .iter()
            .filter_map(|run| Folder::new(run).recording());
        named.chain(trained_on).collect()
    }

    fn request(&self) -> Request {
        let threads = threads(self.threads);
        Request {
            subjects: self.runs.clone(),
            labels: self.labels.clone(),
            data: self.data.clone(),
            reading: self.reading.options(),
            width: self.width,
            steps: self.steps,
            channels: self.show.clone(),
            units: if self.z_score {
                Units::ZScores
            } else {
                Units::Data
            },
            view: self.view,
            system: self.system.clone(),
            ahead: self.ahead.unwrap_or(AHEAD),
            exponent: recording_exponent::Request {
                dims: self.dims.clone(),
                delay: self.delay,
                fit: self.fit.clone(),
                threads,
                ..Default::default()
            },
            threads,
        }
    }
}

/// Writes the kinds with a sentence and the figures of the paper that they are.
pub(super) fn write_kinds(out: &mut dyn Write) -> io::Result<()> {
    let row = |kind: &Kind| [kind.id, kind.summary, kind.paper].map(String::from);
    table::write(out, &KINDS.iter().map(row).collect::<Vec<_>>())
}

/// A kind, as `list --json` has it.
pub(super) fn entry(kind: &Kind) -> Value {
    json!({
        "kind": "figures",
        "name": kind.id,
        "summary": kind.summary,
        "paper": kind.paper,
    })
}

fn write_numbers(figure: &Figure, out: &mut dyn Write) -> io::Result<()> {
    let row = |(name, value): &(String, f64)| [name.clone(), in_figures(*value)];
    table::write(out, &figure.numbers.iter().map(row).collect::<Vec<_>>())
}

fn document(kind: &Kind, figure: &Figure, files: &[PathBuf], notes: &[String]) -> Value {
    let numbers: Map<String, Value> = figure
        .numbers
        .iter()
        .map(|(name, value)| (name.clone(), json!(value)))
        .collect();
    json!({
        "schema": 1,
        "figure": kind.id,
        "paper": kind.paper,
        "files": files.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "numbers": numbers,
        "notes": notes,
    })
}

fn steps(text: &str) -> Result<usize, String> {
    let steps = text.parse().ok();
    steps
        .filter(|steps| (1..=1_000_000).contains(steps))
        .ok_or_else(|| "expected a whole number from 1 to 1000000".to_string())
}

fn view(text: &str) -> Result<(f64, f64), String> {
    let angles = text.split_once(',').and_then(|(azimuth, elevation)| {
        Some((azimuth.trim().parse().ok()?, elevation.trim().parse().ok()?))
    });
    angles
        .filter(|(azimuth, elevation): &(f64, f64)| {
            azimuth.abs() <= 360.0 && (0.0..=90.0).contains(elevation)
        })
        .ok_or_else(|| {
            "expected degrees such as `-40,20`: an azimuth, and an elevation from 0 to 90"
                .to_string()
        })
}

fn width(text: &str) -> Result<f64, String> {
    let width = text.parse().ok();
    width
        .filter(|width| (60.0..=1000.0).contains(width))
        .ok_or_else(|| "expected a number from 60 to 1000".to_string())
}
