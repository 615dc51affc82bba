//! A system as a script runs it: products and waves of its variables, sums of them, and how to integrate these if it is a flow.
//!
//! Values stand in slots: 1, the variables (channels, then inputs), then one operation after another. Sums are taken in the order in which
//! they stand here, so that a script in double precision computes the same bits, but for sines and cosines.

use serde::Serialize;

/// A system in closed form.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Recipe {
    /// Channels N, which are the state.
    pub channels: usize,
    /// External inputs K.
    pub inputs: usize,
    /// What fills the slots behind 1 and the variables.
    pub operations: Vec<Operation>,
    /// The right-hand sides: slots and their coefficients.
    pub sums: Vec<Vec<(usize, f64)>>,
    /// How a flow is integrated; none if the sums are the next row.
    pub flow: Option<FlowRecipe>,
}

/// What fills a slot.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// A product of two slots.
    Times(usize, usize),
    /// sin of a slot times a number.
    Sin(usize, f64),
    /// cos of a slot times a number.
    Cos(usize, f64),
}

/// How a flow is integrated over a sampling step: by steps that are halved where their error is too large.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowRecipe {
    /// Δt.
    pub dt: f64,
    /// Relative tolerance.
    pub relative: f64,
    /// Absolute tolerance, by channel.
    pub absolute: Vec<f64>,
    /// Largest value, by channel.
    pub bound: Vec<f64>,
    /// How often a step is halved at most.
    pub halvings: usize,
    /// a_ij of every stage, as (stage, coefficient).
    pub stages: Vec<Vec<(usize, f64)>>,
    /// b_j of the solution.
    pub weights: Vec<(usize, f64)>,
    /// b_j − b̂_j of the two embedded solutions, of order 5 and 3.
    pub errors: [Vec<(usize, f64)>; 2],
}
