//! RAdam (Liu et al. 2020) with the paper's threshold, and the exponential learning-rate schedule.
//!
//! ```text
//! m ← β₁ m + (1 − β₁) g        v ← β₂ v + (1 − β₂) g²        ρ = ρ∞ − 2 t β₂ᵗ/(1 − β₂ᵗ),  ρ∞ = 2/(1 − β₂) − 1
//! ρ > 4:  θ ← θ − η r m̂/(√v̂ + ε),  r² = (ρ − 4)(ρ − 2)ρ∞ / ((ρ∞ − 4)(ρ∞ − 2)ρ)        else:  θ ← θ − η m̂
//! ```
//!
//! with m̂ = m/(1 − β₁ᵗ), v̂ = v/(1 − β₂ᵗ). Some libraries switch at ρ > 5.

use crate::simd::{Isa, Lanes8, Simd, Task, dispatch};

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f32 = 1e-8;
const RHO_THRESHOLD: f64 = 4.0;

/// First and second moments of the gradient, and how many steps were made.
#[derive(Debug, Clone, PartialEq)]
pub struct RAdam {
    /// First moment m.
    pub m: Vec<f32>,
    /// Second moment v.
    pub v: Vec<f32>,
    /// Steps made.
    pub steps: u64,
}

impl RAdam {
    /// The start, for `len` parameters.
    pub fn new(len: usize) -> RAdam {
        RAdam {
            m: vec![0.0; len],
            v: vec![0.0; len],
            steps: 0,
        }
    }

    /// One step with learning rate η.
    pub fn step(&mut self, isa: Isa, theta: &mut [f32], gradient: &[f32], rate: f64) {
        self.steps += 1;
        let t = self.steps as f64;
        let (bias1, decay2) = (1.0 - BETA1.powf(t), BETA2.powf(t));
        let rho_inf = 2.0 / (1.0 - BETA2) - 1.0;
        let rho = rho_inf - 2.0 * t * decay2 / (1.0 - decay2);
        let rule = if rho > RHO_THRESHOLD {
            let r2 =
                (rho - 4.0) * (rho - 2.0) * rho_inf / ((rho_inf - 4.0) * (rho_inf - 2.0) * rho);
            Rule::Adaptive {
                rate: (rate * r2.sqrt() / bias1) as f32,
                v_scale: (1.0 / (1.0 - decay2)) as f32,
            }
        } else {
            Rule::Momentum {
                rate: (rate / bias1) as f32,
            }
        };
        dispatch::<Lanes8, _>(
            isa,
            Step {
                theta,
                gradient,
                m: &mut self.m,
                v: &mut self.v,
                rule,
            },
        );
    }
}

#[derive(Debug, Clone, Copy)]
enum Rule {
    Adaptive { rate: f32, v_scale: f32 },
    Momentum { rate: f32 },
}

struct Step<'a> {
    theta: &'a mut [f32],
    gradient: &'a [f32],
    m: &'a mut [f32],
    v: &'a mut [f32],
    rule: Rule,
}

impl Task for Step<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let (beta1, beta2) = (BETA1 as f32, BETA2 as f32);
        let (keep1, keep2) = ((1.0 - BETA1) as f32, (1.0 - BETA2) as f32);
        for ((theta, &g), (m, v)) in self
            .theta
            .iter_mut()
            .zip(self.gradient)
            .zip(self.m.iter_mut().zip(self.v))
        {
            *m = beta1 * *m + keep1 * g;
            *v = beta2 * *v + keep2 * g * g;
            *theta -= match self.rule {
                Rule::Adaptive { rate, v_scale } => rate * *m / ((*v * v_scale).sqrt() + EPSILON),
                Rule::Momentum { rate } => rate * *m,
            };
        }
    }
}

/// η falls from `start` to `end` over the epochs, by the same factor every epoch. As in the paper's code the factor
/// acts already on the last update of an epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Schedule {
    /// First learning rate.
    pub start: f64,
    /// Last learning rate.
    pub end: f64,
    /// Number of epochs.
    pub epochs: u64,
    /// Updates an epoch.
    pub batches_per_epoch: u64,
}

impl Schedule {
    /// η of an update, counted from 0.
    pub fn rate(&self, update: u64) -> f64 {
        let decays = (update + 1) / self.batches_per_epoch;
        self.start * (self.end / self.start).powf(decays as f64 / self.epochs as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radam_takes_the_known_steps() {
        // Minimising x²/2 from x = 1 with η = 1e-3, computed independently in f64.
        let known = [
            (1, 1.000_000_000e-3),
            (2, 9.994_736_842e-4),
            (3, 9.989_300_835e-4),
            (4, 9.983_693_137e-4),
            (5, 1.730_788_558e-5),
            (6, 2.581_444_424e-5),
            (12, 5.771_697_464e-5),
        ];
        for isa in Isa::available() {
            let (mut radam, mut x) = (RAdam::new(1), [1f32]);
            for t in 1..=12u64 {
                let before = x[0];
                radam.step(isa, &mut x, &[before], 1e-3);
                if let Some(&(_, expected)) = known.iter().find(|&&(k, _)| k == t) {
                    // θ is near 1 in f32: its steps are exact to half an ulp, 6e-8; 1 − β₂ᵗ adds 1e-7 relative.
                    let step = f64::from(before) - f64::from(x[0]);
                    assert!(
                        (step - expected).abs() < 7e-8,
                        "step {t}: {step} against {expected}"
                    );
                }
            }
            // Twelve steps, each rounded once.
            assert!((f64::from(x[0]) - 0.995_684_361).abs() < 12.0 * 6e-8);
        }
    }

    #[test]
    fn the_schedule_decays_once_an_epoch() {
        let schedule = Schedule {
            start: 1e-3,
            end: 1e-6,
            epochs: 5000,
            batches_per_epoch: 50,
        };
        assert_eq!(schedule.rate(48), 1e-3);
        // γ = exp(ln(1e-3)/5000), already at the 50th update.
        assert!((schedule.rate(49) / 1e-3 - 0.998_619_402_8).abs() < 1e-10);
        assert!((schedule.rate(249_999) - 1e-6).abs() < 1e-15);
    }
}
