//! An exponent with all that was not given found: the delay at the first minimum of the mutual information, dimensions from the
//! one that false neighbours need, a Theiler window of three delays; and the predictability time of a recording that follows.

use std::ops::RangeInclusive;

use super::{Distance, Exponent, Method, Plan, exponent};
use crate::embed::cao::{CaoPlan, cao};
use crate::embed::columns::Columns;
use crate::embed::{EmbedError, LAGS, first_delay};
use crate::progress::Unwatched;
use crate::rows::Rows;
use crate::series::Series;

/// Dimensions beyond the one that false neighbours need.
const MORE: usize = 4;

/// The largest dimension that is tried for false neighbours.
const MAX_DIM: usize = 8;

/// The Theiler window in delays.
const WINDOW: usize = 3;

/// What is given; the rest is found.
#[derive(Debug, Clone, PartialEq)]
pub struct Given {
    /// How neighbours are chosen.
    pub method: Method,
    /// What their distance is; that of first coordinates for Rosenstein's method, of vectors for Kantz's.
    pub distance: Option<Distance>,
    /// Dimensions of the delay vectors.
    pub dims: Option<RangeInclusive<usize>>,
    /// The delay in rows.
    pub delay: Option<usize>,
    /// Points at most this many rows apart do not count as neighbours.
    pub theiler: Option<usize>,
    /// The region of the fit in rows.
    pub fit: Option<RangeInclusive<usize>>,
    /// Worker threads.
    pub threads: usize,
}

impl Given {
    /// Rosenstein's method, all else found.
    pub fn nothing(threads: usize) -> Given {
        Given {
            method: Method::Rosenstein,
            distance: None,
            dims: None,
            delay: None,
            theiler: None,
            fit: None,
            threads,
        }
    }

    /// The plan for one channel.
    pub fn plan(&self, columns: &Columns) -> Result<Plan, EmbedError> {
        let lags = LAGS.min(columns.len().saturating_sub(2) / 2);
        let delay = match self.delay {
            Some(delay) => delay,
            None => first_delay(columns, 0, lags)?,
        };
        let theiler = self.theiler.unwrap_or(WINDOW * delay);
        let dims = match &self.dims {
            Some(dims) => dims.clone(),
            None => dims(columns, delay, theiler, self.threads)?,
        };
        let by_method = match self.method {
            Method::Kantz => Distance::Euclidean,
            Method::Rosenstein => Distance::First,
        };
        Ok(Plan {
            channel: 0,
            method: self.method,
            distance: self.distance.unwrap_or(by_method),
            dims,
            delay,
            theiler,
            fit: self.fit.clone(),
            threads: self.threads,
        })
    }
}

/// From the dimension that false neighbours need, or 2, four more.
fn dims(
    columns: &Columns,
    delay: usize,
    theiler: usize,
    threads: usize,
) -> Result<RangeInclusive<usize>, EmbedError> {
    let plan = CaoPlan {
        channel: 0,
        delay,
        max_dim: MAX_DIM,
        theiler,
        threads,
    };
    let first = cao(columns, &plan, &mut Unwatched)?.dim().unwrap_or(2);
    Ok(first..=first + MORE)
}

/// For how long a recording can be predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictability {
    /// ln 2/λ in whole rows, at least one.
    pub rows: usize,
    /// The channel that λ is of.
    pub channel: String,
    /// λ per row.
    pub exponent: f64,
    /// Its spread over dimensions; none for fewer than two.
    pub error: Option<f64>,
}

/// Why a recording has no predictability time.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PredictabilityError {
    /// Its values allow no search.
    #[error(transparent)]
    Values(#[from] EmbedError),
    /// Neighbours do not part, or not evenly.
    #[error("channel `{channel}` has no positive Lyapunov exponent that is clear enough")]
    NoExponent {
        /// The channel.
        channel: String,
    },
}

/// The predictability time of the first channel, from its longest stretch without a gap or a missing value.
pub fn predictability(
    series: &Series,
    threads: usize,
) -> Result<Predictability, PredictabilityError> {
    let first = series.channel_alone(0);
    let columns = Columns::new(Rows::new(&first, 1))?;
    let plan = Given::nothing(threads).plan(&columns)?;
    let found: Exponent = exponent(&columns, &plan, &mut Unwatched)?;
    let channel = series.channels()[0].name.clone();
    match (found.predictability(), found.per_row) {
        (Some(rows), Some(per_row)) => Ok(Predictability {
            rows: (rows.round() as usize).max(1),
            channel,
            exponent: per_row,
            error: found.error,
        }),
        _ => Err(PredictabilityError::NoExponent { channel }),
    }
}
