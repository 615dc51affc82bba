//! All channels against time as colours, the truth and below it a free orbit per run from its first row (Hess et al. 2023, Figs.
//! S5, S6 and S11).

use super::field::{self, Meaning};
use super::{Figure, Kind, Request, TWO_COLUMNS, Takes, Units};
use crate::Error;
use crate::chart::Page;

pub(super) const KIND: Kind = Kind {
    id: "heat-map",
    paper: "Figs. S5, S6, S11",
    summary: "All channels against time as colours, the truth and a free orbit per run",
    takes: Takes::Runs,
    heeds: &["--data", "--steps", "--z-score"],
    draw,
};

/// Rows of data that are shown if nothing is said.
const STEPS: usize = 1000;

/// Height of a frame in points.
const HEIGHT: f64 = 75.0;

/// Colours of z-scores end here: few values of a normal distribution are beyond.
const LARGEST_SCORE: f64 = 3.0;

fn draw(request: &Request) -> Result<Figure, Error> {
    let mut compared = request.compared(STEPS)?;
    let n = compared.excerpt.dim();
    let meaning = match request.units {
        Units::Data => Meaning::of("value", &compared.excerpt.truth),
        Units::ZScores => {
            compared.excerpt.truth = field::z_scores(&compared.excerpt.truth, n);
            for orbit in &mut compared.orbits {
                orbit.x = field::z_scores(&orbit.x, n);
            }
            Meaning::signed("z-score", LARGEST_SCORE)
        }
    };
    let excerpt = &compared.excerpt;
    let channels: Vec<usize> = (0..n).collect();
    let (mut charts, mut tables) = (Vec::new(), Vec::new());
    for (name, x) in compared.all() {
        charts.push(field::of_channels(excerpt, x, &meaning).titled(name));
        tables.push((name.to_string(), excerpt.table(&[(name, x)], &channels)));
    }
    let last = charts.len() - 1;
    for chart in &mut charts[..last] {
        chart.x = chart.x.clone().silent();
    }
    let page = Page::stacked(request.width_or(TWO_COLUMNS), HEIGHT, charts);
    let shown = [
        ("rows".to_string(), excerpt.len() as f64),
        ("channels".to_string(), n as f64),
    ];
    Ok(Figure {
        drawing: page.draw(),
        tables,
        numbers: shown.to_vec(),
        notes: compared.notes,
    })
}
