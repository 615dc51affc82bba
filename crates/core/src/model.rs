//! A model: a map, an observation model and their parameters, in f32 as trained and in f64 for everything else. It is what
//! teacher forcing trains, and a [`Dynamics`] whose states are inferred from one row.

pub(crate) mod free_run;

use std::any::Any;
use std::fmt;
use std::sync::OnceLock;

use crate::dynamics::{
    Dynamics, Forecasts, Named, Sizes, Stretch, Tangent as Linearised, Values, leaves_f32,
};
use crate::hint::Hint;
use crate::map::piecewise::PiecewiseLinear;
use crate::map::tangent::Tangent;
use crate::map::{Dims, Map, ModelInfo, Start, UnitKind};
use crate::observation::components::{Components, LARGEST_DENSE};
use crate::observation::{InitialStates, Observation, ObservationKind, ObservationStart};
use crate::rng::{Rng, Stream};
use crate::rows::Rows;
use crate::series::Series;
use crate::text::count;
use crate::theta::{Layout, Tensor};

use free_run::{LaneForecasts, orbits};

/// Which model, of which sizes.
#[derive(Debug, Clone, Copy, PartialEq)]
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
    #[error("{} cannot show {} through the identity", count(*latent, "latent state"), count(*dim_obs, "channel"))]
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
    pub fn hint(&self) -> Option<Hint> {
        match self {
            ArchitectureError::IdentityTooSmall { dim_obs, .. } => {
                Some(format!("use `--latent {dim_obs}` or more, or `--observation linear`").into())
            }
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
    /// The map's parameters in f64, then the observation model's.
    wide: Vec<f64>,
    /// Made when it is first asked for: it takes a pseudo-inverse.
    initial_states: OnceLock<InitialStates>,
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
            wide: theta.iter().map(|&v| f64::from(v)).collect(),
            theta,
            initial_states: OnceLock::new(),
        }
    }

    /// The model behind a system, if it is one.
    pub fn of(dynamics: &dyn Dynamics) -> Option<&Model> {
        let any: &dyn Any = dynamics;
        any.downcast_ref()
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
        let of_observation = architecture.observation.init(
            start,
            || components(series, architecture.dims.latent),
            &mut rng,
        );
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
    pub fn parameters(&self) -> (&[f64], &[f64]) {
        self.wide.split_at(self.map.layout().len())
    }

    /// The function from observations to initial states.
    pub fn initial_states(&self) -> &InitialStates {
        self.initial_states.get_or_init(|| {
            let observation = &self.architecture.observation;
            observation.initial_states(self.parameters().1)
        })
    }

    /// A free orbit of `steps` rows from the state inferred from one row, driven by `inputs` (steps × K).
    pub fn orbit_from(&self, x: &[f64], inputs: &[f64], steps: usize) -> Vec<f64> {
        let mut z = vec![0.0; self.architecture.dims.latent];
        self.initial_states().infer(x, &mut z);
        self.orbit(&z, inputs, steps)
    }
}

impl Clone for Model {
    fn clone(&self) -> Model {
        self.with_theta(self.theta.clone())
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let id = self.architecture.info.entry.id;
        write!(f, "{id} with {}", self.describe())
    }
}

impl Dynamics for Model {
    fn sizes(&self) -> Sizes {
        let Dims { latent, inputs, .. } = self.architecture.dims;
        Sizes {
            state: latent,
            channels: self.architecture.observation.dim_obs,
            inputs,
            dim: latent,
            parameters: self.theta.len(),
        }
    }

    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        self.initial_states().infer(data.row(t), z);
    }

    fn step(&self, z: &[f64], s: &[f64], next: &mut [f64]) {
        self.map.step(self.parameters().0, z, s, next);
    }

    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        let observation = &self.architecture.observation;
        observation.observe(self.parameters().1, z, x_hat);
    }

    fn jacobian(&self, z: &[f64], _s: &[f64], jac: &mut [f64]) {
        self.map.jacobian(self.parameters().0, z, jac);
    }

    fn tensors(&self) -> Vec<Named<'_>> {
        let named = |Tensor { name, shape, range }: &Tensor| Named {
            name,
            shape: *shape,
            values: Values::F32(&self.theta[range.clone()]),
        };
        self.layout.tensors().iter().map(named).collect()
    }

    fn describe(&self) -> String {
        let Architecture { info, dims, .. } = self.architecture;
        let states = count(dims.latent, "latent state");
        match info.units {
            UnitKind::Rectified(_) => states,
            UnitKind::Dendritic(_) => format!("{states} of {} each", count(dims.hidden, "base")),
            UnitKind::Shallow(_) => format!("{states} and {}", count(dims.hidden, "hidden unit")),
        }
    }

    /// Clipped units do not show a state that grows for ever, but the orbit has diverged, and in single precision ends there.
    fn orbit(&self, z: &[f64], inputs: &[f64], steps: usize) -> Vec<f64> {
        let Architecture {
            dims, observation, ..
        } = self.architecture;
        let (of_map, of_observation) = self.parameters();
        let mut states = vec![0.0; steps * dims.latent];
        if let Some(first) = states.chunks_exact_mut(dims.latent).next() {
            first.copy_from_slice(z);
        }
        self.map.orbit(of_map, inputs, &mut states);
        let mut rows = vec![0.0; steps * observation.dim_obs];
        observation.observe_all(of_observation, &states, &mut rows);
        if let Some(left) = states.iter().position(|z| leaves_f32(*z)) {
            rows[left / dims.latent * observation.dim_obs..].fill(f64::NAN);
        }
        rows
    }

    fn orbits(
        &self,
        data: Stretch<'_>,
        starts: &[usize],
        inputs: &[f64],
        steps: usize,
    ) -> Vec<Vec<f64>> {
        let starts: Vec<&[f64]> = starts.iter().map(|&t| data.row(t)).collect();
        orbits(self, &starts, inputs, steps)
    }

    fn forecasts<'a>(&'a self, data: Stretch<'a>) -> Box<dyn Forecasts + 'a> {
        Box::new(LaneForecasts::new(self, data))
    }

    fn tangent(&self) -> Box<dyn Linearised + '_> {
        Box::new(Tangent::new(self.map(), self.parameters().0))
    }

    fn piecewise(&self) -> Option<PiecewiseLinear> {
        self.map.piecewise(self.parameters().0)
    }
}

fn data_range(series: &Series) -> Start {
    let present = series.rows().flatten().copied().filter(|v| !v.is_nan());
    let (low, high) = present.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    Start::WithinData { low, high }
}

/// The M leading principal components of the rows that are complete, N × M.
fn components(series: &Series, m: usize) -> Vec<f64> {
    let n = series.dim_obs();
    if n <= LARGEST_DENSE {
        return Components::of_covariance(&covariance(series), n, m).vectors;
    }
    let complete = series.rows().filter(|row| row.iter().all(|v| !v.is_nan()));
    let mut rows = complete.flatten().copied().collect::<Vec<_>>();
    if rows.is_empty() {
        rows = vec![0.0; n];
    }
    Components::of_rows(Rows::new(&rows, n), m).vectors
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
            let orbit = model.orbit_from(&x, &inputs, steps);
            let (of_map, of_observation) = model.parameters();
            let (mut z, mut next, mut row) = (vec![0.0; 5], vec![0.0; 5], vec![0.0; n]);
            model.initial_states().infer(&x, &mut z);
            for (t, found) in orbit.chunks_exact(n).enumerate() {
                if t > 0 {
                    model.map.step(of_map, &z, &inputs[t..=t], &mut next);
                    z.copy_from_slice(&next);
                }
                let observation = model.architecture.observation;
                observation.observe(of_observation, &z, &mut row);
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
        let orbit = Model::new(architecture, theta).orbit_from(&[1.0], &[], 200);
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
        assert!(model.orbit_from(&[0.1, 0.2], &[], 0).is_empty());
        assert_eq!(model.orbit_from(&[0.1, 0.2], &[], 1), [0.1, 0.2]);
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
