//! The largest Lyapunov exponent of a model beside that of the system, where that is known: what an attractor's shape and spectrum
//! do not show. It is the one that [`dissect`](crate::anatomy::dissect) finds, so that every verb gives the same number.

use attractor_core::dynamics::Stretch;

use crate::anatomy::largest_from;
use crate::generate::{GeneratedFrom, departure};
use crate::model_file::Reconstruction;

/// Exponents per unit of time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Exponents {
    /// That of the model.
    pub model: f64,
    /// Its standard error.
    pub error: f64,
    /// That of the system.
    pub truth: f64,
}

/// The exponent of a model, from where its training data begin, else from where the data do; none if it is driven or diverges.
pub(super) fn of_model(
    reconstruction: &Reconstruction,
    data: Stretch<'_>,
    dt: f64,
    truth: f64,
) -> Option<Exponents> {
    let dynamics = reconstruction.dynamics.as_ref();
    let rows = dynamics.memory().rows();
    if dynamics.sizes().inputs > 0 {
        return None;
    }
    let start = departure(reconstruction, None).ok()?;
    let z = match start.from {
        GeneratedFrom::Zero if data.len() >= rows => dynamics.states_at(data, &[rows - 1]),
        _ => start.z,
    };
    let found = largest_from(reconstruction, &z)?;
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
