//! From a CSV file to a trained model, its scores on rows that were held out, and a page on it, `report.html`.
//!
//! `cargo run --release --example csv_to_report -- FOLDER` uses `FOLDER/recording.csv`, or writes one there if there is none: a
//! column of time and three noisy channels. A second call finds the run ended and only judges it again.
#![allow(clippy::print_stdout, reason = "an example prints its answer")]

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{env, fs};

use attractor::Error;
use attractor::evaluation::{Cache, Evaluation, Origin, Request, evaluate};
use attractor::experiment::{self, DataSource, Experiment, Raw};
use attractor::progress::Unwatched;
use attractor::report::{self, write_report};
use attractor::run::{Recording, Run, Task};
use attractor::system::simulate::{self, Simulation};
use attractor::train::{Control, Epoch, State};

/// Scores on the held-out rows, and where the page is.
pub(crate) struct Answer {
    pub(crate) evaluation: Evaluation,
    pub(crate) page: PathBuf,
}

pub(crate) fn run(folder: &Path) -> Result<Answer, Error> {
    let csv = folder.join("recording.csv");
    if !csv.exists() {
        write_recording(&csv)?;
    }
    let recording = Arc::new(Recording::read(DataSource {
        path: csv,
        ..DataSource::default()
    })?);
    let task = Task::new(&experiment()?, recording.clone())?;
    let preparation = task.resolved.experiment.preparation();
    let run = Run::claim(&folder.join("run"), task)?;
    let trained = run.train(&mut |_: &Epoch, _: &State| Control::Continue)?;
    let model = &trained.reconstruction;
    let held_out = preparation.split(recording.series.clone())?.held_out;
    let data = model.see_prepared(&held_out.expect("a quarter is held out"))?;
    let origin = Origin::of(model, run.path());
    let (request, cache) = (Request::default(), Cache::none());
    let evaluation = evaluate(model, &data, &origin, &request, &cache, &mut Unwatched)?;
    let page = folder.join(report::FILE);
    let request = report::Request {
        seconds: 1.0,
        cycles: 1,
        ..report::Request::of(run.path())
    };
    write_report(&request, &page, &mut Unwatched)?;
    Ok(Answer { evaluation, page })
}

fn experiment() -> Result<Experiment, Error> {
    let mut raw = Raw::default();
    for (name, text) in [("epochs", "60"), ("window", "50"), ("held-out", "0.25")] {
        raw.push(name, text, experiment::Origin::Flag);
    }
    Ok(Experiment::check(&raw)?)
}

fn write_recording(csv: &Path) -> Result<(), Error> {
    let mut request = simulate::Request::new("lorenz63", 4000);
    (request.noise, request.transient) = (0.01, 1000);
    attractor::format::write(csv, &Simulation::check(&request)?.run()?.series)
}

fn main() -> Result<(), Error> {
    let folder = env::args_os().nth(1).map(PathBuf::from);
    let folder = folder.unwrap_or_else(|| env::temp_dir().join("attractor-csv-to-report"));
    fs::create_dir_all(&folder)?;
    let Answer { evaluation, page } = run(&folder)?;
    for score in &evaluation.scores {
        println!("{:24} {:?}", score.id, score.value);
    }
    println!("page: {}", page.display());
    Ok(())
}
