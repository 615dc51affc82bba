//! What a user can do about an error, as data: words, and settings with the values they might take. A command line writes a setting
//! as a flag, a study as a line of its file, Python as a keyword.
//!
//! ```
//! use attractor_core::hint::{Hint, Style};
//!
//! let hint = Hint::from("use `--window 19` or less");
//! assert_eq!(hint.settings().collect::<Vec<_>>(), [("window", Some("19"))]);
//! assert_eq!(hint.written(Style::File), "use `window = 19` or less");
//! assert_eq!(hint.written(Style::Python), "use `window=19` or less");
//! ```

use std::fmt;

use serde::{Serialize, Serializer};

/// What a user can do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hint {
    parts: Vec<Part>,
    style: Style,
}

/// A part of a hint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// Words.
    Text(String),
    /// A setting, and a value that it might take.
    Set {
        /// Its name.
        name: String,
        /// The value.
        value: Option<String>,
    },
}

/// How settings are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// As flags, `--window 19`.
    Flags,
    /// As lines of a file, `window = 19`.
    File,
    /// As keywords, `window=19`.
    Python,
}

impl Hint {
    /// Its parts, in order.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// The settings that it names, with their values.
    pub fn settings(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        self.parts.iter().filter_map(|part| match part {
            Part::Text(_) => None,
            Part::Set { name, value } => Some((name.as_str(), value.as_deref())),
        })
    }

    /// The same for someone who writes settings in this style.
    pub fn in_style(self, style: Style) -> Hint {
        Hint { style, ..self }
    }

    /// The same about a file of this name, where its commands speak of FILE.
    pub fn naming(mut self, file: &str) -> Hint {
        for part in &mut self.parts {
            if let Part::Text(text) = part {
                *text = text.replace(" FILE ", &format!(" {file} "));
            }
        }
        self
    }

    /// As text, with settings in a style.
    pub fn written(&self, style: Style) -> String {
        let parts = self.parts.iter().map(|part| match part {
            Part::Text(text) => text.clone(),
            Part::Set { name, value } => format!("`{}`", setting(name, value.as_deref(), style)),
        });
        parts.collect()
    }
}

impl fmt::Display for Hint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.written(self.style))
    }
}

/// As text.
impl Serialize for Hint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A hint as it is written for a command line: settings are flags in backticks.
impl From<&str> for Hint {
    fn from(text: &str) -> Hint {
        let part = |(i, words): (usize, &str)| match words.strip_prefix("--") {
            // Every second part stands between backticks.
            Some(flag) if i % 2 == 1 => {
                let (name, value) = match flag.split_once([' ', '=']) {
                    Some((name, value)) => (name, Some(value.to_string())),
                    None => (flag, None),
                };
                Part::Set {
                    name: name.to_string(),
                    value,
                }
            }
            _ if i % 2 == 1 => Part::Text(format!("`{words}`")),
            _ => Part::Text(words.to_string()),
        };
        let parts = text.split('`').enumerate().map(part);
        Hint {
            parts: parts
                .filter(|part| *part != Part::Text(String::new()))
                .collect(),
            style: Style::Flags,
        }
    }
}

impl From<String> for Hint {
    fn from(text: String) -> Hint {
        Hint::from(text.as_str())
    }
}

fn setting(name: &str, value: Option<&str>, style: Style) -> String {
    let words = |value: &str| match value.parse::<f64>() {
        Ok(_) => value.to_string(),
        Err(_) => format!("{value:?}"),
    };
    match (style, value) {
        (Style::Flags, None) => format!("--{name}"),
        // A negative number would be taken for a flag.
        (Style::Flags, Some(value)) if value.starts_with('-') => format!("--{name}={value}"),
        (Style::Flags, Some(value)) => format!("--{name} {value}"),
        (Style::File, None) => name.to_string(),
        (Style::File, Some(value)) => format!("{name} = {}", words(value)),
        (Style::Python, None) => name.replace('-', "_"),
        (Style::Python, Some(value)) => format!("{}={}", name.replace('-', "_"), words(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_written_in_every_style() {
        let hint = Hint::from("use `--best-by pe`, a higher `--alpha`, or `attractor resume r`");
        assert_eq!(
            hint.to_string(),
            "use `--best-by pe`, a higher `--alpha`, or `attractor resume r`"
        );
        assert_eq!(
            hint.written(Style::File),
            "use `best-by = \"pe\"`, a higher `alpha`, or `attractor resume r`"
        );
        assert_eq!(
            hint.written(Style::Python),
            "use `best_by=\"pe\"`, a higher `alpha`, or `attractor resume r`"
        );
        let negative =
            Hint::from("`--missing-value=-99` in `attractor train FILE `").naming("a.csv");
        assert_eq!(
            negative.to_string(),
            "`--missing-value=-99` in `attractor train a.csv `"
        );
        assert_eq!(
            negative.settings().next(),
            Some(("missing-value", Some("-99")))
        );
        let file = hint.in_style(Style::File);
        assert_eq!(file.settings().count(), 2);
        assert!(file.to_string().starts_with("use `best-by = "));
    }
}
