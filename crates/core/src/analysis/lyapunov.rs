//! Lyapunov exponents by Benettin's method: k tangent vectors follow the linearised dynamics along an orbit and are
//! made orthonormal again and again. With R_jj the length of vector j just before it is normalised,
//!
//! ```text
//! λ_j = (1/T) Σ ln R_jj
//! ```
//!
//! over the time T (flows) or number of steps (maps) after a transient (Benettin, Galgani, Giorgilli and Strelcyn
//! 1980; Shimada and Nagashima 1979). For a flow the state and the vectors are integrated as one system,
//! x' = f(x), w' = J(x) w, under one tolerance; for a map w ← J(x) w with the Jacobian before the step.
//!
//! # Singular Jacobians
//!
//! A Jacobian without full rank takes a direction of tangent space to zero, and no later Jacobian brings it back: of the
//! product along the orbit, the last exponent is −∞ from there on, and so is the mean of ln |det J|. That is a statement on this
//! product, not on the attractor, whose exponents are means over its natural measure: there a singular Jacobian counts by how
//! often it is met. So a direction that is lost is replaced by a new one, orthogonal to all that are left, which the
//! steps that follow turn as they turn any other, and
//!
//! | where it is lost | λ_j |
//! | --- | --- |
//! | in the transient, as where an orbit starts on a corner of regions | as if it had not been lost: the orbit that counts begins later |
//! | at times that do not come again (once, or only in the first half) | the mean over the steps at which it is not lost, of a set of measure one |
//! | more than once in the second half | −∞: nothing says that it stops, and a set of positive measure makes the mean −∞ |
//!
//! How often each direction was lost is part of the result ([`Spectrum::lost`]). Lost means contracted to less than rounding
//! leaves of the Jacobian's size, M · 10⁻¹⁵: from there on a length says nothing.
//!
//! # The sum
//!
//! At every step Π_j R_jj = |det J| where all M vectors are followed, so that Σ_j λ_j is the mean of ln |det J| along the same
//! orbit to within rounding, which is computed as well: the bound on the relative error of R_jj is M ε ‖J‖ / R_jj. Where they
//! differ by more, this program is wrong, and says so ([`Spectrum::broken_sum`]). Where a direction was lost there is
//! nothing to compare: the mean is −∞.
//!
//! ```
//! use attractor_core::analysis::lyapunov::{LyapunovPlan, lyapunov_spectrum};
//! use attractor_core::progress::Unwatched;
//! use attractor_core::system;
//!
//! let henon = system::find("henon").expect("it is in the list");
//! let plan = LyapunovPlan { intervals: 20_000, ..LyapunovPlan::full(2) };
//! let (map, start) = (henon.with(&[])?, [0.1, 0.1]);
//! let spectrum = lyapunov_spectrum(&*map, henon.time, &start, &plan, &mut Unwatched)?;
//! assert!((spectrum.exponents[0] - 0.419).abs() < 0.01);
//! assert!((spectrum.exponents.iter().sum::<f64>() - 0.3_f64.ln()).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod frame;

use crate::dynamics::{Dynamics, Tangent};
use crate::linalg;
use crate::map::Map;
use crate::map::tangent::Tangent as MapTangent;
use crate::progress::{Follow, Unwatched, tell};
use crate::series::mean_and_sd;
use crate::system::integrate::{Dop853, IntegrateError, Tolerance};
use crate::system::{System, Time};
use frame::{Growth, LogProduct, dot, orthonormalize, rounding};

/// How to estimate a spectrum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LyapunovPlan {
    /// How many exponents, from the largest.
    pub count: usize,
    /// Time from one orthonormalisation to the next; maps are at every step.
    pub interval: f64,
    /// Intervals (maps: steps) before counting starts.
    pub transient: usize,
    /// Intervals (maps: steps) that count; a multiple of [`BLOCKS`] uses all of them.
    pub intervals: usize,
    /// How exactly a flow is integrated.
    pub tolerance: Tolerance,
}

impl LyapunovPlan {
    /// All exponents of a system of this dimension, over 10⁵ intervals of 0.1 after 10³.
    pub fn full(dim: usize) -> LyapunovPlan {
        LyapunovPlan {
            count: dim,
            interval: 0.1,
            transient: 1000,
            intervals: 100_000,
            tolerance: Tolerance::relative(1e-9),
        }
    }
}

/// Into how many equal parts an orbit is cut for error bars and the trace.
pub const BLOCKS: usize = 20;

/// Lyapunov exponents with what is needed to trust them.
#[derive(Debug, Clone, PartialEq)]
pub struct Spectrum {
    /// The exponents, descending, per unit of time (flows) or per step (maps); −∞ for a direction that is lost for ever.
    pub exponents: Vec<f64>,
    /// Their standard errors, from the scatter over [`BLOCKS`] parts of the orbit; NaN for −∞.
    pub errors: Vec<f64>,
    /// At how many of the steps that count each direction was lost.
    pub lost: Vec<usize>,
    /// Estimates from the first 1, 2, … [`BLOCKS`] parts of the orbit; the last are the exponents.
    pub trace: Vec<Vec<f64>>,
    /// The mean of ln |det J| along the orbit of a map, computed on its own: the sum of all exponents must be this. −∞ if
    /// the map was singular at a step that counts. Not known for flows, where it is the mean divergence, nor for a fitted system
    /// of which not all exponents are computed: a large one has no Jacobian to spare.
    pub mean_log_det: Option<f64>,
    /// How far rounding may take the sum of all exponents from it.
    pub rounding: f64,
}

/// Exponents whose sum is not the mean log-determinant: one of both was computed wrongly.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error(
    "the exponents sum to {sum}, but the mean log-determinant is {mean_log_det}: \
     do not trust them, this is a bug in the program"
)]
pub struct BrokenSum {
    /// Σ λ.
    pub sum: f64,
    /// The mean of ln |det J|.
    pub mean_log_det: f64,
}

impl Spectrum {
    /// The Kaplan–Yorke dimension.
    pub fn kaplan_yorke(&self) -> f64 {
        kaplan_yorke(&self.exponents)
    }

    /// The spectrum in units of time of which `dt` pass between two steps.
    pub fn per_time(&self, dt: f64) -> Spectrum {
        let over = |values: &[f64]| values.iter().map(|v| v / dt).collect();
        Spectrum {
            exponents: over(&self.exponents),
            errors: over(&self.errors),
            lost: self.lost.clone(),
            trace: self.trace.iter().map(|row| over(row)).collect(),
            mean_log_det: self.mean_log_det.map(|v| v / dt),
            rounding: self.rounding / dt,
        }
    }

    /// |Σ λ − mean ln |det J||, where both are known and no direction was lost: how far rounding has come.
    pub fn imbalance(&self, dim: usize) -> Option<f64> {
        let is_whole = self.exponents.len() == dim && self.lost.iter().all(|&lost| lost == 0);
        let volume = self.mean_log_det.filter(|_| is_whole)?;
        Some((self.exponents.iter().sum::<f64>() - volume).abs())
    }

    /// Both sides of the sum rule, if they differ by more than rounding explains.
    pub fn broken_sum(&self, dim: usize) -> Option<BrokenSum> {
        let holds = self.imbalance(dim)? <= self.rounding;
        (!holds).then(|| BrokenSum {
            sum: self.exponents.iter().sum(),
            mean_log_det: self.mean_log_det.unwrap_or(f64::NAN),
        })
    }
}

/// D = j + (λ₁ + … + λ_j)/|λ_{j+1}| with the largest j whose sum is not negative; 0 if λ₁ < 0, and the number of
/// exponents if no sum is negative.
pub fn kaplan_yorke(exponents: &[f64]) -> f64 {
    let mut sum = 0.0;
    for (j, exponent) in exponents.iter().enumerate() {
        if sum + exponent < 0.0 {
            return j as f64 + sum / exponent.abs();
        }
        sum += exponent;
    }
    exponents.len() as f64
}

/// The spectrum of a system along the orbit from `x0`.
pub fn lyapunov_spectrum(
    system: &dyn System,
    time: Time,
    x0: &[f64],
    plan: &LyapunovPlan,
    follow: &mut dyn Follow,
) -> Result<Spectrum, IntegrateError> {
    assert!(
        (1..=system.dim()).contains(&plan.count) && plan.intervals >= BLOCKS,
        "{} exponents from {} intervals",
        plan.count,
        plan.intervals
    );
    match (time, system.stepper(plan.interval)) {
        (Time::Map, _) => of_map(system, x0, plan, follow),
        (Time::Flow { .. }, Some(stepper)) => of_stepper(stepper, x0, plan, follow),
        (Time::Flow { .. }, None) => of_flow(system, x0, plan, follow),
    }
}

/// The spectrum of a fitted system per step, along the free orbit from `z0`. Row t of `inputs` (rows × K) drives step t;
/// behind its last row the first follows again.
pub fn lyapunov_of_dynamics(
    dynamics: &dyn Dynamics,
    z0: &[f64],
    inputs: &[f64],
    plan: &LyapunovPlan,
    follow: &mut dyn Follow,
) -> Result<Spectrum, IntegrateError> {
    along(
        &mut *dynamics.tangent(),
        z0,
        (inputs, dynamics.sizes().inputs),
        plan,
        follow,
    )
}

/// The same of a map with parameters in double precision.
pub fn lyapunov_of_map(
    map: &dyn Map,
    theta: &[f64],
    z0: &[f64],
    inputs: &[f64],
    plan: &LyapunovPlan,
) -> Result<Spectrum, IntegrateError> {
    along(
        &mut MapTangent::new(map, theta),
        z0,
        (inputs, map.dims().inputs),
        plan,
        &mut Unwatched,
    )
}

/// The spectrum along the orbit from `z0`, driven by rows of k inputs.
fn along(
    tangent: &mut dyn Tangent,
    z0: &[f64],
    (inputs, k): (&[f64], usize),
    plan: &LyapunovPlan,
    follow: &mut dyn Follow,
) -> Result<Spectrum, IntegrateError> {
    assert!(
        (1..=z0.len()).contains(&plan.count) && plan.intervals >= BLOCKS,
        "{} exponents from {} steps",
        plan.count,
        plan.intervals
    );
    let rows = (inputs.len() / k.max(1)).max(1);
    let s = |step: usize| &inputs[step % rows * k..][..k];
    if plan.count < z0.len() {
        return carried_along(tangent, z0, s, plan, follow);
    }
    let mut z = z0.to_vec();
    iterate(z0.len(), plan, follow, |step, jac| {
        tangent.advance(&mut z, s(step), jac);
        finite(&z, step as f64)
    })
}

/// Some of the exponents: vectors are carried along, and no determinant is known.
fn carried_along<'a>(
    tangent: &mut dyn Tangent,
    z0: &[f64],
    s: impl Fn(usize) -> &'a [f64],
    plan: &LyapunovPlan,
    follow: &mut dyn Follow,
) -> Result<Spectrum, IntegrateError> {
    let dim = z0.len();
    let (mut z, mut jac) = (z0.to_vec(), Vec::new());
    let mut w = first_vectors(plan.count, dim);
    let mut carried = w.clone();
    estimate((1.0, dim), plan, follow, |step, stretch| {
        tangent.carry(&mut z, s(step), &w, &mut carried, &mut jac);
        finite(&z, step as f64)?;
        std::mem::swap(&mut w, &mut carried);
        let size = longest(&w, dim);
        stretch(&mut w, size);
        Ok(())
    })
}

fn of_map(
    system: &dyn System,
    x0: &[f64],
    plan: &LyapunovPlan,
    follow: &mut dyn Follow,
) -> Result<Spectrum, IntegrateError> {
    let mut x = x0.to_vec();
    let mut next = vec![0.0; x.len()];
    iterate(x0.len(), plan, follow, |step, jac| {
        system.jacobian(&x, jac);
        system.evaluate(&x, &mut next);
        std::mem::swap(&mut x, &mut next);
        finite(&x, step as f64)
    })
}

/// The spectrum of the map whose Jacobian before each step `advance(number, jac)` writes. Where the dimension is small
/// it is a constant, so that all loops over it are unrolled.
fn iterate(
    dim: usize,
    plan: &LyapunovPlan,
    follow: &mut dyn Follow,
    advance: impl FnMut(usize, &mut [f64]) -> Result<(), IntegrateError>,
) -> Result<Spectrum, IntegrateError> {
    match dim {
        2 => iterate_in(2, plan, follow, advance),
        3 => iterate_in(3, plan, follow, advance),
        _ => iterate_in(dim, plan, follow, advance),
    }
}

#[inline(always)]
fn iterate_in(
    dim: usize,
    plan: &LyapunovPlan,
    follow: &mut dyn Follow,
    mut advance: impl FnMut(usize, &mut [f64]) -> Result<(), IntegrateError>,
) -> Result<Spectrum, IntegrateError> {
    let mut jac = vec![0.0; dim * dim];
    let mut w = first_vectors(plan.count, dim);
    let mut pushed = w.clone();
    let mut volume = LogProduct::default();
    let mut counted = 0u32;
    let spectrum = estimate((1.0, dim), plan, follow, |step, stretch| {
        advance(step, &mut jac)?;
        push(&jac, &w, &mut pushed, dim);
        std::mem::swap(&mut w, &mut pushed);
        let size = dot(&jac, &jac).sqrt();
        if step >= plan.transient {
            linalg::pivots(&mut jac[..dim * dim], dim, |pivot| volume.push(pivot.abs()));
            counted += 1;
        }
        stretch(&mut w, size);
        Ok(())
    })?;
    let steps = f64::from(counted);
    let is_singular = spectrum.lost.iter().any(|&lost| lost > 0);
    let mean_log_det = if is_singular && plan.count == dim {
        f64::NEG_INFINITY
    } else {
        volume.log() / steps
    };
    Ok(Spectrum {
        mean_log_det: Some(mean_log_det),
        // Sums of so many logarithms are rounded, too.
        rounding: spectrum.rounding + f64::EPSILON * steps * mean_log_det.abs(),
        ..spectrum
    })
}

fn of_stepper(
    mut stepper: Box<dyn crate::system::Stepper>,
    x0: &[f64],
    plan: &LyapunovPlan,
    follow: &mut dyn Follow,
) -> Result<Spectrum, IntegrateError> {
    let mut x = x0.to_vec();
    let mut w = first_vectors(plan.count, x.len());
    estimate((plan.interval, x0.len()), plan, follow, |step, stretch| {
        stepper.step(&mut x, &mut w);
        finite(&x, step as f64 * plan.interval)?;
        let size = longest(&w, x.len());
        stretch(&mut w, size);
        Ok(())
    })
}

fn of_flow(
    system: &dyn System,
    x0: &[f64],
    plan: &LyapunovPlan,
    follow: &mut dyn Follow,
) -> Result<Spectrum, IntegrateError> {
    let dim = system.dim();
    let mut jac = vec![0.0; dim * dim];
    let joint = [x0, &first_vectors(plan.count, dim)].concat();
    let flow = |state: &[f64], out: &mut [f64]| {
        let ((x, w), (dx, dw)) = (state.split_at(dim), out.split_at_mut(dim));
        system.evaluate(x, dx);
        system.jacobian(x, &mut jac);
        push(&jac, w, dw, dim);
    };
    let mut orbit = Dop853::new(flow, &joint, plan.tolerance);
    estimate((plan.interval, dim), plan, follow, |step, stretch| {
        orbit.stop_at((step + 1) as f64 * plan.interval, |state| {
            let w = &mut state[dim..];
            let size = longest(w, dim);
            stretch(w, size);
        })
    })
}

/// The first `count` unit vectors.
fn first_vectors(count: usize, dim: usize) -> Vec<f64> {
    let mut w = vec![0.0; count * dim];
    (0..count).for_each(|j| w[j * dim + j] = 1.0);
    w
}

/// w ← J w for every vector.
#[inline(always)]
fn push(jac: &[f64], w: &[f64], out: &mut [f64], dim: usize) {
    for (w, out) in w.chunks_exact(dim).zip(out.chunks_exact_mut(dim)) {
        for (row, out) in jac.chunks_exact(dim).zip(out) {
            *out = dot(row, w);
        }
    }
}

/// The length of the longest vector.
fn longest(w: &[f64], dim: usize) -> f64 {
    let squares = w.chunks_exact(dim).map(|w| dot(w, w));
    squares.fold(0.0, f64::max).sqrt()
}

fn finite(x: &[f64], time: f64) -> Result<(), IntegrateError> {
    if x.iter().all(|x| x.is_finite()) {
        Ok(())
    } else {
        Err(IntegrateError::Diverged { time })
    }
}

/// What orthonormalises vectors that a linear map of a given size has moved, and takes note of their growth.
type Stretch<'a> = &'a mut dyn FnMut(&mut [f64], f64);

/// Intervals from one look at whether to go on to the next.
const STRETCH: usize = 1024;

/// Advances interval by interval, `advance(number, stretch)`, and averages the logarithms of growth.
#[inline(always)]
fn estimate(
    (interval, dim): (f64, usize),
    plan: &LyapunovPlan,
    follow: &mut dyn Follow,
    mut advance: impl FnMut(usize, Stretch) -> Result<(), IntegrateError>,
) -> Result<Spectrum, IntegrateError> {
    let mut growth = vec![Growth::default(); plan.count];
    let length = plan.intervals / BLOCKS;
    let total = plan.transient + length * BLOCKS;
    let mut blocks = Vec::with_capacity(BLOCKS);
    for number in 0..total {
        if number.is_multiple_of(STRETCH) {
            tell(follow, "exponents", number as u64, total as u64)?;
        }
        let counted = number.checked_sub(plan.transient);
        if counted.is_some_and(|counted| counted.is_multiple_of(length)) {
            growth.fill(Growth::default());
        }
        advance(number, &mut |w, size| {
            orthonormalize(w, dim, size, &mut growth)
        })?;
        if counted.is_some_and(|counted| (counted + 1).is_multiple_of(length)) {
            blocks.push(growth.clone());
        }
    }
    Ok(summarize(&blocks, (length, interval), dim))
}

/// Exponents from the growth in each of the blocks, of so many intervals of so much time.
fn summarize(blocks: &[Vec<Growth>], span: (usize, f64), dim: usize) -> Spectrum {
    let directions =
        (0..blocks[0].len()).map(|j| Direction::new(blocks.iter().map(|b| b[j]), span));
    let mut directions: Vec<Direction> = directions.collect();
    directions.sort_by(|a, b| b.estimate(BLOCKS).total_cmp(&a.estimate(BLOCKS)));
    let estimates = |n: usize| directions.iter().map(|d| d.estimate(n)).collect();
    let roundings: f64 = blocks.iter().flatten().map(|growth| growth.roundings).sum();
    Spectrum {
        exponents: estimates(BLOCKS),
        errors: directions.iter().map(Direction::error).collect(),
        lost: directions.iter().map(|d| d.lost).collect(),
        trace: (1..=BLOCKS).map(estimates).collect(),
        mean_log_det: None,
        rounding: rounding(dim, roundings / (span.0 * BLOCKS) as f64),
    }
}

/// One direction over all blocks.
struct Direction {
    /// Its growth per unit of time in each block; NaN where it was always lost.
    rates: Vec<f64>,
    lost: usize,
    is_lost_for_ever: bool,
}

impl Direction {
    fn new(growth: impl Iterator<Item = Growth> + Clone, span: (usize, f64)) -> Direction {
        let lost = growth.clone().map(|growth| growth.lost);
        Direction {
            rates: growth.map(|growth| growth.rate(span)).collect(),
            is_lost_for_ever: lost.clone().skip(BLOCKS / 2).sum::<usize>() > 1,
            lost: lost.sum(),
        }
    }

    /// The exponent from the first n blocks.
    fn estimate(&self, n: usize) -> f64 {
        if self.is_lost_for_ever {
            f64::NEG_INFINITY
        } else {
            mean_and_sd(self.rates[..n].iter().copied()).0
        }
    }

    fn error(&self) -> f64 {
        let there = self.rates.iter().filter(|rate| !rate.is_nan()).count();
        if self.is_lost_for_ever {
            f64::NAN
        } else {
            mean_and_sd(self.rates.iter().copied()).1 / (there as f64).sqrt()
        }
    }
}

#[cfg(test)]
mod tests;
