//! Recordings of instruments and other programs: EDF, WFDB, MATLAB, HDF5 and Parquet, made by hand here and by those
//! programs' own libraries where Python has them; every error in them; what is chosen of them.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests"
)]

mod by_hand;
mod choice;
mod edf;
mod independent;
mod mat;
mod wfdb;

use std::fs;
use std::path::Path;

use attractor::format::{self, FormatError, ReadOptions};
use attractor::series::{Channel, Series};
use tempfile::TempDir;

/// Reads a file with this content under this name.
fn read_as(name: &str, content: &[u8], options: &ReadOptions) -> Result<Series, FormatError> {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, content).unwrap();
    format::read(&path, options)
}

/// What is said about a file, and the hint.
fn said(result: Result<Series, FormatError>) -> (String, String) {
    let error = result.unwrap_err();
    (
        error.fault.to_string(),
        error.hint().map_or(String::new(), |hint| hint.to_string()),
    )
}

fn names(series: &Series) -> Vec<&str> {
    series.channels().iter().map(|c| c.name.as_str()).collect()
}

fn channel(name: &str, unit: &str) -> Channel {
    Channel {
        name: name.into(),
        unit: unit.into(),
    }
}

fn channels(patterns: &[&str]) -> ReadOptions {
    let parse = |text: &&str| {
        let Ok(pattern) = text.parse();
        pattern
    };
    ReadOptions {
        channels: patterns.iter().map(parse).collect(),
        ..ReadOptions::default()
    }
}

fn x_of(series: &Series) -> &[f64] {
    &series.trajectories()[0].x
}

fn write(folder: &Path, name: &str, content: &[u8]) -> std::path::PathBuf {
    let path = folder.join(name);
    fs::write(&path, content).unwrap();
    path
}
