//! Dendritic PLRNNs:  F(z) = A∘z + W g(z) + h  with B piecewise-linear bases a latent state, sharing slopes α,
//!
//! plain    g_m = Σ_b α_b φ(z_m − H_mb),
//! clipped  g_m = Σ_b α_b [φ(z_m − H_mb) − φ(z_m)],
//!
//! φ = max(0, ·), the diagonal of W zero (Brenner et al. 2022).

use super::additive::{UnitsStart, uniform};
use super::piecewise::Hinges;
use super::plrnn::diagonal_and_rest;
use super::{Additive, Dims, ModelInfo, Start, UnitKind, Units};
use crate::catalogue::{Entry, Kind};
use crate::rng::Rng;
use crate::theta::Shape;

/// The dendritic PLRNN.
pub static PLAIN: ModelInfo = ModelInfo {
    entry: Entry {
        kind: Kind::Model,
        id: "dendritic-plrnn",
        summary: "dendritic PLRNN: a linear spline basis per latent state",
        details: "F(z) = A z + W g(z) + h,  g_m = Σ_b α_b φ(z_m − H_mb),  φ = max(0, ·)\n\
                  A diagonal (M), W M×M with zero diagonal, h M, slopes α B, thresholds H M×B.",
        settings: &[],
        references: &["brenner2022"],
    },
    build: |dims| {
        Box::new(Additive::new(
            Dendritic {
                clipping: Clipping::Off,
            },
            dims,
        ))
    },
    units: UnitKind::Dendritic(Clipping::Off),
    hidden: Some("bases B per latent state"),
};

/// The clipped dendritic PLRNN.
pub static CLIPPED: ModelInfo = ModelInfo {
    entry: Entry {
        kind: Kind::Model,
        id: "clipped-dendritic-plrnn",
        summary: "dendritic PLRNN with clipped bases, bounded where all |A| < 1",
        details: "F(z) = A z + W g(z) + h,  g_m = Σ_b α_b [φ(z_m − H_mb) − φ(z_m)],  φ = max(0, ·)\n\
                  A diagonal (M), W M×M with zero diagonal, h M, slopes α B, thresholds H M×B.",
        settings: &[],
        references: &["brenner2022"],
    },
    build: |dims| {
        Box::new(Additive::new(
            Dendritic {
                clipping: Clipping::On,
            },
            dims,
        ))
    },
    units: UnitKind::Dendritic(Clipping::On),
    hidden: Some("bases B per latent state"),
};

/// Whether φ(z) is subtracted from every basis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clipping {
    /// It is not.
    Off,
    /// It is.
    On,
}

/// The bases; own parameters are the slopes (B), then the thresholds (M × B).
#[derive(Debug, Clone, Copy)]
pub struct Dendritic {
    /// Whether the bases are clipped.
    pub clipping: Clipping,
}

impl Dendritic {
    /// What is subtracted from every basis: φ(z).
    fn floor(&self, z: f64) -> f64 {
        match self.clipping {
            Clipping::Off => 0.0,
            Clipping::On => z.max(0.0),
        }
    }

    /// ∂g_m/∂z_m = Σ_b α_b (1[z > H_b] − 1[z > 0]), the second term only if clipped.
    fn slope(&self, slopes: &[f64], thresholds: &[f64], z: f64) -> f64 {
        let floor = f64::from(u8::from(self.clipping == Clipping::On && z > 0.0));
        let open = |h: f64| f64::from(u8::from(z > h)) - floor;
        slopes
            .iter()
            .zip(thresholds)
            .map(|(alpha, &h)| alpha * open(h))
            .sum()
    }
}

fn split(own: &[f64], m: usize) -> (&[f64], &[f64]) {
    own.split_at(own.len() / (m + 1))
}

impl Units for Dendritic {
    const NAMES: [&'static str; 2] = ["W", "h"];
    const PENALIZED: &'static [&'static str] = &["W", "h", "slopes", "C"];
    const OFF_DIAGONAL: bool = true;

    fn count(&self, dims: Dims) -> usize {
        dims.latent
    }

    fn tensors(&self, dims: Dims) -> Vec<(&'static str, Shape)> {
        vec![
            ("slopes", Shape::Vector(dims.hidden)),
            ("thresholds", Shape::Matrix(dims.latent, dims.hidden)),
        ]
    }

    fn values(&self, own: &[f64], z: &[f64], g: &mut [f64]) {
        let (slopes, thresholds) = split(own, z.len());
        for ((g, &z), h) in g
            .iter_mut()
            .zip(z)
            .zip(thresholds.chunks_exact(slopes.len()))
        {
            *g = slopes
                .iter()
                .zip(h)
                .map(|(alpha, h)| alpha * ((z - h).max(0.0) - self.floor(z)))
                .sum();
        }
    }

    fn derivative(&self, own: &[f64], z: &[f64], dg: &mut [f64]) {
        let (slopes, thresholds) = split(own, z.len());
        dg.fill(0.0);
        for (i, h) in thresholds.chunks_exact(slopes.len()).enumerate() {
            dg[i * z.len() + i] = self.slope(slopes, h, z[i]);
        }
    }

    /// Σ_b |α_b|.
    fn slope_bound(&self, own: &[f64], dims: Dims) -> f64 {
        split(own, dims.latent).0.iter().map(|v| v.abs()).sum()
    }

    /// B hinges a state at its thresholds; if clipped one more at zero, which closes what the others open.
    fn hinges(&self, own: &[f64], dims: Dims) -> Option<Hinges> {
        let (m, (slopes, thresholds)) = (dims.latent, split(own, dims.latent));
        let mut bases = slopes.to_vec();
        if self.clipping == Clipping::On {
            bases.push(-slopes.iter().sum::<f64>());
        }
        let count = bases.len();
        let mut hinges = Hinges {
            mix: vec![0.0; m * m * count],
            normals: vec![0.0; m * count * m],
            offsets: vec![0.0; m * count],
        };
        for i in 0..m {
            for (b, &slope) in bases.iter().enumerate() {
                let l = i * count + b;
                hinges.mix[i * m * count + l] = slope;
                hinges.normals[l * m + i] = 1.0;
                let threshold = thresholds[i * slopes.len()..][..slopes.len()].get(b);
                hinges.offsets[l] = threshold.map_or(0.0, |h| -h);
            }
        }
        Some(hinges)
    }

    fn pull_back(&self, own: &[f64], z: &[f64], c: &[f64], dz: &mut [f64], down: &mut [f64]) {
        let (slopes, thresholds) = split(own, z.len());
        let (dslopes, dthresholds) = down.split_at_mut(slopes.len());
        for i in 0..z.len() {
            let row = i * slopes.len()..(i + 1) * slopes.len();
            dz[i] += c[i] * self.slope(slopes, &thresholds[row.clone()], z[i]);
            for (b, &h) in thresholds[row.clone()].iter().enumerate() {
                dslopes[b] += c[i] * ((z[i] - h).max(0.0) - self.floor(z[i]));
                dthresholds[row.start + b] -= if z[i] > h { c[i] * slopes[b] } else { 0.0 };
            }
        }
    }

    /// A and W from one random matrix; slopes uniform within 1/√B; thresholds uniform over the data's range where
    /// the state is the data's, standard normal elsewhere.
    fn init(&self, dims: Dims, start: Start, rng: &mut Rng) -> UnitsStart {
        let (a, w) = diagonal_and_rest(dims.latent, rng);
        let slopes = uniform(dims.hidden, dims.hidden, rng);
        let thresholds = (0..dims.latent * dims.hidden).map(|_| match start {
            Start::WithinData { low, high } => rng.between(low, high),
            Start::Free => rng.normal(),
        });
        let own = slopes.into_iter().chain(thresholds).collect();
        UnitsStart { a, w, own }
    }
}
