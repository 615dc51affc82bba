//! The training data of a regression: whole stretches in units of the standard deviations, with noise if a method wants it.

use super::FitError;
use crate::rng::{Rng, Stream};
use crate::series::{Series, mean_and_sd};
use crate::windows::WindowsError;

/// The training data with noise, in units of their standard deviations.
pub(super) struct Recording {
    pub(super) stretches: Vec<Rows>,
    pub(super) rows: u64,
    /// Of channels and then inputs.
    pub(super) mean: Vec<f64>,
    pub(super) sd: Vec<f64>,
}

/// Rows that follow one another, with the inputs of each.
pub(super) struct Rows {
    pub(super) u: Vec<f64>,
    pub(super) s: Vec<f64>,
    pub(super) len: usize,
}

impl Recording {
    pub(super) fn new(data: &Series, noise: f64, seed: u64) -> Recording {
        let (n, k) = (data.dim_obs(), data.dim_input());
        let mut stretches = noisy(data, noise, seed);
        let of = |c: usize| {
            let values = |rows: &Rows| {
                let (all, first, width) = if c < n {
                    (&rows.u, c, n)
                } else {
                    (&rows.s, c - n, k)
                };
                all.iter()
                    .skip(first)
                    .step_by(width)
                    .copied()
                    .collect::<Vec<f64>>()
            };
            let values: Vec<f64> = stretches.iter().flat_map(values).collect();
            mean_and_population_sd(&values)
        };
        let (mean, sd): (Vec<f64>, Vec<f64>) = (0..n + k).map(of).unzip();
        for rows in &mut stretches {
            standardize(&mut rows.u, &mean[..n], &sd[..n]);
            standardize(&mut rows.s, &mean[n..], &sd[n..]);
        }
        Recording {
            rows: stretches.iter().map(|rows| rows.len as u64).sum(),
            stretches,
            mean,
            sd,
        }
    }
}

/// All whole stretches with noise on their channels: a number of the stream for every value of the data, whether it is there or not.
fn noisy(data: &Series, noise: f64, seed: u64) -> Vec<Rows> {
    let (n, k) = (data.dim_obs(), data.dim_input());
    let spread: Vec<f64> = (0..n)
        .map(|c| noise * mean_and_sd(data.column(c)).1)
        .collect();
    let mut rng = Rng::new(seed, Stream::TrainingNoise);
    let mut add = |(i, &x): (usize, &f64)| {
        if noise > 0.0 {
            x + spread[i % n] * rng.normal()
        } else {
            x
        }
    };
    let noisy: Vec<Vec<f64>> = data
        .trajectories()
        .iter()
        .map(|t| t.x.iter().enumerate().map(&mut add).collect())
        .collect();
    let cut = |(trajectory, rows): (usize, std::ops::Range<usize>)| Rows {
        u: noisy[trajectory][rows.start * n..rows.end * n].to_vec(),
        s: data.trajectories()[trajectory].s[rows.start * k..rows.end * k].to_vec(),
        len: rows.len(),
    };
    data.whole_stretches().map(cut).collect()
}

/// Mean and standard deviation (with n); 1 for what does not vary.
fn mean_and_population_sd(values: &[f64]) -> (f64, f64) {
    let (mean, sd) = mean_and_sd(values.iter().copied());
    let n = values.len() as f64;
    let sd = sd * ((n - 1.0) / n).sqrt();
    (mean, if sd > 0.0 { sd } else { 1.0 })
}

fn standardize(values: &mut [f64], mean: &[f64], sd: &[f64]) {
    if mean.is_empty() {
        return;
    }
    for row in values.chunks_exact_mut(mean.len()) {
        for ((v, mean), sd) in row.iter_mut().zip(mean).zip(sd) {
            *v = (*v - mean) / sd;
        }
    }
}

/// Refuses data without a stretch of so many rows, which a setting may ask for.
pub(super) fn refuse_short(
    data: &Series,
    needed: usize,
    because: Option<&'static str>,
) -> Result<(), FitError> {
    refuse_own_times(data)?;
    let longest = data.longest_whole().1.len();
    if longest < needed {
        return Err(FitError::Short {
            longest,
            needed,
            because,
        });
    }
    Ok(())
}

/// Refuses rows that have times of their own.
pub(super) fn refuse_own_times(data: &Series) -> Result<(), FitError> {
    if data.has_own_times() {
        return Err(WindowsError::OwnTimes.into());
    }
    Ok(())
}

/// Refuses sums of so many bytes if there is no memory for them.
pub(super) fn refuse_bytes(bytes: u64, hint: &str) -> Result<(), FitError> {
    let gib = bytes.div_ceil(1 << 30);
    // Some systems promise any amount; none of ours has a tebibyte.
    let is_there = gib < 1024 && Vec::<u8>::new().try_reserve_exact(bytes as usize).is_ok();
    is_there.then_some(()).ok_or_else(|| FitError::Own {
        message: format!(
            "the sums of the regression take about {gib} GiB, which do not fit into memory"
        ),
        hint: Some(format!("use {hint}").into()),
    })
}

/// Refuses a channel that does not vary.
pub(super) fn refuse_constant(data: &Series) -> Result<(), FitError> {
    let varies = |channel: usize| {
        let mut values = data.column(channel).filter(|v| !v.is_nan());
        let first = values.next();
        values.any(|v| Some(v) != first)
    };
    match (0..data.dim_obs()).find(|&channel| !varies(channel)) {
        Some(channel) => Err(FitError::Constant {
            channel: data.channels()[channel].name.clone(),
        }),
        None => Ok(()),
    }
}
