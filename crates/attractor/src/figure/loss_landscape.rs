//! The loss over two parameters of a model, the entries (1, 2) and (2, 1) of W1 or W about their trained values, for three
//! strengths of forcing (Hess et al. 2023, Fig. S10). Without forcing it is rugged, and smooth with it: the total variation tells
//! how much,  TV = Σ |ℒ_{i+1} − ℒ_i|  along a line of the grid, the mean over lines of both directions.

use attractor_core::analysis::gradients::Surface;

use super::field::{self, Meaning};
use super::{Figure, FigureError, Kind, Request, TWO_COLUMNS, Takes};
use crate::Error;
use crate::anatomy::Table;
use crate::anatomy::gradients::{GRID, Gradients, REACH, SURFACES, WINDOW};
use crate::chart::{Axis, Chart, Page};

pub(super) const KIND: Kind = Kind {
    id: "loss-landscape",
    paper: "Fig. S10",
    summary: "The loss over two parameters, for three strengths of forcing",
    takes: Takes::Runs,
    heeds: &["--data"],
    draw,
};

/// Height of a frame in points.
const HEIGHT: f64 = 90.0;

fn draw(request: &Request) -> Result<Figure, Error> {
    let (mut charts, mut tables, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    let runs = request.runs()?;
    for run in &runs {
        let name = &run.name;
        run.refuse_shorter(WINDOW + 1)?;
        let gradients = Gradients::of(&run.reconstruction, Some(&run.data), request.threads);
        let gradients = gradients.ok_or_else(|| run.not_forced())?;
        let table = gradients.landscape();
        let table = table.ok_or_else(|| FigureError::NoLandscape { name: name.clone() })?;
        for (i, alpha) in SURFACES.iter().enumerate() {
            let surface = logarithms(&table, 2 + i);
            let title = match runs.len() {
                1 => format!("α = {alpha}"),
                _ => format!("{name}, α = {alpha}"),
            };
            charts.push(chart(&surface).titled(title));
            let variation = variation(&table, (i, *alpha));
            numbers.push((
                format!("{name}: total variation at alpha {alpha}"),
                variation,
            ));
        }
        tables.push((name.clone(), table));
    }
    let page = Page::grid(
        request.width_or(TWO_COLUMNS),
        SURFACES.len(),
        HEIGHT,
        charts,
    );
    Ok(Figure {
        drawing: page.draw(),
        tables,
        numbers,
        notes: request.training_note(),
    })
}

/// A column of losses as logarithms to base 10; missing where an orbit diverges.
fn logarithms(table: &Table, column: usize) -> Vec<f64> {
    let losses = table.rows.iter().map(|row| row[column].log10());
    losses
        .map(|v| if v.is_finite() { v } else { f64::NAN })
        .collect()
}

fn chart(surface: &[f64]) -> Chart {
    let finite = || surface.iter().copied().filter(|v| v.is_finite());
    let (low, high) = (
        finite().fold(f64::INFINITY, f64::min),
        finite().fold(f64::NEG_INFINITY, f64::max),
    );
    let meaning = Meaning::amounts("loss", low, high).logarithmic();
    let axes = (
        Axis::new("offset of (2, 1)", -REACH, REACH),
        Axis::new("offset of (1, 2)", -REACH, REACH),
    );
    field::chart(surface, GRID, axes, &meaning)
}

/// The total variation of one of the surfaces.
fn variation(table: &Table, (i, alpha): (usize, f64)) -> f64 {
    let surface = Surface {
        alpha,
        loss: table.rows.iter().map(|row| row[2 + i]).collect(),
        points: GRID,
    };
    surface.variation()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_diverges_is_missing_and_the_rest_is_logarithmic() {
        let rows = vec![
            vec![0.0, 0.0, 0.01],
            vec![0.0, 0.0, f64::INFINITY],
            vec![0.0, 0.0, f64::NAN],
        ];
        let found = logarithms(&Table::new(&["offset12", "offset21", "loss"], rows), 2);
        assert!((found[0] + 2.0).abs() < 1e-15 && found[1].is_nan() && found[2].is_nan());
    }

    #[test]
    fn variation_is_that_of_the_losses() {
        // A plane that rises by 1 along rows and by 2 along columns.
        let cell = |e: usize| vec![0.0, 0.0, (e % GRID) as f64 + 2.0 * (e / GRID) as f64];
        let table = Table::new(
            &["offset12", "offset21", "loss"],
            (0..GRID * GRID).map(cell).collect(),
        );
        assert_eq!(variation(&table, (0, 0.0)), 1.5 * (GRID - 1) as f64);
    }
}
