//! The maps for training: f32, many windows side by side in vector lanes, no allocation.
//!
//! A kernel computes what its [`Map`](crate::map::Map) does, in another order: constants of an update are folded
//! into the weights once ([`Kernel::prepare`]), the backward sweep carries only the state's cotangent and leaves on
//! a [`Tape`] what weight gradients need, and these follow in one product over all steps ([`Kernel::gradient`]).
//! [`laws`](crate::laws) compare every kernel with its map.

mod dendritic;
mod layer;
mod linear;
mod rectified;
mod shallow;

pub(crate) use dendritic::Dendritic;
pub(crate) use rectified::Rectified;
pub(crate) use shallow::{Clipped, Plain, Shallow, Tanh};

use crate::map::Dims;
use crate::map::dendritic::Clipping;
use crate::map::plrnn::Centring;
use crate::map::shallow::Activation;
use crate::simd::{Groups, Lanes, Simd};
use crate::theta::Layout;

/// Which kernel trains a map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KernelKind {
    /// One hidden layer.
    Shallow(Activation),
    /// A rectified unit a latent state.
    Rectified(Centring),
    /// Linear splines, one a latent state.
    Dendritic(Clipping),
}

/// What a sweep over a window of T steps leaves for the weight gradients. Buffers are `[step][feature]`.
#[derive(Debug, Clone)]
pub(crate) struct Tape<P> {
    /// States z̃ that the map was applied to, T × M.
    pub(crate) z: Vec<P>,
    /// Inputs s, T × K.
    pub(crate) s: Vec<P>,
    /// Values g of the units, T × U.
    pub(crate) g: Vec<P>,
    /// Cotangents at the units, T × U.
    pub(crate) q: Vec<P>,
    /// Cotangents of the map's outputs, T × M.
    pub(crate) d: Vec<P>,
}

impl<P: Lanes> Tape<P> {
    pub(crate) fn new(dims: Dims, units: usize, window: usize) -> Tape<P> {
        let blank = |features: usize| vec![P::ZERO; features * window];
        Tape {
            z: blank(dims.latent),
            s: blank(dims.inputs),
            g: blank(units),
            q: blank(units),
            d: blank(dims.latent),
        }
    }
}

/// A map on lanes of f32.
pub(crate) trait Kernel: Send + Sync + Sized {
    /// The kernel of a map with these sizes and this layout.
    fn new(dims: Dims, layout: &Layout) -> Self;

    /// Number of unit values U on the tape, a step.
    fn units(&self) -> usize;

    /// Takes θ, once an update.
    fn prepare(&mut self, theta: &[f32]);

    /// next = F(z, s); g receives the units' values.
    fn step<S: Simd, P: Lanes>(&self, simd: S, z: &[P], s: &[P], g: &mut [P], next: &mut [P]);

    /// dz = Jᵀ d at z, where the units had values g; q receives the cotangents at the units.
    fn pull_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        at: (&[P], &[P]),
        d: &[P],
        q: &mut [P],
        dz: &mut [P],
    );

    /// The gradient of a whole sweep, in the kernel's own coordinates.
    fn gradient<S: Simd, P: Lanes>(&self, simd: S, tape: &Tape<P>, groups: &mut Groups<'_>);

    /// From the kernel's own coordinates to those of θ, in place, once an update.
    fn finish(&self, theta: &[f32], dtheta: &mut [f32]);
}
