//! Documents on standard output.

use std::io::{self, Write};

use serde::Serialize;

/// Writes a document, indented, on lines of its own.
pub(crate) fn write(document: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let text = serde_json::to_string_pretty(document)?;
    writeln!(out, "{text}")
}
