//! A system of one's own: equations, a series of it, a model of the series, and the Lyapunov exponents of both.
//!
//! The system is that of Burke and Shaw (1981):  ẋ = −s (x + y),  ẏ = −y − s x z,  ż = s x y + v.  Its divergence is −s − 1
//! everywhere, so that the exponents sum to that.
#![allow(clippy::print_stdout, reason = "an example prints its answer")]

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use attractor::analysis::lyapunov::{LyapunovPlan, lyapunov_of_dynamics, lyapunov_spectrum};
use attractor::experiment::{Experiment, Origin, Raw};
use attractor::generate::departure;
use attractor::progress::Unwatched;
use attractor::run::{Recording, Task};
use attractor::series::Series;
use attractor::system::integrate::{Dop853, Tolerance};
use attractor::system::{System, Time};
use attractor::train::{Control, Epoch, State};

const DT: f64 = 0.02;

struct BurkeShaw {
    s: f64,
    v: f64,
}

impl System for BurkeShaw {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, x: &[f64], out: &mut [f64]) {
        let ([x, y, z], BurkeShaw { s, v }) = ([x[0], x[1], x[2]], self);
        out.copy_from_slice(&[-s * (x + y), -y - s * x * z, s * x * y + v]);
    }

    fn jacobian(&self, x: &[f64], jac: &mut [f64]) {
        let ([x, y, z], s) = ([x[0], x[1], x[2]], self.s);
        jac.copy_from_slice(&[-s, -s, 0.0, -s * z, -1.0, -s * x, s * y, s * x, 0.0]);
    }
}

/// Exponents per unit of time, of the system and of the model.
pub(crate) fn run(_: &Path) -> Result<[Vec<f64>; 2], Box<dyn Error>> {
    let (system, x0) = (BurkeShaw { s: 10.0, v: 4.272 }, [0.6, 0.1, 0.2]);
    let plan = LyapunovPlan {
        intervals: 5000,
        ..LyapunovPlan::full(3)
    };
    let exact = lyapunov_spectrum(&system, Time::Flow { dt: DT }, &x0, &plan, &mut Unwatched)?;
    let flow = |x: &[f64], dx: &mut [f64]| system.evaluate(x, dx);
    let mut orbit = Dop853::new(flow, &x0, Tolerance::relative(1e-9));
    let mut x = vec![0.0; 3 * 6000];
    for (t, row) in x.chunks_exact_mut(3).enumerate() {
        orbit.state_at(20.0 + DT * t as f64, row)?;
    }
    let recording = Arc::new(Recording::in_memory(Series::from_rows(x, 3, DT)?));
    let mut raw = Raw::default();
    for (name, text) in [("epochs", "200"), ("window", "50"), ("lr", "3e-3")] {
        raw.push(name, text, Origin::Flag);
    }
    let task = Task::new(&Experiment::check(&raw)?, recording)?;
    let trained = task.train(&mut |_: &Epoch, _: &State| Control::Continue)?;
    let model = &trained.reconstruction;
    let start = departure(model, None)?.z;
    let plan = LyapunovPlan {
        intervals: 20_000,
        ..LyapunovPlan::full(start.len())
    };
    let dynamics = model.dynamics.as_ref();
    let spectrum = lyapunov_of_dynamics(dynamics, &start, &[], &plan, &mut Unwatched)?;
    Ok([exact.exponents, spectrum.per_time(DT).exponents])
}

fn main() -> Result<(), Box<dyn Error>> {
    let [system, model] = run(Path::new("."))?;
    println!("exponents of the system {system:.3?}");
    println!("exponents of the model  {model:.3?}");
    Ok(())
}
