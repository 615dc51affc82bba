//! The settings of a fit: those of every method, the method's own, and those of the loop where it is trained; and the presets that
//! override some of their defaults. Flags, files, keywords, help and `explain` are loops over these lists.

use std::collections::BTreeMap;

use attractor_core::method::{self, METHODS, Method, methods};
use attractor_core::settings::{AUTO, Dependence, Domain, Setting, Value, depends};

/// The names of the methods that come with the library.
static METHOD_IDS: [&str; METHODS.len()] = {
    let mut ids = [""; METHODS.len()];
    let mut i = 0;
    while i < ids.len() {
        ids[i] = METHODS[i].entry.id;
        i += 1;
    }
    ids
};

/// Which method. It is looked up in the list of methods, so that its domain is only what comes with the library.
pub static MODEL: Setting = setting(
    "model",
    METHODS[0].entry.id,
    Domain::Choice(&METHOD_IDS),
    "The model, and with it the method that fits it",
);

/// The setting that names trajectories.
pub(super) const HELD_OUT_TRAJECTORIES: &str = "held-out-trajectories";

/// Of every method: what is done to the data, and what has no effect on the result.
static OF_ALL: &[Setting] = &[
    setting(
        "smooth",
        "0",
        Domain::Real {
            low: 0.0,
            high: 1e4,
        },
        "Width, in rows, of the Gaussian that smooths the data; 0 for none",
    ),
    setting(
        "standardize",
        "auto",
        Domain::Choice(&["auto", "on", "off"]),
        "Scale every channel to mean 0 and spread 1 (standard deviation), both of the training rows; auto does so if a channel is far from that",
    ),
    setting(
        "held-out",
        "0",
        Domain::Real {
            low: 0.0,
            high: 0.9,
        },
        "Share of rows at the end of every trajectory that is kept for scoring: used neither for training nor for choosing parameters",
    ),
    setting(
        HELD_OUT_TRAJECTORIES,
        "none",
        Domain::Text,
        "Whole trajectories that are kept for scoring: how many at the end, or their names, separated by commas",
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
        AUTO,
        Domain::Auto { low: 0, high: 1024 },
        "Worker threads, which do not affect the result; auto uses as many as help while other programs run, 0 all cores",
    ),
    setting(
        "isa",
        "auto",
        Domain::Choice(&["auto", "baseline", "avx2", "avx512"]),
        "Instruction set; auto takes the best that this processor has; avx2 and avx512 give the same result",
    ),
];

/// Of every method that is trained: which parameters are kept, and what is stored on the way.
static OF_LOOP: &[Setting] = &[
    setting(
        "best-by",
        "none",
        Domain::Choice(&["none", "d_stsp", "d_h", "both", "pe", "auto"]),
        "Score by which parameters are chosen: the lowest on the training rows, or on those that `select` sets aside; `both` is d_stsp × d_h, and so is `auto` where the data have these; `none` keeps the last parameters, as the paper does",
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
        "Number of starting rows over which best-by averages the score, the first row among them",
    ),
    setting(
        "select",
        "0",
        Domain::Real {
            low: 0.0,
            high: 0.9,
        },
        "Share of the training part, at the end of every trajectory, that is set aside for best-by to judge by; 0 judges by the training rows",
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
        "How many times a training that diverges, or whose loss jumps by a factor of 30, may go back to its last checkpoint",
    ),
];

/// Settings of the loop that do not always act.
static DEPENDENCES: &[Dependence] = &[
    depends("best-every", "best-by", chooses),
    depends("select", "best-by", chooses),
    depends("best-starts", "best-by", |best_by| {
        best_by != Value::Choice("pe") && chooses(best_by)
    }),
];

fn chooses(best_by: Value) -> bool {
    best_by != Value::Choice("none")
}

/// The settings of a method, in the order in which they are printed; `model`, which names it, is not among them.
pub fn settings_of(method: &Method) -> Vec<&'static Setting> {
    settings_in(method).collect()
}

/// [`settings_of`] one after another.
fn settings_in(method: &Method) -> impl Iterator<Item = &'static Setting> {
    let of_loop = if method.is_trained() { OF_LOOP } else { &[] };
    let own = method.entry.settings.iter();
    own.chain(of_loop).chain(OF_ALL)
}

/// Every setting of every method, each name once, `model` first.
pub fn all_settings() -> Vec<&'static Setting> {
    let mut all = vec![&MODEL];
    for setting in methods().into_iter().flat_map(settings_of) {
        if all.iter().all(|known| known.name != setting.name) {
            all.push(setting);
        }
    }
    all
}

/// The dependences of a method's settings.
pub(super) fn dependences(method: &Method) -> impl Iterator<Item = &'static Dependence> {
    let of_loop = if method.is_trained() {
        DEPENDENCES
    } else {
        &[]
    };
    method.dependences.iter().chain(of_loop)
}

/// The settings that a first training may need; all others have defaults that are seldom changed.
pub static ESSENTIAL: [&str; 12] = [
    "model",
    "latent",
    "hidden",
    "forcing",
    "alpha",
    "window",
    "epochs",
    "lr",
    "best-by",
    "held-out",
    "standardize",
    "seed",
];

/// Every setting once: those of every method, under none, then method by method those that no earlier one has.
pub fn settings_by_method() -> Vec<(Option<&'static Method>, Vec<&'static Setting>)> {
    let methods = methods();
    let has = |method: &&Method, name: &str| settings_in(method).any(|own| own.name == name);
    let (common, mut left): (Vec<&'static Setting>, Vec<&'static Setting>) =
        all_settings().into_iter().partition(|setting| {
            setting.name == MODEL.name || methods.iter().all(|method| has(method, setting.name))
        });
    let mut groups = vec![(None, common)];
    for method in methods {
        let (own, others): (Vec<_>, Vec<_>) = left
            .into_iter()
            .partition(|setting| has(&method, setting.name));
        left = others;
        if !own.is_empty() {
            groups.push((Some(method), own));
        }
    }
    groups
}

/// The preset that `train` begins with where none is named.
pub(crate) const USUAL: &str = "robust";

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
        name: USUAL,
        about: "The default of `train`: adaptive forcing, a higher learning rate for fewer epochs, clipped gradients, and the parameters, or averages of them, with the lowest D_stsp × D_H",
        set: &[
            ("forcing", "agtf"),
            ("epochs", "2000"),
            ("lr", "2e-3"),
            ("lr-end", "1e-5"),
            ("clip-norm", "1"),
            ("average", "0.999"),
            ("best-by", "auto"),
            ("best-every", "50"),
            ("retries", "3"),
        ],
    },
    Preset {
        name: "bare",
        about: "The defaults of the settings alone: constant forcing for 5,000 epochs, the last parameters",
        set: &[],
    },
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
        about: "As best, but every 20 epochs and with B stretched so that free orbits vary as much as the data: on noisy recordings a better attractor, but worse forecasts",
        set: &[
            ("average", "0.999"),
            ("best-by", "d_stsp"),
            ("best-every", "20"),
            ("best-starts", "4"),
            ("best-spread", "matched"),
        ],
    },
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

/// Settings by name, as texts.
pub(crate) type Texts = BTreeMap<String, String>;

/// The method of settings as texts; the default one if they do not say, or name one that is not known here.
pub(crate) fn method_of(settings: &Texts) -> &'static Method {
    let Some(name) = settings.get(MODEL.name) else {
        return method::default();
    };
    // Most are in the list that needs no lock: tables ask for thousands of runs.
    let known = METHODS.iter().find(|method| method.entry.id == name);
    let found = known.copied().or_else(|| method::find(name).ok());
    found.unwrap_or_else(method::default)
}

/// Whether a setting acts with given values of the others; what is not among them has no say.
pub(crate) fn acts(name: &str, settings: &Texts) -> bool {
    let method = method_of(settings);
    let is_known = || settings_in(method).any(|setting| setting.name == name);
    let acts = |d: &Dependence| {
        let on = settings_in(method).find(|setting| setting.name == d.on)?;
        let value = on.check(settings.get(d.on)?).ok()?;
        Some((d.acts)(value))
    };
    let decide = || dependences(method).filter(|d| d.name == name);
    name == MODEL.name || is_known() && decide().filter_map(acts).all(|acts| acts)
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
    let names = all_settings().into_iter().map(|setting| setting.name);
    names.filter(|name| *name != "threads").find(differs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use attractor_core::settings::Settings;

    #[test]
    fn defaults_lie_in_their_domains_and_names_are_unique() {
        for method in METHODS {
            let list = settings_of(method);
            for (i, setting) in list.iter().enumerate() {
                setting.default_value();
                assert!(list[..i].iter().all(|other| other.name != setting.name));
                assert!(!setting.about.ends_with('.'), "{}", setting.name);
            }
        }
    }

    #[test]
    fn what_settings_depend_on_is_in_the_list_and_changes_whether_they_act() {
        for method in METHODS {
            let list = settings_of(method);
            let named = |name: &str| list.iter().find(|setting| setting.name == name).unwrap();
            for dependence in dependences(method) {
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
    }

    #[test]
    fn a_setting_acts_where_those_that_it_depends_on_let_it() {
        let with = |forcing: &str| BTreeMap::from([("forcing".to_string(), forcing.to_string())]);
        assert!(acts("interval", &with("stf")) && !acts("interval", &with("gtf")));
        assert!(acts("alpha", &with("gtf")) && !acts("alpha", &with("agtf")));
        assert!(acts("seed", &with("none")) && acts("interval", &BTreeMap::new()));
        let plrnn = BTreeMap::from([("model".to_string(), "plrnn".to_string())]);
        assert!(!acts("hidden", &plrnn) && acts("latent", &plrnn) && acts("model", &plrnn));
    }

    #[test]
    fn every_setting_is_in_one_group_and_the_essential_ones_are_settings() {
        let grouped: Vec<&str> = settings_by_method()
            .iter()
            .flat_map(|(_, settings)| settings.iter().map(|setting| setting.name))
            .collect();
        let all = all_settings();
        assert_eq!(grouped.len(), all.len());
        assert!(all.iter().all(|setting| grouped.contains(&setting.name)));
        let known = |name: &&str| all.iter().any(|setting| setting.name == *name);
        assert!(ESSENTIAL.iter().all(known));
    }

    #[test]
    fn presets_set_what_there_is() {
        let list = settings_of(method::default());
        for preset in PRESETS {
            Settings::resolve(&list, preset.set.iter().copied()).unwrap();
        }
    }
}
