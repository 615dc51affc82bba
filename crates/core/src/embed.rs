//! From one measured quantity to a state: vectors of delayed values
//!
//! ```text
//! y(t) = ( x_c₁(t + τ₁), x_c₂(t + τ₂), … )
//! ```
//!
//! which, for enough suitable delays, move as the state of the unseen system does (Takens 1981).
//!
//! - [`mutual_information`]: one delay, at its first minimum.
//! - [`cao`](mod@cao): how many coordinates with that delay.
//! - [`pecuzal`](mod@pecuzal): unequal delays and channels at once.
//! - [`embed_series`]: the vectors of a recording.

pub mod cao;
pub mod columns;
mod continuity;
mod delay;
pub mod mutual_information;
pub mod neighbours;
pub(crate) mod parallel;
pub mod pecuzal;
mod series;
mod uzal;

use crate::hint::Hint;
use crate::progress::Stopped;
use crate::text::count;
use columns::Columns;

pub use delay::{DelayRule, delay_rule, first_delay, suggested_theiler};
pub use series::{coordinate_name, embed_series};

/// The largest delay of the mutual information unless another is asked for, and for a Theiler window.
pub const LAGS: usize = 100;

/// A delayed channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coordinate {
    /// The channel, from 0.
    pub channel: usize,
    /// The delay τ in rows: the value at row t is that of row t + τ.
    pub delay: usize,
}

impl Coordinate {
    /// A channel with a delay.
    pub fn new(channel: usize, delay: usize) -> Coordinate {
        Coordinate { channel, delay }
    }
}

/// Why there is no embedding.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// A channel does not change.
    #[error("channel {} is constant", channel + 1)]
    Constant {
        /// The channel, from 0.
        channel: usize,
    },
    /// A channel's squares are not finite, or 0 though it varies.
    #[error("squares of channel {} overflow or vanish", channel + 1)]
    Squares {
        /// The channel, from 0.
        channel: usize,
    },
    /// There are too few rows for the delays and the Theiler window.
    #[error("{} without a gap or a missing value needed, found {found}", count(*needed, "row"))]
    TooShort {
        /// How many are needed.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// The mutual information falls to the largest delay.
    #[error("the mutual information has no minimum up to a delay of {}", count(*lags, "row"))]
    NoMinimum {
        /// The largest delay.
        lags: usize,
    },
    /// False neighbours stay to the largest dimension.
    #[error("neighbours are still false in {}", count(*dims, "dimension"))]
    NoDimension {
        /// The largest dimension.
        dims: usize,
    },
    /// The search was stopped.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

impl EmbedError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        Some(
            match self {
                EmbedError::Stopped(_) => return None,
                EmbedError::Constant { .. } => "choose the channels that vary with `--channels`",
                EmbedError::Squares { .. } => "give the data in other units, or standardise them",
                EmbedError::TooShort { .. } => {
                    "record longer, or lower `--max-delay`, `--theiler` or, with `--method delay`, `--dims`"
                }
                EmbedError::NoMinimum { .. } => {
                    "raise `--max-delay`, or let `--method pecuzal` find the delays"
                }
                EmbedError::NoDimension { .. } => {
                    "give `--dims`; noise has no dimension, and smoothing may help"
                }
            }
            .into(),
        )
    }
}

/// The first n delay vectors, row-major.
pub(crate) fn delay_vectors(columns: &Columns, coordinates: &[Coordinate], n: usize) -> Vec<f64> {
    let dim = coordinates.len();
    let mut vectors = vec![0.0; n * dim];
    for (i, c) in coordinates.iter().enumerate() {
        let x = &columns.channel(c.channel)[c.delay..];
        let slots = vectors[i..].iter_mut().step_by(dim);
        slots.zip(x).for_each(|(slot, x)| *slot = *x);
    }
    vectors
}
