//! The loss over two parameters of a model, the entries (1, 2) and (2, 1) of W1 or W about their trained values, for three
//! strengths of forcing (Hess et al. 2023, Fig. S10). Without forcing it is rugged, and smooth with it: the total variation along
//! the lines of the grid tells how much,  TV = Σ |log ℒ_{i+1} − log ℒ_i|, over lines of both directions.

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
        let gradients = Gradients::new(&run.reconstruction, Some(&run.data), request.threads)?;
        let table = gradients.landscape();
        let table = table.ok_or_else(|| FigureError::NoLandscape { name: name.clone() })?;
        for (i, alpha) in SURFACES.iter().enumerate() {
            let surface = logarithms(&table, 2 + i);
            let title = match runs.len() {
                1 => format!("α = {alpha}"),
                _ => format!("{name}, α = {alpha}"),
            };
            charts.push(chart(&surface).titled(title));
            let variation = total_variation(&surface, GRID);
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

/// Σ |v_{i+1} − v_i| along all lines of a grid, over neighbours that are both there.
fn total_variation(values: &[f64], points: usize) -> f64 {
    let at = |row: usize, column: usize| values[row * points + column];
    let difference = |a: f64, b: f64| Some((a - b).abs()).filter(|d| d.is_finite()).unwrap_or(0.0);
    let pairs = (0..points).flat_map(|i| (1..points).map(move |j| (i, j)));
    pairs
        .map(|(i, j)| difference(at(i, j), at(i, j - 1)) + difference(at(j, i), at(j - 1, i)))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variation_sums_over_both_directions() {
        // Along rows 1 + 1, along columns 2 + 2.
        assert_eq!(total_variation(&[0.0, 1.0, 2.0, 3.0], 2), 6.0);
        // What is missing has no neighbours.
        assert_eq!(total_variation(&[0.0, f64::NAN, 2.0, 3.0], 2), 3.0);
    }
}
