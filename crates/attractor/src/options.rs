//! What calls take beside data, as named settings, for programs that pass names and values: the same names, defaults and ranges as the
//! flags of the verbs, checked like every setting.

use std::ops::RangeInclusive;

use attractor_core::embed::pecuzal::Plan;
use attractor_core::exponent::{Distance, Method as Neighbours};
use attractor_core::inspect;
use attractor_core::settings::{AUTO, Domain, Setting, SettingError, Settings};
use attractor_core::system::simulate::{self, Method, Simulation};

use crate::experiment::threads;
use crate::model_file::Reconstruction;
use crate::{Error, anatomy, embedding, recording_exponent, spectrum};

/// Names and values as texts.
pub type Given = [(String, String)];

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

const fn whole(low: u64, high: u64) -> Domain {
    Domain::Integer { low, high }
}

const fn auto(low: u64, high: u64) -> Domain {
    Domain::Auto { low, high }
}

/// No recording is longer.
const LONGEST: u64 = 1_000_000_000;

static STEPS: Setting = setting("steps", "1000", whole(1, u64::MAX), "Number of rows");
static DT: Setting = setting(
    "dt",
    AUTO,
    Domain::AutoReal {
        low: f64::MIN_POSITIVE,
        high: f64::MAX,
    },
    "Sampling step of a flow",
);
static SEED: Setting = setting("seed", "0", whole(0, u64::MAX), "Seed of random numbers");
static TRANSIENT: Setting = setting(
    "transient",
    "0",
    whole(0, u64::MAX),
    "Rows to leave out before the first one",
);
static STANDARDIZE: Setting = setting(
    "standardize",
    "false",
    Domain::Flag,
    "Scale every channel to mean 0 and standard deviation 1",
);
static NOISE: Setting = setting(
    "noise",
    "0",
    Domain::NON_NEGATIVE,
    "Standard deviation of noise, as a fraction of each channel's standard deviation",
);
static TOLERANCE: Setting = setting(
    "tolerance",
    "1e-9",
    Domain::Positive,
    "Error allowed in an adaptive step",
);
static INTEGRATION: Setting = setting(
    "method",
    "adaptive",
    Domain::Choice(&["adaptive", "fixed"]),
    "How a flow is integrated",
);
static CYCLES: Setting = setting(
    "cycles",
    "3",
    whole(1, 1000),
    "Longest period of cycles to look for",
);
static SECONDS: Setting = setting(
    "seconds",
    "10",
    Domain::NON_NEGATIVE,
    "Seconds to spend on the search for fixed points and cycles",
);
static ORBIT: Setting = setting(
    "steps",
    AUTO,
    auto(anatomy::Request::FEWEST_STEPS as u64, LONGEST),
    "Steps of the free orbit",
);
static THREADS: Setting = setting(
    "threads",
    "0",
    whole(0, 1024),
    "Worker threads, 0 for all cores",
);
static SPECTRUM: Setting = setting(
    "steps",
    "200000",
    whole(spectrum::FEWEST_STEPS as u64, u64::MAX),
    "Sampling steps of the orbit",
);
static COUNT: Setting = setting(
    "count",
    AUTO,
    auto(1, u64::MAX),
    "How many exponents, from the largest",
);
static WINDOW: Setting = setting(
    "window",
    "200",
    whole(1, LONGEST),
    "Steps of the training window",
);
static DELAYS: Setting = setting(
    "method",
    "pecuzal",
    Domain::Choice(&["pecuzal", "delay"]),
    "How delays are found",
);
static MAX_DELAY: Setting = setting("max-delay", AUTO, auto(2, LONGEST), "Largest delay in rows");
static THEILER: Setting = setting(
    "theiler",
    AUTO,
    auto(0, LONGEST),
    "Points at most this many rows apart do not count as neighbours",
);
static THRESHOLD: Setting = setting(
    "threshold",
    AUTO,
    Domain::AutoReal {
        low: 0.0,
        high: f64::MAX,
    },
    "By how much L must fall for PECUZAL to take a coordinate",
);
static COORDINATES: Setting = setting(
    "dims",
    AUTO,
    auto(1, 1000),
    "Coordinates of a delay embedding",
);
static NEIGHBOURS: Setting = setting(
    "method",
    "rosenstein",
    Domain::Choice(&["rosenstein", "kantz"]),
    "How neighbours are chosen",
);
static DISTANCE: Setting = setting(
    "distance",
    AUTO,
    Domain::Choice(&[AUTO, "euclidean", "first"]),
    "What the distance of neighbours is",
);
static DIMS: Setting = setting(
    "dims",
    AUTO,
    Domain::Text,
    "Dimensions of the delay vectors, first and last",
);
static DELAY: Setting = setting("delay", AUTO, auto(1, LONGEST), "Delay in rows");
static FIT: Setting = setting(
    "fit",
    AUTO,
    Domain::Text,
    "Region of the fit in units of time",
);

fn resolve(list: &[&Setting], given: &Given) -> Result<Settings, SettingError> {
    let given = given
        .iter()
        .map(|(name, text)| (name.as_str(), text.as_str()));
    Settings::resolve(list, given)
}

/// A simulation of a system with parameters of its own.
pub fn simulation(
    system: &str,
    set: Vec<(String, String)>,
    given: &Given,
) -> Result<Simulation, Error> {
    let list = [
        &STEPS,
        &DT,
        &SEED,
        &TRANSIENT,
        &STANDARDIZE,
        &NOISE,
        &TOLERANCE,
        &INTEGRATION,
    ];
    let settings = resolve(&list, given)?;
    let request = simulate::Request {
        dt: settings.real_unless_auto("dt"),
        seed: settings.integer("seed") as u64,
        transient: settings.integer("transient"),
        standardize: settings.flag("standardize"),
        noise: settings.real("noise"),
        set,
        method: match settings.choice("method") {
            "fixed" => Method::Fixed,
            _ => Method::Adaptive {
                tolerance: settings.real("tolerance"),
            },
        },
        ..simulate::Request::new(system, settings.integer("steps"))
    };
    Ok(Simulation::check(&request)?)
}

/// The orbit of a known system that its exponents are computed along, and how many of them.
pub fn spectrum(
    system: &str,
    set: Vec<(String, String)>,
    given: &Given,
) -> Result<(Simulation, usize), Error> {
    let settings = resolve(&[&SPECTRUM, &COUNT, &SEED], given)?;
    let simulation = Simulation::check(&simulate::Request {
        seed: settings.integer("seed") as u64,
        set,
        ..simulate::Request::new(system, settings.integer("steps"))
    })?;
    let count = settings
        .integer_unless_auto("count")
        .unwrap_or(spectrum::SOME);
    let count = count.clamp(1, spectrum::dim(&simulation));
    Ok((simulation, count))
}

/// What to look for when a model is taken apart.
pub fn anatomy(model: &Reconstruction, given: &Given) -> Result<anatomy::Request, Error> {
    let settings = resolve(&[&CYCLES, &SECONDS, &ORBIT, &SEED, &THREADS], given)?;
    let steps = settings.integer_unless_auto("steps");
    Ok(anatomy::Request {
        cycles: settings.integer("cycles"),
        seconds: settings.real("seconds"),
        steps: steps.unwrap_or_else(|| anatomy::default_steps(model)),
        threads: threads(settings.integer("threads")),
        seed: settings.integer("seed") as u64,
    })
}

/// What a recording is inspected for.
pub fn inspection(given: &Given) -> Result<inspect::Options, Error> {
    let settings = resolve(&[&WINDOW], given)?;
    Ok(inspect::Options {
        window: settings.integer("window"),
    })
}

/// How a recording is embedded.
pub fn embedding(given: &Given) -> Result<embedding::Request, Error> {
    let list = [
        &DELAYS,
        &MAX_DELAY,
        &THEILER,
        &THRESHOLD,
        &COORDINATES,
        &THREADS,
    ];
    let settings = resolve(&list, given)?;
    Ok(embedding::Request {
        method: match settings.choice("method") {
            "delay" => embedding::Method::Delay,
            _ => embedding::Method::Pecuzal,
        },
        max_delay: settings.integer_unless_auto("max-delay"),
        theiler: settings.integer_unless_auto("theiler"),
        threshold: settings
            .real_unless_auto("threshold")
            .unwrap_or(Plan::default().threshold),
        dims: settings.integer_unless_auto("dims"),
        threads: threads(settings.integer("threads")),
    })
}

/// How the exponent of a recording is found.
pub fn exponent(given: &Given) -> Result<recording_exponent::Request, Error> {
    let list = [
        &NEIGHBOURS,
        &DISTANCE,
        &DIMS,
        &DELAY,
        &THEILER,
        &FIT,
        &THREADS,
    ];
    let settings = resolve(&list, given)?;
    let text = |name: &str| Some(settings.text(name)).filter(|text| text != AUTO);
    let told = |setting: &Setting, found: String, expected: String| SettingError::Domain {
        name: setting.name,
        found,
        expected,
        default: setting.default,
    };
    let dims = text("dims").map(|text| dims(&text).map_err(|expected| told(&DIMS, text, expected)));
    let fit = text("fit").map(|text| region(&text).map_err(|expected| told(&FIT, text, expected)));
    Ok(recording_exponent::Request {
        method: match settings.choice("method") {
            "kantz" => Neighbours::Kantz,
            _ => Neighbours::Rosenstein,
        },
        distance: match settings.choice("distance") {
            "euclidean" => Some(Distance::Euclidean),
            "first" => Some(Distance::First),
            _ => None,
        },
        dims: dims.transpose()?,
        delay: settings.integer_unless_auto("delay"),
        theiler: settings.integer_unless_auto("theiler"),
        fit: fit.transpose()?,
        threads: threads(settings.integer("threads")),
    })
}

/// Dimensions `A:B`, or one; if they are none, what is expected.
pub fn dims(text: &str) -> Result<RangeInclusive<usize>, String> {
    let (first, last) = text.split_once(':').unwrap_or((text, text));
    let number = |text: &str| text.trim().parse().ok().filter(|n| (1..=100).contains(n));
    match (number(first), number(last)) {
        (Some(first), Some(last)) if first <= last => Ok(first..=last),
        _ => Err("A:B with whole numbers from 1 to 100".to_string()),
    }
}

/// Two times `A:B`; if they are none, what is expected.
pub fn region(text: &str) -> Result<RangeInclusive<f64>, String> {
    let number = |text: &str| {
        let number = text.trim().parse::<f64>().ok();
        number.filter(|number| number.is_finite() && *number >= 0.0)
    };
    let ends = text.split_once(':').map(|(a, b)| (number(a), number(b)));
    match ends {
        Some((Some(a), Some(b))) if a < b => Ok(a..=b),
        _ => Err("A:B with two times of at least 0, the first smaller".to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        let pair = |(name, text): &(&str, &str)| (name.to_string(), text.to_string());
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn defaults_lie_in_their_domains() {
        let simulation = simulation("lorenz63", Vec::new(), &[]).unwrap();
        assert_eq!(
            simulation.request(),
            &simulate::Request::new("lorenz63", 1000)
        );
        assert_eq!(embedding(&[]).unwrap().threshold, Plan::default().threshold);
        assert_eq!(exponent(&[]).unwrap().dims, None);
        assert_eq!(inspection(&[]).unwrap(), inspect::Options::default());
        assert_eq!(spectrum("lorenz63", Vec::new(), &[]).unwrap().1, 3);
    }

    #[test]
    fn a_name_or_a_value_that_is_wrong_is_told() {
        let said = |pairs: &[(&str, &str)]| exponent(&given(pairs)).unwrap_err().to_string();
        assert_eq!(said(&[("delai", "1")]), "unknown setting `delai`");
        assert_eq!(
            said(&[("fit", "3:1")]),
            "`fit` must be A:B with two times of at least 0, the first smaller, found `3:1`"
        );
        assert_eq!(
            exponent(&given(&[("dims", "2:5")])).unwrap().dims,
            Some(2..=5)
        );
    }
}
