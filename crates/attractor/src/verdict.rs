//! What a reconstruction is worth, in one word with its reasons: *good*, *partly*, *not a reconstruction* or *cannot tell*.
//!
//! Each aspect is graded by where its score lies between the floor f (what the data themselves reach) and chance c (the best
//! surrogate without the dynamics), in proportion:
//!
//! ```text
//! share = ln(v/f) / ln(c/f)        0 at the floor, 1 at chance
//! ```
//!
//! | share | grade |
//! | --- | --- |
//! | up to 1/2 | good: nearer to the data than to chance |
//! | up to 9/10 | weak |
//! | beyond | bad: no better than a surrogate, whose own scores scatter as much |
//!
//! Where c < 1.5 f the measure has no power on these data: surrogates reach what the data reach. Then only a score says something that is
//! more than twice as bad as both, or as good as the floor and 1.5 times better than chance. An attractor has two aspects, where the orbit is (D_stsp) and how it moves (D_H), and neither
//! stands for the other: shuffled rows are perfect in the first, phase-randomised data in the second. Forecasts (PE(n), and the valid
//! prediction time, where more is better) can only make a good attractor a partial success: beyond some Lyapunov times no model forecasts.
//!
//! | what is found | word |
//! | --- | --- |
//! | the orbit diverges, has shrunk to a point, or more than a fifth of its rows are outside the box; an aspect of the attractor is bad; most starts diverge | not a reconstruction |
//! | neither aspect of the attractor has power, no levels are known, or there are too few rows | cannot tell |
//! | the largest exponent is off by three tenths and three errors, where that of the system is known | partly at most |
//! | both aspects of the attractor are good, forecasts are not bad, nothing else speaks against it | good |
//! | anything else | partly |

use attractor_core::hint::Hint;
use attractor_core::method;
use attractor_core::text::{count, figure};
use serde::{Deserialize, Serialize};

use crate::evaluation::{Estimates, Evaluation, Exponents, Score};
use crate::experiment;

mod seeds;

pub use seeds::{OfSeed, disagreement as disagreement_of_seeds};

/// The word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// Nothing can be said.
    #[serde(rename = "cannot tell")]
    CannotTell,
    /// It is none.
    #[serde(rename = "not a reconstruction")]
    NotAReconstruction,
    /// Some of it is right.
    Partly,
    /// It is one.
    Good,
}

/// A verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// The word.
    pub word: Word,
    /// Why, in plain words, what decided first.
    pub reasons: Vec<String>,
    /// What to try next; none for a good model.
    pub next: Option<Hint>,
}

impl Word {
    const ALL: [Word; 4] = [
        Word::CannotTell,
        Word::NotAReconstruction,
        Word::Partly,
        Word::Good,
    ];

    /// The word that is printed like this.
    pub(crate) fn parse(text: &str) -> Option<Word> {
        Word::ALL.into_iter().find(|word| word.text() == text)
    }

    /// The word as it is printed.
    pub fn text(self) -> &'static str {
        match self {
            Word::CannotTell => "cannot tell",
            Word::NotAReconstruction => "not a reconstruction",
            Word::Partly => "partly",
            Word::Good => "good",
        }
    }
}

/// How one aspect is graded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Grade {
    Bad,
    Weak,
    Good,
    /// The measure has no power, or there is no score or level.
    Unknown,
}

/// An aspect of a reconstruction.
struct Aspect {
    /// What it is about, such as `state space`.
    name: &'static str,
    grade: Grade,
    /// What was found.
    reason: String,
}

/// Chance must be so many times the floor for a measure to have power.
const POWER: f64 = 1.5;

/// Beyond this share a score is no better than chance.
const NO_BETTER: f64 = 0.9;

/// Without power, what is so many times worse than floor and chance is bad all the same.
const FAR: f64 = 2.0;

/// Shares of rows outside the box around the data that make a model a partial one, and none.
const OUTSIDE: [f64; 2] = [0.02, 0.2];

/// Fewer rows are no attractor: their histograms and spectra say little.
const FEWEST_ROWS: usize = 200;

impl Verdict {
    /// The verdict on an evaluation.
    pub fn of(evaluation: &Evaluation) -> Verdict {
        let faults = faults(evaluation);
        let attractor = [
            aspect(evaluation, "d_stsp", "state space"),
            aspect(evaluation, "d_h", "spectrum"),
        ];
        let forecasts = [
            aspect(evaluation, "pe", "forecasts"),
            aspect(evaluation, "vpt", "valid prediction time"),
        ];
        let word = word(evaluation, &faults, &attractor, &forecasts);
        let mut reasons: Vec<String> = faults.into_iter().map(|(_, reason)| reason).collect();
        if evaluation.rows < FEWEST_ROWS {
            let rows = count(evaluation.rows, "row");
            reasons.push(format!("{rows} are too few to judge an attractor"));
        }
        let mut aspects: Vec<Aspect> = attractor.into_iter().chain(forecasts).collect();
        aspects.retain(|aspect| !aspect.reason.is_empty());
        // What is bad decides, so that it stands first.
        aspects.sort_by_key(|aspect| aspect.grade);
        reasons.extend(disagreement(&aspects));
        reasons.extend(aspects.into_iter().map(|aspect| aspect.reason));
        reasons.extend(
            evaluation
                .period
                .map(|period| format!("its orbit is regular, with a period of {}", figure(period))),
        );
        let agree = evaluation.exponents.filter(|found| !found.differ());
        reasons.extend(agree.as_ref().map(of_exponents));
        reasons.extend(evaluation.estimates.as_ref().map(of_estimates));
        reasons.extend(of_seeds(evaluation));
        Verdict {
            word,
            reasons,
            next: next(word, evaluation),
        }
    }
}

/// What is wrong whatever the scores are, with the best word that it leaves.
fn faults(evaluation: &Evaluation) -> Vec<(Word, String)> {
    let mut faults = Vec::new();
    if evaluation.diverged {
        faults.push((
            Word::NotAReconstruction,
            "the free orbit diverges".to_string(),
        ));
    }
    if let Some(why) = at_rest(evaluation) {
        faults.push((Word::NotAReconstruction, why));
    }
    if let Some(starts) = evaluation.starts.filter(|starts| starts.diverged > 0) {
        let most = 2 * starts.diverged > starts.count;
        let word = if most {
            Word::NotAReconstruction
        } else {
            Word::Partly
        };
        let of = count(starts.count, "orbit");
        let diverged = starts.diverged;
        faults.push((word, format!("{diverged} of {of} from the data diverge")));
    }
    if let Some(found) = evaluation.exponents.filter(Exponents::differ) {
        faults.push((Word::Partly, of_exponents(&found)));
    }
    if let Some(outside) = evaluation.outside.filter(|&share| share > OUTSIDE[0]) {
        let word = if outside > OUTSIDE[1] {
            Word::NotAReconstruction
        } else {
            Word::Partly
        };
        let percent = figure(100.0 * outside);
        faults.push((
            word,
            format!("{percent} % of its rows are outside the box around the data"),
        ));
    }
    faults
}

fn of_exponents(found: &Exponents) -> String {
    format!(
        "largest Lyapunov exponent: {} ± {}, the system's {}",
        figure(found.model),
        figure(found.error),
        figure(found.truth)
    )
}

/// Estimates from recordings, which are biased by noise and length and so decide nothing.
fn of_estimates(found: &Estimates) -> String {
    let said = if found.differ() {
        "they differ; such estimates are biased, and noise lowers that of the data, so this decides nothing"
    } else {
        "they agree"
    };
    let with_error = |(value, error): (f64, f64)| format!("{} ± {}", figure(value), figure(error));
    format!(
        "largest Lyapunov exponent, estimated from the first channel: {} of its orbit, {} of the data; {said}",
        with_error(found.model),
        with_error(found.data)
    )
}

/// How fits of the same settings from several seeds disagree.
fn of_seeds(evaluation: &Evaluation) -> Option<String> {
    let level = score(evaluation, "d_stsp").and_then(|score| score.level.as_ref());
    let (floor, chance) = level.map_or((None, None), |level| (level.floor, level.chance));
    let disagreement = disagreement_of_seeds(&evaluation.seeds, floor, chance)?;
    Some(format!(
        "{disagreement}; one fit says little about these settings"
    ))
}

/// Why an orbit that has come to rest has no spectrum.
fn at_rest(evaluation: &Evaluation) -> Option<String> {
    let spectrum = score(evaluation, "d_h")?;
    let why = spectrum.value.as_ref().err()?;
    (!evaluation.diverged).then(|| format!("the orbit has no spectrum: {why}"))
}

fn score<'a>(evaluation: &'a Evaluation, id: &str) -> Option<&'a Score> {
    evaluation.scores.iter().find(|score| score.id == id)
}

/// Grades a measure.
fn aspect(evaluation: &Evaluation, id: &str, name: &'static str) -> Aspect {
    let more_is_better = id == "vpt";
    let graded = score(evaluation, id).and_then(|score| {
        let value = score.value.as_ref().ok()?.value;
        let level = score.level.as_ref()?;
        let (floor, chance) = (level.floor?, level.chance?);
        let least = if score.is_lower_bound() {
            "at least "
        } else {
            ""
        };
        Some((value, floor, chance, least))
    });
    let Some((value, floor, chance, least)) = graded else {
        return Aspect {
            name,
            grade: Grade::Unknown,
            reason: String::new(),
        };
    };
    // As if less were better.
    let turned = |v: f64| if more_is_better { 1.0 / v } else { v };
    let (grade, said) = grade(turned(value), turned(floor), turned(chance));
    let numbers = format!(
        "{least}{}, floor {}, chance {}",
        figure(value),
        figure(floor),
        figure(chance)
    );
    Aspect {
        name,
        grade,
        reason: format!("{name}: {said} ({numbers})"),
    }
}

/// The grade of a value of which less is better.
fn grade(value: f64, floor: f64, chance: f64) -> (Grade, &'static str) {
    if chance.is_nan() || floor.is_nan() || value.is_nan() {
        return (Grade::Unknown, "there is nothing to compare with");
    }
    if chance < POWER * floor {
        return if value > FAR * floor.max(chance) {
            (Grade::Bad, "far worse than the data and than a surrogate")
        } else if value <= floor && POWER * value < chance {
            (Grade::Good, "as near as the data are to themselves")
        } else {
            let said = "surrogates do as well as the data, so it says nothing here";
            (Grade::Unknown, said)
        };
    }
    match (value / floor).ln() / (chance / floor).ln() {
        share if share <= 0.15 => (Grade::Good, "as near as the data are to themselves"),
        share if share <= 0.5 => (Grade::Good, "nearer to the data than to chance"),
        share if share <= NO_BETTER => (Grade::Weak, "nearer to chance than to the data"),
        _ => (Grade::Bad, "no better than a surrogate without dynamics"),
    }
}

fn word(
    evaluation: &Evaluation,
    faults: &[(Word, String)],
    attractor: &[Aspect],
    forecasts: &[Aspect],
) -> Word {
    let has = |aspects: &[Aspect], grade: Grade| aspects.iter().any(|a| a.grade == grade);
    let all = |grade: Grade| attractor.iter().all(|a| a.grade == grade);
    let of_faults = faults.iter().map(|(word, _)| *word).min();
    if of_faults == Some(Word::NotAReconstruction) || has(attractor, Grade::Bad) {
        Word::NotAReconstruction
    } else if all(Grade::Unknown) || evaluation.rows < FEWEST_ROWS {
        Word::CannotTell
    } else if of_faults.is_none() && all(Grade::Good) && !has(forecasts, Grade::Bad) {
        Word::Good
    } else {
        Word::Partly
    }
}

/// Which measures say the opposite of each other.
fn disagreement(aspects: &[Aspect]) -> Option<String> {
    let named = |grade: Grade| {
        let names = aspects.iter().filter(|aspect| aspect.grade == grade);
        names.map(|aspect| aspect.name).collect::<Vec<_>>()
    };
    let (good, bad) = (named(Grade::Good), named(Grade::Bad));
    (!good.is_empty() && !bad.is_empty()).then(|| {
        format!(
            "measures disagree: {} right, {} not",
            list(&good),
            list(&bad)
        )
    })
}

fn list(names: &[&str]) -> String {
    attractor_core::text::enumerate(names)
}

/// What to try next.
fn next(word: Word, evaluation: &Evaluation) -> Option<Hint> {
    let text = match (word, Fitted::of(evaluation)) {
        (Word::Good, _) => return None,
        (Word::CannotTell, _) if evaluation.floor.is_none() => {
            "leave `--no-floors` out: a score alone says nothing"
        }
        (Word::CannotTell, _) => {
            "judge by more rows, or by channels in which the dynamics shows; `attractor inspect FILE` says what the data hold"
        }
        (Word::NotAReconstruction, Fitted::Forced) if evaluation.diverged => {
            "train with `--preset best`, or with a higher `--alpha`"
        }
        (Word::NotAReconstruction, _) if evaluation.channels == 1 => {
            "one channel of a flow needs `attractor embed` first; otherwise train longer or with other settings, or let `attractor learn FILE` try them"
        }
        (Word::NotAReconstruction, Fitted::Forced) => "train longer or with `--preset best`",
        (Word::Partly, Fitted::Forced) => {
            "train longer, with `--preset best` or more `--hidden` units"
        }
        (_, Fitted::Trained) => {
            "train longer; `attractor learn FILE` tries other settings and methods"
        }
        (_, Fitted::Solved) => "`attractor learn FILE` tries other settings and methods",
    };
    Some(text.into())
}

/// How a model was fitted.
enum Fitted {
    /// Under teacher forcing, or nobody knows.
    Forced,
    Trained,
    Solved,
}

impl Fitted {
    fn of(evaluation: &Evaluation) -> Fitted {
        let model = evaluation.model.as_ref();
        match model.and_then(|model| method::find(model.id).ok()) {
            Some(method) if !method.is_trained() => Fitted::Solved,
            Some(method) if !experiment::is_map(method) => Fitted::Trained,
            _ => Fitted::Forced,
        }
    }
}

#[cfg(test)]
mod tests;
