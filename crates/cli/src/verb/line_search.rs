//! `attractor line-search DATA --out DIR`: measures by the strength of forcing.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::experiment::{DataSource, Origin, Raw, threads};
use attractor::line_search::{Group, LineSearch, Point, SCORES, groups, strengths, write};
use attractor::measure::summary::Summary;
use attractor::train::{Control, Epoch, State};
use clap::Args;
use serde_json::json;

use super::train::flags::Flags;
use super::{assignment, whole};
use crate::interrupt::Interrupt;
use crate::reading::{Reading, read};
use crate::table;
use crate::visible::notes;

/// Train with many strengths of forcing, and see which reconstructs best
///
/// Trains with alpha = 0, 0.05, …, 1 and with adaptive forcing, for several seeds, one training a core, and prints the
/// median of every measure over the seeds that have it, by alpha. Every training is a run under DIR; line-search.csv has
/// a line for each, curve.csv what is printed. The same command in the same folder continues what was interrupted. It
/// sets forcing, alpha, seed and threads itself.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// File of data
    data: PathBuf,
    /// Folder for the runs
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// File of data to judge by [default: the training data, which flatters]
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Distance between strengths
    #[arg(long, default_value_t = 0.05, value_parser = step)]
    step: f64,
    /// Number of seeds
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Trainings side by side; 0 for all cores
    #[arg(long, default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<usize>)]
    workers: usize,
    /// Any setting by name; may be repeated, flags go before it
    #[arg(long, value_name = "NAME=VALUE", value_parser = assignment)]
    set: Vec<(String, String)>,
    /// Print a JSON document
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    flags: Flags,
    #[command(flatten)]
    reading: Reading,
}

impl Search {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let data = DataSource {
            path: self.data.clone(),
            options: self.reading.options_over(Default::default()),
            ..DataSource::default()
        };
        let recording = read(&data.path, &data.options)?;
        let test = self.test.as_ref().map(|path| read(path, &data.options));
        let test = test.transpose()?;
        let search = LineSearch {
            settings: self.settings(),
            data,
            recording: &recording,
            test: test.as_ref(),
            alphas: strengths(self.step),
            seeds: (1..=self.seeds).collect(),
            workers: threads(self.workers),
            folder: self.out.clone(),
        };
        search.check()?;
        if test.is_none() {
            note("note: without `--test` models are judged by their training data");
        }
        let interrupt = Interrupt::listen_for_all();
        let points = search.run(|| Box::new(watch(interrupt.clone())), tell)?;
        write(&points, &self.out)?;
        let total = search.jobs().len();
        self.print(&points, total, out)?;
        if points.len() == total {
            return Ok(ExitCode::SUCCESS);
        }
        let (ended, folder) = (points.len(), self.out.display());
        note(&format!(
            "stopped after {ended} of {total} trainings; the same command continues: {folder}"
        ));
        Ok(ExitCode::from(crate::INTERRUPTED))
    }

    fn settings(&self) -> Raw {
        let mut raw = Raw::default();
        for (name, text) in &self.set {
            raw.push(name, text, Origin::Set);
        }
        for (name, text) in &self.flags.given {
            raw.push(name, text, Origin::Flag);
        }
        raw
    }

    fn print(&self, points: &[Point], total: usize, out: &mut dyn Write) -> Result<(), Error> {
        let groups = groups(points);
        if self.json {
            let document = json!({
                "trainings": total,
                "ended": points.len(),
                "groups": groups.iter().map(as_json).collect::<Vec<_>>(),
                "points": points.iter().map(point_json).collect::<Vec<_>>(),
            });
            return Ok(writeln!(out, "{document:#}")?);
        }
        let [a, b, c] = SCORES.map(|id| format!("{id} (median ± MAD)"));
        let [forcing, alpha, runs] = ["forcing", "alpha", "runs"].map(String::from);
        let head = [forcing, alpha, runs, a, b, c];
        let rows = std::iter::once(head).chain(groups.iter().map(row));
        Ok(table::write(out, &rows.collect::<Vec<_>>())?)
    }
}

/// A line on standard error; a closed one is no reason to end the search.
fn note(line: &str) {
    let _ = writeln!(notes(), "{line}");
}

/// Stops a training when the user asks to.
fn watch(interrupt: Interrupt) -> impl FnMut(&Epoch, &State) -> Control + Send {
    move |_, _| match interrupt.asked() {
        true => Control::Stop,
        false => Control::Continue,
    }
}

/// A line on standard error for a training that ended.
fn tell(point: &Point) {
    let (name, seed, outcome) = (point.tried.name(), point.seed, &point.outcome);
    let scores = SCORES.iter().zip(point.scores);
    let scores: Vec<String> = scores
        .map(|(id, score)| match score.is_nan() {
            true => format!("no {id}"),
            false => format!("{id} {score:.3}"),
        })
        .collect();
    note(&format!(
        "{name} seed {seed}: {outcome}, alpha {:.3}, {}",
        point.alpha,
        scores.join(", ")
    ));
}

fn as_json(group: &Group) -> serde_json::Value {
    let mut object = json!({
        "forcing": group.tried.forcing(),
        "alpha": group.alpha,
        "runs": group.runs,
    });
    for (id, score) in SCORES.iter().zip(&group.scores) {
        object[id] = json!({
            "median": score.median,
            "mad": score.mad,
            "runs": score.count,
            "missing": score.dropped,
        });
    }
    object
}

fn point_json(point: &Point) -> serde_json::Value {
    let mut object = json!({
        "forcing": point.tried.forcing(),
        "alpha": point.alpha,
        "seed": point.seed,
        "outcome": point.outcome,
    });
    for (id, score) in SCORES.iter().zip(point.scores) {
        object[id] = json!(score);
    }
    object
}

fn row(group: &Group) -> [String; 6] {
    let score = |i: usize| {
        let Summary {
            median,
            mad,
            dropped,
            ..
        } = group.scores[i];
        match (median.is_nan(), dropped) {
            (true, _) => format!("– (none of {})", group.runs),
            (false, 0) => format!("{median:.3e} ± {mad:.1e}"),
            (false, missing) => format!("{median:.3e} ± {mad:.1e} ({missing} without)"),
        }
    };
    [
        group.tried.forcing().to_string(),
        format!("{:.3}", group.alpha),
        group.runs.to_string(),
        score(0),
        score(1),
        score(2),
    ]
}

fn step(text: &str) -> Result<f64, String> {
    let divides = |step: &f64| {
        *step >= 0.001 && *step <= 1.0 && ((1.0 / step).round() * step - 1.0).abs() < 1e-9
    };
    let parsed = text.parse().ok().filter(divides);
    parsed.ok_or_else(|| {
        "a number from 0.001 to 1 that divides 1 is expected, such as 0.05".to_string()
    })
}
