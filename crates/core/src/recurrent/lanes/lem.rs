//! The LEM cell on lanes. Gates stand in the order Δ̄, Δ, z, y, so that those that see y₋ follow one another: the last two quarters of
//! A have their places exchanged.

use super::{Ends, LaneCell, Step, StepBack, Tape, put, sums_of_rows};
use crate::recurrent::lem::{Lem, Places};
use crate::recurrent::{Cell, CellSizes};
use crate::simd::{
    Cotangents, GROUP, Groups, Lanes, Packed, Simd, SimdBase, SimdFloat, multiply, outer, sigmoid,
    tanh,
};

/// All matrices and biases.
pub(crate) struct LemLanes {
    sizes: CellSizes,
    dt: f32,
    ends: Ends,
    /// B, 3n × n, and its transpose.
    of_y: Packed,
    of_y_back: Packed,
    /// C, n × n, and its transpose.
    of_z: Packed,
    of_z_back: Packed,
    /// The sum of each line's two biases.
    bias: Vec<f32>,
    /// A by rows, in the order of the gates.
    a: Vec<f32>,
    places: Places,
}

/// The row of A and of its bias that belongs to a gate.
#[inline(always)]
fn row_of_a(n: usize, gate: usize) -> usize {
    if gate < 2 * n {
        gate
    } else if gate < 3 * n {
        gate + n
    } else {
        gate - n
    }
}

impl LaneCell for LemLanes {
    type Exact = Lem;

    fn new<P: Lanes>(cell: &Lem) -> LemLanes {
        let (sizes, layout) = (cell.sizes(), cell.layout());
        let n = sizes.hidden;
        LemLanes {
            dt: cell.dt() as f32,
            ends: Ends::new::<P>(sizes, layout.len()),
            of_y: Packed::new(3 * n, n),
            of_y_back: Packed::new(n, 3 * n),
            of_z: Packed::new(n, n),
            of_z_back: Packed::new(n, n),
            bias: vec![0.0; 4 * n],
            a: vec![0.0; 4 * n * sizes.width()],
            places: cell.places.clone(),
            sizes,
        }
    }

    fn prepare(&mut self, theta: &[f32]) {
        let (n, width, at) = (self.sizes.hidden, self.sizes.width(), &self.places);
        for (gate, row) in self.a.chunks_exact_mut(width).enumerate() {
            let place = at.a_matrix.start + row_of_a(n, gate) * width;
            row.copy_from_slice(&theta[place..place + width]);
        }
        let (of_y, of_z) = (&theta[at.b_matrix.clone()], &theta[at.c_matrix.clone()]);
        self.of_y.fill_rows(of_y);
        self.of_y_back.fill_columns(of_y);
        self.of_z.fill_rows(of_z);
        self.of_z_back.fill_columns(of_z);
        let others = theta[at.b.clone()].iter().chain(&theta[at.c.clone()]);
        for (gate, (bias, other)) in self.bias.iter_mut().zip(others).enumerate() {
            *bias = theta[at.a.start + row_of_a(n, gate)] + other;
        }
        self.ends.prepare(&self.a, theta);
    }

    fn ends(&self) -> &Ends {
        &self.ends
    }

    #[inline(always)]
    fn step<S: Simd, P: Lanes>(&self, simd: S, at: Step<'_, P>) {
        let (n, gates) = (self.sizes.hidden, at.gates);
        let (y, z) = at.after;
        let dt = P::Vector::splat(simd, self.dt);
        multiply(
            simd,
            &self.of_y,
            at.before.0,
            #[inline(always)]
            |row, sum| {
                let bias = P::Vector::splat(simd, self.bias[row]);
                gates[row].store(gates[row].load(simd) + (sum + bias));
            },
        );
        for k in 0..n {
            let s = sigmoid(simd, gates[n + k].load(simd));
            let p = tanh(simd, gates[2 * n + k].load(simd));
            let before = at.before.1[k].load(simd);
            gates[n + k].store(s);
            gates[2 * n + k].store(p);
            z[k].store((dt * s).mul_add(p - before, before));
        }
        multiply(
            simd,
            &self.of_z,
            z,
            #[inline(always)]
            |row, sum| {
                let bias = P::Vector::splat(simd, self.bias[3 * n + row]);
                let gate = &mut gates[3 * n + row];
                gate.store(gate.load(simd) + (sum + bias));
            },
        );
        for k in 0..n {
            let s = sigmoid(simd, gates[k].load(simd));
            let r = tanh(simd, gates[3 * n + k].load(simd));
            let before = at.before.0[k].load(simd);
            gates[k].store(s);
            gates[3 * n + k].store(r);
            y[k].store((dt * s).mul_add(r - before, before));
        }
    }

    #[inline(always)]
    fn step_back<S: Simd, P: Lanes>(&self, simd: S, at: StepBack<'_, P>) {
        let (n, gates, (dy, dz)) = (self.sizes.hidden, at.gates, at.d);
        let (one, dt) = (P::Vector::splat(simd, 1.0), P::Vector::splat(simd, self.dt));
        for k in 0..n {
            let (s, r) = (gates[k].load(simd), gates[3 * n + k].load(simd));
            let (d, before) = (dy[k].load(simd), at.before.0[k].load(simd));
            let of_step = d * (dt * s);
            gates[k].store(of_step * (r - before) * (one - s));
            gates[3 * n + k].store(of_step * (-r).mul_add(r, one));
            dy[k].store(d - of_step);
        }
        multiply(
            simd,
            &self.of_z_back,
            &gates[3 * n..],
            #[inline(always)]
            |row, sum| dz[row].store(dz[row].load(simd) + sum),
        );
        for k in 0..n {
            let (s, p) = (gates[n + k].load(simd), gates[2 * n + k].load(simd));
            let (d, before) = (dz[k].load(simd), at.before.1[k].load(simd));
            let of_step = d * (dt * s);
            gates[n + k].store(of_step * (p - before) * (one - s));
            gates[2 * n + k].store(of_step * (-p).mul_add(p, one));
            dz[k].store(d - of_step);
        }
        multiply(
            simd,
            &self.of_y_back,
            &gates[..3 * n],
            #[inline(always)]
            |row, sum| dy[row].store(dy[row].load(simd) + sum),
        );
    }

    #[inline(always)]
    fn gradient<S: Simd, P: Lanes>(&self, simd: S, tape: &mut Tape<P>, groups: &mut Groups<'_>) {
        let (n, width, at) = (self.sizes.hidden, self.sizes.width(), &self.places);
        let (before, after) = (&tape.y[..tape.y.len() - n], &tape.w[n..]);
        let [of_y, of_z, _] = &mut tape.turned;
        for (group, to) in groups.0.iter_mut().enumerate() {
            of_y.fill(simd, group, (&tape.u, width), (before, n));
            of_z.fill(simd, group, (&tape.u, width), (after, n));
            let gates = |first: usize, width: usize| Cotangents {
                values: &tape.gates[..],
                stride: 4 * n,
                first,
                width,
            };
            // The columns of u go to A, those of the state to B or C.
            let mut put_both = |gate: usize, recurrent: usize, j: usize, entries: &[f32; GROUP]| {
                if j < width {
                    let row = at.a_matrix.start + row_of_a(n, gate) * width;
                    put(&mut to[row..][..width], j, entries);
                }
                let row = &mut to[recurrent..][..n];
                match j.checked_sub(width) {
                    Some(j) => put(row, j, entries),
                    None => {
                        let of_state = entries.iter().skip(width - j);
                        row.iter_mut()
                            .zip(of_state)
                            .for_each(|(to, entry)| *to = *entry);
                    }
                }
            };
            outer(simd, group, (gates(0, 3 * n), of_y), |i, j, entries| {
                put_both(i, at.b_matrix.start + i * n, j, &entries);
            });
            outer(simd, group, (gates(3 * n, n), of_z), |i, j, entries| {
                put_both(3 * n + i, at.c_matrix.start + i * n, j, &entries);
            });
        }
        let (d, sums) = ((&tape.gates[..], 4 * n), &mut tape.sums);
        sums_of_rows(simd, d, sums, |gate, sums| {
            groups.put(at.a.start + row_of_a(n, gate), sums);
            let other = match gate.checked_sub(3 * n) {
                None => at.b.start + gate,
                Some(row) => at.c.start + row,
            };
            groups.put(other, sums);
        });
    }
}
