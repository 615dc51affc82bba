//! What the multipliers μ of a fixed point or cycle, the eigenvalues of its Jacobian, say of its neighbourhood.
//!
//! | kind | multipliers |
//! | --- | --- |
//! | stable | all \|μ\| < 1 |
//! | repeller | all \|μ\| > 1 |
//! | saddle | some below, some above |
//! | marginal | one with \|\|μ\| − 1\| < 1e-6: a bifurcation, or a continuum of points |

use crate::linalg::complex::Complex;

/// What neighbours do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// All come closer.
    Stable,
    /// Some come closer, most leave.
    Saddle,
    /// All leave.
    Repeller,
    /// To first order some stay where they are.
    Marginal,
}

/// How neighbours move along the direction of the largest multiplier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leading {
    /// On one side: μ is real and not negative.
    Monotone,
    /// From side to side: μ is real and negative.
    Flip,
    /// Around: μ is complex.
    Spiral,
}

/// How near to one a modulus is for first order not to decide.
const MARGIN: f64 = 1e-6;

impl Kind {
    /// The kind of these multipliers.
    pub fn of(multipliers: &[Complex]) -> Kind {
        let moduli = || multipliers.iter().map(|m| m.norm());
        if moduli().any(|m| (m - 1.0).abs() < MARGIN || m.is_nan()) {
            Kind::Marginal
        } else if moduli().all(|m| m < 1.0) {
            Kind::Stable
        } else if moduli().all(|m| m > 1.0) {
            Kind::Repeller
        } else {
            Kind::Saddle
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Stable => "stable",
            Kind::Saddle => "saddle",
            Kind::Repeller => "repeller",
            Kind::Marginal => "marginal",
        }
    }
}

impl Leading {
    /// How the first of these multipliers moves neighbours; they are in the order of
    /// [`eigenvalues`](crate::linalg::eigenvalues).
    pub fn of(multipliers: &[Complex]) -> Leading {
        match multipliers.first() {
            // A real pair that has just met is complex by the root of rounding.
            Some(m) if m.im.abs() > 1e-7 * m.norm() => Leading::Spiral,
            Some(m) if m.re < 0.0 => Leading::Flip,
            _ => Leading::Monotone,
        }
    }

    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Leading::Monotone => "monotone",
            Leading::Flip => "flip",
            Leading::Spiral => "spiral",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_follow_the_moduli() {
        let kind = |values: &[(f64, f64)]| {
            let multipliers: Vec<Complex> = values
                .iter()
                .map(|&(re, im)| Complex::new(re, im))
                .collect();
            (Kind::of(&multipliers), Leading::of(&multipliers))
        };
        assert_eq!(kind(&[(0.5, 0.0)]), (Kind::Stable, Leading::Monotone));
        assert_eq!(
            kind(&[(0.6, 0.6), (0.6, -0.6)]),
            (Kind::Stable, Leading::Spiral)
        );
        assert_eq!(
            kind(&[(-2.0, 0.0), (0.5, 0.0)]),
            (Kind::Saddle, Leading::Flip)
        );
        assert_eq!(
            kind(&[(0.0, 3.0), (0.0, -3.0)]),
            (Kind::Repeller, Leading::Spiral)
        );
        assert_eq!(kind(&[(2.0, 0.0), (0.6, 0.8)]).0, Kind::Marginal);
        assert_eq!(kind(&[(1.0 - 1e-7, 0.0)]).0, Kind::Marginal);
    }
}
