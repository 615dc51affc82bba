//! What is done to a recording before a model sees it.

mod detrend;
mod every;
mod extend;
mod filter;
mod hann;
mod interpolate;
mod missing;
mod noise;
mod on_grid;
mod regular;
mod resample;
mod smooth;

pub use detrend::detrend;
pub use every::every;
pub use filter::{Band, FilterError, filter};
pub use hann::{hann, hann_padded};
pub use interpolate::interpolate;
pub use missing::{stands_for_missing, without};
pub use noise::noise;
pub use on_grid::{OffGrid, on_grid};
pub use regular::regular;
pub use resample::{ResampleError, resample};
pub use smooth::gaussian;
