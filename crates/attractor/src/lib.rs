//! From a recording and an experiment to stored runs, tables and reports.
//!
//! Everything of [`attractor_core`] is re-exported; this crate adds what touches the disk.

pub use attractor_core::*;

pub mod error;
pub mod format;
pub mod inspection;
pub mod library;
pub mod references;
pub mod store;

pub use error::Error;
