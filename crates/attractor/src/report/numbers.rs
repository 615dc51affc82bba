//! Numbers as they stand in the page: five significant digits where they are drawn, all of them where they are computed
//! with, and null where there is none.

use serde_json::{Map, Value};

/// A number to be drawn, with five significant digits; null if it is not finite.
pub(super) fn rounded(v: f64) -> Value {
    if !v.is_finite() {
        return Value::Null;
    }
    let short = format!("{v:.4e}").parse().unwrap_or(v);
    whole(short).map_or_else(|| Value::from(short), Value::from)
}

/// A small whole number, which is shorter without a fraction.
fn whole(v: f64) -> Option<i64> {
    (v.fract() == 0.0 && v.abs() < 1e9).then_some(v as i64)
}

/// A list of numbers to be drawn.
pub(super) fn list(values: impl IntoIterator<Item = f64>) -> Value {
    values.into_iter().map(rounded).collect()
}

/// A list of numbers to be computed with: every one is read back as the same f64.
pub(super) fn exact(values: &[f64]) -> Value {
    values.iter().copied().map(Value::from).collect()
}

/// Parameters in single precision, in as few digits as give the same f32 again.
pub(super) fn single(values: &[f32]) -> Value {
    let digits = |v: &f32| {
        v.to_string()
            .parse::<f64>()
            .map_or(Value::Null, Value::from)
    };
    values.iter().map(digits).collect()
}

/// A document with all its fractions rounded.
pub(super) fn shortened(document: Value) -> Value {
    match document {
        Value::Number(n) if n.is_f64() => n.as_f64().map_or(Value::Null, rounded),
        Value::Array(values) => values.into_iter().map(shortened).collect(),
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(key, v)| (key, shortened(v)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => other,
    }
}

/// Up to `count` indices that are evenly spread over 0..len, both ends among them.
pub(super) fn spread(len: usize, count: usize) -> Vec<usize> {
    if len <= count {
        return (0..len).collect();
    }
    (0..count).map(|i| i * (len - 1) / (count - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn drawn_numbers_have_five_digits_and_no_useless_ones() {
        let texts = |v: f64| rounded(v).to_string();
        assert_eq!(texts(0.123_456_789), "0.12346");
        assert_eq!(texts(-1_234_567.0), "-1234600");
        assert_eq!(texts(2.0), "2");
        assert_eq!(texts(f64::NAN), "null");
        assert_eq!(texts(f64::INFINITY), "null");
        assert_eq!(texts(-0.0), "0");
    }

    #[test]
    fn parameters_are_read_back_bit_for_bit() {
        let values = [0.1f32, -3.402_823_5e38, 1e-45, 0.333_333_34];
        for (v, text) in values.iter().zip(single(&values).as_array().unwrap()) {
            let read: f64 = text.to_string().parse().unwrap();
            assert_eq!(v.to_bits(), (read as f32).to_bits());
        }
    }

    #[test]
    fn only_fractions_are_rounded() {
        let document = json!({ "a": [1.000_001, 12_345_678, "0.123456"], "b": null });
        let short = json!({ "a": [1, 12_345_678, "0.123456"], "b": null });
        assert_eq!(shortened(document), short);
    }

    #[test]
    fn indices_have_both_ends() {
        assert_eq!(spread(3, 5), [0, 1, 2]);
        assert_eq!(spread(100, 4), [0, 33, 66, 99]);
    }
}
