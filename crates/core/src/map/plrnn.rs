//! The PLRNN, F(z) = A∘z + W φ(z) + h, and its mean-centred form, F(z) = A∘z + W φ(Cz) + h with C = I − 11ᵀ/M,
//! where φ = max(0, ·) and the diagonal of W is zero.

use super::additive::{UnitsStart, unit_matrix};
use super::piecewise::Hinges;
use super::{Additive, Dims, ModelInfo, Start, UnitKind, Units};
use crate::catalogue::{Entry, Kind};
use crate::linalg;
use crate::rng::Rng;
use crate::theta::Shape;

/// The PLRNN.
pub static PLAIN: ModelInfo = ModelInfo {
    entry: Entry {
        kind: Kind::Model,
        id: "plrnn",
        summary: "piecewise-linear RNN: one rectified unit per latent state",
        details: "F(z) = A z + W φ(z) + h,  φ = max(0, ·)\n\
                  A diagonal (M), W M×M with zero diagonal, h M. 2^M regions.",
        settings: &[],
        references: &["durstewitz2017"],
    },
    build: |dims| {
        Box::new(Additive::new(
            Rectified {
                centring: Centring::None,
            },
            dims,
        ))
    },
    units: UnitKind::Rectified(Centring::None),
    hidden: None,
};

/// The mean-centred PLRNN.
pub static MEAN_CENTRED: ModelInfo = ModelInfo {
    entry: Entry {
        kind: Kind::Model,
        id: "mean-centred-plrnn",
        summary: "PLRNN whose units see the state less its mean",
        details: "F(z) = A z + W φ(C z) + h,  C = I − 11ᵀ/M,  φ = max(0, ·)\n\
                  A diagonal (M), W M×M with zero diagonal, h M.",
        settings: &[],
        references: &["brenner2022"],
    },
    build: |dims| {
        Box::new(Additive::new(
            Rectified {
                centring: Centring::Mean,
            },
            dims,
        ))
    },
    units: UnitKind::Rectified(Centring::Mean),
    hidden: None,
};

/// What is subtracted from the state before it is rectified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Centring {
    /// Nothing.
    None,
    /// The mean over the latent states.
    Mean,
}

/// g = φ(Cz); no parameters of its own.
#[derive(Debug, Clone, Copy)]
pub struct Rectified {
    /// What C is.
    pub centring: Centring,
}

impl Rectified {
    /// What C subtracts; C is symmetric, so it serves the pull-back too.
    fn offset(&self, v: &[f64]) -> f64 {
        match self.centring {
            Centring::None => 0.0,
            Centring::Mean => v.iter().sum::<f64>() / v.len() as f64,
        }
    }
}

impl Units for Rectified {
    const NAMES: [&'static str; 2] = ["W", "h"];
    const PENALIZED: &'static [&'static str] = &["W", "h"];
    const OFF_DIAGONAL: bool = true;

    fn count(&self, dims: Dims) -> usize {
        dims.latent
    }

    fn tensors(&self, _dims: Dims) -> Vec<(&'static str, Shape)> {
        Vec::new()
    }

    fn values(&self, _own: &[f64], z: &[f64], g: &mut [f64]) {
        let offset = self.offset(z);
        g.iter_mut()
            .zip(z)
            .for_each(|(g, z)| *g = (z - offset).max(0.0));
    }

    fn derivative(&self, _own: &[f64], z: &[f64], dg: &mut [f64]) {
        let (m, offset) = (z.len(), self.offset(z));
        dg.fill(0.0);
        for i in (0..m).filter(|&i| z[i] > offset) {
            let mut row = vec![0.0; m];
            row[i] = 1.0;
            let mean = self.offset(&row);
            row.iter_mut().for_each(|v| *v -= mean);
            dg[i * m..][..m].copy_from_slice(&row);
        }
    }

    /// C is a projection: its norm is one.
    fn slope_bound(&self, _own: &[f64], _dims: Dims) -> f64 {
        1.0
    }

    /// One hinge a state, on the planes Cz = 0.
    fn hinges(&self, _own: &[f64], dims: Dims) -> Option<Hinges> {
        let m = dims.latent;
        let unit = unit_matrix(m);
        let centred = unit.chunks_exact(m).flat_map(|row| {
            let offset = self.offset(row);
            row.iter().map(move |v| v - offset)
        });
        Some(Hinges {
            normals: centred.collect(),
            mix: unit,
            offsets: vec![0.0; m],
        })
    }

    fn pull_back(&self, _own: &[f64], z: &[f64], c: &[f64], dz: &mut [f64], _down: &mut [f64]) {
        let offset = self.offset(z);
        let open: Vec<f64> = z
            .iter()
            .zip(c)
            .map(|(&z, &c)| if z > offset { c } else { 0.0 })
            .collect();
        let mean = self.offset(&open);
        dz.iter_mut().zip(&open).for_each(|(dz, c)| *dz += c - mean);
    }

    fn init(&self, dims: Dims, _start: Start, rng: &mut Rng) -> UnitsStart {
        let (a, w) = diagonal_and_rest(dims.latent, rng);
        UnitsStart {
            a,
            w,
            own: Vec::new(),
        }
    }
}

/// A and W from one [`talathi_vartak`] matrix: its diagonal, and the rest with a zero diagonal.
pub(super) fn diagonal_and_rest(m: usize, rng: &mut Rng) -> (Vec<f64>, Vec<f64>) {
    let mut w = talathi_vartak(m, rng);
    let a = w.iter().copied().step_by(m + 1).collect();
    w.iter_mut().step_by(m + 1).for_each(|v| *v = 0.0);
    (a, w)
}

/// The matrix K/λ_max(K), K = RᵀR/M + I with R of independent standard normal entries, M × M: positive definite
/// with largest eigenvalue one, so that a map starts at the edge of stability (Talathi and Vartak 2015).
pub(super) fn talathi_vartak(m: usize, rng: &mut Rng) -> Vec<f64> {
    let r: Vec<f64> = (0..m * m).map(|_| rng.normal()).collect();
    let mut k = vec![0.0; m * m];
    for i in 0..m {
        for j in 0..m {
            let product: f64 = (0..m).map(|l| r[l * m + i] * r[l * m + j]).sum();
            k[i * m + j] = product / m as f64 + f64::from(u8::from(i == j));
        }
    }
    let largest = linalg::singular_values(&k, m, m)[0];
    k.iter_mut().for_each(|v| *v /= largest);
    k
}
