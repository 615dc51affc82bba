//! `attractor line-search DATA --out DIR`: measures by the strength of forcing.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::experiment::{DataSource, Origin, Raw, threads};
use attractor::line_search::{Curve, Group, LineSearch, Median, SCORES, strengths};
use attractor::sweep::Sweep;
use clap::Args;

use super::sweep::view::View;
use super::train::flags::Flags;
use super::{assignment, whole};
use crate::reading::{Reading, tell_remarks};
use crate::visible::notes;
use crate::{json, table};

/// Train with many strengths of forcing, and see which reconstructs best
///
/// Trains with alpha = 0, 0.05, …, 1 and with adaptive forcing, for several seeds, one training per core, and prints the
/// median of every measure over the seeds that have it, by alpha, beside floor and chance, and the alpha that it would take. It
/// is a study: every training is a run under DIR, `attractor table DIR` shows them as well; line-search.csv has a line for each
/// and curve.csv what is printed. The same command in the same folder continues what was interrupted. It sets forcing, alpha,
/// seed and threads itself.
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
    /// Any setting by name; may be repeated, flags override it
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
        let source = |path: &PathBuf| DataSource {
            path: path.clone(),
            options: self.reading.options_over(Default::default()),
            ..DataSource::default()
        };
        let search = LineSearch {
            settings: self.settings(),
            train: source(&self.data),
            test: self.test.as_ref().map(source),
            alphas: strengths(self.step),
            seeds: (1..=self.seeds).collect(),
        };
        let study = search.study(&self.out)?;
        for data in [&search.train].into_iter().chain(&search.test) {
            tell_remarks(&data.path, &data.options)?;
        }
        let sweep = Sweep::prepare(study, &self.out)?;
        if self.test.is_none() {
            note("note: without `--test` models are judged by their training data");
        }
        let view = View::shown(sweep.jobs());
        let ended = sweep.run(threads(self.workers), &view)?;
        view.finish();
        let curve = Curve::new(&ended.scored, sweep.jobs().len());
        curve.write(&self.out)?;
        self.print(&curve, out)?;
        for (folder, error) in &ended.failed {
            note(&format!("error: {error}: {}", folder.display()));
        }
        if ended.left == 0 && ended.failed.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
        let (done, total, folder) = (curve.ended, curve.trainings, self.out.display());
        note(&format!(
            "stopped after {done} of {total} trainings; the same command continues: {folder}"
        ));
        Ok(ExitCode::from(if ended.failed.is_empty() {
            crate::INTERRUPTED
        } else {
            crate::INVALID
        }))
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

    fn print(&self, curve: &Curve, out: &mut dyn Write) -> Result<(), Error> {
        if self.json {
            return Ok(json::write(curve, out)?);
        }
        let [a, b, c] = SCORES.map(|id| format!("{id} (median ± MAD)"));
        let [forcing, alpha, runs] = ["forcing", "alpha", "runs"].map(String::from);
        let head = [forcing, alpha, runs, a, b, c];
        let rows = curve.groups.iter().map(row);
        let levels = curve.groups.first().map(levels).into_iter().flatten();
        let all = [head].into_iter().chain(rows).chain(levels);
        table::write(out, &all.collect::<Vec<_>>())?;
        if let Some(alpha) = curve.chosen {
            writeln!(out, "chosen by D_stsp × D_H: --forcing gtf --alpha {alpha}")?;
        } else {
            writeln!(
                out,
                "no alpha is chosen: none of them has a run with both D_stsp and D_H"
            )?;
        }
        Ok(())
    }
}

/// A line on standard error; a closed one is no reason to end the search.
fn note(line: &str) {
    let _ = writeln!(notes(), "{line}");
}

fn row(group: &Group) -> [String; 6] {
    let score = |score: Median| {
        let Median {
            median,
            mad,
            missing,
            ..
        } = score;
        match (median.is_nan(), missing) {
            (true, _) => format!("– (none of {})", group.runs),
            (false, 0) => format!("{median:.3e} ± {mad:.1e}"),
            (false, missing) => format!("{median:.3e} ± {mad:.1e} ({missing} without)"),
        }
    };
    [
        group.forcing.clone(),
        format!("{:.3}", group.alpha),
        group.runs.to_string(),
        score(group.d_stsp),
        score(group.d_h),
        score(group.pe),
    ]
}

/// What the data themselves reach, and what surrogates without the dynamics do.
fn levels(group: &Group) -> [[String; 6]; 2] {
    let line = |name: &str, level: fn(Median) -> Option<f64>| {
        let scores = [group.d_stsp, group.d_h, group.pe].map(level);
        let [a, b, c] = scores.map(|v| v.map_or("–".to_string(), |v| format!("{v:.3e}")));
        [name.to_string(), String::new(), String::new(), a, b, c]
    };
    [
        line("floor", |score| score.floor),
        line("chance", |score| score.chance),
    ]
}

fn step(text: &str) -> Result<f64, String> {
    let divides = |step: &f64| {
        *step >= 0.001 && *step <= 1.0 && ((1.0 / step).round() * step - 1.0).abs() < 1e-9
    };
    let parsed = text.parse().ok().filter(divides);
    parsed
        .ok_or_else(|| "expected a number from 0.001 to 1 that divides 1, such as 0.05".to_string())
}
