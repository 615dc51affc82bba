//! A fit that is never lost: training is stored every so many epochs, goes back when it diverges, and continues from what is
//! stored, bit for bit. What is solved at once is solved again.

use std::time::Instant;

use attractor_core::dynamics::Dynamics;
use attractor_core::method::{Fit, FitError};
use attractor_core::progress::{Follow, Progress};
use attractor_core::train::{Control, Epoch, Outcome, State, Watch};

use super::checkpoint::{Best, Checkpoint, Rollback};
use super::judge::{self, Judge};
use super::progress::Reporter;
use super::{Ending, Run, RunError, Summary, Task, Trained, history};
use crate::Error;
use crate::experiment::{self, BestBy, Choice, Job, Keeping, Remedy, Spread};

/// What the card of a model says that has the parameters at the end of training.
pub(crate) const LAST_CHOSEN: &str = "last";

/// What the card of a model says that was solved at once.
pub(crate) const SOLVED: &str = "solved";

/// A fit: what is fitted, where it is stored, who watches.
pub(super) struct Training<'a> {
    task: &'a Task,
    /// Where checkpoints go; nowhere if there is no folder.
    folder: Option<&'a Run>,
    watch: &'a mut dyn Watch,
}

impl<'a> Training<'a> {
    pub(super) fn of(
        task: &'a Task,
        folder: Option<&'a Run>,
        watch: &'a mut dyn Watch,
    ) -> Training<'a> {
        Training {
            task,
            folder,
            watch,
        }
    }

    /// Fits to the end, from a checkpoint or from the start.
    pub(super) fn run(mut self, from: Option<Checkpoint>) -> Result<Trained, Error> {
        let Job::Train(training) = &self.task.resolved.job else {
            return self.solve();
        };
        let judge = judge::of(self.task)?;
        let mut kept = from.unwrap_or_else(|| start(training));
        loop {
            let (outcome, checkpoint) = self.train_once(training, kept, judge.as_ref())?;
            let Outcome::Diverged { update, .. } = outcome else {
                return Ok(self.trained(training, &outcome, checkpoint, judge.as_ref()));
            };
            if checkpoint.rollbacks.len() == training.keeping.retries {
                return Ok(self.trained(training, &outcome, checkpoint, judge.as_ref()));
            }
            kept = rolled_back(checkpoint, update, training.keeping);
            if let Some(folder) = self.folder {
                folder.store(&kept)?;
            }
        }
    }

    /// Solves at once.
    fn solve(self) -> Result<Trained, Error> {
        let begun = Instant::now();
        let resolved = &self.task.resolved;
        let method = resolved.experiment.method();
        let Fit::Solve(solve) = method.fit else {
            unreachable!("what is not trained is solved")
        };
        let fitting = resolved.experiment.fitting(&resolved.data)?;
        let dynamics = match solve(method, fitting, &mut Followed(self.watch)) {
            Err(FitError::Stopped(_)) => {
                let path = self
                    .folder
                    .map_or_else(Default::default, |f| f.path.clone());
                return Err(RunError::NotSolved { path }.into());
            }
            other => other.map_err(experiment::ExperimentError::Fit)?,
        };
        Ok(Trained {
            reconstruction: self.task.reconstruction(dynamics, SOLVED.to_string()),
            last: None,
            left: None,
            summary: Summary {
                outcome: Ending::Finished,
                seconds: begun.elapsed().as_secs_f64(),
                chosen: Some(SOLVED.to_string()),
                data: Some(self.task.recording.fingerprint().to_string()),
                ..Summary::default()
            },
            history: Vec::new(),
            found_none: false,
        })
    }

    /// Trains until it ends, is stopped or diverges.
    fn train_once(
        &mut self,
        training: &experiment::Training,
        from: Checkpoint,
        judge: Option<&Judge<'_>>,
    ) -> Result<(Outcome, Checkpoint), Error> {
        let mut recorder = Recorder {
            keeping: training.keeping,
            folder: self.folder,
            judge,
            watch: &mut *self.watch,
            seconds: from.seconds,
            begun: Instant::now(),
            failure: None,
            jumped: None,
            reporter: Reporter::new(training.trainer.length().updates()),
            kept: from,
        };
        let from = recorder.kept.state.clone();
        // From here on it hears that it shall stop, and has something to store.
        let _ = recorder.watch.progress(Progress {
            what: "training",
            done: from.update,
            total: training.trainer.length().updates(),
        });
        let outcome = training.trainer.train(from, &mut recorder);
        let seconds = recorder.seconds_now();
        let outcome = match recorder.jumped {
            // As if a number had not been finite: it goes back, where it still may.
            Some(update) => Outcome::Diverged {
                update,
                last: outcome.state().clone(),
            },
            None => outcome,
        };
        match recorder.failure {
            Some(failure) => Err(failure),
            None => Ok((
                outcome,
                Checkpoint {
                    seconds,
                    ..recorder.kept
                },
            )),
        }
    }

    fn trained(
        self,
        training: &experiment::Training,
        outcome: &Outcome,
        checkpoint: Checkpoint,
        judge: Option<&Judge<'_>>,
    ) -> Trained {
        let state = outcome.state();
        let is_stopped = matches!(outcome, Outcome::Stopped(_));
        let left = is_stopped.then(|| Box::new(checkpoint.clone()));
        let dynamics = |theta: &[f32]| -> Box<dyn Dynamics> { training.trainer.dynamics(theta) };
        let is_finished = matches!(outcome, Outcome::Finished(_));
        let (theta, chosen) = match (&checkpoint.best, training.keeping.averaging) {
            (Some(best), _) => (&best.theta, chosen_as(best, training.choice)),
            (None, Some(decay)) if is_finished => {
                (&state.average, format!("average of updates, decay {decay}"))
            }
            _ => (&state.theta, LAST_CHOSEN.to_string()),
        };
        let last = (chosen != LAST_CHOSEN).then(|| {
            let last = dynamics(&state.theta);
            self.task.reconstruction(last, LAST_CHOSEN.to_string())
        });
        let epoch = checkpoint.history.last();
        let epochs = epoch.map_or(0, |epoch| epoch.epoch);
        let has_looked = judge.is_some_and(|judge| epochs >= judge.by.every);
        Trained {
            last,
            left,
            found_none: has_looked && checkpoint.best.is_none(),
            summary: Summary {
                outcome: ending(outcome),
                update: state.update,
                seconds: checkpoint.seconds,
                loss: epoch.map(|epoch| epoch.loss),
                alpha: epoch.map(|epoch| epoch.alpha),
                chosen: Some(chosen.clone()),
                data: Some(self.task.recording.fingerprint().to_string()),
                rollbacks: checkpoint.rollbacks,
            },
            reconstruction: self.task.reconstruction(dynamics(theta), chosen),
            history: checkpoint.history,
        }
    }
}

/// Where a training starts.
fn start(training: &experiment::Training) -> Checkpoint {
    let state = training.trainer.start();
    Checkpoint {
        good: (training.keeping.retries > 0).then(|| state.clone()),
        ..Checkpoint::at(state)
    }
}

fn ending(outcome: &Outcome) -> Ending {
    match outcome {
        Outcome::Finished(_) => Ending::Finished,
        Outcome::Stopped(_) => Ending::Stopped,
        Outcome::Diverged { .. } => Ending::Diverged,
    }
}

/// What the card says of the best parameters.
pub(super) fn chosen_as(best: &Best, choice: Choice) -> String {
    let Choice::Best(BestBy { score, spread, .. }) = choice else {
        unreachable!("there is a best where one is looked for")
    };
    let averaged = if best.averaged {
        ", from the averaged parameters"
    } else {
        ""
    };
    let matched = match spread {
        Spread::Matched => ", with matched spread",
        Spread::AsTrained => "",
    };
    let (measure, value, epoch) = (score.in_words(), best.score, best.epoch);
    format!("chosen at epoch {epoch} by {measure} ({value}){averaged}{matched}")
}

/// The last regular checkpoint with the remedy applied. Windows are drawn as before.
fn rolled_back(checkpoint: Checkpoint, diverged: u64, keeping: Keeping) -> Checkpoint {
    let mut state = checkpoint.good.expect("there is a state to go back to");
    // Several times from the same state: what was changed before stays changed.
    if let Some(last) = checkpoint.rollbacks.last() {
        state.rate_scale = state.rate_scale.min(last.rate_scale);
        if last.back_to == state.update {
            state.alpha = state.alpha.max(last.alpha);
        }
    }
    match keeping.remedy {
        Remedy::HalveRate => state.rate_scale /= 2.0,
        Remedy::RaiseAlpha => state.alpha = (1.0 + state.alpha) / 2.0,
    }
    let mut rollbacks = checkpoint.rollbacks;
    rollbacks.push(Rollback {
        diverged,
        back_to: state.update,
        rate_scale: state.rate_scale,
        alpha: state.alpha,
    });
    let mut history = checkpoint.history;
    history.retain(|epoch| epoch.update <= state.update);
    // The best of a part that was given up is not kept.
    let epochs = state.epoch;
    Checkpoint {
        best: checkpoint.best.filter(|best| best.epoch <= epochs),
        good: Some(state.clone()),
        state,
        history,
        rollbacks,
        seconds: checkpoint.seconds,
    }
}

/// A watch that follows what is solved at once.
struct Followed<'a>(&'a mut dyn Watch);

impl Follow for Followed<'_> {
    fn progress(&mut self, progress: Progress) -> Control {
        self.0.progress(progress)
    }
}

/// Keeps the history, stores checkpoints and looks for the best parameters, after every epoch.
struct Recorder<'a> {
    keeping: Keeping,
    folder: Option<&'a Run>,
    judge: Option<&'a Judge<'a>>,
    watch: &'a mut dyn Watch,
    /// All that is stored; its states are those of the last checkpoint.
    kept: Checkpoint,
    /// Seconds before this process.
    seconds: f64,
    begun: Instant,
    failure: Option<Error>,
    /// At which update the loss jumped.
    jumped: Option<u64>,
    reporter: Reporter,
}

// What it refers to does not depend on the thread; the failure is made and read by the one that watches.
impl Watch for Recorder<'_> {
    fn epoch(&mut self, epoch: &Epoch, state: &State) -> Control {
        let jumps = self.may_go_back() && is_jump(&self.kept.history, epoch.loss);
        history::note(&mut self.kept.history, epoch);
        if jumps {
            self.jumped = Some(epoch.update);
            return Control::Stop;
        }
        if let Some(folder) = self.folder {
            let seconds = self.seconds_now();
            self.reporter.report(&folder.path, epoch, seconds);
        }
        let is_due = |judge: &&Judge<'_>| epoch.epoch.is_multiple_of(judge.by.every);
        if let Some(judge) = self.judge.filter(is_due) {
            judge.compare(epoch.epoch, state, &mut self.kept.best);
        }
        let control = self.watch.epoch(epoch, state);
        let is_regular = epoch.epoch.is_multiple_of(self.keeping.every);
        if is_regular && self.keeping.retries > 0 {
            self.kept.good = Some(state.clone());
        }
        if is_regular || control == Control::Stop {
            self.kept.state.clone_from(state);
            self.kept.seconds = self.seconds_now();
            if let Some(failure) = self.folder.and_then(|f| f.store(&self.kept).err()) {
                self.failure = Some(failure);
                return Control::Stop;
            }
        }
        control
    }
}

/// Epochs whose median loss a jump is measured by.
const BEFORE_JUMP: usize = 20;

/// A loss that is so many times that median has jumped: what adaptive forcing and the draw of windows change is a factor of a few.
const JUMP: f64 = 30.0;

/// Whether a loss is far above those of the epochs before.
fn is_jump(history: &[Epoch], loss: f64) -> bool {
    let Some(from) = history.len().checked_sub(BEFORE_JUMP) else {
        return false;
    };
    let mut before: Vec<f64> = history[from..].iter().map(|epoch| epoch.loss).collect();
    before.sort_by(f64::total_cmp);
    loss > JUMP * before[BEFORE_JUMP / 2]
}

impl Recorder<'_> {
    /// Whether it goes back to a checkpoint if it has to.
    fn may_go_back(&self) -> bool {
        self.kept.good.is_some() && self.kept.rollbacks.len() < self.keeping.retries
    }

    fn seconds_now(&self) -> f64 {
        self.seconds + self.begun.elapsed().as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epochs(losses: &[f64]) -> Vec<Epoch> {
        let epoch = |(i, &loss): (usize, &f64)| Epoch {
            epoch: i as u64 + 1,
            update: i as u64 + 1,
            loss,
            penalty: 0.0,
            alpha: 1.0,
            norm: None,
            rate: 1e-3,
            gradient_norm: 1.0,
        };
        losses.iter().enumerate().map(epoch).collect()
    }

    #[test]
    fn a_loss_jumps_from_those_before_it_and_not_from_a_single_one() {
        let steady = epochs(&[0.01; 25]);
        assert!(is_jump(&steady, 0.31) && !is_jump(&steady, 0.29));
        // Too few to know what is usual.
        assert!(!is_jump(&epochs(&[0.01; 19]), 1e9));
        // One low epoch among them does not make the next one a jump.
        let mut one_low = [0.01; 25];
        one_low[24] = 1e-6;
        assert!(!is_jump(&epochs(&one_low), 0.2));
        assert!(!is_jump(&steady, f64::NAN));
    }
}
