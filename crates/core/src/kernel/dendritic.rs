//! Dendritic PLRNNs on lanes:  g_m = Σ_b α_b [φ(z_m − H_mb) − φ(z_m)], the second term only if clipped.
//!
//! Every basis has a row of z less its threshold; slopes and thresholds are broadcast.

use std::ops::Range;

use super::linear::Linear;
use super::rectified::Square;
use super::{Kernel, Tape};
use crate::map::Dims;
use crate::map::dendritic::Clipping;
use crate::simd::{Groups, Lanes, Select, Simd, SimdBase, SimdFloat};
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

    /// (dα_b, dH_mb) of one basis over a sweep: Σ c (φ(z − h) − floor) and −α Σ c 1[z > h].
    #[inline(always)]
    fn basis_gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &Tape<P>,
        m: usize,
        b: usize,
    ) -> ([f32; 2], [f32; 2]) {
        let dim = self.square.width();
        let zero = P::Vector::splat(simd, 0.0);
        let h = P::Vector::splat(simd, self.thresholds_of(m)[b]);
        let (mut dslope, mut open) = (zero, zero);
        for (z, c) in tape.z[m..]
            .iter()
            .step_by(dim)
            .zip(tape.q[m..].iter().step_by(dim))
        {
            let (z, c) = (z.load(simd), c.load(simd));
            dslope = ((z - h).max(zero) - self.floor(simd, z)).mul_add(c, dslope);
            open += z.simd_gt(h).select(c, zero);
        }
        let dthreshold = open * P::Vector::splat(simd, -self.slopes[b]);
        (P::group_sums(dslope), P::group_sums(dthreshold))
    }
}

impl Kernel for Dendritic {
    fn new(dims: Dims, layout: &Layout) -> Dendritic {
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
    fn step<S: Simd, P: Lanes>(&self, simd: S, z: &[P], s: &[P], g: &mut [P], next: &mut [P]) {
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
        for (m, (dz, (z, q))) in dz.iter_mut().zip(at.0.iter().zip(q.iter())).enumerate() {
            let z = z.load(simd);
            let floor = self.floor_slope(simd, z);
            let mut slope_sum = zero;
            for (&slope, &h) in self.slopes.iter().zip(self.thresholds_of(m)) {
                let open = z
                    .simd_gt(P::Vector::splat(simd, h))
                    .select(P::Vector::splat(simd, 1.0), zero);
                slope_sum = P::Vector::splat(simd, slope).mul_add(open - floor, slope_sum);
            }
            dz.store(slope_sum * q.load(simd));
        }
        self.linear.pull_back(simd, d, dz);
    }

    /// The slopes are shared by all states: their gradient is summed over the states, in order.
    #[inline(always)]
    fn gradient<S: Simd, P: Lanes>(&self, simd: S, tape: &Tape<P>, groups: &mut Groups<'_>) {
        self.linear.gradient(simd, tape, groups);
        self.square.gradient(simd, tape, groups);
        let [slopes, thresholds] = self.places.clone();
        for b in 0..self.bases {
            let mut dslope = [0.0; 2];
            for m in 0..self.square.width() {
                let (slope, threshold) = self.basis_gradient(simd, tape, m, b);
                dslope = [dslope[0] + slope[0], dslope[1] + slope[1]];
                groups.put(thresholds.start + m * self.bases + b, threshold);
            }
            groups.put(slopes.start + b, dslope);
        }
    }

    fn finish(&self, _theta: &[f32], _dtheta: &mut [f32]) {}
}
