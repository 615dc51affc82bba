//! Networks of layers on lanes: f32, windows side by side in the lanes of vectors. A network is called many times in a sweep; every call
//! leaves what its gradient needs, and the gradients of all calls are one product at the end.
//!
//! ```text
//! forward    a_k = tanh(W_k a_{k−1} + b_k)
//! backward   d_{k−1} = (1 − a_{k−1}²) W_kᵀ d_k
//! gradient   dW_k = Σ d_k a_{k−1}ᵀ,  db_k = Σ d_k   over all calls and windows
//! ```

pub(crate) mod unit;

use std::ops::Range;

use super::net::{Layer, Net};
use crate::recurrent::lanes::{put, sums_of_rows, whole};
use crate::simd::{
    Groups, Lanes, Packed, Simd, SimdBase, SimdFloat, Turned, multiply, multiply_many, outer, tanh,
};

/// How a matrix is multiplied: with one column of lanes at a time or with several.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Columns {
    One,
    Several,
}

/// A matrix for products with columns of lanes.
pub(crate) struct Matrix {
    packed: Packed,
    columns: Columns,
}

impl Matrix {
    /// Room for a rows × cols matrix.
    pub(crate) fn new<P: Lanes>(rows: usize, cols: usize, columns: Columns) -> Matrix {
        let packed = match columns {
            Columns::One => Packed::new(rows, cols),
            Columns::Several => Packed::for_many::<P>(rows, cols),
        };
        Matrix { packed, columns }
    }

    /// Takes the entries W[row][col] = entry(row, col).
    pub(crate) fn fill(&mut self, entry: impl Fn(usize, usize) -> f32) {
        self.packed.fill(entry);
    }

    /// Y = W X. Not inlined: one copy serves all callers of an instruction set.
    pub(crate) fn product<S: Simd, P: Lanes>(&self, simd: S, x: &[P], y: &mut [P]) {
        match self.columns {
            Columns::Several => multiply_many(simd, &self.packed, x, y),
            Columns::One => simd.vectorize(
                #[inline(always)]
                || {
                    multiply(
                        simd,
                        &self.packed,
                        x,
                        #[inline(always)]
                        |row, sum| y[row].store(sum),
                    );
                },
            ),
        }
    }
}

/// A layer: W, Wᵀ and b.
struct LaneLayer {
    of: Layer,
    w: Matrix,
    back: Matrix,
    b: Vec<f32>,
}

/// A network of layers.
pub(crate) struct LaneNet {
    layers: Vec<LaneLayer>,
}

/// What the calls of a network leave.
pub(crate) struct NetTape<P> {
    /// What goes into every layer, `[call][feature]`.
    pub(crate) a: Vec<Vec<P>>,
    /// The cotangents of what comes out of every layer, before tanh.
    pub(crate) d: Vec<Vec<P>>,
    turned: Vec<Turned>,
    sums: Vec<P>,
    calls: usize,
}

impl<P: Lanes> NetTape<P> {
    /// Room for so many calls.
    pub(crate) fn new(net: &Net, calls: usize) -> NetTape<P> {
        let most = net.layers.iter().map(|layer| layer.rows).max();
        let mut tape = NetTape {
            a: vec![Vec::new(); net.layers.len()],
            d: vec![Vec::new(); net.layers.len()],
            turned: Vec::new(),
            sums: vec![P::ZERO; most.unwrap_or(0)],
            calls: 0,
        };
        tape.reserve(net.layers.iter(), calls);
        tape
    }

    /// Makes room for more calls; what is there stays.
    fn reserve<'a>(&mut self, layers: impl Iterator<Item = &'a Layer> + Clone, calls: usize) {
        if calls <= self.calls {
            return;
        }
        for ((a, d), layer) in self.a.iter_mut().zip(&mut self.d).zip(layers.clone()) {
            a.resize(calls * layer.cols, P::ZERO);
            d.resize(calls * layer.rows, P::ZERO);
        }
        self.turned = layers
            .map(|layer| Turned::new(layer.cols, calls, layer.rows))
            .collect();
        self.calls = calls;
    }

    /// What goes into some calls.
    pub(crate) fn inputs(&mut self, calls: Range<usize>) -> &mut [P] {
        let width = self.a[0].len() / self.calls;
        &mut self.a[0][calls.start * width..calls.end * width]
    }

    /// The cotangents of what comes out of some calls.
    pub(crate) fn cotangents(&mut self, calls: Range<usize>) -> &mut [P] {
        let d = self.d.last_mut().expect("a network has layers");
        let width = d.len() / self.calls;
        &mut d[calls.start * width..calls.end * width]
    }
}

impl LaneNet {
    /// A network that is called with one column of lanes at a time or with several.
    pub(crate) fn new<P: Lanes>(net: &Net, columns: Columns) -> LaneNet {
        let layer = |of: &Layer| LaneLayer {
            w: Matrix::new::<P>(of.rows, of.cols, columns),
            back: Matrix::new::<P>(of.cols, of.rows, columns),
            b: vec![0.0; of.rows],
            of: of.clone(),
        };
        LaneNet {
            layers: net.layers.iter().map(layer).collect(),
        }
    }

    /// Takes θ.
    pub(crate) fn prepare(&mut self, theta: &[f32]) {
        for layer in &mut self.layers {
            let (w, cols) = (&theta[layer.of.w.clone()], layer.of.cols);
            layer.w.fill(|row, col| w[row * cols + col]);
            layer.back.fill(|row, col| w[col * cols + row]);
            layer.b.copy_from_slice(&theta[layer.of.b.clone()]);
        }
    }

    /// Makes room on a tape for more calls.
    pub(crate) fn reserve<P: Lanes>(&self, tape: &mut NetTape<P>, calls: usize) {
        tape.reserve(self.layers.iter().map(|layer| &layer.of), calls);
    }

    /// What comes out of some calls, whose inputs are on the tape.
    pub(crate) fn forward<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut NetTape<P>,
        calls: Range<usize>,
        out: &mut [P],
    ) {
        let last = self.layers.len() - 1;
        for (k, layer) in self.layers.iter().enumerate() {
            let (before, after) = tape.a.split_at_mut(k + 1);
            let x = of_calls(&before[k], layer.of.cols, &calls);
            if k == last {
                layer.w.product(simd, x, out);
                add_bias(simd, &layer.b, out);
            } else {
                let y = of_calls_mut(&mut after[0], layer.of.rows, &calls);
                layer.w.product(simd, x, y);
                squash(simd, &layer.b, y);
            }
        }
    }

    /// The cotangents of what went into some calls; those of what came out are on the tape.
    pub(crate) fn backward<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut NetTape<P>,
        calls: Range<usize>,
        d_in: &mut [P],
    ) {
        for (k, layer) in self.layers.iter().enumerate().rev() {
            let (before, after) = tape.d.split_at_mut(k);
            let d = of_calls(&after[0], layer.of.rows, &calls);
            match before.last_mut() {
                None => layer.back.product(simd, d, d_in),
                Some(to) => {
                    let to = of_calls_mut(to, layer.of.cols, &calls);
                    layer.back.product(simd, d, to);
                    slope(simd, of_calls(&tape.a[k], layer.of.cols, &calls), to);
                }
            }
        }
    }

    /// The gradients over the first calls of a tape, one vector for each group of windows.
    pub(crate) fn gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut NetTape<P>,
        calls: usize,
        groups: &mut Groups<'_>,
    ) {
        simd.vectorize(
            #[inline(always)]
            || {
                for (k, layer) in self.layers.iter().enumerate() {
                    let Layer { rows, cols, w, b } = &layer.of;
                    let (a, d) = (&tape.a[k][..calls * cols], &tape.d[k][..calls * rows]);
                    weight_gradient(
                        simd,
                        ((d, *rows), (a, *cols)),
                        &mut tape.turned[k],
                        (w.start, *cols),
                        groups,
                    );
                    let start = b.start;
                    sums_of_rows(simd, (d, *rows), &mut tape.sums, |i, sums| {
                        groups.put(start + i, sums);
                    });
                }
            },
        );
    }
}

fn of_calls<'a, P>(values: &'a [P], width: usize, calls: &Range<usize>) -> &'a [P] {
    &values[calls.start * width..calls.end * width]
}

fn of_calls_mut<'a, P>(values: &'a mut [P], width: usize, calls: &Range<usize>) -> &'a mut [P] {
    &mut values[calls.start * width..calls.end * width]
}

/// Rows of lanes, and how many each has.
type Wide<'a, P> = (&'a [P], usize);

/// Puts Σ d aᵀ at a place of the gradients, from row to row so many numbers apart.
#[inline(always)]
pub(crate) fn weight_gradient<S: Simd, P: Lanes>(
    simd: S,
    ((d, rows), (a, cols)): (Wide<'_, P>, Wide<'_, P>),
    turned: &mut Turned,
    (start, stride): (usize, usize),
    groups: &mut Groups<'_>,
) {
    for (group, to) in groups.0.iter_mut().enumerate() {
        turned.fill(simd, group, (a, cols), (&[], 0));
        outer(simd, group, (whole(d, rows), turned), |i, j, entries| {
            put(&mut to[start + i * stride..][..cols], j, &entries);
        });
    }
}

/// Rows of y += b.
pub(crate) fn add_bias<S: Simd, P: Lanes>(simd: S, b: &[f32], y: &mut [P]) {
    simd.vectorize(
        #[inline(always)]
        || {
            for row in y.chunks_exact_mut(b.len()) {
                for (y, &b) in row.iter_mut().zip(b) {
                    y.store(y.load(simd) + P::Vector::splat(simd, b));
                }
            }
        },
    );
}

/// Rows of y ← tanh(y + b).
fn squash<S: Simd, P: Lanes>(simd: S, b: &[f32], y: &mut [P]) {
    simd.vectorize(
        #[inline(always)]
        || {
            for row in y.chunks_exact_mut(b.len()) {
                for (y, &b) in row.iter_mut().zip(b) {
                    y.store(tanh(simd, y.load(simd) + P::Vector::splat(simd, b)));
                }
            }
        },
    );
}

/// d ← (1 − a²) d.
pub(crate) fn slope<S: Simd, P: Lanes>(simd: S, a: &[P], d: &mut [P]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let one = P::Vector::splat(simd, 1.0);
            for (d, a) in d.iter_mut().zip(a) {
                let a = a.load(simd);
                d.store((-a).mul_add(a, one) * d.load(simd));
            }
        },
    );
}
