//! Hénon's map, x ← 1 − ax² + y, y ← bx (Hénon 1976).

use super::{Known, System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "henon",
        "Hénon's quadratic map of the plane",
        "x ← 1 − ax² + y\n\
         y ← bx\n\
         Initial state normal with s.d. 0.1. The exponents sum to ln |b|.",
        &[
            real("a", "1.4", "parameter a"),
            real("b", "0.3", "parameter b"),
        ],
        &["henon1976", "sprott2003"],
    ),
    time: Time::Map,
    build: |s| {
        Box::new(Henon {
            a: s.real("a"),
            b: s.real("b"),
        })
    },
    known: &[Known {
        set: &[],
        exponents: &[0.41922, -1.62319],
        tolerance: 1e-05,
        source: "sprott2003",
    }],
};

struct Henon {
    a: f64,
    b: f64,
}

impl System for Henon {
    fn dim(&self) -> usize {
        2
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y] = coordinates(state);
        out.copy_from_slice(&[1.0 - self.a * x * x + y, self.b * x]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, _] = coordinates(state);
        jac.copy_from_slice(&[
            -2.0 * self.a * x, 1.0,
            self.b, 0.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[0.0; 2], 0.1, rng, x);
    }
}
