//! Lyapunov spectra of runs with their standard errors, beside the largest exponent that is estimated from the first channel of the data, and
//! beside the spectrum of the system where it is named.

use attractor_core::analysis::lyapunov::{LyapunovPlan, lyapunov_of_dynamics};
use attractor_core::progress::Unwatched;
use attractor_core::series::{Channel, Series, Trajectory};
use attractor_core::system::find;

use super::subject::Subject;
use super::{Figure, FigureError, Kind, NOT_IN_PAPER, Request, Takes};
use crate::Error;
use crate::anatomy::{Table, per};
use crate::chart::{Axis, Chart, Key, Layer, Page, Scale, Shape, Side};
use crate::drawing::{Colour, Stroke};
use crate::recording_exponent::of_recording;

pub(super) const KIND: Kind = Kind {
    id: "lyapunov",
    paper: NOT_IN_PAPER,
    summary: "Lyapunov spectra of runs with errors, beside the exponents of the data and the system",
    takes: Takes::Runs,
    heeds: &["--data", "--system", "--dims", "--delay", "--fit"],
    draw,
};

/// Steps that exponents are computed over, and before.
const STEPS: usize = 20_000;
const TRANSIENT: usize = 1000;

/// Exponents of a run, at most, and rows that the data's is estimated from.
const MOST: usize = 20;
const ROWS: usize = 10_000;

/// Height of a frame in points.
const HEIGHT: f64 = 120.0;

/// Exponents per unit of time with their errors, and what they are of.
struct Exponents {
    name: String,
    values: Vec<(f64, f64)>,
    colour: Colour,
}

fn draw(request: &Request) -> Result<Figure, Error> {
    let runs = request.runs_beside_truth()?;
    let mut all = Vec::new();
    all.extend(of_system(request)?);
    let mut notes = request.training_note();
    match of_data(&runs[0], request) {
        Ok(found) => all.push(found),
        Err(why) => notes.push(format!("the data have no exponent: {why}")),
    }
    for (i, run) in runs.iter().enumerate() {
        match of_run(run, Colour::of_line(1 + i)) {
            Some(found) => all.push(found),
            None => notes.push(format!(
                "the orbit of {} diverges: it has no exponents",
                run.name
            )),
        }
    }
    if all.is_empty() {
        return Err(FigureError::NoOrbit {
            name: runs[0].name.clone(),
        }
        .into());
    }
    let (_, unit) = per(&runs[0].reconstruction.card.step);
    let named = all.iter().enumerate();
    let legend = named.map(|(i, found)| Key::dot(found.name.as_str(), Shape::of(i), found.colour));
    // All of them hide how the largest differ, where others are far below: these have a panel of their own.
    let count = all
        .iter()
        .map(|found| found.values.len())
        .max()
        .unwrap_or(1);
    let mut charts = vec![chart(&all, count, &unit).titled("all exponents")];
    let near = near(&all);
    if near < count {
        charts.insert(0, chart(&all, near, &unit).titled("the largest"));
    }
    let (width, columns) = request.side_by_side(charts.len());
    let page = Page::grid(width, columns, HEIGHT, charts).with_legend(legend.collect());
    let numbers = all.iter().map(|found| {
        (
            format!("{}: largest exponent", found.name),
            found.values[0].0,
        )
    });
    Ok(Figure {
        drawing: page.draw(),
        numbers: numbers.collect(),
        tables: vec![("exponents".to_string(), table(&all, count))],
        notes,
    })
}

fn of_system(request: &Request) -> Result<Option<Exponents>, Error> {
    let Some(name) = &request.system else {
        return Ok(None);
    };
    let unknown = || FigureError::NoExponents { name: name.clone() };
    let info = find(name).ok_or_else(unknown)?;
    let known = info.known.iter().find(|known| known.set.is_empty());
    let known = known.ok_or_else(unknown)?;
    Ok(Some(Exponents {
        name: format!("{name}, known"),
        values: known
            .exponents
            .iter()
            .map(|&v| (v, known.tolerance))
            .collect(),
        colour: Colour::INK,
    }))
}

/// The largest exponent of the first channel of the data.
fn of_data(run: &Subject, request: &Request) -> Result<Exponents, String> {
    let (series, stretch) = (run.data.series(), run.data.longest());
    let rows = stretch.rows();
    let column = rows.values().iter().step_by(rows.dim()).take(ROWS).copied();
    let step = run.reconstruction.card.step.clone();
    let channel = Channel::named(series.channels()[0].name.clone());
    let x = vec![Trajectory::new(column.collect())];
    let alone = Series::new(vec![channel], Vec::new(), step.clone(), x);
    let alone = alone.map_err(|error| error.to_string())?;
    let found = of_recording(&alone, &request.exponent, &mut Unwatched)
        .map_err(|error| error.to_string())?;
    let (value, error) = found.exponent.per_time(per(&step).0);
    Ok(Exponents {
        name: format!("data, from {} alone", series.channels()[0].name),
        values: vec![(value.ok_or("no straight region")?, error.unwrap_or(0.0))],
        colour: Colour::BLUE,
    })
}

/// The exponents of a run from where its data begin; none if it diverges.
fn of_run(run: &Subject, colour: Colour) -> Option<Exponents> {
    let (dynamics, stretch) = (&run.reconstruction.dynamics, run.data.longest());
    let taken = dynamics.memory().rows().min(stretch.len());
    let mut z = vec![0.0; dynamics.sizes().state];
    dynamics.infer(stretch.slice(0..taken), &mut z);
    let inputs = stretch.inputs_of(taken - 1..stretch.len());
    let plan = LyapunovPlan {
        transient: TRANSIENT,
        intervals: STEPS,
        ..LyapunovPlan::full(z.len().min(MOST))
    };
    let found = lyapunov_of_dynamics(dynamics.as_ref(), &z, inputs, &plan, &mut Unwatched).ok()?;
    let (dt, _) = per(&run.reconstruction.card.step);
    let pairs = found.exponents.iter().zip(&found.errors);
    Some(Exponents {
        name: run.name.clone(),
        values: pairs.map(|(v, e)| (v / dt, e / dt)).collect(),
        colour,
    })
}

/// How many of the largest exponents lie within a few sizes of the largest from zero.
fn near(all: &[Exponents]) -> usize {
    const SIZES: f64 = 4.0;
    let size = all
        .iter()
        .map(|found| found.values[0].0.abs())
        .fold(0.0, f64::max);
    let within = |found: &Exponents| {
        let values = found.values.iter();
        values.take_while(|(v, _)| v.abs() <= SIZES * size).count()
    };
    all.iter().map(within).max().unwrap_or(1).max(1)
}

/// The first exponents of all, side by side at each number.
fn chart(all: &[Exponents], count: usize, unit: &str) -> Chart {
    let shown = || all.iter().flat_map(|found| found.values.iter().take(count));
    let ends = shown().flat_map(|(v, e)| [v - e, v + e]).chain([0.0]);
    let x = Axis::new("number of the exponent", 0.5, count as f64 + 0.5).scaled(Scale::Whole);
    let unit = if unit == "time" { "unit of time" } else { unit };
    let mut chart = Chart::new(x, Axis::around(format!("exponent per {unit}"), ends));
    let zero = Stroke::new(Colour::NOTHING, 0.6);
    chart.layers.push(Layer::Horizontal(0.0, zero, Side::Left));
    let apart = 0.5 / all.len() as f64;
    chart
        .layers
        .extend(all.iter().enumerate().map(|(i, found)| {
            let off = apart * (i as f64 - 0.5 * (all.len() - 1) as f64);
            let points = found.values.iter().take(count).enumerate();
            Layer::Dots {
                points: points
                    .map(|(j, (v, e))| (j as f64 + 1.0 + off, *v, *e))
                    .collect(),
                shape: Shape::of(i),
                colour: found.colour,
                side: Side::Left,
            }
        }));
    chart
}

fn table(all: &[Exponents], count: usize) -> Table {
    let names = all
        .iter()
        .flat_map(|found| [found.name.clone(), format!("{} error", found.name)]);
    let row = |j: usize| {
        let missing = (f64::NAN, f64::NAN);
        let pairs = all
            .iter()
            .map(|found| *found.values.get(j).unwrap_or(&missing));
        let values = pairs.flat_map(|(v, e)| [v, e]);
        [j as f64 + 1.0].into_iter().chain(values).collect()
    };
    Table {
        header: ["number".to_string()].into_iter().chain(names).collect(),
        rows: (0..count).map(row).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_far_below_have_no_place_beside_the_largest() {
        let of = |values: &[f64]| Exponents {
            name: String::new(),
            values: values.iter().map(|&v| (v, 0.01)).collect(),
            colour: Colour::INK,
        };
        let all = [of(&[0.9, 0.0, -14.6]), of(&[0.8, -0.1, -3.0, -9.0])];
        assert_eq!(near(&all), 3);
        assert_eq!(near(&[of(&[0.9, 0.0, -14.6])]), 2);
        let rows = table(&all, 4).rows;
        assert!(rows[3][1].is_nan() && rows[3][3] == -9.0);
    }
}
