//! Delay-embedded columns: channel j is channel i moved by τ rows exactly, x_j(t) = x_i(t + τ) bit for bit.
//!
//! A probe of 8 values from the middle of each channel is looked for in all channels by its first value in a hash
//! table, one look a value, and a find is compared in full. O(NT).

use std::collections::HashMap;

use super::super::{Record, Seen, Severity};

/// Values of a probe.
const PROBE: usize = 8;
/// Channels of fewer distinct values match by chance.
const LEAST_DISTINCT: usize = 64;

/// Channel `of` is channel `from` moved by `lag` rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct Delay {
    pub(in super::super) from: usize,
    pub(in super::super) of: usize,
    pub(in super::super) lag: isize,
}

pub(in super::super) fn delays(record: &Record) -> Vec<Seen> {
    let found = find(record);
    let mut bases: Vec<usize> = found.iter().map(|d| d.from).collect();
    bases.dedup();
    bases
        .into_iter()
        .map(|base| embedding(record, base, &found))
        .collect()
}

fn embedding(record: &Record, base: usize, found: &[Delay]) -> Seen {
    let members: Vec<&Delay> = found.iter().filter(|d| d.from == base).collect();
    let mut channels = vec![base];
    channels.extend(members.iter().map(|d| d.of));
    let lags: Vec<String> = [0]
        .into_iter()
        .chain(members.iter().map(|d| d.lag))
        .map(|l| l.to_string())
        .collect();
    let what = format!(
        "a delay embedding of {}: lags {} rows",
        record.name(base),
        lags.join(", ")
    );
    let remedy =
        "leave more than the largest lag between training and test, which share values otherwise";
    Seen::new(Severity::Note, record.subject(&channels), what, remedy)
}

/// All delays from a first channel, by its number and then the other's; lags are not 0.
pub(in super::super) fn find(record: &Record) -> Vec<Delay> {
    let segment = record.segments.iter().max_by_key(|s| s.len());
    let Some(segment) = segment.filter(|s| s.len() >= 4 * PROBE) else {
        return Vec::new();
    };
    let start = segment.start + segment.len() / 2;
    let probes = probes(record, start);
    let mut found: Vec<Delay> = Vec::new();
    for from in 0..record.columns.len() {
        if found.iter().any(|d| d.of == from) {
            continue;
        }
        for of in matches(record, from, segment.clone(), &probes, start) {
            if of.of > from && !found.iter().any(|d| d.of == of.of) {
                found.push(of);
            }
        }
    }
    found.sort_by_key(|d| (d.from, d.of));
    found
}

/// The channels by the bits of their value at `start`, where eight values and enough of the others differ.
fn probes(record: &Record, start: usize) -> HashMap<u64, Vec<usize>> {
    let mut probes: HashMap<u64, Vec<usize>> = HashMap::new();
    for (c, column) in record.columns.iter().enumerate() {
        let probe = &column[start..start + PROBE];
        let moves = probe.windows(2).all(|w| w[0] != w[1]) && probe.iter().all(|v| !v.is_nan());
        if moves && is_rich(column) {
            probes.entry(probe[0].to_bits()).or_default().push(c);
        }
    }
    probes
}

/// Whether enough values differ.
fn is_rich(column: &[f64]) -> bool {
    let mut known: Vec<f64> = Vec::with_capacity(LEAST_DISTINCT);
    column.iter().filter(|v| !v.is_nan()).any(|&v| {
        if !known.contains(&v) {
            known.push(v);
        }
        known.len() == LEAST_DISTINCT
    })
}

/// The channels that channel `from` holds moved.
fn matches(
    record: &Record,
    from: usize,
    segment: std::ops::Range<usize>,
    probes: &HashMap<u64, Vec<usize>>,
    start: usize,
) -> Vec<Delay> {
    let column = &record.columns[from];
    let mut found = Vec::new();
    for t in segment.start..segment.end + 1 - PROBE {
        let Some(channels) = probes.get(&column[t].to_bits()) else {
            continue;
        };
        let lag = t as isize - start as isize;
        let same = |of: &&usize| {
            lag != 0 && column[t..t + PROBE] == record.columns[**of][start..start + PROBE]
        };
        let delays = channels
            .iter()
            .filter(same)
            .map(|&of| Delay { from, of, lag });
        found.extend(delays.filter(|&delay| holds(record, delay)));
    }
    found
}

/// True if x_of(t) = x_from(t + lag) wherever both rows are in one segment.
fn holds(record: &Record, delay: Delay) -> bool {
    let (from, of) = (&record.columns[delay.from], &record.columns[delay.of]);
    let shift = delay.lag.unsigned_abs();
    let (early, late) = if delay.lag > 0 {
        (of, from)
    } else {
        (from, of)
    };
    let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
    record.segments.iter().all(|s| {
        let overlap = s.len().saturating_sub(shift);
        (s.start..s.start + overlap).all(|t| same(early[t], late[t + shift]))
    })
}
