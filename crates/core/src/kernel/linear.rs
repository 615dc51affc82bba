//! The linear part that all maps share:  A∘z + h + C s.

use std::ops::Range;

use super::Tape;
use crate::map::Dims;
use crate::simd::{
    Groups, Lanes, Place, Simd, SimdBase, SimdFloat, gram, gram_diagonal, lane_sums,
};
use crate::theta::Layout;

/// A, h and C.
#[derive(Debug, Clone)]
pub(super) struct Linear {
    dims: Dims,
    a: Vec<f32>,
    h: Vec<f32>,
    c: Vec<f32>,
    places: [Range<usize>; 3],
}

impl Linear {
    /// The linear part whose constant is the tensor named `h`.
    pub(super) fn new(dims: Dims, layout: &Layout, h: &str) -> Linear {
        Linear {
            dims,
            a: vec![0.0; dims.latent],
            h: vec![0.0; dims.latent],
            c: vec![0.0; dims.latent * dims.inputs],
            places: [layout.range("A"), layout.range(h), layout.range("C")],
        }
    }

    pub(super) fn prepare(&mut self, theta: &[f32]) {
        let [a, h, c] = self.places.clone();
        self.a.copy_from_slice(&theta[a]);
        self.h.copy_from_slice(&theta[h]);
        self.c.copy_from_slice(&theta[c]);
    }

    /// y ← y + A∘z + h + C s.
    #[inline(always)]
    pub(super) fn add<S: Simd, P: Lanes>(&self, simd: S, z: &[P], s: &[P], y: &mut [P]) {
        for ((y, z), (&a, &h)) in y.iter_mut().zip(z).zip(self.a.iter().zip(&self.h)) {
            let linear = P::Vector::splat(simd, a).mul_add(z.load(simd), P::Vector::splat(simd, h));
            y.store(y.load(simd) + linear);
        }
        for (i, y) in y
            .iter_mut()
            .enumerate()
            .take(if s.is_empty() { 0 } else { self.dims.latent })
        {
            let mut sum = y.load(simd);
            for (&c, s) in self.c[i * s.len()..].iter().zip(s) {
                sum = P::Vector::splat(simd, c).mul_add(s.load(simd), sum);
            }
            y.store(sum);
        }
    }

    /// dz ← dz + A∘d.
    #[inline(always)]
    pub(super) fn pull_back<S: Simd, P: Lanes>(&self, simd: S, d: &[P], dz: &mut [P]) {
        for ((dz, d), &a) in dz.iter_mut().zip(d).zip(&self.a) {
            dz.store(P::Vector::splat(simd, a).mul_add(d.load(simd), dz.load(simd)));
        }
    }

    /// dA = Σ d∘z, dh = Σ d, dC = Σ d sᵀ.
    #[inline(always)]
    pub(super) fn gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &Tape<P>,
        groups: &mut Groups<'_>,
    ) {
        let Dims { latent, inputs, .. } = self.dims;
        let [a, h, c] = self.places.clone();
        gram_diagonal(simd, latent, (&tape.d, &tape.z), a.start, groups);
        lane_sums(simd, latent, &tape.d, h.start, groups);
        if inputs > 0 {
            let place = Place {
                start: c.start,
                row: 1,
                col: inputs,
            };
            gram(simd, (&tape.s, inputs), (&tape.d, latent), place, groups);
        }
    }
}
