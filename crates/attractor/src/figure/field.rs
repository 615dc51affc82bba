//! Fields of numbers as coloured cells, channels upward and time across, with a bar that says what the colours mean.

use attractor_core::series::mean_and_sd;

use super::excerpt::Excerpt;
use crate::chart::{Axis, Chart, ColourBar, Layer, Scale};
use crate::drawing::colour::ColourMap;

/// Steps between the colours of a field: they cannot be seen, and a file with few colours is a fraction as large. Even: white is one of them.
const SHADES: f64 = 128.0;

/// What the colours of a field mean.
#[derive(Debug, Clone)]
pub(super) struct Meaning {
    axis: Axis,
    map: ColourMap,
}

impl Meaning {
    /// Colours of all finite values: ever lighter, or through white at 0 where values have both signs.
    pub(super) fn of(label: &str, values: &[f64]) -> Meaning {
        let finite = values.iter().copied().filter(|v| v.is_finite());
        let ends = (f64::INFINITY, f64::NEG_INFINITY);
        let (low, high) = finite.fold(ends, |(l, h), v| (l.min(v), h.max(v)));
        if low < 0.0 && high > 0.0 {
            Meaning::signed(label, high.max(-low))
        } else {
            Meaning::amounts(label, low, high)
        }
    }

    /// Colours through white at 0, to either side up to an end.
    pub(super) fn signed(label: &str, end: f64) -> Meaning {
        Meaning {
            axis: Axis::new(label, -end, end),
            map: ColourMap::Diverging,
        }
    }

    /// Colours that are ever lighter.
    pub(super) fn amounts(label: &str, low: f64, high: f64) -> Meaning {
        Meaning {
            axis: Axis::new(label, low, high),
            map: ColourMap::Sequential,
        }
    }

    /// The same for logarithms to base 10.
    pub(super) fn logarithmic(self) -> Meaning {
        Meaning {
            axis: self.axis.scaled(Scale::Log),
            ..self
        }
    }
}

/// A chart of cells: rows of `columns` values, the first row lowest.
pub(super) fn chart(
    values: &[f64],
    columns: usize,
    (x, y): (Axis, Axis),
    meaning: &Meaning,
) -> Chart {
    let rows = values.chunks_exact(columns).rev();
    let shade = |v: &f64| (meaning.axis.place(*v) * SHADES).round() / SHADES;
    let colour = |v: &f64| meaning.map.colour(shade(v));
    let mut chart = Chart::new(x, y);
    chart.layers.push(Layer::Image {
        columns,
        cells: rows.flatten().map(colour).collect(),
    });
    chart.bar = Some(ColourBar {
        axis: meaning.axis.clone(),
        map: meaning.map,
    });
    chart
}

/// A chart of rows of N, channels upward and time across.
pub(super) fn of_channels(excerpt: &Excerpt, x: &[f64], meaning: &Meaning) -> Chart {
    let (n, rows) = (excerpt.dim(), excerpt.len());
    let by_channel: Vec<f64> = (0..n)
        .flat_map(|c| x.iter().skip(c).step_by(n).copied())
        .collect();
    let time = excerpt.time_axis();
    let channels = Axis::new("channel", 0.5, n as f64 + 0.5).scaled(Scale::Whole);
    chart(&by_channel, rows, (time, channels), meaning)
}

/// Every channel of rows of N in its own standard deviations from its own mean; zeros where a channel does not vary.
pub(super) fn z_scores(x: &[f64], n: usize) -> Vec<f64> {
    let finite = |c: usize| {
        x.iter()
            .skip(c)
            .step_by(n)
            .copied()
            .filter(|v| v.is_finite())
    };
    let moments: Vec<(f64, f64)> = (0..n).map(|c| mean_and_sd(finite(c))).collect();
    let score = |(i, v): (usize, &f64)| match moments[i % n] {
        (mean, sd) if sd > 0.0 => (v - mean) / sd,
        _ => v * 0.0,
    };
    x.iter().enumerate().map(score).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_have_mean_zero_and_spread_one() {
        let x = [1.0, 5.0, 3.0, 5.0, f64::NAN, 5.0];
        let scores = z_scores(&x, 2);
        let (_, sd) = mean_and_sd([1.0, 3.0].into_iter());
        assert!((scores[0] + 1.0 / sd).abs() < 1e-15 && scores[0] == -scores[2]);
        assert!(scores[4].is_nan());
        // A channel that rests has no spread to be measured in.
        assert_eq!((scores[1], scores[3], scores[5]), (0.0, 0.0, 0.0));
    }

    #[test]
    fn zero_is_white_where_values_have_both_signs() {
        let both = Meaning::of("", &[-1.0, 3.0, f64::INFINITY]);
        assert_eq!((both.axis.low, both.axis.high), (-3.0, 3.0));
        assert_eq!(both.map, ColourMap::Diverging);
        let one = Meaning::of("", &[1.0, 3.0]);
        assert_eq!((one.axis.low, one.map), (1.0, ColourMap::Sequential));
    }

    #[test]
    fn the_first_row_is_lowest() {
        let axes = || (Axis::new("", 0.0, 1.0), Axis::new("", 0.0, 1.0));
        let meaning = Meaning::amounts("", 0.0, 1.0);
        let chart = chart(&[0.0, 0.0, 1.0, 1.0], 2, axes(), &meaning);
        let Layer::Image { cells, .. } = &chart.layers[0] else {
            panic!("a field is an image");
        };
        assert_eq!(cells[0], ColourMap::Sequential.colour(1.0));
        assert_eq!(cells[3], ColourMap::Sequential.colour(0.0));
    }
}
