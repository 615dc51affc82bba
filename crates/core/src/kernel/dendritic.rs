//! Dendritic PLRNNs on lanes: a linear spline g_m of every state, then W g. [`Splines`] has the splines.

use std::ops::Range;

use super::linear::Linear;
use super::rectified::Square;
use super::splines::Splines;
use super::{At, Chunk, Factors, Kernel, Left, Tape};
use crate::map::Dims;
use crate::map::dendritic::Clipping;
use crate::simd::{Groups, Lanes, Rows, Simd, SimdFloat};
use crate::theta::Layout;

/// The kernel.
pub(crate) struct Dendritic {
    linear: Linear,
    square: Square,
    splines: Splines,
    /// Of slopes and thresholds in θ.
    places: [Range<usize>; 2],
}

impl Dendritic {
    /// The same kernel with clipped bases, or not.
    pub(crate) fn clipped(self, clipping: Clipping) -> Dendritic {
        Dendritic {
            splines: self.splines.clipped(clipping),
            ..self
        }
    }
}

impl Kernel for Dendritic {
    type Units<P: Lanes> = P;

    /// Its slope, and which piece of its spline it is on.
    const MARKS_A_UNIT: usize = 2;

    fn new<P: Lanes>(dims: Dims, layout: &Layout) -> Dendritic {
        Dendritic {
            linear: Linear::new(dims, layout, "h"),
            square: Square::new(dims.latent, layout),
            splines: Splines::new(dims.latent, dims.hidden, Clipping::Off),
            places: [layout.range("slopes"), layout.range("thresholds")],
        }
    }

    fn units(&self) -> usize {
        self.square.width()
    }

    #[inline(always)]
    fn prepare<S: Simd>(&mut self, _simd: S, theta: &[f32]) {
        let [slopes, thresholds] = self.places.clone();
        self.linear.prepare(theta);
        self.square.prepare(theta);
        self.splines.prepare(&theta[slopes], &theta[thresholds]);
    }

    #[inline(always)]
    fn step<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (z, s): (&[P], &[P]),
        Left { g, marks }: Left<'_, P>,
        emit: impl FnMut(usize, P::Vector<S>),
    ) {
        let (slopes, places) = marks.split_at_mut(z.len());
        self.splines
            .look_up(simd, z, (&mut *slopes, &mut *g, places));
        for ((g, slope), z) in g.iter_mut().zip(slopes).zip(z) {
            let offset = g.load(simd);
            g.store(slope.load(simd).mul_add(z.load(simd), -offset));
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
        At { marks, .. }: At<'_, P, P>,
        d: &[P],
        q: &mut [P],
        mut emit: impl FnMut(usize, P::Vector<S>),
    ) {
        self.square.pull_back(simd, d, q);
        for (m, (slope, q)) in marks.iter().zip(&*q).enumerate() {
            let pulled = self.linear.pulled_entry(simd, d, m);
            emit(m, slope.load(simd).mul_add(q.load(simd), pulled));
        }
    }

    #[inline(always)]
    fn slopes<S: Simd, P: Lanes>(&self, simd: S, z: &[P], slopes: &mut [P]) {
        self.splines.slopes(simd, z, slopes);
    }

    /// A unit sees its own state.
    fn factors(&self, theta: &[f32], factors: &mut Factors) {
        let dim = self.square.width();
        factors.a.copy_from_slice(self.linear.a());
        self.square.columns(theta, &mut factors.weights);
        for (i, entry) in factors.directions.iter_mut().enumerate() {
            *entry = f32::from(u8::from(i / dim == i % dim));
        }
    }

    /// dW, then the sums of the spline.
    fn sums_a_unit(&self) -> usize {
        self.square.width() + self.splines.sums_a_state()
    }

    #[inline(always)]
    fn accumulate<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut Tape<P>,
        chunk: Chunk,
        groups: &mut Groups<'_>,
    ) {
        let (dim, steps) = (self.square.width(), chunk.steps.clone());
        self.square.accumulate(simd, tape, &chunk, groups);
        self.linear.accumulate(simd, tape, &chunk, groups);
        let Tape {
            z, marks, q, sums, ..
        } = tape;
        let z = Rows::new(&z[steps.start * dim..steps.end * dim], dim);
        let (c, marks) = (q.rows(0..steps.len()), marks.rows(steps));
        let sums = &mut sums[self.square.running_sums()..];
        if chunk.is_first() {
            sums.fill(P::ZERO);
        }
        let states = sums.chunks_exact_mut(self.splines.sums_a_state());
        for (m, sums) in states.enumerate() {
            self.splines.accumulate(simd, m, [z, c, marks], sums);
        }
    }

    #[inline(always)]
    fn gradient<S: Simd, P: Lanes>(&self, simd: S, tape: &Tape<P>, groups: &mut Groups<'_>) {
        self.linear.gradient(simd, tape, groups);
        let sums = &tape.sums[self.square.running_sums()..];
        self.splines
            .gradient(simd, sums, self.places.clone(), groups);
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _simd: S, _theta: &[f32], _dtheta: &mut [f32]) {}
}
