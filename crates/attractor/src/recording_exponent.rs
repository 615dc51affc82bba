//! The largest Lyapunov exponent of a recording, as `attractor lyapunov FILE` finds it. The document that `--json` prints is
//! described in `docs/embedding.md`; a field may be added, but none is renamed or removed without a higher `schema`.

use std::ops::RangeInclusive;

use attractor_core::embed::cao::{CaoPlan, cao};
use attractor_core::embed::columns::Columns;
use attractor_core::embed::{EmbedError, first_delay};
use attractor_core::exponent::{Curve, Distance, Exponent, Method, Plan, exponent};
use attractor_core::series::{Channel, Series, Step, Trajectory};
use serde_json::{Value, json};

use crate::embedding::{EmbeddingError, LAGS, columns};
use crate::experiment::threads;

/// Raised when a field is renamed or removed.
const SCHEMA: u32 = 1;

/// Dimensions beyond the one that false neighbours need.
const MORE: usize = 4;

/// The largest dimension that is tried for false neighbours.
const MAX_DIM: usize = 8;

/// The Theiler window in delays.
const WINDOW: usize = 3;

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
    /// Points at most so many rows apart are no neighbours.
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
            threads: threads(0),
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
pub fn of_recording(series: &Series, request: &Request) -> Result<Found, EmbeddingError> {
    find(series, request).map_err(|error| match error {
        // What can be done about them are other flags than those of an embedding.
        EmbeddingError::Values(error) => EmbeddingError::Exponent(error),
        error => error,
    })
}

fn find(series: &Series, request: &Request) -> Result<Found, EmbeddingError> {
    if series.dim_obs() > 1 {
        let found = series.dim_obs();
        return Err(EmbeddingError::SeveralChannels { found });
    }
    let columns = columns(series)?;
    let plan = plan(&columns, request, series.step().dt)?;
    Ok(Found {
        exponent: exponent(&columns, &plan)?,
        plan,
        step: series.step().clone(),
        rows: (series.total_len(), columns.len()),
    })
}

/// For how long a recording can be predicted.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictability {
    /// ln 2/λ in whole rows, at least one.
    pub rows: usize,
    /// The channel that λ is of.
    pub channel: String,
    /// λ per row.
    pub exponent: f64,
    /// Its spread over dimensions; none for fewer than two.
    pub error: Option<f64>,
}

/// The predictability time of the first channel.
pub fn predictability(series: &Series, threads: usize) -> Result<Predictability, EmbeddingError> {
    let first = first_channel(series)?;
    let request = Request {
        threads,
        ..Request::default()
    };
    let exponent = of_recording(&first, &request)?.exponent;
    let channel = first.channels()[0].name.clone();
    match (exponent.predictability(), exponent.per_row) {
        (Some(rows), Some(per_row)) => Ok(Predictability {
            rows: (rows.round() as usize).max(1),
            channel,
            exponent: per_row,
            error: exponent.error,
        }),
        _ => Err(EmbeddingError::NoExponent { name: channel }),
    }
}

fn first_channel(series: &Series) -> Result<Series, EmbeddingError> {
    let n = series.dim_obs();
    let first = |t: &Trajectory| Trajectory {
        x: t.x.iter().step_by(n).copied().collect(),
        ..t.clone()
    };
    let (channel, inputs) = (series.channels()[0].clone(), series.inputs().to_vec());
    let firsts = series.trajectories().iter().map(first).collect();
    // Only a channel without any value is refused.
    Series::new(vec![channel], inputs, series.step().clone(), firsts).map_err(|_| {
        EmbedError::TooShort {
            needed: 2,
            found: 0,
        }
        .into()
    })
}

fn plan(columns: &Columns, request: &Request, dt: f64) -> Result<Plan, EmbeddingError> {
    let fit = request.fit.as_ref();
    let fit = fit.map(|fit| region(fit, dt, columns.len())).transpose()?;
    let lags = LAGS.min(columns.len().saturating_sub(2) / 2);
    let delay = match request.delay {
        Some(delay) => delay,
        None => first_delay(columns, 0, lags)?,
    };
    let theiler = request.theiler.unwrap_or(WINDOW * delay);
    let dims = match &request.dims {
        Some(dims) => dims.clone(),
        None => dims(columns, delay, theiler, request.threads)?,
    };
    let by_method = match request.method {
        Method::Kantz => Distance::Euclidean,
        Method::Rosenstein => Distance::First,
    };
    Ok(Plan {
        channel: 0,
        method: request.method,
        distance: request.distance.unwrap_or(by_method),
        dims,
        delay,
        theiler,
        fit,
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
    match row(fit.end()) < rows as f64 {
        true => Ok(row(fit.start()) as usize..=row(fit.end()) as usize),
        false => Err(EmbeddingError::FitBeyond { rows }),
    }
}

/// From the dimension that false neighbours need, or 2, four more.
fn dims(
    columns: &Columns,
    delay: usize,
    theiler: usize,
    threads: usize,
) -> Result<RangeInclusive<usize>, EmbeddingError> {
    let plan = CaoPlan {
        channel: 0,
        delay,
        max_dim: MAX_DIM,
        theiler,
        threads,
    };
    let first = cao(columns, &plan)?.dim().unwrap_or(2);
    Ok(first..=first + MORE)
}

impl Found {
    /// The document. Numbers that do not exist, such as the slope of a curve without a straight region, are null.
    pub fn to_json(&self) -> Value {
        let dt = self.step.dt;
        let (per_time, error) = self.exponent.per_time(dt);
        let predictability = self.exponent.predictability();
        json!({
            "schema": SCHEMA,
            "method": match self.plan.method {
                Method::Kantz => "kantz",
                Method::Rosenstein => "rosenstein",
            },
            "distance": match self.plan.distance {
                Distance::Euclidean => "euclidean",
                Distance::First => "first",
            },
            "rows": self.rows.0,
            "rows_used": self.rows.1,
            "step": { "dt": dt, "unit": self.step.unit },
            "delay": self.plan.delay,
            "theiler": self.plan.theiler,
            "exponent": {
                "per_row": self.exponent.per_row,
                "per_time": per_time,
                "error_per_row": self.exponent.error,
                "error_per_time": error,
            },
            "predictability": predictability.map(|rows| json!({ "rows": rows, "time": rows * dt })),
            "curves": self.exponent.curves.iter().map(|c| curve(c, dt)).collect::<Vec<_>>(),
        })
    }

    /// S(k) by time, one channel a dimension, missing beyond a curve's end.
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

fn curve(curve: &Curve, dt: f64) -> Value {
    let fit = curve.fit.as_ref().map(|fit| {
        json!({
            "rows": [fit.region.start(), fit.region.end()],
            "time": [*fit.region.start() as f64 * dt, *fit.region.end() as f64 * dt],
            "slope_per_row": fit.slope,
            "slope_per_time": fit.slope / dt,
            "intercept": fit.intercept,
            "residual": fit.residual,
        })
    });
    json!({ "dims": curve.dim, "values": curve.values, "fit": fit })
}
