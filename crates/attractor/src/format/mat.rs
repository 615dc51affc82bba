//! MATLAB's `.mat` files of version 5 (`save -v6`, `-v7`, and what SciPy writes), and 7.3, which is HDF5.
//!
//! ```text
//! text (116 bytes)  subsystem (8)  version (2)  byte order (2)   element · element · …
//! element = type (4)  size (4)  data, padded to 8 bytes;  or, for up to 4 bytes:  type (2)  size (2)  data (4)
//! matrix  = flags, dimensions, name, real part[, imaginary part], each an element; a compressed element is a zlib stream
//! ```
//!
//! A matrix is stored column after column and read as rows of time steps; a single row is one channel. The reader is our
//! own: `matrw` 0.1 fails on files that SciPy writes, `matfile` 0.5 silently leaves out structs and texts, `mat5` 0.1 stops
//! at the first text.

mod element;

use std::fs;
use std::path::Path;

use attractor_core::catalogue::{Entry, Kind};
use attractor_core::series::Series;
use attractor_core::text::count;

use super::npy::Array;
use super::unpack::Room;
use super::variables::{self, Variable};
use super::{Fault, Format, ReadOptions, open};
use element::{Head, Order, Stored};

/// The format.
pub(super) static MAT: Format = Format {
    entry: Entry {
        kind: Kind::Format,
        id: "mat",
        summary: "MATLAB file, versions 5 to 7 and 7.3; read only",
        details: "\
Reads a matrix of real numbers, one row per time step; a single row is one channel. If there are several, the one with the most rows, as a note says, or the one that --array names. Structs, cells, texts, sparse and complex matrices are listed, not read.
Version 7.3 is HDF5.",
        settings: &[],
        references: &[],
    },
    extensions: &["mat"],
    read,
    remarks,
    losses: |_| Ok(Vec::new()),
    write: None,
};

/// Bytes before the first element.
const HEADER: usize = 128;

/// What an HDF5 file starts with; MATLAB puts it behind a header of its own.
const HDF5: &[u8] = b"\x89HDF\r\n\x1a\n";

fn read(path: &Path, options: &ReadOptions) -> Result<Series, Fault> {
    open(path)?;
    let bytes = fs::read(path).map_err(Fault::from_io)?;
    if is_hdf5(&bytes) {
        return read_hdf5(path, options);
    }
    let stored = stored(&bytes)?;
    let chosen = &stored[variables::choose(&listed(&stored), options)?];
    let mut room = Room::beside(bytes.len() as u64);
    let values = chosen.values(&mut room)?;
    room.take_columns(shape_of(&chosen.head)[1])?;
    variables::series(table(&chosen.head, values), options)
}

/// Which of several matrices is read.
fn remarks(path: &Path, options: &ReadOptions) -> Vec<String> {
    let Ok(bytes) = fs::read(path) else {
        return Vec::new();
    };
    if is_hdf5(&bytes) {
        return hdf5_remarks(path, options);
    }
    stored(&bytes).map_or(Vec::new(), |stored| {
        variables::remarks(&listed(&stored), options)
    })
}

fn is_hdf5(bytes: &[u8]) -> bool {
    let starts = |at: usize| bytes.get(at..).is_some_and(|rest| rest.starts_with(HDF5));
    starts(0) || starts(512)
}

fn stored(bytes: &[u8]) -> Result<Vec<Stored<'_>>, Fault> {
    let order = check_header(bytes)?;
    element::stored(&bytes[HEADER..], order)
}

fn listed(stored: &[Stored<'_>]) -> Vec<Variable> {
    stored.iter().map(|stored| variable(&stored.head)).collect()
}

#[cfg(feature = "hdf5")]
use super::hdf5::{matlab_remarks as hdf5_remarks, read_matlab as read_hdf5};

#[cfg(not(feature = "hdf5"))]
fn hdf5_remarks(_: &Path, _: &ReadOptions) -> Vec<String> {
    Vec::new()
}

#[cfg(not(feature = "hdf5"))]
fn read_hdf5(_: &Path, _: &ReadOptions) -> Result<Series, Fault> {
    Err(Fault::Convert {
        what: "MATLAB 7.3, which are HDF5,",
        line: "import h5py, numpy as np; np.save('x.npy', h5py.File('x.mat')['x'][()].T)",
    })
}

/// The byte order that the header tells.
fn check_header(bytes: &[u8]) -> Result<Order, Fault> {
    if bytes.is_empty() {
        return Err(Fault::Empty);
    }
    let mark = bytes.get(124..HEADER).ok_or(Fault::Truncated {
        what: "header",
        expected: HEADER as u64,
        found: bytes.len() as u64,
    })?;
    match mark {
        [0, 1, b'I', b'M'] => Ok(Order::Little),
        [1, 0, b'M', b'I'] => Ok(Order::Big),
        other => Err(Fault::Field {
            field: "version and byte order",
            signal: None,
            expected: "MATLAB 5 (\\0\\x01IM)".to_string(),
            found: other.escape_ascii().to_string(),
        }),
    }
}

fn variable(matrix: &Head) -> Variable {
    Variable {
        name: matrix.name.clone(),
        kind: match (matrix.unreadable, shape(&matrix.dims)) {
            (Some(kind), _) => Err(kind.to_string()),
            (None, Some(shape)) => Ok(shape),
            (None, None) => Err(format!(
                "array of {}",
                count(matrix.dims.len(), "dimension")
            )),
        },
    }
}

/// Rows and columns; a single row is one column.
fn shape(dims: &[u64]) -> Option<[u64; 2]> {
    match *dims {
        [1, columns] => Some([columns, 1]),
        [rows, columns] => Some([rows, columns]),
        _ => None,
    }
}

/// Rows and columns of an array that was chosen.
fn shape_of(matrix: &Head) -> [u64; 2] {
    shape(&matrix.dims).expect("the array was chosen by its shape")
}

/// Values that are stored column after column, as a table.
fn table(matrix: &Head, values: Vec<f64>) -> Array {
    let [rows, columns] = shape_of(matrix).map(|n| n as usize);
    match columns {
        1 => Array { values, columns },
        _ => {
            let value = |i: usize| values[i % columns * rows + i / columns];
            Array {
                values: (0..rows * columns).map(value).collect(),
                columns,
            }
        }
    }
}
