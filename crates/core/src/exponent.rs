//! The largest Lyapunov exponent of a recording, from how fast its neighbours part:
//!
//! ```text
//! S(k) ≈ S(0) + λ k Δt  where S is straight
//! ```
//!
//! S(k) is the mean logarithm of the distance of neighbours after k steps, by the method of Rosenstein et al. (1993) or of Kantz
//! (1994), in delay vectors of several dimensions; λ is the mean over dimensions and its error their standard deviation, which
//! does not contain the errors that all dimensions share. At first distances turn into the fastest growing direction, at last they are as large as the attractor; the straight
//! region between is found by itself or given. The predictability time is ln 2/λ.

pub mod automatic;
mod divergence;
mod fit;

use std::ops::RangeInclusive;

use crate::embed::EmbedError;
use crate::embed::columns::Columns;
use crate::progress::{Follow, tell};
use crate::series::mean_and_sd;
use divergence::Divergence;

pub use fit::Fit;

/// How neighbours are chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// All within a radius; distances are averaged before the logarithm.
    Kantz,
    /// The nearest.
    Rosenstein,
}

/// What the distance of two neighbours is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distance {
    /// That of their delay vectors.
    Euclidean,
    /// That of their first coordinates.
    First,
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The channel.
    pub channel: usize,
    /// How neighbours are chosen.
    pub method: Method,
    /// What their distance is.
    pub distance: Distance,
    /// The dimensions of the delay vectors.
    pub dims: RangeInclusive<usize>,
    /// The delay τ in rows.
    pub delay: usize,
    /// Points at most this many rows apart do not count as neighbours.
    pub theiler: usize,
    /// The region of the fit in steps; found where not given.
    pub fit: Option<RangeInclusive<usize>>,
    /// Worker threads; the result does not depend on them.
    pub threads: usize,
}

/// What was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Exponent {
    /// Curve and fit of every dimension.
    pub curves: Vec<Curve>,
    /// λ per row, the mean over dimensions that have a fit; none if no dimension has.
    pub per_row: Option<f64>,
    /// Spread over dimensions, their standard deviation; none for fewer than two.
    pub error: Option<f64>,
}

/// The divergence of neighbours in one dimension.
#[derive(Debug, Clone, PartialEq)]
pub struct Curve {
    /// The dimension.
    pub dim: usize,
    /// S(0), S(1), …
    pub values: Vec<f64>,
    /// The line through the straight region; none if there is no such region.
    pub fit: Option<Fit>,
}

impl Exponent {
    /// λ and its error per unit of time.
    pub fn per_time(&self, dt: f64) -> (Option<f64>, Option<f64>) {
        let per_time = |v: Option<f64>| v.map(|v| v / dt);
        (per_time(self.per_row), per_time(self.error))
    }

    /// ln 2/λ in rows: how long it takes neighbours to part to twice their distance; none unless λ > 0.
    pub fn predictability(&self) -> Option<f64> {
        let positive = self.per_row.filter(|&lambda| lambda > 0.0);
        positive.map(|lambda| std::f64::consts::LN_2 / lambda)
    }
}

/// The largest exponent of one channel.
pub fn exponent(
    columns: &Columns,
    plan: &Plan,
    follow: &mut dyn Follow,
) -> Result<Exponent, EmbedError> {
    refuse_too_short(columns, plan)?;
    let (mut curves, total) = (Vec::new(), plan.dims.clone().count() as u64);
    for (dim, done) in plan.dims.clone().zip(0..) {
        tell(follow, "following neighbours", done, total)?;
        curves.push(curve(columns, dim, plan));
    }
    let slopes = curves
        .iter()
        .filter_map(|curve| Some(curve.fit.as_ref()?.slope));
    let (mean, sd) = mean_and_sd(slopes.clone());
    let count = slopes.count();
    Ok(Exponent {
        per_row: (count > 0).then_some(mean),
        error: (count > 1).then_some(sd),
        curves,
    })
}

/// Points beside the Theiler window that every search has, at least.
const FEWEST: usize = 50;

fn refuse_too_short(columns: &Columns, plan: &Plan) -> Result<(), EmbedError> {
    let horizon = plan.fit.as_ref().map_or(FIRST_HORIZON, |fit| *fit.end());
    let needed = (plan.dims.end() - 1) * plan.delay + 2 * plan.theiler + FEWEST + horizon;
    let found = columns.len();
    if found < needed {
        Err(EmbedError::TooShort { needed, found })
    } else {
        Ok(())
    }
}

fn curve(columns: &Columns, dim: usize, plan: &Plan) -> Curve {
    let divergence = Divergence::new(columns, dim, plan);
    let longest = longest_horizon(divergence.len(), plan);
    let values = match &plan.fit {
        Some(fit) => divergence.curve((2 * fit.end()).min(longest).max(*fit.end())),
        None => until_level(&divergence, plan, longest),
    };
    let fit = match &plan.fit {
        Some(region) => fit::line(&values, region.clone()),
        None => fit::straight_region(&values, plan.delay),
    };
    Curve { dim, values, fit }
}

/// A quarter of the points, but no more than leaves every search its points.
fn longest_horizon(points: usize, plan: &Plan) -> usize {
    (points / 4)
        .max(FIRST_HORIZON)
        .min(points - 2 * plan.theiler - FEWEST)
}

/// The first horizon, in delays.
const FIRST_HORIZON: usize = 16;

/// The part of the whole rise below which the later half of a curve is level.
const LEVEL: f64 = 0.1;

/// A curve up to where it has become level: the horizon is doubled until the later half rises little.
fn until_level(divergence: &Divergence<'_>, plan: &Plan, longest: usize) -> Vec<f64> {
    let mut horizon = (FIRST_HORIZON * plan.delay).min(longest);
    loop {
        let values = divergence.curve(horizon);
        let highest = |part: &[f64]| part.iter().copied().fold(f64::MIN, f64::max);
        let (early, all) = (highest(&values[..=horizon / 2]), highest(&values));
        if horizon == longest || all - early < LEVEL * (all - values[0]) {
            return values;
        }
        horizon = (2 * horizon).min(longest);
    }
}
