//! `attractor convert IN OUT`: the same data in another format.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::format;
use attractor::series::Series;
use attractor::text::count;
use clap::Args;

use crate::reading::Reading;
use crate::visible::notes;

/// Write the data of a file to another, in the format that its name says
///
/// Formats are listed by `attractor list formats`.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// File to read
    #[arg(value_name = "IN")]
    source: PathBuf,
    /// File to write
    #[arg(value_name = "OUT")]
    target: PathBuf,
    #[command(flatten)]
    reading: Reading,
}

impl Convert {
    pub(crate) fn run(self) -> Result<ExitCode, Error> {
        format::refuse_same(&self.source, &self.target)?;
        format::refuse_unwritable(&self.target)?;
        let series = self.reading.read(&self.source)?;
        let lost = format::losses(&self.target, &series)?;
        format::write(&self.target, &series)?;
        let mut notes = notes();
        if !lost.is_empty() {
            writeln!(notes, "note: the format does not hold {}", lost.join(", "))?;
        }
        writeln!(
            notes,
            "wrote {}: {}",
            summary(&series),
            self.target.display()
        )?;
        Ok(ExitCode::SUCCESS)
    }
}

/// How much there is, in words.
fn summary(series: &Series) -> String {
    let mut parts = vec![
        count(series.total_len(), "row"),
        count(series.dim_obs(), "channel"),
    ];
    if series.dim_input() > 0 {
        parts.push(count(series.dim_input(), "input"));
    }
    parts.push(count(series.trajectories().len(), "trajectory"));
    parts.join(", ")
}
