//! The candidate terms φ_1, …, φ_F of an equation: monomials and waves of the V variables (x, s).
//!
//! ```text
//! polynomial   1;  x_i;  x_i x_j (i ≤ j);  …                     degree by degree, in lexicographic order
//! Fourier      sin x_1, cos x_1, sin x_2, …;  sin 2x_1, …        frequency by frequency
//! ```

use std::fmt;

/// Which products of variables are terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interactions {
    /// All monomials.
    All,
    /// Powers of one variable alone.
    None,
    /// Products of different variables alone, and the variables themselves.
    Only,
}

/// Which terms a library has, whatever the number of variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The highest degree of monomials; 0 for none.
    pub degree: usize,
    /// Which monomials.
    pub interactions: Interactions,
    /// Whether the constant is a term.
    pub has_constant: bool,
    /// Waves sin kx and cos kx, k = 1, …, n; 0 for none.
    pub frequencies: usize,
}

/// One candidate term.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Feature {
    /// A product of variables, in ascending order; empty for the constant.
    Monomial(Vec<usize>),
    /// sin kx.
    Sine {
        /// x.
        variable: usize,
        /// k.
        frequency: usize,
    },
    /// cos kx.
    Cosine {
        /// x.
        variable: usize,
        /// k.
        frequency: usize,
    },
}

/// The terms of some variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Library {
    terms: Terms,
    variables: usize,
    features: Vec<Feature>,
}

impl Terms {
    /// How many terms there are of so many variables; none if more than can be counted.
    pub fn count(&self, variables: usize) -> Option<usize> {
        let constant = usize::from(self.has_constant);
        let monomials = match self.interactions {
            Interactions::All => binomial(variables.checked_add(self.degree)?, self.degree)? - 1,
            Interactions::None => variables.checked_mul(self.degree)?,
            Interactions::Only => (1..=self.degree.min(variables))
                .try_fold(0usize, |sum, d| sum.checked_add(binomial(variables, d)?))?,
        };
        let waves = variables.checked_mul(self.frequencies)?.checked_mul(2)?;
        monomials.checked_add(constant)?.checked_add(waves)
    }
}

impl Library {
    /// The terms of so many variables.
    pub fn new(terms: Terms, variables: usize) -> Library {
        let mut features = Vec::new();
        if terms.has_constant {
            features.push(Feature::Monomial(Vec::new()));
        }
        let mut last = vec![Vec::new()];
        for _ in 0..terms.degree {
            last = last
                .iter()
                .flat_map(|monomial| extensions(monomial, terms.interactions, variables))
                .collect();
            features.extend(last.iter().cloned().map(Feature::Monomial));
        }
        for frequency in 1..=terms.frequencies {
            for variable in 0..variables {
                features.push(Feature::Sine {
                    variable,
                    frequency,
                });
                features.push(Feature::Cosine {
                    variable,
                    frequency,
                });
            }
        }
        Library {
            terms,
            variables,
            features,
        }
    }

    /// Which terms.
    pub fn terms(&self) -> Terms {
        self.terms
    }

    /// The variables V.
    pub fn variables(&self) -> usize {
        self.variables
    }

    /// The terms, in order.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// How many terms F.
    pub fn len(&self) -> usize {
        self.features.len()
    }

    /// Whether there is no term.
    pub fn is_empty(&self) -> bool {
        self.features.is_empty()
    }
}

/// The monomials of the next degree that begin with this one.
fn extensions(
    monomial: &[usize],
    interactions: Interactions,
    variables: usize,
) -> impl Iterator<Item = Vec<usize>> + use<'_> {
    let choices = match (monomial.last(), interactions) {
        (None, _) => 0..variables,
        (Some(&last), Interactions::All) => last..variables,
        (Some(&last), Interactions::None) => last..last + 1,
        (Some(&last), Interactions::Only) => last + 1..variables,
    };
    choices.map(move |variable| [monomial, &[variable]].concat())
}

/// n over k; none if it is more than can be counted.
fn binomial(n: usize, k: usize) -> Option<usize> {
    let k = k.min(n.checked_sub(k)?);
    let product = (0..k).try_fold(1u128, |product, i| {
        let product = product.checked_mul((n - i) as u128)? / (i as u128 + 1);
        Some(product).filter(|&product| product <= 1 << 100)
    })?;
    usize::try_from(product).ok()
}

impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waves = |f: &mut fmt::Formatter<'_>| match self.frequencies {
            1 => write!(f, "waves of frequency 1"),
            n => write!(f, "waves of frequencies 1 to {n}"),
        };
        match (self.degree, self.frequencies) {
            (0, 0) => write!(f, "the constant"),
            (0, _) => waves(f),
            (degree, 0) => write!(f, "degree {degree}"),
            (degree, _) => {
                write!(f, "degree {degree} and ")?;
                waves(f)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn polynomial(degree: usize) -> Terms {
        Terms {
            degree,
            interactions: Interactions::All,
            has_constant: true,
            frequencies: 0,
        }
    }

    #[test]
    fn the_numbers_of_terms_are_those_of_the_paper() {
        let cases = [
            (3, polynomial(2), 10),
            (20, polynomial(2), 231),
            (5, polynomial(5), 252),
            (5, polynomial(7), 792),
            (64, polynomial(2), 2145),
        ];
        for (variables, terms, expected) in cases {
            assert_eq!(terms.count(variables), Some(expected));
            assert_eq!(Library::new(terms, variables).len(), expected);
        }
        // EEG: 64 + 64·63/2 products of different channels, without a constant.
        let pairs = Terms {
            interactions: Interactions::Only,
            has_constant: false,
            ..polynomial(2)
        };
        assert_eq!(64 * pairs.count(64).unwrap(), 133_120);
    }

    #[test]
    fn counts_are_the_lengths_of_libraries_of_every_kind() {
        let kinds = [Interactions::All, Interactions::None, Interactions::Only];
        for (variables, degree, frequencies) in [(1, 3, 0), (2, 0, 2), (3, 4, 1), (4, 5, 3)] {
            for interactions in kinds {
                for has_constant in [false, true] {
                    let terms = Terms {
                        degree,
                        interactions,
                        has_constant,
                        frequencies,
                    };
                    let library = Library::new(terms, variables);
                    assert_eq!(terms.count(variables), Some(library.len()), "{terms:?}");
                }
            }
        }
        assert_eq!(polynomial(60).count(1000), None);
    }

    #[test]
    fn terms_are_in_lexicographic_order_degree_by_degree() {
        let library = Library::new(polynomial(2), 2);
        let monomials: [&[usize]; 6] = [&[], &[0], &[1], &[0, 0], &[0, 1], &[1, 1]];
        let expected = monomials.map(|m| Feature::Monomial(m.to_vec()));
        assert_eq!(library.features(), expected);
    }
}
