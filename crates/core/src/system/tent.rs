//! The tent map, x ← μ min(x, 1 − x).

use super::{Known, System, SystemInfo, Time, coordinates, draw_between, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "tent",
        "The piecewise-linear tent map",
        "x ← μ min(x, 1 − x)\n\
         Initial state uniform in (0, 1). The exponent is ln μ. With μ = 2 binary numbers run out of digits: the orbit falls to 0 after 53 steps.",
        &[real("mu", "1.9", "slope μ")],
        &["sprott2003"],
    ),
    time: Time::Map,
    build: |s| Box::new(Tent { mu: s.real("mu") }),
    known: &[Known {
        set: &[],
        exponents: &[0.641_853_886_172_394_8],
        tolerance: 1e-12,
        source: "sprott2003",
    }],
};

struct Tent {
    mu: f64,
}

impl System for Tent {
    fn dim(&self) -> usize {
        1
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x] = coordinates(state);
        out.copy_from_slice(&[self.mu * x.min(1.0 - x)]);
    }

    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x] = coordinates(state);
        jac.copy_from_slice(&[if x < 0.5 { self.mu } else { -self.mu }]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_between(0.0, 1.0, rng, x);
    }
}
