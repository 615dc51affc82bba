//! Recurrent networks that take a recording in row by row and forecast the next row:
//!
//! ```text
//! v_t = cell((x̃_t, s_t), v_{t−1})        v = (y, w)        x̂_{t+1} = Q y_t + q
//! x̃_t = x̂_t + α (x_t − x̂_t)
//! ```
//!
//! With α = 1 the input is the data (teacher forcing, as the papers of these cells train them), with α = 0 the network's own
//! forecast (free running). Of the two halves of the state only y is read out: h of an LSTM, y of a LEM. Running freely, a network
//! is the closed map v ← cell((Q y + q, s), v).
//!
//! The cells are here in f64 as they are written, with hand-derived gradients ([`plain`] is the objective made of them); for
//! training they are in `lanes`.

pub mod draw;
mod free;
pub(crate) mod lanes;
pub mod lem;
pub mod lstm;
mod network;
pub mod plain;
pub mod training;

use std::fmt;

pub use network::{ALPHA, Following, Network, WARM_UP};

use crate::dynamics::{Forecasts, Stretch};
use crate::rng::Rng;
use crate::theta::Layout;

/// How large a cell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CellSizes {
    /// Units n: half the numbers of a state.
    pub hidden: usize,
    /// Channels N.
    pub channels: usize,
    /// External inputs K.
    pub inputs: usize,
}

impl CellSizes {
    /// Numbers of an input u = (x, s).
    pub fn width(self) -> usize {
        self.channels + self.inputs
    }
}

/// What a step of a cell was applied to and gave.
#[derive(Debug, Clone, Copy)]
pub struct Taken<'a> {
    /// The input (x, s).
    pub u: &'a [f64],
    /// The state before.
    pub v: &'a [f64],
    /// The state after.
    pub next: &'a [f64],
    /// What the step left for the way back.
    pub trace: &'a [f64],
}

/// A recurrent cell with its read-out, in f64.
pub trait Cell: fmt::Debug + Clone + Send + Sync + 'static {
    /// The cell with its read-out folded into its weights.
    type Closed: Closed;

    /// The sizes.
    fn sizes(&self) -> CellSizes;

    /// Its tensors, those of the read-out last.
    fn layout(&self) -> Layout;

    /// Where it starts.
    fn start(&self, rng: &mut Rng) -> Vec<f32>;

    /// Numbers that a step leaves for the way back.
    fn traces(&self) -> usize;

    /// next = cell(u, v).
    fn step(&self, theta: &[f64], u: &[f64], v: &[f64], next: &mut [f64], trace: &mut [f64]);

    /// From the cotangent of a step's result to those of its input and of the state before; that of θ is added to dtheta.
    fn pull_back(&self, theta: &[f64], at: Taken<'_>, d: &[f64], to: Pulled<'_>);

    /// Q, N × n, and q.
    fn read_out<'a, T>(&self, theta: &'a [T]) -> (&'a [T], &'a [T]);

    /// The closed map.
    fn close(&self, theta: &[f64]) -> Self::Closed;

    /// What a model file needs beside θ, as named numbers.
    fn constants(&self) -> Vec<(&'static str, f64)>;

    /// Forecasts of a network with this cell, several at a time.
    fn forecasts<'a>(network: &'a Network<Self>, data: Stretch<'a>) -> Box<dyn Forecasts + 'a>;

    /// Orbits of a network with this cell from some states, several at a time.
    fn orbits(
        network: &Network<Self>,
        states: &[f64],
        inputs: &[f64],
        steps: usize,
    ) -> Vec<Vec<f64>>;
}

/// Where a pull-back goes.
#[derive(Debug)]
pub struct Pulled<'a> {
    /// The cotangent of the input, N + K.
    pub du: &'a mut [f64],
    /// The cotangent of the state before, 2n.
    pub dv: &'a mut [f64],
    /// The gradient that is added to.
    pub dtheta: &'a mut [f64],
}

/// A cell that is fed its own forecasts: v ← G(v, s).
pub trait Closed: fmt::Debug + Clone + Send + Sync + 'static {
    /// Numbers that a step needs room for.
    fn room(&self) -> usize;

    /// next = G(v, s).
    fn step(&self, v: &[f64], s: &[f64], next: &mut [f64], room: &mut [f64]);

    /// J = ∂G/∂v at (v, s), row-major.
    fn jacobian(&self, v: &[f64], s: &[f64], jac: &mut [f64], room: &mut [f64]);
}

/// σ(x) = 1/(1 + e^{−x}).
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// y += W x, W row by row.
fn add_product(w: &[f64], x: &[f64], y: &mut [f64]) {
    for (row, y) in w.chunks_exact(x.len().max(1)).zip(y) {
        *y += row.iter().zip(x).map(|(w, x)| w * x).sum::<f64>();
    }
}

/// x += Wᵀ y, W row by row.
fn add_transposed(w: &[f64], y: &[f64], x: &mut [f64]) {
    for (row, y) in w.chunks_exact(x.len().max(1)).zip(y) {
        row.iter().zip(&mut *x).for_each(|(w, x)| *x += w * y);
    }
}

/// W += y xᵀ, W row by row.
fn add_outer(y: &[f64], x: &[f64], w: &mut [f64]) {
    for (row, y) in w.chunks_exact_mut(x.len().max(1)).zip(y) {
        row.iter_mut().zip(x).for_each(|(w, x)| *w += y * x);
    }
}

/// A matrix by columns, for products with one vector after another.
#[derive(Debug, Clone)]
struct Columns {
    rows: usize,
    values: Vec<f64>,
}

impl Columns {
    /// Of a matrix with these entries.
    fn new(rows: usize, cols: usize, entry: impl Fn(usize, usize) -> f64) -> Columns {
        let places = (0..cols).flat_map(|col| (0..rows).map(move |row| (row, col)));
        let values = places.map(|(row, col)| entry(row, col)).collect();
        Columns { rows, values }
    }

    /// W[row][col].
    fn at(&self, row: usize, col: usize) -> f64 {
        self.values[col * self.rows + row]
    }

    /// y += W x, four columns at a time.
    fn add_product(&self, x: &[f64], y: &mut [f64]) {
        let (fours, rest) = x.as_chunks::<4>();
        let (columns, last) = self.values.split_at(4 * fours.len() * self.rows);
        for (&[a, b, c, d], columns) in fours.iter().zip(columns.chunks_exact(4 * self.rows)) {
            let (ab, cd) = columns.split_at(2 * self.rows);
            let ((wa, wb), (wc, wd)) = (ab.split_at(self.rows), cd.split_at(self.rows));
            for ((((y, wa), wb), wc), wd) in y.iter_mut().zip(wa).zip(wb).zip(wc).zip(wd) {
                *y += (a * wa + b * wb) + (c * wc + d * wd);
            }
        }
        for (x, column) in rest.iter().zip(last.chunks_exact(self.rows)) {
            y.iter_mut().zip(column).for_each(|(y, w)| *y += w * x);
        }
    }
}
