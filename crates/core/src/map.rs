//! Trainable maps z_t = F(z_{t−1}, s_t) with exact derivatives, in f64.
//!
//! All maps of the paper are a diagonal linear part, a linear combination of units g(z), a constant and a linear
//! input:  F(z, s) = A∘z + W g(z) + h + C s  ([`Additive`]); they differ in their [`Units`]. A new one is a file
//! with its units and a line in [`MODELS`].
//!
//! What is here is the plain form for analysis and for the [`laws`](crate::laws). Training runs the vector
//! kernels of `kernel`, which must agree with it.

mod additive;
pub mod dendritic;
mod layer;
pub mod piecewise;
pub mod plrnn;
pub mod shallow;
pub(crate) mod tangent;

pub use additive::{Additive, Units};

use std::fmt;

use crate::catalogue::Entry;
use crate::rng::Rng;
use crate::theta::Layout;
use dendritic::Clipping;
use piecewise::PiecewiseLinear;
use plrnn::Centring;
use shallow::Activation;

/// The sizes of a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Dims {
    /// Latent dimension M.
    pub latent: usize,
    /// Hidden units L, or bases B of a dendritic map; without meaning where a map has neither.
    pub hidden: usize,
    /// External inputs K.
    pub inputs: usize,
}

/// A map z ← F(z, s) with parameters θ.
pub trait Map: Send + Sync {
    /// The sizes.
    fn dims(&self) -> Dims;

    /// The tensors of θ.
    fn layout(&self) -> &Layout;

    /// next = F(z, s).
    fn step(&self, theta: &[f64], z: &[f64], s: &[f64], next: &mut [f64]);

    /// Goes on from row 0 of `states` (steps × M): row t is F of the row before and of row t of `inputs` (steps × K). To the
    /// bit what [`Map::step`] gives.
    fn orbit(&self, theta: &[f64], inputs: &[f64], states: &mut [f64]) {
        step_by_step(self, theta, inputs, states);
    }

    /// J = ∂F/∂z at z, M × M row-major.
    fn jacobian(&self, theta: &[f64], z: &[f64], jac: &mut [f64]);

    /// An upper bound of ‖∂F/∂z‖ over all states.
    fn jacobian_bound(&self, theta: &[f64]) -> f64;

    /// The map as hinges on planes; `None` if it is smooth.
    fn piecewise(&self, theta: &[f64]) -> Option<PiecewiseLinear>;

    /// Pulls a cotangent d = ∂ℓ/∂F back:  dz = Jᵀ d,  dθ += (∂F/∂θ)ᵀ d.
    fn pull_back(
        &self,
        theta: &[f64],
        at: Point<'_>,
        d: &[f64],
        dz: &mut [f64],
        dtheta: &mut [f64],
    );

    /// Draws parameters to start from.
    fn init(&self, start: Start, rng: &mut Rng) -> Vec<f64>;

    /// Sets those entries of a gradient to zero that must not move, such as the diagonal of W.
    fn freeze(&self, dtheta: &mut [f32]);

    /// Names of the tensors that the latent penalty pulls to zero; `A` is pulled to one.
    fn penalized(&self) -> &'static [&'static str];
}

/// [`Map::orbit`] of maps that have no faster way.
fn step_by_step<M: Map + ?Sized>(map: &M, theta: &[f64], inputs: &[f64], states: &mut [f64]) {
    let Dims {
        latent, inputs: k, ..
    } = map.dims();
    for t in 1..states.len() / latent {
        let (z, next) = states[(t - 1) * latent..].split_at_mut(latent);
        map.step(theta, z, &inputs[t * k..][..k], &mut next[..latent]);
    }
}

/// Where a map is evaluated.
#[derive(Debug, Clone, Copy)]
pub struct Point<'a> {
    /// Latent state, M.
    pub z: &'a [f64],
    /// External input, K.
    pub s: &'a [f64],
}

/// What a start may depend on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Start {
    /// The latent state is the data's: units are placed inside their range.
    WithinData {
        /// Smallest value of all channels.
        low: f64,
        /// Largest value of all channels.
        high: f64,
    },
    /// The latent state is not the data's.
    Free,
}

/// What the units of a map are, and so which vector kernel trains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum UnitKind {
    /// One hidden layer.
    Shallow(Activation),
    /// A rectified unit for each latent state.
    Rectified(Centring),
    /// Linear splines, one for each latent state.
    Dendritic(Clipping),
}

/// A map in the list.
pub struct ModelInfo {
    /// Its description.
    pub entry: Entry,
    /// Makes the map of given sizes.
    pub build: fn(Dims) -> Box<dyn Map>,
    /// What its units are.
    pub(crate) units: UnitKind,
    /// What `hidden` counts; `None` where the map has no hidden units.
    pub hidden: Option<&'static str>,
}

impl fmt::Debug for ModelInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.entry.id)
    }
}

impl PartialEq for ModelInfo {
    fn eq(&self, other: &ModelInfo) -> bool {
        self.entry.id == other.entry.id
    }
}

/// All maps.
pub static MODELS: &[&ModelInfo] = &[
    &shallow::CLIPPED,
    &shallow::PLAIN,
    &shallow::TANH,
    &dendritic::CLIPPED,
    &dendritic::PLAIN,
    &plrnn::PLAIN,
    &plrnn::MEAN_CENTRED,
];
