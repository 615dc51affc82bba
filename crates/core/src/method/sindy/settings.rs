//! What can be set, and what the settings stand for.

use super::ensemble::Ensemble;
use super::error::SindyError;
use super::library::{Interactions, Terms};
use super::sparse::Optimizer;
use crate::settings::{AUTO, Dependence, Domain, Setting, Settings, Value, depends};

/// Every setting.
pub(super) static LIST: &[Setting] = &[
    setting(
        "dynamics",
        "flow",
        Domain::Choice(&["flow", "map"]),
        "Whether equations are of dx/dt (flow) or of the next row (map)",
    ),
    setting(
        "library",
        "polynomial",
        Domain::Choice(&[
            "polynomial",
            "fourier",
            "polynomial+fourier",
            "identity",
            "identity+fourier",
        ]),
        "Candidate terms: monomials, waves, the variables themselves, or several of these",
    ),
    setting("degree", "2", up_to(1, 1000), "Highest degree of monomials"),
    setting(
        "interactions",
        "all",
        Domain::Choice(&["all", "none", "only"]),
        "Which monomials: all, powers of one variable, or products of different variables only",
    ),
    setting(
        "bias",
        "true",
        Domain::Flag,
        "Whether the constant is a candidate, with monomials",
    ),
    setting(
        "frequencies",
        "1",
        up_to(1, 1000),
        "Highest frequency k of the waves sin kx and cos kx",
    ),
    setting(
        "savgol-window",
        "11",
        up_to(1, 100_001),
        "Odd number of rows over which data are smoothed before derivatives are taken; 1 for no smoothing",
    ),
    setting(
        "savgol-order",
        "3",
        up_to(0, 20),
        "Degree of the polynomial that smooths them",
    ),
    setting(
        "optimizer",
        "stlsq",
        Domain::Choice(&["stlsq", "sr3"]),
        "How small terms are dropped: by sequentially thresholded least squares, or by sparse relaxed regression",
    ),
    setting(
        "threshold",
        AUTO,
        Domain::AutoReal {
            low: 0.0,
            high: f64::INFINITY,
        },
        "Terms with smaller coefficients are dropped; auto takes the fewest terms whose forecasts of the training data are within one standard error of the best",
    ),
    setting(
        "ridge",
        "0.05",
        Domain::NON_NEGATIVE,
        "Penalty on squared coefficients while stlsq drops terms",
    ),
    setting(
        "relaxation",
        "1",
        Domain::Positive,
        "How far coefficients of sr3 may be from their sparse copies, ν",
    ),
    setting(
        "rounds",
        "20",
        up_to(1, 1_000_000),
        "Largest number of rounds in which terms are dropped",
    ),
    setting(
        "zero",
        "",
        Domain::Text,
        "Coefficients that are known to be zero, such as `x: 1, y z; y: z^2` of the terms 1 and y z in the equation of x; `all` stands for every equation",
    ),
    setting(
        "ensemble",
        "0",
        up_to(0, 100_000),
        "Number of regressions, on blocks of rows drawn with replacement, whose agreement decides; 0 for a single regression on all rows",
    ),
    setting(
        "ensemble-drop",
        "0",
        up_to(0, 10_000),
        "Terms that each regression of the ensemble leaves out of its library, at random",
    ),
    setting(
        "inclusion",
        "0.6",
        Domain::FRACTION,
        "Share of the ensemble's regressions that must keep a term for it to stay",
    ),
];

const fn up_to(low: u64, high: u64) -> Domain {
    Domain::Integer { low, high }
}

const fn setting(
    name: &'static str,
    default: &'static str,
    domain: Domain,
    about: &'static str,
) -> Setting {
    Setting {
        name,
        default,
        domain,
        about,
    }
}

/// Every setting that does not always act.
pub(super) static DEPENDENCES: &[Dependence] = &[
    depends("degree", "library", is_polynomial),
    depends("interactions", "library", is_polynomial),
    depends("bias", "library", is_polynomial),
    depends("frequencies", "library", |v| {
        !["polynomial", "identity"].map(Value::Choice).contains(&v)
    }),
    depends("ensemble-drop", "ensemble", is_ensemble),
    depends("inclusion", "ensemble", is_ensemble),
    depends("ridge", "optimizer", |v| v == Value::Choice("stlsq")),
    depends("relaxation", "optimizer", |v| v == Value::Choice("sr3")),
    depends("savgol-window", "dynamics", is_flow),
    depends("savgol-order", "dynamics", is_flow),
];

fn is_polynomial(library: Value) -> bool {
    ["polynomial", "polynomial+fourier"]
        .map(Value::Choice)
        .contains(&library)
}

fn is_ensemble(members: Value) -> bool {
    members != Value::Integer(0)
}

fn is_flow(dynamics: Value) -> bool {
    dynamics == Value::Choice("flow")
}

/// How it was fitted, in words.
pub(super) fn story(settings: &Settings) -> String {
    let threshold = match settings.real_unless_auto("threshold") {
        Some(threshold) => format!("terms below {threshold} dropped"),
        None => "the threshold chosen by forecasts of the training data".to_string(),
    };
    format!("by sparse regression on {}, {threshold}", terms(settings))
}

/// The candidate terms.
pub(super) fn terms(settings: &Settings) -> Terms {
    let library = settings.choice("library");
    let is_polynomial = is_polynomial(Value::Choice(library));
    let has_waves = library.ends_with("fourier");
    let degree = match (is_polynomial, library.starts_with("identity")) {
        (true, _) => settings.integer("degree"),
        (_, true) => 1,
        _ => 0,
    };
    Terms {
        degree,
        interactions: match settings.choice("interactions") {
            "none" => Interactions::None,
            "only" => Interactions::Only,
            _ => Interactions::All,
        },
        has_constant: is_polynomial && settings.flag("bias"),
        frequencies: if has_waves {
            settings.integer("frequencies")
        } else {
            0
        },
    }
}

/// Window and order of the smoothing.
pub(super) fn smoothing(settings: &Settings) -> Result<(usize, usize), SindyError> {
    let (window, order) = (
        settings.integer("savgol-window"),
        settings.integer("savgol-order"),
    );
    if window > 1 && (window % 2 == 0 || window <= order) {
        return Err(SindyError::Window { window, order });
    }
    Ok((window, order))
}

/// How small terms are dropped, in how many rounds at most.
pub(super) fn regression(settings: &Settings) -> (Optimizer, usize) {
    let optimizer = match settings.choice("optimizer") {
        "sr3" => Optimizer::Sr3 {
            relaxation: settings.real("relaxation"),
        },
        _ => Optimizer::Stlsq {
            ridge: settings.real("ridge"),
        },
    };
    (optimizer, settings.integer("rounds"))
}

/// The ensemble, if there is one.
pub(super) fn ensemble(settings: &Settings, seed: u64) -> Option<Ensemble> {
    let ensemble = Ensemble {
        members: settings.integer("ensemble"),
        left_out: settings.integer("ensemble-drop"),
        inclusion: settings.real("inclusion"),
        seed,
    };
    Some(ensemble).filter(|ensemble| ensemble.members > 0)
}
