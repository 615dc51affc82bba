//! Which parameters of a training are the best: those with the lowest score on the rows that they are chosen by, which are the
//! training rows or those that `select` keeps from training, never those that are held out.

use std::iter;
use std::sync::Arc;

use attractor_core::dynamics::{Dynamics, Stretch};
use attractor_core::measure::Rows;
use attractor_core::measure::evaluate::{OrbitPart, OrbitScores, Plan, Reference, Which};
use attractor_core::method::Trainer;
use attractor_core::model::Model;
use attractor_core::train::State;

use super::checkpoint::Best;
use super::{Recording, Task};
use crate::experiment::{BestBy, Choice, Criterion, ExperimentError, Job, Spread};

/// Scores parameters on the way.
pub(super) struct Judge<'a> {
    pub(super) by: BestBy,
    trainer: &'a dyn Trainer,
    reference: Arc<Reference>,
    /// Scores from here on are no scores.
    largest: f64,
}

/// Farther from the mean than this many standard deviations a forecast has diverged, as an orbit has.
const BOUND: f64 = 1e6;

/// Orbits of one model score by about 10 % higher or lower: with a mean of k scores beyond the lowest by 1.5 times
/// 10 %/√k, a model is not looked at further. Few of the best are lost so, and most others cost one orbit.
const SCATTER: f64 = 0.15;

/// The judge that the settings ask for, if any; refuses a score that the data do not have.
pub(super) fn of(task: &Task) -> Result<Option<Judge<'_>>, ExperimentError> {
    let Job::Train(training) = &task.resolved.job else {
        return Ok(None);
    };
    let Choice::Best(by) = training.choice else {
        return Ok(None);
    };
    match reference(task, by.score) {
        Err(_) if by.if_possible => Ok(None),
        Err(error) => Err(error),
        Ok(reference) => Ok(Some(Judge::new(by, training.trainer.as_ref(), reference))),
    }
}

/// What models are judged against: the longest stretch of the rows that parameters are chosen by.
fn reference(task: &Task, score: Criterion) -> Result<Arc<Reference>, ExperimentError> {
    let (recording, resolved): (&Recording, _) = (&task.recording, &task.resolved);
    let data = &resolved.data;
    let series = data.selection.as_ref().unwrap_or(&data.series);
    let scores = match score {
        Criterion::StateSpace => Which::StateSpace,
        Criterion::Spectra => Which::Spectra,
        Criterion::Both | Criterion::Forecasts => Which::Paper,
    };
    let make = || {
        let plan = Plan {
            scores,
            orbit: OrbitPart::Late,
            ..Plan::default()
        };
        Reference::new(Stretch::longest(series), plan)
    };
    let key = (resolved.experiment.preparation(), scores);
    let made = recording.reference(key, make);
    made.map_err(|error| ExperimentError::NoMeasure {
        measure: score.name(),
        error,
    })
}

impl Criterion {
    /// Its name, as in the settings.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Criterion::StateSpace => "d_stsp",
            Criterion::Spectra => "d_h",
            Criterion::Both => "both",
            Criterion::Forecasts => "pe",
        }
    }

    /// Its name in a sentence.
    pub(crate) fn in_words(self) -> &'static str {
        match self {
            Criterion::StateSpace => "D_stsp",
            Criterion::Spectra => "D_H",
            Criterion::Both => "D_stsp × D_H",
            Criterion::Forecasts => "PE",
        }
    }
}

impl<'a> Judge<'a> {
    fn new(by: BestBy, trainer: &'a dyn Trainer, reference: Arc<Reference>) -> Judge<'a> {
        Judge {
            largest: largest_score(by.score, reference.truth()),
            by,
            trainer,
            reference,
        }
    }

    /// Takes the parameters, and then their average, if they are better than the best so far.
    pub(super) fn compare(&self, epoch: u64, state: &State, best: &mut Option<Best>) {
        let averages = (!state.average.is_empty()).then_some((&state.average, true));
        for (theta, averaged) in [(&state.theta, false)].into_iter().chain(averages) {
            let lowest = best.as_ref().map_or(self.largest, |best| best.score);
            let Some((theta, model)) = self.candidate(theta) else {
                continue;
            };
            let score = self.score(model.as_ref(), lowest);
            // Written so that NaN is not lower.
            let Some(score) = score.filter(|&score| score < lowest) else {
                continue;
            };
            *best = Some(Best {
                theta,
                score,
                epoch,
                averaged,
            });
        }
    }

    /// The model that is judged, with its parameters; none if its spread is to be matched and cannot be.
    fn candidate(&self, theta: &[f32]) -> Option<(Vec<f32>, Box<dyn Dynamics>)> {
        let model = self.trainer.dynamics(theta);
        match self.by.spread {
            Spread::AsTrained => Some((theta.to_vec(), model)),
            Spread::Matched => {
                let model = Model::of(model.as_ref())?;
                let others = self.by.starts - 1;
                let matched = self.reference.with_matched_spread(model, others)?;
                Some((matched.theta().to_vec(), Box::new(matched)))
            }
        }
    }

    /// The score of a model, the mean over its orbits; none where one of them has none, or where the first of them are
    /// enough to see that it will not be the lowest. The first orbit is that of `evaluate`, in f64.
    fn score(&self, model: &dyn Dynamics, lowest: f64) -> Option<f64> {
        let reference = &self.reference;
        if self.by.score == Criterion::Forecasts {
            return reference.prediction_error(model);
        }
        let first = iter::once_with(|| reference.judge(&reference.orbit(model)));
        let others = iter::once(self.by.starts - 1)
            .flat_map(|count| reference.from_other_starts(model, count));
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
        match self.by.score {
            Criterion::Spectra => orbit.value("d_h"),
            Criterion::Both => Some(orbit.value("d_stsp")? * orbit.value("d_h")?),
            Criterion::StateSpace | Criterion::Forecasts => orbit.value("d_stsp"),
        }
    }
}

/// PE(n) is a mean of squares, finite long after forecasts have diverged: beyond BOUND² times the mean variance it says
/// nothing. An orbit that diverges has no other score at all.
fn largest_score(score: Criterion, truth: Rows<'_>) -> f64 {
    let variances = truth.moments().into_iter().map(|(_, sd)| sd * sd);
    match score {
        Criterion::Forecasts => BOUND * BOUND * variances.sum::<f64>() / truth.dim() as f64,
        _ => f64::INFINITY,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Experiment, Origin, Raw};
    use attractor_core::series::Series;

    fn task(given: &[(&str, &str)], series: Series) -> Task {
        let mut raw = Raw::default();
        for (name, text) in given {
            raw.push(name, text, Origin::Flag);
        }
        let experiment = Experiment::check(&raw).unwrap();
        Task::new(&experiment, Arc::new(Recording::in_memory(series))).unwrap()
    }

    /// The state at the start, with all parameters zero but the first of some tensors.
    fn state(task: &Task, set: &[(&str, f32)]) -> State {
        let Job::Train(training) = &task.resolved.job else {
            unreachable!("it is trained");
        };
        let mut state = training.trainer.start();
        state.theta.fill(0.0);
        for (name, value) in set {
            state.theta[place(task, name)] = *value;
        }
        state
    }

    fn place(task: &Task, name: &str) -> usize {
        let Job::Train(training) = &task.resolved.job else {
            unreachable!("it is trained");
        };
        let start = training.trainer.start();
        let dynamics = training.trainer.dynamics(&start.theta);
        let model = Model::of(dynamics.as_ref()).unwrap();
        model.layout().range(name).start
    }

    fn waves(measure: &str, starts: &str) -> Task {
        let wave = (0..200).map(|t| (1.0 + 0.3 * f64::from(t)).sin()).collect();
        let given = [
            ("model", "plrnn"),
            ("observation", "identity"),
            ("window", "5"),
            ("best-by", measure),
            ("best-starts", starts),
        ];
        task(&given, Series::from_rows(wave, 1, 1.0).unwrap())
    }

    /// The best of z ← a z for some a, one after another.
    fn best(measure: &str, slopes: &[f32]) -> Option<f32> {
        best_of(measure, "1", slopes)
    }

    fn best_of(measure: &str, starts: &str, slopes: &[f32]) -> Option<f32> {
        let task = waves(measure, starts);
        let judge = of(&task).unwrap().unwrap();
        let mut best = None;
        for (epoch, &slope) in slopes.iter().enumerate() {
            judge.compare(epoch as u64, &state(&task, &[("A", slope)]), &mut best);
        }
        best.map(|best| best.theta[place(&task, "A")])
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
        // Orbits of at least 10,000 steps: |z| leaves all bounds from every start.
        assert_eq!(best_of("d_stsp", "3", &[1.05, 0.99]), Some(0.99));
        assert_eq!(best_of("d_stsp", "3", &[5.0]), None);
        // Orbits of 0.9999ᵗ have spectra; those of 0.99ᵗ have come to rest.
        assert!(best_of("both", "2", &[0.9999]).is_some());
        assert_eq!(best_of("both", "2", &[0.99]), None);
        let task = waves("both", "2");
        let judge = of(&task).unwrap().unwrap();
        let scores = OrbitScores {
            scores: vec![("d_h", Ok(attractor_core::measure::Estimate::exact(0.5)))],
            ..OrbitScores::default()
        };
        assert_eq!(judge.of_orbit(&scores), None);
    }

    #[test]
    fn a_model_that_begins_far_above_the_lowest_is_not_looked_at_further() {
        let task = waves("d_stsp", "4");
        let judge = of(&task).unwrap().unwrap();
        let (_, model) = judge
            .candidate(&state(&task, &[("A", 0.99)]).theta)
            .unwrap();
        let score = judge.score(model.as_ref(), f64::INFINITY).unwrap();
        assert_eq!(judge.score(model.as_ref(), 1.01 * score), Some(score));
        assert_eq!(judge.score(model.as_ref(), 0.1 * score), None);
    }

    /// The B of a tent map, z ← 1 + 1.9 z − 3.8 φ(z) seen as it is, after it was judged by orbits of the same map seen
    /// smaller.
    fn best_b(spread: &str, size: f64) -> Option<f32> {
        let given = [
            ("model", "shallow-plrnn"),
            ("latent", "1"),
            ("hidden", "1"),
            ("window", "5"),
            ("standardize", "off"),
            ("best-by", "d_stsp"),
            ("best-spread", spread),
        ];
        let tent = |z: &f64| Some(1.0 + 1.9 * z - 3.8 * z.max(0.0));
        let orbit = iter::successors(Some(0.3), tent).take(2000);
        let series = Series::from_rows(orbit.map(|z| size * z).collect(), 1, 1.0).unwrap();
        let task = task(&given, series);
        let judge = of(&task).unwrap().unwrap();
        let set = [
            ("A", 1.9),
            ("W1", -3.8),
            ("h1", 1.0),
            ("W2", 1.0),
            ("B", 1.0),
        ];
        let mut best = None;
        judge.compare(1, &state(&task, &set), &mut best);
        best.map(|best| best.theta[place(&task, "B")])
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
        let task = waves("d_stsp", "1");
        let judge = of(&task).unwrap().unwrap();
        let mut state = state(&task, &[("A", 5.0)]);
        state.average = state.theta.clone();
        state.average[place(&task, "A")] = 0.99;
        let mut best = None;
        judge.compare(1, &state, &mut best);
        assert!(best.is_some_and(|best| best.averaged && best.theta == state.average));
    }

    /// Training rows of one frequency, selected rows of another: the model of the latter is the best.
    #[test]
    fn parameters_are_chosen_by_selected_rows_and_not_by_held_out_ones() {
        let wave = |t: u32| match t {
            0..600 => (0.3 * f64::from(t)).sin(),
            600..800 => (1.1 * f64::from(t)).sin(),
            _ => (2.5 * f64::from(t)).sin(),
        };
        let series = Series::from_rows((0..1000).map(wave).collect(), 1, 1.0).unwrap();
        let with = |select: &str| {
            let given = [
                ("model", "plrnn"),
                ("window", "5"),
                ("best-by", "d_h"),
                ("held-out", "0.2"),
                ("select", select),
            ];
            let task = task(&given, series.clone());
            let judge = of(&task).unwrap().unwrap();
            let truth = judge.reference.truth();
            (truth.len(), truth.row(1)[0] - truth.row(0)[0])
        };
        let (rows, rise) = with("0.25");
        assert_eq!(rows, 200);
        assert!((rise - (wave(601) - wave(600))).abs() < 1e-9);
        assert_eq!(with("0").0, 800);
    }
}
