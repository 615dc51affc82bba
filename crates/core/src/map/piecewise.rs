//! The form that all piecewise-linear maps share: hinges φ = max(0, ·) on planes of the state space,
//!
//! ```text
//! F(z, s) = A∘z + W1 φ(W2 z + h2) + h1 + C s.
//! ```
//!
//! Where no hinge changes sides F is affine: with the gates d_l = 1[w_l·z + h2_l > 0] of a region,
//!
//! ```text
//! F(z) = M_d z + c_d,    M_d = diag(A) + W1 diag(d) W2,    c_d = W1 (d∘h2) + h1.
//! ```
//!
//! A clipped unit is two hinges on parallel planes, a basis of a dendritic map is one on a plane across an axis.

use super::additive::dot;

/// A map as hinges on planes.
#[derive(Debug, Clone, PartialEq)]
pub struct PiecewiseLinear {
    /// Latent dimension M.
    pub dim: usize,
    /// A, M.
    pub a: Vec<f64>,
    /// W1, M × H.
    pub w1: Vec<f64>,
    /// h1, M.
    pub h1: Vec<f64>,
    /// W2, H × M: normals of the planes.
    pub w2: Vec<f64>,
    /// h2, H: offsets of the planes.
    pub h2: Vec<f64>,
    /// C, M × K.
    pub c: Vec<f64>,
}

/// Units as hinges:  g(z) = G φ(V z + v)  with U units and H hinges.
#[derive(Debug, Clone)]
pub struct Hinges {
    /// G, U × H.
    pub mix: Vec<f64>,
    /// V, H × M.
    pub normals: Vec<f64>,
    /// v, H.
    pub offsets: Vec<f64>,
}

/// Which hinges of a region are open, one bit a hinge.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Region {
    words: Vec<u64>,
}

impl Region {
    /// The region with all of so many hinges closed.
    pub fn closed(hinges: usize) -> Region {
        Region {
            words: vec![0; hinges.div_ceil(64)],
        }
    }

    /// Opens or closes hinge l.
    pub fn set(&mut self, l: usize, open: Gate) {
        let bit = 1 << (l % 64);
        match open {
            Gate::Open => self.words[l / 64] |= bit,
            Gate::Closed => self.words[l / 64] &= !bit,
        }
    }

    /// Whether hinge l is open.
    pub fn is_open(&self, l: usize) -> bool {
        self.words[l / 64] >> (l % 64) & 1 == 1
    }

    /// The hinges that are open, ascending.
    pub fn open(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            let mut rest = word;
            std::iter::from_fn(move || {
                let bit = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
                rest &= rest - 1;
                Some(64 * i + bit)
            })
        })
    }

    /// One bit a hinge, the first hinge in the lowest bit.
    pub fn words(&self) -> &[u64] {
        &self.words
    }
}

/// On which side of its plane a hinge is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate {
    /// φ is zero.
    Closed,
    /// φ is the identity.
    Open,
}

impl From<bool> for Gate {
    fn from(is_open: bool) -> Gate {
        if is_open { Gate::Open } else { Gate::Closed }
    }
}

impl PiecewiseLinear {
    /// Number of hinges H.
    pub fn hinges(&self) -> usize {
        self.h2.len()
    }

    /// The map under a constant input: C s becomes part of h1.
    pub fn under(mut self, s: &[f64]) -> PiecewiseLinear {
        let c = std::mem::take(&mut self.c);
        for (i, h1) in self.h1.iter_mut().enumerate() {
            *h1 += dot(&c[i * s.len()..][..s.len()], s);
        }
        self
    }

    /// w_l·z + h2_l: positive where hinge l is open.
    pub fn side(&self, l: usize, z: &[f64]) -> f64 {
        dot(&self.w2[l * self.dim..][..self.dim], z) + self.h2[l]
    }

    /// The region of a state; on a plane its hinge is closed.
    pub fn region(&self, z: &[f64], region: &mut Region) {
        region.words.fill(0);
        for l in (0..self.hinges()).filter(|&l| self.side(l, z) > 0.0) {
            region.words[l / 64] |= 1 << (l % 64);
        }
    }

    /// next = F(z), without input.
    pub fn step(&self, z: &[f64], next: &mut [f64]) {
        for (i, next) in next.iter_mut().enumerate() {
            *next = self.a[i] * z[i] + self.h1[i];
        }
        for l in 0..self.hinges() {
            let value = self.side(l, z);
            if value > 0.0 {
                for (i, next) in next.iter_mut().enumerate() {
                    *next += self.w1[i * self.hinges() + l] * value;
                }
            }
        }
    }

    /// M_d (M × M) and c_d (M) of a region.
    pub fn affine(&self, region: &Region, matrix: &mut [f64], offset: &mut [f64]) {
        let (m, hinges) = (self.dim, self.hinges());
        matrix.fill(0.0);
        (0..m).for_each(|i| matrix[i * m + i] = self.a[i]);
        offset.copy_from_slice(&self.h1);
        for l in region.open() {
            let normal = &self.w2[l * m..][..m];
            for i in 0..m {
                let w1 = self.w1[i * hinges + l];
                offset[i] += w1 * self.h2[l];
                let row = &mut matrix[i * m..][..m];
                row.iter_mut().zip(normal).for_each(|(v, w2)| *v += w1 * w2);
            }
        }
    }

    /// The distance from a state to the nearest plane on which the slope of F changes; infinite if there is none.
    pub fn distance_to_border(&self, z: &[f64]) -> f64 {
        let distances = (0..self.hinges()).filter_map(|l| {
            let normal = &self.w2[l * self.dim..][..self.dim];
            let length = dot(normal, normal).sqrt();
            let is_plane = length > 0.0 && self.moves(l);
            is_plane.then(|| self.side(l, z).abs() / length)
        });
        distances.fold(f64::INFINITY, f64::min)
    }

    /// Whether hinge l acts on any state.
    pub fn moves(&self, l: usize) -> bool {
        (0..self.dim).any(|i| self.w1[i * self.hinges() + l] != 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Dims, MODELS};
    use crate::rng::{Rng, Stream};

    /// Every map but the smooth one is its piecewise-linear form, in value, derivative and region.
    #[test]
    fn every_piecewise_linear_map_has_this_form() {
        let mut rng = Rng::new(1, Stream::MonteCarlo);
        let dims = Dims {
            latent: 3,
            hidden: 70,
            inputs: 2,
        };
        for info in MODELS {
            let map = (info.build)(dims);
            let theta: Vec<f64> = (0..map.layout().len()).map(|_| rng.normal()).collect();
            let Some(form) = map.piecewise(&theta) else {
                assert_eq!(info.entry.id, "tanh-shallow-plrnn");
                continue;
            };
            let s = [0.3, -0.7];
            let form = form.under(&s);
            let mut region = Region::closed(form.hinges());
            for _ in 0..20 {
                let z: Vec<f64> = (0..3).map(|_| 2.0 * rng.normal()).collect();
                let (mut next, mut other) = ([0.0; 3], [0.0; 3]);
                map.step(&theta, &z, &s, &mut next);
                form.step(&z, &mut other);
                let (mut jac, mut matrix, mut offset) = ([0.0; 9], [0.0; 9], [0.0; 3]);
                map.jacobian(&theta, &z, &mut jac);
                form.region(&z, &mut region);
                form.affine(&region, &mut matrix, &mut offset);
                let affine = (0..3).map(|i| dot(&matrix[3 * i..][..3], &z) + offset[i]);
                // Sums of some hundred products of order ten.
                let close = |a: f64, b: f64| (a - b).abs() < 1e-11;
                let id = info.entry.id;
                assert!((0..3).all(|i| close(next[i], other[i])), "{id}");
                assert!(next.iter().zip(affine).all(|(&a, b)| close(a, b)), "{id}");
                assert!((0..9).all(|i| close(jac[i], matrix[i])), "{id}");
            }
        }
    }

    #[test]
    fn a_region_knows_its_open_hinges() {
        let mut region = Region::closed(130);
        for l in [0, 63, 64, 129] {
            region.set(l, Gate::Open);
        }
        region.set(63, Gate::Closed);
        assert_eq!(region.open().collect::<Vec<_>>(), [0, 64, 129]);
        assert!(region.is_open(64) && !region.is_open(63));
    }

    #[test]
    fn a_border_is_where_the_slope_changes() {
        // Hinges at z = 2 (steep plane), at z = 0.5 without effect, and nowhere.
        let form = PiecewiseLinear {
            dim: 1,
            a: vec![0.5],
            w1: vec![1.0, 0.0, 1.0],
            h1: vec![0.0],
            w2: vec![10.0, 1.0, 0.0],
            h2: vec![-20.0, -0.5, 1.0],
            c: Vec::new(),
        };
        assert_eq!(form.distance_to_border(&[0.0]), 2.0);
    }
}
