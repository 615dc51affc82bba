//! `attractor lyapunov RUN|MODEL`: the exponents of a model along its free orbit.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use attractor::Error;
use attractor::anatomy::{default_steps, exponents};
use attractor::run::Folder;

use super::super::analyze::write_exponents;
use super::warn_of_broken_sum;
use crate::follow::Shown;
use crate::visible::notes;

/// Prints so many exponents over so many steps; an orbit that diverges has none.
pub(super) fn run(
    path: &Path,
    (steps, count): (Option<usize>, Option<usize>),
    is_json: bool,
    out: &mut dyn Write,
) -> Result<ExitCode, Error> {
    let model = Folder::new(path).model()?;
    let steps = steps.unwrap_or_else(|| default_steps(&model));
    let found = exponents(&model, None, steps, count, &mut Shown::new())?;
    if is_json {
        crate::json::write(&found.document(&model), out)?;
    } else {
        writeln!(
            out,
            "{}, {}",
            model.method.entry.id,
            model.dynamics.describe()
        )?;
        if let Some(spectrum) = &found.spectrum {
            write_exponents(spectrum, steps, &model, out)?;
        }
    }
    out.flush()?;
    if let Some(spectrum) = &found.spectrum {
        warn_of_broken_sum(spectrum, model.dynamics.sizes().state)?;
    }
    match found.diverged_at {
        None => Ok(ExitCode::SUCCESS),
        Some(step) => {
            writeln!(
                notes(),
                "note: the orbit diverges at step {step}: no exponents"
            )?;
            Ok(ExitCode::FAILURE)
        }
    }
}
