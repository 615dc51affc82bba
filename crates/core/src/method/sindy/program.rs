//! Sums of terms as straight-line code: which products to make, and which sums of them.
//!
//! Values stand in slots: 1, the variables, then one product (or wave) after another, each of two slots before it. A sum is a list of
//! (slot, coefficient). Several points are evaluated side by side, in lanes; the bits of a lane do not depend on the others.

use std::collections::BTreeMap;

use super::library::{Feature, Library};
use crate::dynamics::Operation;

/// Several sums of terms of the same variables.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Program {
    variables: usize,
    operations: Vec<Operation>,
    /// Where the terms of sum i end in `terms`.
    ends: Vec<usize>,
    terms: Vec<(usize, f64)>,
}

/// A sum of terms.
pub(super) type Sum = Vec<(Feature, f64)>;

impl Program {
    /// The sums of terms, each term as it stands.
    pub(super) fn new(variables: usize, sums: &[Sum]) -> Program {
        let mut compiler = Compiler::new(variables);
        let mut program = Program {
            variables,
            operations: Vec::new(),
            ends: Vec::with_capacity(sums.len()),
            terms: Vec::new(),
        };
        for sum in sums {
            let terms = sum
                .iter()
                .map(|(feature, c)| (compiler.slot_of(feature), *c));
            program.terms.extend(terms);
            program.ends.push(program.terms.len());
        }
        program.operations = compiler.operations;
        program
    }

    /// Every term of a library by itself.
    pub(super) fn of_library(library: &Library) -> Program {
        let alone = |feature: &Feature| vec![(feature.clone(), 1.0)];
        let sums: Vec<Sum> = library.features().iter().map(alone).collect();
        Program::new(library.variables(), &sums)
    }

    /// What fills the slots.
    pub(super) fn operations(&self) -> &[Operation] {
        &self.operations
    }

    /// The sums, as slots and coefficients.
    pub(super) fn sums(&self) -> Vec<Vec<(usize, f64)>> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        let ranges = starts.zip(&self.ends);
        ranges
            .map(|(start, &end)| self.terms[start..end].to_vec())
            .collect()
    }

    /// Numbers that one lane needs as working memory.
    pub(super) fn slots(&self) -> usize {
        1 + self.variables + self.operations.len()
    }

    /// The sums at L points; `x` is `[variable][lane]`, `slots` working memory, `out` is `[sum][lane]`.
    #[inline(always)]
    pub(super) fn evaluate<const L: usize>(&self, x: &[f64], slots: &mut [f64], out: &mut [f64]) {
        let (slots, _) = slots.as_chunks_mut::<L>();
        slots[0] = [1.0; L];
        let (x, _) = x.as_chunks::<L>();
        slots[1..=self.variables].copy_from_slice(&x[..self.variables]);
        for (place, operation) in (1 + self.variables..).zip(&self.operations) {
            let (before, rest) = slots.split_at_mut(place);
            let to = &mut rest[0];
            match *operation {
                Operation::Times(a, b) => {
                    let (a, b) = (&before[a], &before[b]);
                    (0..L).for_each(|l| to[l] = a[l] * b[l]);
                }
                Operation::Sin(a, k) => (0..L).for_each(|l| to[l] = (k * before[a][l]).sin()),
                Operation::Cos(a, k) => {
                    (0..L).for_each(|l| to[l] = (k * before[a][l]).cos());
                }
            }
        }
        let (out, _) = out.as_chunks_mut::<L>();
        let mut start = 0;
        for (&end, out) in self.ends.iter().zip(out) {
            let mut sum = [0.0; L];
            for &(slot, c) in &self.terms[start..end] {
                let value = &slots[slot];
                (0..L).for_each(|l| sum[l] += c * value[l]);
            }
            *out = sum;
            start = end;
        }
    }
}

/// The derivatives of sums by the variables, one sum for each pair (sum, variable), row-major.
pub(super) fn derivatives(variables: usize, sums: &[Sum]) -> Program {
    let mut slopes = Vec::with_capacity(sums.len() * variables);
    for sum in sums {
        let mut of_sum: Vec<BTreeMap<Feature, f64>> = vec![BTreeMap::new(); variables];
        for (feature, c) in sum {
            for (variable, slope, factor) in slopes_of(feature) {
                *of_sum[variable].entry(slope).or_default() += c * factor;
            }
        }
        slopes.extend(of_sum.into_iter().map(|sum| sum.into_iter().collect()));
    }
    Program::new(variables, &slopes)
}

/// The derivatives of a term that are not zero: by which variable, which term, times what.
fn slopes_of(feature: &Feature) -> Vec<(usize, Feature, f64)> {
    match *feature {
        Feature::Sine {
            variable,
            frequency,
        } => {
            let cosine = Feature::Cosine {
                variable,
                frequency,
            };
            vec![(variable, cosine, frequency as f64)]
        }
        Feature::Cosine {
            variable,
            frequency,
        } => {
            let sine = Feature::Sine {
                variable,
                frequency,
            };
            vec![(variable, sine, -(frequency as f64))]
        }
        Feature::Monomial(ref factors) => {
            let mut slopes: Vec<(usize, Feature, f64)> = Vec::new();
            for (place, &variable) in factors.iter().enumerate() {
                match slopes.last_mut() {
                    Some((last, _, power)) if *last == variable => *power += 1.0,
                    _ => {
                        let mut rest = factors.clone();
                        rest.remove(place);
                        slopes.push((variable, Feature::Monomial(rest), 1.0));
                    }
                }
            }
            slopes
        }
    }
}

/// Makes slots of terms, each once.
struct Compiler {
    slots: BTreeMap<Feature, usize>,
    operations: Vec<Operation>,
    variables: usize,
}

impl Compiler {
    fn new(variables: usize) -> Compiler {
        let first = [(Feature::Monomial(Vec::new()), 0)];
        let own = (0..variables).map(|v| (Feature::Monomial(vec![v]), v + 1));
        Compiler {
            slots: first.into_iter().chain(own).collect(),
            operations: Vec::new(),
            variables,
        }
    }

    fn slot_of(&mut self, feature: &Feature) -> usize {
        if let Some(&slot) = self.slots.get(feature) {
            return slot;
        }
        let operation = match feature {
            Feature::Monomial(factors) => {
                let (last, before) = factors
                    .split_last()
                    .expect("the constant has a slot from the start");
                let before = self.slot_of(&Feature::Monomial(before.to_vec()));
                Operation::Times(before, *last + 1)
            }
            Feature::Sine {
                variable,
                frequency,
            } => Operation::Sin(*variable + 1, *frequency as f64),
            Feature::Cosine {
                variable,
                frequency,
            } => Operation::Cos(*variable + 1, *frequency as f64),
        };
        self.operations.push(operation);
        let slot = self.variables + self.operations.len();
        self.slots.insert(feature.clone(), slot);
        slot
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::sindy::library::{Interactions, Terms};

    fn library() -> Library {
        let terms = Terms {
            degree: 4,
            interactions: Interactions::All,
            has_constant: true,
            frequencies: 2,
        };
        Library::new(terms, 3)
    }

    fn value(feature: &Feature, x: &[f64]) -> f64 {
        match *feature {
            Feature::Monomial(ref factors) => factors.iter().map(|&v| x[v]).product(),
            Feature::Sine {
                variable,
                frequency,
            } => (frequency as f64 * x[variable]).sin(),
            Feature::Cosine {
                variable,
                frequency,
            } => (frequency as f64 * x[variable]).cos(),
        }
    }

    #[test]
    fn every_term_has_its_value_in_every_lane() {
        let library = library();
        let program = Program::of_library(&library);
        let points = [[0.3, -1.2, 0.7], [2.0, 0.5, -0.4]];
        let x: Vec<f64> = (0..6).map(|e| points[e % 2][e / 2]).collect();
        let mut slots = vec![0.0; 2 * program.slots()];
        let mut out = vec![0.0; 2 * library.len()];
        program.evaluate::<2>(&x, &mut slots, &mut out);
        for (feature, out) in library.features().iter().zip(out.chunks_exact(2)) {
            for (lane, point) in points.iter().enumerate() {
                // Products of at most four factors, in the same order.
                assert!(
                    (out[lane] - value(feature, point)).abs() < 1e-14,
                    "{feature:?}"
                );
            }
        }
    }

    #[test]
    fn derivatives_are_those_of_differences() {
        let library = library();
        let c = |i: usize| (0.7 * i as f64).sin();
        let sums: Vec<Sum> = (0..2)
            .map(|n| {
                let terms = library.features().iter().enumerate();
                terms.map(|(i, f)| (f.clone(), c(i + 40 * n))).collect()
            })
            .collect();
        let (program, slopes) = (Program::new(3, &sums), derivatives(3, &sums));
        let x = [0.4, -0.9, 1.1];
        let mut slots = vec![0.0; program.slots().max(slopes.slots())];
        let mut jac = vec![0.0; 6];
        slopes.evaluate::<1>(&x, &mut slots, &mut jac);
        let h = 1e-6;
        for v in 0..3 {
            let mut at = |h: f64| {
                let (mut moved, mut out) = (x, [0.0; 2]);
                moved[v] += h;
                program.evaluate::<1>(&moved, &mut slots, &mut out);
                out
            };
            let (up, down) = (at(h), at(-h));
            for n in 0..2 {
                let difference = (up[n] - down[n]) / (2.0 * h);
                // Rounding of sums of order ten over 2e-6, and h² times third derivatives of order ten.
                assert!((jac[3 * n + v] - difference).abs() < 1e-8);
            }
        }
    }
}
