//! `attractor generate RUN|MODEL`: a free orbit.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::evaluation::Origin;
use attractor::format;
use attractor::generate::{Generated, GeneratedFrom, generate};
use attractor::run::Folder;
use attractor::text::count;
use clap::Args;

use super::whole;
use crate::reading::Reading;
use crate::visible::notes;

/// Run a model freely and write what it does
///
/// The first row is the state inferred from the first row of the data, as the model sees it; models that infer it from several
/// rows begin with the row after these. Without --out a CSV table goes to standard output. The
/// exit code is 1 if the orbit diverges.
#[derive(Debug, Args)]
pub(crate) struct Generate {
    /// Folder of a run, or a model file
    #[arg(value_name = "RUN|MODEL")]
    model: PathBuf,
    /// Number of rows
    #[arg(long, allow_negative_numbers = true, value_parser = whole::<usize>)]
    steps: usize,
    /// Data whose first rows are where the orbit starts, and whose inputs drive the model [default: the training data's]
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// File to write, in the format that its name says
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
}

impl Generate {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        if let (Some(data), Some(path)) = (&self.data, &self.out) {
            format::refuse_same(data, path)?;
        }
        if let Some(path) = &self.out {
            Folder::new(&self.model).refuse_own(path)?;
        }
        let model = Folder::new(&self.model).model()?;
        let data = self.data.as_ref();
        let data = data
            .map(|path| self.reading.read_for(&model, path))
            .transpose()?;
        if let Some(path) = &self.out {
            // A file that cannot be written is reported before the work begins.
            format::refuse_unwritable(path)?;
            let first = generate(&model, data.as_ref(), 1)?;
            format::losses(path, &first.series)?;
        }
        let mut notes = notes();
        if let Some(data) = &data {
            let origin = Origin::of(&model, &self.model);
            if let Some(scale) = data.other_scale(origin.trained_on.as_ref()) {
                writeln!(notes, "note: {scale}")?;
            }
        }
        let Generated { series, start } = generate(&model, data.as_ref(), self.steps)?;
        if start == GeneratedFrom::Zero {
            writeln!(
                notes,
                "note: the model does not say where to start: the orbit starts from zeros"
            )?;
        }
        let Some(path) = self.out else {
            format::write_csv(&series, out)?;
            return Ok(ExitCode::SUCCESS);
        };
        let lost = format::losses(&path, &series)?;
        format::write(&path, &series)?;
        if !lost.is_empty() {
            writeln!(notes, "note: the format does not hold {}", lost.join(", "))?;
        }
        let (rows, channels) = (series.total_len(), series.dim_obs());
        writeln!(
            notes,
            "wrote {}, {}: {}",
            count(rows, "row"),
            count(channels, "channel"),
            path.display()
        )?;
        Ok(ExitCode::SUCCESS)
    }
}
