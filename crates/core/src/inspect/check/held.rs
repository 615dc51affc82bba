//! Values that stay the same (a stuck or saturated sensor, rows held by an upsampler) and stretches of rows that
//! occur twice (pasted, or a simulation on an exact cycle).
//!
//! If a fraction p of the values equal their predecessors by quantisation alone, the longest of n runs is about
//! 1 + ln(n(1 − p))/ln(1/p); a run of more than twice that is held.

use std::ops::Range;

use super::super::repeats::{longest_repeated, row_hashes};
use super::super::{Record, Seen, Severity};
use crate::text::{count, figure};

/// Least run of whole rows that counts.
const ROWS: usize = 3;
/// Least run of one channel's values that counts.
const VALUES: usize = 8;
/// With this part of the rows equal to the row before, all are held.
const HELD_PART: f64 = 0.3;

pub(in super::super) fn held(record: &Record) -> Vec<Seen> {
    let varying: Vec<usize> = record.varying().collect();
    if varying.is_empty() {
        return Vec::new();
    }
    let whole = Repeats::new(record, |t| same_row(record, &varying, t));
    if whole.part > HELD_PART {
        return vec![upsampled(record, &varying, &whole)];
    }
    if let Some(run) = whole.held(ROWS) {
        return vec![stuck_rows(record, run, whole.number)];
    }
    let stuck = |&c: &usize| {
        let repeats = Repeats::new(record, |t| record.columns[c][t] == record.columns[c][t - 1]);
        repeats.held(VALUES).map(|run| (c, run))
    };
    stuck_channels(
        record,
        &varying.iter().filter_map(stuck).collect::<Vec<_>>(),
    )
}

/// How often values equal their predecessor.
struct Repeats {
    number: usize,
    part: f64,
    longest: Range<usize>,
    expected: f64,
}

impl Repeats {
    /// Counts where `same(t)` says that row t is as row t − 1, within segments.
    fn new(record: &Record, same: impl Fn(usize) -> bool) -> Repeats {
        let (mut number, mut longest) = (0, 0..0);
        for segment in &record.segments {
            let mut first = segment.start;
            for t in segment.start + 1..segment.end {
                if same(t) {
                    number += 1
                } else {
                    first = t
                }
                if t + 1 - first > longest.len() {
                    longest = first..t + 1;
                }
            }
        }
        let n = record.len() as f64;
        let part = number as f64 / n;
        let expected = match number {
            0 => 1.0,
            _ => 1.0 + (n * (1.0 - part)).ln().max(0.0) / (1.0 / part).ln(),
        };
        Repeats {
            number,
            part,
            longest,
            expected,
        }
    }

    /// The longest run, if it is longer than chance makes.
    fn held(&self, least: usize) -> Option<Range<usize>> {
        let len = self.longest.len();
        (len >= least && len as f64 > 2.0 * self.expected).then(|| self.longest.clone())
    }
}

fn same_row(record: &Record, channels: &[usize], t: usize) -> bool {
    channels
        .iter()
        .all(|&c| record.columns[c][t] == record.columns[c][t - 1])
}

fn upsampled(record: &Record, channels: &[usize], repeats: &Repeats) -> Seen {
    Seen::new(
        Severity::Warning,
        record.subject(channels),
        format!(
            "{} % of the rows equal the row before: held or upsampled",
            figure(100.0 * repeats.part)
        ),
        "keep one row of each run of equal rows, and give the step of the original sampling",
    )
}

fn stuck_rows(record: &Record, run: Range<usize>, number: usize) -> Seen {
    let what = format!(
        "{} in a row are equal: nothing was measured there ({} equal the row before in all)",
        count(run.len(), "row"),
        count(number, "row")
    );
    Seen::new(
        Severity::Warning,
        record.rows(run),
        what,
        "mark these rows missing, so that no window learns a state that stands still",
    )
}

fn stuck_channels(record: &Record, stuck: &[(usize, Range<usize>)]) -> Vec<Seen> {
    let Some((worst, run)) = stuck.iter().max_by_key(|(_, run)| run.len()) else {
        return Vec::new();
    };
    let channels: Vec<usize> = stuck.iter().map(|(c, _)| *c).collect();
    let value = record.columns[*worst][run.start];
    let summary = &record.channels[*worst];
    let saturated = value == summary.min || value == summary.max;
    let cause = if saturated { "saturated" } else { "stuck" };
    let what = format!(
        "{} in a row are {} in {}, from row {}: {cause}",
        count(run.len(), "value"),
        figure(value),
        record.name(*worst),
        run.start + 1
    );
    let remedy = format!(
        "`--missing-value={value}` reads all {value} as missing, so that no window learns a value that was not measured; leave it if such values are measured too"
    );
    vec![Seen::new(
        Severity::Warning,
        record.subject(&channels),
        what,
        &remedy,
    )]
}

pub(in super::super) fn repeated(record: &Record) -> Vec<Seen> {
    let hashes = row_hashes(record.series.rows(), &record.units());
    let Some(run) = longest_repeated(&hashes) else {
        return Vec::new();
    };
    let what = format!(
        "{} occur again from row {} on: pasted, or an exact cycle",
        count(run.len, "row"),
        run.second + 1
    );
    let remedy = "leave the copy out, or split so that no stretch is in both training and test";
    let rows = record.rows(run.first..run.first + run.len);
    vec![Seen::new(Severity::Warning, rows, what, remedy)]
}
