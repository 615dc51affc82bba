//! Names with wildcards: `*` stands for any characters, `?` for one; upper and lower case are the same.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

/// What names of channels are compared with, such as `EEG *`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern(String);

impl Pattern {
    /// Whether a name is as the pattern says.
    pub fn matches(&self, name: &str) -> bool {
        let letters = |text: &str| text.to_lowercase().chars().collect::<Vec<_>>();
        fits(&letters(&self.0), &letters(name))
    }
}

impl FromStr for Pattern {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Pattern, Infallible> {
        Ok(Pattern(text.trim().to_string()))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Goes through the name once; after a mismatch, the last `*` takes one character more.
fn fits(pattern: &[char], name: &[char]) -> bool {
    let (mut p, mut n) = (0, 0);
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&c) if c == '?' || c == name[n] => {
                p += 1;
                n += 1;
            }
            _ => match &mut star {
                Some((at, taken)) => {
                    *taken += 1;
                    (p, n) = (*at + 1, *taken);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wildcards_match_as_in_a_shell() {
        for (pattern, name, expected) in [
            ("Fp1", "Fp1", true),
            ("fp1", "FP1", true),
            ("Fp1", "Fp12", false),
            ("EEG *", "EEG Fpz-Cz", true),
            ("EEG *", "EOG", false),
            ("*z", "Fz", true),
            ("*z*", "Pz-Oz", true),
            ("F?", "F3", true),
            ("F?", "F", false),
            ("*a*b", "aabab", true),
            ("*a*b", "aaba", false),
            ("", "", true),
            ("*", "", true),
        ] {
            let Ok(parsed) = pattern.parse::<Pattern>();
            assert_eq!(parsed.matches(name), expected, "{pattern} {name}");
        }
    }
}
