//! What is done to a recording before a model sees it.

mod smooth;

pub use smooth::gaussian;
