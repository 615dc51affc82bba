//! The strength of forcing that sequences of the data ask for, by four estimators, as histograms, and the bound from the
//! parameters alone (Hess et al. 2023, Fig. S2).

use attractor_core::analysis::gradients::{ESTIMATORS, correlation};
use attractor_core::measure::summary::median;

use super::{Figure, Kind, Request, Takes};
use crate::Error;
use crate::anatomy::Table;
use crate::anatomy::gradients::{Gradients, WINDOW};
use crate::chart::{Axis, Chart, Key, Layer, Page, Side};
use crate::drawing::{Colour, Stroke};

pub(super) const KIND: Kind = Kind {
    id: "alpha-estimates",
    paper: "Fig. S2",
    summary: "The strength of forcing that sequences ask for, by four estimators",
    takes: Takes::Runs,
    heeds: &["--data"],
    draw,
};

/// Height of a frame in points.
const HEIGHT: f64 = 110.0;

/// Bins of the histograms between 0 and 1.
const BINS: usize = 100;

fn draw(request: &Request) -> Result<Figure, Error> {
    let (mut charts, mut tables, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
    for run in &request.runs()? {
        run.refuse_shorter(WINDOW + 1)?;
        let gradients = Gradients::of(&run.reconstruction, Some(&run.data), request.threads);
        let gradients = gradients.ok_or_else(|| run.not_forced())?;
        let found = gradients.alphas();
        let found = found.expect("data of at least a window have some");
        let bound = found.rows[0][ESTIMATORS.len()];
        numbers.extend(said(&found, &run.name));
        let counts = histograms(&found);
        charts.push(chart(&counts, bound).titled(run.name.as_str()));
        tables.push((run.name.clone(), counts));
        tables.push((format!("{}-sequences", run.name), found));
    }
    let (width, columns) = request.side_by_side(charts.len());
    let page = Page::grid(width, columns, HEIGHT, charts).with_legend(legend());
    Ok(Figure {
        drawing: page.draw(),
        tables,
        numbers,
        notes: request.training_note(),
    })
}

fn legend() -> Vec<Key> {
    let names = ESTIMATORS.iter().enumerate();
    let lines = names.map(|(i, e)| Key::line(e.name().replace('-', " "), stroke(i)));
    lines
        .chain([Key::line("parameter bound", bound_stroke())])
        .collect()
}

fn stroke(i: usize) -> Stroke {
    Stroke::of_line(i, 1.0)
}

fn bound_stroke() -> Stroke {
    Stroke::new(Colour::INK, 0.8).dashed()
}

/// Medians, the bound, and how alike the first two estimators are.
fn said(found: &Table, run: &str) -> Vec<(String, f64)> {
    let medians = ESTIMATORS.iter().enumerate().map(|(i, estimator)| {
        let mut column: Vec<f64> = found.rows.iter().map(|row| row[i]).collect();
        (
            format!("{run}: median {}", estimator.name()),
            median(&mut column),
        )
    });
    let rows: Vec<[f64; 4]> = found
        .rows
        .iter()
        .map(|row| [row[0], row[1], row[2], row[3]])
        .collect();
    let alike = format!(
        "{run}: correlation of {} and {}",
        ESTIMATORS[0].name(),
        ESTIMATORS[1].name()
    );
    let more = [
        (
            format!("{run}: parameter bound"),
            found.rows[0][ESTIMATORS.len()],
        ),
        (alike, correlation(&rows, (0, 1))),
    ];
    medians.chain(more).collect()
}

/// The share of the sequences in every bin, a column an estimator.
fn histograms(found: &Table) -> Table {
    let width = 1.0 / BINS as f64;
    let start = |i: usize| i as f64 * width;
    let mut rows: Vec<Vec<f64>> = (0..BINS)
        .map(|i| [vec![start(i), start(i + 1)], vec![0.0; ESTIMATORS.len()]].concat())
        .collect();
    for alphas in &found.rows {
        for (e, alpha) in alphas[..ESTIMATORS.len()].iter().enumerate() {
            let bin = ((alpha / width) as usize).min(BINS - 1);
            rows[bin][2 + e] += 1.0 / found.rows.len() as f64;
        }
    }
    let names = found.header[..ESTIMATORS.len()].iter().cloned();
    Table {
        header: ["from", "to"]
            .map(String::from)
            .into_iter()
            .chain(names)
            .collect(),
        rows,
    }
}

fn chart(counts: &Table, bound: f64) -> Chart {
    let filled = || {
        counts
            .rows
            .iter()
            .filter(|row| row[2..].iter().any(|v| *v > 0.0))
    };
    let from = filled().map(|row| row[0]).fold(bound, f64::min);
    let to = filled().map(|row| row[1]).fold(bound, f64::max);
    let most = filled()
        .flat_map(|row| row[2..].iter().copied())
        .fold(0.0, f64::max);
    let room = 0.05 * (to - from);
    let x = Axis::new("α", (from - room).max(0.0), (to + room).min(1.0));
    let mut chart = Chart::new(x, Axis::new("fraction of sequences", 0.0, 1.05 * most));
    chart
        .layers
        .extend((0..ESTIMATORS.len()).map(|e| Layer::Line {
            points: stairs(counts, 2 + e),
            stroke: stroke(e),
            side: Side::Left,
        }));
    chart.layers.push(Layer::Vertical(bound, bound_stroke()));
    chart
}

/// The upper edges of the columns of a histogram.
fn stairs(counts: &Table, column: usize) -> Vec<(f64, f64)> {
    let rows = counts.rows.iter();
    rows.flat_map(|row| [(row[0], row[column]), (row[1], row[column])])
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_sequence_is_in_one_bin() {
        let rows = vec![
            vec![0.0, 0.5, 0.999, 1.0, 0.9],
            vec![0.005, 0.5, 0.2, 1.0, 0.9],
        ];
        let header = ["a", "b", "c", "d", "bound"];
        let counts = histograms(&Table::new(&header, rows));
        for e in 2..6 {
            let sum: f64 = counts.rows.iter().map(|row| row[e]).sum();
            assert!((sum - 1.0).abs() < 1e-12);
        }
        assert_eq!(
            (counts.rows[0][2], counts.rows[50][3], counts.rows[99][5]),
            (1.0, 1.0, 1.0)
        );
        assert_eq!(stairs(&counts, 2)[1], (0.01, 1.0));
    }
}
