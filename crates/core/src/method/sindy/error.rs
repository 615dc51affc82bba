//! What cannot be fitted, and what to do about it.

use super::library::Terms;
use crate::hint::Hint;
use crate::method::FitError;
use crate::text::{count, enumerate, grouped};

/// Why there are no equations for some data.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub(super) enum SindyError {
    /// The library is too large to be worked with.
    #[error("{terms} of {} has {} terms, and their sums of products do not fit into memory", count(*variables, "variable"), columns.map_or("more than 10^19".to_string(), grouped))]
    TooManyTerms {
        terms: Terms,
        variables: usize,
        columns: Option<usize>,
    },
    /// The sums of all blocks of an ensemble are too large.
    #[error("an ensemble with {} terms keeps sums that do not fit into memory", grouped(*columns))]
    EnsembleTooLarge { columns: usize },
    /// The library has no term.
    #[error("the library has no term")]
    NoTerm,
    /// There are not more rows than unknowns.
    #[error("{} for {} unknown coefficients per equation", count(*rows, "usable row"), grouped(*columns))]
    TooFewRows { rows: usize, columns: usize },
    /// Every stretch is shorter than what is smoothed over.
    #[error("the longest stretch without a gap or a missing value has {}, slopes need {least}", count(*longest, "row"))]
    TooShort { longest: usize, least: usize },
    /// A window without a centre, or with fewer points than its polynomial.
    #[error("`savgol-window` must be odd and above `savgol-order`, found {window} and {order}")]
    Window { window: usize, order: usize },
    /// An equation in `zero` that there is not.
    #[error("`zero` names `{name}`, which is not a channel")]
    NoEquation { name: String, channels: Vec<String> },
    /// A term in `zero` that there is not.
    #[error("`zero` names the term `{term}`, which the library does not have")]
    NoCandidate { term: String, example: String },
    /// A part of `zero` without its equation.
    #[error(
        "`zero` must be equations with their terms, such as `x: 1, y z; y: z^2`, found `{part}`"
    )]
    NoColon { part: String },
    /// A channel that does not vary.
    #[error("channel `{name}` is constant: no equation can tell it from a constant term")]
    Constant { name: String },
}

impl SindyError {
    fn hint(&self) -> Option<Hint> {
        match self {
            SindyError::TooManyTerms { .. } => {
                Some("use a smaller `--degree`, or `--interactions none`".into())
            }
            SindyError::EnsembleTooLarge { .. } => {
                Some("use `--ensemble 0` or a smaller `--degree`".into())
            }
            SindyError::NoTerm => Some("use `--bias true`, or a `--degree` of 1 or more".into()),
            SindyError::TooFewRows { .. } => {
                Some("give more rows, or use a smaller `--degree`".into())
            }
            SindyError::TooShort { longest, .. } => (*longest >= 5).then(|| {
                let window = (longest - 1) / 2 * 2 + 1;
                format!("use `--savgol-window {window}` or less").into()
            }),
            SindyError::Window { order, .. } => Some(
                format!(
                    "use `--savgol-window {}`, or `--savgol-window 1` for no smoothing",
                    (order + 2) / 2 * 2 + 1
                )
                .into(),
            ),
            SindyError::NoEquation { channels, .. } => {
                Some(format!("the channels are {}", enumerate(channels)).into())
            }
            SindyError::NoCandidate { example, .. } => {
                Some(format!("terms are written as `{example}`").into())
            }
            SindyError::NoColon { .. } => Some("write `all: 1` for no constant anywhere".into()),
            SindyError::Constant { .. } => {
                Some("leave it out: name the other channels with `--channels`".into())
            }
        }
    }
}

impl From<SindyError> for FitError {
    fn from(error: SindyError) -> FitError {
        FitError::Own {
            message: error.to_string(),
            hint: error.hint(),
        }
    }
}
