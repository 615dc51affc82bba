//! Studies as tables, beside the paper's.

pub mod paper;
