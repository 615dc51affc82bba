//! The loss over two parameters, all others held:  ℒ(θ_1 + u, θ_2 + v) on a square grid, for some α. Without forcing it is
//! rugged, and smooth with it. How rugged is measured by the total variation along the lines of the grid.

use crate::forcing::Forcing;
use crate::model::Architecture;
use crate::reference::{Batch, loss};
use crate::series::Series;

/// What is varied, and over which data.
#[derive(Clone, Debug)]
pub struct Landscape<'a> {
    /// The model.
    pub architecture: &'a Architecture,
    /// All its parameters.
    pub theta: &'a [f64],
    /// The two that are varied, by their places in θ.
    pub varied: [usize; 2],
    /// How far on either side.
    pub reach: f64,
    /// Points of the grid along each side.
    pub points: usize,
    /// The data; windows are of its first trajectory.
    pub series: &'a Series,
    /// Predicted steps of a window.
    pub window: usize,
    /// First rows of the windows.
    pub starts: &'a [usize],
}

/// The loss on a grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Surface {
    /// The strength of forcing.
    pub alpha: f64,
    /// The loss, row by row; rows are values of the first parameter. Infinite or NaN where an orbit diverges.
    pub loss: Vec<f64>,
    /// Points along each side.
    pub points: usize,
}

/// The loss on the grid for one α, on some threads.
pub fn loss_landscape(landscape: &Landscape<'_>, alpha: f64, threads: usize) -> Surface {
    let points = landscape.points;
    let mut values = vec![0.0; points * points];
    let share = points.div_ceil(threads.max(1)) * points;
    std::thread::scope(|scope| {
        for (i, part) in values.chunks_mut(share).enumerate() {
            scope.spawn(move || {
                let mut theta = landscape.theta.to_vec();
                for (e, value) in (i * share..).zip(part) {
                    *value = landscape.loss_at(&mut theta, (e / points, e % points), alpha);
                }
            });
        }
    });
    Surface {
        alpha,
        loss: values,
        points,
    }
}

impl Landscape<'_> {
    /// How far point i of the grid is from the middle.
    pub fn offset(&self, i: usize) -> f64 {
        self.reach * (2.0 * i as f64 / (self.points - 1).max(1) as f64 - 1.0)
    }

    fn loss_at(&self, theta: &mut [f64], (row, column): (usize, usize), alpha: f64) -> f64 {
        for (place, i) in self.varied.into_iter().zip([row, column]) {
            theta[place] = self.theta[place] + self.offset(i);
        }
        let batch = Batch {
            series: self.series,
            window: self.window,
            starts: self.starts,
            forcing: Forcing::Generalized { alpha },
        };
        loss(self.architecture, theta, self.theta, &batch)
    }
}

impl Surface {
    /// The mean over the lines of the grid of Σ|Δℒ|, where neighbours are finite.
    pub fn variation(&self) -> f64 {
        let n = self.points;
        let change = |a: f64, b: f64| {
            let difference = (a - b).abs();
            if difference.is_finite() {
                difference
            } else {
                0.0
            }
        };
        let along = |stride: usize, across: usize| -> f64 {
            let line = |start: usize| -> f64 {
                let value = |i: usize| self.loss[start + i * stride];
                (1..n).map(|i| change(value(i), value(i - 1))).sum()
            };
            (0..n).map(|i| line(i * across)).sum()
        };
        (along(1, n) + along(n, 1)) / (2 * n) as f64
    }
}
