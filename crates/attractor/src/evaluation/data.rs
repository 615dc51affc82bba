//! The rows that are judged: one stretch of a series without gap, complete, in the order and units of a model.

use attractor_core::inspect::{count, figure};
use attractor_core::measure::Rows;
use attractor_core::measure::d_stsp::LARGEST_BINNED;
use attractor_core::series::{Channel, Series, Step, Trajectory};

use super::EvaluationError;
use crate::generate::{order, refuse_other_columns};
use crate::model_file::{Card, Reconstruction};

/// Rows that follow one another without gap or missing value.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Stretch {
    /// Observations, len × N.
    pub(super) x: Vec<f64>,
    /// Inputs, len × K.
    pub(super) s: Vec<f64>,
    /// Channels N.
    pub(super) dim: usize,
    /// The sampling step.
    pub(super) step: Step,
}

impl Stretch {
    /// The longest stretch without gap; a note says so if there are others.
    pub(super) fn longest(
        series: &Series,
        side: &'static str,
        notes: &mut Vec<String>,
    ) -> Result<Stretch, EvaluationError> {
        let Trajectory { x, s, .. } = longest(series, side, notes);
        refuse_missing(&x, series.channels(), side)?;
        Ok(Stretch {
            x,
            s,
            dim: series.dim_obs(),
            step: series.step().clone(),
        })
    }

    /// The longest stretch of data, with the columns of a model in its order and units.
    pub(super) fn for_model(
        reconstruction: &Reconstruction,
        data: &Series,
        notes: &mut Vec<String>,
    ) -> Result<Stretch, EvaluationError> {
        let card = &reconstruction.card;
        refuse_other_columns(card, data)?;
        let of_x = order("channel", &card.channels, data.channels())?;
        let of_s = match card.inputs.len() {
            0 => Vec::new(),
            _ => order("input", &card.inputs, data.inputs())?,
        };
        let all = Stretch::longest(data, "data", notes)?;
        let s = columns(&all.s, data.dim_input(), &of_s);
        refuse_missing(&s, &card.inputs, "data")?;
        let mut x = columns(&all.x, all.dim, &of_x);
        for row in x.chunks_exact_mut(all.dim) {
            let scaling = card.scaling.mean.iter().zip(&card.scaling.sd);
            row.iter_mut()
                .zip(scaling)
                .for_each(|(x, (mean, sd))| *x = (*x - mean) / sd);
        }
        Ok(Stretch { x, s, ..all })
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.x.len() / self.dim
    }

    /// The first rows.
    pub(super) fn first(&self, rows: usize) -> Rows<'_> {
        Rows::new(&self.x[..rows * self.dim], self.dim)
    }

    /// A warning if the rows, in the units of a model, hold the one that its training data begin with.
    pub(super) fn note_training_data(&self, card: &Card, notes: &mut Vec<String>) {
        let Some(start) = &card.start else { return };
        let scaling = card.scaling.mean.iter().zip(&card.scaling.sd);
        let scaled = start
            .iter()
            .zip(scaling)
            .map(|(x, (mean, sd))| (x - mean) / sd);
        let scaled: Vec<f64> = scaled.collect();
        if self.x.chunks_exact(self.dim).any(|row| row == scaled) {
            notes.push(
                "these are data that the model was trained on: scores on unseen data may be worse"
                    .into(),
            );
        }
    }
}

/// A note if densities of width 1 meet channels of quite another spread.
pub(super) fn note_unscaled(truth: Rows<'_>, notes: &mut Vec<String>) {
    if truth.dim() <= LARGEST_BINNED {
        return;
    }
    let spreads = truth.moments().into_iter().map(|(_, sd)| sd);
    let (low, high) = spreads.fold((f64::INFINITY, 0.0f64), |(low, high), sd| {
        (low.min(sd), high.max(sd))
    });
    if low < 0.5 || high > 2.0 {
        notes.push(format!(
            "d_stsp takes channels of spread 1 for granted, here it is {} to {}: standardise the data",
            figure(low),
            figure(high)
        ));
    }
}

/// The longest stretch without gap, the first of equals.
fn longest(series: &Series, side: &str, notes: &mut Vec<String>) -> Trajectory {
    let trajectories = 0..series.trajectories().len();
    let stretches: Vec<_> = trajectories
        .flat_map(|i| series.segments(i).into_iter().map(move |rows| (i, rows)))
        .collect();
    let longer = |best, next: (usize, std::ops::Range<usize>)| match best {
        Some((_, ref rows)) if std::ops::Range::len(rows) >= next.1.len() => best,
        _ => Some(next),
    };
    let best = stretches.iter().cloned().fold(None, longer);
    let (trajectory, rows) = best.expect("a series has a row");
    if stretches.len() > 1 {
        notes.push(format!(
            "of the {side}, the longest of {} without gap is used: rows {} to {} of trajectory {}",
            count(stretches.len(), "stretch").replace("stretchs", "stretches"),
            rows.start + 1,
            rows.end,
            trajectory + 1
        ));
    }
    series.slice(trajectory, rows)
}

/// Chosen columns of a matrix of `width` columns.
fn columns(values: &[f64], width: usize, chosen: &[usize]) -> Vec<f64> {
    if chosen.is_empty() {
        return Vec::new();
    }
    let rows = values.chunks_exact(width);
    rows.flat_map(|row| chosen.iter().map(|&i| row[i]))
        .collect()
}

fn refuse_missing(
    values: &[f64],
    columns: &[Channel],
    side: &'static str,
) -> Result<(), EvaluationError> {
    match values.iter().position(|v| v.is_nan()) {
        None => Ok(()),
        Some(i) => Err(EvaluationError::Missing {
            side,
            channel: columns[i % columns.len()].name.clone(),
            row: i / columns.len(),
        }),
    }
}
