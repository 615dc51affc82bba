//! Colours that differ for readers who see fewer of them: Okabe and Ito's eight for lines, and maps from numbers to colours by
//! linear interpolation between anchors, one from dark to light for amounts, one through white for signed values.

/// A colour as red, green and blue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Colour {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
}

/// From numbers between 0 and 1 to colours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColourMap {
    /// Ever lighter: for amounts.
    Sequential,
    /// From blue through white to red: for signed values, 0 at a half.
    Diverging,
}

/// Anchors at even distances, close to matplotlib's viridis.
const SEQUENTIAL: [Colour; 9] = [
    Colour::new(0x44, 0x01, 0x54),
    Colour::new(0x47, 0x2d, 0x7b),
    Colour::new(0x3b, 0x52, 0x8b),
    Colour::new(0x2c, 0x72, 0x8e),
    Colour::new(0x21, 0x91, 0x8c),
    Colour::new(0x28, 0xae, 0x80),
    Colour::new(0x5e, 0xc9, 0x62),
    Colour::new(0xad, 0xdc, 0x30),
    Colour::new(0xfd, 0xe7, 0x25),
];

/// Anchors at even distances, equally dark at equal distances from the middle.
const DIVERGING: [Colour; 7] = [
    Colour::new(0x0a, 0x3a, 0x73),
    Colour::new(0x2f, 0x79, 0xb5),
    Colour::new(0x92, 0xc4, 0xde),
    Colour::new(0xf7, 0xf7, 0xf7),
    Colour::new(0xf0, 0xa5, 0x82),
    Colour::new(0xc4, 0x4b, 0x3f),
    Colour::new(0x73, 0x0a, 0x22),
];

/// Lines, the most different first (Okabe and Ito 2008).
const LINES: [Colour; 7] = [
    Colour::BLUE,
    Colour::VERMILION,
    Colour::GREEN,
    Colour::new(0xcc, 0x79, 0xa7),
    Colour::ORANGE,
    Colour::new(0x56, 0xb4, 0xe9),
    Colour::new(0x80, 0x80, 0x80),
];

impl Colour {
    /// Axes, words and what is true.
    pub const INK: Colour = Colour::new(0x1a, 0x1a, 0x1a);
    /// The page.
    pub const PAPER: Colour = Colour::new(0xff, 0xff, 0xff);
    /// What is not known.
    pub const NOTHING: Colour = Colour::new(0xd9, 0xd9, 0xd9);
    /// The first of lines.
    pub const BLUE: Colour = Colour::new(0x00, 0x72, 0xb2);
    /// The second.
    pub const VERMILION: Colour = Colour::new(0xd5, 0x5e, 0x00);
    /// The third.
    pub const GREEN: Colour = Colour::new(0x00, 0x9e, 0x73);

    /// The fifth.
    pub const ORANGE: Colour = Colour::new(0xe6, 0x9f, 0x00);

    /// A colour by its parts.
    pub const fn new(r: u8, g: u8, b: u8) -> Colour {
        Colour { r, g, b }
    }

    /// The colour of the i-th of several lines.
    pub fn of_line(i: usize) -> Colour {
        LINES[i % LINES.len()]
    }

    /// As in web pages, `#rrggbb`.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.r, self.g, self.b)
    }

    /// Part of the way to another colour.
    pub fn mixed(self, other: Colour, share: f64) -> Colour {
        let mix =
            |a: u8, b: u8| (f64::from(a) + share * (f64::from(b) - f64::from(a))).round() as u8;
        Colour::new(
            mix(self.r, other.r),
            mix(self.g, other.g),
            mix(self.b, other.b),
        )
    }
}

impl ColourMap {
    /// The colour of a number, of those outside 0 to 1 that of the nearer end; grey if there is no number.
    pub fn colour(self, value: f64) -> Colour {
        if value.is_nan() {
            return Colour::NOTHING;
        }
        let anchors: &[Colour] = match self {
            ColourMap::Sequential => &SEQUENTIAL,
            ColourMap::Diverging => &DIVERGING,
        };
        let place = value.clamp(0.0, 1.0) * (anchors.len() - 1) as f64;
        let i = (place as usize).min(anchors.len() - 2);
        anchors[i].mixed(anchors[i + 1], place - i as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of sRGB, without its exponent's linear foot.
    fn lightness(c: Colour) -> f64 {
        let part = |v: u8| (f64::from(v) / 255.0).powf(2.2);
        0.2126 * part(c.r) + 0.7152 * part(c.g) + 0.0722 * part(c.b)
    }

    #[test]
    fn amounts_are_ever_lighter() {
        let light = |i: u32| lightness(ColourMap::Sequential.colour(f64::from(i) / 100.0));
        assert!((1..=100).all(|i| light(i) >= light(i - 1)));
    }

    #[test]
    fn signs_are_lightest_at_zero_and_alike_on_both_sides() {
        let light = |v: f64| lightness(ColourMap::Diverging.colour(v));
        assert!((1..=50).all(|i| light(0.01 * f64::from(i)) > light(0.01 * f64::from(i - 1))));
        assert!(
            (1..=50).all(|i| light(1.0 - 0.01 * f64::from(i)) > light(1.01 - 0.01 * f64::from(i)))
        );
        // Anchors were chosen by eye: sides differ by less than a tenth of the way from black to white.
        assert!((0..50).all(|i| {
            let v = 0.01 * f64::from(i);
            (light(v) - light(1.0 - v)).abs() < 0.1
        }));
    }

    #[test]
    fn ends_hold_beyond_them_and_nothing_is_grey() {
        let map = ColourMap::Sequential;
        assert_eq!(map.colour(-1.0), SEQUENTIAL[0]);
        assert_eq!(map.colour(f64::INFINITY), SEQUENTIAL[8]);
        assert_eq!(map.colour(f64::NAN), Colour::NOTHING);
        assert_eq!(Colour::VERMILION.hex(), "#d55e00");
    }
}
