//! The command as a user runs it: every test of this folder in one binary, because linking one per file takes minutes.
//! A new file is a line here; `cargo xtask tidy` finds one that is not.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

mod analyze;
mod bench;
mod bits;
mod catalogue;
mod clusters;
mod columns;
mod common;
mod convert;
mod demo;
mod embed;
#[path = "faults/main.rs"]
mod faults;
mod generate;
mod inspect;
mod latent_ode;
mod learn;
mod line_search;
mod measure;
mod neural_ode;
mod plot;
mod prepare;
mod recurrent;
mod report;
mod resume;
mod simulate;
mod sindy;
#[path = "sweep/main.rs"]
mod sweep;
mod train;
mod watch;
