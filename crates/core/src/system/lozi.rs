//! Lozi's piecewise-linear map, x ← 1 − a|x| + y, y ← bx (Lozi 1978).

use super::{Known, System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "lozi",
        "Lozi's piecewise-linear map of the plane",
        "x ← 1 − a|x| + y\n\
         y ← bx\n\
         Initial state normal with s.d. 0.1. The exponents sum to ln |b|; fixed points are x = 1/(1 + a − b) and x = 1/(1 − a − b).",
        &[
            real("a", "1.7", "parameter a"),
            real("b", "0.5", "parameter b"),
        ],
        &["lozi1978", "sprott2003"],
    ),
    time: Time::Map,
    build: |s| {
        Box::new(Lozi {
            a: s.real("a"),
            b: s.real("b"),
        })
    },
    known: &[Known {
        set: &[],
        exponents: &[0.4702, -1.1633],
        tolerance: 0.0001,
        source: "sprott2003",
    }],
};

struct Lozi {
    a: f64,
    b: f64,
}

impl System for Lozi {
    fn dim(&self) -> usize {
        2
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y] = coordinates(state);
        out.copy_from_slice(&[1.0 - self.a * x.abs() + y, self.b * x]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, _] = coordinates(state);
        jac.copy_from_slice(&[
            -self.a * x.signum(), 1.0,
            self.b, 0.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[0.0; 2], 0.1, rng, x);
    }
}
