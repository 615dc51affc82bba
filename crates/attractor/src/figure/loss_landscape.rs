//! The loss over two parameters of a model, as colours and as a surface, the entries (1, 2) and (2, 1) of W1 or W about their trained values, for three
//! strengths of forcing (Hess et al. 2023, Fig. S10). Without forcing it is rugged, and smooth with it: the total variation tells
//! how much,  TV = Σ |ℒ_{i+1} − ℒ_i|  along a line of the grid, the mean over lines of both directions.

use attractor_core::analysis::gradients::Surface;

use super::field::{self, Meaning};
use super::space::{Angles, Space};
use super::{Figure, FigureError, Kind, Request, TWO_COLUMNS, Takes};
use crate::Error;
use crate::anatomy::Table;
use crate::anatomy::gradients::{GRID, Gradients, REACH, SURFACES, WINDOW};
use crate::chart::{Axis, Chart, Layer, Page};
use crate::drawing::colour::ColourMap;
use crate::drawing::{Colour, Stroke};

pub(super) const KIND: Kind = Kind {
    id: "loss-landscape",
    paper: "Fig. S10",
    summary: "The loss over two parameters, for three strengths of forcing",
    takes: Takes::Runs,
    heeds: &["--data", "--view"],
    draw,
};

/// Heights of frames in points: of surfaces and of colours.
const SURFACE: f64 = 140.0;
const COLOURS: f64 = 90.0;

/// From where surfaces are seen if nothing is said, in degrees.
const VIEW: (f64, f64) = (35.0, 30.0);

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
        let (mut surfaces, mut fields) = (Vec::new(), Vec::new());
        for (i, alpha) in SURFACES.iter().enumerate() {
            let surface = logarithms(&table, 2 + i);
            let title = match runs.len() {
                1 => format!("log₁₀ loss, α = {alpha}"),
                _ => format!("{name}: log₁₀ loss, α = {alpha}"),
            };
            let angles = Angles::of_degrees(request.view.unwrap_or(VIEW));
            surfaces.push(relief(&surface, angles).titled(title));
            fields.push(chart(&surface));
            let variation = variation(&table, (i, *alpha));
            numbers.push((
                format!("{name}: total variation at alpha {alpha}"),
                variation,
            ));
        }
        charts.extend(surfaces.into_iter().chain(fields));
        tables.push((name.clone(), table));
    }
    let rows = charts.len() / SURFACES.len();
    let heights = (0..rows).map(|i| if i % 2 == 0 { SURFACE } else { COLOURS });
    let page = Page {
        rows: heights.collect(),
        ..Page::grid(
            request.width_or(TWO_COLUMNS),
            SURFACES.len(),
            SURFACE,
            charts,
        )
    };
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

/// The places of the grid with their losses, rows of three.
fn places(surface: &[f64]) -> Vec<f64> {
    let offset = |i: usize| REACH * (2.0 * i as f64 / (GRID - 1) as f64 - 1.0);
    let places = surface.iter().enumerate();
    places
        .flat_map(|(e, loss)| [offset(e % GRID), offset(e / GRID), *loss])
        .collect()
}

/// A surface of logarithms of the loss in cells, those behind first; cells at a place without a loss are missing.
fn relief(surface: &[f64], angles: Angles) -> Chart {
    let places = places(surface);
    let labels = ["(2, 1)", "(1, 2)", ""].map(String::from);
    let space = Space::around(&places, labels, Some(angles));
    let at = |e: usize| &places[3 * e..3 * e + 3];
    let finite = || surface.iter().copied().filter(|v| v.is_finite());
    let low = finite().fold(f64::INFINITY, f64::min);
    let high = finite().fold(f64::NEG_INFINITY, f64::max);
    let corners = |e: usize| [e, e + 1, e + GRID + 1, e + GRID];
    let cells = (0..GRID * (GRID - 1)).filter(|e| e % GRID + 1 < GRID);
    let mut cells: Vec<usize> = cells
        .filter(|&e| corners(e).iter().all(|&corner| surface[corner].is_finite()))
        .collect();
    let depth = |e: usize| {
        corners(e)
            .map(|corner| space.depth(at(corner)))
            .iter()
            .sum::<f64>()
    };
    cells.sort_by(|&a, &b| depth(b).total_cmp(&depth(a)));
    let mut chart = space.chart();
    chart.layers.extend(cells.into_iter().map(|e| {
        let mean = corners(e).map(|corner| surface[corner]).iter().sum::<f64>() / 4.0;
        let share = (mean - low) / (high - low).max(f64::MIN_POSITIVE);
        let fill = ColourMap::Sequential.colour(share);
        Layer::Area {
            points: corners(e).map(|corner| space.at(at(corner))).to_vec(),
            fill,
            edge: Stroke::new(fill.mixed(Colour::INK, 0.25), 0.2),
        }
    }));
    chart
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
    fn a_surface_has_a_cell_between_any_four_losses() {
        let mut surface = vec![0.0; GRID * GRID];
        let cells = |surface: &[f64]| {
            let layers = relief(surface, Angles::of_degrees(VIEW)).layers;
            let areas = layers
                .iter()
                .filter(|layer| matches!(layer, Layer::Area { .. }));
            areas.count()
        };
        surface[1] = 1.0;
        assert_eq!(cells(&surface), (GRID - 1) * (GRID - 1));
        // One that is missing inside takes four cells with it.
        surface[GRID + 1] = f64::NAN;
        assert_eq!(cells(&surface), (GRID - 1) * (GRID - 1) - 4);
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
