//! Observation models: how a latent state is seen, and how an observation is turned into a teacher signal.
//!
//! | | x̂ | teacher ẑ | initial state z_1 |
//! |---|---|---|---|
//! | identity (M ≥ N) | first N of z | x | (x_1, L x_1), L learned |
//! | linear | B z (+ b) | B⁺ (x − b) | B⁺ (x_1 − b) |
//!
//! With M > N the identity forces only the leading N states. Of the pseudo-inverse, the initial state is always
//! differentiated; the teacher signals only if asked ([`ForcingGradient`](crate::forcing::ForcingGradient)).

pub mod components;
mod gradient;
mod lanes;

pub(crate) use gradient::PseudoInverse;
pub(crate) use lanes::{ObservationLanes, Residuals};

use crate::linalg;
use crate::rng::Rng;
use crate::theta::{Layout, Shape};

/// The kinds of observation model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObservationKind {
    /// x̂ = the first N latent states.
    Identity,
    /// x̂ = B z.
    Linear,
    /// x̂ = B z + b.
    LinearWithBias,
}

/// An observation model of N channels on M latent states. Its tensors follow those of the map in θ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation {
    /// The kind.
    pub kind: ObservationKind,
    /// Channels N.
    pub dim_obs: usize,
    /// Latent states M.
    pub latent: usize,
}

/// How B starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ObservationStart {
    /// The identity where N ≤ M, else the leading principal components of the data: condition number one.
    WellConditioned,
    /// Independent normal entries of variance 2/M, as in the paper. Condition numbers above 10 are common, and such
    /// a start may stay bad for a whole training.
    Random,
}

impl Observation {
    /// Its tensors, in order.
    pub fn tensors(&self) -> Vec<(&'static str, Shape)> {
        let (n, m) = (self.dim_obs, self.latent);
        match self.kind {
            ObservationKind::Identity => vec![("L", Shape::Matrix(m - n, n))],
            ObservationKind::Linear => vec![("B", Shape::Matrix(n, m))],
            ObservationKind::LinearWithBias => {
                vec![("B", Shape::Matrix(n, m)), ("b", Shape::Vector(n))]
            }
        }
    }

    /// Its layout when it stands alone.
    pub fn layout(&self) -> Layout {
        Layout::new(self.tensors())
    }

    /// How many leading latent states a teacher signal reaches.
    pub fn forced(&self) -> usize {
        match self.kind {
            ObservationKind::Identity => self.dim_obs,
            ObservationKind::Linear | ObservationKind::LinearWithBias => self.latent,
        }
    }

    /// x̂ from a latent state; `own` are the observation model's parameters.
    pub fn observe(&self, own: &[f64], z: &[f64], x_hat: &mut [f64]) {
        let (b, bias) = own.split_at(self.matrix_len());
        match self.kind {
            ObservationKind::Identity => x_hat.copy_from_slice(&z[..self.dim_obs]),
            ObservationKind::Linear => {
                linalg::multiply(b, z, (self.dim_obs, self.latent, 1), x_hat)
            }
            ObservationKind::LinearWithBias => {
                linalg::multiply(b, z, (self.dim_obs, self.latent, 1), x_hat);
                x_hat.iter_mut().zip(bias).for_each(|(x, b)| *x += b);
            }
        }
    }

    /// x̂ from every latent state, to the bit as [`Observation::observe`]: each product is summed in the same order.
    pub fn observe_all(&self, own: &[f64], states: &[f64], x_hat: &mut [f64]) {
        let (n, m) = (self.dim_obs, self.latent);
        let (b, bias) = own.split_at(self.matrix_len());
        let rows = states.chunks_exact(m).zip(x_hat.chunks_exact_mut(n));
        if self.kind == ObservationKind::Identity {
            return rows.for_each(|(z, x)| x.copy_from_slice(&z[..n]));
        }
        let mut columns = vec![0.0; b.len()];
        linalg::transpose(b, (n, m), &mut columns);
        linalg::multiply(states, &columns, (states.len() / m, m, n), x_hat);
        if self.kind == ObservationKind::LinearWithBias {
            let rows = x_hat.chunks_exact_mut(n);
            rows.for_each(|x| x.iter_mut().zip(bias).for_each(|(x, b)| *x += b));
        }
    }

    /// Pulls a cotangent of x̂ back:  dz = Bᵀ d.
    pub fn pull_back(&self, own: &[f64], d: &[f64], dz: &mut [f64]) {
        dz.fill(0.0);
        match self.kind {
            ObservationKind::Identity => dz[..self.dim_obs].copy_from_slice(d),
            ObservationKind::Linear | ObservationKind::LinearWithBias => {
                let b = &own[..self.matrix_len()];
                for (&d, row) in d.iter().zip(b.chunks_exact(self.latent)) {
                    dz.iter_mut().zip(row).for_each(|(dz, b)| *dz += d * b);
                }
            }
        }
    }

    /// The function from observations to initial states, prepared once for given parameters.
    pub fn initial_states(&self, own: &[f64]) -> InitialStates {
        let (n, m) = (self.dim_obs, self.latent);
        let (matrix, bias) = own.split_at(self.matrix_len());
        let matrix = match self.kind {
            ObservationKind::Identity => {
                let leading = (0..n * n).map(|i| f64::from(u8::from(i % (n + 1) == 0)));
                leading.chain(matrix.iter().copied()).collect()
            }
            ObservationKind::Linear | ObservationKind::LinearWithBias => {
                linalg::pseudo_inverse(matrix, n, m)
            }
        };
        let bias = if bias.is_empty() {
            vec![0.0; n]
        } else {
            bias.to_vec()
        };
        InitialStates {
            matrix,
            bias,
            latent: m,
        }
    }

    /// Draws parameters to start from; `components` gives the M leading principal components of the data, N × M, where they are needed.
    pub fn init(
        &self,
        start: ObservationStart,
        components: impl FnOnce() -> Vec<f64>,
        rng: &mut Rng,
    ) -> Vec<f64> {
        let (n, m) = (self.dim_obs, self.latent);
        let matrix: Vec<f64> = match (self.kind, start) {
            (ObservationKind::Identity, _) => {
                let r = (6.0 / m as f64).sqrt();
                (0..(m - n) * n).map(|_| rng.between(-r, r)).collect()
            }
            (_, ObservationStart::Random) => {
                let sd = (2.0 / m as f64).sqrt();
                (0..n * m).map(|_| sd * rng.normal()).collect()
            }
            (_, ObservationStart::WellConditioned) if n <= m => (0..n * m)
                .map(|i| f64::from(u8::from(i / m == i % m)))
                .collect(),
            (_, ObservationStart::WellConditioned) => components(),
        };
        let bias = if self.kind == ObservationKind::LinearWithBias {
            n
        } else {
            0
        };
        matrix.into_iter().chain(vec![0.0; bias]).collect()
    }

    fn matrix_len(&self) -> usize {
        match self.kind {
            ObservationKind::Identity => (self.latent - self.dim_obs) * self.dim_obs,
            ObservationKind::Linear | ObservationKind::LinearWithBias => self.dim_obs * self.latent,
        }
    }
}

/// z_1 = P (x_1 − b), with P = B⁺ or (I; L).
#[derive(Debug, Clone)]
pub struct InitialStates {
    matrix: Vec<f64>,
    bias: Vec<f64>,
    latent: usize,
}

impl InitialStates {
    /// The initial state for an observation.
    pub fn infer(&self, x: &[f64], z: &mut [f64]) {
        let centred: Vec<f64> = x.iter().zip(&self.bias).map(|(x, b)| x - b).collect();
        linalg::multiply(&self.matrix, &centred, (self.latent, x.len(), 1), z);
    }

    /// P, M × N.
    pub fn matrix(&self) -> &[f64] {
        &self.matrix
    }
}
