//! A method of one's own, in `quadratic.rs`: registered, checked by the laws, fitted and judged as those of the library are.
//!
//! The same `register` call before `attractor_cli::run` makes a command `attractor` that knows the method in every verb.
#![allow(clippy::print_stdout, reason = "an example prints its answer")]

mod quadratic;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use attractor::dynamics::{Dynamics, Stretch};
use attractor::evaluation::{Evaluation, Judge, Levels, Origin, Request};
use attractor::experiment::{self, Experiment, Raw};
use attractor::rng::{Rng, Stream};
use attractor::run::{Recording, Task};
use attractor::series::Series;
use attractor::system::simulate::{self, Simulation};
use attractor::train::{Control, Epoch, State};
use attractor::{laws, method};

pub(crate) fn run(_: &Path) -> Result<Evaluation, Box<dyn Error>> {
    method::register(&quadratic::QUADRATIC);
    let mut raw = Raw::default();
    raw.push("model", "quadratic-map", experiment::Origin::Flag);
    let recording = Arc::new(Recording::in_memory(lorenz(1)?));
    let task = Task::new(&Experiment::check(&raw)?, recording)?;
    let fitted = task.train(&mut |_: &Epoch, _: &State| Control::Continue)?;
    let model = &fitted.reconstruction;
    let data = model.see_prepared(&lorenz(2)?)?;
    check(model.dynamics.as_ref(), data.longest().slice(0..50))?;
    let request = Request {
        levels: Levels::LeftOut,
        ..Request::default()
    };
    let judge = Judge::new(&data, &Origin::default(), &request)?;
    Ok(judge.evaluate(model, None)?)
}

/// What every fitted system must satisfy.
fn check(dynamics: &dyn Dynamics, data: Stretch<'_>) -> laws::Verdict {
    laws::orbits_are_made_of_steps(dynamics, data)?;
    laws::loading_gives_the_same_orbit(&quadratic::QUADRATIC, dynamics, data)?;
    laws::following_is_inferring(dynamics, data)?;
    laws::stepping_is_taking_the_forecast_in(dynamics, data)?;
    laws::a_row_is_shown_as_it_is(dynamics, data)?;
    let rng = &mut Rng::new(1, Stream::MonteCarlo);
    laws::jacobian_of_dynamics_matches_differences(dynamics, data.row(0), &[], rng)
}

/// In the units of the system: standardised by itself, each series would have units of its own, and the model only knows those of its
/// training data.
fn lorenz(seed: u64) -> Result<Series, attractor::Error> {
    let mut request = simulate::Request::new("lorenz63", 5000);
    (request.seed, request.transient) = (seed, 1000);
    Ok(Simulation::check(&request)?.run()?.series)
}

fn main() -> Result<(), Box<dyn Error>> {
    let evaluation = run(Path::new("."))?;
    for score in &evaluation.scores {
        println!("{:24} {:?}", score.id, score.value);
    }
    Ok(())
}
