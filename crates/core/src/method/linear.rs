//! Linear methods, which every other must beat: a vector autoregression by ridge regression, and persistence.
//!
//! ```text
//! x_{t+1} = c + A_1 x_t + … + A_p x_{t−p+1} + B s_{t+1}          persistence: x_{t+1} = x_t
//! ```
//!
//! A linear map has no attractor but a fixed point: its free orbits decay to it, or diverge. The regression is made of rows in units of
//! their standard deviations; A, B and c are those of the data's own units.

use super::recording::{Recording, Rows, refuse_bytes, refuse_short};
use super::{
    Fit, FitError, Fitting, LoadError, Method, Settled, Tensors, axes, nothing_to_settle,
    refuse_other,
};
use crate::catalogue::{Entry, Kind};
use crate::dynamics::{Dynamics, Memory, Named, Sizes, Stretch, Values};
use crate::linalg;
use crate::linalg::least_squares::LeastSquares;
use crate::progress::{Follow, Unwatched, tell};
use crate::settings::{AUTO, Domain, Setting};
use crate::text::{count, figure};
use crate::theta::Shape;

/// Vector autoregression.
pub static LINEAR: Method = Method {
    entry: Entry {
        kind: Kind::Model,
        id: "linear",
        summary: "vector autoregression by ridge regression",
        details: "x_{t+1} = c + A_1 x_t + … + A_p x_{t−p+1} + B s_{t+1}\n\
                  What linear prediction reaches: its free orbits decay to a fixed point, or diverge.",
        settings: &[
            Setting {
                name: "order",
                default: AUTO,
                domain: Domain::Auto { low: 1, high: 4096 },
                about: "Number p of rows from which the next one follows; auto takes the one from 1 to 20 with the lowest forecast error in five-fold cross-validation on the training data",
            },
            Setting {
                name: "ridge",
                default: "1e-5",
                domain: Domain::NON_NEGATIVE,
                about: "Weight λ of the penalty on the coefficients of the regression",
            },
        ],
        references: &[],
    },
    dependences: &[],
    numerics: 1,
    fit: Fit::Solve(solve),
    settle,
    load: |_, tensors| load(tensors, Fitted::Coefficients),
    story: |settings| {
        let order = settings.integer_unless_auto("order");
        let order = order.map_or(AUTO.to_string(), |order| order.to_string());
        let ridge = figure(settings.real("ridge"));
        format!("by ridge regression of order {order}, λ = {ridge}")
    },
};

/// Persistence.
pub static PERSISTENCE: Method = Method {
    entry: Entry {
        kind: Kind::Model,
        id: "persistence",
        summary: "every forecast is the last row",
        details: "x_{t+1} = x_t\n\
                  What forecasts must beat to be worth anything.",
        settings: &[],
        references: &[],
    },
    dependences: &[],
    numerics: 1,
    fit: Fit::Solve(|_, fitting, _| Ok(Box::new(persistence(fitting)))),
    settle: nothing_to_settle,
    load: |_, tensors| load(tensors, Fitted::Nothing),
    story: |_| "on nothing: every forecast is the last row".into(),
};

/// A linear map of the last p rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Linear {
    channels: usize,
    inputs: usize,
    order: usize,
    /// (A_1, …, A_p), N × pN.
    a: Vec<f64>,
    /// B, N × K.
    b: Vec<f64>,
    /// c, N.
    c: Vec<f64>,
    fitted: Fitted,
}

/// What of the map counts as parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fitted {
    Coefficients,
    Nothing,
}

fn persistence(fitting: Fitting<'_>) -> Linear {
    let (n, k) = (fitting.data.dim_obs(), fitting.data.dim_input());
    let mut a = vec![0.0; n * n];
    (0..n).for_each(|i| a[i * n + i] = 1.0);
    Linear {
        channels: n,
        inputs: k,
        order: 1,
        a,
        b: vec![0.0; n * k],
        c: vec![0.0; n],
        fitted: Fitted::Nothing,
    }
}

/// The largest order that `auto` tries.
const LONGEST: usize = 20;

/// Features beyond which `auto` tries no larger order.
const MANY: usize = 400;

/// Parts of the training data for cross-validation.
const FOLDS: usize = 5;

fn settle(fitting: Fitting<'_>) -> Result<Vec<Settled>, FitError> {
    let Some(order) = fitting.settings.integer_unless_auto("order") else {
        let tried = orders_to_try(fitting)?;
        let order = best_order(fitting, tried, &mut Unwatched)?;
        return Ok(vec![Settled {
            name: "order",
            value: order.to_string(),
            note: Some(format!(
                "forecasts follow from {}, the best of 1 to {tried} in cross-validation",
                count(order, "row")
            )),
        }]);
    };
    check(fitting, order).map(|()| Vec::new())
}

/// Refuses an order that the data or the memory do not have room for.
fn check(fitting: Fitting<'_>, order: usize) -> Result<(), FitError> {
    let (n, k) = (fitting.data.dim_obs(), fitting.data.dim_input());
    refuse_short(fitting.data, order + 1, (order > 1).then_some("order"))?;
    refuse_bytes(
        LeastSquares::bytes(1 + k + order * n, n),
        "a smaller `--order`",
    )
}

/// The largest order that is tried: of at most [`MANY`] features, and of so few rows that every part has some.
fn orders_to_try(fitting: Fitting<'_>) -> Result<usize, FitError> {
    let n = fitting.data.dim_obs();
    refuse_short(fitting.data, 2 * FOLDS, None)?;
    let longest = fitting.data.longest_whole().1.len();
    Ok(LONGEST.min(MANY / n).min(longest / FOLDS - 1).max(1))
}

/// The order with the lowest error of forecasts one row ahead, over parts of the data that were not fitted.
fn best_order(
    fitting: Fitting<'_>,
    tried: usize,
    follow: &mut dyn Follow,
) -> Result<usize, FitError> {
    let recording = Recording::new(fitting.data, 0.0, fitting.seed);
    let (n, k) = (fitting.data.dim_obs(), fitting.data.dim_input());
    let folds = (0..FOLDS).map(|fold| {
        tell(follow, "adding up", fold as u64, FOLDS as u64)?;
        Ok(sums(&recording, (n, k, tried), fitting, Some(fold)))
    });
    let folds: Vec<LeastSquares> = folds.collect::<Result<_, FitError>>()?;
    let ridge = fitting.settings.real("ridge");
    let mut best = (1, f64::INFINITY);
    for order in 1..=tried {
        tell(follow, "trying orders", order as u64, tried as u64)?;
        let features = 1 + k + order * n;
        let error: f64 = (0..FOLDS)
            .map(|left_out| {
                let mut others = LeastSquares::new(1 + k + tried * n, n, 1, fitting.isa);
                let rest = folds.iter().enumerate().filter(|(i, _)| *i != left_out);
                rest.for_each(|(_, fold)| others.merge(fold));
                let w = others.solve(features, ridge);
                folds[left_out].residual(features, &w)
            })
            .sum();
        if error < best.1 {
            best = (order, error);
        }
    }
    Ok(best.0)
}

/// The sums over all rows, or over one of the parts: of n channels, k inputs and orders up to the last number.
fn sums(
    recording: &Recording,
    (n, k, order): (usize, usize, usize),
    fitting: Fitting<'_>,
    fold: Option<usize>,
) -> LeastSquares {
    let mut sums = LeastSquares::new(1 + k + order * n, n, fitting.threads, fitting.isa);
    let mut batch = sums.batch();
    let mut row = 0;
    for rows in &recording.stretches {
        for t in order..rows.len {
            let part = row * FOLDS / recording.rows as usize;
            row += 1;
            if fold.is_some_and(|fold| fold != part) {
                continue;
            }
            if batch.is_full() {
                sums.add(&batch);
                batch.clear();
            }
            batch.push(|features, targets| {
                write_row(rows, (n, k, order), t, features);
                targets.copy_from_slice(&rows.u[t * n..][..n]);
            });
        }
    }
    sums.add(&batch);
    sums
}

/// 1, s_t, x_{t−1}, …, x_{t−p}: what row t follows from.
fn write_row(rows: &Rows, (n, k, order): (usize, usize, usize), t: usize, features: &mut [f64]) {
    features[0] = 1.0;
    features[1..1 + k].copy_from_slice(&rows.s[t * k..][..k]);
    let lags = features[1 + k..1 + k + order * n].chunks_exact_mut(n);
    for (lag, x) in (1..).zip(lags) {
        x.copy_from_slice(&rows.u[(t - lag) * n..][..n]);
    }
}

fn solve(
    _: &'static Method,
    fitting: Fitting<'_>,
    follow: &mut dyn Follow,
) -> Result<Box<dyn Dynamics>, FitError> {
    let order = match fitting.settings.integer_unless_auto("order") {
        Some(order) => order,
        None => best_order(fitting, orders_to_try(fitting)?, follow)?,
    };
    check(fitting, order)?;
    let recording = Recording::new(fitting.data, 0.0, fitting.seed);
    let (n, k) = (fitting.data.dim_obs(), fitting.data.dim_input());
    let sums = sums(&recording, (n, k, order), fitting, None);
    let w = sums.solve(1 + k + order * n, fitting.settings.real("ridge"));
    Ok(Box::new(unscaled(&w, &recording, (n, k, order))))
}

/// The map in the data's own units, from coefficients N × (1 + K + pN) in units of standard deviations.
fn unscaled(w: &[f64], recording: &Recording, (n, k, order): (usize, usize, usize)) -> Linear {
    let Recording { mean, sd, .. } = recording;
    let mut linear = Linear {
        channels: n,
        inputs: k,
        order,
        a: Vec::with_capacity(n * order * n),
        b: Vec::with_capacity(n * k),
        c: Vec::with_capacity(n),
        fitted: Fitted::Coefficients,
    };
    for (i, w) in w.chunks_exact(1 + k + order * n).enumerate() {
        let (of_inputs, of_rows) = w[1..].split_at(k);
        let b = (0..k).map(|j| sd[i] * of_inputs[j] / sd[n + j]);
        let a = (0..order * n).map(|e| sd[i] * of_rows[e] / sd[e % n]);
        let (a, b): (Vec<f64>, Vec<f64>) = (a.collect(), b.collect());
        let from_rows: f64 = a.iter().enumerate().map(|(e, a)| a * mean[e % n]).sum();
        let from_inputs: f64 = b.iter().zip(&mean[n..]).map(|(b, m)| b * m).sum();
        linear
            .c
            .push(mean[i] + sd[i] * w[0] - from_rows - from_inputs);
        linear.a.extend(a);
        linear.b.extend(b);
    }
    linear
}

fn layout((n, k, order): (usize, usize, usize)) -> Vec<(&'static str, Shape)> {
    let all = [
        ("A", Shape::Matrix(n, order * n)),
        ("B", Shape::Matrix(n, k)),
        ("c", Shape::Vector(n)),
    ];
    all.into_iter()
        .filter(|(_, shape)| !shape.is_empty())
        .collect()
}

fn load(tensors: &Tensors, fitted: Fitted) -> Result<Box<dyn Dynamics>, LoadError> {
    let [n, width] = axes(tensors, "A")?;
    let k = if tensors.contains_key("B") {
        axes::<2>(tensors, "B")?[1]
    } else {
        0
    };
    let order = (width / n.max(1)).max(1);
    refuse_other(tensors, &layout((n.max(1), k, order)))?;
    let numbers = |name: &str| tensors.get(name).map(|t| t.f64s()).unwrap_or_default();
    Ok(Box::new(Linear {
        channels: n,
        inputs: k,
        order,
        a: numbers("A"),
        b: numbers("B"),
        c: numbers("c"),
        fitted,
    }))
}

impl Dynamics for Linear {
    fn sizes(&self) -> Sizes {
        let coefficients = self.a.len() + self.b.len() + self.c.len();
        Sizes {
            state: self.order * self.channels,
            channels: self.channels,
            inputs: self.inputs,
            dim: self.order * self.channels,
            parameters: if self.fitted == Fitted::Nothing {
                0
            } else {
                coefficients
            },
        }
    }

    fn memory(&self) -> Memory {
        Memory::Rows(self.order)
    }

    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        for (lag, z) in z.chunks_exact_mut(self.channels).enumerate() {
            z.copy_from_slice(data.row(t.saturating_sub(lag)));
        }
    }

    fn step(&self, z: &[f64], s: &[f64], next: &mut [f64]) {
        let (n, m) = (self.channels, z.len());
        linalg::multiply(&self.a, z, (n, m, 1), &mut next[..n]);
        for (i, next) in next[..n].iter_mut().enumerate() {
            let b = &self.b[i * s.len()..][..s.len()];
            *next += self.c[i] + b.iter().zip(s).map(|(b, s)| b * s).sum::<f64>();
        }
        next[n..].copy_from_slice(&z[..m - n]);
    }

    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        x_hat.copy_from_slice(&z[..self.channels]);
    }

    fn jacobian(&self, z: &[f64], _s: &[f64], jac: &mut [f64]) {
        let m = z.len();
        jac.fill(0.0);
        jac[..self.a.len()].copy_from_slice(&self.a);
        (self.channels..m).for_each(|i| jac[i * m + i - self.channels] = 1.0);
    }

    fn tensors(&self) -> Vec<Named<'_>> {
        let shapes = layout((self.channels, self.inputs, self.order));
        let values = [&self.a, &self.b, &self.c];
        let there = values.into_iter().filter(|values| !values.is_empty());
        let named = shapes.into_iter().zip(there);
        named
            .map(|((name, shape), values)| Named {
                name,
                shape,
                values: Values::F64(values),
            })
            .collect()
    }

    fn describe(&self) -> String {
        format!("order {}", self.order)
    }
}

#[cfg(test)]
mod tests;
