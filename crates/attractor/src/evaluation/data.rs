//! The rows that are judged: the longest stretch of a series without gap or missing value.

use attractor_core::dynamics::Stretch;
use attractor_core::measure::Rows;
use attractor_core::measure::d_stsp::LARGEST_BINNED;
use attractor_core::series::Series;
use attractor_core::text::{count, figure};

use super::EvaluationError;

/// The longest stretch without gap or missing value; a note says which, if there are others.
pub(super) fn longest<'a>(
    series: &'a Series,
    side: &'static str,
    notes: &mut Vec<String>,
) -> Result<Stretch<'a>, EvaluationError> {
    let (trajectory, rows) = series.longest_whole();
    let stretches = series.whole_stretches().count();
    if stretches > 1 {
        notes.push(format!(
            "of the {side}, the longest of {} without gap or missing value is used: rows {} to {} of trajectory {}",
            count(stretches, "stretch"),
            rows.start + 1,
            rows.end,
            trajectory + 1
        ));
    }
    if rows.is_empty() {
        return Err(EvaluationError::NoRow { side });
    }
    Ok(Stretch::longest(series))
}

/// A warning if rows were trained on or chosen by.
pub(super) fn origin_note(trained: Option<f64>, chosen: Option<f64>) -> Option<String> {
    let part = |share: Option<f64>, what: &str| {
        let which = match share? {
            0.0 => return None,
            1.0 => "these are".to_string(),
            share => format!("{} % of the rows are", figure(100.0 * share)),
        };
        Some(format!("{which} data that the model {what}"))
    };
    let parts = [
        part(trained, "was trained on"),
        part(chosen, "was chosen by"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let told = parts.join(", and ");
    (!parts.is_empty()).then(|| format!("{told}: scores on unseen data may be worse"))
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
