//! `attractor bench`: how long one training update takes here.

use std::io::{Write, stdin};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use attractor::Error;
use attractor::bench::{
    BLOCK, Measuring, Timing, WORKLOADS, Workload, beside_gtf, beside_load, measure, paced,
};
use attractor::experiment::all_settings;
use attractor::series::Series;
use attractor::settings::{AUTO, Domain};
use attractor::train::Control;
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde_json::json;

use super::whole;
use crate::reading::Reading;
use crate::table;

/// Time one training update at the sizes of the paper's four experiments
#[derive(Debug, Args)]
pub(crate) struct Bench {
    /// Only this one [default: the four of teacher forcing]
    #[arg(long, value_parser = PossibleValuesParser::new(WORKLOADS.iter().map(|w| w.name)))]
    workload: Option<String>,
    /// Worker threads; auto for as many as help, 0 for all cores
    #[arg(long, value_name = "N", default_value = "1", allow_negative_numbers = true, value_parser = threads)]
    threads: String,
    /// Threads that keep cores busy meanwhile, as other programs do
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<usize>)]
    load: usize,
    /// Data to train on [default: smooth synthetic data]
    #[arg(long, value_name = "FILE", requires = "workload")]
    data: Option<PathBuf>,
    /// Updates that are timed, after a warm-up
    #[arg(long, default_value_t = 1000, allow_negative_numbers = true, value_parser = updates)]
    updates: usize,
    /// Updates that are timed together; the fastest tenth of such blocks is shown beside their median
    #[arg(long, default_value_t = BLOCK, allow_negative_numbers = true, value_parser = block)]
    block: usize,
    /// Seconds of warm-up: processors take a while to reach their clock rate
    #[arg(long, default_value_t = 2.0, value_parser = seconds)]
    warm_up: f64,
    /// Instruction set
    #[arg(long, default_value = "auto", value_parser = ["auto", "baseline", "avx2", "avx512"])]
    isa: String,
    /// Teacher forcing; stf replaces states every 16 steps
    #[arg(long, default_value = "gtf", value_parser = choices("forcing"))]
    forcing: String,
    /// How adaptive forcing (agtf) finds alpha
    #[arg(long, default_value = "arithmetic-mean", value_parser = choices("alpha-estimator"))]
    alpha_estimator: String,
    /// Make one block of updates for every line on stdin, and print its seconds per update: for comparisons in turns
    #[arg(long, requires = "workload", conflicts_with_all = ["json", "updates"])]
    paced: bool,
    /// Print one JSON object per line
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
            block: self.block,
            threads: self.threads.clone(),
            isa: self.isa.clone(),
            forcing: self.forcing.clone(),
            alpha_estimator: self.alpha_estimator.clone(),
            warm_up: Duration::from_secs_f64(self.warm_up),
        };
        let asked = |workload: &&Workload| match &self.workload {
            Some(name) => workload.name == name,
            None => workload.is_ours(),
        };
        let mut timings = Vec::new();
        for workload in WORKLOADS.iter().filter(asked) {
            if self.paced {
                answer_lines(workload, &measuring, data.as_ref(), out)?;
                continue;
            }
            let timed = beside_load(self.load, || time(workload, &measuring, data.as_ref()))?;
            if self.json {
                writeln!(out, "{}", as_json(&timed))?;
            }
            timings.push(timed);
        }
        if !self.json && !self.paced {
            write_table(out, &timings)?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// A timing, and for other forcings GTF's seconds per update in the same turns with the median ratio.
struct Timed {
    timing: Timing,
    beside: Option<(f64, f64)>,
}

fn time(workload: &Workload, how: &Measuring, data: Option<&Series>) -> Result<Timed, Error> {
    if how.forcing == "gtf" || !workload.is_ours() {
        let timing = measure(workload, how, data)?;
        return Ok(Timed {
            timing,
            beside: None,
        });
    }
    let (timing, gtf, ratio) = beside_gtf(workload, how, data)?;
    Ok(Timed {
        timing,
        beside: Some((gtf.seconds_per_update, ratio)),
    })
}

/// One block for every line that comes in, until there are no more.
fn answer_lines(
    workload: &Workload,
    measuring: &Measuring,
    data: Option<&Series>,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let (tell, told) = channel();
    let (ask, asked) = channel();
    thread::scope(|scope| {
        let blocks = scope.spawn(move || {
            let mut pace = move |taken: Option<f64>| {
                let heard = taken.is_none_or(|seconds| tell.send(seconds).is_ok());
                if heard && asked.recv().is_ok() {
                    Control::Continue
                } else {
                    Control::Stop
                }
            };
            paced(workload, measuring, data, &mut pace)
        });
        let mut lines = 0;
        for line in stdin().lines() {
            line?;
            lines += 1;
            let Some(seconds) = ask.send(()).ok().and_then(|()| told.recv().ok()) else {
                break;
            };
            writeln!(out, "{seconds:e}")?;
            out.flush()?;
        }
        drop(ask);
        let ended = blocks.join().expect("a measurement does not panic");
        match lines {
            // Nothing was asked for, so nothing was timed.
            0 => Ok(()),
            _ => ended.map(|_| ()),
        }
    })
}

fn threads(text: &str) -> Result<String, String> {
    if text == AUTO || whole::<usize>(text).is_ok() {
        Ok(text.to_string())
    } else {
        Err(format!("expected a whole number, or {AUTO}"))
    }
}

fn updates(text: &str) -> Result<usize, String> {
    let parsed = text.parse().ok().filter(|&updates| updates > 0);
    parsed.ok_or_else(|| "expected a whole number of at least 1".to_string())
}

fn block(text: &str) -> Result<usize, String> {
    let parsed = text.parse().ok().filter(|n| (1..=1_000_000).contains(n));
    parsed.ok_or_else(|| "expected a whole number from 1 to 1000000".to_string())
}

fn seconds(text: &str) -> Result<f64, String> {
    let within = |seconds: &f64| (0.0..=3600.0).contains(seconds);
    let parsed = text.parse().ok().filter(within);
    parsed.ok_or_else(|| "expected a number of seconds from 0 to 3600".to_string())
}

/// The words of a training setting.
fn choices(setting: &str) -> PossibleValuesParser {
    let domain = all_settings()
        .into_iter()
        .find(|s| s.name == setting)
        .map(|s| &s.domain);
    match domain {
        Some(Domain::Choice(words)) => PossibleValuesParser::new(words.iter().copied()),
        _ => PossibleValuesParser::new(Vec::<&str>::new()),
    }
}

fn number_or_word(text: &str) -> serde_json::Value {
    text.parse::<usize>()
        .map_or(json!(text), |number| json!(number))
}

fn as_json(Timed { timing, beside }: &Timed) -> serde_json::Value {
    let sizes = &timing.workload;
    json!({
        "workload": sizes.name,
        "latent": sizes.latent,
        "hidden": sizes.hidden,
        "observed": sizes.observed,
        "window": sizes.window,
        "batch": sizes.batch,
        "model": sizes.model,
        "threads": number_or_word(&timing.threads),
        "isa": timing.isa,
        "forcing": timing.forcing,
        "alpha_estimator": timing.alpha_estimator,
        "updates": timing.updates,
        "seconds_per_update": timing.seconds_per_update,
        "fastest_tenth": timing.fastest_tenth,
        "gtf_seconds_per_update": beside.map(|(seconds, _)| seconds),
        "ratio_to_gtf": beside.map(|(_, ratio)| ratio),
    })
}

fn write_table(out: &mut dyn Write, timings: &[Timed]) -> Result<(), Error> {
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
        "fastest tenth",
        "of gtf in turns",
    ];
    let row = |Timed { timing: t, beside }: &Timed| {
        let ratio = beside.map(|(_, ratio)| format!("{ratio:.2}×"));
        [
            t.workload.name.to_string(),
            t.workload.observed.to_string(),
            t.workload.latent.to_string(),
            t.workload.hidden.to_string(),
            t.workload.window.to_string(),
            t.threads.clone(),
            t.isa.to_string(),
            t.forcing.clone(),
            t.alpha_estimator.clone().unwrap_or("–".to_string()),
            format!("{:.1}", 1e6 * t.seconds_per_update),
            format!("{:.1}", 1e6 * t.fastest_tenth),
            ratio.unwrap_or("–".to_string()),
        ]
    };
    let rows = std::iter::once(head.map(String::from)).chain(timings.iter().map(row));
    Ok(table::write(out, &rows.collect::<Vec<_>>())?)
}
