//! Learn the dynamics of a chaotic system from its time series: values in, values out.
//!
//! This crate touches no file, clock, environment or terminal. Reading order:
//!
//! 1. [`series`]: what a recording is.
//! 2. [`settings`] and [`catalogue`]: how everything a user can name is described.
//! 3. [`rng`]: seeded random streams, one a purpose.
//! 4. [`system`]: known systems, their integration, and data from them.
//! 5. [`analysis`]: what a system does in the long run.

pub mod analysis;
pub mod catalogue;
pub mod fft;
pub mod rng;
pub mod series;
pub mod settings;
pub mod system;

/// The version of the numbers. It grows when the same input and seed give other results than before, beyond what
/// rounding on another machine explains; `CHANGELOG.md` says what moved and by how much.
pub const NUMERICS: u32 = 1;
