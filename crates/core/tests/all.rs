//! Tests of the mathematics from outside: all of this folder in one binary, because linking one per file takes minutes.
//! A new file is a line here; `cargo xtask tidy` finds one that is not.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

mod common;
mod continuous_training;
mod dynamics;
mod embedding;
mod errors;
#[path = "gradients/main.rs"]
mod gradients;
mod known_maps;
mod laws;
mod measures;
mod pysindy;
mod recurrent;
mod recurrent_training;
mod scipy;
mod scipy_measures;
mod sindy;
