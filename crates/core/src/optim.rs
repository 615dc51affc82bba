//! Optimisers of the Adam family, and the exponential learning-rate schedule.
//!
//! ```text
//! m ← β₁ m + (1 − β₁) g        m̂ = m/(1 − β₁ᵗ)        v ← β₂ v + (1 − β₂) g²        v̂ = v/(1 − β₂ᵗ)
//!
//! Adam     θ ← θ − η m̂/(√v̂ + ε)                                                        Kingma & Ba 2015
//! Adamax   θ ← θ − η m̂/v  with  v ← max(β₂ v, |g| + ε)                                 Kingma & Ba 2015
//! RAdam    θ ← θ − η r m̂/(√v̂ + ε) where ρ > 4, else θ ← θ − η m̂                        Liu et al. 2020
//!          ρ = ρ∞ − 2 t β₂ᵗ/(1 − β₂ᵗ),  ρ∞ = 2/(1 − β₂) − 1,  r² = (ρ − 4)(ρ − 2)ρ∞ / ((ρ∞ − 4)(ρ∞ − 2)ρ)
//! ```
//!
//! β₁ = 0.9, β₂ = 0.999, ε = 10⁻⁸. RAdam has its paper's threshold; some libraries switch at ρ > 5.

use crate::simd::{Isa, Lanes8, Simd, Task, dispatch};

const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f32 = 1e-8;
const RHO_THRESHOLD: f64 = 4.0;

/// Optimizer, which turns a gradient into a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Optimizer {
    /// Adam with its variance rectified.
    RAdam,
    /// Steps scaled by the root of the mean squared gradient.
    Adam,
    /// Steps scaled by the largest gradient, which is forgotten slowly.
    Adamax,
}

impl Optimizer {
    /// All of them.
    pub const ALL: [Optimizer; 3] = [Optimizer::RAdam, Optimizer::Adam, Optimizer::Adamax];

    /// Its name in settings.
    pub const fn name(self) -> &'static str {
        match self {
            Optimizer::RAdam => "radam",
            Optimizer::Adam => "adam",
            Optimizer::Adamax => "adamax",
        }
    }

    /// One step with learning rate η.
    pub fn step(
        self,
        isa: Isa,
        moments: &mut Moments,
        theta: &mut [f32],
        gradient: &[f32],
        rate: f64,
    ) {
        moments.steps += 1;
        let step = Step {
            rule: self.rule(moments.steps as f64, rate),
            theta,
            gradient,
            m: &mut moments.m,
            v: &mut moments.v,
        };
        dispatch::<Lanes8, _>(isa, step);
    }

    /// The constants of step t, from 1.
    fn rule(self, t: f64, rate: f64) -> Rule {
        let (bias1, decay2) = (1.0 - BETA1.powf(t), BETA2.powf(t));
        let adaptive = |rectified: f64| Rule::Adaptive {
            rate: (rate * rectified / bias1) as f32,
            v_scale: (1.0 / (1.0 - decay2)) as f32,
        };
        let rho_inf = 2.0 / (1.0 - BETA2) - 1.0;
        let rho = rho_inf - 2.0 * t * decay2 / (1.0 - decay2);
        match self {
            Optimizer::Adam => adaptive(1.0),
            Optimizer::Adamax => Rule::Largest {
                rate: (rate / bias1) as f32,
            },
            Optimizer::RAdam if rho > RHO_THRESHOLD => {
                let r2 =
                    (rho - 4.0) * (rho - 2.0) * rho_inf / ((rho_inf - 4.0) * (rho_inf - 2.0) * rho);
                adaptive(r2.sqrt())
            }
            Optimizer::RAdam => Rule::Momentum {
                rate: (rate / bias1) as f32,
            },
        }
    }
}

/// What an optimiser remembers of the gradients.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// First moment m.
    pub m: Vec<f32>,
    /// Second moment v, or the largest gradient.
    pub v: Vec<f32>,
    /// Steps made.
    pub steps: u64,
}

impl Moments {
    /// The start, for `len` parameters.
    pub fn new(len: usize) -> Moments {
        Moments {
            m: vec![0.0; len],
            v: vec![0.0; len],
            steps: 0,
        }
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.m.fill(0.0);
        self.v.fill(0.0);
        self.steps = 0;
    }
}

#[derive(Debug, Clone, Copy)]
enum Rule {
    Adaptive { rate: f32, v_scale: f32 },
    Momentum { rate: f32 },
    Largest { rate: f32 },
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
        let moments = self.m.iter_mut().zip(self.v);
        let parameters = self.theta.iter_mut().zip(self.gradient).zip(moments);
        if let Rule::Largest { rate } = self.rule {
            for ((theta, &g), (m, v)) in parameters {
                *m = beta1 * *m + keep1 * g;
                *v = (beta2 * *v).max(g.abs() + EPSILON);
                *theta -= rate * *m / *v;
            }
            return;
        }
        for ((theta, &g), (m, v)) in parameters {
            *m = beta1 * *m + keep1 * g;
            *v = beta2 * *v + keep2 * g * g;
            *theta -= match self.rule {
                Rule::Adaptive { rate, v_scale } => rate * *m / ((*v * v_scale).sqrt() + EPSILON),
                Rule::Momentum { rate } | Rule::Largest { rate } => rate * *m,
            };
        }
    }
}

/// η falls from `start` to `end` over the epochs, by the same factor every epoch. As in the paper's code the factor
/// acts already on the last update of an epoch.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponential {
    /// Initial learning rate.
    pub start: f64,
    /// Final learning rate.
    pub end: f64,
    /// Number of epochs.
    pub epochs: u64,
    /// Updates an epoch.
    pub batches_per_epoch: u64,
}

impl Exponential {
    /// η of an update, counted from 0.
    pub fn rate(&self, update: u64) -> f64 {
        let decays = (update + 1) / self.batches_per_epoch;
        self.start * (self.end / self.start).powf(decays as f64 / self.epochs as f64)
    }
}

/// η falls by the same factor at every update, down to a floor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Floored {
    /// Initial learning rate.
    pub start: f64,
    /// What it is multiplied by at every update.
    pub factor: f64,
    /// The rate below which it does not fall.
    pub floor: f64,
    /// Number of epochs.
    pub epochs: u64,
    /// Updates an epoch.
    pub batches_per_epoch: u64,
}

impl Floored {
    /// η of an update, counted from 0.
    pub fn rate(&self, update: u64) -> f64 {
        (self.start * self.factor.powf(update as f64)).max(self.floor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Minimises x²/2 from x = 1 with η = 1e-3 for twelve steps: those that are known, and where it ends. The known ones were
    /// computed independently in f64.
    fn minimise(optimizer: Optimizer, known: &[(u64, f64)], end: f64) {
        for isa in Isa::available() {
            let (mut moments, mut x) = (Moments::new(1), [1f32]);
            for t in 1..=12u64 {
                let before = x[0];
                optimizer.step(isa, &mut moments, &mut x, &[before], 1e-3);
                if let Some(&(_, expected)) = known.iter().find(|&&(k, _)| k == t) {
                    // θ is near 1 in f32: its steps are exact to half an ulp, 6e-8; 1 − β₂ᵗ adds 1e-7 relative.
                    let step = f64::from(before) - f64::from(x[0]);
                    assert!(
                        (step - expected).abs() < 7e-8,
                        "{optimizer:?}, step {t}: {step} against {expected}"
                    );
                }
            }
            // Twelve steps, each rounded once.
            assert!((f64::from(x[0]) - end).abs() < 12.0 * 6e-8);
        }
    }

    #[test]
    fn radam_takes_the_known_steps() {
        let known = [
            (1, 1.000_000_000e-3),
            (2, 9.994_736_842e-4),
            (3, 9.989_300_835e-4),
            (4, 9.983_693_137e-4),
            (5, 1.730_788_558e-5),
            (6, 2.581_444_424e-5),
            (12, 5.771_697_464e-5),
        ];
        minimise(Optimizer::RAdam, &known, 0.995_684_361);
    }

    #[test]
    fn adam_takes_the_known_steps() {
        let known = [
            (1, 9.999999900e-04),
            (2, 9.999737862e-04),
            (6, 9.996954932e-04),
            (12, 9.987765663e-04),
        ];
        minimise(Optimizer::Adam, &known, 0.988005501);
    }

    #[test]
    fn adamax_takes_the_known_steps() {
        let known = [
            (1, 9.999999900e-04),
            (2, 1.000474148e-03),
            (6, 1.002193906e-03),
            (12, 1.004257970e-03),
        ];
        minimise(Optimizer::Adamax, &known, 0.987972562);
    }

    #[test]
    fn the_schedule_decays_once_an_epoch() {
        let schedule = Exponential {
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

    #[test]
    fn a_floored_schedule_falls_at_every_update_and_stays_at_its_floor() {
        let schedule = Floored {
            start: 1e-2,
            factor: 0.999,
            floor: 1e-3,
            epochs: 100,
            batches_per_epoch: 50,
        };
        assert_eq!(schedule.rate(0), 1e-2);
        assert!((schedule.rate(2) - 1e-2 * 0.999 * 0.999).abs() < 1e-16);
        // 0.999^2301 is above a tenth, 0.999^2302 below.
        assert!(schedule.rate(2301) > 1e-3 && schedule.rate(2302) == 1e-3);
    }
}
