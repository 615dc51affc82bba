//! The flags of every verb that reads data: which column is what, and how a text table is written.

use std::path::Path;

use attractor::Error;
use attractor::format::{self, Column, Decimal, Delimiter, Header, ReadOptions};
use attractor::series::Series;
use clap::{Args, ValueEnum};

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
    /// Columns of states, by name or number from 1, with commas between [default: all others]
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    state: Vec<Column>,
    /// Columns of external inputs, by name or number from 1, with commas between
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',')]
    input: Vec<Column>,
    /// Column of names of trajectories, by name or number from 1; `none` for none
    #[arg(long, value_name = "COLUMN")]
    trajectory: Option<Column>,
    /// What separates the columns of a text table
    #[arg(long)]
    delimiter: Option<DelimiterWord>,
    /// What separates fractions in a text table
    #[arg(long)]
    decimal: Option<DecimalWord>,
    /// Whether the first row of a text table has titles
    #[arg(long)]
    header: Option<HeaderWord>,
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
        Ok(format::read(path, &self.options())?)
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
            state: columns(&self.state, under.state),
            input: columns(&self.input, under.input),
            trajectory: self.trajectory.clone().or(under.trajectory),
            delimiter: self
                .delimiter
                .map(DelimiterWord::meaning)
                .or(under.delimiter),
            decimal: self.decimal.map(DecimalWord::meaning).or(under.decimal),
            header: self.header.map(HeaderWord::meaning).or(under.header),
        }
    }
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
