//! Models on disk as `model.safetensors`, readable from NumPy in two lines.
//!
//! Every tensor of θ stands under its name (`A`, `W1`, `W2`, `h1`, `h2`, `B`, …), row-major, in F32. The metadata say
//! which model it is (`model`) and, if they can, on which data it was trained ([`Card`]). Files by other programs need
//! `model` and the tensors alone: all sizes follow from the shapes, and F64 is narrowed.
//!
//! | size | from |
//! | --- | --- |
//! | latent M | `A` (M) |
//! | hidden L, bases | `W1` (M × L), `slopes` |
//! | inputs K | `C` (M × K), else 0 |
//! | channels N | `B` (N × M): linear, with `b` (N) linear with bias; `L` (M − N × N): identity; neither: identity, N = M |

mod card;
mod error;

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::Path;

use attractor_core::NUMERICS;
use attractor_core::map::{Dims, MODELS, ModelInfo};
use attractor_core::model::{Architecture, Model};
use attractor_core::observation::ObservationKind;
use attractor_core::series::{Series, Trajectory};
use attractor_core::settings::nearest;
use attractor_core::theta::{Shape, Tensor};
use safetensors::tensor::{Dtype, SafeTensorError, SafeTensors, TensorView};

use crate::container::{self, Block, Values};
use crate::generate::{order, refuse_other_columns};
use crate::{Error, store};

pub use card::Card;
pub use error::{ModelFault, ModelFileError};

/// A trained model, and what is known of its data.
pub struct Reconstruction {
    /// The model.
    pub model: Model,
    /// What is known of its data.
    pub card: Card,
}

impl Reconstruction {
    /// New data as the model's training data were prepared: its channels in its order, after the same steps.
    pub fn prepared(&self, data: Series) -> Result<Series, Error> {
        let Card {
            channels, prepare, ..
        } = &self.card;
        if prepare.is_empty() {
            return Ok(data);
        }
        refuse_other_columns(&self.card, &data)?;
        let order = order("channel", channels, data.channels())?;
        let in_order = |t: &Trajectory| Trajectory {
            x: (t.x.chunks_exact(order.len()))
                .flat_map(|row| order.iter().map(|&i| row[i]))
                .collect(),
            ..t.clone()
        };
        let trajectories = data.trajectories().iter().map(in_order).collect();
        let channels = order.iter().map(|&i| data.channels()[i].clone()).collect();
        let (inputs, step) = (data.inputs().to_vec(), data.step().clone());
        let data = Series::new(channels, inputs, step, trajectories)?;
        Ok(prepare.apply(&data)?)
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
        let tensors: Tensors<'_> = file
            .iter()
            .filter(|(_, view)| !view.shape().contains(&0))
            .map(|(name, view)| (name.to_string(), view))
            .collect();
        let architecture = architecture(model_info(&texts)?, &tensors)?;
        let theta = parameters(&architecture, &tensors)?;
        Ok(Reconstruction {
            card: Card::from_texts(&texts, &architecture)?,
            model: Model::new(architecture, theta),
        })
    }

    /// Writes a model file, whole or not at all.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let bytes = self.to_bytes();
        store::write_whole(path, |out| out.write_all(&bytes))
    }

    /// The content of a model file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let theta = self.model.theta();
        let blocks: Vec<Block<'_>> = self
            .model
            .layout()
            .tensors()
            .iter()
            .map(|Tensor { name, shape, range }| Block {
                name,
                shape: shape.sizes(),
                values: Values::F32(&theta[range.clone()]),
            })
            .collect();
        container::to_bytes(&self.texts(), &blocks)
    }

    fn texts(&self) -> BTreeMap<&'static str, String> {
        let architecture = self.model.architecture();
        let mut texts = self.card.to_texts();
        texts.extend([
            ("model", architecture.info.entry.id.to_string()),
            ("version", env!("CARGO_PKG_VERSION").to_string()),
            ("numerics", NUMERICS.to_string()),
            (
                "observation",
                observation_name(architecture.observation.kind).to_string(),
            ),
        ]);
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

/// The tensors of a file that have entries, by name.
type Tensors<'a> = BTreeMap<String, TensorView<'a>>;

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

fn model_info(texts: &HashMap<String, String>) -> Result<&'static ModelInfo, ModelFault> {
    let name = texts.get("model").ok_or(ModelFault::NoModel)?;
    let found = MODELS.iter().find(|info| info.entry.id == name);
    found.copied().ok_or_else(|| ModelFault::UnknownModel {
        name: name.clone(),
        near: nearest(name, MODELS.iter().map(|info| info.entry.id)),
    })
}

/// The sizes, from the shapes.
fn architecture(
    info: &'static ModelInfo,
    tensors: &Tensors<'_>,
) -> Result<Architecture, ModelFault> {
    for (name, view) in tensors {
        if !matches!(view.dtype(), Dtype::F32 | Dtype::F64) {
            return Err(ModelFault::Dtype {
                name: name.clone(),
                found: format!("{:?}", view.dtype()),
            });
        }
    }
    let has = |name: &str| tensors.contains_key(name);
    let [latent] = axes(tensors, "A")?;
    let hidden = match info.hidden {
        None => 0,
        Some(_) if tensor_names(info).contains(&"W1") => axes::<2>(tensors, "W1")?[1],
        Some(_) => axes::<1>(tensors, "slopes")?[0],
    };
    let inputs = if has("C") {
        axes::<2>(tensors, "C")?[1]
    } else {
        0
    };
    let (kind, dim_obs) = match (has("B"), has("b"), has("L")) {
        (true, false, _) => (ObservationKind::Linear, axes::<2>(tensors, "B")?[0]),
        (true, true, _) => (ObservationKind::LinearWithBias, axes::<2>(tensors, "B")?[0]),
        (false, _, true) => (ObservationKind::Identity, axes::<2>(tensors, "L")?[1]),
        (false, _, false) => (ObservationKind::Identity, latent),
    };
    let dims = Dims {
        latent,
        hidden,
        inputs,
    };
    Ok(Architecture::new(info, dims, kind, dim_obs)?)
}

/// The tensors of a model's map.
fn tensor_names(info: &ModelInfo) -> Vec<&'static str> {
    let smallest = Dims {
        latent: 1,
        hidden: 1,
        inputs: 0,
    };
    let map = (info.build)(smallest);
    map.layout().tensors().iter().map(|t| t.name).collect()
}

/// The shape of a tensor that must be there.
fn axes<const AXES: usize>(
    tensors: &Tensors<'_>,
    name: &'static str,
) -> Result<[usize; AXES], ModelFault> {
    let view = tensors
        .get(name)
        .ok_or(ModelFault::MissingTensor { name })?;
    view.shape().try_into().map_err(|_| ModelFault::Axes {
        name,
        expected: AXES,
        found: view.shape().len(),
    })
}

/// θ, once every tensor has the shape that the others ask for. Nothing is allocated before: θ is then no larger
/// than the file.
fn parameters(architecture: &Architecture, tensors: &Tensors<'_>) -> Result<Vec<f32>, ModelFault> {
    let layout = architecture.layout();
    let known = || layout.tensors().iter().map(|t| t.name);
    if let Some(name) = tensors.keys().find(|&name| known().all(|k| k != name)) {
        return Err(ModelFault::UnknownTensor {
            name: name.clone(),
            known: known().collect(),
        });
    }
    for &Tensor { name, shape, .. } in layout.tensors() {
        check_shape(name, shape, tensors)?;
    }
    let mut theta = Vec::with_capacity(layout.len());
    for &Tensor { name, .. } in layout.tensors() {
        let before = theta.len();
        append(&tensors[name], &mut theta);
        if let Some(entry) = theta[before..].iter().position(|v| !v.is_finite()) {
            return Err(ModelFault::NotFinite { name, entry });
        }
    }
    Ok(theta)
}

fn check_shape(name: &'static str, shape: Shape, tensors: &Tensors<'_>) -> Result<(), ModelFault> {
    let view = tensors
        .get(name)
        .ok_or(ModelFault::MissingTensor { name })?;
    if view.shape() == shape.sizes() {
        return Ok(());
    }
    Err(ModelFault::Shape {
        name,
        expected: shape.sizes(),
        found: view.shape().to_vec(),
    })
}

/// Appends the numbers of a tensor, narrowed to f32.
fn append(view: &TensorView<'_>, theta: &mut Vec<f32>) {
    match view.dtype() {
        Dtype::F64 => theta.extend(
            view.data()
                .as_chunks::<8>()
                .0
                .iter()
                .map(|&bytes| f64::from_le_bytes(bytes) as f32),
        ),
        _ => theta.extend(
            view.data()
                .as_chunks::<4>()
                .0
                .iter()
                .map(|&bytes| f32::from_le_bytes(bytes)),
        ),
    }
}
