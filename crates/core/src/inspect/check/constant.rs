//! Channels that never change: x_t = c for all t.

use super::super::{Record, Seen, Severity};
use crate::text::{count, figure};

pub(in super::super) fn constant(record: &Record) -> Vec<Seen> {
    let flat: Vec<usize> = (0..record.channels.len())
        .filter(|&c| !record.varies(c) && record.present(c) > 0)
        .collect();
    let Some(&first) = flat.first() else {
        return Vec::new();
    };
    let value = figure(record.channels[first].min);
    let what = match flat.len() {
        1 => format!("never changes: every value is {value}"),
        n => format!(
            "{} never change (the first is always {value})",
            count(n, "channel")
        ),
    };
    let remedy = match flat.len() {
        1 => "leave it out: it has no dynamics, and no spread to be scaled by",
        _ => "leave them out: they have no dynamics, and no spread to be scaled by",
    };
    vec![Seen::new(
        Severity::Problem,
        record.subject(&flat),
        what,
        remedy,
    )]
}
