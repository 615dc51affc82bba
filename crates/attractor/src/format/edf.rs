//! EDF and EDF+ recordings: 16-bit samples in records of equal duration, each signal with its own rate.
//!
//! ```text
//! header (256 bytes)  signal headers (256 bytes each)  record · record · …
//! record = for each signal, its samples per record as little-endian i16
//! physical = pmin + (d − dmin) (pmax − pmin) / (dmax − dmin)
//! ```
//!
//! In EDF+ the signal `EDF Annotations` has the onset of every record. Where a discontinuous file (EDF+D) jumps, there is
//! a gap.
//!
//! The reader is our own. `edf-rs` 0.2 stood 20,000 damaged files without a panic, but names neither the signal nor the
//! field at fault, and brings a calendar and a hash along; `edfplus` 0.1 refuses plain EDF.

mod annotations;
mod header;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use attractor_core::catalogue::{Entry, Kind};
use attractor_core::series::{Gap, Series, Step};

use super::roles::{Layout, Slot};
use super::table::Table;
use super::{Fault, Format, ReadOptions, open};
use header::{Header, Signal};

pub use annotations::Annotation;

/// The format.
pub(super) static EDF: Format = Format {
    entry: Entry {
        kind: Kind::Format,
        id: "edf",
        summary: "European Data Format, EDF and EDF+; read only",
        details: "\
Reads EDF, EDF+C and EDF+D: labels are the names of the channels, physical units are kept, time is in seconds.
Where an EDF+D file jumps in time, there is a gap. The annotations signal is not a channel.
Signals of different rates do not fit into one table: choose one group with --channels, or bring all to one rate with --rate.
A record count of −1 is replaced by what the size of the file says.",
        settings: &[],
        references: &["kemp1992", "kemp2003"],
    },
    extensions: &["edf"],
    read,
    remarks: |_, _| Vec::new(),
    losses: |_| Ok(Vec::new()),
    write: None,
};

/// The annotations of an EDF+ file, in the order in which they are stored.
pub(super) fn annotations(path: &Path) -> Result<Vec<Annotation>, Fault> {
    let mut recording = Recording::open(path)?;
    let mut found = Vec::new();
    while recording.next_record()? {
        for signal in recording.header.signals.iter().filter(|s| s.is_annotation) {
            found.extend(annotations::of_record(recording.bytes_of(signal)));
        }
    }
    Ok(found)
}

fn read(path: &Path, options: &ReadOptions) -> Result<Series, Fault> {
    let recording = Recording::open(path)?;
    let signals: Vec<Signal> = recording.header.ordinary().cloned().collect();
    let titles: Vec<_> = signals.iter().map(Signal::title).collect();
    let layout = Layout::new(&titles, options)?;
    let used: Vec<(Slot, Signal)> = layout.slots.iter().copied().zip(signals).collect();
    let used: Vec<_> = used
        .into_iter()
        .filter(|(slot, _)| *slot != Slot::Skip)
        .collect();
    let groups = rates(&used, recording.header.duration)?;
    match (groups.as_slice(), options.rate) {
        ([], _) => Err(Fault::Empty),
        ([_], _) => sampled(recording, used, Table::of_array(layout), options),
        (_, Some(rate)) if layout.inputs.is_empty() => {
            let of_group = |names: &Vec<String>| {
                super::join::one_rate(|group| read(path, group), names, rate, options)
            };
            let series: Result<Vec<_>, _> = groups.iter().map(|group| of_group(&group.1)).collect();
            super::join::columns(&series?, &layout.channels)
        }
        _ => Err(Fault::Rates { groups }),
    }
}

/// The rates in use, the fastest first, each with the names of its signals.
fn rates(used: &[(Slot, Signal)], duration: f64) -> Result<Vec<(f64, Vec<String>)>, Fault> {
    let mut groups: Vec<(f64, Vec<String>)> = Vec::new();
    for (_, signal) in used {
        signal.check_scale()?;
        let rate = signal.samples as f64 / duration;
        match groups.iter_mut().find(|group| group.0 == rate) {
            Some(group) => group.1.push(signal.label.clone()),
            None => groups.push((rate, vec![signal.label.clone()])),
        }
    }
    groups.sort_by(|a, b| b.0.total_cmp(&a.0));
    Ok(groups)
}

/// All used signals, which have one rate.
fn sampled(
    mut recording: Recording,
    used: Vec<(Slot, Signal)>,
    mut table: Table,
    options: &ReadOptions,
) -> Result<Series, Fault> {
    let samples = used[0].1.samples;
    let trajectory = table.trajectory("");
    let mut clock = Clock::new(recording.header.duration, samples);
    let mut row = 0;
    while recording.next_record()? {
        clock.tick(recording.onset()?, row)?;
        for sample in 0..samples {
            row += 1;
            let mut filled = table.row(trajectory, row as u64);
            for (slot, signal) in &used {
                let bytes = &recording.bytes_of(signal)[2 * sample..];
                let digital = i16::from_le_bytes([bytes[0], bytes[1]]);
                filled.put(*slot, signal.physical(digital));
            }
        }
    }
    let is_timed = options.dt.is_some() || table.layout.time.is_some();
    let series = table.finish(options)?;
    if is_timed {
        Ok(series)
    } else {
        clock.set(&series)
    }
}

/// A file that is read record by record.
struct Recording {
    header: Header,
    file: BufReader<File>,
    record: Vec<u8>,
    /// Records that are left.
    left: u64,
}

impl Recording {
    fn open(path: &Path) -> Result<Recording, Fault> {
        let file = open(path)?;
        let length = file.metadata().map_err(Fault::from_io)?.len();
        let mut file = BufReader::new(file);
        let header = Header::read(&mut file, length)?;
        Ok(Recording {
            left: header.records,
            record: vec![0; header.record_bytes],
            header,
            file,
        })
    }

    fn next_record(&mut self) -> Result<bool, Fault> {
        if self.left == 0 {
            return Ok(false);
        }
        self.left -= 1;
        let read = self.file.read_exact(&mut self.record);
        read.map_err(Fault::from_io)?;
        Ok(true)
    }

    /// The bytes of a signal in the record.
    fn bytes_of(&self, signal: &Signal) -> &[u8] {
        &self.record[signal.offset..][..2 * signal.samples]
    }

    /// When the record starts, if it says so.
    fn onset(&self) -> Result<Option<f64>, Fault> {
        let keeper = self.header.signals.iter().find(|s| s.is_annotation);
        match keeper {
            Some(signal) if self.header.is_discontinuous => {
                let number = self.header.records - self.left;
                let onset = annotations::onset(self.bytes_of(signal));
                Ok(Some(onset.ok_or(Fault::NoOnset { record: number })?))
            }
            Some(signal) => Ok(annotations::onset(self.bytes_of(signal))),
            None => Ok(None),
        }
    }
}

/// The times of records.
struct Clock {
    duration: f64,
    dt: f64,
    start: Option<f64>,
    /// When the next record starts if nothing is missing.
    next: f64,
    gaps: Vec<Gap>,
}

impl Clock {
    fn new(duration: f64, samples: usize) -> Clock {
        Clock {
            duration,
            dt: duration / samples as f64,
            start: None,
            next: 0.0,
            gaps: Vec::new(),
        }
    }

    /// A record that starts at a row, at its onset or where the one before ends.
    fn tick(&mut self, onset: Option<f64>, row: usize) -> Result<(), Fault> {
        let expected = self.next;
        let onset = onset.unwrap_or(expected);
        // Onsets are rounded by the writer; a jump of less than half a step is none.
        let jump = onset - expected;
        let time = match self.start {
            None => onset,
            Some(_) if jump.abs() <= self.dt / 2.0 => expected,
            Some(_) if jump > 0.0 => onset,
            Some(_) => {
                return Err(Fault::TimeBack {
                    at: super::At::Row(row as u64 + 1),
                    before: (expected - self.dt).to_string(),
                    found: onset.to_string(),
                });
            }
        };
        if self.start.is_some() && time != expected {
            self.gaps.push(Gap { row, time });
        }
        self.start.get_or_insert(time);
        self.next = time + self.duration;
        Ok(())
    }

    /// The same series with the step, the start and the gaps.
    fn set(self, series: &Series) -> Result<Series, Fault> {
        let step = Step {
            dt: self.dt,
            unit: "s".to_string(),
        };
        let mut trajectories = series.trajectories().to_vec();
        if let [trajectory] = trajectories.as_mut_slice() {
            trajectory.start = self.start.unwrap_or(0.0);
            trajectory.gaps = self.gaps;
        }
        let (channels, inputs) = (series.channels().to_vec(), series.inputs().to_vec());
        Ok(Series::new(channels, inputs, step, trajectories)?)
    }
}
