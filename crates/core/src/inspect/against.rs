//! Two recordings side by side, such as training and test: whether the second is the first, holds rows of it,
//! continues it, or differs from it in channels, step, memory or scale.
//!
//! A new comparison is one function of the `Pair` and one line in `COMPARISONS`.

mod continues;
mod memory;
mod same;
mod scale;
mod shape;

use super::{Check, Finding, Record, Seen, named};

/// What was compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Rows of the second recording over all trajectories.
    pub rows: usize,
    /// Per channel how the second differs from the first; empty when the numbers of channels differ.
    pub differences: Vec<Difference>,
}

/// How a channel of the second recording differs from that of the first.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The channel's name in the first.
    pub name: String,
    /// (mean₂ − mean₁) / spread₁.
    pub mean_shift: f64,
    /// spread₂ / spread₁.
    pub spread_ratio: f64,
}

/// Two measured recordings.
pub(super) struct Pair<'a> {
    pub(super) first: &'a Record<'a>,
    pub(super) second: &'a Record<'a>,
}

impl Pair<'_> {
    /// True if rows can be compared.
    fn same_channels(&self) -> bool {
        self.first.channels.len() == self.second.channels.len()
    }
}

/// A function that looks at two recordings.
type LookAtPair = fn(&Pair) -> Vec<Seen>;

/// All comparisons, in the order in which findings of equal severity are listed.
static COMPARISONS: &[Check<LookAtPair>] = &[
    Check {
        id: "channels-differ",
        look: shape::channels,
    },
    Check {
        id: "same-data",
        look: same::same,
    },
    Check {
        id: "overlap",
        look: same::overlap,
    },
    Check {
        id: "step-differs",
        look: shape::step,
    },
    Check {
        id: "memory-differs",
        look: memory::differs,
    },
    Check {
        id: "scale-differs",
        look: scale::differs,
    },
    Check {
        id: "continues",
        look: continues::continues,
    },
];

/// The figures of the comparison.
pub(super) fn comparison(pair: &Pair) -> Comparison {
    Comparison {
        rows: pair.second.len(),
        differences: scale::differences(pair),
    }
}

/// What the comparisons saw.
pub(super) fn findings(pair: &Pair) -> impl Iterator<Item = Finding> {
    COMPARISONS
        .iter()
        .flat_map(|comparison| named(comparison.id, (comparison.look)(pair)))
}
