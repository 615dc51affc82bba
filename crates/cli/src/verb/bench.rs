//! `attractor bench`: how long one training update takes here.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use attractor::Error;
use attractor::bench::{BATCH, Measuring, Timing, WORKLOADS, measure};
use attractor::experiment::SETTINGS;
use attractor::settings::Domain;
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use super::whole;
use crate::reading::Reading;
use crate::table;

/// Time one training update at the sizes of the paper's four experiments
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Only this one [default: all four]
    #[arg(long, value_parser = PossibleValuesParser::new(WORKLOADS.iter().map(|w| w.name)))]
    workload: Option<String>,
    /// Worker threads; 0 for all cores
    #[arg(long, default_value_t = 1, allow_negative_numbers = true, value_parser = whole::<usize>)]
    threads: usize,
    /// Data to train on [default: smooth synthetic data]
    #[arg(long, value_name = "FILE", requires = "workload")]
    data: Option<PathBuf>,
    /// Updates that are timed, after a warm-up
    #[arg(long, default_value_t = 1000, allow_negative_numbers = true, value_parser = updates)]
    updates: usize,
    /// Seconds of warm-up: processors take a while to reach their clock rate
    #[arg(long, default_value_t = 2.0, value_parser = seconds)]
    warm_up: f64,
    /// Instruction set
    #[arg(long, default_value = "auto", value_parser = ["auto", "baseline", "avx2", "avx512"])]
    isa: String,
    /// Teacher forcing
    #[arg(long, default_value = "gtf", value_parser = choices("forcing"))]
    forcing: String,
    /// How adaptive forcing (agtf) finds alpha
    #[arg(long, default_value = "arithmetic-mean", value_parser = choices("alpha-estimator"))]
    alpha_estimator: String,
    /// Print one JSON object a line
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    reading: Reading,
}

impl Bench {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let data = self.data.as_ref();
        let data = data.map(|path| self.reading.read(path)).transpose()?;
        let measuring = Measuring {
            updates: self.updates,
            threads: self.threads,
            isa: self.isa.clone(),
            forcing: self.forcing.clone(),
            alpha_estimator: self.alpha_estimator.clone(),
            warm_up: Duration::from_secs_f64(self.warm_up),
        };
        let asked = |name: &str| self.workload.as_deref().is_none_or(|word| word == name);
        let mut timings = Vec::new();
        for workload in WORKLOADS.iter().filter(|workload| asked(workload.name)) {
            let timing = measure(workload, &measuring, data.as_ref())?;
            if self.json {
                writeln!(out, "{}", as_json(&timing))?;
            }
            timings.push(timing);
        }
        if !self.json {
            write_table(out, &timings)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn updates(text: &str) -> Result<usize, String> {
    let parsed = text.parse().ok().filter(|&updates| updates > 0);
    parsed.ok_or_else(|| "expected a whole number of at least 1".to_string())
}

fn seconds(text: &str) -> Result<f64, String> {
    let within = |seconds: &f64| (0.0..=3600.0).contains(seconds);
    let parsed = text.parse().ok().filter(within);
    parsed.ok_or_else(|| "a number of seconds from 0 to 3600 is expected".to_string())
}

/// The words of a training setting.
fn choices(setting: &str) -> PossibleValuesParser {
    let domain = SETTINGS
        .iter()
        .find(|s| s.name == setting)
        .map(|s| &s.domain);
    match domain {
        Some(Domain::Choice(words)) => PossibleValuesParser::new(words.iter().copied()),
        _ => PossibleValuesParser::new(Vec::<&str>::new()),
    }
}

fn as_json(timing: &Timing) -> serde_json::Value {
    let sizes = &timing.workload;
    json!({
        "workload": sizes.name,
        "latent": sizes.latent,
        "hidden": sizes.hidden,
        "observed": sizes.observed,
        "window": sizes.window,
        "batch": BATCH,
        "threads": timing.threads,
        "isa": timing.isa,
        "forcing": timing.forcing,
        "alpha_estimator": timing.alpha_estimator,
        "updates": timing.updates,
        "seconds_per_update": timing.seconds_per_update,
    })
}

fn write_table(out: &mut dyn Write, timings: &[Timing]) -> Result<(), Error> {
    let head = [
        "workload",
        "N",
        "M",
        "L",
        "window",
        "threads",
        "isa",
        "forcing",
        "estimator",
        "µs per update",
    ];
    let row = |t: &Timing| {
        [
            t.workload.name.to_string(),
            t.workload.observed.to_string(),
            t.workload.latent.to_string(),
            t.workload.hidden.to_string(),
            t.workload.window.to_string(),
            t.threads.to_string(),
            t.isa.to_string(),
            t.forcing.clone(),
            t.alpha_estimator.clone().unwrap_or("–".to_string()),
            format!("{:.1}", 1e6 * t.seconds_per_update),
        ]
    };
    let rows = std::iter::once(head.map(String::from)).chain(timings.iter().map(row));
    Ok(table::write(out, &rows.collect::<Vec<_>>())?)
}
