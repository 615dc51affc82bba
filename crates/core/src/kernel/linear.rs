//! The linear part that all maps share:  A∘z + h + C s.

use std::ops::Range;

use super::{Chunk, Tape};
use crate::map::Dims;
use crate::simd::{
    Groups, Lanes, Place, Rows, Simd, SimdBase, SimdFloat, Whole, gram_diagonal, lane_sums,
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

    /// A.
    pub(super) fn a(&self) -> &[f32] {
        &self.a
    }

    /// Entry i of A∘z + h + C s.
    #[inline(always)]
    pub(super) fn entry<S: Simd, P: Lanes>(
        &self,
        simd: S,
        z: &[P],
        s: &[P],
        i: usize,
    ) -> P::Vector<S> {
        let constant = P::Vector::splat(simd, self.h[i]);
        let mut sum = P::Vector::splat(simd, self.a[i]).mul_add(z[i].load(simd), constant);
        for (&c, s) in self.c[i * s.len()..].iter().zip(s) {
            sum = P::Vector::splat(simd, c).mul_add(s.load(simd), sum);
        }
        sum
    }

    /// Entry i of A∘d.
    #[inline(always)]
    pub(super) fn pulled_entry<S: Simd, P: Lanes>(
        &self,
        simd: S,
        d: &[P],
        i: usize,
    ) -> P::Vector<S> {
        P::Vector::splat(simd, self.a[i]) * d[i].load(simd)
    }

    /// Adds a chunk to dC = Σ d sᵀ.
    #[inline(always)]
    pub(super) fn accumulate<S: Simd, P: Lanes, Q>(
        &self,
        simd: S,
        tape: &mut Tape<P, Q>,
        chunk: &Chunk,
        groups: &mut Groups<'_>,
    ) {
        let Dims { latent, inputs, .. } = self.dims;
        if inputs > 0 {
            let steps = &chunk.steps;
            let s = &tape.s[steps.start * inputs..steps.end * inputs];
            let d = &tape.d[steps.start * latent..steps.end * latent];
            let place = Place {
                start: self.places[2].start,
                row: 1,
                col: inputs,
            };
            let pair = (Rows::new(s, inputs), Rows::new(d, latent));
            chunk.gram(simd, pair, &mut tape.input_sums, Whole::new(place, groups));
        }
    }

    /// dA = Σ d∘z and dh = Σ d.
    #[inline(always)]
    pub(super) fn gradient<S: Simd, P: Lanes, Q>(
        &self,
        simd: S,
        tape: &Tape<P, Q>,
        groups: &mut Groups<'_>,
    ) {
        let latent = self.dims.latent;
        let [a, h, _] = self.places.clone();
        gram_diagonal(simd, latent, (&tape.d, &tape.z), a.start, groups);
        lane_sums(simd, latent, &tape.d, h.start, groups);
    }
}
