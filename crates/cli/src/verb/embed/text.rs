//! An embedding as text: what was taken, and the figures that it was taken by.

use std::io::{self, Write};

use attractor::embed::DelayRule;
use attractor::embed::cao::Cao;
use attractor::embed::mutual_information::MutualInformation;
use attractor::embed::pecuzal::{Candidate, Curve, Cycle, End, Pecuzal};
use attractor::embedding::{Embedded, Found};
use attractor::text::{count, figure};

use crate::table;

/// The coordinates, then what they were found by.
pub(super) fn write(embedded: &Embedded, out: &mut dyn Write) -> io::Result<()> {
    let names = embedded.coordinates.iter().map(|&c| embedded.name(c));
    writeln!(out, "{}", names.collect::<Vec<_>>().join("  "))?;
    writeln!(
        out,
        "Theiler window {}, delays up to {}, {}\n",
        embedded.theiler,
        embedded.max_delay,
        count(embedded.rows.1, "row")
    )?;
    match &embedded.found {
        Found::Pecuzal(found) => write_cycles(embedded, found, out),
        Found::Delay {
            rule,
            information,
            cao,
        } => {
            write_information(*rule, information, out)?;
            cao.as_ref().map_or(Ok(()), |cao| write_cao(cao, out))
        }
    }
}

/// Candidates of a cycle that are listed, the best first.
const LISTED: usize = 6;

fn write_cycles(embedded: &Embedded, found: &Pecuzal, out: &mut dyn Write) -> io::Result<()> {
    let head = ["cycle", "candidate", "after", "⟨ε*⟩", "ΔL", ""].map(String::from);
    let mut rows = vec![head];
    for (number, cycle) in (1..).zip(&found.cycles) {
        rows.extend(cycle_rows(embedded, number, cycle));
    }
    table::write(out, &rows)?;
    writeln!(
        out,
        "\n{}",
        match found.end {
            End::Embedded => "no further coordinate lowers L by the threshold",
            End::NoImprovement =>
                "no second coordinate lowers L by the threshold: noise, or no embedding is needed",
            End::CycleLimit => "ended at the largest number of cycles",
        }
    )
}

fn cycle_rows(embedded: &Embedded, number: usize, cycle: &Cycle) -> Vec<[String; 6]> {
    let mut all: Vec<(&Curve, &Candidate)> = Vec::new();
    for curve in &cycle.curves {
        all.extend(curve.candidates.iter().map(|candidate| (curve, candidate)));
    }
    all.sort_by(|a, b| a.1.decrease.total_cmp(&b.1.decrease));
    let left = all.len().saturating_sub(LISTED);
    let mut rows: Vec<[String; 6]> = all
        .into_iter()
        .take(LISTED)
        .map(|(curve, candidate)| {
            let base: Vec<String> = curve.base.iter().map(|&c| embedded.name(c)).collect();
            let is_best = *candidate == cycle.best;
            [
                number.to_string(),
                embedded.name(candidate.coordinate),
                base.join(" "),
                figure(curve.continuity[candidate.coordinate.delay]),
                figure(candidate.decrease),
                match (is_best, cycle.taken) {
                    (true, true) => "taken".to_string(),
                    (true, false) => "not taken".to_string(),
                    _ => String::new(),
                },
            ]
        })
        .collect();
    if left > 0 {
        let mut row = [const { String::new() }; 6];
        row[0] = number.to_string();
        row[1] = format!("{left} more in --json");
        rows.push(row);
    }
    rows
}

/// Rows of the table of mutual information, at most.
const ROWS: usize = 12;

fn write_information(
    rule: DelayRule,
    information: &MutualInformation,
    out: &mut dyn Write,
) -> io::Result<()> {
    let head = ["delay", "mutual information (bits)", ""].map(String::from);
    let (taken, reason) = match rule {
        DelayRule::Uncorrelated => (Some(1), "taken: autocorrelation below 1/e within a row"),
        DelayRule::FirstMinimum => (information.first_minimum(), "taken: first minimum"),
    };
    let stride = information.bits.len().div_ceil(ROWS);
    let shown = (1..)
        .zip(&information.bits)
        .filter(|(delay, _)| delay % stride == 0 || *delay == 1 || Some(*delay) == taken);
    let rows = shown.map(|(delay, bits)| {
        let mark = if Some(delay) == taken { reason } else { "" };
        [delay.to_string(), figure(*bits), mark.to_string()]
    });
    table::write(out, &std::iter::once(head).chain(rows).collect::<Vec<_>>())
}

fn write_cao(cao: &Cao, out: &mut dyn Write) -> io::Result<()> {
    let head = ["dimension", "E₁", "E₂", ""].map(String::from);
    let rows = (1..)
        .zip(cao.e1.iter().zip(&cao.e2))
        .map(|(dim, (e1, e2))| {
            let mark = if cao.dim() == Some(dim) {
                "no false neighbours from here on"
            } else {
                ""
            };
            [dim.to_string(), figure(*e1), figure(*e2), mark.to_string()]
        });
    writeln!(out)?;
    table::write(out, &std::iter::once(head).chain(rows).collect::<Vec<_>>())?;
    if cao.looks_random() {
        writeln!(out, "\nE₂ is near 1 in every dimension, as for noise")
    } else {
        Ok(())
    }
}
