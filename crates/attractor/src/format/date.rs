//! Dates as people write them, as seconds from 1970-01-01 00:00 in the proleptic Gregorian calendar:
//!
//! ```text
//! 1950-01-31   1950/01/31   1950-01   31.01.1950   31/01/1950   01/31/1950   01/1950
//! ```
//!
//! each with a clock time (`T12:30`, ` 12:30:05.25`, ` 1:30 PM`) and a zone (`Z`, `+01:00`, `-0530`) where there is one. Dots put the
//! day first; between slashes, and between dashes with the year last, either order is in use, so that a file has to show which it has.

use std::fmt;

/// Seconds of a day.
pub(super) const DAY: f64 = 86_400.0;

/// A moment as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Date {
    /// Seconds from 1970, as the clock of its zone shows them.
    pub(super) seconds: f64,
    /// How far that clock is ahead of universal time, in seconds; none if the text does not say.
    pub(super) zone: Option<f64>,
}

/// What comes first in `01/02/1950`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The day.
    Day,
    /// The month.
    Month,
}

/// What the cells of a column are, if not numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Spelling {
    /// Dates, with this order where it matters.
    Dates(Order),
    /// Dates that may have either order, such as this one.
    Ambiguous(String),
    /// Times of day.
    Clock,
}

/// A day of the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Civil {
    /// The year.
    pub(super) year: i64,
    /// The month, from 1.
    pub(super) month: i64,
    /// The day of the month, from 1.
    pub(super) day: i64,
}

/// The moment that a text writes, with or without a time of day.
pub(super) fn parse(text: &str, order: Order) -> Option<Date> {
    let text = text.trim();
    let end = text.find(['T', 't', ' ']).unwrap_or(text.len());
    let day = civil(&text[..end], order)?.days() as f64 * DAY;
    let (clock, zone) = match text.get(end + 1..).map(str::trim) {
        None => (0.0, None),
        Some(rest) => clock_and_zone(rest)?,
    };
    Some(Date {
        seconds: day + clock,
        zone,
    })
}

/// Seconds since midnight, of a text such as `12:30:05`.
pub(super) fn parse_clock(text: &str) -> Option<f64> {
    Some(clock_and_zone(text.trim())?.0)
}

/// What all cells of a column are that are not empty; nothing if they are something else.
pub(super) fn spelling<'a>(cells: impl Iterator<Item = &'a str> + Clone) -> Option<Spelling> {
    let there = || cells.clone().filter(|cell| !cell.trim().is_empty());
    let first = there().next()?;
    let all = |order: Order| there().all(|cell| parse(cell, order).is_some());
    match (all(Order::Day), all(Order::Month)) {
        (true, true) => {
            let differs = |cell: &&str| parse(cell, Order::Day) != parse(cell, Order::Month);
            Some(match there().find(differs) {
                Some(cell) => Spelling::Ambiguous(cell.trim().to_string()),
                None => Spelling::Dates(Order::Day),
            })
        }
        (true, false) => Some(Spelling::Dates(Order::Day)),
        (false, true) => Some(Spelling::Dates(Order::Month)),
        (false, false) => {
            let is_clock = first.contains(':') && there().all(|cell| parse_clock(cell).is_some());
            is_clock.then_some(Spelling::Clock)
        }
    }
}

/// Whether a text is a date in some order, or a time of day.
pub(super) fn is_any(text: &str) -> bool {
    [Order::Day, Order::Month]
        .iter()
        .any(|&order| parse(text, order).is_some())
        || (text.contains(':') && parse_clock(text).is_some())
}

/// The day that a text without a time of day writes.
fn civil(text: &str, order: Order) -> Option<Civil> {
    let mark = text.find(['-', '.', '/']).map(|at| text.as_bytes()[at])?;
    let parts: Vec<&str> = text.split(char::from(mark)).collect();
    let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if !parts.iter().all(|part| digits(part)) {
        return None;
    }
    let number = |i: usize| parts[i].parse::<i64>().ok();
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let (year, month, day) = match (lengths.as_slice(), mark, order) {
        ([4, 1..=2, 1..=2], ..) => (0, 1, Some(2)),
        ([1..=2, 1..=2, 4], b'.', _) | ([1..=2, 1..=2, 4], _, Order::Day) => (2, 1, Some(0)),
        ([1..=2, 1..=2, 4], _, Order::Month) => (2, 0, Some(1)),
        // With a dot these are numbers.
        ([4, 1..=2], b'-' | b'/', _) => (0, 1, None),
        ([1..=2, 4], b'-' | b'/', _) => (1, 0, None),
        _ => return None,
    };
    let found = Civil {
        year: number(year)?,
        month: number(month)?,
        day: day.map_or(Some(1), number)?,
    };
    found.exists().then_some(found)
}

/// `12:30`, `12:30:05.25`, `1:30 PM`, each with a zone or without.
fn clock_and_zone(text: &str) -> Option<(f64, Option<f64>)> {
    let end = text.find(|c: char| !(c.is_ascii_digit() || matches!(c, ':' | '.' | ',')));
    let (clock, rest) = text.split_at(end.unwrap_or(text.len()));
    let rest = rest.trim();
    let half = rest.get(..2).map(str::to_ascii_uppercase);
    let (half, rest) = match half.as_deref() {
        Some(half @ ("AM" | "PM")) => (Some(half == "PM"), rest[2..].trim()),
        _ => (None, rest),
    };
    Some((clock_seconds(clock, half)?, zone(rest)?))
}

/// Seconds since midnight; `half` is whether it is the second half of a day of twice twelve hours.
fn clock_seconds(text: &str, half: Option<bool>) -> Option<f64> {
    let mut parts = text.split(':');
    let mut whole = |below: u32| {
        let part = parts.next()?;
        let fits = (1..=2).contains(&part.len());
        part.parse::<u32>().ok().filter(|&n| fits && n < below)
    };
    let hour = whole(25)?;
    let minute = whole(60)?;
    let second = match parts.next() {
        None => 0.0,
        Some(part) => {
            let written = part.replace(',', ".");
            let digits = written.bytes().next()?.is_ascii_digit();
            written
                .parse::<f64>()
                .ok()
                .filter(|&s| digits && s < 61.0)?
        }
    };
    let hour = match half {
        None => hour,
        Some(_) if !(1..=12).contains(&hour) => return None,
        Some(is_second) => hour % 12 + if is_second { 12 } else { 0 },
    };
    let seconds = f64::from(hour) * 3600.0 + f64::from(minute) * 60.0 + second;
    (parts.next().is_none() && seconds <= DAY).then_some(seconds)
}

/// Seconds ahead of universal time; none inside if nothing is written, nothing if it is no zone.
fn zone(text: &str) -> Option<Option<f64>> {
    let universal = ["z", "utc", "gmt"];
    if text.is_empty() {
        return Some(None);
    }
    if universal.iter().any(|word| text.eq_ignore_ascii_case(word)) {
        return Some(Some(0.0));
    }
    let (sign, digits) = match text.as_bytes()[0] {
        b'+' => (1.0, &text[1..]),
        b'-' => (-1.0, &text[1..]),
        _ => return None,
    };
    let digits = digits.replacen(':', "", 1);
    let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: f64 = digits.parse().ok().filter(|_| is_number)?;
    let (hours, minutes) = match digits.len() {
        2 => (number, 0.0),
        4 => ((number / 100.0).floor(), number % 100.0),
        _ => return None,
    };
    (hours < 24.0 && minutes < 60.0).then_some(Some(sign * (hours * 3600.0 + minutes * 60.0)))
}

impl Civil {
    /// The day of a moment.
    pub(super) fn of_seconds(seconds: f64) -> Civil {
        Civil::of_days((seconds / DAY).floor() as i64)
    }

    /// Days after 1970-01-01. A year begins in March here, so that the day that leap years add is its last; 400 years have
    /// 146,097 days.
    pub(super) fn days(self) -> i64 {
        let year = self.year - i64::from(self.month <= 2);
        let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
        let month = (self.month + 9) % 12;
        let day = (153 * month + 2) / 5 + self.day - 1;
        era * 146_097 + year * 365 + year / 4 - year / 100 + day - 719_468
    }

    /// The day that is so many days after 1970-01-01.
    fn of_days(days: i64) -> Civil {
        let days = days + 719_468;
        let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let of_month = day - (153 * month + 2) / 5 + 1;
        let month = (month + 2) % 12 + 1;
        Civil {
            year: year + era * 400 + i64::from(month <= 2),
            month,
            day: of_month,
        }
    }

    /// Months after January 1970.
    pub(super) fn months(self) -> i64 {
        (self.year - 1970) * 12 + self.month - 1
    }

    /// Whether it is the last of its month.
    pub(super) fn is_last(self) -> bool {
        Civil::of_days(self.days() + 1).month != self.month
    }

    /// Whether the calendar has it.
    pub(super) fn exists(self) -> bool {
        let is_named = (1..=12).contains(&self.month) && (1..=31).contains(&self.day);
        is_named && Civil::of_days(self.days()) == self
    }
}

impl fmt::Display for Civil {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A moment in words: the day, and the clock if it does not show midnight.
pub(super) fn in_words(seconds: f64) -> String {
    let day = Civil::of_seconds(seconds);
    let clock = seconds.rem_euclid(DAY);
    let (hours, minutes) = ((clock / 3600.0).floor(), (clock % 3600.0 / 60.0).floor());
    if clock == 0.0 {
        return day.to_string();
    }
    // Microseconds at most: a double of these years holds no more.
    let second = (clock % 60.0 * 1e6).floor() / 1e6;
    let point = if second < 10.0 { "0" } else { "" };
    format!("{day} {hours:02}:{minutes:02}:{point}{second}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<f64> {
        let date = parse(text, Order::Day)?;
        Some(date.seconds - date.zone.unwrap_or(0.0))
    }

    /// The Unix times of known moments, by `date -u -d … +%s`.
    #[test]
    fn dates_are_seconds_from_1970() {
        for (text, expected) in [
            ("1970-01-01", 0.0),
            ("1950-01-01", -631_152_000.0),
            ("1950-01", -631_152_000.0),
            ("01/1950", -631_152_000.0),
            ("31.1.1950", -628_560_000.0),
            ("2000/02/29", 951_782_400.0),
            ("2000-02-29T12:30:05.25Z", 951_827_405.25),
            ("2000-02-29 12:30:05,25+00:00", 951_827_405.25),
            ("29/02/2000 12:30 PM", 951_827_400.0),
            ("29/02/2000 12:30 am", 951_784_200.0),
            ("2000-02-29T13:30:05.25+01:00", 951_827_405.25),
            ("2000-02-29T07:00:05.25-0530", 951_827_405.25),
            ("1900-02-28 23:59:60", -2_203_891_200.0),
            ("0001-01-01", -62_135_596_800.0),
        ] {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_no_calendar_has_is_no_date() {
        for text in [
            "1900-02-29",
            "1950-13-01",
            "1950-00-01",
            "1950-1-32",
            "1950",
            "1950.5",
            "19500101",
            "1-2-50",
            "x",
            "",
            "1950-01-01T",
            "1950-01-01 25:00",
            "1950-01-01 12:60",
            "1950-01-01 12",
            "1950-01-01 12:30 x",
            "1950-01-01 13:30 PM",
            "1950-01-01 12:30+1",
            "12:30",
            "-1950-01-01",
            "1950-+1-01",
            "1950-01-01 1:2:3:4",
        ] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }

    #[test]
    fn days_are_counted_both_ways() {
        for days in (-1_000_000..1_000_000).step_by(37) {
            let day = Civil::of_days(days);
            assert_eq!(day.days(), days);
            assert_eq!(day.is_last(), Civil::of_days(days + 1).day == 1, "{day}");
        }
    }

    #[test]
    fn a_column_shows_its_order() {
        let of = |cells: &[&str]| spelling(cells.iter().copied());
        assert_eq!(
            of(&["01/02/1950", "13/02/1950"]),
            Some(Spelling::Dates(Order::Day))
        );
        assert_eq!(
            of(&["01/02/1950", "", "01/31/1950"]),
            Some(Spelling::Dates(Order::Month))
        );
        let either = Some(Spelling::Ambiguous("01/02/1950".to_string()));
        assert_eq!(of(&["01/01/1950", " 01/02/1950"]), either);
        assert_eq!(of(&["13/02/1950", "01/31/1950"]), None);
        assert_eq!(
            of(&["1.2.1950", "2.2.1950"]),
            Some(Spelling::Dates(Order::Day))
        );
        assert_eq!(of(&["12:30", "12:31:05"]), Some(Spelling::Clock));
        assert_eq!(of(&["1.5", "2"]), None);
        assert_eq!(of(&["", ""]), None);
    }

    #[test]
    fn moments_are_told_as_they_are_written() {
        for text in [
            "1950-01-31",
            "2000-02-29 12:30:05.25",
            "1969-12-31 23:00:09",
        ] {
            assert_eq!(in_words(seconds(text).unwrap()), text);
        }
    }
}
