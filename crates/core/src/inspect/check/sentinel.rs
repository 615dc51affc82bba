//! Numbers that stand for missing values: one of the customary ones (−999, 9999, −99.99, 32767, …), more than once, and far outside all other
//! values.

use super::super::{Record, Seen, Severity};
use crate::series::Series;
use crate::text::{count, enumerate};

/// Customary sentinels, without their sign.
const CUSTOMARY: [f64; 15] = [
    99.9, 99.99, 99.999, 999.0, 999.9, 999.99, 9999.0, 9999.9, 9999.99, 99999.0, 999_999.0,
    32767.0, 32768.0, 1e20, 9.96921e36,
];

/// How far from all others, in their range, a value must be.
const FAR: f64 = 0.5;

/// The sentinel of a channel, and how often it occurs.
fn sentinel(column: &[f64]) -> Option<(f64, usize)> {
    let [low, high] = extremes(column.iter().copied())?;
    let ends = [low, high].into_iter();
    let mut found = ends.filter_map(|end| {
        let (value, end) = (customary(end)?, end);
        let others = column.iter().copied().filter(|&v| v != end);
        let times = column.iter().filter(|&&v| v == end).count();
        let [low, high] = extremes(others)?;
        let gap = (value - high).max(low - value);
        (times > 1 && high > low && gap > FAR * (high - low)).then_some((value, times))
    });
    found.next()
}

/// The customary number that a value is, as it is written: in single precision −99.99 is −99.989998.
fn customary(value: f64) -> Option<f64> {
    let mut known = CUSTOMARY.iter();
    let found = known.find(|&c| (value.abs() - c).abs() <= 1e-6 * c)?;
    Some(found.copysign(value))
}

/// The least and the greatest of the values that are not missing.
fn extremes(values: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    let present = values.filter(|v| !v.is_nan());
    present.fold(None, |so_far: Option<[f64; 2]>, v| match so_far {
        None => Some([v, v]),
        Some([low, high]) => Some([low.min(v), high.max(v)]),
    })
}

/// The channels with a sentinel each: which, and how often it occurs.
pub fn sentinels(series: &Series) -> Vec<(usize, f64, usize)> {
    let of = |c: usize| {
        let column: Vec<f64> = series.column(c).collect();
        sentinel(&column).map(|(value, times)| (c, value, times))
    };
    (0..series.dim_obs()).filter_map(of).collect()
}

/// The flag that reads these as missing.
pub fn flag(values: impl Iterator<Item = f64>) -> String {
    format!("--missing-value={}", different(values).join(","))
}

/// Values as texts, each once.
fn different(values: impl Iterator<Item = f64>) -> Vec<String> {
    let mut texts: Vec<String> = Vec::new();
    for text in values.map(|value| value.to_string()) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    texts
}

pub(in super::super) fn seen(record: &Record) -> Vec<Seen> {
    let found = |c: usize| sentinel(&record.columns[c]).map(|found| (c, found));
    let found: Vec<(usize, (f64, usize))> = (0..record.channels.len()).filter_map(found).collect();
    if found.is_empty() {
        return Vec::new();
    }
    let channels: Vec<usize> = found.iter().map(|(c, _)| *c).collect();
    let values = || found.iter().map(|(_, (value, _))| *value);
    let times = count(found.iter().map(|(_, (_, times))| times).sum(), "time");
    let texts = different(values());
    let (occur, seem, them) = match texts.len() {
        1 => ("occurs", "it seems", "it"),
        _ => ("occur", "they seem", "them"),
    };
    let what = format!(
        "{} {occur} {times}, far from all other values: {seem} to stand for what is missing",
        enumerate(&texts)
    );
    let remedy = format!("`{}` reads {them} as missing", flag(values()));
    vec![Seen::new(
        Severity::Problem,
        record.subject(&channels),
        what,
        &remedy,
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(extra: &[f64]) -> Option<(f64, usize)> {
        let wave = (0..200).map(|t| 20.0 + 10.0 * f64::from(t).sin());
        let x: Vec<f64> = wave.chain(extra.iter().copied()).collect();
        sentinel(&x)
    }

    #[test]
    fn customary_numbers_far_off_are_sentinels() {
        for value in [-99.99, -999.0, 9999.0, 32767.0, 1e20] {
            assert_eq!(with(&[value; 3]), Some((value, 3)));
        }
    }

    #[test]
    fn other_numbers_are_not() {
        // Once is an outlier; 98.7 is nobody's; a range that reaches near 99.9 has it as a value.
        assert_eq!(with(&[-999.0]), None);
        assert_eq!(with(&[98.7; 3]), None);
        assert_eq!(with(&[99.9, 99.9, 95.0, 60.0]), None);
        assert_eq!(sentinel(&[9999.0; 5]), None);
        assert_eq!(sentinel(&[]), None);
    }
}
