//! What is shown in a chart, in the values of its axes.

use super::{Axis, Chart};
use crate::drawing::{Colour, Drawing, Frame, Image, Item, Path, Point, Stroke, Text};

/// Which vertical axis values are read on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The axis on the left.
    Left,
    /// The axis on the right.
    Right,
}

/// Something in a chart.
#[derive(Debug, Clone, PartialEq)]
pub enum Layer {
    /// Points joined by a line, interrupted where a value is not finite.
    Line {
        /// x and y.
        points: Vec<Point>,
        /// The line.
        stroke: Stroke,
        /// The axis of y.
        side: Side,
    },
    /// Dots with bars of error above and below.
    Dots {
        /// x, y and the length of the bar to either side; none if it is not above 0.
        points: Vec<(f64, f64, f64)>,
        /// Their shape.
        shape: Shape,
        /// Their colour.
        colour: Colour,
        /// The axis of y.
        side: Side,
    },
    /// Columns on the lower edge.
    Columns {
        /// Left edge, right edge and height.
        columns: Vec<(f64, f64, f64)>,
        /// Their colour.
        colour: Colour,
    },
    /// An area with its edge.
    Area {
        /// Its corners.
        points: Vec<Point>,
        /// Its inside.
        fill: Colour,
        /// Its edge.
        edge: Stroke,
    },
    /// Cells of colour that fill the frame.
    Image {
        /// Cells in a row.
        columns: usize,
        /// Row by row from the upper left.
        cells: Vec<Colour>,
    },
    /// A line from the lower to the upper edge.
    Vertical(f64, Stroke),
    /// A line from edge to edge.
    Horizontal(f64, Stroke, Side),
    /// Words in the middle of a place.
    Words(String, Point),
}

/// How dots look: in grey, where colours are alike, shapes tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A circle.
    Circle,
    /// A square.
    Square,
    /// A square on its corner.
    Diamond,
    /// A triangle.
    Triangle,
    /// A triangle on its tip.
    Tip,
    /// An upright cross.
    Cross,
}

/// The corners of a cross, in radii of a dot.
const CROSS: [Point; 12] = {
    const THIN: f64 = 0.4;
    const LONG: f64 = 1.4;
    [
        (-THIN, -LONG),
        (THIN, -LONG),
        (THIN, -THIN),
        (LONG, -THIN),
        (LONG, THIN),
        (THIN, THIN),
        (THIN, LONG),
        (-THIN, LONG),
        (-THIN, THIN),
        (-LONG, THIN),
        (-LONG, -THIN),
        (-THIN, -THIN),
    ]
};

/// Radius of dots in points.
const DOT: f64 = 1.6;

impl Shape {
    /// That of the i-th of several.
    pub fn of(i: usize) -> Shape {
        const ALL: [Shape; 6] = [
            Shape::Circle,
            Shape::Square,
            Shape::Diamond,
            Shape::Triangle,
            Shape::Tip,
            Shape::Cross,
        ];
        ALL[i % ALL.len()]
    }

    /// A dot at a place on the page.
    pub(super) fn path(self, (x, y): Point) -> Path {
        // All of about the same area.
        let corners: &[Point] = match self {
            Shape::Circle => return Path::circle((x, y), DOT),
            Shape::Square => &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
            Shape::Diamond => &[(-1.3, 0.0), (0.0, -1.3), (1.3, 0.0), (0.0, 1.3)],
            Shape::Triangle => &[(-1.25, 0.8), (0.0, -1.4), (1.25, 0.8)],
            Shape::Tip => &[(-1.25, -0.8), (0.0, 1.4), (1.25, -0.8)],
            Shape::Cross => &CROSS,
        };
        let corner = |&(u, v): &Point| (x + DOT * u, y + DOT * v);
        Path::through(corners.iter().map(corner)).closed()
    }
}

impl Layer {
    pub(super) fn draw(&self, chart: &Chart, drawing: &mut Drawing, frame: Frame) {
        let at = |side: Side| Places {
            x: &chart.x,
            y: chart
                .right
                .as_ref()
                .filter(|_| side == Side::Right)
                .unwrap_or(&chart.y),
            frame,
        };
        let left = at(Side::Left);
        match self {
            Layer::Line {
                points,
                stroke,
                side,
            } => at(*side).line(points, *stroke, drawing),
            Layer::Dots {
                points,
                shape,
                colour,
                side,
            } => at(*side).dots(points, (*shape, *colour), drawing),
            Layer::Columns { columns, colour } => left.columns(columns, *colour, drawing),
            Layer::Area { points, fill, edge } => {
                let corners = points.iter().map(|&point| left.of(point));
                drawing.items.push(Item::Path {
                    path: Path::through(corners).closed(),
                    fill: Some(*fill),
                    stroke: Some(*edge),
                    clip: Some(frame),
                });
            }
            Layer::Image { columns, cells } => drawing.items.push(Item::Image(Image {
                frame,
                columns: *columns,
                cells: cells.clone(),
            })),
            Layer::Vertical(x, stroke) => {
                let ends = [(*x, chart.y.low), (*x, chart.y.high)];
                left.line(&ends, *stroke, drawing);
            }
            Layer::Horizontal(y, stroke, side) => {
                let ends = [(chart.x.low, *y), (chart.x.high, *y)];
                at(*side).line(&ends, *stroke, drawing);
            }
            Layer::Words(words, point) => {
                let text = Text::new(words.clone(), left.of(*point), super::WORDS);
                drawing.text(text.anchored(0.5));
            }
        }
    }
}

/// From values to places on the page.
struct Places<'a> {
    x: &'a Axis,
    y: &'a Axis,
    frame: Frame,
}

/// How far beyond its frame a point may be, in sizes of the frame: what is farther is cut there, so that a file has no
/// absurd numbers.
const BEYOND: f64 = 10.0;

impl Places<'_> {
    fn of(&self, (x, y): Point) -> Point {
        let within = |place: f64| {
            if place.is_nan() {
                place
            } else {
                place.clamp(-BEYOND, 1.0 + BEYOND)
            }
        };
        (
            self.frame.left + within(self.x.place(x)) * self.frame.width,
            self.frame.bottom() - within(self.y.place(y)) * self.frame.height,
        )
    }

    fn line(&self, points: &[Point], stroke: Stroke, drawing: &mut Drawing) {
        let path = Path::through(points.iter().map(|&point| self.of(point)));
        drawing.line(path, stroke, Some(self.frame));
    }

    fn dots(
        &self,
        points: &[(f64, f64, f64)],
        (shape, colour): (Shape, Colour),
        drawing: &mut Drawing,
    ) {
        let is_there = |(x, y, _): &&(f64, f64, f64)| x.is_finite() && y.is_finite();
        for &(x, y, error) in points.iter().filter(is_there) {
            if error > 0.0 {
                let bar = [(x, y - error), (x, y + error)];
                self.line(&bar, Stroke::new(colour, 0.6), drawing);
            }
            drawing.area(shape.path(self.of((x, y))), colour, None);
        }
    }

    fn columns(&self, columns: &[(f64, f64, f64)], colour: Colour, drawing: &mut Drawing) {
        let base = self.y.low;
        let mut path = Path::default();
        for &(from, to, height) in columns.iter().filter(|(_, _, height)| *height > base) {
            let corners = [(from, base), (from, height), (to, height), (to, base)];
            let column = Path::through(corners.map(|corner| self.of(corner))).closed();
            path.segments.extend(column.segments);
        }
        drawing.area(path, colour, Some(self.frame));
    }
}
