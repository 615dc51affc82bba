//! Explicit Runge–Kutta steps of a vector field with one hidden layer, on lanes, and their gradients:
//!
//! ```text
//! f(y, s) = W_b σ(W_a y + b_a + C s) + b_b
//! y_i = y + h Σ_{j<i} a_ij k_j        k_i = f(y_i, s)        y' = y + h Σ_i b_i k_i
//! ∂k_i = h b_i ∂y' + h Σ_{j>i} a_ji ∂y_j        q_i = σ'∘(W_bᵀ ∂k_i)        ∂y_i = W_aᵀ q_i        ∂y = ∂y' + Σ_i ∂y_i
//! ```
//!
//! A stage is what a step is to the maps: a row of the tape. Inputs stand behind the states of a row, so that W_a and C are one matrix
//! of a square layer whose outputs beyond the states are nothing.

use std::marker::PhantomData;
use std::ops::Range;

use super::layer::{Ends, Layer};
use super::shallow::Unit;
use super::{Chunk, Units, chunk_len};
use crate::simd::{
    Groups, Lanes, Place, Rows, Simd, SimdBase, SimdFloat, WholeUnits, add_rows, filled, reduce,
};
use crate::theta::Layout;

/// The most stages of a scheme.
pub(crate) const MOST_STAGES: usize = 4;

/// Weights of an explicit Runge–Kutta scheme, times the step h.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stages {
    pub(crate) count: usize,
    /// h a_ij for j < i.
    pub(crate) a: [[f32; MOST_STAGES]; MOST_STAGES],
    /// h b_i.
    pub(crate) b: [f32; MOST_STAGES],
}

/// Sizes of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FieldDims {
    /// States N.
    pub(crate) states: usize,
    /// Hidden units H.
    pub(crate) hidden: usize,
    /// External inputs K.
    pub(crate) inputs: usize,
}

impl FieldDims {
    /// Numbers of a row: states, then inputs.
    #[inline(always)]
    pub(crate) fn row(self) -> usize {
        self.states + self.inputs
    }
}

/// A field on lanes, with units of type `U`.
pub(crate) struct Field<U> {
    dims: FieldDims,
    layer: Layer,
    /// b_b, and zero beside inputs.
    constant: Vec<f32>,
    /// W_b with rows of zeros below, and W_a beside C, where there are inputs.
    joined: [Vec<f32>; 2],
    /// W_a, b_a, C, W_b and b_b.
    places: [Range<usize>; 5],
    /// Behind θ in a gradient: dW_a beside dC, where there are inputs.
    behind: usize,
    unit: PhantomData<U>,
}

/// What a sweep over a window leaves for the gradients. Rows are stages, step by step.
pub(crate) struct FieldTape<P: Lanes> {
    /// Arguments y_i with their inputs.
    pub(crate) y: Vec<P>,
    /// Values of the units.
    pub(crate) g: Units<P::Units>,
    /// Slopes k_i of one step.
    pub(crate) k: Vec<P>,
    /// Cotangents of the slopes, zero beside inputs.
    pub(crate) dk: Vec<P>,
    /// Cotangents of the arguments of one step.
    pub(crate) dy: Vec<P>,
    /// Cotangents at the units, for the rows of one chunk.
    pub(crate) q: Units<P::Units>,
    /// Running sums: dW_b, dW_a beside dC, db_a.
    sums: Vec<P::Units>,
    widened: Vec<P::Units>,
}

impl<U: Unit> Field<U> {
    /// A field whose tensors stand in θ as the layout says.
    pub(crate) fn new<P: Lanes>(dims: FieldDims, layout: &Layout) -> Field<U> {
        let joined = if dims.inputs > 0 {
            dims.row() * dims.hidden
        } else {
            0
        };
        Field {
            dims,
            layer: Layer::new::<P>(dims.row(), dims.hidden),
            constant: vec![0.0; dims.row()],
            joined: [vec![0.0; joined], vec![0.0; joined]],
            places: ["W_a", "b_a", "C", "W_b", "b_b"].map(|name| layout.range(name)),
            behind: layout.len(),
            unit: PhantomData,
        }
    }

    /// Numbers of a gradient behind those of θ.
    pub(crate) fn extra(&self) -> usize {
        self.joined[0].len()
    }

    /// Sums of a unit: of W_b and W_a beside C, and of b_a.
    fn sums_a_unit(&self) -> usize {
        self.dims.states + self.dims.row() + 1
    }

    /// Rows of a chunk of the backward sweep, a whole number of steps.
    pub(crate) fn chunk(&self, rows: usize, stages: usize) -> usize {
        let chunk = chunk_len(self.dims.hidden, self.sums_a_unit(), rows);
        (chunk / stages).max(1) * stages
    }

    fn registers<P: Lanes>(&self) -> usize {
        self.dims.hidden.div_ceil(P::ABREAST)
    }

    /// Room for a sweep over a window.
    pub(crate) fn tape<P: Lanes>(&self, steps: usize, stages: usize) -> FieldTape<P> {
        let (rows, row, registers) = (steps * stages, self.dims.row(), self.registers::<P>());
        let chunk = self.chunk(rows, stages);
        let widened = if P::ABREAST > 1 { chunk * row } else { 0 };
        FieldTape {
            y: vec![P::ZERO; rows * row],
            g: Units::new(registers, rows),
            k: vec![P::ZERO; stages * row],
            dk: vec![P::ZERO; rows * row],
            dy: vec![P::ZERO; stages * row],
            q: Units::new(registers, chunk),
            sums: vec![P::Units::ZERO; registers * self.sums_a_unit()],
            widened: vec![P::Units::ZERO; widened],
        }
    }

    /// Takes θ.
    #[inline(always)]
    pub(crate) fn prepare<S: Simd>(&mut self, simd: S, theta: &[f32]) {
        let FieldDims { states, inputs, .. } = self.dims;
        let [w_a, b_a, c, w_b, b_b] = self.places.clone().map(|place| &theta[place]);
        self.constant[..states].copy_from_slice(b_b);
        if inputs == 0 {
            self.layer.fill(simd, w_b, w_a, b_a);
            return;
        }
        let [below, beside] = &mut self.joined;
        below[..w_b.len()].copy_from_slice(w_b);
        let rows = beside.chunks_exact_mut(states + inputs);
        let parts = w_a.chunks_exact(states).zip(c.chunks_exact(inputs));
        for (row, (w_a, c)) in rows.zip(parts) {
            row[..states].copy_from_slice(w_a);
            row[states..].copy_from_slice(c);
        }
        self.layer.fill(simd, below, beside, b_a);
    }

    /// k = f(y); the units' values are for the way back.
    #[inline(always)]
    pub(crate) fn value<S: Simd, P: Lanes>(
        &self,
        simd: S,
        y: &[P],
        g: &mut [P::Units],
        k: &mut [P],
    ) {
        self.layer.step(
            simd,
            y,
            g,
            #[inline(always)]
            |pre| U::value(simd, pre),
            Ends::new(
                #[inline(always)]
                |m| P::Vector::splat(simd, self.constant[m]),
                #[inline(always)]
                |m: usize, sum: P::Vector<S>| k[m].store(sum),
            ),
        );
    }

    /// dy = f'(y)ᵀ dk; q receives the cotangents at the units.
    #[inline(always)]
    pub(crate) fn pull_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (g, dk): (&[P::Units], &[P]),
        q: &mut [P::Units],
        dy: &mut [P],
    ) {
        self.layer.pull_back(
            simd,
            (g, dk),
            q,
            #[inline(always)]
            |value, cotangent| U::gate(simd, value, cotangent),
            Ends::new(
                #[inline(always)]
                |_| P::Vector::splat(simd, 0.0),
                #[inline(always)]
                |m: usize, sum: P::Vector<S>| dy[m].store(sum),
            ),
        );
    }

    /// Step t, from the argument of its first stage; `emit` takes the entries of y'.
    #[inline(always)]
    pub(crate) fn step<S: Simd, P: Lanes>(
        &self,
        simd: S,
        stages: &Stages,
        (tape, t): (&mut FieldTape<P>, usize),
        mut emit: impl FnMut(usize, P::Vector<S>),
    ) {
        let (count, row) = (stages.count, self.dims.row());
        let FieldTape { y, g, k, .. } = tape;
        let y = &mut y[t * count * row..][..count * row];
        for i in 0..count {
            let (first, others) = y.split_at_mut(row);
            let at = if i == 0 {
                &*first
            } else {
                let at = &mut others[(i - 1) * row..][..row];
                // Beside inputs slopes are zero, so that every stage has those of the first.
                for (m, (at, first)) in at.iter_mut().zip(&*first).enumerate() {
                    at.store(weigh(
                        simd,
                        first.load(simd),
                        &stages.a[i][..i],
                        &k[m..],
                        row,
                    ));
                }
                &*at
            };
            let k = &mut k[i * row..][..row];
            self.value(simd, at, g.at_mut(t * count + i), k);
        }
        for (m, first) in y[..self.dims.states].iter().enumerate() {
            let b = &stages.b[..count];
            emit(m, weigh(simd, first.load(simd), b, &k[m..], row));
        }
    }

    /// From the cotangent of what step t gave to that of what it began with, in place; `in_chunk` is its first row within its chunk.
    #[inline(always)]
    pub(crate) fn step_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        stages: &Stages,
        (tape, t, in_chunk): (&mut FieldTape<P>, usize, usize),
        d: &mut [P],
    ) {
        let (count, row) = (stages.count, self.dims.row());
        let FieldTape { g, dk, dy, q, .. } = tape;
        for i in (0..count).rev() {
            let at = t * count + i;
            let dk = &mut dk[at * row..][..row];
            let later: [f32; MOST_STAGES] = filled(
                0.0,
                #[inline(always)]
                |j| stages.a[j][i],
            );
            let b = P::Vector::splat(simd, stages.b[i]);
            for (m, d) in d.iter().enumerate() {
                let own = b * d.load(simd);
                let behind = &dy[((i + 1) * row + m).min(dy.len())..];
                dk[m].store(weigh(simd, own, &later[i + 1..count], behind, row));
            }
            let dy = &mut dy[i * row..][..row];
            self.pull_back(simd, (g.at(at), dk), q.at_mut(in_chunk + i), dy);
        }
        let all = [1.0; MOST_STAGES];
        for (m, d) in d.iter_mut().enumerate() {
            d.store(weigh(simd, d.load(simd), &all[..count], &dy[m..], row));
        }
    }

    /// Adds the rows of a chunk to the gradients of the weights, which are whole with the last chunk.
    #[inline(always)]
    pub(crate) fn accumulate<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut FieldTape<P>,
        chunk: Chunk,
        groups: &mut Groups<'_>,
    ) {
        let FieldDims { states, hidden, .. } = self.dims;
        let (row, registers, rows) = (self.dims.row(), self.registers::<P>(), chunk.steps.clone());
        let FieldTape {
            y,
            g,
            dk,
            q,
            sums,
            widened,
            ..
        } = tape;
        let (w_b, rest) = sums.split_at_mut(states * registers);
        let (w_a, b_a) = rest.split_at_mut(row * registers);
        let (g, q) = (g.rows(rows.clone()), q.rows(0..rows.len()));
        let rows = rows.start * row..rows.end * row;
        let [to_w_a, to_b_a, to_w_b] = self.places_of_sums();
        let dk = P::widen_all(simd, &dk[rows.clone()], widened);
        let to = WholeUnits::<P>::new(hidden, to_w_b, groups);
        chunk.gram(simd, (Rows::apart(dk, states, row), g), w_b, to);
        let y = P::widen_all(simd, &y[rows], widened);
        let to = WholeUnits::<P>::new(hidden, to_w_a, groups);
        chunk.gram(simd, (Rows::new(y, row), q), w_a, to);
        if chunk.is_first() {
            b_a.fill(P::Units::ZERO);
        }
        add_rows(simd, q, b_a);
        if chunk.is_last() {
            reduce(simd, (b_a, 1), WholeUnits::<P>::new(hidden, to_b_a, groups));
        }
    }

    /// The gradient of b_b, Σ ∂k.
    #[inline(always)]
    pub(crate) fn gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &FieldTape<P>,
        groups: &mut Groups<'_>,
    ) {
        let dk = Rows::new(&tape.dk, self.dims.row());
        for m in 0..self.dims.states {
            let sum = dk.feature(m).fold(
                P::Vector::splat(simd, 0.0),
                #[inline(always)]
                |sum, dk| sum + dk.load(simd),
            );
            groups.put(self.places[4].start + m, P::group_sums(sum));
        }
    }

    /// Where the sums of W_a (beside C, where there are inputs), b_a and W_b stand in a gradient.
    fn places_of_sums(&self) -> [Place; 3] {
        let FieldDims { hidden, inputs, .. } = self.dims;
        let [w_a, b_a, _, w_b, _] = &self.places;
        let place = |start, row, col| Place { start, row, col };
        let w_a = if inputs == 0 { w_a.start } else { self.behind };
        [
            place(w_a, 1, self.dims.row()),
            place(b_a.start, 0, 1),
            place(w_b.start, hidden, 1),
        ]
    }

    /// Puts what stands behind θ into its place.
    pub(crate) fn finish(&self, gradient: &mut [f32]) {
        let FieldDims { states, inputs, .. } = self.dims;
        if inputs == 0 {
            return;
        }
        let (dtheta, joined) = gradient.split_at_mut(self.behind);
        for (unit, row) in joined.chunks_exact(states + inputs).enumerate() {
            let [w_a, _, c, ..] = &self.places;
            dtheta[w_a.start + unit * states..][..states].copy_from_slice(&row[..states]);
            dtheta[c.start + unit * inputs..][..inputs].copy_from_slice(&row[states..]);
        }
    }
}

/// start + Σ_i w_i v_i, where v_i stands `stride` behind v_{i−1}.
#[inline(always)]
fn weigh<S: Simd, P: Lanes>(
    simd: S,
    start: P::Vector<S>,
    weights: &[f32],
    values: &[P],
    stride: usize,
) -> P::Vector<S> {
    let mut sum = start;
    for (&w, value) in weights.iter().zip(values.iter().step_by(stride)) {
        sum = P::Vector::splat(simd, w).mul_add(value.load(simd), sum);
    }
    sum
}
