//! A trained Latent-ODE: a window of rows is encoded backwards in time into the mean of the latent state at its first row, from which the
//! latent equation runs.
//!
//! ```text
//! (m, v) = encoder(x_T, …, x_1)        (μ, σ̃) = W₂ tanh(W₁ (m, v) + b₁) + b₂        z_1 = μ,  in training μ + |σ̃| ε
//! dz/dt = f(z, s)        x̂ = D z + c
//! ```
//!
//! External inputs s go into the encoder with their rows, and into the field, where those of a row hold up to it from the row before. The
//! closed system is the latent flow: a step solves the equation from row to row, with tangents beside the value.

use super::free_run;
use super::solver::{Route, Scheme, Solver, SolverRoom, Times};
use crate::continuous::net::{self, MOST_LAYERS, Room, names};
use crate::continuous::unit::{UnitRoom, see};
use crate::continuous::{Names, Net, Unit, UnitSizes, widths};
use crate::dynamics::{
    Branches, Dynamics, Forecasts, Memory, Named, Sizes, Stretch, Tangent, Values, leaves_f32,
};
use crate::method::ode_rnn::{positive, refuse_empty, unit_of};
use crate::method::{LoadError, Tensors, axes};
use crate::text::count;
use crate::theta::{Layout, Shape};

const FIELD: Names = names!("flow");
const TRANSFORM: Names = names!("transform");
const DECODER: Names = names!("decoder");

/// What a model file holds beside θ.
pub(super) const CONSTANTS: [&str; 6] = ["h", "euler_steps", "window", "stages", "rtol", "atol"];

/// What a network is, without its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Form {
    /// The encoder.
    pub(super) unit: UnitSizes,
    /// Euler steps of the encoder from row to row.
    pub(super) steps: usize,
    pub(super) transform_hidden: usize,
    /// Latent states l.
    pub(super) latent: usize,
    /// Hidden layers of the latent field, and units of each.
    pub(super) field: (usize, usize),
    pub(super) solver: Solver,
    /// Rows of a window.
    pub(super) window: usize,
}

impl Form {
    fn field_widths(&self) -> Vec<usize> {
        widths(self.latent + self.unit.inputs, self.field, self.latent)
    }

    fn transform_widths(&self) -> Vec<usize> {
        let (from, to) = (2 * self.unit.latent, 2 * self.latent);
        widths(from, (1, self.transform_hidden), to)
    }

    fn decoder_widths(&self) -> Vec<usize> {
        vec![self.latent, self.unit.channels]
    }

    /// The tensors of θ.
    pub(super) fn layout(&self) -> Layout {
        let flow = net::shapes(&FIELD, &self.field_widths()).into_iter();
        let transform = net::shapes(&TRANSFORM, &self.transform_widths());
        let decoder = net::shapes(&DECODER, &self.decoder_widths());
        Layout::new(
            flow.chain(self.unit.shapes())
                .chain(transform)
                .chain(decoder),
        )
    }

    /// The encoder's flow and unit, backwards in time.
    pub(super) fn unit(&self) -> Unit {
        Unit::new(self.unit, -self.solver.h, self.steps, &self.layout())
    }

    /// The latent field.
    pub(super) fn flow(&self) -> Net {
        Net::new(&FIELD, &self.field_widths(), &self.layout())
    }

    /// From the encoder's state to a latent state.
    pub(super) fn transform(&self) -> Net {
        Net::new(&TRANSFORM, &self.transform_widths(), &self.layout())
    }

    /// What shows a latent state.
    pub(super) fn decoder(&self) -> Net {
        Net::new(&DECODER, &self.decoder_widths(), &self.layout())
    }

    /// How many numbers an update keeps of every window at every row, about: as many steps as rows are more than there are.
    pub(super) fn numbers_a_row(&self, samples: usize) -> usize {
        let UnitSizes {
            latent,
            gate_hidden,
            field: (layers, units),
            ..
        } = self.unit;
        let of_unit = 3 * self.unit.row() + 24 * latent + 12 * gate_hidden;
        let of_encoder = self.steps * (3 * layers * units + 4 * latent);
        let of_call = 3 * self.field.0 * self.field.1 + 5 * self.latent + self.unit.inputs;
        let of_flow = samples * (self.solver.scheme.stages() * of_call + 4 * self.latent);
        of_unit + of_encoder + of_flow + (2 * samples + 2) * self.unit.channels
    }

    /// The sizes of a network, from its tensors.
    pub(super) fn of(tensors: &Tensors) -> Result<Form, LoadError> {
        let [channels, latent] = axes(tensors, "decoder_W1")?;
        refuse_empty("decoder_W1", [channels, latent])?;
        let [units, _] = axes(tensors, "flow_W1")?;
        let [transform_hidden, _] = axes(tensors, "transform_W1")?;
        let layers = (1..=MOST_LAYERS)
            .take_while(|k| tensors.contains_key(&format!("flow_W{k}")))
            .count();
        let [h, steps, window, stages, rtol, atol] = CONSTANTS;
        let scheme = Scheme::with_stages(positive(tensors, stages, 7.0)?);
        Ok(Form {
            unit: unit_of(tensors, channels)?,
            steps: positive(tensors, steps, 1000.0)?.ceil() as usize,
            transform_hidden,
            latent,
            field: (layers.saturating_sub(1).max(1), units),
            solver: Solver {
                scheme: scheme.ok_or(LoadError::Entry {
                    name: stages,
                    entry: 0,
                    expected: "7 (dopri5), 1 (euler), 2 (midpoint) or 4 (rk4)",
                })?,
                rtol: positive(tensors, rtol, f64::MAX)?,
                atol: positive(tensors, atol, f64::MAX)?,
                h: positive(tensors, h, f64::MAX)?,
            },
            window: positive(tensors, window, 1e9)?.ceil() as usize,
        })
    }
}

/// A Latent-ODE.
#[derive(Debug, Clone)]
pub struct LatentOde {
    pub(super) form: Form,
    layout: Layout,
    /// θ as it was trained.
    theta: Vec<f32>,
    /// The same in f64.
    pub(super) wide: Vec<f64>,
    unit: Unit,
    flow: Net,
    transform: Net,
    decoder: Net,
    constants: [f64; 6],
}

impl LatentOde {
    pub(super) fn new(form: Form, theta: Vec<f32>) -> LatentOde {
        let layout = form.layout();
        assert_eq!(
            theta.len(),
            layout.len(),
            "parameters do not fit the layout"
        );
        let Solver {
            scheme,
            rtol,
            atol,
            h,
        } = form.solver;
        let stages = scheme.stages() as f64;
        LatentOde {
            wide: theta.iter().map(|&v| f64::from(v)).collect(),
            unit: form.unit(),
            flow: form.flow(),
            transform: form.transform(),
            decoder: form.decoder(),
            constants: [h, form.steps as f64, form.window as f64, stages, rtol, atol],
            form,
            layout,
            theta,
        }
    }

    /// θ as it was trained.
    pub(super) fn theta(&self) -> &[f32] {
        &self.theta
    }

    /// Mean and deviation of the latent state at the first of some rows, in which NaN is missing.
    pub(super) fn encode(&self, data: Stretch<'_>) -> (Vec<f64>, Vec<f64>) {
        let (mut room, mut v) = (UnitRoom::default(), vec![0.0; self.form.unit.row()]);
        let mut state = vec![0.0; 2 * self.form.unit.latent];
        for t in (0..data.len()).rev() {
            let is_there = see(data.row(t), data.inputs_of(t..t + 1), &mut v);
            // To the last row, as from one behind it.
            let behind = if t + 1 < data.len() {
                data.step_to(t + 1)
            } else {
                1.0
            };
            self.unit
                .flow_to_row(&self.wide, behind, &mut state, &mut room);
            if is_there {
                self.unit.take(&self.wide, &v, &mut state, &mut room);
            }
        }
        let mut both = vec![0.0; 2 * self.form.latent];
        self.transform
            .apply(&self.wide, &state, &mut both, &mut Room::default());
        let spread = both.split_off(self.form.latent);
        (both, spread.into_iter().map(f64::abs).collect())
    }

    /// The latent solution from a state at the first of some rows, seen at all of them.
    pub(super) fn solution(&self, z: &[f64], data: Stretch<'_>) -> Vec<f64> {
        let n = self.form.unit.channels;
        let mut seen = vec![0.0; data.len() * n];
        let (first, behind) = seen.split_at_mut(n);
        self.observe(z, first);
        self.follow(&mut z.to_vec(), data, |row, z| {
            self.observe(z, &mut behind[(row - 1) * n..][..n]);
        });
        seen
    }

    /// The rows that this model sees behind some rows of which values may be missing, NaN: the latent solution from the mean of their
    /// first state, at the times of all of them.
    pub fn reconstruct(&self, data: Stretch<'_>) -> Vec<f64> {
        if data.is_empty() {
            return Vec::new();
        }
        self.solution(&self.encode(data).0, data)
    }

    /// Solves from a state at the first of some rows to the last.
    fn follow(&self, z: &mut [f64], data: Stretch<'_>, emit: impl FnMut(usize, &[f64])) {
        let elapsed = data.elapsed();
        let route = Route {
            times: Times::new(&elapsed, data.len()),
            s: data.inputs_of(1..data.len()),
        };
        self.solve(z, route, &mut SolverRoom::default(), emit);
    }

    fn solve(
        &self,
        z: &mut [f64],
        route: Route<'_>,
        room: &mut SolverRoom,
        emit: impl FnMut(usize, &[f64]),
    ) {
        let field = (&self.flow, self.wide.as_slice());
        self.form.solver.solve(field, z, route, room, emit);
    }
}

/// Steps with their Jacobians in the same room.
struct Along<'a> {
    network: &'a LatentOde,
    room: SolverRoom,
    rows: Vec<f64>,
}

impl Tangent for Along<'_> {
    fn advance(&mut self, z: &mut [f64], s: &[f64], jac: &mut [f64]) {
        let m = z.len();
        self.rows.clear();
        self.rows.resize((m + 1) * m, 0.0);
        self.rows[..m].copy_from_slice(z);
        let ones = self.rows[m..].iter_mut().step_by(m + 1);
        ones.for_each(|entry| *entry = 1.0);
        let step = Route::step(s);
        self.network
            .solve(&mut self.rows, step, &mut self.room, |_, _| {});
        z.copy_from_slice(&self.rows[..m]);
        // Row j of the tangents is column j of the Jacobian.
        for (j, column) in self.rows[m..].chunks_exact(m).enumerate() {
            let entries = jac[j..].iter_mut().step_by(m).zip(column);
            entries.for_each(|(to, entry)| *to = *entry);
        }
    }
}

impl Dynamics for LatentOde {
    fn sizes(&self) -> Sizes {
        Sizes {
            state: self.form.latent,
            channels: self.form.unit.channels,
            inputs: self.form.unit.inputs,
            dim: self.form.latent,
            parameters: self.theta.len(),
        }
    }

    fn memory(&self) -> Memory {
        Memory::Rows(self.form.window)
    }

    fn takes_missing(&self) -> bool {
        true
    }

    fn takes_own_times(&self) -> bool {
        true
    }

    /// NaN counts as missing; where there are fewer rows than a window has, those that there are.
    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        let first = (t + 1).saturating_sub(self.form.window);
        let window = data.slice(first..t + 1);
        let (mean, _) = self.encode(window);
        z.copy_from_slice(&mean);
        self.follow(z, window, |_, _| {});
    }

    fn step(&self, z: &[f64], s: &[f64], next: &mut [f64]) {
        next.copy_from_slice(z);
        self.solve(next, Route::step(s), &mut SolverRoom::default(), |_, _| {});
    }

    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        self.decoder
            .apply(&self.wide, z, x_hat, &mut Room::default());
    }

    fn jacobian(&self, z: &[f64], s: &[f64], jac: &mut [f64]) {
        self.tangent().advance(&mut z.to_vec(), s, jac);
    }

    fn tensors(&self) -> Vec<Named<'_>> {
        let own = self.layout.tensors().iter().map(|tensor| Named {
            name: tensor.name,
            shape: tensor.shape,
            values: Values::F32(&self.theta[tensor.range.clone()]),
        });
        let constants = CONSTANTS.into_iter().zip(self.constants.chunks_exact(1));
        let constants = constants.map(|(name, number)| Named {
            name,
            shape: Shape::Vector(1),
            values: Values::F64(number),
        });
        own.chain(constants).collect()
    }

    fn describe(&self) -> String {
        let (layers, units) = self.form.field;
        format!(
            "{}, a field with {} of {units} units, an encoder of {}, solved by {}",
            count(self.form.latent, "latent state"),
            count(layers, "hidden layer"),
            count(self.form.unit.latent, "state"),
            self.form.solver.scheme.name()
        )
    }

    fn orbit(&self, z: &[f64], inputs: &[f64], steps: usize) -> Vec<f64> {
        let UnitSizes {
            channels: n,
            inputs: k,
            ..
        } = self.form.unit;
        let mut rows = vec![f64::NAN; steps * n];
        let (mut room, mut net, mut z) = (SolverRoom::default(), Room::default(), z.to_vec());
        for (t, row) in rows.chunks_exact_mut(n).enumerate() {
            if t > 0 {
                let step = Route::step(&inputs[t * k..][..k]);
                self.solve(&mut z, step, &mut room, |_, _| {});
            }
            if z.iter().any(|&z| leaves_f32(z)) {
                break;
            }
            self.decoder.apply(&self.wide, &z, row, &mut net);
        }
        rows
    }

    fn forecasts<'a>(&'a self, data: Stretch<'a>) -> Box<dyn Forecasts + 'a> {
        if data.has_own_times() {
            Box::new(Branches::new(self, data))
        } else {
            Box::new(free_run::Branches::new(self, data))
        }
    }

    fn tangent(&self) -> Box<dyn Tangent + '_> {
        Box::new(Along {
            network: self,
            room: SolverRoom::default(),
            rows: Vec::new(),
        })
    }
}
