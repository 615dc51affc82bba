//! Text tables: records with a delimiter, one row per time step, read as they come in bounded memory.
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
mod records;
mod squeeze;
pub(super) mod title;
mod write;

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

use attractor_core::series::Series;
use csv::ByteRecord;
use flate2::read::MultiGzDecoder;

use super::date::{self, Spelling};
use super::roles::{Layout, Slot};
use super::table::Table;
use super::unpack::{self, Room};
use super::{At, Decimal, Fault, Header, ReadOptions, open};
use crate::spreadsheet::unguarded;
use dialect::Dialect;
use records::Records;
use title::Title;

pub(super) use number::grouped;
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
    let (mut source, room) = source(open(path)?, path)?;
    let mut sample = Vec::new();
    let read = (&mut source).take(SAMPLE).read_to_end(&mut sample);
    read.map_err(io_fault)?;
    if sample.starts_with(b"\xff\xfe") || sample.starts_with(b"\xfe\xff") {
        return Err(Fault::Utf16);
    }
    let dialect = Dialect::detect(&sample, options, preference)?;
    let spellings = dialect.spellings(&sample);
    let records = Records::new(&dialect, sample, source);
    read_records(records, &dialect, &spellings, options, room)
}

/// The text of a file, and the room for what it stands for.
fn source(file: File, path: &Path) -> Result<(Box<dyn Read>, Room), Fault> {
    let about = file.metadata().map_err(Fault::from_io)?;
    // An empty file is no gzip stream, but nothing is damaged.
    if about.is_file() && about.len() == 0 {
        return Err(Fault::Empty);
    }
    let is_packed = path
        .extension()
        .is_some_and(|e| e.eq_ignore_ascii_case("gz"));
    if is_packed {
        let stream = MultiGzDecoder::new(BufReader::new(file));
        let bounded = unpack::bounded(stream, about.len() as usize);
        return Ok((Box::new(Unpacked(bounded)), Room::beside(about.len())));
    }
    // A pipe does not say how much will come.
    let size = if about.is_file() {
        about.len()
    } else {
        u64::MAX
    };
    Ok((Box::new(file), Room::beside(size)))
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

fn read_records(
    mut records: Records,
    dialect: &Dialect,
    spellings: &[Option<Spelling>],
    options: &ReadOptions,
    mut room: Room,
) -> Result<Series, Fault> {
    let mut record = ByteRecord::new();
    let line = records.read(&mut record)?.ok_or(Fault::Empty)?;
    room.take_columns(record.len() as u64)?;
    let has_header = has_header(&record, dialect, options)?;
    let titles = titles(&record, has_header, spellings);
    let mut table = Table::of_lines(Layout::new(&titles, options)?);
    let mut reader = RowReader::new(&table, dialect.decimal, titles);
    if has_header == Header::Absent {
        reader.read(&record, line, &mut table)?;
    }
    while let Some(line) = records.read(&mut record)? {
        room.check(table.bytes())?;
        reader.read(&record, line, &mut table)?;
    }
    table.finish(options)
}

/// The first row has titles when one of its cells is neither a number nor a date nor missing; the column that is known to hold
/// names of trajectories does not count. If all are numbers by some notation, it may be either.
fn has_header(
    first: &ByteRecord,
    dialect: &Dialect,
    options: &ReadOptions,
) -> Result<Header, Fault> {
    if let Some(given) = options.header {
        return Ok(given);
    }
    let names = |i: usize| options.trajectory == Some(super::Column::Index(i + 1));
    let cells = || (first.iter().enumerate()).filter(|(i, _)| !names(*i));
    let is_text = |(_, cell): &(usize, &[u8])| {
        let is_date = || str::from_utf8(cell).is_ok_and(date::is_any);
        number::parse(cell, dialect.decimal).is_none() && !is_date()
    };
    match cells().find(is_text) {
        None => Ok(Header::Absent),
        Some((i, cell)) if cells().all(|(_, cell)| number::is_any(cell)) => {
            Err(Fault::TitleOrNumber {
                column: i + 1,
                found: shorten(&decode(cell.trim_ascii())),
            })
        }
        Some(_) => Ok(Header::Present),
    }
}

fn titles(first: &ByteRecord, header: Header, spellings: &[Option<Spelling>]) -> Vec<Title> {
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
    for (title, spelling) in titles.iter_mut().zip(spellings) {
        title.spelling.clone_from(spelling);
        if *spelling == Some(Spelling::Clock) {
            title.channel.unit = "s".to_string();
        }
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
    titles: Vec<Title>,
    /// The zone of the first time that has one, in seconds ahead of universal time.
    zone: Option<f64>,
    names: Option<usize>,
    /// The trajectory of the row before.
    trajectory: Option<usize>,
}

impl RowReader {
    fn new(table: &Table, decimal: Decimal, titles: Vec<Title>) -> RowReader {
        RowReader {
            decimal,
            titles,
            zone: None,
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
        for (i, cell) in record.iter().enumerate() {
            let slot = self.slots[i];
            if matches!(slot, Slot::Skip | Slot::Trajectory) {
                continue;
            }
            match self.value(cell, i, slot) {
                Some(value) if value.is_finite() => row.put(slot, value),
                Some(value) if value.is_nan() && slot.is_value() => {}
                other => return Err(self.cell_fault(other, cell, i, line, table)),
            }
        }
        Ok(())
    }

    /// The number that a cell stands for; NaN if it is missing.
    fn value(&mut self, cell: &[u8], i: usize, slot: Slot) -> Option<f64> {
        let text = || str::from_utf8(cell).ok().map(str::trim);
        match (&self.titles[i].spelling, slot) {
            (Some(_), Slot::Time | Slot::Part(_)) if cell.trim_ascii().is_empty() => Some(f64::NAN),
            (Some(Spelling::Dates(order)), Slot::Time) => {
                let date = date::parse(text()?, *order)?;
                let zone = date.zone.unwrap_or(0.0);
                Some(date.seconds - zone + *self.zone.get_or_insert(zone))
            }
            (Some(Spelling::Clock), Slot::Time | Slot::Part(_)) => date::parse_clock(text()?),
            _ => number::parse(cell, self.decimal),
        }
    }

    /// What is wrong with a cell that was read as `value`.
    fn cell_fault(
        &self,
        value: Option<f64>,
        cell: &[u8],
        i: usize,
        line: u64,
        table: &Table,
    ) -> Fault {
        let (at, column, name) = (At::Line(line), i + 1, table.layout.names[i].clone());
        let found = shorten(&decode(cell.trim_ascii()));
        match value {
            None if self.titles[i].spelling.is_some() => Fault::NotDate {
                at,
                column,
                name,
                found,
            },
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

    fn trajectory_of(&mut self, record: &ByteRecord, table: &mut Table) -> usize {
        let name = self.names.map_or(&b""[..], |i| name_in(&record[i]));
        let known = self
            .trajectory
            .filter(|&i| table.name(i).as_bytes() == name);
        let found = known.unwrap_or_else(|| table.trajectory(&decode(name)));
        self.trajectory = Some(found);
        found
    }
}

/// The name in a cell, which may be guarded from spreadsheets.
fn name_in(cell: &[u8]) -> &[u8] {
    let name = cell.trim_ascii();
    match std::str::from_utf8(name) {
        Ok(text) if text.starts_with('\'') => unguarded(text).as_bytes(),
        _ => name,
    }
}

/// At most 40 characters in one line, for messages.
fn shorten(text: &str) -> String {
    let visible = |c: char| {
        if c.is_control() {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    };
    let more = if text.chars().count() > 40 { "…" } else { "" };
    let shown: String = text.chars().take(40).map(visible).collect();
    shown + more
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text for which there is little room.
    fn read_within(text: &str, bytes: u64) -> Result<Series, Fault> {
        let options = ReadOptions::default();
        let mut room = Room::beside(0);
        room.take(unpack::limit(0) - bytes).unwrap();
        let dialect = Dialect::detect(text.as_bytes(), &options, Preference::None).unwrap();
        let records = Records::new(&dialect, text.as_bytes().to_vec(), Box::new(io::empty()));
        read_records(records, &dialect, &[], &options, room)
    }

    #[test]
    fn numbers_names_and_columns_need_room() {
        let refused = |text: &str, bytes| match read_within(text, bytes) {
            Err(Fault::Unfolds { .. }) => true,
            Err(other) => panic!("{other}"),
            Ok(_) => false,
        };
        // A comma is a byte, the number that it stands for takes eight.
        let numbers = format!("x,y\n{}1,2\n3,4\n", ",\n".repeat(1000));
        assert!(refused(&numbers, 10_000) && !refused(&numbers, 20_000));
        let names: String = (0..100).map(|i| format!("{i},1\n")).collect();
        let names = format!("trajectory,x\n{names}");
        assert!(refused(&names, 10_000) && !refused(&names, 100_000));
        let columns = format!("x{}\n1{0}\n", ",".repeat(100));
        assert!(refused(&columns, 10_000) && !refused(&columns, 100_000));
    }
}
