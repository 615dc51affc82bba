//! Long expressive memory (Rusch et al. 2022): two states with time steps of their own, which the data choose.
//!
//! ```text
//! Δ̄ = dt σ(W₁ y + V₁ u + b₁)        Δ = dt σ(W₂ y + V₂ u + b₂)        u = (x, s)
//! z ← (1 − Δ) z + Δ tanh(W_y y + V_y u + b_y)
//! y ← (1 − Δ̄) y + Δ̄ tanh(W_z z + V_z u + b_z)        with the new z        x̂ = Q y + q
//! ```
//!
//! As in the authors' program the matrices stand together: A (4n × (N + K)) has V₁, V₂, V_z, V_y one below another, B (3n × n) has
//! W₁, W₂, W_y, and C is W_z. Each has a bias of its own (a, b, c), so that every line has two; they are counted.
//!
//! The way back, with p and r the two hyperbolic tangents, S and S̄ the sigmoids:
//!
//! ```text
//! dpre_y = dy Δ̄ (1 − r²)     dz += W_zᵀ dpre_y     dpre_z = dz Δ (1 − p²)
//! dpre_Δ̄ = dy (r − y₋) dt S̄(1 − S̄)     dpre_Δ = dz (p − z₋) dt S(1 − S)
//! dy₋ = dy (1 − Δ̄) + (W₁, W₂, W_y)ᵀ(dpre_Δ̄, dpre_Δ, dpre_z)     dz₋ = dz (1 − Δ)
//! ```

use std::ops::Range;

use super::free::{self, Branches};
use super::lanes::LemLanes;
use super::{
    Cell, CellSizes, Closed, Columns, Network, Pulled, Taken, add_outer, add_product,
    add_transposed, sigmoid,
};
use crate::dynamics::{Forecasts, Stretch};
use crate::linalg;
use crate::rng::Rng;
use crate::theta::{Layout, Shape};

/// A LEM cell of given sizes.
#[derive(Debug, Clone)]
pub struct Lem {
    sizes: CellSizes,
    /// The largest time step.
    dt: f64,
    pub(crate) places: Places,
}

/// Where the tensors stand.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) a_matrix: Range<usize>,
    pub(crate) a: Range<usize>,
    pub(crate) b_matrix: Range<usize>,
    pub(crate) b: Range<usize>,
    pub(crate) c_matrix: Range<usize>,
    pub(crate) c: Range<usize>,
    pub(crate) q_matrix: Range<usize>,
    pub(crate) q: Range<usize>,
}

impl Lem {
    /// The cell of these sizes.
    pub fn new(sizes: CellSizes, dt: f64) -> Lem {
        let layout = layout(sizes);
        Lem {
            sizes,
            dt,
            places: Places {
                a_matrix: layout.range("A"),
                a: layout.range("a"),
                b_matrix: layout.range("B"),
                b: layout.range("b"),
                c_matrix: layout.range("C"),
                c: layout.range("c"),
                q_matrix: layout.range("Q"),
                q: layout.range("q"),
            },
        }
    }

    /// The largest time step.
    pub fn dt(&self) -> f64 {
        self.dt
    }

    /// The inputs of the two gates and of the two tangents but for the part of the new z: Δ̄, Δ, the line of y, the line of z.
    fn pre(&self, theta: &[f64], u: &[f64], y: &[f64], pre: &mut [f64]) {
        let (n, at) = (self.sizes.hidden, &self.places);
        pre.copy_from_slice(&theta[at.a.clone()]);
        add_product(&theta[at.a_matrix.clone()], u, pre);
        let mut of_y = theta[at.b.clone()].to_vec();
        add_product(&theta[at.b_matrix.clone()], y, &mut of_y);
        for (row, of_y) in of_y.iter().enumerate() {
            pre[if row < 2 * n { row } else { row + n }] += of_y;
        }
    }
}

fn layout(sizes: CellSizes) -> Layout {
    let CellSizes {
        hidden: n,
        channels,
        ..
    } = sizes;
    Layout::new([
        ("A", Shape::Matrix(4 * n, sizes.width())),
        ("a", Shape::Vector(4 * n)),
        ("B", Shape::Matrix(3 * n, n)),
        ("b", Shape::Vector(3 * n)),
        ("C", Shape::Matrix(n, n)),
        ("c", Shape::Vector(n)),
        ("Q", Shape::Matrix(channels, n)),
        ("q", Shape::Vector(channels)),
    ])
}

impl Cell for Lem {
    type Closed = ClosedLem;

    fn sizes(&self) -> CellSizes {
        self.sizes
    }

    fn layout(&self) -> Layout {
        layout(self.sizes)
    }

    /// All uniform within 1/√n, but for Q, which is normal with variance 2/n.
    fn start(&self, rng: &mut Rng) -> Vec<f32> {
        let n = self.sizes.hidden as f64;
        let limit = 1.0 / n.sqrt();
        let mut theta = vec![0f32; self.layout().len()];
        for (i, entry) in theta.iter_mut().enumerate() {
            *entry = if self.places.q_matrix.contains(&i) {
                (2.0 / n).sqrt() * rng.normal()
            } else {
                rng.between(-limit, limit)
            } as f32;
        }
        theta
    }

    /// S̄, S, r, p.
    fn traces(&self) -> usize {
        4 * self.sizes.hidden
    }

    fn step(&self, theta: &[f64], u: &[f64], v: &[f64], next: &mut [f64], trace: &mut [f64]) {
        let (n, dt, at) = (self.sizes.hidden, self.dt, &self.places);
        let (y, z) = v.split_at(n);
        self.pre(theta, u, y, trace);
        let (y_next, z_next) = next.split_at_mut(n);
        for k in 0..n {
            let (s, p) = (sigmoid(trace[n + k]), trace[3 * n + k].tanh());
            z_next[k] = (1.0 - dt * s) * z[k] + dt * s * p;
            (trace[n + k], trace[3 * n + k]) = (s, p);
        }
        let of_z = &mut trace[2 * n..3 * n];
        of_z.iter_mut()
            .zip(&theta[at.c.clone()])
            .for_each(|(pre, c)| *pre += c);
        add_product(&theta[at.c_matrix.clone()], z_next, of_z);
        for k in 0..n {
            let (s, r) = (sigmoid(trace[k]), trace[2 * n + k].tanh());
            y_next[k] = (1.0 - dt * s) * y[k] + dt * s * r;
            (trace[k], trace[2 * n + k]) = (s, r);
        }
    }

    fn pull_back(&self, theta: &[f64], taken: Taken<'_>, d: &[f64], to: Pulled<'_>) {
        let (n, dt, at) = (self.sizes.hidden, self.dt, &self.places);
        let ((y, z), z_next) = (taken.v.split_at(n), &taken.next[n..]);
        let [s_bar, s, r, p] = [0, 1, 2, 3].map(|part| &taken.trace[part * n..][..n]);
        let mut dpre = vec![0.0; 4 * n];
        let (dy, dz) = to.dv.split_at_mut(n);
        for k in 0..n {
            dpre[k] = d[k] * (r[k] - y[k]) * dt * s_bar[k] * (1.0 - s_bar[k]);
            dpre[2 * n + k] = d[k] * dt * s_bar[k] * (1.0 - r[k] * r[k]);
            dy[k] = d[k] * (1.0 - dt * s_bar[k]);
        }
        dz.copy_from_slice(&d[n..]);
        add_transposed(&theta[at.c_matrix.clone()], &dpre[2 * n..3 * n], dz);
        for k in 0..n {
            dpre[n + k] = dz[k] * (p[k] - z[k]) * dt * s[k] * (1.0 - s[k]);
            dpre[3 * n + k] = dz[k] * dt * s[k] * (1.0 - p[k] * p[k]);
            dz[k] *= 1.0 - dt * s[k];
        }
        let of_b = [&dpre[..2 * n], &dpre[3 * n..]].concat();
        add_transposed(&theta[at.b_matrix.clone()], &of_b, dy);
        to.du.fill(0.0);
        add_transposed(&theta[at.a_matrix.clone()], &dpre, to.du);
        let mut add = |(matrix, bias): (&Range<usize>, &Range<usize>), d: &[f64], x: &[f64]| {
            add_outer(d, x, &mut to.dtheta[matrix.clone()]);
            let biases = to.dtheta[bias.clone()].iter_mut();
            biases.zip(d).for_each(|(db, d)| *db += d);
        };
        add((&at.a_matrix, &at.a), &dpre, taken.u);
        add((&at.b_matrix, &at.b), &of_b, y);
        add((&at.c_matrix, &at.c), &dpre[2 * n..3 * n], z_next);
    }

    fn read_out<'a, T>(&self, theta: &'a [T]) -> (&'a [T], &'a [T]) {
        (
            &theta[self.places.q_matrix.clone()],
            &theta[self.places.q.clone()],
        )
    }

    fn close(&self, theta: &[f64]) -> ClosedLem {
        ClosedLem::new(self, theta)
    }

    fn constants(&self) -> Vec<(&'static str, f64)> {
        vec![("dt", self.dt)]
    }

    fn forecasts<'a>(network: &'a Network<Lem>, data: Stretch<'a>) -> Box<dyn Forecasts + 'a> {
        Box::new(Branches::<LemLanes>::new(network, data))
    }

    fn orbits(
        network: &Network<Lem>,
        states: &[f64],
        inputs: &[f64],
        steps: usize,
    ) -> Vec<Vec<f64>> {
        free::orbits::<LemLanes>(network, states, inputs, steps)
    }
}

/// The closed map: the inputs of all four lines are R y + S s + b', R = A_x Q and B where it has rows, and C z for the line of y.
#[derive(Debug, Clone)]
pub struct ClosedLem {
    n: usize,
    dt: f64,
    /// R, 4n × n.
    r: Columns,
    /// S, 4n × K.
    s: Columns,
    /// C, n × n.
    c: Columns,
    b: Vec<f64>,
}

impl ClosedLem {
    fn new(cell: &Lem, theta: &[f64]) -> ClosedLem {
        let CellSizes {
            hidden: n,
            channels,
            inputs,
        } = cell.sizes;
        let (at, (q_matrix, q)) = (&cell.places, cell.read_out(theta));
        let (a, b, c) = (
            &theta[at.a_matrix.clone()],
            &theta[at.b_matrix.clone()],
            &theta[at.c_matrix.clone()],
        );
        let width = cell.sizes.width();
        let a_x: Vec<f64> = a
            .chunks_exact(width)
            .flat_map(|row| &row[..channels])
            .copied()
            .collect();
        let mut folded = vec![0.0; 4 * n * n];
        linalg::multiply(&a_x, q_matrix, (4 * n, channels, n), &mut folded);
        // Rows of B by those of A; the line of y has none.
        let row_of_b = |row: usize| match row / n.max(1) {
            0 | 1 => Some(row),
            2 => None,
            _ => Some(row - n),
        };
        let mut bias = theta[at.a.clone()].to_vec();
        add_product(&a_x, q, &mut bias);
        for (row, bias) in bias.iter_mut().enumerate() {
            *bias += match row_of_b(row) {
                Some(row) => theta[at.b.start + row],
                None => theta[at.c.start + row - 2 * n],
            };
        }
        ClosedLem {
            n,
            dt: cell.dt,
            r: Columns::new(4 * n, n, |row, col| {
                folded[row * n + col] + row_of_b(row).map_or(0.0, |row| b[row * n + col])
            }),
            s: Columns::new(4 * n, inputs, |row, col| a[row * width + channels + col]),
            c: Columns::new(n, n, |row, col| c[row * n + col]),
            b: bias,
        }
    }

    /// S̄, S, r and p, and the new z.
    fn gates(&self, v: &[f64], s: &[f64], z_next: &mut [f64], room: &mut [f64]) {
        let (n, dt) = (self.n, self.dt);
        room.copy_from_slice(&self.b);
        self.r.add_product(&v[..n], room);
        self.s.add_product(s, room);
        for k in 0..n {
            let (s, p) = (sigmoid(room[n + k]), room[3 * n + k].tanh());
            z_next[k] = (1.0 - dt * s) * v[n + k] + dt * s * p;
            (room[k], room[n + k], room[3 * n + k]) = (sigmoid(room[k]), s, p);
        }
        self.c.add_product(z_next, &mut room[2 * n..3 * n]);
        room[2 * n..3 * n].iter_mut().for_each(|r| *r = r.tanh());
    }
}

impl Closed for ClosedLem {
    fn room(&self) -> usize {
        4 * self.n
    }

    fn step(&self, v: &[f64], s: &[f64], next: &mut [f64], room: &mut [f64]) {
        let (n, dt) = (self.n, self.dt);
        let (y_next, z_next) = next.split_at_mut(n);
        self.gates(v, s, z_next, room);
        for k in 0..n {
            y_next[k] = (1.0 - dt * room[k]) * v[k] + dt * room[k] * room[2 * n + k];
        }
    }

    fn jacobian(&self, v: &[f64], s: &[f64], jac: &mut [f64], room: &mut [f64]) {
        let (n, dt) = (self.n, self.dt);
        let (of_y, of_z) = jac.split_at_mut(2 * n * n);
        // The new z is not wanted; its row of the Jacobian is as long.
        self.gates(v, s, &mut of_z[..n], room);
        let [s_bar, s, r, p] = [0, 1, 2, 3].map(|part| &room[part * n..][..n]);
        of_z.fill(0.0);
        for (k, dz) in of_z.chunks_exact_mut(2 * n).enumerate() {
            let to_gate = (p[k] - v[n + k]) * dt * s[k] * (1.0 - s[k]);
            let to_p = dt * s[k] * (1.0 - p[k] * p[k]);
            for (l, dz) in dz[..n].iter_mut().enumerate() {
                *dz = to_gate * self.r.at(n + k, l) + to_p * self.r.at(3 * n + k, l);
            }
            dz[n + k] = 1.0 - dt * s[k];
        }
        of_y.fill(0.0);
        for (k, dy) in of_y.chunks_exact_mut(2 * n).enumerate() {
            let to_gate = (r[k] - v[k]) * dt * s_bar[k] * (1.0 - s_bar[k]);
            let to_r = dt * s_bar[k] * (1.0 - r[k] * r[k]);
            for (l, dz) in of_z.chunks_exact(2 * n).enumerate() {
                let through_z = to_r * self.c.at(k, l);
                dy.iter_mut()
                    .zip(dz)
                    .for_each(|(dy, dz)| *dy += through_z * dz);
            }
            for (l, dy) in dy[..n].iter_mut().enumerate() {
                *dy += to_gate * self.r.at(k, l) + to_r * self.r.at(2 * n + k, l);
            }
            dy[k] += 1.0 - dt * s_bar[k];
        }
    }
}
