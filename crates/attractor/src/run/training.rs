//! Training that is never lost: it is stored every so many epochs, goes back when it diverges, and continues from what
//! is stored, bit for bit.

use std::time::Instant;

use attractor_core::measure::Rows;
use attractor_core::measure::evaluate::{Plan as JudgePlan, Reference};
use attractor_core::model::Model;
use attractor_core::series::Series;
use attractor_core::train::{Control, Epoch, Outcome, State, Watch, train};

use super::checkpoint::{Best, Checkpoint, Rollback};
use super::{OpenRun, Trained, card};
use crate::Error;
use crate::experiment::{Choice, ExperimentError, Keeping, Remedy, Resolved};
use crate::model_file::Reconstruction;

/// A training: what is trained, where it is stored, who watches.
pub(super) struct Training<'a> {
    pub(super) resolved: &'a Resolved,
    pub(super) recording: &'a Series,
    /// Where checkpoints go; nowhere if there is no folder.
    pub(super) folder: Option<&'a OpenRun>,
    pub(super) watch: &'a mut dyn Watch,
}

impl Training<'_> {
    /// Where it starts.
    pub(super) fn start(&self) -> Checkpoint {
        let state = State::new(&self.resolved.model(), &self.resolved.plan);
        let returns = self.resolved.keeping.retries > 0;
        Checkpoint {
            good: returns.then(|| state.clone()),
            ..Checkpoint::at(state)
        }
    }

    /// Trains from a checkpoint to the end.
    pub(super) fn run(mut self, from: Checkpoint) -> Result<Trained, Error> {
        let judge = Judge::new(self.resolved)?;
        let mut kept = from;
        loop {
            let (outcome, checkpoint) = self.train_once(kept, &judge)?;
            let Outcome::Diverged { update, .. } = outcome else {
                return Ok(self.trained(outcome, checkpoint));
            };
            if checkpoint.rollbacks.len() == self.resolved.keeping.retries {
                return Ok(self.trained(outcome, checkpoint));
            }
            kept = rolled_back(checkpoint, update, self.resolved.keeping);
            self.store(&kept)?;
        }
    }

    /// Trains until it ends, is stopped or diverges.
    fn train_once(
        &mut self,
        from: Checkpoint,
        judge: &Option<Judge<'_>>,
    ) -> Result<(Outcome, Checkpoint), Error> {
        let (resolved, folder) = (self.resolved, self.folder);
        let mut recorder = Recorder {
            resolved,
            folder,
            judge,
            watch: &mut *self.watch,
            seconds: from.seconds,
            begun: Instant::now(),
            failure: None,
            kept: from,
        };
        let from = recorder.kept.state.clone();
        let outcome = train(
            &resolved.plan,
            &resolved.windows,
            &resolved.architecture,
            from,
            &mut recorder,
        );
        let seconds = recorder.seconds_now();
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

    fn store(&self, checkpoint: &Checkpoint) -> Result<(), Error> {
        match self.folder {
            Some(folder) => folder.store(checkpoint),
            None => Ok(()),
        }
    }

    fn trained(self, outcome: Outcome, checkpoint: Checkpoint) -> Trained {
        let (resolved, state) = (self.resolved, outcome.state());
        let finished = matches!(outcome, Outcome::Finished(_));
        let (theta, chosen) = match (&checkpoint.best, resolved.plan.averaging) {
            (Some(best), _) => {
                let Choice::Best { measure, .. } = resolved.choice else {
                    unreachable!("there is a best where one is looked for")
                };
                let (score, epoch) = (best.score, best.epoch);
                (
                    best.theta.clone(),
                    format!("best by {measure}: {score} after epoch {epoch}"),
                )
            }
            (None, Some(decay)) if finished => (
                state.average.clone(),
                format!("average of updates, decay {decay}"),
            ),
            _ => (state.theta.clone(), "last".to_string()),
        };
        Trained {
            reconstruction: Reconstruction {
                model: Model::new(resolved.architecture, theta),
                card: card(self.recording, resolved, chosen),
            },
            outcome,
            history: checkpoint.history,
            rollbacks: checkpoint.rollbacks,
            seconds: checkpoint.seconds,
        }
    }
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
    let epochs = history.last().map_or(0, |epoch| epoch.epoch);
    Checkpoint {
        best: checkpoint.best.filter(|best| best.epoch <= epochs),
        good: Some(state.clone()),
        state,
        history,
        rollbacks,
        seconds: checkpoint.seconds,
    }
}

/// Keeps the history, stores checkpoints and looks for the best parameters, after every epoch.
struct Recorder<'a> {
    resolved: &'a Resolved,
    folder: Option<&'a OpenRun>,
    judge: &'a Option<Judge<'a>>,
    watch: &'a mut dyn Watch,
    /// All that is stored; its states are those of the last checkpoint.
    kept: Checkpoint,
    /// Seconds before this process.
    seconds: f64,
    begun: Instant,
    failure: Option<Error>,
}

// What it refers to does not depend on the thread; the failure is made and read by the one that watches.
impl Watch for Recorder<'_> {
    fn epoch(&mut self, epoch: &Epoch, state: &State) -> Control {
        self.kept.history.push(*epoch);
        if let Some(judge) = self
            .judge
            .as_ref()
            .filter(|j| epoch.epoch.is_multiple_of(j.every))
        {
            judge.compare(epoch.epoch, state, &mut self.kept.best);
        }
        let control = self.watch.epoch(epoch, state);
        let regular = epoch.epoch.is_multiple_of(self.resolved.keeping.every);
        if regular || control == Control::Stop {
            self.kept.state.clone_from(state);
        }
        if regular && self.resolved.keeping.retries > 0 {
            self.kept.good = Some(state.clone());
        }
        if regular || control == Control::Stop {
            self.kept.seconds = self.seconds_now();
            if let Some(failure) = self.folder.and_then(|f| f.store(&self.kept).err()) {
                self.failure = Some(failure);
                return Control::Stop;
            }
        }
        control
    }
}

impl Recorder<'_> {
    fn seconds_now(&self) -> f64 {
        self.seconds + self.begun.elapsed().as_secs_f64()
    }
}

/// Scores parameters by a measure on data that are held out, else on training data.
struct Judge<'a> {
    measure: &'static str,
    every: u64,
    resolved: &'a Resolved,
    reference: Reference<'a>,
    /// Scores from here on are no scores.
    largest: f64,
}

/// Farther from the mean than this many standard deviations a forecast has diverged, as an orbit has.
const BOUND: f64 = 1e6;

/// PE(n) is a mean of squares, finite long after forecasts have diverged: beyond BOUND² times the mean variance it says
/// nothing. An orbit that diverges has no other score at all.
fn largest_score(measure: &str, truth: Rows<'_>) -> f64 {
    let variances = truth.moments().into_iter().map(|(_, sd)| sd * sd);
    match measure {
        "pe" => BOUND * BOUND * variances.sum::<f64>() / truth.dim() as f64,
        _ => f64::INFINITY,
    }
}

impl<'a> Judge<'a> {
    /// The judge that the settings ask for, if any.
    fn new(resolved: &'a Resolved) -> Result<Option<Judge<'a>>, ExperimentError> {
        let Choice::Best { measure, every } = resolved.choice else {
            return Ok(None);
        };
        let data = &resolved.data;
        let series = data.held_out.as_ref().unwrap_or(&data.series);
        let (x, s) = series.longest_complete();
        let truth = Rows::new(x, series.dim_obs());
        let reference = Reference::new(truth, s, JudgePlan::default());
        let reference = reference.map_err(|error| ExperimentError::NoMeasure { measure, error })?;
        Ok(Some(Judge {
            measure,
            every,
            resolved,
            reference,
            largest: largest_score(measure, truth),
        }))
    }

    /// Takes the parameters, or their average, if they are better than the best so far.
    fn compare(&self, epoch: u64, state: &State, best: &mut Option<Best>) {
        let theta = match state.average.is_empty() {
            true => &state.theta,
            false => &state.average,
        };
        let model = Model::new(self.resolved.architecture, theta.clone());
        let orbit = || self.reference.judge(&self.reference.orbit(&model));
        let score = match self.measure {
            "pe" => self.reference.prediction_error(&model),
            "d_h" => orbit().d_h,
            _ => orbit().d_stsp.map(|estimate| estimate.value),
        };
        let lowest = best.as_ref().map_or(self.largest, |best| best.score);
        // Written so that NaN is not lower.
        if let Some(score) = score.filter(|&score| score < lowest) {
            *best = Some(Best {
                theta: theta.clone(),
                score,
                epoch,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Origin, Raw};

    fn resolved(measure: &str) -> Resolved {
        let mut raw = Raw::default();
        let given = [
            ("model", "plrnn"),
            ("observation", "identity"),
            ("window", "5"),
            ("best-by", measure),
        ];
        for (name, text) in given {
            raw.push(name, text, Origin::Flag);
        }
        let wave = (0..200).map(|t| (1.0 + 0.3 * f64::from(t)).sin()).collect();
        let series = Series::from_rows(wave, 1, 1.0).unwrap();
        Experiment::check(&raw).unwrap().resolve(&series).unwrap()
    }

    /// The best of z ← a z for some a, one after another.
    fn best(measure: &str, slopes: &[f32]) -> Option<f32> {
        let resolved = resolved(measure);
        let judge = Judge::new(&resolved).unwrap().unwrap();
        let model = resolved.model();
        let mut tensors = model.layout().tensors().iter();
        let a = tensors.find(|t| t.name == "A").unwrap().range.start;
        let mut best = None;
        for (epoch, &slope) in slopes.iter().enumerate() {
            let mut state = State::new(&model, &resolved.plan);
            state.theta.fill(0.0);
            state.theta[a] = slope;
            judge.compare(epoch as u64, &state, &mut best);
        }
        best.map(|best| best.theta[a])
    }

    #[test]
    fn forecasts_that_diverge_are_never_the_best() {
        // After 20 steps z is 5²⁰ ≈ 10¹⁴: a square of 10²⁸ is finite in f64 and f32, and beyond 10¹² variances.
        assert_eq!(best("pe", &[5.0]), None);
        assert_eq!(best("pe", &[1e20, f32::NAN]), None);
        assert_eq!(best("pe", &[5.0, 0.9, 5.0]), Some(0.9));
        assert_eq!(best("d_stsp", &[5.0, f32::NAN]), None);
    }
}
