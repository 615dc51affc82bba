//! Integration of flows dx/dt = f(x): Dormand and Prince's explicit Runge–Kutta method of order 8(5,3) with
//! adaptive steps and an interpolant of order 7 (DOP853; Hairer, Nørsett and Wanner 1993, §II.5–6), and the
//! classical method of order 4 with fixed steps.
//!
//! ```text
//! k_i = f(x + h Σ_j a_ij k_j),   x⁺ = x + h Σ_i b_i k_i
//! err = h e₅² / √(M (e₅² + e₃²/100)),   e_p = ‖(Σ_i (b_i − b̂_i) k_i)_m / (atol + rtol max(|x_m|, |x⁺_m|))‖₂
//! h⁺  = h min(6, max(1/3, 0.9 err^(−1/8)))
//! ```
//!
//! The crate `ode_solvers` 0.6 was tried first. With a dimension known only at run time it allocates in every stage:
//! 10⁵ rows of Lorenz-63 took 0.37 s (0.03 s with the dimension as a type, which a list of systems cannot have). Its
//! node c₁₂ is 0 instead of 1, it keeps all rows as vectors of their own, it stops after 10⁵ steps, and nalgebra with
//! it compiles for over a minute.
//!
//! ```
//! use attractor_core::system::integrate::{Dop853, Tolerance};
//!
//! let decay = |x: &[f64], dx: &mut [f64]| dx[0] = -x[0];
//! let mut orbit = Dop853::new(decay, &[1.0], Tolerance::relative(1e-10));
//! let mut x = [0.0];
//! orbit.state_at(1.0, &mut x)?;
//! assert!((x[0] - (-1.0_f64).exp()).abs() < 1e-9);
//! # Ok::<(), attractor_core::system::integrate::IntegrateError>(())
//! ```

use super::tableau::{A, D, E3, E5, Row, STAGES, STAGES_DENSE};

/// How large the error of one step may be: `absolute + relative · |x|` in every coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    /// The part that is proportional to the state.
    pub relative: f64,
    /// The part that is not.
    pub absolute: f64,
}

/// How an integration ends early.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum IntegrateError {
    /// The state left every bound.
    #[error("the orbit diverges at time {time}")]
    Diverged {
        /// The last time at which the state was finite.
        time: f64,
    },
    /// No step is small enough, although the state is bounded.
    #[error("no step is small enough for the tolerance at time {time}")]
    StepTooSmall {
        /// Where the integration stood.
        time: f64,
    },
    /// The steps are so small that the integration would not end.
    #[error("over {steps} steps between two rows at time {time}")]
    TooManySteps {
        /// Where the integration stood.
        time: f64,
        /// How many steps were taken.
        steps: usize,
    },
    /// It was asked to stop.
    #[error(transparent)]
    Stopped(#[from] crate::progress::Stopped),
}

/// Steps from one asked-for state to the next after which the flow is called stiff.
const MAX_STEPS: usize = 1_000_000;

/// States beyond this that defeat every step size count as infinite.
const HUGE: f64 = 1e10;

/// An orbit of a flow in adaptive steps; nothing is allocated after [`Dop853::new`].
#[derive(Debug, Clone)]
pub struct Dop853<F> {
    flow: F,
    tolerance: Tolerance,
    /// Time at the start and at the end of the last step.
    span: [f64; 2],
    /// The step to try next.
    h: f64,
    /// State at the start of the last step.
    x_old: Vec<f64>,
    /// State at its end.
    x: Vec<f64>,
    /// Stages, 16 × M; k₀ is the slope at the start of a step, k₁₂ that at its end.
    k: Vec<f64>,
    /// The state at which a stage is evaluated.
    y: Vec<f64>,
    /// Coefficients of the interpolant over the last step, 7 × M; working memory until then.
    dense: Vec<f64>,
    /// Whether `dense` belongs to the last step.
    dense_ready: bool,
}

impl Tolerance {
    /// A relative tolerance with the same number as absolute one.
    pub fn relative(tolerance: f64) -> Tolerance {
        Tolerance {
            relative: tolerance,
            absolute: tolerance,
        }
    }
}

impl<F: FnMut(&[f64], &mut [f64])> Dop853<F> {
    /// Starts at time 0 in state `x0`; `flow(x, dx)` writes the right-hand side.
    pub fn new(mut flow: F, x0: &[f64], tolerance: Tolerance) -> Dop853<F> {
        let dim = x0.len();
        let mut k = vec![0.0; STAGES_DENSE * dim];
        flow(x0, &mut k[STAGES * dim..][..dim]);
        let mut orbit = Dop853 {
            flow,
            tolerance,
            span: [0.0; 2],
            h: 0.0,
            x_old: x0.to_vec(),
            x: x0.to_vec(),
            k,
            y: vec![0.0; dim],
            dense: vec![0.0; 7 * dim],
            dense_ready: false,
        };
        orbit.h = orbit.first_step();
        orbit
    }

    /// The time reached.
    pub fn time(&self) -> f64 {
        self.span[1]
    }

    /// The state at [the time reached](Dop853::time).
    pub fn state(&self) -> &[f64] {
        &self.x
    }

    /// Writes the state at a time, not before the last step, going as many steps further as it takes.
    pub fn state_at(&mut self, time: f64, out: &mut [f64]) -> Result<(), IntegrateError> {
        self.reach(time)?;
        if time == self.span[1] {
            out.copy_from_slice(&self.x);
        } else {
            self.interpolate(time, out);
        }
        Ok(())
    }

    /// Goes to a time exactly: the last step is cut to end there, and the state may then be changed by `edit`, as
    /// when tangent vectors are made orthogonal.
    pub fn stop_at(
        &mut self,
        time: f64,
        edit: impl FnOnce(&mut [f64]),
    ) -> Result<(), IntegrateError> {
        for taken in 0.. {
            let left = time - self.span[1];
            if left <= 0.0 {
                break;
            }
            self.limit(taken)?;
            let free = self.h;
            self.h = free.min(left);
            self.step()?;
            if (time - self.span[1]).abs() <= 8.0 * f64::EPSILON * time.abs() {
                self.span[1] = time;
                self.h = self.h.max(free);
            }
        }
        edit(&mut self.x);
        let dim = self.x.len();
        (self.flow)(&self.x, &mut self.k[STAGES * dim..][..dim]);
        Ok(())
    }

    /// Takes one step, as large as the tolerance allows.
    pub fn step(&mut self) -> Result<(), IntegrateError> {
        let dim = self.x.len();
        self.x_old.copy_from_slice(&self.x);
        self.k.copy_within(STAGES * dim..(STAGES + 1) * dim, 0);
        self.dense_ready = false;
        let mut largest = 6.0;
        loop {
            let start = self.span[1];
            if self.h <= 4.0 * f64::EPSILON * start.abs().max(f64::MIN_POSITIVE) {
                return Err(self.stuck());
            }
            for i in 1..STAGES {
                self.stage(i);
            }
            combine(&mut self.x, &self.x_old, self.h, A[STAGES], &self.k);
            let err = self.error();
            let h = self.h;
            let factor = 0.9 * err.powf(-0.125);
            if err <= 1.0 {
                (self.flow)(&self.x, &mut self.k[STAGES * dim..][..dim]);
                self.span = [start, start + h];
                self.h = h * factor.clamp(1.0 / 3.0, largest);
                return Ok(());
            }
            // A NaN comes from overflow: far smaller steps are needed. After a refusal the step does not grow.
            self.h = h * if err.is_finite() {
                factor.max(1.0 / 3.0)
            } else {
                0.1
            };
            largest = 1.0;
        }
    }

    fn reach(&mut self, time: f64) -> Result<(), IntegrateError> {
        assert!(
            time >= self.span[0],
            "time {time} lies before the last step"
        );
        for taken in 0.. {
            if time <= self.span[1] {
                break;
            }
            self.limit(taken)?;
            self.step()?;
        }
        Ok(())
    }

    fn limit(&self, taken: usize) -> Result<(), IntegrateError> {
        let time = self.span[1];
        match taken {
            MAX_STEPS => Err(IntegrateError::TooManySteps { time, steps: taken }),
            _ => Ok(()),
        }
    }

    fn stuck(&self) -> IntegrateError {
        let time = self.span[1];
        if self.x_old.iter().all(|x| x.abs() < HUGE) {
            IntegrateError::StepTooSmall { time }
        } else {
            IntegrateError::Diverged { time }
        }
    }

    /// k_i = f(x + h Σ_j a_ij k_j)
    fn stage(&mut self, i: usize) {
        let dim = self.x.len();
        combine(&mut self.y, &self.x_old, self.h, A[i], &self.k);
        (self.flow)(&self.y, &mut self.k[i * dim..][..dim]);
    }

    /// The error of the step as a multiple of the tolerance.
    fn error(&mut self) -> f64 {
        let dim = self.x.len();
        let (zero, rest) = self.dense.split_at_mut(dim);
        let (e5, e3) = rest[..2 * dim].split_at_mut(dim);
        zero.fill(0.0);
        combine(e5, zero, 1.0, E5, &self.k);
        combine(e3, zero, 1.0, E3, &self.k);
        let (mut sum5, mut sum3) = (0.0, 0.0);
        for m in 0..dim {
            let size = self.x_old[m].abs().max(self.x[m].abs());
            let scale = 1.0 / (self.tolerance.absolute + self.tolerance.relative * size);
            sum5 += (e5[m] * scale).powi(2);
            sum3 += (e3[m] * scale).powi(2);
        }
        if sum5 == 0.0 {
            return 0.0;
        }
        self.h * sum5 / (dim as f64 * (sum5 + 0.01 * sum3)).sqrt()
    }

    /// A first step such that an explicit Euler step of it and its change of slope are small (ibid., §II.4).
    fn first_step(&mut self) -> f64 {
        let dim = self.x.len();
        let (head, slope) = self.k.split_at_mut(STAGES * dim);
        let slope = &slope[..dim];
        let tolerance = self.tolerance;
        let norm = |v: &dyn Fn(usize) -> f64, x: &[f64]| {
            let scaled = |m: usize| v(m) / (tolerance.absolute + tolerance.relative * x[m].abs());
            ((0..dim).map(|m| scaled(m).powi(2)).sum::<f64>() / dim as f64).sqrt()
        };
        let d0 = norm(&|m| self.x[m], &self.x);
        let d1 = norm(&|m| slope[m], &self.x);
        let h0 = if d0 < 1e-5 || d1 < 1e-5 {
            1e-6
        } else {
            0.01 * d0 / d1
        };
        (0..dim).for_each(|m| self.y[m] = self.x[m] + h0 * slope[m]);
        (self.flow)(&self.y, &mut head[..dim]);
        let d2 = norm(&|m| head[m] - slope[m], &self.x) / h0;
        let steepest = d1.max(d2);
        let h1 = if steepest <= 1e-15 {
            (1e-3 * h0).max(1e-6)
        } else {
            (0.01 / steepest).powf(0.125)
        };
        if h1.is_finite() {
            h1.min(100.0 * h0)
        } else {
            h0
        }
    }

    /// x(t) = x + θ(F₀ + θ̄(F₁ + θ(F₂ + θ̄(F₃ + θ(F₄ + θ̄(F₅ + θF₆)))))), θ̄ = 1 − θ, over the last step.
    fn interpolate(&mut self, time: f64, out: &mut [f64]) {
        if !self.dense_ready {
            self.prepare_interpolant();
        }
        let theta = (time - self.span[0]) / (self.span[1] - self.span[0]);
        let rest = 1.0 - theta;
        let dim = out.len();
        for (m, x) in out.iter_mut().enumerate() {
            let f = |i: usize| self.dense[i * dim + m];
            let inner = f(3) + theta * (f(4) + rest * (f(5) + theta * f(6)));
            *x = self.x_old[m] + theta * (f(0) + rest * (f(1) + theta * (f(2) + rest * inner)));
        }
    }

    fn prepare_interpolant(&mut self) {
        let h = std::mem::replace(&mut self.h, self.span[1] - self.span[0]);
        for i in STAGES + 1..STAGES_DENSE {
            self.stage(i);
        }
        let dim = self.x.len();
        let step = std::mem::replace(&mut self.h, h);
        for m in 0..dim {
            let change = self.x[m] - self.x_old[m];
            let (start, end) = (step * self.k[m], step * self.k[STAGES * dim + m]);
            self.dense[m] = change;
            self.dense[dim + m] = start - change;
            self.dense[2 * dim + m] = 2.0 * change - start - end;
        }
        self.y.fill(0.0);
        for (row, out) in D.iter().zip(self.dense[3 * dim..].chunks_exact_mut(dim)) {
            combine(out, &self.y, step, row, &self.k);
        }
        self.dense_ready = true;
    }
}

/// The classical Runge–Kutta method of order 4 with a fixed step.
#[derive(Debug, Clone)]
pub struct Rk4 {
    k: [Vec<f64>; 4],
    y: Vec<f64>,
}

impl Rk4 {
    /// Memory for states of `dim` coordinates.
    pub fn new(dim: usize) -> Rk4 {
        Rk4 {
            k: std::array::from_fn(|_| vec![0.0; dim]),
            y: vec![0.0; dim],
        }
    }

    /// x ← x + h (k₁ + 2k₂ + 2k₃ + k₄)/6
    pub fn step(&mut self, mut flow: impl FnMut(&[f64], &mut [f64]), x: &mut [f64], h: f64) {
        self.y.copy_from_slice(x);
        for (i, node) in [0.5, 0.5, 1.0, 0.0].into_iter().enumerate() {
            flow(&self.y, &mut self.k[i]);
            for (m, y) in self.y.iter_mut().enumerate() {
                *y = x[m] + h * node * self.k[i][m];
            }
        }
        let [k1, k2, k3, k4] = &self.k;
        for (m, x) in x.iter_mut().enumerate() {
            *x += h / 6.0 * (k1[m] + 2.0 * (k2[m] + k3[m]) + k4[m]);
        }
    }
}

/// Coordinates that are summed side by side, in registers.
const LANES: usize = 8;

/// y = x + h Σ_j a_j k_j
#[inline(always)]
pub(super) fn combine(y: &mut [f64], x: &[f64], h: f64, row: Row, k: &[f64]) {
    let dim = y.len();
    let whole = dim - dim % LANES;
    for start in (0..whole).step_by(LANES) {
        let mut sum = [0.0; LANES];
        for &(j, a) in row {
            let k = &k[j * dim + start..][..LANES];
            sum.iter_mut().zip(k).for_each(|(sum, k)| *sum += a * k);
        }
        for (lane, sum) in sum.iter().enumerate() {
            y[start + lane] = x[start + lane] + h * sum;
        }
    }
    for m in whole..dim {
        let sum: f64 = row.iter().map(|&(j, a)| a * k[j * dim + m]).sum();
        y[m] = x[m] + h * sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x = (cos t, sin t), whose period and radius show errors of phase and size.
    fn circle(x: &[f64], dx: &mut [f64]) {
        dx.copy_from_slice(&[-x[1], x[0]]);
    }

    /// Least-squares slope of log error over log step.
    fn order(points: &[(f64, f64)]) -> f64 {
        let logs: Vec<(f64, f64)> = points.iter().map(|(h, e)| (h.ln(), e.ln())).collect();
        let n = logs.len() as f64;
        let mean = |f: &dyn Fn(&(f64, f64)) -> f64| logs.iter().map(f).sum::<f64>() / n;
        let (x, y) = (mean(&|p| p.0), mean(&|p| p.1));
        mean(&|p| (p.0 - x) * (p.1 - y)) / mean(&|p| (p.0 - x).powi(2))
    }

    type Flow = fn(&[f64], &mut [f64]);

    /// A step of a given size, whatever its error.
    fn forced_step(h: f64) -> Dop853<Flow> {
        let nonlinear: Flow = |x, dx| {
            let r = 1.0 + 0.5 * x[0];
            dx.copy_from_slice(&[-x[1] * r, x[0] * r]);
        };
        let mut orbit = Dop853::new(nonlinear, &[1.0, 0.0], Tolerance::relative(1e3));
        orbit.h = h;
        orbit.step().unwrap();
        assert_eq!(orbit.time(), h);
        orbit
    }

    fn reference(time: f64) -> [f64; 2] {
        let mut orbit = Dop853::new(
            forced_step(0.1).flow,
            &[1.0, 0.0],
            Tolerance::relative(1e-15),
        );
        let mut x = [0.0; 2];
        orbit
            .stop_at(time, |state| x.copy_from_slice(state))
            .unwrap();
        x
    }

    fn distance(a: &[f64], b: &[f64]) -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| (a - b).powi(2))
            .sum::<f64>()
            .sqrt()
    }

    /// One step of order p has an error ~ h^(p+1); over the range of h its next term, a factor h, tilts the fitted
    /// exponent by less than 0.5. An order lost or won would move it by 1.
    #[test]
    fn a_step_has_order_eight_and_its_interpolant_seven() {
        let steps = [0.16, 0.19, 0.22, 0.25, 0.28];
        let ends = steps.map(|h| (h, distance(forced_step(h).state(), &reference(h))));
        assert!(
            (order(&ends) - 9.0).abs() < 0.5,
            "{} {ends:?}",
            order(&ends)
        );
        let inside = steps.map(|h| {
            let mut x = [0.0; 2];
            forced_step(h).state_at(0.4 * h, &mut x).unwrap();
            (h, distance(&x, &reference(0.4 * h)))
        });
        assert!(
            (order(&inside) - 8.0).abs() < 0.5,
            "{} {inside:?}",
            order(&inside)
        );
    }

    #[test]
    fn the_fixed_step_method_has_order_four() {
        let error = |n: u32| {
            let h = 1.0 / f64::from(n);
            let (mut method, mut x) = (Rk4::new(2), [1.0, 0.0]);
            (0..n).for_each(|_| method.step(circle, &mut x, h));
            (h, distance(&x, &[1.0_f64.cos(), 1.0_f64.sin()]))
        };
        let points = [10, 20, 40, 80].map(error);
        // The next term is smaller by h ≤ 0.1.
        assert!((order(&points) - 4.0).abs() < 0.1, "{points:?}");
    }

    #[test]
    fn the_error_follows_the_tolerance() {
        for exponent in [4, 6, 8, 10, 12] {
            let tolerance = 10f64.powi(-exponent);
            let mut orbit = Dop853::new(circle, &[1.0, 0.0], Tolerance::relative(tolerance));
            let mut x = [0.0; 2];
            let mut worst: f64 = 0.0;
            for i in 0..=1000 {
                let t = 0.0314 * f64::from(i);
                orbit.state_at(t, &mut x).unwrap();
                worst = worst.max(distance(&x, &[t.cos(), t.sin()]));
            }
            // Errors of all steps (some 5 a period, 5 periods) at most add up on a circle.
            assert!(worst < 30.0 * tolerance, "{tolerance}: {worst}");
        }
    }

    #[test]
    fn asking_often_or_rarely_gives_the_same_states() {
        let state = |times: &[f64]| {
            let mut orbit = Dop853::new(circle, &[1.0, 0.0], Tolerance::relative(1e-9));
            let mut x = [0.0; 2];
            times
                .iter()
                .for_each(|&t| orbit.state_at(t, &mut x).unwrap());
            x
        };
        let often: Vec<f64> = (0..=500).map(|i| 0.01 * f64::from(i)).collect();
        assert_eq!(state(&often), state(&often[500..]));
    }

    #[test]
    fn blow_up_in_finite_time_is_divergence() {
        let mut orbit = Dop853::new(
            |x: &[f64], dx: &mut [f64]| dx[0] = x[0] * x[0],
            &[1.0],
            Tolerance::relative(1e-8),
        );
        let outcome = orbit.state_at(2.0, &mut [0.0]);
        let Err(IntegrateError::Diverged { time }) = outcome else {
            panic!("{outcome:?}");
        };
        // x = 1/(1 − t) has its pole at t = 1.
        assert!((time - 1.0).abs() < 1e-6, "{time}");
    }

    #[test]
    fn exponential_growth_ends_as_divergence() {
        let mut orbit = Dop853::new(
            |x: &[f64], dx: &mut [f64]| dx[0] = x[0],
            &[1.0],
            Tolerance::relative(1e-6),
        );
        let outcome = orbit.state_at(1e4, &mut [0.0]);
        assert!(
            matches!(outcome, Err(IntegrateError::Diverged { .. })),
            "{outcome:?}"
        );
    }

    #[test]
    fn a_jump_in_the_slope_is_stepped_over_but_an_undefined_slope_is_not() {
        let outcome = Dop853::new(
            |x: &[f64], dx: &mut [f64]| dx[0] = (1.0 - x[0]).sqrt() + 1.0,
            &[0.0],
            Tolerance::relative(1e-8),
        )
        .state_at(3.0, &mut [0.0]);
        assert!(
            matches!(outcome, Err(IntegrateError::StepTooSmall { .. })),
            "{outcome:?}"
        );
    }
}
