//! A trajectory as a matrix: T rows of N channels, row-major, with its means and covariances.

use crate::series::mean_and_sd;

/// A trajectory as a matrix: T rows of N channels, row-major.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rows<'a> {
    x: &'a [f64],
    dim: usize,
}

impl<'a> Rows<'a> {
    /// A view of values that fill their rows.
    pub fn new(x: &'a [f64], dim: usize) -> Rows<'a> {
        assert!(
            dim > 0 && x.len().is_multiple_of(dim),
            "{} values do not fill rows of {dim}",
            x.len()
        );
        Rows { x, dim }
    }

    /// Number of rows T.
    pub fn len(&self) -> usize {
        self.x.len() / self.dim
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// Number of channels N.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// All values, row-major.
    pub fn values(&self) -> &'a [f64] {
        self.x
    }

    /// One row.
    pub fn row(&self, t: usize) -> &'a [f64] {
        &self.x[t * self.dim..][..self.dim]
    }

    /// The rows, in order.
    pub fn iter(&self) -> std::slice::ChunksExact<'a, f64> {
        self.x.chunks_exact(self.dim)
    }

    /// One channel.
    pub fn column(&self, channel: usize) -> impl Iterator<Item = f64> + Clone + use<'a> {
        self.iter().map(move |row| row[channel])
    }

    /// The rows of a range.
    pub fn slice(&self, rows: std::ops::Range<usize>) -> Rows<'a> {
        Rows::new(
            &self.x[rows.start * self.dim..rows.end * self.dim],
            self.dim,
        )
    }

    /// The two halves; an odd row in the middle is left out.
    pub fn halves(&self) -> (Rows<'a>, Rows<'a>) {
        let half = self.len() / 2;
        (
            self.slice(0..half),
            self.slice(self.len() - half..self.len()),
        )
    }

    /// Mean and sample standard deviation (n − 1) of every channel.
    pub fn moments(&self) -> Vec<(f64, f64)> {
        (0..self.dim).map(|i| mean_and_sd(self.column(i))).collect()
    }

    /// The mean of every channel.
    pub fn means(&self) -> Vec<f64> {
        self.moments().into_iter().map(|(mean, _)| mean).collect()
    }

    /// The sample covariance (n − 1) about given means, N × N.
    pub fn covariance(&self, means: &[f64]) -> Vec<f64> {
        let n = self.dim;
        let weight = 1.0 / (self.len().saturating_sub(1).max(1)) as f64;
        let mut covariance = vec![0.0; n * n];
        for row in self.iter() {
            for (i, to) in covariance.chunks_exact_mut(n).enumerate() {
                let scaled = weight * (row[i] - means[i]);
                let others = row.iter().zip(means);
                to.iter_mut()
                    .zip(others)
                    .for_each(|(to, (x, mean))| *to += scaled * (x - mean));
            }
        }
        covariance
    }

    /// At most `most` rows, evenly spaced, each channel as (x − mean)/sd.
    pub(crate) fn thinned(&self, most: usize, moments: &[(f64, f64)]) -> Vec<f64> {
        let kept = self.len().min(most);
        let rows = (0..kept).map(|i| self.row(i * self.len() / kept));
        rows.flat_map(|row| {
            row.iter()
                .zip(moments)
                .map(|(x, (mean, sd))| (x - mean) / sd)
        })
        .collect()
    }
}
