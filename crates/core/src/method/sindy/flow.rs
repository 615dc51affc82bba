//! One step of a fitted system: a map's next row, or a flow over Δt with its inputs changing linearly,
//!
//! ```text
//! dx/dt = f(x, s),   ds/dt = (s_{t+1} − s_t)/Δt,   dJ/dt = (∂f/∂(x, s), −1/Δt) J,   J(0) = 1
//! ```
//!
//! J with respect to (x_t, s_t) is the derivative of the very steps that were taken.

use super::{Law, RELATIVE, Sindy};
use crate::dynamics::{Forecasts, Stretch, Tangent};
use crate::simd::{Isa, Simd, Task, dispatch_widest};
use crate::system::halving::{Halving, Limits};

impl Sindy {
    fn limits(&self) -> Limits<'_> {
        Limits {
            relative: RELATIVE,
            absolute: &self.absolute,
            bound: &self.bound,
        }
    }
}

/// Makes steps in memory of its own.
pub(super) struct Stepper<'a> {
    sindy: &'a Sindy,
    halving: Halving,
    slots: Vec<f64>,
    /// (x, s), or (x, s, J).
    state: Vec<f64>,
    /// ds/dt.
    drift: Vec<f64>,
    /// ∂f/∂(x, s), N × V.
    slopes: Vec<f64>,
}

impl<'a> Stepper<'a> {
    /// Makes steps.
    pub(super) fn new(sindy: &'a Sindy) -> Stepper<'a> {
        Stepper::of(sindy, sindy.library.variables())
    }

    /// Makes steps with their Jacobians.
    pub(super) fn with_tangent(sindy: &'a Sindy) -> Stepper<'a> {
        let v = sindy.library.variables();
        Stepper::of(sindy, v + v * v)
    }

    fn of(sindy: &'a Sindy, numbers: usize) -> Stepper<'a> {
        let v = sindy.library.variables();
        Stepper {
            halving: Halving::new(numbers),
            slots: vec![0.0; sindy.equations.slots().max(sindy.slopes.slots())],
            state: vec![0.0; numbers],
            drift: vec![0.0; v - sindy.channels],
            slopes: vec![0.0; sindy.channels * v],
            sindy,
        }
    }

    /// z ← G(z, s); NaN if it leaves its bounds.
    pub(super) fn step(&mut self, z: &mut [f64], s: &[f64]) {
        let is_within = match self.sindy.law {
            Law::Map => self.step_map(z, s),
            Law::Flow { dt } => self.integrate(z, s, dt),
        };
        if !is_within {
            z.fill(f64::NAN);
        }
    }

    fn step_map(&mut self, z: &mut [f64], s: &[f64]) -> bool {
        let n = self.sindy.channels;
        self.state[..n].copy_from_slice(&z[..n]);
        self.state[n..n + s.len()].copy_from_slice(s);
        let equations = &self.sindy.equations;
        equations.evaluate::<1>(&self.state, &mut self.slots, z);
        self.sindy.limits().holds(z.iter().copied())
    }

    /// The flow over Δt of the state, and of what stands behind it in memory.
    fn integrate(&mut self, z: &mut [f64], s: &[f64], dt: f64) -> bool {
        let (n, v) = (self.sindy.channels, self.sindy.library.variables());
        for (drift, (to, from)) in self.drift.iter_mut().zip(s.iter().zip(&z[n..])) {
            *drift = (to - from) / dt;
        }
        self.state[..v].copy_from_slice(z);
        let Stepper {
            sindy,
            halving,
            slots,
            state,
            drift,
            slopes,
        } = self;
        let mut flow = |x: &[f64], dx: &mut [f64]| {
            sindy.equations.evaluate::<1>(x, slots, &mut dx[..n]);
            dx[n..v].copy_from_slice(drift);
            if x.len() > v {
                sindy.slopes.evaluate::<1>(x, slots, slopes);
                tangent(slopes, (n, v), dt, &x[v..], &mut dx[v..]);
            }
        };
        let is_within = halving.advance(&mut flow, state, dt, sindy.limits());
        z[..n].copy_from_slice(&self.state[..n]);
        z[n..].copy_from_slice(s);
        is_within
    }

    /// ∂f/∂x of a map, into J.
    fn slopes_of_map(&mut self, z: &[f64], s: &[f64], jac: &mut [f64]) {
        let (n, v) = (self.sindy.channels, self.sindy.library.variables());
        self.state[..n].copy_from_slice(z);
        self.state[n..v].copy_from_slice(s);
        let slopes = &self.sindy.slopes;
        slopes.evaluate::<1>(&self.state, &mut self.slots, &mut self.slopes);
        for (row, slopes) in jac.chunks_exact_mut(n).zip(self.slopes.chunks_exact(v)) {
            row.copy_from_slice(&slopes[..n]);
        }
    }
}

/// dJ/dt = (Df, −1/Δt) J; J is V × V.
fn tangent(df: &[f64], (n, v): (usize, usize), dt: f64, j: &[f64], dj: &mut [f64]) {
    let (of_x, of_s) = dj.split_at_mut(n * v);
    crate::linalg::multiply(df, j, (n, v, v), of_x);
    of_s.fill(0.0);
    for (k, row) in of_s.chunks_exact_mut(v).enumerate() {
        row[n + k] = -1.0 / dt;
    }
}

impl Tangent for Stepper<'_> {
    fn advance(&mut self, z: &mut [f64], s: &[f64], jac: &mut [f64]) {
        let (n, v) = (self.sindy.channels, self.sindy.library.variables());
        let Law::Flow { .. } = self.sindy.law else {
            self.slopes_of_map(z, s, jac);
            self.step(z, s);
            return;
        };
        let j = &mut self.state[v..];
        j.fill(0.0);
        j.iter_mut().step_by(v + 1).for_each(|j| *j = 1.0);
        self.step(z, s);
        let is_finite = z.iter().all(|z| z.is_finite());
        let j = &self.state[v..];
        for (e, jac) in jac.iter_mut().enumerate() {
            *jac = match (is_finite, e / v < n) {
                (true, true) => j[e],
                (true, false) => 0.0,
                _ => f64::NAN,
            };
        }
    }
}

/// Forecasts side by side.
const WIDTH: usize = 8;

/// Forecasts in lanes; a lane whose step must be halved takes it alone.
pub(super) struct Lanes<'a> {
    sindy: &'a Sindy,
    data: Stretch<'a>,
    /// The row that each branch has reached.
    rows: Vec<usize>,
    /// (x, s), `[variable][lane]`.
    z: Vec<f64>,
    /// ds/dt, or s_{t+1} of a map, `[input][lane]`.
    drift: Vec<f64>,
    halving: Halving,
    slots: Vec<f64>,
    alone: Stepper<'a>,
    one: Vec<f64>,
    out: Vec<f64>,
    isa: Isa,
}

impl<'a> Lanes<'a> {
    pub(super) fn new(sindy: &'a Sindy, data: Stretch<'a>) -> Lanes<'a> {
        let (n, v) = (sindy.channels, sindy.library.variables());
        Lanes {
            sindy,
            data,
            rows: Vec::new(),
            z: vec![0.0; v * WIDTH],
            drift: vec![0.0; (v - n) * WIDTH],
            halving: Halving::new(v * WIDTH),
            slots: vec![0.0; sindy.equations.slots() * WIDTH],
            alone: Stepper::new(sindy),
            one: vec![0.0; v],
            out: Vec::new(),
            isa: Isa::detect(),
        }
    }

    /// One step of all branches.
    fn step(&mut self) {
        let (n, v) = (self.sindy.channels, self.sindy.library.variables());
        for row in &mut self.rows {
            *row += 1;
        }
        let inputs = |lane: usize| self.data.inputs_of(self.rows[lane]..self.rows[lane] + 1);
        let branches = self.rows.len();
        let errors = match self.sindy.law {
            Law::Map => {
                for lane in 0..branches {
                    (n..v).for_each(|i| self.z[i * WIDTH + lane] = inputs(lane)[i - n]);
                }
                let (sindy, z, slots) = (self.sindy, &self.z, &mut self.slots);
                let to = &mut self.drift;
                to.resize(n * WIDTH, 0.0);
                dispatch_widest(
                    self.isa,
                    StepMap {
                        sindy,
                        z,
                        slots,
                        to,
                    },
                );
                self.z[..n * WIDTH].copy_from_slice(to);
                [0.0; WIDTH]
            }
            Law::Flow { dt } => {
                for lane in 0..branches {
                    for i in n..v {
                        let (to, from) = (inputs(lane)[i - n], self.z[i * WIDTH + lane]);
                        self.drift[(i - n) * WIDTH + lane] = (to - from) / dt;
                    }
                }
                let task = StepFlow {
                    sindy: self.sindy,
                    z: &self.z,
                    drift: &self.drift,
                    dt,
                    slots: &mut self.slots,
                    halving: &mut self.halving,
                };
                dispatch_widest(self.isa, task)
            }
        };
        for (lane, error) in errors.into_iter().enumerate().take(branches) {
            self.settle(lane, error);
        }
    }

    /// Takes the step of a lane over, or makes it alone.
    fn settle(&mut self, lane: usize, error: f64) {
        let (n, v) = (self.sindy.channels, self.sindy.library.variables());
        let s = self.data.inputs_of(self.rows[lane]..self.rows[lane] + 1);
        let is_map = self.sindy.law == Law::Map;
        let places = |m: usize| (0..m).map(move |i| i * WIDTH + lane);
        if is_map {
            let is_within = self.sindy.limits().holds(places(n).map(|e| self.z[e]));
            if !is_within {
                places(n).for_each(|e| self.z[e] = f64::NAN);
            }
        } else if error <= 1.0 {
            let end = self.halving.end();
            let is_within = self.sindy.limits().holds(places(n).map(|e| end[e]));
            for (i, e) in places(v).enumerate() {
                self.z[e] = match (is_within, i.checked_sub(n)) {
                    (false, _) => f64::NAN,
                    (true, None) => end[e],
                    (true, Some(input)) => s[input],
                };
            }
        } else if !self.z[lane].is_nan() {
            for (one, e) in self.one.iter_mut().zip(places(v)) {
                *one = self.z[e];
            }
            self.alone.step(&mut self.one, s);
            for (one, e) in self.one.iter().zip(places(v)) {
                self.z[e] = *one;
            }
        }
    }
}

impl Forecasts for Lanes<'_> {
    fn width(&self) -> usize {
        WIDTH
    }

    fn start(&mut self, rows: &[usize]) {
        self.rows.clear();
        self.rows.extend(rows);
        let n = self.sindy.channels;
        for (lane, &t) in rows.iter().enumerate() {
            let values = self.data.row(t).iter().chain(self.data.inputs_of(t..t + 1));
            for (i, &value) in values.enumerate() {
                self.z[i * WIDTH + lane] = value;
            }
        }
        // Lanes without a branch repeat the first, so that they cost no halving.
        for lane in rows.len()..WIDTH {
            (0..n).for_each(|i| self.z[i * WIDTH + lane] = self.z[i * WIDTH]);
        }
    }

    fn advance(&mut self, steps: usize, seen: usize) -> &[f64] {
        let n = self.sindy.channels;
        self.out.clear();
        for step in 0..steps {
            self.step();
            if step + seen >= steps {
                self.out.extend_from_slice(&self.z[..n * WIDTH]);
            }
        }
        &self.out
    }
}

/// f(x, s) of all lanes.
struct StepMap<'a> {
    sindy: &'a Sindy,
    z: &'a [f64],
    slots: &'a mut [f64],
    to: &'a mut [f64],
}

impl Task for StepMap<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let equations = &self.sindy.equations;
        equations.evaluate::<WIDTH>(self.z, self.slots, self.to);
    }
}

/// One step over Δt of all lanes, with the error of each.
struct StepFlow<'a> {
    sindy: &'a Sindy,
    z: &'a [f64],
    drift: &'a [f64],
    dt: f64,
    slots: &'a mut [f64],
    halving: &'a mut Halving,
}

impl Task for StepFlow<'_> {
    type Output = [f64; WIDTH];

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) -> [f64; WIDTH] {
        let (sindy, slots, drift) = (self.sindy, self.slots, self.drift);
        let n = sindy.channels * WIDTH;
        self.halving.attempt::<WIDTH>(
            #[inline(always)]
            |x, dx| {
                sindy.equations.evaluate::<WIDTH>(x, slots, &mut dx[..n]);
                dx[n..].copy_from_slice(drift);
            },
            self.z,
            self.dt,
            sindy.limits(),
        )
    }
}
