//! `attractor lyapunov FILE`: the largest exponent of a recording.

use std::io::Write;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use attractor::experiment::threads;
use attractor::exponent::{Curve, Distance, Method};
use attractor::recording_exponent::{Found, Request, of_recording};
use attractor::text::{count, duration, figure, measure};
use attractor::{Error, format, options};
use clap::{Args, ValueEnum};

use super::super::embed::rows;
use super::super::whole;
use crate::follow::Shown;
use crate::reading::Reading;
use crate::table;
use crate::visible::notes;

/// Flags of a recording
#[derive(Debug, Args)]
#[command(next_help_heading = "Recordings")]
pub(super) struct RecordingFlags {
    /// How neighbours are chosen [default: rosenstein]
    #[arg(long, value_name = "METHOD")]
    method: Option<MethodWord>,
    /// What their distance is [default: first for rosenstein, euclidean for kantz]
    #[arg(long, value_name = "DISTANCE")]
    distance: Option<DistanceWord>,
    /// Dimensions of the delay vectors, first and last [default: from the one without false neighbours, five]
    #[arg(long, value_name = "A:B", value_parser = dims)]
    dims: Option<RangeInclusive<usize>>,
    /// Delay in rows [default: 1 for uncorrelated rows, else the first minimum of the mutual information]
    #[arg(long, value_name = "ROWS", allow_negative_numbers = true, value_parser = delay)]
    delay: Option<usize>,
    /// Points at most this many rows apart do not count as neighbours [default: three delays]
    #[arg(long, value_name = "W", allow_negative_numbers = true, value_parser = rows)]
    theiler: Option<usize>,
    /// Region of the fit in units of time [default: where the curve is straight]
    #[arg(long, value_name = "A:B", allow_negative_numbers = true, value_parser = region)]
    fit: Option<RangeInclusive<f64>>,
    /// File to write the curves to, one channel per dimension, in any format that is written
    #[arg(long, value_name = "FILE")]
    curves: Option<PathBuf>,
    /// Worker threads, 0 for all cores; the result does not depend on it [default: 0]
    #[arg(long, value_name = "N", allow_negative_numbers = true, value_parser = whole::<usize>)]
    threads: Option<usize>,
    #[command(flatten)]
    reading: Reading,
}

/// How neighbours are chosen.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum MethodWord {
    /// All within a radius; distances are averaged before the logarithm
    Kantz,
    /// The nearest
    Rosenstein,
}

/// What the distance of two neighbours is.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum DistanceWord {
    /// That of their delay vectors
    Euclidean,
    /// That of their first coordinates
    First,
}

impl RecordingFlags {
    /// A flag that was given, which says nothing about a known system.
    pub(super) fn given(&self) -> Option<&'static str> {
        let given = [
            (self.method.is_some(), "--method"),
            (self.distance.is_some(), "--distance"),
            (self.dims.is_some(), "--dims"),
            (self.delay.is_some(), "--delay"),
            (self.theiler.is_some(), "--theiler"),
            (self.fit.is_some(), "--fit"),
            (self.curves.is_some(), "--curves"),
            (self.threads.is_some(), "--threads"),
            (self.reading.is_given(), "reading data"),
        ];
        given
            .iter()
            .find(|(given, _)| *given)
            .map(|(_, flag)| *flag)
    }

    /// Prints the exponent of a recording as a JSON document.
    pub(super) fn run_json(&self, path: &Path, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let found = self.find(path)?;
        crate::json::write(&found.document(), out)?;
        self.finish(&found, out)
    }

    /// Prints the exponent of a recording as text.
    pub(super) fn run_text(&self, path: &Path, out: &mut dyn Write) -> Result<ExitCode, Error> {
        let found = self.find(path)?;
        print(path, &found, out)?;
        self.finish(&found, out)
    }

    fn find(&self, path: &Path) -> Result<Found, Error> {
        if let Some(curves) = &self.curves {
            format::refuse_same(path, curves)?;
            format::refuse_unwritable(curves)?;
        }
        let series = self.reading.read(path)?;
        Ok(of_recording(&series, &self.request(), &mut Shown::new())?)
    }

    fn request(&self) -> Request {
        Request {
            method: match self.method {
                Some(MethodWord::Kantz) => Method::Kantz,
                Some(MethodWord::Rosenstein) | None => Method::Rosenstein,
            },
            distance: self.distance.map(|word| match word {
                DistanceWord::Euclidean => Distance::Euclidean,
                DistanceWord::First => Distance::First,
            }),
            dims: self.dims.clone(),
            delay: self.delay,
            theiler: self.theiler,
            fit: self.fit.clone(),
            threads: threads(self.threads.unwrap_or(0)),
        }
    }

    fn finish(&self, found: &Found, out: &mut dyn Write) -> Result<ExitCode, Error> {
        out.flush()?;
        let mut notes = notes();
        let (rows, used) = found.rows;
        if used < rows {
            writeln!(
                notes,
                "note: the longest stretch without a gap or a missing value was used, {used} of {}",
                count(rows, "row")
            )?;
        }
        if let Some(path) = &self.curves {
            format::write(path, &found.table())?;
            let curves = count(found.exponent.curves.len(), "curve");
            writeln!(notes, "wrote {curves}: {}", path.display())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn print(path: &Path, found: &Found, out: &mut dyn Write) -> Result<(), Error> {
    let dt = found.step.dt;
    writeln!(
        out,
        "{}: delay {}, Theiler window {}, {}\n",
        path.display(),
        found.plan.delay,
        found.plan.theiler,
        count(found.rows.1, "row")
    )?;
    let head = ["dimension", "slope per unit of time", "fit", "residual"].map(String::from);
    let rows = found.exponent.curves.iter().map(|curve| row(curve, dt));
    table::write(out, &std::iter::once(head).chain(rows).collect::<Vec<_>>())?;
    let (Some(per_row), (Some(per_time), error)) =
        (found.exponent.per_row, found.exponent.per_time(dt))
    else {
        writeln!(out, "\nno curve has a straight region: no exponent")?;
        return Ok(());
    };
    let error = error.map_or(String::new(), |error| {
        format!(" ± {} (spread over dimensions)", figure(error))
    });
    writeln!(
        out,
        "\nlargest exponent {}{error} per unit of time, {} per row",
        figure(per_time),
        figure(per_row)
    )?;
    match found.exponent.predictability() {
        Some(rows) => writeln!(
            out,
            "predictability time ln 2/λ {}, {}",
            duration(rows * dt, ""),
            measure(rows, "row")
        )?,
        None => writeln!(out, "no predictability time: neighbours do not part")?,
    }
    Ok(())
}

fn row(curve: &Curve, dt: f64) -> [String; 4] {
    let dim = curve.dim.to_string();
    match &curve.fit {
        None => [
            dim,
            "none".to_string(),
            "no straight region".to_string(),
            String::new(),
        ],
        Some(fit) => {
            let (a, b) = (*fit.region.start() as f64, *fit.region.end() as f64);
            [
                dim,
                figure(fit.slope / dt),
                format!("{} to {}", figure(a * dt), figure(b * dt)),
                figure(fit.residual),
            ]
        }
    }
}

pub(in crate::verb) fn delay(text: &str) -> Result<usize, String> {
    rows(text).and_then(|delay| match delay {
        0 => Err("expected a whole number of at least 1".to_string()),
        delay => Ok(delay),
    })
}

pub(in crate::verb) fn dims(text: &str) -> Result<RangeInclusive<usize>, String> {
    options::dims(text).map_err(|expected| format!("expected {expected}"))
}

pub(in crate::verb) fn region(text: &str) -> Result<RangeInclusive<f64>, String> {
    options::region(text).map_err(|expected| format!("expected {expected}"))
}
