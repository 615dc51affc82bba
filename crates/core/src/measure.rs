//! Numbers that judge a reconstruction: a long free orbit against the truth, and forecasts against what followed.
//!
//! Every measure is a file here and a line in [`MEASURES`]. A number alone says little, so that [`levels`] gives each
//! its *floor* (what the data themselves reach) and its *chance* (what surrogates without the dynamics reach), and
//! [`evaluate`] gives the scores of the paper from the paper's orbit.
//!
//! All take plain row-major matrices ([`Rows`]) and compute in f64.

pub mod analogue;
pub mod autocorrelation;
pub mod correlation_dimension;
pub mod d_hellinger;
pub mod d_stsp;
pub mod evaluate;
pub mod kruskal_wallis;
pub mod levels;
pub mod mixture;
pub mod mmd;
mod point;
pub mod prediction_error;
pub mod spectrum;
pub mod summary;
pub mod surrogate;
pub mod valid_time;
pub mod wasserstein;

use std::fmt;

use crate::catalogue::Entry;
use crate::hint::Hint;
use crate::series::mean_and_sd;
use crate::settings::{Domain, Setting, Settings};
use crate::text::{count, figure};
use surrogate::Surrogate;

pub use crate::rows::Rows;
pub use point::is_point;

/// All measures; the first are the paper's.
pub static MEASURES: &[&MeasureInfo] = &[
    &d_stsp::INFO,
    &mixture::PAPER,
    &d_hellinger::INFO,
    &prediction_error::INFO,
    &valid_time::INFO,
    &wasserstein::INFO,
    &mmd::INFO,
    &correlation_dimension::INFO,
];

/// A measure in the list.
#[derive(Debug)]
pub struct MeasureInfo {
    /// Its description. The name is also the key in JSON documents.
    pub entry: Entry,
    /// Which values are good.
    pub better: Better,
    /// What it is computed from.
    pub judges: Judges,
    /// Surrogates that are perfect by construction, and so say nothing about chance.
    pub blind_to: &'static [Surrogate],
}

/// Which values of a measure are good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// Small ones.
    Lower,
    /// Large ones.
    Higher,
}

/// What a measure is computed from.
#[derive(Clone, Copy, Debug)]
pub enum Judges {
    /// A long orbit and the truth.
    Orbit(Prepare),
    /// Forecasts from many rows of the truth.
    Forecasts(Forecast),
}

/// What is asked of forecasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forecast {
    /// Their mean squared error.
    Error,
    /// How long they are valid.
    Time,
}

/// Prepares the comparison with a truth; none where the measure has no meaning for so many channels.
pub type Prepare = fn(Rows<'_>, &Options) -> Result<Option<Box<dyn Against>>, MeasureError>;

/// What can be set about measures, checked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    /// Seed of Monte-Carlo draws and surrogates.
    pub seed: u64,
    /// The box of the bins of D_stsp.
    pub state_box: d_stsp::StateBox,
    /// Steps n of PE(n).
    pub pe_steps: usize,
    /// The error up to which a forecast is valid.
    pub threshold: f64,
}

/// The settings behind [`Options`].
pub static SETTINGS: &[&Setting] = &[
    &SEED,
    &d_stsp::BOX,
    &prediction_error::STEPS,
    &valid_time::THRESHOLD,
];

/// The seed of all measures that draw.
pub const SEED: Setting = Setting {
    name: "seed",
    default: "0",
    domain: Domain::Integer {
        low: 0,
        high: u64::MAX,
    },
    about: "seed of Monte-Carlo draws and of surrogates",
};

impl Options {
    /// From values of [`SETTINGS`].
    pub fn new(settings: &Settings) -> Options {
        Options {
            seed: settings.integer("seed") as u64,
            state_box: d_stsp::StateBox::named(settings.choice("box")),
            pe_steps: settings.integer("pe-steps"),
            threshold: settings.real("threshold"),
        }
    }
}

impl Default for Options {
    fn default() -> Options {
        let defaults = Settings::resolve(SETTINGS, []).expect("defaults lie in their domains");
        Options::new(&defaults)
    }
}

/// A truth that orbits are compared with.
pub trait Against: Send + Sync {
    /// How far a generated orbit of finite numbers, with the channels of the truth, is from it.
    fn judge(&self, generated: Rows<'_>) -> Result<Estimate, MeasureError>;
}

/// A measured value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// Its standard error, where it is a mean over random draws, or over forecasts from several rows: that of the draws or starts alone, with the
    /// two series given.
    pub standard_error: Option<f64>,
    /// Monte-Carlo samples that were left out.
    pub dropped: usize,
}

impl Estimate {
    /// A value that has no error of its own.
    pub fn exact(value: f64) -> Estimate {
        Estimate {
            value,
            standard_error: None,
            dropped: 0,
        }
    }

    /// The mean of Monte-Carlo samples with its standard error; 0 ± 0 of none.
    pub fn mean_of(samples: &[f64]) -> Estimate {
        let (mean, sd) = mean_and_sd(samples.iter().copied());
        Estimate {
            value: mean,
            standard_error: Some(sd / (samples.len().max(1) as f64).sqrt()),
            dropped: 0,
        }
    }
}

impl Estimate {
    /// The mean of values in the order of time, which resemble their neighbours. With γ_k their autocovariance,
    ///
    /// ```text
    /// error² = γ_0 τ/(n − τ),   τ = 1 + 2 Σ_k γ_k/γ_0   up to the first γ_k ≤ 0
    /// ```
    ///
    /// τ values count as one. The mean of n values takes τ/n of their variance with it, hence n − τ; τ is at most n/2.
    pub fn mean_in_time(values: &[f64]) -> Estimate {
        let (mean, _) = mean_and_sd(values.iter().copied());
        let n = values.len();
        let gamma = |k: usize| {
            let pairs = values.iter().zip(&values[k..]);
            pairs.map(|(a, b)| (a - mean) * (b - mean)).sum::<f64>() / n as f64
        };
        let variance = gamma(0);
        if variance == 0.0 || n < 3 {
            return Estimate::mean_of(values);
        }
        let shares = (1..n).map(|k| gamma(k) / variance);
        let tau = 1.0 + 2.0 * shares.take_while(|&share| share > 0.0).sum::<f64>();
        let tau = tau.min(0.5 * n as f64);
        Estimate {
            value: mean,
            standard_error: Some((variance * tau / (n as f64 - tau)).sqrt()),
            dropped: 0,
        }
    }
}

/// Which of two series.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// What is true.
    Truth,
    /// What is judged.
    Generated,
}

impl fmt::Display for Side {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Side::Truth => "truth",
            Side::Generated => "generated series",
        })
    }
}

/// Why a measure has no value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum MeasureError {
    /// The two are not of the same thing.
    #[error("the truth has {}, the generated series {generated}", count(*truth, "channel"))]
    Channels {
        /// Channels of the truth.
        truth: usize,
        /// Channels of what is judged.
        generated: usize,
    },
    /// The two differ in length where they must not.
    #[error("the truth has {}, the generated series {generated}", count(*truth, "row"))]
    Lengths {
        /// Rows of the truth.
        truth: usize,
        /// Rows of what is judged.
        generated: usize,
    },
    /// A value is missing or infinite.
    #[error("channel {} of the {side} is not a number in row {}", channel + 1, row + 1)]
    NotFinite {
        /// Which series.
        side: Side,
        /// The row, from 0.
        row: usize,
        /// The channel, from 0.
        channel: usize,
    },
    /// A value is too large to be squared and summed.
    #[error("channel {} of the truth reaches {value:e}, too large to be measured", channel + 1)]
    TooLarge {
        /// The channel, from 0.
        channel: usize,
        /// The value.
        value: f64,
    },
    /// A channel varies too little to be squared and summed.
    #[error("channel {} of the truth has a spread of {spread:e}, too small to be measured", channel + 1)]
    TooSmall {
        /// The channel, from 0.
        channel: usize,
        /// Its standard deviation.
        spread: f64,
    },
    /// A channel of the truth does not vary.
    #[error("channel {} of the truth is constant", channel + 1)]
    Constant {
        /// The channel, from 0.
        channel: usize,
    },
    /// The generated series hardly varies in any channel.
    #[error("the generated series has shrunk to a point: it varies by at most {} of the truth's spread", figure(*share))]
    Point {
        /// The largest ratio of a channel's spread to the truth's.
        share: f64,
    },
    /// A channel of the generated series varies by no more than rounding.
    #[error("channel {} of the generated series stands still: it varies by {} of the truth's spread", channel + 1, figure(*share))]
    Still {
        /// The channel, from 0.
        channel: usize,
        /// The ratio of its spread to the truth's.
        share: f64,
    },
    /// There are too few rows.
    #[error("{} needed, found {found}", count(*needed, "row"))]
    TooShort {
        /// How many are needed.
        needed: usize,
        /// How many there are.
        found: usize,
    },
    /// Nothing lies where the truth is.
    #[error("no row of the generated series lies in the box around the truth")]
    Outside,
    /// Every sample was lost in rounding.
    #[error("all densities of the generated series are zero in single precision")]
    Underflow,
    /// No pair of points is near enough.
    #[error("the {side} has too few different points for a scaling range")]
    NoScaling {
        /// Which series.
        side: Side,
    },
}

impl MeasureError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            MeasureError::Channels { .. } => Some("`--channels` chooses columns".into()),
            MeasureError::NotFinite { .. } => Some(
                "cut out or fill in missing values: measures are not defined with holes".into(),
            ),
            MeasureError::TooLarge { .. } | MeasureError::TooSmall { .. } => {
                Some("give the data in other units, or standardise them".into())
            }
            MeasureError::Constant { .. } => Some("leave the channel out with `--channels`".into()),
            _ => None,
        }
    }
}

/// Refuses a series with a value that is no finite number.
pub fn refuse_not_finite(side: Side, rows: Rows<'_>) -> Result<(), MeasureError> {
    match rows.values().iter().position(|v| !v.is_finite()) {
        None => Ok(()),
        Some(i) => Err(MeasureError::NotFinite {
            side,
            row: i / rows.dim(),
            channel: i % rows.dim(),
        }),
    }
}

/// Refuses a pair that no measure can compare.
pub fn refuse_unlike(truth: Rows<'_>, generated: Rows<'_>) -> Result<(), MeasureError> {
    if truth.dim() != generated.dim() {
        return Err(MeasureError::Channels {
            truth: truth.dim(),
            generated: generated.dim(),
        });
    }
    refuse_short(generated, 2)?;
    refuse_not_finite(Side::Generated, generated)
}

/// Refuses fewer rows than are needed.
fn refuse_short(rows: Rows<'_>, needed: usize) -> Result<(), MeasureError> {
    if rows.len() < needed {
        Err(MeasureError::TooShort {
            needed,
            found: rows.len(),
        })
    } else {
        Ok(())
    }
}

/// The moments of a truth that can be standardised: finite, at least two rows, no constant channel, of a size whose
/// squares can be summed.
fn spread(truth: Rows<'_>) -> Result<Vec<(f64, f64)>, MeasureError> {
    refuse_short(truth, 2)?;
    refuse_not_finite(Side::Truth, truth)?;
    if let Some(channel) = constant_channel(truth) {
        return Err(MeasureError::Constant { channel });
    }
    let moments = truth.moments();
    refuse_scale(truth, &moments)?;
    Ok(moments)
}

/// The largest value and the least spread of a truth: fourth powers of both (squares of entries of a covariance), summed over
/// many rows, are normal numbers.
const MEASURABLE: (f64, f64) = (1e70, 1e-70);

/// Refuses a truth that is too large or too small to be measured.
fn refuse_scale(truth: Rows<'_>, moments: &[(f64, f64)]) -> Result<(), MeasureError> {
    let (largest, least) = MEASURABLE;
    let by_size = |(_, a): &(usize, f64), (_, b): &(usize, f64)| a.abs().total_cmp(&b.abs());
    let values = truth.values().iter().copied().enumerate();
    if let Some((i, value)) = values.max_by(by_size).filter(|(_, v)| v.abs() > largest) {
        let channel = i % truth.dim();
        return Err(MeasureError::TooLarge { channel, value });
    }
    match moments.iter().position(|&(_, sd)| sd < least) {
        None => Ok(()),
        Some(channel) => Err(MeasureError::TooSmall {
            channel,
            spread: moments[channel].1,
        }),
    }
}

/// The first channel whose values are all the same.
fn constant_channel(rows: Rows<'_>) -> Option<usize> {
    let first = rows.row(0);
    (0..rows.dim()).find(|&i| rows.column(i).all(|v| v == first[i]))
}

/// ‖a − b‖², summed four by four so that terms do not wait for one another.
fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<4>(), b.as_chunks::<4>());
    let mut sums = [0.0; 4];
    for (a, b) in a.iter().zip(b) {
        for i in 0..4 {
            sums[i] += (a[i] - b[i]) * (a[i] - b[i]);
        }
    }
    let rest = rest_a.iter().zip(rest_b).map(|(a, b)| (a - b) * (a - b));
    sums.iter().sum::<f64>() + rest.sum::<f64>()
}
