//! tanh of many numbers: without branches, so that vector registers do several at a time, and by arithmetic that every processor
//! rounds alike.
//!
//! ```text
//! tanh |x| = e/(e + 2),   e = exp(2|x|) − 1 = 2ᵏ p(r) + (2ᵏ − 1),   2|x| = k ln 2 + r,   |r| ≤ ln 2 / 2
//! ```
//!
//! with p(r) = eʳ − 1 by its series to the 13th power, which ends at 1e-17 of the first.

use std::f64::consts::LOG2_E;

/// Beyond this 2|x|, tanh is 1 to the last bit.
const FARTHEST: f64 = 40.0;

/// 1.5 · 2⁵²: added, it leaves the nearest whole number in the last bits.
const TO_WHOLE: f64 = 6_755_399_441_055_744.0;

/// ln 2 in two parts: the first ends in zeros, so that k times it is exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// tanh x; NaN of NaN.
#[inline(always)]
pub(crate) fn tanh(x: f64) -> f64 {
    let twice = 2.0 * x.abs();
    let y = if twice > FARTHEST { FARTHEST } else { twice };
    let shifted = y * LOG2_E + TO_WHOLE;
    let k = shifted - TO_WHOLE;
    let r = (y - k * LN_2_HIGH) - k * LN_2_LOW;
    let p = r + r * r * series(r);
    // The whole number in the last bits becomes the exponent of 2ᵏ.
    let power = f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52));
    let e = power * p + (power - 1.0);
    (e / (e + 2.0)).copysign(x)
}

/// (eʳ − 1 − r)/r².
#[inline(always)]
fn series(r: f64) -> f64 {
    // 1/2!, 1/3!, … 1/13!
    const TERMS: [f64; 12] = {
        let (mut terms, mut i) = ([0.5; 12], 1);
        while i < terms.len() {
            terms[i] = terms[i - 1] / (i as f64 + 2.0);
            i += 1;
        }
        terms
    };
    TERMS.iter().rev().fold(0.0, |sum, term| sum * r + term)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_the_tanh_of_the_library_to_a_few_roundings() {
        let near_zero = (0..2000)
            .map(|i| 1e-9 * 1.02f64.powi(i))
            .take_while(|&x| x < 30.0);
        for x in near_zero.flat_map(|x| [x, -x]) {
            let (found, expected) = (tanh(x), x.tanh());
            // A dozen operations, each rounded by half a unit, and as many of the library's.
            let error = ((found - expected) / expected).abs();
            assert!(error < 6.0 * f64::EPSILON, "{x}: {found} {expected}");
        }
    }

    #[test]
    fn zero_infinity_and_nan_are_as_they_should_be() {
        assert_eq!([0.0, 1e3, -1e300].map(tanh), [0.0, 1.0, -1.0]);
        assert_eq!([f64::INFINITY, f64::NEG_INFINITY].map(tanh), [1.0, -1.0]);
        assert!(tanh(f64::NAN).is_nan() && tanh(-0.0).is_sign_negative());
    }
}
