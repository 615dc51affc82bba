//! Data that can be trained on: prepared, and refused where single precision or smoothing would leave nothing of them.

use attractor_core::series::{Channel, Series};

use super::{ExperimentError, Preparation, Prepared};

/// Data as a preparation asks, where they can be trained on.
pub(crate) fn prepare(
    preparation: &Preparation,
    series: &Series,
) -> Result<Prepared, ExperimentError> {
    refuse_over_smoothing(series, preparation.smooth)?;
    let data = preparation
        .prepare(series)
        .map_err(ExperimentError::Split)?;
    refuse_large(&data.series)?;
    refuse_small(&data.series)?;
    Ok(data)
}

/// Squares of values beyond this are beyond single precision.
const LARGEST: f64 = 1e18;

/// Squares of differences below this are below single precision.
const LEAST: f64 = 1e-18;

/// Names the first channel that varies, but by too little.
fn refuse_small(series: &Series) -> Result<(), ExperimentError> {
    for (c, channel) in series.channels().iter().enumerate() {
        let present = series.column(c).filter(|v| !v.is_nan());
        let (low, high) = present.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| {
            (low.min(v), high.max(v))
        });
        if low < high && high - low < LEAST {
            return Err(ExperimentError::TooSmall {
                channel: channel.name.clone(),
                range: high - low,
            });
        }
    }
    Ok(())
}

/// Names the largest of the values that are too large.
fn refuse_large(series: &Series) -> Result<(), ExperimentError> {
    let columns = |values: &'_ [f64], channels: &'_ [Channel]| -> Option<(f64, String)> {
        let size = |i: &usize| values[*i].abs();
        let large = (0..values.len()).filter(|i| size(i) > LARGEST);
        let largest = large.max_by(|i, j| size(i).total_cmp(&size(j)))?;
        let channel = &channels[largest % channels.len()];
        Some((values[largest], channel.name.clone()))
    };
    let found = series.trajectories().iter().flat_map(|t| {
        let of_x = columns(&t.x, series.channels());
        [of_x, columns(&t.s, series.inputs())]
    });
    let largest = found
        .flatten()
        .max_by(|(a, _), (b, _)| a.abs().total_cmp(&b.abs()));
    match largest {
        Some((value, channel)) => Err(ExperimentError::TooLarge { channel, value }),
        None => Ok(()),
    }
}

/// Half of the kernel that data are smoothed with, in widths of the Gaussian.
pub(super) const REACH: usize = 4;

/// A kernel that is wider than all data mirrors them again and again: little but their mean is left.
fn refuse_over_smoothing(series: &Series, sigma: f64) -> Result<(), ExperimentError> {
    let rows = 2 * (REACH as f64 * sigma).ceil() as usize + 1;
    let trajectories = 0..series.trajectories().len();
    let lengths = trajectories
        .flat_map(|i| series.segments(i))
        .map(|rows| rows.len());
    let longest = lengths.max().expect("a series has a row");
    if sigma > 0.0 && rows > longest {
        Err(ExperimentError::Smooth { rows, longest })
    } else {
        Ok(())
    }
}
