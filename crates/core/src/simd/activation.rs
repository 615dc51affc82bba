//! σ(x) = 1/(1 + e^{−x}) and tanh x of every lane, within a few units of the last place at all magnitudes.
//!
//! ```text
//! e^x    = 2^k (1 + r + r² q(r)),  k = round(x/ln 2),  r = x − k ln 2                 |error| < 3.1e-9
//! tanh x = x p(x²)/q(x²), both of degree 4, all coefficients positive, for |x| ≤ 9.02    |error| < 2.2e-8
//! ```
//!
//! The coefficients are those of the smallest largest relative error, found by reweighted least squares in 50 digits. Only
//! arithmetic that every instruction set rounds alike is used, so that all with fused multiply-adds give the same bits. NaN
//! stays NaN.

use fearless_simd::Simd;
use fearless_simd::prelude::{Bytes, SimdFloat};

/// e^x is computed up to here: beyond it, σ(−x) is smaller than the normal numbers of f32.
const LARGEST_EXPONENT: f32 = 87.0;

/// Adding it leaves the nearest whole number in the lowest bits.
const ROUNDER: f32 = 12_582_912.0;

/// ln 2 in two parts: products of the first one with whole numbers up to 2⁹ are exact.
const LN_2_HIGH: f32 = 0.693_359_4;
const LN_2_LOW: f32 = -2.121_944_4e-4;

/// q of e^r, from r⁴ down to 1.
const EXP: [f32; 5] = [
    0.001_381_480_3,
    0.008_368_774,
    0.041_668_39,
    0.166_665_2,
    0.499_999_93,
];

/// From here on tanh is 1 in f32.
const LARGEST_TANH: f32 = 9.02;

/// p of tanh, from x⁸ down to 1.
const TANH_P: [f32; 5] = [
    1.338_271_2e-8,
    2.063_463_6e-5,
    0.003_497_384_4,
    0.133_826_25,
    1.0,
];

/// q of tanh, from x⁸ down to 1.
#[allow(
    clippy::excessive_precision,
    reason = "nine digits are those that single precision is printed with"
)]
const TANH_Q: [f32; 5] = [
    7.789_588e-7,
    3.288_398_1e-4,
    0.025_884_081,
    0.467_159_47,
    1.0,
];

/// σ(x) = 1/(1 + e^{−x}).
#[inline(always)]
pub(crate) fn sigmoid<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, x: V) -> V {
    let one = V::splat(simd, 1.0);
    one / (one + exp(simd, -x))
}

/// e^x for x up to 87, larger ones count as 87; zero where it would be below the normal numbers.
#[inline(always)]
fn exp<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, x: V) -> V {
    let number = |v: f32| V::splat(simd, v);
    // The bound stands first: of two numbers, one of them NaN, the second one is taken.
    let x = number(LARGEST_EXPONENT).min(x);
    let x = number(-LARGEST_EXPONENT).max(x);
    let shifted = x.mul_add(number(std::f32::consts::LOG2_E), number(ROUNDER));
    let k = shifted - number(ROUNDER);
    let r = k.mul_add(number(-LN_2_HIGH), x);
    let r = k.mul_add(number(-LN_2_LOW), r);
    let q = polynomial(simd, r, &EXP);
    let mantissa = (r * r).mul_add(q, r) + number(1.0);
    // `to_bits` and `from_bits` are the same, but not always inlined.
    let (mantissa, shifted): (V::Bits, V::Bits) = (mantissa.bitcast(), shifted.bitcast());
    (mantissa + (shifted << 23)).bitcast()
}

/// tanh x.
#[inline(always)]
pub(crate) fn tanh<S: Simd, V: SimdFloat<S, Element = f32>>(simd: S, x: V) -> V {
    let x = V::splat(simd, LARGEST_TANH).min(x);
    let x = V::splat(simd, -LARGEST_TANH).max(x);
    let square = x * x;
    x * polynomial(simd, square, &TANH_P) / polynomial(simd, square, &TANH_Q)
}

/// The polynomial with these coefficients, the highest first.
#[inline(always)]
fn polynomial<S: Simd, V: SimdFloat<S, Element = f32>>(
    simd: S,
    x: V,
    coefficients: &[f32; 5],
) -> V {
    let [first, others @ ..] = coefficients;
    let mut sum = V::splat(simd, *first);
    for &c in others {
        sum = sum.mul_add(x, V::splat(simd, c));
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{Isa, Lanes, Lanes8, Lanes16, Task, dispatch};

    /// Both functions of all lanes.
    struct Both<'a, P>(&'a [P], [&'a mut [P]; 2]);

    impl<P: Lanes> Task for Both<'_, P> {
        type Output = ();

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) {
            let Both(x, [of_sigmoid, of_tanh]) = self;
            for ((x, s), t) in x.iter().zip(of_sigmoid).zip(of_tanh) {
                s.store(sigmoid(simd, x.load(simd)));
                t.store(tanh(simd, x.load(simd)));
            }
        }
    }

    /// σ and tanh of some numbers.
    fn both<P: Lanes>(isa: Isa, x: &[f32]) -> [Vec<f32>; 2] {
        let mut lanes = vec![P::ZERO; x.len().div_ceil(P::WIDTH)];
        for (lanes, x) in lanes.iter_mut().zip(x.chunks(P::WIDTH)) {
            lanes.lanes_mut()[..x.len()].copy_from_slice(x);
        }
        let (mut s, mut t) = (lanes.clone(), lanes.clone());
        dispatch::<P, _>(isa, Both(&lanes, [&mut s, &mut t]));
        [s, t].map(|of| {
            let numbers = of.iter().flat_map(|lanes| lanes.lanes().to_vec());
            numbers.take(x.len()).collect()
        })
    }

    fn on(isa: Isa, x: &[f32]) -> [Vec<f32>; 2] {
        match isa {
            Isa::Avx512 => both::<Lanes16>(isa, x),
            _ => both::<Lanes8>(isa, x),
        }
    }

    /// Numbers of both signs and of all magnitudes: a step of 2⁻¹⁰ of each, and 100 apart.
    fn all_magnitudes() -> Vec<f32> {
        let magnitudes = (0..f32::INFINITY.to_bits()).step_by(8191);
        magnitudes
            .flat_map(|bits| [bits, bits | 1 << 31])
            .map(f32::from_bits)
            .collect()
    }

    #[test]
    fn both_are_within_a_few_units_of_the_last_place() {
        let x = all_magnitudes();
        for isa in Isa::available() {
            // Without fused multiply-adds the sums in p, q and r are rounded twice as often.
            let (of_sigmoid, of_tanh) = if isa == Isa::Baseline {
                (6.0, 7.0)
            } else {
                (3.0, 4.0)
            };
            let [s, t] = on(isa, &x);
            let (mut worst_s, mut worst_t) = (0f64, 0f64);
            for ((&x, s), t) in x.iter().zip(s).zip(t) {
                let x = f64::from(x);
                let (of_s, of_t) = (1.0 / (1.0 + (-x).exp()), x.tanh());
                // Below the normal numbers all that counts is that the value is as small.
                let unit = |v: f64| (v.abs() as f32).max(2.0 * f32::MIN_POSITIVE) * f32::EPSILON;
                let error = |found: f32, known: f64| {
                    (f64::from(found) - known).abs() / f64::from(unit(known))
                };
                if x > -87.0 {
                    worst_s = worst_s.max(error(s, of_s));
                }
                worst_t = worst_t.max(error(t, of_t));
                assert!(
                    (0.0..=1.0).contains(&s) && (x > -87.0 || s < 1e-37),
                    "{x}: {s}"
                );
            }
            assert!(
                worst_s < of_sigmoid && worst_t < of_tanh,
                "{isa:?}: {worst_s} {worst_t}"
            );
        }
    }

    #[test]
    fn all_instruction_sets_with_fused_multiply_adds_give_the_same_bits() {
        let x = all_magnitudes();
        let bits = |isa| on(isa, &x).map(|of| of.iter().map(|v| v.to_bits()).collect::<Vec<_>>());
        let fused: Vec<_> = Isa::available()
            .filter(|&isa| isa != Isa::Baseline)
            .map(bits)
            .collect();
        assert!(fused.windows(2).all(|two| two[0] == two[1]));
    }

    #[test]
    fn what_is_not_finite_has_its_limit() {
        for isa in Isa::available() {
            let [s, t] = on(
                isa,
                &[f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 0.0, -0.0],
            );
            assert!(s[0] == 1.0 && s[1] < 1e-37 && s[2].is_nan() && s[3] == 0.5);
            assert!((t[0] - 1.0).abs() <= f32::EPSILON && t[1] == -t[0] && t[2].is_nan());
            assert!(t[3].to_bits() == 0 && t[4].to_bits() == 1 << 31);
        }
    }
}
