//! Figures and lists of names as they stand in messages.

use std::fmt;

use super::Subject;

/// Names printed before the rest is only counted.
const NAMED: usize = 4;

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Subject::Recording => f.write_str("recording"),
            Subject::Pair => f.write_str("both recordings"),
            Subject::Channels(names) => f.write_str(&enumerate(names)),
            Subject::Rows {
                trajectory: 0,
                first,
                end,
            } => write!(f, "rows {} to {end}", first + 1),
            Subject::Rows {
                trajectory,
                first,
                end,
            } => write!(
                f,
                "rows {} to {end} of trajectory {}",
                first + 1,
                trajectory + 1
            ),
        }
    }
}

/// `a`, `a and b`, `a, b, c, d and 60 more`.
pub(super) fn enumerate<T: AsRef<str>>(names: &[T]) -> String {
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    match names.as_slice() {
        [] => String::new(),
        [one] => (*one).to_string(),
        [first @ .., last] if names.len() <= NAMED => format!("{} and {last}", first.join(", ")),
        _ => format!(
            "{} and {} more",
            names[..NAMED].join(", "),
            names.len() - NAMED
        ),
    }
}

/// A number with four significant digits, plain between 0.0001 and 10⁷.
pub fn figure(v: f64) -> String {
    let magnitude = v.abs();
    if v == 0.0 || !v.is_finite() {
        return format!("{v}");
    }
    if !(1e-4..1e7).contains(&magnitude) {
        return format!("{v:.3e}");
    }
    let decimals = (3 - magnitude.log10().floor() as i32).max(0) as usize;
    let text = format!("{v:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// `1 row`, `2 rows`, `3 trajectories`.
pub fn count(n: usize, noun: &str) -> String {
    match (n, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{n} {stem}ies"),
        _ => format!("{n} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_four_digits() {
        for (v, text) in [
            (0.0, "0"),
            (0.824_312, "0.8243"),
            (-2.5, "-2.5"),
            (100_000.0, "100000"),
            (12_345.6, "12346"),
            (1.5e-9, "1.500e-9"),
            (0.99999, "1"),
        ] {
            assert_eq!(figure(v), text);
        }
    }

    #[test]
    fn rows_and_trajectories_count_from_one() {
        let rows = |trajectory| Subject::Rows {
            trajectory,
            first: 0,
            end: 20,
        };
        assert_eq!(rows(0).to_string(), "rows 1 to 20");
        assert_eq!(rows(2).to_string(), "rows 1 to 20 of trajectory 3");
    }

    #[test]
    fn counts_have_their_plural() {
        assert_eq!(count(0, "row"), "0 rows");
        assert_eq!(count(1, "trajectory"), "1 trajectory");
        assert_eq!(count(2, "trajectory"), "2 trajectories");
    }

    #[test]
    fn long_lists_are_cut() {
        assert_eq!(enumerate(&["a"]), "a");
        assert_eq!(enumerate(&["a", "b"]), "a and b");
        assert_eq!(
            enumerate(&["a", "b", "c", "d", "e"]),
            "a, b, c, d and 1 more"
        );
    }
}
