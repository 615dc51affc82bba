//! PLRNN and mean-centred PLRNN on lanes:  g = φ(Cz).

use std::ops::Range;

use super::linear::Linear;
use super::{At, Chunk, Factors, Kernel, Left, Tape};
use crate::map::Dims;
use crate::map::plrnn::Centring;
use crate::simd::{Groups, Lanes, Packed, Place, Rows, Select, Simd, SimdBase, Whole, multiply};
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
        let w = &theta[self.place.clone()];
        self.w.fill_rows(w);
        self.w_transposed.fill_columns(w);
    }

    /// Emits every entry of W g + linear(i).
    #[inline(always)]
    pub(super) fn step<S: Simd, P: Lanes>(
        &self,
        simd: S,
        g: &[P],
        linear: impl Fn(usize) -> P::Vector<S>,
        mut emit: impl FnMut(usize, P::Vector<S>),
    ) {
        multiply(
            simd,
            &self.w,
            g,
            #[inline(always)]
            |i, sum| emit(i, sum + linear(i)),
        );
    }

    /// q = Wᵀ d.
    #[inline(always)]
    pub(super) fn pull_back<S: Simd, P: Lanes>(&self, simd: S, d: &[P], q: &mut [P]) {
        multiply(
            simd,
            &self.w_transposed,
            d,
            #[inline(always)]
            |i, sum| q[i].store(sum),
        );
    }

    /// The columns of W.
    pub(super) fn columns(&self, theta: &[f32], columns: &mut [f32]) {
        let (w, dim) = (&theta[self.place.clone()], self.dim);
        for (u, column) in columns.chunks_exact_mut(dim).enumerate() {
            (0..dim).for_each(|m| column[m] = w[m * dim + u]);
        }
    }

    /// Room for dW.
    pub(super) fn running_sums(&self) -> usize {
        self.dim * self.dim
    }

    /// Adds a chunk to dW, which stands at the start of the running sums.
    #[inline(always)]
    pub(super) fn accumulate<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut Tape<P>,
        chunk: &Chunk,
        groups: &mut Groups<'_>,
    ) {
        let (dim, steps) = (self.dim, chunk.steps.clone());
        let d = Rows::new(&tape.d[steps.start * dim..steps.end * dim], dim);
        let place = Place {
            start: self.place.start,
            row: dim,
            col: 1,
        };
        let (g, sums) = (tape.g.rows(steps), &mut tape.sums[..dim * dim]);
        chunk.gram(simd, (d, g), sums, Whole::new(place, groups));
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
    type Units<P: Lanes> = P;

    fn new<P: Lanes>(dims: Dims, layout: &Layout) -> Rectified {
        Rectified {
            centring: Centring::None,
            linear: Linear::new(dims, layout, "h"),
            square: Square::new(dims.latent, layout),
        }
    }

    fn units(&self) -> usize {
        self.square.width()
    }

    #[inline(always)]
    fn prepare<S: Simd>(&mut self, _simd: S, theta: &[f32]) {
        self.linear.prepare(theta);
        self.square.prepare(theta);
    }

    #[inline(always)]
    fn step<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (z, s): (&[P], &[P]),
        Left { g, .. }: Left<'_, P>,
        emit: impl FnMut(usize, P::Vector<S>),
    ) {
        let offset = self.offset(simd, z);
        let zero = P::Vector::splat(simd, 0.0);
        for (g, z) in g.iter_mut().zip(z) {
            g.store((z.load(simd) - offset).max(zero));
        }
        self.square.step(
            simd,
            g,
            #[inline(always)]
            |i| self.linear.entry(simd, z, s, i),
            emit,
        );
    }

    #[inline(always)]
    fn pull_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        At { g, .. }: At<'_, P, P>,
        d: &[P],
        q: &mut [P],
        mut emit: impl FnMut(usize, P::Vector<S>),
    ) {
        self.square.pull_back(simd, d, q);
        let zero = P::Vector::splat(simd, 0.0);
        for (q, g) in q.iter_mut().zip(g) {
            q.store(g.load(simd).simd_gt(zero).select(q.load(simd), zero));
        }
        let offset = self.offset(simd, q);
        for (i, q) in q.iter().enumerate() {
            emit(
                i,
                q.load(simd) - offset + self.linear.pulled_entry(simd, d, i),
            );
        }
    }

    #[inline(always)]
    fn slopes<S: Simd, P: Lanes>(&self, simd: S, z: &[P], slopes: &mut [P]) {
        let offset = self.offset(simd, z);
        let (zero, one) = (P::Vector::splat(simd, 0.0), P::Vector::splat(simd, 1.0));
        for (slope, z) in slopes.iter_mut().zip(z) {
            slope.store((z.load(simd) - offset).simd_gt(zero).select(one, zero));
        }
    }

    /// A unit sees its own state, less the mean of all if they are centred.
    fn factors(&self, theta: &[f32], factors: &mut Factors) {
        let dim = self.square.width();
        factors.a.copy_from_slice(self.linear.a());
        self.square.columns(theta, &mut factors.weights);
        let mean = match self.centring {
            Centring::None => 0.0,
            Centring::Mean => 1.0 / dim as f32,
        };
        for (i, entry) in factors.directions.iter_mut().enumerate() {
            *entry = f32::from(u8::from(i / dim == i % dim)) - mean;
        }
    }

    fn sums_a_unit(&self) -> usize {
        self.square.width()
    }

    #[inline(always)]
    fn accumulate<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut Tape<P>,
        chunk: Chunk,
        groups: &mut Groups<'_>,
    ) {
        self.square.accumulate(simd, tape, &chunk, groups);
        self.linear.accumulate(simd, tape, &chunk, groups);
    }

    #[inline(always)]
    fn gradient<S: Simd, P: Lanes>(&self, simd: S, tape: &Tape<P>, groups: &mut Groups<'_>) {
        self.linear.gradient(simd, tape, groups);
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _simd: S, _theta: &[f32], _dtheta: &mut [f32]) {}
}
