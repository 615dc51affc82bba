//! The truth, and below it a free orbit a run from its first row: traces against time, and for three channels the state space
//! seen from an angle (Hess et al. 2023, Figs. 3, S4 and S12).

use super::excerpt::{Compared, Excerpt};
use super::{Figure, Kind, Request, TWO_COLUMNS, Takes};
use crate::Error;
use crate::chart::{Axis, Chart, Key, Layer, Page, Side, Surroundings};
use crate::drawing::{Colour, Stroke};

pub(super) const KIND: Kind = Kind {
    id: "reconstruction",
    paper: "Figs. 3, S4, S12",
    summary: "Traces of the truth and of a free orbit a run, with the state space of three channels",
    takes: Takes::Runs,
    heeds: &["--data", "--steps", "--show"],
    draw,
};

/// Rows of data that are shown if nothing is said.
const STEPS: usize = 2000;

/// Heights of frames in points, of traces alone and beside the state space.
const ALONE: f64 = 52.0;
const BESIDE: f64 = 105.0;

fn draw(request: &Request) -> Result<Figure, Error> {
    let compared = request.compared(STEPS)?;
    let excerpt = &compared.excerpt;
    let usual = if excerpt.dim() <= 3 { excerpt.dim() } else { 1 };
    let shown = request.shown(excerpt, usual)?;
    let is_spatial = excerpt.dim() == 3;
    let drawn = if is_spatial {
        vec![0, 1, 2]
    } else {
        shown.clone()
    };
    let width = request.width_or(TWO_COLUMNS);
    let page = if is_spatial {
        with_state_space(&compared, &shown, width)
    } else {
        Page::stacked(width, ALONE, traces(&compared, &shown))
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
    let entry = |(i, c): (usize, &usize)| {
        Key::line(
            excerpt.labels[*c].as_str(),
            Stroke::new(Colour::of_line(i), 0.8),
        )
    };
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
                stroke: Stroke::new(colour((panel, i), shown.len()), 0.7),
                side: Side::Left,
            }));
        chart
    };
    all.iter().enumerate().map(chart).collect()
}

/// One channel has the colour of its panel, several have their own.
fn colour((panel, i): (usize, usize), channels: usize) -> Colour {
    match (channels, panel) {
        (1, 0) => Colour::INK,
        (1, _) => Colour::BLUE,
        _ => Colour::of_line(i),
    }
}

/// State spaces on the left, traces on the right.
fn with_state_space(compared: &Compared, shown: &[usize], width: f64) -> Page {
    let view = View::of(&compared.excerpt);
    let spaces = compared.all().into_iter().enumerate();
    let spaces = spaces.map(|(panel, (_, x))| view.chart(x, colour((panel, 0), 1)));
    let pairs = spaces.zip(traces(compared, shown));
    let charts: Vec<Chart> = pairs.flat_map(|(space, trace)| [space, trace]).collect();
    Page {
        columns: vec![1.0, 1.9],
        ..Page::grid(width, 2, BESIDE, charts)
    }
}

/// Three channels seen from an angle: every channel is brought to −1 … 1 by the truth, turned by φ about the third, and
/// tilted by ϑ:  u = x cos φ − y sin φ,  v = z cos ϑ + (x sin φ + y cos φ) sin ϑ.
struct View {
    middle: [f64; 3],
    half: [f64; 3],
    names: Vec<String>,
}

/// Angles of the view.
const TURN: f64 = 0.6;
const TILT: f64 = 0.35;

/// What is seen to either side of the middle: the box, and the names at its edges.
const WIDE: f64 = 1.75;
const HIGH: f64 = 1.45;

impl View {
    fn of(excerpt: &Excerpt) -> View {
        let axes = [0, 1, 2].map(|c| {
            let values = excerpt.truth.iter().skip(c).step_by(3).copied();
            Axis::around("", values)
        });
        View {
            middle: axes.clone().map(|axis| (axis.low + axis.high) / 2.0),
            half: axes.map(|axis| (axis.high - axis.low) / 2.0),
            names: excerpt.names(),
        }
    }

    fn chart(&self, x: &[f64], colour: Colour) -> Chart {
        let (across, up) = (Axis::new("", -WIDE, WIDE), Axis::new("", -HIGH, HIGH));
        let mut chart = Chart::new(across, up);
        chart.surroundings = Surroundings::Nothing;
        chart.layers.extend(self.edges());
        let unit = |row: &[f64]| [0, 1, 2].map(|c| (row[c] - self.middle[c]) / self.half[c]);
        chart.layers.push(Layer::Line {
            points: x.chunks_exact(3).map(|row| seen(unit(row))).collect(),
            stroke: Stroke::new(colour, 0.45),
            side: Side::Left,
        });
        chart
    }

    /// The edges from one corner of the box, with the names of the channels at their ends.
    fn edges(&self) -> Vec<Layer> {
        const CORNER: [f64; 3] = [-1.0; 3];
        let edge = |c: usize| {
            let end = |length: f64| {
                let mut end = CORNER;
                end[c] += length;
                seen(end)
            };
            let (at, name) = (end(2.3), self.names[c].clone());
            [
                Layer::Line {
                    points: vec![seen(CORNER), end(2.0)],
                    stroke: Stroke::new(Colour::NOTHING, 0.6),
                    side: Side::Left,
                },
                Layer::Words(name, (at.0, at.1 - 0.06)),
            ]
        };
        [0, 1, 2].into_iter().flat_map(edge).collect()
    }
}

fn seen([x, y, z]: [f64; 3]) -> (f64, f64) {
    let across = x * TURN.cos() - y * TURN.sin();
    let away = x * TURN.sin() + y * TURN.cos();
    (across, z * TILT.cos() + away * TILT.sin())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_view_turns_and_tilts_without_stretching() {
        // Of three orthonormal vectors, the parts that are seen have squares that sum to 2.
        let parts = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]].map(seen);
        let squares: f64 = parts.iter().map(|(u, v)| u * u + v * v).sum();
        assert!((squares - 2.0).abs() < 1e-14);
        // Every corner of the box is within the chart.
        for corner in 0..8 {
            let side = |bit: u32| if corner >> bit & 1 == 1 { 1.0 } else { -1.0 };
            let (u, v) = seen([side(0), side(1), side(2)]);
            assert!(u.abs() <= WIDE && v.abs() <= HIGH, "{u} {v}");
        }
    }
}
