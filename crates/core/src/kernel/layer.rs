//! A hidden layer on lanes:  y = Σ_l out_l act_l(b_l + in_l · x), for L units with M weights in and M weights out.
//!
//! One routine serves the forward step (in = rows of W2, out = columns of W1) and the pull-back (the two
//! exchanged). For M ≤ 6 it is fused: x and the sums stay in registers while the units stream by (of sixteen registers,
//! for M = 6, not all of x: there are sums of even and of odd units, for the same bits everywhere); where the layer is
//! small, its weights stand in memory as whole vectors. For larger M it runs in two products with the units' values in
//! between, in the first-level cache. Units stand in registers one by one or in pairs ([`Lanes::ABREAST`]).

use crate::simd::{
    Lanes, Lanes8, MOST_LATENT, OutOfUnits, Packed, Simd, SimdBase, SimdFloat, UnitVector, Weight,
    WeightRows, fill_units, filled, into_units, multiply_into, multiply_out, transpose,
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
    /// Of every unit, and zero to make their number even.
    bias: Vec<f32>,
    weights: Weights,
}

#[derive(Debug, Clone)]
enum Weights {
    /// W2 and W1ᵀ, one unit per row, L × M each.
    Fused {
        w2: Vec<f32>,
        w1t: Vec<f32>,
        form: Form,
    },
    /// W2 and W1 for the step, their transposes for the pull-back.
    Tiled {
        w2: Packed,
        w1: OutOfUnits,
        w1t: Packed,
        w2t: OutOfUnits,
        /// Room for W1ᵀ and W2ᵀ.
        transposed: [Vec<f32>; 2],
        /// W2 and W1ᵀ, one unit per row, for the pull-back through open units alone.
        rows: Option<Box<[WeightRows; 2]>>,
    },
}

/// The form in which fused weights are read.
#[derive(Debug, Clone)]
enum Form {
    /// One by one.
    OneByOne,
    /// As whole vectors.
    Spread(Box<Spread>),
    /// By pairs of units.
    Paired(Box<Paired>),
}

/// Weights in all eight lanes: a multiplication takes them from memory, without a broadcast before it.
#[derive(Debug, Clone)]
struct Spread {
    bias: Vec<Lanes8>,
    w2: Vec<Lanes8>,
    w1t: Vec<Lanes8>,
}

/// Weights of two units, state by state; of a last unit that is alone, zero beside it.
#[derive(Debug, Clone)]
struct Paired {
    w2: Vec<[f32; 2]>,
    w1t: Vec<[f32; 2]>,
}

impl Form {
    fn fitting<P: Lanes>(dim: usize, hidden: usize) -> Form {
        let vectors = (2 * dim + 1) * hidden;
        let fits = dim <= SPREAD && vectors * size_of::<Lanes8>() <= SPREAD_BYTES;
        if P::ABREAST == 2 {
            let pairs = vec![[0.0; 2]; dim * hidden.div_ceil(2)];
            Form::Paired(Box::new(Paired {
                w2: pairs.clone(),
                w1t: pairs,
            }))
        } else if fits && !P::NEEDS_AVX512 {
            Form::Spread(Box::new(Spread {
                bias: vec![Lanes8::ZERO; hidden],
                w2: vec![Lanes8::ZERO; dim * hidden],
                w1t: vec![Lanes8::ZERO; dim * hidden],
            }))
        } else {
            Form::OneByOne
        }
    }

    #[inline(always)]
    fn fill(&mut self, dim: usize, bias: &[f32], w2: &[f32], w1t: &[f32]) {
        match self {
            Form::OneByOne => {}
            Form::Spread(spread) => spread.fill(bias, w2, w1t),
            Form::Paired(paired) => {
                pair_rows(dim, w2, &mut paired.w2);
                pair_rows(dim, w1t, &mut paired.w1t);
            }
        }
    }
}

impl Spread {
    #[inline(always)]
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

/// Rows of `dim` weights, two by two, entry by entry.
#[inline(always)]
fn pair_rows(dim: usize, rows: &[f32], pairs: &mut [[f32; 2]]) {
    for (pairs, rows) in pairs.chunks_exact_mut(dim).zip(rows.chunks(2 * dim)) {
        let (even, odd) = rows.split_at(dim);
        pairs.iter_mut().zip(even).for_each(|(to, &w)| to[0] = w);
        pairs.iter_mut().zip(odd).for_each(|(to, &w)| to[1] = w);
    }
}

impl Layer {
    /// The layer for lanes of type `P`.
    pub(super) fn new<P: Lanes>(dim: usize, hidden: usize) -> Layer {
        let weights = if dim <= FUSED {
            Weights::Fused {
                w2: vec![0.0; dim * hidden],
                w1t: vec![0.0; dim * hidden],
                form: Form::fitting::<P>(dim, hidden),
            }
        } else {
            let (into, out) = (into_units::<P>(hidden, dim), OutOfUnits::new(dim, hidden));
            Weights::Tiled {
                w2: into.clone(),
                w1: out.clone(),
                w1t: into,
                w2t: out,
                transposed: [vec![0.0; dim * hidden], vec![0.0; dim * hidden]],
                rows: None,
            }
        };
        Layer {
            dim,
            hidden,
            bias: vec![0.0; hidden.next_multiple_of(2)],
            weights,
        }
    }

    /// Keeps unit rows too, unless the layer is fused or too wide for them.
    pub(super) fn with_unit_rows(mut self) -> Layer {
        if let Weights::Tiled { rows, .. } = &mut self.weights
            && self.dim <= MOST_LATENT
        {
            let blank = WeightRows::new(self.dim, self.hidden);
            *rows = Some(Box::new([blank.clone(), blank]));
        }
        self
    }

    /// Whether unit rows are kept.
    pub(super) fn has_unit_rows(&self) -> bool {
        matches!(&self.weights, Weights::Tiled { rows: Some(_), .. })
    }

    /// W2 and W1ᵀ, one unit per row, where they are kept.
    #[inline(always)]
    pub(super) fn unit_rows(&self) -> &[WeightRows; 2] {
        match &self.weights {
            Weights::Tiled {
                rows: Some(rows), ..
            } => rows,
            _ => unreachable!("open units are chosen where unit rows are kept"),
        }
    }

    /// Takes W1 (M × L), W2 (L × M) and the bias.
    #[inline(always)]
    pub(super) fn fill<S: Simd>(&mut self, simd: S, w1: &[f32], w2: &[f32], bias: &[f32]) {
        self.bias[..self.hidden].copy_from_slice(bias);
        match &mut self.weights {
            Weights::Fused {
                w2: w2_rows,
                w1t,
                form,
            } => {
                w2_rows.copy_from_slice(w2);
                transpose(simd, self.hidden, w1, w1t);
                form.fill(self.dim, &self.bias, w2_rows, w1t);
            }
            Weights::Tiled {
                w2: w2_rows,
                w1: w1_rows,
                w1t,
                w2t,
                transposed: [w1_transposed, w2_transposed],
                rows,
            } => {
                transpose(simd, self.hidden, w1, w1_transposed);
                transpose(simd, self.dim, w2, w2_transposed);
                if let Some([w2_units, w1_units]) = rows.as_deref_mut() {
                    w2_units.fill_rows(w2);
                    w1_units.fill_rows(w1_transposed);
                }
                w2_rows.fill_columns(w2_transposed);
                w1_rows.fill_columns(simd, w1_transposed);
                w1t.fill_columns(w1);
                w2t.fill_columns(simd, w2);
            }
        }
    }

    /// Emits every entry of linear(m) + W1 act(b + W2 z); the units' values go to `units`.
    #[inline(always)]
    pub(super) fn step<S: Simd, P: Lanes>(
        &self,
        simd: S,
        z: &[P],
        units: &mut [P::Units],
        act: impl Fn(UnitVector<P, S>) -> UnitVector<P, S>,
        ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
    ) {
        match &self.weights {
            Weights::Fused { w2, w1t, form } => match form {
                Form::Spread(spread) if !P::NEEDS_AVX512 => {
                    let weights = (self.dim, &*spread.w2, &*spread.w1t);
                    fused_step(simd, weights, z, (&spread.bias, units), act, ends);
                }
                Form::Paired(paired) if P::ABREAST == 2 => {
                    let weights = (self.dim, &*paired.w2, &*paired.w1t);
                    let bias = self.bias.as_chunks::<2>().0;
                    fused_step(simd, weights, z, (bias, units), act, ends);
                }
                _ => {
                    let (weights, bias) = ((self.dim, &**w2, &**w1t), &self.bias[..self.hidden]);
                    fused_step(simd, weights, z, (bias, units), act, ends);
                }
            },
            Weights::Tiled { w2, w1, .. } => match P::ABREAST {
                1 => {
                    let units = (&self.bias[..self.hidden], units);
                    tiled_step(simd, (w2, w1), z, units, act, ends);
                }
                _ => {
                    let units = (self.bias.as_chunks::<2>().0, units);
                    tiled_step(simd, (w2, w1), z, units, act, ends);
                }
            },
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
            Weights::Tiled { w2, .. } => multiply_into(
                simd,
                w2,
                z,
                #[inline(always)]
                |first, sums: &[UnitVector<P, S>]| {
                    for (r, &sum) in sums.iter().enumerate() {
                        for place in 0..P::ABREAST {
                            let l = P::ABREAST * (first + r) + place;
                            if let Some(to) = to.get_mut(l) {
                                let bias = P::Vector::splat(simd, self.bias[l]);
                                to.store(act(l, P::unit(sum, place) + bias));
                            }
                        }
                    }
                },
            ),
        }
    }

    /// Emits every entry of linear(m) + W2ᵀ q with q_l = gate(g_l, (W1ᵀ d)_l); q goes to `q`.
    #[inline(always)]
    pub(super) fn pull_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (g, d): (&[P::Units], &[P]),
        q: &mut [P::Units],
        gate: impl Fn(UnitVector<P, S>, UnitVector<P, S>) -> UnitVector<P, S>,
        ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
    ) {
        let g = &g[..self.hidden.div_ceil(P::ABREAST)];
        match &self.weights {
            Weights::Fused { w2, w1t, form } => match form {
                Form::Spread(spread) if !P::NEEDS_AVX512 => {
                    let weights = (self.dim, &*spread.w1t, &*spread.w2);
                    fused_back(simd, weights, d, (g, q), gate, ends);
                }
                Form::Paired(paired) if P::ABREAST == 2 => {
                    let weights = (self.dim, &*paired.w1t, &*paired.w2);
                    fused_back(simd, weights, d, (g, q), gate, ends);
                }
                _ => fused_back(simd, (self.dim, &**w1t, &**w2), d, (g, q), gate, ends),
            },
            Weights::Tiled { w1t, w2t, .. } => tiled(
                simd,
                (w1t, w2t),
                d,
                (g, q),
                #[inline(always)]
                |g, sum| gate(g.load(simd), sum),
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
        (g, d): (&[P::Units], &[P]),
        q: &mut [P::Units],
        gate: impl Fn(UnitVector<P, S>, UnitVector<P, S>) -> UnitVector<P, S>,
        dz: &mut [P],
    ) {
        let Weights::Tiled { w1t, w2t, .. } = &self.weights else {
            unreachable!("open units are chosen where unit rows are kept");
        };
        simd.vectorize(
            #[inline(always)]
            || {
                multiply_into(
                    simd,
                    w1t,
                    d,
                    #[inline(always)]
                    |first, sums| {
                        fill_units(
                            (g, q),
                            first,
                            sums,
                            #[inline(always)]
                            |g, sum| gate(g.load(simd), sum),
                        );
                    },
                );
                multiply_out::<S, P>(
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

/// The step in two products.
#[inline(always)]
fn tiled_step<S: Simd, P: Lanes, W: Weight>(
    simd: S,
    weights: (&Packed, &OutOfUnits),
    z: &[P],
    units: (&[W], &mut [P::Units]),
    act: impl Fn(UnitVector<P, S>) -> UnitVector<P, S>,
    ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
) {
    tiled(
        simd,
        weights,
        z,
        units,
        #[inline(always)]
        |bias, sum| act(sum + bias.spread::<S, P::Units>(simd)),
        ends,
    );
}

/// Into the units and out of them. Beside every register of units stands what is added to it or what it is gated by.
#[inline(always)]
fn tiled<S: Simd, P: Lanes, Q>(
    simd: S,
    (input, output): (&Packed, &OutOfUnits),
    x: &[P],
    (beside, units): (&[Q], &mut [P::Units]),
    act: impl Fn(&Q, UnitVector<P, S>) -> UnitVector<P, S>,
    mut ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
) {
    multiply_into(
        simd,
        input,
        x,
        #[inline(always)]
        |first, sums| {
            fill_units(
                (beside, units),
                first,
                sums,
                // Not `&act`: through a reference a long function, as tanh is, would be called for every register.
                #[inline(always)]
                |beside, sum| act(beside, sum),
            );
        },
    );
    multiply_out::<S, P>(
        simd,
        output,
        units,
        #[inline(always)]
        |m, sum| (ends.emit)(m, sum + (ends.linear)(m)),
    );
}

/// The fused step: units start from their bias.
#[inline(always)]
fn fused_step<S: Simd, P: Lanes, W: Weight>(
    simd: S,
    weights: (usize, &[W], &[W]),
    z: &[P],
    units: (&[W], &mut [P::Units]),
    act: impl Fn(UnitVector<P, S>) -> UnitVector<P, S>,
    ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
) {
    fused_any(
        simd,
        weights,
        z,
        units,
        #[inline(always)]
        |bias| bias.spread::<S, P::Units>(simd),
        #[inline(always)]
        |_, sum| act(sum),
        ends,
    );
}

/// The fused pull-back: units are gated by their values.
#[inline(always)]
fn fused_back<S: Simd, P: Lanes, W: Weight>(
    simd: S,
    weights: (usize, &[W], &[W]),
    d: &[P],
    units: (&[P::Units], &mut [P::Units]),
    gate: impl Fn(UnitVector<P, S>, UnitVector<P, S>) -> UnitVector<P, S>,
    ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
) {
    fused_any(
        simd,
        weights,
        d,
        units,
        #[inline(always)]
        |_| <UnitVector<P, S>>::splat(simd, 0.0),
        #[inline(always)]
        |g, sum| gate(g.load(simd), sum),
        ends,
    );
}

/// [`fused`] for every M.
#[inline(always)]
fn fused_any<S: Simd, P: Lanes, W: Weight, Q>(
    simd: S,
    (dim, input, output): (usize, &[W], &[W]),
    x: &[P],
    (beside, units): (&[Q], &mut [P::Units]),
    start: impl Fn(&Q) -> UnitVector<P, S>,
    act: impl Fn(&Q, UnitVector<P, S>) -> UnitVector<P, S>,
    ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
) {
    let (weights, units) = ((input, output), (beside, units));
    match (dim, P::ABREAST) {
        (1, 1) => fused::<S, P, _, _, 1, 2>(simd, weights, x, units, start, act, ends),
        (2, 1) => fused::<S, P, _, _, 2, 2>(simd, weights, x, units, start, act, ends),
        (3, 1) => fused::<S, P, _, _, 3, 2>(simd, weights, x, units, start, act, ends),
        (4, 1) => fused::<S, P, _, _, 4, 2>(simd, weights, x, units, start, act, ends),
        (5, 1) => fused::<S, P, _, _, 5, 2>(simd, weights, x, units, start, act, ends),
        (_, 1) => fused::<S, P, _, _, 6, 2>(simd, weights, x, units, start, act, ends),
        (1, _) => fused::<S, P, _, _, 1, 1>(simd, weights, x, units, start, act, ends),
        (2, _) => fused::<S, P, _, _, 2, 1>(simd, weights, x, units, start, act, ends),
        (3, _) => fused::<S, P, _, _, 3, 1>(simd, weights, x, units, start, act, ends),
        (4, _) => fused::<S, P, _, _, 4, 1>(simd, weights, x, units, start, act, ends),
        (5, _) => fused::<S, P, _, _, 5, 1>(simd, weights, x, units, start, act, ends),
        _ => fused::<S, P, _, _, 6, 1>(simd, weights, x, units, start, act, ends),
    }
}

/// The fused form for M = `M`. Units of even number and those of odd number are added up by themselves: in U = 2 sums, or in
/// the lanes of one where they stand abreast. Beside every register of units stands what it starts from or is gated by.
#[inline(always)]
fn fused<S: Simd, P: Lanes, W: Weight, Q, const M: usize, const U: usize>(
    simd: S,
    (input, output): (&[W], &[W]),
    x: &[P],
    (beside, units): (&[Q], &mut [P::Units]),
    start: impl Fn(&Q) -> UnitVector<P, S>,
    act: impl Fn(&Q, UnitVector<P, S>) -> UnitVector<P, S>,
    mut ends: Ends<impl Fn(usize) -> P::Vector<S>, impl FnMut(usize, P::Vector<S>)>,
) {
    let x: [UnitVector<P, S>; M] = filled(
        <UnitVector<P, S>>::splat(simd, 0.0),
        #[inline(always)]
        |m| P::widen(x[m].load(simd)),
    );
    let mut sums = [[<UnitVector<P, S>>::splat(simd, 0.0); M]; U];
    for (m, sum) in sums[0].iter_mut().enumerate() {
        *sum = P::first((ends.linear)(m));
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
    // At most one, of even number.
    for (((input, output), beside), unit) in input_rest
        .iter()
        .zip(output_rest)
        .zip(beside_rest)
        .zip(unit_rest)
    {
        let value = act(beside, weigh::<S, P, W, M>(simd, start(beside), input, &x));
        unit.store(value);
        accumulate::<S, P, W, M>(simd, output, value, &mut sums[0]);
    }
    for (m, &even) in sums[0].iter().enumerate() {
        let whole = match U {
            1 => even,
            _ => even + sums[U - 1][m],
        };
        (ends.emit)(m, P::narrow(whole));
    }
}

/// start + Σ_m w_m x_m.
#[inline(always)]
fn weigh<S: Simd, P: Lanes, W: Weight, const M: usize>(
    simd: S,
    start: UnitVector<P, S>,
    w: &[W; M],
    x: &[UnitVector<P, S>; M],
) -> UnitVector<P, S> {
    let mut sum = start;
    for m in 0..M {
        sum = w[m].spread::<S, P::Units>(simd).mul_add(x[m], sum);
    }
    sum
}

/// sums_m += w_m value.
#[inline(always)]
fn accumulate<S: Simd, P: Lanes, W: Weight, const M: usize>(
    simd: S,
    w: &[W; M],
    value: UnitVector<P, S>,
    sums: &mut [UnitVector<P, S>; M],
) {
    for m in 0..M {
        sums[m] = w[m].spread::<S, P::Units>(simd).mul_add(value, sums[m]);
    }
}
