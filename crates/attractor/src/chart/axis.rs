//! Axes: from values to places, and ticks at round numbers, 1, 2 or 5 times a power of ten apart, as many as their numbers have
//! room for.
//!
//! Values of a logarithmic axis are logarithms to base 10 already, so that none is too large for a number.

use crate::drawing::{Colour, font};

/// How values are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// As they are.
    Linear,
    /// As whole numbers.
    Whole,
    /// As logarithms to base 10.
    Log,
}

/// Whether ticks have numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Labels {
    /// They have.
    Shown,
    /// They have not: another axis with the same ticks has.
    Hidden,
}

/// An axis.
#[derive(Debug, Clone, PartialEq)]
pub struct Axis {
    /// What is shown, with its unit; nothing if empty.
    pub label: String,
    /// The value at the start.
    pub low: f64,
    /// The value at the end, larger.
    pub high: f64,
    /// How values are read.
    pub scale: Scale,
    /// Whether ticks have numbers.
    pub labels: Labels,
    /// The colour of its words.
    pub colour: Colour,
    /// What stands at 1, 2, 3, …, if these are names of things; numbers stand there if they do not fit.
    pub names: Vec<String>,
}

/// A tick.
#[derive(Debug, Clone, PartialEq)]
pub struct Tick {
    /// Where along the axis, from 0 to 1.
    pub place: f64,
    /// Its number; empty where numbers are hidden.
    pub label: String,
}

/// The most ticks of an axis; of one that numbers things, as few of them are left out as can be.
const MOST: usize = 8;
const MOST_WHOLE: usize = 16;

/// Between numbers at ticks, in heights of the font.
const ROOM: f64 = 0.8;

impl Axis {
    /// A linear axis between two values; of two that are the same, from a half below to a half above.
    pub fn new(label: impl Into<String>, low: f64, high: f64) -> Axis {
        let is_wide = (high - low).is_finite() && high > low;
        let middle = if low.is_finite() { low } else { 0.0 };
        let half = 0.5 * middle.abs().max(1.0);
        Axis {
            label: label.into(),
            low: if is_wide { low } else { middle - half },
            high: if is_wide { high } else { middle + half },
            scale: Scale::Linear,
            labels: Labels::Shown,
            colour: Colour::INK,
            names: Vec::new(),
        }
    }

    /// An axis of things, one at each whole number from 1 on.
    pub fn of(label: impl Into<String>, names: Vec<String>) -> Axis {
        let axis = Axis::new(label, 0.5, names.len() as f64 + 0.5);
        Axis {
            names,
            ..axis.scaled(Scale::Whole)
        }
    }

    /// A linear axis that holds all finite values, with a little room on both sides.
    pub fn around(label: impl Into<String>, values: impl IntoIterator<Item = f64>) -> Axis {
        let finite = values.into_iter().filter(|v| v.is_finite());
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = finite.fold(ends, |(l, h), v| (l.min(v), h.max(v)));
        let room = 0.05 * (high - low);
        Axis::new(label, low - room, high + room)
    }

    /// The same, with values read in another way.
    pub fn scaled(self, scale: Scale) -> Axis {
        Axis { scale, ..self }
    }

    /// The same without numbers and words.
    pub fn silent(self) -> Axis {
        Axis {
            labels: Labels::Hidden,
            label: String::new(),
            ..self
        }
    }

    /// The same in another colour.
    pub fn coloured(self, colour: Colour) -> Axis {
        Axis { colour, ..self }
    }

    /// Where along the axis a value is, from 0 to 1.
    pub fn place(&self, value: f64) -> f64 {
        (value - self.low) / (self.high - self.low)
    }

    /// Ticks of a horizontal axis of some length whose numbers do not touch.
    pub fn ticks_across(&self, length: f64, size: f64) -> Vec<Tick> {
        self.ticks_that_fit(|ticks| {
            let half = |tick: &Tick| font::width(&tick.label, size) / 2.0;
            ticks.windows(2).all(|pair| {
                let distance = (pair[1].place - pair[0].place) * length;
                distance >= half(&pair[0]) + half(&pair[1]) + ROOM * size
            })
        })
    }

    /// Ticks of a vertical axis of some length whose numbers do not touch.
    pub fn ticks_along(&self, length: f64, size: f64) -> Vec<Tick> {
        self.ticks_that_fit(|ticks| {
            let distance = |pair: &[Tick]| (pair[1].place - pair[0].place) * length;
            ticks
                .windows(2)
                .all(|pair| distance(pair) >= (1.0 + ROOM) * size)
        })
    }

    /// The most ticks that fit, at least one.
    fn ticks_that_fit(&self, fits: impl Fn(&[Tick]) -> bool) -> Vec<Tick> {
        let most = match self.scale {
            Scale::Whole => MOST_WHOLE,
            Scale::Linear | Scale::Log => MOST,
        };
        let named = (!self.names.is_empty()).then(|| self.named());
        let mut tried = named
            .into_iter()
            .chain((2..=most).rev().map(|most| self.ticks(most)));
        let found = tried.find(|ticks| fits(ticks));
        let mut ticks = found.unwrap_or_else(|| self.ticks(2).into_iter().take(1).collect());
        if self.labels == Labels::Hidden {
            ticks.iter_mut().for_each(|tick| tick.label.clear());
        }
        ticks
    }

    fn named(&self) -> Vec<Tick> {
        let tick = |(i, name): (usize, &String)| Tick {
            place: self.place(i as f64 + 1.0),
            label: name.clone(),
        };
        self.names.iter().enumerate().map(tick).collect()
    }

    fn ticks(&self, most: usize) -> Vec<Tick> {
        let values = match self.scale {
            Scale::Linear => linear(self.low, self.high, most, 0.0),
            Scale::Whole => linear(self.low, self.high, most, 1.0),
            Scale::Log => match linear(self.low, self.high, most, 1.0) {
                powers if powers.len() > 1 => powers,
                _ => return self.within_decades(most),
            },
        };
        let step = values.get(1).map_or(1.0, |second| second - values[0]);
        let tick = |value: f64| Tick {
            place: self.place(value),
            label: match self.scale {
                Scale::Log => power_of_ten(value.round() as i64),
                _ => number(value, step),
            },
        };
        values.into_iter().map(tick).collect()
    }

    /// Numbers at the places of their logarithms: 1, 2 and 5 times powers of ten, or round ones where that gives too few.
    fn within_decades(&self, most: usize) -> Vec<Tick> {
        let powers = self.low.floor() as i32..=self.high.ceil() as i32;
        let all = powers.flat_map(|n| [1.0, 2.0, 5.0].map(|m| m * 10f64.powi(n)));
        let within = all.filter(|v| (self.low..=self.high).contains(&v.log10()));
        let values: Vec<f64> = within.collect();
        if (2..=most).contains(&values.len()) {
            let tick = |value: f64| Tick {
                place: self.place(value.log10()),
                label: number(value, value),
            };
            return values.into_iter().map(tick).collect();
        }
        let values = linear(10f64.powf(self.low), 10f64.powf(self.high), most, 0.0);
        let step = values.get(1).map_or(1.0, |second| second - values[0]);
        let tick = |value: f64| Tick {
            place: self.place(value.log10()),
            label: number(value, step),
        };
        values.into_iter().filter(|v| *v > 0.0).map(tick).collect()
    }
}

/// Round numbers between two, at most so many, at least `least` apart.
fn linear(low: f64, high: f64, most: usize, least: f64) -> Vec<f64> {
    let step = round_step((high - low) / most.max(1) as f64).max(least);
    // What lies on an end but for rounding is there.
    let slack = 1e-9 * (high - low) / step;
    let (first, last) = ((low / step - slack).ceil(), (high / step + slack).floor());
    let count = (last - first).max(-1.0) as usize + usize::from(last >= first);
    (0..count.min(most + 2))
        .map(|i| (first + i as f64) * step + 0.0)
        .collect()
}

/// The smallest of 1, 2 and 5 times a power of ten that is not below a distance.
fn round_step(distance: f64) -> f64 {
    let power = 10f64.powf(distance.log10().floor());
    let mut round = [1.0, 2.0, 5.0].into_iter().map(|m| m * power);
    round
        .find(|step| *step >= distance * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

/// A number with as many decimals as its distance from the next needs.
fn number(value: f64, step: f64) -> String {
    let decimals = (-step.abs().log10() - 1e-9).ceil().clamp(0.0, 300.0) as usize;
    let is_round = value.abs() < step.abs() / 1e6;
    let value = if is_round { 0.0 } else { value };
    let text = match value.abs() {
        size if decimals > 4 || size >= 1e5 => scientific(value, step),
        _ => format!("{value:.decimals$}"),
    };
    text.replace('-', "−")
}

/// A number as a product with a power of ten.
fn scientific(value: f64, step: f64) -> String {
    if value == 0.0 {
        return "0".to_string();
    }
    let exponent = (value.abs().log10() + 1e-9).floor();
    let decimals = (exponent - (step.abs().log10() + 1e-9).floor()).clamp(0.0, 9.0) as usize;
    let factor = value / 10f64.powf(exponent);
    format!("{factor:.decimals$}·{}", power_of_ten(exponent as i64))
}

/// 10ⁿ; 1 and 10 as they are.
fn power_of_ten(n: i64) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| match c.to_digit(10) {
        Some(d) => RAISED[d as usize],
        None => '⁻',
    };
    match n {
        0 => "1".to_string(),
        1 => "10".to_string(),
        _ => format!("10{}", n.to_string().chars().map(digit).collect::<String>()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(axis: &Axis, most: usize) -> Vec<String> {
        axis.ticks(most)
            .into_iter()
            .map(|tick| tick.label)
            .collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            labels(&Axis::new("", 0.0, 1.0), 5),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(labels(&Axis::new("", -3.0, 14.0), 5), ["0", "5", "10"]);
        assert_eq!(
            labels(&Axis::new("", -0.03, 0.03), 4),
            ["−0.02", "0.00", "0.02"]
        );
        assert_eq!(
            labels(&Axis::new("", 0.0, 3e6), 3),
            ["0", "1·10⁶", "2·10⁶", "3·10⁶"]
        );
        assert_eq!(
            labels(&Axis::new("", 1.0, 64.0).scaled(Scale::Whole), 4),
            ["20", "40", "60"]
        );
        assert_eq!(
            labels(&Axis::new("", 1.0, 3.0).scaled(Scale::Whole), 8),
            ["1", "2", "3"]
        );
    }

    #[test]
    fn things_are_named_where_their_names_fit() {
        let names = ["one", "another", "a third one"].map(String::from);
        let axis = Axis::of("", names.to_vec());
        let labels = |length| {
            let ticks = axis.ticks_across(length, 6.5).into_iter();
            ticks.map(|tick| tick.label).collect::<Vec<_>>()
        };
        assert_eq!(labels(200.0), names);
        assert_eq!(labels(60.0), ["1", "2", "3"]);
    }

    #[test]
    fn powers_of_ten_are_ticks_of_logarithms() {
        let axis = Axis::new("", -2.0, 4.0).scaled(Scale::Log);
        assert_eq!(
            labels(&axis, 8),
            ["10⁻²", "10⁻¹", "1", "10", "10²", "10³", "10⁴"]
        );
        assert_eq!(labels(&axis, 3), ["10⁻²", "1", "10²", "10⁴"]);
        let narrow = Axis::new("", 0.1, 0.8).scaled(Scale::Log);
        assert_eq!(labels(&narrow, 5), ["2", "5"]);
        let places: Vec<f64> = narrow.ticks(5).iter().map(|tick| tick.place).collect();
        assert!((places[0] - (2f64.log10() - 0.1) / 0.7).abs() < 1e-12);
        let narrower = Axis::new("", 0.1, 0.2).scaled(Scale::Log);
        assert_eq!(labels(&narrower, 4), ["1.3", "1.4", "1.5"]);
        let wider = Axis::new("", -1.2, 0.4).scaled(Scale::Log);
        assert_eq!(labels(&wider, 8), ["10⁻¹", "1"]);
        let odd = Axis::new("", -0.9, 0.4).scaled(Scale::Log);
        assert_eq!(labels(&odd, 8), ["0.2", "0.5", "1", "2"]);
    }

    #[test]
    fn numbers_never_touch() {
        for (low, high) in [
            (0.0, 1.0),
            (-1e-5, 3e-5),
            (1234.0, 1239.0),
            (-9e8, 2e9),
            (0.0, 7.3),
        ] {
            for scale in [Scale::Linear, Scale::Whole, Scale::Log] {
                for length in [10.0, 40.0, 90.0, 300.0] {
                    let axis = Axis::new("", low, high).scaled(scale);
                    let ticks = axis.ticks_across(length, 6.5);
                    for pair in ticks.windows(2) {
                        let end = |t: &Tick, s: f64| {
                            t.place * length + s * font::width(&t.label, 6.5) / 2.0
                        };
                        assert!(
                            end(&pair[0], 1.0) < end(&pair[1], -1.0),
                            "{axis:?} {length}"
                        );
                    }
                    assert!(
                        ticks
                            .iter()
                            .all(|t| (-1e-6..=1.0 + 1e-6).contains(&t.place)),
                        "{axis:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn an_axis_without_width_gets_some() {
        assert_eq!(
            (Axis::new("", 2.0, 2.0).low, Axis::new("", 2.0, 2.0).high),
            (1.0, 3.0)
        );
        let nothing = Axis::around("", []);
        assert!(nothing.low.is_finite() && nothing.high > nothing.low);
        assert_eq!(Axis::around("", [0.0, f64::NAN, 2.0]).place(1.0), 0.5);
    }
}
