//! NumPy's `.npy`: one array of numbers; a row is a time step, a 1-d array is one channel.
//!
//! ```text
//! \x93NUMPY  major minor  length of header (u16, or u32 from version 2)  header  rows · columns · size bytes
//! ```
//!
//! The reader is our own (NEP 1 gives the format on one page). The `ndarray-npy` crate fixes the element type at
//! compile time, so that each of the ten types in both byte orders would be tried in turn, says neither where a
//! header is wrong nor how short a file is, and brings `ndarray` and a parser generator along.

mod header;

use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use attractor_core::catalogue::{Entry, Kind};
use attractor_core::series::{Channel, Series, Step};

use super::roles::{Layout, Slot};
use super::table::Table;
use super::text::title::Title;
use super::unpack::Room;
use super::{At, Fault, Format, ReadOptions, open};
use header::{Dtype, Head, Order};

/// The format.
pub(super) static NPY: Format = Format {
    entry: Entry {
        kind: Kind::Format,
        id: "npy",
        summary: "NumPy array, one row per time step",
        details: "\
Reads f4, f8, all integers and booleans, of either byte order, in C and Fortran order, versions 1 to 3.
Writes f8 in C order. A 1-d array is one channel. NaN is missing.
Holds one trajectory without inputs and gaps; names, units, start and step get lost.",
        settings: &[],
        references: &[],
    },
    extensions: &["npy"],
    read,
    remarks: |_, _| Vec::new(),
    losses,
    write: Some(|series, _, out| write_array(&series.trajectories()[0].x, series.dim_obs(), out)),
};

/// A table of numbers in row-major order.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Array {
    /// The values.
    pub(super) values: Vec<f64>,
    /// How many columns.
    pub(super) columns: usize,
}

/// How many bytes are decoded at a time; a multiple of every element's size.
const CHUNK: usize = 1 << 16;

fn read(path: &Path, options: &ReadOptions) -> Result<Series, Fault> {
    let file = open(path)?;
    let length = file.metadata().map_err(Fault::from_io)?.len();
    let mut room = Room::beside(length);
    let array = Array::read(&mut BufReader::new(file), Some(length), &mut room)?;
    let mut table = table_of(array.columns, options)?;
    push(array, "", &mut table)?;
    table.finish(options)
}

/// An empty table whose columns are x1, x2, …
pub(super) fn table_of(columns: usize, options: &ReadOptions) -> Result<Table, Fault> {
    let named = (1..=columns).map(|i| Title::named(format!("x{i}")));
    let titles: Vec<Title> = named.collect();
    Ok(Table::of_array(Layout::new(&titles, options)?))
}

/// Adds the rows of an array to a table, as one trajectory unless a column says otherwise.
pub(super) fn push(array: Array, name: &str, table: &mut Table) -> Result<(), Fault> {
    array.check_finite()?;
    if table.layout.is_plain() {
        let trajectory = table.trajectory(name);
        table.fill(trajectory, array.values);
        Ok(())
    } else {
        push_rows(&array, name, table)
    }
}

fn push_rows(array: &Array, name: &str, table: &mut Table) -> Result<(), Fault> {
    let (slots, names) = (table.layout.slots.clone(), table.layout.trajectory());
    let rows = array.values.chunks_exact(array.columns.max(1));
    for (values, row) in rows.zip(1..) {
        let id = names.map_or(name.to_string(), |i| values[i].to_string());
        let trajectory = table.trajectory(&id);
        let mut filled = table.row(trajectory, row);
        for (&slot, &value) in slots.iter().zip(values) {
            if slot == Slot::Time && value.is_nan() {
                return Err(Fault::NoTime { at: At::Row(row) });
            }
            filled.put(slot, value);
        }
    }
    Ok(())
}

/// What an array cannot hold is a fault where it is data, and a remark where it is a description.
fn losses(series: &Series) -> Result<Vec<&'static str>, Fault> {
    if series.trajectories().len() > 1 {
        return Err(Fault::CannotHold {
            what: "several trajectories",
            instead: "npz",
        });
    }
    let mut lost = array_losses(series)?;
    if !series.trajectories()[0].name.is_empty() {
        lost.push("the trajectory's name");
    }
    Ok(lost)
}

/// What arrays, one per trajectory, cannot hold.
pub(super) fn array_losses(series: &Series) -> Result<Vec<&'static str>, Fault> {
    let all = series.trajectories();
    let cannot = |what| Fault::CannotHold {
        what,
        instead: "csv",
    };
    if series.dim_input() > 0 {
        return Err(cannot("external inputs"));
    }
    if all.iter().any(|t| !t.gaps.is_empty()) {
        return Err(cannot("gaps in time"));
    }
    if series.has_own_times() {
        return Err(cannot("times of rows"));
    }
    let described = [
        (
            "channel names",
            series.channels() != Channel::numbered("x", series.dim_obs()),
        ),
        ("the sampling step", *series.step() != Step::default()),
        (
            "the time of the first row",
            all.iter().any(|t| t.start != 0.0),
        ),
    ];
    let lost = described.into_iter().filter(|&(_, is_lost)| is_lost);
    Ok(lost.map(|(what, _)| what).collect())
}

/// Writes a table as f8 in C order, little-endian.
pub(super) fn write_array(x: &[f64], columns: usize, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&header::encode(x.len() / columns, columns))?;
    let mut bytes = Vec::with_capacity(CHUNK);
    for values in x.chunks(CHUNK / 8) {
        bytes.clear();
        bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        out.write_all(&bytes)?;
    }
    Ok(())
}

impl Array {
    /// Reads an array to the end of the source, whose length is checked before anything of that size is allocated;
    /// where the length is not known, memory grows with what is really there. Numbers and columns need room: a byte of
    /// the source may stand for either.
    pub(super) fn read(
        source: &mut impl Read,
        length: Option<u64>,
        room: &mut Room,
    ) -> Result<Array, Fault> {
        let head = Head::read(source)?;
        let [rows, columns] = head.table_shape()?;
        let size = head.dtype.size() as u64;
        let too_large = || Fault::TooLarge {
            shape: head.shape.clone(),
        };
        let elements = rows.checked_mul(columns).ok_or_else(too_large)?;
        let claimed = elements.checked_mul(size).ok_or_else(too_large)?;
        let there = length.map(|length| length.saturating_sub(head.bytes));
        check_length(claimed, there)?;
        room.take_table([rows, columns])?;
        let columns = usize::try_from(columns).map_err(|_| too_large())?;
        let known = there.map_or(0, |_| elements as usize);
        let values = read_values(source, head.dtype, claimed, known)?;
        Ok(match head.order {
            Order::C => Array { values, columns },
            Order::Fortran => Array {
                values: transpose(&values, columns),
                columns,
            },
        })
    }

    fn check_finite(&self) -> Result<(), Fault> {
        match self.values.iter().position(|v| v.is_infinite()) {
            None => Ok(()),
            Some(i) => Err(Fault::Infinite {
                at: At::Row((i / self.columns) as u64 + 1),
                column: i % self.columns + 1,
                name: format!("x{}", i % self.columns + 1),
                found: self.values[i].to_string(),
            }),
        }
    }
}

fn check_length(claimed: u64, there: Option<u64>) -> Result<(), Fault> {
    match there {
        Some(there) if there < claimed => Err(Fault::Truncated {
            what: "array data",
            expected: claimed,
            found: there,
        }),
        Some(there) if there > claimed => Err(Fault::Trailing { expected: claimed }),
        _ => Ok(()),
    }
}

/// Decodes `claimed` bytes, with room for `known` values from the start, and checks that nothing follows.
fn read_values(
    source: &mut impl Read,
    dtype: Dtype,
    claimed: u64,
    known: usize,
) -> Result<Vec<f64>, Fault> {
    let mut values = Vec::with_capacity(known);
    let mut chunk = vec![0; CHUNK];
    let mut left = claimed;
    while left > 0 {
        let wanted = left.min(CHUNK as u64) as usize;
        let found = header::fill(source, &mut chunk[..wanted])?;
        if found < wanted {
            return Err(Fault::Truncated {
                what: "array data",
                expected: claimed,
                found: claimed - left + found as u64,
            });
        }
        dtype.decode(&chunk[..wanted], &mut values);
        left -= wanted as u64;
    }
    match header::fill(source, &mut chunk[..1])? {
        0 => Ok(values),
        _ => Err(Fault::Trailing { expected: claimed }),
    }
}

/// From column after column to row after row.
fn transpose(values: &[f64], columns: usize) -> Vec<f64> {
    let rows = values.len() / columns.max(1);
    let row = |r: usize| (0..columns).map(move |c| values[c * rows + r]);
    (0..rows).flat_map(row).collect()
}
