//! Equations of a fitted system in closed form, in the units of the data, as text and as LaTeX; and those of a known system in the same
//! terms.
//!
//! ```text
//! dx_n/dt = Σ_j c_j φ_j,   x = (u − μ)/σ   ⟹   du_n/dt = σ_n Σ_j c_j φ_j((u − μ)/σ)
//! ```
//!
//! Products of (u_i − μ_i)/σ_i are multiplied out; of a wave, sin k(u − μ)/σ = sin κu cos κμ − cos κu sin κμ with κ = k/σ.

mod print;
mod truth;

use std::collections::BTreeMap;

use crate::series::Scaling;

pub use print::Names;
pub use truth::{InTerms, of_system};

/// Equations of every channel, and the terms that they might have had.
#[derive(Debug, Clone, PartialEq)]
pub struct Equations {
    /// What they are of.
    pub side: Side,
    /// Channels N; inputs come behind them as variables.
    pub channels: usize,
    /// The sum on the right-hand side of every channel.
    pub sums: Vec<Vec<Term>>,
    /// All terms that were candidates.
    pub candidates: Vec<Factor>,
}

/// What stands on the left-hand side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// dx/dt.
    Slope,
    /// x_{t+1}.
    Next,
}

/// A coefficient times a term.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// c.
    pub coefficient: f64,
    /// φ.
    pub factor: Factor,
}

/// A term without its coefficient.
#[derive(Debug, Clone, PartialEq)]
pub enum Factor {
    /// A product of variables, in ascending order; empty for the constant.
    Product(Vec<usize>),
    /// sin κx.
    Sine {
        /// x.
        variable: usize,
        /// κ.
        frequency: f64,
    },
    /// cos κx.
    Cosine {
        /// x.
        variable: usize,
        /// κ.
        frequency: f64,
    },
}

/// Terms that are smaller than this share of the largest of an equation, where the data are, are rounding.
const ROUNDING: f64 = 1e-9;

impl Factor {
    /// φ at a point.
    pub fn value(&self, x: &[f64]) -> f64 {
        match *self {
            Factor::Product(ref factors) => factors.iter().map(|&v| x[v]).product(),
            Factor::Sine {
                variable,
                frequency,
            } => (frequency * x[variable]).sin(),
            Factor::Cosine {
                variable,
                frequency,
            } => (frequency * x[variable]).cos(),
        }
    }
}

impl Equations {
    /// The same equations in the units of the data: a system that sees (u − μ)/σ is written with u.
    pub fn in_units(&self, scaling: &Scaling) -> Equations {
        let (mean, sd) = (&scaling.mean, &scaling.sd);
        let sums = self.sums.iter().enumerate().map(|(n, sum)| {
            let mut polynomial = BTreeMap::new();
            let mut waves = Vec::new();
            for term in sum {
                let c = sd[n] * term.coefficient;
                match &term.factor {
                    Factor::Product(factors) => add_product(factors, c, scaling, &mut polynomial),
                    wave => add_wave(wave, c, scaling, &mut waves),
                }
            }
            if self.side == Side::Next {
                *polynomial.entry(Vec::new()).or_default() += mean[n];
            }
            without_rounding(polynomial, waves, scaling)
        });
        Equations {
            sums: sums.collect(),
            ..self.clone()
        }
    }

    /// How many terms all equations have together.
    pub fn terms(&self) -> usize {
        self.sums.iter().map(Vec::len).sum()
    }
}

/// Adds c Π (u_i − μ_i)/σ_i, multiplied out.
fn add_product(factors: &[usize], c: f64, scaling: &Scaling, sum: &mut BTreeMap<Vec<usize>, f64>) {
    let mut product = BTreeMap::from([(Vec::new(), c)]);
    for &v in factors {
        let (mean, sd) = moments(scaling, v);
        let mut next = BTreeMap::new();
        for (monomial, c) in product {
            let longer = [monomial.as_slice(), &[v]].concat();
            *next.entry(longer).or_insert(0.0) += c / sd;
            if mean != 0.0 {
                *next.entry(monomial).or_insert(0.0) -= c * mean / sd;
            }
        }
        product = next;
    }
    for (monomial, c) in product {
        *sum.entry(monomial).or_default() += c;
    }
}

/// Adds c sin k(u − μ)/σ or c cos k(u − μ)/σ as waves of u.
fn add_wave(wave: &Factor, c: f64, scaling: &Scaling, waves: &mut Vec<Term>) {
    let (variable, k, shift) = match *wave {
        Factor::Sine {
            variable,
            frequency,
        } => (variable, frequency, 0.0),
        // cos a = sin(a + π/2)
        Factor::Cosine {
            variable,
            frequency,
        } => (variable, frequency, std::f64::consts::FRAC_PI_2),
        Factor::Product(_) => unreachable!("a product is no wave"),
    };
    let (mean, sd) = moments(scaling, variable);
    let frequency = k / sd;
    let phase = shift - frequency * mean;
    let both = [
        (
            phase.cos(),
            Factor::Sine {
                variable,
                frequency,
            },
        ),
        (
            phase.sin(),
            Factor::Cosine {
                variable,
                frequency,
            },
        ),
    ];
    for (share, factor) in both {
        match waves.iter_mut().find(|term| term.factor == factor) {
            Some(term) => term.coefficient += c * share,
            None => waves.push(Term {
                coefficient: c * share,
                factor,
            }),
        }
    }
}

/// Mean and spread of a variable; inputs are not scaled.
fn moments(scaling: &Scaling, variable: usize) -> (f64, f64) {
    match scaling.mean.get(variable) {
        Some(&mean) => (mean, scaling.sd[variable]),
        None => (0.0, 1.0),
    }
}

/// The terms by degree, then waves, without what only rounding left.
fn without_rounding(
    polynomial: BTreeMap<Vec<usize>, f64>,
    waves: Vec<Term>,
    scaling: &Scaling,
) -> Vec<Term> {
    let mut monomials: Vec<(Vec<usize>, f64)> = polynomial.into_iter().collect();
    monomials.sort_by_key(|(monomial, _)| monomial.len());
    let products = monomials.into_iter().map(|(monomial, coefficient)| Term {
        coefficient,
        factor: Factor::Product(monomial),
    });
    let mut sum: Vec<Term> = products.chain(waves).collect();
    let size = |term: &Term| {
        let size_of = |&v: &usize| {
            let (mean, sd) = moments(scaling, v);
            mean.hypot(sd)
        };
        let size: f64 = match &term.factor {
            Factor::Product(factors) => factors.iter().map(size_of).product(),
            _ => 1.0,
        };
        (term.coefficient * size).abs()
    };
    let largest = sum.iter().map(size).fold(0.0, f64::max);
    sum.retain(|term| size(term) > ROUNDING * largest);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(sum: &[Term], x: &[f64]) -> f64 {
        sum.iter().map(|t| t.coefficient * t.factor.value(x)).sum()
    }

    fn scaled() -> Equations {
        let product = |coefficient: f64, factors: &[usize]| Term {
            coefficient,
            factor: Factor::Product(factors.to_vec()),
        };
        let wave = |coefficient: f64, variable: usize| Term {
            coefficient,
            factor: Factor::Cosine {
                variable,
                frequency: 2.0,
            },
        };
        Equations {
            side: Side::Slope,
            channels: 2,
            sums: vec![
                vec![
                    product(0.5, &[]),
                    product(-2.0, &[0, 0, 1]),
                    product(3.0, &[1, 2]),
                ],
                vec![product(1.5, &[0]), wave(0.7, 1)],
            ],
            candidates: Vec::new(),
        }
    }

    #[test]
    fn equations_in_units_of_the_data_have_the_same_values() {
        let scaling = Scaling {
            mean: vec![1.5, -20.0],
            sd: vec![0.3, 7.0],
        };
        // The third variable is an input, which is not scaled.
        for u in [[1.0, -3.0, 0.4], [2.2, -31.0, -1.7]] {
            let x = [(u[0] - 1.5) / 0.3, (u[1] + 20.0) / 7.0, u[2]];
            for side in [Side::Slope, Side::Next] {
                let scaled = Equations { side, ..scaled() };
                let found = scaled.in_units(&scaling);
                for n in 0..2 {
                    let shift = if side == Side::Next {
                        scaling.mean[n]
                    } else {
                        0.0
                    };
                    let expected = shift + scaling.sd[n] * value(&scaled.sums[n], &x);
                    let found = value(&found.sums[n], &u);
                    // Some ten terms of order 1e3.
                    assert!((found - expected).abs() < 1e-11 * 1e4, "{found} {expected}");
                }
            }
        }
    }

    #[test]
    fn a_shift_and_back_leaves_the_terms_that_were_there() {
        let scaling = Scaling {
            mean: vec![1.5, -20.0],
            sd: vec![0.3, 7.0],
        };
        let back = Scaling {
            mean: vec![-1.5 / 0.3, 20.0 / 7.0],
            sd: vec![1.0 / 0.3, 1.0 / 7.0],
        };
        let mut polynomial = scaled();
        polynomial.sums[1].pop();
        let again = polynomial.in_units(&scaling).in_units(&back);
        for (found, expected) in again.sums.iter().zip(&polynomial.sums) {
            assert_eq!(found.len(), expected.len(), "{found:?}");
            for term in expected {
                let same = found.iter().find(|t| t.factor == term.factor).unwrap();
                assert!((same.coefficient - term.coefficient).abs() < 1e-9);
            }
        }
    }
}
