//! A page: charts in rows and columns whose frames line up, a letter for each, and one legend above all.

use super::{Chart, GAP, Margins, Shape, Surroundings, WORDS};
use crate::drawing::{Colour, Drawing, Frame, Path, Stroke, Text, font};

/// Charts on a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    /// Width in points.
    pub width: f64,
    /// The shares of the columns in the width.
    pub columns: Vec<f64>,
    /// Heights of the frames of every row in points.
    pub rows: Vec<f64>,
    /// The charts, row by row; none leaves a place empty.
    pub charts: Vec<Option<Chart>>,
    /// What lines and colours mean.
    pub legend: Vec<Key>,
}

/// An entry of the legend.
#[derive(Debug, Clone, PartialEq)]
pub struct Key {
    /// What it means.
    pub words: String,
    /// How it looks.
    pub sample: Sample,
}

/// How an entry of the legend looks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Sample {
    /// A line.
    Line(Stroke),
    /// An area.
    Area(Colour),
    /// A dot.
    Dot(Shape, Colour),
    /// A line with a dot on it.
    Marked(Stroke, Shape),
}

impl Key {
    /// The entry of a line.
    pub fn line(words: impl Into<String>, stroke: Stroke) -> Key {
        Key {
            words: words.into(),
            sample: Sample::Line(stroke),
        }
    }

    /// The entry of a line with dots on it.
    pub fn marked(words: impl Into<String>, stroke: Stroke, shape: Shape) -> Key {
        Key {
            words: words.into(),
            sample: Sample::Marked(stroke, shape),
        }
    }

    /// The entry of dots.
    pub fn dot(words: impl Into<String>, shape: Shape, colour: Colour) -> Key {
        Key {
            words: words.into(),
            sample: Sample::Dot(shape, colour),
        }
    }
}

/// Around the page and between charts, in points.
const EDGE: f64 = 4.0;
const BETWEEN: f64 = 8.0;

/// Height of the letters of charts.
const LETTERS: f64 = 9.0;

/// Length of a sample in the legend, and what follows an entry.
const SAMPLE: f64 = 14.0;
const AFTER: f64 = 10.0;

/// Height of a row of the legend.
const ROW: f64 = WORDS + 4.0;

impl Page {
    /// A page of one column.
    pub fn stacked(width: f64, height: f64, charts: Vec<Chart>) -> Page {
        Page {
            width,
            columns: vec![1.0],
            rows: vec![height; charts.len()],
            charts: charts.into_iter().map(Some).collect(),
            legend: Vec::new(),
        }
    }

    /// A page of several columns of the same width.
    pub fn grid(width: f64, columns: usize, height: f64, charts: Vec<Chart>) -> Page {
        let columns = columns.min(charts.len()).max(1);
        Page {
            columns: vec![1.0; columns],
            rows: vec![height; charts.len().div_ceil(columns)],
            ..Page::stacked(width, height, charts)
        }
    }

    /// The same with a legend.
    pub fn with_legend(self, legend: Vec<Key>) -> Page {
        Page { legend, ..self }
    }

    /// Draws everything.
    pub fn draw(&self) -> Drawing {
        let legend = self.legend_rows();
        let margins = self.margins();
        let above = EDGE + legend.len() as f64 * ROW;
        let heights = self.rows.iter().enumerate();
        let total: f64 = heights.map(|(r, h)| h + margins.of_row(r)).sum();
        let between = BETWEEN * (self.rows.len().max(1) - 1) as f64;
        let mut drawing = Drawing::new(self.width, above + total + between + EDGE);
        self.draw_legend(&legend, &mut drawing);
        let mut top = above;
        for (row, height) in self.rows.iter().enumerate() {
            self.draw_row(row, top, &margins, &mut drawing);
            top += height + margins.of_row(row) + BETWEEN;
        }
        drawing
    }

    fn draw_row(&self, row: usize, top: f64, margins: &AllMargins, drawing: &mut Drawing) {
        let mut left = EDGE;
        for column in 0..self.columns.len() {
            let cell = self.cell(column);
            let index = row * self.columns.len() + column;
            if let Some(Some(chart)) = self.charts.get(index) {
                // What has no axes takes the room of those of others.
                let around = match chart.surroundings {
                    Surroundings::Axes => margins.columns[column],
                    Surroundings::Nothing => Margins::default(),
                };
                let frame = Frame {
                    left: left + around.left,
                    top: top + margins.rows[row].top,
                    width: (cell - around.left - around.right).max(1.0),
                    height: self.rows[row],
                };
                chart.draw(drawing, frame, around.right);
                self.draw_letter(index, (left, top + LETTERS * font::CAPITAL), drawing);
            }
            left += cell + BETWEEN;
        }
    }

    fn draw_letter(&self, index: usize, at: (f64, f64), drawing: &mut Drawing) {
        if self.charts.iter().flatten().count() < 2 {
            return;
        }
        let before = self.charts[..index].iter().flatten().count();
        // After z comes aa, as in spreadsheets.
        let letter = |n: usize| char::from(b'a' + (n % 26) as u8);
        let name: String = match before {
            0..26 => letter(before).to_string(),
            _ => [letter(before / 26 - 1), letter(before)].iter().collect(),
        };
        drawing.text(Text::new(name, at, LETTERS).bold());
    }

    /// Width of the cells of a column.
    fn cell(&self, column: usize) -> f64 {
        let between = BETWEEN * (self.columns.len() - 1) as f64;
        let shares: f64 = self.columns.iter().sum();
        (self.width - 2.0 * EDGE - between) * self.columns[column] / shares
    }

    fn margins(&self) -> AllMargins {
        let mut all = AllMargins {
            columns: vec![Margins::default(); self.columns.len()],
            rows: vec![Margins::default(); self.rows.len()],
        };
        for (i, chart) in self.charts.iter().enumerate() {
            let Some(chart) = chart else { continue };
            let (row, column) = (i / self.columns.len(), i % self.columns.len());
            // Numbers at ticks of a narrower frame are not wider.
            let need = chart.margins(self.cell(column), self.rows[row]);
            let (of_column, of_row) = (&mut all.columns[column], &mut all.rows[row]);
            of_column.left = of_column.left.max(need.left);
            of_column.right = of_column.right.max(need.right);
            of_row.top = of_row.top.max(need.top);
            of_row.bottom = of_row.bottom.max(need.bottom);
        }
        all
    }

    /// The entries that fit into each row, with where they begin.
    fn legend_rows(&self) -> Vec<Vec<(f64, &Key)>> {
        let mut rows: Vec<Vec<(f64, &Key)>> = Vec::new();
        let (start, mut left) = (EDGE + LETTERS + GAP, f64::INFINITY);
        for key in &self.legend {
            let length = SAMPLE + GAP + font::width(&key.words, WORDS);
            if left + length > self.width - EDGE {
                rows.push(Vec::new());
                left = start;
            }
            rows.last_mut()
                .expect("the first entry begins a row")
                .push((left, key));
            left += length + AFTER;
        }
        rows
    }

    fn draw_legend(&self, rows: &[Vec<(f64, &Key)>], drawing: &mut Drawing) {
        for (i, row) in rows.iter().enumerate() {
            let base = EDGE + i as f64 * ROW + font::ASCENT * WORDS;
            let middle = base - font::CAPITAL * WORDS / 2.0;
            for (left, key) in row {
                draw_sample(key.sample, *left, middle, drawing);
                let start = left + SAMPLE + GAP;
                let words = font::shortened(&key.words, WORDS, self.width - EDGE - start);
                drawing.text(Text::new(words, (start, base), WORDS));
            }
        }
    }
}

fn draw_sample(sample: Sample, left: f64, middle: f64, drawing: &mut Drawing) {
    match sample {
        Sample::Line(stroke) => {
            let ends = [(left, middle), (left + SAMPLE, middle)];
            let width = stroke.width.max(1.0);
            drawing.line(Path::through(ends), Stroke { width, ..stroke }, None);
        }
        Sample::Dot(shape, colour) => {
            let path = shape.path((left + SAMPLE / 2.0, middle));
            drawing.area(path, colour, None);
        }
        Sample::Marked(stroke, shape) => {
            draw_sample(Sample::Line(stroke), left, middle, drawing);
            draw_sample(Sample::Dot(shape, stroke.colour), left, middle, drawing);
        }
        Sample::Area(colour) => {
            let frame = Frame {
                left,
                top: middle - 2.5,
                width: SAMPLE,
                height: 5.0,
            };
            drawing.area(frame.outline(), colour, None);
        }
    }
}

/// Left and right margins of the columns, upper and lower ones of the rows.
struct AllMargins {
    columns: Vec<Margins>,
    rows: Vec<Margins>,
}

impl AllMargins {
    fn of_row(&self, row: usize) -> f64 {
        self.rows[row].top + self.rows[row].bottom
    }
}
