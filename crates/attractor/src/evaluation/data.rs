//! The rows that are judged: one stretch of a series without gap, complete, in the order and units of a model.

use attractor_core::inspect::{count, figure};
use attractor_core::measure::Rows;
use attractor_core::measure::d_stsp::LARGEST_BINNED;
use attractor_core::series::{Channel, Scaling, Series, Step, Trajectory};

use super::EvaluationError;
use super::overlap::trained_share;
use crate::generate::{order, refuse_other_columns};
use crate::model_file::Reconstruction;

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

    /// The longest stretch of data, with the columns of a model in its order.
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
        let x = columns(&all.x, all.dim, &of_x);
        Ok(Stretch { x, s, ..all })
    }

    /// The same in the units that a model sees.
    pub(super) fn scaled(mut self, scaling: &Scaling) -> Stretch {
        for row in self.x.chunks_exact_mut(self.dim) {
            let scaling = scaling.mean.iter().zip(&scaling.sd);
            row.iter_mut()
                .zip(scaling)
                .for_each(|(x, (mean, sd))| *x = (*x - mean) / sd);
        }
        self
    }

    /// Number of rows.
    pub(super) fn len(&self) -> usize {
        self.x.len() / self.dim
    }

    /// The first rows.
    pub(super) fn first(&self, rows: usize) -> Rows<'_> {
        Rows::new(&self.x[..rows * self.dim], self.dim)
    }

    /// The share of the rows, in the units of the data, that a model was trained on; none if that is not known.
    pub(super) fn trained_share(&self, trained_on: Option<&Series>) -> Option<f64> {
        let trained = trained_on.filter(|series| series.dim_obs() == self.dim)?;
        Some(trained_share(trained, &self.x))
    }
}

/// A warning if rows were trained on.
pub(super) fn training_note(share: f64) -> Option<String> {
    let which = match share {
        0.0 => return None,
        1.0 => "these are".to_string(),
        share => format!("{} % of the rows are", figure(100.0 * share)),
    };
    Some(format!(
        "{which} data that the model was trained on: scores on unseen data may be worse"
    ))
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
