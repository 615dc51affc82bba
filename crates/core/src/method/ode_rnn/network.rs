//! A trained ODE-RNN as a closed system: its state (m, s) follows from all rows that it has taken in, shows the row after the last of
//! them, and then takes in what it shows. Steps carry tangents along, so that the Jacobian is that of the step.

use super::{free_run, positive, refuse_empty, unit_of};
use crate::continuous::net::{self, Room, names};
use crate::continuous::unit::{UnitRoom, see};
use crate::continuous::{Names, Net, Unit, UnitSizes, widths};
use crate::dynamics::{
    Dynamics, Forecasts, Memory, Named, Sizes, Stretch, Tangent, Values, leaves_f32,
};
use crate::method::{LoadError, Tensors, axes};
use crate::text::count;
use crate::theta::{Layout, Shape};

const DECODER: Names = names!("decoder");

/// What a model file holds beside θ.
pub(super) const CONSTANTS: [&str; 3] = ["h", "euler_steps", "warm_up"];

/// What a network is, without its parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Form {
    pub(super) unit: UnitSizes,
    pub(super) decoder_hidden: usize,
    /// Time from row to row.
    pub(super) h: f64,
    /// Euler steps from row to row.
    pub(super) steps: usize,
    /// Rows after which the start counts as forgotten.
    pub(super) warm_up: usize,
}

impl Form {
    fn decoder_widths(&self) -> Vec<usize> {
        let UnitSizes {
            latent, channels, ..
        } = self.unit;
        widths(latent, (1, self.decoder_hidden), channels)
    }

    /// The tensors of θ.
    pub(super) fn layout(&self) -> Layout {
        let decoder = net::shapes(&DECODER, &self.decoder_widths());
        Layout::new(self.unit.shapes().into_iter().chain(decoder))
    }

    /// |θ| as the paper counts it: with a layer from a state to an initial state that its program has and does not use.
    pub(super) fn parameters(&self) -> usize {
        let (state, units) = (2 * self.unit.latent, self.decoder_hidden);
        let unused = (state + 1) * units + (units + 1) * state;
        self.layout().len() + unused
    }

    /// The flow and the unit.
    pub(super) fn unit(&self) -> Unit {
        Unit::new(self.unit, self.h, self.steps, &self.layout())
    }

    /// What shows a state.
    pub(super) fn decoder(&self) -> Net {
        Net::new(&DECODER, &self.decoder_widths(), &self.layout())
    }

    /// How many numbers an update keeps of every window at every row, at most.
    pub(super) fn numbers_a_row(&self) -> usize {
        let UnitSizes {
            latent,
            gate_hidden,
            field: (layers, units),
            ..
        } = self.unit;
        let of_unit = 3 * self.unit.row() + 24 * latent + 12 * gate_hidden;
        let of_field = self.steps * (3 * layers * units + 4 * latent);
        of_unit + of_field + 3 * (self.decoder_hidden + self.unit.channels)
    }

    /// The sizes of a network, from its tensors.
    pub(super) fn of(tensors: &Tensors) -> Result<Form, LoadError> {
        let [channels, decoder_hidden] = axes(tensors, "decoder_W2")?;
        refuse_empty("decoder_W2", [channels, decoder_hidden])?;
        let [h, steps, warm_up] = CONSTANTS;
        Ok(Form {
            unit: unit_of(tensors, channels)?,
            decoder_hidden,
            h: positive(tensors, h, f64::MAX)?,
            steps: positive(tensors, steps, 1000.0)?.ceil() as usize,
            warm_up: positive(tensors, warm_up, 1e9)?.ceil() as usize,
        })
    }
}

/// An ODE-RNN.
#[derive(Debug, Clone)]
pub struct OdeRnn {
    pub(super) form: Form,
    layout: Layout,
    /// θ as it was trained.
    theta: Vec<f32>,
    /// The same in f64.
    pub(super) wide: Vec<f64>,
    unit: Unit,
    decoder: Net,
    constants: [f64; 3],
}

impl OdeRnn {
    pub(super) fn new(form: Form, theta: Vec<f32>) -> OdeRnn {
        let layout = form.layout();
        assert_eq!(
            theta.len(),
            layout.len(),
            "parameters do not fit the layout"
        );
        OdeRnn {
            wide: theta.iter().map(|&v| f64::from(v)).collect(),
            unit: form.unit(),
            decoder: form.decoder(),
            constants: [form.h, form.steps as f64, form.warm_up as f64],
            form,
            layout,
            theta,
        }
    }

    /// θ as it was trained.
    pub(super) fn theta(&self) -> &[f32] {
        &self.theta
    }

    fn along(&self) -> Along<'_> {
        Along {
            network: self,
            unit: UnitRoom::default(),
            room: Room::default(),
            m: Vec::new(),
            x: Vec::new(),
            v: Vec::new(),
            rows: Vec::new(),
        }
    }
}

/// Steps in the same room.
struct Along<'a> {
    network: &'a OdeRnn,
    unit: UnitRoom,
    room: Room,
    m: Vec<f64>,
    x: Vec<f64>,
    v: Vec<f64>,
    rows: Vec<f64>,
}

impl Along<'_> {
    /// What the value and the tangents of a state show.
    fn look(&mut self, z: &[f64]) {
        let UnitSizes {
            latent: d,
            channels: n,
            ..
        } = self.network.form.unit;
        self.m.clear();
        z.chunks_exact(2 * d)
            .for_each(|row| self.m.extend_from_slice(&row[..d]));
        self.x.resize(z.len() / (2 * d) * n, 0.0);
        let decoder = &self.network.decoder;
        decoder.apply(&self.network.wide, &self.m, &mut self.x, &mut self.room);
    }

    /// z ← G(z, s), of the value and of tangents.
    fn step(&mut self, z: &mut [f64], s: &[f64]) {
        self.look(z);
        let OdeRnn {
            unit, wide, form, ..
        } = self.network;
        let (n, width) = (form.unit.channels, form.unit.row());
        self.v.clear();
        self.v.resize(self.x.len() / n * width, 0.0);
        for (v, x) in self.v.chunks_exact_mut(width).zip(self.x.chunks_exact(n)) {
            v[..n].copy_from_slice(x);
        }
        self.v[n..2 * n].fill(1.0);
        self.v[2 * n..width].copy_from_slice(s);
        unit.flow(wide, 1.0, z, &mut self.unit);
        unit.take(wide, &self.v, z, &mut self.unit);
    }
}

impl Tangent for Along<'_> {
    fn advance(&mut self, z: &mut [f64], s: &[f64], jac: &mut [f64]) {
        let m = z.len();
        let mut rows = std::mem::take(&mut self.rows);
        rows.clear();
        rows.resize((m + 1) * m, 0.0);
        rows[..m].copy_from_slice(z);
        rows[m..]
            .iter_mut()
            .step_by(m + 1)
            .for_each(|entry| *entry = 1.0);
        self.step(&mut rows, s);
        z.copy_from_slice(&rows[..m]);
        // Row j of the tangents is column j of the Jacobian.
        for (j, column) in rows[m..].chunks_exact(m).enumerate() {
            let entries = jac[j..].iter_mut().step_by(m).zip(column);
            entries.for_each(|(to, entry)| *to = *entry);
        }
        self.rows = rows;
    }
}

impl Dynamics for OdeRnn {
    fn sizes(&self) -> Sizes {
        let UnitSizes {
            latent,
            channels,
            inputs,
            ..
        } = self.form.unit;
        Sizes {
            state: 2 * latent,
            channels,
            inputs,
            dim: 2 * latent,
            parameters: self.form.parameters(),
        }
    }

    fn memory(&self) -> Memory {
        Memory::Driven {
            warm_up: self.form.warm_up,
        }
    }

    fn lead(&self) -> usize {
        1
    }

    fn takes_missing(&self) -> bool {
        true
    }

    fn takes_own_times(&self) -> bool {
        true
    }

    /// NaN counts as missing.
    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        let mut room = UnitRoom::default();
        let mut v = vec![0.0; self.form.unit.row()];
        let is_there = see(data.row(t), data.inputs_of(t..t + 1), &mut v);
        self.unit
            .flow_to_row(&self.wide, data.step_to(t), z, &mut room);
        if is_there {
            self.unit.take(&self.wide, &v, z, &mut room);
        }
    }

    fn step(&self, z: &[f64], s: &[f64], next: &mut [f64]) {
        next.copy_from_slice(z);
        self.along().step(next, s);
    }

    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        let m = &z[..self.form.unit.latent];
        self.decoder
            .apply(&self.wide, m, x_hat, &mut Room::default());
    }

    fn jacobian(&self, z: &[f64], s: &[f64], jac: &mut [f64]) {
        self.along().advance(&mut z.to_vec(), s, jac);
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
        let (layers, units) = self.form.unit.field;
        format!(
            "{} with deviations, a field with {} of {units} units",
            count(self.form.unit.latent, "mean"),
            count(layers, "hidden layer")
        )
    }

    fn orbit(&self, z: &[f64], inputs: &[f64], steps: usize) -> Vec<f64> {
        let UnitSizes {
            channels: n,
            inputs: k,
            ..
        } = self.form.unit;
        let mut rows = vec![f64::NAN; steps * n];
        let (mut along, mut z) = (self.along(), z.to_vec());
        for (t, row) in rows.chunks_exact_mut(n).enumerate() {
            if t > 0 {
                along.step(&mut z, &inputs[t * k..][..k]);
            }
            if z.iter().any(|&z| leaves_f32(z)) {
                break;
            }
            along.look(&z);
            row.copy_from_slice(&along.x);
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
        free_run::orbits(self, &self.states_at(data, starts), inputs, steps)
    }

    fn forecasts<'a>(&'a self, data: Stretch<'a>) -> Box<dyn Forecasts + 'a> {
        Box::new(free_run::Branches::new(self, data))
    }

    fn tangent(&self) -> Box<dyn Tangent + '_> {
        Box::new(self.along())
    }
}
