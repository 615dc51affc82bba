//! `attractor resume RUN`: continue a training that was interrupted.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use attractor::Error;
use attractor::run::Run;
use clap::Args;

use super::train::Show;
use super::whole;

/// Continue a training that was interrupted
///
/// The run ends with the same model and history, bit for bit, as if it had not been interrupted.
#[derive(Debug, Args)]
pub(crate) struct Resume {
    /// Folder of the run
    run: PathBuf,
    /// Worker threads, which do not affect the result; 0 for all cores [default: as it began]
    #[arg(long, allow_negative_numbers = true, value_parser = whole::<usize>)]
    threads: Option<usize>,
    /// Print how it ended as a JSON document
    #[arg(long)]
    json: bool,
    /// Print nothing but errors and what --json asks for
    #[arg(long)]
    quiet: bool,
}

impl Resume {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let run = Run::resume(&self.run, self.threads)?;
        let show = Show {
            json: self.json,
            quiet: self.quiet,
        };
        let mut progress = show.progress(&run.task().resolved);
        let trained = run.train(&mut progress)?;
        progress.finish();
        show.after(&trained, &run, out)
    }
}
