//! When an orbit has shrunk to a point: with s_i and σ_i the spreads of orbit and truth in channel i, over the rows that are judged,
//!
//! ```text
//! s_i < 10⁻³ σ_i   in every channel
//! ```
//!
//! What an orbit does on so small a scale is that of a model close to a fixed point, and no longer that of the data: a measure of its shape alone
//! (its spectrum, its dimension) would judge rounding, or the last of a transient, and has no value. Measures of places have: all of
//! them see a point there, as 10⁻³ σ is far below what they resolve (a cell of D_stsp is about 0.15 σ wide, a component of its mixtures 1 σ, the
//! kernel of MMD as wide as two rows are apart).

use super::{MeasureError, Rows};

/// Below this part of the truth's spread in every channel, an orbit is a point.
const POINT: f64 = 1e-3;

/// Up to this part of the truth's spread, a channel by itself stands still: what is left is rounding, in f32 as well. It may vary less than others
/// for a good reason, so that this is less than [`POINT`].
const STILL: f64 = 1e-6;

/// s_i/σ_i of every channel, with the moments of the truth.
pub(super) fn shares(generated: Rows<'_>, truth: &[(f64, f64)]) -> Vec<f64> {
    let spreads = generated.moments().into_iter().zip(truth);
    spreads.map(|((_, s), (_, sigma))| s / sigma).collect()
}

/// Whether an orbit has shrunk to a point of the truth.
pub fn is_point(generated: Rows<'_>, truth: Rows<'_>) -> bool {
    refuse_point(&shares(generated, &truth.moments())).is_err()
}

/// Refuses an orbit that has shrunk to a point.
pub(super) fn refuse_point(shares: &[f64]) -> Result<(), MeasureError> {
    let share = shares.iter().copied().fold(0.0, f64::max);
    if share < POINT {
        Err(MeasureError::Point { share })
    } else {
        Ok(())
    }
}

/// Refuses an orbit with a channel that stands still.
pub(super) fn refuse_still(shares: &[f64]) -> Result<(), MeasureError> {
    match shares.iter().position(|&share| share <= STILL) {
        None => Ok(()),
        Some(channel) => Err(MeasureError::Still {
            channel,
            share: shares[channel],
        }),
    }
}
