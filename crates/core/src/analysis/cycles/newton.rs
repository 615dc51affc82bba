//! Cycles of any differentiable map by Newton's method on F^k(z) − z, from many starts:
//!
//! ```text
//! z ← z − (P − 1)⁻¹ (F^k(z) − z),    P = J(z_k) ⋯ J(z_1),
//! ```
//!
//! with steps halved while they make it worse. Nothing proves that all cycles are found.

use super::{Collection, Cycle, Expired, Found, Proof, minimal};
use crate::dynamics::Dynamics;
use crate::linalg;
use crate::system::System;

/// A map without input whose derivative is known.
pub trait Iterated: Sync {
    /// Dimension M.
    fn dim(&self) -> usize;
    /// next = F(z).
    fn step(&self, z: &[f64], next: &mut [f64]);
    /// The Jacobian at z, M × M.
    fn jacobian(&self, z: &[f64], jac: &mut [f64]);
}

/// A fitted system under a constant input.
#[derive(Debug)]
pub struct FixedInput<'a> {
    /// The system.
    pub dynamics: &'a dyn Dynamics,
    /// The input, K.
    pub s: &'a [f64],
}

impl Iterated for FixedInput<'_> {
    #[expect(
        clippy::misnamed_getters,
        reason = "what is iterated is the state, whatever of it counts as the dimension"
    )]
    fn dim(&self) -> usize {
        self.dynamics.sizes().state
    }

    fn step(&self, z: &[f64], next: &mut [f64]) {
        self.dynamics.step(z, self.s, next);
    }

    fn jacobian(&self, z: &[f64], jac: &mut [f64]) {
        self.dynamics.jacobian(z, self.s, jac);
    }
}

impl Iterated for &dyn System {
    fn dim(&self) -> usize {
        System::dim(*self)
    }

    fn step(&self, z: &[f64], next: &mut [f64]) {
        self.evaluate(z, next);
    }

    fn jacobian(&self, z: &[f64], jac: &mut [f64]) {
        System::jacobian(*self, z, jac);
    }
}

/// Steps of Newton's method, and halvings of one.
const STEPS: usize = 60;
const HALVINGS: usize = 12;

/// The cycles of one period that Newton's method reaches from these starts (rows of M).
pub fn newton(map: &dyn Iterated, period: usize, starts: &[f64], expired: Expired<'_>) -> Found {
    let mut found = Collection::default();
    let mut proof = Proof::Searched;
    let (mut tried, mut singular) = (0, 0);
    let largest = starts.chunks_exact(map.dim()).map(size).fold(0.0, f64::max);
    for start in starts.chunks_exact(map.dim()) {
        if expired() {
            proof = Proof::Interrupted;
            break;
        }
        tried += 1;
        match settle(map, period, start, 1e-9 * (1.0 + largest)) {
            Some(z) => found.extend(cycle(map, period, &z)),
            None => singular += 1,
        }
    }
    Found {
        cycles: found.sorted(),
        proof,
        tried,
        singular,
    }
}

/// An orbit of k steps: its points, where it ends, and its Jacobian.
struct Orbit {
    points: Vec<Vec<f64>>,
    end: Vec<f64>,
    product: Vec<f64>,
}

impl Orbit {
    fn from(map: &dyn Iterated, period: usize, z: &[f64]) -> Orbit {
        let m = map.dim();
        let mut product: Vec<f64> = (0..m * m)
            .map(|e| f64::from(u8::from(e % (m + 1) == 0)))
            .collect();
        let (mut jac, mut pushed) = (product.clone(), product.clone());
        let (mut z, mut next) = (z.to_vec(), z.to_vec());
        let mut points = Vec::with_capacity(period);
        for _ in 0..period {
            map.jacobian(&z, &mut jac);
            linalg::multiply(&jac, &product, (m, m, m), &mut pushed);
            std::mem::swap(&mut product, &mut pushed);
            map.step(&z, &mut next);
            points.push(z.clone());
            std::mem::swap(&mut z, &mut next);
        }
        Orbit {
            points,
            end: z,
            product,
        }
    }

    /// F^k(z) − z.
    fn residual(&self) -> Vec<f64> {
        let pairs = self.end.iter().zip(&self.points[0]);
        pairs.map(|(end, start)| end - start).collect()
    }
}

/// Where Newton's method comes to rest; `None` if it does not, or with a residual that is more than rounding on the scale of the starts: of a map
/// whose steps are bounded, F(z) − z is nothing beside a z that is far away.
fn settle(map: &dyn Iterated, period: usize, start: &[f64], rounding: f64) -> Option<Vec<f64>> {
    let m = map.dim();
    let mut z = start.to_vec();
    for _ in 0..STEPS {
        let mut orbit = Orbit::from(map, period, &z);
        let residual = orbit.residual();
        let mut step = residual.clone();
        let product = orbit.product.iter_mut().enumerate();
        product.for_each(|(e, v)| *v -= f64::from(u8::from(e % (m + 1) == 0)));
        linalg::solve(&mut orbit.product, m, &mut step);
        if step.iter().any(|v| !v.is_finite()) {
            return None;
        }
        let moved =
            |scale: f64| -> Vec<f64> { z.iter().zip(&step).map(|(z, s)| z - scale * s).collect() };
        let better = (0..HALVINGS)
            .map(|h| moved(0.5f64.powi(h as i32)))
            .find(|z| size(&Orbit::from(map, period, z).residual()) < size(&residual));
        match better {
            Some(better) => z = better,
            // It cannot be better than rounding.
            None => return (size(&residual).max(lost_beside(&z)) <= rounding).then_some(z),
        }
    }
    None
}

fn cycle(map: &dyn Iterated, period: usize, z: &[f64]) -> Option<Cycle> {
    let orbit = Orbit::from(map, period, z);
    let (points, _) = minimal(orbit.points, Vec::<()>::new())?;
    Some(Cycle {
        points,
        regions: Vec::new(),
        multipliers: linalg::eigenvalues(&orbit.product, map.dim())?,
        border: f64::INFINITY,
        is_on_border: false,
    })
}

/// What is lost when it is added to z.
fn lost_beside(z: &[f64]) -> f64 {
    f64::EPSILON * size(z)
}

fn size(v: &[f64]) -> f64 {
    v.iter().map(|v| v * v).sum::<f64>().sqrt()
}
