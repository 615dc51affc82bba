//! What can be wrong with a model file.

use std::io;
use std::path::PathBuf;

use attractor_core::hint::Hint;
use attractor_core::method::LoadError;

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
    /// A tensor holds no floating-point numbers that we read.
    #[error("tensor `{name}` must hold F32 or F64, found {found}")]
    Dtype {
        /// The tensor.
        name: String,
        /// The type found.
        found: String,
    },
    /// The tensors make no model.
    #[error(transparent)]
    Load(#[from] LoadError),
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
    pub fn hint(&self) -> Option<Hint> {
        match &self.fault {
            ModelFault::Truncated => {
                Some("restore the whole file; the model of a run is trained again if its folder is removed".into())
            }
            ModelFault::NoModel => Some(
                "in Python: `save_file(tensors, path, metadata={\"model\": \"clipped-shallow-plrnn\"})`".into(),
            ),
            ModelFault::UnknownModel { near: Some(near), .. } => {
                Some(format!("did you mean `{near}`?").into())
            }
            ModelFault::UnknownModel { .. } => {
                Some("`attractor list models` prints all names".into())
            }
            ModelFault::Load(error) => error.hint(),
            _ => None,
        }
    }
}
