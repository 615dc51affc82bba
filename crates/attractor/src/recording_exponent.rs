//! The largest Lyapunov exponent of a recording, as `attractor lyapunov FILE` finds it. The document that `--json` prints is
//! described in `docs/embedding.md`; a field may be added, but none is renamed or removed without a higher `schema`.

use std::ops::RangeInclusive;

use attractor_core::exponent::automatic::Given;
use attractor_core::exponent::{Curve, Distance, Exponent, Method, Plan, exponent};
use attractor_core::progress::Follow;
use attractor_core::series::{Channel, Series, Step, Trajectory};
use serde::Serialize;

use crate::embedding::{EmbeddingError, columns};

/// Raised when a field is renamed or removed.
const SCHEMA: u32 = 1;

/// What is asked. What is not given is found.
#[derive(Debug, Clone, PartialEq)]
pub struct Request {
    /// How neighbours are chosen.
    pub method: Method,
    /// What their distance is; that of first coordinates for Rosenstein's method, of vectors for Kantz's.
    pub distance: Option<Distance>,
    /// Dimensions of the delay vectors.
    pub dims: Option<RangeInclusive<usize>>,
    /// The delay in rows.
    pub delay: Option<usize>,
    /// Points at most this many rows apart do not count as neighbours.
    pub theiler: Option<usize>,
    /// The region of the fit in units of time.
    pub fit: Option<RangeInclusive<f64>>,
    /// Worker threads.
    pub threads: usize,
}

impl Default for Request {
    /// Rosenstein's method on all cores, all else found.
    fn default() -> Request {
        Request {
            method: Method::Rosenstein,
            distance: None,
            dims: None,
            delay: None,
            theiler: None,
            fit: None,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// An exponent and how it was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// Curves, fits and the exponent per row.
    pub exponent: Exponent,
    /// What was done.
    pub plan: Plan,
    /// The sampling step.
    pub step: Step,
    /// Rows of the recording, and how many of them were used.
    pub rows: (usize, usize),
}

/// The largest exponent of a recording of one channel, from its longest stretch without a gap or a missing value.
pub fn of_recording(
    series: &Series,
    request: &Request,
    follow: &mut dyn Follow,
) -> Result<Found, EmbeddingError> {
    find(series, request, follow).map_err(|error| match error {
        // What can be done about them are other flags than those of an embedding.
        EmbeddingError::Values(error) => EmbeddingError::Exponent(error),
        error => error,
    })
}

fn find(
    series: &Series,
    request: &Request,
    follow: &mut dyn Follow,
) -> Result<Found, EmbeddingError> {
    if series.dim_obs() > 1 {
        let found = series.dim_obs();
        return Err(EmbeddingError::SeveralChannels { found });
    }
    let columns = columns(series)?;
    let plan = given(request, series.step().dt, columns.len())?.plan(&columns)?;
    Ok(Found {
        exponent: exponent(&columns, &plan, follow)?,
        plan,
        step: series.step().clone(),
        rows: (series.total_len(), columns.len()),
    })
}

/// What is given, in rows.
fn given(request: &Request, dt: f64, rows: usize) -> Result<Given, EmbeddingError> {
    let fit = request.fit.as_ref();
    Ok(Given {
        method: request.method,
        distance: request.distance,
        dims: request.dims.clone(),
        delay: request.delay,
        theiler: request.theiler,
        fit: fit.map(|fit| region(fit, dt, rows)).transpose()?,
        threads: request.threads,
    })
}

/// The rows of a region in units of time.
fn region(
    fit: &RangeInclusive<f64>,
    dt: f64,
    rows: usize,
) -> Result<RangeInclusive<usize>, EmbeddingError> {
    let row = |time: &f64| (time / dt).round();
    if row(fit.end()) < rows as f64 {
        Ok(row(fit.start()) as usize..=row(fit.end()) as usize)
    } else {
        Err(EmbeddingError::FitBeyond { rows })
    }
}

impl Found {
    /// The document.
    pub fn document(&self) -> ExponentDocument {
        let dt = self.step.dt;
        let (per_time, error_per_time) = self.exponent.per_time(dt);
        let predictability = self.exponent.predictability();
        ExponentDocument {
            schema: SCHEMA,
            method: match self.plan.method {
                Method::Kantz => "kantz",
                Method::Rosenstein => "rosenstein",
            },
            distance: match self.plan.distance {
                Distance::Euclidean => "euclidean",
                Distance::First => "first",
            },
            rows: self.rows.0,
            rows_used: self.rows.1,
            step: self.step.clone(),
            delay: self.plan.delay,
            theiler: self.plan.theiler,
            exponent: Rates {
                per_row: self.exponent.per_row,
                per_time,
                error_per_row: self.exponent.error,
                error_per_time,
            },
            predictability: predictability.map(|rows| Span {
                rows,
                time: rows * dt,
            }),
            curves: self.exponent.curves.iter().map(|c| curve(c, dt)).collect(),
        }
    }

    /// S(k) by time, one channel per dimension, missing beyond a curve's end.
    pub fn table(&self) -> Series {
        let curves = &self.exponent.curves;
        let names = curves.iter().map(|c| Channel::named(format!("S{}", c.dim)));
        let rows = curves.iter().map(|c| c.values.len()).max().unwrap_or(0);
        let value = |c: &Curve, k: usize| c.values.get(k).copied().unwrap_or(f64::NAN);
        let x = (0..rows).flat_map(|k| curves.iter().map(move |c| value(c, k)));
        let trajectory = Trajectory::new(x.collect());
        Series::new(
            names.collect(),
            Vec::new(),
            self.step.clone(),
            vec![trajectory],
        )
        .expect("curves of varying channels have values, and dimensions differ")
    }
}

/// The document that `attractor lyapunov FILE --json` prints. Numbers that do not exist, such as the slope of a curve without a
/// straight region, are null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExponentDocument {
    schema: u32,
    method: &'static str,
    distance: &'static str,
    rows: usize,
    rows_used: usize,
    step: Step,
    delay: usize,
    theiler: usize,
    exponent: Rates,
    predictability: Option<Span>,
    curves: Vec<CurveDocument>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Rates {
    per_row: Option<f64>,
    per_time: Option<f64>,
    error_per_row: Option<f64>,
    error_per_time: Option<f64>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct Span {
    rows: f64,
    time: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct CurveDocument {
    dims: usize,
    values: Vec<f64>,
    fit: Option<FitDocument>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
struct FitDocument {
    rows: [usize; 2],
    time: [f64; 2],
    slope_per_row: f64,
    slope_per_time: f64,
    intercept: f64,
    residual: f64,
}

fn curve(curve: &Curve, dt: f64) -> CurveDocument {
    let fit = curve.fit.as_ref().map(|fit| {
        let rows = [*fit.region.start(), *fit.region.end()];
        FitDocument {
            rows,
            time: rows.map(|row| row as f64 * dt),
            slope_per_row: fit.slope,
            slope_per_time: fit.slope / dt,
            intercept: fit.intercept,
            residual: fit.residual,
        }
    });
    CurveDocument {
        dims: curve.dim,
        values: curve.values.clone(),
        fit,
    }
}
