//! Forecasts against time, one panel per run and channel, with the horizon: the first time at which the relative error
//!
//! ```text
//! e(t) = ‖x_t − x̂_t‖ / √⟨‖x‖²⟩  >  0.3
//! ```
//!
//! over all channels, as the model sees them (Hess et al. 2023, Fig. S7). The paper does not define its horizon: error and threshold are
//! what we recall of Chattopadhyay and others, who forecast the same system.

use super::excerpt::{Compared, Excerpt, Orbit};
use super::{Figure, Kind, Request, TWO_COLUMNS, Takes};
use crate::Error;
use crate::chart::{Chart, Key, Layer, Page, Side};
use crate::drawing::{Colour, Stroke};

pub(super) const KIND: Kind = Kind {
    id: "forecast",
    paper: "Fig. S7",
    summary: "Forecasts beside the truth, with the time up to which they hold",
    takes: Takes::Runs,
    heeds: &["--data", "--steps", "--show"],
    draw,
};

/// Rows of data that are shown if nothing is said.
const STEPS: usize = 200;

/// Height of a frame in points.
const HEIGHT: f64 = 55.0;

/// The relative error at the horizon.
const THRESHOLD: f64 = 0.3;

fn draw(request: &Request) -> Result<Figure, Error> {
    let compared = request.compared(STEPS)?;
    let excerpt = &compared.excerpt;
    let shown = request.shown(excerpt, 1)?;
    let errors: Vec<Vec<f64>> = compared
        .orbits
        .iter()
        .map(|o| relative_error(excerpt, o))
        .collect();
    let horizons: Vec<Option<f64>> = errors.iter().map(|e| horizon(excerpt, e)).collect();
    let mut charts = Vec::new();
    for (orbit, horizon) in compared.orbits.iter().zip(&horizons) {
        let panels = shown.iter().map(|c| chart(excerpt, orbit, *c, *horizon));
        charts.extend(panels);
    }
    let last = charts.len() - 1;
    for chart in &mut charts[..last] {
        chart.x = chart.x.clone().silent();
    }
    let page = Page::stacked(request.width_or(TWO_COLUMNS), HEIGHT, charts).with_legend(legend());
    let found = compared.orbits.iter().zip(&horizons);
    let numbers = found.map(|(orbit, horizon)| {
        (
            format!("{}: horizon", orbit.name),
            horizon.unwrap_or(f64::INFINITY),
        )
    });
    Ok(Figure {
        drawing: page.draw(),
        numbers: numbers.collect(),
        tables: vec![("forecast".to_string(), table(&compared, &shown, &errors))],
        notes: notes(&compared, &horizons),
    })
}

fn notes(compared: &Compared, horizons: &[Option<f64>]) -> Vec<String> {
    let all = compared.orbits.iter().zip(horizons);
    let beyond = all.filter(|(_, horizon)| horizon.is_none());
    let beyond =
        beyond.map(|(orbit, _)| format!("the forecast of {} holds over all rows", orbit.name));
    compared.notes.iter().cloned().chain(beyond).collect()
}

fn truth_stroke() -> Stroke {
    // Wide and pale: a forecast on top of it does not hide it, in grey either.
    Stroke::new(Colour::INK.mixed(Colour::PAPER, 0.62), 2.4)
}

fn forecast_stroke() -> Stroke {
    Stroke::new(Colour::VERMILION, 0.8)
}

fn horizon_stroke() -> Stroke {
    Stroke::new(Colour::BLUE, 0.8).dashed()
}

fn legend() -> Vec<Key> {
    vec![
        Key::line("truth", truth_stroke()),
        Key::line("forecast", forecast_stroke()),
        Key::line(
            format!("relative error above {THRESHOLD}"),
            horizon_stroke(),
        ),
    ]
}

fn chart(excerpt: &Excerpt, orbit: &Orbit, channel: usize, horizon: Option<f64>) -> Chart {
    let y = excerpt.value_axis(&[channel], &[&orbit.x]);
    let mut chart = Chart::new(excerpt.time_axis(), y).titled(orbit.name.as_str());
    let line = |x: &[f64], stroke: Stroke| Layer::Line {
        points: excerpt.trace(x, channel),
        stroke,
        side: Side::Left,
    };
    chart.layers.push(line(&excerpt.truth, truth_stroke()));
    chart.layers.push(line(&orbit.x, forecast_stroke()));
    chart
        .layers
        .extend(horizon.map(|time| Layer::Vertical(time, horizon_stroke())));
    chart
}

/// e(t) of every row.
fn relative_error(excerpt: &Excerpt, orbit: &Orbit) -> Vec<f64> {
    let truth = &excerpt.scaled.trajectories()[0].x;
    let n = excerpt.dim();
    let squares = truth.iter().map(|x| x * x).sum::<f64>();
    let size = (squares / excerpt.len() as f64).sqrt();
    let rows = truth.chunks_exact(n).zip(orbit.scaled.chunks_exact(n));
    let error = |(x, x_hat): (&[f64], &[f64])| {
        let pairs = x.iter().zip(x_hat);
        pairs.map(|(x, y)| (x - y) * (x - y)).sum::<f64>().sqrt() / size
    };
    rows.map(error).collect()
}

/// The first time at which the error is above the threshold, or no number; none if it never is.
fn horizon(excerpt: &Excerpt, errors: &[f64]) -> Option<f64> {
    let fails = |e: &f64| e.is_nan() || *e > THRESHOLD;
    errors.iter().position(fails).map(|row| excerpt.time(row))
}

fn table(compared: &Compared, shown: &[usize], errors: &[Vec<f64>]) -> crate::anatomy::Table {
    let mut table = compared.excerpt.table(&compared.all(), shown);
    let names = compared
        .orbits
        .iter()
        .map(|orbit| format!("{} error", orbit.name));
    table.header.extend(names);
    for (t, row) in table.rows.iter_mut().enumerate() {
        row.extend(errors.iter().map(|of_run| of_run[t]));
    }
    table
}
