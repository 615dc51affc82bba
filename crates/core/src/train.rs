//! Training by back-propagation through time under teacher forcing: the loop over updates, what can be watched, how
//! it ends.
//!
//! One update: draw S windows, infer teacher signals, run the map forward under forcing, compare with the data, run
//! backward, add the penalties' gradients, take one RAdam step. Everything is replicated on every worker thread but
//! the sweeps: each worker sweeps its share of the lanes, lays its gradients open, waits once, and adds all of
//! them in the order of the lanes. So the result does not depend on the number of threads, to the bit.

mod estimate;
mod exchange;
mod sweep;
mod worker;

use crate::forcing::adaptive::Adaptation;
use crate::forcing::alpha::Norm;
use crate::forcing::{Forcing, ForcingGradient};
use crate::kernel::{Clipped, Dendritic, Kernel, Plain, Rectified, Shallow, Tanh};
use crate::map::shallow::Activation;
use crate::map::{Dims, UnitKind};
use crate::model::{Architecture, Model};
use crate::optim::{RAdam, Schedule};
use crate::penalty::PenaltyWeights;
pub use crate::progress::Control;
use crate::progress::Progress;
use crate::simd::{Isa, Lanes, Lanes8, Lanes16, Paired8};
use crate::windows::Windows;

/// What training does, all settings resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Windows a batch S.
    pub batch: usize,
    /// The learning rate, the number of epochs and their length.
    pub schedule: Schedule,
    /// How the states are pulled toward the data; with an adaptation, how strongly at first.
    pub forcing: Forcing,
    /// How the strength of generalized forcing follows the model; `None` keeps it.
    pub adaptation: Option<Adaptation>,
    /// Whether teacher signals are differentiated.
    pub forcing_gradient: ForcingGradient,
    /// Penalties on parameters.
    pub penalties: PenaltyWeights,
    /// Largest norm of a gradient; longer ones are shortened to it.
    pub clip_norm: Option<f64>,
    /// Largest |A|, to which the entries of A are cut after every update. Below 1 no orbit of a clipped model leaves every
    /// bound.
    pub largest_a: Option<f64>,
    /// Standard deviation of the noise added to every window.
    pub noise: f64,
    /// How much of the average of θ over the updates stays at an update; `None` for no average.
    pub averaging: Option<f64>,
    /// The seed of all random streams.
    pub seed: u64,
    /// Worker threads; more than there are groups of eight windows have nothing to do.
    pub threads: usize,
    /// The instruction set.
    pub isa: Isa,
}

/// All that changes from update to update: with the plan and the data, what a run continues from.
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Parameters θ.
    pub theta: Vec<f32>,
    /// The optimiser's moments.
    pub radam: RAdam,
    /// Updates made. The random streams' positions follow from it.
    pub update: u64,
    /// Strength of generalized forcing.
    pub alpha: f64,
    /// What the schedule's learning rate is multiplied by.
    pub rate_scale: f64,
    /// Exponential moving average of θ; empty without one.
    pub average: Vec<f32>,
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

impl Plan {
    /// Number of updates.
    pub fn updates(&self) -> u64 {
        self.schedule.epochs * self.schedule.batches_per_epoch
    }
}

impl State {
    /// Where training of a model starts.
    pub fn new(model: &Model, plan: &Plan) -> State {
        State::at(model.theta(), plan)
    }

    /// Where training starts with these parameters.
    fn at(theta: &[f32], plan: &Plan) -> State {
        State {
            theta: theta.to_vec(),
            radam: RAdam::new(theta.len()),
            update: 0,
            alpha: plan.forcing.strength(),
            rate_scale: 1.0,
            average: plan.averaging.map_or(Vec::new(), |_| theta.to_vec()),
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
    let job = Job {
        plan,
        windows,
        architecture,
    };
    with_kernel!(job.train(from, watch))
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
    let job = Job {
        plan,
        windows,
        architecture,
    };
    with_kernel!(job.norm(theta, starts))
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
    let job = Job {
        plan,
        windows,
        architecture,
    };
    with_kernel!(job.once(theta, starts))
}

/// What all workers share.
#[derive(Clone, Copy)]
struct Job<'a> {
    plan: &'a Plan,
    windows: &'a Windows,
    architecture: &'a Architecture,
}

impl Job<'_> {
    fn train<K: Kernel>(
        self,
        make: impl Fn(K) -> K + Sync,
        from: State,
        watch: &mut dyn Watch,
    ) -> Outcome {
        match self.register() {
            Register::Narrow => worker::run::<K, Lanes8>(self, &make, from, watch),
            Register::Wide => worker::run::<K, Lanes16>(self, &make, from, watch),
            Register::Paired => worker::run::<K, Paired8>(self, &make, from, watch),
        }
    }

    fn once<K: Kernel>(
        self,
        make: impl Fn(K) -> K + Sync,
        theta: &[f32],
        starts: &[usize],
    ) -> (f64, Vec<f32>) {
        match self.register() {
            Register::Narrow => worker::once::<K, Lanes8>(self, &make, theta, starts),
            Register::Wide => worker::once::<K, Lanes16>(self, &make, theta, starts),
            Register::Paired => worker::once::<K, Paired8>(self, &make, theta, starts),
        }
    }

    fn norm<K: Kernel>(
        self,
        make: impl Fn(K) -> K + Sync,
        theta: &[f32],
        starts: &[usize],
    ) -> Norm {
        worker::norm_of_batch::<K, Lanes8>(self, &make, theta, starts)
    }

    /// What registers hold where they are wide: sixteen windows, unless eight with units in pairs, which take half the time,
    /// leave the busiest thread less to do.
    fn register(self) -> Register {
        let Plan { batch, threads, .. } = *self.plan;
        let busiest = |width: usize| batch.div_ceil(width).div_ceil(threads);
        match self.plan.isa {
            Isa::Avx512 if 2 * busiest(Lanes16::WIDTH) <= busiest(Paired8::WIDTH) => Register::Wide,
            Isa::Avx512 => Register::Paired,
            _ => Register::Narrow,
        }
    }
}

/// What a vector register holds of a batch.
enum Register {
    /// Eight windows.
    Narrow,
    /// Sixteen windows.
    Wide,
    /// Eight windows, of hidden units two each.
    Paired,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::MODELS;
    use crate::observation::ObservationKind;

    /// Three channels, five states, one input, seven hidden units or bases: four numbers a state, two a channel, one an input;
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
