//! What a user should know of settings: those that were given and change nothing, and those that may keep a training
//! finite that diverged.

use attractor_core::settings::{Setting, Settings};

use super::raw::{Given, Origin, Raw};
use super::settings::{DEPENDENCES, Dependence, SETTINGS};
use super::{Experiment, Resolved};

impl Experiment {
    /// A sentence for every setting that the user, or a preset, gave and that has no effect with the others. Lines of files
    /// count where they differ from the defaults: the file of a run has them all.
    pub fn without_effect(&self, raw: &Raw) -> Vec<String> {
        let idle = |dependence: &&Dependence| !(dependence.acts)(self.settings.get(dependence.on));
        let sentence = |dependence: &Dependence| {
            let mut given = raw.given.iter().rev();
            let given = given.find(|given| given.name == dependence.name)?;
            is_of_user(given).then(|| self.has_no_effect(dependence, given))
        };
        let idle = DEPENDENCES.iter().filter(idle);
        idle.filter_map(sentence)
            .chain(self.never_judged(raw))
            .collect()
    }

    /// A sentence where parameters are to be chosen, and training ends before any are judged.
    fn never_judged(&self, raw: &Raw) -> Option<String> {
        let (epochs, every) = (
            self.settings.integer("epochs"),
            self.settings.integer("best-every"),
        );
        let mut given = raw.given.iter().rev();
        let given = given.find(|given| given.name == "best-by")?;
        let chooses = self.settings.choice("best-by") != "none" && is_of_user(given);
        (chooses && epochs < every).then(|| {
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

/// Whether a user asked for it, by itself or by a preset, and it is not just a line in the file of another run.
fn is_of_user(given: &Given) -> bool {
    let default = |setting: &Setting| setting.check(&given.text) == Ok(setting.default_value());
    let mut list = SETTINGS.iter();
    match given.origin {
        Origin::File { .. } => !list.any(|s| s.name == given.name && default(s)),
        Origin::Preset(_) | Origin::Set | Origin::Flag => true,
    }
}

impl Resolved {
    /// What may keep training finite, given what was set.
    pub fn against_divergence(&self) -> String {
        let identity = self.data.scaling.sd.iter().all(|&sd| sd == 1.0);
        let settings = remedies(self.experiment.settings()).join(", ");
        match self.experiment.settings().choice("standardize") {
            "off" if identity => {
                format!("leave `--standardize off` out; then one of these may help: {settings}")
            }
            _ => format!("one of these may help: {settings}"),
        }
    }
}

/// Changes of settings against divergence that are still open.
fn remedies(set: &Settings) -> Vec<&'static str> {
    let forcing = match set.choice("forcing") {
        "gtf" => (set.real("alpha") < 1.0).then_some("a higher `--alpha`"),
        "agtf" => (set.real("decay") < 1.0).then_some("a higher `--decay`"),
        "stf" => (set.integer("interval") > 1).then_some("a smaller `--interval`"),
        _ => Some("`--forcing agtf`"),
    };
    let clipping = match set.real("clip-norm") {
        0.0 => "`--clip-norm 10`",
        _ => "a smaller `--clip-norm`",
    };
    let all = [
        Some("a lower `--lr`"),
        forcing,
        (set.integer("window") > 1).then_some("a shorter `--window`"),
        Some(clipping),
        (set.integer("retries") == 0).then_some("`--retries 3`"),
    ];
    all.into_iter().flatten().collect()
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

    #[test]
    fn remedies_are_those_that_are_left() {
        let of = |given: &[(&str, &str)]| {
            let experiment = Experiment::check(&raw(given)).unwrap();
            remedies(experiment.settings()).join(", ")
        };
        assert_eq!(
            of(&[]),
            "a lower `--lr`, a higher `--alpha`, a shorter `--window`, `--clip-norm 10`, `--retries 3`"
        );
        assert_eq!(
            of(&[("forcing", "agtf"), ("retries", "2"), ("clip-norm", "5")]),
            "a lower `--lr`, a higher `--decay`, a shorter `--window`, a smaller `--clip-norm`"
        );
        assert!(!of(&[("alpha", "1")]).contains("alpha"));
        assert!(of(&[("forcing", "none")]).contains("`--forcing agtf`"));
    }
}
