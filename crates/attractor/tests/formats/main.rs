//! Laws of all formats: a series that is written is read back as it was, whatever bytes a file has nothing
//! panics, and every error in a file gets the message that names its place.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

mod dates;
mod errors;
mod laws;
mod text;
mod written;

use std::fs;
use std::path::{Path, PathBuf};

use attractor::format::{self, Column, Fault, ReadOptions};
use attractor::series::{Channel, Gap, Series, Step, Trajectory};
use proptest::prelude::*;
use tempfile::TempDir;

/// Reads a file with this content under this name.
fn read_as(
    name: &str,
    content: &[u8],
    options: &ReadOptions,
) -> Result<Series, format::FormatError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    format::read(&path, options)
}

fn csv(content: &str) -> Result<Series, format::FormatError> {
    read_as("a.csv", content.as_bytes(), &ReadOptions::default())
}

fn columns(list: &[&str]) -> Vec<Column> {
    list.iter().map(|text| text.parse().unwrap()).collect()
}

fn names(channels: &[Channel]) -> Vec<&str> {
    channels.iter().map(|c| c.name.as_str()).collect()
}

/// Equality in which NaN equals NaN.
fn assert_same(a: &Series, b: &Series) {
    let blank = |series: &Series| {
        let trajectories = series.trajectories().iter().cloned().map(|t| Trajectory {
            x: vec![0.0; t.x.len()],
            s: vec![0.0; t.s.len()],
            ..t
        });
        series.with(trajectories.collect()).unwrap()
    };
    assert_eq!(blank(a), blank(b));
    let bits = |series: &Series| -> Vec<u64> {
        let values = series
            .trajectories()
            .iter()
            .flat_map(|t| t.x.iter().chain(&t.s));
        values
            .map(|v| {
                if v.is_nan() {
                    0x7ff8 << 48
                } else {
                    v.to_bits()
                }
            })
            .collect()
    };
    assert_eq!(bits(a), bits(b));
}

fn written_and_read(name: &str, series: &Series) -> Series {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    format::write(&path, series).unwrap();
    format::read(&path, &ReadOptions::default()).unwrap()
}
