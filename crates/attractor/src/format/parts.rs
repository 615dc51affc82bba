//! Times in several columns: year and month, with day, hour, minute and second where they are there; or a date and a time of day.
//!
//! Rows are read cell by cell, and a time is the sum of what its cells give. Those of a calendar in which every month has 31 days
//! are
//!
//! ```text
//! ((12 year + month − 1) 31 + day − 1) 86400 + 3600 hour + 60 minute + second
//! ```
//!
//! from which the parts are found again.

use super::date::{Civil, DAY};
use super::text::title::Title;

/// A part of a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// The year.
    Year,
    /// The month, from 1.
    Month,
    /// The day of the month, from 1.
    Day,
    /// The hour.
    Hour,
    /// The minute.
    Minute,
    /// The second.
    Second,
    /// The time of day, in seconds.
    Clock,
}

/// Names of the parts, in lower case.
pub(super) const NAMED: [(Part, &[&str]); 6] = [
    (Part::Year, &["year", "yr", "yyyy", "jahr"]),
    (Part::Month, &["month", "mon", "mo", "mm", "monat"]),
    (Part::Day, &["day", "dy", "dd", "tag"]),
    (Part::Hour, &["hour", "hr", "hh", "stunde"]),
    (Part::Minute, &["minute", "min", "minuten"]),
    (Part::Second, &["second", "sec", "sekunde"]),
];

/// The seconds of a month that has 31 days.
const MONTH: f64 = 31.0 * DAY;

/// The part that a column is named like.
pub(super) fn named(title: &Title) -> Option<Part> {
    let name = title.channel.name.as_str();
    let is_named = |names: &[&str]| names.iter().any(|known| name.eq_ignore_ascii_case(known));
    let mut known = NAMED.iter();
    let found = known.find(|(_, names)| is_named(names))?;
    title.role.is_none().then_some(found.0)
}

impl Part {
    /// What a number adds to the sum; NaN where it can be no such part.
    pub(super) fn amount(self, value: f64) -> f64 {
        let whole = value.fract() == 0.0;
        let (fits, amount) = match self {
            Part::Year => (whole && value.abs() < 1e5, 12.0 * MONTH * value),
            Part::Month => (
                whole && (1.0..=12.0).contains(&value),
                MONTH * (value - 1.0),
            ),
            Part::Day => (whole && (1.0..=31.0).contains(&value), DAY * (value - 1.0)),
            Part::Hour => (whole && (0.0..24.0).contains(&value), 3600.0 * value),
            Part::Minute => (whole && (0.0..60.0).contains(&value), 60.0 * value),
            Part::Second => ((0.0..60.0).contains(&value), value),
            Part::Clock => (true, value),
        };
        if fits { amount } else { f64::NAN }
    }
}

/// The sum of year, month and what else there is, in seconds from 1970; nothing if there is no such day.
pub(super) fn moment(sum: f64) -> Option<f64> {
    let months = (sum / MONTH).floor();
    let rest = sum - months * MONTH;
    let day = Civil {
        year: (months / 12.0).floor() as i64,
        month: months.rem_euclid(12.0) as i64 + 1,
        day: (rest / DAY).floor() as i64 + 1,
    };
    let is_day = !sum.is_nan() && day.exists();
    is_day.then(|| day.days() as f64 * DAY + rest % DAY)
}

#[cfg(test)]
mod tests {
    use super::*;
    use Part::{Day, Hour, Minute, Month, Second, Year};

    fn of(parts: &[(Part, f64)]) -> Option<f64> {
        moment(parts.iter().map(|(part, value)| part.amount(*value)).sum())
    }

    #[test]
    fn parts_are_found_again() {
        assert_eq!(of(&[(Year, 1970.0), (Month, 1.0)]), Some(0.0));
        assert_eq!(
            of(&[(Month, 12.0), (Year, 1969.0), (Day, 31.0)]),
            Some(-DAY)
        );
        let leap = [
            (Year, 2000.0),
            (Month, 2.0),
            (Day, 29.0),
            (Hour, 12.0),
            (Minute, 30.0),
            (Second, 5.25),
        ];
        assert_eq!(of(&leap), Some(951_827_405.25));
    }

    #[test]
    fn what_is_no_day_is_none() {
        for parts in [
            [(Year, 1970.0), (Month, 13.0)],
            [(Year, 1970.5), (Month, 1.0)],
            [(Year, 1970.0), (Month, 0.0)],
            [(Year, f64::NAN), (Month, 1.0)],
        ] {
            assert_eq!(of(&parts), None, "{parts:?}");
        }
        assert_eq!(of(&[(Year, 1900.0), (Month, 2.0), (Day, 29.0)]), None);
    }
}
