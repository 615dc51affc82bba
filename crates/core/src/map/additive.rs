//! F(z, s) = A∘z + W g(z) + h + C s for any units g:
//! J = diag(A) + W ∂g/∂z, and for a cotangent d
//!
//! ```text
//! dA += d∘z    dh += d    dW += d gᵀ    dC += d sᵀ    ds = Wᵀ d    dz = A∘d + (∂g/∂z)ᵀ ds
//! ```

use std::ops::Range;

use super::layer::{Layer, Parameters};
use super::piecewise::{Hinges, PiecewiseLinear};
use super::shallow::Activation;
use super::{Dims, Map, Point, Start, step_by_step};
use crate::linalg;
use crate::rng::Rng;
use crate::theta::{Layout, Shape};

/// The nonlinear part g(z) of a map, U values with parameters of its own.
pub trait Units: Send + Sync + 'static {
    /// Names of the tensors W and h of the map that has these units.
    const NAMES: [&'static str; 2];
    /// Names of the tensors in the latent penalty, beside `A`.
    const PENALIZED: &'static [&'static str];
    /// Whether the diagonal of W is frozen at zero, because A is there for it.
    const OFF_DIAGONAL: bool;

    /// Number of values U.
    fn count(&self, dims: Dims) -> usize;

    /// The tensors of the units, in order.
    fn tensors(&self, dims: Dims) -> Vec<(&'static str, Shape)>;

    /// g(z).
    fn values(&self, own: &[f64], z: &[f64], g: &mut [f64]);

    /// What the units compute if they are one hidden layer with W2 (U × M), then h2 (U) of its own.
    fn layer(&self) -> Option<Activation> {
        None
    }

    /// ∂g/∂z, U × M row-major.
    fn derivative(&self, own: &[f64], z: &[f64], dg: &mut [f64]);

    /// An upper bound of ‖∂g/∂z‖ over all states.
    fn slope_bound(&self, own: &[f64], dims: Dims) -> f64;

    /// The units as hinges on planes; `None` if they are smooth.
    fn hinges(&self, own: &[f64], dims: Dims) -> Option<Hinges>;

    /// Pulls a cotangent c = ∂ℓ/∂g back:  dz += (∂g/∂z)ᵀ c,  dθ += (∂g/∂θ)ᵀ c.
    fn pull_back(&self, own: &[f64], z: &[f64], c: &[f64], dz: &mut [f64], down: &mut [f64]);

    /// Draws A, W and the units' own parameters; h starts at 0, C as Glorot's uniform.
    fn init(&self, dims: Dims, start: Start, rng: &mut Rng) -> UnitsStart;
}

/// Where a map's parameters start.
#[derive(Debug, Clone)]
pub struct UnitsStart {
    /// A, M.
    pub a: Vec<f64>,
    /// W, M × U.
    pub w: Vec<f64>,
    /// The units' own parameters.
    pub own: Vec<f64>,
}

/// A map made of units.
#[derive(Debug)]
pub struct Additive<U> {
    dims: Dims,
    units: U,
    layout: Layout,
    count: usize,
    places: Places,
}

#[derive(Debug)]
struct Places {
    a: Range<usize>,
    w: Range<usize>,
    h: Range<usize>,
    own: Range<usize>,
    c: Range<usize>,
}

impl<U: Units> Additive<U> {
    /// The map of given sizes.
    pub fn new(units: U, dims: Dims) -> Additive<U> {
        let (m, count) = (dims.latent, units.count(dims));
        let [w, h] = U::NAMES;
        let mut layout = Layout::new([("A", Shape::Vector(m)), (w, Shape::Matrix(m, count))]);
        layout.extend([(h, Shape::Vector(m))]);
        let before = layout.len();
        layout.extend(units.tensors(dims));
        let own = before..layout.len();
        layout.extend([("C", Shape::Matrix(m, dims.inputs))]);
        let places = Places {
            a: layout.range("A"),
            w: layout.range(w),
            h: layout.range(h),
            own,
            c: layout.range("C"),
        };
        Additive {
            dims,
            units,
            layout,
            count,
            places,
        }
    }
}

impl<U: Units> Map for Additive<U> {
    fn dims(&self) -> Dims {
        self.dims
    }

    fn layout(&self) -> &Layout {
        &self.layout
    }

    fn step(&self, theta: &[f64], z: &[f64], s: &[f64], next: &mut [f64]) {
        let p = &self.places;
        let mut g = vec![0.0; self.count];
        self.units.values(&theta[p.own.clone()], z, &mut g);
        products(&theta[p.w.clone()], &g, next);
        for (i, next) in next.iter_mut().enumerate() {
            let c = &theta[p.c.clone()][i * s.len()..][..s.len()];
            *next = theta[p.a.clone()][i] * z[i] + *next + theta[p.h.clone()][i] + dot(c, s);
        }
    }

    fn orbit(&self, theta: &[f64], inputs: &[f64], states: &mut [f64]) {
        let Some(activation) = self.units.layer() else {
            return step_by_step(self, theta, inputs, states);
        };
        let p = &self.places;
        let parameters = Parameters {
            a: &theta[p.a.clone()],
            w1: &theta[p.w.clone()],
            h1: &theta[p.h.clone()],
            own: &theta[p.own.clone()],
            c: &theta[p.c.clone()],
        };
        let layer = Layer::new(activation, parameters);
        layer.orbit(layer.isa(), inputs, states);
    }

    fn jacobian(&self, theta: &[f64], z: &[f64], jac: &mut [f64]) {
        let (m, p) = (self.dims.latent, &self.places);
        let mut dg = vec![0.0; self.count * m];
        self.units.derivative(&theta[p.own.clone()], z, &mut dg);
        jac.fill(0.0);
        for (i, row) in jac.chunks_exact_mut(m).enumerate() {
            let w = &theta[p.w.clone()][i * self.count..][..self.count];
            w.iter()
                .zip(dg.chunks_exact(m))
                .for_each(|(&w, dg)| add_scaled(row, w, dg));
            row[i] += theta[p.a.clone()][i];
        }
    }

    /// max|A| + ‖W‖ · sup ‖∂g/∂z‖.
    fn jacobian_bound(&self, theta: &[f64]) -> f64 {
        let p = &self.places;
        let largest = theta[p.a.clone()]
            .iter()
            .fold(0.0, |a: f64, v| a.max(v.abs()));
        let w = linalg::singular_values(&theta[p.w.clone()], self.dims.latent, self.count)[0];
        largest + w * self.units.slope_bound(&theta[p.own.clone()], self.dims)
    }

    fn piecewise(&self, theta: &[f64]) -> Option<PiecewiseLinear> {
        let (m, p) = (self.dims.latent, &self.places);
        let hinges = self.units.hinges(&theta[p.own.clone()], self.dims)?;
        let count = hinges.offsets.len();
        let mut w1 = vec![0.0; m * count];
        linalg::multiply(
            &theta[p.w.clone()],
            &hinges.mix,
            (m, self.count, count),
            &mut w1,
        );
        Some(PiecewiseLinear {
            dim: m,
            a: theta[p.a.clone()].to_vec(),
            w1,
            h1: theta[p.h.clone()].to_vec(),
            w2: hinges.normals,
            h2: hinges.offsets,
            c: theta[p.c.clone()].to_vec(),
        })
    }

    fn pull_back(
        &self,
        theta: &[f64],
        at: Point<'_>,
        d: &[f64],
        dz: &mut [f64],
        dtheta: &mut [f64],
    ) {
        let p = &self.places;
        let (mut g, mut c) = (vec![0.0; self.count], vec![0.0; self.count]);
        self.units.values(&theta[p.own.clone()], at.z, &mut g);
        for (i, &d) in d.iter().enumerate() {
            let row = i * self.count..(i + 1) * self.count;
            dtheta[p.a.clone()][i] += d * at.z[i];
            dtheta[p.h.clone()][i] += d;
            add_scaled(&mut dtheta[p.w.clone()][row.clone()], d, &g);
            add_scaled(
                &mut dtheta[p.c.clone()][i * at.s.len()..][..at.s.len()],
                d,
                at.s,
            );
            add_scaled(&mut c, d, &theta[p.w.clone()][row]);
            dz[i] = theta[p.a.clone()][i] * d;
        }
        self.units.pull_back(
            &theta[p.own.clone()],
            at.z,
            &c,
            dz,
            &mut dtheta[p.own.clone()],
        );
    }

    fn init(&self, start: Start, rng: &mut Rng) -> Vec<f64> {
        let (m, k) = (self.dims.latent, self.dims.inputs);
        let UnitsStart { a, w, own } = self.units.init(self.dims, start, rng);
        let glorot = (6.0 / (m + k) as f64).sqrt();
        let c = (0..m * k).map(|_| rng.between(-glorot, glorot));
        a.into_iter()
            .chain(w)
            .chain(vec![0.0; m])
            .chain(own)
            .chain(c)
            .collect()
    }

    fn freeze(&self, dtheta: &mut [f32]) {
        if U::OFF_DIAGONAL {
            dtheta[self.places.w.clone()]
                .iter_mut()
                .step_by(self.count + 1)
                .for_each(|d| *d = 0.0);
        }
    }

    fn penalized(&self) -> &'static [&'static str] {
        U::PENALIZED
    }
}

/// y = W g, up to eight rows at a time: their sums do not wait for one another.
fn products(w: &[f64], g: &[f64], y: &mut [f64]) {
    let mut i = 0;
    while i < y.len() {
        i += match y.len() - i {
            1 => rows::<1>(w, g, i, y),
            2 => rows::<2>(w, g, i, y),
            3 => rows::<3>(w, g, i, y),
            4 => rows::<4>(w, g, i, y),
            5 => rows::<5>(w, g, i, y),
            6 => rows::<6>(w, g, i, y),
            7 => rows::<7>(w, g, i, y),
            _ => rows::<8>(w, g, i, y),
        };
    }
}

/// R entries of W g from row i on; gives back R.
fn rows<const R: usize>(w: &[f64], g: &[f64], i: usize, y: &mut [f64]) -> usize {
    let w: [&[f64]; R] = std::array::from_fn(|r| &w[(i + r) * g.len()..][..g.len()]);
    let mut sums = [0.0; R];
    for (l, g) in g.iter().enumerate() {
        for r in 0..R {
            sums[r] += w[r][l] * g;
        }
    }
    y[i..i + R].copy_from_slice(&sums);
    R
}

/// Σ a_i b_i.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// to += scale · from.
pub(super) fn add_scaled(to: &mut [f64], scale: f64, from: &[f64]) {
    to.iter_mut()
        .zip(from)
        .for_each(|(to, from)| *to += scale * from);
}

/// The n × n unit matrix.
pub(super) fn unit_matrix(n: usize) -> Vec<f64> {
    let mut unit = vec![0.0; n * n];
    unit.iter_mut().step_by(n + 1).for_each(|v| *v = 1.0);
    unit
}

/// Uniform numbers in (−r, r) with r = 1/√n.
pub(super) fn uniform(len: usize, n: usize, rng: &mut Rng) -> Vec<f64> {
    let r = 1.0 / (n as f64).sqrt();
    (0..len).map(|_| rng.between(-r, r)).collect()
}
