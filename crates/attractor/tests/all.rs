//! Tests of the library from outside: all of this folder in one binary, because linking one per file takes minutes.
//! A new file is a line here; `cargo xtask tidy` finds one that is not.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

mod calibration;
mod driven;
#[path = "formats/main.rs"]
mod formats;
mod imported;
mod measures;
mod model_file;
mod numpy;
mod prepare;
#[path = "recordings/main.rs"]
mod recordings;
#[path = "results/main.rs"]
mod results;
mod study;
