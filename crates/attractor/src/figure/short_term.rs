//! Forecasts as colours, one row per run: the truth, a free orbit from its first row, and their difference (Hess et al. 2023,
//! Fig. S8).

use super::field::{self, Meaning};
use super::{Figure, Kind, Request, TWO_COLUMNS, Takes};
use crate::Error;
use crate::chart::Page;

pub(super) const KIND: Kind = Kind {
    id: "short-term",
    paper: "Fig. S8",
    summary: "Truth, forecast and their difference as colours, one row per run",
    takes: Takes::Runs,
    heeds: &["--data", "--steps"],
    draw,
};

/// Rows of data that are shown if nothing is said.
const STEPS: usize = 200;

/// Height of a frame in points.
const HEIGHT: f64 = 70.0;

fn draw(request: &Request) -> Result<Figure, Error> {
    let compared = request.compared(STEPS)?;
    let excerpt = &compared.excerpt;
    let channels: Vec<usize> = (0..excerpt.dim()).collect();
    let meaning = Meaning::of("value", &excerpt.truth);
    let largest = excerpt.truth.iter().fold(0.0f64, |m, v| m.max(v.abs()));
    let of_difference = Meaning::signed("difference", largest);
    let (mut charts, mut tables, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for orbit in &compared.orbits {
        let pairs = orbit.x.iter().zip(&excerpt.truth);
        let difference: Vec<f64> = pairs.map(|(forecast, truth)| forecast - truth).collect();
        let name = &orbit.name;
        charts.push(field::of_channels(excerpt, &excerpt.truth, &meaning).titled("truth"));
        charts.push(field::of_channels(excerpt, &orbit.x, &meaning).titled(name.as_str()));
        let chart = field::of_channels(excerpt, &difference, &of_difference);
        charts.push(chart.titled(format!("{name} − truth")));
        numbers.push((
            format!("{name}: mean absolute difference"),
            mean_size(&difference),
        ));
        let columns: [(&str, &[f64]); 3] = [
            ("truth", &excerpt.truth),
            ("forecast", &orbit.x),
            ("difference", &difference),
        ];
        tables.push((name.clone(), excerpt.table(&columns, &channels)));
    }
    let page = Page::grid(request.width_or(TWO_COLUMNS), 3, HEIGHT, charts);
    Ok(Figure {
        drawing: page.draw(),
        tables,
        numbers,
        notes: compared.notes,
    })
}

/// The mean size of all numbers that there are.
fn mean_size(values: &[f64]) -> f64 {
    let known = values.iter().filter(|v| v.is_finite());
    known.clone().map(|v| v.abs()).sum::<f64>() / known.count() as f64
}
