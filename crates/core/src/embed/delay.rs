//! One delay for a channel: 1 where values are hardly correlated from row to row, as those of a map, else the first minimum of the
//! mutual information.

use super::EmbedError;
use super::columns::Columns;
use super::mutual_information::MutualInformation;
use crate::measure::Rows;
use crate::measure::autocorrelation::autocorrelation;

/// The delay that suits a channel, at most `lags`.
pub fn first_delay(columns: &Columns, channel: usize, lags: usize) -> Result<usize, EmbedError> {
    let x = columns.channel(channel);
    let needed = 2 * lags + 2;
    if x.len() < needed {
        let found = x.len();
        return Err(EmbedError::TooShort { needed, found });
    }
    if autocorrelation(Rows::new(x, 1), 1)[0][1] < (-1.0f64).exp() {
        return Ok(1);
    }
    let information = MutualInformation::new(x, lags);
    information
        .first_minimum()
        .ok_or(EmbedError::NoMinimum { lags })
}

/// A Theiler window for all channels: the largest of their delays; `lags` for a channel that has none.
pub fn suggested_theiler(columns: &Columns, lags: usize) -> usize {
    let lags = lags.min(columns.len().saturating_sub(2) / 2);
    let delay = |channel| first_delay(columns, channel, lags).unwrap_or(lags);
    (0..columns.dim()).map(delay).max().unwrap_or(lags)
}
