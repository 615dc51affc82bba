//! Values that are not there: missing ones per channel with their longest run, external inputs that are missing or
//! constant, and gaps in time.

use super::super::{Record, Seen, Severity, Subject};
use crate::text::{count, figure};

/// With more than this part missing a channel says too little.
const MOST: f64 = 0.5;

pub(in super::super) fn missing(record: &Record) -> Vec<Seen> {
    let holed: Vec<usize> = (0..record.channels.len())
        .filter(|&c| record.channels[c].missing > 0)
        .collect();
    let (mostly, partly): (Vec<usize>, Vec<usize>) =
        holed.into_iter().partition(|&c| part(record, c) > MOST);
    [(Severity::Problem, mostly), (Severity::Warning, partly)]
        .into_iter()
        .filter_map(|(severity, channels)| missing_in(record, severity, &channels))
        .collect()
}

fn missing_in(record: &Record, severity: Severity, channels: &[usize]) -> Option<Seen> {
    let worst = *channels
        .iter()
        .max_by_key(|&&c| record.channels[c].missing)?;
    let total: usize = channels.iter().map(|&c| record.channels[c].missing).sum();
    let longest = channels
        .iter()
        .map(|&c| longest_run(&record.columns[c]))
        .max()?;
    let of = match channels.len() {
        1 => String::new(),
        _ => format!(" in {}, the most", record.name(worst)),
    };
    let what = format!(
        "{} missing ({} %{of}), at most {longest} in a row, the first in {}",
        count(total, "value"),
        figure(100.0 * part(record, worst)),
        first_missing(record, channels)?
    );
    let remedy = match severity {
        Severity::Problem => "leave the channel out, or find a more complete recording".to_string(),
        _ => {
            let memory = channels
                .iter()
                .map(|&c| record.channels[c].autocorrelation_time);
            let memory = memory.flatten().fold(f64::INFINITY, f64::min);
            let longest = if memory.is_finite() {
                memory.max(1.0) as usize
            } else {
                1
            };
            format!(
                "`attractor prepare FILE filled.csv --interpolate {longest}` fills runs of up to {}, about an autocorrelation time; longer ones stay missing",
                count(longest, "row")
            )
        }
    };
    Some(Seen::new(severity, record.subject(channels), what, &remedy))
}

fn part(record: &Record, channel: usize) -> f64 {
    record.channels[channel].missing as f64 / record.len() as f64
}

/// The first row that lacks a value of these channels, in words.
fn first_missing(record: &Record, channels: &[usize]) -> Option<String> {
    let first = |&c: &usize| record.columns[c].iter().position(|v| v.is_nan());
    let position = channels.iter().filter_map(first).min()?;
    let ranges = record.trajectory_ranges();
    let number = ranges.iter().position(|range| range.contains(&position))?;
    let row = position - ranges[number].start + 1;
    Some(match ranges.len() {
        1 => format!("row {row}"),
        _ => format!("row {row} of trajectory {}", number + 1),
    })
}

fn longest_run(column: &[f64]) -> usize {
    let runs = column.split(|v| !v.is_nan());
    runs.map(<[f64]>::len).max().unwrap_or(0)
}

pub(in super::super) fn inputs(record: &Record) -> Vec<Seen> {
    (0..record.series.dim_input())
        .filter_map(|k| input(record, k))
        .collect()
}

fn input(record: &Record, k: usize) -> Option<Seen> {
    let dim = record.series.dim_input();
    let values = || {
        let trajectories = record.series.trajectories().iter();
        trajectories.flat_map(move |t| t.s.iter().skip(k).step_by(dim).copied())
    };
    let missing = values().filter(|v| v.is_nan()).count();
    let mut present = values().filter(|v| !v.is_nan());
    let first = present.next();
    let changes = present.any(|v| Some(v) != first);
    let (what, remedy) = match (missing, changes) {
        (0, true) => return None,
        (0, false) => (
            "external input never changes".to_string(),
            "leave it out: a constant input is a bias, which every model has",
        ),
        (n, _) => (
            format!("external input has {} missing", count(n, "value")),
            "fill them with what was applied then: a model cannot be driven by an unknown input",
        ),
    };
    let subject = Subject::Channels(vec![record.series.inputs()[k].name.clone()]);
    Some(Seen::new(Severity::Warning, subject, what, remedy))
}

pub(in super::super) fn gaps(record: &Record) -> Vec<Seen> {
    if record.series.has_own_times() {
        let what = "rows have times of their own; all but `ode-rnn` and `latent-ode` need equal steps, and so do most checks".to_string();
        let remedy = "`--resample DT` in place of `--own-times` interpolates to equal steps";
        return vec![Seen::new(Severity::Note, Subject::Recording, what, remedy)];
    }
    let gaps: usize = record.trajectories.iter().map(|t| t.gaps).sum();
    if gaps == 0 {
        return Vec::new();
    }
    let needed = record.options.window + 1;
    let short: Vec<usize> = record
        .segments
        .iter()
        .map(ExactSizeIterator::len)
        .filter(|&len| len < needed)
        .collect();
    let lost: usize = short.iter().sum();
    let what = format!(
        "{} in time {} {}, the longest of {}; {} of {} rows {} in segments too short for a window of {}",
        count(gaps, "jump"),
        if gaps == 1 { "leaves" } else { "leave" },
        count(record.segments.len(), "segment"),
        count(record.longest_segment(), "row"),
        lost,
        record.len(),
        if lost == 1 { "is" } else { "are" },
        count(record.options.window, "step")
    );
    let severity = if 2 * lost > record.len() {
        Severity::Warning
    } else {
        Severity::Note
    };
    let remedy = "windows never cross a jump: `--window` with fewer steps loses fewer rows, `attractor prepare FILE filled.csv --interpolate 3` fills jumps over up to 3 rows, `--dt 1` counts rows where pauses do not matter";
    vec![Seen::new(severity, Subject::Recording, what, remedy)]
}
