//! Learn the dynamics of a chaotic system from its time series: values in, values out.
//!
//! This crate touches no file, environment or terminal. Reading order:
//!
//! 1. [`series`]: what a recording is; [`inspect`](mod@inspect): what a colleague would notice in it.
//!    [`embed`] makes states of it, [`exponent`](mod@exponent) its largest Lyapunov exponent.
//! 2. [`system`]: known systems, their integration, and data from them.
//! 3. [`dynamics`]: what every method gives, and all that happens after fitting sees; [`method`]: how a method is described.
//! 4. [`map`], [`observation`], [`model`]: what is trained under teacher forcing, in plain f64.
//! 5. [`forcing`], [`windows`], [`penalty`], [`optim`], [`mod@train`]: how it is trained.
//! 6. `kernel` and [`simd`]: how training is fast.
//! 7. [`laws`] and [`reference`](mod@reference): what every system, map, observation model and forcing must satisfy.
//! 8. [`analysis`]: what a system does in the long run.
//! 9. [`measure`]: how far a reconstruction is from the truth, and how far chance and the data themselves are.
//! 10. [`settings`] and [`catalogue`]: how everything a user can name is described.
//! 11. [`rows`], [`theta`], [`linalg`], [`fft`], [`rng`], [`text`]: what all of it stands on.

pub mod analysis;
pub mod catalogue;
mod continuous;
pub mod dynamics;
pub mod embed;
pub mod equations;
pub mod exponent;
pub mod forcing;
pub mod hint;
pub mod inspect;
mod kernel;
pub mod laws;
pub mod linalg;
pub mod map;
pub mod measure;
pub mod method;
pub mod model;
pub mod observation;
pub mod optim;
pub mod penalty;
pub mod prepare;
pub mod progress;
pub mod recurrent;
pub mod reference;
pub mod rng;
pub mod rows;
pub mod series;
pub mod settings;
pub mod simd;
pub mod spread;
pub mod system;
mod tanh;
pub mod text;
pub mod theta;
pub mod train;
pub mod windows;

pub use attractor_numerics::fft;

/// The version of the numbers. It grows when the same input and seed give other results than before, beyond what
/// rounding on another machine explains; `CHANGELOG.md` says what moved and by how much.
pub const NUMERICS: u32 = 10;
