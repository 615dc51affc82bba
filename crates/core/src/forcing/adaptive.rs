//! Adaptive teacher forcing: α follows the model's own Jacobians. At every k-th update, before its gradient,
//!
//! ```text
//! α ← α̂              if α̂ > α
//! α ← γ α + (1 − γ) α̂  else,        α̂ = max(0, 1 − 1/𝒩)
//! ```
//!
//! so that it rises at once where gradients would explode and falls slowly (Hess et al. 2023, algorithm 1).

use super::alpha::Estimator;

/// How α follows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Adaptation {
    /// What 𝒩 is.
    pub estimator: Estimator,
    /// How much of α stays when it falls, γ.
    pub decay: f64,
    /// Updates from one estimate to the next, k.
    pub every: u64,
}

impl Adaptation {
    /// Whether an update, counted from 0, begins with an estimate: every k-th does.
    pub fn is_due(&self, update: u64) -> bool {
        (update + 1).is_multiple_of(self.every)
    }

    /// α after an estimate α̂.
    pub fn anneal(&self, alpha: f64, estimate: f64) -> f64 {
        if estimate > alpha {
            estimate
        } else {
            self.decay * alpha + (1.0 - self.decay) * estimate
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_rises_at_once_and_falls_slowly() {
        let adaptation = Adaptation {
            estimator: Estimator::ArithmeticMean,
            decay: 0.999,
            every: 5,
        };
        assert_eq!(adaptation.anneal(0.2, 0.5), 0.5);
        // One factor and one sum, each rounded once.
        assert!((adaptation.anneal(1.0, 0.1) - 0.9991).abs() < 2.0 * f64::EPSILON);
        let due: Vec<u64> = (0..15).filter(|&u| adaptation.is_due(u)).collect();
        assert_eq!(due, [4, 9, 14]);
        // From 1 toward 0: γⁿ after n estimates.
        let fallen = (0..5000).fold(1.0, |alpha, _| adaptation.anneal(alpha, 0.0));
        assert!((fallen / 0.999f64.powi(5000) - 1.0).abs() < 5000.0 * f64::EPSILON);
    }
}
