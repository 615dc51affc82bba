//! `attractor simulate SYSTEM --steps N --out FILE`: data from a known system.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::format;
use attractor::settings::{Settings, Value};
use attractor::system::simulate::{Method, Request, Simulated, Simulation};
use attractor::text::count;
use clap::{Args, ValueEnum};
use serde_json::{Map, json};

use super::{assignment, whole};

use crate::follow::Shown;
use crate::visible::notes;

/// Simulate a known system and write the series to a file
///
/// The first row is the initial state, drawn with the seed by the system's own law, unless --transient leaves rows out. With
/// --standardize every channel gets mean 0 and standard deviation 1 (n − 1); noise is added after that and nothing is
/// standardised again. Systems are listed by `attractor list systems`, formats by `attractor list formats`.
#[derive(Debug, Args)]
pub(crate) struct Simulate {
    /// Name of the system
    system: String,
    /// Number of rows
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>)]
    steps: usize,
    /// File to write, in the format that its name says
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Sampling step of a flow [default: the system's own]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    dt: Option<f64>,
    /// Seed of the initial state and of the noise
    #[arg(long, value_name = "S", default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<u64>)]
    seed: u64,
    /// Rows to leave out before the first one
    #[arg(long, value_name = "K", default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<usize>)]
    transient: usize,
    /// Scale every channel to mean 0 and standard deviation 1
    #[arg(long)]
    standardize: bool,
    /// Standard deviation of the noise to add, as a fraction of each channel's standard deviation
    #[arg(
        long,
        value_name = "F",
        default_value_t = 0.0,
        allow_negative_numbers = true
    )]
    noise: f64,
    /// A parameter of the system, as in `--set rho=24.5`; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = parameter)]
    set: Vec<(String, String)>,
    /// Relative and absolute error that an adaptive step may have [default: 1e-9]
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    tolerance: Option<f64>,
    /// How a flow is integrated [default: adaptive]
    #[arg(long, value_name = "HOW")]
    method: Option<MethodWord>,
    /// Print what was simulated as a JSON document
    #[arg(long)]
    json: bool,
}

/// How a flow is integrated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MethodWord {
    /// Runge–Kutta steps of order 8 as the tolerance allows
    Adaptive,
    /// One Runge–Kutta step of order 4 per row
    Fixed,
}

impl Simulate {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let simulation = Simulation::check(&self.request())?;
        format::refuse_unwritable(&self.out)?;
        // A file that cannot be written is reported before the work begins.
        let lost = format::losses(&self.out, &simulation.first_row()?)?;
        let simulated = simulation.run_followed(&mut Shown::new())?;
        format::write(&self.out, &simulated.series)?;
        if self.json {
            writeln!(out, "{:#}", self.describe(&simulation, &simulated))?;
        }
        let mut notes = notes();
        for note in self.without_effect(&simulation) {
            writeln!(notes, "note: {note}")?;
        }
        if !lost.is_empty() {
            writeln!(notes, "note: the format does not hold {}", lost.join(", "))?;
        }
        let (rows, channels) = (simulated.series.total_len(), simulated.series.dim_obs());
        writeln!(
            notes,
            "wrote {}: {}, {}: {}",
            self.system,
            count(rows, "row"),
            count(channels, "channel"),
            self.out.display()
        )?;
        Ok(ExitCode::SUCCESS)
    }

    /// What was typed and changes nothing, or not what it says.
    fn without_effect(&self, simulation: &Simulation) -> Vec<String> {
        let given = [
            ("--method", self.method.is_some()),
            ("--tolerance", self.tolerance.is_some()),
        ];
        let fixed = self.method == Some(MethodWord::Fixed);
        let mut notes = Vec::new();
        for (flag, _) in given.iter().filter(|(_, given)| *given) {
            if !simulation.takes_method() {
                let system = &self.system;
                notes.push(format!(
                    "{flag} has no effect: `{system}` has its own steps"
                ));
            } else if fixed && *flag == "--tolerance" {
                notes.push(format!("{flag} has no effect: fixed steps take none"));
            }
        }
        if self.standardize && self.steps == 1 {
            notes.push("--standardize has no spread to work with: one row becomes zeros".into());
        }
        notes
    }

    fn request(&self) -> Request {
        Request {
            dt: self.dt,
            seed: self.seed,
            transient: self.transient,
            standardize: self.standardize,
            noise: self.noise,
            set: self.set.clone(),
            method: match (self.method, self.tolerance) {
                (Some(MethodWord::Fixed), _) => Method::Fixed,
                (_, Some(tolerance)) => Method::Adaptive { tolerance },
                (_, None) => Method::default(),
            },
            ..Request::new(&self.system, self.steps)
        }
    }

    /// Everything needed to make the file again and to map it back to the system's own units.
    fn describe(&self, simulation: &Simulation, simulated: &Simulated) -> serde_json::Value {
        let Simulated { series, scaling } = simulated;
        let (method, tolerance) = match simulation.request().method {
            Method::Adaptive { tolerance } => ("adaptive", Some(tolerance)),
            Method::Fixed => ("fixed", None),
        };
        let names = series
            .channels()
            .iter()
            .map(|channel| channel.name.as_str());
        json!({
            "system": self.system,
            "parameters": parameters(simulation.settings()),
            "steps": self.steps,
            "dt": simulation.dt(),
            "seed": self.seed,
            "transient": self.transient,
            "standardize": self.standardize,
            "noise": self.noise,
            "method": method,
            "tolerance": tolerance,
            "channels": names.collect::<Vec<_>>(),
            "mean": scaling.mean,
            "sd": scaling.sd,
            "file": self.out.display().to_string(),
        })
    }
}

/// Splits `name=value`, with an example that every system's reader knows.
fn parameter(text: &str) -> Result<(String, String), String> {
    assignment(text).map_err(|expected| format!("{expected}, as in rho=24.5"))
}

fn parameters(settings: &Settings) -> Map<String, serde_json::Value> {
    let value = |value| match value {
        Value::Real(v) => json!(v),
        Value::Integer(v) => json!(v),
        Value::Choice(v) => json!(v),
        Value::Text(v) => json!(v),
        Value::Flag(v) => json!(v),
    };
    settings
        .iter()
        .map(|(name, v)| (name.to_string(), value(v)))
        .collect()
}
