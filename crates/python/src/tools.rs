//! What needs no model: simulations, inspections, embeddings, exponents, preparation; and the command.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use attractor::Error;
use attractor::embedding;
use attractor::inspect::inspect_followed;
use attractor::inspection::InspectionDocument;
use attractor::method::methods;
use attractor::options;
use attractor::pipeline::Pipeline;
use attractor::recording_exponent::of_recording;
use attractor::run::Recording;
use attractor::spectrum as exponents;
use pyo3::prelude::*;
use serde::Serialize;

use crate::error;
use crate::series::Recorded;
use crate::work::{Work, quick};

/// Names and values as texts.
type Pairs = Vec<(String, String)>;

fn json(document: &impl Serialize) -> String {
    serde_json::to_string(document).expect("a document has texts for keys")
}

fn text(py: Python<'_>, text: String) -> PyResult<Py<PyAny>> {
    Ok(text.into_pyobject(py)?.into_any().unbind())
}

/// A series of a known system, and what there is to say where its orbit ends early.
#[pyfunction]
pub(crate) fn simulate(system: String, set: Pairs, given: Pairs) -> Work {
    Work::begin(
        move |listener| {
            let simulation = options::simulation(&system, set, &given)?;
            let (simulated, ended) = simulation.run_as_far(listener)?;
            let ended = ended.map(|ended| error::told(&Error::Simulate(ended)));
            Ok((Recorded::of(simulated.series), ended))
        },
        |py, simulated| Ok(simulated.into_pyobject(py)?.into_any().unbind()),
    )
}

/// The exponents of a known system: a document as JSON, or what there is to say where its orbit ends early.
#[pyfunction]
pub(crate) fn spectrum(system: String, set: Pairs, given: Pairs) -> Work {
    Work::begin(
        move |listener| {
            let (simulation, count) = options::spectrum(&system, set, &given)?;
            match exponents::of_system(&simulation, count, listener) {
                Ok(found) => Ok((Some(json(&exponents::document(&simulation, &found))), None)),
                Err(ended) if ended.is_outcome() => {
                    Ok((None, Some(error::told(&Error::Simulate(ended)))))
                }
                Err(error) => Err(error.into()),
            }
        },
        |py, found| Ok(found.into_pyobject(py)?.into_any().unbind()),
    )
}

/// The largest exponent of a recording: a document as JSON.
#[pyfunction]
pub(crate) fn exponent(recorded: &Recorded, given: Pairs) -> Work {
    let recording = recorded.recording.clone();
    Work::begin(
        move |listener| {
            let request = options::exponent(&given)?;
            let found = of_recording(&recording.series, &request, listener)?;
            Ok(json(&found.document()))
        },
        text,
    )
}

/// What to know about a recording: a document as JSON.
#[pyfunction]
pub(crate) fn inspect(recorded: &Recorded, against: Option<&Recorded>, given: Pairs) -> Work {
    let recording = recorded.recording.clone();
    let against = against.map(|against| against.recording.clone());
    Work::begin(
        move |listener| {
            let asked = options::inspection(&given)?;
            let second = against.as_ref().map(|against| &against.series);
            let found = inspect_followed(&recording.series, second, asked, listener)?;
            let other = against
                .as_ref()
                .map(|against| against.source.path.as_path());
            let path = &recording.source.path;
            Ok(json(&InspectionDocument::new(&found, named(path), other)))
        },
        text,
    )
}

/// What commands in remedies name the recording.
fn named(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new("FILE")
    } else {
        path
    }
}

/// Delay vectors of a recording, and a document as JSON.
#[pyfunction]
pub(crate) fn embed(recorded: &Recorded, given: Pairs) -> Work {
    let recording = recorded.recording.clone();
    Work::begin(
        move |listener| {
            let request = options::embedding(&given)?;
            let found = embedding::embed(&recording.series, &request, listener)?;
            let document = json(&found.document());
            Ok((Recorded::of(found.series), document))
        },
        |py, found| Ok(found.into_pyobject(py)?.into_any().unbind()),
    )
}

/// A recording after some steps, and the steps that new data are to pass.
#[pyfunction]
pub(crate) fn prepare(recorded: &Recorded, steps: Vec<String>) -> Work {
    let recording: std::sync::Arc<Recording> = recorded.recording.clone();
    Work::begin(
        move |_| {
            let steps: Pipeline = steps.join(";").parse().map_err(Error::Pipeline)?;
            let (series, fitted) = steps.fit(&recording.series)?;
            Ok((Recorded::of(series), fitted.to_string()))
        },
        |py, found| Ok(found.into_pyobject(py)?.into_any().unbind()),
    )
}

/// The names of all models.
#[pyfunction]
pub(crate) fn models(py: Python<'_>) -> PyResult<Vec<&'static str>> {
    quick(py, || {
        Ok(methods().iter().map(|method| method.entry.id).collect())
    })
}

/// The version.
#[pyfunction]
pub(crate) fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}

/// Runs the command with these arguments; gives back its exit code.
#[pyfunction]
pub(crate) fn main(py: Python<'_>, arguments: Vec<std::ffi::OsString>) -> u8 {
    py.detach(|| {
        let ended = attractor_cli::run(arguments);
        // Nobody flushes at the end of an interpreter.
        let _ = io::stdout().flush();
        (0..=u8::MAX)
            .find(|&code| ExitCode::from(code) == ended)
            .unwrap_or(u8::MAX)
    })
}
