//! `attractor embed IN OUT`: delay vectors of a recording.

mod text;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::embed::pecuzal::Plan;
use attractor::embedding::{self, Embedded, EmbeddingError, Method, Request};
use attractor::experiment::threads;
use attractor::format;
use attractor::text::count;
use clap::{Args, ValueEnum};

use super::whole;
use crate::follow::Shown;
use crate::reading::Reading;
use crate::visible::notes;

/// Make states of a recording: vectors of its values at several delays
///
/// Prints the coordinates that were taken, then why: candidates and by how much each lowers the L-statistic, or the
/// mutual information and false neighbours. The file gets one channel per coordinate, such as `x` and `x(t+18)`. Delays are
/// found in the longest stretch without a gap or a missing value.
#[derive(Debug, Args)]
pub(crate) struct Embed {
    /// File to read
    #[arg(value_name = "IN")]
    recording: PathBuf,
    /// File to write, in any format of `attractor list formats` that is written
    #[arg(value_name = "OUT")]
    states: PathBuf,
    /// How delays are found
    #[arg(long, value_name = "METHOD", default_value = "pecuzal")]
    method: MethodWord,
    /// Largest delay in rows [default: 50, for `--method delay` 100]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = delay)]
    max_delay: Option<usize>,
    /// Points at most this many rows apart do not count as neighbours [default: the delay of `--method delay`, the largest over channels]
    #[arg(long, value_name = "W", allow_negative_numbers = true, value_parser = rows)]
    theiler: Option<usize>,
    /// By how much a further coordinate must lower L for PECUZAL to take it [default: 0.05]
    #[arg(long, value_name = "L", allow_negative_numbers = true, value_parser = threshold)]
    threshold: Option<f64>,
    /// Coordinates of `--method delay` [default: as many as leave no false neighbours]
    #[arg(long, value_name = "D", allow_negative_numbers = true, value_parser = dims)]
    dims: Option<usize>,
    /// Worker threads, 0 for all cores; the result does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<usize>)]
    threads: usize,
    /// Print a JSON document with all curves instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

/// How delays are found.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum MethodWord {
    /// PECUZAL: unequal delays of one or several channels, as many as lower the L-statistic
    Pecuzal,
    /// Multiples of one delay of one channel: 1 for uncorrelated rows, else the first minimum of its mutual information
    Delay,
}

impl Embed {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        format::refuse_same(&self.recording, &self.states)?;
        format::refuse_unwritable(&self.states)?;
        let request = self.request()?;
        let series = self.reading.read(&self.recording)?;
        let embedded = embedding::embed(&series, &request, &mut Shown::new())?;
        let lost = format::losses(&self.states, &embedded.series)?;
        format::write(&self.states, &embedded.series)?;
        if self.json {
            crate::json::write(&embedded.document(), out)?
        } else {
            text::write(&embedded, out)?
        }
        out.flush()?;
        self.tell(&embedded, &lost)
    }

    fn request(&self) -> Result<Request, Error> {
        let method = match self.method {
            MethodWord::Pecuzal => Method::Pecuzal,
            MethodWord::Delay => Method::Delay,
        };
        let idle = match method {
            Method::Pecuzal => self.dims.map(|_| ("--dims", "PECUZAL")),
            Method::Delay => self.threshold.map(|_| ("--threshold", "`--method delay`")),
        };
        if let Some((flag, what)) = idle {
            return Err(EmbeddingError::Flag { flag, what }.into());
        }
        Ok(Request {
            method,
            max_delay: self.max_delay,
            theiler: self.theiler,
            threshold: self.threshold.unwrap_or(Plan::default().threshold),
            dims: self.dims,
            threads: threads(self.threads),
        })
    }

    fn tell(&self, embedded: &Embedded, lost: &[&str]) -> Result<ExitCode, Error> {
        let mut notes = notes();
        let (rows, searched) = embedded.rows;
        if searched < rows {
            writeln!(
                notes,
                "note: delays are those of the longest stretch without a gap or a missing value, {searched} of {}",
                count(rows, "row")
            )?;
        }
        if embedded.copies > 0 {
            writeln!(
                notes,
                "note: {} repeat and were spread within half the gap between values for the search, not in the file",
                count(embedded.copies, "value")
            )?;
        }
        if !lost.is_empty() {
            writeln!(notes, "note: the format does not hold {}", lost.join(", "))?;
        }
        let made = &embedded.series;
        let (rows, channels) = (
            count(made.total_len(), "row"),
            count(made.dim_obs(), "channel"),
        );
        writeln!(notes, "wrote {rows}, {channels}: {}", self.states.display())?;
        Ok(ExitCode::SUCCESS)
    }
}

/// No recording is longer.
const LONGEST: usize = 1_000_000_000;

/// A whole number from `least` to that of the longest recording.
fn at_least(least: usize, text: &str) -> Result<usize, String> {
    let number = text.parse().ok();
    number
        .filter(|number| (least..=LONGEST).contains(number))
        .ok_or_else(|| format!("expected a whole number from {least} to {LONGEST}"))
}

fn delay(text: &str) -> Result<usize, String> {
    at_least(2, text)
}

pub(super) fn rows(text: &str) -> Result<usize, String> {
    at_least(0, text)
}

fn dims(text: &str) -> Result<usize, String> {
    let dims = text.parse().ok().filter(|dims| (1..=1000).contains(dims));
    dims.ok_or_else(|| "expected a whole number from 1 to 1000".to_string())
}

fn threshold(text: &str) -> Result<f64, String> {
    let number = text.parse().ok();
    number
        .filter(|number: &f64| *number >= 0.0 && number.is_finite())
        .ok_or_else(|| "expected a number of at least 0".to_string())
}
