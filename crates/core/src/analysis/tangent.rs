//! A map prepared for many steps, each with its Jacobian: parameters in the order in which they are read, buffers made
//! once.
//!
//! Of a piecewise-linear map the Jacobian is kept from step to step: only the hinges that change sides move it,
//! J ← J ± w1_l w2_lᵀ. Now and then it is summed afresh, so that rounding cannot pile up.

use crate::map::Map;
use crate::map::piecewise::PiecewiseLinear;

/// A map that is iterated together with its linearisation.
pub struct Tangent<'a> {
    form: Form<'a>,
}

enum Form<'a> {
    Hinged(Box<Hinged>),
    Smooth {
        map: &'a dyn Map,
        theta: &'a [f64],
        next: Vec<f64>,
    },
}

impl<'a> Tangent<'a> {
    /// Prepares a map.
    pub fn new(map: &'a dyn Map, theta: &'a [f64]) -> Tangent<'a> {
        let form = match map.piecewise(theta) {
            Some(form) => Form::Hinged(Box::new(Hinged::new(form))),
            None => Form::Smooth {
                map,
                theta,
                next: vec![0.0; map.dims().latent],
            },
        };
        Tangent { form }
    }

    /// Writes J at z (M × M), then z ← F(z, s).
    pub fn advance(&mut self, z: &mut [f64], s: &[f64], jac: &mut [f64]) {
        match &mut self.form {
            Form::Hinged(hinged) => hinged.advance(z, s, jac),
            Form::Smooth { map, theta, next } => {
                map.jacobian(theta, z, jac);
                map.step(theta, z, s, next);
                z.copy_from_slice(next);
            }
        }
    }
}

/// After so many steps the Jacobian is summed afresh: rounding of some hundred additions is below 1e-13.
const REFRESH: usize = 256;

/// Hinges side by side, four in a group.
const GROUP: usize = 4;

struct Hinged {
    map: PiecewiseLinear,
    /// H, rounded up to whole groups; hinges that fill up are never open.
    width: usize,
    /// W2ᵀ, M × width.
    normals: Vec<f64>,
    /// h2, width.
    offsets: Vec<f64>,
    /// W1, M × width.
    weights: Vec<f64>,
    /// W2 z + h2, then φ of it.
    u: Vec<f64>,
    open: Vec<bool>,
    jac: Vec<f64>,
    /// Steps since the Jacobian was summed afresh.
    age: usize,
}

impl Hinged {
    fn new(map: PiecewiseLinear) -> Hinged {
        let (m, hinges) = (map.dim, map.hinges());
        let width = hinges.next_multiple_of(GROUP);
        let mut normals = vec![0.0; m * width];
        let mut weights = vec![0.0; m * width];
        for i in 0..m {
            for l in 0..hinges {
                normals[i * width + l] = map.w2[l * m + i];
                weights[i * width + l] = map.w1[i * hinges + l];
            }
        }
        let mut offsets = map.h2.clone();
        offsets.resize(width, 0.0);
        Hinged {
            width,
            normals,
            offsets,
            weights,
            u: vec![0.0; width],
            open: vec![false; width],
            jac: vec![0.0; m * m],
            age: REFRESH,
            map,
        }
    }

    fn advance(&mut self, z: &mut [f64], s: &[f64], jac: &mut [f64]) {
        self.locate(z);
        self.linearize();
        jac.copy_from_slice(&self.jac);
        for (i, z) in z.iter_mut().enumerate() {
            let from_input: f64 = self.map.c[i * s.len()..][..s.len()]
                .iter()
                .zip(s)
                .map(|(c, s)| c * s)
                .sum();
            let hinged = dot(&self.weights[i * self.width..][..self.width], &self.u);
            *z = self.map.a[i] * *z + hinged + self.map.h1[i] + from_input;
        }
    }

    /// u = W2 z + h2.
    fn locate(&mut self, z: &[f64]) {
        self.u.copy_from_slice(&self.offsets);
        for (column, &z) in self.normals.chunks_exact(self.width).zip(z) {
            self.u.iter_mut().zip(column).for_each(|(u, w)| *u += w * z);
        }
    }

    /// Moves J to the region of u, and replaces u by φ(u).
    fn linearize(&mut self) {
        self.age += 1;
        if self.age > REFRESH {
            self.age = 0;
            self.open.fill(false);
            self.jac.fill(0.0);
            let m = self.map.dim;
            (0..m).for_each(|i| self.jac[i * m + i] = self.map.a[i]);
        }
        for l in 0..self.width {
            let is_open = self.u[l] > 0.0;
            if is_open != self.open[l] {
                self.open[l] = is_open;
                self.turn(l, if is_open { 1.0 } else { -1.0 });
            }
        }
        self.u.iter_mut().for_each(|u| *u = u.max(0.0));
    }

    /// J += sign · w1_l w2_lᵀ.
    fn turn(&mut self, l: usize, sign: f64) {
        let m = self.map.dim;
        let normal = &self.map.w2[l * m..][..m];
        for (i, row) in self.jac.chunks_exact_mut(m).enumerate() {
            let weight = sign * self.weights[i * self.width + l];
            row.iter_mut()
                .zip(normal)
                .for_each(|(v, w2)| *v += weight * w2);
        }
    }
}

/// Σ a_i b_i in four sums, which the processor adds side by side.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    let mut sums = [0.0; GROUP];
    for (a, b) in a
        .as_chunks::<GROUP>()
        .0
        .iter()
        .zip(b.as_chunks::<GROUP>().0)
    {
        (0..GROUP).for_each(|i| sums[i] += a[i] * b[i]);
    }
    sums.iter().sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Dims, MODELS, Start};
    use crate::rng::{Rng, Stream};

    /// For every model, driven: as step and Jacobian say, over more steps than one summing lasts.
    #[test]
    fn steps_and_jacobians_are_the_maps() {
        let mut rng = Rng::new(1, Stream::MonteCarlo);
        let dims = Dims {
            latent: 3,
            hidden: 13,
            inputs: 2,
        };
        for info in MODELS {
            let map = (info.build)(dims);
            let theta = map.init(Start::Free, &mut rng);
            let mut tangent = Tangent::new(map.as_ref(), &theta);
            let mut z = vec![0.1, -0.4, 0.3];
            let (mut jac, mut expected) = (vec![0.0; 9], vec![0.0; 9]);
            let mut next = vec![0.0; 3];
            for _ in 0..3 * REFRESH {
                // The input kicks the state about, so that hinges turn.
                let s = [rng.normal(), rng.normal()];
                map.jacobian(&theta, &z, &mut expected);
                map.step(&theta, &z, &s, &mut next);
                tangent.advance(&mut z, &s, &mut jac);
                let close = |a: &[f64], b: &[f64]| {
                    let largest = b.iter().fold(1.0, |m: f64, v| m.max(v.abs()));
                    // Some hundred roundings.
                    a.iter()
                        .zip(b)
                        .all(|(a, b)| (a - b).abs() < 1e-12 * largest)
                };
                assert!(close(&jac, &expected), "{}", info.entry.id);
                assert!(close(&z, &next), "{}", info.entry.id);
                z.copy_from_slice(&next);
                if z.iter().any(|v| v.abs() > 1e3) {
                    z.fill(0.1);
                }
            }
        }
    }
}
