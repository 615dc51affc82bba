//! 𝒩 of a batch on lanes: Jacobians J_t = diag(A) + Σ_u slope_u(ẑ_t) w_u d_uᵀ at the teacher signals of 8 or 16 windows
//! side by side, and their norms.
//!
//! From one step to the next few units change their slope, so that J_t follows from J_{t−1} by as many products of a
//! column and a row. Its largest singular value is that of the power method on JᵀJ, started where that of J_{t−1}
//! ended. The mean Jacobian needs the mean slopes alone.

use crate::forcing::alpha::{Estimator, Jacobians, Norm};
use crate::kernel::{Factors, Kernel};
use crate::map::Dims;
use crate::observation::ObservationLanes;
use crate::simd::{Lanes, Simd, SimdBase, SimdFloat, SimdMask, Task};

use super::sweep::Sweep;

/// What an estimate works on.
pub(super) struct Estimation<P> {
    estimator: Estimator,
    dim: usize,
    factors: Factors,
    /// Slopes of the units that J has, U.
    slopes: Vec<P>,
    /// Mean slopes over a window, U.
    mean: Vec<P>,
    /// J, M × M.
    jac: Vec<P>,
    power: Power<P>,
    /// All Jacobians of a window in f64, for the logarithms alone.
    sequences: Vec<Vec<f64>>,
}

impl<P: Lanes> Estimation<P> {
    pub(super) fn new(estimator: Estimator, dims: Dims, kernel: &impl Kernel) -> Estimation<P> {
        let dim = dims.latent;
        Estimation {
            estimator,
            dim,
            factors: Factors::new(dims, kernel),
            slopes: vec![P::ZERO; kernel.units()],
            mean: vec![P::ZERO; kernel.units()],
            jac: vec![P::ZERO; dim * dim],
            power: Power::new(dim),
            sequences: vec![Vec::new(); P::WIDTH],
        }
    }

    /// Takes θ.
    pub(super) fn prepare(&mut self, kernel: &impl Kernel, theta: &[f32]) {
        kernel.factors(theta, &mut self.factors);
    }

    /// J ← diag(A), the Jacobian where all slopes are zero. Nothing is left of what other windows left here, so that
    /// the result does not depend on the threads' shares.
    fn restart(&mut self) {
        self.power.v.fill(P::ZERO);
        self.slopes.fill(P::ZERO);
        self.jac.fill(P::ZERO);
        for (i, &a) in self.factors.a.iter().enumerate() {
            self.jac[i * self.dim + i].lanes_mut().fill(a);
        }
    }

    /// J for new slopes; gives back whether it changed.
    fn follow<S: Simd>(&mut self, simd: S, slopes: &[P]) -> bool {
        simd.vectorize(
            #[inline(always)]
            || self.follow_inlined(simd, slopes),
        )
    }

    #[inline(always)]
    fn follow_inlined<S: Simd>(&mut self, simd: S, slopes: &[P]) -> bool {
        let mut changed = false;
        for (u, (before, slope)) in self.slopes.iter_mut().zip(slopes).enumerate() {
            let (old, new) = (before.load(simd), slope.load(simd));
            if old.simd_eq(new).all_true() {
                continue;
            }
            (changed, *before) = (true, *slope);
            let weights = &self.factors.weights[u * self.dim..][..self.dim];
            let direction = &self.factors.directions[u * self.dim..][..self.dim];
            for (row, &w) in self.jac.chunks_exact_mut(self.dim).zip(weights) {
                let step = (new - old) * P::Vector::splat(simd, w);
                for (jac, &d) in row.iter_mut().zip(direction) {
                    jac.store(step.mul_add(P::Vector::splat(simd, d), jac.load(simd)));
                }
            }
        }
        changed
    }
}

/// The slopes of the units at the state of every predicted row of a sweep that is loaded, in the place of their values.
pub(super) struct Slopes<'a, K, P> {
    pub(super) kernel: &'a K,
    pub(super) observation: &'a ObservationLanes,
    pub(super) sweep: &'a mut Sweep<P>,
}

impl<K: Kernel, P: Lanes> Task for Slopes<'_, K, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.sweep.states_of_data(simd, self.observation);
        let units = self.kernel.units();
        let (z, tape) = self.sweep.states_and_tape();
        let states = z.chunks_exact(z.len() * units / tape.g.len());
        for (z, slopes) in states.zip(tape.g.chunks_exact_mut(units)) {
            self.kernel.slopes(simd, z, slopes);
        }
    }
}

/// 𝒩 of the windows in the lanes of a sweep, once it has the slopes. It does not know the kernel, so that one copy
/// serves all.
pub(super) struct Estimate<'a, P> {
    pub(super) sweep: &'a Sweep<P>,
    pub(super) estimation: &'a mut Estimation<P>,
}

impl<P: Lanes> Task for Estimate<'_, P> {
    type Output = Norm;

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) -> Norm {
        match self.estimation.estimator {
            // It needs no data and is the map's own.
            Estimator::ParameterBound => unreachable!("the parameter bound needs no sweep"),
            Estimator::ArithmeticMean => largest(self.norm_of_mean(simd)),
            Estimator::BatchMaximum => largest(self.largest_norm(simd)),
            Estimator::ProductUpperBound => largest(self.mean_norm(simd)),
            Estimator::ExpLog => self.norm_of_logarithms(simd),
        }
    }
}

impl<P: Lanes> Estimate<'_, P> {
    fn units(&self) -> usize {
        self.estimation.slopes.len()
    }

    /// ‖mean_t J_t‖ by lane, from the mean slopes.
    #[inline(always)]
    fn norm_of_mean<S: Simd>(&mut self, simd: S) -> P {
        let units = self.units();
        let mut mean = std::mem::take(&mut self.estimation.mean);
        mean.fill(P::ZERO);
        let mut rows = P::Vector::splat(simd, 0.0);
        for (t, slopes) in self.sweep.tape.g.chunks_exact(units).enumerate() {
            let counted = self.sweep.counted(t).load(simd);
            rows += counted;
            for (mean, slope) in mean.iter_mut().zip(slopes) {
                mean.store(counted.mul_add(slope.load(simd), mean.load(simd)));
            }
        }
        let one = P::Vector::splat(simd, 1.0);
        let share = one / rows.max(one);
        for mean in &mut mean {
            mean.store(mean.load(simd) * share);
        }
        let estimation = &mut *self.estimation;
        estimation.restart();
        estimation.follow(simd, &mean);
        estimation.mean = mean;
        estimation.power.norm(simd, &estimation.jac)
    }

    /// max_t ‖J_t‖ by lane.
    #[inline(always)]
    fn largest_norm<S: Simd>(&mut self, simd: S) -> P {
        let mut largest = P::ZERO;
        self.walk(
            simd,
            #[inline(always)]
            |norm, counted| {
                let norm = norm.load(simd) * counted.load(simd);
                largest.store(largest.load(simd).max(norm));
            },
        );
        largest
    }

    /// exp(mean_t ln ‖J_t‖) by lane.
    #[inline(always)]
    fn mean_norm<S: Simd>(&mut self, simd: S) -> P {
        let mut sums = [(0.0f64, 0.0f64); WIDEST];
        self.walk(
            simd,
            #[inline(always)]
            |norm, counted| {
                for (lane, (sum, rows)) in sums[..P::WIDTH].iter_mut().enumerate() {
                    if counted.lanes()[lane] > 0.0 {
                        *sum += f64::from(norm.lanes()[lane]).ln();
                        *rows += 1.0;
                    }
                }
            },
        );
        let mut means = P::ZERO;
        for (mean, (sum, rows)) in means.lanes_mut().iter_mut().zip(sums) {
            *mean = if rows > 0.0 {
                (sum / rows).exp() as f32
            } else {
                0.0
            };
        }
        means
    }

    /// Calls `each` with ‖J_t‖ and whether the row counts, for every step.
    #[inline(always)]
    fn walk<S: Simd>(&mut self, simd: S, mut each: impl FnMut(&P, &P)) {
        let units = self.units();
        let mut norm = P::ZERO;
        self.estimation.restart();
        for (t, slopes) in self.sweep.tape.g.chunks_exact(units).enumerate() {
            if self.estimation.follow(simd, slopes) || t == 0 {
                let Estimation { power, jac, .. } = &mut *self.estimation;
                norm = power.norm(simd, jac);
            }
            each(&norm, self.sweep.counted(t));
        }
    }

    /// max ‖exp(mean_t ln J_t)‖ over the lanes, in f64.
    #[inline(always)]
    fn norm_of_logarithms<S: Simd>(&mut self, simd: S) -> Norm {
        let (units, dim) = (self.units(), self.estimation.dim);
        self.estimation.restart();
        let mut sequences = std::mem::take(&mut self.estimation.sequences);
        sequences.iter_mut().for_each(Vec::clear);
        for (t, slopes) in self.sweep.tape.g.chunks_exact(units).enumerate() {
            self.estimation.follow(simd, slopes);
            let counted = self.sweep.counted(t);
            for (lane, sequence) in sequences.iter_mut().enumerate() {
                if counted.lanes()[lane] > 0.0 {
                    let entries = self.estimation.jac.iter();
                    sequence.extend(entries.map(|jac| f64::from(jac.lanes()[lane])));
                }
            }
        }
        let known = sequences.iter().filter(|entries| !entries.is_empty());
        let norms = known.map(|entries| Jacobians::new(entries, dim).norm(Estimator::ExpLog));
        let all = norms.fold(Norm::default(), Norm::or_larger);
        self.estimation.sequences = sequences;
        all
    }
}

/// The largest norm of all lanes.
fn largest<P: Lanes>(norms: P) -> Norm {
    let kappa = norms.lanes().iter().copied().fold(0.0, f32::max);
    Norm {
        kappa: f64::from(kappa),
        fallbacks: 0,
    }
}

/// The power method on JᵀJ, lane by lane.
struct Power<P> {
    /// The right vector, M, where the last one ended.
    v: Vec<P>,
    /// J v, M.
    u: Vec<P>,
    /// What is mixed into a start, so that it is not orthogonal to the vector that is sought.
    start: Vec<f32>,
}

/// Of a start, how much is new.
const FRESH: f32 = 0.05;

/// A norm is found once what further rounds can add is below this share of it.
const PRECISION: f32 = 2e-5;

/// Additions below this share of a norm are rounding.
const ROUNDING: f32 = 5e-7;

/// Lanes of the widest vector.
const WIDEST: usize = 16;

/// The most rounds. Where these do not suffice, the two largest singular values are alike to one part in a thousand.
const ROUNDS: usize = 200;

impl<P: Lanes> Power<P> {
    fn new(dim: usize) -> Power<P> {
        // Multiples of an irrational number: no symmetry.
        let start = (1..=dim).map(|i| (i as f64 * 5f64.sqrt()).fract() as f32 - 0.3);
        Power {
            v: vec![P::ZERO; dim],
            u: vec![P::ZERO; dim],
            start: start.collect(),
        }
    }

    /// σ_max of J by lane. Rounds add less and less, by a factor that tends to (σ₂/σ₁)²: the last two additions tell
    /// what all further ones sum up to.
    fn norm<S: Simd>(&mut self, simd: S, jac: &[P]) -> P {
        simd.vectorize(
            #[inline(always)]
            || {
                let mut norm = P::ZERO;
                norm.store(self.norm_inlined(simd, jac));
                norm
            },
        )
    }

    #[inline(always)]
    fn norm_inlined<S: Simd>(&mut self, simd: S, jac: &[P]) -> P::Vector<S> {
        for (v, &start) in self.v.iter_mut().zip(&self.start) {
            v.store(v.load(simd) + P::Vector::splat(simd, FRESH * start));
        }
        self.normalize(simd);
        let mut norm = self.round(simd, jac);
        let zero = P::Vector::splat(simd, 0.0);
        let mut added = zero;
        for _ in 1..ROUNDS {
            let next = self.round(simd, jac);
            let (last, now) = (added, next - norm);
            (norm, added) = (next, now);
            // now·r/(1 − r) > ε σ with r = now/last, free of divisions, and now is more than rounding.
            let far = (now * now).simd_gt(P::Vector::splat(simd, PRECISION) * norm * (last - now));
            let moving = now.simd_gt(P::Vector::splat(simd, ROUNDING) * norm);
            if (far & moving).all_false() {
                break;
            }
        }
        norm
    }

    /// u = J v, v ← Jᵀ u / ‖Jᵀ u‖; gives back ‖u‖ = ‖J v‖.
    #[inline(always)]
    fn round<S: Simd>(&mut self, simd: S, jac: &[P]) -> P::Vector<S> {
        let dim = self.v.len();
        let mut square = P::Vector::splat(simd, 0.0);
        for (u, row) in self.u.iter_mut().zip(jac.chunks_exact(dim)) {
            let mut sum = P::Vector::splat(simd, 0.0);
            for (jac, v) in row.iter().zip(&self.v) {
                sum = jac.load(simd).mul_add(v.load(simd), sum);
            }
            u.store(sum);
            square = sum.mul_add(sum, square);
        }
        self.v.fill(P::ZERO);
        for (u, row) in self.u.iter().zip(jac.chunks_exact(dim)) {
            let u = u.load(simd);
            for (v, jac) in self.v.iter_mut().zip(row) {
                v.store(jac.load(simd).mul_add(u, v.load(simd)));
            }
        }
        self.normalize(simd);
        square.sqrt()
    }

    /// v ← v/‖v‖; a vector of zeros stays so.
    #[inline(always)]
    fn normalize<S: Simd>(&mut self, simd: S) {
        let mut square = P::Vector::splat(simd, f32::MIN_POSITIVE);
        for v in &self.v {
            let v = v.load(simd);
            square = v.mul_add(v, square);
        }
        let scale = P::Vector::splat(simd, 1.0) / square.sqrt();
        for v in &mut self.v {
            v.store(v.load(simd) * scale);
        }
    }
}
