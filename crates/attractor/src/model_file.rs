//! Models on disk as `model.safetensors`, readable from NumPy in two lines.
//!
//! Every tensor stands under its name (`A`, `W1`, `W2`, `h1`, `h2`, `B`, …), row-major, in F32 as it was trained or F64 as it was
//! solved. The metadata say which model it is (`model`) and, if they can, on which data it was fitted ([`Card`]). Files by other
//! programs need `model` and the tensors alone: all sizes follow from the shapes.

mod card;
mod error;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;
use std::sync::Arc;

use attractor_core::dynamics::{Dynamics, Named};
use attractor_core::method::{self, Loaded, LoadedValues, Method, Tensors};
use attractor_core::model::Model;
use attractor_core::observation::ObservationKind;
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};

use crate::container::{self, Block};
use crate::{Error, store};

pub use card::Card;
pub use error::{ModelFault, ModelFileError};

/// A fitted model, and what is known of its data.
#[derive(Debug, Clone)]
pub struct Reconstruction {
    /// The method that it was fitted by.
    pub method: &'static Method,
    /// The system.
    pub dynamics: Arc<dyn Dynamics>,
    /// What is known of its data.
    pub card: Card,
}

impl Reconstruction {
    /// The map with its observation model, if it was trained under teacher forcing.
    pub fn model(&self) -> Option<&Model> {
        Model::of(self.dynamics.as_ref())
    }

    /// Reads a model file.
    pub fn read(path: &Path) -> Result<Reconstruction, ModelFileError> {
        let read = || Reconstruction::from_bytes(&fs::read(path).map_err(ModelFault::Io)?);
        read().map_err(|fault| ModelFileError {
            path: path.to_path_buf(),
            fault,
        })
    }

    /// Understands the content of a model file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Reconstruction, ModelFault> {
        let file = SafeTensors::deserialize(bytes).map_err(|error| unreadable(bytes, &error))?;
        let (_, header) = SafeTensors::read_metadata(bytes).map_err(|e| unreadable(bytes, &e))?;
        let texts = header.metadata().clone().unwrap_or_default();
        let method = method_of(&texts)?;
        let mut tensors = Tensors::new();
        // In the order of their names, so that the same file has the same first fault.
        let views: BTreeMap<&str, TensorView<'_>> = file.iter().collect();
        for (name, view) in views.iter().filter(|(_, view)| !view.shape().contains(&0)) {
            tensors.insert((*name).to_string(), loaded(name, view)?);
        }
        let dynamics: Arc<dyn Dynamics> = (method.load)(method, &tensors)?.into();
        Ok(Reconstruction {
            card: Card::from_texts(&texts, dynamics.sizes())?,
            method,
            dynamics,
        })
    }

    /// Writes a model file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let bytes = self.to_bytes();
        store::write_whole(path, |out| out.write_all(&bytes))
    }

    /// The content of a model file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let tensors = self.dynamics.tensors();
        let blocks: Vec<Block<'_>> = tensors
            .iter()
            .map(
                |&Named {
                     name,
                     shape,
                     values,
                 }| Block {
                    name,
                    shape: shape.sizes(),
                    values,
                },
            )
            .collect();
        container::to_bytes(&self.texts(), &blocks)
    }

    fn texts(&self) -> BTreeMap<&'static str, String> {
        let mut texts = self.card.to_texts();
        texts.extend([
            ("model", self.method.entry.id.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_string()),
            ("numerics", self.method.numerics.to_string()),
        ]);
        let model = self
            .model()
            .map(|model| model.architecture().observation.kind);
        texts.extend(model.map(|kind| ("observation", observation_name(kind).to_string())));
        texts
    }
}

/// The name of an observation model, as in the settings.
pub fn observation_name(kind: ObservationKind) -> &'static str {
    match kind {
        ObservationKind::Identity => "identity",
        ObservationKind::Linear => "linear",
        ObservationKind::LinearWithBias => "linear-bias",
    }
}

/// A header of our length and an opening brace are ours; what is wrong then comes after.
fn unreadable(bytes: &[u8], error: &SafeTensorError) -> ModelFault {
    let cut = matches!(
        error,
        SafeTensorError::InvalidHeaderLength | SafeTensorError::MetadataIncompleteBuffer
    );
    if cut && bytes.get(8) == Some(&b'{') {
        return ModelFault::Truncated;
    }
    ModelFault::NotSafetensors {
        reason: error.to_string(),
    }
}

fn method_of(texts: &HashMap<String, String>) -> Result<&'static Method, ModelFault> {
    let name = texts.get("model").ok_or(ModelFault::NoModel)?;
    method::find(name).map_err(|near| ModelFault::UnknownModel {
        name: name.clone(),
        near,
    })
}

fn loaded(name: &str, view: &TensorView<'_>) -> Result<Loaded, ModelFault> {
    let values = match view.dtype() {
        Dtype::F32 => {
            let (numbers, _) = view.data().as_chunks::<4>();
            LoadedValues::F32(numbers.iter().map(|&b| f32::from_le_bytes(b)).collect())
        }
        Dtype::F64 => {
            let (numbers, _) = view.data().as_chunks::<8>();
            LoadedValues::F64(numbers.iter().map(|&b| f64::from_le_bytes(b)).collect())
        }
        other => {
            return Err(ModelFault::Dtype {
                name: name.to_string(),
                found: format!("{other:?}"),
            });
        }
    };
    let sizes = view.shape().to_vec();
    Ok(Loaded { sizes, values })
}
