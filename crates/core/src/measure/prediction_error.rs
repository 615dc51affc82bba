//! Mean squared error of forecasts n steps ahead, from every row of the truth that has n successors:
//!
//! ```text
//! PE(n) = 1/((T − n) N) Σ_t ‖x̂_{t+n|t} − x_{t+n}‖²
//! ```
//!
//! x̂_{t+n|t} is n free steps from the initial state inferred from x_t, step i driven by the inputs of row t + i. It is
//! in the units of the data squared: on standardised data 1 is what predicting the mean gives (Hess et al. 2023).

use super::{Better, Forecast, Judges, MeasureError, MeasureInfo, Rows, refuse_short};
use crate::catalogue::{Entry, Kind};
use crate::dynamics::{Dynamics, Stretch};
use crate::settings::{Domain, Setting};

/// PE(n) in the list.
pub static INFO: MeasureInfo = MeasureInfo {
    entry: Entry {
        kind: Kind::Measure,
        id: "pe",
        summary: "mean squared error of forecasts n steps ahead",
        details: "PE(n) = ⟨(x̂ − x)²⟩ over channels and over all rows with n successors, after n free steps from the\n\
                  state inferred from each; in squared units of the data\n\
                  In a chaotic system it grows with n whatever the model: a small PE says nothing of the long run.",
        settings: &[STEPS],
        references: &["hess2023"],
    },
    better: Better::Lower,
    judges: Judges::Forecasts(Forecast::Error),
    blind_to: &[],
};

/// How far ahead.
pub const STEPS: Setting = Setting {
    name: "pe-steps",
    default: "20",
    domain: Domain::Integer {
        low: 1,
        high: 1_000_000_000,
    },
    about: "steps n of the forecasts whose mean squared error is PE(n)",
};

/// PE(n) of a fitted system, from every row that it can infer a state at and that has n successors. Not finite if forecasts
/// diverge.
pub fn prediction_error(
    dynamics: &dyn Dynamics,
    data: Stretch<'_>,
    n: usize,
) -> Result<f64, MeasureError> {
    let first = dynamics.memory().rows() - 1;
    refuse_short(data.rows(), first + n + 1)?;
    let mut forecasts = dynamics.forecasts(data);
    let width = forecasts.width();
    let starts: Vec<usize> = (first..data.len() - n).collect();
    let mut sum = 0.0;
    for starts in starts.chunks(width) {
        forecasts.start(starts);
        let seen = forecasts.advance(n, 1);
        for (branch, &t) in starts.iter().enumerate() {
            let x_hat = seen.iter().skip(branch).step_by(width);
            sum += squares(x_hat.copied(), data.row(t + n));
        }
    }
    Ok(sum / (starts.len() * data.rows().dim()) as f64)
}

/// PE(n) of forecasts that are given: `predict(t, i)` is what is said at row t about row t + i, asked for some rows t.
pub fn prediction_error_of<'a>(
    truth: Rows<'_>,
    n: usize,
    starts: impl ExactSizeIterator<Item = usize>,
    predict: impl Fn(usize, usize) -> &'a [f64],
) -> f64 {
    let count = starts.len() * truth.dim();
    let errors = starts.map(|t| squares(predict(t, n).iter().copied(), truth.row(t + n)));
    errors.sum::<f64>() / count as f64
}

/// ‖x̂ − x‖².
fn squares(x_hat: impl Iterator<Item = f64>, x: &[f64]) -> f64 {
    x_hat.zip(x).map(|(a, b)| (a - b) * (a - b)).sum()
}
