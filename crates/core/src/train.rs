//! Training by updates: the loop, what can be watched, how it ends.
//!
//! The loop is the same for every method: epochs, learning rate, optimiser, clipping, averaging, worker threads, what is watched and
//! how it ends ([`Course`], `train/worker.rs`). A method brings the objective of an update (`train/objective.rs`); that of maps under
//! teacher forcing is here ([`Plan`], [`train`], `train/forced.rs`).
//!
//! One update: draw S windows, run the model forward, compare with the data, run backward, add the penalties' gradients, take one
//! step of the optimiser. Everything is replicated on every worker thread but the sweeps: each worker sweeps its share of the lanes,
//! lays its gradients open, waits once, and adds all of them in the order of the lanes. So the result does not depend on the number
//! of threads, to the bit.

pub(crate) mod batch;
mod estimate;
pub(crate) mod exchange;
mod forced;
pub(crate) mod objective;
mod pace;
mod rounds;
mod sweep;
pub(crate) mod worker;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::forcing::adaptive::Adaptation;
use crate::forcing::alpha::Norm;
use crate::forcing::{Forcing, ForcingGradient};
use crate::kernel::{Clipped, Dendritic, Kernel, Plain, Rectified, Shallow, Tanh};
use crate::linalg::sum_of_squares;
use crate::map::shallow::Activation;
use crate::map::{Dims, UnitKind};
use crate::method::LoadedValues;
use crate::model::{Architecture, Model};
use crate::optim::{Exponential, Floored, Moments, Optimizer};
use crate::penalty::PenaltyWeights;
pub use crate::progress::Control;
use crate::progress::Progress;
use crate::simd::{Isa, Lanes, Lanes16, Paired8};
use crate::theta::{Layout, Shape};
use crate::windows::Windows;

use forced::Training;
pub use rounds::Rounds;

/// What the loop does, all settings resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// The learning rate, the number of epochs and their length.
    pub schedule: Schedule,
    /// Optimizer, which turns a gradient into a step.
    pub optimizer: Optimizer,
    /// The penalty on weights.
    pub weight_decay: WeightDecay,
    /// Largest norm of a gradient; longer ones are shortened to it.
    pub clip_norm: Option<f64>,
    /// How much of the average of θ over the updates stays at an update; `None` for no average.
    pub averaging: Option<f64>,
    /// The seed of all random streams.
    pub seed: u64,
    /// Worker threads; more than there are packs of lanes have nothing to do.
    pub threads: usize,
    /// Whether only as many of them work as pay.
    pub paced: bool,
    /// The instruction set.
    pub isa: Isa,
}

/// How the learning rate falls, and when training ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Schedule {
    /// By the same factor every epoch.
    Exponential(Exponential),
    /// By the same factor every update, down to a floor.
    Floored(Floored),
    /// In rounds that restart from their best parameters.
    Rounds(Rounds),
}

impl Schedule {
    /// η of the next update.
    pub fn rate(&self, state: &State) -> f64 {
        match self {
            Schedule::Exponential(schedule) => schedule.rate(state.update),
            Schedule::Floored(schedule) => schedule.rate(state.update),
            Schedule::Rounds(rounds) => rounds.rate(state),
        }
    }

    /// Updates of an epoch; 0 where it depends on the method.
    pub fn updates_per_epoch(&self) -> u64 {
        match self {
            Schedule::Exponential(schedule) => schedule.batches_per_epoch,
            Schedule::Floored(schedule) => schedule.batches_per_epoch,
            Schedule::Rounds(_) => 0,
        }
    }

    /// Epochs, at most.
    pub fn epochs(&self) -> u64 {
        match self {
            Schedule::Exponential(schedule) => schedule.epochs,
            Schedule::Floored(schedule) => schedule.epochs,
            Schedule::Rounds(rounds) => rounds.rounds * rounds.epochs,
        }
    }
}

/// ½ λ Σ w² over weights, which is added to the loss: biases are left alone.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct WeightDecay {
    /// λ.
    pub weight: f64,
    /// Where the weights stand in θ.
    pub of: Vec<Range<usize>>,
}

impl WeightDecay {
    /// On all matrices of a layout.
    pub fn of_matrices(weight: f64, layout: &Layout) -> WeightDecay {
        let is_matrix = |shape: Shape| matches!(shape, Shape::Matrix(..));
        let tensors = layout.tensors().iter();
        let matrices = tensors.filter(|tensor| is_matrix(tensor.shape));
        WeightDecay {
            weight,
            of: matrices.map(|tensor| tensor.range.clone()).collect(),
        }
    }

    /// Adds λ w to the gradient; gives the penalty.
    pub(crate) fn add(&self, theta: &[f32], dtheta: &mut [f32]) -> f64 {
        if self.weight == 0.0 {
            return 0.0;
        }
        let mut penalty = 0.0;
        for range in &self.of {
            let (w, d) = (&theta[range.clone()], &mut dtheta[range.clone()]);
            let pairs = d.iter_mut().zip(w);
            pairs.for_each(|(d, w)| *d += self.weight as f32 * w);
            penalty += 0.5 * self.weight * sum_of_squares(w, 0.0);
        }
        penalty
    }
}

/// What training under teacher forcing does, all settings resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// What the loop does.
    pub course: Course,
    /// Windows a batch S.
    pub batch: usize,
    /// How the states are pulled toward the data; with an adaptation, how strongly at first.
    pub forcing: Forcing,
    /// How the strength of generalized forcing follows the model; `None` keeps it.
    pub adaptation: Option<Adaptation>,
    /// Whether gradients also pass through the teacher signals.
    pub forcing_gradient: ForcingGradient,
    /// Penalties on parameters.
    pub penalties: PenaltyWeights,
    /// Largest |A|, to which the entries of A are cut after every update. Below 1 no orbit of a clipped model leaves every
    /// bound.
    pub largest_a: Option<f64>,
    /// Standard deviation of the noise added to every window.
    pub noise: f64,
}

/// All that changes from update to update: with the plan and the data, what a run continues from.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Parameters θ.
    pub theta: Vec<f32>,
    /// The optimiser's moments.
    pub moments: Moments,
    /// Updates made. The random streams' positions follow from it.
    pub update: u64,
    /// Epochs made.
    pub epoch: u64,
    /// Strength α of generalized forcing, from 0 (none) to 1.
    pub alpha: f64,
    /// What the schedule's learning rate is multiplied by.
    pub rate_scale: f64,
    /// Exponential moving average of θ; empty without one.
    pub average: Vec<f32>,
    /// What else a method or its schedule remembers, by name.
    pub extra: BTreeMap<String, LoadedValues>,
}

/// What is known at the end of an epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Epoch {
    /// Epochs done.
    pub epoch: u64,
    /// Updates done.
    pub update: u64,
    /// Mean squared error over the epoch's batches, without penalties.
    pub loss: f64,
    /// Penalties at the last update.
    pub penalty: f64,
    /// Forcing strength at the last update.
    pub alpha: f64,
    /// The epoch's last estimate of the norm of Jacobians, where forcing is adaptive.
    pub norm: Option<Norm>,
    /// Learning rate of the last update.
    pub rate: f64,
    /// Norm of the last gradient, before it was shortened.
    pub gradient_norm: f64,
}

/// Watches training.
pub trait Watch: Send {
    /// Called after every epoch.
    fn epoch(&mut self, epoch: &Epoch, state: &State) -> Control;

    /// Called on the way of a method that is solved at once.
    fn progress(&mut self, _progress: Progress) -> Control {
        Control::Continue
    }
}

impl<F: FnMut(&Epoch, &State) -> Control + Send> Watch for F {
    fn epoch(&mut self, epoch: &Epoch, state: &State) -> Control {
        self(epoch, state)
    }
}

/// How training ended.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// All updates were made.
    Finished(State),
    /// The watch stopped it.
    Stopped(State),
    /// A loss or gradient was not finite, or a gradient too large for the optimiser.
    Diverged {
        /// The update at which it was not, from 0.
        update: u64,
        /// The state before it, finite.
        last: State,
    },
}

impl Outcome {
    /// The last finite state.
    pub fn state(&self) -> &State {
        match self {
            Outcome::Finished(state)
            | Outcome::Stopped(state)
            | Outcome::Diverged { last: state, .. } => state,
        }
    }
}

impl State {
    /// Where training starts with these parameters.
    pub fn new(theta: &[f32], course: &Course) -> State {
        State {
            theta: theta.to_vec(),
            moments: Moments::new(theta.len()),
            update: 0,
            epoch: 0,
            alpha: 0.0,
            rate_scale: 1.0,
            average: course.averaging.map_or(Vec::new(), |_| theta.to_vec()),
            extra: BTreeMap::new(),
        }
    }
}

impl Plan {
    /// Where training of a model starts.
    pub fn start(&self, model: &Model) -> State {
        State {
            alpha: self.forcing.strength(),
            ..State::new(model.theta(), &self.course)
        }
    }
}

/// Calls a method of a job with the kernel of its model: the one place that knows which kernel trains which map.
macro_rules! with_kernel {
    ($job:ident . $method:ident ( $($argument:expr),* )) => {
        match $job.architecture.info.units {
            UnitKind::Shallow(Activation::Clipped) => {
                $job.$method::<Shallow<Clipped>>(|k| k, $($argument),*)
            }
            UnitKind::Shallow(Activation::Plain) => {
                $job.$method::<Shallow<Plain>>(|k| k, $($argument),*)
            }
            UnitKind::Shallow(Activation::Tanh) => {
                $job.$method::<Shallow<Tanh>>(|k| k, $($argument),*)
            }
            UnitKind::Rectified(centring) => {
                $job.$method::<Rectified>(|k| k.centred(centring), $($argument),*)
            }
            UnitKind::Dendritic(clipping) => {
                $job.$method::<Dendritic>(|k| k.clipped(clipping), $($argument),*)
            }
        }
    };
}

pub(crate) use with_kernel;

/// Trains from a state to the end of the plan.
pub fn train(
    plan: &Plan,
    windows: &Windows,
    architecture: &Architecture,
    from: State,
    watch: &mut dyn Watch,
) -> Outcome {
    let training = Training {
        plan,
        windows,
        architecture,
    };
    with_kernel!(training.train(from, watch))
}

/// How many numbers an update keeps of every window at every step, at most: states, teacher signals, predictions and their
/// cotangents, external inputs, and what hidden units leave for the way back.
pub fn numbers_a_step(architecture: &Architecture) -> usize {
    let Dims {
        latent,
        hidden,
        inputs,
    } = architecture.dims;
    let of_units = match architecture.info.units {
        UnitKind::Shallow(_) => 2 * hidden,
        UnitKind::Rectified(_) => 2 * latent,
        UnitKind::Dendritic(_) => (2 + Dendritic::MARKS_A_UNIT) * latent,
    };
    4 * latent + inputs + of_units + 2 * architecture.observation.dim_obs
}

/// 𝒩 of the batch of windows that start at the given rows, as adaptive forcing estimates it.
pub fn norm_of_batch(
    plan: &Plan,
    windows: &Windows,
    architecture: &Architecture,
    theta: &[f32],
    starts: &[usize],
) -> Norm {
    let training = Training {
        plan,
        windows,
        architecture,
    };
    with_kernel!(training.norm(theta, starts))
}

/// The loss (without penalties) and the gradient of the whole objective for one batch: the windows that start at the
/// given rows, as many as `plan.batch`. It is what an update sees, for tests and figures.
pub fn loss_and_gradient(
    plan: &Plan,
    windows: &Windows,
    architecture: &Architecture,
    theta: &[f32],
    starts: &[usize],
) -> (f64, Vec<f32>) {
    assert_eq!(
        starts.len(),
        plan.batch,
        "a batch has {} windows",
        plan.batch
    );
    let training = Training {
        plan,
        windows,
        architecture,
    };
    with_kernel!(training.once(theta, starts))
}

/// What a vector register holds of a batch.
pub(crate) enum Register {
    /// Eight windows.
    Narrow,
    /// Sixteen windows.
    Wide,
    /// Eight windows, of hidden units two each.
    Paired,
}

impl Register {
    /// What registers hold where they are wide: sixteen windows, unless eight with units in pairs, which take half the time,
    /// leave the busiest thread less to do.
    pub(crate) fn of(course: &Course, batch: usize) -> Register {
        let busiest = |width: usize| batch.div_ceil(width).div_ceil(course.threads);
        match course.isa {
            Isa::Avx512 if 2 * busiest(Lanes16::WIDTH) <= busiest(Paired8::WIDTH) => Register::Wide,
            Isa::Avx512 => Register::Paired,
            _ => Register::Narrow,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::MODELS;
    use crate::observation::ObservationKind;

    /// Three channels, five states, one input, seven hidden units or bases: four numbers per state, two per channel, one per input;
    /// of a shallow model two a unit, of the others two a state, of dendritic ones two more.
    #[test]
    fn numbers_are_counted_by_what_the_units_are() {
        for info in MODELS {
            let dims = Dims {
                latent: 5,
                hidden: 7,
                inputs: 1,
            };
            let architecture = Architecture::new(info, dims, ObservationKind::Identity, 3);
            let of_units = match info.entry.id {
                "plrnn" | "mean-centred-plrnn" => 2 * 5,
                "dendritic-plrnn" | "clipped-dendritic-plrnn" => 4 * 5,
                _ => 2 * 7,
            };
            let architecture = architecture.expect("the sizes fit");
            assert_eq!(numbers_a_step(&architecture), 4 * 5 + 1 + of_units + 2 * 3);
        }
    }
}
