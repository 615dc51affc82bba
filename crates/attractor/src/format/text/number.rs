//! One cell as a number: NaN when missing, nothing when it is text.

use super::super::Decimal;

/// Words for a missing value, in any case, besides the empty cell and what is NaN already.
const MISSING: [&str; 10] = [
    "na", "n/a", "#n/a", "null", "none", "nil", "missing", "-", "?", ".",
];

/// The longest number that is written with a decimal comma.
const LONGEST: usize = 64;

/// The value of a cell. Infinite where it says so or is beyond f64.
pub(super) fn parse(cell: &[u8], decimal: Decimal) -> Option<f64> {
    let cell = cell.trim_ascii();
    let number = match decimal {
        Decimal::Point => parse_point(cell),
        Decimal::Comma => parse_comma(cell),
    };
    number.or_else(|| is_missing(cell).then_some(f64::NAN))
}

fn parse_point(cell: &[u8]) -> Option<f64> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}

fn parse_comma(cell: &[u8]) -> Option<f64> {
    if cell.len() > LONGEST || cell.contains(&b'.') {
        return None;
    }
    let mut point = [0; LONGEST];
    let point = &mut point[..cell.len()];
    point.copy_from_slice(cell);
    if let Some(comma) = point.iter_mut().find(|byte| **byte == b',') {
        *comma = b'.';
    }
    parse_point(point)
}

fn is_missing(cell: &[u8]) -> bool {
    cell.is_empty()
        || MISSING
            .iter()
            .any(|word| cell.eq_ignore_ascii_case(word.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_either_notation() {
        for (text, value) in [("1.5", 1.5), (" -2e-3 ", -2e-3), ("+7", 7.0), (".5", 0.5)] {
            assert_eq!(parse(text.as_bytes(), Decimal::Point), Some(value));
            let comma = text.replace('.', ",");
            assert_eq!(parse(comma.as_bytes(), Decimal::Comma), Some(value));
        }
        for text in ["1,5", "1.5.2", "x", "0x10", "1 2", "12:30"] {
            assert_eq!(parse(text.as_bytes(), Decimal::Point), None, "{text}");
        }
        for text in ["1.5", "1.000,5", "1,2,3"] {
            assert_eq!(parse(text.as_bytes(), Decimal::Comma), None, "{text}");
        }
    }

    #[test]
    fn words_for_missing_values() {
        for text in [
            "", "  ", "NaN", "nan", "-nan", "NA", "N/A", "null", "None", "?", "-", ".",
        ] {
            let value = parse(text.as_bytes(), Decimal::Point);
            assert!(value.is_some_and(f64::is_nan), "{text}");
        }
        assert_eq!(parse(b"inf", Decimal::Point), Some(f64::INFINITY));
        assert_eq!(parse(b"1e999", Decimal::Point), Some(f64::INFINITY));
    }
}
