//! From a recording and an experiment to stored runs, tables and reports.
//!
//! Everything of [`attractor_core`] is re-exported; this crate adds what touches the disk.

pub use attractor_core::*;

pub mod anatomy;
pub mod arrays;
pub mod bench;
pub mod chart;
mod container;
mod digest;
pub mod drawing;
pub mod embedding;
pub mod engine;
pub mod equations;
pub mod error;
pub mod evaluation;
pub mod experiment;
pub mod figure;
mod fingerprint;
pub mod format;
pub mod generate;
pub mod glossary;
pub mod inspection;
pub mod learn;
pub mod library;
pub mod line_search;
pub mod model_file;
pub mod options;
pub mod paper;
pub mod pipeline;
pub mod recording_exponent;
pub mod references;
pub mod report;
pub mod run;
pub mod seen;
pub mod shell;
pub mod spectrum;
mod spreadsheet;
pub mod store;
pub mod study;
pub mod sweep;
pub mod table;
pub mod verdict;
pub mod watch;

pub use error::Error;
