//! What a method brings to the loop: an objective that gives loss and gradient for a pack of lanes at a time.
//!
//! Every worker has its own [`Objective`] and a replica of the [`State`]; each goes through the same calls with the same
//! numbers, but for the sweeps, of which a worker makes those of its own packs:
//!
//! ```text
//! prepare(θ)
//! ┌▶ begin ─▶ sweep(pack), … ─▶ all slots are added ─▶ finish ─▶ optimiser ─▶ prepare(θ) ─▶ ends_epoch?
//! └──────────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! A method whose next update is not just another batch of windows (chunks of truncated back-propagation, rows that are drawn
//! without replacement) keeps what it needs for that in its objective from one [`Objective::begin`] to the next. States are stored
//! at the ends of epochs alone: what an objective knows must there follow from the state, whose [`State::extra`] has room for it.

use super::exchange::{Exchange, Slot};
use super::{Course, State};
use crate::forcing::alpha::Norm;

/// The objective of a training, as one worker sees it.
pub(crate) trait Objective {
    /// Takes θ, before the first update and after each.
    fn prepare(&mut self, theta: &[f32]);

    /// Chooses what the next update works on, the same on every worker.
    fn begin(&mut self, state: &mut State, team: &Team<'_>);

    /// Loss and gradient of one pack of lanes.
    fn sweep(&mut self, state: &State, pack: usize, slot: &mut Slot);

    /// From the sums over all packs to the loss and to the gradient by θ, which stands in front; penalties are added.
    fn finish(&mut self, state: &State, squares: f64, gradient: &mut [f32]) -> Measured;

    /// Keeps parameters where they must be, after a step of the optimiser.
    fn constrain(&self, _theta: &mut [f32]) {}

    /// Whether the update before this one was the last of its epoch.
    fn ends_epoch(&mut self, state: &State) -> bool;

    /// The loss on what is not trained on, for a learning rate that [falls in rounds](super::Rounds).
    fn validate(&mut self, _state: &State, _team: &Team<'_>) -> f64 {
        unreachable!("methods whose learning rate falls in rounds have validation data")
    }

    /// Strength α of generalized forcing, from 0 (none) to 1; 0 where there is none.
    fn alpha(&self, _state: &State) -> f64 {
        0.0
    }

    /// The last estimate of the norm of Jacobians since the last call.
    fn norm(&mut self) -> Option<Norm> {
        None
    }
}

/// What an update yields besides its gradient.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Measured {
    /// Mean squared error.
    pub(crate) loss: f64,
    /// Penalties.
    pub(crate) penalty: f64,
}

/// A training: what all workers share, and how each gets its objective.
#[derive(Clone, Copy)]
pub(crate) struct Job<'a> {
    pub(crate) course: &'a Course,
    /// Packs of lanes of an update.
    pub(crate) packs: usize,
    /// The slot of a pack, empty.
    pub(crate) blank: &'a Slot,
    pub(crate) objective: &'a (dyn Fn() -> Box<dyn Objective + 'a> + Sync),
}

/// All workers, as one of them sees them.
pub(crate) struct Team<'a> {
    pub(super) exchange: &'a Exchange,
    /// The packs of this worker.
    pub(super) packs: Vec<usize>,
}

impl Team<'_> {
    /// Folds over the slots of all packs, in the order of the lanes, once every worker has written its own: for what is
    /// measured beside the gradient.
    pub(crate) fn share<T>(
        &self,
        state: &State,
        mut write: impl FnMut(usize, &mut Slot),
        start: T,
        fold: impl FnMut(T, &Slot) -> T,
    ) -> T {
        for &pack in &self.packs {
            write(pack, &mut self.exchange.write(state.update, pack));
        }
        self.exchange.meet();
        let mut fold = fold;
        let slots = self.exchange.read(state.update);
        let folded = slots.fold(start, |all, slot| fold(all, &slot));
        // Slots are written again for this update's gradients, once all have read them.
        self.exchange.meet();
        folded
    }
}
