//! What is kept of the epochs: a row for each, and beyond [`ROWS`] of them for every second, fourth, … and the last.
//!
//! Which rows these are follows from the number of the last epoch alone, so that a run that was interrupted has the same ones.

use std::io::{self, Write};

use attractor_core::train::Epoch;

/// Rows that are kept, at most.
const ROWS: u64 = 1 << 16;

/// From one epoch that is kept to the next, once there are so many.
fn stride(epochs: u64) -> u64 {
    (epochs.saturating_sub(1) / ROWS + 1).next_power_of_two()
}

/// Takes an epoch into a history.
pub(super) fn note(history: &mut Vec<Epoch>, epoch: &Epoch) {
    let stride = stride(epoch.epoch);
    if stride != self::stride(epoch.epoch - 1) {
        history.retain(|row| row.epoch.is_multiple_of(stride));
    } else if let Some(last) = history.last()
        && !last.epoch.is_multiple_of(stride)
    {
        history.pop();
    }
    history.push(*epoch);
}

/// Writes a history as CSV.
pub(crate) fn write(history: &[Epoch], out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "epoch,update,loss,penalty,alpha,lr,gradient_norm,jacobian_norm,alpha_estimate,fallbacks"
    )?;
    for e in history {
        // The forcing acts in f32: as such 0.15 is written as 0.15.
        let alpha = e.alpha as f32;
        write!(
            out,
            "{},{},{},{},{},{},{}",
            e.epoch, e.update, e.loss, e.penalty, alpha, e.rate, e.gradient_norm
        )?;
        match e.norm {
            Some(norm) => writeln!(out, ",{},{},{}", norm.kappa, norm.alpha(), norm.fallbacks)?,
            None => writeln!(out, ",,,")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epoch(number: u64) -> Epoch {
        Epoch {
            epoch: number,
            update: 10 * number,
            loss: 0.0,
            penalty: 0.0,
            alpha: 0.0,
            norm: None,
            rate: 0.0,
            gradient_norm: 0.0,
        }
    }

    #[test]
    fn long_trainings_keep_evenly_spaced_epochs_and_the_last() {
        let mut history = Vec::new();
        for number in 1..=5 * ROWS + 3 {
            note(&mut history, &epoch(number));
            assert!(history.len() as u64 <= ROWS + 1);
            assert_eq!(history.last(), Some(&epoch(number)));
        }
        let (last, rows) = history.split_last().unwrap();
        assert_eq!(last.epoch, 5 * ROWS + 3);
        let spaced = (1..=5 * ROWS / 8).map(|k| epoch(8 * k));
        assert!(rows.iter().copied().eq(spaced));
    }

    #[test]
    fn short_ones_keep_all() {
        let mut history = Vec::new();
        (1..=ROWS).for_each(|number| note(&mut history, &epoch(number)));
        assert!(history.iter().copied().eq((1..=ROWS).map(epoch)));
    }
}
