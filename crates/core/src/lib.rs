//! Learn the dynamics of a chaotic system from its time series: values in, values out.
//!
//! This crate touches no file, clock, environment or terminal. Reading order:
//!
//! 1. [`series`]: what a recording is.
//! 2. [`settings`] and [`catalogue`]: how everything a user can name is described.
//! 3. [`rng`]: seeded random streams, one a purpose.
//! 4. [`inspect`]: what to know about a recording before training on it.

pub mod catalogue;
pub mod inspect;
pub mod rng;
pub mod series;
pub mod settings;
