//! The LSTM cell on lanes. Gates stand in the order i, j, f, o; the number that a unit leaves beside them is tanh c.

use std::ops::Range;

use super::{Ends, LaneCell, Step, StepBack, Tape, put, sums_of_rows, whole};
use crate::recurrent::lstm::{FORGET_BIAS, Lstm};
use crate::recurrent::{Cell, CellSizes};
use crate::simd::{
    Groups, Lanes, Packed, Simd, SimdBase, SimdFloat, multiply, outer, sigmoid, tanh,
};

/// W and b, and the read-out.
pub(crate) struct LstmLanes {
    sizes: CellSizes,
    ends: Ends,
    /// The part of W that belongs to h, 4n × n, and its transpose.
    recurrent: Packed,
    recurrent_back: Packed,
    /// b, with the forget bias.
    bias: Vec<f32>,
    /// The two parts of W by rows.
    parts: [Vec<f32>; 2],
    w: Range<usize>,
}

impl LaneCell for LstmLanes {
    type Exact = Lstm;

    fn new<P: Lanes>(cell: &Lstm) -> LstmLanes {
        let (sizes, layout) = (cell.sizes(), cell.layout());
        let n = sizes.hidden;
        LstmLanes {
            ends: Ends::new::<P>(sizes, layout.len()),
            recurrent: Packed::new(4 * n, n),
            recurrent_back: Packed::new(n, 4 * n),
            bias: vec![0.0; 4 * n],
            parts: [vec![0.0; 4 * n * sizes.width()], vec![0.0; 4 * n * n]],
            w: layout.range("W"),
            sizes,
        }
    }

    fn prepare(&mut self, theta: &[f32]) {
        let (n, width) = (self.sizes.hidden, self.sizes.width());
        let rows = theta[self.w.clone()].chunks_exact(width + n);
        let [of_u, of_h] = &mut self.parts;
        let parts = of_u.chunks_exact_mut(width).zip(of_h.chunks_exact_mut(n));
        for (row, (of_u, of_h)) in rows.zip(parts) {
            of_u.copy_from_slice(&row[..width]);
            of_h.copy_from_slice(&row[width..]);
        }
        self.recurrent.fill_rows(of_h);
        self.recurrent_back.fill_columns(of_h);
        self.bias.copy_from_slice(&theta[self.w.end..][..4 * n]);
        let forget = &mut self.bias[2 * n..3 * n];
        forget.iter_mut().for_each(|b| *b += FORGET_BIAS as f32);
        self.ends.prepare(of_u, theta);
    }

    fn ends(&self) -> &Ends {
        &self.ends
    }

    #[inline(always)]
    fn step<S: Simd, P: Lanes>(&self, simd: S, at: Step<'_, P>) {
        let (n, gates) = (self.sizes.hidden, at.gates);
        multiply(
            simd,
            &self.recurrent,
            at.before.0,
            #[inline(always)]
            |row, sum| {
                let bias = P::Vector::splat(simd, self.bias[row]);
                gates[row].store(gates[row].load(simd) + (sum + bias));
            },
        );
        let (h, c) = at.after;
        for k in 0..n {
            let i = sigmoid(simd, gates[k].load(simd));
            let j = tanh(simd, gates[n + k].load(simd));
            let f = sigmoid(simd, gates[2 * n + k].load(simd));
            let o = sigmoid(simd, gates[3 * n + k].load(simd));
            let cell = f.mul_add(at.before.1[k].load(simd), i * j);
            let tanh_c = tanh(simd, cell);
            gates[k].store(i);
            gates[n + k].store(j);
            gates[2 * n + k].store(f);
            gates[3 * n + k].store(o);
            c[k].store(cell);
            at.extra[k].store(tanh_c);
            h[k].store(o * tanh_c);
        }
    }

    #[inline(always)]
    fn step_back<S: Simd, P: Lanes>(&self, simd: S, at: StepBack<'_, P>) {
        let (n, gates, (dy, dw)) = (self.sizes.hidden, at.gates, at.d);
        let one = P::Vector::splat(simd, 1.0);
        for k in 0..n {
            let (i, j) = (gates[k].load(simd), gates[n + k].load(simd));
            let (f, o) = (gates[2 * n + k].load(simd), gates[3 * n + k].load(simd));
            let (dh, tanh_c) = (dy[k].load(simd), at.extra[k].load(simd));
            let dc = (dh * o).mul_add((-tanh_c).mul_add(tanh_c, one), dw[k].load(simd));
            gates[k].store(dc * j * (i * (one - i)));
            gates[n + k].store(dc * i * (-j).mul_add(j, one));
            gates[2 * n + k].store(dc * at.before.1[k].load(simd) * (f * (one - f)));
            gates[3 * n + k].store(dh * tanh_c * (o * (one - o)));
            dw[k].store(dc * f);
        }
        multiply(
            simd,
            &self.recurrent_back,
            gates,
            #[inline(always)]
            |row, sum| dy[row].store(sum),
        );
    }

    #[inline(always)]
    fn gradient<S: Simd, P: Lanes>(&self, simd: S, tape: &mut Tape<P>, groups: &mut Groups<'_>) {
        let (n, width) = (self.sizes.hidden, self.sizes.width());
        let before = &tape.y[..tape.y.len() - n];
        let [turned, ..] = &mut tape.turned;
        for (group, to) in groups.0.iter_mut().enumerate() {
            turned.fill(simd, group, (&tape.u, width), (before, n));
            let to = &mut to[self.w.clone()];
            let d = whole(&tape.gates, 4 * n);
            outer(simd, group, (d, turned), |i, j, entries| {
                put(&mut to[i * (width + n)..][..width + n], j, &entries);
            });
        }
        let start = self.w.end;
        let (gates, sums) = ((&tape.gates[..], 4 * n), &mut tape.sums);
        sums_of_rows(simd, gates, sums, |i, sums| groups.put(start + i, sums));
    }
}
