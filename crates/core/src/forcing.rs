//! Teacher forcing as a gain. At every step the forced states are pulled toward the teacher,
//!
//! ```text
//! z̃_t = z_t + α_t (ẑ_t − z_t),        ∂z̃_t/∂z_t = 1 − α_t,
//! ```
//!
//! and every scheme is a sequence of gains: generalized teacher forcing a constant α (Hess et al. 2023), sparse and
//! identity forcing 1 at every τ-th step and 0 between (Mikhaeil et al. 2022, Brenner et al. 2022), none 0.
//! Which states are forced follows from the observation model: all of them, or the leading N.

pub mod adaptive;
pub mod alpha;

/// A scheme of teacher forcing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Forcing {
    /// α at every step, in [0, 1].
    Generalized {
        /// The gain.
        alpha: f64,
    },
    /// 1 at every τ-th step.
    Sparse {
        /// The interval τ, at least 1.
        interval: usize,
    },
    /// Plain back-propagation through time.
    None,
}

/// What is differentiated besides the initial state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ForcingGradient {
    /// Teacher signals are constants, as in the paper's code.
    Detached,
    /// Teacher signals depend on the observation model. B tends to become ill-conditioned.
    Full,
}

impl Forcing {
    /// The same scheme with generalized forcing of this strength.
    pub fn with_strength(self, alpha: f64) -> Forcing {
        match self {
            Forcing::Generalized { .. } => Forcing::Generalized { alpha },
            other => other,
        }
    }

    /// The strength of generalized forcing; 0 for other schemes.
    pub fn strength(self) -> f64 {
        match self {
            Forcing::Generalized { alpha } => alpha,
            Forcing::Sparse { .. } | Forcing::None => 0.0,
        }
    }

    /// The gain at row t of a window, t ≥ 1 (row 0 is the initial state and is not forced).
    #[inline(always)]
    pub fn gain(&self, t: usize) -> f32 {
        match *self {
            Forcing::Generalized { alpha } => alpha as f32,
            Forcing::Sparse { interval } if t.is_multiple_of(interval) => 1.0,
            Forcing::Sparse { .. } | Forcing::None => 0.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sparse_forcing_acts_at_every_interval() {
        let sparse = Forcing::Sparse { interval: 3 };
        let gains: Vec<f32> = (1..8).map(|t| sparse.gain(t)).collect();
        assert_eq!(gains, [0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0]);
        assert_eq!(Forcing::Sparse { interval: 1 }.gain(1), 1.0);
        assert_eq!(Forcing::None.gain(5), 0.0);
    }
}
