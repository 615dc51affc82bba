//! The three directions along which standardised rows vary most: of many channels, the axes of a picture.

use attractor_core::measure::Rows;
use attractor_core::observation::components::Components;
use serde_json::{Value, json};

use crate::report::numbers::{list, rounded};

/// Rows that they are computed from.
const ROWS: usize = 2000;

/// Channels from which a picture has components for axes.
const FEWEST: usize = 4;

/// Directions, and what rows are standardised by.
pub(super) struct Projection {
    mean: Vec<f64>,
    sd: Vec<f64>,
    /// One after the other.
    components: [Vec<f64>; 3],
    /// Their parts of the variance.
    shares: [f64; 3],
}

impl Projection {
    /// None below four channels, or of hardly any rows.
    pub(super) fn of(values: &[f64], n: usize) -> Option<Projection> {
        if n < FEWEST || values.len() < 2 * n {
            return None;
        }
        let rows = Rows::new(values, n);
        let (mean, sd): (Vec<f64>, Vec<f64>) = rows.moments().into_iter().unzip();
        let sd: Vec<f64> = (sd.into_iter())
            .map(|sd| if sd > 0.0 { sd } else { 1.0 })
            .collect();
        let thinned = rows.iter().step_by((rows.len() / ROWS).max(1));
        let scaled = |row: &[f64]| (0..n).map(|i| (row[i] - mean[i]) / sd[i]).collect();
        let u: Vec<f64> = thinned.flat_map::<Vec<f64>, _>(scaled).collect();
        let u = Rows::new(&u, n);
        let Components { vectors, values } = Components::of_rows(u, 3);
        // The mean square of a row is the sum of all λ.
        let total =
            u.moments().iter().map(|(_, sd)| sd * sd).sum::<f64>() * (1.0 - 1.0 / u.len() as f64);
        Some(Projection {
            components: [0, 1, 2].map(|k| (0..n).map(|i| vectors[i * 3 + k]).collect()),
            shares: [0, 1, 2].map(|k| values[k] / total),
            mean,
            sd,
        })
    }

    /// How far a row is along one of them.
    pub(super) fn component(&self, row: &[f64], k: usize) -> f64 {
        let weights = self.components[k].iter().enumerate();
        weights
            .map(|(i, w)| w * (row[i] - self.mean[i]) / self.sd[i])
            .sum()
    }

    /// As the page reads it.
    pub(super) fn document(&self) -> Value {
        let numbers = |values: &[f64]| list(values.iter().copied());
        json!({
            "mean": numbers(&self.mean),
            "sd": numbers(&self.sd),
            "components": self.components.each_ref().map(|one| numbers(one)),
            "shares": self.shares.map(rounded),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four channels that are multiples of two independent ones: two directions hold everything.
    #[test]
    fn principal_components_hold_what_varies() {
        let rows = (0..500).flat_map(|t| {
            let (a, b) = ((f64::from(t) * 0.37).sin(), (f64::from(t) * 1.91).cos());
            [a, 5.0 * a, b + 3.0, -b]
        });
        let rows: Vec<f64> = rows.collect();
        let found = Projection::of(&rows, 4).unwrap();
        // Rounding of a decomposition of 4 × 4.
        assert!(
            (found.shares[0] + found.shares[1] - 1.0).abs() < 1e-9,
            "{:?}",
            found.shares
        );
        assert!(Projection::of(&rows, 2).is_none());
        // The mean is where all components are zero.
        assert!((0..3).all(|k| found.component(&found.mean, k) == 0.0));
    }
}
