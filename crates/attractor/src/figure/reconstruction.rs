//! The truth, and below it a free orbit per run from its first row: traces against time; of three channels the state space as a box seen from
//! an angle, of two the plane (Hess et al. 2023, Figs. 3, S4 and S12).

use super::excerpt::{Compared, Excerpt};
use super::space::{Angles, Space};
use super::{Figure, Kind, Request, TWO_COLUMNS, Takes};
use crate::Error;
use crate::chart::{Chart, Key, Layer, Page, Side};
use crate::drawing::{Colour, Stroke};

pub(super) const KIND: Kind = Kind {
    id: "reconstruction",
    paper: "Figs. 3, S4, S12",
    summary: "Traces of the truth and of a free orbit per run, with the state space of two or three channels",
    takes: Takes::Runs,
    heeds: &["--data", "--steps", "--show", "--view"],
    draw,
};

/// Rows of data that are shown if nothing is said.
const STEPS: usize = 2000;

/// Heights of frames in points, of traces alone and beside the state space; where the page is as narrow as one column, less.
const ALONE: f64 = 52.0;
const BESIDE: f64 = 150.0;
const NARROW: f64 = 300.0;
const BESIDE_NARROW: f64 = 112.0;

fn draw(request: &Request) -> Result<Figure, Error> {
    let compared = request.compared(STEPS)?;
    let excerpt = &compared.excerpt;
    let usual = if excerpt.dim() <= 3 { excerpt.dim() } else { 1 };
    let shown = request.shown(excerpt, usual)?;
    let drawn = if [2, 3].contains(&excerpt.dim()) {
        (0..excerpt.dim()).collect()
    } else {
        shown.clone()
    };
    let width = request.width_or(TWO_COLUMNS);
    let angles = request.view.map(Angles::of_degrees);
    let spaces = match excerpt.dim() {
        3 => boxes(&compared, angles, width),
        2 => planes(&compared),
        _ => Vec::new(),
    };
    let page = if spaces.is_empty() {
        Page::stacked(width, ALONE, traces(&compared, &shown))
    } else {
        beside_traces(&compared, spaces, &shown, width)
    };
    let page = page.with_legend(legend(excerpt, &shown));
    let table = excerpt.table(&compared.all(), &drawn);
    Ok(Figure {
        drawing: page.draw(),
        tables: vec![("traces".to_string(), table)],
        numbers: vec![("rows".to_string(), excerpt.len() as f64)],
        notes: compared.notes,
    })
}

/// Channels by colour, if there are several.
fn legend(excerpt: &Excerpt, shown: &[usize]) -> Vec<Key> {
    let entry =
        |(i, c): (usize, &usize)| Key::line(excerpt.labels[*c].as_str(), Stroke::of_line(i, 0.8));
    match shown {
        [_] => Vec::new(),
        several => several.iter().enumerate().map(entry).collect(),
    }
}

/// A chart of traces for the truth and every orbit.
fn traces(compared: &Compared, shown: &[usize]) -> Vec<Chart> {
    let excerpt = &compared.excerpt;
    let all = compared.all();
    let last = all.len() - 1;
    let series: Vec<&[f64]> = all.iter().map(|(_, x)| *x).collect();
    let values = excerpt.value_axis(shown, &series);
    let chart = |(panel, (name, x)): (usize, &(&str, &[f64]))| {
        let time = excerpt.time_axis();
        let time = if panel == last { time } else { time.silent() };
        let mut chart = Chart::new(time, values.clone()).titled(*name);
        chart
            .layers
            .extend(shown.iter().enumerate().map(|(i, c)| Layer::Line {
                points: excerpt.trace(x, *c),
                stroke: stroke((panel, i), shown.len()),
                side: Side::Left,
            }));
        chart
    };
    all.iter().enumerate().map(chart).collect()
}

/// One channel has the colour of its panel, several have lines of their own.
fn stroke((panel, i): (usize, usize), channels: usize) -> Stroke {
    match channels {
        1 => Stroke::new(colour(panel), 0.7),
        _ => Stroke::of_line(i, 0.7),
    }
}

/// The truth is above, orbits of runs below.
fn colour(panel: usize) -> Colour {
    match panel {
        0 => Colour::INK,
        _ => Colour::BLUE,
    }
}

/// State spaces on the left, traces on the right.
fn beside_traces(compared: &Compared, spaces: Vec<Chart>, shown: &[usize], width: f64) -> Page {
    let pairs = spaces.into_iter().zip(traces(compared, shown));
    let charts: Vec<Chart> = pairs.flat_map(|(space, trace)| [space, trace]).collect();
    let (columns, height) = beside(width);
    Page {
        columns: columns.to_vec(),
        ..Page::grid(width, 2, height, charts)
    }
}

/// How state spaces and traces share the width, and the height of both.
fn beside(width: f64) -> ([f64; 2], f64) {
    if width < NARROW {
        ([1.3, 1.0], BESIDE_NARROW)
    } else {
        ([1.0, 1.3], BESIDE)
    }
}

/// Three channels in a box, which holds what the axes of traces hold.
fn boxes(compared: &Compared, angles: Option<Angles>, width: f64) -> Vec<Chart> {
    let excerpt = &compared.excerpt;
    let all = compared.all();
    let series: Vec<&[f64]> = all.iter().map(|(_, x)| *x).collect();
    let axes = [0, 1, 2].map(|c| excerpt.value_axis(&[c], &series));
    let ([left, right], height) = beside(width);
    let frame = (width * left / (left + right), height);
    let space = Space::within(axes, &excerpt.truth, angles).fitted(frame);
    let all = all.into_iter().enumerate();
    all.map(|(panel, (_, x))| {
        let mut chart = space.chart();
        let stroke = Stroke::new(colour(panel), 0.5);
        chart.layers.push(space.line(x, stroke));
        chart
    })
    .collect()
}

/// Two channels as a plane.
fn planes(compared: &Compared) -> Vec<Chart> {
    let excerpt = &compared.excerpt;
    let all = compared.all();
    let series: Vec<&[f64]> = all.iter().map(|(_, x)| *x).collect();
    let [across, up] = [0, 1].map(|c| excerpt.value_axis(&[c], &series));
    let chart = |(panel, (_, x)): (usize, &(&str, &[f64]))| {
        let mut chart = Chart::new(across.clone(), up.clone());
        chart.layers.push(Layer::Line {
            points: x.chunks_exact(2).map(|row| (row[0], row[1])).collect(),
            stroke: Stroke::new(colour(panel), 0.6),
            side: Side::Left,
        });
        chart
    };
    all.iter().enumerate().map(chart).collect()
}
