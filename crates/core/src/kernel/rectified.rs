//! PLRNN and mean-centred PLRNN on lanes:  g = φ(Cz).

use std::ops::Range;

use super::linear::Linear;
use super::{Kernel, Tape};
use crate::map::Dims;
use crate::map::plrnn::Centring;
use crate::simd::{Groups, Lanes, Packed, Place, Select, Simd, SimdBase, gram, multiply_into};
use crate::theta::Layout;

/// The square part that PLRNNs share: W g on the way forward, Wᵀ d on the way back, dW = Σ d gᵀ.
#[derive(Debug, Clone)]
pub(super) struct Square {
    dim: usize,
    w: Packed,
    w_transposed: Packed,
    place: Range<usize>,
}

impl Square {
    pub(super) fn new(dim: usize, layout: &Layout) -> Square {
        let packed = Packed::new(dim, dim);
        Square {
            dim,
            w: packed.clone(),
            w_transposed: packed,
            place: layout.range("W"),
        }
    }

    /// Number of latent states, and of units.
    pub(super) fn width(&self) -> usize {
        self.dim
    }

    pub(super) fn prepare(&mut self, theta: &[f32]) {
        let (w, dim) = (&theta[self.place.clone()], self.dim);
        self.w.fill(|row, col| w[row * dim + col]);
        self.w_transposed.fill(|row, col| w[col * dim + row]);
    }

    /// y = W g.
    #[inline(always)]
    pub(super) fn step<S: Simd, P: Lanes>(&self, simd: S, g: &[P], y: &mut [P]) {
        multiply_into(simd, &self.w, g, y);
    }

    /// q = Wᵀ d.
    #[inline(always)]
    pub(super) fn pull_back<S: Simd, P: Lanes>(&self, simd: S, d: &[P], q: &mut [P]) {
        multiply_into(simd, &self.w_transposed, d, q);
    }

    /// dW.
    #[inline(always)]
    pub(super) fn gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &Tape<P>,
        groups: &mut Groups<'_>,
    ) {
        let place = Place {
            start: self.place.start,
            row: self.dim,
            col: 1,
        };
        gram(
            simd,
            (&tape.d, self.dim),
            (&tape.g, self.dim),
            place,
            groups,
        );
    }
}

/// The kernel.
pub(crate) struct Rectified {
    centring: Centring,
    linear: Linear,
    square: Square,
}

impl Rectified {
    /// The same kernel with units that see the centred state.
    pub(crate) fn centred(self, centring: Centring) -> Rectified {
        Rectified { centring, ..self }
    }

    /// What C subtracts from every entry.
    #[inline(always)]
    fn offset<S: Simd, P: Lanes>(&self, simd: S, v: &[P]) -> P::Vector<S> {
        let zero = P::Vector::splat(simd, 0.0);
        match self.centring {
            Centring::None => zero,
            Centring::Mean => {
                let sum = v.iter().fold(
                    zero,
                    #[inline(always)]
                    |sum, v| sum + v.load(simd),
                );
                sum * P::Vector::splat(simd, 1.0 / v.len() as f32)
            }
        }
    }
}

impl Kernel for Rectified {
    fn new(dims: Dims, layout: &Layout) -> Rectified {
        Rectified {
            centring: Centring::None,
            linear: Linear::new(dims, layout, "h"),
            square: Square::new(dims.latent, layout),
        }
    }

    fn units(&self) -> usize {
        self.square.width()
    }

    fn prepare(&mut self, theta: &[f32]) {
        self.linear.prepare(theta);
        self.square.prepare(theta);
    }

    #[inline(always)]
    fn step<S: Simd, P: Lanes>(&self, simd: S, z: &[P], s: &[P], g: &mut [P], next: &mut [P]) {
        let offset = self.offset(simd, z);
        let zero = P::Vector::splat(simd, 0.0);
        for (g, z) in g.iter_mut().zip(z) {
            g.store((z.load(simd) - offset).max(zero));
        }
        self.square.step(simd, g, next);
        self.linear.add(simd, z, s, next);
    }

    #[inline(always)]
    fn pull_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        at: (&[P], &[P]),
        d: &[P],
        q: &mut [P],
        dz: &mut [P],
    ) {
        self.square.pull_back(simd, d, q);
        let zero = P::Vector::splat(simd, 0.0);
        for (q, g) in q.iter_mut().zip(at.1) {
            q.store(g.load(simd).simd_gt(zero).select(q.load(simd), zero));
        }
        let offset = self.offset(simd, q);
        for (dz, q) in dz.iter_mut().zip(q.iter()) {
            dz.store(q.load(simd) - offset);
        }
        self.linear.pull_back(simd, d, dz);
    }

    #[inline(always)]
    fn gradient<S: Simd, P: Lanes>(&self, simd: S, tape: &Tape<P>, groups: &mut Groups<'_>) {
        self.linear.gradient(simd, tape, groups);
        self.square.gradient(simd, tape, groups);
    }

    fn finish(&self, _theta: &[f32], _dtheta: &mut [f32]) {}
}
