//! One delay for a channel: 1 where values are hardly correlated from row to row, as those of a map, else the first minimum of the
//! mutual information.

use super::EmbedError;
use super::columns::Columns;
use super::mutual_information::MutualInformation;
use crate::measure::Rows;
use crate::measure::autocorrelation::autocorrelation;

/// What decides on the delay of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DelayRule {
    /// The autocorrelation falls below 1/e within a row: the delay is 1.
    Uncorrelated,
    /// The first minimum of the mutual information.
    FirstMinimum,
}

/// What decides on the delay of a channel of at least two rows.
pub fn delay_rule(columns: &Columns, channel: usize) -> DelayRule {
    let x = Rows::new(columns.channel(channel), 1);
    if autocorrelation(x, 1)[0][1] < (-1.0f64).exp() {
        DelayRule::Uncorrelated
    } else {
        DelayRule::FirstMinimum
    }
}

/// The delay that suits a channel, at most `lags`.
pub fn first_delay(columns: &Columns, channel: usize, lags: usize) -> Result<usize, EmbedError> {
    let x = columns.channel(channel);
    let needed = 2 * lags + 2;
    if x.len() < needed {
        let found = x.len();
        return Err(EmbedError::TooShort { needed, found });
    }
    match delay_rule(columns, channel) {
        DelayRule::Uncorrelated => Ok(1),
        DelayRule::FirstMinimum => {
            let minimum = MutualInformation::new(x, lags).first_minimum();
            minimum.ok_or(EmbedError::NoMinimum { lags })
        }
    }
}

/// A Theiler window for all channels: the largest of their delays; `lags` for a channel that has none.
pub fn suggested_theiler(columns: &Columns, lags: usize) -> usize {
    let lags = lags.min(columns.len().saturating_sub(2) / 2);
    let delay = |channel| first_delay(columns, channel, lags).unwrap_or(lags);
    (0..columns.dim()).map(delay).max().unwrap_or(lags)
}
