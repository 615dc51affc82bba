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

/// Whether a cell is missing or a number by any notation.
pub(super) fn is_any(cell: &[u8]) -> bool {
    let marks = [Decimal::Point, Decimal::Comma];
    let is_number = marks.iter().any(|&mark| parse(cell, mark).is_some());
    is_number || std::str::from_utf8(cell).is_ok_and(|text| grouped(text).is_some())
}

/// The value of a number with commas between thousands, as 1,234 or 1,234,567.8.
pub(in crate::format) fn grouped(text: &str) -> Option<f64> {
    let text = text.trim();
    let (sign, digits) = text.split_at(usize::from(text.starts_with(['+', '-'])));
    let whole = digits.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let first = groups.next().unwrap_or_default();
    let is_first = (1..=3).contains(&first.len()) && !first.starts_with('0');
    let is_group = |group: &str| group.len() == 3;
    let are_digits = whole.bytes().all(|b| b.is_ascii_digit() || b == b',');
    let is_grouped = whole.contains(',') && is_first && are_digits && groups.all(is_group);
    if is_grouped {
        format!("{sign}{}", digits.replace(',', "")).parse().ok()
    } else {
        None
    }
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
    fn commas_may_stand_between_thousands() {
        for (text, value) in [("1,234", 1234.0), ("-12,345,678.5", -12_345_678.5)] {
            assert_eq!(grouped(text), Some(value), "{text}");
        }
        for text in [
            "1234", "1,5", "0,123", "1234,567", "1,234,5", ",123", "1,2a4", "x",
        ] {
            assert_eq!(grouped(text), None, "{text}");
        }
        for text in ["1,5", "1.5", "1,234.5", "1,234,567", "NA", ""] {
            assert!(is_any(text.as_bytes()), "{text}");
        }
        assert!(!is_any(b"x1") && !is_any(b"1,2,3"));
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
