//! The verbs, one file each: what is typed, then what it calls.

mod analyze;
mod bench;
mod cite;
mod completions;
mod convert;
mod demo;
mod embed;
mod evaluate;
mod explain;
mod export;
mod generate;
mod inspect;
mod learn;
mod line_search;
mod list;
mod lyapunov;
mod measure;
mod plot;
mod prepare;
mod report;
mod resume;
mod simulate;
mod sweep;
mod table;
pub(crate) mod train;
mod watch;

use std::io::Write;
use std::process::ExitCode;
use std::str::FromStr;

use attractor::Error;
use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Verb {
    Demo(Box<demo::Demo>),
    Learn(Box<learn::Learn>),
    Convert(convert::Convert),
    Prepare(Box<prepare::Prepare>),
    Inspect(inspect::Inspect),
    Embed(Box<embed::Embed>),
    List(list::List),
    Explain(explain::Explain),
    Cite(cite::Cite),
    Completions(completions::Completions),
    Simulate(simulate::Simulate),
    Train(Box<train::Train>),
    Resume(resume::Resume),
    LineSearch(Box<line_search::Search>),
    Sweep(sweep::Sweep),
    Table(table::Table),
    Generate(generate::Generate),
    Measure(measure::Measure),
    Evaluate(evaluate::Evaluate),
    Analyze(analyze::Analyze),
    Report(Box<report::Report>),
    Watch(watch::Watch),
    Export(export::Export),
    Lyapunov(Box<lyapunov::Lyapunov>),
    Plot(Box<plot::Plot>),
    Bench(bench::Bench),
}

impl Verb {
    /// Whether standard output is a table for other programs, whose every byte counts.
    pub(crate) fn prints_data(&self) -> bool {
        match self {
            Verb::Generate(_) => true,
            Verb::Table(table) => table.prints_data(),
            _ => false,
        }
    }

    /// Runs the verb; data go to `out`.
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        match self {
            Verb::Demo(demo) => demo.run(out),
            Verb::Learn(learn) => learn.run(out),
            Verb::Convert(convert) => convert.run(),
            Verb::Prepare(prepare) => prepare.run(),
            Verb::Inspect(inspect) => inspect.run(out),
            Verb::Embed(embed) => embed.run(out),
            Verb::List(list) => list.run(out),
            Verb::Explain(explain) => explain.run(out),
            Verb::Cite(cite) => cite.run(out),
            Verb::Completions(completions) => completions.run(out),
            Verb::Simulate(simulate) => simulate.run(out),
            Verb::Train(train) => train.run(out),
            Verb::Resume(resume) => resume.run(out),
            Verb::LineSearch(search) => search.run(out),
            Verb::Sweep(sweep) => sweep.run(out),
            Verb::Table(table) => table.run(out),
            Verb::Generate(generate) => generate.run(out),
            Verb::Measure(measure) => measure.run(out),
            Verb::Evaluate(evaluate) => evaluate.run(out),
            Verb::Analyze(analyze) => analyze.run(out),
            Verb::Report(report) => report.run(),
            Verb::Watch(watch) => watch.run(out),
            Verb::Export(export) => export.run(),
            Verb::Lyapunov(lyapunov) => lyapunov.run(out),
            Verb::Plot(plot) => plot.run(out),
            Verb::Bench(bench) => bench.run(out),
        }
    }
}

/// The verbs in the order in which a user comes to need them.
pub(crate) const JOURNEY: [(&str, &[&str]); 9] = [
    ("See it work", &["demo"]),
    ("Get data", &["simulate", "convert", "prepare", "embed"]),
    ("Look at them", &["inspect", "lyapunov"]),
    (
        "Train",
        &["learn", "train", "resume", "line-search", "sweep"],
    ),
    ("Run and judge", &["generate", "evaluate", "measure"]),
    ("Take apart", &["analyze", "export"]),
    ("Show", &["report", "plot", "watch"]),
    ("Compare", &["table", "bench"]),
    ("Look up", &["list", "explain", "cite", "completions"]),
];

/// Splits `name=value`.
fn assignment(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE")?;
    Ok((name.trim().to_string(), value.trim().to_string()))
}

/// A whole number of at least 0.
fn whole<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse()
        .map_err(|_| "expected a whole number of at least 0".to_string())
}
