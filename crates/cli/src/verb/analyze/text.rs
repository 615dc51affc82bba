//! An anatomy in words and tables.

use std::io::{self, Write};

use attractor::analysis::cycles::{Cycle, Found, Proof};
use attractor::analysis::lyapunov::Spectrum;
use attractor::anatomy::{Anatomy, Known, KnownPoint, observe, per, sentence};
use attractor::equations::{self, EquationsDocument};
use attractor::linalg::complex::Complex;
use attractor::model_file::Reconstruction;
use attractor::system::Time;
use attractor::text::{count, duration, figure};

use super::super::lyapunov;
use crate::table;

/// Cycles of one period that are printed; all are in the JSON document.
const PRINTED: usize = 12;

/// Equations that are printed, and characters of each; all are in the JSON document.
const EQUATIONS: usize = 12;
const LONGEST: usize = 300;

/// Channels of a point that are printed.
const CHANNELS: usize = 6;

pub(crate) fn write(
    anatomy: &Anatomy,
    reconstruction: &Reconstruction,
    known: Option<&Known>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (id, dynamics) = (reconstruction.method.entry.id, &reconstruction.dynamics);
    writeln!(out, "{id}, {}", dynamics.describe())?;
    if let Some(found) = equations::equations(reconstruction, known.map(|known| known.info)) {
        write_equations(&found, out)?;
    }
    exponents(anatomy, reconstruction, out)?;
    if let Some(known) = known {
        known_exponents(known, out)?;
    }
    for (found, period) in anatomy.periodic.iter().zip(1..) {
        periodic(found, period, anatomy, reconstruction, out)?;
        if let (1, Some(known)) = (period, known) {
            known_points(known, out)?;
        }
    }
    others(anatomy, out)?;
    regions(anatomy, out)
}

/// Where other orbits end.
fn others(anatomy: &Anatomy, out: &mut dyn Write) -> io::Result<()> {
    let Some(basins) = &anatomy.basins else {
        return Ok(());
    };
    match sentence(basins) {
        Some(sentence) => writeln!(out, "\n{sentence}"),
        None if basins.starts.iter().all(|&orbits| orbits == 0) => writeln!(
            out,
            "\nother attractors are not known: time was up before any orbit from elsewhere had been followed"
        ),
        None => {
            let orbits = count(basins.starts.iter().sum(), "orbit");
            writeln!(
                out,
                "\nno other attractor: {orbits} from elsewhere come to this one"
            )
        }
    }
}

/// The equations of a model, and those of the system that its data are from.
pub(crate) fn write_equations(found: &EquationsDocument, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nEquations in the units of the data")?;
    write_lines(&found.text, out)?;
    let Some(truth) = &found.truth else {
        return Ok(());
    };
    match truth.why {
        Some(why) => writeln!(
            out,
            "\nEquations of {}: none here, because {why}",
            truth.system
        ),
        None => {
            writeln!(out, "\nEquations of {}, in its own units", truth.system)?;
            write_lines(&truth.text, out)
        }
    }
}

fn write_lines(lines: &[String], out: &mut dyn Write) -> io::Result<()> {
    let (shown, rest) = lines.split_at(lines.len().min(EQUATIONS));
    for line in shown {
        match line.char_indices().nth(LONGEST) {
            Some((end, _)) => writeln!(out, "  {} …", &line[..end])?,
            None => writeln!(out, "  {line}")?,
        }
    }
    if !rest.is_empty() {
        writeln!(out, "  and {} more; --json has all", rest.len())?;
    }
    Ok(())
}

fn exponents(
    anatomy: &Anatomy,
    reconstruction: &Reconstruction,
    out: &mut dyn Write,
) -> io::Result<()> {
    let Some(spectrum) = &anatomy.lyapunov else {
        return Ok(());
    };
    write_exponents(spectrum, anatomy.request.steps, reconstruction, out)?;
    let Some(steps) = anatomy.period else {
        return Ok(());
    };
    let (dt, _) = per(&reconstruction.card.step);
    let period = match reconstruction.card.step.unit.as_str() {
        "" => figure(steps * dt),
        unit => duration(steps * dt, unit),
    };
    writeln!(out, "  the orbit is regular, with a period of {period}")
}

/// The exponents of a model over so many steps.
pub(crate) fn write_exponents(
    spectrum: &Spectrum,
    steps: usize,
    reconstruction: &Reconstruction,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (dt, per) = per(&reconstruction.card.step);
    let per = if per == "time" { "unit of time" } else { &per };
    let steps = count(steps, "step");
    writeln!(out, "\nLyapunov exponents per {per}, over {steps}")?;
    table::write(out, &lyapunov::rows(&spectrum.per_time(dt)))?;
    let (sum, state) = (
        spectrum.exponents.iter().sum::<f64>(),
        reconstruction.dynamics.sizes().state,
    );
    let is_whole = spectrum.exponents.len() == state;
    match spectrum.imbalance(state) {
        Some(gap) => {
            writeln!(
                out,
                "  sum {}, within {} of the mean log-determinant",
                figure(sum / dt),
                figure(gap / dt)
            )?;
        }
        None if !is_whole || spectrum.mean_log_det.is_none() => writeln!(
            out,
            "  the largest {} of {}: no sum to check",
            spectrum.exponents.len(),
            state
        )?,
        None => writeln!(
            out,
            "  directions are lost where the map is singular: no sum to check"
        )?,
    }
    if is_whole || sum < 0.0 {
        let dimension = figure(spectrum.kaplan_yorke());
        writeln!(out, "  Kaplan–Yorke dimension {dimension}")?;
    }
    Ok(())
}

fn periodic(
    found: &Found,
    period: usize,
    anatomy: &Anatomy,
    reconstruction: &Reconstruction,
    out: &mut dyn Write,
) -> io::Result<()> {
    let what = match period {
        1 => "fixed point".to_string(),
        _ => format!("{period}-cycle"),
    };
    writeln!(
        out,
        "\n{}, {}",
        count(found.cycles.len(), &what),
        proof(found, period)
    )?;
    let printed = found.cycles.iter().take(PRINTED);
    let rows = printed.map(|cycle| row(cycle, anatomy, reconstruction));
    table::write(out, &rows.collect::<Vec<_>>())?;
    if found.cycles.len() > PRINTED {
        writeln!(
            out,
            "  and {} more, in the JSON document",
            found.cycles.len() - PRINTED
        )?;
    }
    Ok(())
}

/// The exponents of a known system.
fn known_exponents(known: &Known, out: &mut dyn Write) -> io::Result<()> {
    let name = known.info.entry.id;
    let Some(found) = known.exponents else {
        return writeln!(out, "  of {name} none are known");
    };
    let per = match known.info.time {
        Time::Map => "step",
        Time::Flow { .. } => "unit of time",
    };
    let all: Vec<String> = found.exponents.iter().map(|&v| figure(v)).collect();
    let (all, source) = (all.join(", "), found.source);
    writeln!(
        out,
        "  those of {name} per {per} in the literature ({source}): {all}"
    )
}

/// The fixed points of a known system, each with the nearest of the model.
fn known_points(known: &Known, out: &mut dyn Write) -> io::Result<()> {
    let name = known.info.entry.id;
    let points = match &known.points {
        Ok(points) => points,
        Err(why) => return writeln!(out, "\nno fixed points of {name} beside these: {why}"),
    };
    let units = if known.is_scaled {
        "with the mean and the spread of the data"
    } else {
        "in the units of the data"
    };
    let all = count(points.len(), "fixed point");
    writeln!(out, "\n{all} of {name} itself, found by a search, {units}")?;
    let row = |point: &KnownPoint| {
        [
            place(&point.observed),
            neighbourhood(&point.cycle),
            multipliers(&point.cycle),
            point.beside(),
        ]
    };
    let rows = points.iter().take(PRINTED).map(row);
    table::write(out, &rows.collect::<Vec<_>>())?;
    if points.len() > PRINTED {
        writeln!(
            out,
            "  and {} more, in the JSON document",
            points.len() - PRINTED
        )?;
    }
    match known.sentence() {
        Some(sentence) => writeln!(out, "  {sentence}"),
        None => Ok(()),
    }
}

/// How the list came about.
fn proof(found: &Found, period: usize) -> String {
    let tried = found.tried as usize;
    let tried = match period {
        1 => count(tried, "region"),
        _ => format!("{} of regions", count(tried, "sequence")),
    };
    match found.proof {
        Proof::Complete if found.tried == 1 => "proven complete: there is one region".to_string(),
        Proof::Complete => format!("proven complete: all {tried} tried"),
        Proof::Degenerate => format!(
            "all {tried} tried, but {} singular: there may be a continuum",
            if found.singular == 1 {
                "1 is".to_string()
            } else {
                format!("{} are", found.singular)
            }
        ),
        Proof::Interrupted => format!("time was up after {tried}: there may be more"),
        Proof::Searched => "found by a search: there may be more".to_string(),
    }
}

fn row(cycle: &Cycle, anatomy: &Anatomy, reconstruction: &Reconstruction) -> [String; 4] {
    let mut remarks = Vec::new();
    match anatomy.attractor.as_ref().map(|a| a.has_all(&cycle.points)) {
        Some(true) => remarks.push("on the attractor"),
        Some(false) => remarks.push("off the attractor"),
        None => {}
    }
    if cycle.is_on_border {
        remarks.push("on a border of regions");
    }
    [
        place(&observe(reconstruction, &cycle.points[0])),
        neighbourhood(cycle),
        multipliers(cycle),
        remarks.join(", "),
    ]
}

/// A point in the units of the data.
fn place(x: &[f64]) -> String {
    let mut point: Vec<String> = x.iter().take(CHANNELS).map(|&v| figure(v)).collect();
    if x.len() > CHANNELS {
        point.push("…".to_string());
    }
    format!("({})", point.join(", "))
}

/// What neighbours of a cycle do.
fn neighbourhood(cycle: &Cycle) -> String {
    format!("{} ({})", cycle.kind().name(), cycle.leading().name())
}

fn multipliers(cycle: &Cycle) -> String {
    let multipliers = cycle.multipliers.iter().take(CHANNELS).map(complex);
    format!("multipliers {}", multipliers.collect::<Vec<_>>().join(", "))
}

fn complex(m: &Complex) -> String {
    match m.im {
        0.0 => figure(m.re),
        im if im > 0.0 => format!("{}+{}i", figure(m.re), figure(im)),
        im => format!("{}−{}i", figure(m.re), figure(-im)),
    }
}

fn regions(anatomy: &Anatomy, out: &mut dyn Write) -> io::Result<()> {
    let Some(regions) = &anatomy.regions else {
        return writeln!(out, "\nno linear regions: the model is smooth");
    };
    let itinerary = &regions.itinerary;
    let total = itinerary.symbols.len().max(1) as f64;
    let first = itinerary.visits.first().map_or(0.0, |&n| n as f64 / total);
    writeln!(
        out,
        "\n{} visited of at most {}; the most visited has {} % of the steps",
        count(itinerary.regions.len(), "linear region"),
        figure(regions.at_most),
        figure(100.0 * first)
    )?;
    let effective = figure(2f64.powf(itinerary.entropy()));
    writeln!(
        out,
        "  {effective} of equal weight would have the same entropy"
    )
}
