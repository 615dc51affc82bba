//! The largest Lyapunov exponent of a model beside that of the system, where that is known: what an attractor's shape and spectrum
//! do not show.

use attractor_core::analysis::lyapunov::{LyapunovPlan, lyapunov_of_dynamics};
use attractor_core::dynamics::{Dynamics, Stretch};
use attractor_core::progress::Unwatched;

/// Exponents per unit of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponents {
    /// That of the model, over 20,000 steps.
    pub model: f64,
    /// Its standard error.
    pub error: f64,
    /// That of the system.
    pub truth: f64,
}

/// Steps that it is computed over, and before.
const STEPS: usize = 20_000;
const TRANSIENT: usize = 1000;

/// The exponent of a model from where the data begin; none if it is driven or diverges.
pub(super) fn of_model(
    dynamics: &dyn Dynamics,
    data: Stretch<'_>,
    dt: f64,
    truth: f64,
) -> Option<Exponents> {
    let rows = dynamics.memory().rows();
    if dynamics.sizes().inputs > 0 || data.len() < rows {
        return None;
    }
    let z = dynamics.states_at(data, &[rows - 1]);
    let plan = LyapunovPlan {
        transient: TRANSIENT,
        intervals: STEPS,
        ..LyapunovPlan::full(1)
    };
    let found = lyapunov_of_dynamics(dynamics, &z, &[], &plan, &mut Unwatched).ok()?;
    Some(Exponents {
        model: found.exponents[0] / dt,
        error: found.errors[0] / dt,
        truth,
    })
}

impl Exponents {
    /// Whether they differ by more than three errors and by three tenths.
    pub fn differ(&self) -> bool {
        let difference = (self.model - self.truth).abs();
        difference.is_nan() || difference > (3.0 * self.error).max(0.3 * self.truth.abs())
    }
}
