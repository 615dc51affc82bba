//! The data and a free orbit of the model side by side: rows, spectra, histograms and a forecast.
//!
//! The orbit starts at the first row of the data. Its beginning is the forecast; of the rest as many rows as the data have
//! are kept behind a transient of a quarter of them, as where the model is judged. With external inputs the orbit is as
//! long as the data and nothing is dropped. It ends before the first row that is 10⁶ of the model's units away from
//! zero.

mod cloud;
mod curves;
mod projection;

use attractor_core::dynamics::{Dynamics, Stretch};
use attractor_core::measure::Rows;
use attractor_core::measure::valid_time::THRESHOLD;
use attractor_core::text::count;
use serde_json::{Value, json};

use super::material::{Material, Truth};
use super::numbers::list;
use crate::generate;
use crate::model_file::Reconstruction;
use crate::seen::Seen;
use projection::Projection;

/// Rows that spectra and histograms are made of.
const LONGEST: usize = 20_000;

/// Rows of an orbit that has no data beside it.
const ALONE: usize = 10_000;

/// Rows of a forecast.
const FORECAST: usize = 1000;

/// Rows that are drawn, and values of them over all channels.
const DRAWN: usize = 5000;
const VALUES: usize = 100_000;

/// An orbit that comes as far as this, in the units of the model, has left all bounds.
const BOUND: f64 = 1e6;

/// The data and the orbit, in the units of the data.
pub(super) struct Signals {
    dim: usize,
    /// The data, row by row; empty without any.
    truth: Vec<f64>,
    /// The orbit from the first row of the data on, as far as it is bounded; empty if there is none.
    orbit: Vec<f64>,
    /// The last row of the data from which its state is inferred.
    from: usize,
    /// Rows of it that are a transient.
    transient: usize,
    /// The row at which it leaves all bounds.
    diverged_at: Option<usize>,
    /// Why there is no orbit.
    why: Option<String>,
}

impl Signals {
    /// Lets the model run beside its data.
    pub(super) fn of(material: &Material) -> Signals {
        let truth = material.truth.as_ref().ok();
        let reconstruction = &material.reconstruction;
        let dim = reconstruction.card.channels.len();
        let rows = truth.map_or(ALONE, |truth| truth.seen.longest().len().min(LONGEST));
        let driven = !reconstruction.card.inputs.is_empty();
        let transient = if driven { 0 } else { rows / 4 };
        let seen = truth.map(|truth| &truth.seen);
        let (orbit, diverged_at, why) = match free_orbit(reconstruction, seen, rows + transient) {
            Ok((orbit, diverged_at)) => (orbit, diverged_at, None),
            Err(why) => (Vec::new(), None, Some(why)),
        };
        let longest = seen.map(Seen::longest);
        let taken = longest.map_or(1, |data| taken(reconstruction.dynamics.as_ref(), data));
        let values = |truth: &Truth| {
            let whole = truth.seen.longest().rows().slice(0..rows);
            reconstruction.card.unscaled(whole.values().to_vec())
        };
        Signals {
            dim,
            truth: truth.map_or(Vec::new(), values),
            from: taken.saturating_sub(1),
            // An orbit that ends early is shown from its start.
            transient: if diverged_at.is_some() { 0 } else { transient },
            orbit,
            diverged_at,
            why,
        }
    }

    /// What is to be known of the orbit.
    pub(super) fn note(&self, reconstruction: &Reconstruction) -> Vec<String> {
        let mut notes: Vec<String> = Vec::new();
        notes.extend(
            self.why
                .as_ref()
                .map(|why| format!("there is no free orbit: {why}")),
        );
        notes.extend(self.diverged_at.map(|row| {
            format!(
                "the free orbit leaves all bounds in row {}: what is shown ends there",
                row + 1
            )
        }));
        let inputs = reconstruction.card.inputs.len();
        if inputs > 0 {
            let inputs = count(inputs, "external input");
            notes.push(format!(
                "the live model runs with its {inputs} held at zero"
            ));
        }
        notes
    }

    /// The part of the document.
    pub(super) fn to_json(&self, material: &Material) -> Value {
        let dim = self.dim;
        let drawn = (VALUES / dim).clamp(2, DRAWN) * dim;
        let settled = &self.orbit[self.transient * dim..];
        let first: Vec<f64> = self.reference().iter().copied().step_by(dim).collect();
        let cut = |values: &[f64]| list(values[..drawn.min(values.len())].iter().copied());
        let lag = curves::delay(&first);
        let projection = Projection::of(self.reference(), dim);
        let cloud = material.truth.as_ref().map_or(Value::Null, |truth| {
            cloud::thinned(&truth.seen, drawn / dim, lag, projection.as_ref())
        });
        json!({
            "dim": dim,
            "truth": cut(&self.truth),
            "generated": cut(settled),
            "rows": {
                "truth": material.truth.as_ref().map_or(0, |truth| truth.seen.longest().len()),
                "generated": settled.len() / dim,
            },
            "transient": self.transient,
            "diverged_at": self.diverged_at,
            "lag": lag,
            "cloud": cloud,
            "projection": projection.as_ref().map(Projection::document),
            "spectra": curves::spectra(&self.truth, settled, dim, material.reconstruction.card.step.dt),
            "histograms": curves::histograms(&self.truth, settled, dim),
            "forecast": self.forecast(),
        })
    }

    /// The first channels of the data and of the orbit, of at most so many rows each: the last ones, since either may begin off the attractor.
    pub(super) fn first_channels(&self, rows: usize) -> [Vec<f64>; 2] {
        [&self.truth, &self.orbit].map(|values| {
            let from = values.len().saturating_sub(rows * self.dim);
            values[from..].iter().copied().step_by(self.dim).collect()
        })
    }

    /// The data, else the orbit.
    fn reference(&self) -> &[f64] {
        if self.truth.is_empty() {
            &self.orbit
        } else {
            &self.truth
        }
    }

    /// The beginning of the orbit beside the data, from the last row that the model takes in, and how long it is valid; null without data.
    fn forecast(&self) -> Value {
        let rows = FORECAST.min(VALUES / 3 / self.dim).max(2);
        let from = self.from;
        let rows =
            rows.min((self.truth.len().min(self.orbit.len()) / self.dim).saturating_sub(from));
        if rows < 2 {
            return Value::Null;
        }
        let threshold = THRESHOLD.default.parse().unwrap_or(0.5);
        let truth = Rows::new(&self.truth, self.dim);
        let skipped = from * self.dim;
        let valid = valid_steps(
            truth.moments(),
            Rows::new(&self.truth[skipped..], self.dim),
            Rows::new(&self.orbit[skipped..], self.dim),
            threshold,
        );
        json!({
            "from": from,
            "rows": list(self.orbit[skipped..][..rows * self.dim].iter().copied()),
            "valid": valid,
            "threshold": threshold,
        })
    }
}

/// An orbit of at most so many rows in the units of the data, and where it leaves all bounds. It begins with the first row of the
/// longest stretch of the data; rows that the model infers its state from are the data's.
fn free_orbit(
    reconstruction: &Reconstruction,
    data: Option<&Seen>,
    rows: usize,
) -> Result<(Vec<f64>, Option<usize>), String> {
    let Reconstruction { dynamics, card, .. } = reconstruction;
    let n = card.channels.len();
    let mut orbit = match data {
        Some(data) => from_data(dynamics.as_ref(), data.longest(), rows),
        None => {
            let start = generate::departure(reconstruction, None);
            let start = start.map_err(|error| error.to_string())?;
            let inputs = generate::inputs(reconstruction, None, start.row);
            let inputs = inputs.map_err(|error| error.to_string())?;
            dynamics.orbit(&start.z, &inputs, rows)
        }
    };
    let is_far = |row: &[f64]| !row.iter().all(|v| v.abs() < BOUND);
    let diverged_at = orbit.chunks_exact(n).position(is_far);
    orbit.truncate(diverged_at.unwrap_or(rows) * n);
    Ok((card.unscaled(orbit), diverged_at))
}

/// The rows that a state is inferred from, and the orbit behind them.
fn from_data(dynamics: &dyn Dynamics, data: Stretch<'_>, rows: usize) -> Vec<f64> {
    let taken = taken(dynamics, data);
    let shown = (taken - 1 + dynamics.lead()).min(rows);
    let mut z = vec![0.0; dynamics.sizes().state];
    dynamics.infer(data.slice(0..taken), &mut z);
    let inputs = data.inputs_of(taken - 1..data.len());
    let orbit = dynamics.orbit(&z, inputs, rows - shown);
    let given = &data.rows().values()[..shown * data.rows().dim()];
    [given, &orbit].concat()
}

/// Rows of the data that a state is inferred from.
fn taken(dynamics: &dyn Dynamics, data: Stretch<'_>) -> usize {
    dynamics.memory().rows().min(data.len())
}

/// Steps behind the first row for which e ≤ ε, e² = 1/N Σ (x̂ − x)²/σ², with the moments (mean, σ) of all data; a channel that does not vary
/// counts in its own units.
fn valid_steps(
    moments: Vec<(f64, f64)>,
    truth: Rows<'_>,
    orbit: Rows<'_>,
    threshold: f64,
) -> usize {
    let spread: Vec<f64> = (moments.into_iter())
        .map(|(_, sd)| if sd > 0.0 { sd } else { 1.0 })
        .collect();
    let error = |(x, x_hat): (&[f64], &[f64])| {
        let off = |i: usize| ((x_hat[i] - x[i]) / spread[i]).powi(2);
        ((0..x.len()).map(off).sum::<f64>() / x.len() as f64).sqrt()
    };
    let pairs = truth.iter().zip(orbit.iter()).skip(1);
    pairs.take_while(|&pair| error(pair) <= threshold).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forecast_is_valid_while_it_is_near() {
        // Spread 1 about 0; off by 0.4, 0.5, 0.6.
        let truth = [0.0, 1.0, -1.0, 1.0, -1.0, 0.0];
        let (_, sd) = Rows::new(&truth, 1).moments()[0];
        let off = |e: [f64; 4]| {
            let mut orbit = truth;
            (0..4).for_each(|i| orbit[i + 1] += e[i] * sd);
            let truth = Rows::new(&truth, 1);
            valid_steps(truth.moments(), truth, Rows::new(&orbit, 1), 0.55)
        };
        assert_eq!(off([0.4, 0.5, 0.6, 0.0]), 2);
        assert_eq!(off([0.6, 0.0, 0.0, 0.0]), 0);
        assert_eq!(off([0.0; 4]), 5);
        assert_eq!(off([0.0, f64::NAN, 0.0, 0.0]), 1);
    }
}
