//! The cells on lanes: f32, windows side by side in the lanes of vectors, no allocation. It is the objective of
//! [`plain`](super::plain) in another order.
//!
//! ```text
//! forward    pre_t = V u_t + R y_{t−1} + b,   gates, v_t step by step
//! compare    e_t = c m (x̂_t − x_t)
//! backward   dy += Qᵀ e,   dpre_t from (dy, dw),   dy_{t−1} = Rᵀ dpre_t,   dw_{t−1}
//! gradient   dV = Σ dpre uᵀ,  dR = Σ dpre yᵀ,  dQ = Σ e yᵀ   over all steps and windows at once
//! ```
//!
//! Where the inputs u are the data alone, V u and the read-outs are products over all steps at once; where forecasts are fed back
//! they follow one another.

mod lem;
mod lstm;
#[cfg(test)]
mod tests;

pub(crate) use lem::LemLanes;
pub(crate) use lstm::LstmLanes;

use std::ops::Range;

use super::{Cell, CellSizes};
use crate::simd::{
    Cotangents, GROUP, Groups, Lanes, Packed, Rows, Simd, SimdBase, SimdFloat, Task, Turned,
    add_rows, multiply, multiply_many, outer,
};

/// A cell on lanes. Every unit has four gates, of which the inputs, the values and the cotangents of the inputs stand one after
/// another in the same place.
pub(crate) trait LaneCell: Send + Sync + Sized {
    /// The cell in f64.
    type Exact: Cell;

    /// The kernel of a cell, for lanes of type `P`.
    fn new<P: Lanes>(cell: &Self::Exact) -> Self;

    /// Takes θ, once an update.
    fn prepare(&mut self, theta: &[f32]);

    /// What comes in and what is read out.
    fn ends(&self) -> &Ends;

    /// One step; of the gates' inputs, V u is there already.
    fn step<S: Simd, P: Lanes>(&self, simd: S, at: Step<'_, P>);

    /// From the cotangents of a step's result to those of its gates' inputs, in place of their values, and of the state before.
    fn step_back<S: Simd, P: Lanes>(&self, simd: S, at: StepBack<'_, P>);

    /// The gradient of all but the read-out.
    fn gradient<S: Simd, P: Lanes>(&self, simd: S, tape: &mut Tape<P>, groups: &mut Groups<'_>);
}

/// A step forward.
pub(crate) struct Step<'a, P> {
    pub(crate) before: (&'a [P], &'a [P]),
    pub(crate) after: (&'a mut [P], &'a mut [P]),
    pub(crate) gates: &'a mut [P],
    pub(crate) extra: &'a mut [P],
}

/// A step back.
pub(crate) struct StepBack<'a, P> {
    pub(crate) before: (&'a [P], &'a [P]),
    pub(crate) gates: &'a mut [P],
    pub(crate) extra: &'a [P],
    /// Cotangents of both halves of the state.
    pub(crate) d: (&'a mut [P], &'a mut [P]),
}

/// V, Q and q.
pub(crate) struct Ends {
    sizes: CellSizes,
    /// V, 4n × (N + K).
    input: Packed,
    /// The part of Vᵀ that belongs to channels, N × 4n.
    input_back: Packed,
    /// Q, N × n.
    output: Packed,
    /// Qᵀ, n × N.
    output_back: Packed,
    q_matrix: Range<usize>,
    q: Vec<f32>,
}

impl Ends {
    fn new<P: Lanes>(sizes: CellSizes, parameters: usize) -> Ends {
        let CellSizes {
            hidden, channels, ..
        } = sizes;
        let read_out = parameters - channels * (hidden + 1);
        Ends {
            sizes,
            input: Packed::for_many::<P>(4 * hidden, sizes.width()),
            input_back: Packed::new(channels, 4 * hidden),
            output: Packed::for_many::<P>(channels, hidden),
            output_back: Packed::for_many::<P>(hidden, channels),
            q_matrix: read_out..read_out + channels * hidden,
            q: vec![0.0; channels],
        }
    }

    /// Takes V row by row, and Q and q from θ.
    fn prepare(&mut self, v: &[f32], theta: &[f32]) {
        let width = self.sizes.width();
        self.input.fill_rows(v);
        if self.sizes.inputs == 0 {
            self.input_back.fill_columns(v);
        } else {
            self.input_back
                .fill(|channel, gate| v[gate * width + channel]);
        }
        let q_matrix = &theta[self.q_matrix.clone()];
        self.output.fill_rows(q_matrix);
        self.output_back.fill_columns(q_matrix);
        self.q.copy_from_slice(&theta[self.q_matrix.end..]);
    }
}

/// What a sweep leaves for the gradient. Buffers are `[step][feature]`.
pub(crate) struct Tape<P> {
    pub(crate) sizes: CellSizes,
    /// Inputs (x̃, s), T × (N + K).
    pub(crate) u: Vec<P>,
    /// Both halves of the states, (T + 1) × n; row 0 is the state before the window.
    pub(crate) y: Vec<P>,
    pub(crate) w: Vec<P>,
    /// Gates, T × 4n.
    pub(crate) gates: Vec<P>,
    /// One number more of every unit, T × n.
    extra: Vec<P>,
    /// (u, y₋), (u, w) and y with the features in the lanes.
    pub(crate) turned: [Turned; 3],
    /// Room for sums over steps.
    pub(crate) sums: Vec<P>,
}

impl<P: Lanes> Tape<P> {
    /// Room for so many steps.
    pub(crate) fn new(sizes: CellSizes, steps: usize) -> Tape<P> {
        let CellSizes {
            hidden: n,
            channels,
            ..
        } = sizes;
        let (blank, width) = (|numbers: usize| vec![P::ZERO; numbers], sizes.width());
        Tape {
            sizes,
            u: blank(steps * width),
            y: blank((steps + 1) * n),
            w: blank((steps + 1) * n),
            gates: blank(steps * 4 * n),
            extra: blank(steps * n),
            turned: [
                Turned::new(width + n, steps, 4 * n),
                Turned::new(width + n, steps, n),
                Turned::new(n, steps, channels),
            ],
            sums: blank((4 * n).max(channels)),
        }
    }
}

/// Buffers of a sweep over T steps.
pub(crate) struct Sweep<P> {
    steps: usize,
    /// Forecasts at the end of the window that count.
    counted: usize,
    /// Observations, (T + 1) × N.
    pub(crate) x: Vec<P>,
    /// External inputs of all rows but the last, T × K.
    pub(crate) s: Vec<P>,
    /// 1 where there is an observation, (T + 1) × N; empty if none is missing anywhere.
    pub(crate) mask: Vec<P>,
    /// c in used lanes, 0 in others.
    pub(crate) weight: P,
    /// Forecasts, then their cotangents, T × N.
    e: Vec<P>,
    /// Qᵀ e, T × n.
    r: Vec<P>,
    /// Cotangents of the state.
    d: [Vec<P>; 2],
    /// Cotangents of fed-back inputs, N.
    dx: Vec<P>,
    pub(crate) tape: Tape<P>,
    squares: P,
}

/// Whether forecasts are fed back.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Feed {
    /// The data, α = 1.
    Data,
    /// x̂ + α (x − x̂).
    Mixed {
        /// α.
        alpha: f32,
    },
}

impl<P: Lanes> Sweep<P> {
    /// Room for windows of so many steps, of whose forecasts the last ones count.
    pub(crate) fn new(sizes: CellSizes, steps: usize, counted: usize) -> Sweep<P> {
        let CellSizes {
            hidden: n,
            channels,
            inputs,
        } = sizes;
        let blank = |numbers: usize| vec![P::ZERO; numbers];
        Sweep {
            steps,
            counted,
            x: blank((steps + 1) * channels),
            s: blank(steps * inputs),
            mask: Vec::new(),
            weight: P::ZERO,
            e: blank(steps * channels),
            r: blank(steps * n),
            d: [blank(n), blank(n)],
            dx: blank(channels),
            tape: Tape::new(sizes, steps),
            squares: P::ZERO,
        }
    }

    /// Room for a mask, which is then filled with every window.
    pub(crate) fn with_missing(mut self) -> Sweep<P> {
        self.mask = vec![P::ZERO; self.x.len()];
        self
    }

    /// Starts from zero states.
    pub(crate) fn forget(&mut self) {
        let n = self.tape.sizes.hidden;
        self.tape.y[..n].fill(P::ZERO);
        self.tape.w[..n].fill(P::ZERO);
    }

    /// The state before the window, both halves.
    pub(crate) fn first_state(&mut self) -> (&mut [P], &mut [P]) {
        let n = self.tape.sizes.hidden;
        (&mut self.tape.y[..n], &mut self.tape.w[..n])
    }

    /// The state behind the window, both halves.
    pub(crate) fn last_state(&self) -> (&[P], &[P]) {
        let last = self.steps * self.tape.sizes.hidden;
        (&self.tape.y[last..], &self.tape.w[last..])
    }

    /// Σ (x̂ − x)² of every lane.
    pub(crate) fn squares(&self) -> &[f32] {
        self.squares.lanes()
    }

    /// The first step whose forecast counts.
    fn first_counted(&self) -> usize {
        self.steps - self.counted
    }
}

/// Forward and the residuals.
pub(crate) struct Forward<'a, C, P> {
    pub(crate) cell: &'a C,
    pub(crate) feed: Feed,
    pub(crate) sweep: &'a mut Sweep<P>,
}

impl<C: LaneCell, P: Lanes> Task for Forward<'_, C, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Forward { cell, feed, sweep } = self;
        let (ends, first) = (cell.ends(), sweep.first_counted());
        let CellSizes {
            hidden: n,
            channels,
            ..
        } = sweep.tape.sizes;
        sweep.take_data(simd);
        if feed == Feed::Data {
            multiply_many(simd, &ends.input, &sweep.tape.u, &mut sweep.tape.gates);
        }
        for t in 0..sweep.steps {
            if let Feed::Mixed { alpha } = feed {
                sweep.feed_back(simd, ends, t, alpha);
            }
            step(simd, cell, &mut sweep.tape, t);
            if matches!(feed, Feed::Mixed { .. }) {
                let y = &sweep.tape.y[(t + 1) * n..][..n];
                let x_hat = &mut sweep.e[t * channels..][..channels];
                multiply_many(simd, &ends.output, y, x_hat);
                add_bias(simd, &ends.q, x_hat);
            }
        }
        if feed == Feed::Data {
            let y = &sweep.tape.y[(first + 1) * n..];
            let x_hat = &mut sweep.e[first * channels..];
            multiply_many(simd, &ends.output, y, x_hat);
            add_bias(simd, &ends.q, x_hat);
        }
        sweep.compare(simd);
    }
}

/// Free steps of a tape of one step, from the state before it, which becomes the state behind them; then what that shows.
pub(crate) struct FreeStep<'a, C, P> {
    pub(crate) cell: &'a C,
    pub(crate) tape: &'a mut Tape<P>,
    /// What the state before shows, then that behind.
    pub(crate) x_hat: &'a mut [P],
    pub(crate) steps: usize,
}

impl<C: LaneCell, P: Lanes> Task for FreeStep<'_, C, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let FreeStep {
            cell, tape, x_hat, ..
        } = self;
        let (ends, n) = (cell.ends(), tape.sizes.hidden);
        for _ in 0..self.steps {
            tape.u[..x_hat.len()].copy_from_slice(x_hat);
            multiply_many(simd, &ends.input, &tape.u, &mut tape.gates);
            step(simd, cell, tape, 0);
            tape.y.copy_within(n.., 0);
            tape.w.copy_within(n.., 0);
        }
        multiply_many(simd, &ends.output, &tape.y[..n], x_hat);
        add_bias(simd, &ends.q, x_hat);
    }
}

/// One step of a cell.
#[inline(always)]
fn step<S: Simd, C: LaneCell, P: Lanes>(simd: S, cell: &C, tape: &mut Tape<P>, t: usize) {
    let n = tape.sizes.hidden;
    let (y_before, y_after) = tape.y.split_at_mut((t + 1) * n);
    let (w_before, w_after) = tape.w.split_at_mut((t + 1) * n);
    cell.step(
        simd,
        Step {
            before: (&y_before[t * n..], &w_before[t * n..]),
            after: (&mut y_after[..n], &mut w_after[..n]),
            gates: &mut tape.gates[t * 4 * n..][..4 * n],
            extra: &mut tape.extra[t * n..][..n],
        },
    );
}

/// Rows of x̂ += q.
#[inline(always)]
fn add_bias<S: Simd, P: Lanes>(simd: S, q: &[f32], x_hat: &mut [P]) {
    for row in x_hat.chunks_exact_mut(q.len()) {
        for (x, &q) in row.iter_mut().zip(q) {
            x.store(x.load(simd) + P::Vector::splat(simd, q));
        }
    }
}

impl<P: Lanes> Sweep<P> {
    /// u_t = (x_t, s_t).
    #[inline(always)]
    fn take_data<S: Simd>(&mut self, _simd: S) {
        let CellSizes {
            channels, inputs, ..
        } = self.tape.sizes;
        let rows = self.tape.u.chunks_exact_mut(channels + inputs);
        for (t, row) in rows.enumerate() {
            let (x, s) = row.split_at_mut(channels);
            x.copy_from_slice(&self.x[t * channels..][..channels]);
            s.copy_from_slice(&self.s[t * inputs..][..inputs]);
        }
    }

    /// x̃_t = x̂_t + α m (x_t − x̂_t), but for the first row, then V u_t.
    #[inline(always)]
    fn feed_back<S: Simd>(&mut self, simd: S, ends: &Ends, t: usize, alpha: f32) {
        let CellSizes {
            hidden: n,
            channels,
            ..
        } = self.tape.sizes;
        let width = self.tape.sizes.width();
        let u = &mut self.tape.u[t * width..][..width];
        if t > 0 {
            let x_hat = &self.e[(t - 1) * channels..][..channels];
            for (i, (u, x_hat)) in u.iter_mut().zip(x_hat).enumerate() {
                let (x, own) = (u.load(simd), x_hat.load(simd));
                let gain = gain(simd, alpha, &self.mask, t * channels + i);
                u.store(gain.mul_add(x - own, own));
            }
        }
        let gates = &mut self.tape.gates[t * 4 * n..][..4 * n];
        multiply_many(simd, &ends.input, u, gates);
    }

    /// e = c m (x̂ − x) of the forecasts that count, else 0; Σ m (x̂ − x)².
    #[inline(always)]
    fn compare<S: Simd>(&mut self, simd: S) {
        let channels = self.tape.sizes.channels;
        let first = self.first_counted() * channels;
        self.e[..first].fill(P::ZERO);
        let (weight, mut squares) = (self.weight.load(simd), P::Vector::splat(simd, 0.0));
        for (place, e) in self.e.iter_mut().enumerate().skip(first) {
            let error = e.load(simd) - self.x[place + channels].load(simd);
            let error = match self.mask.get(place + channels) {
                Some(there) => error * there.load(simd),
                None => error,
            };
            squares = error.mul_add(error, squares);
            e.store(weight * error);
        }
        self.squares.store(squares);
    }
}

/// α m.
#[inline(always)]
fn gain<S: Simd, P: Lanes>(simd: S, alpha: f32, mask: &[P], place: usize) -> P::Vector<S> {
    let alpha = P::Vector::splat(simd, alpha);
    match mask.get(place) {
        Some(there) => alpha * there.load(simd),
        None => alpha,
    }
}

/// The backward sweep, then the gradient of every group of windows.
pub(crate) struct Backward<'a, C, P> {
    pub(crate) cell: &'a C,
    pub(crate) feed: Feed,
    pub(crate) sweep: &'a mut Sweep<P>,
    pub(crate) groups: Groups<'a>,
}

impl<C: LaneCell, P: Lanes> Task for Backward<'_, C, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let sweep = &mut *self.sweep;
        let (ends, first) = (self.cell.ends(), sweep.first_counted());
        let CellSizes {
            hidden: n,
            channels,
            ..
        } = sweep.tape.sizes;
        sweep.d.iter_mut().for_each(|d| d.fill(P::ZERO));
        if self.feed == Feed::Data {
            let (e, r) = (&sweep.e[first * channels..], &mut sweep.r[first * n..]);
            multiply_many(simd, &ends.output_back, e, r);
        }
        for t in (0..sweep.steps).rev() {
            let fed_back = matches!(self.feed, Feed::Mixed { .. });
            if fed_back {
                let (e, r) = (
                    &sweep.e[t * channels..][..channels],
                    &mut sweep.r[t * n..][..n],
                );
                multiply_many(simd, &ends.output_back, e, r);
            }
            if fed_back || t >= first {
                let r = &sweep.r[t * n..][..n];
                for (d, r) in sweep.d[0].iter_mut().zip(r) {
                    d.store(d.load(simd) + r.load(simd));
                }
            }
            sweep.step_back(simd, self.cell, t);
            if let Feed::Mixed { alpha } = self.feed
                && t > 0
            {
                sweep.feed_back_back(simd, ends, t, alpha);
            }
        }
        self.cell.gradient(simd, &mut sweep.tape, &mut self.groups);
        let first = match self.feed {
            Feed::Data => first,
            Feed::Mixed { .. } => 0,
        };
        sweep.read_out_gradient(simd, ends, first, &mut self.groups);
    }
}

impl<P: Lanes> Sweep<P> {
    /// From the cotangents of the state after step t to those of the state before.
    #[inline(always)]
    fn step_back<S: Simd, C: LaneCell>(&mut self, simd: S, cell: &C, t: usize) {
        let (n, tape) = (self.tape.sizes.hidden, &mut self.tape);
        let [dy, dw] = &mut self.d;
        cell.step_back(
            simd,
            StepBack {
                before: (&tape.y[t * n..][..n], &tape.w[t * n..][..n]),
                gates: &mut tape.gates[t * 4 * n..][..4 * n],
                extra: &tape.extra[t * n..][..n],
                d: (dy, dw),
            },
        );
    }

    /// What an input was fed back from gets its cotangent: e_{t−1} += (1 − α m) dx̃_t.
    #[inline(always)]
    fn feed_back_back<S: Simd>(&mut self, simd: S, ends: &Ends, t: usize, alpha: f32) {
        let CellSizes {
            hidden: n,
            channels,
            ..
        } = self.tape.sizes;
        let gates = &self.tape.gates[t * 4 * n..][..4 * n];
        let dx = &mut self.dx;
        multiply(simd, &ends.input_back, gates, |i, sum| dx[i].store(sum));
        let e = &mut self.e[(t - 1) * channels..][..channels];
        for (i, (e, dx)) in e.iter_mut().zip(dx).enumerate() {
            let gain = gain(simd, alpha, &self.mask, t * channels + i);
            let own = P::Vector::splat(simd, 1.0) - gain;
            e.store(own.mul_add(dx.load(simd), e.load(simd)));
        }
    }

    /// dQ = Σ e yᵀ and dq = Σ e over the steps from `first` on.
    #[inline(always)]
    fn read_out_gradient<S: Simd>(
        &mut self,
        simd: S,
        ends: &Ends,
        first: usize,
        groups: &mut Groups<'_>,
    ) {
        let CellSizes {
            hidden: n,
            channels,
            ..
        } = self.tape.sizes;
        let (e, y) = (&self.e[first * channels..], &self.tape.y[(first + 1) * n..]);
        let [.., turned] = &mut self.tape.turned;
        for (group, to) in groups.0.iter_mut().enumerate() {
            turned.fill(simd, group, (y, n), (&[], 0));
            let to = &mut to[ends.q_matrix.clone()];
            outer(
                simd,
                group,
                (whole(e, channels), turned),
                |i, j, entries| {
                    put(&mut to[i * n..][..n], j, &entries);
                },
            );
        }
        let start = ends.q_matrix.end;
        let sums = &mut self.tape.sums;
        sums_of_rows(simd, (e, channels), sums, |i, sums| {
            groups.put(start + i, sums);
        });
    }
}

/// All cotangents of rows.
pub(crate) fn whole<P>(values: &[P], width: usize) -> Cotangents<'_, P> {
    Cotangents {
        values,
        stride: width,
        first: 0,
        width,
    }
}

/// Puts eight entries into a row from place j on, as far as it goes.
#[inline(always)]
pub(crate) fn put(row: &mut [f32], j: usize, entries: &[f32; GROUP]) {
    match row[j..].first_chunk_mut() {
        Some(to) => *to = *entries,
        None => {
            let to = row[j..].iter_mut();
            to.zip(entries).for_each(|(to, entry)| *to = *entry);
        }
    }
}

/// Calls put(i, Σ d of feature i over all steps, by group).
#[inline(always)]
pub(crate) fn sums_of_rows<S: Simd, P: Lanes>(
    simd: S,
    (d, width): (&[P], usize),
    sums: &mut [P],
    mut put: impl FnMut(usize, [f32; 2]),
) {
    let sums = &mut sums[..width];
    sums.fill(P::ZERO);
    add_rows(simd, Rows::new(d, width), sums);
    for (i, sum) in sums.iter().enumerate() {
        put(i, P::group_sums(sum.load(simd)));
    }
}
