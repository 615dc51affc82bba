//! A learning rate that falls in rounds (Vlachas et al. 2020): each round restarts from the parameters with the lowest validation
//! loss of the one before, with an optimiser that has forgotten everything.
//!
//! A round ends after so many epochs, or once it has converged: when the last `patience` validation losses are all above its
//! lowest. Only then the next one has a lower rate. Behind the last round the parameters are its best.
//!
//! What a round remembers stands in [`State::extra`]: `rounds` (the round, its rate, its lowest loss, all its losses) and
//! `rounds.theta`.

use super::State;
use crate::method::LoadedValues;

/// A learning rate that falls in rounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rounds {
    /// The first learning rate.
    pub start: f64,
    /// What it is divided by when a round has converged.
    pub divisor: f64,
    /// How many rounds.
    pub rounds: u64,
    /// Epochs of a round, at most.
    pub epochs: u64,
    /// Losses above the lowest that show that a round has converged.
    pub patience: usize,
}

const NUMBERS: &str = "rounds";
const THETA: &str = "rounds.theta";

/// What comes before an epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// The round goes on.
    On,
    /// A round begins: it has to know its validation loss.
    Begin,
    /// All rounds are over.
    End,
}

/// What a round remembers: its number, its rate, its lowest loss, then all its losses.
struct Memory<'a>(&'a mut Vec<f64>);

const ROUND: usize = 0;
const RATE: usize = 1;
const LOWEST: usize = 2;
const LOSSES: usize = 3;

impl Rounds {
    /// The learning rate.
    pub fn rate(&self, state: &State) -> f64 {
        match state.extra.get(NUMBERS) {
            Some(LoadedValues::F64(numbers)) => numbers[RATE],
            _ => self.start,
        }
    }

    /// What comes before an epoch. Where a round is over, the state goes back to its best parameters.
    pub(super) fn turn(&self, state: &mut State) -> Turn {
        let Some(memory) = memory(state) else {
            return Turn::Begin;
        };
        if !self.is_over(memory.0) {
            return Turn::On;
        }
        let is_last = memory.0[ROUND] + 1.0 >= self.rounds as f64;
        if let Some(LoadedValues::F32(best)) = state.extra.get(THETA) {
            state.theta.copy_from_slice(best);
        }
        state.moments.reset();
        if is_last { Turn::End } else { Turn::Begin }
    }

    /// Begins a round, or the first one, at a validation loss.
    pub(super) fn begin(&self, state: &mut State, loss: f64) {
        let (round, rate) = match memory(state) {
            None => (0.0, self.start),
            Some(Memory(m)) if self.has_converged(m) => (m[ROUND] + 1.0, m[RATE] / self.divisor),
            Some(Memory(m)) => (m[ROUND] + 1.0, m[RATE]),
        };
        let numbers = LoadedValues::F64(vec![round, rate, or_infinite(loss)]);
        let theta = LoadedValues::F32(state.theta.clone());
        state.extra.insert(NUMBERS.to_string(), numbers);
        state.extra.insert(THETA.to_string(), theta);
    }

    /// Takes the validation loss at the end of an epoch.
    pub(super) fn note(&self, state: &mut State, loss: f64) {
        let loss = or_infinite(loss);
        let Memory(memory) = memory(state).expect("an epoch is part of a round");
        memory.push(loss);
        if loss < memory[LOWEST] {
            memory[LOWEST] = loss;
            if let Some(LoadedValues::F32(best)) = state.extra.get_mut(THETA) {
                best.copy_from_slice(&state.theta);
            }
        }
    }

    fn is_over(&self, memory: &[f64]) -> bool {
        memory[LOSSES..].len() as u64 >= self.epochs || self.has_converged(memory)
    }

    fn has_converged(&self, memory: &[f64]) -> bool {
        let losses = &memory[LOSSES..];
        losses.len() > self.patience + 1
            && losses[losses.len() - self.patience..]
                .iter()
                .all(|&loss| loss > memory[LOWEST])
    }
}

fn memory(state: &mut State) -> Option<Memory<'_>> {
    match state.extra.get_mut(NUMBERS) {
        Some(LoadedValues::F64(numbers)) => Some(Memory(numbers)),
        _ => None,
    }
}

/// A loss that is not a number is no improvement.
fn or_infinite(loss: f64) -> f64 {
    if loss.is_nan() { f64::INFINITY } else { loss }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::optim::Moments;
    use std::collections::BTreeMap;

    fn state() -> State {
        State {
            theta: vec![0.0],
            moments: Moments::new(1),
            update: 0,
            epoch: 0,
            alpha: 0.0,
            rate_scale: 1.0,
            average: Vec::new(),
            extra: BTreeMap::new(),
        }
    }

    /// Goes through epochs whose parameter is the number of the epoch, from 1, and whose validation loss is given; gives the rate of
    /// every epoch, and the parameter at the end.
    fn course(rounds: Rounds, loss: impl Fn(f32) -> f64) -> (Vec<f64>, f32) {
        let (mut state, mut rates) = (state(), Vec::new());
        loop {
            match rounds.turn(&mut state) {
                Turn::End => return (rates, state.theta[0]),
                Turn::Begin => {
                    let measured = loss(state.theta[0]);
                    rounds.begin(&mut state, measured);
                    assert_eq!(state.moments.steps, 0);
                }
                Turn::On => {}
            }
            rates.push(rounds.rate(&state));
            state.epoch += 1;
            state.moments.steps += 1;
            state.theta[0] = state.epoch as f32;
            let measured = loss(state.theta[0]);
            rounds.note(&mut state, measured);
        }
    }

    const TWO: Rounds = Rounds {
        start: 1e-2,
        divisor: 10.0,
        rounds: 2,
        epochs: 100,
        patience: 3,
    };

    #[test]
    fn a_round_ends_when_the_last_losses_are_all_above_the_lowest() {
        // Lowest at epoch 4; epochs 5, 6 and 7 are above it. The second round begins at 4 again, and no epoch is below it: five
        // epochs, since convergence needs more than patience + 1 of them.
        let (rates, end) = course(TWO, |theta| f64::from((theta - 4.0).abs()));
        assert_eq!(rates.len(), 7 + 5);
        assert_eq!((rates[6], rates[7]), (1e-2, 1e-3));
        assert_eq!(end, 4.0);
    }

    #[test]
    fn a_round_that_has_not_converged_keeps_its_rate() {
        let short = Rounds { epochs: 2, ..TWO };
        let (rates, end) = course(short, |theta| -f64::from(theta));
        assert_eq!((rates, end), (vec![1e-2; 4], 4.0));
    }

    #[test]
    fn a_loss_that_is_not_a_number_is_no_improvement() {
        let loss = |theta: f32| if theta > 1.0 { f64::NAN } else { 1.0 };
        let (rates, end) = course(Rounds { rounds: 1, ..TWO }, loss);
        assert_eq!((rates.len(), end), (5, 0.0));
    }
}
