//! The long short-term memory cell (Hochreiter & Schmidhuber 1997), with forget gates and the forget bias of one that
//! Vlachas et al. (2018) take over:
//!
//! ```text
//! (i, j, f, o) = W (x, s, h_{t−1}) + b
//! c_t = σ(f + 1) c_{t−1} + σ(i) tanh j        h_t = σ(o) tanh c_t        x̂_{t+1} = W_o h_t + b_o
//! ```
//!
//! The way back, with I, J, F, O the gates behind their nonlinearities and T = tanh c_t:
//!
//! ```text
//! do = dh T O(1 − O)     dc += dh O (1 − T²)     di = dc J I(1 − I)     dj = dc I (1 − J²)     df = dc c_{t−1} F(1 − F)
//! dc_{t−1} = dc F        (dx, ds, dh_{t−1}) = Wᵀ (di, dj, df, do)
//! ```

use std::ops::Range;

use super::free::{self, Branches};
use super::lanes::LstmLanes;
use super::{
    Cell, CellSizes, Closed, Columns, Network, Pulled, Taken, add_outer, add_product,
    add_transposed, sigmoid,
};
use crate::dynamics::{Forecasts, Stretch};
use crate::linalg;
use crate::rng::Rng;
use crate::theta::{Layout, Shape};

/// What is added to the input of the forget gate.
pub const FORGET_BIAS: f64 = 1.0;

/// An LSTM cell of given sizes.
#[derive(Debug, Clone)]
pub struct Lstm {
    sizes: CellSizes,
    w: Range<usize>,
    b: Range<usize>,
    w_o: Range<usize>,
    b_o: Range<usize>,
}

impl Lstm {
    /// The cell of these sizes.
    pub fn new(sizes: CellSizes) -> Lstm {
        let layout = layout(sizes);
        Lstm {
            sizes,
            w: layout.range("W"),
            b: layout.range("b"),
            w_o: layout.range("W_o"),
            b_o: layout.range("b_o"),
        }
    }
}

/// W (4n × (N + K + n)), b, W_o (N × n), b_o.
fn layout(sizes: CellSizes) -> Layout {
    let CellSizes {
        hidden: n,
        channels,
        ..
    } = sizes;
    Layout::new([
        ("W", Shape::Matrix(4 * n, sizes.width() + n)),
        ("b", Shape::Vector(4 * n)),
        ("W_o", Shape::Matrix(channels, n)),
        ("b_o", Shape::Vector(channels)),
    ])
}

/// The gates of one unit behind their nonlinearities.
#[derive(Debug, Clone, Copy)]
struct Gates {
    i: f64,
    j: f64,
    f: f64,
    o: f64,
}

impl Gates {
    /// Of unit k.
    fn new(pre: &[f64], n: usize, k: usize) -> Gates {
        Gates {
            i: sigmoid(pre[k]),
            j: pre[n + k].tanh(),
            f: sigmoid(pre[2 * n + k] + FORGET_BIAS),
            o: sigmoid(pre[3 * n + k]),
        }
    }
}

impl Cell for Lstm {
    type Closed = ClosedLstm;

    fn sizes(&self) -> CellSizes {
        self.sizes
    }

    fn layout(&self) -> Layout {
        layout(self.sizes)
    }

    /// W and W_o uniform within √(6/(rows + columns)), b_o within √(3/N), b zero: Glorot's rule as the reference code applies it.
    fn start(&self, rng: &mut Rng) -> Vec<f32> {
        let CellSizes {
            hidden: n,
            channels,
            ..
        } = self.sizes;
        let mut theta = vec![0f32; self.layout().len()];
        let limit = |fans: usize| (6.0 / fans as f64).sqrt();
        let mut fill = |range: &Range<usize>, limit: f64| {
            let entries = theta[range.clone()].iter_mut();
            entries.for_each(|entry| *entry = rng.between(-limit, limit) as f32);
        };
        fill(&self.w, limit(4 * n + self.sizes.width() + n));
        fill(&self.w_o, limit(n + channels));
        fill(&self.b_o, limit(2 * channels));
        theta
    }

    /// I, J, F, O and tanh c.
    fn traces(&self) -> usize {
        5 * self.sizes.hidden
    }

    fn step(&self, theta: &[f64], u: &[f64], v: &[f64], next: &mut [f64], trace: &mut [f64]) {
        let n = self.sizes.hidden;
        let (h, c) = v.split_at(n);
        let (pre, of_c) = trace.split_at_mut(4 * n);
        pre.copy_from_slice(&theta[self.b.clone()]);
        add_product(&theta[self.w.clone()], &[u, h].concat(), pre);
        for k in 0..n {
            let Gates { i, j, f, o } = Gates::new(pre, n, k);
            next[n + k] = f * c[k] + i * j;
            of_c[k] = next[n + k].tanh();
            next[k] = o * of_c[k];
            (pre[k], pre[n + k], pre[2 * n + k], pre[3 * n + k]) = (i, j, f, o);
        }
    }

    fn pull_back(&self, theta: &[f64], at: Taken<'_>, d: &[f64], to: Pulled<'_>) {
        let n = self.sizes.hidden;
        let (h, c) = at.v.split_at(n);
        let (gates, of_c) = at.trace.split_at(4 * n);
        let mut dpre = vec![0.0; 4 * n];
        for k in 0..n {
            let [i, j, f, o] = [0, 1, 2, 3].map(|gate| gates[gate * n + k]);
            let (dh, tanh_c) = (d[k], of_c[k]);
            let dc = d[n + k] + dh * o * (1.0 - tanh_c * tanh_c);
            dpre[k] = dc * j * i * (1.0 - i);
            dpre[n + k] = dc * i * (1.0 - j * j);
            dpre[2 * n + k] = dc * c[k] * f * (1.0 - f);
            dpre[3 * n + k] = dh * tanh_c * o * (1.0 - o);
            to.dv[n + k] = dc * f;
        }
        let column = [at.u, h].concat();
        let mut dcolumn = vec![0.0; column.len()];
        add_transposed(&theta[self.w.clone()], &dpre, &mut dcolumn);
        let (du, dh) = dcolumn.split_at(at.u.len());
        to.du.copy_from_slice(du);
        to.dv[..n].copy_from_slice(dh);
        add_outer(&dpre, &column, &mut to.dtheta[self.w.clone()]);
        let db = &mut to.dtheta[self.b.clone()];
        db.iter_mut().zip(&dpre).for_each(|(db, d)| *db += d);
    }

    fn read_out<'a, T>(&self, theta: &'a [T]) -> (&'a [T], &'a [T]) {
        (&theta[self.w_o.clone()], &theta[self.b_o.clone()])
    }

    fn close(&self, theta: &[f64]) -> ClosedLstm {
        ClosedLstm::new(self, theta)
    }

    fn constants(&self) -> Vec<(&'static str, f64)> {
        Vec::new()
    }

    fn forecasts<'a>(network: &'a Network<Lstm>, data: Stretch<'a>) -> Box<dyn Forecasts + 'a> {
        Box::new(Branches::<LstmLanes>::new(network, data))
    }

    fn orbits(
        network: &Network<Lstm>,
        states: &[f64],
        inputs: &[f64],
        steps: usize,
    ) -> Vec<Vec<f64>> {
        free::orbits::<LstmLanes>(network, states, inputs, steps)
    }
}

/// The closed map: (i, j, f, o) = R h + S s + b' with R = W_h + W_x W_o, b' = b + W_x b_o.
#[derive(Debug, Clone)]
pub struct ClosedLstm {
    n: usize,
    /// R, 4n × n.
    r: Columns,
    /// S, 4n × K.
    s: Columns,
    b: Vec<f64>,
}

impl ClosedLstm {
    fn new(cell: &Lstm, theta: &[f64]) -> ClosedLstm {
        let CellSizes {
            hidden: n,
            channels,
            inputs,
        } = cell.sizes;
        let (w, (w_o, b_o)) = (&theta[cell.w.clone()], cell.read_out(theta));
        let cols = cell.sizes.width() + n;
        let w_x: Vec<f64> = w
            .chunks_exact(cols)
            .flat_map(|row| &row[..channels])
            .copied()
            .collect();
        let mut folded = vec![0.0; 4 * n * n];
        linalg::multiply(&w_x, w_o, (4 * n, channels, n), &mut folded);
        let mut b = theta[cell.b.clone()].to_vec();
        add_product(&w_x, b_o, &mut b);
        let w_h = |row: usize, col: usize| w[row * cols + channels + inputs + col];
        ClosedLstm {
            n,
            r: Columns::new(4 * n, n, |row, col| folded[row * n + col] + w_h(row, col)),
            s: Columns::new(4 * n, inputs, |row, col| w[row * cols + channels + col]),
            b,
        }
    }

    fn pre(&self, v: &[f64], s: &[f64], pre: &mut [f64]) {
        pre.copy_from_slice(&self.b);
        self.r.add_product(&v[..self.n], pre);
        self.s.add_product(s, pre);
    }
}

impl Closed for ClosedLstm {
    fn room(&self) -> usize {
        4 * self.n
    }

    fn step(&self, v: &[f64], s: &[f64], next: &mut [f64], room: &mut [f64]) {
        let n = self.n;
        self.pre(v, s, room);
        for k in 0..n {
            let Gates { i, j, f, o } = Gates::new(room, n, k);
            let c = f * v[n + k] + i * j;
            (next[k], next[n + k]) = (o * c.tanh(), c);
        }
    }

    fn jacobian(&self, v: &[f64], s: &[f64], jac: &mut [f64], room: &mut [f64]) {
        let n = self.n;
        self.pre(v, s, room);
        let (of_h, of_c) = jac.split_at_mut(2 * n * n);
        for k in 0..n {
            let Gates { i, j, f, o } = Gates::new(room, n, k);
            let tanh_c = (f * v[n + k] + i * j).tanh();
            let (slope, dc) = (o * (1.0 - tanh_c * tanh_c), &mut of_c[k * 2 * n..][..2 * n]);
            let dh = &mut of_h[k * 2 * n..][..2 * n];
            let (di, dj, df) = (
                j * i * (1.0 - i),
                i * (1.0 - j * j),
                v[n + k] * f * (1.0 - f),
            );
            let to_o = tanh_c * o * (1.0 - o);
            dc.fill(0.0);
            dh.fill(0.0);
            for l in 0..n {
                dc[l] =
                    di * self.r.at(k, l) + dj * self.r.at(n + k, l) + df * self.r.at(2 * n + k, l);
                dh[l] = slope * dc[l] + to_o * self.r.at(3 * n + k, l);
            }
            dc[n + k] = f;
            dh[n + k] = slope * f;
        }
    }
}
