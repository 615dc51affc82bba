//! What a system, known or learnt, does in the long run, and why.
//!
//! | module | question |
//! | --- | --- |
//! | [`lyapunov`] | how fast do neighbours part? |
//! | [`fixed_points`], [`cycles`] | where does it rest, and which orbits close? |
//! | [`equilibria`] | where does a known system rest? |
//! | [`basins`] | where do other orbits end? |
//! | [`period`] | when does a regular orbit come back? |
//! | [`regions`] | which linear pieces does an orbit visit, in which order? |
//! | [`conversion`] | which other model is the same map? |
//! | [`gradients`] | how do gradients grow along a sequence under forcing? |
//!
//! They stand on [`arrangement`] (the cells between planes), [`stability`] (what multipliers mean) and [`membership`]
//! (whether a point is on an attractor).

pub mod arrangement;
pub mod basins;
pub mod conversion;
pub mod cycles;
pub mod equilibria;
pub mod fixed_points;
pub mod gradients;
pub mod lyapunov;
pub mod membership;
pub mod period;
pub mod regions;
pub mod stability;
