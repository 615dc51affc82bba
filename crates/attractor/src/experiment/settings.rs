//! The one list of training settings, and the presets that override some of their defaults. Flags, files, keywords
//! of the library, help and `explain train` are loops over it.

use std::collections::BTreeMap;

use attractor_core::forcing::alpha::Estimator;
use attractor_core::map::{MODELS, ModelInfo};
use attractor_core::settings::{AUTO, Domain, Setting, Value};

/// The names of all models.
static MODEL_IDS: [&str; MODELS.len()] = {
    let mut ids = [""; MODELS.len()];
    let mut i = 0;
    while i < ids.len() {
        ids[i] = MODELS[i].entry.id;
        i += 1;
    }
    ids
};

/// The names of all estimators of alpha.
static ESTIMATORS: [&str; Estimator::ALL.len()] = {
    let mut names = [""; Estimator::ALL.len()];
    let mut i = 0;
    while i < names.len() {
        names[i] = Estimator::ALL[i].name();
        i += 1;
    }
    names
};

/// Every setting of training, in the order in which they are printed.
pub static SETTINGS: &[Setting] = &[
    setting(
        "model",
        "clipped-shallow-plrnn",
        Domain::Choice(&MODEL_IDS),
        "The map that is trained",
    ),
    setting(
        "latent",
        AUTO,
        Domain::Auto { low: 1, high: 4096 },
        "Latent states M; auto takes the number of channels up to 20, else 16",
    ),
    setting(
        "hidden",
        "50",
        up_to(1, 65_536),
        "Hidden units L, or bases of a dendritic model",
    ),
    setting(
        "observation",
        "linear",
        Domain::Choice(&["identity", "linear", "linear-bias"]),
        "How channels are seen: x = the first states, B z, or B z + b",
    ),
    setting(
        "observation-start",
        "well-conditioned",
        Domain::Choice(&["well-conditioned", "random"]),
        "Where B starts",
    ),
    setting(
        "forcing",
        "gtf",
        Domain::Choice(&["gtf", "agtf", "stf", "none"]),
        "Teacher forcing: generalized (alpha), adaptive (alpha-estimator), sparse (interval), or none",
    ),
    setting(
        "alpha",
        "0.15",
        Domain::FRACTION,
        "Strength of generalized forcing",
    ),
    setting(
        "alpha-start",
        "1",
        Domain::FRACTION,
        "First strength of adaptive forcing",
    ),
    setting(
        "alpha-estimator",
        "arithmetic-mean",
        Domain::Choice(&ESTIMATORS),
        "How adaptive forcing finds the norm of Jacobians that alpha follows",
    ),
    setting(
        "decay",
        "0.999",
        Domain::FRACTION,
        "How much of alpha stays when adaptive forcing lowers it",
    ),
    setting(
        "every",
        "5",
        up_to(1, 1_000_000),
        "Updates between estimates of adaptive forcing",
    ),
    setting(
        "interval",
        AUTO,
        Domain::Auto {
            low: 1,
            high: 1_000_000_000,
        },
        "Steps between sparse forcings; auto takes the predictability time ln 2/λ of the data's first channel",
    ),
    setting(
        "forcing-gradient",
        "detached",
        Domain::Choice(&["detached", "full"]),
        "Whether teacher signals are differentiated",
    ),
    setting(
        "window",
        "200",
        up_to(1, 1_000_000_000),
        "Predicted steps of a training window",
    ),
    setting("batch", "16", up_to(1, 65_536), "Windows an update"),
    setting("epochs", "5000", up_to(1, 1_000_000_000), "Epochs"),
    setting(
        "batches-per-epoch",
        "50",
        up_to(1, 1_000_000),
        "Updates an epoch",
    ),
    setting("lr", "1e-3", RATE, "First learning rate"),
    setting("lr-end", "1e-6", RATE, "Last learning rate"),
    setting(
        "latent-penalty",
        "1e-5",
        Domain::NON_NEGATIVE,
        "Weight of the penalty on the map's parameters",
    ),
    setting(
        "condition-penalty",
        "0",
        Domain::NON_NEGATIVE,
        "Weight of the penalty on the condition number of B",
    ),
    setting(
        "manifold-penalty",
        "0",
        Domain::NON_NEGATIVE,
        "Weight of the manifold-attractor penalty",
    ),
    setting(
        "manifold-share",
        "0.5",
        Domain::FRACTION,
        "Share of the latent states that it acts on",
    ),
    setting(
        "clip-norm",
        "0",
        Domain::NON_NEGATIVE,
        "Largest norm of a gradient; 0 for any",
    ),
    setting(
        "largest-a",
        "0",
        Domain::FRACTION,
        "Largest |A|, to which A is cut after every update: below 1 no orbit of a clipped model can diverge; 0 for any",
    ),
    setting(
        "noise",
        "0",
        Domain::NON_NEGATIVE,
        "Standard deviation of the noise added to every window",
    ),
    setting(
        "smooth",
        "0",
        Domain::Real {
            low: 0.0,
            high: 1e4,
        },
        "Width in rows of a Gaussian that data are smoothed with; 0 for none",
    ),
    setting(
        "standardize",
        "auto",
        Domain::Choice(&["auto", "on", "off"]),
        "Scale channels to mean 0 and spread 1; auto does where one is far from it",
    ),
    setting(
        "least-observed",
        "0.5",
        Domain::FRACTION,
        "Share of its values that a window needs; others are left out",
    ),
    setting(
        "held-out",
        "0",
        Domain::Real {
            low: 0.0,
            high: 0.9,
        },
        "Share at the end of every trajectory that is not trained on",
    ),
    setting(
        "average",
        "0",
        Domain::Real {
            low: 0.0,
            high: 0.999_999,
        },
        "How much of the average of the parameters stays at an update; the model is the average; 0 for none",
    ),
    setting(
        "best-by",
        "none",
        Domain::Choice(&["none", "d_stsp", "d_h", "both", "pe", "auto"]),
        "Keep the parameters with the lowest score on held-out data, on training data if none are held out; `both` is d_stsp × d_h, and `auto` too, where the data have them; `none` keeps the last ones, as the paper does",
    ),
    setting(
        "best-every",
        "100",
        up_to(1, 1_000_000_000),
        "Epochs between evaluations for best-by",
    ),
    setting(
        "best-starts",
        "4",
        up_to(1, 1000),
        "Orbits from how many rows of the data best-by takes the mean score of, the first among them",
    ),
    setting(
        "best-spread",
        "as-trained",
        Domain::Choice(&["as-trained", "matched"]),
        "Whether B, before best-by judges, is stretched so that free orbits vary as the data do; on noisy recordings `matched` brings the attractor nearer and makes forecasts worse",
    ),
    setting(
        "checkpoint-every",
        "100",
        up_to(1, 1_000_000_000),
        "Epochs between checkpoints",
    ),
    setting(
        "retries",
        "0",
        up_to(0, 1000),
        "How often a training that diverges goes back to its last checkpoint",
    ),
    setting(
        "on-divergence",
        "halve-lr",
        Domain::Choice(&["halve-lr", "raise-alpha"]),
        "What changes when it goes back",
    ),
    setting(
        "seed",
        "1",
        Domain::Integer {
            low: 0,
            high: i64::MAX as u64,
        },
        "Seed of all random numbers",
    ),
    setting(
        "threads",
        "0",
        up_to(0, 1024),
        "Worker threads, without effect on the result; 0 for all cores",
    ),
    setting(
        "isa",
        "auto",
        Domain::Choice(&["auto", "baseline", "avx2", "avx512"]),
        "Instruction set; auto takes the best of this processor, and avx2 and avx512 give the same result",
    ),
];

/// That a setting acts only where another has certain values.
#[derive(Debug)]
pub(super) struct Dependence {
    /// The setting.
    pub(super) name: &'static str,
    /// The other one.
    pub(super) on: &'static str,
    /// Whether it acts with this value of the other.
    pub(super) acts: fn(Value) -> bool,
    /// What takes its place, by value of the other.
    pub(super) instead: &'static [(&'static str, &'static str)],
}

/// Every setting that does not always act.
pub(super) static DEPENDENCES: &[Dependence] = &[
    depends("hidden", "model", has_hidden),
    depends("observation-start", "observation", is_not_identity),
    Dependence {
        instead: &[("agtf", "it starts at --alpha-start")],
        ..depends("alpha", "forcing", |v| v == Value::Choice("gtf"))
    },
    depends("alpha-start", "forcing", is_adaptive),
    depends("alpha-estimator", "forcing", is_adaptive),
    depends("decay", "forcing", is_adaptive),
    depends("every", "forcing", is_adaptive),
    depends("interval", "forcing", |v| v == Value::Choice("stf")),
    depends("forcing-gradient", "forcing", |v| {
        v != Value::Choice("none")
    }),
    depends("condition-penalty", "observation", is_not_identity),
    depends("manifold-share", "manifold-penalty", |v| {
        v != Value::Real(0.0)
    }),
    depends("best-every", "best-by", |v| v != Value::Choice("none")),
    depends("best-starts", "best-by", judges_orbits),
    depends("best-spread", "best-by", judges_orbits),
    depends("best-spread", "observation", is_not_identity),
    depends("on-divergence", "retries", |v| v != Value::Integer(0)),
];

fn is_adaptive(forcing: Value) -> bool {
    forcing == Value::Choice("agtf")
}

fn judges_orbits(best_by: Value) -> bool {
    !["none", "pe"].map(Value::Choice).contains(&best_by)
}

fn is_not_identity(observation: Value) -> bool {
    observation != Value::Choice("identity")
}

fn has_hidden(model: Value) -> bool {
    let of_name = |info: &&&ModelInfo| model == Value::Choice(info.entry.id);
    MODELS
        .iter()
        .find(of_name)
        .is_some_and(|info| info.hidden.is_some())
}

/// Values for several settings under one name.
#[derive(Debug)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// What it is for, in one sentence without a final period.
    pub about: &'static str,
    /// Settings and their values.
    pub set: &'static [(&'static str, &'static str)],
}

/// Every preset.
pub static PRESETS: &[Preset] = &[
    Preset {
        name: "paper",
        about: "As published: B starts at random",
        set: &[("observation-start", "random")],
    },
    Preset {
        name: "best",
        about: "Parameters and their averages are judged by D_stsp every 10 epochs, and the best become the model's",
        set: &[
            ("average", "0.999"),
            ("best-by", "d_stsp"),
            ("best-every", "10"),
            ("best-starts", "4"),
        ],
    },
    Preset {
        name: "best-attractor",
        about: "As best, every 20 epochs, with B stretched so that orbits vary as the data do: on noisy recordings a nearer attractor, worse forecasts",
        set: &[
            ("average", "0.999"),
            ("best-by", "d_stsp"),
            ("best-every", "20"),
            ("best-starts", "4"),
            ("best-spread", "matched"),
        ],
    },
];

/// Learning rates. With at most one, a step is no longer than the gradients are large, so that finite gradients
/// give finite parameters.
const RATE: Domain = Domain::Real {
    low: 1e-12,
    high: 1.0,
};

const fn up_to(low: u64, high: u64) -> Domain {
    Domain::Integer { low, high }
}

/// Settings by name, as texts.
pub(crate) type Texts = BTreeMap<String, String>;

/// Whether a setting acts with given values of the others; what is not among them has no say.
pub(crate) fn acts(name: &str, settings: &Texts) -> bool {
    let decide = DEPENDENCES.iter().filter(|d| d.name == name);
    let acts = |d: &Dependence| {
        let on = SETTINGS.iter().find(|setting| setting.name == d.on)?;
        let value = on.check(settings.get(d.on)?).ok()?;
        Some((d.acts)(value))
    };
    decide.filter_map(acts).all(|acts| acts)
}

/// The settings that act: two experiments with the same train the same.
pub(crate) fn acting(settings: &Texts) -> Texts {
    let acting = settings.iter().filter(|(name, _)| acts(name, settings));
    acting
        .map(|(name, text)| (name.clone(), text.clone()))
        .collect()
}

/// The first setting, but for the number of threads, that has other values in two experiments and acts in one of them.
/// What one of them does not have, because there was no such setting then, has had no effect.
pub(crate) fn difference(a: &Texts, b: &Texts) -> Option<&'static str> {
    let differs = |name: &&str| match (a.get(*name), b.get(*name)) {
        (Some(one), Some(other)) => one != other && (acts(name, a) || acts(name, b)),
        _ => false,
    };
    let names = SETTINGS.iter().map(|setting| setting.name);
    names.filter(|name| *name != "threads").find(differs)
}

const fn depends(name: &'static str, on: &'static str, acts: fn(Value) -> bool) -> Dependence {
    Dependence {
        name,
        on,
        acts,
        instead: &[],
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use attractor_core::settings::Settings;

    #[test]
    fn defaults_lie_in_their_domains_and_names_are_unique() {
        for (i, setting) in SETTINGS.iter().enumerate() {
            setting.default_value();
            assert!(SETTINGS[..i].iter().all(|other| other.name != setting.name));
            assert!(!setting.about.ends_with('.'), "{}", setting.name);
        }
    }

    #[test]
    fn what_settings_depend_on_is_in_the_list_and_changes_whether_they_act() {
        let named = |name: &str| {
            SETTINGS
                .iter()
                .find(|setting| setting.name == name)
                .unwrap()
        };
        for dependence in DEPENDENCES {
            named(dependence.name);
            let on = named(dependence.on);
            let values: Vec<&str> = match on.domain {
                Domain::Choice(words) => words.to_vec(),
                _ => vec!["0", "1"],
            };
            let acts = |text: &&&str| (dependence.acts)(on.check(text).unwrap());
            let some = values.iter().filter(acts).count();
            assert!(some > 0 && some < values.len(), "{}", dependence.name);
            for (word, _) in dependence.instead {
                assert!(values.contains(word) && !acts(&word), "{}", dependence.name);
            }
        }
    }

    #[test]
    fn a_setting_acts_where_those_that_it_depends_on_let_it() {
        let with = |forcing: &str| BTreeMap::from([("forcing".to_string(), forcing.to_string())]);
        assert!(acts("interval", &with("stf")) && !acts("interval", &with("gtf")));
        assert!(acts("alpha", &with("gtf")) && !acts("alpha", &with("agtf")));
        assert!(acts("seed", &with("none")) && acts("interval", &BTreeMap::new()));
    }

    #[test]
    fn presets_set_what_there_is() {
        let list: Vec<&Setting> = SETTINGS.iter().collect();
        for preset in PRESETS {
            Settings::resolve(&list, preset.set.iter().copied()).unwrap();
        }
    }

    #[test]
    fn every_model_can_be_chosen() {
        assert!(
            MODELS
                .iter()
                .all(|info| SETTINGS[0].check(info.entry.id).is_ok())
        );
    }
}
