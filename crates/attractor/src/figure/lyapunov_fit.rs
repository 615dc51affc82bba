//! How neighbours in a recording part, in delay vectors of several dimensions, with the lines whose slope is the largest Lyapunov
//! exponent (Hess et al. 2023, Fig. S9):  S(k) = ⟨ln d(t, k)⟩ ≈ S(0) + λ k Δt.

use attractor_core::progress::Unwatched;
use attractor_core::text::figure;

use super::excerpt::time_label;
use super::{Figure, Kind, Request, Takes};
use crate::anatomy::Table;
use crate::chart::{Axis, Chart, Key, Layer, Page, Side};
use crate::drawing::colour::ColourMap;
use crate::drawing::{Colour, Stroke};
use crate::recording_exponent::{Found, of_recording};
use crate::{Error, format};

pub(super) const KIND: Kind = Kind {
    id: "lyapunov-fit",
    paper: "Fig. S9",
    summary: "How neighbours in a recording part, with the slope that is its largest exponent",
    takes: Takes::Recordings,
    heeds: &["--dims", "--delay", "--fit"],
    draw,
};

/// Height of a frame in points.
const HEIGHT: f64 = 120.0;

fn draw(request: &Request) -> Result<Figure, Error> {
    let (mut charts, mut tables) = (Vec::new(), Vec::new());
    let (mut numbers, mut notes, mut dims) = (Vec::new(), Vec::new(), Vec::new());
    for (path, name) in request.subjects.iter().zip(request.names()) {
        let series = format::read(path, &request.reading)?;
        let found = of_recording(&series, &request.exponent, &mut Unwatched)?;
        let (exponent, error) = found.exponent.per_time(found.step.dt);
        match exponent {
            Some(value) => numbers.push((format!("{name}: exponent"), value)),
            None => notes.push(format!(
                "no curve of {name} has a straight region: no exponent"
            )),
        }
        numbers.extend(error.map(|error| (format!("{name}: error"), error)));
        let all = found.exponent.curves.iter().map(|curve| curve.dim);
        dims.extend(all);
        let title = [Some(name.clone()), slope(&found)].into_iter().flatten();
        charts.push(chart(&found).titled(title.collect::<Vec<_>>().join(", ")));
        tables.push((name, table(&found)));
    }
    dims.sort_unstable();
    dims.dedup();
    let (width, columns) = request.side_by_side(charts.len());
    let page = Page::grid(width, columns, HEIGHT, charts).with_legend(legend(&dims));
    Ok(Figure {
        drawing: page.draw(),
        tables,
        numbers,
        notes,
    })
}

/// λ in words.
fn slope(found: &Found) -> Option<String> {
    let (exponent, error) = found.exponent.per_time(found.step.dt);
    let error = error.map_or(String::new(), |error| format!(" ± {}", rounded(error, 2)));
    let unit = match found.step.unit.as_str() {
        "" => String::new(),
        unit => format!(" {unit}⁻¹"),
    };
    Some(format!("λ = {}{error}{unit}", rounded(exponent?, 3)))
}

/// A number with so many digits.
fn rounded(value: f64, digits: u32) -> String {
    let magnitude = value.abs().max(f64::MIN_POSITIVE).log10().floor();
    let factor = 10f64.powf((f64::from(digits) - 1.0 - magnitude).clamp(-300.0, 300.0));
    figure((value * factor).round() / factor)
}

fn stroke(dim: usize) -> Stroke {
    // Dimensions differ in lightness: their order is what counts.
    let share = (dim.saturating_sub(2) as f64 / 8.0).min(0.9);
    Stroke::new(ColourMap::Sequential.colour(share), 0.7)
}

fn fit_stroke() -> Stroke {
    // Dashed: in grey it has the shade of a curve.
    Stroke::new(Colour::VERMILION, 0.9).dashed()
}

fn legend(dims: &[usize]) -> Vec<Key> {
    let curves = dims
        .iter()
        .map(|dim| Key::line(format!("m = {dim}"), stroke(*dim)));
    curves.chain([Key::line("fit", fit_stroke())]).collect()
}

fn chart(found: &Found) -> Chart {
    let curves = &found.exponent.curves;
    let dt = found.step.dt;
    let longest = curves.iter().map(|c| c.values.len()).max().unwrap_or(1);
    let fits = || curves.iter().filter_map(|curve| curve.fit.as_ref());
    // What comes long after the straight region says nothing about it.
    let fitted = fits().map(|fit| *fit.region.end()).max();
    let last = fitted.map_or(longest - 1, |end| (3 * end).min(longest - 1));
    let values = curves.iter().flat_map(|c| c.values.iter().copied());
    let x = Axis::new(time_label(&found.step), 0.0, last as f64 * dt);
    let mut chart = Chart::new(x, Axis::around("S(k) = ⟨ln d⟩", values));
    for curve in curves {
        let points = curve.values.iter().enumerate();
        chart.layers.push(Layer::Line {
            points: points.map(|(k, v)| (k as f64 * dt, *v)).collect(),
            stroke: stroke(curve.dim),
            side: Side::Left,
        });
    }
    for fit in fits() {
        let ends = [*fit.region.start() as f64, *fit.region.end() as f64];
        chart.layers.push(Layer::Line {
            points: ends
                .map(|k| (k * dt, fit.intercept + fit.slope * k))
                .to_vec(),
            stroke: fit_stroke(),
            side: Side::Left,
        });
    }
    chart
}

/// Time, then S(k) a dimension, and the fitted line where there is one.
fn table(found: &Found) -> Table {
    let curves = &found.exponent.curves;
    let names = curves
        .iter()
        .flat_map(|c| [format!("S{}", c.dim), format!("fit{}", c.dim)]);
    let longest = curves.iter().map(|c| c.values.len()).max().unwrap_or(0);
    let rows = (0..longest).map(|k| {
        let values = curves.iter().flat_map(|c| {
            let fit = c.fit.as_ref().filter(|fit| fit.region.contains(&k));
            let line = fit.map(|fit| fit.intercept + fit.slope * k as f64);
            [c.values.get(k).copied(), line].map(|v| v.unwrap_or(f64::NAN))
        });
        [k as f64 * found.step.dt]
            .into_iter()
            .chain(values)
            .collect()
    });
    Table {
        header: ["time".to_string()].into_iter().chain(names).collect(),
        rows: rows.collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_to_what_a_fit_can_say() {
        assert_eq!(rounded(2.18765, 3), "2.19");
        assert_eq!(rounded(0.05123, 2), "0.051");
        assert_eq!(rounded(-1234.0, 2), "-1200");
        assert_eq!(rounded(0.0, 2), "0");
    }
}
