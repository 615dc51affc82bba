//! The checks, a file a subject. Each is a function from the measured [`Record`](super::Record) to what it saw.

pub(super) mod clock;
pub(super) mod constant;
pub(super) mod delays;
pub(super) mod drift;
pub(super) mod duplicates;
pub(super) mod held;
pub(super) mod hidden;
pub(super) mod length;
pub(super) mod missing;
pub(super) mod outliers;
pub(super) mod quantised;
pub(super) mod scale;
pub(super) mod sentinel;
pub(super) mod transient;
