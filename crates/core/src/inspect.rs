//! What a careful colleague would notice about a recording before hours of training: its shape, each channel's
//! mean and spread, how fast it forgets (autocorrelation time), how it repeats (dominant period), and a ranked list
//! of [`Finding`]s with figures and remedies.
//!
//! A new check is one function of the [`Record`] and one line in `CHECKS`. Every check is O(T log T) a channel,
//! and is tested on data that have the fault and on data that do not.

pub mod against;
mod check;
mod record;
mod repeats;
mod spectrum;
mod words;

use crate::hint::Hint;
use crate::progress::{Follow, Stopped, Unwatched, tell};
use crate::series::{Series, Step};

pub use against::{Comparison, Difference};
pub use check::clock::{Clock, clocks};
pub use check::hidden::hides_states;
pub use check::sentinel::{flag as missing_flag, sentinels};
pub use record::{ChannelSummary, Record, TrajectorySummary};
pub use spectrum::Period;

/// What the recording is meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Options {
    /// Predicted steps T of the training window.
    pub window: usize,
}

impl Default for Options {
    /// The window of the paper's Lorenz-63 and ECG rows.
    fn default() -> Options {
        Options { window: 200 }
    }
}

/// What was seen in a recording.
#[derive(Debug, Clone, PartialEq)]
pub struct Inspection {
    /// Number of rows over all trajectories.
    pub rows: usize,
    /// The sampling step.
    pub step: Step,
    /// The trajectories, in order.
    pub trajectories: Vec<TrajectorySummary>,
    /// The channels, in order.
    pub channels: Vec<ChannelSummary>,
    /// Names of the external inputs.
    pub inputs: Vec<String>,
    /// How a second recording compares, if one was given.
    pub against: Option<Comparison>,
    /// What to know before training, the most serious first.
    pub findings: Vec<Finding>,
}

/// One thing worth knowing, with figures and a remedy.
#[derive(Debug, Clone, PartialEq)]
pub struct Finding {
    /// The name of the check that found it, stable from version to version.
    pub check: &'static str,
    /// How grave it is.
    pub severity: Severity,
    /// What it is about.
    pub subject: Subject,
    /// What was found, with figures; lower case, no final period.
    pub what: String,
    /// What to do about it. Commands in it name the recording FILE.
    pub remedy: Hint,
}

/// How grave a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Training on this, or judging by it, is meaningless or impossible.
    Problem,
    /// Results will suffer unless it is meant.
    Warning,
    /// Good to know.
    Note,
}

impl Severity {
    /// The word that a user reads.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Problem => "problem",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// What a finding is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// The whole recording.
    Recording,
    /// The recording and the one it is compared with.
    Pair,
    /// Channels or inputs, by name.
    Channels(Vec<String>),
    /// Rows `first..end` of one trajectory, from 0.
    Rows {
        /// The trajectory's number, from 0.
        trajectory: usize,
        /// The first row.
        first: usize,
        /// The row after the last.
        end: usize,
    },
}

/// A check: its stable name, and the function that looks at what was measured.
struct Check<Look> {
    id: &'static str,
    look: Look,
}

/// A function that looks at one recording.
type LookAtRecord = fn(&Record) -> Vec<Seen>;

/// What a check saw: a finding that does not know its check's name yet.
struct Seen {
    severity: Severity,
    subject: Subject,
    what: String,
    remedy: String,
}

/// All checks, in the order in which findings of equal severity are listed.
static CHECKS: &[Check<LookAtRecord>] = &[
    Check {
        id: "time-as-state",
        look: check::clock::clock_as_state,
    },
    Check {
        id: "sentinels",
        look: check::sentinel::seen,
    },
    Check {
        id: "hidden-states",
        look: check::hidden::hidden,
    },
    Check {
        id: "constant",
        look: check::constant::constant,
    },
    Check {
        id: "too-short",
        look: check::length::too_short,
    },
    Check {
        id: "missing",
        look: check::missing::missing,
    },
    Check {
        id: "inputs",
        look: check::missing::inputs,
    },
    Check {
        id: "duplicate-channels",
        look: check::duplicates::duplicates,
    },
    Check {
        id: "unscaled",
        look: check::scale::unscaled,
    },
    Check {
        id: "trend",
        look: check::drift::trend,
    },
    Check {
        id: "changing-spread",
        look: check::drift::changing_spread,
    },
    Check {
        id: "outliers",
        look: check::outliers::outliers,
    },
    Check {
        id: "held-values",
        look: check::held::held,
    },
    Check {
        id: "repeated-rows",
        look: check::held::repeated,
    },
    Check {
        id: "quantised",
        look: check::quantised::quantised,
    },
    Check {
        id: "few-cycles",
        look: check::length::few_cycles,
    },
    Check {
        id: "sampling",
        look: check::length::sampling,
    },
    Check {
        id: "gaps",
        look: check::missing::gaps,
    },
    Check {
        id: "transient",
        look: check::transient::transient,
    },
    Check {
        id: "delay-embedding",
        look: check::delays::delays,
    },
];

/// Inspects a recording.
pub fn inspect(series: &Series, options: Options) -> Inspection {
    inspect_followed(series, None, options, &mut Unwatched).expect("nobody stops it")
}

/// Inspects a recording and compares a second one with it, such as a test set.
pub fn inspect_against(series: &Series, second: &Series, options: Options) -> Inspection {
    inspect_followed(series, Some(second), options, &mut Unwatched).expect("nobody stops it")
}

/// Inspects a recording, compares a second one with it where there is one, and tells how far it is. Beside the recording it takes as much room
/// again, and that of a few channels.
pub fn inspect_followed(
    series: &Series,
    second: Option<&Series>,
    options: Options,
    follow: &mut dyn Follow,
) -> Result<Inspection, Stopped> {
    let first = Record::new(series, options, follow)?;
    let Some(second) = second else {
        let found = findings(&first, follow)?;
        return Ok(inspection(&first, None, found));
    };
    let second = Record::new(second, options, follow)?;
    let pair = against::Pair {
        first: &first,
        second: &second,
    };
    let mut all: Vec<Finding> = against::findings(&pair).collect();
    all.extend(findings(&first, follow)?);
    Ok(inspection(&first, Some(against::comparison(&pair)), all))
}

fn inspection(record: &Record, against: Option<Comparison>, findings: Vec<Finding>) -> Inspection {
    let series = record.series;
    Inspection {
        rows: series.total_len(),
        step: series.step().clone(),
        trajectories: record.trajectories.clone(),
        channels: record.channels.clone(),
        inputs: series.inputs().iter().map(|c| c.name.clone()).collect(),
        against,
        findings: ranked(findings),
    }
}

fn findings(record: &Record, follow: &mut dyn Follow) -> Result<Vec<Finding>, Stopped> {
    let mut found = Vec::new();
    for (i, check) in CHECKS.iter().enumerate() {
        tell(follow, check.id, i as u64, CHECKS.len() as u64)?;
        found.extend(named(check.id, (check.look)(record)));
    }
    Ok(found)
}

fn named(check: &'static str, seen: Vec<Seen>) -> impl Iterator<Item = Finding> {
    seen.into_iter().map(move |seen| Finding {
        check,
        severity: seen.severity,
        subject: seen.subject,
        what: seen.what,
        remedy: seen.remedy.into(),
    })
}

/// By severity; the order of the checks decides among equals.
fn ranked(mut findings: Vec<Finding>) -> Vec<Finding> {
    findings.sort_by_key(|finding| finding.severity);
    findings
}

#[cfg(test)]
mod tests;
