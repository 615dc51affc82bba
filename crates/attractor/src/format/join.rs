//! Signals of several rates in one table: each group is brought to one rate, then they stand side by side as far as all
//! of them reach.

use attractor_core::series::{Channel, Series, Trajectory};

use super::{Column, Fault, ReadOptions};
use attractor_core::prepare::resample;

/// One group of signals, read by `read` and brought to a rate.
pub(super) fn one_rate(
    read: impl Fn(&ReadOptions) -> Result<Series, Fault>,
    names: &[String],
    rate: f64,
    options: &ReadOptions,
) -> Result<Series, Fault> {
    let group = ReadOptions {
        channels: names.iter().cloned().map(Column::Name).collect(),
        ..options.clone()
    };
    Ok(resample(&read(&group)?, rate)?)
}

/// Series of one step and the same trajectories side by side, the channels in this order.
pub(super) fn columns(series: &[Series], order: &[Channel]) -> Result<Series, Fault> {
    let place = |name: &str| {
        let of = |s: &Series| s.channels().iter().position(|c| c.name == name);
        let found = series
            .iter()
            .enumerate()
            .find_map(|(i, s)| Some((i, of(s)?)));
        found.expect("every channel is in one of the groups")
    };
    let places: Vec<(usize, usize)> = order.iter().map(|c| place(&c.name)).collect();
    let first = &series[0];
    let count = first.trajectories().len();
    let trajectories = (0..count)
        .map(|i| side_by_side(series, &places, i))
        .collect();
    let step = first.step().clone();
    Ok(Series::new(order.to_vec(), Vec::new(), step, trajectories)?)
}

fn side_by_side(series: &[Series], places: &[(usize, usize)], i: usize) -> Trajectory {
    let len = series.iter().map(|s| s.len_of(i)).min().unwrap_or(0);
    let value = |t: usize, (group, channel): (usize, usize)| {
        let n = series[group].dim_obs();
        series[group].trajectories()[i].x[t * n + channel]
    };
    let row = |t: usize| places.iter().map(move |&place| value(t, place));
    let first = &series[0].trajectories()[i];
    let gaps = first.gaps.iter().copied().filter(|gap| gap.row < len);
    Trajectory {
        x: (0..len).flat_map(row).collect(),
        gaps: gaps.collect(),
        ..first.clone()
    }
}
