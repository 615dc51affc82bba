//! A reservoir with some tangent vectors, without its Jacobian: with D the slopes of the units and φ′ those of the features,
//!
//! ```text
//! J w = (1 − a) w + D (W w + W_in W_out φ′ w)
//! ```
//!
//! costs as much as a step for each vector, where the Jacobian would cost R² numbers.

use super::{Desk, Dots, Reservoir};
use crate::dynamics::{Dynamics, Tangent};
use crate::simd::dispatch_widest;

/// A reservoir that carries vectors along.
pub(super) struct Carrier<'a> {
    reservoir: &'a Reservoir,
    desk: Desk,
    next: Vec<f64>,
    slopes: Vec<f64>,
    of_features: Vec<f64>,
    /// W_out φ′ w.
    seen: Vec<f64>,
}

impl<'a> Carrier<'a> {
    pub(super) fn new(reservoir: &'a Reservoir) -> Carrier<'a> {
        Carrier {
            desk: reservoir.desk(),
            next: vec![0.0; reservoir.state()],
            slopes: vec![0.0; reservoir.units()],
            of_features: vec![0.0; reservoir.state()],
            seen: vec![0.0; reservoir.channels()],
            reservoir,
        }
    }

    /// û and the inputs of the next row.
    fn prepare(&mut self, z: &[f64], s: &[f64]) {
        let r = self.reservoir;
        r.scale(r.channels(), s, &mut self.desk.s);
        r.read_out(&mut self.desk, z);
    }

    fn step(&mut self, z: &mut [f64]) {
        self.reservoir.take_in(&self.desk, z, &mut self.next);
        z.copy_from_slice(&self.next);
    }

    /// carried = J w; `desk.features` is room for φ′ w.
    fn push(&mut self, w: &[f64], carried: &mut [f64]) {
        let r = self.reservoir;
        let (units, of_channel) = (r.units(), r.units() / r.channels());
        let features = &mut self.desk.features;
        for ((f, slope), w) in features.iter_mut().zip(&self.of_features).zip(w) {
            *f = slope * w;
        }
        // A constant does not change.
        features[w.len()..].fill(0.0);
        let task = Dots {
            rows: r.w_out.chunks_exact(features.len()),
            features,
            u: &mut self.seen,
        };
        dispatch_widest(self.desk.isa, task);
        for (i, carried) in carried[..units].iter_mut().enumerate() {
            let input = r.w.row_times(i, &w[..units]) + r.w_in[i] * self.seen[i / of_channel];
            *carried = self.slopes[i] * input + (1.0 - r.form.leak) * w[i];
        }
        carried[units..].copy_from_slice(&self.seen[..w.len() - units]);
    }
}

impl Tangent for Carrier<'_> {
    fn advance(&mut self, z: &mut [f64], s: &[f64], jac: &mut [f64]) {
        self.reservoir.jacobian(z, s, jac);
        self.prepare(z, s);
        self.step(z);
    }

    fn carry(
        &mut self,
        z: &mut [f64],
        s: &[f64],
        w: &[f64],
        carried: &mut [f64],
        _jac: &mut Vec<f64>,
    ) {
        let r = self.reservoir;
        let m = z.len();
        self.prepare(z, s);
        if !w.is_empty() {
            r.slopes(&z[..r.units()], &self.desk, &mut self.slopes);
            let of_features = self.of_features.iter_mut().enumerate();
            of_features.for_each(|(j, slope)| *slope = r.slope_of_feature(z, j));
        }
        for (w, carried) in w.chunks_exact(m).zip(carried.chunks_exact_mut(m)) {
            self.push(w, carried);
        }
        self.step(z);
    }
}
