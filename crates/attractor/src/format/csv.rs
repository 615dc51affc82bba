//! Comma-separated values, and any other text table: see [`super::text`].

use attractor_core::catalogue::{Entry, Kind};

use super::text::{self, Preference};
use super::{Delimiter, Format};

/// The format.
pub(super) static CSV: Format = Format {
    entry: Entry {
        kind: Kind::Format,
        id: "csv",
        summary: "text table, one row per time step; also .csv.gz, .txt, .dat",
        details: "\
The delimiter (comma, semicolon, tab, whitespace), the decimal mark, the header row and the time axis are detected.
Lines that start with # are comments. Missing values are empty, NaN, NA, null or none.
A title is a name with an optional role before it and unit after it: `x [mV]`, `input:u [N]`, `state:time`.
A column titled time is the time axis, or one of dates (1950-01-31, 1950-01, 31.01.1950, with times of day and zones), one titled trajectory says which trajectory a row belongs to.
Holds a whole series: names, units, step, gaps, trajectories and inputs are read back as written.",
        settings: &[],
        references: &[],
    },
    extensions: &["csv", "csv.gz", "txt", "txt.gz", "dat"],
    read: |path, options| text::read(path, options, Preference::None),
    remarks: |_, _| Vec::new(),
    losses: |series| text::losses(series),
    write: Some(|series, extension, out| text::write(series, Delimiter::Comma, extension, out)),
};
