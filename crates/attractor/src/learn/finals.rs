//! The winner's settings from several seeds, fitted to all rows before the test part; then the test part, once.

use std::fs;
use std::path::{Path, PathBuf};

use attractor_core::measure::levels::Level;
use attractor_core::progress::Unwatched;
use attractor_core::series::Series;

use super::bench::{self, Bench, LAST_STARTS};
use super::fit::{Fitted, Limit, fit, side_by_side};
use super::ledger::REPEATED;
use super::race::{SEEDS, rank, stopped_in};
use super::{Candidate, Event, Final, Goal, Learn, LearnError, Ledger, Spectator};
use crate::Error;
use crate::anatomy::{self, dissect, sentence};
use crate::evaluation::{self, Cache, Evaluation, Judge, Levels, Origin};
use crate::model_file::Reconstruction;
use crate::run::Folder;
use crate::verdict::{OfSeed, Word};

/// What another attractor beside the one that is wanted costs a piecewise-linear model, in units of the score.
const BESIDE: f64 = 0.5;

/// How long fixed points of a model are looked for, in seconds, before orbits are started beside them.
const SEARCH: f64 = 3.0;

/// Orbits of the last judgement, beside the first.
const STARTS: usize = 7;

/// Why a winner is out that does not keep what it promised.
const UNRELIABLE: &str = "fitted again from other seeds, most of its models diverge";

/// Winners that may be out for that, before the best model that there is is taken.
const MOST_UNRELIABLE: usize = 2;

/// Fits the winner's settings from several seeds, as far as that has not been done, and chooses one. Whether one is chosen: where most of the fits
/// diverge, the winner is out, and the race goes on without it.
pub(super) fn finals(
    learn: &Learn,
    ledger: &mut Ledger,
    spectator: &dyn Spectator,
) -> Result<bool, Error> {
    if ledger.chosen.is_some() {
        return Ok(true);
    }
    let winner = ledger.winner().expect("a race ends with a winner").clone();
    let before = ledger.seconds;
    let bench = learn.last_bench()?;
    let first = learn.request.seed;
    let seeds: Vec<u64> = (first..first + SEEDS).collect();
    spectator.sees(Event::Stage {
        what: "the winner with all rows before the test part, from several seeds",
        fits: seeds.len(),
    });
    let made = side_by_side(learn.request.workers, &seeds, |&seed| {
        let found = ended(learn, &winner, seed, &bench, spectator)?;
        if let Some(found) = &found {
            spectator.sees(Event::Repeated(found));
        }
        Ok(found)
    });
    let made: Result<Vec<Option<Final>>, Error> = made.into_iter().collect();
    let made: Option<Vec<Final>> = made?.into_iter().collect();
    let mut made = made.ok_or_else(|| stopped_in(learn))?;
    let diverged = made.iter().filter(|one| one.standing.is_none()).count();
    if 2 * diverged > made.len() && ledger.can_do_without(&winner.name) {
        spectator.sees(Event::Out(&winner, UNRELIABLE));
        ledger.drop_winner(UNRELIABLE);
        for one in &made {
            let path = learn.request.out.join(&one.folder);
            fs::remove_dir_all(&path).map_err(|source| Error::Write { path, source })?;
        }
        ledger.seconds = before.max(learn.begun.elapsed().as_secs_f64());
        ledger.write(&learn.request.out)?;
        return Ok(false);
    }
    // The winner as it was selected, in case that none of these stays.
    made.extend(raced(learn, &winner, &bench)?);
    let chosen = made.iter().min_by(|a, b| a.rank().total_cmp(&b.rank()));
    let chosen = chosen.filter(|one| one.standing.is_some());
    let chosen = chosen.ok_or_else(|| LearnError::Nothing {
        why: "no repeated fit has an orbit that stays bounded".to_string(),
    })?;
    ledger.chosen = Some(chosen.folder.clone());
    ledger.finals = made;
    ledger.seconds = before.max(learn.begun.elapsed().as_secs_f64());
    ledger.write(&learn.request.out)?;
    Ok(true)
}

impl Ledger {
    /// Whether others are left that could win, after so few winners that were unreliable.
    fn can_do_without(&self, winner: &str) -> bool {
        let all = || self.candidates.iter();
        let unreliable = all().filter(|one| one.out.as_deref() == Some(UNRELIABLE));
        let others = all().filter(|one| one.name != winner);
        unreliable.count() < MOST_UNRELIABLE && others.map(rank).any(f64::is_finite)
    }

    /// Takes the winner out.
    fn drop_winner(&mut self, why: &str) {
        let winner = self.winner.take();
        let mut all = self.candidates.iter_mut();
        let candidate = all.find(|one| Some(&one.name) == winner.as_ref());
        candidate.expect("the winner is a candidate").out = Some(why.to_string());
    }
}

impl Final {
    fn rank(&self) -> f64 {
        let standing = self.standing.as_ref().map_or(f64::INFINITY, |s| s.rank());
        standing + if self.beside.is_some() { BESIDE } else { 0.0 }
    }
}

/// The winner from one seed, fitted and judged; none if it was stopped.
fn ended(
    learn: &Learn,
    winner: &Candidate,
    seed: u64,
    bench: &Bench,
    spectator: &dyn Spectator,
) -> Result<Option<Final>, Error> {
    let folder = format!("{REPEATED}{seed}");
    let held_out = learn.shares.settings(learn.shares.finals);
    let experiment = winner.experiment(&held_out, seed)?;
    let place = learn.request.out.join(&folder);
    let fitted = fit(
        &place,
        &experiment,
        &learn.recording,
        Limit::NONE,
        spectator,
    )?;
    let (standing, beside) = match fitted {
        Fitted::Stopped | Fitted::Late => return Ok(None),
        Fitted::Diverged => (None, None),
        Fitted::Model(model, _) => {
            let standing = bench.judge(&model)?;
            let is_there = standing.score.is_some();
            (is_there.then_some(standing), beside(learn, &model)?)
        }
    };
    Ok(Some(Final {
        seed,
        folder,
        standing,
        beside,
        tested: None,
        word: None,
    }))
}

/// The run of the race, judged as the others are; none if it has not ended, which only a whole training has.
fn raced(learn: &Learn, winner: &Candidate, bench: &Bench) -> Result<Option<Final>, Error> {
    let place = learn.request.out.join(&winner.name);
    let Ok(model) = Folder::new(&place).model() else {
        return Ok(None);
    };
    let standing = bench.judge(&model)?;
    Ok(Some(Final {
        seed: learn.request.seed,
        folder: winner.name.clone(),
        standing: standing.score.is_some().then_some(standing),
        beside: beside(learn, &model)?,
        tested: None,
        word: None,
    }))
}

/// What a model has beside its attractor, where the goal asks.
fn beside(learn: &Learn, model: &Reconstruction) -> Result<Option<String>, Error> {
    if learn.request.goal != Goal::Anatomy {
        return Ok(None);
    }
    let request = anatomy::Request {
        cycles: 1,
        seconds: SEARCH,
        steps: anatomy::default_steps(model) / 5,
        threads: 1,
        seed: 0,
    };
    let held_out = learn.shares.settings(learn.shares.finals);
    let before = learn.before()?;
    let rows = learn.card(&held_out)?.see_prepared(&before)?;
    let sources = anatomy::Sources {
        data: None,
        rows: Some(&rows),
    };
    let found = dissect(model, sources, &request, &mut Unwatched)?;
    Ok(found.basins.as_ref().and_then(sentence))
}

/// The chosen run judged by the test part, which enters nothing else; and what the others have there.
pub(super) fn tested(
    learn: &Learn,
    ledger: &mut Ledger,
) -> Result<(PathBuf, Result<Evaluation, String>), Error> {
    let chosen = ledger.chosen.clone().expect("the finals choose");
    let run = learn.request.out.join(&chosen);
    let mut evaluation = learn.against_test(&run).and_then(|test| test.verdict());
    if let Ok(evaluation) = &mut evaluation {
        for one in &mut ledger.finals {
            let test = learn.against_test(&learn.request.out.join(&one.folder));
            let found = test.and_then(|test| test.scores()).ok();
            one.tested = found.as_ref().and_then(d_stsp);
            one.word = found.map(|found| found.verdict().word);
        }
        evaluation.seeds = of_seeds(&ledger.finals);
    }
    Ok((run, evaluation.map_err(|error| error.to_string())))
}

/// What the repeated fits amount to, without the run of the race, which has fewer rows.
fn of_seeds(finals: &[Final]) -> Vec<OfSeed> {
    let repeated = finals.iter().filter(|one| one.is_repeated());
    let of = |one: &Final| match &one.standing {
        None => OfSeed {
            word: Some(Word::NotAReconstruction),
            d_stsp: None,
        },
        Some(_) => OfSeed {
            word: one.word,
            d_stsp: one.tested,
        },
    };
    repeated.map(of).collect()
}

fn d_stsp(evaluation: &Evaluation) -> Option<f64> {
    let score = evaluation
        .scores
        .iter()
        .find(|score| score.id == "d_stsp")?;
    Some(score.value.as_ref().ok()?.value)
}

impl Learn {
    /// All rows before the test part.
    fn before(&self) -> Result<Series, Error> {
        let held_out = self.shares.settings(self.shares.finals);
        Ok(self.plain_parts(&held_out)?.training)
    }

    /// A bench of all rows before the test part.
    fn last_bench(&self) -> Result<Bench, Error> {
        let held_out = self.shares.settings(self.shares.finals);
        let seen = self.card(&held_out)?.see_prepared(&self.before()?)?;
        let cache = Cache::of_user(Some(&self.request.out));
        let rows = [&seen, &seen];
        Bench::new(self.request.goal, rows, LAST_STARTS, &cache, &mut Unwatched)
    }

    /// A run and the test part, with its floors and chance levels.
    fn against_test(&self, run: &Path) -> Result<Tested, Error> {
        let model = Folder::new(run).model()?;
        let held_out = self.shares.settings(self.shares.finals);
        let parts = self.plain_parts(&held_out)?;
        let test = parts.held_out.expect("a test part is held out");
        let data = model.see_prepared(&test)?;
        let request = evaluation::Request {
            other_starts: STARTS,
            levels: Levels::Shown,
            ..bench::request(data.longest().len(), Levels::Shown)
        };
        let judge = Judge::new(&data, &Origin::of(&model, run), &request)?;
        let cache = Cache::of_user(Some(&self.request.out));
        let levels = judge.levels(&cache, &mut Unwatched)?;
        Ok(Tested {
            judge,
            model,
            levels,
        })
    }
}

/// A model and what it is judged by.
struct Tested {
    judge: Judge,
    model: Reconstruction,
    levels: Option<Vec<Level>>,
}

impl Tested {
    fn scores(self) -> Result<Evaluation, Error> {
        Ok(self.judge.evaluate(&self.model, self.levels)?)
    }

    fn verdict(self) -> Result<Evaluation, Error> {
        let judge = &self.judge;
        Ok(judge.evaluate_with_estimates(&self.model, self.levels)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_race_goes_on_without_unreliable_winners_while_others_are_left() {
        let candidate = |name: &str, score: f64| {
            let standing =
                json!({ "score": score, "d_stsp": 1.0, "d_h": 0.1, "pe": 0.1, "vpt": 10.0 });
            json!({
                "name": name, "method": "nvar", "label": "", "settings": [], "epochs": 0, "updates": 0,
                "marks": [{ "updates": 0, "standing": standing }], "out": null
            })
        };
        let candidates =
            [1.0, 2.0, 3.0, 4.0].map(|score| candidate(&format!("nvar-{score}"), score));
        let mut ledger: Ledger = serde_json::from_value(json!({
            "schema": 1, "request": {}, "candidates": candidates, "winner": "nvar-1", "finals": [], "chosen": null, "seconds": 0.0
        }))
        .unwrap();
        for name in ["nvar-1", "nvar-2"] {
            ledger.winner = Some(name.to_string());
            assert!(ledger.can_do_without(name));
            ledger.drop_winner(UNRELIABLE);
            assert_eq!(ledger.winner, None);
        }
        let open = ledger.candidates.iter().filter(|one| rank(one).is_finite());
        assert_eq!(open.count(), 2);
        assert!(!ledger.can_do_without("nvar-3"), "two were unreliable");
        for one in &mut ledger.candidates {
            one.out = (one.name != "nvar-3").then(|| "diverges".to_string());
        }
        assert!(!ledger.can_do_without("nvar-3"), "nobody is left");
    }
}
