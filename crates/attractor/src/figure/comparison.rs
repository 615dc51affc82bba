//! Groups of runs compared: the median of every measure with its median absolute deviation, a row per group, between the floor and chance.

use attractor_core::measure::summary::median;

use super::groups::{Groups, Level};
use super::{Figure, Kind, NOT_IN_PAPER, Request, TWO_COLUMNS, Takes};
use crate::Error;
use crate::chart::{Axis, Chart, Key, Layer, NUMBERS, Page, Shape, Side};
use crate::drawing::{Colour, Stroke, font};

pub(super) const KIND: Kind = Kind {
    id: "comparison",
    paper: NOT_IN_PAPER,
    summary: "Groups of runs compared by the medians of all measures, between floors and chance",
    takes: Takes::Studies,
    heeds: &[],
    draw,
};

/// Height of a group, in points.
const ROW: f64 = 15.0;

/// What names may have of the width.
const NAMES: f64 = 0.3;

fn draw(request: &Request) -> Result<Figure, Error> {
    let groups = Groups::read(request)?;
    let measures = 0..groups.measures.len();
    let width = request.width_or(TWO_COLUMNS);
    // Names are at the left of the first panel, from top to bottom.
    let mut names = groups.names(NAMES * width);
    names.reverse();
    let widths = names.iter().map(|name| font::width(name, NUMBERS));
    let beside = widths.fold(0.0, f64::max);
    let charts: Vec<Chart> = measures.map(|m| chart(&groups, m, &names)).collect();
    let frame = (width - beside) / charts.len() as f64;
    let columns = (0..charts.len()).map(|m| if m == 0 { frame + beside } else { frame });
    let height = ROW * groups.all.len().max(2) as f64;
    let marks = vec![Key::dot("median ± MAD", Shape::Circle, Colour::VERMILION)];
    let page = Page {
        columns: columns.collect(),
        ..Page::grid(width, charts.len(), height, charts)
    };
    let page = page.with_legend(Groups::legend(marks));
    Ok(groups.figure(page.draw()))
}

fn chart(groups: &Groups, measure: usize, names: &[String]) -> Chart {
    let count = groups.all.len();
    let y = Axis::of("", names.to_vec());
    let y = if measure == 0 { y } else { y.silent() };
    let mut chart = Chart::new(groups.axis(measure), y);
    for (g, group) in groups.all.iter().enumerate() {
        let row = (count - g) as f64;
        for level in [Level::Floor, Level::Chance] {
            let mark = group.level(measure, level).map(f64::log10);
            chart.layers.extend(mark.map(|v| Layer::Line {
                points: vec![(v, row - 0.3), (v, row + 0.3)],
                stroke: level.stroke(),
                side: Side::Left,
            }));
        }
        let mut values: Vec<f64> = (group.values[measure].iter().copied())
            .filter(|v| v.is_finite())
            .collect();
        let middle = median(&mut values);
        let mut off: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
        let mad = median(&mut off);
        let ends = [(middle - mad).max(middle / 10.0), middle + mad].map(f64::log10);
        chart.layers.push(Layer::Line {
            points: ends.map(|v| (v, row)).to_vec(),
            stroke: Stroke::new(Colour::VERMILION, 1.0),
            side: Side::Left,
        });
        chart.layers.push(Layer::Dots {
            points: vec![(middle.log10(), row, 0.0)],
            shape: Shape::Circle,
            colour: Colour::VERMILION,
            side: Side::Left,
        });
    }
    chart
}
