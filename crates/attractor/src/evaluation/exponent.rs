//! The largest Lyapunov exponent of a model beside that of the system, where that is known: what an attractor's shape and spectrum
//! do not show. It is the one that [`dissect`](crate::anatomy::dissect) finds, so that every verb gives the same number.
//!
//! Where it is not known, Rosenstein's method estimates it from the first channel of the data, and in the same way from that of the model's orbit.

use attractor_core::dynamics::Stretch;
use attractor_core::measure::Rows;
use attractor_core::progress::Unwatched;
use attractor_core::series::{Channel, Series, Step, Trajectory};

use crate::anatomy::largest_from;
use crate::generate::{GeneratedFrom, departure};
use crate::model_file::Reconstruction;
use crate::recording_exponent::{self, of_recording};

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

/// Exponents per unit of time, each with the spread of its estimates over the dimensions of the embedding.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimates {
    /// Of the orbit of the model.
    pub model: (f64, f64),
    /// Of the data.
    pub data: (f64, f64),
}

/// Rows that an exponent is estimated from, at most, the last ones, since an orbit may begin off the attractor. A quarter of a second's work.
pub(crate) const ROWS: usize = 4000;

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

/// Exponents estimated from the first channels; none where either has none.
pub(super) fn estimates(orbit: Rows<'_>, truth: Rows<'_>, step: &Step) -> Option<Estimates> {
    Some(Estimates {
        model: estimate(orbit, step)?,
        data: estimate(truth, step)?,
    })
}

fn estimate(rows: Rows<'_>, step: &Step) -> Option<(f64, f64)> {
    let first = rows.len().saturating_sub(ROWS);
    let x = (first..rows.len()).map(|i| rows.row(i)[0]).collect();
    let series = Series::new(
        vec![Channel::named("x")],
        Vec::new(),
        step.clone(),
        vec![Trajectory::new(x)],
    );
    let asked = recording_exponent::Request::default();
    let found = of_recording(&series.ok()?, &asked, &mut Unwatched).ok()?;
    let (value, error) = found.exponent.per_time(step.dt);
    value.zip(error)
}

impl Estimates {
    /// Whether they differ by more than three errors and by three tenths.
    pub fn differ(&self) -> bool {
        let ((model, of_model), (data, of_data)) = (self.model, self.data);
        let error = of_model.hypot(of_data);
        (model - data).abs() > (3.0 * error).max(0.3 * model.abs().max(data.abs()))
    }
}

impl Exponents {
    /// Whether they differ by more than three errors and by three tenths.
    pub fn differ(&self) -> bool {
        let difference = (self.model - self.truth).abs();
        difference.is_nan() || difference > (3.0 * self.error).max(0.3 * self.truth.abs())
    }
}
