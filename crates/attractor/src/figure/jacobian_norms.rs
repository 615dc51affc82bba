//! How gradients grow along a sequence, for several strengths of forcing:  ‖∂z_t/∂z_1‖ against t, the mean of its logarithm over
//! windows of the data (Hess et al. 2023, Fig. 1).
//!
//! The slope of the logarithm at α = 0 is the largest Lyapunov exponent per step; enough forcing makes it zero.

use super::{Figure, Kind, Request, Takes};
use crate::Error;
use crate::anatomy::Table;
use crate::anatomy::gradients::{ALPHAS, Gradients, WINDOW};
use crate::chart::{Axis, Chart, Key, Layer, Page, Scale, Side};
use crate::drawing::colour::ColourMap;
use crate::drawing::{Colour, Stroke};

pub(super) const KIND: Kind = Kind {
    id: "jacobian-norms",
    paper: "Fig. 1",
    summary: "How gradients grow along a sequence, for several strengths of forcing",
    takes: Takes::Runs,
    heeds: &["--data"],
    draw,
};

/// Height of a frame in points.
const HEIGHT: f64 = 130.0;

fn draw(request: &Request) -> Result<Figure, Error> {
    let (mut charts, mut tables, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    let runs = request.runs()?;
    for run in &runs {
        run.refuse_shorter(WINDOW + 1)?;
        let gradients = Gradients::of(&run.reconstruction, Some(&run.data), request.threads);
        let gradients = gradients.ok_or_else(|| run.not_forced())?;
        let table = gradients.norms();
        let table = table.expect("data of at least a window have some");
        let slopes = ALPHAS.iter().enumerate().map(|(i, alpha)| {
            let name = format!("{}: slope at alpha {alpha}", run.name);
            (name, slope(&table, i + 1))
        });
        numbers.extend(slopes);
        let table = in_powers_of_ten(table);
        charts.push(chart(&table).titled(run.name.as_str()));
        tables.push((run.name.clone(), table));
    }
    let (width, columns) = request.side_by_side(charts.len());
    let legend = ALPHAS.iter().enumerate();
    let legend = legend.map(|(i, alpha)| Key::line(format!("α = {alpha}"), stroke(i)));
    let page = Page::grid(width, columns, HEIGHT, charts).with_legend(legend.collect());
    Ok(Figure {
        drawing: page.draw(),
        tables,
        numbers,
        notes: request.training_note(),
    })
}

/// Natural logarithms as those to base 10, which the axis has.
fn in_powers_of_ten(mut table: Table) -> Table {
    for name in &mut table.header[1..] {
        *name = format!("log10_norm_{name}");
    }
    let values = table.rows.iter_mut().flat_map(|row| &mut row[1..]);
    values.for_each(|v| *v /= std::f64::consts::LN_10);
    table
}

/// Darker for less forcing.
fn stroke(i: usize) -> Stroke {
    let share = i as f64 / (ALPHAS.len() - 1) as f64;
    Stroke::new(ColourMap::Sequential.colour(0.9 * share), 1.0)
}

fn chart(table: &Table) -> Chart {
    let column = |i: usize| table.rows.iter().map(move |row| (row[0], row[i]));
    let values = table.rows.iter().flat_map(|row| row[1..].iter().copied());
    let (first, last) = (table.rows[0][0], table.rows[table.rows.len() - 1][0]);
    let y = Axis::around("‖∂zₜ/∂z₁‖", values).scaled(Scale::Log);
    let mut chart = Chart::new(Axis::new("step t", first, last), y);
    let zero = Stroke::new(Colour::NOTHING, 0.6);
    chart.layers.push(Layer::Horizontal(0.0, zero, Side::Left));
    chart.layers.extend((0..ALPHAS.len()).map(|i| Layer::Line {
        points: column(i + 1).collect(),
        stroke: stroke(i),
        side: Side::Left,
    }));
    chart
}

/// The slope of least squares of a column against the first.
fn slope(table: &Table, column: usize) -> f64 {
    let n = table.rows.len() as f64;
    let mean = |c: usize| table.rows.iter().map(|row| row[c]).sum::<f64>() / n;
    let (t_mean, y_mean) = (mean(0), mean(column));
    let of = |f: &dyn Fn(&[f64]) -> f64| table.rows.iter().map(|row| f(row)).sum::<f64>();
    let covariance = of(&|row| (row[0] - t_mean) * (row[column] - y_mean));
    covariance / of(&|row| (row[0] - t_mean) * (row[0] - t_mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_slope_of_a_line_is_found_and_axes_have_powers_of_ten() {
        let rows = (0..10).map(|t| vec![f64::from(t), 2.0 - 0.5 * f64::from(t)]);
        let table = Table::new(&["t", "alpha0"], rows.collect());
        assert!((slope(&table, 1) + 0.5).abs() < 1e-14);
        let converted = in_powers_of_ten(table);
        assert_eq!(converted.header, ["t", "log10_norm_alpha0"]);
        assert!((converted.rows[0][1] - 2.0 * std::f64::consts::LOG10_E).abs() < 1e-15);
    }
}
