//! `attractor lyapunov SYSTEM`: how fast neighbours part in a known system.

use std::io::Write;
use std::process::ExitCode;

use attractor::Error;
use attractor::analysis::lyapunov::Spectrum;
use attractor::inspect::figure;
use attractor::spectrum;
use attractor::system::Time;
use attractor::system::simulate::{Request, Simulation};
use clap::Args;

use super::{assignment, whole};
use crate::table;

/// Compute the Lyapunov exponents of a known system
///
/// Tangent vectors follow an orbit and are made orthonormal again and again. Exponents are per unit of time, of a map
/// per step, with standard errors from twenty parts of the orbit. The exit code is 1 if the orbit diverges.
#[derive(Debug, Args)]
pub(crate) struct Lyapunov {
    /// Name of the system
    system: String,
    /// Sampling steps of the orbit, after a tenth as many that do not count
    #[arg(long, value_name = "N", default_value_t = 200_000, allow_negative_numbers = true, value_parser = steps)]
    steps: usize,
    /// How many exponents, from the largest [default: all, at most 20]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = whole::<usize>)]
    count: Option<usize>,
    /// Seed of the initial state
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<u64>)]
    seed: u64,
    /// A parameter of the system, as in `--set rho=24.5`; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Print a JSON document instead of text
    #[arg(long)]
    json: bool,
}

impl Lyapunov {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let simulation = Simulation::check(&Request {
            seed: self.seed,
            set: self.set.clone(),
            ..Request::new(&self.system, self.steps)
        })?;
        let dim = spectrum::dim(&simulation);
        let count = self.count.unwrap_or(spectrum::SOME).clamp(1, dim);
        let found = spectrum::of_system(&simulation, count)?;
        match self.json {
            true => writeln!(out, "{:#}", spectrum::to_json(&simulation, &found))?,
            false => print(&simulation, &found, dim, out)?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print(
    simulation: &Simulation,
    found: &Spectrum,
    dim: usize,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let info = simulation.info();
    let per = match info.time {
        Time::Map => "step",
        Time::Flow { .. } => "unit of time",
    };
    writeln!(out, "{}: Lyapunov exponents per {per}\n", info.entry.id)?;
    table::write(out, &rows(found))?;
    writeln!(out)?;
    if found.exponents.len() == dim {
        writeln!(out, "sum {}", figure(found.exponents.iter().sum()))?;
        writeln!(
            out,
            "Kaplan–Yorke dimension {}",
            figure(found.kaplan_yorke())
        )?;
    } else {
        writeln!(
            out,
            "{} of {dim}; `--count {dim}` computes all",
            found.exponents.len()
        )?;
    }
    Ok(())
}

/// A table of exponents with their errors.
pub(super) fn rows(found: &Spectrum) -> Vec<[String; 3]> {
    let pairs = found.exponents.iter().zip(&found.errors);
    let rows = pairs.enumerate().map(|(j, (exponent, error))| {
        [
            (j + 1).to_string(),
            figure(*exponent),
            format!("± {}", figure(*error)),
        ]
    });
    rows.collect()
}

fn steps(text: &str) -> Result<usize, String> {
    let fewest = spectrum::FEWEST_STEPS;
    let steps = text.parse().ok().filter(|&steps| steps >= fewest);
    steps.ok_or_else(|| format!("expected a whole number of at least {fewest}"))
}
