//! Text tables: records with a delimiter, one row a time step, read as they come in bounded memory.
//!
//! ```text
//! # comment
//! trajectory,time [s],x [mV],input:u
//! left,0,-65.2,0
//! left,0.1,NaN,1
//! ```
//!
//! The `csv` crate splits records; which dialect a file is in is decided on its first 64 KiB (see [`dialect`]).

mod dialect;
mod number;
mod squeeze;
pub(super) mod title;
mod write;

use std::io::{self, BufReader, Read};
use std::path::Path;

use attractor_core::series::Series;
use csv::ByteRecord;
use flate2::read::MultiGzDecoder;

use super::roles::{Layout, Slot};
use super::table::Table;
use super::{At, Decimal, Fault, Header, ReadOptions, open, unpack};
use dialect::Dialect;
use title::Title;

pub(super) use write::{losses, write};

/// Which delimiter to believe when several fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preference {
    /// None.
    None,
    /// The tab.
    Tab,
}

/// How much of a file decides its dialect.
const SAMPLE: u64 = 1 << 16;

/// How much text is held at a time.
const BUFFER: usize = 1 << 18;

/// Reads a text table.
pub(super) fn read(
    path: &Path,
    options: &ReadOptions,
    preference: Preference,
) -> Result<Series, Fault> {
    let file = open(path)?;
    // An empty file is no gzip stream, but nothing is damaged.
    if file.metadata().is_ok_and(|m| m.is_file() && m.len() == 0) {
        return Err(Fault::Empty);
    }
    let packed = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    let mut source: Box<dyn Read> = match packed {
        true => {
            let packed = file.metadata().map_or(0, |m| m.len()) as usize;
            let stream = MultiGzDecoder::new(BufReader::new(file));
            Box::new(Unpacked(unpack::bounded(stream, packed)))
        }
        false => Box::new(file),
    };
    let mut sample = Vec::new();
    let read = (&mut source).take(SAMPLE).read_to_end(&mut sample);
    read.map_err(io_fault)?;
    if sample.starts_with(b"\xff\xfe") || sample.starts_with(b"\xfe\xff") {
        return Err(Fault::Utf16);
    }
    let dialect = Dialect::detect(&sample, options, preference);
    read_records(Records::new(&dialect, sample, source), &dialect, options)
}

/// Records with the lines on which they end.
struct Records {
    records: csv::Reader<Box<dyn Read>>,
    /// How many lines on the reader is after a record: it has read the end of the line only if that is one byte.
    ahead: u64,
}

impl Records {
    fn new(dialect: &Dialect, sample: Vec<u8>, rest: Box<dyn Read>) -> Records {
        let (end, ahead) = match sample.windows(2).any(|pair| pair == b"\r\n") {
            true => ("\r\n", 0),
            false => ("\n", 1),
        };
        // So that the last line ends as all others; an empty one more is skipped.
        let whole = io::Cursor::new(sample).chain(rest).chain(end.as_bytes());
        Records {
            records: dialect.records(whole),
            ahead,
        }
    }

    /// Reads a record; its line, or none at the end.
    fn read(&mut self, record: &mut ByteRecord) -> Result<Option<u64>, Fault> {
        let found = self.records.read_byte_record(record).map_err(csv_fault)?;
        let line = self.records.position().line().saturating_sub(self.ahead);
        Ok(found.then_some(line))
    }
}

/// A gzip stream whose errors say that it is damaged.
struct Unpacked<R>(R);

/// What the decompressor said of a damaged stream, on its way through the readers.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Damaged(io::Error);

impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        self.0.read(buffer).map_err(|error| match error.kind() {
            InvalidData | InvalidInput | UnexpectedEof => io::Error::other(Damaged(error)),
            _ => error,
        })
    }
}

fn io_fault(error: io::Error) -> Fault {
    match error.downcast::<Damaged>() {
        Ok(Damaged(reason)) => Fault::Corrupt {
            what: "gzip",
            reason: reason.to_string(),
        },
        Err(error) => Fault::from_io(error),
    }
}

fn csv_fault(error: csv::Error) -> Fault {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => io_fault(error),
        other => Fault::Io(io::Error::other(format!("{other:?}"))),
    }
}

fn read_records(
    mut records: Records,
    dialect: &Dialect,
    options: &ReadOptions,
) -> Result<Series, Fault> {
    let mut record = ByteRecord::new();
    let line = records.read(&mut record)?.ok_or(Fault::Empty)?;
    let has_header = has_header(&record, dialect, options);
    let titles = titles(&record, has_header);
    let mut table = Table::of_lines(Layout::new(&titles, options)?);
    let mut reader = RowReader::new(&table, dialect.decimal);
    if has_header == Header::Absent {
        reader.read(&record, line, &mut table)?;
    }
    while let Some(line) = records.read(&mut record)? {
        reader.read(&record, line, &mut table)?;
    }
    table.finish(options)
}

/// The first row has titles when one of its cells is neither a number nor missing; the column that is known to hold
/// names of trajectories does not count.
fn has_header(first: &ByteRecord, dialect: &Dialect, options: &ReadOptions) -> Header {
    let names = |i: usize| options.trajectory == Some(super::Column::Index(i + 1));
    let is_text = |cell: &[u8]| number::parse(cell, dialect.decimal).is_none();
    let texts = first
        .iter()
        .enumerate()
        .any(|(i, cell)| !names(i) && is_text(cell));
    let empty = first.iter().all(|cell| cell.trim_ascii().is_empty());
    let detected = match texts && !empty {
        true => Header::Present,
        false => Header::Absent,
    };
    options.header.unwrap_or(detected)
}

fn titles(first: &ByteRecord, header: Header) -> Vec<Title> {
    let title = |cell: &[u8]| match header {
        Header::Present => Title::parse(&decode(cell)),
        Header::Absent => Title::named(String::new()),
    };
    let mut titles: Vec<Title> = first.iter().map(title).collect();
    if header == Header::Absent {
        // Named, so that the first is not taken for an untitled count of rows.
        let names = (1..).map(|i| Title::named(format!("x{i}")));
        titles
            .iter_mut()
            .zip(names)
            .for_each(|(title, name)| *title = name);
    }
    titles
}

/// Text that is not UTF-8 is Latin-1, as from old instruments that write µ.
fn decode(cell: &[u8]) -> String {
    match std::str::from_utf8(cell) {
        Ok(text) => text.to_string(),
        Err(_) => cell.iter().map(|&byte| char::from(byte)).collect(),
    }
}

/// Puts the cells of records into a table.
struct RowReader {
    decimal: Decimal,
    slots: Vec<Slot>,
    names: Option<usize>,
    /// The trajectory of the row before.
    trajectory: Option<usize>,
}

impl RowReader {
    fn new(table: &Table, decimal: Decimal) -> RowReader {
        RowReader {
            decimal,
            slots: table.layout.slots.clone(),
            names: table.layout.trajectory(),
            trajectory: None,
        }
    }

    fn read(&mut self, record: &ByteRecord, line: u64, table: &mut Table) -> Result<(), Fault> {
        if record.len() != self.slots.len() {
            return Err(Fault::Ragged {
                at: At::Line(line),
                expected: self.slots.len(),
                found: record.len(),
            });
        }
        let trajectory = self.trajectory_of(record, table);
        let mut row = table.row(trajectory, line);
        for (i, (cell, &slot)) in record.iter().zip(&self.slots).enumerate() {
            if matches!(slot, Slot::Skip | Slot::Trajectory) {
                continue;
            }
            match number::parse(cell, self.decimal) {
                Some(value) if value.is_finite() => row.put(slot, value),
                Some(value) if value.is_nan() && slot != Slot::Time => {}
                other => return Err(cell_fault(other, cell, i, line, table)),
            }
        }
        Ok(())
    }

    fn trajectory_of(&mut self, record: &ByteRecord, table: &mut Table) -> usize {
        let name = self.names.map_or(&b""[..], |i| record[i].trim_ascii());
        let known = self
            .trajectory
            .filter(|&i| table.name(i).as_bytes() == name);
        let found = known.unwrap_or_else(|| table.trajectory(&decode(name)));
        self.trajectory = Some(found);
        found
    }
}

/// What is wrong with a cell that was read as `value`.
fn cell_fault(value: Option<f64>, cell: &[u8], i: usize, line: u64, table: &Table) -> Fault {
    let (at, column, name) = (At::Line(line), i + 1, table.layout.names[i].clone());
    let found = shorten(&decode(cell.trim_ascii()));
    match value {
        None => Fault::NotNumber {
            at,
            column,
            name,
            found,
        },
        Some(value) if value.is_nan() => Fault::NoTime { at },
        Some(_) => Fault::Infinite {
            at,
            column,
            name,
            found,
        },
    }
}

/// At most 40 characters, for messages.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(40) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_string(),
    }
}
