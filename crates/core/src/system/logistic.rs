//! The logistic map, x ← rx(1 − x) (May 1976).

use super::{Known, System, SystemInfo, Time, coordinates, draw_between, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "logistic",
        "The logistic map of a population",
        "x ← rx(1 − x)\n\
         Initial state uniform in (0, 1). At r = 4 the exponent is ln 2.",
        &[real("r", "4", "growth rate r")],
        &["may1976"],
    ),
    time: Time::Map,
    build: |s| Box::new(Logistic { r: s.real("r") }),
    known: &[Known {
        set: &[],
        exponents: &[std::f64::consts::LN_2],
        tolerance: 0.0,
        source: "may1976",
    }],
};

struct Logistic {
    r: f64,
}

impl System for Logistic {
    fn dim(&self) -> usize {
        1
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x] = coordinates(state);
        out.copy_from_slice(&[self.r * x * (1.0 - x)]);
    }

    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x] = coordinates(state);
        jac.copy_from_slice(&[self.r * (1.0 - 2.0 * x)]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_between(0.0, 1.0, rng, x);
    }
}
