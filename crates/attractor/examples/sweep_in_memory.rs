//! A study in memory: two strengths of forcing with two seeds each, trained and judged without a file.
//!
//! All trainings share the recording. All models share the judge, which holds what their scores need of the test data: they see
//! the data alike, because they are scaled alike.
#![allow(clippy::print_stdout, reason = "an example prints its answer")]

use std::path::Path;
use std::sync::Arc;

use attractor::Error;
use attractor::evaluation::{Evaluation, Judge, Levels, Origin, Request};
use attractor::experiment::{self, Experiment, Raw};
use attractor::run::{Recording, Task};
use attractor::series::Series;
use attractor::system::simulate::{self, Simulation};
use attractor::train::{Control, Epoch, State};

/// Strength of forcing and seed of each training.
pub(crate) const RUNS: [(&str, &str); 4] =
    [("0.15", "1"), ("0.15", "2"), ("0.9", "1"), ("0.9", "2")];

/// One evaluation per training.
pub(crate) fn run(_: &Path) -> Result<Vec<Evaluation>, Error> {
    let recording = Arc::new(Recording::in_memory(lorenz(1)?));
    let mut models = Vec::new();
    for (alpha, seed) in RUNS {
        let task = Task::new(&experiment(alpha, seed)?, recording.clone())?;
        let trained = task.train(&mut |_: &Epoch, _: &State| Control::Continue)?;
        models.push(trained.reconstruction);
    }
    let request = Request {
        levels: Levels::LeftOut,
        ..Request::default()
    };
    let test = models[0].see_prepared(&lorenz(2)?)?;
    let judge = Judge::new(&test, &Origin::default(), &request)?;
    let evaluations = models.iter().map(|model| judge.evaluate(model, None));
    Ok(evaluations.collect::<Result<_, _>>()?)
}

fn experiment(alpha: &str, seed: &str) -> Result<Experiment, Error> {
    let mut raw = Raw::default();
    let shared = [("epochs", "60"), ("window", "100"), ("lr", "2e-3")];
    for (name, text) in shared.into_iter().chain([("alpha", alpha), ("seed", seed)]) {
        raw.push(name, text, experiment::Origin::Flag);
    }
    Ok(Experiment::check(&raw)?)
}

/// In the units of the system: standardised by itself, each series would have units of its own, and the model only knows those of its
/// training data.
fn lorenz(seed: u64) -> Result<Series, Error> {
    let mut request = simulate::Request::new("lorenz63", 5000);
    (request.seed, request.transient) = (seed, 1000);
    Ok(Simulation::check(&request)?.run()?.series)
}

/// A score; NaN if there is none.
pub(crate) fn score(evaluation: &Evaluation, id: &str) -> f64 {
    let score = evaluation.scores.iter().find(|score| score.id == id);
    let value = score.and_then(|score| score.value.as_ref().ok());
    value.map_or(f64::NAN, |estimate| estimate.value)
}

fn main() -> Result<(), Error> {
    println!("alpha  seed  D_stsp   D_H    PE(20)");
    for ((alpha, seed), evaluation) in RUNS.iter().zip(run(Path::new("."))?) {
        let [d_stsp, d_h, pe] = ["d_stsp", "d_h", "pe"].map(|id| score(&evaluation, id));
        println!("{alpha:5}  {seed:4}  {d_stsp:6.3}  {d_h:.3}  {pe:.4}");
    }
    Ok(())
}
