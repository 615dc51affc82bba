//! How far Jacobians along a free orbit are from commuting: the histogram of
//! r = ‖J_s J_t − J_t J_s‖_F / (√2 ‖J_s‖_F ‖J_t‖_F) over all pairs of steps (Hess et al. 2023, Fig. S1).

use super::{Figure, FigureError, Kind, Request, Takes};
use crate::Error;
use crate::anatomy::gradients::{Gradients, PAIRED};
use crate::anatomy::{self, Table};
use crate::chart::{Axis, Chart, Layer, Page};
use crate::drawing::Colour;

pub(super) const KIND: Kind = Kind {
    id: "commutators",
    paper: "Fig. S1",
    summary: "How far Jacobians along an orbit are from commuting, as a histogram",
    takes: Takes::Runs,
    heeds: &["--data", "--steps"],
    draw,
};

/// Height of a frame in points.
const HEIGHT: f64 = 100.0;

/// The bound below which most of the mass is, in the paper.
const SMALL: f64 = 0.05;

fn draw(request: &Request) -> Result<Figure, Error> {
    let (mut charts, mut tables) = (Vec::new(), Vec::new());
    let (mut numbers, mut notes) = (Vec::new(), Vec::new());
    for run in &request.runs()? {
        let name = &run.name;
        let steps = request.steps.unwrap_or(PAIRED);
        let (orbit, diverged) = anatomy::orbit(&run.reconstruction, Some(&run.data), steps)?;
        if let Some(step) = diverged {
            notes.push(format!("the orbit of {name} diverges at step {step}: its Jacobians up to there are compared"));
        }
        let gradients = Gradients::of(&run.reconstruction, None, request.threads);
        let gradients = gradients.ok_or_else(|| run.not_forced())?;
        let found = gradients.commutators(&orbit);
        let table = found.ok_or_else(|| FigureError::NoOrbit { name: name.clone() })?;
        numbers.push((
            format!("{name}: mass below {SMALL}"),
            mass_below(&table, SMALL),
        ));
        charts.push(chart(&table).titled(name.as_str()));
        tables.push((name.clone(), table));
    }
    let (width, columns) = request.side_by_side(charts.len());
    Ok(Figure {
        drawing: Page::grid(width, columns, HEIGHT, charts).draw(),
        tables,
        numbers,
        notes,
    })
}

/// The share of the pairs in bins that end at or below a bound.
fn mass_below(table: &Table, bound: f64) -> f64 {
    let below = table.rows.iter().filter(|row| row[1] <= bound + 1e-9);
    below.map(|row| row[2]).sum()
}

fn chart(table: &Table) -> Chart {
    let filled = table.rows.iter().filter(|row| row[2] > 0.0);
    let end = filled.clone().map(|row| row[1]).fold(0.1, f64::max);
    let most = filled.map(|row| row[2]).fold(0.0, f64::max);
    let x = Axis::new("relative commutator norm", 0.0, end);
    let mut chart = Chart::new(x, Axis::new("fraction of pairs", 0.0, 1.05 * most));
    let columns = table.rows.iter().map(|row| (row[0], row[1], row[2]));
    chart.layers.push(Layer::Columns {
        columns: columns.collect(),
        colour: Colour::BLUE,
    });
    chart
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mass_is_summed_up_to_the_bound() {
        let rows = (0..10).map(|i| vec![0.01 * f64::from(i), 0.01 * f64::from(i + 1), 0.1]);
        let table = Table::new(&["from", "to", "fraction"], rows.collect());
        assert!((mass_below(&table, 0.05) - 0.5).abs() < 1e-14);
        let chart = chart(&table);
        assert_eq!((chart.x.high, chart.y.low), (0.1, 0.0));
    }
}
