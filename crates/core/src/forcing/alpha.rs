//! How strong teacher forcing must be for gradients not to explode: with 𝒩 the typical norm of a Jacobian along a
//! sequence, products of (1 − α)J stay bounded for
//!
//! ```text
//! α = max(0, 1 − 1/𝒩).
//! ```
//!
//! Six ways to say what is typical, from crude to fine, ‖·‖ the spectral norm, J_t the Jacobians along a sequence of T
//! teacher signals (the first five by Hess et al. 2023):
//!
//! | estimator | 𝒩 |
//! | --- | --- |
//! | parameter bound | max\|A\| + ‖W‖ · sup ‖∂g/∂z‖, no data |
//! | batch maximum | max_t ‖J_t‖ |
//! | product upper bound | exp(mean_t ln ‖J_t‖) |
//! | exp-log | ‖exp(mean_t ln J_t)‖, the geometric mean if all J_t commute |
//! | arithmetic mean | ‖mean_t J_t‖ |
//! | product | ‖J_T ⋯ J_1‖^(1/T) |
//!
//! The product is what the paper's 𝒢 = (J_T ⋯ J_1)^(1/T) is for: where 𝒩 ≥ 1, the gradient through the whole sequence
//! with its α, (1 − α)^T J_T ⋯ J_1, has norm 1. The paper avoids it, because products of many Jacobians overflow; here
//! they are scaled step by step, and only the logarithm of the scale grows. (In training, in f32: a direction that no
//! other leads to is lost once it is 10⁻³⁸ of the largest.)
//!
//! Of a batch of sequences the largest counts. A singular J has no logarithm: the sequence's arithmetic mean takes the
//! place of exp-log, and is counted.

use std::mem;

use crate::linalg::complex::Complex;
use crate::linalg::{function, multiply, singular_values};
use crate::map::Map;

/// Which norm is typical of the Jacobians along a sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimator {
    /// A bound from the parameters alone.
    ParameterBound,
    /// The largest norm.
    BatchMaximum,
    /// The geometric mean of the norms.
    ProductUpperBound,
    /// The norm of the exponential of the mean logarithm.
    ExpLog,
    /// The norm of the mean.
    ArithmeticMean,
    /// The root of the norm of the product.
    Product,
}

impl Estimator {
    /// All of them, from crude to fine.
    pub const ALL: [Estimator; 6] = [
        Estimator::ParameterBound,
        Estimator::BatchMaximum,
        Estimator::ProductUpperBound,
        Estimator::ExpLog,
        Estimator::ArithmeticMean,
        Estimator::Product,
    ];

    /// Its name in settings and tables.
    pub const fn name(self) -> &'static str {
        match self {
            Estimator::ParameterBound => "parameter-bound",
            Estimator::BatchMaximum => "batch-maximum",
            Estimator::ProductUpperBound => "product-upper-bound",
            Estimator::ExpLog => "exp-log",
            Estimator::ArithmeticMean => "arithmetic-mean",
            Estimator::Product => "product",
        }
    }
}

/// The Jacobians along one sequence, M × M row-major, one after another.
#[derive(Debug, Clone, Copy)]
pub struct Jacobians<'a> {
    entries: &'a [f64],
    dim: usize,
}

/// 𝒩 of a sequence or of a batch, with how it was found.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Norm {
    /// 𝒩.
    pub kappa: f64,
    /// Sequences for which the arithmetic mean took the place of exp-log.
    pub fallbacks: usize,
}

impl Norm {
    /// α = max(0, 1 − 1/𝒩).
    pub fn alpha(self) -> f64 {
        optimal(self.kappa)
    }

    /// 𝒩 of two batches together.
    pub fn or_larger(self, other: Norm) -> Norm {
        Norm {
            kappa: self.kappa.max(other.kappa),
            fallbacks: self.fallbacks + other.fallbacks,
        }
    }
}

/// α = max(0, 1 − 1/𝒩).
pub fn optimal(kappa: f64) -> f64 {
    (1.0 - 1.0 / kappa).max(0.0)
}

/// 𝒩 over a batch of sequences: the largest of any.
///
/// # Panics
/// If there is no sequence, or one without a Jacobian, unless the parameters are enough.
pub fn estimate(
    estimator: Estimator,
    map: &dyn Map,
    theta: &[f64],
    batch: &[Jacobians<'_>],
) -> Norm {
    if estimator == Estimator::ParameterBound {
        return plain(map.jacobian_bound(theta));
    }
    assert!(!batch.is_empty(), "a norm needs at least one sequence");
    let norms = batch.iter().map(|sequence| sequence.norm(estimator));
    norms.fold(Norm::default(), Norm::or_larger)
}

fn plain(kappa: f64) -> Norm {
    Norm {
        kappa,
        fallbacks: 0,
    }
}

impl<'a> Jacobians<'a> {
    /// Matrices of this dimension, one after another.
    ///
    /// # Panics
    /// If there is none, or a part of one.
    pub fn new(entries: &'a [f64], dim: usize) -> Jacobians<'a> {
        assert!(
            !entries.is_empty() && entries.len().is_multiple_of(dim * dim),
            "{} entries are no Jacobians of dimension {dim}",
            entries.len()
        );
        Jacobians { entries, dim }
    }

    /// 𝒩 of this sequence.
    ///
    /// # Panics
    /// For [`Estimator::ParameterBound`], which needs no sequence but the map.
    pub fn norm(&self, estimator: Estimator) -> Norm {
        match estimator {
            Estimator::ParameterBound => panic!("the parameter bound belongs to a map"),
            Estimator::BatchMaximum => plain(self.norms().fold(0.0, f64::max)),
            Estimator::ProductUpperBound => plain(self.geometric_mean_of_norms()),
            Estimator::ArithmeticMean => plain(self.norm_of_mean()),
            Estimator::Product => plain(self.root_of_product_norm()),
            Estimator::ExpLog => match self.norm_of_geometric_mean() {
                Some(kappa) => plain(kappa),
                None => Norm {
                    kappa: self.norm_of_mean(),
                    fallbacks: 1,
                },
            },
        }
    }

    fn len(&self) -> f64 {
        (self.entries.len() / (self.dim * self.dim)) as f64
    }

    fn each(&self) -> impl Iterator<Item = &'a [f64]> {
        self.entries.chunks_exact(self.dim * self.dim)
    }

    /// ‖J_t‖; a Jacobian equal to the one before it, as inside a linear region, costs nothing.
    fn norms(&self) -> impl Iterator<Item = f64> {
        let dim = self.dim;
        remembering(self.each(), move |jac| singular_values(jac, dim, dim)[0])
    }

    /// exp(mean_t ln ‖J_t‖).
    fn geometric_mean_of_norms(&self) -> f64 {
        (self.norms().map(f64::ln).sum::<f64>() / self.len()).exp()
    }

    /// ‖mean_t J_t‖.
    fn norm_of_mean(&self) -> f64 {
        let mut mean = vec![0.0; self.dim * self.dim];
        for jac in self.each() {
            mean.iter_mut().zip(jac).for_each(|(m, j)| *m += j);
        }
        mean.iter_mut().for_each(|m| *m /= self.len());
        singular_values(&mean, self.dim, self.dim)[0]
    }

    /// ‖J_T ⋯ J_1‖^(1/T); 0 if the product is zero.
    fn root_of_product_norm(&self) -> f64 {
        let dim = self.dim;
        let mut product = self.entries[..dim * dim].to_vec();
        let mut next = vec![0.0; dim * dim];
        let mut ln_scale = 0.0;
        for jac in self.each().skip(1) {
            let scale = product.iter().fold(0.0, |scale: f64, p| scale.max(p.abs()));
            if scale == 0.0 {
                return 0.0;
            }
            product.iter_mut().for_each(|p| *p /= scale);
            ln_scale += scale.ln();
            multiply(jac, &product, (dim, dim, dim), &mut next);
            mem::swap(&mut product, &mut next);
        }
        let norm = singular_values(&product, dim, dim)[0];
        ((ln_scale + norm.ln()) / self.len()).exp()
    }

    /// ‖exp(mean_t ln J_t)‖; `None` if a logarithm does not exist.
    fn norm_of_geometric_mean(&self) -> Option<f64> {
        let dim = self.dim;
        let mut mean = vec![Complex::ZERO; dim * dim];
        for log in remembering(self.each(), |jac| function::logarithm(jac, dim)) {
            mean.iter_mut().zip(log?).for_each(|(m, l)| *m += l);
        }
        let scale = 1.0 / self.len();
        mean.iter_mut().for_each(|m| *m *= scale);
        Some(function::spectral_norm(
            &function::exponential(&mean, dim),
            dim,
        ))
    }
}

/// A function of every item, computed once for equal neighbours.
fn remembering<'a, T: Clone>(
    items: impl Iterator<Item = &'a [f64]>,
    mut compute: impl FnMut(&[f64]) -> T,
) -> impl Iterator<Item = T> {
    let mut last: Option<(&[f64], T)> = None;
    items.map(move |item| {
        let value = match last.take() {
            Some((before, value)) if before == item => value,
            _ => compute(item),
        };
        last = Some((item, value.clone()));
        value
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Dims, MODELS, Start};
    use crate::rng::{Rng, Stream};

    fn norm(estimator: Estimator, entries: &[f64], dim: usize) -> Norm {
        Jacobians::new(entries, dim).norm(estimator)
    }

    fn assert_close(found: f64, expected: f64) {
        // A few dozen roundings.
        assert!(
            (found - expected).abs() < 1e-13 * (1.0 + expected.abs()),
            "{found} against {expected}"
        );
    }

    #[test]
    fn the_gain_is_that_of_the_norm() {
        assert_eq!(optimal(0.5), 0.0);
        assert_eq!(optimal(1.0), 0.0);
        assert_eq!(optimal(2.0), 0.5);
        assert_eq!(optimal(0.0), 0.0);
    }

    /// diag(4, 9) and diag(9, 4) commute: the geometric mean is diag(6, 6), the arithmetic one diag(6.5, 6.5).
    #[test]
    fn means_of_two_commuting_matrices() {
        let both = [4.0, 0.0, 0.0, 9.0, 9.0, 0.0, 0.0, 4.0];
        let log = norm(Estimator::ExpLog, &both, 2);
        assert_close(log.kappa, 6.0);
        assert_close(log.alpha(), 5.0 / 6.0);
        let mean = norm(Estimator::ArithmeticMean, &both, 2);
        assert_close(mean.kappa, 6.5);
        assert_close(mean.alpha(), 1.0 - 1.0 / 6.5);
        assert_close(norm(Estimator::BatchMaximum, &both, 2).kappa, 9.0);
        assert_close(norm(Estimator::ProductUpperBound, &both, 2).kappa, 9.0);
        assert_close(norm(Estimator::Product, &both, 2).kappa, 6.0);
    }

    /// The last Jacobian stands on the left: (0 4; 0 0) after (9 0; 0 1) is (0 4; 0 0), before it (0 36; 0 0).
    #[test]
    fn the_product_is_taken_in_the_order_of_time() {
        let (shear, stretch) = ([0.0, 4.0, 0.0, 0.0], [9.0, 0.0, 0.0, 1.0]);
        let kappa = |sequence: [[f64; 4]; 2]| norm(Estimator::Product, &sequence.concat(), 2).kappa;
        assert_close(kappa([stretch, shear]), 2.0);
        assert_close(kappa([shear, stretch]), 6.0);
        // Zero after two steps, whatever follows.
        assert_eq!(kappa([shear, shear]), 0.0);
        // Beyond the range of f64 on the way: 10²⁰⁰ ten times, then 10⁻²⁰⁰ ten times.
        let [far, near] = [1e200, 1e-200].map(|v| [v; 10]);
        // The logarithms that cancel are of 4600, each rounded to 1e-13 or so of it.
        let found = norm(Estimator::Product, &[far, near].concat(), 1).kappa;
        assert!((found - 1.0).abs() < 1e-11, "{found}");
    }

    /// With the gain of the product, the gradient through the whole sequence has norm 1.
    #[test]
    fn the_gain_of_the_product_keeps_the_gradient() {
        let mut rng = Rng::new(5, Stream::MonteCarlo);
        let entries: Vec<f64> = (0..12 * 9).map(|_| rng.normal()).collect();
        let alpha = norm(Estimator::Product, &entries, 3).alpha();
        assert!(alpha > 0.0);
        let mut gradient = vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
        for jac in entries.chunks_exact(9) {
            let forced: Vec<f64> = jac.iter().map(|j| (1.0 - alpha) * j).collect();
            let before = gradient.clone();
            multiply(&forced, &before, (3, 3, 3), &mut gradient);
        }
        assert_close(singular_values(&gradient, 3, 3)[0], 1.0);
    }

    /// Powers of one matrix commute: exp of the mean logarithm of R, R², R³ is R², here a rotation by 0.8 times 2².
    #[test]
    fn exp_log_is_the_geometric_mean_of_commuting_matrices() {
        let power = |k: f64| {
            let (sin, cos) = (0.4 * k).sin_cos();
            [cos, -sin, sin, cos].map(|v| v * 2.0_f64.powf(k))
        };
        let sequence = [power(1.0), power(2.0), power(3.0)].concat();
        assert_close(norm(Estimator::ExpLog, &sequence, 2).kappa, 4.0);
        assert_close(norm(Estimator::Product, &sequence, 2).kappa, 4.0);
    }

    #[test]
    fn a_negative_eigenvalue_is_followed_through_complex_numbers() {
        // ln(−4) = ln 4 + iπ, twice: e^mean = −4.
        assert_close(norm(Estimator::ExpLog, &[-4.0, -4.0], 1).kappa, 4.0);
        // ln 4 and ln 4 + iπ: e^mean = 4i.
        assert_close(norm(Estimator::ExpLog, &[4.0, -4.0], 1).kappa, 4.0);
    }

    #[test]
    fn a_singular_jacobian_falls_back_to_the_arithmetic_mean() {
        let sequence = [2.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 1.0];
        let found = norm(Estimator::ExpLog, &sequence, 2);
        assert_eq!(found.fallbacks, 1);
        assert_close(found.kappa, 3.0);
        let map = (MODELS[0].build)(Dims {
            latent: 2,
            hidden: 3,
            inputs: 0,
        });
        let fine = Jacobians::new(&[3.5, 0.0, 0.0, 3.5], 2);
        let batch = [
            Jacobians::new(&sequence, 2),
            fine,
            Jacobians::new(&sequence, 2),
        ];
        let all = estimate(Estimator::ExpLog, map.as_ref(), &[], &batch);
        assert_eq!(all.fallbacks, 2);
        assert_close(all.kappa, 3.5);
    }

    /// For every model and random parameters: product ≤ product upper bound ≤ batch maximum ≤ parameter bound, and the
    /// arithmetic mean ≤ batch maximum.
    #[test]
    fn estimators_are_ordered() {
        let mut rng = Rng::new(4, Stream::MonteCarlo);
        for info in MODELS {
            let dims = Dims {
                latent: 3,
                hidden: 7,
                inputs: 0,
            };
            let map = (info.build)(dims);
            let theta: Vec<f64> = (0..map.layout().len()).map(|_| rng.normal()).collect();
            let mut entries = vec![0.0; 20 * 9];
            for jac in entries.chunks_exact_mut(9) {
                let z: Vec<f64> = (0..3).map(|_| 2.0 * rng.normal()).collect();
                map.jacobian(&theta, &z, jac);
            }
            let batch = [Jacobians::new(&entries, 3)];
            let kappa = |e| estimate(e, map.as_ref(), &theta, &batch).kappa;
            let maximum = kappa(Estimator::BatchMaximum) * (1.0 + 1e-12);
            assert!(kappa(Estimator::ProductUpperBound) <= maximum);
            let bound = kappa(Estimator::ProductUpperBound) * (1.0 + 1e-12);
            assert!(kappa(Estimator::Product) <= bound);
            assert!(kappa(Estimator::ArithmeticMean) <= maximum);
            assert!(
                kappa(Estimator::BatchMaximum) <= kappa(Estimator::ParameterBound) * (1.0 + 1e-12),
                "{}",
                info.entry.id
            );
        }
    }

    /// max|A| + ‖W1‖ ‖W2‖ with matrices whose norms are known.
    #[test]
    fn the_parameter_bound_of_a_shallow_map() {
        let map = (MODELS[0].build)(Dims {
            latent: 2,
            hidden: 2,
            inputs: 0,
        });
        let mut theta = map.init(Start::Free, &mut Rng::new(1, Stream::Parameters));
        let mut set = |name: &str, values: &[f64]| {
            theta[map.layout().range(name)].copy_from_slice(values);
        };
        set("A", &[0.5, -0.75]);
        set("W1", &[0.0, 2.0, 1.0, 0.0]);
        set("W2", &[3.0, 0.0, 0.0, 1.0]);
        let found = estimate(Estimator::ParameterBound, map.as_ref(), &theta, &[]);
        assert_close(found.kappa, 0.75 + 2.0 * 3.0);
    }
}
