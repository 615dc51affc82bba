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
}

impl Spectrum {
    /// The Kaplan–Yorke dimension.
    pub fn kaplan_yorke(&self) -> f64 {
        kaplan_yorke(&self.exponents)
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

fn of_map(
    system: &dyn System,
    x0: &[f64],
    plan: &LyapunovPlan,
) -> Result<Spectrum, IntegrateError> {
    let dim = system.dim();
    let mut x = x0.to_vec();
    let mut next = vec![0.0; dim];
    let mut jac = vec![0.0; dim * dim];
    let mut w = first_vectors(plan.count, dim);
    let mut pushed = w.clone();
    estimate(1.0, dim, plan, |step, stretch| {
        system.jacobian(&x, &mut jac);
        push(&jac, &w, &mut pushed, dim);
        std::mem::swap(&mut w, &mut pushed);
        system.evaluate(&x, &mut next);
        std::mem::swap(&mut x, &mut next);
        finite(&x, step as f64)?;
        stretch(&mut w);
        Ok(())
    })
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
fn push(jac: &[f64], w: &[f64], out: &mut [f64], dim: usize) {
    for (w, out) in w.chunks_exact(dim).zip(out.chunks_exact_mut(dim)) {
        for (row, out) in jac.chunks_exact(dim).zip(out) {
            *out = dot(row, w);
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn finite(x: &[f64], time: f64) -> Result<(), IntegrateError> {
    match x.iter().all(|x| x.is_finite()) {
        true => Ok(()),
        false => Err(IntegrateError::Diverged { time }),
    }
}

/// What orthonormalises the vectors and takes note of their growth.
type Stretch<'a> = &'a mut dyn FnMut(&mut [f64]);

/// Advances interval by interval, `advance(number, stretch)`, and averages the logarithms of growth.
fn estimate(
    interval: f64,
    dim: usize,
    plan: &LyapunovPlan,
    mut advance: impl FnMut(usize, Stretch) -> Result<(), IntegrateError>,
) -> Result<Spectrum, IntegrateError> {
    for step in 0..plan.transient {
        advance(step, &mut |w| {
            orthonormalize(w, dim, &mut vec![0.0; plan.count])
        })?;
    }
    let length = plan.intervals / BLOCKS;
    let mut blocks = vec![vec![0.0; plan.count]; BLOCKS];
    for (i, block) in blocks.iter_mut().enumerate() {
        for step in 0..length {
            let number = plan.transient + i * length + step;
            advance(number, &mut |w| orthonormalize(w, dim, block))?;
        }
        let time = length as f64 * interval;
        block.iter_mut().for_each(|sum| *sum /= time);
    }
    Ok(summarize(&blocks))
}

/// Gram and Schmidt's orthonormalisation, each vector against all before it, twice: once is not enough for vectors
/// that have almost collapsed onto one. Adds ln R_jj to `logs`; R_jj = 0 counts as 1e-300.
fn orthonormalize(w: &mut [f64], dim: usize, logs: &mut [f64]) {
    for (j, log) in logs.iter_mut().enumerate() {
        let (done, rest) = w.split_at_mut(j * dim);
        let vector = &mut rest[..dim];
        for _ in 0..2 {
            for earlier in done.chunks_exact(dim) {
                let overlap = dot(earlier, vector);
                vector
                    .iter_mut()
                    .zip(earlier)
                    .for_each(|(v, e)| *v -= overlap * e);
            }
        }
        let length = dot(vector, vector).sqrt().max(1e-300);
        vector.iter_mut().for_each(|v| *v /= length);
        *log += length.ln();
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
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Rng, Stream};
    use crate::system::{SYSTEMS, SystemInfo, find};

    fn start(system: &dyn System, seed: u64) -> Vec<f64> {
        let mut x = vec![0.0; system.dim()];
        system.draw_initial(&mut Rng::new(seed, Stream::InitialState), &mut x);
        x
    }

    fn spectrum(
        info: &SystemInfo,
        set: &[(&str, &str)],
        plan: impl FnOnce(usize) -> LyapunovPlan,
    ) -> Spectrum {
        let system = info.with(set).unwrap();
        lyapunov_spectrum(
            &*system,
            info.time,
            &start(&*system, 1),
            &plan(system.dim()),
        )
        .unwrap()
    }

    #[test]
    fn the_kaplan_yorke_dimension_follows_its_definition() {
        assert_eq!(kaplan_yorke(&[-0.1, -1.0]), 0.0);
        assert_eq!(kaplan_yorke(&[0.5, 0.0, -1.0]), 2.5);
        assert_eq!(kaplan_yorke(&[0.5, -0.5]), 2.0);
        assert_eq!(kaplan_yorke(&[1.0, 0.5]), 2.0);
        // Lorenz-63 with the exponents of Sprott (2003), whose table gives 2.06215.
        assert!((kaplan_yorke(&[0.9056, 0.0, -14.5723]) - 2.06215).abs() < 1e-5);
    }

    /// Σλ is the mean divergence of a flow: −(σ + 1 + β) for Lorenz-63, −N for Lorenz-96, whatever the orbit.
    #[test]
    fn the_sum_is_the_divergence() {
        let short = |dim: usize| LyapunovPlan {
            intervals: 1000,
            ..LyapunovPlan::full(dim)
        };
        let sum = |name: &str| {
            spectrum(find(name).unwrap(), &[], short)
                .exponents
                .iter()
                .sum::<f64>()
        };
        // The tolerance of 1e-9 a step, 10 steps an interval of 0.1, times M vectors.
        assert!(
            (sum("lorenz63") + 41.0 / 3.0).abs() < 3e-7,
            "{}",
            sum("lorenz63")
        );
        assert!((sum("lorenz96") + 20.0).abs() < 2e-6, "{}", sum("lorenz96"));
    }

    /// N = 20, F = 16 against a joint fourth-order Runge–Kutta integration of state and tangent space with steps of
    /// 0.005, which gave these two decimals.
    #[test]
    fn lorenz_96_has_the_spectrum_of_an_independent_computation() {
        let plan = |dim| LyapunovPlan {
            intervals: 6000,
            tolerance: Tolerance::relative(1e-7),
            ..LyapunovPlan::full(dim)
        };
        let found = spectrum(find("lorenz96").unwrap(), &[], plan);
        for (j, expected) in [3.69, 3.02, 2.39, 1.77, 1.25, 0.75, 0.28, 0.0]
            .into_iter()
            .enumerate()
        {
            // Both are estimates; the other one's error is taken to be as large as ours.
            let tolerance = 0.005 + 4.0 * 2.0_f64.sqrt() * found.errors[j];
            assert!(
                (found.exponents[j] - expected).abs() < tolerance,
                "{j}: {found:?}"
            );
        }
        assert!(
            (found.kaplan_yorke() - 16.4).abs() < 0.1,
            "{}",
            found.kaplan_yorke()
        );
    }

    /// Coupled maps without coupling at a = 2 are N logistic maps at r = 4: all exponents are ln 2.
    #[test]
    fn uncoupled_maps_keep_their_own_exponents() {
        let set = [("n", "4"), ("a", "2"), ("epsilon", "0")];
        let found = spectrum(
            find("coupled-map-lattice").unwrap(),
            &set,
            LyapunovPlan::full,
        );
        for (exponent, error) in found.exponents.iter().zip(&found.errors) {
            // The deviation decays like 1/n and is not Gaussian; ln of a derivative seldom reaches −20.
            assert!(
                (exponent - 2.0_f64.ln()).abs() < 5.0 * error + 20.0 / 1e5,
                "{found:?}"
            );
        }
    }

    /// A map needs many steps, a large flow little time.
    fn literature_plan(time: Time, dim: usize, count: usize) -> LyapunovPlan {
        let (interval, intervals) = match time {
            Time::Map => (1.0, 400_000),
            Time::Flow { .. } if dim <= 4 => (0.5, 20_000),
            Time::Flow { .. } => (0.5, 4_000),
        };
        LyapunovPlan {
            count,
            interval,
            transient: 400,
            intervals,
            tolerance: Tolerance::relative(1e-8),
        }
    }

    /// Within what the source's digits leave open, four standard errors of ours, and ln(10³)/T: the vector along the
    /// flow grows with the speed |f(x)| alone, which differs by less than 10³ between two points of an attractor.
    #[test]
    fn exponents_agree_with_the_literature_for_every_system_that_has_them() {
        let all = SYSTEMS
            .iter()
            .flat_map(|info| info.known.iter().map(move |known| (info, known)));
        for (info, known) in all {
            let plan = |dim| literature_plan(info.time, dim, known.exponents.len());
            let found = spectrum(info, known.set, plan);
            let LyapunovPlan {
                interval,
                intervals,
                ..
            } = plan(info.with(known.set).unwrap().dim());
            let bounded = 1e3_f64.ln() / (interval * intervals as f64);
            for (j, expected) in known.exponents.iter().enumerate() {
                let tolerance = known.tolerance + 4.0 * found.errors[j] + bounded;
                assert!(
                    (found.exponents[j] - expected).abs() < tolerance,
                    "{} {known:?}: {found:?}",
                    info.entry.id
                );
            }
        }
    }

    #[test]
    fn the_trace_ends_at_the_exponents() {
        let found = spectrum(find("henon").unwrap(), &[], |dim| LyapunovPlan {
            intervals: 2000,
            ..LyapunovPlan::full(dim)
        });
        assert_eq!(found.trace.len(), BLOCKS);
        assert_eq!(found.trace[BLOCKS - 1], found.exponents);
    }

    #[test]
    fn a_diverging_orbit_is_an_outcome() {
        let henon = find("henon").unwrap();
        let outcome = lyapunov_spectrum(
            &*henon.with(&[]).unwrap(),
            henon.time,
            &[10.0, 0.0],
            &LyapunovPlan::full(2),
        );
        assert!(
            matches!(outcome, Err(IntegrateError::Diverged { .. })),
            "{outcome:?}"
        );
    }
}
