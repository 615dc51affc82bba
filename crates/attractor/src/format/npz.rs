//! NumPy's `.npz`: a zip archive of arrays, one per trajectory, stored or deflated.
//!
//! Trajectories come in the natural order of the arrays' names (`run2` before `run10`), since programs write them
//! in any order. Arrays called `arr_0`, `arr_1`, … are those that NumPy saved without names, and stay unnamed.

use std::cmp::Ordering;
use std::collections::HashSet;
use std::io::{self, BufReader, Read, Seek, Write};
use std::path::Path;

use attractor_core::catalogue::{Entry, Kind};
use attractor_core::series::Series;
use zip::result::ZipError;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::npy::{self, Array};
use super::unpack::{self, Room};
use super::{Fault, Format, ReadOptions, open};

/// The format.
pub(super) static NPZ: Format = Format {
    entry: Entry {
        kind: Kind::Format,
        id: "npz",
        summary: "NumPy arrays, one per trajectory",
        details: "\
Reads arrays as npy does, stored or deflated; their names are the names of the trajectories, in natural order.
Writes deflated f8 arrays. Unnamed trajectories are arr_0, arr_1, … as NumPy calls them.
Holds trajectories without inputs and gaps; channel names, units, starts and the step get lost.",
        settings: &[],
        references: &[],
    },
    extensions: &["npz"],
    read,
    remarks: |_, _| Vec::new(),
    losses,
    write: Some(|series, _, out| write(series, out)),
};

fn read(path: &Path, options: &ReadOptions) -> Result<Series, Fault> {
    let file = open(path)?;
    let length = file.metadata().map_err(Fault::from_io)?;
    // An empty file is no archive, but nothing is damaged.
    if length.is_file() && length.len() == 0 {
        return Err(Fault::Empty);
    }
    let mut room = Room::beside(length.len());
    let mut archive = ZipArchive::new(BufReader::new(file)).map_err(zip_fault)?;
    let entries = chosen(entries(&mut archive)?, options)?;
    let (_, first) = entries.first().ok_or(Fault::Empty)?;
    let names = names(&entries);
    let mut table = None;
    let mut width = 0;
    for ((index, entry), name) in entries.iter().zip(names) {
        let within = |fault| in_array(entry, fault);
        let array = read_entry(&mut archive, *index, &mut room).map_err(within)?;
        let table = match &mut table {
            Some(table) if array.columns == width => table,
            Some(_) => return Err(widths(first, width, entry, array.columns)),
            None => {
                width = array.columns;
                table.insert(npy::table_of(width, options)?)
            }
        };
        npy::push(array, &name, table).map_err(within)?;
    }
    table.ok_or(Fault::Empty)?.finish(options)
}

/// The arrays of an archive with their numbers, in natural order of their names.
fn entries<R: Read + Seek>(archive: &mut ZipArchive<R>) -> Result<Vec<(usize, String)>, Fault> {
    let mut entries = Vec::new();
    for index in 0..archive.len() {
        let file = archive.by_index_raw(index).map_err(zip_fault)?;
        let name = file.name().map_err(zip_fault)?.into_owned();
        if let Some(name) = name.strip_suffix(".npy") {
            entries.push((index, name.to_string()));
        }
    }
    entries.sort_by(|a, b| natural(&a.1, &b.1));
    Ok(entries)
}

/// All arrays, or the one that is asked for.
fn chosen(
    entries: Vec<(usize, String)>,
    options: &ReadOptions,
) -> Result<Vec<(usize, String)>, Fault> {
    let Some(name) = &options.array else {
        return Ok(entries);
    };
    match entries.iter().find(|entry| entry.1 == *name) {
        Some(entry) => Ok(vec![entry.clone()]),
        None => Err(Fault::NoArray {
            name: name.clone(),
            known: entries.into_iter().map(|entry| entry.1).collect(),
        }),
    }
}

/// The names of the trajectories. Placeholders, which the table clears, where NumPy made up the names.
fn names(entries: &[(usize, String)]) -> Vec<String> {
    let made_up = |(i, (_, name)): (usize, &(usize, String))| *name == unnamed(i);
    if entries.iter().enumerate().all(made_up) {
        (0..entries.len()).map(super::table::placeholder).collect()
    } else {
        entries.iter().map(|(_, name)| name.clone()).collect()
    }
}

fn unnamed(trajectory: usize) -> String {
    format!("arr_{trajectory}")
}

/// Reads an array. Several may lie in the same bytes of the archive, so that all share the room.
fn read_entry<R: Read + Seek>(
    archive: &mut ZipArchive<R>,
    index: usize,
    room: &mut Room,
) -> Result<Array, Fault> {
    let file = archive.by_index(index).map_err(zip_fault)?;
    let packed = file.compressed_size() as usize;
    // The archive's word on the length is not trusted: it may be a bomb.
    let read = Array::read(&mut unpack::bounded(file, packed), None, room);
    read.map_err(|fault| match fault {
        Fault::Io(error) => corrupt(error),
        other => other,
    })
}

fn losses(series: &Series) -> Result<Vec<&'static str>, Fault> {
    let mut seen = HashSet::new();
    for name in array_names(series) {
        if !seen.insert(name.clone()) {
            return Err(Fault::SameTrajectory { name });
        }
    }
    let mut lost = npy::array_losses(series)?;
    if !array_names(series).is_sorted_by(|a, b| natural(a, b).is_le()) {
        lost.push("the order of the trajectories");
    }
    Ok(lost)
}

fn write(series: &Series, out: &mut dyn Write) -> io::Result<()> {
    let mut archive = ZipWriter::new_stream(out);
    let options = SimpleFileOptions::default()
        .compression_method(CompressionMethod::Deflated)
        .large_file(true);
    for (t, name) in series.trajectories().iter().zip(array_names(series)) {
        archive.start_file(format!("{name}.npy"), options)?;
        npy::write_array(&t.x, series.dim_obs(), &mut archive)?;
    }
    archive.finish()?;
    Ok(())
}

/// The names of the arrays: those of the trajectories, or NumPy's where they have none.
fn array_names(series: &Series) -> Vec<String> {
    let name = |(i, name): (usize, &String)| {
        if name.is_empty() {
            unnamed(i)
        } else {
            name.clone()
        }
    };
    let all = series.trajectories().iter().map(|t| &t.name);
    all.enumerate().map(name).collect()
}

/// Text by character, runs of digits by value: `run2` before `run10`.
fn natural(a: &str, b: &str) -> Ordering {
    let (mut left, mut right) = (a, b);
    loop {
        let (digits_left, digits_right) = (leading_digits(left), leading_digits(right));
        let order = if digits_left.is_empty() || digits_right.is_empty() {
            left.chars().next().cmp(&right.chars().next())
        } else {
            by_value(digits_left, digits_right)
        };
        if order.is_ne() || left.is_empty() {
            // Names such as 01 and 1 differ all the same.
            return order.then_with(|| a.cmp(b));
        }
        let skip = |text: &str| text.chars().next().map_or(0, char::len_utf8);
        left = &left[digits_left.len().max(skip(left))..];
        right = &right[digits_right.len().max(skip(right))..];
    }
}

fn leading_digits(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_digit());
    &text[..end.unwrap_or(text.len())]
}

fn by_value(a: &str, b: &str) -> Ordering {
    let (a, b) = (a.trim_start_matches('0'), b.trim_start_matches('0'));
    a.len().cmp(&b.len()).then_with(|| a.cmp(b))
}

fn in_array(name: &str, fault: Fault) -> Fault {
    Fault::InArray {
        name: name.to_string(),
        fault: Box::new(fault),
    }
}

fn widths(first: &str, expected: usize, name: &str, found: usize) -> Fault {
    Fault::Widths {
        first: first.to_string(),
        expected,
        name: name.to_string(),
        found,
    }
}

fn corrupt(reason: impl ToString) -> Fault {
    Fault::Corrupt {
        what: "zip",
        reason: reason.to_string(),
    }
}

fn zip_fault(error: ZipError) -> Fault {
    match error {
        ZipError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => {
            Fault::from_io(error)
        }
        other => corrupt(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_names_sort_by_value() {
        let mut names = [
            "run10", "run2", "a", "run02", "run", "b1c2", "b1c10", "run2b",
        ];
        names.sort_by(|a, b| natural(a, b));
        let sorted = [
            "a", "b1c2", "b1c10", "run", "run02", "run2", "run2b", "run10",
        ];
        assert_eq!(names, sorted);
    }
}
