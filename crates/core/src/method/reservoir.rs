//! Reservoir computing: a large random network that is driven by the data, of which only the read-out is fitted.
//!
//! ```text
//! u_t = (x_t − mean)/sd
//! h_t = (1 − a) h_{t−1} + a tanh(W h_{t−1} + W_in u_t + W_s s_t + b)
//! û_{t+1} = W_out φ(h_t),     φ_i = h_i² for even i (from 0), h_i for odd i
//! ```
//!
//! W is sparse with entries uniform on [0, 1), scaled to a spectral radius; unit i sees one channel, ⌊i N/R⌋, with a weight uniform on
//! ±σ; W_out minimises Σ ‖u − û‖² + λ‖W_out‖² (Pathak et al. 2018, in the form of Vlachas et al. 2020, which is what
//! Hess et al. 2023 compare with). There a = 1, b = 0 and no external inputs s; these, a read-out that sees u_t or a constant as well,
//! and one without squares are what other programs have.

mod fit;
mod lanes;
mod tangent;
mod weights;

use super::{Fit, FitError, Fitting, LoadError, Method, Settled, Tensors, axes, refuse_other};
use crate::catalogue::{Entry, Kind};
use crate::dynamics::{
    Dynamics, Forecasts, Memory, Named, Sizes, Stretch, Tangent, Values, leaves_f32,
};
use crate::linalg::sparse::{Gathered, Sparse};
use crate::progress::Follow;
use crate::settings::{Domain, Setting, Settings};
use crate::simd::{Isa, Simd, Task, dispatch_widest};
use crate::tanh::tanh;
use crate::text::{count, figure};
use crate::theta::Shape;

use fit::Plan;

/// The method.
pub static RESERVOIR: Method = Method {
    entry: Entry {
        kind: Kind::Model,
        id: "reservoir",
        summary: "echo-state network: a random reservoir with a read-out by ridge regression",
        details: "u = (x − mean)/sd\n\
                  h ← (1 − a) h + a tanh(W h + W_in u + W_s s + b)\n\
                  û = W_out φ(h), the next row; φ squares the units of even number, from 0\n\
                  W is sparse and random with entries from 0 to 1, scaled to a spectral radius; every unit sees one channel. Only\n\
                  W_out is fitted, at once. As in Pathak et al. (2018); leak, bias, intercept, read-inputs and squares are for what other\n\
                  programs do. A state needs warm-up rows before it forecasts. Parameters are counted as R N, those of W_out.",
        settings: SETTINGS,
        references: &["pathak2018", "vlachas2020"],
    },
    dependences: &[],
    numerics: 1,
    fit: Fit::Solve(solve),
    settle,
    load,
    story,
};

static SETTINGS: &[Setting] = &[
    setting(
        "hidden",
        "1000",
        up_to(1, 65_536),
        "Units R of the reservoir; rounded up to a multiple of the number of channels",
    ),
    setting(
        "degree",
        "10",
        up_to(1, 65_536),
        "Mean number of connections into a unit",
    ),
    setting(
        "radius",
        "0.9",
        Domain::Real {
            low: 0.0,
            high: 1000.0,
        },
        "Spectral radius of the reservoir's connections",
    ),
    setting(
        "input-scale",
        "0.5",
        Domain::NON_NEGATIVE,
        "Largest input weight, for channels in units of their standard deviation",
    ),
    setting(
        "ridge",
        "1e-5",
        Domain::NON_NEGATIVE,
        "Weight λ of the penalty on the coefficients of the regression",
    ),
    setting(
        "noise",
        "0.01",
        Domain::NON_NEGATIVE,
        "Standard deviation of the noise added to the training data, as a share of that of each channel",
    ),
    setting(
        "warm-up",
        "200",
        up_to(0, 1_000_000_000),
        "Rows that drive a state before it forecasts",
    ),
    setting(
        "leak",
        "1",
        Domain::Real {
            low: 1e-6,
            high: 1.0,
        },
        "Share of a unit's activity that is replaced at each step",
    ),
    setting(
        "bias",
        "0",
        Domain::NON_NEGATIVE,
        "Largest constant input of a unit",
    ),
    setting(
        "intercept",
        "false",
        Domain::Flag,
        "Whether the read-out has a constant term",
    ),
    setting(
        "read-inputs",
        "false",
        Domain::Flag,
        "Whether the read-out sees the last row as well as the units",
    ),
    setting(
        "squares",
        "true",
        Domain::Flag,
        "Whether the read-out sees the squares of every second unit",
    ),
];

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

/// Nothing is left to the data, but sizes that do not fit them are refused before anything is written.
fn settle(fitting: Fitting<'_>) -> Result<Vec<Settled>, FitError> {
    Plan::new(fitting).map(|_| Vec::new())
}

fn solve(
    _: &'static Method,
    fitting: Fitting<'_>,
    follow: &mut dyn Follow,
) -> Result<Box<dyn Dynamics>, FitError> {
    Ok(Box::new(fit::fit(fitting, follow)?))
}

fn story(settings: &Settings) -> String {
    format!(
        "by ridge regression of its read-out, λ = {}",
        figure(settings.real("ridge"))
    )
}

/// A reservoir with its read-out. All but the first and last step is in units of the channels' standard deviations.
#[derive(Debug, Clone, PartialEq)]
pub struct Reservoir {
    /// W, R × R, and the place i R + j of each of its entries, for model files.
    w: Sparse,
    places: Vec<f64>,
    /// W again, for products.
    gathered: Gathered,
    /// The one weight of each row of W_in, R.
    w_in: Vec<f64>,
    /// W_s, R × K.
    w_s: Vec<f64>,
    /// b, R.
    b: Vec<f64>,
    /// W_out, N × F.
    w_out: Vec<f64>,
    /// What is subtracted from channels and then inputs, and what they are divided by, N + K each.
    mean: Vec<f64>,
    sd: Vec<f64>,
    form: Form,
}

/// What numbers alone do not say.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Form {
    leak: f64,
    warm_up: usize,
    intercept: bool,
    reads_inputs: bool,
    squares: bool,
    /// The same as numbers, for model files.
    numbers: [f64; 5],
}

impl Form {
    fn new(leak: f64, warm_up: usize, [intercept, reads_inputs, squares]: [bool; 3]) -> Form {
        let [i, r, s] = [intercept, reads_inputs, squares].map(|flag| f64::from(u8::from(flag)));
        Form {
            leak,
            warm_up,
            intercept,
            reads_inputs,
            squares,
            numbers: [leak, warm_up as f64, i, r, s],
        }
    }

    /// Features of the read-out.
    fn features(self, units: usize, channels: usize) -> usize {
        let inputs = if self.reads_inputs { channels } else { 0 };
        units + inputs + usize::from(self.intercept)
    }
}

impl Reservoir {
    fn units(&self) -> usize {
        self.w_in.len()
    }

    fn channels(&self) -> usize {
        self.mean.len() - self.inputs()
    }

    fn inputs(&self) -> usize {
        self.w_s.len() / self.units()
    }

    fn features(&self) -> usize {
        self.form.features(self.units(), self.channels())
    }

    /// Numbers of a state: the units, and the last row where the read-out sees it.
    fn state(&self) -> usize {
        self.features() - usize::from(self.form.intercept)
    }

    /// A row of the data, u, or its inputs (from channel N on), in units of their standard deviations.
    fn scale(&self, first: usize, row: &[f64], u: &mut [f64]) {
        let moments = self.mean[first..].iter().zip(&self.sd[first..]);
        for ((u, &x), (mean, sd)) in u.iter_mut().zip(row).zip(moments) {
            *u = (x - mean) / sd;
        }
    }

    /// φ(h), u and 1: what the read-out sees of a state.
    fn write_features(&self, z: &[f64], features: &mut [f64]) {
        features[..z.len()].copy_from_slice(z);
        if self.form.squares {
            let units = features[..self.units()].iter_mut();
            units.step_by(2).for_each(|h| *h *= *h);
        }
        if self.form.intercept {
            features[z.len()] = 1.0;
        }
    }

    /// ∂φ_j/∂z_j.
    fn slope_of_feature(&self, z: &[f64], j: usize) -> f64 {
        let is_squared = self.form.squares && j < self.units() && j.is_multiple_of(2);
        if is_squared { 2.0 * z[j] } else { 1.0 }
    }

    /// The channel that unit i sees: ⌊i N/R⌋.
    fn channel_of(&self, unit: usize) -> usize {
        unit / (self.units() / self.channels())
    }

    /// a (1 − tanh²) of the input of every unit.
    fn slopes(&self, h: &[f64], desk: &Desk, slopes: &mut [f64]) {
        self.input_of_units(h, &desk.u, &desk.s, slopes);
        slopes.iter_mut().for_each(|v| {
            let t = tanh(*v);
            *v = self.form.leak * (1.0 - t * t);
        });
    }

    /// W h + W_in u + W_s s + b.
    #[inline(always)]
    fn input_of_units(&self, h: &[f64], u: &[f64], s: &[f64], v: &mut [f64]) {
        self.gathered.times(h, v);
        let of_channel = self.units() / self.channels();
        let weights = self.w_in.chunks_exact(of_channel);
        let biases = self.b.chunks_exact(of_channel);
        let blocks = v.chunks_exact_mut(of_channel).zip(weights).zip(biases);
        for (((v, w_in), b), u) in blocks.zip(u) {
            let units = v.iter_mut().zip(w_in).zip(b);
            units.for_each(|((v, w), b)| *v += w * u + b);
        }
        if !s.is_empty() {
            let rows = self.w_s.chunks_exact(s.len());
            for (v, row) in v.iter_mut().zip(rows) {
                *v += row.iter().zip(s).map(|(w, s)| w * s).sum::<f64>();
            }
        }
    }

    /// From units of their standard deviations to those of the data.
    fn unscale(&self, u: &[f64], x: &mut [f64]) {
        let moments = self.mean.iter().zip(&self.sd);
        for ((x, u), (mean, sd)) in x.iter_mut().zip(u).zip(moments) {
            *x = mean + sd * u;
        }
    }

    /// Names and shapes of what a model file holds.
    fn layout(&self) -> [(&'static str, Shape); 9] {
        layout(LayoutSizes {
            units: self.units(),
            channels: self.channels(),
            inputs: self.inputs(),
            features: self.features(),
            entries: self.places.len(),
        })
    }

    /// Room for what a step needs.
    fn desk(&self) -> Desk {
        Desk {
            features: vec![0.0; self.features()],
            u: vec![0.0; self.channels()],
            s: vec![0.0; self.inputs()],
            isa: Isa::detect(),
        }
    }

    /// next = the state after one more row, which is in `desk.u`, its inputs in `desk.s`.
    fn take_in(&self, desk: &Desk, z: &[f64], next: &mut [f64]) {
        let units = self.units();
        dispatch_widest(
            desk.isa,
            Drive {
                reservoir: self,
                desk,
                h: &z[..units],
                next: &mut next[..units],
            },
        );
        next[units..].copy_from_slice(&desk.u[..z.len() - units]);
    }

    /// desk.u = W_out φ(z).
    fn read_out(&self, desk: &mut Desk, z: &[f64]) {
        let Desk { features, u, .. } = desk;
        self.write_features(z, features);
        let rows = self.w_out.chunks_exact(features.len());
        dispatch_widest(desk.isa, Dots { rows, features, u });
    }
}

/// What the shapes of tensors follow from.
struct LayoutSizes {
    units: usize,
    channels: usize,
    inputs: usize,
    features: usize,
    entries: usize,
}

fn layout(sizes: LayoutSizes) -> [(&'static str, Shape); 9] {
    let LayoutSizes {
        units,
        channels,
        inputs,
        features,
        entries,
    } = sizes;
    [
        ("form", Shape::Vector(5)),
        ("W", Shape::Vector(entries)),
        ("W_places", Shape::Vector(entries)),
        ("W_in", Shape::Vector(units)),
        ("W_s", Shape::Matrix(units, inputs)),
        ("b", Shape::Vector(units)),
        ("W_out", Shape::Matrix(channels, features)),
        ("mean", Shape::Vector(channels + inputs)),
        ("sd", Shape::Vector(channels + inputs)),
    ]
}

fn load(_: &'static Method, tensors: &Tensors) -> Result<Box<dyn Dynamics>, LoadError> {
    let [channels, features] = axes(tensors, "W_out")?;
    let [units] = axes(tensors, "W_in")?;
    let [entries] = axes(tensors, "W")?;
    let inputs = if tensors.contains_key("W_s") {
        axes::<2>(tensors, "W_s")?[1]
    } else {
        0
    };
    let sizes = LayoutSizes {
        units,
        channels,
        inputs,
        features,
        entries,
    };
    let expected: Vec<_> = layout(sizes)
        .into_iter()
        .filter(|(_, shape)| !shape.is_empty())
        .collect();
    refuse_other(tensors, &expected)?;
    let numbers = |name: &str| tensors.get(name).map(|t| t.f64s()).unwrap_or_default();
    let form = form_of(&numbers("form"), (units, channels, features))?;
    let places = numbers("W_places");
    refuse_bad_places(&places, units)?;
    let entries = places.iter().zip(numbers("W"));
    let entries: Vec<(usize, f64)> = entries.map(|(&place, v)| (place as usize, v)).collect();
    let w = Sparse::from_entries(units, &entries);
    Ok(Box::new(Reservoir {
        gathered: Gathered::new(&w),
        w,
        places,
        w_in: numbers("W_in"),
        w_s: numbers("W_s"),
        b: numbers("b"),
        w_out: numbers("W_out"),
        mean: numbers("mean"),
        sd: numbers("sd"),
        form,
    }))
}

/// The form that numbers of a model file stand for.
fn form_of(
    numbers: &[f64],
    (units, channels, features): (usize, usize, usize),
) -> Result<Form, LoadError> {
    let wrong = |entry: usize, expected: &'static str| LoadError::Entry {
        name: "form",
        entry,
        expected,
    };
    if !(numbers[0] > 0.0 && numbers[0] <= 1.0) {
        return Err(wrong(0, "a leak above 0 and up to 1"));
    }
    if !(0.0..=1e9).contains(&numbers[1]) {
        return Err(wrong(1, "a number of rows"));
    }
    let flags = [2, 3, 4].map(|entry| numbers[entry] != 0.0);
    let form = Form::new(numbers[0], numbers[1] as usize, flags);
    if channels == 0 || !units.is_multiple_of(channels) {
        return Err(LoadError::Shape {
            name: "W_in",
            expected: vec![units.next_multiple_of(channels.max(1)).max(1)],
            found: vec![units],
        });
    }
    if features != form.features(units, channels) {
        return Err(LoadError::Shape {
            name: "W_out",
            expected: vec![channels, form.features(units, channels)],
            found: vec![channels, features],
        });
    }
    Ok(form)
}

/// Refuses places that are not those of entries of a matrix, in ascending order.
fn refuse_bad_places(places: &[f64], units: usize) -> Result<(), LoadError> {
    let mut before = -1.0;
    for (entry, &place) in places.iter().enumerate() {
        if place.fract() != 0.0 || place <= before || place >= (units * units) as f64 {
            return Err(LoadError::Entry {
                name: "W_places",
                entry,
                expected: "whole numbers in ascending order, below the square of the number of units",
            });
        }
        before = place;
    }
    Ok(())
}

/// Buffers of one step.
#[derive(Debug, Clone)]
struct Desk {
    features: Vec<f64>,
    u: Vec<f64>,
    s: Vec<f64>,
    isa: Isa,
}

/// next = (1 − a) h + a tanh(W h + W_in u + W_s s + b).
struct Drive<'a> {
    reservoir: &'a Reservoir,
    desk: &'a Desk,
    h: &'a [f64],
    next: &'a mut [f64],
}

impl Task for Drive<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let Drive {
            reservoir,
            desk,
            h,
            next,
        } = self;
        reservoir.input_of_units(h, &desk.u, &desk.s, next);
        next.iter_mut().for_each(|v| *v = tanh(*v));
        let leak = reservoir.form.leak;
        if leak < 1.0 {
            let pairs = next.iter_mut().zip(h);
            pairs.for_each(|(v, h)| *v = (1.0 - leak) * h + leak * *v);
        }
    }
}

/// u_n = row_n · features, each in eight sums, so that they do not wait for one another.
struct Dots<'a> {
    rows: std::slice::ChunksExact<'a, f64>,
    features: &'a [f64],
    u: &'a mut [f64],
}

impl Task for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        let (features, rest) = self.features.as_chunks::<8>();
        for (u, row) in self.u.iter_mut().zip(self.rows) {
            let (row, row_rest) = row.as_chunks::<8>();
            let mut sums = [0.0; 8];
            for (w, a) in row.iter().zip(features) {
                (0..8).for_each(|i| sums[i] += w[i] * a[i]);
            }
            let tail: f64 = row_rest.iter().zip(rest).map(|(w, a)| w * a).sum();
            *u = sums.iter().sum::<f64>() + tail;
        }
    }
}

impl Dynamics for Reservoir {
    fn sizes(&self) -> Sizes {
        Sizes {
            state: self.state(),
            channels: self.channels(),
            inputs: self.inputs(),
            dim: self.state(),
            parameters: self.w_out.len(),
        }
    }

    fn memory(&self) -> Memory {
        Memory::Driven {
            warm_up: self.form.warm_up,
        }
    }

    fn lead(&self) -> usize {
        1
    }

    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]) {
        let mut desk = self.desk();
        self.scale(0, data.row(t), &mut desk.u);
        self.scale(self.channels(), data.inputs_of(t..t + 1), &mut desk.s);
        let before = z.to_vec();
        self.take_in(&desk, &before, z);
    }

    fn step(&self, z: &[f64], s: &[f64], next: &mut [f64]) {
        let mut desk = self.desk();
        self.scale(self.channels(), s, &mut desk.s);
        self.read_out(&mut desk, z);
        self.take_in(&desk, z, next);
    }

    fn observe(&self, z: &[f64], x_hat: &mut [f64]) {
        let mut desk = self.desk();
        self.read_out(&mut desk, z);
        self.unscale(&desk.u, x_hat);
    }

    fn jacobian(&self, z: &[f64], s: &[f64], jac: &mut [f64]) {
        let (units, m, f) = (self.units(), z.len(), self.features());
        let mut desk = self.desk();
        self.scale(self.channels(), s, &mut desk.s);
        self.read_out(&mut desk, z);
        let mut slopes = vec![0.0; units];
        self.slopes(&z[..units], &desk, &mut slopes);
        // ∂û/∂z, N × M.
        let seen = |n: usize, j: usize| self.w_out[n * f + j] * self.slope_of_feature(z, j);
        for (i, row) in jac.chunks_exact_mut(m).enumerate() {
            if i >= units {
                (0..m).for_each(|j| row[j] = seen(i - units, j));
                continue;
            }
            let (n, weight) = (self.channel_of(i), self.w_in[i]);
            (0..m).for_each(|j| row[j] = slopes[i] * weight * seen(n, j));
            let (columns, values) = self.w.row(i);
            for (&j, value) in columns.iter().zip(values) {
                row[j as usize] += slopes[i] * value;
            }
            row[i] += 1.0 - self.form.leak;
        }
    }

    fn tensors(&self) -> Vec<Named<'_>> {
        let tensors = self.layout().into_iter().zip([
            &self.form.numbers[..],
            &self.w.values,
            &self.places,
            &self.w_in,
            &self.w_s,
            &self.b,
            &self.w_out,
            &self.mean,
            &self.sd,
        ]);
        let named = tensors.map(|((name, shape), values)| Named {
            name,
            shape,
            values: Values::F64(values),
        });
        named.filter(|named| !named.shape.is_empty()).collect()
    }

    fn describe(&self) -> String {
        count(self.units(), "reservoir unit")
    }

    fn tangent(&self) -> Box<dyn Tangent + '_> {
        Box::new(tangent::Carrier::new(self))
    }

    fn forecasts<'a>(&'a self, data: Stretch<'a>) -> Box<dyn Forecasts + 'a> {
        Box::new(lanes::Lanes::new(self, data))
    }

    fn orbit(&self, z: &[f64], inputs: &[f64], steps: usize) -> Vec<f64> {
        let (n, k) = (self.channels(), self.inputs());
        let mut rows = vec![f64::NAN; steps * n];
        let (mut z, mut next, mut desk) = (z.to_vec(), z.to_vec(), self.desk());
        for (t, row) in rows.chunks_exact_mut(n).enumerate() {
            if t > 0 {
                self.scale(n, &inputs[t * k..][..k], &mut desk.s);
                self.take_in(&desk, &z, &mut next);
                std::mem::swap(&mut z, &mut next);
            }
            if z.iter().any(|&z| leaves_f32(z)) {
                break;
            }
            self.read_out(&mut desk, &z);
            self.unscale(&desk.u, row);
        }
        rows
    }
}

#[cfg(test)]
mod tests;
