//! A trained recurrent network as a closed system. Its state follows from all rows that it has taken in, and shows the row after the
//! last of them.

use super::{Cell, CellSizes, Closed, add_product};
use crate::dynamics::{
    Dynamics, Forecasts, Memory, Named, Sizes, Stretch, Tangent, Values, leaves_f32,
};
use crate::text::count;
use crate::theta::{Shape, Tensor};

/// A cell with its parameters.
#[derive(Debug, Clone)]
pub struct Network<C: Cell> {
    cell: C,
    following: Following,
    /// θ as it was trained.
    theta: Vec<f32>,
    /// The same in f64.
    exact: Vec<f64>,
    closed: C::Closed,
    /// What a model file holds beside θ: how it follows data, and the cell's own constants.
    constants: Vec<(&'static str, [f64; 1])>,
}

/// How a network follows data: as it was trained to. One that has learnt to make up for its own forecasts in what it is fed, at
/// α < 1, would make up for what is not there if it were fed the data alone.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Following {
    /// Rows after which the start is forgotten.
    pub warm_up: usize,
    /// α of x̃ = x̂ + α (x − x̂), which it is fed behind the first row.
    pub alpha: f64,
}

impl<C: Cell> Network<C> {
    /// The network with these parameters.
    pub fn new(cell: C, theta: Vec<f32>, following: Following) -> Network<C> {
        let exact: Vec<f64> = theta.iter().map(|&v| f64::from(v)).collect();
        let own = cell.constants().into_iter();
        let Following { warm_up, alpha } = following;
        let constants = own.chain([(WARM_UP, warm_up as f64), (ALPHA, alpha)]);
        Network {
            closed: cell.close(&exact),
            constants: constants.map(|(name, value)| (name, [value])).collect(),
            following,
            theta,
            exact,
            cell,
        }
    }

    /// The parameters θ.
    pub fn theta(&self) -> &[f32] {
        &self.theta
    }

    /// The cell.
    pub fn cell(&self) -> &C {
        &self.cell
    }
}

/// The tensors that hold how it follows data.
pub const WARM_UP: &str = "warm_up";
/// See [`WARM_UP`].
pub const ALPHA: &str = "alpha";

impl<C: Cell> Dynamics for Network<C> {
    fn sizes(&self) -> Sizes {
        let CellSizes {
            hidden,
            channels,
            inputs,
        } = self.cell.sizes();
        Sizes {
            state: 2 * hidden,
            channels,
            inputs,
            dim: 2 * hidden,
            parameters: self.theta.len(),
        }
    }

    fn memory(&self) -> Memory {
        Memory::Driven {
            warm_up: self.following.warm_up,
        }
    }

    fn lead(&self) -> usize {
        1
    }

    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        let mut u = [data.row(t), data.inputs_of(t..t + 1)].concat();
        let alpha = self.following.alpha;
        if t > 0 && alpha < 1.0 {
            let mut own = vec![0.0; data.row(t).len()];
            self.observe(z, &mut own);
            let pairs = u.iter_mut().zip(own);
            pairs.for_each(|(u, own)| *u = own + alpha * (*u - own));
        }
        let before = z.to_vec();
        let mut trace = vec![0.0; self.cell.traces()];
        self.cell.step(&self.exact, &u, &before, z, &mut trace);
    }

    fn step(&self, z: &[f64], s: &[f64], next: &mut [f64]) {
        let mut room = vec![0.0; self.closed.room()];
        self.closed.step(z, s, next, &mut room);
    }

    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        let (q_matrix, q) = self.cell.read_out(&self.exact);
        x_hat.copy_from_slice(q);
        add_product(q_matrix, &z[..self.cell.sizes().hidden], x_hat);
    }

    fn jacobian(&self, z: &[f64], s: &[f64], jac: &mut [f64]) {
        let mut room = vec![0.0; self.closed.room()];
        self.closed.jacobian(z, s, jac, &mut room);
    }

    fn tensors(&self) -> Vec<Named<'_>> {
        let layout = self.cell.layout();
        let trained = layout.tensors().iter().map(|tensor| {
            let Tensor { name, shape, range } = tensor;
            Named {
                name,
                shape: *shape,
                values: Values::F32(&self.theta[range.clone()]),
            }
        });
        let constants = self.constants.iter().map(|(name, value)| Named {
            name,
            shape: Shape::Vector(1),
            values: Values::F64(value),
        });
        trained.chain(constants).collect()
    }

    fn describe(&self) -> String {
        count(self.cell.sizes().hidden, "hidden unit")
    }

    fn orbit(&self, z: &[f64], inputs: &[f64], steps: usize) -> Vec<f64> {
        let (n, k) = (self.cell.sizes().channels, self.cell.sizes().inputs);
        let mut rows = vec![f64::NAN; steps * n];
        let (mut z, mut next) = (z.to_vec(), z.to_vec());
        let mut room = vec![0.0; self.closed.room()];
        for (t, row) in rows.chunks_exact_mut(n).enumerate() {
            if t > 0 {
                let s = &inputs[t * k..][..k];
                self.closed.step(&z, s, &mut next, &mut room);
                std::mem::swap(&mut z, &mut next);
            }
            if z.iter().any(|&z| leaves_f32(z)) {
                break;
            }
            self.observe(&z, row);
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
        C::orbits(self, &self.states_at(data, starts), inputs, steps)
    }

    fn forecasts<'a>(&'a self, data: Stretch<'a>) -> Box<dyn Forecasts + 'a> {
        C::forecasts(self, data)
    }

    fn tangent(&self) -> Box<dyn Tangent + '_> {
        Box::new(Along {
            room: vec![0.0; self.closed.room()],
            next: vec![0.0; self.sizes().state],
            closed: &self.closed,
        })
    }
}

/// Steps with their Jacobians in the same room.
struct Along<'a, D> {
    closed: &'a D,
    next: Vec<f64>,
    room: Vec<f64>,
}

impl<D: Closed> Tangent for Along<'_, D> {
    fn advance(&mut self, z: &mut [f64], s: &[f64], jac: &mut [f64]) {
        self.closed.jacobian(z, s, jac, &mut self.room);
        self.closed.step(z, s, &mut self.next, &mut self.room);
        z.copy_from_slice(&self.next);
    }
}
