//! A hidden layer on lanes:  y = Σ_l out_l act_l(b_l + in_l · x), for L units with M weights in and M weights out.
//!
//! One routine serves the forward step (in = rows of W2, out = columns of W1) and the pull-back (the two
//! exchanged). For M ≤ 6 it is fused: x and the sums stay in registers while the units stream by; where the layer is
//! small, its weights stand in memory as whole vectors. For larger M it runs in two products with the units' values in
//! between, in the first-level cache.

use crate::simd::{
    GROUP, Lanes, Lanes8, MOST_LATENT, Packed, Simd, SimdBase, SimdFloat, UnitRows, Weight,
    multiply,
};

/// Largest M whose x and y are kept in registers.
const FUSED: usize = 6;

/// Largest M whose weights may stand in memory as whole vectors.
const SPREAD: usize = 3;

/// Bytes that weights as whole vectors may take: half of a first-level cache of 32 KB.
const SPREAD_BYTES: usize = 16 * 1024;

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
    Fused {
        w2: Vec<f32>,
        w1t: Vec<f32>,
        /// The same as whole vectors, where the layer is small.
        spread: Option<Box<Spread>>,
    },
    /// W2 and W1 for the step, their transposes for the pull-back.
    Tiled {
        w2: Packed,
        w1: Packed,
        w1t: Packed,
        w2t: Packed,
        /// W2 and W1ᵀ, a unit a row, for the pull-back through open units alone.
        rows: Option<Box<[UnitRows; 2]>>,
    },
}

/// Weights in all eight lanes: a multiplication takes them from memory, without a broadcast before it.
#[derive(Debug, Clone)]
struct Spread {
    bias: Vec<Lanes8>,
    w2: Vec<Lanes8>,
    w1t: Vec<Lanes8>,
}

impl Spread {
    fn fitting(dim: usize, hidden: usize) -> Option<Box<Spread>> {
        let vectors = (2 * dim + 1) * hidden;
        let fits = dim <= SPREAD && vectors * size_of::<Lanes8>() <= SPREAD_BYTES;
        fits.then(|| {
            Box::new(Spread {
                bias: vec![Lanes8::ZERO; hidden],
                w2: vec![Lanes8::ZERO; dim * hidden],
                w1t: vec![Lanes8::ZERO; dim * hidden],
            })
        })
    }

    fn fill(&mut self, bias: &[f32], w2: &[f32], w1t: &[f32]) {
        for (to, from) in [
            (&mut self.bias, bias),
            (&mut self.w2, w2),
            (&mut self.w1t, w1t),
        ] {
            let pairs = to.iter_mut().zip(from);
            pairs.for_each(|(to, &from)| to.lanes_mut().fill(from));
        }
    }
}

impl Layer {
    pub(super) fn new(dim: usize, hidden: usize) -> Layer {
        let weights = if dim <= FUSED {
            Weights::Fused {
                w2: vec![0.0; dim * hidden],
                w1t: vec![0.0; dim * hidden],
                spread: Spread::fitting(dim, hidden),
            }
        } else {
            let (tall, wide) = (Packed::new(hidden, dim), Packed::new(dim, hidden));
            Weights::Tiled {
                w2: tall.clone(),
                w1: wide.clone(),
                w1t: tall,
                w2t: wide,
                rows: None,
            }
        };
        Layer {
            dim,
            hidden,
            bias: vec![0.0; hidden],
            weights,
        }
    }

    /// Keeps unit rows too, unless the layer is fused or too wide for them.
    pub(super) fn with_unit_rows(mut self) -> Layer {
        if let Weights::Tiled { rows, .. } = &mut self.weights
            && self.dim <= MOST_LATENT
        {
            let blank = UnitRows::new(self.dim, self.hidden);
            *rows = Some(Box::new([blank.clone(), blank]));
        }
        self
    }

    /// Whether unit rows are kept.
    pub(super) fn has_unit_rows(&self) -> bool {
        matches!(&self.weights, Weights::Tiled { rows: Some(_), .. })
    }

    /// W2 and W1ᵀ, a unit a row, where they are kept.
    #[inline(always)]
    pub(super) fn unit_rows(&self) -> &[UnitRows; 2] {
        match &self.weights {
            Weights::Tiled {
                rows: Some(rows), ..
            } => rows,
            _ => unreachable!("open units are chosen where unit rows are kept"),
        }
    }

    /// Takes W1 (M × L), W2 (L × M) and the bias.
    pub(super) fn fill(&mut self, w1: &[f32], w2: &[f32], bias: impl Iterator<Item = f32>) {
        let places = self.bias.iter_mut().zip(bias);
        places.for_each(|(to, bias)| *to = bias);
        match &mut self.weights {
            Weights::Fused {
                w2: w2_rows,
                w1t,
                spread,
            } => {
                w2_rows.copy_from_slice(w2);
                for (m, row) in w1.chunks_exact(self.hidden).enumerate() {
                    let places = w1t[m..].iter_mut().step_by(self.dim);
                    places.zip(row).for_each(|(to, &from)| *to = from);
                }
                if let Some(spread) = spread {
                    spread.fill(&self.bias, w2_rows, w1t);
                }
            }
            Weights::Tiled {
                w2: w2_rows,
                w1: w1_rows,
                w1t,
                w2t,
                rows,
            } => {
                if let Some([w2_units, w1_units]) = rows.as_deref_mut() {
                    w2_units.fill_rows(w2);
                    w1_units.fill_columns(w1);
                }
                w2_rows.fill_rows(w2);
                w1_rows.fill_rows(w1);
                w1t.fill_columns(w1);
                w2t.fill_columns(w2);
            }
        }
    }

    /// Emits every entry of linear(m) + W1 act(b + W2 z); the units' values go to `units`.
    #[inline(always)]
    pub(super) fn step<S: Simd, P: Lanes>(
        &self,
        simd: S,
        z: &[P],
        units: &mut [P],
        act: impl Fn(P::Vector<S>) -> P::Vector<S>,
        ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
    ) {
        match &self.weights {
            Weights::Fused {
                spread: Some(spread),
                ..
            } if P::WIDTH == GROUP => fused_few(
                simd,
                (self.dim, &spread.w2, &spread.w1t),
                z,
                (&spread.bias, units),
                #[inline(always)]
                |bias| bias.spread::<S, P>(simd),
                #[inline(always)]
                |_, sum| act(sum),
                ends,
            ),
            Weights::Fused { w2, w1t, .. } => fused_any(
                simd,
                (self.dim, w2, w1t),
                z,
                (&self.bias, units),
                #[inline(always)]
                |bias| bias.spread::<S, P>(simd),
                #[inline(always)]
                |_, sum| act(sum),
                ends,
            ),
            Weights::Tiled { w2, w1, .. } => tiled(
                simd,
                (w2, w1),
                z,
                units,
                #[inline(always)]
                |l, sum| act(sum + P::Vector::splat(simd, self.bias[l])),
                ends,
            ),
        }
    }

    /// act(l, (b + W2 z)_l) for every unit l.
    #[inline(always)]
    pub(super) fn units<S: Simd, P: Lanes>(
        &self,
        simd: S,
        z: &[P],
        to: &mut [P],
        act: impl Fn(usize, P::Vector<S>) -> P::Vector<S>,
    ) {
        match &self.weights {
            Weights::Fused { w2, .. } => {
                for (l, (w2, to)) in w2.chunks_exact(self.dim).zip(to).enumerate() {
                    let mut sum = P::Vector::splat(simd, 0.0);
                    for (&w, z) in w2.iter().zip(z) {
                        sum = P::Vector::splat(simd, w).mul_add(z.load(simd), sum);
                    }
                    to.store(act(l, sum + P::Vector::splat(simd, self.bias[l])));
                }
            }
            Weights::Tiled { w2, .. } => multiply(
                simd,
                w2,
                z,
                #[inline(always)]
                |l, sum| to[l].store(act(l, sum + P::Vector::splat(simd, self.bias[l]))),
            ),
        }
    }

    /// Emits every entry of linear(m) + W2ᵀ q with q_l = gate(g_l, (W1ᵀ d)_l); q goes to `q`.
    #[inline(always)]
    pub(super) fn pull_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (g, d): (&[P], &[P]),
        q: &mut [P],
        gate: impl Fn(P::Vector<S>, P::Vector<S>) -> P::Vector<S>,
        ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
    ) {
        let g = &g[..self.hidden];
        match &self.weights {
            Weights::Fused {
                spread: Some(spread),
                ..
            } if P::WIDTH == GROUP => fused_few(
                simd,
                (self.dim, &spread.w1t, &spread.w2),
                d,
                (g, q),
                #[inline(always)]
                |_| P::Vector::splat(simd, 0.0),
                #[inline(always)]
                |g, sum| gate(g.load(simd), sum),
                ends,
            ),
            Weights::Fused { w2, w1t, .. } => fused_any(
                simd,
                (self.dim, w1t, w2),
                d,
                (g, q),
                #[inline(always)]
                |_| P::Vector::splat(simd, 0.0),
                #[inline(always)]
                |g, sum| gate(g.load(simd), sum),
                ends,
            ),
            Weights::Tiled { w1t, w2t, .. } => tiled(
                simd,
                (w1t, w2t),
                d,
                q,
                #[inline(always)]
                |l, sum| gate(g[l].load(simd), sum),
                ends,
            ),
        }
    }
}

impl Layer {
    /// dz ← W2ᵀ q and q as in [`Layer::pull_back`], where unit rows are kept. Not inlined, since it is seldom called.
    pub(super) fn pull_back_whole<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (g, d): (&[P], &[P]),
        q: &mut [P],
        gate: impl Fn(P::Vector<S>, P::Vector<S>) -> P::Vector<S>,
        dz: &mut [P],
    ) {
        let Weights::Tiled { w1t, w2t, .. } = &self.weights else {
            unreachable!("open units are chosen where unit rows are kept");
        };
        simd.vectorize(
            #[inline(always)]
            || {
                multiply(
                    simd,
                    w1t,
                    d,
                    #[inline(always)]
                    |l, sum| q[l].store(gate(g[l].load(simd), sum)),
                );
                multiply(
                    simd,
                    w2t,
                    q,
                    #[inline(always)]
                    |m, sum| dz[m].store(sum),
                );
            },
        );
    }
}

/// What a layer's sums start from, and where they go.
pub(super) struct Ends<L, E> {
    /// The linear part of an entry.
    linear: L,
    /// Takes an entry.
    emit: E,
}

impl<L, E> Ends<L, E> {
    /// A function and not braces, because a closure can be marked as inlined only where it is an argument.
    #[inline(always)]
    pub(super) fn new(linear: L, emit: E) -> Ends<L, E> {
        Ends { linear, emit }
    }
}

#[inline(always)]
fn tiled<S: Simd, P: Lanes>(
    simd: S,
    (input, output): (&Packed, &Packed),
    x: &[P],
    units: &mut [P],
    act: impl Fn(usize, P::Vector<S>) -> P::Vector<S>,
    mut ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
) {
    multiply(
        simd,
        input,
        x,
        #[inline(always)]
        |l, sum| units[l].store(act(l, sum)),
    );
    multiply(
        simd,
        output,
        units,
        #[inline(always)]
        |m, sum| (ends.emit)(m, sum + (ends.linear)(m)),
    );
}

/// [`fused`] for every M, with scalar weights.
#[inline(always)]
fn fused_any<S: Simd, P: Lanes, Q>(
    simd: S,
    (dim, input, output): (usize, &[f32], &[f32]),
    x: &[P],
    (beside, units): (&[Q], &mut [P]),
    start: impl Fn(&Q) -> P::Vector<S>,
    act: impl Fn(&Q, P::Vector<S>) -> P::Vector<S>,
    ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
) {
    let (weights, units) = ((input, output), (beside, units));
    match dim {
        ..=SPREAD => fused_few(simd, (dim, input, output), x, units, start, act, ends),
        4 => fused::<S, P, _, _, 4, 1>(simd, weights, x, units, start, act, ends),
        5 => fused::<S, P, _, _, 5, 1>(simd, weights, x, units, start, act, ends),
        _ => fused::<S, P, _, _, 6, 1>(simd, weights, x, units, start, act, ends),
    }
}

/// [`fused`] for every M that may have weights as whole vectors.
#[inline(always)]
fn fused_few<S: Simd, P: Lanes, W: Weight, Q>(
    simd: S,
    (dim, input, output): (usize, &[W], &[W]),
    x: &[P],
    (beside, units): (&[Q], &mut [P]),
    start: impl Fn(&Q) -> P::Vector<S>,
    act: impl Fn(&Q, P::Vector<S>) -> P::Vector<S>,
    ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
) {
    let (weights, units) = ((input, output), (beside, units));
    match dim {
        1 => fused::<S, P, _, _, 1, 4>(simd, weights, x, units, start, act, ends),
        2 => fused::<S, P, _, _, 2, 3>(simd, weights, x, units, start, act, ends),
        _ => fused::<S, P, _, _, SPREAD, 2>(simd, weights, x, units, start, act, ends),
    }
}

/// The fused form for M = `M`, with `U` interleaved sums so that few of them do not wait for one another. Beside every
/// unit stands what it starts from or is gated by.
#[inline(always)]
fn fused<S: Simd, P: Lanes, W: Weight, Q, const M: usize, const U: usize>(
    simd: S,
    (input, output): (&[W], &[W]),
    x: &[P],
    (beside, units): (&[Q], &mut [P]),
    start: impl Fn(&Q) -> P::Vector<S>,
    act: impl Fn(&Q, P::Vector<S>) -> P::Vector<S>,
    mut ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
) {
    let x: [P::Vector<S>; M] = std::array::from_fn(
        #[inline(always)]
        |m| x[m].load(simd),
    );
    let mut sums = [[P::Vector::splat(simd, 0.0); M]; U];
    for (m, sum) in sums[0].iter_mut().enumerate() {
        *sum = (ends.linear)(m);
    }
    let (input, output) = (input.as_chunks::<M>().0, output.as_chunks::<M>().0);
    let (input_chunks, input_rest) = input.as_chunks::<U>();
    let (output_chunks, output_rest) = output.as_chunks::<U>();
    let (beside_chunks, beside_rest) = beside.as_chunks::<U>();
    let (unit_chunks, unit_rest) = units.as_chunks_mut::<U>();
    for (((input, output), beside), units) in input_chunks
        .iter()
        .zip(output_chunks)
        .zip(beside_chunks)
        .zip(unit_chunks)
    {
        for u in 0..U {
            let sum = weigh::<S, P, W, M>(simd, start(&beside[u]), &input[u], &x);
            let value = act(&beside[u], sum);
            units[u].store(value);
            accumulate::<S, P, W, M>(simd, &output[u], value, &mut sums[u]);
        }
    }
    for (u, (((input, output), beside), unit)) in input_rest
        .iter()
        .zip(output_rest)
        .zip(beside_rest)
        .zip(unit_rest)
        .enumerate()
    {
        let value = act(beside, weigh::<S, P, W, M>(simd, start(beside), input, &x));
        unit.store(value);
        accumulate::<S, P, W, M>(simd, output, value, &mut sums[u]);
    }
    for m in 0..M {
        let mut total = sums[0][m];
        for part in &sums[1..] {
            total += part[m];
        }
        (ends.emit)(m, total);
    }
}

/// start + Σ_m w_m x_m.
#[inline(always)]
fn weigh<S: Simd, P: Lanes, W: Weight, const M: usize>(
    simd: S,
    start: P::Vector<S>,
    w: &[W; M],
    x: &[P::Vector<S>; M],
) -> P::Vector<S> {
    let mut sum = start;
    for m in 0..M {
        sum = w[m].spread::<S, P>(simd).mul_add(x[m], sum);
    }
    sum
}

/// sums_m += w_m value.
#[inline(always)]
fn accumulate<S: Simd, P: Lanes, W: Weight, const M: usize>(
    simd: S,
    w: &[W; M],
    value: P::Vector<S>,
    sums: &mut [P::Vector<S>; M],
) {
    for m in 0..M {
        sums[m] = w[m].spread::<S, P>(simd).mul_add(value, sums[m]);
    }
}
