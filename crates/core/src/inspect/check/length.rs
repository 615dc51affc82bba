//! Whether there is enough of it, finely enough: a window of T steps needs T + 1 contiguous rows (one to start
//! from and T to predict); statistics need some 50 of the slowest channel's
//! autocorrelation times τ or periods; and a continuous system wants 2 ≤ τ ≤ 300 rows.

use super::super::{ChannelSummary, Record, Seen, Severity, Subject};
use crate::text::{count, figure, measure};

/// Fewer cycles or autocorrelation times than this make every statistic uncertain by some 15 %, 1/√50.
const CYCLES: f64 = 50.0;
/// An autocorrelation time of fewer rows is undersampled.
const COARSE: f64 = 2.0;
/// An autocorrelation time of more rows is oversampled: a window of 200 then sees less than one.
const FINE: f64 = 300.0;

pub(in super::super) fn too_short(record: &Record) -> Vec<Seen> {
    let needed = record.options.window + 1;
    let longest = record.longest_segment();
    if longest >= needed {
        return Vec::new();
    }
    let what = format!(
        "the longest stretch without a gap has {}; a window of {} needs {needed}",
        count(longest, "row"),
        count(record.options.window, "step")
    );
    let remedy = match longest {
        0..=10 => "record more: this is too little for any window".to_string(),
        _ => format!(
            "record more, or train with `--window {}` or less",
            longest - 1
        ),
    };
    vec![Seen {
        severity: Severity::Problem,
        subject: Subject::Recording,
        what,
        remedy,
    }]
}

pub(in super::super) fn few_cycles(record: &Record) -> Vec<Seen> {
    let slowest = record
        .varying()
        .filter_map(|c| slowness(&record.channels[c]).map(|(rows, noun)| (c, rows, noun)))
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let forgets_never = record
        .varying()
        .filter(|&c| record.len() > 3 && record.channels[c].autocorrelation_time.is_none())
        .collect::<Vec<usize>>();
    let remedy =
        "record longer, or read every score with its error bar: statistics of so few are uncertain";
    if !forgets_never.is_empty() {
        let what = "still correlated after half of the record".to_string();
        let subject = record.subject(&forgets_never);
        return vec![Seen::new(Severity::Warning, subject, what, remedy)];
    }
    let Some((channel, rows, noun)) = slowest else {
        return Vec::new();
    };
    let held = record.len() as f64 / rows;
    if held >= CYCLES {
        return Vec::new();
    }
    let what = format!(
        "the record holds only {} {noun}s of {}",
        figure(held),
        record.duration(rows)
    );
    vec![Seen::new(
        Severity::Warning,
        record.subject(&[channel]),
        what,
        remedy,
    )]
}

/// The longer of autocorrelation time and period.
fn slowness(channel: &ChannelSummary) -> Option<(f64, &'static str)> {
    let time = channel
        .autocorrelation_time
        .map(|t| (t, "autocorrelation time"));
    let period = channel.period.map(|p| (p.rows, "period"));
    let both = time.into_iter().chain(period);
    both.max_by(|a, b| a.0.total_cmp(&b.0))
}

pub(in super::super) fn sampling(record: &Record) -> Vec<Seen> {
    let time = |c: usize| record.channels[c].autocorrelation_time;
    let coarse: Vec<usize> = record
        .varying()
        .filter(|&c| time(c).is_some_and(|t| t < COARSE))
        .collect();
    let fine: Vec<usize> = record
        .varying()
        .filter(|&c| time(c).is_some_and(|t| t > FINE))
        .collect();
    let shortest = coarse
        .iter()
        .filter_map(|&c| time(c))
        .fold(f64::MAX, f64::min);
    let longest = fine.iter().filter_map(|&c| time(c)).fold(0.0, f64::max);
    // A map, such as Hénon's, forgets within a row and is as it should be.
    let undersampled = || {
        Seen::new(
            Severity::Warning,
            record.subject(&coarse),
            format!(
                "forgets within {}: undersampled, or mostly noise",
                measure(shortest, "row")
            ),
            "sample faster, or smooth noise away with `attractor prepare FILE smooth.csv --smooth gaussian:2`; leave it if the system is a map in discrete time",
        )
    };
    let oversampled = || {
        Seen::new(
            Severity::Note,
            record.subject(&fine),
            format!(
                "autocorrelation time is {}: oversampled",
                record.duration(longest)
            ),
            &format!(
                "`attractor prepare FILE thin.csv --every {}` keeps some fifty rows of it; one window sees little of the dynamics otherwise",
                (longest / 50.0) as usize
            ),
        )
    };
    let coarse_seen = (!coarse.is_empty()).then(undersampled);
    let fine_seen = (!fine.is_empty()).then(oversampled);
    coarse_seen.into_iter().chain(fine_seen).collect()
}
