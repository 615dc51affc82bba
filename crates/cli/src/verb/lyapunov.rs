//! `attractor lyapunov SYSTEM|FILE`: how fast neighbours part, in a known system or in a recording.

mod recording;
mod system;

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use attractor::Error;
use attractor::embedding::EmbeddingError;
use attractor::system::find;
use clap::Args;

pub(super) use recording::{delay, dims, region};
pub(super) use system::{rows, warn_of_broken_sum};

/// Compute the Lyapunov exponents of a known system, or the largest one of a recording
///
/// The name of a system means the system; anything else that is a file, or looks like one, means the recording (`./NAME` for a
/// file that is named like a system).
///
/// System: tangent vectors follow an orbit and are made orthonormal again and again. Exponents are per unit of time, of a
/// map per step, with standard errors from twenty parts of the orbit. The exit code is 1 if the orbit diverges.
///
/// Recording: the slope of the mean logarithm of the distance of neighbours, where it is straight, in delay vectors of several
/// dimensions, with their spread over dimensions (a standard deviation); then the predictability time ln 2/λ.
#[derive(Debug, Args)]
pub(crate) struct Lyapunov {
    /// Name of the system, or a file
    #[arg(value_name = "SYSTEM|FILE")]
    subject: String,
    /// Print a JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    system: system::SystemFlags,
    #[command(flatten)]
    recording: recording::RecordingFlags,
}

impl Lyapunov {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let is_recording = find(&self.subject).is_none() && looks_like_file(&self.subject);
        let idle = if is_recording {
            self.system.given().map(|flag| (flag, "a recording"))
        } else {
            self.recording.given().map(|flag| (flag, "a known system"))
        };
        if let Some((flag, what)) = idle {
            return Err(EmbeddingError::Flag { flag, what }.into());
        }
        let path = Path::new(&self.subject);
        match (is_recording, self.json) {
            (true, true) => self.recording.run_json(path, out),
            (true, false) => self.recording.run_text(path, out),
            (false, true) => self.system.run_json(&self.subject, out),
            (false, false) => self.system.run_text(&self.subject, out),
        }
    }
}

fn looks_like_file(name: &str) -> bool {
    name.contains(['.', '/', '\\']) || Path::new(name).is_file()
}
