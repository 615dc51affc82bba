//! A drawing: paths, text and images on a page, in points (1/72 inch) from its upper left corner, written as [SVG](fn@svg),
//! [PNG](fn@png) or [PDF](fn@pdf).
//!
//! Text becomes outlines of the one font that comes with the program, so that a figure looks the same in all three, on any
//! machine.

pub mod colour;
pub mod font;
mod pdf;
mod png;
mod svg;

pub use colour::Colour;
pub use pdf::pdf;
pub use png::png;
pub use svg::svg;

/// Points in a millimetre.
pub const POINTS_PER_MM: f64 = 72.0 / 25.4;

/// A page with what is on it, from bottom to top.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawing {
    /// Width in points.
    pub width: f64,
    /// Height in points.
    pub height: f64,
    /// What is drawn, in this order.
    pub items: Vec<Item>,
}

/// Something on a page.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A path, seen within a frame if there is one.
    Path {
        /// The path.
        path: Path,
        /// Its inside.
        fill: Option<Colour>,
        /// Its line.
        stroke: Option<Stroke>,
        /// What is seen of it.
        clip: Option<Frame>,
    },
    /// Words.
    Text(Text),
    /// Coloured cells.
    Image(Image),
}

/// A rectangle, its sides along the page's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Frame {
    /// Left edge.
    pub left: f64,
    /// Upper edge.
    pub top: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

/// A sequence of lines and curves.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Path {
    /// Its parts.
    pub segments: Vec<Segment>,
}

/// A place on a page.
pub type Point = (f64, f64);

/// A part of a path.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Segment {
    /// A new part begins here.
    Move(Point),
    /// A straight line to here.
    Line(Point),
    /// A cubic curve by two control points to the third.
    Cubic(Point, Point, Point),
    /// Back to where the part began.
    Close,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stroke {
    /// Its colour.
    pub colour: Colour,
    /// Its width in points.
    pub width: f64,
    /// Lengths of dash and gap in points.
    pub dash: Option<(f64, f64)>,
}

/// Words on a page.
#[derive(Debug, Clone, PartialEq)]
pub struct Text {
    /// The words.
    pub words: String,
    /// Where the base line's anchor is.
    pub at: Point,
    /// Height of the font in points.
    pub size: f64,
    /// Where along the words the anchor is: 0 at the left, 1 at the right.
    pub anchor: f64,
    /// Which way the words run.
    pub direction: Direction,
    /// How heavy they are.
    pub weight: Weight,
    /// Their colour.
    pub colour: Colour,
}

/// Which way words run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// From left to right.
    Across,
    /// From bottom to top.
    Up,
}

/// How heavy words are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// As the font has them.
    Regular,
    /// With a line around them.
    Bold,
}

/// Coloured cells, row by row from the upper left.
#[derive(Debug, Clone, PartialEq)]
pub struct Image {
    /// Where it is.
    pub frame: Frame,
    /// Cells in a row.
    pub columns: usize,
    /// The colours.
    pub cells: Vec<Colour>,
}

impl Drawing {
    /// An empty page.
    pub fn new(width: f64, height: f64) -> Drawing {
        Drawing {
            width,
            height,
            items: Vec::new(),
        }
    }

    /// Draws a line.
    pub fn line(&mut self, path: Path, stroke: Stroke, clip: Option<Frame>) {
        self.items.push(Item::Path {
            path,
            fill: None,
            stroke: Some(stroke),
            clip,
        });
    }

    /// Fills an area.
    pub fn area(&mut self, path: Path, fill: Colour, clip: Option<Frame>) {
        self.items.push(Item::Path {
            path,
            fill: Some(fill),
            stroke: None,
            clip,
        });
    }

    /// Writes words.
    pub fn text(&mut self, text: Text) {
        self.items.push(Item::Text(text));
    }

    /// All words on the page.
    pub fn texts(&self) -> impl Iterator<Item = &Text> {
        self.items.iter().filter_map(|item| match item {
            Item::Text(text) => Some(text),
            _ => None,
        })
    }
}

impl Frame {
    /// The edge on the right.
    pub fn right(&self) -> f64 {
        self.left + self.width
    }

    /// The lower edge.
    pub fn bottom(&self) -> f64 {
        self.top + self.height
    }

    /// Whether two frames share more than an edge.
    pub fn overlaps(&self, other: &Frame) -> bool {
        self.left < other.right()
            && other.left < self.right()
            && self.top < other.bottom()
            && other.top < self.bottom()
    }

    /// The frame as a path.
    pub fn outline(&self) -> Path {
        let (left, right) = (self.left, self.right());
        let (top, bottom) = (self.top, self.bottom());
        Path::through([(left, top), (right, top), (right, bottom), (left, bottom)]).closed()
    }
}

/// A circle's quarter as a cubic curve has its control points this far along the tangents, in radii.
const QUARTER: f64 = 0.552_284_75;

impl Path {
    /// Straight lines through points; a point that is not finite interrupts them.
    pub fn through(points: impl IntoIterator<Item = Point>) -> Path {
        let mut path = Path::default();
        let mut is_drawing = false;
        for (x, y) in points {
            let is_finite = x.is_finite() && y.is_finite();
            match (is_finite, is_drawing) {
                (true, true) => path.segments.push(Segment::Line((x, y))),
                (true, false) => path.segments.push(Segment::Move((x, y))),
                (false, _) => {}
            }
            is_drawing = is_finite;
        }
        path
    }

    /// A circle.
    pub fn circle((x, y): Point, radius: f64) -> Path {
        let (r, k) = (radius, radius * QUARTER);
        let quarter = |(ax, ay): Point, (bx, by): Point, (cx, cy): Point| {
            Segment::Cubic((x + ax, y + ay), (x + bx, y + by), (x + cx, y + cy))
        };
        Path {
            segments: vec![
                Segment::Move((x + r, y)),
                quarter((r, k), (k, r), (0.0, r)),
                quarter((-k, r), (-r, k), (-r, 0.0)),
                quarter((-r, -k), (-k, -r), (0.0, -r)),
                quarter((k, -r), (r, -k), (r, 0.0)),
                Segment::Close,
            ],
        }
    }

    /// The same path, closed.
    pub fn closed(mut self) -> Path {
        self.segments.push(Segment::Close);
        self
    }

    /// The path with every point moved.
    pub fn map(&self, f: impl Fn(Point) -> Point) -> Path {
        let moved = self.segments.iter().map(|segment| match *segment {
            Segment::Move(p) => Segment::Move(f(p)),
            Segment::Line(p) => Segment::Line(f(p)),
            Segment::Cubic(a, b, c) => Segment::Cubic(f(a), f(b), f(c)),
            Segment::Close => Segment::Close,
        });
        Path {
            segments: moved.collect(),
        }
    }
}

/// The line around the letters of bold words, in heights of the font.
const BOLD: f64 = 0.045;

impl Text {
    /// Words from left to right that begin at a place.
    pub fn new(words: impl Into<String>, at: Point, size: f64) -> Text {
        Text {
            words: words.into(),
            at,
            size,
            anchor: 0.0,
            direction: Direction::Across,
            weight: Weight::Regular,
            colour: Colour::INK,
        }
    }

    /// The same, anchored at a part of their length.
    pub fn anchored(self, anchor: f64) -> Text {
        Text { anchor, ..self }
    }

    /// The same, from bottom to top.
    pub fn upward(self) -> Text {
        let direction = Direction::Up;
        Text { direction, ..self }
    }

    /// The same, heavier.
    pub fn bold(self) -> Text {
        let weight = Weight::Bold;
        Text { weight, ..self }
    }

    /// The same in another colour.
    pub fn coloured(self, colour: Colour) -> Text {
        Text { colour, ..self }
    }

    /// What the words cover.
    pub fn frame(&self) -> Frame {
        let (length, (x, y)) = (font::width(&self.words, self.size), self.at);
        let (above, below) = (font::ASCENT * self.size, font::DESCENT * self.size);
        let before = self.anchor * length;
        let (left, top, width, height) = match self.direction {
            Direction::Across => (x - before, y - above, length, above + below),
            Direction::Up => (x - above, y + before - length, above + below, length),
        };
        Frame {
            left,
            top,
            width,
            height,
        }
    }

    /// The outlines of the letters on the page.
    pub fn path(&self) -> Path {
        let before = self.anchor * font::width(&self.words, self.size);
        let (x, y) = self.at;
        font::outline(&self.words, self.size).map(|(along, up)| match self.direction {
            Direction::Across => (x - before + along, y - up),
            Direction::Up => (x - up, y + before - along),
        })
    }

    /// The line around bold letters.
    fn stroke(&self) -> Option<Stroke> {
        (self.weight == Weight::Bold).then_some(Stroke {
            colour: self.colour,
            width: BOLD * self.size,
            dash: None,
        })
    }
}

impl Stroke {
    /// A continuous line.
    pub fn new(colour: Colour, width: f64) -> Stroke {
        Stroke {
            colour,
            width,
            dash: None,
        }
    }

    /// That of the i-th of several lines: in grey, where colours are alike, its dashes tell it apart.
    pub fn of_line(i: usize, width: f64) -> Stroke {
        const DASHES: [Option<(f64, f64)>; 4] =
            [None, Some((4.0, 1.4)), Some((1.3, 1.1)), Some((8.0, 1.4))];
        let dash = DASHES[i % DASHES.len()];
        Stroke {
            dash,
            ..Stroke::new(Colour::of_line(i), width)
        }
    }

    /// The same, dashed.
    pub fn dashed(self) -> Stroke {
        let dash = Some((3.0, 2.0));
        Stroke { dash, ..self }
    }
}

impl Image {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.cells.len() / self.columns
    }

    /// The colours as red, green, blue bytes.
    fn bytes(&self) -> Vec<u8> {
        self.cells.iter().flat_map(|c| [c.r, c.g, c.b]).collect()
    }
}

#[cfg(test)]
mod tests;
