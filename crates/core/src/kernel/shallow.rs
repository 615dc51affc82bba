//! Shallow PLRNNs on lanes.
//!
//! The clipped unit is normalised once an update. With ŵ = w2/|h2|, c = [h2 > 0] and ŵ1 = w1·h2,
//!
//! ```text
//! w1 [φ(u + h2) − φ(u)] = ŵ1 · min(max(c + ŵ·z, 0), 1),
//! ```
//!
//! so that its gate is a comparison of its value, and with Ĝ1 = Σ d ĝᵀ, Ĝ2 = Σ q̂ zᵀ the gradients are
//! dW1 = h2 Ĝ1, dW2 = Ĝ2/|h2| and dh2 = W1·Ĝ1 − ŵ·Ĝ2/h2, without any work a step.

use std::marker::PhantomData;
use std::ops::Range;

use super::layer::{Ends, Layer};
use super::linear::Linear;
use super::{At, Chunk, Factors, Kernel, Left, Tape};
use crate::map::Dims;
use crate::simd::{
    Bytes, Groups, Lanes, OpenUnits, Place, Rows, SQUARE, Select, Simd, SimdBase, SimdFloat,
    SimdMask, WholeUnits, add_rows, f32x8, reduce, transposed,
};
use crate::theta::Layout;

/// What a hidden unit computes from its input sum, and how its weights are folded.
pub(crate) trait Unit: Send + Sync {
    /// Whether dh2 is the sum Σ q over a sweep, rather than a consequence of dW1 and dW2.
    const THRESHOLD_IS_BIAS: bool;

    /// Whether a trained unit is shut most of the time: then its pull-back may go through open units alone.
    const IS_MOSTLY_SHUT: bool = false;

    /// The value for an input sum.
    fn value<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, pre: V) -> V;

    /// The cotangent of the input sum, from the value and its cotangent.
    fn gate<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, value: V, cotangent: V) -> V;

    /// Where a unit with this value passes cotangents on.
    fn is_open<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, value: V) -> V::Mask {
        let (zero, one) = (V::splat(simd, 0.0), V::splat(simd, 1.0));
        Self::gate(simd, value, one).simd_gt(zero)
    }

    /// What h2 is folded into: factors of W2 and W1, and the bias.
    fn fold(h2: f32) -> Fold;
}

/// How a unit's threshold is folded into its weights.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fold {
    h2: f32,
    scale_in: f32,
    scale_out: f32,
    bias: f32,
}

/// The folds of all units, part by part.
#[derive(Debug, Clone)]
struct Folds {
    h2: Vec<f32>,
    scale_in: Vec<f32>,
    scale_out: Vec<f32>,
    bias: Vec<f32>,
}

impl Folds {
    fn new(hidden: usize) -> Folds {
        Folds {
            h2: vec![UNFOLDED.h2; hidden],
            scale_in: vec![UNFOLDED.scale_in; hidden],
            scale_out: vec![UNFOLDED.scale_out; hidden],
            bias: vec![UNFOLDED.bias; hidden],
        }
    }

    fn fill(&mut self, folds: impl Iterator<Item = Fold>) {
        for (l, fold) in folds.enumerate() {
            self.h2[l] = fold.h2;
            self.scale_in[l] = fold.scale_in;
            self.scale_out[l] = fold.scale_out;
            self.bias[l] = fold.bias;
        }
    }

    /// Of an open unit: ±1 for clipped ones.
    #[inline(always)]
    fn slope(&self, l: usize) -> f32 {
        self.scale_in[l] * self.scale_out[l]
    }
}

/// φ(u + h2).
pub(crate) struct Plain;
/// φ(u + h2) − φ(u), normalised.
pub(crate) struct Clipped;
/// tanh(u + h2).
pub(crate) struct Tanh;

const UNFOLDED: Fold = Fold {
    h2: 0.0,
    scale_in: 1.0,
    scale_out: 1.0,
    bias: 0.0,
};

impl Unit for Plain {
    const THRESHOLD_IS_BIAS: bool = true;

    #[inline(always)]
    fn value<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, pre: V) -> V {
        pre.max(V::splat(simd, 0.0))
    }

    #[inline(always)]
    fn gate<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, value: V, cotangent: V) -> V {
        let zero = V::splat(simd, 0.0);
        value.simd_gt(zero).select(cotangent, zero)
    }

    fn fold(h2: f32) -> Fold {
        Fold {
            h2,
            bias: h2,
            ..UNFOLDED
        }
    }
}

impl Unit for Clipped {
    const THRESHOLD_IS_BIAS: bool = false;
    const IS_MOSTLY_SHUT: bool = true;

    #[inline(always)]
    fn value<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, pre: V) -> V {
        pre.max(V::splat(simd, 0.0)).min(V::splat(simd, 1.0))
    }

    #[inline(always)]
    fn gate<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, value: V, cotangent: V) -> V {
        // v − v² is zero in all its bits where v is +0 or 1, as values of shut units are. Comparing bits spares the
        // conversion of a mask.
        let zero = V::Bits::splat(simd, 0);
        let bits: V::Bits = (-value).mul_add(value, value).bitcast();
        let open: V::Bits = cotangent.bitcast();
        bits.simd_eq(zero).select(zero, open).bitcast()
    }

    #[inline(always)]
    fn is_open<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, value: V) -> V::Mask {
        // v − v² > 0 exactly where 0 < v < 1: one comparison.
        (-value).mul_add(value, value).simd_gt(V::splat(simd, 0.0))
    }

    /// A threshold below 1e-20 in modulus counts as 1e-20: the unit's output is then zero to rounding all the same.
    fn fold(h2: f32) -> Fold {
        let h2 = h2.abs().max(1e-20).copysign(h2);
        Fold {
            h2,
            scale_in: 1.0 / h2.abs(),
            scale_out: h2,
            bias: if h2 > 0.0 { 1.0 } else { 0.0 },
        }
    }
}

impl Unit for Tanh {
    const THRESHOLD_IS_BIAS: bool = true;

    /// Below |x| = ½ the series of tanh to x¹⁵, above it (1 − e)/(1 + e) with e = exp(−2|x|) as the 32nd power of
    /// its series at −|x|/16: within 1e-6 of the truth, by arithmetic that every vector has.
    #[inline(always)]
    fn value<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, pre: V) -> V {
        let number = |v: f32| V::splat(simd, v);
        let magnitude = pre.max(-pre).min(number(9.0));
        let square = pre * pre;
        let mut series = number(-929_569.0 / 638_512_900.0);
        for c in TANH_SERIES {
            series = series.mul_add(square, number(c));
        }
        let y = magnitude * number(-0.0625);
        let mut exponential = number(1.0 / 5040.0);
        for c in EXP_SERIES {
            exponential = exponential.mul_add(y, number(c));
        }
        for _ in 0..5 {
            exponential = exponential * exponential;
        }
        let large = (number(1.0) - exponential) / (number(1.0) + exponential);
        magnitude
            .simd_lt(number(0.5))
            .select(series * pre, large.copysign(pre))
    }

    #[inline(always)]
    fn gate<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, value: V, cotangent: V) -> V {
        (V::splat(simd, 1.0) - value * value) * cotangent
    }

    fn fold(h2: f32) -> Fold {
        Fold {
            h2,
            bias: h2,
            ..UNFOLDED
        }
    }
}

/// Coefficients of tanh(x)/x in x², from x¹² down to 1.
const TANH_SERIES: [f32; 7] = [
    21_844.0 / 6_081_075.0,
    -1382.0 / 155_925.0,
    62.0 / 2835.0,
    -17.0 / 315.0,
    2.0 / 15.0,
    -1.0 / 3.0,
    1.0,
];

/// Coefficients of exp, from x⁶ down to 1.
const EXP_SERIES: [f32; 7] = [
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    0.5,
    1.0,
    1.0,
];

/// A shallow PLRNN with units of type `U`.
pub(crate) struct Shallow<U> {
    dims: Dims,
    linear: Linear,
    layer: Layer,
    w1: Range<usize>,
    w2: Range<usize>,
    h2: Range<usize>,
    folds: Folds,
    /// W1 and W2 with the thresholds folded in.
    folded: [Vec<f32>; 2],
    unit: PhantomData<U>,
}

impl<U> Shallow<U> {
    /// Where dW1 and dW2 stand, by latent state and unit.
    #[inline(always)]
    fn places(&self) -> [Place; 2] {
        let Dims { latent, hidden, .. } = self.dims;
        let place = |start, row, col| Place { start, row, col };
        [
            place(self.w1.start, hidden, 1),
            place(self.w2.start, 1, latent),
        ]
    }
}

impl<U: Unit> Kernel for Shallow<U> {
    type Units<P: Lanes> = P::Units;

    const SKIPS_SHUT: bool = U::IS_MOSTLY_SHUT;

    fn new<P: Lanes>(dims: Dims, layout: &Layout) -> Shallow<U> {
        Shallow {
            dims,
            linear: Linear::new(dims, layout, "h1"),
            layer: if U::IS_MOSTLY_SHUT {
                Layer::new::<P>(dims.latent, dims.hidden).with_unit_rows()
            } else {
                Layer::new::<P>(dims.latent, dims.hidden)
            },
            w1: layout.range("W1"),
            w2: layout.range("W2"),
            h2: layout.range("h2"),
            folds: Folds::new(dims.hidden),
            folded: [
                vec![0.0; dims.latent * dims.hidden],
                vec![0.0; dims.latent * dims.hidden],
            ],
            unit: PhantomData,
        }
    }

    fn units(&self) -> usize {
        self.dims.hidden
    }

    #[inline(always)]
    fn prepare<S: Simd>(&mut self, simd: S, theta: &[f32]) {
        let Dims { latent, hidden, .. } = self.dims;
        let (w1, w2, h2) = (
            &theta[self.w1.clone()],
            &theta[self.w2.clone()],
            &theta[self.h2.clone()],
        );
        self.linear.prepare(theta);
        let folds = &mut self.folds;
        folds.fill(h2.iter().map(|&h2| U::fold(h2)));
        let [w1_folded, w2_folded] = &mut self.folded;
        let rows = w1_folded.chunks_exact_mut(hidden);
        for (to, w1) in rows.zip(w1.chunks_exact(hidden)) {
            for ((to, w1), scale) in to.iter_mut().zip(w1).zip(&folds.scale_out) {
                *to = w1 * scale;
            }
        }
        let rows = w2_folded.chunks_exact_mut(latent);
        for ((to, w2), scale) in rows.zip(w2.chunks_exact(latent)).zip(&folds.scale_in) {
            let pairs = to.iter_mut().zip(w2);
            pairs.for_each(|(to, w2)| *to = w2 * scale);
        }
        self.layer.fill(simd, w1_folded, w2_folded, &folds.bias);
    }

    #[inline(always)]
    fn step<S: Simd, P: Lanes>(
        &self,
        simd: S,
        (z, s): (&[P], &[P]),
        Left { g, .. }: Left<'_, P::Units>,
        emit: impl FnMut(usize, P::Vector<S>),
    ) {
        self.layer.step(
            simd,
            z,
            g,
            #[inline(always)]
            |pre| U::value(simd, pre),
            Ends::new(
                #[inline(always)]
                |m| self.linear.entry(simd, z, s, m),
                emit,
            ),
        );
    }

    #[inline(always)]
    fn pull_back<S: Simd, P: Lanes>(
        &self,
        simd: S,
        At { g, .. }: At<'_, P, P::Units>,
        d: &[P],
        q: &mut [P::Units],
        emit: impl FnMut(usize, P::Vector<S>),
    ) {
        self.layer.pull_back(
            simd,
            (g, d),
            q,
            #[inline(always)]
            |value, cotangent| U::gate(simd, value, cotangent),
            Ends::new(
                #[inline(always)]
                |m| self.linear.pulled_entry(simd, d, m),
                emit,
            ),
        );
    }

    fn open_units<P: Lanes>(&self) -> Option<OpenUnits<P>> {
        let Dims { latent, hidden, .. } = self.dims;
        let has_rows = Self::SKIPS_SHUT && self.layer.has_unit_rows();
        has_rows.then(|| OpenUnits::new(latent, hidden))
    }

    #[inline(always)]
    fn look_for_open<S: Simd, P: Lanes>(&self, simd: S, tape: &mut Tape<P, P::Units>) {
        if let Some(open) = tape.open.as_mut().filter(|_| Self::SKIPS_SHUT) {
            open.start(
                simd,
                tape.g.iter(),
                #[inline(always)]
                |value| U::is_open(simd, value).to_bitmask(),
            );
        }
    }

    #[inline(always)]
    fn pull_back_open<S: Simd, P: Lanes>(
        &self,
        simd: S,
        At { z, g, .. }: At<'_, P, P::Units>,
        d: &[P],
        (q, open): (&mut [P::Units], &mut OpenUnits<P>),
        mut emit: impl FnMut(usize, P::Vector<S>),
    ) {
        if !open.all() {
            self.layer.pull_back_whole(
                simd,
                (g, d),
                q,
                |value, cotangent| U::gate(simd, value, cotangent),
                open.pulled(),
            );
        }
        let [w2, w1] = self.layer.unit_rows();
        open.pull_back(
            simd,
            (z, g, d),
            (w1, w2),
            #[inline(always)]
            |value| U::is_open(simd, value).to_bitmask(),
        );
        for (m, dz) in open.pulled().iter().enumerate() {
            emit(m, dz.load(simd) + self.linear.pulled_entry(simd, d, m));
        }
    }

    #[inline(always)]
    fn slopes<S: Simd, P: Lanes>(&self, simd: S, z: &[P], slopes: &mut [P]) {
        self.layer.units(
            simd,
            z,
            slopes,
            #[inline(always)]
            |l, pre| {
                let slope = P::Vector::splat(simd, self.folds.slope(l));
                U::gate(simd, U::value(simd, pre), slope)
            },
        );
    }

    fn factors(&self, theta: &[f32], factors: &mut Factors) {
        let Dims { latent, hidden, .. } = self.dims;
        let w1 = &theta[self.w1.clone()];
        factors.a.copy_from_slice(self.linear.a());
        factors.directions.copy_from_slice(&theta[self.w2.clone()]);
        for (l, column) in factors.weights.chunks_exact_mut(latent).enumerate() {
            (0..latent).for_each(|m| column[m] = w1[m * hidden + l]);
        }
    }

    /// Ĝ1 (L × M), then Ĝ2 (L × M), then Σ q (L).
    fn sums_a_unit(&self) -> usize {
        2 * self.dims.latent + 1
    }

    #[inline(always)]
    fn accumulate<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut Tape<P, P::Units>,
        chunk: Chunk,
        groups: &mut Groups<'_>,
    ) {
        let (Dims { latent, hidden, .. }, steps) = (self.dims, chunk.steps.clone());
        let small = steps.start * latent..steps.end * latent;
        let d = P::widen_all(simd, &tape.d[small.clone()], &mut tape.widened);
        let [to_w1, to_w2] = self.places();
        let matrix = latent * self.registers::<P>();
        let (w1, rest) = tape.sums.split_at_mut(matrix);
        let (w2, bias) = rest.split_at_mut(matrix);
        let (g, q) = (tape.g.rows(steps.clone()), tape.q.rows(0..steps.len()));
        let to = WholeUnits::<P>::new(hidden, to_w1, groups);
        chunk.gram(simd, (Rows::new(d, latent), g), w1, to);
        // Groups that went through open units alone have summed theirs.
        if !tape.open.as_ref().is_some_and(OpenUnits::all) {
            let z = P::widen_all(simd, &tape.z[small], &mut tape.widened);
            let to = WholeUnits::<P>::new(hidden, to_w2, groups);
            chunk.gram(simd, (Rows::new(z, latent), q), w2, to);
        }
        if U::THRESHOLD_IS_BIAS {
            if chunk.is_first() {
                bias.fill(P::Units::ZERO);
            }
            add_rows(simd, q, bias);
        }
        self.linear.accumulate(simd, tape, &chunk, groups);
    }

    #[inline(always)]
    fn gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &Tape<P, P::Units>,
        groups: &mut Groups<'_>,
    ) {
        let Dims { latent, hidden, .. } = self.dims;
        self.linear.gradient(simd, tape, groups);
        if let Some(open) = &tape.open {
            open.put_sums(&self.w2, groups);
        }
        if U::THRESHOLD_IS_BIAS {
            let bias = &tape.sums[2 * latent * self.registers::<P>()..];
            let place = Place {
                start: self.h2.start,
                row: 0,
                col: 1,
            };
            let to = WholeUnits::<P>::new(hidden, place, groups);
            reduce(simd, (bias, 1), to);
        }
    }

    /// Where h2 is a bias, nothing was folded.
    #[inline(always)]
    fn finish<S: Simd>(&self, simd: S, theta: &[f32], dtheta: &mut [f32]) {
        if U::THRESHOLD_IS_BIAS {
            return;
        }
        let Dims { latent, hidden, .. } = self.dims;
        let places = [&self.w1, &self.w2, &self.h2];
        let [dw1, dw2, dh2] = dtheta
            .get_disjoint_mut(places.map(Range::clone))
            .expect("tensors do not overlap");
        let w1 = &theta[self.w1.clone()];
        dh2.fill(0.0);
        for (w1, dw1) in w1.chunks_exact(hidden).zip(dw1.chunks_exact_mut(hidden)) {
            let units = dh2.iter_mut().zip(&self.folds.scale_out);
            for ((w1, dw1), (dh2, scale)) in w1.iter().zip(dw1).zip(units) {
                *dh2 += w1 * *dw1;
                *dw1 *= scale;
            }
        }
        let [_, w2] = &self.folded;
        for (i, dh2) in dh2.chunks_mut(SQUARE).enumerate() {
            let units = i * SQUARE..i * SQUARE + dh2.len();
            let rows = units.start * latent..units.end * latent;
            let scale = &self.folds.scale_in[units.clone()];
            let inner = unfold(simd, &w2[rows.clone()], &mut dw2[rows], scale);
            for ((dh2, inner), h2) in dh2.iter_mut().zip(inner).zip(&self.folds.h2[units]) {
                *dh2 -= inner / h2;
            }
        }
    }
}

/// Turns the gradients of up to eight folded rows of W2, one a scale, into those of W2; gives each row's product with its
/// folded gradient, added up state by state.
#[inline(always)]
fn unfold<S: Simd>(simd: S, w2: &[f32], dw2: &mut [f32], scale: &[f32]) -> [f32; SQUARE] {
    let latent = w2.len() / scale.len();
    let whole = match scale.len() {
        SQUARE => latent - latent % SQUARE,
        _ => 0,
    };
    let mut sums = f32x8::splat(simd, 0.0);
    for m in (0..whole).step_by(SQUARE) {
        let mut products = [f32x8::splat(simd, 0.0); SQUARE];
        for (r, product) in products.iter_mut().enumerate() {
            let place = r * latent + m..r * latent + m + SQUARE;
            let w2 = f32x8::from_slice(simd, &w2[place.clone()]);
            let d = f32x8::from_slice(simd, &dw2[place.clone()]);
            *product = w2 * d;
            (d * f32x8::splat(simd, scale[r])).store_slice(&mut dw2[place]);
        }
        for product in transposed(simd, products) {
            sums += product;
        }
    }
    let mut inner = [0.0; SQUARE];
    sums.store_slice(&mut inner);
    for (r, (inner, scale)) in inner.iter_mut().zip(scale).enumerate() {
        let rest = r * latent + whole..(r + 1) * latent;
        for (w2, dw2) in w2[rest.clone()].iter().zip(&mut dw2[rest]) {
            *inner += w2 * *dw2;
            *dw2 *= scale;
        }
    }
    inner
}
