//! Learn the dynamics of a chaotic system from its time series: values in, values out.
//!
//! This crate touches no file, clock, environment or terminal. Reading order:
//!
//! 1. [`series`]: what a recording is.
//! 2. [`map`], [`observation`], [`model`]: what is trained, in plain f64.
//! 3. [`forcing`], [`windows`], [`penalty`], [`optim`], [`train`]: how it is trained.
//! 4. `kernel` and [`simd`]: how training is fast.
//! 5. [`laws`] and [`reference`](mod@reference): what every map, observation model and forcing must satisfy.
//! 6. [`settings`] and [`catalogue`]: how everything a user can name is described.
//! 7. [`theta`], [`linalg`], [`rng`]: what all of it stands on.

pub mod catalogue;
pub mod forcing;
mod kernel;
pub mod laws;
pub mod linalg;
pub mod map;
pub mod model;
pub mod observation;
pub mod optim;
pub mod penalty;
pub mod reference;
pub mod rng;
pub mod series;
pub mod settings;
pub mod simd;
pub mod theta;
pub mod train;
pub mod windows;
