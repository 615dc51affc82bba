//! Dendritic PLRNNs on lanes:  g_m = Σ_b α_b [φ(z_m − H_mb) − φ(z_m)], the second term only if clipped.
//!
//! Every basis has a row of z less its threshold; slopes and thresholds are broadcast.

use std::ops::Range;

use super::linear::Linear;
use super::rectified::Square;
use super::{Chunk, Factors, Kernel, Tape};
use crate::map::Dims;
use crate::map::dendritic::Clipping;
use crate::simd::{Groups, Lanes, Rows, Select, Simd, SimdBase, SimdFloat};
use crate::theta::Layout;

/// The kernel.
pub(crate) struct Dendritic {
    clipping: Clipping,
    bases: usize,
    linear: Linear,
    square: Square,
    slopes: Vec<f32>,
    thresholds: Vec<f32>,
    places: [Range<usize>; 2],
}

impl Dendritic {
    /// The same kernel with clipped bases, or not.
    pub(crate) fn clipped(self, clipping: Clipping) -> Dendritic {
        Dendritic { clipping, ..self }
    }

    /// What is subtracted from every basis: φ(z) if clipped.
    #[inline(always)]
    fn floor<S: Simd, V: SimdFloat<S, Element = f32>>(&self, simd: S, z: V) -> V {
        let zero = V::splat(simd, 0.0);
        match self.clipping {
            Clipping::Off => zero,
            Clipping::On => z.max(zero),
        }
    }

    /// The derivative of what is subtracted.
    #[inline(always)]
    fn floor_slope<S: Simd, V: SimdFloat<S, Element = f32>>(&self, simd: S, z: V) -> V {
        let zero = V::splat(simd, 0.0);
        match self.clipping {
            Clipping::Off => zero,
            Clipping::On => z.simd_gt(zero).select(V::splat(simd, 1.0), zero),
        }
    }

    /// The thresholds of state `m`.
    #[inline(always)]
    fn thresholds_of(&self, m: usize) -> &[f32] {
        &self.thresholds[m * self.bases..][..self.bases]
    }

    /// Adds some steps to the sums of one basis: Σ c (φ(z − h) − floor) and Σ c 1[z > h].
    #[inline(always)]
    fn accumulate_basis<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (z, c): (Rows<'_, P>, Rows<'_, P>),
        (m, b): (usize, usize),
        sums: &mut [P],
    ) {
        let zero = P::Vector::splat(simd, 0.0);
        let h = P::Vector::splat(simd, self.thresholds_of(m)[b]);
        let (mut basis, mut open) = (sums[0].load(simd), sums[1].load(simd));
        for (z, c) in z.feature(m).zip(c.feature(m)) {
            let (z, c) = (z.load(simd), c.load(simd));
            basis = ((z - h).max(zero) - self.floor(simd, z)).mul_add(c, basis);
            open += z.simd_gt(h).select(c, zero);
        }
        sums[0].store(basis);
        sums[1].store(open);
    }

    /// The slope of the spline of state m at z.
    #[inline(always)]
    fn slope<S: Simd, P: Lanes>(&self, simd: S, z: P::Vector<S>, m: usize) -> P::Vector<S> {
        let (zero, one) = (P::Vector::splat(simd, 0.0), P::Vector::splat(simd, 1.0));
        let floor = self.floor_slope(simd, z);
        let mut sum = zero;
        for (&slope, &h) in self.slopes.iter().zip(self.thresholds_of(m)) {
            let open = z.simd_gt(P::Vector::splat(simd, h)).select(one, zero);
            sum = P::Vector::splat(simd, slope).mul_add(open - floor, sum);
        }
        sum
    }

    /// Where the sums of a basis stand among the running sums.
    #[inline(always)]
    fn sums_of(&self, m: usize, b: usize) -> Range<usize> {
        let first = self.square.running_sums() + 2 * (m * self.bases + b);
        first..first + 2
    }
}

impl Kernel for Dendritic {
    type Units<P: Lanes> = P;

    fn new<P: Lanes>(dims: Dims, layout: &Layout) -> Dendritic {
        Dendritic {
            clipping: Clipping::Off,
            bases: dims.hidden,
            linear: Linear::new(dims, layout, "h"),
            square: Square::new(dims.latent, layout),
            slopes: vec![0.0; dims.hidden],
            thresholds: vec![0.0; dims.latent * dims.hidden],
            places: [layout.range("slopes"), layout.range("thresholds")],
        }
    }

    fn units(&self) -> usize {
        self.square.width()
    }

    fn prepare(&mut self, theta: &[f32]) {
        let [slopes, thresholds] = self.places.clone();
        self.linear.prepare(theta);
        self.square.prepare(theta);
        self.slopes.copy_from_slice(&theta[slopes]);
        self.thresholds.copy_from_slice(&theta[thresholds]);
    }

    #[inline(always)]
    fn step<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (z, s): (&[P], &[P]),
        g: &mut [P],
        emit: impl FnMut(usize, P::Vector<S>),
    ) {
        let zero = P::Vector::splat(simd, 0.0);
        for (m, (g, z)) in g.iter_mut().zip(z).enumerate() {
            let z = z.load(simd);
            let floor = self.floor(simd, z);
            let mut sum = zero;
            for (&slope, &h) in self.slopes.iter().zip(self.thresholds_of(m)) {
                let basis = (z - P::Vector::splat(simd, h)).max(zero) - floor;
                sum = P::Vector::splat(simd, slope).mul_add(basis, sum);
            }
            g.store(sum);
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
        (z, _): (&[P], &[P]),
        d: &[P],
        q: &mut [P],
        mut emit: impl FnMut(usize, P::Vector<S>),
    ) {
        self.square.pull_back(simd, d, q);
        for (m, (z, q)) in z.iter().zip(q.iter()).enumerate() {
            let slope = self.slope::<S, P>(simd, z.load(simd), m);
            emit(
                m,
                slope.mul_add(q.load(simd), self.linear.pulled_entry(simd, d, m)),
            );
        }
    }

    #[inline(always)]
    fn slopes<S: Simd, P: Lanes>(&self, simd: S, z: &[P], slopes: &mut [P]) {
        for (m, (slope, z)) in slopes.iter_mut().zip(z).enumerate() {
            slope.store(self.slope::<S, P>(simd, z.load(simd), m));
        }
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

    /// dW, then two sums a basis.
    fn sums_a_unit(&self) -> usize {
        self.square.width() + 2 * self.bases
    }

    #[inline(always)]
    fn accumulate<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut Tape<P>,
        chunk: Chunk,
        groups: &mut Groups<'_>,
    ) {
        let (dim, steps) = (self.square.width(), &chunk.steps);
        self.square.accumulate(simd, tape, &chunk, groups);
        self.linear.accumulate(simd, tape, &chunk, groups);
        let Tape { z, q, sums, .. } = tape;
        if chunk.is_first() {
            let first = self.square.running_sums();
            sums[first..][..2 * dim * self.bases].fill(P::ZERO);
        }
        let at = (
            Rows::new(&z[steps.start * dim..steps.end * dim], dim),
            q.rows(0..steps.len()),
        );
        for (m, b) in (0..dim).flat_map(|m| (0..self.bases).map(move |b| (m, b))) {
            self.accumulate_basis(simd, at, (m, b), &mut sums[self.sums_of(m, b)]);
        }
    }

    /// dα_b = Σ_m Σ c (φ(z − h) − floor), summed over the states in order, and dH_mb = −α_b Σ c 1[z > h].
    #[inline(always)]
    fn gradient<S: Simd, P: Lanes>(&self, simd: S, tape: &Tape<P>, groups: &mut Groups<'_>) {
        self.linear.gradient(simd, tape, groups);
        let [slopes, thresholds] = self.places.clone();
        for b in 0..self.bases {
            let mut dslope = [0.0; 2];
            for m in 0..self.square.width() {
                let sums = &tape.sums[self.sums_of(m, b)];
                let basis = P::group_sums(sums[0].load(simd));
                let open = sums[1].load(simd) * P::Vector::splat(simd, -self.slopes[b]);
                dslope = [dslope[0] + basis[0], dslope[1] + basis[1]];
                groups.put(thresholds.start + m * self.bases + b, P::group_sums(open));
            }
            groups.put(slopes.start + b, dslope);
        }
    }

    fn finish(&self, _theta: &[f32], _dtheta: &mut [f32]) {}
}
