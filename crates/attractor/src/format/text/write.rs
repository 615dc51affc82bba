//! Writing a text table so that reading it gives the same series: shortest decimal numbers that are read back to
//! the same bits, times in a column, trajectories and roles in titles (see [`super::title`]).

use std::collections::HashSet;
use std::io::{self, Write};

use attractor_core::series::{Channel, Gap, Series};
use flate2::Compression;
use flate2::write::GzEncoder;

use super::super::table::placeholder;
use super::super::time::{Axis, times_of};
use super::super::{Delimiter, Fault};
use super::title::{TRAJECTORY, Title};
use crate::spreadsheet::guarded;

/// A text table loses nothing; a fault where a name or a jump in time could not be read back.
pub(in crate::format) fn losses(series: &Series) -> Result<Vec<&'static str>, Fault> {
    for channel in series.channels() {
        check_title("channel", channel, &Title::of_state(channel))?;
    }
    for channel in series.inputs() {
        check_title("input", channel, &Title::of_input(channel))?;
    }
    let unit = &series.step().unit;
    if Title::parse(&Title::of_time(series.step())).channel.unit != *unit {
        return Err(Fault::Name {
            what: "the unit of time",
            name: unit.clone(),
        });
    }
    check_trajectory_names(series)?;
    check_finite(series)?;
    time_title(series).map(|_| Vec::new())
}

/// Writes a text table, compressed if the extension says so.
pub(in crate::format) fn write(
    series: &Series,
    delimiter: Delimiter,
    extension: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    if extension.ends_with("gz") {
        let mut packed = GzEncoder::new(out, Compression::default());
        write_plain(series, delimiter, &mut packed)?;
        packed.finish().map(|_| ())
    } else {
        write_plain(series, delimiter, out)
    }
}

fn write_plain(series: &Series, delimiter: Delimiter, out: impl Write) -> io::Result<()> {
    let mut table = csv::WriterBuilder::new()
        .delimiter(delimiter.byte())
        .comment(Some(b'#'))
        .from_writer(out);
    let titles = titles(series).map_err(as_io)?;
    write_records(series, titles, &mut table).map_err(as_told_by_system)?;
    table.flush()
}

fn write_records(
    series: &Series,
    titles: Vec<String>,
    table: &mut csv::Writer<impl Write>,
) -> csv::Result<()> {
    let names = ids(series);
    table.write_record(titles)?;
    for i in 0..series.trajectories().len() {
        write_trajectory(series, i, names.as_ref().map(|n| n[i].as_str()), table)?;
    }
    Ok(())
}

fn write_trajectory(
    series: &Series,
    trajectory: usize,
    name: Option<&str>,
    table: &mut csv::Writer<impl Write>,
) -> csv::Result<()> {
    let (n, k) = (series.dim_obs(), series.dim_input());
    let t = &series.trajectories()[trajectory];
    let mut text = String::new();
    for (row, time) in times_of(series, trajectory).into_iter().enumerate() {
        if let Some(name) = name {
            table.write_field(guarded(name).as_ref())?;
        }
        let x = &t.x[row * n..(row + 1) * n];
        let s = &t.s[row * k..(row + 1) * k];
        for &value in [time].iter().chain(x).chain(s) {
            format_number(value, &mut text);
            table.write_field(&text)?;
        }
        table.write_record(None::<&[u8]>)?;
    }
    Ok(())
}

/// The shortest decimal number that is read back to the same bits, without the `.0` of whole numbers.
fn format_number(value: f64, text: &mut String) {
    use std::fmt::Write as _;
    text.clear();
    write!(text, "{value:?}").expect("writing to a string does not fail");
    if text.ends_with(".0") {
        text.truncate(text.len() - 2);
    }
}

fn titles(series: &Series) -> Result<Vec<String>, Fault> {
    let trajectory = ids(series).map(|_| TRAJECTORY.to_string());
    let channels = series.channels().iter().map(Title::of_state);
    let inputs = series.inputs().iter().map(Title::of_input);
    let first = trajectory.into_iter().chain([time_title(series)?]);
    Ok(first.chain(channels).chain(inputs).collect())
}

/// The names in the column of trajectories, which is there when there are several or one with a name.
fn ids(series: &Series) -> Option<Vec<String>> {
    let all = series.trajectories();
    let needed = all.len() > 1 || !all[0].name.is_empty();
    let id = |(i, name): (usize, &String)| {
        if name.is_empty() {
            placeholder(i)
        } else {
            name.clone()
        }
    };
    needed.then(|| all.iter().map(|t| &t.name).enumerate().map(id).collect())
}

/// The title of the column of times; it states the step where the times alone would not give it back.
fn time_title(series: &Series) -> Result<String, Fault> {
    // Such times are read back by an option, which says the step as well.
    if series.has_own_times() {
        return Ok(Title::of_time(series.step()));
    }
    let all = series.trajectories();
    let times: Vec<Vec<f64>> = (0..all.len()).map(|i| times_of(series, i)).collect();
    let (step, gaps) = (series.step(), || all.iter().map(|t| &t.gaps));
    if Axis::fit(&times).is_ok_and(|axis| axis.dt == Some(step.dt) && gaps().eq(&axis.gaps)) {
        return Ok(Title::of_time(step));
    }
    let axis = Axis::with_step(&times, step.dt)
        .map_err(|broken| gap_fault(broken.trajectory, broken.row, &times))?;
    for (trajectory, (wanted, found)) in gaps().zip(&axis.gaps).enumerate() {
        let lost = |gap: &&Gap| wanted.contains(gap) != found.contains(gap);
        if let Some(gap) = wanted.iter().chain(found).find(lost) {
            return Err(gap_fault(trajectory, gap.row, &times));
        }
    }
    Ok(Title::of_time_with_step(step))
}

fn gap_fault(trajectory: usize, row: usize, times: &[Vec<f64>]) -> Fault {
    Fault::GapBack {
        trajectory: trajectory + 1,
        row: row + 1,
        time: times[trajectory][row],
    }
}

fn check_title(what: &'static str, channel: &Channel, title: &str) -> Result<(), Fault> {
    if Title::parse(title).channel == *channel {
        Ok(())
    } else {
        Err(Fault::Name {
            what,
            name: channel.name.clone(),
        })
    }
}

fn check_trajectory_names(series: &Series) -> Result<(), Fault> {
    let mut seen = HashSet::new();
    for (i, name) in ids(series).unwrap_or_default().into_iter().enumerate() {
        let mistaken = name == placeholder(i) && !series.trajectories()[i].name.is_empty();
        if mistaken || name.trim_ascii() != name {
            return Err(Fault::Name {
                what: "trajectory",
                name,
            });
        }
        if !seen.insert(name.clone()) {
            return Err(Fault::SameTrajectory { name });
        }
    }
    Ok(())
}

/// A time that is no number cannot be read back.
fn check_finite(series: &Series) -> Result<(), Fault> {
    for i in 0..series.trajectories().len() {
        let times = times_of(series, i);
        if let Some(row) = times.iter().position(|t| !t.is_finite()) {
            return Err(Fault::GapBack {
                trajectory: i + 1,
                row: row + 1,
                time: times[row],
            });
        }
    }
    Ok(())
}

/// The system's own error, so that a closed pipe and a full disk are known as such; the conversion of the crate hides it.
fn as_told_by_system(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

fn as_io(fault: Fault) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, fault)
}
