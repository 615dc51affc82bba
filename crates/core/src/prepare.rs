//! What is done to a recording before a model sees it.

mod detrend;
mod extend;
mod filter;
mod hann;
mod resample;
mod smooth;

pub use detrend::detrend;
pub use filter::{Band, FilterError, filter};
pub use hann::{hann, hann_padded};
pub use resample::{ResampleError, resample};
pub use smooth::gaussian;
