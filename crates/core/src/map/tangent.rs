//! A map prepared for many steps, each with its Jacobian: parameters in the order in which they are read, buffers made
//! once.
//!
//! Of a piecewise-linear map the Jacobian is kept from step to step: only the hinges that change sides move it,
//! J ← J ± w1_l w2_lᵀ. Now and then it is summed afresh, so that rounding cannot pile up.

use super::Map;
use super::piecewise::PiecewiseLinear;
use crate::dynamics::Tangent as Linearised;
use crate::simd::{Isa, Lanes8, Simd, Task, dispatch};

/// A map that is iterated together with its linearisation.
pub(crate) struct Tangent<'a> {
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
    pub(crate) fn new(map: &'a dyn Map, theta: &'a [f64]) -> Tangent<'a> {
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
}

impl Linearised for Tangent<'_> {
    fn advance(&mut self, z: &mut [f64], s: &[f64], jac: &mut [f64]) {
        match &mut self.form {
            Form::Hinged(hinged) => {
                let isa = hinged.isa;
                dispatch::<Lanes8, _>(isa, Advance(hinged, z, s, jac));
            }
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

/// Slabs side by side, four in a group.
const GROUP: usize = 4;

/// The map as slabs between parallel planes,  Σ w1 [φ(w2·z + h) − φ(w2·z + h')]:  a clipped unit is one, any other hinge
/// has its second plane at infinity, h' = −∞.
struct Hinged {
    isa: Isa,
    map: PiecewiseLinear,
    /// Number of slabs, rounded up to whole groups; those that fill up are never entered.
    width: usize,
    /// W2ᵀ, M × width.
    normals: Vec<f64>,
    /// h, then h', width each.
    offsets: [Vec<f64>; 2],
    /// W1, M × width.
    weights: Vec<f64>,
    /// W2 z, then φ(W2 z + h) − φ(W2 z + h').
    u: Vec<f64>,
    /// The slope of each slab's value: 1 − 0, 0 − 1, or none.
    slopes: Vec<f64>,
    /// The slopes at the next state.
    entered: Vec<f64>,
    jac: Vec<f64>,
    /// Steps since the Jacobian was summed afresh.
    age: usize,
}

impl Hinged {
    fn new(map: PiecewiseLinear) -> Hinged {
        let (m, hinges) = (map.dim, map.hinges());
        let slabs = if is_clipped(&map) { hinges / 2 } else { hinges };
        let width = slabs.next_multiple_of(GROUP);
        let mut normals = vec![0.0; m * width];
        let mut weights = vec![0.0; m * width];
        for i in 0..m {
            for l in 0..slabs {
                normals[i * width + l] = map.w2[l * m + i];
                weights[i * width + l] = map.w1[i * hinges + l];
            }
        }
        let mut first = map.h2[..slabs].to_vec();
        let mut second = map.h2[slabs..].to_vec();
        first.resize(width, f64::NEG_INFINITY);
        second.resize(width, f64::NEG_INFINITY);
        Hinged {
            isa: Isa::detect(),
            width,
            normals,
            offsets: [first, second],
            weights,
            u: vec![0.0; width],
            slopes: vec![0.0; width],
            entered: vec![0.0; width],
            jac: vec![0.0; m * m],
            age: REFRESH,
            map,
        }
    }

    /// Where the dimension is small it is a constant, so that all loops over it are unrolled.
    #[inline(always)]
    fn advance(&mut self, z: &mut [f64], s: &[f64], jac: &mut [f64]) {
        match self.map.dim {
            2 => self.advance_in(2, z, s, jac),
            3 => self.advance_in(3, z, s, jac),
            m => self.advance_in(m, z, s, jac),
        }
    }

    #[inline(always)]
    fn advance_in(&mut self, m: usize, z: &mut [f64], s: &[f64], jac: &mut [f64]) {
        let z = &mut z[..m];
        self.locate(z);
        self.linearize(m);
        jac[..m * m].copy_from_slice(&self.jac[..m * m]);
        for (i, z) in z.iter_mut().enumerate() {
            let c = &self.map.c[i * s.len()..][..s.len()];
            let from_input: f64 = c.iter().zip(s).map(|(c, s)| c * s).sum();
            let hinged = dot(&self.weights[i * self.width..][..self.width], &self.u);
            *z = self.map.a[i] * *z + hinged + self.map.h1[i] + from_input;
        }
    }

    /// u = W2 z.
    #[inline(always)]
    fn locate(&mut self, z: &[f64]) {
        let (first, rest) = self.normals.split_at(self.width);
        self.u
            .iter_mut()
            .zip(first)
            .for_each(|(u, w)| *u = w * z[0]);
        for (column, &z) in rest.chunks_exact(self.width).zip(&z[1..]) {
            self.u.iter_mut().zip(column).for_each(|(u, w)| *u += w * z);
        }
    }

    /// Moves J to the region of u, and replaces u by the values of the slabs.
    #[inline(always)]
    fn linearize(&mut self, m: usize) {
        self.age += 1;
        if self.age > REFRESH {
            self.age = 0;
            self.slopes.fill(0.0);
            self.jac.fill(0.0);
            (0..m).for_each(|i| self.jac[i * m + i] = self.map.a[i]);
        }
        self.enter();
        for group in 0..self.width / GROUP {
            let (now, before) = (chunk(&self.entered, group), chunk(&self.slopes, group));
            // Bits, because they are compared side by side.
            let differ = (0..GROUP).fold(0, |d, i| d | (now[i].to_bits() ^ before[i].to_bits()));
            if differ != 0 {
                for l in group * GROUP..(group + 1) * GROUP {
                    self.turn(l, self.entered[l] - self.slopes[l], m);
                }
            }
        }
        std::mem::swap(&mut self.slopes, &mut self.entered);
    }

    /// Replaces u by the values of the slabs, and notes their slopes.
    #[inline(always)]
    fn enter(&mut self) {
        let slabs = self.u.iter_mut().zip(&mut self.entered);
        let planes = self.offsets[0].iter().zip(&self.offsets[1]);
        for ((u, slope), (first, second)) in slabs.zip(planes) {
            let (upper, lower) = (*u + first, *u + second);
            let open = |v: f64| if v > 0.0 { 1.0 } else { 0.0 };
            *slope = open(upper) - open(lower);
            *u = upper.max(0.0) - lower.max(0.0);
        }
    }

    /// J += change · w1_l w2_lᵀ.
    #[inline(always)]
    fn turn(&mut self, l: usize, change: f64, m: usize) {
        if change == 0.0 {
            return;
        }
        let normal = &self.map.w2[l * m..][..m];
        for (i, row) in self.jac.chunks_exact_mut(m).enumerate() {
            let weight = change * self.weights[i * self.width + l];
            row.iter_mut()
                .zip(normal)
                .for_each(|(v, w2)| *v += weight * w2);
        }
    }
}

/// A step, compiled for every instruction set.
struct Advance<'a>(&'a mut Hinged, &'a mut [f64], &'a [f64], &'a mut [f64]);

impl Task for Advance<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        self.0.advance(self.1, self.2, self.3);
    }
}

#[inline(always)]
fn chunk(values: &[f64], group: usize) -> &[f64; GROUP] {
    &values.as_chunks().0[group]
}

/// Whether the second half of the hinges takes back what the first opens, on parallel planes.
fn is_clipped(map: &PiecewiseLinear) -> bool {
    let (m, hinges) = (map.dim, map.hinges());
    let half = hinges / 2;
    let takes_back = |row: &[f64]| row[..half].iter().zip(&row[half..]).all(|(a, b)| *a == -b);
    hinges > 0
        && hinges.is_multiple_of(2)
        && map.w2[..half * m] == map.w2[half * m..]
        && map.w1.chunks_exact(hinges).all(takes_back)
}

/// Σ a_i b_i in four sums, which the processor adds side by side.
#[inline(always)]
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
