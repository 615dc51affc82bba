//! What candidates are judged by, and how they compare.
//!
//! ```text
//! attractor   a = ⟨l(D_stsp/f) + l(D_H/f)⟩ + 5 · share of rows outside the box,   l(r) = ln r, below one ln(r)/4
//! forecasts   b = −ln(1 + valid prediction time) + ln(max(PE, 10⁻⁴))/10
//! score       a + b/4 for the attractor and the anatomy, b + a/4 for forecasts; the lowest wins
//! ```
//!
//! ⟨⟩ is the mean over orbits from several rows, of at least 10,000 steps each, of which one that diverges or rests counts 20, more than any that moves: a point that catches one
//! orbit of sixteen would not be seen in a median. f are the floors of the measures: what reaches them is as near as the data are to themselves,
//! and what is below them counts less, so that forecasts decide. (It counts, since floors of few rows, from halves of them, are too high.) The attractor is
//! judged by the selection part where that has two thousand rows in a row, else by all rows before the test part, of which histograms and
//! spectra scatter less; forecasts always by the selection part.

use attractor_core::measure::evaluate::OrbitPart;
use attractor_core::measure::levels::Level;
use attractor_core::measure::{Options, SETTINGS};
use attractor_core::progress::Follow;
use attractor_core::settings::Settings;
use serde::{Deserialize, Serialize};

use super::Goal;
use crate::Error;
use crate::evaluation::{self, Cache, Evaluation, Judge, Levels, Origin, Score};
use crate::model_file::Reconstruction;
use crate::seen::Seen;

/// Rows in a row of the selection part that an attractor is judged by.
const ENOUGH: usize = 2000;

/// Orbits of candidates from other rows than the first.
pub(super) const STARTS: usize = 3;

/// The same of the fits of which the best is the result.
pub(super) const LAST_STARTS: usize = 15;

/// Weights of what counts less, of the parts of the score.
const LESS: f64 = 0.25;
const OUTSIDE: f64 = 5.0;
const ERRORS: f64 = 0.1;

/// Errors in variances below which forecasts compare by how long they are valid alone, unless all are valid to their ends.
const SMALL: f64 = 1e-4;

/// What is closer than this part of a floor is as good as there.
const LEAST: f64 = 0.01;

/// What an orbit counts that has no spectrum, because it diverges or rests: more than any orbit that moves.
const AT_REST: f64 = 20.0;

/// How a model stands.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Standing {
    /// The score, the lower the better; none of a model whose orbit diverges.
    pub score: Option<f64>,
    /// D_stsp, the median over starts.
    pub d_stsp: Option<f64>,
    /// D_H, the median over starts.
    pub d_h: Option<f64>,
    /// PE(n).
    pub pe: Option<f64>,
    /// Valid prediction time in steps.
    pub vpt: Option<f64>,
    /// Whether that is only a lower bound: all forecasts were still valid where they ended.
    #[serde(default)]
    pub vpt_at_least: bool,
}

/// Data that models are judged by.
pub(super) struct Bench {
    goal: Goal,
    attractor: Judge,
    levels: Option<Vec<Level>>,
    /// Where the attractor is judged by other rows.
    forecasts: Option<Judge>,
}

impl Bench {
    /// Prepares the selection part, and all rows before the test part; orbits start from so many rows beside the first.
    pub(super) fn new(
        goal: Goal,
        [selection, before]: [&Seen; 2],
        other_starts: usize,
        cache: &Cache,
        follow: &mut dyn Follow,
    ) -> Result<Bench, Error> {
        let is_enough = selection.longest().len() >= ENOUGH;
        let judge = |seen: &Seen, levels: Levels| {
            let request = evaluation::Request {
                other_starts,
                orbit: OrbitPart::Late,
                ..request(seen.longest().len(), levels)
            };
            Judge::new(seen, &Origin::default(), &request)
        };
        let attractor = judge(if is_enough { selection } else { before }, Levels::Shown)?;
        // A part that is too short for forecasts leaves them to all rows.
        let forecasts = (!is_enough).then(|| judge(selection, Levels::LeftOut).ok());
        Ok(Bench {
            goal,
            levels: attractor.levels(cache, follow)?,
            attractor,
            forecasts: forecasts.flatten(),
        })
    }

    /// How a model stands.
    pub(super) fn judge(&self, model: &Reconstruction) -> Result<Standing, Error> {
        let attractor = self.attractor.evaluate(model, self.levels.clone())?;
        let forecasts = self.forecasts.as_ref();
        let forecasts = forecasts
            .map(|judge| judge.evaluate(model, None))
            .transpose()?;
        let forecasts = forecasts.as_ref().unwrap_or(&attractor);
        Ok(Standing::new(self.goal, &attractor, forecasts))
    }
}

/// How models are judged by so many rows.
pub(super) fn request(rows: usize, levels: Levels) -> evaluation::Request {
    let settings = Settings::resolve(SETTINGS, []).expect("defaults are in their domains");
    let options = Options::new(&settings);
    evaluation::Request {
        options: Options {
            pe_steps: options.pe_steps.min(rows / 4).max(1),
            ..options
        },
        levels,
        ..evaluation::Request::default()
    }
}

/// A measure, over starts where there are several, and its floor.
fn measured(evaluation: &Evaluation, id: &str) -> Option<(f64, Option<f64>)> {
    let score = evaluation.scores.iter().find(|score| score.id == id)?;
    let value = score.value.as_ref().ok()?.value;
    let median = score.over_starts.as_ref().and_then(|over| over.median);
    let floor = score.level.as_ref().and_then(|level| level.floor);
    Some((median.unwrap_or(value), floor)).filter(|(value, _)| value.is_finite())
}

impl Standing {
    fn new(goal: Goal, attractor: &Evaluation, forecasts: &Evaluation) -> Standing {
        let value = |evaluation: &Evaluation, id: &str| measured(evaluation, id).map(|(v, _)| v);
        Standing {
            score: score(goal, attractor, forecasts),
            d_stsp: value(attractor, "d_stsp"),
            d_h: value(attractor, "d_h"),
            pe: value(forecasts, "pe"),
            vpt: value(forecasts, "vpt"),
            vpt_at_least: forecasts.scores.iter().any(Score::is_lower_bound),
        }
    }

    /// The score, with the worst for a model that has none.
    pub(super) fn rank(&self) -> f64 {
        self.score.unwrap_or(f64::INFINITY)
    }
}

fn score(goal: Goal, attractor: &Evaluation, forecasts: &Evaluation) -> Option<f64> {
    if attractor.diverged {
        return None;
    }
    let outside = attractor.outside.unwrap_or(0.0);
    let a = above_floor(attractor, "d_stsp", 0.0)?
        + above_floor(attractor, "d_h", AT_REST).unwrap_or(AT_REST)
        + OUTSIDE * outside;
    let of = |id: &str| measured(forecasts, id).map(|(value, _)| value);
    let least = if forecasts.scores.iter().any(Score::is_lower_bound) {
        1e-12
    } else {
        SMALL
    };
    let errors = of("pe").map_or(0.0, |pe| ERRORS * pe.max(least).ln());
    let b = errors - of("vpt").unwrap_or(0.0).ln_1p();
    Some(match goal {
        Goal::Attractor | Goal::Anatomy => a + LESS * b,
        Goal::Forecast => b + LESS * a,
    })
}

/// The mean over orbits of l(v/f), where one without a value counts so much; none where the first has none.
fn above_floor(evaluation: &Evaluation, id: &str, without: f64) -> Option<f64> {
    let score = evaluation.scores.iter().find(|score| score.id == id)?;
    mean_above_floor(score, without)
}

fn mean_above_floor(score: &Score, without: f64) -> Option<f64> {
    let first = score.value.as_ref().ok()?.value;
    let floor = score.level.as_ref().and_then(|level| level.floor);
    let floor = floor.unwrap_or(1e-3).max(1e-12);
    let above = |value: f64| {
        let logarithm = (value / floor).max(LEAST).ln();
        logarithm * if logarithm < 0.0 { LESS } else { 1.0 }
    };
    let Some(over) = &score.over_starts else {
        return Some(above(first)).filter(|_| first.is_finite());
    };
    let each = over.each.iter();
    let sum: f64 = each.map(|value| value.map_or(without, above)).sum();
    Some(sum / over.each.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::OverStarts;
    use attractor_core::measure::Estimate;

    fn score(each: &[Option<f64>], floor: f64) -> Score {
        Score {
            id: "d_h",
            value: each[0].map(Estimate::exact).ok_or("none".to_string()),
            level: Some(Level {
                id: "d_h",
                floor: Some(floor),
                chance: None,
                surrogates: Vec::new(),
            }),
            over_starts: Some(OverStarts {
                each: each.to_vec(),
                median: None,
                worst: None,
            }),
            valid_time: None,
        }
    }

    #[test]
    fn every_orbit_counts_and_one_at_rest_more_than_any_that_moves() {
        let above = |each: &[Option<f64>]| mean_above_floor(&score(each, 0.1), AT_REST);
        let e = std::f64::consts::E;
        let near = |found: Option<f64>, wanted: f64| (found.unwrap() - wanted).abs() < 1e-12;
        // What is below the floor counts a quarter.
        assert!(near(above(&[Some(0.1 * e), Some(0.1 / e)]), 0.375));
        assert!(near(above(&[Some(0.0)]), 0.25 * LEAST.ln()));
        // The median of these is at the floor.
        let caught = above(&[Some(0.1), Some(0.1), Some(0.1), None]);
        assert_eq!(caught, Some(AT_REST / 4.0));
        assert_eq!(above(&[None, Some(0.1)]), None);
        // D_stsp is at most 17 where all cells differ and floors are above 1e-3; D_H is at most 1: both together stay below an orbit at rest.
        assert!((17.0 / 1e-3_f64).ln() + (1.0 / 1e-3_f64).ln() < AT_REST);
    }
}
