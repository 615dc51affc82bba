//! Power spectra of channels of the truth and of a free orbit per run: smoothed with a Gaussian of 20 bins, as D_H compares them, and averaged over
//! bands that grow in proportion to their frequency.

use attractor_core::measure::Rows;
use attractor_core::measure::spectrum::smoothed;
use attractor_core::series::Step;

use super::excerpt::{Compared, Excerpt};
use super::{Figure, FigureError, Kind, NOT_IN_PAPER, Request, Takes};
use crate::Error;
use crate::anatomy::Table;
use crate::chart::{Axis, Chart, Key, Layer, Page, Scale, Side};
use crate::drawing::{Colour, Stroke};

pub(super) const KIND: Kind = Kind {
    id: "spectrum",
    paper: NOT_IN_PAPER,
    summary: "Power spectra of the truth and of a free orbit per run, a panel per channel",
    takes: Takes::Runs,
    heeds: &["--data", "--steps", "--show"],
    draw,
};

/// Rows of data that are used if nothing is said.
const STEPS: usize = 10_000;

/// Spectra of fewer rows say nothing.
const FEWEST: usize = 64;

/// Height of a frame in points, and bands of a spectrum.
const HEIGHT: f64 = 120.0;
const BANDS: usize = 120;

fn draw(request: &Request) -> Result<Figure, Error> {
    let compared = request.compared(STEPS)?;
    let excerpt = &compared.excerpt;
    if excerpt.len() < FEWEST {
        let (needed, found) = (FEWEST, excerpt.len());
        return Err(FigureError::TooShort { needed, found }.into());
    }
    let shown = request.shown(excerpt, excerpt.dim().min(3))?;
    let table = table(&compared, &shown);
    let charts: Vec<Chart> = (shown.iter().enumerate())
        .map(|(i, &c)| chart(excerpt, &table, i, shown.len()).titled(excerpt.labels[c].as_str()))
        .collect();
    let (width, columns) = request.side_by_side(charts.len());
    let page = Page::grid(width, columns, HEIGHT, charts).with_legend(legend(&compared));
    Ok(Figure {
        drawing: page.draw(),
        tables: vec![("spectra".to_string(), table)],
        numbers: vec![("rows".to_string(), excerpt.len() as f64)],
        notes: compared.notes.clone(),
    })
}

/// The truth in ink and wide, runs in colours on top of it.
fn stroke(series: usize) -> Stroke {
    match series {
        0 => Stroke::new(Colour::INK.mixed(Colour::PAPER, 0.5), 2.0),
        run => Stroke::of_line(run - 1, 0.9),
    }
}

fn legend(compared: &Compared) -> Vec<Key> {
    let all = compared.all().into_iter().enumerate();
    all.map(|(i, (name, _))| Key::line(name, stroke(i)))
        .collect()
}

/// Frequencies, then the spectra of every series, channel by channel.
fn table(compared: &Compared, shown: &[usize]) -> Table {
    let excerpt = &compared.excerpt;
    let (n, rows) = (excerpt.dim(), excerpt.len());
    let bands = bands(rows / 2 + 1);
    let duration = excerpt.time(rows);
    let middle = |band: &(usize, usize)| (band.0 + band.1 - 1) as f64 / 2.0 / duration;
    let mut header = vec!["frequency".to_string()];
    let mut columns: Vec<Vec<f64>> = vec![bands.iter().map(middle).collect()];
    let spectra: Vec<(&str, Vec<Vec<f64>>)> = (compared.all().into_iter())
        .map(|(name, x)| (name, of_series(x, n)))
        .collect();
    for &c in shown {
        for (name, spectra) in &spectra {
            header.push(format!("{name} {}", excerpt.names()[c]));
            let mean = |&(from, to): &(usize, usize)| match spectra.get(c) {
                Some(f) => f[from..to].iter().sum::<f64>() / (to - from) as f64,
                None => f64::NAN,
            };
            columns.push(bands.iter().map(mean).collect());
        }
    }
    let row = |i: usize| columns.iter().map(|column| column[i]).collect();
    Table {
        header,
        rows: (0..bands.len()).map(row).collect(),
    }
}

/// The spectra of all channels; none of an orbit that ends early.
fn of_series(x: &[f64], n: usize) -> Vec<Vec<f64>> {
    if x.iter().all(|v| v.is_finite()) {
        smoothed(Rows::new(x, n))
    } else {
        Vec::new()
    }
}

/// Ranges of 1..modes whose ends grow in proportion, none of them empty.
fn bands(modes: usize) -> Vec<(usize, usize)> {
    let end = |i: usize| (modes as f64).powf(i as f64 / BANDS as f64).round() as usize;
    let mut ends: Vec<usize> = (0..=BANDS).map(|i| end(i).clamp(1, modes)).collect();
    ends.dedup();
    ends.windows(2).map(|pair| (pair[0], pair[1])).collect()
}

fn chart(excerpt: &Excerpt, table: &Table, place: usize, channels: usize) -> Chart {
    let series = (table.header.len() - 1) / channels;
    let columns = 1 + place * series..1 + (place + 1) * series;
    let logarithm = |v: f64| if v > 0.0 { v.log10() } else { f64::NAN };
    let line = |column: usize| -> Vec<(f64, f64)> {
        let rows = table.rows.iter();
        rows.map(|row| (logarithm(row[0]), logarithm(row[column])))
            .collect()
    };
    let lines: Vec<Vec<(f64, f64)>> = columns.map(line).collect();
    let first = &lines[0];
    let unit = match (excerpt.step == Step::default(), excerpt.step.unit.as_str()) {
        (true, _) => "frequency (1/step)".to_string(),
        (false, "") => "frequency (1/time)".to_string(),
        (false, unit) => format!("frequency (1/{unit})"),
    };
    let x = Axis::around(unit, first.iter().map(|point| point.0)).scaled(Scale::Log);
    // Of orbits that have come to rest nothing is seen below what the truth has.
    let (low, high) = ends(first.iter().map(|point| point.1));
    let near = |power: f64| {
        if low <= high {
            power.clamp(low - 2.0, high + 2.0)
        } else {
            power
        }
    };
    let seen = lines.iter().flatten().map(|point| near(point.1));
    let y = Axis::around("power", seen).scaled(Scale::Log);
    let mut chart = Chart::new(x, y);
    chart.layers = (lines.into_iter().enumerate())
        .map(|(i, points)| Layer::Line {
            points,
            stroke: stroke(i),
            side: Side::Left,
        })
        .collect();
    chart
}

fn ends(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let finite = values.filter(|v| v.is_finite());
    finite.fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| {
        (l.min(v), h.max(v))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bands_cover_all_frequencies_but_zero_once() {
        for modes in [2, 33, 5001] {
            let all: Vec<usize> = bands(modes).into_iter().flat_map(|(a, b)| a..b).collect();
            assert_eq!(all, (1..modes).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_not_finite_has_no_spectrum() {
        assert!(of_series(&[0.0, 1.0, f64::NAN, 2.0], 1).is_empty());
        let tone: Vec<f64> = (0..400).map(|t| (0.3 * f64::from(t)).sin()).collect();
        // A share of one, over all frequencies.
        let sum: f64 = of_series(&tone, 1)[0].iter().sum();
        assert!((sum - 1.0).abs() < 1e-9);
    }
}
