//! Recordings on disk: a file becomes a [`Series`], a [`Series`] becomes a file, the format by the name's end.
//!
//! A file is a table with one row per time step. Each column has a role: the time axis, a state (a channel x), an
//! external input s, the trajectory that a row belongs to, or none. Roles come from [`ReadOptions`]; what these
//! leave open is detected from the column titles (see `docs/formats.md`).
//!
//! A new format is one file and one line in [`FORMATS`].

mod calendar;
mod converted;
mod csv;
mod date;
mod edf;
mod error;
mod foreign;
#[cfg(feature = "hdf5")]
mod hdf5;
mod join;
mod mat;
#[cfg(feature = "hdf5")]
mod netcdf;
mod npy;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;
mod parts;
mod pattern;
mod roles;
mod select;
mod table;
mod text;
mod time;
mod tsv;
mod unique;
mod unpack;
mod variables;
mod wfdb;

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use attractor_core::catalogue::Entry;
use attractor_core::series::{Series, SeriesError};

use crate::{Error, store};

pub use edf::Annotation;
pub use error::{At, Fault, FormatError};
pub use foreign::FOREIGN_THREAD;
pub use pattern::Pattern;
pub use select::Moment;
pub(crate) use select::cut;
pub(crate) use time::Axis;

/// Every file format.
pub static FORMATS: &[&Format] = &[
    &csv::CSV,
    &tsv::TSV,
    &npy::NPY,
    &npz::NPZ,
    &edf::EDF,
    &wfdb::WFDB,
    &mat::MAT,
    #[cfg(feature = "hdf5")]
    &hdf5::HDF5,
    #[cfg(feature = "hdf5")]
    &netcdf::NETCDF,
    #[cfg(feature = "parquet")]
    &parquet::PARQUET,
];

/// A file format.
#[derive(Debug)]
pub struct Format {
    /// Its description.
    pub entry: Entry,
    /// How names of its files end, without the leading dot, the one to recommend first.
    pub extensions: &'static [&'static str],
    /// Reads a file.
    pub read: fn(&Path, &ReadOptions) -> Result<Series, Fault>,
    /// What a user should know about what is read of a file, and what is not.
    pub remarks: fn(&Path, &ReadOptions) -> Vec<String>,
    /// What a file of this format would lose of a series: words for what is worth a remark, a fault for what must
    /// not get lost.
    pub losses: fn(&Series) -> Result<Vec<&'static str>, Fault>,
    /// Writes a series that has no fault, under the extension that the file's name has; none if it is only read.
    pub write: Option<WriteSeries>,
}

/// Writes a series under an extension.
pub type WriteSeries = fn(&Series, &str, &mut dyn Write) -> io::Result<()>;

/// How to read a file. The default detects everything.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ReadOptions {
    /// The sampling step. Without a `time` column it is taken as it is, and a column that is named like time is
    /// left out. With one, steps of `dt` are regular and every longer one is a gap.
    pub dt: Option<f64>,
    /// The column of times. By default a column that is named so; [`Column::none`] for no such column.
    pub time: Option<Column>,
    /// The channels, in this order: each a column, or a pattern of the names of several. When empty: all that have no other role.
    pub channels: Vec<Column>,
    /// The columns of external inputs, in this order. When empty: those whose title says so.
    pub input: Vec<Column>,
    /// The column that says which trajectory a row belongs to. By default a column named `trajectory`;
    /// [`Column::none`] for no such column.
    pub trajectory: Option<Column>,
    /// Patterns of the names of trajectories that are read; all when empty.
    pub only_trajectories: Vec<Pattern>,
    /// What separates columns of a text file.
    pub delimiter: Option<Delimiter>,
    /// What separates whole numbers from fractions in a text file.
    pub decimal: Option<Decimal>,
    /// Whether the first row of a text file has titles.
    pub header: Option<Header>,
    /// The array to read, where a file has several.
    pub array: Option<String>,
    /// Rows before this one are left out.
    pub from: Option<Moment>,
    /// Rows from this one on are left out.
    pub to: Option<Moment>,
    /// Numbers that stand for missing values.
    pub missing: Vec<f64>,
    /// The step to which rows at any times are interpolated.
    pub resample: Option<f64>,
    /// The step of the grid that rows at any times are placed on, each at the nearest point, with missing values between.
    pub grid: Option<f64>,
    /// The step of a model of rows that keep times of their own.
    pub own_times: Option<f64>,
    /// How many rows there are to be in a unit of time: resamples, after what lies outside `from` and `to` is left out.
    pub rate: Option<f64>,
}

/// A column as a user names it. From text, a number is an index and anything else a name; among channels, a name that no column has is a
/// [`Pattern`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Column {
    /// By the name in its title, without role and unit, or by its whole title.
    Name(String),
    /// By its number; the first column is 1, as in messages.
    Index(usize),
}

/// What separates the columns of a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Delimiter {
    /// `,`
    Comma,
    /// `;`
    Semicolon,
    /// A tab.
    Tab,
    /// Any run of spaces and tabs.
    Whitespace,
}

/// What separates whole numbers from fractions in a text file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decimal {
    /// 1.5
    Point,
    /// 1,5
    Comma,
}

/// Whether the first row of a text file has titles.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Header {
    /// It has titles.
    Present,
    /// It has data.
    Absent,
}

impl Column {
    /// The word for no column at all.
    const NONE: &str = "none";

    /// No column: keeps a column that is named like a role from taking it.
    pub fn none() -> Column {
        Column::Name(Column::NONE.to_string())
    }

    pub(crate) fn is_none(&self) -> bool {
        matches!(self, Column::Name(name) if name == Column::NONE)
    }
}

impl FromStr for Column {
    type Err = std::convert::Infallible;

    fn from_str(text: &str) -> Result<Column, Self::Err> {
        let text = text.trim();
        Ok(match text.parse() {
            Ok(index) => Column::Index(index),
            Err(_) => Column::Name(text.to_string()),
        })
    }
}

/// Reads a file.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Series, FormatError> {
    // A folder or a missing file is the greater surprise.
    let format = || to_read(path).map_err(|unknown| open(path).err().unwrap_or(unknown));
    let read = || {
        refuse_step(options)?;
        select::select((format()?.read)(path, options)?, options)
    };
    read().map_err(|fault| FormatError::new(path, fault))
}

/// Whether the name of a file is that of a recording.
pub(crate) fn is_known(path: &Path) -> bool {
    to_read(path).is_ok()
}

/// What a user should know about what [`read`] takes of a file: an array that was chosen among several, samples that are
/// left out. A file that cannot be read has none.
pub fn remarks(path: &Path, options: &ReadOptions) -> Vec<String> {
    to_read(path).map_or(Vec::new(), |format| (format.remarks)(path, options))
}

/// The files that a recording is read from: the one named, and those that belong to it, as the signals to a header.
pub fn files_of(path: &Path) -> Vec<PathBuf> {
    let mut files = vec![path.to_path_buf()];
    files.extend(wfdb::parts(path));
    files
}

/// Refuses to write a file over any that a recording is read from.
pub fn refuse_same(from: &Path, to: &Path) -> Result<(), Error> {
    let files = files_of(from);
    files
        .iter()
        .try_for_each(|file| store::refuse_same(file, to))
}

/// The annotations of an EDF+ file.
pub fn annotations(path: &Path) -> Result<Vec<Annotation>, FormatError> {
    edf::annotations(path).map_err(|fault| FormatError::new(path, fault))
}

/// The format in which a file is read. Signals of WFDB end like text tables; the header beside them tells.
fn to_read(path: &Path) -> Result<&'static Format, Fault> {
    match (wfdb::is_signal_file(path), converted::fault(path)) {
        (true, _) => Ok(&wfdb::WFDB),
        (false, Some(fault)) => open(path).and(Err(fault)),
        (false, None) => Ok(by_name(path)?.0),
    }
}

fn refuse_step(options: &ReadOptions) -> Result<(), Fault> {
    let steps = [
        options.dt,
        options.resample,
        options.grid,
        options.own_times,
    ];
    for dt in steps.into_iter().flatten() {
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(SeriesError::Step { dt }.into());
        }
    }
    Ok(())
}

/// Writes a file, whole or not at all.
pub fn write(path: &Path, series: &Series) -> Result<(), Error> {
    losses(path, series)?;
    let (write, extension) = to_write(path).map_err(|fault| FormatError::new(path, fault))?;
    store::write_whole(path, |out| write(series, extension, out))
}

/// How a file of this name is written, and its extension.
fn to_write(path: &Path) -> Result<(WriteSeries, &'static str), Fault> {
    let (format, extension) = by_name(path)?;
    match format.write {
        Some(_) if wfdb::is_signal_file(path) => Err(Fault::SignalFile),
        Some(write) => Ok((write, extension)),
        None => Err(Fault::ReadOnly {
            format: format.entry.id,
        }),
    }
}

/// Refuses a file that cannot be written, whatever the series: of no format, a folder, or in a folder that is not
/// there.
pub fn refuse_unwritable(path: &Path) -> Result<(), Error> {
    to_write(path).map_err(|fault| FormatError::new(path, fault))?;
    if path.is_dir() {
        return Err(FormatError::new(path, Fault::Directory).into());
    }
    store::refuse_unwritable(path)
}

/// Writes a text table with commas.
pub fn write_csv(series: &Series, out: &mut dyn Write) -> io::Result<()> {
    text::write(series, Delimiter::Comma, "csv", out)
}

/// What of a series a file of this name would not hold, in words; an error when that must not get lost.
pub fn losses(path: &Path, series: &Series) -> Result<Vec<&'static str>, FormatError> {
    to_write(path)
        .and_then(|_| (by_name(path)?.0.losses)(series))
        .map_err(|fault| FormatError::new(path, fault))
}

/// The format of a file name, and the extension by which it was found: the longest that fits.
fn by_name(path: &Path) -> Result<(&'static Format, &'static str), Fault> {
    let name = path.file_name().unwrap_or_default();
    let name = name.to_string_lossy().to_ascii_lowercase();
    let fits = |extension: &str| {
        name.strip_suffix(extension)
            .is_some_and(|stem| stem.ends_with('.'))
    };
    FORMATS
        .iter()
        .flat_map(|&format| format.extensions.iter().map(move |&e| (format, e)))
        .filter(|&(_, extension)| fits(extension))
        .max_by_key(|(_, extension)| extension.len())
        .ok_or_else(|| Fault::UnknownExtension {
            found: path
                .extension()
                .map_or(String::new(), |e| e.to_string_lossy().into_owned()),
        })
}

/// Opens a file that is one.
fn open(path: &Path) -> Result<File, Fault> {
    let file = File::open(path).map_err(Fault::from_io)?;
    if file.metadata().map_err(Fault::from_io)?.is_dir() {
        Err(Fault::Directory)
    } else {
        Ok(file)
    }
}
