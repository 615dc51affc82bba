//! Coefficients as accurate as the rows allow. Sums of products have the squared condition number κ² of the terms, so that coefficients
//! from them are off by about κ² ε: 1e-7 for the monomials of degree 5 of an electrocardiogram. With what is left over the rows,
//! not over their sums,
//!
//! ```text
//! r_n = Σ φ_S (y_n − c_n · φ)        c_n ← c_n + G_SS⁻¹ r_n
//! ```
//!
//! the error falls by a factor of κ² ε per step, down to that of an orthogonal factorisation (the corrected seminormal equations of
//! Björck 1987). Each step takes one pass over the rows, and none is taken where κ² ε is small.

use super::sparse::{Supports, sharing};
use super::sums::Sums;
use crate::linalg::positive::Factor;
use crate::simd::{Isa, Simd, Task, dispatch_widest};

/// Errors, relative to the largest coefficient of an equation, that are left as they are.
const TRUSTED: f64 = 1e-10;

/// Steps, at most.
const STEPS: usize = 5;

/// Coefficients on their way.
pub(super) struct Refinement {
    /// N × F.
    c: Vec<f64>,
    features: usize,
    groups: Vec<Group>,
    /// r, N × F.
    rest: Vec<f64>,
    /// By how much a step reduces the error, about: the first correction.
    rate: Option<f64>,
    /// The last correction, and the error that is left, about.
    last: f64,
    error: f64,
    steps: usize,
    isa: Isa,
}

/// Equations with the same terms.
struct Group {
    terms: Vec<usize>,
    targets: Vec<usize>,
    factor: Factor,
}

impl Refinement {
    /// Of coefficients N × F from sums over the rows; those that are zero stay so.
    pub(super) fn new(sums: &Sums, c: Vec<f64>, isa: Isa) -> Refinement {
        let terms_of = |c: &[f64]| (0..c.len()).filter(|&j| c[j] != 0.0).collect();
        let supports: Supports = c.chunks_exact(sums.features).map(terms_of).collect();
        let groups = sharing(&supports).into_iter();
        let groups: Vec<Group> = groups
            .filter(|(terms, _)| !terms.is_empty())
            .map(|(terms, targets)| Group {
                factor: Factor::new(sums.gram_of(terms), terms.len(), isa),
                terms: terms.to_vec(),
                targets,
            })
            .collect();
        let rounding = groups.iter().map(|group| group.factor.rounding());
        Refinement {
            features: sums.features,
            rest: vec![0.0; c.len()],
            rate: None,
            last: 1.0,
            error: rounding.fold(0.0, f64::max),
            steps: 0,
            c,
            groups,
            isa,
        }
    }

    /// Whether another pass over the rows pays.
    pub(super) fn is_open(&self) -> bool {
        self.error > TRUSTED && self.steps < STEPS
    }

    /// Takes a row (φ, y) in.
    pub(super) fn add(&mut self, row: &[f64]) {
        let (phi, y) = row.split_at(self.features);
        let Refinement { c, rest, isa, .. } = self;
        dispatch_widest(*isa, AddRow { c, phi, y, rest });
    }

    /// Corrects the coefficients after a pass, unless corrections no longer fall.
    pub(super) fn correct(&mut self) {
        let mut corrections = vec![0.0; self.c.len()];
        for Group {
            terms,
            targets,
            factor,
        } in &self.groups
        {
            let k = targets.len();
            let place = |e: usize| targets[e % k] * self.features + terms[e / k];
            let mut right: Vec<f64> = (0..terms.len() * k).map(|e| self.rest[place(e)]).collect();
            factor.solve(&mut right);
            let entries = right.iter().enumerate();
            entries.for_each(|(e, v)| corrections[place(e)] = *v);
        }
        self.rest.fill(0.0);
        self.steps += 1;
        let size = self.largest_share(&corrections);
        if size.is_nan() || size > 0.5 * self.last {
            self.error = 0.0;
            return;
        }
        let pairs = self.c.iter_mut().zip(&corrections);
        pairs.for_each(|(c, correction)| *c += correction);
        self.last = size;
        self.error = size * *self.rate.get_or_insert(size);
    }

    /// The coefficients.
    pub(super) fn into_coefficients(self) -> Vec<f64> {
        self.c
    }

    /// The largest correction, relative to the largest coefficient of its equation.
    fn largest_share(&self, corrections: &[f64]) -> f64 {
        let largest = |c: &[f64]| c.iter().fold(0.0, |most: f64, c| most.max(c.abs()));
        let equations = corrections.chunks_exact(self.features);
        let shares = equations.zip(self.c.chunks_exact(self.features));
        shares
            .filter(|(_, c)| largest(c) > 0.0)
            .map(|(correction, c)| largest(correction) / largest(c))
            .fold(0.0, f64::max)
    }
}

/// rest_n += φ (y_n − c_n · φ), zero outside of the terms where nobody looks.
struct AddRow<'a> {
    c: &'a [f64],
    phi: &'a [f64],
    y: &'a [f64],
    rest: &'a mut [f64],
}

impl Task for AddRow<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        const LANES: usize = 8;
        let f = self.phi.len();
        let (phi, phi_end) = self.phi.as_chunks::<LANES>();
        let equations = self.c.chunks_exact(f).zip(self.rest.chunks_exact_mut(f));
        for ((c, rest), y) in equations.zip(self.y) {
            let (c, c_end) = c.as_chunks::<LANES>();
            let mut sums = [0.0; LANES];
            for (c, phi) in c.iter().zip(phi) {
                (0..LANES).for_each(|l| sums[l] += c[l] * phi[l]);
            }
            let end: f64 = c_end.iter().zip(phi_end).map(|(c, phi)| c * phi).sum();
            let error = y - (sums.iter().sum::<f64>() + end);
            let pairs = rest.iter_mut().zip(self.phi);
            pairs.for_each(|(rest, phi)| *rest += error * phi);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::singular_values;
    use crate::method::sindy::sums::Adder;
    use crate::rng::{Rng, Stream};

    /// y = 1 + x − x⁵/2 as monomials of x on [1, 1.5].
    const EXPECTED: [f64; 6] = [1.0, 1.0, 0.0, 0.0, 0.0, -0.5];

    fn rows() -> Vec<[f64; 7]> {
        let row = |t: i32| {
            let x = 1.0 + 0.5 * f64::from(t) / 299.0;
            let y = 1.0 + x - 0.5 * x.powi(5);
            [1.0, x, x.powi(2), x.powi(3), x.powi(4), x.powi(5), y]
        };
        (0..300).map(row).collect()
    }

    #[test]
    fn coefficients_are_as_accurate_as_the_condition_of_the_terms_allows() {
        let (rows, isa) = (rows(), Isa::detect());
        let mut adder = Adder::new(6, 1, 1, isa);
        rows.iter().for_each(|row| adder.add(row));
        let sums = adder.take();
        let mut c = sums.cross.clone();
        Factor::new(sums.gram.clone(), 6, isa).solve(&mut c);
        let off = |c: &[f64]| {
            let pairs = c.iter().zip(EXPECTED);
            pairs.fold(0.0, |most: f64, (a, b)| most.max((a - b).abs()))
        };
        let before = off(&c);
        let mut refinement = Refinement::new(&sums, c, isa);
        assert!(refinement.is_open());
        while refinement.is_open() {
            rows.iter().for_each(|row| refinement.add(row));
            refinement.correct();
        }
        let after = off(&refinement.into_coefficients());
        // y and the monomials are rounded to ε; κ, of columns scaled to one, carries that over to the coefficients, which are of order one
        // and whose columns have norms within a factor of four: that of each of 6 columns and 300 rows.
        let scaled: Vec<f64> = rows
            .iter()
            .flat_map(|row| (0..6).map(|j| row[j] / sums.gram[j * 6 + j].sqrt()))
            .collect();
        let sigma = singular_values(&scaled, 300, 6);
        let kappa = sigma[0] / sigma[5];
        let bound = 6.0 * 300f64.sqrt() * kappa * f64::EPSILON;
        assert!(after < bound, "{before:e} {after:e} {bound:e}");
        // The sums alone are worse by far, or nothing would be shown.
        assert!(before > 100.0 * after, "{before:e} {after:e}");
    }

    #[test]
    fn coefficients_of_unlike_terms_are_left_alone() {
        let mut rng = Rng::new(2, Stream::Noise);
        let mut adder = Adder::new(3, 2, 1, Isa::detect());
        for _ in 0..100 {
            adder.add(&std::array::from_fn::<f64, 5, _>(|_| rng.normal()));
        }
        let c = vec![1.0, 0.0, 2.0, 0.0, 0.0, 0.0];
        assert!(!Refinement::new(&adder.take(), c, Isa::detect()).is_open());
    }
}
