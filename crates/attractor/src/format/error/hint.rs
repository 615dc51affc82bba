//! What the user can do about a file that cannot be read or written.

use attractor_core::hint::Hint;
use attractor_core::series::SeriesError;
use attractor_core::text::{enumerate, figure};

use super::super::{FORMATS, text};
use super::Fault;
use crate::shell;

impl Fault {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        let hint = match self {
            Fault::UnknownExtension { .. } => {
                return Some(
                    format!("the known extensions are {}", known_extensions().join(", ")).into(),
                );
            }
            Fault::NoColumn { near, known, .. } => {
                return Some(column_hint(near.as_deref(), known).into());
            }
            Fault::CannotHold { instead, .. } => {
                return Some(format!("write to a file that ends in .{instead}").into());
            }
            Fault::NoArray { known, .. }
            | Fault::NoTable { known, .. }
            | Fault::WhichArray { known } => {
                return Some(format!("name one with --array: {}", known.join(", ")).into());
            }
            Fault::Thousands {
                fraction, whole, ..
            } => {
                return Some(format!(
                    "give --decimal comma if it is {fraction}; if it is {whole}, write it without the comma"
                ).into());
            }
            Fault::NotNumber { found, .. } if text::grouped(found).is_some() => {
                "write it without the commas between thousands"
            }
            Fault::NonUniform { expected, .. } => {
                return Some(format!(
                    "`--resample {expected}` interpolates to equal steps; `--own-times {expected}` keeps rows and times, for ode-rnn and latent-ode; `--dt {expected}` without --time counts rows instead"
                ).into());
            }
            Fault::TooFine { usual, flag, .. } => {
                return Some(format!("use `{flag} {}`", figure(*usual)).into());
            }
            Fault::TooCoarse { shortest, .. } => {
                return Some(format!("use `--grid {}`", figure(0.99 * shortest)).into());
            }
            Fault::Convert { line, .. } => return Some(format!("in Python: {line}").into()),
            Fault::Rates { groups } => return Some(rates_hint(groups).into()),
            Fault::NoTrajectory { known, .. } => {
                return Some(format!("there are {}", enumerate(known)).into());
            }
            Fault::NoMatch { known, .. } => return Some(column_hint(None, known).into()),
            Fault::Resample(error) => return error.hint(),
            Fault::Series(error) => series_hint(error)?,
            Fault::InArray { fault, .. } | Fault::InFile { fault, .. } => return fault.hint(),
            other => other.remedy()?,
        };
        Some(hint.into())
    }

    /// The hint, where it is always the same.
    fn remedy(&self) -> Option<&'static str> {
        Some(match self {
            Fault::NotFound => "check the name and the folder",
            Fault::Directory => "name a file in it",
            Fault::Permission => "ask its owner, or copy it",
            Fault::Corrupt { .. }
            | Fault::Truncated { .. }
            | Fault::Values { .. }
            | Fault::Records { .. } => "copy or download the file again",
            Fault::Checksum { .. } => CHECKSUM,
            Fault::Unfolds { .. } => "the file is damaged: write it again, or split it",
            Fault::Packing { .. } => PACKING,
            Fault::Foreign { format, .. } => foreign(format),
            Fault::Field { field, .. } => header_field(field),
            Fault::NoTables { .. } => "save the array itself, as in save('x.mat', 'x')",
            Fault::ReadOnly { .. } | Fault::SignalFile => "write to a file that ends in .csv",
            Fault::NoRange { .. } => "leave the signal out: choose others with --channels",
            Fault::NothingSelected { .. } => "--from and --to take times, or rows as in row:1000",
            Fault::Empty => "the file needs at least one row of numbers",
            Fault::Utf16 => "save it as UTF-8, as with `iconv -f UTF-16 -t UTF-8`",
            Fault::Ragged { .. } => "check the delimiter and decimal mark (--delimiter, --decimal)",
            Fault::NotNumber { .. } => NOT_NUMBER,
            Fault::NotDate { .. } | Fault::NoDate { .. } => {
                "remove the row, or give `--dt 1` to count rows instead"
            }
            Fault::DateOrder { .. } => {
                "write dates as 1950-01-31, or give `--dt 1` to count rows instead"
            }
            Fault::OpenQuote { .. } => OPEN_QUOTE,
            Fault::LongRow { .. } => "check the ends of lines, and that every quote is closed",
            Fault::TitleOrNumber { .. } => TITLE_OR_NUMBER,
            Fault::ColumnType { .. } => {
                "choose columns with --channels, or name the column of ids with --trajectory"
            }
            Fault::Infinite { .. } => "leave the cell empty, or write NaN, if the value is missing",
            Fault::TwoRoles { .. } => "give each column one role",
            Fault::SameName { .. } => "rename one of them, or choose others with --channels",
            Fault::NoTime { .. } => "remove the row, or give `--dt 1` to count rows instead",
            Fault::TimeBack { .. } => TIME_BACK,
            Fault::Magic { .. } => "write it with numpy.save, or rename it to what it is",
            Fault::Version { .. } | Fault::ArrayHeader { .. } | Fault::HeaderLength { .. } => {
                "write it again with numpy.save"
            }
            Fault::Trailing { .. } => "keep one array per file, or several in one .npz file",
            Fault::Dtype { .. } => "convert it with array.astype(float)",
            Fault::Dimensions { .. } => {
                "one row per time step; several trajectories are several arrays in a .npz file"
            }
            Fault::Widths { .. } => "all trajectories need the same channels",
            Fault::Name { .. } | Fault::SameTrajectory { .. } => "rename it",
            Fault::GapBack { .. } => "split the trajectory there",
            _ => return None,
        })
    }
}

const NOT_NUMBER: &str = "choose columns with --channels, name the column of ids with --trajectory, or set the decimal mark with --decimal";
const OPEN_QUOTE: &str =
    "close it, or name the delimiter with --delimiter if the quote belongs to a name";
const TITLE_OR_NUMBER: &str = "give --header yes if it is a title; if it is a number, set the decimal mark with --decimal, or remove commas between thousands";
const TIME_BACK: &str = "name the column of trajectories with `--trajectory`; if it is not a time, `--time none` makes it a channel and `--dt 1` leaves it out";
const CHECKSUM: &str = "copy or download the record again; if the samples are right, correct the checksum in the header";
const PACKING: &str = "in Python: import pandas; pandas.read_parquet(\"x.parquet\").to_parquet(\"y.parquet\", compression=\"snappy\")";

/// What to do about a file that a library of another format does not read.
fn foreign(format: &str) -> &'static str {
    match format {
        "Parquet" => PACKING,
        _ => "write it again, or save its array with numpy.save where another program reads it",
    }
}

/// What to do about a field of a header.
fn header_field(field: &str) -> &'static str {
    match field {
        "signal format" => "write the record again in format 16, as wfdb.wrsamp of Python does",
        "record" => "read its segments one by one: the header names them",
        "signal file" => {
            "put the signal files beside the header and name them there without a folder"
        }
        _ => "the header is damaged or of another kind: copy or download the file again",
    }
}

fn rates_hint(groups: &[(f64, Vec<String>)]) -> String {
    let (fastest, names) = &groups[0];
    format!(
        "choose one group, as with {}, or resample all, as with --rate {fastest}",
        shell::flag("channels", &names.join(","))
    )
}

fn series_hint(error: &SeriesError) -> Option<&'static str> {
    match error {
        SeriesError::AllMissing => Some("check that --channels names the measured columns"),
        SeriesError::NoChannel => Some("name the channels with --channels"),
        SeriesError::NoRow => Some("the file needs at least one row of numbers"),
        _ => None,
    }
}

fn column_hint(near: Option<&str>, known: &[String]) -> String {
    match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "there are {}, numbered from 1: {}",
            known.len(),
            known.join(", ")
        ),
    }
}

fn known_extensions() -> Vec<String> {
    let all = FORMATS.iter().flat_map(|format| format.extensions);
    all.map(|extension| format!(".{extension}")).collect()
}
