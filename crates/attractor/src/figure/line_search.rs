//! Measures by the strength of forcing, from the `curve.csv` of a line search: D_stsp on the left axis and D_H on the right,
//! medians with their median absolute deviations, and where adaptive forcing lands as dashed lines (Hess et al. 2023, Fig. S3).

use std::fs;
use std::path::Path;

use super::{Figure, FigureError, Kind, Request, Takes};
use crate::Error;
use crate::anatomy::Table;
use crate::chart::{Axis, Chart, Key, Layer, Page, Shape, Side};
use crate::drawing::{Colour, Stroke};

pub(super) const KIND: Kind = Kind {
    id: "line-search",
    paper: "Fig. S3",
    summary: "D_stsp and D_H by the strength of forcing, from the folder of a line search",
    takes: Takes::LineSearches,
    heeds: &[],
    draw,
};

/// Height of a frame in points.
const HEIGHT: f64 = 110.0;

/// A line of the curve.
#[derive(Debug, Clone, PartialEq)]
struct Strength {
    is_adaptive: bool,
    alpha: f64,
    /// D_stsp, its spread, D_H, its spread; NaN where there is none.
    scores: [f64; 4],
}

fn draw(request: &Request) -> Result<Figure, Error> {
    let (mut charts, mut tables) = (Vec::new(), Vec::new());
    let (mut numbers, mut notes) = (Vec::new(), Vec::new());
    for (path, name) in request.subjects.iter().zip(request.names()) {
        let curve = read(path)?;
        for (score, measure) in [(0, "d_stsp"), (2, "d_h")] {
            let best = minimum(&curve, score);
            numbers.extend(best.map(|alpha| (format!("{name}: alpha of least {measure}"), alpha)));
            let missing = curve.iter().filter(|s| s.scores[score].is_nan()).count();
            if missing > 0 {
                notes.push(format!("{name}: {missing} strengths have no {measure}"));
            }
        }
        charts.push(chart(&curve).titled(name.as_str()));
        tables.push((name, table(&curve)));
    }
    let (width, columns) = request.side_by_side(charts.len());
    let page = Page::grid(width, columns, HEIGHT, charts).with_legend(legend());
    Ok(Figure {
        drawing: page.draw(),
        tables,
        numbers,
        notes,
    })
}

fn legend() -> Vec<Key> {
    let key = |(words, side): (&str, Side)| Key::marked(words, line(side), shape(side));
    let constant = [
        ("D_{stsp} (left)", Side::Left),
        ("D_{H} (right)", Side::Right),
    ];
    let forced = |(words, side): (&str, Side)| Key::line(words, level(side));
    let adaptive = [
        ("adaptive, D_{stsp}", Side::Left),
        ("adaptive, D_{H}", Side::Right),
    ];
    let constant = constant.into_iter().map(key);
    constant.chain(adaptive.into_iter().map(forced)).collect()
}

fn colour(side: Side) -> Colour {
    match side {
        Side::Left => Colour::BLUE,
        Side::Right => Colour::GREEN,
    }
}

/// In grey, where colours are alike, dots and dashes tell the two measures apart.
fn shape(side: Side) -> Shape {
    match side {
        Side::Left => Shape::Circle,
        Side::Right => Shape::Square,
    }
}

fn line(side: Side) -> Stroke {
    Stroke::new(colour(side), 0.9)
}

/// Where adaptive forcing lands.
fn level(side: Side) -> Stroke {
    let dash = match side {
        Side::Left => (5.0, 1.6),
        Side::Right => (1.3, 1.1),
    };
    Stroke {
        dash: Some(dash),
        ..Stroke::new(colour(side), 0.8)
    }
}

/// Reads the curve of a line search from its folder.
fn read(folder: &Path) -> Result<Vec<Strength>, Error> {
    let path = folder.join("curve.csv");
    let Ok(text) = fs::read_to_string(&path) else {
        let path = folder.to_path_buf();
        return Err(FigureError::NoLineSearch { path }.into());
    };
    parse(&text).map_err(|line| FigureError::NotCurve { line, path }.into())
}

/// The lines of a curve, or the number of the first that is none.
fn parse(text: &str) -> Result<Vec<Strength>, usize> {
    const COLUMNS: [&str; 6] = ["forcing", "alpha", "d_stsp", "d_stsp_mad", "d_h", "d_h_mad"];
    let mut lines = text.lines();
    let header: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let mut places = [0; 6];
    for (place, name) in places.iter_mut().zip(COLUMNS) {
        *place = header
            .iter()
            .position(|column| *column == name)
            .ok_or(1usize)?;
    }
    let strength = |(i, line): (usize, &str)| {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |c: usize| cells.get(places[c]).copied();
        let number = |c: usize| match cell(c)? {
            "" => Some(f64::NAN),
            text => text.parse().ok(),
        };
        let read = || {
            Some(Strength {
                is_adaptive: cell(0)? == "agtf",
                alpha: number(1)?,
                scores: [number(2)?, number(3)?, number(4)?, number(5)?],
            })
        };
        read().ok_or(i + 2)
    };
    let curve: Vec<Strength> = lines.enumerate().map(strength).collect::<Result<_, _>>()?;
    if curve.is_empty() { Err(2) } else { Ok(curve) }
}

/// The constant strength at which a score is least.
fn minimum(curve: &[Strength], score: usize) -> Option<f64> {
    let known = curve
        .iter()
        .filter(|s| !s.is_adaptive && s.scores[score].is_finite());
    let least = known.min_by(|a, b| a.scores[score].total_cmp(&b.scores[score]));
    least.map(|strength| strength.alpha)
}

fn chart(curve: &[Strength]) -> Chart {
    let axis = |label: &str, score: usize, side: Side| {
        let ends = curve.iter().flat_map(|s| {
            let (value, spread) = (s.scores[score], s.scores[score + 1]);
            [value - spread.max(0.0), value + spread.max(0.0)]
        });
        Axis::around(label, ends).coloured(colour(side))
    };
    let x = Axis::new("α", -0.03, 1.03);
    let mut chart = Chart::new(x, axis("D_{stsp}", 0, Side::Left));
    chart.right = Some(axis("D_{H}", 2, Side::Right));
    for (score, side) in [(0, Side::Left), (2, Side::Right)] {
        chart.layers.extend(layers(curve, score, side));
    }
    chart
}

fn layers(curve: &[Strength], score: usize, side: Side) -> Vec<Layer> {
    let constant = || curve.iter().filter(|s| !s.is_adaptive);
    let adaptive = curve
        .iter()
        .filter(|s| s.is_adaptive && s.scores[score].is_finite());
    let levels = adaptive.map(|s| Layer::Horizontal(s.scores[score], level(side), side));
    let line = Layer::Line {
        points: constant().map(|s| (s.alpha, s.scores[score])).collect(),
        stroke: line(side),
        side,
    };
    let dots = Layer::Dots {
        points: constant()
            .map(|s| (s.alpha, s.scores[score], s.scores[score + 1]))
            .collect(),
        shape: shape(side),
        colour: colour(side),
        side,
    };
    levels.chain([line, dots]).collect()
}

/// What is drawn; adaptive forcing in the last rows, marked by a 1.
fn table(curve: &[Strength]) -> Table {
    let row = |s: &Strength| {
        let adaptive = f64::from(u8::from(s.is_adaptive));
        [&[adaptive, s.alpha][..], &s.scores].concat()
    };
    let header = [
        "adaptive",
        "alpha",
        "d_stsp",
        "d_stsp_mad",
        "d_h",
        "d_h_mad",
    ];
    Table::new(&header, curve.iter().map(row).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str =
        "forcing,alpha,runs,d_stsp,d_stsp_mad,d_stsp_missing,d_h,d_h_mad,d_h_missing";

    #[test]
    fn the_least_score_of_a_constant_strength_is_found() {
        // A parabola about α = 0.15, adaptive forcing below it, one strength without D_H.
        let lines = (0..=20).map(|i| {
            let alpha = f64::from(i) / 20.0;
            let d = 1.0 + (alpha - 0.15).powi(2);
            let d_h = if i == 20 {
                String::new()
            } else {
                (2.0 - alpha).to_string()
            };
            format!("gtf,{alpha},5,{d},0.1,0,{d_h},0.05,0")
        });
        let text = [HEADER.to_string()]
            .into_iter()
            .chain(lines)
            .chain(["agtf,0.2,5,0.5,0.1,0,0.1,0.01,0".to_string()]);
        let curve = parse(&text.collect::<Vec<_>>().join("\n")).unwrap();
        assert_eq!(
            (curve.len(), minimum(&curve, 0), minimum(&curve, 2)),
            (22, Some(0.15), Some(0.95))
        );
        let table = table(&curve);
        assert_eq!(table.rows[21], [1.0, 0.2, 0.5, 0.1, 0.1, 0.01]);
        let dashed = layers(&curve, 0, Side::Left);
        assert!(matches!(dashed[0], Layer::Horizontal(level, ..) if level == 0.5));
    }

    #[test]
    fn lines_of_something_else_are_named() {
        assert_eq!(parse("a,b\n1,2"), Err(1));
        assert_eq!(parse(HEADER), Err(2));
        assert_eq!(
            parse(&format!(
                "{HEADER}\ngtf,0,5,1,1,0,1,1,0\ngtf,x,5,1,1,0,1,1,0"
            )),
            Err(3)
        );
    }
}
