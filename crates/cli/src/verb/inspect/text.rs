//! An inspection as text: a line of shape, a table of channels with numbers flush right, and the findings.

use std::io::{self, Write};

use attractor::inspect::{ChannelSummary, Comparison, Inspection};
use attractor::series::Step;
use attractor::text::{self, count, figure, measure};

/// Channels that are listed one by one unless all are asked for.
const LISTED: usize = 16;

const TITLES: [&str; 8] = [
    "channel",
    "mean",
    "spread",
    "min",
    "max",
    "missing",
    "autocorrelation",
    "period",
];

/// `100000 rows of 5 channels, step 0.01 s, 1 trajectory`.
pub(super) fn shape(inspection: &Inspection) -> String {
    let Step { dt, unit } = &inspection.step;
    let step = format!("step {dt} {unit}");
    let mut parts = vec![
        format!(
            "{} of {}",
            count(inspection.rows, "row"),
            count(inspection.channels.len(), "channel")
        ),
        step.trim_end().to_string(),
        trajectories(inspection),
    ];
    if !inspection.inputs.is_empty() {
        parts.push(count(inspection.inputs.len(), "input"));
    }
    parts.join(", ")
}

/// How many trajectories, how long they are, and the gaps in them.
fn trajectories(inspection: &Inspection) -> String {
    let lengths = || inspection.trajectories.iter().map(|t| t.rows);
    let gaps: usize = inspection.trajectories.iter().map(|t| t.gaps).sum();
    let mut text = count(inspection.trajectories.len(), "trajectory");
    if let (Some(least), Some(most)) = (lengths().min(), lengths().max())
        && inspection.trajectories.len() > 1
    {
        text += &if least == most {
            format!(" of {} each", count(least, "row"))
        } else {
            format!(" of {least} to {most} rows")
        };
    }
    if gaps > 0 {
        text += &format!(" with {}", count(gaps, "gap"));
    }
    text
}

/// `100000 rows, means off by at most 0.002 spreads, spreads by factors of 1.003 to 1.008`.
pub(super) fn comparison(comparison: &Comparison) -> String {
    let rows = count(comparison.rows, "row");
    let shifts = comparison.differences.iter().map(|d| d.mean_shift.abs());
    let ratios = || comparison.differences.iter().map(|d| d.spread_ratio);
    if comparison.differences.is_empty() {
        return rows;
    }
    format!(
        "{rows}, means off by at most {} spreads, spreads by factors of {} to {}",
        figure(shifts.fold(0.0, f64::max)),
        figure(ratios().fold(f64::INFINITY, f64::min)),
        figure(ratios().fold(0.0, f64::max))
    )
}

/// The table of all channels.
pub(super) fn full_table(inspection: &Inspection, out: &mut dyn Write) -> io::Result<()> {
    let row = |c| cells(c, &inspection.step);
    let rows: Vec<[String; 8]> = inspection.channels.iter().map(row).collect();
    write_table(&rows, out)
}

/// The table of all channels if they are few, else the least, middle and greatest of every figure.
pub(super) fn short_table(inspection: &Inspection, out: &mut dyn Write) -> io::Result<()> {
    if inspection.channels.len() <= LISTED {
        return full_table(inspection, out);
    }
    let part = |name: &str, place: fn(usize) -> usize| {
        summary_row(name, &inspection.channels, &inspection.step, place)
    };
    let rows = [
        part("least", |_| 0),
        part("median", |n| n / 2),
        part("greatest", |n| n - 1),
    ];
    write_table(&rows, out)?;
    writeln!(
        out,
        "of {} channels; --list all lists them",
        inspection.channels.len()
    )
}

/// Of each figure the one at a place of its own order; channels without the figure are left out.
fn summary_row(
    name: &str,
    channels: &[ChannelSummary],
    step: &Step,
    place: fn(usize) -> usize,
) -> [String; 8] {
    let pick = |figure_of: &dyn Fn(&ChannelSummary) -> Option<f64>| {
        let mut values: Vec<f64> = channels.iter().filter_map(figure_of).collect();
        values.retain(|v| !v.is_nan());
        values.sort_by(f64::total_cmp);
        (!values.is_empty()).then(|| values[place(values.len())])
    };
    let plain = |figure_of: &dyn Fn(&ChannelSummary) -> f64| {
        pick(&|c| Some(figure_of(c))).map_or("-".to_string(), figure)
    };
    [
        name.to_string(),
        plain(&|c| c.mean),
        plain(&|c| c.sd),
        plain(&|c| c.min),
        plain(&|c| c.max),
        plain(&|c| c.missing as f64),
        duration(pick(&|c| c.autocorrelation_time), step),
        duration(pick(&|c| c.period.map(|p| p.rows)), step),
    ]
}

fn cells(c: &ChannelSummary, step: &Step) -> [String; 8] {
    let name = match c.unit.as_str() {
        "" => c.name.clone(),
        unit => format!("{} [{unit}]", c.name),
    };
    [
        name,
        figure(c.mean),
        figure(c.sd),
        figure(c.min),
        figure(c.max),
        c.missing.to_string(),
        duration(c.autocorrelation_time, step),
        duration(c.period.map(|p| p.rows), step),
    ]
}

/// `31.26 rows`, with the time when the step says more than that; `none` when there is none.
fn duration(rows: Option<f64>, step: &Step) -> String {
    let Some(rows) = rows else {
        return "none".to_string();
    };
    let text = measure(rows, "row");
    match (step.dt == 1.0, step.unit.as_str()) {
        (true, "") => text,
        (_, "") => format!("{text} ({})", figure(rows * step.dt)),
        (_, unit) => format!("{text} ({})", text::duration(rows * step.dt, unit)),
    }
}

/// Names flush left, figures flush right, two spaces between.
fn write_table(rows: &[[String; 8]], out: &mut dyn Write) -> io::Result<()> {
    let titles = TITLES.map(str::to_string);
    let all = || [&titles].into_iter().chain(rows);
    let width = |column: usize| {
        all()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; 8] = std::array::from_fn(width);
    for row in all() {
        write!(out, "{:width$}", row[0], width = widths[0])?;
        for (cell, width) in row.iter().zip(widths).skip(1) {
            write!(out, "  {cell:>width$}")?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// One line a finding, with its remedy on a line of its own; `file` is what a command names the recording.
pub(super) fn findings(inspection: &Inspection, file: &str, out: &mut dyn Write) -> io::Result<()> {
    for f in &inspection.findings {
        writeln!(out, "{}: {}: {}", f.severity.word(), f.subject, f.what)?;
        writeln!(out, "  hint: {}", f.remedy.clone().naming(file))?;
    }
    if inspection.findings.is_empty() {
        writeln!(out, "nothing to report")?;
    }
    Ok(())
}
