//! `attractor lyapunov SYSTEM|RUN|MODEL|FILE`: how fast neighbours part, in a known system, in a model or in a recording.

mod model;
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
use system::SystemFlags;
pub(super) use system::{rows, warn_of_broken_sum};

/// Compute the Lyapunov exponents of a known system or of a model, or the largest one of a recording
///
/// The name of a system means the system; a folder, or a file that ends with .safetensors, means a model; anything else that is a
/// file, or looks like one, means the recording (`./NAME` for what is named like a system).
///
/// System: tangent vectors follow an orbit and are kept orthonormal. Exponents are per unit of time (per step for a map), with standard errors from twenty parts of the orbit. The exit code is 1 if the orbit diverges.
///
/// Model: those of its own free orbit, as `attractor analyze` has them, which also says what else is in the model. Twenty exponents of a reservoir of a thousand units take seconds.
///
/// Recording: the slope of the mean logarithm of the distance of neighbours, where it is straight, in delay vectors of several
/// dimensions, with their spread over dimensions (a standard deviation); then the predictability time ln 2/λ.
#[derive(Debug, Args)]
pub(crate) struct Lyapunov {
    /// Name of the system, folder of a run, model file, or recording
    #[arg(value_name = "SYSTEM|RUN|MODEL|FILE")]
    subject: String,
    /// Print a JSON document instead of text
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    system: SystemFlags,
    #[command(flatten)]
    recording: recording::RecordingFlags,
}

impl Lyapunov {
    pub(crate) fn run(self, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let path = Path::new(&self.subject);
        let is_system = find(&self.subject).is_some();
        if !is_system && looks_like_model(path) {
            return self.run_model(path, out);
        }
        let is_recording = !is_system && looks_like_file(&self.subject);
        let idle = if is_recording {
            self.system.given().map(|flag| (flag, "a recording"))
        } else {
            self.recording.given().map(|flag| (flag, "a known system"))
        };
        if let Some((flag, what)) = idle {
            return Err(EmbeddingError::Flag { flag, what }.into());
        }
        match (is_recording, self.json) {
            (true, true) => self.recording.run_json(path, out),
            (true, false) => self.recording.run_text(path, out),
            (false, true) => self.system.run_json(&self.subject, out),
            (false, false) => self.system.run_text(&self.subject, out),
        }
    }
}

impl Lyapunov {
    fn run_model(&self, path: &Path, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let idle = self.system.given_for_system().or(self.recording.given());
        if let Some(flag) = idle {
            let what = "a model";
            return Err(EmbeddingError::Flag { flag, what }.into());
        }
        let SystemFlags { steps, count, .. } = self.system;
        model::run(path, (steps, count), self.json, out)
    }
}

fn looks_like_model(path: &Path) -> bool {
    path.is_dir() || path.extension().is_some_and(|end| end == "safetensors")
}

fn looks_like_file(name: &str) -> bool {
    name.contains(['.', '/', '\\']) || Path::new(name).is_file()
}
