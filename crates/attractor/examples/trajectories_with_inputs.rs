//! Several trajectories with an external input and missing values: trained as they are, then forecast.
//!
//! Duffing's oscillator in a double well, ẋ = v, v̇ = x − x³ − 0.3 v + s(t), is recorded three times under a drive s; one value in
//! twenty is missing. The model forecasts a fourth recording from its first row, given the drive.
#![allow(clippy::print_stdout, reason = "an example prints its answer")]

use std::path::Path;
use std::sync::Arc;

use attractor::Error;
use attractor::experiment::{Experiment, Origin, Raw};
use attractor::generate::generate;
use attractor::rng::{Rng, Stream};
use attractor::run::{Recording, Task};
use attractor::series::{Channel, Series, Step, Trajectory};
use attractor::train::{Control, Epoch, State};

/// Root mean squared errors over 40 rows: of the forecast, and of the best that is constant.
pub(crate) fn run(_: &Path) -> Result<[f64; 2], Error> {
    let rng = &mut Rng::new(1, Stream::Noise);
    let mut broken = [(0, 2000), (10_000, 900), (20_000, 1500)].map(duffing);
    let values = broken.iter_mut().flat_map(|t| &mut t.x);
    let lost = values.filter(|_| rng.uniform() < 0.05);
    lost.for_each(|x| *x = f64::NAN);
    let mut raw = Raw::default();
    for (name, text) in [("epochs", "150"), ("window", "40"), ("lr", "2e-3")] {
        raw.push(name, text, Origin::Flag);
    }
    let recording = Arc::new(Recording::in_memory(series(broken.to_vec())?));
    let task = Task::new(&Experiment::check(&raw)?, recording)?;
    let trained = task.train(&mut |_: &Epoch, _: &State| Control::Continue)?;
    let (model, fourth) = (&trained.reconstruction, duffing((50_000, 40)));
    let seen = model.see(&series(vec![fourth.clone()])?)?;
    let forecast = generate(model, Some(&seen), 40)?.series;
    let forecast = error(&fourth.x, &forecast.trajectories()[0].x);
    let mean = |channel: usize| fourth.x.iter().skip(channel).step_by(2).sum::<f64>() / 40.0;
    Ok([forecast, error(&fourth.x, &[mean(0), mean(1)].repeat(40))])
}

fn error(truth: &[f64], forecast: &[f64]) -> f64 {
    let squares = truth.iter().zip(forecast).map(|(x, y)| (x - y).powi(2));
    (squares.sum::<f64>() / truth.len() as f64).sqrt()
}

/// Rows of x and v with the drive s that acts on the step to them, from row `first` on; ten steps of 0.01 each.
fn duffing((first, rows): (usize, usize)) -> Trajectory {
    let (mut x, mut v) = (0.5, 0.0);
    let mut recorded = Trajectory::new(Vec::new());
    for t in (first..first + rows).map(|row| 0.1 * row as f64) {
        let s = 0.5 * (1.2 * t).cos() + 0.4 * (0.53 * t + 1.0).sin();
        for _ in 0..10 {
            v += 0.01 * (x - x * x * x - 0.3 * v + s);
            x += 0.01 * v;
        }
        recorded.x.extend([x, v]);
        recorded.s.push(s);
    }
    recorded
}

fn series(trajectories: Vec<Trajectory>) -> Result<Series, Error> {
    let (channels, inputs) = (Channel::numbered("x", 2), Channel::numbered("s", 1));
    Ok(Series::new(
        channels,
        inputs,
        Step::default(),
        trajectories,
    )?)
}

fn main() -> Result<(), Error> {
    let [model, constant] = run(Path::new("."))?;
    println!("error of the forecast {model:.3}, of the best constant {constant:.3}");
    Ok(())
}
