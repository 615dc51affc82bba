//! Training that is never lost: it is stored every so many epochs, goes back when it diverges, and continues from what
//! is stored, bit for bit.

use std::iter;
use std::time::Instant;

use attractor_core::measure::Rows;
use attractor_core::measure::evaluate::{OrbitScores, Plan as JudgePlan, Reference, Which};
use attractor_core::model::Model;
use attractor_core::series::Series;
use attractor_core::train::{Control, Epoch, Outcome, State, Watch, train};

use super::checkpoint::{Best, Checkpoint, Rollback};
use super::{OpenRun, Trained, card, data_fingerprint};
use crate::Error;
use crate::experiment::{Choice, ExperimentError, Keeping, Remedy, Resolved, Spread};
use crate::model_file::Reconstruction;

/// What the card of a model says that has the parameters at the end of training.
pub(crate) const LAST_CHOSEN: &str = "last";

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
                return Ok(self.trained(outcome, checkpoint, judge.as_ref()));
            };
            if checkpoint.rollbacks.len() == self.resolved.keeping.retries {
                return Ok(self.trained(outcome, checkpoint, judge.as_ref()));
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

    fn trained(
        self,
        outcome: Outcome,
        checkpoint: Checkpoint,
        judge: Option<&Judge<'_>>,
    ) -> Trained {
        let (resolved, state) = (self.resolved, outcome.state());
        let finished = matches!(outcome, Outcome::Finished(_));
        let reconstruction = |theta, chosen| Reconstruction {
            model: Model::new(resolved.architecture, theta),
            card: card(self.recording, resolved, chosen),
        };
        let (theta, chosen) = match (&checkpoint.best, resolved.plan.averaging) {
            (Some(best), _) => (best.theta.clone(), chosen_as(best, resolved.choice)),
            (None, Some(decay)) if finished => (
                state.average.clone(),
                format!("average of updates, decay {decay}"),
            ),
            _ => (state.theta.clone(), LAST_CHOSEN.to_string()),
        };
        let is_other = chosen != LAST_CHOSEN;
        let last = is_other.then(|| reconstruction(state.theta.clone(), LAST_CHOSEN.to_string()));
        let epochs = checkpoint.history.last().map_or(0, |epoch| epoch.epoch);
        let looked = judge.is_some_and(|judge| epochs >= judge.every);
        Trained {
            last,
            found_none: looked && checkpoint.best.is_none(),
            reconstruction: reconstruction(theta, chosen),
            outcome,
            history: checkpoint.history,
            rollbacks: checkpoint.rollbacks,
            seconds: checkpoint.seconds,
            data: data_fingerprint(self.recording),
        }
    }
}

/// What the card says of the best parameters.
fn chosen_as(best: &Best, choice: Choice) -> String {
    let Choice::Best {
        measure, spread, ..
    } = choice
    else {
        unreachable!("there is a best where one is looked for")
    };
    let measure = if measure == "auto" { "both" } else { measure };
    let averaged = match best.averaged {
        true => ", average of updates",
        false => "",
    };
    let matched = match spread {
        Spread::Matched => ", spread matched",
        Spread::AsTrained => "",
    };
    let (score, epoch) = (best.score, best.epoch);
    format!("best by {measure}: {score} after epoch {epoch}{averaged}{matched}")
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

/// Refuses a training whose parameters are to be chosen by a measure that the data do not have.
pub(super) fn refuse_unjudged(resolved: &Resolved) -> Result<(), ExperimentError> {
    Judge::new(resolved).map(|_| ())
}

/// Scores parameters by a measure on data that are held out, else on training data.
struct Judge<'a> {
    measure: &'static str,
    every: u64,
    starts: usize,
    spread: Spread,
    resolved: &'a Resolved,
    reference: Reference<'a>,
    /// Scores from here on are no scores.
    largest: f64,
}

/// Farther from the mean than this many standard deviations a forecast has diverged, as an orbit has.
const BOUND: f64 = 1e6;

/// Orbits of one model score by about 10 % higher or lower: with a mean of k scores beyond the lowest by 1.5 times
/// 10 %/√k, a model is not looked at further. Few of the best are lost so, and most others cost one orbit.
const SCATTER: f64 = 0.15;

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
        let Choice::Best {
            measure,
            every,
            starts,
            spread,
        } = resolved.choice
        else {
            return Ok(None);
        };
        let data = &resolved.data;
        let series = data.held_out.as_ref().unwrap_or(&data.series);
        let (x, s) = series.longest_complete();
        let truth = Rows::new(x, series.dim_obs());
        let plan = JudgePlan {
            scores: match measure {
                "d_stsp" => Which::StateSpace,
                "d_h" => Which::Spectra,
                _ => Which::All,
            },
            ..JudgePlan::default()
        };
        let reference = match Reference::new(truth, s, plan) {
            Err(_) if measure == "auto" => return Ok(None),
            other => other.map_err(|error| ExperimentError::NoMeasure { measure, error })?,
        };
        Ok(Some(Judge {
            measure,
            every,
            starts,
            spread,
            resolved,
            reference,
            largest: largest_score(measure, truth),
        }))
    }

    /// Takes the parameters, and then their average, if they are better than the best so far.
    fn compare(&self, epoch: u64, state: &State, best: &mut Option<Best>) {
        let averages = (!state.average.is_empty()).then_some((&state.average, true));
        for (theta, averaged) in [(&state.theta, false)].into_iter().chain(averages) {
            let lowest = best.as_ref().map_or(self.largest, |best| best.score);
            let Some(model) = self.candidate(theta) else {
                continue;
            };
            let score = self.score(&model, lowest);
            // Written so that NaN is not lower.
            if let Some(score) = score.filter(|&score| score < lowest) {
                *best = Some(Best {
                    theta: model.theta().to_vec(),
                    score,
                    epoch,
                    averaged,
                });
            }
        }
    }

    /// The model that is judged; none if its spread is to be matched and cannot be.
    fn candidate(&self, theta: &[f32]) -> Option<Model> {
        let model = Model::new(self.resolved.architecture, theta.to_vec());
        match self.spread {
            Spread::AsTrained => Some(model),
            Spread::Matched => self.reference.with_matched_spread(&model, self.starts - 1),
        }
    }

    /// The score of a model, the mean over its orbits; none where one of them has none, or where the first of them are
    /// enough to see that it will not be the lowest. The first orbit is that of `evaluate`, in f64.
    fn score(&self, model: &Model, lowest: f64) -> Option<f64> {
        if self.measure == "pe" {
            return self.reference.prediction_error(model);
        }
        let reference = &self.reference;
        let first = iter::once_with(|| reference.judge(&reference.orbit(model)));
        let others =
            iter::once(self.starts - 1).flat_map(|count| reference.from_other_starts(model, count));
        let (mut sum, mut judged) = (0.0, 0.0_f64);
        for orbit in first.chain(others) {
            sum += self.of_orbit(&orbit)?;
            judged += 1.0;
            if sum > (judged + SCATTER * judged.sqrt()) * lowest {
                return None;
            }
        }
        Some(sum / judged)
    }

    fn of_orbit(&self, orbit: &OrbitScores) -> Option<f64> {
        let d_stsp = orbit.d_stsp.map(|estimate| estimate.value);
        match self.measure {
            "d_h" => orbit.d_h,
            "both" | "auto" => Some(d_stsp? * orbit.d_h?),
            _ => d_stsp,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Origin, Raw};

    fn resolved(measure: &str, starts: &str) -> Resolved {
        let mut raw = Raw::default();
        let given = [
            ("model", "plrnn"),
            ("observation", "identity"),
            ("window", "5"),
            ("best-by", measure),
            ("best-starts", starts),
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
        best_of(measure, "1", slopes)
    }

    fn best_of(measure: &str, starts: &str, slopes: &[f32]) -> Option<f32> {
        let resolved = resolved(measure, starts);
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

    #[test]
    fn orbits_from_several_starts_count_alike() {
        // |z| grows by 1.05²⁵⁰ ≈ 2·10⁵ in 1.25 · 200 steps: outside the box at last, within bounds from every start.
        assert_eq!(best_of("d_stsp", "3", &[1.05, 0.99]), Some(0.99));
        assert_eq!(best_of("d_stsp", "3", &[5.0]), None);
        // Orbits of 0.99ᵗ have spectra, and a negative slope has another one.
        assert!(best_of("both", "2", &[0.99]).is_some());
        let resolved = resolved("both", "2");
        let judge = Judge::new(&resolved).unwrap().unwrap();
        let scores = OrbitScores {
            d_h: Some(0.5),
            ..OrbitScores::default()
        };
        assert_eq!(judge.of_orbit(&scores), None);
    }

    #[test]
    fn a_model_that_begins_far_above_the_lowest_is_not_looked_at_further() {
        let resolved = resolved("d_stsp", "4");
        let judge = Judge::new(&resolved).unwrap().unwrap();
        let model = Model::new(resolved.architecture, resolved.model().theta().to_vec());
        let score = judge.score(&model, f64::INFINITY).unwrap();
        assert_eq!(judge.score(&model, 1.01 * score), Some(score));
        assert_eq!(judge.score(&model, 0.1 * score), None);
    }

    /// The B of a tent map, z ← 1 + 1.9 z − 3.8 φ(z) seen as it is, after it was judged by orbits of the same map seen
    /// smaller.
    fn best_b(spread: &str, size: f64) -> Option<f32> {
        let mut raw = Raw::default();
        let given = [
            ("model", "shallow-plrnn"),
            ("latent", "1"),
            ("hidden", "1"),
            ("window", "5"),
            ("standardize", "off"),
            ("best-by", "d_stsp"),
            ("best-spread", spread),
        ];
        for (name, text) in given {
            raw.push(name, text, Origin::Flag);
        }
        let tent = |z: &f64| Some(1.0 + 1.9 * z - 3.8 * z.max(0.0));
        let orbit = iter::successors(Some(0.3), tent).take(2000);
        let series = Series::from_rows(orbit.map(|z| size * z).collect(), 1, 1.0).unwrap();
        let resolved = Experiment::check(&raw).unwrap().resolve(&series).unwrap();
        let judge = Judge::new(&resolved).unwrap().unwrap();
        let model = resolved.model();
        let mut state = State::new(&model, &resolved.plan);
        let place = |name: &str| model.layout().range(name).start;
        for (name, value) in [
            ("A", 1.9),
            ("W1", -3.8),
            ("h1", 1.0),
            ("W2", 1.0),
            ("h2", 0.0),
        ] {
            state.theta[place(name)] = value;
        }
        state.theta[place("B")] = 1.0;
        let mut best = None;
        judge.compare(1, &state, &mut best);
        best.map(|best| best.theta[place("B")])
    }

    #[test]
    fn a_matched_model_shows_an_attractor_as_large_as_that_of_the_data() {
        assert_eq!(best_b("as-trained", 0.6), Some(1.0));
        // Standard deviations of 2000 rows scatter by 1/√2000 and less: two of these.
        let b = best_b("matched", 0.6).unwrap();
        assert!((b / 0.6 - 1.0).abs() < 0.045, "{b}");
        // Never by more than a factor of three.
        let least = best_b("matched", 0.2).unwrap();
        assert!((3.0 * least - 1.0).abs() < 1e-6, "{least}");
    }

    #[test]
    fn the_average_of_parameters_is_judged_beside_them() {
        let resolved = resolved("d_stsp", "1");
        let judge = Judge::new(&resolved).unwrap().unwrap();
        let model = resolved.model();
        let mut tensors = model.layout().tensors().iter();
        let a = tensors.find(|t| t.name == "A").unwrap().range.start;
        let mut state = State::new(&model, &resolved.plan);
        state.theta.fill(0.0);
        state.average = state.theta.clone();
        (state.theta[a], state.average[a]) = (5.0, 0.99);
        let mut best = None;
        judge.compare(1, &state, &mut best);
        assert!(best.is_some_and(|best| best.averaged && best.theta == state.average));
    }
}
