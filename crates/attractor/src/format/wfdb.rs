//! WFDB records as PhysioNet has them: a header in text (`.hea`) and samples in one or more signal files.
//!
//! ```text
//! 100 2 360 650000                          record  signals  rate  samples
//! 100.dat 212 200(1024)/mV 11 1024 995 …    file  format  gain(baseline)/unit  bits  zero  first …  name
//! x = (digital − baseline) / gain
//! ```
//!
//! Format 16 is little-endian i16, format 212 packs two 12-bit numbers into three bytes; the lowest number of either means
//! that the value is missing. The reader is our own: the crate `wfdb` 0.1 is young, brings a calendar, and reads frame by
//! frame into a list of its own each.

mod header;
mod samples;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use attractor_core::catalogue::{Entry, Kind};
use attractor_core::series::{Series, Step};

use super::roles::{Layout, Slot};
use super::table::Table;
use super::{Fault, Format, ReadOptions};
use header::{Header, Signal};
use samples::Samples;

/// The format.
pub(super) static WFDB: Format = Format {
    entry: Entry {
        kind: Kind::Format,
        id: "wfdb",
        summary: "PhysioNet's WFDB records (.hea and .dat); read only",
        details: "\
Reads records of signals in formats 16 and 212, given the header or the signal file beside it.
Descriptions are the names of the channels, values are in physical units by gain and baseline, time is in seconds.
The lowest number of a format means that a value is missing.
Not read: records of several segments, several samples per frame, other formats.",
        settings: &[],
        references: &["goldberger2000"],
    },
    extensions: &["hea"],
    read,
    remarks,
    losses: |_| Ok(Vec::new()),
    write: None,
};

/// Whether a file has the signals of a record: its header is beside it.
pub(super) fn is_signal_file(path: &Path) -> bool {
    let is_signal = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("dat"));
    is_signal && path.with_extension("hea").is_file()
}

/// The header and the signal files of the record that a file belongs to; none if it belongs to no record.
pub(super) fn parts(path: &Path) -> Vec<PathBuf> {
    let is_header = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("hea"));
    if !is_header && !is_signal_file(path) {
        return Vec::new();
    }
    let path = path.with_extension("hea");
    let signals = Header::read(&path).map_or(Vec::new(), |header| header.signals);
    let files = signals
        .iter()
        .flat_map(|signal| beside(&path, &signal.file));
    files.chain([path.clone()]).collect()
}

fn read(path: &Path, options: &ReadOptions) -> Result<Series, Fault> {
    let path = path.with_extension("hea");
    let header = Header::read(&path)?;
    let titles: Vec<_> = header.signals.iter().map(Signal::title).collect();
    let layout = Layout::new(&titles, options)?;
    let samples = of_files(&header, &layout, &path)?;
    let table = filled(&header, samples, layout)?;
    let is_timed = options.dt.is_some() || table.layout.time.is_some();
    let series = table.finish(options)?;
    if is_timed {
        Ok(series)
    } else {
        in_seconds(&series, header.rate)
    }
}

/// Which files go on after the samples that the header claims.
fn remarks(path: &Path, _: &ReadOptions) -> Vec<String> {
    let path = path.with_extension("hea");
    let Ok(header) = Header::read(&path) else {
        return Vec::new();
    };
    let Some(claimed) = header.samples else {
        return Vec::new();
    };
    let longer = |(name, group): (&str, Vec<usize>)| {
        let file = beside(&path, name).ok()?;
        let there = samples::surplus(&file, &header.signals[group[0]], group.len(), claimed)?;
        Some(format!(
            "{name} has {there} samples of each signal, the header says {claimed}: the others are not read"
        ))
    };
    by_file(&header).into_iter().filter_map(longer).collect()
}

/// The numbers of the signals in each file.
fn by_file(header: &Header) -> BTreeMap<&str, Vec<usize>> {
    let mut files: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (i, signal) in header.signals.iter().enumerate() {
        files.entry(&signal.file).or_default().push(i);
    }
    files
}

/// The samples of each signal that is used, by file.
fn of_files(header: &Header, layout: &Layout, path: &Path) -> Result<Vec<Option<Samples>>, Fault> {
    let mut samples = vec![None; header.signals.len()];
    for (name, group) in by_file(header) {
        if group.iter().all(|&i| layout.slots[i] == Slot::Skip) {
            continue;
        }
        let signals: Vec<&Signal> = group.iter().map(|&i| &header.signals[i]).collect();
        let read = samples::read(&beside(path, name)?, &signals, header.samples);
        let columns = read.map_err(|fault| Fault::InFile {
            name: name.to_string(),
            fault: Box::new(fault),
        })?;
        for (&i, column) in group.iter().zip(columns) {
            samples[i] = (layout.slots[i] != Slot::Skip).then_some(column);
        }
    }
    Ok(samples)
}

/// A file in the folder of the header; its name must not lead elsewhere.
fn beside(path: &Path, name: &str) -> Result<PathBuf, Fault> {
    let plain = Path::new(name).file_name().is_some_and(|file| file == name);
    if plain && !name.contains(['/', '\\']) {
        Ok(path.with_file_name(name))
    } else {
        Err(Fault::Field {
            field: "signal file",
            signal: None,
            expected: "the name of a file beside the header".to_string(),
            found: name.to_string(),
        })
    }
}

fn filled(header: &Header, samples: Vec<Option<Samples>>, layout: Layout) -> Result<Table, Fault> {
    let slots = layout.slots.clone();
    let mut table = Table::of_array(layout);
    let rows = samples.iter().flatten().map(|s| s.len()).min().unwrap_or(0);
    if rows == 0 {
        return Err(Fault::Empty);
    }
    let trajectory = table.trajectory("");
    for row in 0..rows {
        let mut filled = table.row(trajectory, row as u64 + 1);
        let columns = samples.iter().zip(&slots).zip(&header.signals);
        for ((column, &slot), signal) in columns {
            if let Some(digital) = column.as_ref().and_then(|column| column[row]) {
                filled.put(slot, signal.physical(digital));
            }
        }
    }
    Ok(table)
}

fn in_seconds(series: &Series, rate: f64) -> Result<Series, Fault> {
    let step = Step {
        dt: 1.0 / rate,
        unit: "s".to_string(),
    };
    let (channels, inputs) = (series.channels().to_vec(), series.inputs().to_vec());
    Ok(Series::new(
        channels,
        inputs,
        step,
        series.trajectories().to_vec(),
    )?)
}
