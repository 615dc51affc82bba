//! Errors of the library as exceptions of the package, with the same text, and a hint in which settings are keywords.

use attractor::Error;
use attractor::evaluation::EvaluationError;
use attractor::experiment::ExperimentError;
use attractor::hint::{Hint, Style};
use attractor::system::simulate::SimulateError;
use pyo3::prelude::*;

/// The module of the exceptions.
const MODULE: &str = "attractor._errors";

/// Name, text and hint of an exception or a warning.
pub(crate) type Told = (&'static str, String, Option<String>);

/// The exception for an error.
pub(crate) fn raised(py: Python<'_>, error: &Error) -> PyErr {
    of_class(py, told(error))
}

/// An exception of the package.
pub(crate) fn of_class(py: Python<'_>, (class, text, hint): Told) -> PyErr {
    let class = py.import(MODULE).and_then(|module| module.getattr(class));
    match class.and_then(|class| class.call1((text, hint))) {
        Ok(exception) => PyErr::from_value(exception),
        Err(other) => other,
    }
}

/// What is said of an error.
pub(crate) fn told(error: &Error) -> Told {
    let hint = error.hint().map(written);
    (class(error), error.to_string(), hint)
}

/// A hint with settings as keywords.
pub(crate) fn written(hint: Hint) -> String {
    hint.written(Style::Python)
}

/// The name of the exception: that of the error in the library, or of the one inside it that says more.
fn class(error: &Error) -> &'static str {
    match error {
        Error::Setting(_)
        | Error::Simulate(SimulateError::Parameter { .. })
        | Error::Experiment(ExperimentError::Setting { .. } | ExperimentError::Option { .. }) => {
            "SettingError"
        }
        Error::UnknownName { .. }
        | Error::Simulate(SimulateError::UnknownSystem { .. })
        | Error::Experiment(
            ExperimentError::UnknownMethod { .. } | ExperimentError::UnknownPreset { .. },
        ) => "UnknownNameError",
        Error::Unlike(_) | Error::Evaluation(EvaluationError::Unlike(_)) => "UnlikeError",
        Error::Series(_) | Error::Array(_) => "ArrayError",
        Error::Format(_) => "FormatError",
        Error::Pipeline(_) => "PipelineError",
        Error::Simulate(_) => "SimulateError",
        Error::Experiment(_) => "ExperimentError",
        Error::ModelFile(_) => "ModelFileError",
        Error::Run(_) => "RunError",
        Error::Generate(_) => "GenerateError",
        Error::Evaluation(_) => "EvaluationError",
        Error::Study(_) => "StudyError",
        Error::Embedding(_) => "EmbeddingError",
        Error::Report(_) => "ReportError",
        Error::SameFile { .. }
        | Error::ForeignFiles { .. }
        | Error::NoFolder { .. }
        | Error::Read { .. }
        | Error::Write { .. } => "FileError",
        _ => "AttractorError",
    }
}
