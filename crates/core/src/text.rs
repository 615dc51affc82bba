//! Numbers, counts and lists of names as they stand in messages.

/// Names printed before the rest is only counted.
const NAMED: usize = 4;

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
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        text
    }
}

/// `1 row`, `2 rows`, `3 trajectories`, `4 batches`.
pub fn count(n: usize, noun: &str) -> String {
    match (n, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{n} {stem}ies"),
        _ if noun.ends_with("ch") => format!("{n} {noun}es"),
        _ => format!("{n} {noun}s"),
    }
}

/// `1 row`, `2.5 rows`: a number with four significant digits of something.
pub fn measure(v: f64, noun: &str) -> String {
    match figure(v).as_str() {
        "1" => count(1, noun),
        text => count(2, noun).replacen('2', text, 1),
    }
}

/// `0.3 s`, `1 month`, `2.5 months`, `3 units of time`: a time, whose unit has a plural where it is a word.
pub fn duration(v: f64, unit: &str) -> String {
    const WORDS: [&str; 7] = ["second", "minute", "hour", "day", "week", "month", "year"];
    match unit {
        "" => format!("{} of time", measure(v, "unit")),
        word if WORDS.contains(&word) => measure(v, word),
        symbol => format!("{} {symbol}", figure(v)),
    }
}

/// A whole number with commas between its thousands.
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 row`, `12,345 rows`.
pub fn grouped_count(n: usize, noun: &str) -> String {
    count(n, noun).replacen(&n.to_string(), &grouped(n), 1)
}

/// `a`, `a and b`, `a, b, c, d and 60 more`.
pub fn enumerate<T: AsRef<str>>(names: &[T]) -> String {
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
    fn counts_have_their_plural() {
        assert_eq!(count(0, "row"), "0 rows");
        assert_eq!(count(1, "trajectory"), "1 trajectory");
        assert_eq!(count(2, "trajectory"), "2 trajectories");
        assert_eq!(count(5, "batch"), "5 batches");
        assert_eq!(measure(1.0, "row"), "1 row");
        assert_eq!(measure(2.25, "row"), "2.25 rows");
        assert_eq!(measure(0.5, "trajectory"), "0.5 trajectories");
    }

    #[test]
    fn thousands_are_set_apart() {
        assert_eq!(
            [0, 999, 1000, 1_234_567].map(grouped),
            ["0", "999", "1,000", "1,234,567"]
        );
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
