//! Next-generation reservoir computing: nonlinear vector autoregression (Gauthier et al. 2021). The next row follows from monomials of
//! the last ones, without a random network:
//!
//! ```text
//! v_t = (u_t, u_{t−q}, …, u_{t−(k−1)q}, s_{t+1})          u = (x − mean)/sd
//! u_{t+1} = u_t + W_out (1, v, v_i v_j, …)                  all monomials up to degree p, each once
//! ```
//!
//! W_out is found by ridge regression. There are C(d + p, p) monomials of d = kN + K numbers: more than memory holds are refused.

use std::iter;

use super::recording::{Recording, refuse_bytes, refuse_constant, refuse_short};
use super::{Fit, FitError, Fitting, LoadError, Method, Settled, Tensors, axes, refuse_other};
use crate::catalogue::{Entry, Kind};
use crate::dynamics::{Dynamics, Memory, Named, Sizes, Stretch, Values};
use crate::linalg::least_squares::LeastSquares;
use crate::progress::{Follow, tell};
use crate::settings::{Domain, Setting};
use crate::text::{count, figure, grouped};
use crate::theta::Shape;

/// The method.
pub static NVAR: Method = Method {
    entry: Entry {
        kind: Kind::Model,
        id: "nvar",
        summary: "next-generation reservoir: polynomials of delayed rows, by ridge regression",
        details: "v_t = (u_t, u_{t−q}, …, u_{t−(k−1)q}, s_{t+1}), u = (x − mean)/sd\n\
                  u_{t+1} = u_t + W_out (1, v, v_i v_j, …), all monomials up to degree p\n\
                  As in Gauthier et al. (2021), who take k = 2, q = 1, p = 2 for Lorenz-63. There are C(kN + K + p, p) monomials.",
        settings: &[
            setting(
                "delays",
                "2",
                up_to(1, 1000),
                "Number k of rows from which the next one follows",
            ),
            setting(
                "stride",
                "1",
                up_to(1, 100_000),
                "Steps q from each of these rows to the next",
            ),
            setting(
                "polynomial",
                "2",
                up_to(1, 10),
                "Largest degree p of a monomial",
            ),
            setting(
                "ridge",
                "1e-5",
                Domain::NON_NEGATIVE,
                "Weight λ of the penalty on the coefficients of the regression",
            ),
        ],
        references: &["gauthier2021"],
    },
    dependences: &[],
    numerics: 1,
    fit: Fit::Solve(solve),
    settle: |fitting| Plan::new(fitting).map(|_| Vec::<Settled>::new()),
    load,
    story: |settings| {
        format!(
            "by ridge regression, λ = {}",
            figure(settings.real("ridge"))
        )
    },
};

const fn up_to(low: u64, high: u64) -> Domain {
    Domain::Integer { low, high }
}

const fn setting(
    name: &'static str,
    default: &'static str,
    domain: Domain,
    about: &'static str,
) -> Setting {
    Setting {
        name,
        default,
        domain,
        about,
    }
}

/// More monomials than this would take minutes and gigabytes.
const MOST: u64 = 20_000;

/// Which rows, and which monomials of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Plan {
    channels: usize,
    inputs: usize,
    delays: usize,
    stride: usize,
    degree: usize,
}

impl Plan {
    fn new(fitting: Fitting<'_>) -> Result<Plan, FitError> {
        let Fitting { settings, data, .. } = fitting;
        let plan = Plan {
            channels: data.dim_obs(),
            inputs: data.dim_input(),
            delays: settings.integer("delays"),
            stride: settings.integer("stride"),
            degree: settings.integer("polynomial"),
        };
        plan.refuse_large()?;
        let because = if plan.delays > 1 { "delays" } else { "stride" };
        refuse_short(data, plan.rows() + 1, (plan.rows() > 1).then_some(because))?;
        refuse_constant(data)?;
        Ok(plan)
    }

    /// Numbers that monomials are made of.
    fn variables(self) -> usize {
        self.delays * self.channels + self.inputs
    }

    /// Rows that a state is made of.
    fn rows(self) -> usize {
        (self.delays - 1) * self.stride + 1
    }

    /// C(d + p, p), unless it is beyond all bounds.
    fn monomials(self) -> Option<u64> {
        let d = self.variables() as u64;
        (1..=self.degree as u64).try_fold(1u64, |product, i| Some(product.checked_mul(d + i)? / i))
    }

    fn refuse_large(self) -> Result<(), FitError> {
        match self.monomials() {
            Some(number) if number <= MOST => refuse_bytes(
                LeastSquares::bytes(number as usize, self.channels),
                "fewer `--delays`",
            ),
            number => Err(FitError::Own {
                message: format!(
                    "{} of degree {} and less, of {}, are more than {}",
                    number.map_or("monomials".into(), |n| format!("{} monomials", grouped(n as usize))),
                    self.degree,
                    count(self.variables(), "variable"),
                    grouped(MOST as usize)
                ),
                hint: Some("use a smaller `--polynomial`, fewer `--delays`, or fewer channels with `--channels`".into()),
            }),
        }
    }

    /// The numbers as a model file holds them.
    fn numbers(self) -> [f64; 5] {
        [
            self.channels,
            self.inputs,
            self.delays,
            self.stride,
            self.degree,
        ]
        .map(|v| v as f64)
    }
}

/// Monomials of d variables: each but the first is another one times a variable that is not before its last.
#[derive(Debug, Clone, PartialEq)]
struct Monomials(Vec<Factors>);

/// A monomial as a product.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Factors {
    /// The other monomial, which stands before this one.
    rest: usize,
    variable: usize,
}

impl Monomials {
    fn new(variables: usize, degree: usize) -> Monomials {
        let mut all: Vec<Factors> = Vec::new();
        // Those of the degree before, with the last variable of each; the constant has none.
        let mut lower = vec![(0, 0)];
        for _ in 0..degree {
            let mut next = Vec::new();
            for &(rest, last) in &lower {
                for variable in last..variables {
                    all.push(Factors { rest, variable });
                    next.push((all.len(), variable));
                }
            }
            lower = next;
        }
        Monomials(all)
    }

    /// All values, the constant first.
    fn evaluate(&self, v: &[f64], values: &mut [f64]) {
        values[0] = 1.0;
        for (i, Factors { rest, variable }) in (1..).zip(&self.0) {
            values[i] = values[*rest] * v[*variable];
        }
    }

    /// ∂(w · values)/∂v, from the last monomial to the first.
    fn gradient(&self, w: &[f64], v: &[f64], values: &[f64]) -> Vec<f64> {
        let (mut dvalues, mut dv) = (w.to_vec(), vec![0.0; v.len()]);
        for (i, Factors { rest, variable }) in self.0.iter().enumerate().rev() {
            dv[*variable] += dvalues[i + 1] * values[*rest];
            dvalues[*rest] += dvalues[i + 1] * v[*variable];
        }
        dv
    }
}

/// A nonlinear autoregression.
#[derive(Debug, Clone, PartialEq)]
pub struct Nvar {
    plan: Plan,
    numbers: [f64; 5],
    monomials: Monomials,
    /// W_out, N × monomials.
    w_out: Vec<f64>,
    /// Of channels and then inputs.
    mean: Vec<f64>,
    sd: Vec<f64>,
}

fn solve(
    _: &'static Method,
    fitting: Fitting<'_>,
    follow: &mut dyn Follow,
) -> Result<Box<dyn Dynamics>, FitError> {
    let plan = Plan::new(fitting)?;
    let recording = Recording::new(fitting.data, 0.0, fitting.seed);
    let monomials = Monomials::new(plan.variables(), plan.degree);
    let (n, k) = (plan.channels, plan.inputs);
    let features = monomials.0.len() + 1;
    let mut sums = LeastSquares::new(features, n, fitting.threads, fitting.isa);
    let (mut batch, mut v) = (sums.batch(), vec![0.0; plan.variables()]);
    let mut done = 0;
    for rows in &recording.stretches {
        for t in plan.rows()..rows.len {
            if batch.is_full() {
                tell(
                    follow,
                    "adding up monomials",
                    done + t as u64,
                    recording.rows,
                )?;
                sums.add(&batch);
                batch.clear();
            }
            for (i, v) in v[..plan.delays * n].chunks_exact_mut(n).enumerate() {
                v.copy_from_slice(&rows.u[(t - 1 - i * plan.stride) * n..][..n]);
            }
            v[plan.delays * n..].copy_from_slice(&rows.s[t * k..][..k]);
            batch.push(|values, targets| {
                monomials.evaluate(&v, &mut values[..features]);
                let (before, after) = (&rows.u[(t - 1) * n..][..n], &rows.u[t * n..][..n]);
                (0..n).for_each(|i| targets[i] = after[i] - before[i]);
            });
        }
        done += rows.len as u64;
    }
    sums.add(&batch);
    tell(follow, "solving", 0, 1)?;
    Ok(Box::new(Nvar {
        w_out: sums.solve(features, fitting.settings.real("ridge")),
        numbers: plan.numbers(),
        plan,
        monomials,
        mean: recording.mean,
        sd: recording.sd,
    }))
}

fn layout(plan: Plan, monomials: usize) -> [(&'static str, Shape); 4] {
    let (n, k) = (plan.channels, plan.inputs);
    [
        ("form", Shape::Vector(5)),
        ("W_out", Shape::Matrix(n, monomials)),
        ("mean", Shape::Vector(n + k)),
        ("sd", Shape::Vector(n + k)),
    ]
}

fn load(_: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let [five] = axes(tensors, "form")?;
    let numbers = |name: &str| tensors.get(name).map(|t| t.f64s()).unwrap_or_default();
    let form = numbers("form");
    let wrong = |entry: usize| LoadError::Entry {
        name: "form",
        entry,
        expected: "channels, inputs, delays, stride and degree, as whole numbers",
    };
    let lowest = [1.0, 0.0, 1.0, 1.0, 1.0];
    let is_wrong = |i: &usize| form[*i].fract() != 0.0 || !(lowest[*i]..=1e6).contains(&form[*i]);
    if let Some(entry) = (0..five.min(5)).find(is_wrong) {
        return Err(wrong(entry));
    }
    let form: [f64; 5] = form.try_into().map_err(|_| wrong(five))?;
    let [channels, inputs, delays, stride, degree] = form.map(|v| v as usize);
    let plan = Plan {
        channels,
        inputs,
        delays,
        stride,
        degree,
    };
    let number = plan.monomials().filter(|&number| number <= MOST);
    let number = number.ok_or(wrong(4))? as usize;
    refuse_other(tensors, &layout(plan, number))?;
    Ok(Box::new(Nvar {
        monomials: Monomials::new(plan.variables(), degree),
        w_out: numbers("W_out"),
        mean: numbers("mean"),
        sd: numbers("sd"),
        numbers: form,
        plan,
    }))
}

impl Nvar {
    /// v of a state, which is the last rows, newest first, and of the inputs of the next row.
    fn variables(&self, z: &[f64], s: &[f64]) -> Vec<f64> {
        let n = self.plan.channels;
        let rows = z.chunks_exact(n).step_by(self.plan.stride).flatten();
        let rows = rows
            .enumerate()
            .map(|(i, x)| (x - self.mean[i % n]) / self.sd[i % n]);
        let inputs = (n..).zip(s).map(|(i, s)| (s - self.mean[i]) / self.sd[i]);
        rows.chain(inputs).collect()
    }

    /// All monomials of v.
    fn values(&self, v: &[f64]) -> Vec<f64> {
        let mut values = vec![0.0; self.monomials.0.len() + 1];
        self.monomials.evaluate(v, &mut values);
        values
    }
}

impl Dynamics for Nvar {
    fn sizes(&self) -> Sizes {
        let state = self.plan.rows() * self.plan.channels;
        Sizes {
            state,
            channels: self.plan.channels,
            inputs: self.plan.inputs,
            dim: state,
            parameters: self.w_out.len(),
        }
    }

    fn memory(&self) -> Memory {
        Memory::Rows(self.plan.rows())
    }

    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        for (lag, z) in z.chunks_exact_mut(self.plan.channels).enumerate() {
            z.copy_from_slice(data.row(t.saturating_sub(lag)));
        }
    }

    fn step(&self, z: &[f64], s: &[f64], next: &mut [f64]) {
        let n = self.plan.channels;
        let values = self.values(&self.variables(z, s));
        let rows = self.w_out.chunks_exact(values.len());
        for (i, (next, w)) in next.iter_mut().zip(rows).enumerate() {
            let change: f64 = w.iter().zip(&values).map(|(w, v)| w * v).sum();
            *next = z[i] + self.sd[i] * change;
        }
        next[n..].copy_from_slice(&z[..z.len() - n]);
    }

    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        x_hat.copy_from_slice(&z[..self.plan.channels]);
    }

    fn jacobian(&self, z: &[f64], s: &[f64], jac: &mut [f64]) {
        let (n, m) = (self.plan.channels, z.len());
        let v = self.variables(z, s);
        let values = self.values(&v);
        jac.fill(0.0);
        let rows = self.w_out.chunks_exact(values.len());
        for (i, (jac, w)) in iter::zip(jac.chunks_exact_mut(m), rows).enumerate() {
            let dv = self.monomials.gradient(w, &v, &values);
            for (e, dv) in dv[..self.plan.delays * n].iter().enumerate() {
                let (delay, channel) = (e / n, e % n);
                jac[delay * self.plan.stride * n + channel] = self.sd[i] * dv / self.sd[channel];
            }
            jac[i] += 1.0;
        }
        (n..m).for_each(|i| jac[i * m + i - n] = 1.0);
    }

    fn tensors(&self) -> Vec<Named<'_>> {
        let values = [&self.numbers[..], &self.w_out, &self.mean, &self.sd];
        let named = layout(self.plan, self.monomials.0.len() + 1)
            .into_iter()
            .zip(values);
        named
            .map(|((name, shape), values)| Named {
                name,
                shape,
                values: Values::F64(values),
            })
            .collect()
    }

    fn describe(&self) -> String {
        format!(
            "{} of {}",
            count(self.monomials.0.len() + 1, "monomial"),
            count(self.plan.delays, "delayed row")
        )
    }
}

#[cfg(test)]
mod tests;
