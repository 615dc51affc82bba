//! Verdicts on evaluations whose answer is known.

use attractor_core::measure::Estimate;
use attractor_core::measure::levels::Level;
use attractor_core::measure::valid_time::ValidTime;

use super::*;
use crate::evaluation::{Floor, ModelSizes, Starts, ValidTimeDetails};

/// A value with floor and chance.
type Numbers = (&'static str, f64, f64, f64);

fn evaluation(scores: &[Numbers]) -> Evaluation {
    let score = |&(id, value, floor, chance): &Numbers| Score {
        id,
        value: Ok(Estimate::exact(value)),
        level: Some(Level {
            id,
            floor: Some(floor),
            chance: Some(chance),
            surrogates: Vec::new(),
        }),
        over_starts: None,
        valid_time: None,
    };
    Evaluation {
        model: None,
        rows: 10_000,
        channels: 3,
        diverged: false,
        scores: scores.iter().map(score).collect(),
        outside: Some(0.0),
        pe_steps: 20,
        starts: Some(Starts {
            count: 8,
            diverged: 0,
        }),
        period: None,
        exponents: None,
        estimates: None,
        seeds: Vec::new(),
        trained_share: None,
        chosen_share: None,
        floor: Some(Floor::Halves),
        notes: Vec::new(),
    }
}

/// A fully trained model of Lorenz-63.
const GOOD: [Numbers; 4] = [
    ("d_stsp", 0.26, 0.17, 2.3),
    ("d_h", 0.09, 0.057, 0.87),
    ("pe", 6e-4, 1e-3, 0.16),
    ("vpt", 250.0, 200.0, 11.0),
];

fn with(id: &str, value: f64) -> Evaluation {
    let mut scores = GOOD;
    let found = scores.iter_mut().find(|score| score.0 == id).unwrap();
    found.1 = value;
    evaluation(&scores)
}

fn word(evaluation: &Evaluation) -> Word {
    Verdict::of(evaluation).word
}

#[test]
fn a_trained_model_is_good_and_says_why() {
    let verdict = Verdict::of(&evaluation(&GOOD));
    assert_eq!((verdict.word, verdict.next), (Word::Good, None));
    assert_eq!(
        verdict.reasons[0],
        "state space: nearer to the data than to chance (0.26, floor 0.17, chance 2.3)"
    );
    assert_eq!(verdict.reasons.len(), 4);
}

#[test]
fn only_a_single_channel_is_to_be_embedded() {
    let noise = [("d_stsp", 2.3, 0.17, 2.3), ("d_h", 0.9, 0.057, 0.87)];
    let advice = |channels| {
        let evaluation = Evaluation {
            channels,
            ..evaluation(&noise)
        };
        Verdict::of(&evaluation).next.unwrap().to_string()
    };
    assert!(advice(1).contains("attractor embed"));
    assert!(advice(3).contains("train longer") && !advice(3).contains("embed"));
}

#[test]
fn a_regular_orbit_is_called_so() {
    let regular = Evaluation {
        period: Some(6.6633),
        ..evaluation(&GOOD)
    };
    let reasons = Verdict::of(&regular).reasons;
    let said = "its orbit is regular, with a period of 6.663";
    assert_eq!(reasons.last().unwrap(), said);
}

#[test]
fn forecasts_that_were_all_valid_are_a_lower_bound() {
    let mut whole = evaluation(&GOOD);
    let steps = whole.scores[3].value.clone().unwrap();
    let found = ValidTime {
        steps,
        median: 250.0,
        horizon: 250,
        censored: 100,
        starts: 100,
    };
    whole.scores[3].valid_time = Some(ValidTimeDetails {
        found,
        time: 2.5,
        lyapunov_times: None,
    });
    let reasons = Verdict::of(&whole).reasons.join("\n");
    assert!(
        reasons.contains("(at least 250, floor 200, chance 11)"),
        "{reasons}"
    );
}

#[test]
fn surrogates_are_never_good() {
    // Shuffled rows: perfect in state space, chance in time. Phase-randomised data: the other way round.
    let shuffled = with("d_h", 0.87);
    let phases = with("d_stsp", 2.3);
    for surrogate in [shuffled, phases] {
        let verdict = Verdict::of(&surrogate);
        assert_eq!(verdict.word, Word::NotAReconstruction);
        assert!(verdict.reasons[0].starts_with("measures disagree: "));
        assert!(verdict.next.is_some());
    }
}

#[test]
fn an_orbit_that_goes_elsewhere_is_no_reconstruction() {
    let mut outside = evaluation(&GOOD);
    outside.outside = Some(0.546);
    assert_eq!(word(&outside), Word::NotAReconstruction);
    assert_eq!(
        Verdict::of(&outside).reasons[0],
        "54.6 % of its rows are outside the box around the data"
    );
    outside.outside = Some(0.05);
    assert_eq!(word(&outside), Word::Partly);

    let mut diverged = evaluation(&[]);
    diverged.diverged = true;
    diverged.outside = None;
    assert_eq!(word(&diverged), Word::NotAReconstruction);
    assert_eq!(Verdict::of(&diverged).reasons, ["the free orbit diverges"]);

    let mut some = evaluation(&GOOD);
    for (diverged, expected) in [(1, Word::Partly), (5, Word::NotAReconstruction)] {
        some.starts = Some(Starts { count: 8, diverged });
        assert_eq!(word(&some), expected);
    }
}

#[test]
fn an_orbit_at_rest_is_no_reconstruction() {
    let mut rest = with("d_stsp", 14.5);
    rest.scores[1].value = Err("the orbit has shrunk to a point".to_string());
    let verdict = Verdict::of(&rest);
    assert_eq!(verdict.word, Word::NotAReconstruction);
    assert!(verdict.reasons[0].contains("shrunk to a point"));
}

#[test]
fn what_has_no_power_decides_nothing_unless_it_is_far_off() {
    // The paper's EEG: chance is better than the floor, so that D_stsp alone says nothing; after 60 epochs it is 117.7.
    let eeg = |d_stsp: f64, d_h: f64| {
        evaluation(&[
            ("d_stsp", d_stsp, 2.6, 1.8),
            ("d_h", d_h, 0.1, 0.6),
            ("pe", 0.5, 0.7, 1.2),
        ])
    };
    assert_eq!(word(&eeg(2.1, 0.11)), Word::Partly);
    assert_eq!(word(&eeg(117.7, 0.11)), Word::NotAReconstruction);
    // Noise: no measure of the attractor has power.
    let noise = evaluation(&[("d_stsp", 11.6, 10.4, 9.2), ("d_h", 0.73, 0.6, 0.7)]);
    assert_eq!(word(&noise), Word::CannotTell);
}

#[test]
fn forecasts_alone_make_a_partial_success_of_a_good_attractor() {
    assert_eq!(word(&with("pe", 0.3)), Word::Partly);
    assert_eq!(word(&with("vpt", 5.0)), Word::Partly);
    assert_eq!(word(&with("vpt", 0.0)), Word::Partly);
    assert_eq!(word(&with("d_h", 0.4)), Word::Partly);
}

#[test]
fn nothing_is_said_without_levels_or_with_few_rows() {
    let mut bare = evaluation(&GOOD);
    bare.scores.iter_mut().for_each(|score| score.level = None);
    bare.floor = None;
    let verdict = Verdict::of(&bare);
    assert_eq!(verdict.word, Word::CannotTell);
    assert!(verdict.next.unwrap().to_string().contains("--no-floors"));
    let mut short = evaluation(&GOOD);
    short.rows = 60;
    assert_eq!(word(&short), Word::CannotTell);
}

#[test]
fn a_wrong_exponent_leaves_a_partial_success() {
    let with = |model: f64, error: f64| Evaluation {
        exponents: Some(Exponents {
            model,
            error,
            truth: 0.906,
        }),
        ..evaluation(&GOOD)
    };
    assert_eq!(word(&with(0.85, 0.02)), Word::Good);
    assert_eq!(word(&with(1.4, 0.3)), Word::Good);
    let wrong = Verdict::of(&with(0.4, 0.02));
    assert_eq!(wrong.word, Word::Partly);
    assert_eq!(
        wrong.reasons[0],
        "largest Lyapunov exponent: 0.4 ± 0.02, the system's 0.906"
    );
}

#[test]
fn advice_fits_the_way_a_model_was_fitted() {
    let advice = |id: &'static str| {
        let evaluation = Evaluation {
            model: Some(ModelSizes {
                id,
                dim: 3,
                parameters: 30,
            }),
            ..with("d_stsp", 1.5)
        };
        Verdict::of(&evaluation).next.unwrap().to_string()
    };
    assert!(advice("clipped-shallow-plrnn").contains("--hidden"));
    assert!(advice("lstm").starts_with("train longer") && !advice("lstm").contains("--preset"));
    assert!(advice("sindy").contains("attractor learn") && !advice("sindy").contains("train"));
}

/// Estimates, and fits from other seeds, are reasons that change no word.
#[test]
fn estimates_and_seeds_are_reasons_that_decide_nothing() {
    let with = |model: f64, data: f64| {
        let estimates = Estimates {
            model: (model, 0.02),
            data: (data, 0.03),
        };
        let verdict = Verdict::of(&Evaluation {
            estimates: Some(estimates),
            ..evaluation(&GOOD)
        });
        (verdict.word, verdict.reasons.last().unwrap().clone())
    };
    let (agree, differ) = (with(0.81, 0.72), with(0.9, 0.4));
    assert_eq!((agree.0, differ.0), (Word::Good, Word::Good));
    assert_eq!(
        agree.1,
        "largest Lyapunov exponent, estimated from the first channel: 0.81 ± 0.02 of its orbit, 0.72 ± 0.03 of the data; they agree"
    );
    assert!(differ.1.contains("they differ"), "{}", differ.1);
    let of = |word: Word, d_stsp: f64| OfSeed {
        word: Some(word),
        d_stsp: Some(d_stsp),
    };
    let verdict = Verdict::of(&Evaluation {
        seeds: vec![of(Word::Good, 0.26), of(Word::Partly, 1.4)],
        ..evaluation(&GOOD)
    });
    assert_eq!(verdict.word, Word::Good);
    assert_eq!(
        verdict.reasons[4],
        "seeds disagree: 1 good, 1 partly; D_stsp from 0.26 to 1.4 (floor 0.17, chance 2.3); one fit says little about these settings"
    );
}
