//! The flags of every verb that reads data: which column is what, and how a text table is written.

use std::io::Write;
use std::path::Path;

use attractor::Error;
use attractor::format::{self, Column, Decimal, Delimiter, Header, Moment, Pattern, ReadOptions};
use attractor::model_file::Reconstruction;
use attractor::seen::Seen;
use attractor::series::Series;
use clap::{Args, ValueEnum};

use crate::visible::notes;

/// How to read a file of data; what is not given is detected
#[derive(Debug, Args)]
#[command(next_help_heading = "Reading data")]
pub(crate) struct Reading {
    /// Sampling step; without --time, rows are this far apart
    #[arg(long, value_name = "STEP", allow_negative_numbers = true)]
    dt: Option<f64>,
    /// Column of times, by name or number from 1; `none` for none
    #[arg(long, value_name = "COLUMN")]
    time: Option<Column>,
    /// Channels by name, number from 1 or pattern, separated by commas, as in `EEG *,Fp1` [default: all others]
    #[arg(
        long,
        value_name = "COLUMNS",
        value_delimiter = ',',
        visible_alias = "state"
    )]
    channels: Vec<Column>,
    /// Columns of external inputs, by name or number from 1, separated by commas
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    input: Vec<Column>,
    /// Column of names of trajectories, by name or number from 1; `none` for none
    #[arg(long, value_name = "COLUMN")]
    trajectory: Option<Column>,
    /// Only these trajectories, by name or pattern, separated by commas; (1), (2), … stand for unnamed ones
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    only_trajectories: Vec<Pattern>,
    /// What separates the columns of a text table
    #[arg(long)]
    delimiter: Option<DelimiterWord>,
    /// What separates fractions in a text table
    #[arg(long)]
    decimal: Option<DecimalWord>,
    /// Whether the first row of a text table has titles
    #[arg(long)]
    header: Option<HeaderWord>,
    /// Array of a file that has several, such as .npz, .mat and .h5
    #[arg(long, value_name = "NAME")]
    array: Option<String>,
    /// Leave rows before this time out, or before this row, as in `row:1000`
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    from: Option<Moment>,
    /// Leave rows from this time on out, or from this row on, as in `row:2000`
    #[arg(long, value_name = "TIME", allow_negative_numbers = true)]
    to: Option<Moment>,
    /// Numbers that stand for missing values, separated by commas, as in `-99.99,9999`; may be repeated
    #[arg(
        long,
        value_name = "NUMBERS",
        value_delimiter = ',',
        allow_hyphen_values = true,
        value_parser = finite
    )]
    missing_value: Vec<f64>,
    /// Interpolate rows at any times to equal steps of this length
    #[arg(long, value_name = "STEP", allow_negative_numbers = true)]
    resample: Option<f64>,
    /// Place rows at any times on a grid of this step, with missing values between
    #[arg(
        long,
        value_name = "STEP",
        allow_negative_numbers = true,
        conflicts_with = "resample"
    )]
    grid: Option<f64>,
    /// Keep rows at times of their own, for `ode-rnn` and `latent-ode`; free orbits have this step
    #[arg(
        long,
        value_name = "STEP",
        allow_negative_numbers = true,
        conflicts_with_all = ["resample", "grid", "rate"]
    )]
    own_times: Option<f64>,
    /// Resample to this many rows per unit of time
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    rate: Option<f64>,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DelimiterWord {
    /// `,`
    #[value(alias = ",")]
    Comma,
    /// `;`
    #[value(alias = ";")]
    Semicolon,
    /// A tab
    #[value(alias = "\t")]
    Tab,
    /// Any run of spaces and tabs
    #[value(alias = " ")]
    Whitespace,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DecimalWord {
    /// 1.5
    #[value(alias = ".")]
    Point,
    /// 1,5
    #[value(alias = ",")]
    Comma,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum HeaderWord {
    /// It has titles
    Yes,
    /// It has data
    No,
}

impl Reading {
    /// Reads a file as the flags say.
    pub(crate) fn read(&self, path: &Path) -> Result<Series, Error> {
        read(path, &self.options())
    }

    /// Reads a file as the flags say, for a model to see.
    pub(crate) fn read_for(&self, model: &Reconstruction, path: &Path) -> Result<Seen, Error> {
        model.see(&self.read(path)?)
    }

    /// Whether any flag says how to read data.
    pub(crate) fn is_given(&self) -> bool {
        self.options() != ReadOptions::default()
    }

    /// The flags as options of the library.
    pub(crate) fn options(&self) -> ReadOptions {
        self.options_over(ReadOptions::default())
    }

    /// Options with those replaced that flags are given for.
    pub(crate) fn options_over(&self, under: ReadOptions) -> ReadOptions {
        let columns = |given: &[Column], under: Vec<Column>| match given {
            [] => under,
            given => given.to_vec(),
        };
        ReadOptions {
            dt: self.dt.or(under.dt),
            time: self.time.clone().or(under.time),
            channels: columns(&self.channels, under.channels),
            input: columns(&self.input, under.input),
            trajectory: self.trajectory.clone().or(under.trajectory),
            only_trajectories: match self.only_trajectories.as_slice() {
                [] => under.only_trajectories,
                given => given.to_vec(),
            },
            delimiter: self
                .delimiter
                .map(DelimiterWord::meaning)
                .or(under.delimiter),
            decimal: self.decimal.map(DecimalWord::meaning).or(under.decimal),
            header: self.header.map(HeaderWord::meaning).or(under.header),
            array: self.array.clone().or(under.array),
            from: self.from.or(under.from),
            to: self.to.or(under.to),
            missing: match self.missing_value.as_slice() {
                [] => under.missing,
                given => given.to_vec(),
            },
            resample: self.resample.or(under.resample),
            grid: self.grid.or(under.grid),
            own_times: self.own_times.or(under.own_times),
            rate: self.rate.or(under.rate),
        }
    }
}

fn finite(text: &str) -> Result<f64, String> {
    let number = text.trim().parse().ok();
    number
        .filter(|number: &f64| number.is_finite())
        .ok_or_else(|| "expected a number".to_string())
}

/// Reads a file and tells on standard error what a user should know about what is read of it.
pub(crate) fn read(path: &Path, options: &ReadOptions) -> Result<Series, Error> {
    let series = format::read(path, options)?;
    tell_remarks(path, options)?;
    Ok(series)
}

/// Tells on standard error what a user should know about what is read of a file.
pub(crate) fn tell_remarks(path: &Path, options: &ReadOptions) -> Result<(), Error> {
    let mut notes = notes();
    for remark in format::remarks(path, options) {
        writeln!(notes, "note: {remark}: {}", path.display())?;
    }
    Ok(())
}

impl DelimiterWord {
    fn meaning(self) -> Delimiter {
        match self {
            DelimiterWord::Comma => Delimiter::Comma,
            DelimiterWord::Semicolon => Delimiter::Semicolon,
            DelimiterWord::Tab => Delimiter::Tab,
            DelimiterWord::Whitespace => Delimiter::Whitespace,
        }
    }
}

impl DecimalWord {
    fn meaning(self) -> Decimal {
        match self {
            DecimalWord::Point => Decimal::Point,
            DecimalWord::Comma => Decimal::Comma,
        }
    }
}

impl HeaderWord {
    fn meaning(self) -> Header {
        match self {
            HeaderWord::Yes => Header::Present,
            HeaderWord::No => Header::Absent,
        }
    }
}
