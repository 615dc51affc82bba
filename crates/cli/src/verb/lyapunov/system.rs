//! `attractor lyapunov SYSTEM`: all exponents of a known system, along its orbit.

use std::io::{self, Write};
use std::process::ExitCode;

use attractor::Error;
use attractor::analysis::lyapunov::Spectrum;
use attractor::spectrum;
use attractor::system::Time;
use attractor::system::simulate::{Request, Simulation};
use attractor::text::{count, figure};
use clap::Args;

use super::super::{assignment, whole};
use crate::follow::Shown;
use crate::table;

/// Flags of a known system, and of a model
#[derive(Debug, Args)]
#[command(next_help_heading = "Known systems and models")]
pub(super) struct SystemFlags {
    /// Steps of the orbit, after a transient of a tenth as many [default: 200000; of a model 100000, fewer where a step takes long]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = steps)]
    pub(super) steps: Option<usize>,
    /// How many exponents, from the largest [default: all, at most 20]
    #[arg(long, value_name = "K", allow_negative_numbers = true, value_parser = whole::<usize>)]
    pub(super) count: Option<usize>,
    /// Seed of the initial state [default: 0]
    #[arg(long, value_name = "S", allow_negative_numbers = true, value_parser = whole::<u64>)]
    seed: Option<u64>,
    /// A parameter of the system, as in `--set rho=24.5`; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
}

/// Sampling steps of the orbit unless others are asked for.
const STEPS: usize = 200_000;

impl SystemFlags {
    /// A flag that was given, which says nothing about a model.
    pub(super) fn given_for_system(&self) -> Option<&'static str> {
        let seed = self.seed.map(|_| "--seed");
        seed.or((!self.set.is_empty()).then_some("--set"))
    }

    /// A flag that was given, which says nothing about a recording.
    pub(super) fn given(&self) -> Option<&'static str> {
        let steps = self.steps.map(|_| "--steps");
        let count = self.count.map(|_| "--count");
        steps.or(count).or(self.given_for_system())
    }

    /// Prints the exponents of a system as a JSON document.
    pub(super) fn run_json(&self, system: &str, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let (simulation, found) = self.spectrum(system)?;
        crate::json::write(&spectrum::document(&simulation, &found), out)?;
        Ok(ExitCode::SUCCESS)
    }

    /// Prints the exponents of a system as text.
    pub(super) fn run_text(&self, system: &str, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let (simulation, found) = self.spectrum(system)?;
        print(&simulation, &found, spectrum::dim(&simulation), out)?;
        Ok(ExitCode::SUCCESS)
    }

    fn spectrum(&self, system: &str) -> Result<(Simulation, Spectrum), Error> {
        let simulation = Simulation::check(&Request {
            seed: self.seed.unwrap_or(0),
            set: self.set.clone(),
            ..Request::new(system, self.steps.unwrap_or(STEPS))
        })?;
        let dim = spectrum::dim(&simulation);
        let count = self.count.unwrap_or(spectrum::SOME).clamp(1, dim);
        let found = spectrum::of_system(&simulation, count, &mut Shown::new())?;
        warn_of_broken_sum(&found, dim)?;
        Ok((simulation, found))
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
pub(crate) fn rows(found: &Spectrum) -> Vec<[String; 3]> {
    let row = |j: usize| {
        let (exponent, error) = (found.exponents[j], figure(found.errors[j]));
        let lost = count(found.lost[j], "step");
        let (exponent, error) = match found.lost[j] {
            0 => (figure(exponent), format!("± {error}")),
            _ if exponent == f64::NEG_INFINITY => ("−∞".into(), format!("lost at {lost}")),
            _ => (figure(exponent), format!("± {error}, lost at {lost}")),
        };
        [(j + 1).to_string(), exponent, error]
    };
    (0..found.exponents.len()).map(row).collect()
}

/// Warns on standard error if the exponents of a map of this dimension do not add up.
pub(crate) fn warn_of_broken_sum(found: &Spectrum, dim: usize) -> io::Result<()> {
    match found.broken_sum(dim) {
        None => Ok(()),
        Some(broken) => writeln!(io::stderr(), "warning: {broken}"),
    }
}

fn steps(text: &str) -> Result<usize, String> {
    let fewest = spectrum::FEWEST_STEPS;
    let steps = text.parse().ok().filter(|&steps| steps >= fewest);
    steps.ok_or_else(|| format!("expected a whole number of at least {fewest}"))
}
