//! Correlation dimension D₂ of Grassberger and Procaccia (1983): the share of pairs of points nearer than r,
//!
//! ```text
//! C(r) = 2/(P (P − 1)) #{i < j : ‖x_i − x_j‖ < r} ~ r^D₂,   D₂ = slope of ln C over ln r
//! ```
//!
//! by least squares where C is between 10⁻⁴ and 10⁻², over at most 5000 rows, evenly spaced, standardised by the truth.
//! Pairs nearer in time than a hundredth of the record are left out: they are near because time is short (Theiler
//! 1986). As a measure, |D₂(orbit) − D₂(truth)|.

use super::surrogate::Surrogate;
use super::{
    Against, Better, Estimate, Judges, MeasureError, MeasureInfo, Rows, Side, point, spread,
    squared_distance,
};
use crate::catalogue::{Entry, Kind};

/// The difference of dimensions in the list.
pub static INFO: MeasureInfo = MeasureInfo {
    entry: Entry {
        kind: Kind::Measure,
        id: "correlation_dimension",
        summary: "difference of correlation dimensions of truth and orbit",
        details: "|D₂(orbit) − D₂(truth)| with C(r) ~ r^D₂ the share of pairs nearer than r (Grassberger and Procaccia),\n\
                  by least squares of ln C over ln r where 1e-4 ≤ C ≤ 1e-2, over 5000 rows, without pairs nearer in\n\
                  time than a hundredth of the record\n\
                  A cycle has dimension 1, Lorenz-63 2.05; noise of N channels tends to N. An orbit that has shrunk to a\n\
                  point (no channel varies by 1e-3 of the truth's spread) has none.",
        settings: &[],
        references: &["grassberger1983", "theiler1986"],
    },
    better: Better::Lower,
    judges: Judges::Orbit(|truth, _| Ok(Some(Box::new(Dimension::new(truth)?)))),
    blind_to: &[Surrogate::Shuffled],
};

/// Rows that are compared, at most.
const LARGEST: usize = 5000;

/// Pairs nearer in time than this part of the record are left out.
const WINDOW: f64 = 0.01;

/// Where the slope is taken, as shares of pairs.
const RANGE: [f64; 2] = [1e-4, 1e-2];

/// Squared distances share a bin of the histogram if they agree in their exponent and 5 bits more: 64 bins for a factor
/// of 2 in distance.
const SHIFT: u32 = 52 - 5;

/// The share of pairs nearer than r.
#[derive(Debug, Clone, PartialEq)]
pub struct CorrelationSum {
    /// r, ascending.
    pub r: Vec<f64>,
    /// C(r).
    pub c: Vec<f64>,
}

/// A truth and its dimension.
#[derive(Debug, Clone)]
pub struct Dimension {
    moments: Vec<(f64, f64)>,
    value: f64,
}

impl Dimension {
    /// The dimension of a truth.
    pub fn new(truth: Rows<'_>) -> Result<Dimension, MeasureError> {
        let moments = spread(truth)?;
        let value =
            dimension(truth, &moments).ok_or(MeasureError::NoScaling { side: Side::Truth })?;
        Ok(Dimension { moments, value })
    }

    /// D₂ of the truth.
    pub fn value(&self) -> f64 {
        self.value
    }

    /// D₂ of another series, in the units of the truth.
    pub fn of(&self, generated: Rows<'_>) -> Result<f64, MeasureError> {
        point::refuse_point(&point::shares(generated, &self.moments))?;
        dimension(generated, &self.moments).ok_or(MeasureError::NoScaling {
            side: Side::Generated,
        })
    }
}

impl Against for Dimension {
    fn judge(&self, generated: Rows<'_>) -> Result<Estimate, MeasureError> {
        Ok(Estimate::exact((self.of(generated)? - self.value).abs()))
    }
}

/// C(r) of a series, each channel in units of its given (mean, spread), for figures.
pub fn correlation_sum(rows: Rows<'_>, moments: &[(f64, f64)]) -> CorrelationSum {
    let points = rows.thinned(LARGEST, moments);
    let n = rows.dim();
    let apart = ((WINDOW * (points.len() / n) as f64) as usize).max(1);
    let mut bins = vec![0u64; (f64::INFINITY.to_bits() >> SHIFT) as usize + 1];
    for (i, a) in points.chunks_exact(n).enumerate().skip(apart) {
        for b in points.chunks_exact(n).take(i + 1 - apart) {
            let squares = squared_distance(a, b);
            bins[(squares.to_bits() >> SHIFT) as usize] += 1;
        }
    }
    cumulated(&bins)
}

/// Sums over the bins, from the first to the last that is occupied; r is the upper end of a bin.
fn cumulated(bins: &[u64]) -> CorrelationSum {
    let total = bins.iter().sum::<u64>() as f64;
    let (mut r, mut c, mut sum) = (Vec::new(), Vec::new(), 0);
    for (bin, &count) in bins.iter().enumerate() {
        sum += count;
        if sum > 0 && (sum as f64) < total {
            r.push(f64::from_bits(((bin + 1) as u64) << SHIFT).sqrt());
            c.push(sum as f64 / total);
        }
    }
    CorrelationSum { r, c }
}

/// The slope of ln C over ln r in the range; none if fewer than three radii lie there.
fn dimension(rows: Rows<'_>, moments: &[(f64, f64)]) -> Option<f64> {
    let CorrelationSum { r, c } = correlation_sum(rows, moments);
    let inside = r
        .iter()
        .zip(&c)
        .filter(|(_, c)| (RANGE[0]..=RANGE[1]).contains(*c));
    let points: Vec<(f64, f64)> = inside.map(|(r, c)| (r.ln(), c.ln())).collect();
    (points.len() >= 3).then(|| slope(&points))
}

fn slope(points: &[(f64, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / n;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / n;
    let products = points.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y));
    let squares = points.iter().map(|p| (p.0 - mean_x).powi(2));
    products.sum::<f64>() / squares.sum::<f64>()
}
