//! The flow between rows and the gated unit at rows, over all rows of a window, on lanes; see [`unit`](crate::continuous::unit) for the
//! equations. Hidden layers of the gates are made of two products: that with rows is done for all rows at once, that with states
//! row by row. Where no value is missing the mask is one everywhere, so that its weights are a bias. Where rows have times of their own,
//! the means flow on behind a row until the next one is a step away.
//!
//! ```text
//! m_e = m + h f(m)          c = (m_e, s)          k_u, k_r = tanh(W c + V v + b)          u, r = σ(W₂ k + b₂)
//! k_n = tanh(W c∘r + V v + b)                     (m', s') = W₂ k_n + b₂
//!
//! du = (m_e − m') dm + (s − |s'|) ds              dm' = (1 − u) dm              ds' = ±(1 − u) ds
//! dc = u (dm, ds) + r d(c∘r) + Wᵀ (dk_u, dk_r)    dr = (m_e, s) · d(c∘r)        dm = dm_e + h f'(m)ᵀ dm_e
//! ```

use std::ops::Range;

use super::{Columns, LaneNet, Matrix, NetTape, add_bias, slope, weight_gradient};
use crate::continuous::net::Layer;
use crate::continuous::unit::{Unit, UnitSizes};
use crate::recurrent::lanes::{put, sums_of_rows, whole};
use crate::simd::{
    Cotangents, Groups, Lanes, Simd, SimdBase, SimdFloat, Turned, outer, sigmoid, tanh,
};

/// Whether rows have values that are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mask {
    /// All values of all rows are there.
    Whole,
    /// Rows have a mask.
    Given,
}

/// The second layer of a gate and its transpose.
struct Out {
    w: Matrix,
    back: Matrix,
    of: Layer,
}

impl Out {
    fn new<P: Lanes>(of: &Layer) -> Out {
        Out {
            w: Matrix::new::<P>(of.rows, of.cols, Columns::One),
            back: Matrix::new::<P>(of.cols, of.rows, Columns::One),
            of: of.clone(),
        }
    }

    fn prepare(&mut self, theta: &[f32]) {
        let (w, cols) = (&theta[self.of.w.clone()], self.of.cols);
        self.w.fill(|row, col| w[row * cols + col]);
        self.back.fill(|row, col| w[col * cols + row]);
    }
}

/// A unit with the flow before it.
pub(crate) struct LaneUnit {
    pub(crate) sizes: UnitSizes,
    mask: Mask,
    h: f32,
    steps: usize,
    field: LaneNet,
    /// V of all three gates, 3g × numbers of a row that vary.
    rows: Matrix,
    /// W of both gates, 2g × 2d, and its transpose.
    gates: Matrix,
    gates_back: Matrix,
    /// W of the new state, g × 2d, and its transpose.
    new: Matrix,
    new_back: Matrix,
    /// Second layers: u, r and the new state.
    out: [Out; 3],
    /// First layers, in the same order.
    first: [Layer; 3],
    /// Biases of the first layers, 3g, and of the second ones, d, d and 2d.
    b: Vec<f32>,
    b_out: Vec<f32>,
}

/// What a sweep over T rows leaves. Buffers are `[row][feature]`.
pub(crate) struct UnitTape<P> {
    /// Rows as the unit sees them: values and inputs, or values, mask and inputs.
    pub(crate) v: Vec<P>,
    /// 1 in lanes in which a value of a row is there; empty where none is missing.
    pub(crate) taken: Vec<P>,
    /// How much more than one step Δt behind each row the next one is; empty where rows are one step apart.
    pub(crate) later: Vec<P>,
    /// Means and deviations behind each row, (T + 1) × d; those before the first are zero.
    pub(crate) m: Vec<P>,
    pub(crate) s: Vec<P>,
    field: NetTape<P>,
    /// (m_e, s) and the same times r, T × 2d.
    c: Vec<P>,
    c_reset: Vec<P>,
    /// V v, then its part of the first layers' inputs, T × 3g.
    pre: Vec<P>,
    /// Hidden units of each gate, T × g.
    k: [Vec<P>; 3],
    /// (u, r), T × 2d; (m', s'), T × 2d.
    gates: Vec<P>,
    new: Vec<P>,
    /// Cotangents of the second layers' outputs: u and r, T × d each, and the new state, T × 2d.
    d_out: [Vec<P>; 3],
    turned_rows: Turned,
    turned_states: Turned,
    turned_hidden: Turned,
    room: Room<P>,
}

/// Numbers of one row.
struct Room<P> {
    state: Vec<P>,
    other: Vec<P>,
    hidden: Vec<P>,
    sums: Vec<P>,
}

impl<P: Lanes> UnitTape<P> {
    /// Room for windows of so many rows.
    pub(crate) fn new(unit: &Unit, mask: Mask, rows: usize) -> UnitTape<P> {
        let UnitSizes {
            latent: d,
            gate_hidden: g,
            ..
        } = unit.sizes;
        let blank = |numbers: usize| vec![P::ZERO; numbers];
        let width = row_width(unit.sizes, mask);
        UnitTape {
            v: blank(rows * width),
            taken: blank(if mask == Mask::Given { rows } else { 0 }),
            later: Vec::new(),
            m: blank((rows + 1) * d),
            s: blank((rows + 1) * d),
            field: NetTape::new(&unit.field, rows * unit.steps),
            c: blank(rows * 2 * d),
            c_reset: blank(rows * 2 * d),
            pre: blank(rows * 3 * g),
            k: [blank(rows * g), blank(rows * g), blank(rows * g)],
            gates: blank(rows * 2 * d),
            new: blank(rows * 2 * d),
            d_out: [blank(rows * d), blank(rows * d), blank(rows * 2 * d)],
            turned_rows: Turned::new(width, rows, 3 * g),
            turned_states: Turned::new(2 * d, rows, 2 * g),
            turned_hidden: Turned::new(g, rows, 2 * d),
            room: Room {
                state: blank(2 * d),
                other: blank(2 * d),
                hidden: blank(3 * g),
                sums: blank((3 * g).max(2 * d)),
            },
        }
    }

    /// Room for rows at times of their own.
    pub(crate) fn at_own_times(self, unit: &Unit) -> UnitTape<P> {
        let rows = self.rows(unit.sizes.latent);
        UnitTape {
            later: vec![P::ZERO; rows],
            field: NetTape::new(&unit.field, 2 * rows * unit.steps),
            ..self
        }
    }

    /// Rows T.
    pub(crate) fn rows(&self, d: usize) -> usize {
        self.m.len() / d - 1
    }
}

/// Numbers of a row that vary.
pub(crate) fn row_width(sizes: UnitSizes, mask: Mask) -> usize {
    match mask {
        Mask::Whole => sizes.channels + sizes.inputs,
        Mask::Given => sizes.row(),
    }
}

impl LaneUnit {
    pub(crate) fn new<P: Lanes>(unit: &Unit, mask: Mask) -> LaneUnit {
        let UnitSizes {
            latent: d,
            gate_hidden: g,
            ..
        } = unit.sizes;
        let one = |rows, cols| Matrix::new::<P>(rows, cols, Columns::One);
        let nets = [&unit.update, &unit.reset, &unit.new];
        LaneUnit {
            field: LaneNet::new::<P>(&unit.field, Columns::One),
            rows: Matrix::new::<P>(3 * g, row_width(unit.sizes, mask), Columns::Several),
            gates: one(2 * g, 2 * d),
            gates_back: one(2 * d, 2 * g),
            new: one(g, 2 * d),
            new_back: one(2 * d, g),
            out: nets.map(|net| Out::new::<P>(&net.layers[1])),
            first: nets.map(|net| net.layers[0].clone()),
            b: vec![0.0; 3 * g],
            b_out: vec![0.0; 4 * d],
            h: unit.h as f32,
            steps: unit.steps,
            sizes: unit.sizes,
            mask,
        }
    }

    /// Takes θ.
    pub(crate) fn prepare(&mut self, theta: &[f32]) {
        let UnitSizes {
            latent: d,
            gate_hidden: g,
            channels: n,
            ..
        } = self.sizes;
        self.field.prepare(theta);
        self.out.iter_mut().for_each(|out| out.prepare(theta));
        let cols = self.first[0].cols;
        let entry = |of: &[Layer; 3], gate: usize, col: usize| {
            theta[of[gate / g].w.start + (gate % g) * cols + col]
        };
        let (first, sizes, mask) = (&self.first, self.sizes, self.mask);
        self.rows
            .fill(|gate, i| entry(first, gate, column(sizes, mask, i)));
        self.gates.fill(|gate, col| entry(first, gate, col));
        self.gates_back.fill(|row, gate| entry(first, gate, row));
        self.new.fill(|gate, col| entry(first, 2 * g + gate, col));
        self.new_back
            .fill(|row, gate| entry(first, 2 * g + gate, row));
        for (gate, b) in self.b.iter_mut().enumerate() {
            *b = theta[first[gate / g].b.start + gate % g];
            if self.mask == Mask::Whole {
                let of_mask = (0..n).map(|i| entry(first, gate, 2 * d + n + i));
                *b += of_mask.sum::<f32>();
            }
        }
        let biases = self.out.iter().flat_map(|out| &theta[out.of.b.clone()]);
        self.b_out.iter_mut().zip(biases).for_each(|(b, v)| *b = *v);
    }

    /// Takes all rows in.
    pub(crate) fn forward<S: Simd, P: Lanes>(&self, simd: S, tape: &mut UnitTape<P>) {
        let d = self.sizes.latent;
        tape.m[..d].fill(P::ZERO);
        tape.s[..d].fill(P::ZERO);
        self.rows.product(simd, &tape.v, &mut tape.pre);
        for t in 0..tape.rows(d) {
            self.step(simd, tape, t);
        }
    }

    /// Takes the row of a tape of one row in, from the state before it.
    pub(crate) fn take_in<S: Simd, P: Lanes>(&self, simd: S, tape: &mut UnitTape<P>) {
        self.rows.product(simd, &tape.v, &mut tape.pre);
        self.step(simd, tape, 0);
    }

    /// Takes row t in.
    fn step<S: Simd, P: Lanes>(&self, simd: S, tape: &mut UnitTape<P>, t: usize) {
        simd.vectorize(
            #[inline(always)]
            || {
                self.flow(simd, tape, t);
                self.gate(simd, tape, t);
                self.renew(simd, tape, t);
                self.flow_on(simd, tape, t);
            },
        );
    }

    /// c = (m_e, s).
    #[inline(always)]
    fn flow<S: Simd, P: Lanes>(&self, simd: S, tape: &mut UnitTape<P>, t: usize) {
        let d = self.sizes.latent;
        let h = P::Vector::splat(simd, self.h);
        let (m, s) = tape.c[t * 2 * d..][..2 * d].split_at_mut(d);
        m.copy_from_slice(&tape.m[t * d..][..d]);
        s.copy_from_slice(&tape.s[t * d..][..d]);
        let slope = &mut tape.room.state[..d];
        let calls = t * self.steps..(t + 1) * self.steps;
        self.euler(simd, &mut tape.field, calls, h, (m, slope));
    }

    /// Lets the means behind row t flow on until the next row is one step away.
    #[inline(always)]
    fn flow_on<S: Simd, P: Lanes>(&self, simd: S, tape: &mut UnitTape<P>, t: usize) {
        let d = self.sizes.latent;
        let Some(later) = tape.later.get(t) else {
            return;
        };
        let h = P::Vector::splat(simd, self.h) * later.load(simd);
        let m = &mut tape.m[(t + 1) * d..][..d];
        let slope = &mut tape.room.state[..d];
        let calls = self.later_calls(tape.later.len(), t);
        self.euler(simd, &mut tape.field, calls, h, (m, slope));
    }

    /// The calls of the field behind row t.
    fn later_calls(&self, rows: usize, t: usize) -> Range<usize> {
        (rows + t) * self.steps..(rows + t + 1) * self.steps
    }

    /// m ← m + h f(m), once for every call.
    #[inline(always)]
    fn euler<S: Simd, P: Lanes>(
        &self,
        simd: S,
        field: &mut NetTape<P>,
        calls: Range<usize>,
        h: P::Vector<S>,
        (m, slope): (&mut [P], &mut [P]),
    ) {
        for call in calls {
            field.inputs(call..call + 1).copy_from_slice(m);
            self.field.forward(simd, field, call..call + 1, slope);
            for (m, slope) in m.iter_mut().zip(&*slope) {
                m.store(h.mul_add(slope.load(simd), m.load(simd)));
            }
        }
    }

    /// u and r.
    #[inline(always)]
    fn gate<S: Simd, P: Lanes>(&self, simd: S, tape: &mut UnitTape<P>, t: usize) {
        let (d, g) = (self.sizes.latent, self.sizes.gate_hidden);
        let c = &tape.c[t * 2 * d..][..2 * d];
        let hidden = &mut tape.room.hidden[..2 * g];
        self.gates.product(simd, c, hidden);
        let pre = &tape.pre[t * 3 * g..][..2 * g];
        let gates = &mut tape.gates[t * 2 * d..][..2 * d];
        for (i, gate) in gates.chunks_exact_mut(d).enumerate() {
            let k = &mut tape.k[i][t * g..][..g];
            for (j, k) in k.iter_mut().enumerate() {
                let at = i * g + j;
                let b = P::Vector::splat(simd, self.b[at]);
                let sum = hidden[at].load(simd) + (pre[at].load(simd) + b);
                k.store(tanh(simd, sum));
            }
            self.out[i].w.product(simd, k, gate);
            for (gate, &b) in gate.iter_mut().zip(&self.b_out[i * d..]) {
                let b = P::Vector::splat(simd, b);
                gate.store(sigmoid(simd, gate.load(simd) + b));
            }
        }
    }

    /// The new state.
    #[inline(always)]
    fn renew<S: Simd, P: Lanes>(&self, simd: S, tape: &mut UnitTape<P>, t: usize) {
        let (d, g) = (self.sizes.latent, self.sizes.gate_hidden);
        let c = &tape.c[t * 2 * d..][..2 * d];
        let gates = &tape.gates[t * 2 * d..][..2 * d];
        let c_reset = &mut tape.c_reset[t * 2 * d..][..2 * d];
        for (j, (to, c)) in c_reset.iter_mut().zip(c).enumerate() {
            to.store(c.load(simd) * gates[d + j % d].load(simd));
        }
        let hidden = &mut tape.room.hidden[..g];
        self.new.product(simd, c_reset, hidden);
        let (pre, k) = (
            &tape.pre[t * 3 * g + 2 * g..][..g],
            &mut tape.k[2][t * g..][..g],
        );
        for (j, k) in k.iter_mut().enumerate() {
            let b = P::Vector::splat(simd, self.b[2 * g + j]);
            let sum = hidden[j].load(simd) + (pre[j].load(simd) + b);
            k.store(tanh(simd, sum));
        }
        let new = &mut tape.new[t * 2 * d..][..2 * d];
        self.out[2].w.product(simd, k, new);
        add_bias(simd, &self.b_out[2 * d..], new);
        let taken = taken(simd, &tape.taken, t);
        for j in 0..2 * d {
            let (c, u, new) = (c[j].load(simd), gates[j % d].load(simd), new[j].load(simd));
            let to = match j.checked_sub(d) {
                None => &mut tape.m[(t + 1) * d + j],
                Some(j) => &mut tape.s[(t + 1) * d + j],
            };
            let new = if j < d { new } else { new.abs() };
            let mixed = u.mul_add(c - new, new);
            to.store(match taken {
                None => mixed,
                Some(taken) => taken.mul_add(mixed - c, c),
            });
        }
    }

    /// From cotangents of the last state and of the means behind all rows, T × d if there are any, to those of everything before.
    pub(crate) fn backward<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut UnitTape<P>,
        (dm, ds): (&mut [P], &mut [P]),
        of_rows: Option<&[P]>,
    ) {
        let d = self.sizes.latent;
        for t in (0..tape.rows(d)).rev() {
            simd.vectorize(
                #[inline(always)]
                || {
                    if let Some(of_rows) = of_rows {
                        for (dm, more) in dm.iter_mut().zip(&of_rows[t * d..][..d]) {
                            dm.store(dm.load(simd) + more.load(simd));
                        }
                    }
                    self.flow_on_back(simd, tape, t, dm);
                    self.renew_back(simd, tape, t, (dm, ds));
                    self.gate_back(simd, tape, t, (dm, ds));
                    self.flow_back(simd, tape, t, dm);
                },
            );
        }
    }

    /// From the cotangents of the new state to those of c, without what comes through u and r, and those of u and r before σ.
    #[inline(always)]
    fn renew_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut UnitTape<P>,
        t: usize,
        (dm, ds): (&mut [P], &mut [P]),
    ) {
        let (d, g) = (self.sizes.latent, self.sizes.gate_hidden);
        let one = P::Vector::splat(simd, 1.0);
        let at = t * 2 * d;
        let (c, gates, new) = (&tape.c[at..], &tape.gates[at..], &tape.new[at..]);
        let taken = taken(simd, &tape.taken, t);
        let [d_u, d_r, d_new] = &mut tape.d_out;
        let d_new = &mut d_new[at..][..2 * d];
        let kept = &mut tape.room.other;
        for j in 0..d {
            let u = gates[j].load(simd);
            let (m, s) = (c[j].load(simd), c[d + j].load(simd));
            let (m_new, s_new) = (new[j].load(simd), new[d + j].load(simd));
            let (of_m, of_s) = (dm[j].load(simd), ds[j].load(simd));
            let (dm, ds) = match taken {
                None => (of_m, of_s),
                Some(taken) => (of_m * taken, of_s * taken),
            };
            let du = (m - m_new).mul_add(dm, (s - s_new.abs()) * ds);
            d_u[t * d + j].store(du * u * (one - u));
            let share = one - u;
            d_new[j].store(share * dm);
            d_new[d + j].store((share * ds) * one.copysign(s_new));
            // What stays where the row is not taken in, and u of the rest.
            kept[j].store(u.mul_add(dm, of_m - dm));
            kept[d + j].store(u.mul_add(ds, of_s - ds));
        }
        let hidden = &mut tape.room.hidden[..g];
        self.out[2].back.product(simd, d_new, hidden);
        slope(simd, &tape.k[2][t * g..][..g], hidden);
        let pre = &mut tape.pre[t * 3 * g + 2 * g..][..g];
        pre.copy_from_slice(hidden);
        let d_reset = &mut tape.room.state[..2 * d];
        self.new_back.product(simd, pre, d_reset);
        for j in 0..d {
            let r = gates[d + j].load(simd);
            let (of_m, of_s) = (d_reset[j].load(simd), d_reset[d + j].load(simd));
            let dr = c[j].load(simd).mul_add(of_m, c[d + j].load(simd) * of_s);
            d_r[t * d + j].store(dr * r * (one - r));
            dm[j].store(r.mul_add(of_m, kept[j].load(simd)));
            ds[j].store(r.mul_add(of_s, kept[d + j].load(simd)));
        }
    }

    /// Adds what comes through u and r.
    #[inline(always)]
    fn gate_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut UnitTape<P>,
        t: usize,
        (dm, ds): (&mut [P], &mut [P]),
    ) {
        let (d, g) = (self.sizes.latent, self.sizes.gate_hidden);
        let pre = &mut tape.pre[t * 3 * g..][..2 * g];
        for (i, pre) in pre.chunks_exact_mut(g).enumerate() {
            self.out[i]
                .back
                .product(simd, &tape.d_out[i][t * d..][..d], pre);
            slope(simd, &tape.k[i][t * g..][..g], pre);
        }
        let dc = &mut tape.room.state[..2 * d];
        self.gates_back.product(simd, pre, dc);
        for (to, dc) in dm.iter_mut().chain(ds).zip(dc) {
            to.store(to.load(simd) + dc.load(simd));
        }
    }

    /// From the cotangents of m_e to those of m.
    #[inline(always)]
    fn flow_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut UnitTape<P>,
        t: usize,
        dm: &mut [P],
    ) {
        let h = P::Vector::splat(simd, self.h);
        let more = &mut tape.room.state[..self.sizes.latent];
        let calls = t * self.steps..(t + 1) * self.steps;
        self.euler_back(simd, &mut tape.field, calls, h, (dm, more));
    }

    /// From the cotangents of the means from which the next row is one step away to those behind row t.
    #[inline(always)]
    fn flow_on_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut UnitTape<P>,
        t: usize,
        dm: &mut [P],
    ) {
        let Some(later) = tape.later.get(t) else {
            return;
        };
        let h = P::Vector::splat(simd, self.h) * later.load(simd);
        let more = &mut tape.room.state[..self.sizes.latent];
        let calls = self.later_calls(tape.later.len(), t);
        self.euler_back(simd, &mut tape.field, calls, h, (dm, more));
    }

    /// dm ← dm + h f'(m)ᵀ dm, once for every call, the last one first.
    #[inline(always)]
    fn euler_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        field: &mut NetTape<P>,
        calls: Range<usize>,
        h: P::Vector<S>,
        (dm, more): (&mut [P], &mut [P]),
    ) {
        for call in calls.rev() {
            let of_slope = field.cotangents(call..call + 1);
            for (to, dm) in of_slope.iter_mut().zip(&*dm) {
                to.store(h * dm.load(simd));
            }
            self.field.backward(simd, field, call..call + 1, more);
            for (dm, more) in dm.iter_mut().zip(&*more) {
                dm.store(dm.load(simd) + more.load(simd));
            }
        }
    }

    /// The gradients of all its tensors.
    pub(crate) fn gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut UnitTape<P>,
        groups: &mut Groups<'_>,
    ) {
        let calls = (tape.rows(self.sizes.latent) + tape.later.len()) * self.steps;
        self.field.gradient(simd, &mut tape.field, calls, groups);
        simd.vectorize(
            #[inline(always)]
            || {
                self.out_gradient(simd, tape, groups);
                self.states_gradient(simd, tape, groups);
                self.rows_gradient(simd, tape, groups);
            },
        );
    }

    /// The gradients of the second layers.
    #[inline(always)]
    fn out_gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut UnitTape<P>,
        groups: &mut Groups<'_>,
    ) {
        let g = self.sizes.gate_hidden;
        for (i, out) in self.out.iter().enumerate() {
            let Layer { rows, cols, w, b } = &out.of;
            let (of_out, k) = (&tape.d_out[i][..], &tape.k[i][..]);
            weight_gradient(
                simd,
                ((of_out, *rows), (k, g)),
                &mut tape.turned_hidden,
                (w.start, *cols),
                groups,
            );
            let start = b.start;
            sums_of_rows(simd, (of_out, *rows), &mut tape.room.sums, |j, sums| {
                groups.put(start + j, sums);
            });
        }
    }

    /// dW of the first layers.
    #[inline(always)]
    fn states_gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut UnitTape<P>,
        groups: &mut Groups<'_>,
    ) {
        let (d, g) = (self.sizes.latent, self.sizes.gate_hidden);
        let parts = [(&tape.c, 0, 2 * g), (&tape.c_reset, 2 * g, g)];
        for (states, first, width) in parts {
            let gates = Cotangents {
                values: &tape.pre[..],
                stride: 3 * g,
                first,
                width,
            };
            for (group, to) in groups.0.iter_mut().enumerate() {
                let turned = &mut tape.turned_states;
                turned.fill(simd, group, (states, 2 * d), (&[], 0));
                outer(simd, group, (gates, turned), |i, j, entries| {
                    let of = &self.first[(first + i) / g];
                    let start = of.w.start + (first + i) % g * of.cols;
                    put(&mut to[start..][..2 * d], j, &entries);
                });
            }
        }
    }

    /// dV and db of the first layers.
    #[inline(always)]
    fn rows_gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut UnitTape<P>,
        groups: &mut Groups<'_>,
    ) {
        let g = self.sizes.gate_hidden;
        let width = row_width(self.sizes, self.mask);
        for (group, to) in groups.0.iter_mut().enumerate() {
            let turned = &mut tape.turned_rows;
            turned.fill(simd, group, (&tape.v, width), (&[], 0));
            let gates = whole(&tape.pre[..], 3 * g);
            outer(simd, group, (gates, turned), |gate, j, entries| {
                let of = &self.first[gate / g];
                let start = of.w.start + gate % g * of.cols;
                for (i, entry) in (j..width).zip(entries) {
                    to[start + column(self.sizes, self.mask, i)] = entry;
                }
            });
        }
        let (d, n) = (self.sizes.latent, self.sizes.channels);
        sums_of_rows(
            simd,
            (&tape.pre, 3 * g),
            &mut tape.room.sums,
            |gate, sums| {
                let of = &self.first[gate / g];
                groups.put(of.b.start + gate % g, sums);
                if self.mask == Mask::Whole {
                    let start = of.w.start + gate % g * of.cols + 2 * d + n;
                    (start..start + n).for_each(|at| groups.put(at, sums));
                }
            },
        );
    }
}

/// Where number i of a row stands among the columns of a first layer.
fn column(sizes: UnitSizes, mask: Mask, i: usize) -> usize {
    let n = sizes.channels;
    let is_behind_mask = mask == Mask::Whole && i >= n;
    2 * sizes.latent + if is_behind_mask { i + n } else { i }
}

/// The lanes in which row t is taken in; none if all are.
#[inline(always)]
fn taken<S: Simd, P: Lanes>(simd: S, taken: &[P], t: usize) -> Option<P::Vector<S>> {
    taken.get(t).map(|taken| taken.load(simd))
}

/// Lays rows out as the unit sees them: row i of v is row `order(i)` of the windows.
pub(crate) struct See<'a, P> {
    pub(crate) x: &'a [P],
    /// Empty where no value is missing.
    pub(crate) mask: &'a [P],
    /// External inputs, K for each row.
    pub(crate) s: &'a [P],
    pub(crate) channels: usize,
    pub(crate) order: fn(usize, usize) -> usize,
}

/// Rows in the order of time.
pub(crate) fn forwards(i: usize, _rows: usize) -> usize {
    i
}

/// The last row first.
pub(crate) fn backwards(i: usize, rows: usize) -> usize {
    rows - 1 - i
}

impl<P: Lanes> See<'_, P> {
    /// Fills v and where rows are taken in.
    #[inline(always)]
    pub(crate) fn fill<S: Simd>(&self, simd: S, tape: &mut UnitTape<P>, rows: usize) {
        let (n, k) = (self.channels, self.s.len() / rows);
        let width = tape.v.len() / rows;
        for (i, v) in tape.v.chunks_exact_mut(width).enumerate() {
            let t = (self.order)(i, rows);
            let (x, s) = (&self.x[t * n..][..n], &self.s[t * k..][..k]);
            v[..n].copy_from_slice(x);
            v[width - k..].copy_from_slice(s);
            if self.mask.is_empty() {
                continue;
            }
            let mask = &self.mask[t * n..][..n];
            let mut any = P::Vector::splat(simd, 0.0);
            for (j, mask) in mask.iter().enumerate() {
                // Noise may stand where a value is missing.
                let there = mask.load(simd);
                v[j].store(x[j].load(simd) * there);
                any = any.max(there);
            }
            v[n..2 * n].copy_from_slice(mask);
            tape.taken[i].store(any);
        }
    }
}
