//! Networks of layers in f64, of values and of tangents at once:
//!
//! ```text
//! a_0 = x        a_k = tanh(W_k a_{k−1} + b_k)        y = W_n a_{n−1} + b_n
//! ȧ_k = (1 − a_k²) W_k ȧ_{k−1}
//! ```
//!
//! What a network is applied to are rows: the first one is the value, each of the others a tangent.

use std::ops::Range;

use crate::tanh::tanh;
use crate::theta::{Layout, Shape};

/// Layers that a network can have.
pub(crate) const MOST_LAYERS: usize = 8;

/// The names of weights and biases, layer by layer.
pub(crate) type Names = [(&'static str, &'static str); MOST_LAYERS];

/// The names of the tensors of a network.
macro_rules! names {
    ($of:literal) => {
        [
            (concat!($of, "_W1"), concat!($of, "_b1")),
            (concat!($of, "_W2"), concat!($of, "_b2")),
            (concat!($of, "_W3"), concat!($of, "_b3")),
            (concat!($of, "_W4"), concat!($of, "_b4")),
            (concat!($of, "_W5"), concat!($of, "_b5")),
            (concat!($of, "_W6"), concat!($of, "_b6")),
            (concat!($of, "_W7"), concat!($of, "_b7")),
            (concat!($of, "_W8"), concat!($of, "_b8")),
        ]
    };
}

pub(crate) use names;

/// Numbers that go through a network with so many hidden layers of equal width.
pub(crate) fn widths(from: usize, hidden: (usize, usize), to: usize) -> Vec<usize> {
    let (layers, units) = hidden;
    let mut widths = vec![units; layers + 2];
    (widths[0], widths[layers + 1]) = (from, to);
    widths
}

/// The tensors of a network that numbers of these widths go through.
pub(crate) fn shapes(names: &Names, widths: &[usize]) -> Vec<(&'static str, Shape)> {
    let layers = widths.windows(2).zip(names);
    layers
        .flat_map(|(width, &(w, b))| {
            [
                (w, Shape::Matrix(width[1], width[0])),
                (b, Shape::Vector(width[1])),
            ]
        })
        .collect()
}

/// A layer: where its weights and biases stand in θ.
#[derive(Debug, Clone)]
pub(crate) struct Layer {
    pub(crate) rows: usize,
    pub(crate) cols: usize,
    pub(crate) w: Range<usize>,
    pub(crate) b: Range<usize>,
}

/// A network of layers.
#[derive(Debug, Clone)]
pub(crate) struct Net {
    pub(crate) layers: Vec<Layer>,
}

/// Room for the numbers between layers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    now: Vec<f64>,
    next: Vec<f64>,
}

impl Net {
    /// A network whose tensors stand in a layout.
    pub(crate) fn new(names: &Names, widths: &[usize], layout: &Layout) -> Net {
        let layers = widths.windows(2).zip(names);
        let layer = |(width, &(w, b)): (&[usize], &(&str, &str))| Layer {
            rows: width[1],
            cols: width[0],
            w: layout.range(w),
            b: layout.range(b),
        };
        Net {
            layers: layers.map(layer).collect(),
        }
    }

    /// Numbers that go in.
    pub(crate) fn inputs(&self) -> usize {
        self.layers[0].cols
    }

    /// Numbers that come out.
    pub(crate) fn outputs(&self) -> usize {
        self.layers.last().expect("a network has layers").rows
    }

    /// The value and tangents of y at those of x.
    pub(crate) fn apply(&self, theta: &[f64], x: &[f64], y: &mut [f64], room: &mut Room) {
        let (last, hidden) = self.layers.split_last().expect("a network has layers");
        room.now.clear();
        room.now.extend_from_slice(x);
        for layer in hidden {
            let rows = room.now.len() / layer.cols;
            room.next.resize(rows * layer.rows, 0.0);
            layer.apply(theta, &room.now, &mut room.next);
            squash(&mut room.next, layer.rows, tanh, |a| 1.0 - a * a);
            std::mem::swap(&mut room.now, &mut room.next);
        }
        last.apply(theta, &room.now, y);
    }
}

impl Layer {
    /// W x + b of the value, W ẋ of the tangents.
    fn apply(&self, theta: &[f64], x: &[f64], y: &mut [f64]) {
        let (w, b) = (&theta[self.w.clone()], &theta[self.b.clone()]);
        let rows = x.chunks_exact(self.cols).zip(y.chunks_exact_mut(self.rows));
        for (place, (x, y)) in rows.enumerate() {
            for (i, (y, w)) in y.iter_mut().zip(w.chunks_exact(self.cols)).enumerate() {
                let bias = if place == 0 { b[i] } else { 0.0 };
                *y = bias + dot(w, x);
            }
        }
    }
}

/// σ of the value; the tangents are multiplied by the slope, which follows from σ.
pub(crate) fn squash(
    rows: &mut [f64],
    width: usize,
    sigma: impl Fn(f64) -> f64,
    slope: impl Fn(f64) -> f64,
) {
    let (value, tangents) = rows.split_at_mut(width);
    value.iter_mut().for_each(|v| *v = sigma(*v));
    for tangent in tangents.chunks_exact_mut(width) {
        let entries = tangent.iter_mut().zip(&*value);
        entries.for_each(|(t, &v)| *t *= slope(v));
    }
}

/// Σ a b in four interleaved sums, so that vector registers can hold them.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((fours_a, rest_a), (fours_b, rest_b)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in fours_a.iter().zip(fours_b) {
        for k in 0..4 {
            sums[k] += a[k] * b[k];
        }
    }
    let rest: f64 = rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}
