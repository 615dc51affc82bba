//! Sparse coefficients from sums over the rows.
//!
//! Sequentially thresholded least squares (Brunton et al. 2016):
//!
//! ```text
//! repeat   c_n = (G_SS + α I)⁻¹ C_Sn  on the terms S that are left of equation n,   S ← {j ∈ S : |c_nj| ≥ θ}
//! ```
//!
//! Sparse relaxed regression (SR3; Champion et al. 2020) for |·|₀, which is min ½‖Y − ΦΞ‖² + ‖Ξ − W‖²/2ν + (θ²/2ν) |W|₀:
//!
//! ```text
//! repeat   Ξ = (G + I/ν)⁻¹ (C + W/ν),   W = Ξ where |Ξ| ≥ θ, else 0
//! ```
//!
//! Both end when the terms stay the same (and, for SR3, W too), and then fit these terms without any penalty,
//! c_n = G_SS⁻¹ C_Sn. Equations with the same terms share one factorisation.

use std::collections::BTreeMap;

use super::sums::Sums;
use crate::linalg::multiply;
use crate::linalg::positive::solve_positive;
use crate::progress::{Follow, Stopped, tell};
use crate::simd::Isa;

/// How small terms are dropped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Optimizer {
    /// Sequentially thresholded least squares with the ridge α.
    Stlsq {
        /// α.
        ridge: f64,
    },
    /// Sparse relaxed regression.
    Sr3 {
        /// ν.
        relaxation: f64,
    },
}

/// Which terms each equation has, ascending.
pub(super) type Supports = Vec<Vec<usize>>;

/// A regression at any threshold.
#[derive(Debug)]
pub(super) struct Regression<'a> {
    sums: &'a Sums,
    candidates: Supports,
    optimizer: Optimizer,
    rounds: usize,
    isa: Isa,
    /// Coefficients of all candidates, with the ridge.
    first: Vec<f64>,
}

/// SR3 ends when W changes by less than this share.
const STILL: f64 = 1e-12;

impl<'a> Regression<'a> {
    /// Some candidates of every equation, at most so many rounds.
    pub(super) fn new(
        sums: &'a Sums,
        candidates: Supports,
        (optimizer, rounds): (Optimizer, usize),
        isa: Isa,
        follow: &mut dyn Follow,
    ) -> Result<Regression<'a>, Stopped> {
        let mut regression = Regression {
            sums,
            candidates,
            optimizer,
            rounds,
            isa,
            first: Vec::new(),
        };
        let ridge = match optimizer {
            Optimizer::Stlsq { ridge } => ridge,
            Optimizer::Sr3 { .. } => 0.0,
        };
        regression.first = regression.ridge(&regression.candidates, ridge, follow)?;
        Ok(regression)
    }

    /// The largest coefficient of a fit with all candidates: thresholds above it leave next to nothing.
    pub(super) fn largest(&self) -> f64 {
        self.first
            .iter()
            .fold(0.0, |most: f64, c| most.max(c.abs()))
    }

    /// Coefficients N × F at a threshold θ, and the rounds that it took.
    pub(super) fn at(
        &self,
        threshold: f64,
        follow: &mut dyn Follow,
    ) -> Result<(Vec<f64>, usize), Stopped> {
        let (supports, rounds) = match self.optimizer {
            Optimizer::Stlsq { ridge } => self.stlsq(threshold, ridge, follow)?,
            Optimizer::Sr3 { relaxation } => self.sr3(threshold, relaxation, follow)?,
        };
        Ok((self.ridge(&supports, 0.0, follow)?, rounds))
    }

    fn stlsq(
        &self,
        threshold: f64,
        ridge: f64,
        follow: &mut dyn Follow,
    ) -> Result<(Supports, usize), Stopped> {
        let mut supports = self.candidates.clone();
        let mut c = self.first.clone();
        for round in 1..=self.rounds {
            let kept = self.kept(&supports, &c, threshold);
            if kept == supports {
                return Ok((supports, round));
            }
            supports = kept;
            if round < self.rounds {
                c = self.ridge(&supports, ridge, follow)?;
            }
        }
        Ok((supports, self.rounds))
    }

    /// The terms with |c| ≥ θ.
    fn kept(&self, supports: &Supports, c: &[f64], threshold: f64) -> Supports {
        let of_equation = |(support, c): (&Vec<usize>, &[f64])| {
            let is_large = |&j: &usize| c[j].abs() >= threshold;
            support.iter().copied().filter(is_large).collect()
        };
        let equations = supports.iter().zip(c.chunks_exact(self.sums.features));
        equations.map(of_equation).collect()
    }

    fn sr3(
        &self,
        threshold: f64,
        nu: f64,
        follow: &mut dyn Follow,
    ) -> Result<(Supports, usize), Stopped> {
        let mut w = self.first.clone();
        let mut most = 0;
        for (support, targets) in sharing(&self.candidates) {
            tell(follow, "relaxing", 0, 1)?;
            let (m, k) = (support.len(), targets.len());
            if m == 0 {
                continue;
            }
            let a = self.gram(support, 1.0 / nu);
            let mut inverse = vec![0.0; m * m];
            inverse.iter_mut().step_by(m + 1).for_each(|v| *v = 1.0);
            solve_positive(a, &mut inverse, m, self.isa);
            let c = self.cross(support, &targets);
            let place = |e: usize| targets[e % k] * self.sums.features + support[e / k];
            let mut own: Vec<f64> = (0..m * k).map(|e| w[place(e)]).collect();
            let rounds = relax(&inverse, &c, &mut own, (m, k), (threshold, nu), self.rounds);
            most = most.max(rounds);
            own.iter().enumerate().for_each(|(e, v)| w[place(e)] = *v);
        }
        // What is exactly zero was dropped.
        Ok((self.kept(&self.candidates, &w, f64::MIN_POSITIVE), most))
    }

    /// (G_SS + α I)⁻¹ C_S of every equation, zero outside of its terms.
    fn ridge(
        &self,
        supports: &Supports,
        alpha: f64,
        follow: &mut dyn Follow,
    ) -> Result<Vec<f64>, Stopped> {
        let f = self.sums.features;
        let mut c = vec![0.0; self.sums.targets * f];
        let groups = sharing(supports);
        let total = groups.len() as u64;
        for (done, (support, targets)) in groups.into_iter().enumerate() {
            tell(follow, "least squares", done as u64, total)?;
            let (m, k) = (support.len(), targets.len());
            if m == 0 {
                continue;
            }
            let mut right = self.cross(support, &targets);
            solve_positive(self.gram(support, alpha), &mut right, m, self.isa);
            for (e, value) in right.iter().enumerate() {
                c[targets[e % k] * f + support[e / k]] = *value;
            }
        }
        Ok(c)
    }

    /// G_SS + α I.
    fn gram(&self, support: &[usize], alpha: f64) -> Vec<f64> {
        let mut a = self.sums.gram_of(support);
        let diagonal = a.iter_mut().step_by(support.len() + 1);
        diagonal.for_each(|v| *v += alpha);
        a
    }

    /// C_S of some targets.
    fn cross(&self, support: &[usize], targets: &[usize]) -> Vec<f64> {
        let (n, k) = (self.sums.targets, targets.len());
        let entry = |e: usize| self.sums.cross[support[e / k] * n + targets[e % k]];
        (0..support.len() * k).map(entry).collect()
    }
}

/// Equations by their terms.
pub(super) fn sharing(supports: &Supports) -> BTreeMap<&[usize], Vec<usize>> {
    let mut sharing: BTreeMap<&[usize], Vec<usize>> = BTreeMap::new();
    for (target, support) in supports.iter().enumerate() {
        sharing.entry(support).or_default().push(target);
    }
    sharing
}

/// Ξ = P (C + W/ν), W = Ξ where |Ξ| ≥ θ, until W stays; gives the rounds.
fn relax(
    p: &[f64],
    c: &[f64],
    w: &mut [f64],
    (m, k): (usize, usize),
    (threshold, nu): (f64, f64),
    rounds: usize,
) -> usize {
    let (mut right, mut xi) = (vec![0.0; m * k], vec![0.0; m * k]);
    for round in 1..=rounds {
        for (right, (c, w)) in right.iter_mut().zip(c.iter().zip(&*w)) {
            *right = c + w / nu;
        }
        multiply(p, &right, (m, m, k), &mut xi);
        let (mut change, mut size) = (0.0, 0.0);
        for (w, xi) in w.iter_mut().zip(&xi) {
            let kept = if xi.abs() >= threshold { *xi } else { 0.0 };
            change += (kept - *w) * (kept - *w);
            size += kept * kept;
            *w = kept;
        }
        if change <= STILL * STILL * size {
            return round;
        }
    }
    rounds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::sindy::sums::Adder;
    use crate::progress::Unwatched;

    /// x = (0.5 i − 1, 0.4 j − 1), terms 1, x, y, x², xy, y², slopes (−2x + 0.5y², 1 + 0.3xy) with 0.02 w as noise,
    /// w(k) = 0.1 ((7k mod 11) − 5).
    fn known() -> Sums {
        let mut adder = Adder::new(6, 2, 1, Isa::detect());
        let w = |k: u32| 0.1 * (f64::from(7 * k % 11) - 5.0);
        for t in 0..30 {
            let (x, y) = (0.5 * f64::from(t / 6) - 1.0, 0.4 * f64::from(t % 6) - 1.0);
            let dx = -2.0 * x + 0.5 * y * y + 0.02 * w(2 * t);
            let dy = 1.0 + 0.3 * x * y + 0.02 * w(2 * t + 1);
            adder.add(&[1.0, x, y, x * x, x * y, y * y, dx, dy]);
        }
        adder.take()
    }

    fn found(threshold: f64, optimizer: Optimizer, candidates: Supports) -> (Vec<f64>, usize) {
        let (sums, isa) = (known(), Isa::detect());
        let how = (optimizer, 20);
        let regression = Regression::new(&sums, candidates, how, isa, &mut Unwatched).unwrap();
        regression.at(threshold, &mut Unwatched).unwrap()
    }

    fn all() -> Supports {
        vec![(0..6).collect(); 2]
    }

    const STLSQ: Optimizer = Optimizer::Stlsq { ridge: 0.05 };

    #[rustfmt::skip] // one equation per line
    const KNOWN: [(f64, usize, [f64; 12]); 5] = [
        (0.0, 1, [0.0, -1.9984, -0.0010285714, 0.0, 0.0, 0.5,
                  0.9996738095, -0.0006, -0.0013428571, -0.001047619, 0.3028285714, 0.0019642857]),
        (0.1, 2, [0.0, -1.9984, 0.0, 0.0, 0.0, 0.5,
                  1.0000666667, 0.0, 0.0, 0.0, 0.3028285714, 0.0]),
        (0.4, 2, [0.0, -1.9984, 0.0, 0.0, 0.0, 0.5,
                  1.0000666667, 0.0, 0.0, 0.0, 0.0, 0.0]),
        (0.9, 2, [0.0, -1.9984, 0.0, 0.0, 0.0, 0.0,
                  1.0000666667, 0.0, 0.0, 0.0, 0.0, 0.0]),
        (3.0, 2, [0.0; 12]),
    ];

    /// Values that pysindy 2.1.0 gives too, to 5e-11.
    #[test]
    fn known_coefficients_are_found_at_every_threshold() {
        for (threshold, rounds, expected) in KNOWN {
            let (c, taken) = found(threshold, STLSQ, all());
            assert_eq!(taken, rounds, "{threshold}");
            for (j, (found, expected)) in c.iter().zip(expected).enumerate() {
                // Ten decimals are known.
                assert!(
                    (found - expected).abs() < 1e-10,
                    "{threshold} {j}: {found} {expected}"
                );
                assert!(threshold == 0.0 || (*found == 0.0) == (expected == 0.0));
            }
        }
    }

    /// The terms of this problem are far apart in size, so that both ways to drop them agree; the final fit is the same.
    #[test]
    fn relaxed_regression_finds_the_same_terms() {
        for (threshold, _, expected) in KNOWN {
            let (c, _) = found(threshold, Optimizer::Sr3 { relaxation: 1.0 }, all());
            assert!(
                c.iter().zip(expected).all(|(c, e)| (c - e).abs() < 1e-10),
                "{threshold} {c:?}"
            );
        }
    }

    #[test]
    fn only_candidates_have_coefficients() {
        let (c, _) = found(0.1, STLSQ, vec![vec![1, 2], vec![]]);
        assert!(
            c[1] < -1.9 && c[5] == 0.0 && c[6..].iter().all(|c| *c == 0.0),
            "{c:?}"
        );
    }
}
