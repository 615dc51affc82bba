//! The race: what is solved at once first, then what is trained, in three rounds of which each keeps a third.
//!
//! ```text
//! round   updates   who goes on
//! 1       1/9       the best third, and of these who is not hopelessly behind the best of all
//! 2       1/3       the best one, unless it is hopelessly behind
//! 3       all
//! ```

use std::sync::Mutex;
use std::time::{Duration, Instant};

use attractor_core::method;
use attractor_core::progress::Unwatched;
use attractor_core::series::Series;
use attractor_core::text::grouped_count;

use super::bench::{Bench, STARTS};
use super::candidates::candidates;
use super::fit::{Fitted, Limit, fit, seconds_per_update, side_by_side, updates_per_epoch};
use super::{Budget, Candidate, Event, Learn, LearnError, Ledger, Mark, Spectator};
use crate::Error;
use crate::evaluation::Cache;
use crate::experiment::{Parts, Preparation};
use crate::model_file::Card;
use crate::run::Task;

/// Parts of a whole training at which candidates are judged.
const ROUNDS: [u64; 3] = [9, 3, 1];

/// Of so many one goes on.
const KEEP_ONE_OF: usize = 3;

/// Scores so far above the best of all are hopeless, after each round: a training has still so much to gain.
const HOPELESS: [f64; 3] = [3.0, 1.5, f64::INFINITY];

/// The most updates that a training gets from a budget in minutes: beyond, little is gained.
const MOST: f64 = 100_000.0;

/// The share of a budget that is planned for; the rest is for judging.
const PLANNED: f64 = 0.75;

/// The share of a budget in minutes after which nothing more is solved: the rest is for what is trained, and for the finals.
const SOLVING: f64 = 0.5;

/// Why what was not solved by then is out.
const NO_TIME: &str = "no time was left for it";

/// Fits of the winner from several seeds.
pub(super) const SEEDS: u64 = 3;

/// Races as far as that has not been done.
pub(super) fn race(
    learn: &Learn,
    ledger: &mut Ledger,
    spectator: &dyn Spectator,
) -> Result<(), Error> {
    if ledger.winner.is_some() {
        return Ok(());
    }
    let mut race = Race::new(learn, ledger, spectator)?;
    race.solved()?;
    race.plan()?;
    race.trained()?;
    race.end()
}

/// A race that is being run.
struct Race<'a> {
    learn: &'a Learn,
    ledger: &'a mut Ledger,
    bench: Bench,
    spectator: &'a dyn Spectator,
    /// Seconds of processes before this one.
    before: f64,
}

/// What came of an attempt.
enum Attempt {
    Judged(Mark),
    Out(String),
    Stopped,
}

impl<'a> Race<'a> {
    fn new(
        learn: &'a Learn,
        ledger: &'a mut Ledger,
        spectator: &'a dyn Spectator,
    ) -> Result<Race<'a>, Error> {
        let parts = learn.race_parts()?;
        if ledger.candidates.is_empty() {
            ledger.candidates = candidates(&learn.request, &parts.training);
        }
        let before = ledger.seconds;
        Ok(Race {
            bench: learn.bench(&parts)?,
            learn,
            ledger,
            spectator,
            before,
        })
    }

    /// All that is solved at once, as far as there is time: of every method the first, then of every method the second, so that none is left out
    /// because another one is slow.
    fn solved(&mut self) -> Result<(), Error> {
        let mut open = self.open(|one| !one.is_trained() && one.marks.is_empty());
        let place = |one: &Candidate| -> usize {
            let number = one.name.rsplit('-').next();
            number.and_then(|n| n.parse().ok()).unwrap_or(0)
        };
        open.sort_by_key(place);
        if open.is_empty() {
            return Ok(());
        }
        self.spectator.sees(Event::Stage {
            what: "solved at once",
            fits: open.len(),
        });
        self.attempt(&open, |_| 0)
    }

    /// How long trainings are: by the budget, once.
    fn plan(&mut self) -> Result<(), Error> {
        let open = self.open(|one| one.is_trained() && one.updates == 0);
        if open.is_empty() {
            return Ok(());
        }
        let seconds = self.seconds_of_a_training(open.len());
        let planned = side_by_side(self.learn.request.workers, &open, |one| {
            self.length(one, seconds)
        });
        for (one, planned) in open.iter().zip(planned) {
            let candidate = self.candidate(&one.name);
            match planned {
                Ok((epochs, updates)) => (candidate.epochs, candidate.updates) = (epochs, updates),
                Err(error) => candidate.out = Some(error.to_string()),
            }
        }
        self.store()
    }

    /// Seconds of a whole training, by the clock, that a budget in minutes leaves.
    fn seconds_of_a_training(&self, trained: usize) -> Option<f64> {
        let Budget::Minutes(minutes) = self.learn.request.budget else {
            return None;
        };
        let turns = |fits: usize| fits.div_ceil(self.learn.request.workers.max(1)) as f64;
        let second = trained.div_ceil(KEEP_ONE_OF);
        let turns = turns(trained) / 9.0
            + turns(second) * 2.0 / 9.0
            + turns(1) * 2.0 / 3.0
            + turns(SEEDS as usize);
        let left = 60.0 * minutes - self.learn.begun.elapsed().as_secs_f64();
        Some(PLANNED * left.max(1.0) / turns)
    }

    /// Epochs and updates of a candidate's training.
    fn length(&self, one: &Candidate, seconds: Option<f64>) -> Result<(u64, u64), Error> {
        let short = Candidate {
            epochs: 1,
            ..one.clone()
        };
        let request = &self.learn.request;
        let held_out = self.learn.shares.settings(self.learn.shares.race);
        let experiment = short.experiment(&held_out, request.seed)?;
        let per_epoch = updates_per_epoch(&Task::new(&experiment, self.learn.recording.clone())?);
        let wanted = match (request.budget, seconds) {
            (Budget::Updates(updates), _) => updates as f64,
            (_, seconds) => {
                // An epoch ends a training that is timed, so that several are asked for.
                let long = Candidate {
                    epochs: 1000,
                    ..one.clone()
                };
                let experiment = long.experiment(&held_out, request.seed)?;
                let task = Task::new(&experiment, self.learn.recording.clone())?;
                let cost = seconds_per_update(&task).unwrap_or(1.0);
                (seconds.unwrap_or_default() / cost).min(MOST)
            }
        };
        let epochs = ((wanted / per_epoch as f64).ceil() as u64).max(1);
        Ok((epochs, epochs * per_epoch))
    }

    /// The rounds of what is trained.
    fn trained(&mut self) -> Result<(), Error> {
        let mut runners: Vec<String> = self
            .open(Candidate::is_trained)
            .into_iter()
            .map(|one| one.name)
            .collect();
        for (round, part) in ROUNDS.into_iter().enumerate() {
            let open = self.open(|one| runners.contains(&one.name) && one.marks.len() == round);
            if !open.is_empty() {
                let what = format!(
                    "round {} of {}, 1/{part} of a training",
                    round + 1,
                    ROUNDS.len()
                );
                let what = what.replace("1/1 of a training", "whole trainings");
                self.spectator.sees(Event::Stage {
                    what: &what,
                    fits: open.len(),
                });
                self.attempt(&open, |one| one.updates.div_ceil(part))?;
            }
            runners = self.survivors(runners, round);
        }
        Ok(())
    }

    /// Who of these goes on behind a round.
    fn survivors(&self, runners: Vec<String>, round: usize) -> Vec<String> {
        let all = self.ledger.candidates.iter();
        let best = all.clone().map(rank).fold(f64::INFINITY, f64::min);
        let keep = match round {
            0 => runners.len().div_ceil(KEEP_ONE_OF),
            _ => 1,
        };
        let mut left: Vec<&Candidate> = all
            .filter(|one| runners.contains(&one.name) && one.out.is_none())
            .filter(|one| rank(one) < best + HOPELESS[round])
            .collect();
        left.sort_by(|a, b| rank(a).total_cmp(&rank(b)));
        left.into_iter()
            .take(keep)
            .map(|one| one.name.clone())
            .collect()
    }

    /// Fits and judges some candidates, each up to a number of updates.
    fn attempt(
        &mut self,
        open: &[Candidate],
        updates: impl Fn(&Candidate) -> u64 + Sync,
    ) -> Result<(), Error> {
        let (learn, spectator) = (self.learn, self.spectator);
        let (bench, before) = (&self.bench, self.before);
        let ledger = Mutex::new(&mut *self.ledger);
        let attempts = side_by_side(learn.request.workers, open, |one| {
            if spectator.asks_to_stop() {
                return Ok(true);
            }
            let is_late = || {
                learn
                    .end_of_solving()
                    .is_some_and(|end| Instant::now() > end)
            };
            let attempt = if !one.is_trained() && is_late() {
                Attempt::Out(NO_TIME.to_string())
            } else {
                attempted(learn, bench, one, updates(one), spectator)?
            };
            let mut ledger = ledger.lock().expect("no worker panics");
            let stopped = note(&mut ledger, one, attempt, spectator);
            ledger.seconds = before + learn.begun.elapsed().as_secs_f64();
            ledger.write(&learn.request.out)?;
            Ok(stopped)
        });
        let stopped: Result<Vec<bool>, Error> = attempts.into_iter().collect();
        if stopped?.contains(&true) {
            return Err(stopped_in(learn));
        }
        Ok(())
    }

    /// The winner.
    fn end(&mut self) -> Result<(), Error> {
        let all = self.ledger.candidates.iter();
        let judged = all.filter(|one| rank(one).is_finite());
        let winner = judged.min_by(|a, b| rank(a).total_cmp(&rank(b)));
        let Some(winner) = winner.map(|one| one.name.clone()) else {
            let why = self
                .ledger
                .candidates
                .iter()
                .find_map(|one| one.out.clone());
            let why = why.unwrap_or("no method suits these data".to_string());
            return Err(LearnError::Nothing { why }.into());
        };
        self.ledger.winner = Some(winner);
        self.store()
    }

    fn open(&self, is_wanted: impl Fn(&Candidate) -> bool) -> Vec<Candidate> {
        let all = self.ledger.candidates.iter();
        all.filter(|one| one.out.is_none() && is_wanted(one))
            .cloned()
            .collect()
    }

    fn candidate(&mut self, name: &str) -> &mut Candidate {
        let mut all = self.ledger.candidates.iter_mut();
        all.find(|one| one.name == name)
            .expect("names are of the ledger")
    }

    fn store(&mut self) -> Result<(), Error> {
        self.ledger.seconds = self.before + self.learn.begun.elapsed().as_secs_f64();
        self.ledger.write(&self.learn.request.out)
    }
}

/// The place of a candidate in the race, the lower the better.
pub(super) fn rank(one: &Candidate) -> f64 {
    let last = one.last().filter(|_| one.out.is_none());
    last.map_or(f64::INFINITY, |mark| mark.standing.rank())
}

/// That a race was stopped.
pub(super) fn stopped_in(learn: &Learn) -> Error {
    let path = learn.request.out.clone();
    LearnError::Stopped { path }.into()
}

/// Fits a candidate up to a number of updates, and judges it. What cannot be fitted is out, and the race goes on.
fn attempted(
    learn: &Learn,
    bench: &Bench,
    one: &Candidate,
    updates: u64,
    spectator: &dyn Spectator,
) -> Result<Attempt, Error> {
    let held_out = learn.shares.settings(learn.shares.race);
    let experiment = match one.experiment(&held_out, learn.request.seed) {
        Err(error) => return Ok(Attempt::Out(error.to_string())),
        Ok(experiment) => experiment,
    };
    let folder = learn.request.out.join(&one.name);
    let limit = match updates {
        0 => Limit {
            time: learn.end_of_solving(),
            ..Limit::NONE
        },
        updates => Limit {
            updates,
            time: None,
        },
    };
    let fitted = match fit(&folder, &experiment, &learn.recording, limit, spectator) {
        Err(Error::Experiment(error)) => return Ok(Attempt::Out(error.to_string())),
        other => other?,
    };
    Ok(match fitted {
        Fitted::Stopped => Attempt::Stopped,
        Fitted::Late => Attempt::Out(NO_TIME.to_string()),
        Fitted::Diverged => Attempt::Out("training diverges".to_string()),
        Fitted::Model(model, made) => {
            let standing = bench.judge(&model)?;
            match standing.score {
                None if !one.is_trained() => Attempt::Out("its orbit diverges".to_string()),
                _ => Attempt::Judged(Mark {
                    updates: made,
                    standing,
                }),
            }
        }
    })
}

/// Notes what came of an attempt; whether it was stopped.
fn note(ledger: &mut Ledger, one: &Candidate, attempt: Attempt, spectator: &dyn Spectator) -> bool {
    let mut all = ledger.candidates.iter_mut();
    let kept = all.find(|kept| kept.name == one.name);
    let kept = kept.expect("candidates are of the ledger");
    match attempt {
        Attempt::Stopped => return true,
        Attempt::Out(why) => {
            spectator.sees(Event::Out(one, &why));
            kept.out = Some(why);
        }
        Attempt::Judged(mark) => {
            spectator.sees(Event::Judged(one, &mark));
            kept.marks.push(mark);
        }
    }
    false
}

/// The parts of the recording that a race sees.
struct RaceParts {
    /// What candidates are fitted to.
    training: Series,
    /// What they are selected by.
    selection: Series,
    /// Both.
    before: Series,
    /// What candidates hold out, as settings.
    held_out: Vec<(&'static str, String)>,
}

impl Learn {
    /// When the time for what is solved at once is over.
    fn end_of_solving(&self) -> Option<Instant> {
        let Budget::Minutes(minutes) = self.request.budget else {
            return None;
        };
        let share = Duration::from_secs_f64(SOLVING * 60.0 * minutes);
        Some(self.begun + share)
    }

    /// The parts of the race.
    fn race_parts(&self) -> Result<RaceParts, Error> {
        let held_out = self.shares.settings(self.shares.race);
        let before = self.shares.settings(self.shares.finals);
        let training = self.plain_parts(&held_out)?.training;
        let before = self.plain_parts(&before)?.training;
        Ok(RaceParts {
            selection: behind(&before, &training)?,
            training,
            before,
            held_out,
        })
    }

    /// What models of the race are judged by.
    fn bench(&self, parts: &RaceParts) -> Result<Bench, Error> {
        let card = self.card(&parts.held_out)?;
        Bench::new(
            self.request.goal,
            [
                &card.see_prepared(&parts.selection)?,
                &card.see_prepared(&parts.before)?,
            ],
            STARTS,
            &Cache::of_user(Some(&self.request.out)),
            &mut Unwatched,
        )
    }

    /// The parts of the recording under settings of what is held out.
    pub(super) fn plain_parts(&self, held_out: &[(&'static str, String)]) -> Result<Parts, Error> {
        let preparation = preparation(held_out)?;
        Ok(preparation.split(self.recording.series.clone())?)
    }

    /// The card of models that hold out a part.
    pub(super) fn card(&self, held_out: &[(&'static str, String)]) -> Result<Card, Error> {
        let prepared = preparation(held_out)?.prepare(&self.recording.series)?;
        Ok(self.recording.card(prepared.scaling))
    }
}

/// How every candidate that holds out a part splits and scales the recording.
fn preparation(held_out: &[(&'static str, String)]) -> Result<Preparation, Error> {
    let any = Candidate {
        method: method::default().entry.id.to_string(),
        ..Candidate::default()
    };
    Ok(any.experiment(held_out, 1)?.preparation())
}

/// The rows of all that are behind those of the first part of each trajectory.
fn behind(all: &Series, first: &Series) -> Result<Series, Error> {
    let trajectories = 0..all.trajectories().len();
    let len = |i: usize| {
        if i < first.trajectories().len() {
            first.len_of(i)
        } else {
            0
        }
    };
    let parts = trajectories.map(|i| (i, len(i)..all.len_of(i)));
    let parts = parts.filter(|(_, rows)| !rows.is_empty());
    Ok(all.with(parts.map(|(i, rows)| all.slice(i, rows)).collect())?)
}

impl Mark {
    /// How far a candidate had come, in words.
    pub fn reached(&self) -> String {
        match self.updates {
            0 => "solved".to_string(),
            updates => grouped_count(updates as usize, "update"),
        }
    }
}
