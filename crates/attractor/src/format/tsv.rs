//! Tab-separated values: a text table whose columns end at tabs; see [`super::text`].

use attractor_core::catalogue::{Entry, Kind};

use super::text::{self, Preference};
use super::{Delimiter, Format};

/// The format.
pub(super) static TSV: Format = Format {
    entry: Entry {
        kind: Kind::Format,
        id: "tsv",
        summary: "text table with tabs, one row per time step; also .tsv.gz",
        details: "As csv, with a tab between columns.",
        settings: &[],
        references: &[],
    },
    extensions: &["tsv", "tsv.gz", "tab"],
    read: |path, options| text::read(path, options, Preference::Tab),
    remarks: |_, _| Vec::new(),
    losses: |series| text::losses(series),
    write: Some(|series, extension, out| text::write(series, Delimiter::Tab, extension, out)),
};
