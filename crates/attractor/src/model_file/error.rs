//! What can be wrong with a model file.

use std::io;
use std::path::PathBuf;

use attractor_core::model::ArchitectureError;

/// A model file that cannot be read, and why.
#[derive(Debug, thiserror::Error)]
#[error("{fault}: {}", path.display())]
pub struct ModelFileError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong with it.
    #[source]
    pub fault: ModelFault,
}

/// What is wrong with a model file.
#[derive(Debug, thiserror::Error)]
pub enum ModelFault {
    /// The system cannot read it.
    #[error("cannot read: {0}")]
    Io(io::Error),
    /// It is something else.
    #[error("not a safetensors file ({reason})")]
    NotSafetensors {
        /// What the parser said.
        reason: String,
    },
    /// It ends early.
    #[error("the file is truncated or has bytes left over")]
    Truncated,
    /// Nothing says which model it is.
    #[error("the metadata have no `model`")]
    NoModel,
    /// No model has this name.
    #[error("no model is named `{name}`")]
    UnknownModel {
        /// What the file says.
        name: String,
        /// The most similar known name.
        near: Option<&'static str>,
    },
    /// A tensor of the model is not there.
    #[error("tensor `{name}` is missing")]
    MissingTensor {
        /// The tensor.
        name: &'static str,
    },
    /// A tensor is none of the model's.
    #[error("tensor `{name}` is unknown")]
    UnknownTensor {
        /// The tensor.
        name: String,
        /// The model's tensors.
        known: Vec<&'static str>,
    },
    /// A tensor has another shape than the others ask for.
    #[error("tensor `{name}` must have shape {expected:?}, found {found:?}")]
    Shape {
        /// The tensor.
        name: &'static str,
        /// The shape that fits the other tensors.
        expected: Vec<usize>,
        /// The shape found.
        found: Vec<usize>,
    },
    /// A tensor has too few or too many axes.
    #[error("tensor `{name}` must have {expected} axes, found {found}")]
    Axes {
        /// The tensor.
        name: &'static str,
        /// The number that fits.
        expected: usize,
        /// The number found.
        found: usize,
    },
    /// A tensor holds no floating-point numbers that we read.
    #[error("tensor `{name}` must hold F32 or F64, found {found}")]
    Dtype {
        /// The tensor.
        name: String,
        /// The type found.
        found: String,
    },
    /// A number is not finite.
    #[error("tensor `{name}` is not finite at entry {entry}")]
    NotFinite {
        /// The tensor.
        name: &'static str,
        /// The entry, from 0, row by row.
        entry: usize,
    },
    /// The sizes do not fit together.
    #[error(transparent)]
    Architecture(#[from] ArchitectureError),
    /// A text of the metadata is not understood.
    #[error("metadata `{key}` must be {expected}")]
    Metadata {
        /// The key.
        key: &'static str,
        /// What is expected, in words.
        expected: String,
    },
}

impl ModelFileError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match &self.fault {
            ModelFault::Truncated => {
                Some("bring the whole file back; the model of a run is trained again if its folder is removed".into())
            }
            ModelFault::NoModel => Some(
                "in Python: `save_file(tensors, path, metadata={\"model\": \"clipped-shallow-plrnn\"})`".into(),
            ),
            ModelFault::UnknownModel { near: Some(near), .. } => {
                Some(format!("did you mean `{near}`?"))
            }
            ModelFault::UnknownModel { .. } => {
                Some("`attractor list models` prints all names".into())
            }
            ModelFault::UnknownTensor { known, .. } => {
                Some(format!("the model has {}", known.join(", ")))
            }
            _ => None,
        }
    }
}
