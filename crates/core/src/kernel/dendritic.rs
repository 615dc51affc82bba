//! Dendritic PLRNNs on lanes:  g_m = Σ_b α_b [φ(z_m − H_mb) − φ(z_m)], the second term only if clipped.
//!
//! Summed over the bases that are open, z_m > H_mb,
//!
//! ```text
//! slope_m = Σ_open α_b − 1[z_m > 0] Σ_b α_b  (the second term only if clipped)        offset_m = Σ_open α_b H_mb
//! ```
//!
//! and g_m = slope_m z_m − offset_m: a basis costs a comparison and two additions. So do the gradients. With sums of the
//! cotangents c over the steps at which a basis is open, dH_mb = −α_b Σ_open c and
//! dα_b = Σ_m (Σ_open c z − H_mb Σ_open c − Σ_t c φ(z)), the last term only if clipped. Where |z| is much larger than
//! |z − H| the differences lose as many digits as A∘z does.

use std::ops::Range;

use super::linear::Linear;
use super::rectified::Square;
use super::{Chunk, Factors, Kernel, Tape};
use crate::map::Dims;
use crate::map::dendritic::Clipping;
use crate::simd::{Groups, Lanes, Rows, Select, Simd, SimdBase, SimdFloat};
use crate::theta::Layout;

/// States, or bases, whose sums are added up side by side.
const ABREAST: usize = 4;

/// The kernel.
pub(crate) struct Dendritic {
    clipping: Clipping,
    bases: usize,
    linear: Linear,
    square: Square,
    slopes: Vec<f32>,
    thresholds: Vec<f32>,
    /// α_b H_mb.
    products: Vec<f32>,
    /// Σ α_b if clipped, 0 if not.
    clipped_slope: f32,
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

    /// Calls emit(m, slope_m, offset_m) for every state, some at a time, so that a sum does not wait for the addition before it.
    #[inline(always)]
    fn splines<S: Simd, P: Lanes>(
        &self,
        simd: S,
        z: &[P],
        mut emit: impl FnMut(usize, P::Vector<S>, P::Vector<S>),
    ) {
        let whole = z.len() - z.len() % ABREAST;
        for first in (0..whole).step_by(ABREAST) {
            self.some_splines::<S, P, ABREAST>(simd, (first, z), &mut emit);
        }
        for m in whole..z.len() {
            self.some_splines::<S, P, 1>(simd, (m, z), &mut emit);
        }
    }

    /// The same for R states from `first` on.
    #[inline(always)]
    fn some_splines<S: Simd, P: Lanes, const R: usize>(
        &self,
        simd: S,
        (first, z): (usize, &[P]),
        emit: &mut impl FnMut(usize, P::Vector<S>, P::Vector<S>),
    ) {
        let (bases, zero) = (self.bases, P::Vector::splat(simd, 0.0));
        let places = first * bases..(first + R) * bases;
        let (thresholds, products) = (&self.thresholds[places.clone()], &self.products[places]);
        let (mut at, mut slopes, mut offsets) = ([zero; R], [zero; R], [zero; R]);
        for (at, z) in at.iter_mut().zip(&z[first..]) {
            *at = z.load(simd);
        }
        for (b, &slope) in self.slopes.iter().enumerate() {
            let slope = P::Vector::splat(simd, slope);
            for r in 0..R {
                let open = at[r].simd_gt(P::Vector::splat(simd, thresholds[r * bases + b]));
                let product = P::Vector::splat(simd, products[r * bases + b]);
                slopes[r] = open.select(slopes[r] + slope, slopes[r]);
                offsets[r] = open.select(offsets[r] + product, offsets[r]);
            }
        }
        let clipped = P::Vector::splat(simd, self.clipped_slope);
        for r in 0..R {
            let above = at[r].simd_gt(zero).select(clipped, zero);
            emit(first + r, slopes[r] - above, offsets[r]);
        }
    }

    /// Adds some steps to the sums of R bases of state m from b on: Σ c and Σ c z where they are open.
    #[inline(always)]
    fn accumulate_bases<S: Simd, P: Lanes, const R: usize>(
        &self,
        simd: S,
        (z, c): (Rows<'_, P>, Rows<'_, P>),
        (m, b): (usize, usize),
        sums: &mut [P],
    ) {
        let zero = P::Vector::splat(simd, 0.0);
        let thresholds = &self.thresholds[m * self.bases + b..];
        let (mut h, mut sum, mut sum_z) = ([zero; R], [zero; R], [zero; R]);
        for r in 0..R {
            h[r] = P::Vector::splat(simd, thresholds[r]);
            sum[r] = sums[2 * r].load(simd);
            sum_z[r] = sums[2 * r + 1].load(simd);
        }
        for (z, c) in z.feature(m).zip(c.feature(m)) {
            let (z, c) = (z.load(simd), c.load(simd));
            let cz = c * z;
            for r in 0..R {
                let open = z.simd_gt(h[r]);
                sum[r] = open.select(sum[r] + c, sum[r]);
                sum_z[r] = open.select(sum_z[r] + cz, sum_z[r]);
            }
        }
        for r in 0..R {
            sums[2 * r].store(sum[r]);
            sums[2 * r + 1].store(sum_z[r]);
        }
    }

    /// Adds some steps to Σ c floor of state m.
    #[inline(always)]
    fn accumulate_floor<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (z, c): (Rows<'_, P>, Rows<'_, P>),
        m: usize,
        sum: &mut P,
    ) {
        let mut floors = sum.load(simd);
        for (z, c) in z.feature(m).zip(c.feature(m)) {
            floors = self.floor(simd, z.load(simd)).mul_add(c.load(simd), floors);
        }
        sum.store(floors);
    }

    /// Where the sums of a state's bases stand among the running sums, and behind them that of its floor.
    #[inline(always)]
    fn sums_of(&self, m: usize) -> Range<usize> {
        let first = self.square.running_sums() + m * self.sums_a_state();
        first..first + self.sums_a_state()
    }

    fn sums_a_state(&self) -> usize {
        2 * self.bases + 1
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
            products: vec![0.0; dims.latent * dims.hidden],
            clipped_slope: 0.0,
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
        self.slopes.copy_from_slice(&theta[slopes]);
        self.thresholds.copy_from_slice(&theta[thresholds]);
        let rows = self.products.chunks_exact_mut(self.bases);
        for (products, thresholds) in rows.zip(self.thresholds.chunks_exact(self.bases)) {
            for ((product, h), slope) in products.iter_mut().zip(thresholds).zip(&self.slopes) {
                *product = slope * h;
            }
        }
        // In the order of the open ones, so that the slope is exactly zero where all bases are open.
        self.clipped_slope = match self.clipping {
            Clipping::Off => 0.0,
            Clipping::On => self.slopes.iter().sum(),
        };
    }

    #[inline(always)]
    fn step<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (z, s): (&[P], &[P]),
        g: &mut [P],
        emit: impl FnMut(usize, P::Vector<S>),
    ) {
        self.splines(
            simd,
            z,
            #[inline(always)]
            |m, slope, offset| g[m].store(slope.mul_add(z[m].load(simd), -offset)),
        );
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
        self.splines(
            simd,
            z,
            #[inline(always)]
            |m, slope, _| {
                let pulled = self.linear.pulled_entry(simd, d, m);
                emit(m, slope.mul_add(q[m].load(simd), pulled));
            },
        );
    }

    #[inline(always)]
    fn slopes<S: Simd, P: Lanes>(&self, simd: S, z: &[P], slopes: &mut [P]) {
        self.splines(
            simd,
            z,
            #[inline(always)]
            |m, slope, _| slopes[m].store(slope),
        );
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

    /// dW, then two sums a basis and one of the floor.
    fn sums_a_unit(&self) -> usize {
        self.square.width() + self.sums_a_state()
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
        let at = (
            Rows::new(&z[steps.start * dim..steps.end * dim], dim),
            q.rows(0..steps.len()),
        );
        let whole = self.bases - self.bases % ABREAST;
        for m in 0..dim {
            let sums = &mut sums[self.sums_of(m)];
            if chunk.is_first() {
                sums.fill(P::ZERO);
            }
            for b in (0..whole).step_by(ABREAST) {
                self.accumulate_bases::<S, P, ABREAST>(simd, at, (m, b), &mut sums[2 * b..]);
            }
            for b in whole..self.bases {
                self.accumulate_bases::<S, P, 1>(simd, at, (m, b), &mut sums[2 * b..]);
            }
            self.accumulate_floor(simd, at, m, &mut sums[2 * self.bases]);
        }
    }

    /// Contributions to dα_b are summed over the states in order.
    #[inline(always)]
    fn gradient<S: Simd, P: Lanes>(&self, simd: S, tape: &Tape<P>, groups: &mut Groups<'_>) {
        self.linear.gradient(simd, tape, groups);
        let [slopes, thresholds] = self.places.clone();
        for b in 0..self.bases {
            let mut dslope = [0.0; 2];
            for m in 0..self.square.width() {
                let (place, sums) = (m * self.bases + b, &tape.sums[self.sums_of(m)]);
                let (sum, sum_z) = (sums[2 * b].load(simd), sums[2 * b + 1].load(simd));
                let h = P::Vector::splat(simd, self.thresholds[place]);
                let basis = (-h).mul_add(sum, sum_z) - sums[2 * self.bases].load(simd);
                let basis = P::group_sums(basis);
                dslope = [dslope[0] + basis[0], dslope[1] + basis[1]];
                let slope = P::Vector::splat(simd, -self.slopes[b]);
                groups.put(thresholds.start + place, P::group_sums(sum * slope));
            }
            groups.put(slopes.start + b, dslope);
        }
    }

    #[inline(always)]
    fn finish<S: Simd>(&self, _simd: S, _theta: &[f32], _dtheta: &mut [f32]) {}
}
