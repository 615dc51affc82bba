//! Moments of a calendar as numbers in which their steps are equal. A month is a step, though it has 28 to 31 days:
//!
//! | moments | times | unit |
//! | --- | --- | --- |
//! | the same day of every month, or its last, at the same time of day | months after January 1970 | `month` |
//! | the same, of the same month | the year | `year` |
//! | others at the same time of day | days after 1970-01-01 | `d` |
//! | all others | seconds after 1970-01-01 00:00 | `s` |
//!
//! Where days are not equally far apart, about a month lies between them, and none has another in its month, as with the middles
//! of months, they stand for their months too.

use super::date::{Civil, DAY};
use super::time::Axis;

/// Times in a unit.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Counted {
    /// The times of each trajectory.
    pub(super) times: Vec<Vec<f64>>,
    /// Their unit.
    pub(super) unit: &'static str,
}

/// Units of time that are counted from a moment of the calendar.
pub(super) const MONTH: &str = "month";
pub(super) const YEAR: &str = "year";
pub(super) const DAYS: &str = "d";
const SECONDS: &str = "s";

/// Moments, in seconds from 1970, in the unit in which their steps are equal.
pub(super) fn count(seconds: &[Vec<f64>]) -> Counted {
    let at_one_clock = is_constant(seconds.iter().flatten().map(|t| t.rem_euclid(DAY)));
    let counted = |unit: &'static str| Counted {
        times: map(seconds, |t| in_unit(t, unit)),
        unit,
    };
    if at_one_clock && is_same_day(seconds) {
        let month = seconds
            .iter()
            .flatten()
            .map(|&t| Civil::of_seconds(t).month);
        return counted(if is_constant(month) { YEAR } else { MONTH });
    }
    let plain = counted(if at_one_clock { DAYS } else { SECONDS });
    if is_monthly(seconds) && Axis::fit(&plain.times).is_err() {
        return counted(MONTH);
    }
    plain
}

/// A moment in one of these units.
pub(super) fn in_unit(seconds: f64, unit: &str) -> f64 {
    let day = Civil::of_seconds(seconds);
    match unit {
        YEAR => day.year as f64,
        MONTH => day.months() as f64,
        DAYS => (seconds / DAY).floor(),
        _ => seconds,
    }
}

/// Whole numbers such as 19500131 or 195001 as seconds from 1970, if all of them can be such.
pub(super) fn of_digits(times: &[Vec<f64>]) -> Option<Vec<Vec<f64>>> {
    let day = |&t: &f64| {
        let digits = Some(t as i64).filter(|&whole| whole as f64 == t)?;
        let digits = if digits < 1_000_000 {
            digits * 100 + 1
        } else {
            digits
        };
        let day = Civil {
            year: digits / 10_000,
            month: digits / 100 % 100,
            day: digits % 100,
        };
        let is_year = (1000..3000).contains(&day.year);
        (is_year && day.exists()).then(|| day.days() as f64 * DAY)
    };
    let of_one = |times: &Vec<f64>| times.iter().map(day).collect::<Option<Vec<f64>>>();
    times.iter().map(of_one).collect()
}

fn map(times: &[Vec<f64>], f: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    let of_one = |times: &Vec<f64>| times.iter().map(|&t| f(t)).collect();
    times.iter().map(of_one).collect()
}

/// Whether there are two moments or more, all on the same day of their months, or all on the last.
fn is_same_day(seconds: &[Vec<f64>]) -> bool {
    let days = || seconds.iter().flatten().map(|&t| Civil::of_seconds(t));
    let has_steps = seconds.iter().any(|times| times.len() > 1);
    has_steps && (is_constant(days().map(|day| day.day)) || days().all(Civil::is_last))
}

/// Whether the usual step is about a month and no two moments of a trajectory are in the same.
fn is_monthly(seconds: &[Vec<f64>]) -> bool {
    let pairs = || seconds.iter().flat_map(|times| times.windows(2));
    let mut steps: Vec<f64> = pairs().map(|pair| pair[1] - pair[0]).collect();
    if steps.is_empty() {
        return false;
    }
    let middle = steps.len() / 2;
    let (_, &mut median, _) = steps.select_nth_unstable_by(middle, f64::total_cmp);
    let month = |t: f64| Civil::of_seconds(t).months();
    (27.0 * DAY..=32.0 * DAY).contains(&median)
        && pairs().all(|pair| month(pair[0]) < month(pair[1]))
}

fn is_constant<T: PartialEq>(mut values: impl Iterator<Item = T>) -> bool {
    let first = values.next();
    values.all(|value| Some(value) == first)
}

#[cfg(test)]
mod tests {
    use super::super::date::{Order, parse};
    use super::*;

    fn counted(dates: &[&str]) -> (Vec<f64>, &'static str) {
        let seconds = dates.iter().map(|d| parse(d, Order::Day).unwrap().seconds);
        let mut found = count(&[seconds.collect()]);
        (found.times.remove(0), found.unit)
    }

    #[test]
    fn months_are_steps_whatever_their_length() {
        for dates in [
            ["1970-01-01", "1970-02-01", "1970-03-01", "1970-05-01"],
            ["1970-01-31", "1970-02-28", "1970-03-31", "1970-05-31"],
            [
                "1970-01-16 12:00",
                "1970-02-15 00:00",
                "1970-03-16 12:00",
                "1970-05-16 12:00",
            ],
        ] {
            assert_eq!(counted(&dates), (vec![0.0, 1.0, 2.0, 4.0], MONTH));
        }
    }

    #[test]
    fn other_moments_are_counted_in_the_longest_unit_that_fits() {
        let years = ["1950-07-01", "1951-07-01", "1953-07-01"];
        assert_eq!(counted(&years), (vec![1950.0, 1951.0, 1953.0], YEAR));
        let days = ["1969-12-30", "1970-01-01", "1970-01-02"];
        assert_eq!(counted(&days), (vec![-2.0, 0.0, 1.0], DAYS));
        let hours = ["1970-01-01", "1970-01-01 01:00"];
        assert_eq!(counted(&hours), (vec![0.0, 3600.0], SECONDS));
        // Four weeks are no month, where they are all alike.
        let weeks = ["1970-01-01", "1970-01-29", "1970-02-26", "1970-03-26"];
        assert_eq!(counted(&weeks), (vec![0.0, 28.0, 56.0, 84.0], DAYS));
        assert_eq!(counted(&["1970-01-05"]), (vec![4.0], DAYS));
    }

    #[test]
    fn digits_may_be_a_date() {
        let days = of_digits(&[vec![19_700_101.0, 19_700_201.0]]);
        assert_eq!(days, Some(vec![vec![0.0, 31.0 * DAY]]));
        let months = of_digits(&[vec![197_001.0, 197_002.0]]);
        assert_eq!(months, Some(vec![vec![0.0, 31.0 * DAY]]));
        for other in [
            19_701_301.0,
            19_700_101.5,
            1970.0,
            0.0,
            -197_001.0,
            1e300,
            99_999_901.0,
        ] {
            assert_eq!(of_digits(&[vec![other]]), None, "{other}");
        }
    }
}
