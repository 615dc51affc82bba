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
//! ```
//! use attractor_core::analysis::lyapunov::{LyapunovPlan, lyapunov_spectrum};
//! use attractor_core::system;
//!
//! let henon = system::find("henon").expect("it is in the list");
//! let plan = LyapunovPlan { intervals: 20_000, ..LyapunovPlan::full(2) };
//! let spectrum = lyapunov_spectrum(&*henon.with(&[])?, henon.time, &[0.1, 0.1], &plan)?;
//! assert!((spectrum.exponents[0] - 0.419).abs() < 0.01);
//! assert!((spectrum.exponents.iter().sum::<f64>() - 0.3_f64.ln()).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::dynamics::{Dynamics, Tangent};
use crate::linalg;
use crate::map::Map;
use crate::map::tangent::Tangent as MapTangent;
use crate::series::mean_and_sd;
use crate::system::integrate::{Dop853, IntegrateError, Tolerance};
use crate::system::{System, Time};

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
    /// The exponents, descending, per unit of time (flows) or per step (maps).
    pub exponents: Vec<f64>,
    /// Their standard errors, from the scatter over [`BLOCKS`] parts of the orbit.
    pub errors: Vec<f64>,
    /// Estimates from the first 1, 2, … [`BLOCKS`] parts of the orbit; the last are the exponents.
    pub trace: Vec<Vec<f64>>,
    /// The mean of ln |det J| along the orbit of a map, computed on its own: the sum of all exponents must be this. Not
    /// known for flows, where it is the mean divergence.
    pub mean_log_det: Option<f64>,
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
            trace: self.trace.iter().map(|row| over(row)).collect(),
            mean_log_det: self.mean_log_det.map(|v| v / dt),
        }
    }

    /// |Σ λ − mean ln |det J||, where both are known and finite: how far rounding has come.
    pub fn imbalance(&self, dim: usize) -> Option<f64> {
        let volume = self.mean_log_det.filter(|_| self.exponents.len() == dim)?;
        let difference = (self.exponents.iter().sum::<f64>() - volume).abs();
        difference.is_finite().then_some(difference)
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
) -> Result<Spectrum, IntegrateError> {
    assert!(
        (1..=system.dim()).contains(&plan.count) && plan.intervals >= BLOCKS,
        "{} exponents from {} intervals",
        plan.count,
        plan.intervals
    );
    match (time, system.stepper(plan.interval)) {
        (Time::Map, _) => of_map(system, x0, plan),
        (Time::Flow { .. }, Some(stepper)) => of_stepper(stepper, x0, plan),
        (Time::Flow { .. }, None) => of_flow(system, x0, plan),
    }
}

/// The spectrum of a fitted system per step, along the free orbit from `z0`. Row t of `inputs` (rows × K) drives step t;
/// behind its last row the first follows again.
pub fn lyapunov_of_dynamics(
    dynamics: &dyn Dynamics,
    z0: &[f64],
    inputs: &[f64],
    plan: &LyapunovPlan,
) -> Result<Spectrum, IntegrateError> {
    along(
        &mut *dynamics.tangent(),
        z0,
        inputs,
        dynamics.sizes().inputs,
        plan,
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
        inputs,
        map.dims().inputs,
        plan,
    )
}

/// The spectrum along the orbit from `z0`, driven by rows of k inputs.
fn along(
    tangent: &mut dyn Tangent,
    z0: &[f64],
    inputs: &[f64],
    k: usize,
    plan: &LyapunovPlan,
) -> Result<Spectrum, IntegrateError> {
    assert!(
        (1..=z0.len()).contains(&plan.count) && plan.intervals >= BLOCKS,
        "{} exponents from {} steps",
        plan.count,
        plan.intervals
    );
    let rows = (inputs.len() / k.max(1)).max(1);
    let mut z = z0.to_vec();
    iterate(z0.len(), plan, |step, jac| {
        let s = &inputs[step % rows * k..][..k];
        tangent.advance(&mut z, s, jac);
        finite(&z, step as f64)
    })
}

fn of_map(
    system: &dyn System,
    x0: &[f64],
    plan: &LyapunovPlan,
) -> Result<Spectrum, IntegrateError> {
    let mut x = x0.to_vec();
    let mut next = vec![0.0; x.len()];
    iterate(x0.len(), plan, |step, jac| {
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
    advance: impl FnMut(usize, &mut [f64]) -> Result<(), IntegrateError>,
) -> Result<Spectrum, IntegrateError> {
    match dim {
        2 => iterate_in(2, plan, advance),
        3 => iterate_in(3, plan, advance),
        _ => iterate_in(dim, plan, advance),
    }
}

#[inline(always)]
fn iterate_in(
    dim: usize,
    plan: &LyapunovPlan,
    mut advance: impl FnMut(usize, &mut [f64]) -> Result<(), IntegrateError>,
) -> Result<Spectrum, IntegrateError> {
    let mut jac = vec![0.0; dim * dim];
    let mut w = first_vectors(plan.count, dim);
    let mut pushed = w.clone();
    let mut volume = LogProduct::default();
    let mut counted = 0u32;
    let spectrum = estimate(1.0, dim, plan, |step, stretch| {
        advance(step, &mut jac)?;
        push(&jac, &w, &mut pushed, dim);
        std::mem::swap(&mut w, &mut pushed);
        if step >= plan.transient {
            linalg::pivots(&mut jac[..dim * dim], dim, |pivot| volume.push(pivot.abs()));
            counted += 1;
        }
        stretch(&mut w);
        Ok(())
    })?;
    Ok(Spectrum {
        mean_log_det: Some(volume.log() / f64::from(counted)),
        ..spectrum
    })
}

/// ln of a long product: logarithms are dear, so that one is taken of many factors together.
#[derive(Debug, Clone, Copy)]
struct LogProduct {
    log: f64,
    product: f64,
}

impl Default for LogProduct {
    fn default() -> LogProduct {
        LogProduct {
            log: 0.0,
            product: 1.0,
        }
    }
}

impl LogProduct {
    #[inline(always)]
    fn push(&mut self, factor: f64) {
        let before = self.product;
        self.product *= factor;
        if !(1e-100..1e100).contains(&self.product) {
            // One by one: together they may be beyond all numbers.
            self.log += before.ln() + factor.ln();
            self.product = 1.0;
        }
    }

    fn log(self) -> f64 {
        self.log + self.product.ln()
    }
}

fn of_stepper(
    mut stepper: Box<dyn crate::system::Stepper>,
    x0: &[f64],
    plan: &LyapunovPlan,
) -> Result<Spectrum, IntegrateError> {
    let mut x = x0.to_vec();
    let mut w = first_vectors(plan.count, x.len());
    estimate(plan.interval, x0.len(), plan, |step, stretch| {
        stepper.step(&mut x, &mut w);
        finite(&x, step as f64 * plan.interval)?;
        stretch(&mut w);
        Ok(())
    })
}

fn of_flow(
    system: &dyn System,
    x0: &[f64],
    plan: &LyapunovPlan,
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
    estimate(plan.interval, dim, plan, |step, stretch| {
        orbit.stop_at((step + 1) as f64 * plan.interval, |state| {
            stretch(&mut state[dim..])
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

#[inline(always)]
fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn finite(x: &[f64], time: f64) -> Result<(), IntegrateError> {
    if x.iter().all(|x| x.is_finite()) {
        Ok(())
    } else {
        Err(IntegrateError::Diverged { time })
    }
}

/// What orthonormalises the vectors and takes note of their growth.
type Stretch<'a> = &'a mut dyn FnMut(&mut [f64]);

/// Advances interval by interval, `advance(number, stretch)`, and averages the logarithms of growth.
#[inline(always)]
fn estimate(
    interval: f64,
    dim: usize,
    plan: &LyapunovPlan,
    mut advance: impl FnMut(usize, Stretch) -> Result<(), IntegrateError>,
) -> Result<Spectrum, IntegrateError> {
    let mut growth = vec![LogProduct::default(); plan.count];
    for step in 0..plan.transient {
        advance(step, &mut |w| orthonormalize(w, dim, &mut growth))?;
    }
    let length = plan.intervals / BLOCKS;
    let time = length as f64 * interval;
    let mut blocks = Vec::with_capacity(BLOCKS);
    for i in 0..BLOCKS {
        growth.fill(LogProduct::default());
        for step in 0..length {
            let number = plan.transient + i * length + step;
            advance(number, &mut |w| orthonormalize(w, dim, &mut growth))?;
        }
        blocks.push(growth.iter().map(|g| g.log() / time).collect());
    }
    Ok(summarize(&blocks))
}

/// Gram and Schmidt's orthonormalisation, each vector against all before it; once more if that took most of its length,
/// and with it most digits. Pushes R_jj to `growth`; R_jj = 0 counts as 1e-300.
#[inline(always)]
fn orthonormalize(w: &mut [f64], dim: usize, growth: &mut [LogProduct]) {
    for (j, growth) in growth.iter_mut().enumerate() {
        let (done, rest) = w.split_at_mut(j * dim);
        let vector = &mut rest[..dim];
        let mut before = dot(vector, vector);
        loop {
            for earlier in done.chunks_exact(dim) {
                let overlap = dot(earlier, vector);
                vector
                    .iter_mut()
                    .zip(earlier)
                    .for_each(|(v, e)| *v -= overlap * e);
            }
            let after = dot(vector, vector);
            // At most twice: a third time there is nothing left to take.
            if j == 0 || after > 0.25 * before || before == 0.0 {
                before = after;
                break;
            }
            before = 0.0;
        }
        let length = before.sqrt().max(1e-300);
        let scale = 1.0 / length;
        vector.iter_mut().for_each(|v| *v *= scale);
        growth.push(length);
    }
}

fn summarize(blocks: &[Vec<f64>]) -> Spectrum {
    let count = blocks[0].len();
    let moments = |j: usize, n: usize| mean_and_sd(blocks[..n].iter().map(move |block| block[j]));
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by(|&a, &b| moments(b, BLOCKS).0.total_cmp(&moments(a, BLOCKS).0));
    let estimate = |n: usize| order.iter().map(|&j| moments(j, n).0).collect();
    Spectrum {
        exponents: estimate(BLOCKS),
        errors: order
            .iter()
            .map(|&j| moments(j, BLOCKS).1 / (BLOCKS as f64).sqrt())
            .collect(),
        trace: (1..=BLOCKS).map(estimate).collect(),
        mean_log_det: None,
    }
}

#[cfg(test)]
mod tests;
