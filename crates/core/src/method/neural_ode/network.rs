//! A fitted neural ordinary differential equation in f64: one step of an explicit Runge–Kutta scheme per row,
//!
//! ```text
//! f(x, s) = W_b σ(W_a x + b_a + C s) + b_b
//! y_i = x + h Σ_{j<i} a_ij k_j        k_i = f(y_i, s)        x' = x + h Σ_i b_i k_i
//! K_i = W_b diag(σ') W_a (1 + h Σ_{j<i} a_ij K_j)        J = 1 + h Σ_i b_i K_i
//! ```

use super::free_run;
use super::scheme::{Activation, Scheme};
use crate::dynamics::{Dynamics, Forecasts, Named, Sizes, Stretch, Values, leaves_f32};
use crate::kernel::field::FieldDims;
use crate::linalg::singular_values;
use crate::rng::{Rng, Stream};
use crate::text::count;
use crate::theta::{Layout, Shape};

/// What a network is, without its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Form {
    pub(super) dims: FieldDims,
    pub(super) activation: Activation,
    pub(super) scheme: Scheme,
    /// Time h from row to row.
    pub(super) h: f64,
}

impl Form {
    /// The tensors of θ.
    pub(super) fn layout(&self) -> Layout {
        let FieldDims {
            states,
            hidden,
            inputs,
        } = self.dims;
        Layout::new([
            ("W_a", Shape::Matrix(hidden, states)),
            ("b_a", Shape::Vector(hidden)),
            ("C", Shape::Matrix(hidden, inputs)),
            ("W_b", Shape::Matrix(states, hidden)),
            ("b_b", Shape::Vector(states)),
        ])
    }

    /// Parameters to start from: those of a layer are uniform within ±1/√(its inputs).
    pub(super) fn start(&self, seed: u64) -> Vec<f32> {
        let mut rng = Rng::new(seed, Stream::Parameters);
        let layout = self.layout();
        let mut theta = vec![0.0; layout.len()];
        for tensor in layout.tensors() {
            let fan_in = match tensor.name {
                "W_b" | "b_b" => self.dims.hidden,
                _ => self.dims.row(),
            };
            let bound = 1.0 / (fan_in as f64).sqrt();
            let entries = theta[tensor.range.clone()].iter_mut();
            entries.for_each(|entry| *entry = rng.between(-bound, bound) as f32);
        }
        theta
    }
}

/// A neural ordinary differential equation.
#[derive(Debug, Clone)]
pub struct NeuralOde {
    pub(super) form: Form,
    layout: Layout,
    theta: Vec<f32>,
    /// θ in f64.
    wide: Vec<f64>,
    /// h, the number of stages and which units, as a model file has them.
    numbers: [f64; 3],
}

/// Room for one evaluation of the field.
struct Room {
    /// Slopes k_i, one after another.
    k: Vec<f64>,
    y: Vec<f64>,
    units: Vec<f64>,
}

impl NeuralOde {
    pub(super) fn new(form: Form, theta: Vec<f32>) -> NeuralOde {
        let layout = form.layout();
        assert_eq!(
            theta.len(),
            layout.len(),
            "parameters do not fit the layout"
        );
        NeuralOde {
            numbers: [form.h, form.scheme.number(), form.activation.number()],
            wide: theta.iter().map(|&v| f64::from(v)).collect(),
            form,
            layout,
            theta,
        }
    }

    /// θ as it was trained.
    pub(super) fn theta(&self) -> &[f32] {
        &self.theta
    }

    fn tensor(&self, name: &str) -> &[f64] {
        &self.wide[self.layout.range(name)]
    }

    fn room(&self) -> Room {
        let FieldDims { states, hidden, .. } = self.form.dims;
        Room {
            k: vec![0.0; self.form.scheme.stages() * states],
            y: vec![0.0; states],
            units: vec![0.0; hidden],
        }
    }

    /// k = f(y, s); `units` keeps the values σ(W_a y + b_a + C s).
    fn field(&self, y: &[f64], s: &[f64], units: &mut [f64], k: &mut [f64]) {
        let (w_a, c) = (self.tensor("W_a"), self.tensor("C"));
        for (l, (unit, b)) in units.iter_mut().zip(self.tensor("b_a")).enumerate() {
            let sum = b + dot(&w_a[l * y.len()..], y) + dot(&c[l * s.len()..], s);
            *unit = self.form.activation.value(sum);
        }
        let rows = self.tensor("W_b").chunks_exact(units.len());
        for ((k, b), w_b) in k.iter_mut().zip(self.tensor("b_b")).zip(rows) {
            *k = b + dot(w_b, units);
        }
    }

    /// All stages of a step; `at` is called with the number and the values of the units of each.
    fn stages(&self, x: &[f64], s: &[f64], room: &mut Room, mut at: impl FnMut(usize, &[f64])) {
        let Form { scheme, h, .. } = self.form;
        let n = x.len();
        for i in 0..scheme.stages() {
            let (before, k) = room.k.split_at_mut(i * n);
            for (m, (y, x)) in room.y.iter_mut().zip(x).enumerate() {
                let earlier = before.iter().skip(m).step_by(n);
                let slopes = earlier.zip(scheme.a(i)).map(|(k, a)| a * k);
                *y = x + h * slopes.sum::<f64>();
            }
            self.field(&room.y, s, &mut room.units, &mut k[..n]);
            at(i, &room.units);
        }
    }

    /// One step.
    fn step_in(&self, x: &[f64], s: &[f64], room: &mut Room, next: &mut [f64]) {
        let Form { scheme, h, .. } = self.form;
        self.stages(x, s, room, |_, _| {});
        for (m, (next, x)) in next.iter_mut().zip(x).enumerate() {
            let slopes = room.k.iter().skip(m).step_by(self.form.dims.states);
            let weighted = slopes.zip(scheme.b()).map(|(k, b)| b * k);
            *next = x + h * weighted.sum::<f64>();
        }
    }

    /// K ← W_b diag(σ') W_a Y.
    fn slope(&self, units: &[f64], y: &[f64], room: &mut [f64], k: &mut [f64]) {
        let (n, hidden) = (self.form.dims.states, units.len());
        let (w_a, w_b) = (self.tensor("W_a"), self.tensor("W_b"));
        room.fill(0.0);
        for (l, row) in room.chunks_exact_mut(n).enumerate() {
            let slope = self.form.activation.slope(units[l]);
            for (w, y) in w_a[l * n..].iter().zip(y.chunks_exact(n)) {
                let entries = row.iter_mut().zip(y);
                entries.for_each(|(to, y)| *to += slope * w * y);
            }
        }
        k.fill(0.0);
        for (row, w_b) in k.chunks_exact_mut(n).zip(w_b.chunks_exact(hidden)) {
            for (w, from) in w_b.iter().zip(room.chunks_exact(n)) {
                let entries = row.iter_mut().zip(from);
                entries.for_each(|(to, from)| *to += w * from);
            }
        }
    }

    /// No Jacobian of a step has a larger norm: with L = ‖W_b‖ ‖W_a‖, since no unit has a slope beyond one, ‖K_i‖ is at most
    /// L (1 + h Σ_j |a_ij| ‖K_j‖).
    pub(super) fn jacobian_bound(&self) -> f64 {
        let FieldDims { states, hidden, .. } = self.form.dims;
        let Form { scheme, h, .. } = self.form;
        let norm = |name: &str, rows, cols| singular_values(self.tensor(name), rows, cols)[0];
        let steepest = norm("W_b", states, hidden) * norm("W_a", hidden, states);
        let mut bounds: Vec<f64> = Vec::new();
        for i in 0..scheme.stages() {
            let earlier = scheme.a(i).iter().zip(&bounds);
            let sum: f64 = earlier.map(|(a, bound)| a.abs() * bound).sum();
            bounds.push(steepest * (1.0 + h * sum));
        }
        let weighted = scheme.b().iter().zip(&bounds);
        1.0 + h * weighted.map(|(b, bound)| b.abs() * bound).sum::<f64>()
    }
}

impl Dynamics for NeuralOde {
    fn sizes(&self) -> Sizes {
        let FieldDims { states, inputs, .. } = self.form.dims;
        Sizes {
            state: states,
            channels: states,
            inputs,
            dim: states,
            parameters: self.theta.len(),
        }
    }

    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        z.copy_from_slice(data.row(t));
    }

    fn step(&self, z: &[f64], s: &[f64], next: &mut [f64]) {
        self.step_in(z, s, &mut self.room(), next);
    }

    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        x_hat.copy_from_slice(z);
    }

    fn jacobian(&self, z: &[f64], s: &[f64], jac: &mut [f64]) {
        let (n, Form { scheme, h, .. }) = (z.len(), self.form);
        let mut room = self.room();
        let mut slopes = vec![0.0; scheme.stages() * n * n];
        let (mut y, mut products) = (vec![0.0; n * n], vec![0.0; self.form.dims.hidden * n]);
        identity(n, jac);
        self.stages(z, s, &mut room, |i, units| {
            let (before, k) = slopes.split_at_mut(i * n * n);
            identity(n, &mut y);
            for (earlier, a) in before.chunks_exact(n * n).zip(scheme.a(i)) {
                add(h * a, earlier, &mut y);
            }
            let k = &mut k[..n * n];
            self.slope(units, &y, &mut products, k);
            add(h * scheme.b()[i], k, jac);
        });
    }

    fn tensors(&self) -> Vec<Named<'_>> {
        let tensors = self.layout.tensors().iter();
        let own = tensors.map(|tensor| Named {
            name: tensor.name,
            shape: tensor.shape,
            values: Values::F32(&self.theta[tensor.range.clone()]),
        });
        let names = ["h", "stages", "activation"].into_iter();
        let numbers = names.zip(self.numbers.chunks_exact(1));
        let numbers = numbers.map(|(name, number)| Named {
            name,
            shape: Shape::Vector(1),
            values: Values::F64(number),
        });
        own.chain(numbers).collect()
    }

    fn describe(&self) -> String {
        let Form { scheme, h, .. } = self.form;
        let units = count(self.form.dims.hidden, "hidden unit");
        format!("{units}, {} with a step of {h}", scheme.name())
    }

    fn orbit(&self, z: &[f64], inputs: &[f64], steps: usize) -> Vec<f64> {
        let (n, k) = (z.len(), self.form.dims.inputs);
        let mut rows = vec![f64::NAN; steps * n];
        let (mut room, mut z, mut next) = (self.room(), z.to_vec(), z.to_vec());
        for (t, row) in rows.chunks_exact_mut(n).enumerate() {
            if t > 0 {
                self.step_in(&z, &inputs[t * k..][..k], &mut room, &mut next);
                std::mem::swap(&mut z, &mut next);
            }
            if z.iter().any(|&z| leaves_f32(z)) {
                break;
            }
            row.copy_from_slice(&z);
        }
        rows
    }

    fn orbits(
        &self,
        data: Stretch<'_>,
        starts: &[usize],
        inputs: &[f64],
        steps: usize,
    ) -> Vec<Vec<f64>> {
        free_run::orbits(self, data, starts, inputs, steps)
    }

    fn forecasts<'a>(&'a self, data: Stretch<'a>) -> Box<dyn Forecasts + 'a> {
        free_run::forecasts(self, data)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn identity(n: usize, to: &mut [f64]) {
    to.fill(0.0);
    to.iter_mut().step_by(n + 1).for_each(|entry| *entry = 1.0);
}

/// to ← to + factor · matrix.
fn add(factor: f64, matrix: &[f64], to: &mut [f64]) {
    let entries = to.iter_mut().zip(matrix);
    entries.for_each(|(to, entry)| *to += factor * entry);
}
