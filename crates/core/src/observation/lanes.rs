//! Observation models on lanes of f32: teacher signals, residuals, and their gradients.

use std::ops::Range;

use super::{Observation, ObservationKind, PseudoInverse};
use crate::simd::{
    Groups, Lanes, Packed, Place, Rows, Simd, SimdBase, SimdFloat, Whole, gram_whole, lane_sums,
    multiply_many,
};
use crate::theta::Layout;

/// An observation model, prepared once an update.
pub(crate) struct ObservationLanes {
    model: Observation,
    b: Packed,
    b_transposed: Packed,
    inference: Packed,
    /// For observations of which some are missing.
    inference_transposed: Packed,
    offset: Vec<f32>,
    bias: Vec<f32>,
    pinv: PseudoInverse,
    places: [Range<usize>; 3],
    p_bar: Vec<f64>,
}

/// The residuals of a sweep, T steps.
#[derive(Debug, Clone)]
pub(crate) struct Residuals<P> {
    /// c (x̂ − x), T × N; zero in unused lanes.
    pub(crate) e: Vec<P>,
    /// Its pull-back to the latent state, T × M.
    pub(crate) r: Vec<P>,
    /// Σ (x̂ − x)² by lane.
    pub(crate) squares: P,
}

impl<P: Lanes> Residuals<P> {
    pub(crate) fn new(model: Observation, window: usize) -> Residuals<P> {
        Residuals {
            e: vec![P::ZERO; window * model.dim_obs],
            r: vec![P::ZERO; window * model.latent],
            squares: P::ZERO,
        }
    }
}

impl ObservationLanes {
    pub(crate) fn new<P: Lanes>(model: Observation, layout: &Layout) -> ObservationLanes {
        let (n, m) = (model.dim_obs, model.latent);
        ObservationLanes {
            model,
            b: Packed::for_many::<P>(n, m),
            b_transposed: Packed::for_many::<P>(m, n),
            inference: Packed::for_many::<P>(m, n),
            inference_transposed: Packed::for_many::<P>(n, m),
            offset: vec![0.0; m],
            bias: vec![0.0; n],
            pinv: PseudoInverse::new(n, m),
            places: [layout.range("L"), layout.range("B"), layout.range("b")],
            p_bar: vec![0.0; m * n],
        }
    }

    /// Entries beyond θ that a gradient carries: P̄ (M × N) and the sum of the initial states' cotangents (M).
    pub(crate) fn extra(&self) -> usize {
        match self.model.kind {
            ObservationKind::Identity => 0,
            _ => self.model.latent * (self.model.dim_obs + 1),
        }
    }

    fn is_identity(&self) -> bool {
        self.model.kind == ObservationKind::Identity
    }

    /// Takes θ, once an update.
    pub(crate) fn prepare(&mut self, theta: &[f32]) {
        let n = self.model.dim_obs;
        let [l, b, bias] = self.places.clone();
        if self.is_identity() {
            let l = &theta[l];
            let unit = |row: usize, col: usize| f32::from(u8::from(row == col));
            self.inference.fill(|row, col| {
                if row < n {
                    unit(row, col)
                } else {
                    l[(row - n) * n + col]
                }
            });
            return;
        }
        let b = &theta[b];
        self.b.fill_rows(b);
        self.b_transposed.fill_columns(b);
        self.pinv.prepare(b);
        let p = self.pinv.matrix();
        self.inference.fill(|row, col| p[row * n + col] as f32);
        if !bias.is_empty() {
            self.bias.copy_from_slice(&theta[bias]);
            for (row, offset) in p.chunks_exact(n).zip(&mut self.offset) {
                let product: f64 = row
                    .iter()
                    .zip(&self.bias)
                    .map(|(p, &b)| p * f64::from(b))
                    .sum();
                *offset = -product as f32;
            }
        }
    }

    /// P (x − b), all M states, for one or several observations.
    #[inline(always)]
    pub(crate) fn infer<S: Simd, P: Lanes>(&self, simd: S, x: &[P], z: &mut [P]) {
        multiply_many(simd, &self.inference, x, z);
        self.add_constant(simd, &self.offset, z);
    }

    /// The teacher signals of all observations, as many states as are forced.
    #[inline(always)]
    pub(crate) fn teachers<S: Simd, P: Lanes>(&self, simd: S, x: &[P], teachers: &mut [P]) {
        if self.is_identity() {
            teachers.copy_from_slice(x);
        } else {
            self.infer(simd, x, teachers);
        }
    }

    /// Takes θ for [`ObservationLanes::fill_back`], after [`ObservationLanes::prepare`].
    pub(crate) fn prepare_for_missing(&mut self) {
        if !self.is_identity() {
            let (p, n) = (self.pinv.matrix(), self.model.dim_obs);
            self.inference_transposed
                .fill(|row, col| p[col * n + row] as f32);
        }
    }

    /// Puts what the model sees at z in the place of what is missing of x, then infers the teacher signal.
    #[inline(always)]
    pub(crate) fn fill<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (z, mask): (&[P], &[P]),
        x: &mut [P],
        room: &mut [P],
        teacher: &mut [P],
    ) {
        self.observe(simd, z, room);
        for ((x, x_hat), mask) in x.iter_mut().zip(room).zip(mask) {
            // 0 or 1, so that this is exact.
            let mask = mask.load(simd);
            let missing = P::Vector::splat(simd, 1.0) - mask;
            x.store(missing * x_hat.load(simd) + mask * x.load(simd));
        }
        self.teachers(simd, x, teacher);
    }

    /// The pull-back of [`ObservationLanes::fill`]: from a teacher signal's cotangent to that of what was filled in (N),
    /// and on to the state (M).
    #[inline(always)]
    pub(crate) fn fill_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (dteacher, mask): (&[P], &[P]),
        filled: &mut [P],
        dz: &mut [P],
    ) {
        let n = self.model.dim_obs;
        if self.is_identity() {
            filled.copy_from_slice(&dteacher[..n]);
        } else {
            multiply_many(simd, &self.inference_transposed, dteacher, filled);
        }
        for (d, mask) in filled.iter_mut().zip(mask) {
            d.store((P::Vector::splat(simd, 1.0) - mask.load(simd)) * d.load(simd));
        }
        dz.fill(P::ZERO);
        self.pull_back(simd, filled, dz);
    }

    /// e = weight∘(x̂ − x) and r = Bᵀ e for states z (T × M) and targets x (T × N); weight is c, or 0 in unused lanes.
    #[inline(always)]
    pub(crate) fn residuals<S: Simd, P: Lanes>(
        &self,
        simd: S,
        z: &[P],
        x: &[P],
        weight: &P,
        to: &mut Residuals<P>,
    ) {
        self.observe(simd, z, &mut to.e);
        let weight = weight.load(simd);
        // Four sums side by side, so that they do not wait for one another.
        let mut squares = [P::Vector::splat(simd, 0.0); 4];
        for (e, x) in to.e.chunks_mut(4).zip(x.chunks(4)) {
            for (square, (e, x)) in squares.iter_mut().zip(e.iter_mut().zip(x)) {
                let difference = e.load(simd) - x.load(simd);
                *square = difference.mul_add(difference, *square);
                e.store(weight * difference);
            }
        }
        let [a, b, c, d] = squares;
        to.squares.store((a + b) + (c + d));
        self.pull_back(simd, &to.e, &mut to.r);
    }

    /// x̂ = B z + b for every state.
    #[inline(always)]
    pub(crate) fn observe<S: Simd, P: Lanes>(&self, simd: S, z: &[P], x_hat: &mut [P]) {
        let (n, m) = (self.model.dim_obs, self.model.latent);
        if self.is_identity() {
            for (x_hat, z) in x_hat.chunks_exact_mut(n).zip(z.chunks_exact(m)) {
                x_hat.copy_from_slice(&z[..n]);
            }
        } else {
            multiply_many(simd, &self.b, z, x_hat);
            self.add_constant(simd, &self.bias, x_hat);
        }
    }

    /// y ← y + constant in every row, where the model has a bias.
    #[inline(always)]
    fn add_constant<S: Simd, P: Lanes>(&self, simd: S, constant: &[f32], y: &mut [P]) {
        if self.model.kind == ObservationKind::LinearWithBias {
            for row in y.chunks_exact_mut(constant.len()) {
                for (y, &c) in row.iter_mut().zip(constant) {
                    y.store(y.load(simd) + P::Vector::splat(simd, c));
                }
            }
        }
    }

    /// r = Bᵀ e for every residual.
    #[inline(always)]
    fn pull_back<S: Simd, P: Lanes>(&self, simd: S, e: &[P], r: &mut [P]) {
        let (n, m) = (self.model.dim_obs, self.model.latent);
        if self.is_identity() {
            for (r, e) in r.chunks_exact_mut(m).zip(e.chunks_exact(n)) {
                r[..n].copy_from_slice(e);
            }
        } else {
            multiply_many(simd, &self.b_transposed, e, r);
        }
    }

    /// dB = Σ e zᵀ, db = Σ e from the residuals of states z.
    #[inline(always)]
    pub(crate) fn gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (z, e): (&[P], &[P]),
        groups: &mut Groups<'_>,
    ) {
        if self.is_identity() {
            return;
        }
        let (n, m) = (self.model.dim_obs, self.model.latent);
        let [_, b, bias] = self.places.clone();
        let place = Place {
            start: b.start,
            row: 1,
            col: m,
        };
        let pair = (Rows::new(z, m), Rows::new(e, n));
        gram_whole(simd, pair, Whole::new(place, groups));
        if !bias.is_empty() {
            lane_sums(simd, n, e, bias.start, groups);
        }
    }

    /// From cotangents d of inferred states (steps × M) and their observations x (steps × N): dL of the identity;
    /// P̄ and Σ d, behind θ, of a linear model.
    #[inline(always)]
    pub(crate) fn infer_gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (d, x): (&[P], &[P]),
        (behind, groups): (usize, &mut Groups<'_>),
    ) {
        let (n, m) = (self.model.dim_obs, self.model.latent);
        if self.is_identity() {
            let place = Place {
                start: self.places[0].start,
                row: 1,
                col: n,
            };
            let pair = (Rows::new(x, n), Rows::new(&d[n..], m - n));
            gram_whole(simd, pair, Whole::new(place, groups));
        } else {
            let place = Place {
                start: behind,
                row: n,
                col: 1,
            };
            let pair = (Rows::new(d, m), Rows::new(x, n));
            gram_whole(simd, pair, Whole::new(place, groups));
            lane_sums(simd, m, d, behind + m * n, groups);
        }
    }

    /// Adds what the pseudo-inverse contributes to dθ, from what stands behind θ.
    pub(crate) fn finish(&mut self, behind: usize, dtheta: &mut [f32]) {
        if self.is_identity() {
            return;
        }
        let (n, m) = (self.model.dim_obs, self.model.latent);
        let [_, b, bias] = self.places.clone();
        let (dtheta, extra) = dtheta.split_at_mut(behind);
        let (p_bar, total) = extra.split_at(m * n);
        for (i, to) in self.p_bar.iter_mut().enumerate() {
            let offset = if bias.is_empty() {
                0.0
            } else {
                total[i / n] * self.bias[i % n]
            };
            *to = f64::from(p_bar[i] - offset);
        }
        self.pinv.pull_back(&self.p_bar, &mut dtheta[b]);
        if !bias.is_empty() {
            for (j, to) in dtheta[bias].iter_mut().enumerate() {
                let pulled: f64 = (0..m)
                    .map(|i| self.pinv.matrix()[i * n + j] * f64::from(total[i]))
                    .sum();
                *to -= pulled as f32;
            }
        }
    }
}
