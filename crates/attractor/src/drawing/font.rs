//! The font that comes with the program, DejaVu Sans Condensed: how long words are, and their outlines.
//!
//! Its curves are quadratic and become cubic:  c_1 = p_0 + 2/3 (q − p_0),  c_2 = p_1 + 2/3 (q − p_1).

use std::sync::LazyLock;

use ttf_parser::{Face, GlyphId, OutlineBuilder};

use super::{Path, Point, Segment};

/// How far letters reach above the base line, in heights of the font.
pub const ASCENT: f64 = 0.76;

/// How far letters reach below the base line, in heights of the font.
pub const DESCENT: f64 = 0.24;

/// Height of digits and capital letters, in heights of the font.
pub const CAPITAL: f64 = 0.73;

/// How much higher capital letters are than small ones, in heights of the font.
const RAISED: f64 = 0.18;

static FACE: LazyLock<Face<'static>> = LazyLock::new(|| {
    let file = include_bytes!("../../assets/DejaVuSansCondensed.ttf");
    Face::parse(file, 0).expect("the font that comes with the program is whole")
});

/// The length of words at a height of the font.
pub fn width(words: &str, size: f64) -> f64 {
    let advances = letters(words).map(|(c, level)| advance(glyph(c)) * level.size());
    size * advances.sum::<f64>()
}

/// The outlines of words at a height of the font, along and up from the start of their base line. Letters in `_{…}` are small
/// and low.
pub fn outline(words: &str, size: f64) -> Path {
    let mut pen = Pen {
        path: Path::default(),
        scale: 1.0,
        start: 0.0,
        base: 0.0,
        last: (0.0, 0.0),
    };
    let mut before = ' ';
    for (c, level) in letters(words) {
        let size = size * level.size();
        // Accents of their own are at the height of small letters.
        let is_on_capital = before.is_uppercase() && ('\u{300}'..'\u{370}').contains(&c);
        let raised = if is_on_capital { RAISED } else { 0.0 };
        pen.base = size * (raised - level.depth());
        pen.scale = size / em();
        // Blanks have no outline.
        let _ = FACE.outline_glyph(glyph(c), &mut pen);
        pen.start += size * advance(glyph(c));
        before = c;
    }
    pen.path
}

/// Where a letter stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Line,
    Low,
}

impl Level {
    fn size(self) -> f64 {
        match self {
            Level::Line => 1.0,
            Level::Low => 0.75,
        }
    }

    /// In heights of its own letters.
    fn depth(self) -> f64 {
        match self {
            Level::Line => 0.0,
            Level::Low => 0.2,
        }
    }
}

/// The letters of words, those in `_{…}` low.
fn letters(words: &str) -> impl Iterator<Item = (char, Level)> {
    let parts = words.split("_{").enumerate();
    parts.flat_map(|(i, part)| {
        let (low, line) = match i {
            0 => ("", part),
            _ => part.split_once('}').unwrap_or((part, "")),
        };
        let low = low.chars().map(|c| (c, Level::Low));
        low.chain(line.chars().map(|c| (c, Level::Line)))
    })
}

/// The words, or as many letters from their start as fit into a length, and an ellipsis.
pub fn shortened(words: &str, size: f64, length: f64) -> String {
    if width(words, size) <= length {
        return words.to_string();
    }
    let room = length - width("…", size);
    let mut used = 0.0;
    let fits = |c: &char| {
        used += width(&c.to_string(), size);
        used <= room
    };
    words.chars().take_while(fits).chain(['…']).collect()
}

/// Whether the font has a letter.
pub fn has(letter: char) -> bool {
    FACE.glyph_index(letter).is_some()
}

fn em() -> f64 {
    f64::from(FACE.units_per_em())
}

/// The glyph of a letter; a box where the font has none.
fn glyph(letter: char) -> GlyphId {
    FACE.glyph_index(letter).unwrap_or(GlyphId(0))
}

fn advance(glyph: GlyphId) -> f64 {
    f64::from(FACE.glyph_hor_advance(glyph).unwrap_or(0)) / em()
}

/// Collects outlines.
struct Pen {
    path: Path,
    scale: f64,
    start: f64,
    base: f64,
    last: Point,
}

impl Pen {
    fn place(&self, x: f32, y: f32) -> Point {
        (
            self.start + self.scale * f64::from(x),
            self.base + self.scale * f64::from(y),
        )
    }

    fn push(&mut self, segment: Segment, end: Point) {
        self.path.segments.push(segment);
        self.last = end;
    }
}

impl OutlineBuilder for Pen {
    fn move_to(&mut self, x: f32, y: f32) {
        let end = self.place(x, y);
        self.push(Segment::Move(end), end);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let end = self.place(x, y);
        self.push(Segment::Line(end), end);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let (q, end) = (self.place(x1, y1), self.place(x, y));
        let toward = |p: Point| (p.0 + (q.0 - p.0) * 2.0 / 3.0, p.1 + (q.1 - p.1) * 2.0 / 3.0);
        self.push(Segment::Cubic(toward(self.last), toward(end), end), end);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let (a, b, end) = (self.place(x1, y1), self.place(x2, y2), self.place(x, y));
        self.push(Segment::Cubic(a, b, end), end);
    }

    fn close(&mut self) {
        self.path.segments.push(Segment::Close);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_letters_of_figures_are_there() {
        let needed = "αλτσΔẑx̂z̃‖∂²₁₂⁻⁰¹³⁴⁵⁶⁷⁸⁹−±·×→≥≤…–µ°";
        let missing: Vec<char> = needed.chars().filter(|&c| !has(c)).collect();
        assert!(missing.is_empty(), "{missing:?}");
        assert!(!has('\u{4e2d}'));
    }

    #[test]
    fn words_are_as_long_as_their_letters() {
        let sum = width("a", 10.0) + width("b", 10.0);
        assert!((width("ab", 10.0) - sum).abs() < 1e-12);
        assert!((width("ab", 20.0) - 2.0 * sum).abs() < 1e-12);
        assert_eq!(width("", 10.0), 0.0);
        // Digits line up in columns.
        assert!(
            "0123456789"
                .chars()
                .all(|c| width(&c.to_string(), 7.0) == width("0", 7.0))
        );
    }

    #[test]
    fn low_letters_are_small_and_low() {
        let low = width("D_{st}", 10.0) - width("D", 10.0);
        assert!((low - 0.75 * width("st", 10.0)).abs() < 1e-12);
        assert_eq!(
            letters("a_{b}c_{d").map(|(c, _)| c).collect::<String>(),
            "abcd"
        );
        let lowest = |words: &str| {
            let places = outline(words, 10.0)
                .segments
                .into_iter()
                .filter_map(|s| match s {
                    Segment::Move(p) => Some(p.1),
                    _ => None,
                });
            places.fold(f64::INFINITY, f64::min)
        };
        assert!(lowest("_{D}") < lowest("D"));
    }

    #[test]
    fn long_words_are_cut() {
        let all = "a long name of a run";
        assert_eq!(shortened(all, 7.0, 1000.0), all);
        let cut = shortened(all, 7.0, 40.0);
        assert!(cut.starts_with("a long") && cut.ends_with('…'), "{cut}");
        assert!(width(&cut, 7.0) <= 40.0);
    }

    #[test]
    fn outlines_stay_within_what_is_said_of_the_font() {
        let path = outline("Hxgpy0179", 100.0);
        let ends = path.segments.iter().filter_map(|s| match *s {
            Segment::Move(p) | Segment::Line(p) | Segment::Cubic(_, _, p) => Some(p.1),
            Segment::Close => None,
        });
        let (low, high) = ends.fold((0.0f64, 0.0f64), |(l, h), y| (l.min(y), h.max(y)));
        assert!(
            low >= -100.0 * DESCENT && high <= 100.0 * ASCENT,
            "{low} {high}"
        );
        assert!(high >= 100.0 * CAPITAL);
    }
}
