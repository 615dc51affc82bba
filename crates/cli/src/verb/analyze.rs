//! `attractor analyze RUN|MODEL`: a trained model taken apart.

mod text;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::anatomy::{
    self, Anatomy, CYCLES, Request, SECONDS, Sources, beside, default_steps, dissect, tables,
};
use attractor::experiment::threads;
use attractor::generate::GeneratedFrom;
use attractor::model_file::Reconstruction;
use attractor::run::Folder;
use attractor::system::simulate::{self, Simulation};
use attractor::system::{SystemInfo, find};
use clap::Args;

use super::{lyapunov, whole};
use crate::follow::Shown;
use crate::json;
use crate::reading::Reading;
use crate::visible::notes;
pub(super) use text::{write, write_equations, write_exponents};

/// Take a model apart: exponents, fixed points, cycles and linear regions
///
/// Exponents and regions are those of a free orbit. Fixed points are all there are where the linear regions can be
/// enumerated, and are searched for elsewhere; a line says which. An orbit that diverges is a result: it has no
/// exponents, the rest is reported, and the exit code is 0.
#[derive(Debug, Args)]
pub(crate) struct Analyze {
    /// Folder of a run, or a model file
    #[arg(value_name = "RUN|MODEL")]
    model: PathBuf,
    /// Data whose first row is where the orbit starts, whose inputs drive the model, and whose rows other orbits start from [default: the
    /// training data's first row, and rows of what the run held out]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Longest period of cycles to look for; 1 for fixed points alone
    #[arg(long, value_name = "K", default_value_t = CYCLES, allow_negative_numbers = true, value_parser = period)]
    cycles: usize,
    /// Seconds to spend on the search for fixed points and cycles
    #[arg(long, value_name = "N", default_value_t = SECONDS, allow_negative_numbers = true, value_parser = seconds)]
    seconds: f64,
    /// Steps of the free orbit, after a transient of a tenth as many [default: 100000, fewer for a model whose steps take long]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = steps)]
    steps: Option<usize>,
    /// Seed of the search for cycles
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<u64>)]
    seed: u64,
    /// Worker threads, 0 for all cores; the result does not depend on it
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<usize>)]
    threads: usize,
    /// The system that the data are from: its exponents, its fixed points, and its equations where the model has such, are shown beside
    /// the model's
    #[arg(long, value_name = "NAME")]
    system: Option<String>,
    /// Folder to write tables (CSV) into: regions and transitions, and with --data gradients under forcing
    #[arg(long, value_name = "FOLDER")]
    tables: Option<PathBuf>,
    /// Print a JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Analyze {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let reconstruction = Folder::new(&self.model).model()?;
        let system = self.system.as_deref().map(known).transpose()?;
        let data = self.data.as_ref();
        let data = data
            .map(|path| self.reading.read_for(&reconstruction, path))
            .transpose()?;
        if let Some(folder) = &self.tables {
            // A folder that cannot be made is reported before the work begins.
            anatomy::prepare(folder)?;
        }
        let follow = &mut Shown::new();
        let own = match data {
            Some(_) => None,
            None => anatomy::remembered(&self.model, &reconstruction),
        };
        let rows = data.as_ref().or(own.as_ref());
        let sources = Sources {
            data: data.as_ref(),
            rows,
        };
        let anatomy = dissect(
            &reconstruction,
            sources,
            &self.request(&reconstruction),
            follow,
        )?;
        let known = system.map(|info| beside(info, &anatomy, &reconstruction, rows, follow));
        let known = known.transpose()?;
        if self.json {
            let document = anatomy.document(&reconstruction);
            let document = match &known {
                Some(known) => document.beside(known, &reconstruction),
                None => document,
            };
            json::write(&document, out)?;
        } else {
            text::write(&anatomy, &reconstruction, known.as_ref(), out)?;
        }
        out.flush()?;
        self.notes(&anatomy)?;
        if let Some(folder) = &self.tables {
            let done = tables(&anatomy, &reconstruction, data.as_ref(), folder)?;
            let mut notes = notes();
            for (name, needs) in &done.missing {
                writeln!(notes, "note: no {name}: it needs {needs}")?;
            }
            let count = attractor::text::count(done.written.len(), "table");
            writeln!(notes, "wrote {count}: {}", folder.display())?;
        }
        Ok(ExitCode::SUCCESS)
    }

    fn request(&self, model: &Reconstruction) -> Request {
        Request {
            cycles: self.cycles,
            seconds: self.seconds,
            steps: self.steps.unwrap_or_else(|| default_steps(model)),
            threads: threads(self.threads),
            seed: self.seed,
        }
    }

    fn notes(&self, anatomy: &Anatomy) -> Result<(), Error> {
        let mut notes = notes();
        if anatomy.start == GeneratedFrom::Zero {
            writeln!(
                notes,
                "note: the model does not say where to start: the orbit starts from zeros"
            )?;
        }
        if let Some(spectrum) = &anatomy.lyapunov {
            lyapunov::warn_of_broken_sum(spectrum, spectrum.exponents.len())?;
        }
        if let Some(step) = anatomy.diverged_at {
            writeln!(
                notes,
                "note: the orbit diverges at step {step}: no exponents"
            )?;
        }
        Ok(())
    }
}

/// The system of this name.
fn known(name: &str) -> Result<&'static SystemInfo, Error> {
    // What is wrong with the name, `simulate` says.
    let simulation = Simulation::check(&simulate::Request::new(name, 1))?;
    drop(simulation);
    Ok(find(name).expect("a system that can be simulated is in the list"))
}

fn steps(text: &str) -> Result<usize, String> {
    let fewest = Request::FEWEST_STEPS;
    let steps = text.parse().ok();
    steps
        .filter(|steps| (fewest..=1_000_000_000).contains(steps))
        .ok_or_else(|| format!("expected a whole number from {fewest} to 1000000000"))
}

pub(super) fn period(text: &str) -> Result<usize, String> {
    let period = text.parse().ok();
    period
        .filter(|period| (1..=1000).contains(period))
        .ok_or_else(|| "expected a whole number from 1 to 1000".to_string())
}

pub(super) fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok();
    seconds
        .filter(|&seconds: &f64| seconds >= 0.0)
        .ok_or_else(|| "expected a number of at least 0".to_string())
}
