//! Predictions some steps ahead beside the truth, and below them by how much they miss it, for every run and channel:
//! x̂_{t+n|t} = G(F^n(z_t)), z_t from x_t, drawn at t + n (Hess et al. 2023, Fig. S13).

use attractor_core::dynamics::Stretch;

use super::excerpt::{Excerpt, in_units_of_data};
use super::subject::{Beside, Subject};
use super::{Figure, FigureError, Kind, Request, TWO_COLUMNS, Takes};
use crate::Error;
use crate::chart::{Axis, Chart, Key, Layer, Page, Side};
use crate::drawing::{Colour, Stroke};

pub(super) const KIND: Kind = Kind {
    id: "n-step",
    paper: "Fig. S13",
    summary: "Predictions some steps ahead, each drawn where it is meant, beside the truth, with residuals",
    takes: Takes::Runs,
    heeds: &["--data", "--steps", "--show", "--ahead"],
    draw,
};

/// Rows of data that are shown if nothing is said.
const STEPS: usize = 200;

/// Heights of frames in points: of predictions and of residuals.
const HEIGHT: f64 = 60.0;
const RESIDUAL: f64 = 38.0;

fn draw(request: &Request) -> Result<Figure, Error> {
    let ahead = request.ahead;
    let runs = request.all_beside_truth()?;
    let first = request.excerpt(&runs[0], STEPS)?;
    if first.len() <= ahead {
        let (needed, found) = (ahead + 1, first.len());
        return Err(FigureError::TooShort { needed, found }.into());
    }
    let shown = request.shown(&first, 1)?;
    let (mut charts, mut all) = (Vec::new(), Vec::new());
    for run in &runs {
        let excerpt = request.excerpt(run, STEPS)?;
        let predicted = match run {
            Beside::Run(run) => predictions(run, &excerpt, ahead),
            Beside::File(stored) => stored.rows(&excerpt)?,
        };
        for &c in &shown {
            let above = chart(&excerpt, &predicted, c).titled(run.name());
            charts.extend([above, residuals(&excerpt, &predicted, c)]);
        }
        all.push(predicted);
    }
    let last = charts.len() - 1;
    for chart in &mut charts[..last] {
        chart.x = chart.x.clone().silent();
    }
    let heights = (0..charts.len()).map(|i| if i % 2 == 0 { HEIGHT } else { RESIDUAL });
    let page = Page {
        rows: heights.collect(),
        ..Page::stacked(request.width_or(TWO_COLUMNS), HEIGHT, charts)
    };
    let page = page.with_legend(legend(ahead));
    let named = runs.iter().zip(&all);
    let numbers = named.clone().map(|(run, predicted)| {
        (
            format!("{}: root mean square error", run.name()),
            error(&first, predicted),
        )
    });
    let diverging = named.clone().filter(|(_, x)| leaves_panel(&first, x));
    let diverging: Vec<String> = diverging
        .map(|(run, _)| {
            format!(
                "predictions of {} diverge: they leave the panel",
                run.name()
            )
        })
        .collect();
    let predicted = named.map(|(run, x)| (run.name(), x.as_slice()));
    let columns: Vec<(&str, &[f64])> = [("truth", first.truth.as_slice())]
        .into_iter()
        .chain(predicted)
        .collect();
    Ok(Figure {
        drawing: page.draw(),
        numbers: numbers.collect(),
        tables: vec![("predictions".to_string(), first.table(&columns, &shown))],
        notes: [request.training_note(), diverging].concat(),
    })
}

fn truth_stroke() -> Stroke {
    // Wide and pale: a prediction on top of it does not hide it.
    Stroke::new(Colour::INK.mixed(Colour::PAPER, 0.62), 2.4)
}

fn predicted_stroke() -> Stroke {
    Stroke::new(Colour::VERMILION, 0.7)
}

fn residual_stroke() -> Stroke {
    Stroke::new(Colour::BLUE, 0.7)
}

fn legend(ahead: usize) -> Vec<Key> {
    vec![
        Key::line("truth", truth_stroke()),
        Key::line(format!("predicted {ahead} steps ahead"), predicted_stroke()),
        Key::line("predicted less true", residual_stroke()),
    ]
}

fn chart(excerpt: &Excerpt, predicted: &[f64], channel: usize) -> Chart {
    let mut chart = Chart::new(
        excerpt.time_axis(),
        excerpt.value_axis(&[channel], &[predicted]),
    );
    let lines = [
        (excerpt.truth.as_slice(), truth_stroke()),
        (predicted, predicted_stroke()),
    ];
    chart.layers.extend(lines.map(|(x, stroke)| Layer::Line {
        points: excerpt.trace(x, channel),
        stroke,
        side: Side::Left,
    }));
    chart
}

/// By how much predictions miss the truth, with zero as a line.
fn residuals(excerpt: &Excerpt, predicted: &[f64], channel: usize) -> Chart {
    let off: Vec<f64> = predicted
        .iter()
        .zip(&excerpt.truth)
        .map(|(p, x)| p - x)
        .collect();
    let points = excerpt.trace(&off, channel);
    let largest = points
        .iter()
        .map(|(_, v)| v.abs())
        .filter(|v| v.is_finite());
    let truth = excerpt.value_axis(&[channel], &[]);
    // What leaves the panel above is cut here too.
    let end = round_up(largest.fold(0.0, f64::max).min(truth.high - truth.low));
    let axis = Axis::new("residual", -1.15 * end, 1.15 * end);
    let mut chart = Chart::new(excerpt.time_axis(), axis);
    let zero = Stroke::new(Colour::NOTHING, 0.6);
    chart.layers.push(Layer::Horizontal(0.0, zero, Side::Left));
    chart.layers.push(Layer::Line {
        points,
        stroke: residual_stroke(),
        side: Side::Left,
    });
    chart
}

/// The next of 1, 2 and 5 times a power of ten, at which an axis has a tick.
fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let found = steps.into_iter().find(|step| *step >= value);
    found.unwrap_or(value)
}

/// Row t + n is what the model makes of row t after n steps; the first n rows are missing.
fn predictions(run: &Subject, excerpt: &Excerpt, ahead: usize) -> Vec<f64> {
    let dynamics = &run.reconstruction.dynamics;
    let (n, stretch) = (excerpt.dim(), Stretch::longest(&excerpt.scaled));
    let first = dynamics.memory().rows() - 1;
    let mut scaled = vec![f64::NAN; stretch.len() * n];
    let starts: Vec<usize> = (first..stretch.len() - ahead).collect();
    let mut forecasts = dynamics.forecasts(stretch);
    let width = forecasts.width();
    for starts in starts.chunks(width) {
        forecasts.start(starts);
        let seen = forecasts.advance(ahead, 1);
        for (branch, &t) in starts.iter().enumerate() {
            let x_hat = seen.iter().skip(branch).step_by(width);
            let row = &mut scaled[(t + ahead) * n..][..n];
            row.iter_mut().zip(x_hat).for_each(|(to, &x)| *to = x);
        }
    }
    in_units_of_data(&scaled, &run.reconstruction)
}

/// Whether a prediction is farther off than ten times the largest value.
fn leaves_panel(excerpt: &Excerpt, predicted: &[f64]) -> bool {
    let largest = excerpt
        .truth
        .iter()
        .fold(0.0, |max: f64, x| max.max(x.abs()));
    predicted.iter().any(|p| p.abs() > 10.0 * largest)
}

/// The root mean square difference from the truth where there are predictions.
fn error(excerpt: &Excerpt, predicted: &[f64]) -> f64 {
    let pairs = excerpt
        .truth
        .iter()
        .zip(predicted)
        .filter(|(_, p)| p.is_finite());
    let squares = pairs.clone().map(|(x, p)| (x - p) * (x - p)).sum::<f64>();
    (squares / pairs.count() as f64).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_residuals_are_round() {
        assert_eq!([0.3, 1.0, 4.2, 70.0].map(round_up), [0.5, 1.0, 5.0, 100.0]);
        // Predictions that are exact have an axis too.
        assert_eq!(round_up(0.0), 0.0);
    }
}
