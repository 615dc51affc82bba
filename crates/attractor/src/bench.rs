//! How long one update takes, for the sizes of the paper's four experiments: the median over blocks of updates, the
//! first of which is not counted.

use std::time::{Duration, Instant};

use attractor_core::series::{Scaling, Series};
use attractor_core::train::{Control, Epoch, State, Watch};

use crate::Error;
use crate::experiment::{Experiment, Origin, Raw};
use crate::run::{RunError, Trained};

/// The sizes of one experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// Channels N.
    pub observed: usize,
    /// Latent states M.
    pub latent: usize,
    /// Hidden units L.
    pub hidden: usize,
    /// Predicted steps T.
    pub window: usize,
}

/// The paper's four experiments.
pub static WORKLOADS: &[Workload] = &[
    workload("lorenz63", 3, 3, 50, 200),
    workload("lorenz96", 20, 20, 100, 200),
    workload("ecg", 5, 5, 250, 200),
    workload("eeg", 64, 16, 512, 50),
];

/// Windows an update.
pub const BATCH: usize = 16;

/// How to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Measuring {
    /// Updates that are counted; rounded up to whole blocks.
    pub updates: usize,
    /// Worker threads, 0 for all cores.
    pub threads: usize,
    /// The instruction set, as in the settings.
    pub isa: String,
    /// The forcing, as in the settings.
    pub forcing: String,
    /// How adaptive forcing finds alpha, as in the settings.
    pub alpha_estimator: String,
    /// How long updates are made before any is timed: processors take a while to reach their clock rate.
    pub warm_up: Duration,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// The sizes.
    pub workload: Workload,
    /// Worker threads.
    pub threads: usize,
    /// The instruction set.
    pub isa: &'static str,
    /// The forcing, as in the settings.
    pub forcing: String,
    /// How alpha was found, if the forcing is adaptive.
    pub alpha_estimator: Option<String>,
    /// Updates that were counted.
    pub updates: usize,
    /// Median over the blocks.
    pub seconds_per_update: f64,
}

const fn workload(
    name: &'static str,
    observed: usize,
    latent: usize,
    hidden: usize,
    window: usize,
) -> Workload {
    Workload {
        name,
        observed,
        latent,
        hidden,
        window,
    }
}

/// Updates a block.
const BLOCK: usize = 20;

/// Measures one workload, on smooth synthetic data unless there are others.
pub fn measure(
    workload: &Workload,
    measuring: &Measuring,
    data: Option<&Series>,
) -> Result<Timing, Error> {
    let synthetic = data.is_none().then(|| smooth(workload.observed));
    let series = data
        .or(synthetic.as_ref())
        .expect("one of the two is there");
    let blocks = measuring.updates.div_ceil(BLOCK).max(1);
    let resolved = experiment(workload, measuring)?.resolve(series)?;
    let mut clock = Clock {
        warm_up: measuring.warm_up,
        wanted: blocks,
        begun: Instant::now(),
        last: None,
        blocks: Vec::with_capacity(blocks),
    };
    let trained = Trained::from_start(&resolved, series, &mut clock)?;
    if clock.blocks.is_empty() {
        let update = trained.outcome.state().update;
        return Err(RunError::Diverged { update }.into());
    }
    Ok(Timing {
        workload: Workload {
            observed: series.dim_obs(),
            ..*workload
        },
        threads: resolved.plan.threads,
        isa: resolved.plan.isa.name(),
        forcing: measuring.forcing.clone(),
        alpha_estimator: (resolved.plan.adaptation.is_some())
            .then(|| measuring.alpha_estimator.clone()),
        updates: clock.blocks.len() * BLOCK,
        seconds_per_update: median(clock.blocks) / BLOCK as f64,
    })
}

fn experiment(workload: &Workload, measuring: &Measuring) -> Result<Experiment, Error> {
    let given = [
        ("latent", workload.latent.to_string()),
        ("hidden", workload.hidden.to_string()),
        ("window", workload.window.to_string()),
        ("batch", BATCH.to_string()),
        // The clock stops it.
        ("epochs", "1000000000".to_string()),
        ("batches-per-epoch", BLOCK.to_string()),
        ("lr-end", "1e-3".to_string()),
        ("threads", measuring.threads.to_string()),
        ("isa", measuring.isa.clone()),
        ("forcing", measuring.forcing.clone()),
        ("alpha-estimator", measuring.alpha_estimator.clone()),
    ];
    let mut raw = Raw::default();
    for (name, text) in given {
        raw.push(name, &text, Origin::Flag);
    }
    Ok(Experiment::check(&raw)?)
}

/// Notes how long blocks take, from the end of the warm-up and of the first block on, until there are enough.
#[derive(Debug)]
struct Clock {
    warm_up: Duration,
    wanted: usize,
    begun: Instant,
    last: Option<Instant>,
    blocks: Vec<f64>,
}

impl Watch for Clock {
    fn epoch(&mut self, _: &Epoch, _: &State) -> Control {
        let now = Instant::now();
        let taken = self.last.map(|last| now - last);
        self.blocks.extend(taken.map(|taken| taken.as_secs_f64()));
        self.last = (now - self.begun >= self.warm_up).then_some(now);
        if self.blocks.len() == self.wanted {
            Control::Stop
        } else {
            Control::Continue
        }
    }
}

/// Eight sines a channel, 10,000 rows, standardised. Frequencies and phases are multiples of irrational numbers, so
/// that no two channels are alike.
fn smooth(channels: usize) -> Series {
    let fraction = |k: usize, irrational: f64| (k as f64 * irrational).fract();
    let value = |row: usize, channel: usize| -> f64 {
        let sine = |k: usize| {
            let frequency = 0.002 + 0.048 * fraction(k, 5f64.sqrt());
            let phase = fraction(k, 2f64.sqrt());
            (std::f64::consts::TAU * (frequency * row as f64 + phase)).sin()
        };
        (8 * channel..8 * (channel + 1)).map(sine).sum()
    };
    let x = (0..10_000 * channels).map(|i| value(i / channels, i % channels));
    let series = Series::from_rows(x.collect(), channels, 1.0).expect("sines are finite");
    Scaling::standardizing(&series).apply(&series)
}

/// The middle one of some values.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let n = values.len();
    (values[(n - 1) / 2] + values[n / 2]) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
    }

    #[test]
    fn whole_blocks_are_counted_without_the_first() {
        let measuring = Measuring {
            updates: 21,
            threads: 1,
            isa: "auto".into(),
            forcing: "gtf".into(),
            alpha_estimator: "arithmetic-mean".into(),
            warm_up: Duration::ZERO,
        };
        let timing = measure(&WORKLOADS[0], &measuring, None).unwrap();
        assert_eq!((timing.updates, timing.threads), (40, 1));
        assert!(timing.seconds_per_update > 0.0);
    }
}
