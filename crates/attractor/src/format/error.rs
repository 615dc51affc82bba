//! What can be wrong with a file of data: what, where in the file, and what next.

mod hint;

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use attractor_core::hint::Hint;
use attractor_core::series::SeriesError;
use attractor_core::text::count;

use super::Moment;
use attractor_core::prepare::ResampleError;

/// A file that cannot be read or written, and why.
#[derive(Debug, thiserror::Error)]
#[error("{fault}: {}", path.display())]
pub struct FormatError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub fault: Fault,
}

/// Where in a file something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum At {
    /// A line of a text file, from 1.
    Line(u64),
    /// A row of an array, from 1.
    Row(u64),
}

/// What is wrong with a file.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// There is no such file.
    #[error("no such file")]
    NotFound,
    /// It is a folder.
    #[error("expected a file, found a folder")]
    Directory,
    /// The user may not read it.
    #[error("no permission to read")]
    Permission,
    /// The system cannot read it.
    #[error("cannot read: {0}")]
    Io(io::Error),
    /// The name's end is that of no format.
    #[error("no format has {}", extension(found))]
    UnknownExtension {
        /// The extension.
        found: String,
    },
    /// A compressed file is damaged.
    #[error("damaged {what} file: {reason}")]
    Corrupt {
        /// The compression.
        what: &'static str,
        /// What the decompressor said.
        reason: String,
    },
    /// There are no data.
    #[error("no data")]
    Empty,
    /// The text has two bytes a character.
    #[error("expected text in UTF-8, found UTF-16")]
    Utf16,
    /// A row has more or fewer columns than the first.
    #[error("expected {}, found {found} on {at}", count(*expected, "column"))]
    Ragged {
        /// Where.
        at: At,
        /// Columns of the first row.
        expected: usize,
        /// Columns of this one.
        found: usize,
    },
    /// A cell of a column of numbers is not a number.
    #[error("expected a number, found `{found}` on {at}, column {column} (`{name}`)")]
    NotNumber {
        /// Where.
        at: At,
        /// The column, from 1.
        column: usize,
        /// Its name.
        name: String,
        /// The cell.
        found: String,
    },
    /// A cell of a column of dates is no date.
    #[error("expected a date, found `{found}` on {at}, column {column} (`{name}`)")]
    NotDate {
        /// Where.
        at: At,
        /// The column, from 1.
        column: usize,
        /// Its name.
        name: String,
        /// The cell.
        found: String,
    },
    /// Columns of years and months name no day.
    #[error("the columns of year and month are not a date on {at}")]
    NoDate {
        /// Where.
        at: At,
    },
    /// Dates may have the day or the month first.
    #[error("`{found}` in column {column} may have the day or the month first")]
    DateOrder {
        /// The column, from 1.
        column: usize,
        /// The first such cell.
        found: String,
    },
    /// A quote is never closed.
    #[error("the quote on {at} is not closed")]
    OpenQuote {
        /// Where.
        at: At,
    },
    /// A row is longer than any of a recording.
    #[error("{} is longer than {limit} bytes", row_after(*after))]
    LongRow {
        /// The line of the row before, or 0.
        after: u64,
        /// The limit.
        limit: u64,
    },
    /// Every number with a comma could have it as the decimal mark or between thousands.
    #[error("`{found}` in column {column} may be {fraction} or {whole}")]
    Thousands {
        /// The column, from 1.
        column: usize,
        /// The first such cell.
        found: String,
        /// Its value if the comma is the decimal mark.
        fraction: f64,
        /// Its value if the comma stands between thousands.
        whole: f64,
    },
    /// A cell of the first row is a number, but not as those of the other rows are written.
    #[error("`{found}` in the first row, column {column}, may be a title or a number")]
    TitleOrNumber {
        /// The column, from 1.
        column: usize,
        /// The cell.
        found: String,
    },
    /// A number is infinite or too large.
    #[error("expected a finite number, found {found} on {at}, column {column} (`{name}`)")]
    Infinite {
        /// Where.
        at: At,
        /// The column, from 1.
        column: usize,
        /// Its name.
        name: String,
        /// The cell.
        found: String,
    },
    /// A column that was asked for is not there.
    #[error("no column is {}", column(wanted))]
    NoColumn {
        /// What was asked for.
        wanted: String,
        /// The most similar name.
        near: Option<String>,
        /// All names.
        known: Vec<String>,
    },
    /// A column was given two roles, or one twice.
    #[error("column `{name}` is used twice, as {first} and as {second}")]
    TwoRoles {
        /// The column's name.
        name: String,
        /// One role.
        first: &'static str,
        /// The other.
        second: &'static str,
    },
    /// Two columns have the same name.
    #[error("columns {first} and {second} are both named `{name}`")]
    SameName {
        /// The name.
        name: String,
        /// One, from 1.
        first: usize,
        /// The other, from 1.
        second: usize,
    },
    /// A row has no time.
    #[error("no time on {at}")]
    NoTime {
        /// Where.
        at: At,
    },
    /// Time does not go forward.
    #[error("time goes from {before} to {found} on {at}")]
    TimeBack {
        /// Where.
        at: At,
        /// The time of the row before.
        before: String,
        /// The time.
        found: String,
    },
    /// Time steps are neither equal nor whole multiples.
    #[error(
        "the time axis is not uniform: expected a step of {}{}, found {} on {at}",
        short(*expected),
        after_blank(unit),
        short(*found)
    )]
    NonUniform {
        /// Where.
        at: At,
        /// The usual step.
        expected: f64,
        /// This one.
        found: f64,
        /// The unit of both.
        unit: String,
    },
    /// There would be far more rows.
    #[error("a step of {dt} is far shorter than that of the rows, which is {usual}")]
    TooFine {
        /// What was asked for.
        dt: f64,
        /// The flag that asked for it.
        flag: &'static str,
        /// The mean step of the rows.
        usual: f64,
    },
    /// Two rows fall on the same point of a grid.
    #[error("rows at {before} and {time} fall on the same point of a grid of step {dt}")]
    TooCoarse {
        /// The step of the grid.
        dt: f64,
        /// The time of one row.
        before: f64,
        /// That of the next.
        time: f64,
        /// The shortest time between two rows.
        shortest: f64,
    },
    /// The file is not a NumPy file.
    #[error("a NumPy file starts with \\x93NUMPY, this one with `{found}`")]
    Magic {
        /// How it starts.
        found: String,
    },
    /// The version of the NumPy format is unknown.
    #[error("expected version 1, 2 or 3 of the NumPy format, found {major}.{minor}")]
    Version {
        /// Major number.
        major: u8,
        /// Minor number.
        minor: u8,
    },
    /// The header of a NumPy file is not understood.
    #[error("expected {expected} at byte {at} of the header, found `{found}`")]
    ArrayHeader {
        /// Byte, from the header's start.
        at: usize,
        /// What should stand there.
        expected: &'static str,
        /// What stands there.
        found: String,
    },
    /// The header of a NumPy file claims to be longer than any header.
    #[error("the header claims {claimed} bytes, at most {limit} are sensible")]
    HeaderLength {
        /// What it claims.
        claimed: u64,
        /// The limit.
        limit: u64,
    },
    /// The file ends early.
    #[error("expected {expected} bytes of {what}, found {found}")]
    Truncated {
        /// The part of the file.
        what: &'static str,
        /// What the part should have.
        expected: u64,
        /// What it has.
        found: u64,
    },
    /// An array has more or fewer values than its dimensions say.
    #[error("expected {expected} values by the dimensions of the array, found {found}")]
    Values {
        /// The product of the dimensions.
        expected: u64,
        /// Values that are stored.
        found: u64,
    },
    /// The file goes on after its array.
    #[error("expected {expected} bytes of array data, found more")]
    Trailing {
        /// What it should have.
        expected: u64,
    },
    /// The elements of an array are not real numbers.
    #[error("expected numbers of type f4, f8, i1–i8, u1–u8 or b1, found {found}")]
    Dtype {
        /// NumPy's description of the type.
        found: String,
    },
    /// An array is not a table.
    #[error("expected an array of 1 or 2 dimensions, found {} with shape {shape:?}", shape.len())]
    Dimensions {
        /// Its shape.
        shape: Vec<u64>,
    },
    /// An array has more elements than memory has addresses.
    #[error("shape {shape:?} has too many elements")]
    TooLarge {
        /// Its shape.
        shape: Vec<u64>,
    },
    /// One array of several is at fault.
    #[error("array `{name}`: {fault}")]
    InArray {
        /// Its name.
        name: String,
        /// What is wrong with it.
        #[source]
        fault: Box<Fault>,
    },
    /// A file that belongs to this one is at fault.
    #[error("{name}: {fault}")]
    InFile {
        /// Its name.
        name: String,
        /// What is wrong with it.
        #[source]
        fault: Box<Fault>,
    },
    /// Arrays of one file differ in width.
    #[error("array `{name}` has {}, `{first}` has {expected}", count(*found, "column"))]
    Widths {
        /// The first array.
        first: String,
        /// Its columns.
        expected: usize,
        /// The other.
        name: String,
        /// Its columns.
        found: usize,
    },
    /// The format is only read.
    #[error("files of format {format} are read, not written")]
    ReadOnly {
        /// The format.
        format: &'static str,
    },
    /// The file to write would be taken for the signals of a record.
    #[error("a file of this name has the signals of the WFDB record beside it")]
    SignalFile,
    /// A column is no list of numbers.
    #[error("expected a column of numbers, found {found} in column {column} (`{name}`)")]
    ColumnType {
        /// The column, from 1.
        column: usize,
        /// Its name.
        name: String,
        /// What it holds.
        found: String,
    },
    /// No array has the name asked for.
    #[error("no array is named `{name}`")]
    NoArray {
        /// The name.
        name: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The array asked for is something else.
    #[error("array `{name}` is a {kind}, not a table of numbers")]
    NoTable {
        /// Its name.
        name: String,
        /// What it is.
        kind: String,
        /// What there is.
        known: Vec<String>,
    },
    /// No array is a table of numbers.
    #[error("no array is a table of numbers: {}", known.join(", "))]
    NoTables {
        /// What there is.
        known: Vec<String>,
    },
    /// Several arrays could be meant.
    #[error("several arrays could be meant")]
    WhichArray {
        /// What there is.
        known: Vec<String>,
    },
    /// A library of another format says what is wrong.
    #[error("this {format} file cannot be read: {reason}")]
    Foreign {
        /// The format.
        format: &'static str,
        /// What the library said.
        reason: String,
    },
    /// The file is packed by what is not unpacked here.
    #[error("columns compressed by {found} are not read")]
    Packing {
        /// What it is packed by.
        found: &'static str,
    },
    /// The file would take more memory than its size can justify.
    #[error("{claimed} bytes would unfold from {size}, at most {limit} are sensible")]
    Unfolds {
        /// What its values take.
        claimed: u64,
        /// Its size.
        size: u64,
        /// The limit.
        limit: u64,
    },
    /// A file that has to be converted.
    #[error("files of {what} are not read")]
    Convert {
        /// What it is.
        what: &'static str,
        /// The line that converts it.
        line: &'static str,
    },
    /// A field of a header is not what it must be.
    #[error("expected {expected} as {field}{}, found `{found}`", of_signal(signal.as_deref()))]
    Field {
        /// The field.
        field: &'static str,
        /// The signal that it describes.
        signal: Option<String>,
        /// What should stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A file has more or fewer records than its header says.
    #[error("expected {claimed} records of {size} bytes after the header, found {bytes} bytes ({} records)", bytes / size)]
    Records {
        /// Records that the header claims.
        claimed: u64,
        /// Bytes of a record.
        size: u64,
        /// Bytes that follow the header.
        bytes: u64,
    },
    /// The samples of a signal do not add up to what its header says.
    #[error("signal `{signal}` has the checksum {found}, expected {expected}")]
    Checksum {
        /// The signal.
        signal: String,
        /// What the header says.
        expected: u16,
        /// The sum of the samples.
        found: u16,
    },
    /// The ends of a signal's range give no scale.
    #[error(
        "signal `{signal}` has the {what} range {low} to {high}, by which nothing can be scaled"
    )]
    NoRange {
        /// The signal.
        signal: String,
        /// Digital or physical.
        what: &'static str,
        /// One end.
        low: f64,
        /// The other.
        high: f64,
    },
    /// A record of a file that may jump in time does not say when it starts.
    #[error("record {record} does not say when it starts")]
    NoOnset {
        /// The record, from 1.
        record: u64,
    },
    /// Signals do not fit into one table.
    #[error("signals have different rates: {}", rates(groups))]
    Rates {
        /// Each rate with its signals.
        groups: Vec<(f64, Vec<String>)>,
    },
    /// No channel matches a pattern.
    #[error("no channel matches `{pattern}`")]
    NoMatch {
        /// The pattern.
        pattern: String,
        /// All names.
        known: Vec<String>,
    },
    /// No trajectory matches a pattern.
    #[error("no trajectory matches `{pattern}`")]
    NoTrajectory {
        /// The pattern.
        pattern: String,
        /// All names.
        known: Vec<String>,
    },
    /// No row is left.
    #[error("no row lies {}: times are {first} to {last}", between(from.as_ref(), to.as_ref()))]
    NothingSelected {
        /// The first row asked for.
        from: Option<Moment>,
        /// The first row not asked for.
        to: Option<Moment>,
        /// The earliest time.
        first: f64,
        /// The latest time.
        last: f64,
    },
    /// Data cannot be resampled so.
    #[error(transparent)]
    Resample(#[from] ResampleError),
    /// The values form no series.
    #[error(transparent)]
    Series(#[from] SeriesError),
    /// The format cannot hold what must not get lost.
    #[error("this format cannot hold {what}")]
    CannotHold {
        /// What would get lost.
        what: &'static str,
        /// The extension of a format that can.
        instead: &'static str,
    },
    /// A name would not be read back as it is.
    #[error("{what} `{name}` cannot be written so that it is read back")]
    Name {
        /// What has the name.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// Two trajectories have the same name.
    #[error("two trajectories are named `{name}`")]
    SameTrajectory {
        /// The name.
        name: String,
    },
    /// After a gap, time is not later than one step on.
    #[error(
        "trajectory {trajectory} jumps in time to {time} at row {row}, less than a step forward"
    )]
    GapBack {
        /// The trajectory, from 1.
        trajectory: usize,
        /// The row, from 1.
        row: usize,
        /// The time after the gap.
        time: f64,
    },
}

impl FormatError {
    pub(super) fn new(path: &Path, fault: Fault) -> FormatError {
        FormatError {
            path: path.to_path_buf(),
            fault,
        }
    }

    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        self.fault.hint()
    }
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            At::Line(line) => write!(f, "line {line}"),
            At::Row(row) => write!(f, "row {row}"),
        }
    }
}

impl Fault {
    /// A step that is far too short for rows at these times.
    pub(super) fn fine(flag: &'static str, dt: f64, times: &[f64]) -> Fault {
        let span = times.last().zip(times.first()).map_or(0.0, |(b, a)| b - a);
        Fault::TooFine {
            dt,
            flag,
            usual: span / (times.len().max(2) - 1) as f64,
        }
    }

    /// A grid on which this row, from 0, falls on the same point as the one before it.
    pub(super) fn coarse(dt: f64, times: &[f64], row: usize) -> Fault {
        let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
        Fault::TooCoarse {
            dt,
            before: times[row - 1],
            time: times[row],
            shortest: steps.fold(f64::INFINITY, f64::min),
        }
    }

    /// The fault behind an error of the system.
    pub(super) fn from_io(error: io::Error) -> Fault {
        match error.kind() {
            io::ErrorKind::NotFound => Fault::NotFound,
            io::ErrorKind::IsADirectory => Fault::Directory,
            io::ErrorKind::PermissionDenied => Fault::Permission,
            _ => Fault::Io(error),
        }
    }
}

fn extension(found: &str) -> String {
    if found.is_empty() {
        "a name without extension".to_string()
    } else {
        format!("the extension `{found}`")
    }
}

fn row_after(line: u64) -> String {
    match line {
        0 => "the first row".to_string(),
        line => format!("the row after line {line}"),
    }
}

/// A step without the last digits, which subtracting two times leaves.
fn short(step: f64) -> f64 {
    format!("{step:.11e}").parse().unwrap_or(step)
}

fn after_blank(unit: &str) -> String {
    if unit.is_empty() {
        String::new()
    } else {
        format!(" {unit}")
    }
}

fn column(wanted: &str) -> String {
    match wanted.parse::<usize>() {
        Ok(number) => format!("number {number}"),
        Err(_) => format!("named `{wanted}`"),
    }
}

fn of_signal(signal: Option<&str>) -> String {
    signal.map_or(String::new(), |signal| format!(" of signal `{signal}`"))
}

/// At most three names of each group.
fn rates(groups: &[(f64, Vec<String>)]) -> String {
    let group = |(rate, names): &(f64, Vec<String>)| {
        let shown = names[..names.len().min(3)].join(", ");
        let more = if names.len() > 3 { ", …" } else { "" };
        format!("{rate} per unit of time ({shown}{more})")
    };
    groups.iter().map(group).collect::<Vec<_>>().join(", ")
}

fn between(from: Option<&Moment>, to: Option<&Moment>) -> String {
    let part = |word: &str, moment: Option<&Moment>| moment.map(|m| format!("{word} {m}"));
    let parts = [part("from", from), part("before", to)];
    parts
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" and ")
}
