//! Text in cells of CSV tables. A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@` and is no number; with an
//! apostrophe before it, it is text there too. Names come from anywhere, so that none is written without.

use std::borrow::Cow;

/// A text as a cell: no formula, and in quotes where it needs them.
pub(crate) fn cell(text: &str) -> String {
    let text = guarded(text);
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.into_owned()
    }
}

/// Whether a spreadsheet would run a text.
pub(crate) fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r']) && text.trim().parse::<f64>().is_err()
}

/// A text with an apostrophe before it if it is a formula, or one that has some already.
pub(crate) fn guarded(text: &str) -> Cow<'_, str> {
    if is_formula(text.trim_start_matches('\'')) {
        Cow::Owned(format!("'{text}"))
    } else {
        Cow::Borrowed(text)
    }
}

/// What was [guarded].
pub(crate) fn unguarded(text: &str) -> &str {
    let rest = text.strip_prefix('\'');
    rest.filter(|rest| is_formula(rest.trim_start_matches('\'')))
        .unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_texts_and_numbers_stay_numbers() {
        for (text, written) in [
            ("=1+1", "'=1+1"),
            ("@a", "'@a"),
            ("+cmd,x", "\"'+cmd,x\""),
            ("'=x", "''=x"),
            ("-", "'-"),
            ("-1.5e3", "-1.5e3"),
            ("+7", "+7"),
            ("a=b", "a=b"),
            ("'a'", "'a'"),
            ("5\" b", "\"5\"\" b\""),
        ] {
            assert_eq!(cell(text), written);
            assert_eq!(unguarded(&guarded(text)), text);
        }
    }
}
