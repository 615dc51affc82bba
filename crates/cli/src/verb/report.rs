//! `attractor report RUN|MODEL`: a run as one page.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::anatomy::{CYCLES, SECONDS};
use attractor::experiment::{DataSource, threads};
use attractor::report::{self, FILE, Request, write_report};
use clap::Args;

use super::whole;
use crate::follow::Shown;
use crate::reading::Reading;
use crate::visible::notes;

/// Write a page on a run: one HTML file that opens without a network, with the model live inside it
///
/// It shows the model beside its data in three dimensions and over time, its scores with their floors and chance levels,
/// how it was trained, what it does in the long run, and how to repeat it. What is missing, such as data that have
/// moved, is reported on the page.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// Folder of a run, or a model file
    #[arg(value_name = "RUN|MODEL")]
    model: PathBuf,
    /// Data to show and judge the model by [default: those that the run remembers]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// File to write [default: report.html in the folder of the run]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The system that the data are from: floors are then those of other true orbits
    #[arg(long, value_name = "NAME")]
    system: Option<String>,
    /// Seconds to spend on the search for fixed points and cycles
    #[arg(long, value_name = "N", default_value_t = SECONDS, allow_negative_numbers = true, value_parser = super::analyze::seconds)]
    seconds: f64,
    /// Longest period of cycles to look for; 1 for fixed points alone
    #[arg(long, value_name = "K", default_value_t = CYCLES, allow_negative_numbers = true, value_parser = super::analyze::period)]
    cycles: usize,
    /// Worker threads, 0 for all cores
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<usize>)]
    threads: usize,
    #[command(flatten)]
    reading: Reading,
}

impl Report {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        let out = self.out();
        let report = write_report(&self.request(), &out, &mut Shown::new())?;
        let mut notes = notes();
        for note in report.notes() {
            writeln!(notes, "note: {note}")?;
        }
        let kilobytes = report.to_html().len().div_ceil(1000);
        writeln!(notes, "wrote a page of {kilobytes} kB: {}", out.display())?;
        Ok(ExitCode::SUCCESS)
    }

    fn request(&self) -> Request {
        Request {
            data: self.data.clone().map(|path| DataSource {
                path,
                options: self.reading.options(),
                ..DataSource::default()
            }),
            system: self.system.clone(),
            seconds: self.seconds,
            cycles: self.cycles,
            threads: threads(self.threads),
            ..report::Request::of(&self.model)
        }
    }

    fn out(&self) -> PathBuf {
        let beside = || {
            if self.model.is_dir() {
                self.model.join(FILE)
            } else {
                PathBuf::from(FILE)
            }
        };
        self.out.clone().unwrap_or_else(beside)
    }
}
