//! `attractor watch DIR…`: a page over running and finished trainings.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use attractor::Error;
use attractor::text::count;
use attractor::watch::Watcher;
use clap::Args;

use super::whole;
use crate::visible::notes;

/// Open a page over running and finished trainings and sweeps, for a browser on this machine
///
/// It shows every run under the folders with its state, the settings that differ, scores beside floor and chance, and the curves of its
/// training; for one run or a few side by side the attractor of the newest checkpoint, iterated in the page. It reads the folders alone, so
/// that it works on one that a cluster fills. The address has a secret word in it and is of use on this machine only; to see it from another
/// one, forward the port: `ssh -L PORT:127.0.0.1:PORT HOST`. Ctrl-C ends it.
#[derive(Debug, Args)]
pub(crate) struct Watch {
    /// Folders of runs or studies, or with some of them inside; they may appear later
    #[arg(value_name = "DIR", required = true)]
    folders: Vec<PathBuf>,
    /// Port of this machine, 0 for a free one
    #[arg(long, value_name = "N", default_value_t = 0, allow_negative_numbers = true, value_parser = whole::<u16>)]
    port: u16,
}

impl Watch {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let watcher = Watcher::bind(&self.folders, self.port)?;
        writeln!(out, "{}", watcher.address())?;
        out.flush()?;
        let runs = count(watcher.runs(), "run");
        // A closed standard error is no reason to end.
        let _ = writeln!(notes(), "watching {runs}; Ctrl-C ends it");
        watcher.serve(&AtomicBool::new(false));
        Ok(ExitCode::SUCCESS)
    }
}
