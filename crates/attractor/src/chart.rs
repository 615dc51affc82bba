//! Charts: data in a frame between axes, and a [page](Page) of them with one legend, ready to be [drawn](crate::drawing).

mod axis;
mod layer;
mod page;

pub use axis::{Axis, Labels, Scale, Tick};
pub use layer::{Layer, Shape, Side};
pub use page::{Key, Page, Sample};

use crate::drawing::colour::ColourMap;
use crate::drawing::{Colour, Drawing, Frame, Image, Item, Path, Point, Stroke, Text, font};

/// Height of words in points.
pub(crate) const WORDS: f64 = 7.0;

/// Height of the numbers at ticks in points.
pub(crate) const NUMBERS: f64 = 6.5;

/// Length of ticks, and the distance of words from what they belong to, in points.
const TICK: f64 = 2.5;
const GAP: f64 = 2.5;

/// Width of axes in points.
const AXIS: f64 = 0.6;

/// Width of a colour bar, and its distance from the frame, in points.
const BAR: f64 = 6.0;
const BAR_GAP: f64 = 5.0;

/// Data in a frame.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    /// What stands above; nothing if empty.
    pub title: String,
    /// The axis below.
    pub x: Axis,
    /// The axis on the left.
    pub y: Axis,
    /// An axis on the right, for the layers that say so.
    pub right: Option<Axis>,
    /// What is shown, from bottom to top.
    pub layers: Vec<Layer>,
    /// What the colours of an image mean.
    pub bar: Option<ColourBar>,
    /// What surrounds the data.
    pub surroundings: Surroundings,
}

/// What surrounds the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surroundings {
    /// A frame with axes.
    Axes,
    /// Nothing: the data are a picture of their own.
    Nothing,
}

/// What the colours of an image mean.
#[derive(Debug, Clone, PartialEq)]
pub struct ColourBar {
    /// From values to places along the bar.
    pub axis: Axis,
    /// From places along the bar to colours.
    pub map: ColourMap,
}

/// What a chart needs around its frame, in points.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
struct Margins {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Chart {
    /// A chart without data.
    pub fn new(x: Axis, y: Axis) -> Chart {
        Chart {
            title: String::new(),
            x,
            y,
            right: None,
            layers: Vec::new(),
            bar: None,
            surroundings: Surroundings::Axes,
        }
    }

    /// The same with a title.
    pub fn titled(self, title: impl Into<String>) -> Chart {
        let title = title.into();
        Chart { title, ..self }
    }

    fn margins(&self, width: f64, height: f64) -> Margins {
        let top = WORDS + 2.0 * GAP;
        if self.surroundings == Surroundings::Nothing {
            return Margins {
                top,
                ..Margins::default()
            };
        }
        let bar = self.bar.as_ref();
        let bar = bar.map_or(0.0, |bar| BAR_GAP + BAR + beside(&bar.axis, height));
        let right = self.right.as_ref().map_or(0.0, |axis| beside(axis, height));
        let over = last_width(&self.x, width) / 2.0;
        Margins {
            left: beside(&self.y, height),
            right: over.max(right) + bar,
            top,
            bottom: below(&self.x),
        }
    }

    /// Draws the chart with its data in a frame that has some room on its right.
    fn draw(&self, drawing: &mut Drawing, frame: Frame, room: f64) {
        let frame = match self.surroundings {
            Surroundings::Axes => frame,
            Surroundings::Nothing => self.in_proportion(frame),
        };
        let images = |layer: &&Layer| matches!(layer, Layer::Image { .. });
        let all = || self.layers.iter();
        for layer in all().filter(images).chain(all().filter(|l| !images(l))) {
            layer.draw(self, drawing, frame);
        }
        self.draw_title(drawing, frame);
        if self.surroundings == Surroundings::Nothing {
            return;
        }
        drawing.line(frame.outline(), Stroke::new(Colour::INK, AXIS), None);
        draw_x(&self.x, drawing, frame);
        draw_y(&self.y, drawing, frame, Edge::Left);
        if let Some(right) = &self.right {
            draw_y(right, drawing, frame, Edge::Right);
        }
        if let Some(bar) = &self.bar {
            // At the end of the room, so that the bars of a column line up.
            bar.draw(drawing, frame, room - BAR - beside(&bar.axis, frame.height));
        }
    }

    /// The part of a frame in which lengths across are those upward.
    fn in_proportion(&self, frame: Frame) -> Frame {
        let (across, up) = (self.x.high - self.x.low, self.y.high - self.y.low);
        let scale = (frame.width / across).min(frame.height / up);
        let (width, height) = (scale * across, scale * up);
        Frame {
            left: frame.left + (frame.width - width) / 2.0,
            top: frame.top + (frame.height - height) / 2.0,
            width,
            height,
        }
    }

    fn draw_title(&self, drawing: &mut Drawing, frame: Frame) {
        let words = font::shortened(&self.title, WORDS, frame.width);
        let at = (frame.left + frame.width / 2.0, frame.top - GAP - 1.0);
        if !words.is_empty() {
            drawing.text(Text::new(words, at, WORDS).anchored(0.5));
        }
    }
}

impl ColourBar {
    fn draw(&self, drawing: &mut Drawing, beside: Frame, distance: f64) {
        const STEPS: usize = 128;
        let frame = Frame {
            left: beside.right() + distance,
            width: BAR,
            ..beside
        };
        let cells = (0..STEPS).map(|i| 1.0 - (i as f64 + 0.5) / STEPS as f64);
        drawing.items.push(Item::Image(Image {
            frame,
            columns: 1,
            cells: cells.map(|v| self.map.colour(v)).collect(),
        }));
        drawing.line(frame.outline(), Stroke::new(Colour::INK, AXIS), None);
        draw_y(&self.axis, drawing, frame, Edge::Right);
    }
}

/// On which edge of a frame an axis is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edge {
    Left,
    Right,
}

/// What an axis needs beside a frame of some height.
fn beside(axis: &Axis, height: f64) -> f64 {
    let label = if axis.label.is_empty() {
        0.0
    } else {
        WORDS + GAP
    };
    TICK + GAP + widest(axis, height) + label + 1.0
}

fn widest(axis: &Axis, height: f64) -> f64 {
    let ticks = axis.ticks_along(height, NUMBERS);
    let widths = ticks.iter().map(|tick| font::width(&tick.label, NUMBERS));
    widths.fold(0.0, f64::max)
}

/// What an axis needs below a frame.
fn below(axis: &Axis) -> f64 {
    let numbers = match axis.labels {
        Labels::Shown => TICK + GAP + NUMBERS,
        Labels::Hidden => TICK,
    };
    let label = if axis.label.is_empty() {
        0.0
    } else {
        WORDS + GAP
    };
    numbers + label + GAP
}

/// The width of the number at the last tick.
fn last_width(axis: &Axis, width: f64) -> f64 {
    let ticks = axis.ticks_across(width, NUMBERS);
    let last = ticks.last().map(|tick| font::width(&tick.label, NUMBERS));
    last.unwrap_or(0.0)
}

fn mark(drawing: &mut Drawing, from: Point, to: Point) {
    let stroke = Stroke::new(Colour::INK, AXIS);
    drawing.line(Path::through([from, to]), stroke, None);
}

fn draw_x(axis: &Axis, drawing: &mut Drawing, frame: Frame) {
    let bottom = frame.bottom();
    for tick in axis.ticks_across(frame.width, NUMBERS) {
        let x = frame.left + tick.place * frame.width;
        mark(drawing, (x, bottom), (x, bottom + TICK));
        let at = (x, bottom + TICK + GAP + font::CAPITAL * NUMBERS);
        if !tick.label.is_empty() {
            drawing.text(Text::new(tick.label, at, NUMBERS).anchored(0.5));
        }
    }
    if !axis.label.is_empty() {
        let y = bottom + below(axis) - GAP - font::DESCENT * WORDS;
        let words = font::shortened(&axis.label, WORDS, frame.width);
        let at = (frame.left + frame.width / 2.0, y);
        drawing.text(Text::new(words, at, WORDS).anchored(0.5));
    }
}

fn draw_y(axis: &Axis, drawing: &mut Drawing, frame: Frame, edge: Edge) {
    let (x, outward, anchor) = match edge {
        Edge::Left => (frame.left, -1.0, 1.0),
        Edge::Right => (frame.right(), 1.0, 0.0),
    };
    for tick in axis.ticks_along(frame.height, NUMBERS) {
        let y = frame.bottom() - tick.place * frame.height;
        mark(drawing, (x, y), (x + outward * TICK, y));
        let at = (
            x + outward * (TICK + GAP),
            y + font::CAPITAL * NUMBERS / 2.0,
        );
        if !tick.label.is_empty() {
            let text = Text::new(tick.label, at, NUMBERS).anchored(anchor);
            drawing.text(text.coloured(axis.colour));
        }
    }
    if !axis.label.is_empty() {
        let numbers = TICK + GAP + widest(axis, frame.height);
        // The base line is on the right of words that run upward.
        let line = match edge {
            Edge::Left => x - numbers - GAP - font::DESCENT * WORDS,
            Edge::Right => x + numbers + GAP + font::ASCENT * WORDS,
        };
        let words = font::shortened(&axis.label, WORDS, frame.height);
        let at = (line, frame.top + frame.height / 2.0);
        let text = Text::new(words, at, WORDS).anchored(0.5).upward();
        drawing.text(text.coloured(axis.colour));
    }
}

#[cfg(test)]
mod tests;
