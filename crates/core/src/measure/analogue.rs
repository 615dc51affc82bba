//! Forecasts by analogues: look up the most similar state in a library of true rows, and say what followed there
//! (Lorenz 1969). It is what the data alone can predict without a model, and a floor for forecasts.

use super::Rows;

/// A library of true rows.
#[derive(Debug, Clone)]
pub struct Library<'a> {
    rows: Rows<'a>,
    weights: Vec<f64>,
}

impl<'a> Library<'a> {
    /// Rows to look up, compared channel by channel in units of the given spreads.
    pub fn new(rows: Rows<'a>, spreads: impl Iterator<Item = f64>) -> Library<'a> {
        Library {
            rows,
            weights: spreads.map(|sd| 1.0 / (sd * sd)).collect(),
        }
    }

    /// The row most similar to x that has at least `steps` successors, the first of equals.
    pub fn nearest(&self, x: &[f64], steps: usize) -> usize {
        let candidates = self.rows.iter().take(self.rows.len() - steps);
        let distances = candidates.map(|row| self.distance(row, x)).enumerate();
        distances
            .reduce(|best, next| if next.1 < best.1 { next } else { best })
            .map_or(0, |(t, _)| t)
    }

    /// A row.
    pub fn row(&self, t: usize) -> &'a [f64] {
        self.rows.row(t)
    }

    fn distance(&self, a: &[f64], b: &[f64]) -> f64 {
        let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
        squares.zip(&self.weights).map(|(s, w)| s * w).sum()
    }
}
