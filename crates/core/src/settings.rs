//! Named settings. Each has a name, a default, a domain and a sentence; from these follow the checking of
//! flags, files and keywords, the messages, and what `explain` prints.
//!
//! ```
//! use attractor_core::settings::{Domain, Setting, Settings};
//!
//! static RHO: Setting = Setting { name: "rho", default: "28", domain: Domain::REAL, about: "Rayleigh number" };
//! let settings = Settings::resolve(&[&RHO], [("rho", "24.5")])?;
//! assert_eq!(settings.real("rho"), 24.5);
//! # Ok::<(), attractor_core::settings::SettingError>(())
//! ```

use std::collections::BTreeMap;
use std::fmt;

use crate::hint::Hint;

/// One named setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    /// The name, as typed by a user: lower case, words joined by `-`.
    pub name: &'static str,
    /// The default, written as a user would type it.
    pub default: &'static str,
    /// The values that it may take.
    pub domain: Domain,
    /// What it means, in one sentence without a final period.
    pub about: &'static str,
}

impl Setting {
    /// A whole number from `low` to `high`.
    pub const fn integer(
        name: &'static str,
        default: &'static str,
        (low, high): (u64, u64),
        about: &'static str,
    ) -> Setting {
        Setting {
            name,
            default,
            domain: Domain::Integer { low, high },
            about,
        }
    }
}

/// What a user types for a number that is to follow from the data.
pub const AUTO: &str = "auto";

/// The values that a setting may take.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Domain {
    /// A finite real number in the closed interval `[low, high]`.
    Real {
        /// Smallest allowed value.
        low: f64,
        /// Largest allowed value.
        high: f64,
    },
    /// A finite real number greater than zero.
    Positive,
    /// A whole number in `[low, high]`.
    Integer {
        /// Smallest allowed value.
        low: u64,
        /// Largest allowed value.
        high: u64,
    },
    /// A whole number in `[low, high]`, or [`AUTO`], which leaves it to the data.
    Auto {
        /// Smallest allowed value.
        low: u64,
        /// Largest allowed value.
        high: u64,
    },
    /// A finite real number in `[low, high]`, or [`AUTO`], which leaves it to the data.
    AutoReal {
        /// Smallest allowed value.
        low: f64,
        /// Largest allowed value.
        high: f64,
    },
    /// One of several words.
    Choice(&'static [&'static str]),
    /// `true` or `false`.
    Flag,
    /// One line of text; what it may say, the method knows.
    Text,
}

impl Domain {
    /// Any finite real number.
    pub const REAL: Domain = Domain::Real {
        low: f64::NEG_INFINITY,
        high: f64::INFINITY,
    };
    /// A finite real number of at least zero.
    pub const NON_NEGATIVE: Domain = Domain::Real {
        low: 0.0,
        high: f64::INFINITY,
    };
    /// A real number from zero to one.
    pub const FRACTION: Domain = Domain::Real {
        low: 0.0,
        high: 1.0,
    };
    /// A whole number of at least one.
    pub const COUNT: Domain = Domain::Integer {
        low: 1,
        high: u64::MAX,
    };

    /// The value that `text` stands for, if it lies in the domain.
    pub fn parse(&self, text: &str) -> Option<Value> {
        let text = text.trim();
        let real = || text.parse::<f64>().ok().filter(|v| v.is_finite());
        match *self {
            Domain::Real { low, high } => {
                real().filter(|v| (low..=high).contains(v)).map(Value::Real)
            }
            Domain::Positive => real().filter(|&v| v > 0.0).map(Value::Real),
            Domain::Integer { low, high } => whole(text, low, high),
            Domain::Auto { .. } | Domain::AutoReal { .. } if text == AUTO => {
                Some(Value::Choice(AUTO))
            }
            Domain::Auto { low, high } => whole(text, low, high),
            Domain::AutoReal { low, high } => Domain::Real { low, high }.parse(text),
            Domain::Choice(words) => words
                .iter()
                .find(|&&w| w == text)
                .map(|&w| Value::Choice(w)),
            Domain::Flag => text.parse().ok().map(Value::Flag),
            Domain::Text => {
                let is_line = !text.chars().any(char::is_control);
                is_line.then(|| Value::Text(text.to_string()))
            }
        }
    }
}

fn whole(text: &str, low: u64, high: u64) -> Option<Value> {
    let number = text.parse().ok().filter(|v| (low..=high).contains(v));
    number.map(Value::Integer)
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Domain::Real { low, high } if low == f64::NEG_INFINITY && high == f64::INFINITY => {
                f.write_str("a number")
            }
            Domain::Real { low, high } if high == f64::INFINITY => {
                write!(f, "a number of at least {low}")
            }
            Domain::Real { low, high } => write!(f, "a number from {low} to {high}"),
            Domain::Positive => f.write_str("a number above 0"),
            Domain::Integer {
                low,
                high: u64::MAX,
            } => write!(f, "a whole number of at least {low}"),
            Domain::Integer { low, high } => write!(f, "a whole number from {low} to {high}"),
            Domain::Auto { low, high } => {
                write!(f, "a whole number from {low} to {high}, or {AUTO}")
            }
            Domain::AutoReal { low, high } => {
                write!(f, "{}, or {AUTO}", Domain::Real { low, high })
            }
            Domain::Choice(words) => write!(f, "one of {}", words.join(", ")),
            Domain::Flag => f.write_str("true or false"),
            Domain::Text => f.write_str("one line of text"),
        }
    }
}

/// A checked value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A real number.
    Real(f64),
    /// A whole number.
    Integer(u64),
    /// One of the words of the setting.
    Choice(&'static str),
    /// Yes or no.
    Flag(bool),
    /// A line of text.
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Real(v) => write!(f, "{v}"),
            Value::Integer(v) => write!(f, "{v}"),
            Value::Choice(v) => f.write_str(v),
            Value::Flag(v) => write!(f, "{v}"),
            Value::Text(v) => f.write_str(v),
        }
    }
}

/// Checked values of a list of settings, defaults resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    values: BTreeMap<&'static str, Value>,
}

impl Settings {
    /// Checks what a user gave against the list; what was not given takes its default.
    pub fn resolve<'a>(
        list: &[&Setting],
        given: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Settings, SettingError> {
        let mut values: BTreeMap<&'static str, Value> =
            list.iter().map(|s| (s.name, s.default_value())).collect();
        for (name, text) in given {
            let setting = find(list.iter().copied(), name)?;
            values.insert(setting.name, setting.check(text)?);
        }
        Ok(Settings { values })
    }

    /// The names and values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        self.values
            .iter()
            .map(|(&name, value)| (name, value.clone()))
    }

    /// Whether the list has a setting of this name.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The value of a setting in the list.
    pub fn get(&self, name: &str) -> Value {
        let value = self.values.get(name).cloned();
        value.unwrap_or_else(|| panic!("no setting `{name}` in the list"))
    }

    /// The value of a real setting.
    pub fn real(&self, name: &str) -> f64 {
        match self.get(name) {
            Value::Real(v) => v,
            other => panic!("setting `{name}` is not real: {other:?}"),
        }
    }

    /// The value of a whole-number setting.
    pub fn integer(&self, name: &str) -> usize {
        match self.get(name) {
            Value::Integer(v) => {
                usize::try_from(v).expect("settings that size memory have a bounded domain")
            }
            other => panic!("setting `{name}` is not a whole number: {other:?}"),
        }
    }

    /// The value of a whole-number setting, none if it is left to the data.
    pub fn integer_unless_auto(&self, name: &str) -> Option<usize> {
        (self.get(name) != Value::Choice(AUTO)).then(|| self.integer(name))
    }

    /// The value of a real setting, none if it is left to the data.
    pub fn real_unless_auto(&self, name: &str) -> Option<f64> {
        (self.get(name) != Value::Choice(AUTO)).then(|| self.real(name))
    }

    /// The value of a setting that is one of several words.
    pub fn choice(&self, name: &str) -> &'static str {
        match self.get(name) {
            Value::Choice(v) => v,
            other => panic!("setting `{name}` is not a choice: {other:?}"),
        }
    }

    /// The value of a setting that is a line of text.
    pub fn text(&self, name: &str) -> String {
        match self.get(name) {
            Value::Text(v) => v,
            other => panic!("setting `{name}` is not a text: {other:?}"),
        }
    }

    /// The value of a yes-or-no setting.
    pub fn flag(&self, name: &str) -> bool {
        match self.get(name) {
            Value::Flag(v) => v,
            other => panic!("setting `{name}` is not a flag: {other:?}"),
        }
    }
}

impl Setting {
    /// Checks a typed value.
    pub fn check(&self, text: &str) -> Result<Value, SettingError> {
        self.domain.parse(text).ok_or_else(|| SettingError::Domain {
            name: self.name,
            found: text.to_string(),
            expected: self.domain.to_string(),
            default: self.default,
        })
    }

    /// The default as a value.
    pub fn default_value(&self) -> Value {
        self.domain
            .parse(self.default)
            .unwrap_or_else(|| panic!("default of `{}` is outside its domain", self.name))
    }
}

/// That a setting acts only where another has certain values.
#[derive(Debug, Clone, Copy)]
pub struct Dependence {
    /// The setting.
    pub name: &'static str,
    /// The other one.
    pub on: &'static str,
    /// Whether it acts with this value of the other.
    pub acts: fn(Value) -> bool,
    /// What takes its place, by value of the other.
    pub instead: &'static [(&'static str, &'static str)],
}

/// A dependence with nothing to take the setting's place.
pub const fn depends(name: &'static str, on: &'static str, acts: fn(Value) -> bool) -> Dependence {
    Dependence {
        name,
        on,
        acts,
        instead: &[],
    }
}

/// What is wrong with a setting that a user gave.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// The name is in no list.
    #[error("unknown setting `{name}`")]
    Unknown {
        /// What was typed.
        name: String,
        /// The most similar known name.
        near: Option<&'static str>,
        /// All known names.
        known: Vec<&'static str>,
    },
    /// The value is not one of those that the setting takes.
    #[error("`{name}` must be {expected}, found `{found}`")]
    Domain {
        /// The setting.
        name: &'static str,
        /// What was typed.
        found: String,
        /// What it takes, in words.
        expected: String,
        /// Its default.
        default: &'static str,
    },
}

impl SettingError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            SettingError::Unknown {
                near: Some(near), ..
            } => Some(format!("did you mean `{near}`?").into()),
            SettingError::Unknown { known, .. } if known.is_empty() => {
                Some("it has no settings".into())
            }
            SettingError::Unknown { known, .. } => {
                Some(format!("the known names are {}", known.join(", ")).into())
            }
            SettingError::Domain { default, .. } => {
                Some(format!("the default is {default}").into())
            }
        }
    }
}

fn find<'a>(
    list: impl Iterator<Item = &'a Setting> + Clone,
    name: &str,
) -> Result<&'a Setting, SettingError> {
    list.clone().find(|s| s.name == name).ok_or_else(|| {
        let known: Vec<&'static str> = list.map(|s| s.name).collect();
        SettingError::Unknown {
            name: name.to_string(),
            near: nearest(name, known.iter().copied()),
            known,
        }
    })
}

/// The name that a mistyped one most likely stands for, the first of equals.
pub fn nearest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(typed, name), name))
        .filter(|&(similarity, _)| similarity > 0.8)
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    static ALPHA: Setting = Setting {
        name: "alpha",
        default: "0.15",
        domain: Domain::FRACTION,
        about: "forcing strength",
    };
    static WINDOW: Setting = Setting {
        name: "window",
        default: "200",
        domain: Domain::COUNT,
        about: "window length",
    };
    static LATENT: Setting = Setting {
        name: "latent",
        default: AUTO,
        domain: Domain::Auto { low: 1, high: 64 },
        about: "latent states",
    };
    static LIST: &[&Setting] = &[&ALPHA, &WINDOW, &LATENT];

    #[test]
    fn defaults_are_resolved_and_given_values_win() {
        let settings = Settings::resolve(LIST, [("window", "50")]).unwrap();
        assert_eq!(settings.real("alpha"), 0.15);
        assert_eq!(settings.integer("window"), 50);
    }

    #[test]
    fn numbers_may_be_left_to_the_data() {
        let settings = Settings::resolve(LIST, []).unwrap();
        assert_eq!(settings.integer_unless_auto("latent"), None);
        let settings = Settings::resolve(LIST, [("latent", "3")]).unwrap();
        assert_eq!(settings.integer_unless_auto("latent"), Some(3));
        let error = LATENT.check("0").unwrap_err();
        assert_eq!(
            error.to_string(),
            "`latent` must be a whole number from 1 to 64, or auto, found `0`"
        );
    }

    #[test]
    fn of_equally_near_names_the_first_is_meant() {
        let systems = ["lorenz63", "lorenz84", "lorenz96"];
        assert_eq!(nearest("lorenz", systems), Some("lorenz63"));
        assert_eq!(nearest("lorenz9", systems), Some("lorenz96"));
    }

    #[test]
    fn a_mistyped_name_gets_the_near_one_as_hint() {
        let error = Settings::resolve(LIST, [("aplha", "0.1")]).unwrap_err();
        assert_eq!(error.to_string(), "unknown setting `aplha`");
        assert_eq!(error.hint().unwrap().to_string(), "did you mean `alpha`?");
    }

    #[test]
    fn values_outside_the_domain_are_refused() {
        for (name, text) in [
            ("alpha", "1.5"),
            ("alpha", "nan"),
            ("alpha", "x"),
            ("window", "0"),
            ("window", "2.5"),
        ] {
            let error = Settings::resolve(LIST, [(name, text)]).unwrap_err();
            assert!(
                matches!(error, SettingError::Domain { .. }),
                "{name}={text}"
            );
        }
    }
}
