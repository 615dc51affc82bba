//! Data as they come: three recordings of unequal length of a driven oscillator, with gaps and missing values.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::sync::Arc;

use attractor::dynamics::Stretch;
use attractor::experiment::{Experiment, Job, Origin, Raw};
use attractor::measure::Rows;
use attractor::measure::evaluate::{Plan, Reference};
use attractor::rng::{Rng, Stream};
use attractor::run::{Recording, Task};
use attractor::series::{Channel, Gap, Series, Step, Trajectory};
use attractor::train::{Control, Epoch, State};

const DT: f64 = 0.1;

/// Two sines without a common period.
fn drive(t: f64) -> f64 {
    0.5 * (1.2 * t).cos() + 0.4 * (0.53 * t + 1.0).sin()
}

/// Duffing's oscillator in a double well:  ẋ = v,  v̇ = x − x³ − 0.3 v + s(t).
fn rate(t: f64, [x, v]: [f64; 2]) -> [f64; 2] {
    [v, x - x.powi(3) - 0.3 * v + drive(t)]
}

/// Rows x, v and s from a time on; ten Runge–Kutta steps per row.
fn duffing(start: f64, rows: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut state, mut t, h) = ([0.5, 0.0], start - 100.0, DT / 10.0);
    let (mut x, mut s) = (Vec::new(), Vec::new());
    let along = |z: [f64; 2], k: [f64; 2], h: f64| [z[0] + h * k[0], z[1] + h * k[1]];
    for row in 0..1000 + rows {
        if row >= 1000 {
            x.extend(state);
            s.push(drive(t));
        }
        for _ in 0..10 {
            let k1 = rate(t, state);
            let k2 = rate(t + h / 2.0, along(state, k1, h / 2.0));
            let k3 = rate(t + h / 2.0, along(state, k2, h / 2.0));
            let k4 = rate(t + h, along(state, k3, h));
            for i in 0..2 {
                state[i] += h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
            }
            t += h;
        }
    }
    (x, s)
}

/// A recording of which some rows are lost and, of single channels, 5 % of the values.
fn recording(start: f64, rows: usize, lost: &[(usize, usize)], rng: &mut Rng) -> Trajectory {
    let (x, s) = duffing(start, rows);
    let kept: Vec<usize> = (0..rows)
        .filter(|row| lost.iter().all(|&(from, to)| !(from..to).contains(row)))
        .collect();
    let gaps = kept.windows(2).enumerate().filter(|(_, w)| w[1] > w[0] + 1);
    let gaps = gaps.map(|(i, w)| Gap {
        row: i + 1,
        time: start + DT * w[1] as f64,
    });
    let mut holey = |v: f64| if rng.uniform() < 0.05 { f64::NAN } else { v };
    Trajectory {
        start,
        gaps: gaps.collect(),
        x: kept
            .iter()
            .flat_map(|&row| [holey(x[2 * row]), holey(x[2 * row + 1])])
            .collect(),
        s: kept.iter().map(|&row| s[row]).collect(),
        ..Trajectory::new(Vec::new())
    }
}

fn series(trajectories: Vec<Trajectory>) -> Series {
    let channels = ["x", "v"].map(Channel::named).to_vec();
    let step = Step {
        dt: DT,
        unit: "s".into(),
    };
    Series::new(channels, vec![Channel::named("s")], step, trajectories).unwrap()
}

fn experiment() -> Experiment {
    let mut raw = Raw::default();
    for (name, text) in [
        ("latent", "2"),
        ("hidden", "50"),
        ("window", "40"),
        ("alpha", "0.1"),
        ("epochs", "300"),
        ("lr", "2e-3"),
        ("lr-end", "1e-5"),
        ("threads", "1"),
    ] {
        raw.push(name, text, Origin::Flag);
    }
    Experiment::check(&raw).unwrap()
}

#[test]
fn a_driven_system_is_recovered_from_broken_recordings() {
    let mut rng = Rng::new(4, Stream::Noise);
    let parts = vec![
        recording(0.0, 3000, &[(700, 703), (1500, 1540)], &mut rng),
        recording(1000.0, 900, &[], &mut rng),
        recording(2000.0, 2200, &[(60, 61)], &mut rng),
    ];
    let data = series(parts);
    assert!(data.missing() > 400);
    let recording = Arc::new(Recording::in_memory(data));
    let task = Task::new(&experiment(), recording).unwrap();
    let resolved = &task.resolved;
    let Job::Train(training) = &resolved.job else {
        panic!("it is trained");
    };
    let notes = training.trainer.notes().concat();
    assert!(notes.contains("windows are left out"), "{notes}");
    let watch = &mut |_: &Epoch, _: &State| Control::Continue;
    let trained = task.train(watch).unwrap();
    // Driven over another time than any it was trained on.
    let (x, s) = duffing(5000.0, 5000);
    let scaled = resolved.data.scaling.apply(&series(vec![Trajectory {
        s: s.clone(),
        ..Trajectory::new(x)
    }]));
    let truth = Rows::new(&scaled.trajectories()[0].x, 2);
    let reference = Reference::new(Stretch::new(truth, &s), Plan::default()).unwrap();
    let scores = reference.scores(trained.reconstruction.dynamics.as_ref());
    // A second true orbit, driven later, is the best that can be asked for; a shuffled drive shows what chance is.
    let judge = |start: f64| {
        let (x, s) = duffing(start, 5000);
        let other = series(vec![Trajectory {
            s,
            ..Trajectory::new(x)
        }]);
        let other = resolved.data.scaling.apply(&other);
        reference.judge(&other.trajectories()[0].x)
    };
    let floor = judge(9000.0);
    let still = reference.judge(&vec![0.3; 10_000]);
    let value = |scores: &attractor::measure::evaluate::OrbitScores| {
        (
            scores.value("d_stsp").unwrap(),
            scores.value("d_h").unwrap_or(1.0),
        )
    };
    let ((d, h), (d_floor, h_floor)) = (value(&scores.orbit), value(&floor));
    let chance = value(&still).0;
    eprintln!(
        "D_stsp {d:.3} (floor {d_floor:.3}, chance {chance:.1}), D_H {h:.3} (floor {h_floor:.3}), PE(20) {:?}",
        scores.pe
    );
    assert!(d < 3.0 * d_floor && d < chance / 10.0);
    assert!(h < 3.0 * h_floor);
    // Twenty steps are two units of time, a third of the drive's period: chance is 1.
    assert!(scores.pe.unwrap() < 0.05);
}
