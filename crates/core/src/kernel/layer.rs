//! A hidden layer on lanes:  y = Σ_l out_l act_l(b_l + in_l · x), for L units with M weights in and M weights out.
//!
//! One routine serves the forward step (in = rows of W2, out = columns of W1) and the pull-back (the two
//! exchanged). For M ≤ 6 it is fused: x and the sums stay in registers while the units stream by. For larger M it
//! runs in two products with the units' values in between, in the first-level cache.

use crate::simd::{Lanes, Packed, Simd, SimdBase, SimdFloat, multiply, multiply_into};

/// Largest M whose x and y are kept in registers.
const FUSED: usize = 6;

/// The weights of a layer, both ways.
#[derive(Debug, Clone)]
pub(super) struct Layer {
    dim: usize,
    hidden: usize,
    bias: Vec<f32>,
    weights: Weights,
}

#[derive(Debug, Clone)]
enum Weights {
    /// W2 and W1ᵀ, a unit a row, L × M each.
    Fused { w2: Vec<f32>, w1t: Vec<f32> },
    /// W2 and W1 for the step, their transposes for the pull-back.
    Tiled {
        w2: Packed,
        w1: Packed,
        w1t: Packed,
        w2t: Packed,
    },
}

impl Layer {
    pub(super) fn new(dim: usize, hidden: usize) -> Layer {
        let weights = if dim <= FUSED {
            Weights::Fused {
                w2: vec![0.0; dim * hidden],
                w1t: vec![0.0; dim * hidden],
            }
        } else {
            let (tall, wide) = (Packed::new(hidden, dim), Packed::new(dim, hidden));
            Weights::Tiled {
                w2: tall.clone(),
                w1: wide.clone(),
                w1t: tall,
                w2t: wide,
            }
        };
        Layer {
            dim,
            hidden,
            bias: vec![0.0; hidden],
            weights,
        }
    }

    /// Takes W1[m][l], W2[l][m] and the bias.
    pub(super) fn fill(
        &mut self,
        w1: impl Fn(usize, usize) -> f32,
        w2: impl Fn(usize, usize) -> f32,
        bias: impl Fn(usize) -> f32,
    ) {
        self.bias
            .iter_mut()
            .enumerate()
            .for_each(|(l, b)| *b = bias(l));
        match &mut self.weights {
            Weights::Fused { w2: rows, w1t } => {
                let dim = self.dim;
                rows.iter_mut()
                    .enumerate()
                    .for_each(|(i, v)| *v = w2(i / dim, i % dim));
                w1t.iter_mut()
                    .enumerate()
                    .for_each(|(i, v)| *v = w1(i % dim, i / dim));
            }
            Weights::Tiled {
                w2: w2_rows,
                w1: w1_rows,
                w1t,
                w2t,
            } => {
                w2_rows.fill(&w2);
                w1_rows.fill(&w1);
                w1t.fill(|l, m| w1(m, l));
                w2t.fill(|m, l| w2(l, m));
            }
        }
    }

    /// y = W1 act(b + W2 z); the units' values go to `units`.
    #[inline(always)]
    pub(super) fn step<S: Simd, P: Lanes>(
        &self,
        simd: S,
        z: &[P],
        units: &mut [P],
        y: &mut [P],
        act: impl Fn(P::Vector<S>) -> P::Vector<S>,
    ) {
        match &self.weights {
            Weights::Fused { w2, w1t } => fused_any(
                simd,
                (self.dim, w2, w1t),
                z,
                units,
                y,
                #[inline(always)]
                |l, sum| act(sum + P::Vector::splat(simd, self.bias[l])),
            ),
            Weights::Tiled { w2, w1, .. } => tiled(
                simd,
                (w2, w1),
                z,
                units,
                y,
                #[inline(always)]
                |l, sum| act(sum + P::Vector::splat(simd, self.bias[l])),
            ),
        }
    }

    /// dz = W2ᵀ q with q_l = gate(g_l, (W1ᵀ d)_l); q goes to `q`.
    #[inline(always)]
    pub(super) fn pull_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (g, d): (&[P], &[P]),
        q: &mut [P],
        dz: &mut [P],
        gate: impl Fn(P::Vector<S>, P::Vector<S>) -> P::Vector<S>,
    ) {
        let g = &g[..self.hidden];
        match &self.weights {
            Weights::Fused { w2, w1t } => fused_any(
                simd,
                (self.dim, w1t, w2),
                d,
                q,
                dz,
                #[inline(always)]
                |l, sum| gate(g[l].load(simd), sum),
            ),
            Weights::Tiled { w1t, w2t, .. } => tiled(
                simd,
                (w1t, w2t),
                d,
                q,
                dz,
                #[inline(always)]
                |l, sum| gate(g[l].load(simd), sum),
            ),
        }
    }
}

#[inline(always)]
fn tiled<S: Simd, P: Lanes>(
    simd: S,
    (input, output): (&Packed, &Packed),
    x: &[P],
    units: &mut [P],
    y: &mut [P],
    act: impl Fn(usize, P::Vector<S>) -> P::Vector<S>,
) {
    multiply(
        simd,
        input,
        x,
        #[inline(always)]
        |l, sum| units[l].store(act(l, sum)),
    );
    multiply_into(simd, output, units, y);
}

#[inline(always)]
fn fused_any<S: Simd, P: Lanes>(
    simd: S,
    (dim, input, output): (usize, &[f32], &[f32]),
    x: &[P],
    units: &mut [P],
    y: &mut [P],
    act: impl Fn(usize, P::Vector<S>) -> P::Vector<S>,
) {
    match dim {
        1 => fused::<S, P, 1, 4>(simd, (input, output), x, units, y, act),
        2 => fused::<S, P, 2, 3>(simd, (input, output), x, units, y, act),
        3 => fused::<S, P, 3, 2>(simd, (input, output), x, units, y, act),
        4 => fused::<S, P, 4, 1>(simd, (input, output), x, units, y, act),
        5 => fused::<S, P, 5, 1>(simd, (input, output), x, units, y, act),
        _ => fused::<S, P, 6, 1>(simd, (input, output), x, units, y, act),
    }
}

/// The fused form for M = `M`, with `U` interleaved sums so that few of them do not wait for one another.
#[inline(always)]
fn fused<S: Simd, P: Lanes, const M: usize, const U: usize>(
    simd: S,
    (input, output): (&[f32], &[f32]),
    x: &[P],
    units: &mut [P],
    y: &mut [P],
    act: impl Fn(usize, P::Vector<S>) -> P::Vector<S>,
) {
    let x: [P::Vector<S>; M] = std::array::from_fn(
        #[inline(always)]
        |m| x[m].load(simd),
    );
    let mut sums = [[P::Vector::splat(simd, 0.0); M]; U];
    let ((input, _), (output, _)) = (input.as_chunks::<M>(), output.as_chunks::<M>());
    for (l, ((input, output), unit)) in input.iter().zip(output).zip(units.iter_mut()).enumerate() {
        let mut pre = P::Vector::splat(simd, input[0]) * x[0];
        for m in 1..M {
            pre = P::Vector::splat(simd, input[m]).mul_add(x[m], pre);
        }
        let value = act(l, pre);
        unit.store(value);
        for m in 0..M {
            let sum = &mut sums[l % U][m];
            *sum = P::Vector::splat(simd, output[m]).mul_add(value, *sum);
        }
    }
    for m in 0..M {
        let mut total = sums[0][m];
        for part in &sums[1..] {
            total += part[m];
        }
        y[m].store(total);
    }
}
