//! A model: a map, an observation model and their parameters, in f32 as trained and in f64 for everything else.

use crate::map::{Dims, Map, ModelInfo, Start};
use crate::observation::{InitialStates, Observation, ObservationKind, ObservationStart};
use crate::rng::{Rng, Stream};
use crate::series::Series;
use crate::theta::Layout;

/// Which model, of which sizes.
#[derive(Clone, Copy)]
pub struct Architecture {
    /// The entry in the list of models.
    pub info: &'static ModelInfo,
    /// Sizes of the map.
    pub dims: Dims,
    /// The observation model.
    pub observation: Observation,
}

/// Why no model has these sizes.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ArchitectureError {
    /// The identity cannot show more channels than there are latent states.
    #[error("{latent} latent states cannot show {dim_obs} channels through the identity")]
    IdentityTooSmall {
        /// Latent states M.
        latent: usize,
        /// Channels N.
        dim_obs: usize,
    },
    /// A size that must be positive is zero.
    #[error("`{name}` must be at least 1")]
    Zero {
        /// The size.
        name: &'static str,
    },
}

impl ArchitectureError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            ArchitectureError::IdentityTooSmall { dim_obs, .. } => Some(format!(
                "use `--latent {dim_obs}` or more, or `--observation linear`"
            )),
            ArchitectureError::Zero { .. } => None,
        }
    }
}

/// A map and an observation model with parameters.
pub struct Model {
    architecture: Architecture,
    map: Box<dyn Map>,
    layout: Layout,
    theta: Vec<f32>,
}

impl Architecture {
    /// Checks sizes.
    pub fn new(
        info: &'static ModelInfo,
        dims: Dims,
        kind: ObservationKind,
        dim_obs: usize,
    ) -> Result<Architecture, ArchitectureError> {
        let sizes = [
            ("latent", dims.latent),
            ("channels", dim_obs),
            ("hidden", dims.hidden),
        ];
        let counted = &sizes[..if info.hidden.is_some() { 3 } else { 2 }];
        if let Some(&(name, _)) = counted.iter().find(|(_, size)| *size == 0) {
            return Err(ArchitectureError::Zero { name });
        }
        if kind == ObservationKind::Identity && dims.latent < dim_obs {
            return Err(ArchitectureError::IdentityTooSmall {
                latent: dims.latent,
                dim_obs,
            });
        }
        let dims = Dims {
            hidden: info.hidden.map_or(0, |_| dims.hidden),
            ..dims
        };
        Ok(Architecture {
            info,
            dims,
            observation: Observation {
                kind,
                dim_obs,
                latent: dims.latent,
            },
        })
    }

    /// The tensors of θ: the map's, then the observation model's.
    pub fn layout(&self) -> Layout {
        let mut layout = (self.info.build)(self.dims).layout().clone();
        layout.extend(self.observation.tensors());
        layout
    }
}

impl Model {
    /// A model with given parameters, laid out as [`Architecture::layout`] says.
    pub fn new(architecture: Architecture, theta: Vec<f32>) -> Model {
        let layout = architecture.layout();
        assert_eq!(
            theta.len(),
            layout.len(),
            "parameters do not fit the layout"
        );
        Model {
            map: (architecture.info.build)(architecture.dims),
            architecture,
            layout,
            theta,
        }
    }

    /// A model at its random start, for training on `series`.
    pub fn start(
        architecture: Architecture,
        start: ObservationStart,
        series: &Series,
        seed: u64,
    ) -> Model {
        let mut rng = Rng::new(seed, Stream::Parameters);
        let map = (architecture.info.build)(architecture.dims);
        let within = match architecture.observation.kind {
            ObservationKind::Identity => data_range(series),
            ObservationKind::Linear | ObservationKind::LinearWithBias => Start::Free,
        };
        let of_map = map.init(within, &mut rng);
        let of_observation = architecture
            .observation
            .init(start, &covariance(series), &mut rng);
        let theta = of_map
            .into_iter()
            .chain(of_observation)
            .map(|v| v as f32)
            .collect();
        Model::new(architecture, theta)
    }

    /// Which model, of which sizes.
    pub fn architecture(&self) -> &Architecture {
        &self.architecture
    }

    /// The map.
    pub fn map(&self) -> &dyn Map {
        self.map.as_ref()
    }

    /// The tensors of θ.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The parameters θ.
    pub fn theta(&self) -> &[f32] {
        &self.theta
    }

    /// The same model with other parameters.
    pub fn with_theta(&self, theta: Vec<f32>) -> Model {
        Model::new(self.architecture, theta)
    }

    /// The parameters of the map and of the observation model, widened to f64.
    pub fn parameters(&self) -> (Vec<f64>, Vec<f64>) {
        let mut of_map: Vec<f64> = self.theta.iter().map(|&v| f64::from(v)).collect();
        let of_observation = of_map.split_off(self.map.layout().len());
        (of_map, of_observation)
    }

    /// The function from observations to initial states.
    pub fn initial_states(&self) -> InitialStates {
        self.architecture
            .observation
            .initial_states(&self.parameters().1)
    }

    /// A free orbit of `steps` rows, as observations: the first row is the initial state inferred from `x`, seen
    /// through the model. Row t is driven by row t of `inputs` (steps × K, empty without inputs). Rows are NaN from where a
    /// state, seen or not, leaves what f32 holds: clipped units do not show a state that grows for ever, but the orbit has
    /// diverged, and in single precision ends there.
    pub fn orbit(&self, x: &[f64], inputs: &[f64], steps: usize) -> Vec<f64> {
        let Architecture {
            dims, observation, ..
        } = self.architecture;
        let (of_map, of_observation) = self.parameters();
        let mut states = vec![0.0; steps * dims.latent];
        if let Some(z) = states.chunks_exact_mut(dims.latent).next() {
            self.initial_states().infer(x, z);
        }
        self.map.orbit(&of_map, inputs, &mut states);
        let mut rows = vec![0.0; steps * observation.dim_obs];
        observation.observe_all(&of_observation, &states, &mut rows);
        if let Some(left) = states.iter().position(|z| leaves_f32(*z)) {
            rows[left / dims.latent * observation.dim_obs..].fill(f64::NAN);
        }
        rows
    }
}

/// Whether a latent state leaves what f32, in which models are trained and most orbits are made, holds: it has diverged.
pub fn leaves_f32(z: f64) -> bool {
    z.is_nan() || z.abs() > f64::from(f32::MAX)
}

fn data_range(series: &Series) -> Start {
    let present = series.rows().flatten().copied().filter(|v| !v.is_nan());
    let (low, high) = present.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    Start::WithinData { low, high }
}

/// Second moments about the mean of the rows that are complete, N × N.
fn covariance(series: &Series) -> Vec<f64> {
    let n = series.dim_obs();
    let complete = || series.rows().filter(|row| row.iter().all(|v| !v.is_nan()));
    let count = complete().count().max(1) as f64;
    let mut mean = vec![0.0; n];
    complete().for_each(|row| mean.iter_mut().zip(row).for_each(|(m, x)| *m += x / count));
    let mut covariance = vec![0.0; n * n];
    for row in complete() {
        for i in 0..n {
            for j in 0..n {
                covariance[i * n + j] += (row[i] - mean[i]) * (row[j] - mean[j]) / count;
            }
        }
    }
    covariance
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::MODELS;

    /// Through every observation model, with an input: to the bit as the map steps and the observation model sees.
    #[test]
    fn an_orbit_is_made_of_steps() {
        let (steps, dims) = (30, dims(5, 40, 1));
        let inputs: Vec<f64> = (0..steps).map(|t| (0.7 * t as f64).sin()).collect();
        let kinds = [
            (ObservationKind::Identity, 3),
            (ObservationKind::Linear, 5),
            (ObservationKind::Linear, 70),
            (ObservationKind::LinearWithBias, 11),
        ];
        for (kind, n) in kinds {
            let model = random(Architecture::new(MODELS[0], dims, kind, n).unwrap());
            let x = vec![0.3; n];
            let orbit = model.orbit(&x, &inputs, steps);
            let (of_map, of_observation) = model.parameters();
            let (mut z, mut next, mut row) = (vec![0.0; 5], vec![0.0; 5], vec![0.0; n]);
            model.initial_states().infer(&x, &mut z);
            for (t, found) in orbit.chunks_exact(n).enumerate() {
                if t > 0 {
                    model.map.step(&of_map, &z, &inputs[t..=t], &mut next);
                    z.copy_from_slice(&next);
                }
                let observation = model.architecture.observation;
                observation.observe(&of_observation, &z, &mut row);
                assert_eq!(found, row, "{kind:?}, row {t}");
            }
        }
    }

    /// z2 = 2 z2, which z1 hardly sees: it is past f32's 2^128 after 128 steps, and far from f64's 2^1024.
    #[test]
    fn an_orbit_ends_where_a_state_that_is_not_seen_leaves_single_precision() {
        let info = MODELS
            .iter()
            .find(|info| info.entry.id == "clipped-dendritic-plrnn");
        let kind = ObservationKind::Identity;
        let architecture = Architecture::new(info.unwrap(), dims(2, 1, 0), kind, 1).unwrap();
        let mut theta = vec![0.0; architecture.layout().len()];
        theta[architecture.layout().range("A")].copy_from_slice(&[0.5, 2.0]);
        theta[architecture.layout().range("h")].copy_from_slice(&[0.0, 1.0]);
        let orbit = Model::new(architecture, theta).orbit(&[1.0], &[], 200);
        // z2 after t steps is 2^t − 1.
        let first = orbit.iter().position(|x| x.is_nan()).unwrap();
        assert_eq!(first, 128);
        assert!(orbit[..first].iter().all(|x| (0.0..=1.0).contains(x)));
        assert!(orbit[first..].iter().all(|x| x.is_nan()));
    }

    #[test]
    fn an_orbit_may_be_empty() {
        let kind = ObservationKind::Identity;
        let model = random(Architecture::new(MODELS[0], dims(2, 3, 0), kind, 2).unwrap());
        assert!(model.orbit(&[0.1, 0.2], &[], 0).is_empty());
        assert_eq!(model.orbit(&[0.1, 0.2], &[], 1), [0.1, 0.2]);
    }

    fn dims(latent: usize, hidden: usize, inputs: usize) -> Dims {
        Dims {
            latent,
            hidden,
            inputs,
        }
    }

    fn random(architecture: Architecture) -> Model {
        let mut rng = Rng::new(2, Stream::Parameters);
        let len = architecture.layout().len();
        Model::new(
            architecture,
            (0..len).map(|_| 0.2 * rng.normal() as f32).collect(),
        )
    }
}
