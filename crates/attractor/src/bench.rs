//! How long one update takes, for the sizes of the paper's four experiments and of the methods that it compares: the median
//! over blocks of updates, the first of which is not counted, and the fastest tenth of them, which other work on the machine has hardly disturbed.
//!
//! The clock rate of a machine changes within seconds, so two programs can only be compared when they take short turns:
//! [`beside_gtf`] lets another forcing and GTF make a block each, in turns, and [`paced`] lets the caller say when the
//! next block is made.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

use attractor_core::series::{Scaling, Series};
use attractor_core::train::{Control, Epoch, State, Watch};

use crate::Error;
use crate::experiment::{Experiment, Origin, Raw, isa};
use crate::run::{Recording, RunError, Task};

/// The sizes of one experiment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workload {
    /// Its name.
    pub name: &'static str,
    /// The model.
    pub model: &'static str,
    /// Channels N.
    pub observed: usize,
    /// Latent states M; the dynamical variables of other methods.
    pub latent: usize,
    /// Hidden units L.
    pub hidden: usize,
    /// Predicted steps T; the steps of a chunk of an LSTM.
    pub window: usize,
    /// Windows of an update.
    pub batch: usize,
}

/// The paper's four experiments, then those of methods that are timed when they are named: sizes of Lorenz-63, of the ECG and of
/// the EEG.
pub static WORKLOADS: &[Workload] = &[
    ours("lorenz63", 3, 3, 50, 200),
    ours("lorenz96", 20, 20, 100, 200),
    ours("ecg", 5, 5, 250, 200),
    ours("eeg", 64, 16, 512, 50),
    recurrent("lstm-15", "lstm", 3, 15, 12),
    recurrent("lstm-35", "lstm", 5, 35, 12),
    recurrent("lstm-80", "lstm", 64, 80, 12),
    recurrent("lem-7", "lem", 3, 7, 100),
    recurrent("lem-31", "lem", 5, 31, 100),
    recurrent("lem-38", "lem", 64, 38, 100),
    neural_ode("neural-ode-50", 3, 50),
    neural_ode("neural-ode-450", 5, 450),
    neural_ode("neural-ode-139", 64, 139),
    continuous("ode-rnn", 18, 44),
    continuous("latent-ode", 8, 20),
];

/// Steps between sparse forcings: sines have no predictability time.
const INTERVAL: usize = 16;

/// How to measure.
#[derive(Debug, Clone, PartialEq)]
pub struct Measuring {
    /// Updates that are counted; rounded up to whole blocks.
    pub updates: usize,
    /// Updates a block, which is timed as a whole.
    pub block: usize,
    /// Worker threads, as in the settings.
    pub threads: String,
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
    /// Worker threads, as in the settings.
    pub threads: String,
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
    /// What a tenth of the blocks does not exceed.
    pub fastest_tenth: f64,
}

const OURS: &str = "clipped-shallow-plrnn";

const fn ours(
    name: &'static str,
    observed: usize,
    latent: usize,
    hidden: usize,
    window: usize,
) -> Workload {
    Workload {
        name,
        model: OURS,
        observed,
        latent,
        hidden,
        window,
        batch: 16,
    }
}

const fn recurrent(
    name: &'static str,
    model: &'static str,
    observed: usize,
    hidden: usize,
    window: usize,
) -> Workload {
    Workload {
        name,
        model,
        observed,
        latent: 2 * hidden,
        hidden,
        window,
        batch: 32,
    }
}

const fn neural_ode(name: &'static str, observed: usize, hidden: usize) -> Workload {
    Workload {
        name,
        model: "neural-ode",
        observed,
        latent: observed,
        hidden,
        window: 25,
        batch: 16,
    }
}

/// Of the EEG, with the sizes that are the defaults.
const fn continuous(model: &'static str, latent: usize, hidden: usize) -> Workload {
    Workload {
        name: model,
        model,
        observed: 64,
        latent,
        hidden,
        window: 100,
        batch: 50,
    }
}

impl Workload {
    /// Whether it is one of the paper's own four.
    pub fn is_ours(&self) -> bool {
        self.model == OURS
    }

    /// Settings that only its model has.
    fn own_settings(&self, measuring: &Measuring) -> Vec<(&'static str, String)> {
        let whole = |number: usize| number.to_string();
        match self.model {
            "lstm" => vec![
                ("schedule", "exponential".to_string()),
                ("sequence", whole(self.window - PREDICTION)),
                ("prediction", whole(PREDICTION)),
            ],
            "lem" | "ode-rnn" | "latent-ode" => vec![("window", whole(self.window))],
            "neural-ode" => vec![
                ("window", whole(self.window)),
                ("forcing", "none".to_string()),
            ],
            _ => vec![
                ("latent", whole(self.latent)),
                ("window", whole(self.window)),
                ("forcing", measuring.forcing.clone()),
                ("alpha-estimator", measuring.alpha_estimator.clone()),
                ("interval", whole(INTERVAL)),
                // The bare update, as other programs are timed.
                ("latent-penalty", "0".to_string()),
            ],
        }
    }
}

/// Rows that an LSTM forecasts of every chunk.
const PREDICTION: usize = 4;

/// Updates a block unless others are asked for.
pub const BLOCK: usize = 20;

/// What happens between blocks: it gets the seconds per update of the last one, none before the first.
type Pace<'a> = dyn FnMut(Option<f64>) -> Control + Send + 'a;

/// Measures one workload, on smooth synthetic data unless there are others.
pub fn measure(
    workload: &Workload,
    measuring: &Measuring,
    data: Option<&Series>,
) -> Result<Timing, Error> {
    let mut seconds = Vec::with_capacity(measuring.blocks());
    let mut pace = |taken| {
        seconds.extend(taken);
        enough(&seconds, measuring)
    };
    let timing = paced(workload, measuring, data, &mut pace)?;
    Ok(timing.of(seconds, measuring.block))
}

/// Measures one workload and the same with GTF, in turns of one block; also the median ratio of two turns.
pub fn beside_gtf(
    workload: &Workload,
    measuring: &Measuring,
    data: Option<&Series>,
) -> Result<(Timing, Timing, f64), Error> {
    let gtf = Measuring {
        forcing: "gtf".to_string(),
        ..measuring.clone()
    };
    let (to_gtf, from_asked) = channel();
    let (to_asked, from_gtf) = channel();
    let (asked, gtf) = thread::scope(|scope| {
        let other = scope.spawn(move || {
            let baton = Baton(to_asked, from_asked);
            in_turns(workload, &gtf, data, baton, true)
        });
        let asked = in_turns(workload, measuring, data, Baton(to_gtf, from_gtf), false);
        (asked, other.join().expect("a measurement does not panic"))
    });
    let ((asked, asked_seconds), (gtf, gtf_seconds)) = (asked?, gtf?);
    let ratios = asked_seconds.iter().zip(&gtf_seconds).map(|(a, g)| a / g);
    let ratio = median(ratios.collect());
    let block = measuring.block;
    let (asked, gtf) = (asked.of(asked_seconds, block), gtf.of(gtf_seconds, block));
    Ok((asked, gtf, ratio))
}

/// Makes blocks of one workload for as long as `pace` wants them. The timing has the sizes, and no times.
pub fn paced(
    workload: &Workload,
    measuring: &Measuring,
    data: Option<&Series>,
    pace: &mut Pace<'_>,
) -> Result<Timing, Error> {
    let synthetic = data.is_none().then(|| smooth(workload.observed));
    let series = data
        .or(synthetic.as_ref())
        .expect("one of the two is there");
    let recording = Arc::new(Recording::in_memory(series.clone()));
    let task = Task::new(&experiment(workload, measuring)?, recording)?;
    let mut clock = Clock {
        warm_up: measuring.warm_up,
        begun: Instant::now(),
        last: None,
        blocks: 0,
        pace,
    };
    let trained = task.train(&mut clock)?;
    if clock.blocks == 0 {
        let update = trained.summary.update;
        return Err(RunError::Diverged { update }.into());
    }
    let settings = task.resolved.experiment.settings();
    Ok(Timing {
        workload: Workload {
            observed: series.dim_obs(),
            ..*workload
        },
        threads: measuring.threads.clone(),
        isa: isa(settings.choice("isa"))?.name(),
        forcing: measuring.forcing.clone(),
        alpha_estimator: (measuring.forcing == "agtf").then(|| measuring.alpha_estimator.clone()),
        updates: 0,
        seconds_per_update: f64::NAN,
        fastest_tenth: f64::NAN,
    })
}

impl Measuring {
    fn blocks(&self) -> usize {
        self.updates.div_ceil(self.block).max(1)
    }
}

impl Timing {
    /// The same with the seconds per update of some blocks.
    fn of(self, mut blocks: Vec<f64>, block: usize) -> Timing {
        blocks.sort_by(f64::total_cmp);
        Timing {
            updates: blocks.len() * block,
            fastest_tenth: blocks[(blocks.len() - 1) / 10],
            seconds_per_update: median(blocks),
            ..self
        }
    }
}

/// Calls something while so many threads of this program want a core each, as other programs do on a busy machine.
pub fn beside_load<T>(threads: usize, call: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        let given = catch_unwind(AssertUnwindSafe(call));
        done.store(true, Ordering::Relaxed);
        given.unwrap_or_else(|panic| resume_unwind(panic))
    })
}

fn enough(blocks: &[f64], measuring: &Measuring) -> Control {
    if blocks.len() == measuring.blocks() {
        Control::Stop
    } else {
        Control::Continue
    }
}

/// The right to make the next block: to hand it over, and to wait for it.
struct Baton(Sender<()>, Receiver<()>);

/// The blocks of one of two measurements that take turns. The one that is not `first` says when it is warm, and waits.
fn in_turns(
    workload: &Workload,
    measuring: &Measuring,
    data: Option<&Series>,
    Baton(hand_over, wait): Baton,
    first: bool,
) -> Result<(Timing, Vec<f64>), Error> {
    let mut seconds = Vec::with_capacity(measuring.blocks());
    let told = &mut seconds;
    let mut pace = move |taken: Option<f64>| {
        told.extend(taken);
        let handed = (first && taken.is_none()) || hand_over.send(()).is_ok();
        match enough(told, measuring) {
            Control::Continue if handed && wait.recv().is_ok() => Control::Continue,
            _ => Control::Stop,
        }
    };
    let timing = paced(workload, measuring, data, &mut pace)?;
    Ok((timing, seconds))
}

fn experiment(workload: &Workload, measuring: &Measuring) -> Result<Experiment, Error> {
    let mut given = vec![
        ("model", workload.model.to_string()),
        ("hidden", workload.hidden.to_string()),
        ("batch", workload.batch.to_string()),
        // The clock stops it.
        ("epochs", "1000000000".to_string()),
        ("lr-end", "1e-3".to_string()),
        ("batches-per-epoch", measuring.block.to_string()),
        ("threads", measuring.threads.clone()),
        ("isa", measuring.isa.clone()),
    ];
    given.extend(workload.own_settings(measuring));
    let mut raw = Raw::default();
    for (name, text) in given {
        raw.push(name, &text, Origin::Flag);
    }
    Ok(Experiment::check(&raw)?)
}

/// Tells how long blocks take, from the end of the warm-up and of the first block on.
struct Clock<'a, 'p> {
    warm_up: Duration,
    begun: Instant,
    /// When the last block ended, and the updates until then.
    last: Option<(Instant, u64)>,
    blocks: usize,
    pace: &'a mut Pace<'p>,
}

impl Watch for Clock<'_, '_> {
    fn epoch(&mut self, epoch: &Epoch, _: &State) -> Control {
        let taken = self.last.map(|(last, before)| {
            let updates = (epoch.update - before) as f64;
            last.elapsed().as_secs_f64() / updates
        });
        if taken.is_none() && self.begun.elapsed() < self.warm_up {
            return Control::Continue;
        }
        self.blocks += usize::from(taken.is_some());
        let control = (self.pace)(taken);
        self.last = Some((Instant::now(), epoch.update));
        control
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
            block: BLOCK,
            threads: "1".into(),
            isa: "auto".into(),
            forcing: "gtf".into(),
            alpha_estimator: "arithmetic-mean".into(),
            warm_up: Duration::ZERO,
        };
        let timing = measure(&WORKLOADS[0], &measuring, None).unwrap();
        assert_eq!((timing.updates, timing.threads.as_str()), (40, "1"));
        assert!(timing.fastest_tenth > 0.0);
        assert!(timing.seconds_per_update >= timing.fastest_tenth);
    }

    #[test]
    fn two_forcings_take_turns() {
        let measuring = Measuring {
            updates: 60,
            block: 1,
            threads: "1".into(),
            isa: "auto".into(),
            forcing: "agtf".into(),
            alpha_estimator: "arithmetic-mean".into(),
            warm_up: Duration::ZERO,
        };
        let (asked, gtf, ratio) = beside_gtf(&WORKLOADS[0], &measuring, None).unwrap();
        assert_eq!((asked.forcing.as_str(), asked.updates), ("agtf", 60));
        // GTF goes first; the other stops first.
        assert_eq!((gtf.forcing.as_str(), gtf.updates), ("gtf", 60));
        assert!(ratio > 0.0);
    }
}
