//! Scores over the runs of studies: every run a dot, the median of a group a line, the floor below and the level of chance above it.

use attractor_core::measure::summary::median;

use super::groups::{self, Groups, Level};
use super::{Figure, Kind, NOT_IN_PAPER, Request, Takes};
use crate::Error;
use crate::chart::{Axis, Chart, Key, Layer, Page, Shape, Side};
use crate::drawing::{Colour, Stroke};

pub(super) const KIND: Kind = Kind {
    id: "scores",
    paper: NOT_IN_PAPER,
    summary: "Scores of all runs of studies with medians, floors and chance, a panel per measure",
    takes: Takes::Studies,
    heeds: &[],
    draw,
};

/// Height of a frame in points.
const HEIGHT: f64 = 95.0;

/// What axes need of the width, in points.
const BESIDE: f64 = 45.0;

/// Half the width that a group has on its axis.
const HALF: f64 = 0.32;

fn draw(request: &Request) -> Result<Figure, Error> {
    let groups = Groups::read(request)?;
    let measures = 0..groups.measures.len();
    let charts: Vec<Chart> = measures.map(|m| chart(&groups, m)).collect();
    let width = request.width_or(groups::width(&groups));
    let numbers = groups.numbers(&charts[0].x, width - BESIDE);
    let legend = [Groups::legend(marks()), numbers].concat();
    let page = Page::stacked(width, HEIGHT, lowest_speaks(charts)).with_legend(legend);
    Ok(groups.figure(page.draw()))
}

/// Only the lowest panel has numbers below it.
fn lowest_speaks(mut charts: Vec<Chart>) -> Vec<Chart> {
    if let Some((_, above)) = charts.split_last_mut() {
        above
            .iter_mut()
            .for_each(|chart| chart.x = chart.x.clone().silent());
    }
    charts
}

/// Runs are pale, their median is not.
fn pale() -> Colour {
    Colour::VERMILION.mixed(Colour::PAPER, 0.35)
}

fn marks() -> Vec<Key> {
    let median = Stroke::new(Colour::VERMILION, 1.6);
    vec![
        Key::dot("runs", Shape::Circle, pale()),
        Key::line("median", median),
    ]
}

fn chart(groups: &Groups, measure: usize) -> Chart {
    let x = Axis::of("", groups.names(f64::INFINITY));
    let mut chart = Chart::new(x, groups.axis(measure));
    for (g, group) in groups.all.iter().enumerate() {
        let middle = g as f64 + 1.0;
        let values: Vec<f64> = group.values[measure].iter().map(|v| v.log10()).collect();
        let line = |y: f64, stroke: Stroke| Layer::Line {
            points: vec![(middle - HALF, y), (middle + HALF, y)],
            stroke,
            side: Side::Left,
        };
        for level in [Level::Floor, Level::Chance] {
            let v = group.level(measure, level).map(f64::log10);
            chart.layers.extend(v.map(|v| line(v, level.stroke())));
        }
        // Spread evenly, so that equal scores are seen as several.
        let step = 1.4 * HALF / values.len().max(1) as f64;
        let dots = values.iter().enumerate();
        let at = |k: usize| middle + step * (k as f64 - 0.5 * (values.len() as f64 - 1.0));
        chart.layers.push(Layer::Dots {
            points: dots.map(|(k, v)| (at(k), *v, 0.0)).collect(),
            shape: Shape::Circle,
            colour: pale(),
            side: Side::Left,
        });
        let mut finite: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
        chart.layers.push(line(
            median(&mut finite),
            Stroke::new(Colour::VERMILION, 1.6),
        ));
    }
    chart
}
