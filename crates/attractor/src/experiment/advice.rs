//! What a user should know of settings: those that were given and change nothing, and those that may keep a training
//! finite that diverged.

use attractor_core::settings::Dependence;
use attractor_core::text::figure;

use super::raw::{Given, Origin, Raw};
use super::settings::{all_settings, dependences, settings_of};
use super::{Experiment, MODEL, Resolved, Standardize};
use crate::experiment::Job;

impl Experiment {
    /// A sentence for every setting that the user, or a preset, gave and that has no effect with the others. Lines of files
    /// count where they differ from the defaults: the file of a run has them all.
    pub fn without_effect(&self, raw: &Raw) -> Vec<String> {
        let idle = |dependence: &&Dependence| !(dependence.acts)(self.settings.get(dependence.on));
        let sentence = |dependence: &Dependence| {
            let given = last(raw, dependence.name)?;
            is_of_user(given).then(|| self.has_no_effect(dependence, given))
        };
        let idle = dependences(self.method).filter(idle);
        self.of_other_methods(raw)
            .chain(idle.filter_map(sentence))
            .chain(self.never_judged(raw))
            .collect()
    }

    /// A sentence for every setting that only other methods have.
    fn of_other_methods<'a>(&'a self, raw: &'a Raw) -> impl Iterator<Item = String> + 'a {
        let own = settings_of(self.method);
        let is_own = move |name: &str| own.iter().any(|setting| setting.name == name);
        let others = all_settings().into_iter().map(|setting| setting.name);
        let others = others.filter(move |name| *name != MODEL.name && !is_own(name));
        others.filter_map(|name| {
            let given = last(raw, name).filter(|given| is_of_user(given))?;
            let model = self.method.entry.id;
            Some(format!(
                "--{name}{} has no effect with model {model}",
                given.origin
            ))
        })
    }

    /// A sentence where parameters are to be chosen, and training ends before any are judged.
    fn never_judged(&self, raw: &Raw) -> Option<String> {
        let set = &self.settings;
        let given = last(raw, "best-by").filter(|given| is_of_user(given))?;
        if !set.has("best-by") || !set.has("epochs") || set.choice("best-by") == "none" {
            return None;
        }
        let (epochs, every) = (set.integer("epochs"), set.integer("best-every"));
        (epochs < every).then(|| {
            format!(
                "--best-by{} has no effect in {epochs} epochs: the first are judged after {every} (--best-every)",
                given.origin
            )
        })
    }

    fn has_no_effect(&self, dependence: &Dependence, given: &Given) -> String {
        let Dependence { name, on, .. } = dependence;
        let (value, origin) = (self.settings.get(on).to_string(), &given.origin);
        let mut instead = dependence.instead.iter();
        let instead = instead.find(|(word, _)| *word == value);
        let instead = instead.map_or(String::new(), |(_, what)| format!("; {what}"));
        format!("--{name}{origin} has no effect with {on} {value}{instead}")
    }
}

impl Resolved {
    /// What was done to the data, what they settled, and what the method has to say.
    pub fn notes(&self) -> Vec<String> {
        let far = self.data.reason.as_ref().map(|far| {
            format!(
                "all channels are standardised, because `{}` has mean {} and spread {}; `--standardize off` leaves them",
                far.name,
                figure(far.mean),
                figure(far.sd)
            )
        });
        let of_data = self.settled.iter().filter_map(|settled| {
            let note = settled.note.as_ref()?;
            Some(format!("{note}; `--{}` sets another", settled.name))
        });
        let of_method = match &self.job {
            Job::Train(training) => training.trainer.notes(),
            Job::Solve => Vec::new(),
        };
        far.into_iter().chain(of_data).chain(of_method).collect()
    }
}

/// What was given last for a setting.
fn last<'a>(raw: &'a Raw, name: &str) -> Option<&'a Given> {
    raw.given.iter().rev().find(|given| given.name == name)
}

/// Whether a user asked for it, by itself or by a preset, and it is not just a line in the file of another run.
fn is_of_user(given: &Given) -> bool {
    let default = |setting: &attractor_core::settings::Setting| {
        setting.check(&given.text) == Ok(setting.default_value())
    };
    let mut list = all_settings().into_iter();
    match given.origin {
        Origin::Usual => false,
        Origin::File { .. } => !list.any(|s| s.name == given.name && default(s)),
        Origin::Preset(_) | Origin::Set | Origin::Flag => true,
    }
}

impl Resolved {
    /// What may keep training finite, given what was set; settings as flags in backticks.
    pub fn against_divergence(&self) -> String {
        let Job::Train(training) = &self.job else {
            return "standardise the data".to_string();
        };
        let settings = training.trainer.against_divergence().join(", ");
        let is_unscaled = self.data.scaling.sd.iter().all(|&sd| sd == 1.0);
        match self.experiment.preparation().standardize {
            Standardize::Off if is_unscaled => {
                format!("leave `--standardize off` out; then one of these may help: {settings}")
            }
            _ => format!("one of these may help: {settings}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(given: &[(&str, &str)]) -> Raw {
        let mut raw = Raw::default();
        for (name, text) in given {
            raw.push(name, text, Origin::Flag);
        }
        raw
    }

    fn told(raw: &Raw) -> Vec<String> {
        Experiment::check(raw).unwrap().without_effect(raw)
    }

    #[test]
    fn what_was_given_and_does_not_act_is_told() {
        let given = [
            ("forcing", "agtf"),
            ("alpha", "0.3"),
            ("decay", "0.9"),
            ("interval", "5"),
            ("model", "plrnn"),
            ("hidden", "50"),
            ("best-by", "none"),
            ("best-every", "10"),
        ];
        assert_eq!(
            told(&raw(&given)),
            [
                "--hidden has no effect with model plrnn",
                "--alpha has no effect with forcing agtf; it starts at --alpha-start",
                "--interval has no effect with forcing agtf",
                "--best-every has no effect with best-by none",
            ]
        );
        let given = [
            ("decay", "0.9"),
            ("retries", "1"),
            ("on-divergence", "halve-lr"),
        ];
        assert_eq!(
            told(&raw(&given)),
            ["--decay has no effect with forcing gtf"]
        );
        assert!(told(&raw(&[("forcing", "none"), ("model", "plrnn")])).is_empty());
    }

    #[test]
    fn a_preset_that_loses_its_point_is_told() {
        let told = |preset: &str, given: &[(&str, &str)]| {
            let mut all = Raw::default();
            all.preset(preset).unwrap();
            all.given.extend(raw(given).given);
            told(&all)
        };
        assert_eq!(
            told("best-attractor", &[("observation", "identity")]),
            ["--best-spread (preset best-attractor) has no effect with observation identity"]
        );
        assert_eq!(
            told("best", &[("epochs", "5")]),
            [
                "--best-by (preset best) has no effect in 5 epochs: the first are judged after 10 (--best-every)"
            ]
        );
        for preset in ["paper", "best", "best-attractor"] {
            assert!(told(preset, &[]).is_empty());
        }
    }

    #[test]
    fn the_file_of_another_run_is_no_choice_of_the_user() {
        let line = |line| Origin::File {
            path: "a.toml".into(),
            line,
        };
        let mut file = raw(&[]);
        file.push("alpha", "0.15", line(1));
        file.push("interval", "7", line(2));
        file.push("forcing", "agtf", Origin::Flag);
        assert_eq!(
            told(&file),
            ["--interval (line 2 of a.toml) has no effect with forcing agtf"]
        );
    }
}
