//! Shallow PLRNNs:  F(z) = A∘z + W1 g(z) + h1  with L hidden units on u = W2 z,
//!
//! | | g_l | ∂g_l/∂u_l |
//! |---|---|---|
//! | plain | `φ(u + h2)` | `1[u + h2 > 0]` |
//! | clipped | `φ(u + h2) − φ(u)` | `1[u + h2 > 0] − 1[u > 0]` |
//! | tanh | `tanh(u + h2)` | `1 − tanh²(u + h2)` |
//!
//! where φ = max(0, ·). The clipped form is bounded: wherever |A_i| < 1 for all i, every orbit ends with
//! ‖z‖ ≤ (√L max|h2| ‖W1‖ + ‖h1‖) / (1 − max|A|)  (Hess et al. 2023).

use super::additive::{UnitsStart, add_scaled, dot, uniform, unit_matrix};
use super::piecewise::Hinges;
use super::plrnn::talathi_vartak;
use super::{Additive, Dims, ModelInfo, Start, UnitKind, Units};
use crate::catalogue::{Entry, Kind};
use crate::linalg;
use crate::rng::Rng;
use crate::theta::Shape;

/// The clipped shallow PLRNN, the paper's model.
pub static CLIPPED: ModelInfo = ModelInfo {
    entry: Entry {
        kind: Kind::Model,
        id: "clipped-shallow-plrnn",
        summary: "shallow PLRNN with clipped units, bounded where all |A| < 1 (the default)",
        details: "F(z) = A z + W1 [φ(W2 z + h2) − φ(W2 z)] + h1,  φ = max(0, ·)\n\
                  A diagonal (M), W1 M×L, W2 L×M, h1 M, h2 L.\n\
                  Piecewise linear with up to 3^L regions; orbits are bounded wherever all |A| < 1.",
        settings: &[],
        references: &["hess2023"],
    },
    build: |dims| Box::new(Additive::new(Shallow(Activation::Clipped), dims)),
    units: UnitKind::Shallow(Activation::Clipped),
    hidden: Some("hidden units L"),
};

/// The shallow PLRNN.
pub static PLAIN: ModelInfo = ModelInfo {
    entry: Entry {
        kind: Kind::Model,
        id: "shallow-plrnn",
        summary: "shallow PLRNN: one hidden layer of rectified units",
        details: "F(z) = A z + W1 φ(W2 z + h2) + h1,  φ = max(0, ·)\n\
                  A diagonal (M), W1 M×L, W2 L×M, h1 M, h2 L. Orbits may diverge: prefer the clipped form.",
        settings: &[],
        references: &["hess2023"],
    },
    build: |dims| Box::new(Additive::new(Shallow(Activation::Plain), dims)),
    units: UnitKind::Shallow(Activation::Plain),
    hidden: Some("hidden units L"),
};

/// The smooth variant of the paper's ablation.
pub static TANH: ModelInfo = ModelInfo {
    entry: Entry {
        kind: Kind::Model,
        id: "tanh-shallow-plrnn",
        summary: "shallow RNN with tanh units (the ablation): not piecewise linear",
        details: "F(z) = A z + W1 tanh(W2 z + h2) + h1\n\
                  A diagonal (M), W1 M×L, W2 L×M, h1 M, h2 L. Fixed points and cycles have no closed form.",
        settings: &[],
        references: &["hess2023"],
    },
    build: |dims| Box::new(Additive::new(Shallow(Activation::Tanh), dims)),
    units: UnitKind::Shallow(Activation::Tanh),
    hidden: Some("hidden units L"),
};

/// What a hidden unit computes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Activation {
    /// φ(u + h2).
    Plain,
    /// φ(u + h2) − φ(u).
    Clipped,
    /// tanh(u + h2).
    Tanh,
}

impl Activation {
    fn value(self, u: f64, h2: f64) -> f64 {
        match self {
            Activation::Plain => (u + h2).max(0.0),
            Activation::Clipped => (u + h2).max(0.0) - u.max(0.0),
            Activation::Tanh => (u + h2).tanh(),
        }
    }

    /// (∂g/∂u, ∂g/∂h2).
    fn slopes(self, u: f64, h2: f64) -> (f64, f64) {
        let above = |v: f64| f64::from(u8::from(v > 0.0));
        match self {
            Activation::Plain => (above(u + h2), above(u + h2)),
            Activation::Clipped => (above(u + h2) - above(u), above(u + h2)),
            Activation::Tanh => {
                let slope = 1.0 - (u + h2).tanh().powi(2);
                (slope, slope)
            }
        }
    }
}

/// The hidden layer; own parameters are W2 (L × M), then h2 (L).
#[derive(Debug, Clone, Copy)]
pub struct Shallow(pub Activation);

impl Shallow {
    /// For every unit: its number, its row of W2, u and h2.
    fn units<'a>(
        own: &'a [f64],
        z: &'a [f64],
    ) -> impl Iterator<Item = (usize, &'a [f64], f64, f64)> {
        let hidden = own.len() / (z.len() + 1);
        let (w2, h2) = own.split_at(hidden * z.len());
        w2.chunks_exact(z.len())
            .zip(h2)
            .enumerate()
            .map(|(l, (row, &h2))| (l, row, dot(row, z), h2))
    }
}

impl Units for Shallow {
    const NAMES: [&'static str; 2] = ["W1", "h1"];
    const PENALIZED: &'static [&'static str] = &["W1", "W2", "h1", "h2", "C"];
    const OFF_DIAGONAL: bool = false;

    fn count(&self, dims: Dims) -> usize {
        dims.hidden
    }

    fn tensors(&self, dims: Dims) -> Vec<(&'static str, Shape)> {
        vec![
            ("W2", Shape::Matrix(dims.hidden, dims.latent)),
            ("h2", Shape::Vector(dims.hidden)),
        ]
    }

    fn values(&self, own: &[f64], z: &[f64], g: &mut [f64]) {
        Shallow::units(own, z).for_each(|(l, _, u, h2)| g[l] = self.0.value(u, h2));
    }

    fn layer(&self) -> Option<Activation> {
        Some(self.0)
    }

    fn derivative(&self, own: &[f64], z: &[f64], dg: &mut [f64]) {
        dg.fill(0.0);
        for (l, row, u, h2) in Shallow::units(own, z) {
            add_scaled(
                &mut dg[l * z.len()..][..z.len()],
                self.0.slopes(u, h2).0,
                row,
            );
        }
    }

    /// ‖W2‖: no unit is steeper than one.
    fn slope_bound(&self, own: &[f64], dims: Dims) -> f64 {
        let w2 = &own[..dims.hidden * dims.latent];
        linalg::singular_values(w2, dims.hidden, dims.latent)[0]
    }

    /// A plain unit is a hinge; a clipped one two, on the planes u + h2 = 0 and u = 0.
    fn hinges(&self, own: &[f64], dims: Dims) -> Option<Hinges> {
        let (w2, h2) = own.split_at(dims.hidden * dims.latent);
        let unit = unit_matrix(dims.hidden);
        match self.0 {
            Activation::Plain => Some(Hinges {
                mix: unit,
                normals: w2.to_vec(),
                offsets: h2.to_vec(),
            }),
            Activation::Clipped => {
                let rows = unit.chunks_exact(dims.hidden);
                let mix = rows.flat_map(|row| row.iter().copied().chain(row.iter().map(|v| -v)));
                Some(Hinges {
                    mix: mix.collect(),
                    normals: [w2, w2].concat(),
                    offsets: [h2, &vec![0.0; dims.hidden]].concat(),
                })
            }
            Activation::Tanh => None,
        }
    }

    fn pull_back(&self, own: &[f64], z: &[f64], c: &[f64], dz: &mut [f64], down: &mut [f64]) {
        let (dw2, dh2) = down.split_at_mut(c.len() * z.len());
        for (l, row, u, h2) in Shallow::units(own, z) {
            let (slope_u, slope_h) = self.0.slopes(u, h2);
            add_scaled(dz, c[l] * slope_u, row);
            add_scaled(&mut dw2[l * z.len()..][..z.len()], c[l] * slope_u, z);
            dh2[l] += c[l] * slope_h;
        }
    }

    /// A as `talathi_vartak`; W1 and h2 uniform within 1/√L (h2 zero if plain), W2 within 1/√M.
    fn init(&self, dims: Dims, _start: Start, rng: &mut Rng) -> UnitsStart {
        let Dims { latent, hidden, .. } = dims;
        let a = talathi_vartak(latent, rng)
            .into_iter()
            .step_by(latent + 1)
            .collect();
        let w = uniform(latent * hidden, hidden, rng);
        let w2 = uniform(hidden * latent, latent, rng);
        let h2 = match self.0 {
            Activation::Clipped => uniform(hidden, hidden, rng),
            Activation::Plain | Activation::Tanh => vec![0.0; hidden],
        };
        UnitsStart {
            a,
            w,
            own: [w2, h2].concat(),
        }
    }
}
