//! 𝒩 of a batch on lanes: Jacobians J_t = diag(A) + Σ_u slope_u(ẑ_t) w_u d_uᵀ at the teacher signals of 8 or 16 windows
//! side by side, and their norms.
//!
//! From one step to the next few units of a window change their slope, so that J_t follows from J_{t−1} by as many
//! products of a column and a row. The mean Jacobian needs the mean slopes alone.

use std::mem;

use crate::forcing::alpha::{Estimator, Jacobians, Norm};
use crate::kernel::{Factors, Kernel, Units};
use crate::map::Dims;
use crate::observation::ObservationLanes;
use crate::simd::{
    Change, LaneMatrices, Lanes, Lanes8, Select, Simd, SimdBase, SimdFloat, SimdMask, SpectralNorm,
    Task, UnitRows,
};

use super::sweep::Sweep;

/// What an estimate works on.
pub(super) struct Estimation<P> {
    estimator: Estimator,
    dim: usize,
    factors: Factors,
    /// Slopes of the units that J has, U.
    slopes: Vec<P>,
    /// Slopes of a whole window, T × U; empty where their mean is all that is needed.
    steps: Units<P>,
    /// Sums of slopes over a window, then their means, U.
    mean: Vec<P>,
    /// What each lane's units change their slopes by, with room for all.
    changes: Vec<Vec<Change>>,
    /// Rows d_u of the factors.
    directions: UnitRows<Lanes8>,
    /// J lane by lane, where it follows changes.
    matrices: LaneMatrices,
    /// J, M × M.
    jac: Vec<P>,
    /// Products of Jacobians, the last and the next, M × M.
    products: [Vec<P>; 2],
    spectral: SpectralNorm<P>,
    /// All Jacobians of a window in f64, for the logarithms alone.
    sequences: Vec<Vec<f64>>,
}

impl<P: Lanes> Estimation<P> {
    pub(super) fn new(
        estimator: Estimator,
        dims: Dims,
        kernel: &impl Kernel,
        window: usize,
    ) -> Estimation<P> {
        let dim = dims.latent;
        let kept = match estimator {
            Estimator::ArithmeticMean => 0,
            _ => window,
        };
        Estimation {
            estimator,
            dim,
            factors: Factors::new(dims, kernel),
            slopes: vec![P::ZERO; kernel.units()],
            steps: Units::new(kernel.units(), kept),
            mean: vec![P::ZERO; kernel.units()],
            changes: (0..P::WIDTH)
                .map(|_| Vec::with_capacity(kernel.units()))
                .collect(),
            directions: UnitRows::new(dim, kernel.units()),
            matrices: LaneMatrices::new(dim, P::WIDTH),
            jac: vec![P::ZERO; dim * dim],
            products: [vec![P::ZERO; dim * dim], vec![P::ZERO; dim * dim]],
            spectral: SpectralNorm::new(dim),
            sequences: vec![Vec::new(); P::WIDTH],
        }
    }

    /// Takes θ.
    pub(super) fn prepare(&mut self, kernel: &impl Kernel, theta: &[f32]) {
        kernel.factors(theta, &mut self.factors);
        self.directions.fill_rows(&self.factors.directions);
    }

    /// J ← diag(A), the Jacobian where all slopes are zero.
    fn restart(&mut self) {
        self.slopes.fill(P::ZERO);
        self.matrices.set_diagonal(&self.factors.a);
        self.jac.fill(P::ZERO);
        for (i, &a) in self.factors.a.iter().enumerate() {
            self.jac[i * self.dim + i].lanes_mut().fill(a);
        }
    }

    /// The product of no Jacobians.
    fn restart_product(&mut self) {
        for (i, entry) in self.products[0].iter_mut().enumerate() {
            let on_diagonal = i % (self.dim + 1) == 0;
            entry.lanes_mut().fill(if on_diagonal { 1.0 } else { 0.0 });
        }
    }

    /// The product ← J times the product in lanes whose row counts, divided by its largest entry, which is given back; 1
    /// where the product is zero.
    fn multiply<S: Simd>(&mut self, simd: S, counted: &P) -> P {
        simd.vectorize(
            #[inline(always)]
            || {
                let dim = self.dim;
                let [last, next] = &mut self.products;
                let (zero, one) = (P::Vector::splat(simd, 0.0), P::Vector::splat(simd, 1.0));
                let mut largest = zero;
                for (next, jac) in next.chunks_exact_mut(dim).zip(self.jac.chunks_exact(dim)) {
                    for (j, next) in next.iter_mut().enumerate() {
                        let column = last[j..].iter().step_by(dim);
                        let entry = jac.iter().zip(column).fold(zero, |sum, (jac, last)| {
                            jac.load(simd).mul_add(last.load(simd), sum)
                        });
                        largest = largest.max(entry.abs());
                        next.store(entry);
                    }
                }
                let is_counted = counted.load(simd).simd_gt(zero);
                let scale = largest.simd_gt(zero).select(largest, one);
                for (last, next) in last.iter_mut().zip(&*next) {
                    let scaled = next.load(simd) / scale;
                    last.store(is_counted.select(scaled, last.load(simd)));
                }
                let mut scales = P::ZERO;
                scales.store(scale);
                scales
            },
        )
    }

    /// J for new slopes; gives back whether it may have changed. A small one is made anew.
    fn follow<S: Simd>(&mut self, simd: S, slopes: &[P]) -> bool {
        simd.vectorize(
            #[inline(always)]
            || {
                match self.dim {
                    1 => self.gather::<S, 1>(simd, slopes),
                    2 => self.gather::<S, 2>(simd, slopes),
                    3 => self.gather::<S, 3>(simd, slopes),
                    _ => return self.follow_changes(simd, slopes),
                }
                true
            },
        )
    }

    #[inline(always)]
    fn follow_changes<S: Simd>(&mut self, simd: S, slopes: &[P]) -> bool {
        self.changes.iter_mut().for_each(Vec::clear);
        for (unit, (before, slope)) in self.slopes.iter_mut().zip(slopes).enumerate() {
            let (old, new) = (before.load(simd), slope.load(simd));
            let mut changed = (!old.simd_eq(new)).to_bitmask();
            while changed != 0 {
                let lane = changed.trailing_zeros() as usize % P::WIDTH;
                let by = slope.lanes()[lane] - before.lanes()[lane];
                self.changes[lane].push(Change { unit, by });
                changed &= changed - 1;
            }
            *before = *slope;
        }
        let factors = (&*self.factors.weights, &self.directions);
        for (lane, changes) in self.changes.iter().enumerate() {
            self.matrices.add(simd, lane, changes, factors);
        }
        let any = self.changes.iter().any(|changes| !changes.is_empty());
        if any {
            self.matrices.to_lanes(simd, &mut self.jac);
        }
        any
    }

    /// J from all slopes, its entries in registers.
    #[inline(always)]
    fn gather<S: Simd, const M: usize>(&mut self, simd: S, slopes: &[P]) {
        let mut jac = [[P::Vector::splat(simd, 0.0); M]; M];
        for (i, &a) in self.factors.a.iter().enumerate() {
            jac[i][i] = P::Vector::splat(simd, a);
        }
        let (weights, _) = self.factors.weights.as_chunks::<M>();
        let (directions, _) = self.factors.directions.as_chunks::<M>();
        for ((slope, weights), directions) in slopes.iter().zip(weights).zip(directions) {
            let slope = slope.load(simd);
            for i in 0..M {
                let step = slope * P::Vector::splat(simd, weights[i]);
                for j in 0..M {
                    jac[i][j] = step.mul_add(P::Vector::splat(simd, directions[j]), jac[i][j]);
                }
            }
        }
        for (to, &entry) in self.jac.iter_mut().zip(jac.as_flattened()) {
            to.store(entry);
        }
    }
}

/// The slopes of the units at the state of every predicted row of a sweep that is loaded, or, where the estimate needs no
/// more, their mean over the rows.
pub(super) struct Slopes<'a, K: Kernel, P: Lanes> {
    pub(super) kernel: &'a K,
    pub(super) observation: &'a ObservationLanes,
    pub(super) sweep: &'a mut Sweep<P, K::Units<P>>,
    pub(super) estimation: &'a mut Estimation<P>,
}

impl<K: Kernel, P: Lanes> Task for Slopes<'_, K, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        self.sweep.states_of_data(simd, self.observation);
        match self.estimation.estimator {
            Estimator::ArithmeticMean => self.average(simd),
            _ => self.keep(simd),
        }
    }
}

impl<K: Kernel, P: Lanes> Slopes<'_, K, P> {
    #[inline(always)]
    fn keep<S: Simd>(&mut self, simd: S) {
        for (z, slopes) in self.sweep.states().zip(self.estimation.steps.iter_mut()) {
            self.kernel.slopes(simd, z, slopes);
        }
    }

    #[inline(always)]
    fn average<S: Simd>(&mut self, simd: S) {
        let Estimation { slopes, mean, .. } = &mut *self.estimation;
        mean.fill(P::ZERO);
        for (t, z) in self.sweep.states().enumerate() {
            self.kernel.slopes(simd, z, slopes);
            let counted = self.sweep.pack.counted(t).load(simd);
            for (mean, slope) in mean.iter_mut().zip(&*slopes) {
                mean.store(counted.mul_add(slope.load(simd), mean.load(simd)));
            }
        }
    }
}

/// 𝒩 of the windows in the lanes of a sweep, once it has the slopes. It does not know the kernel, so that one copy for
/// every kind of registers serves all.
pub(super) struct Estimate<'a, P, Q> {
    pub(super) sweep: &'a Sweep<P, Q>,
    pub(super) estimation: &'a mut Estimation<P>,
}

impl<P: Lanes, Q: Lanes> Task for Estimate<'_, P, Q> {
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
            Estimator::Product => largest(self.root_of_product_norm(simd)),
        }
    }
}

impl<P: Lanes, Q: Lanes> Estimate<'_, P, Q> {
    /// ‖mean_t J_t‖ by lane, from the summed slopes.
    #[inline(always)]
    fn norm_of_mean<S: Simd>(&mut self, simd: S) -> P {
        let mut rows = P::Vector::splat(simd, 0.0);
        for t in 0..self.sweep.states().count() {
            rows += self.sweep.pack.counted(t).load(simd);
        }
        let (zero, one) = (P::Vector::splat(simd, 0.0), P::Vector::splat(simd, 1.0));
        let share = one / rows.max(one);
        let estimation = &mut *self.estimation;
        let mut mean = mem::take(&mut estimation.mean);
        for mean in &mut mean {
            mean.store(mean.load(simd) * share);
        }
        estimation.restart();
        estimation.follow(simd, &mean);
        estimation.mean = mean;
        let mut norm = estimation.spectral.of(simd, &estimation.jac);
        // A window without a complete row says nothing.
        norm.store(rows.simd_gt(zero).select(norm.load(simd), zero));
        norm
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
        let mut means = GeometricMeans::default();
        self.walk(
            simd,
            #[inline(always)]
            |norm, counted| means.add(norm, counted),
        );
        means.values()
    }

    /// ‖J_T ⋯ J_1‖^(1/T) by lane: the product is divided by its largest entry after every step. A product of zero has the
    /// least norm that there is, since no norm at all stands for a window without a complete row.
    #[inline(always)]
    fn root_of_product_norm<S: Simd>(&mut self, simd: S) -> P {
        let mut scales = GeometricMeans::default();
        self.estimation.restart_product();
        self.each_jacobian(
            simd,
            #[inline(always)]
            |estimation, _, counted| scales.add(&estimation.multiply(simd, counted), counted),
        );
        let Estimation {
            spectral, products, ..
        } = &mut *self.estimation;
        let norms = spectral.of(simd, &products[0]);
        let mut roots: P = scales.values();
        let factors = norms.lanes().iter().zip(scales.0);
        for (root, (norm, scales)) in roots.lanes_mut().iter_mut().zip(factors) {
            if scales.count > 0 {
                let norm = norm.powf(1.0 / scales.count as f32);
                *root = (*root * norm).max(f32::MIN_POSITIVE);
            }
        }
        roots
    }

    /// Calls `each` with ‖J_t‖ and whether the row counts, for every step.
    #[inline(always)]
    fn walk<S: Simd>(&mut self, simd: S, mut each: impl FnMut(&P, &P)) {
        let mut norm = P::ZERO;
        self.each_jacobian(
            simd,
            #[inline(always)]
            |estimation, is_new, counted| {
                if is_new {
                    norm = estimation.spectral.of(simd, &estimation.jac);
                }
                each(&norm, counted);
            },
        );
    }

    /// Calls `each` at every step, once J is that of the step, with whether it may be another one than before, and whether
    /// the row counts.
    #[inline(always)]
    fn each_jacobian<S: Simd>(
        &mut self,
        simd: S,
        mut each: impl FnMut(&mut Estimation<P>, bool, &P),
    ) {
        self.estimation.restart();
        let steps = mem::take(&mut self.estimation.steps);
        for (t, slopes) in steps.iter().enumerate() {
            let is_new = self.estimation.follow(simd, slopes) || t == 0;
            each(self.estimation, is_new, self.sweep.pack.counted(t));
        }
        self.estimation.steps = steps;
    }

    /// max ‖exp(mean_t ln J_t)‖ over the lanes, in f64.
    #[inline(always)]
    fn norm_of_logarithms<S: Simd>(&mut self, simd: S) -> Norm {
        let (dim, weight) = (self.estimation.dim, self.sweep.pack.weight);
        let mut sequences = mem::take(&mut self.estimation.sequences);
        sequences.iter_mut().for_each(Vec::clear);
        self.each_jacobian(
            simd,
            #[inline(always)]
            |estimation, _, counted| {
                for (lane, sequence) in sequences.iter_mut().enumerate() {
                    // Lanes beyond the batch have no weight.
                    if weight.lanes()[lane] > 0.0 && counted.lanes()[lane] > 0.0 {
                        let entries = estimation.jac.iter();
                        sequence.extend(entries.map(|jac| f64::from(jac.lanes()[lane])));
                    }
                }
            },
        );
        let known = sequences.iter().filter(|entries| !entries.is_empty());
        let norms = known.map(|entries| Jacobians::new(entries, dim).norm(Estimator::ExpLog));
        let all = norms.fold(Norm::default(), Norm::or_larger);
        self.estimation.sequences = sequences;
        all
    }
}

/// Geometric means, one per lane.
#[derive(Default)]
struct GeometricMeans([GeometricMean; WIDEST]);

impl GeometricMeans {
    /// Adds factors in the lanes that count.
    #[inline(always)]
    fn add<P: Lanes>(&mut self, factors: &P, counted: &P) {
        let lanes = factors.lanes().iter().zip(counted.lanes());
        for (mean, (&factor, _)) in self.0.iter_mut().zip(lanes).filter(|m| *m.1.1 > 0.0) {
            mean.add(factor);
        }
    }

    fn values<P: Lanes>(&self) -> P {
        let mut values = P::ZERO;
        for (value, mean) in values.lanes_mut().iter_mut().zip(self.0) {
            *value = mean.value();
        }
        values
    }
}

/// exp(mean ln x), with a logarithm for every fourth factor: four of f32 fit into f64.
#[derive(Debug, Clone, Copy)]
struct GeometricMean {
    product: f64,
    logarithms: f64,
    count: u32,
}

impl Default for GeometricMean {
    fn default() -> GeometricMean {
        GeometricMean {
            product: 1.0,
            logarithms: 0.0,
            count: 0,
        }
    }
}

impl GeometricMean {
    #[inline(always)]
    fn add(&mut self, factor: f32) {
        self.product *= f64::from(factor);
        self.count += 1;
        if self.count.is_multiple_of(4) {
            self.logarithms += self.product.ln();
            self.product = 1.0;
        }
    }

    /// 0 of no factors.
    fn value(self) -> f32 {
        match self.count {
            0 => 0.0,
            count => ((self.logarithms + self.product.ln()) / f64::from(count)).exp() as f32,
        }
    }
}

/// Lanes of the widest vector.
const WIDEST: usize = 16;

/// The largest norm of all lanes.
fn largest<P: Lanes>(norms: P) -> Norm {
    let kappa = norms.lanes().iter().copied().fold(0.0, f32::max);
    Norm {
        kappa: f64::from(kappa),
        fallbacks: 0,
    }
}
