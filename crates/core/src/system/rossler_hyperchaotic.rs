//! Rössler's four-dimensional flow with two positive exponents,
//! x' = −y − z, y' = x + ay + w, z' = b + xz, w' = −cz + dw (Rössler 1979).

use super::{Known, System, SystemInfo, Time, coordinates, draw_around, entry, named, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "rossler-hyperchaotic",
        "Rössler's four-dimensional flow with two positive exponents",
        "x' = −y − z\n\
         y' = x + ay + w\n\
         z' = b + xz\n\
         w' = −cz + dw\n\
         Initial state normal with s.d. 0.1 around (−10, −6, 0, 10).",
        &[
            real("a", "0.25", "parameter a"),
            real("b", "3", "parameter b"),
            real("c", "0.5", "parameter c"),
            real("d", "0.05", "parameter d"),
        ],
        &["rossler1979", "wolf1985"],
    ),
    time: Time::Flow { dt: 0.1 },
    build: |s| {
        Box::new(RosslerHyperchaotic {
            a: s.real("a"),
            b: s.real("b"),
            c: s.real("c"),
            d: s.real("d"),
        })
    },
    known: &[Known {
        set: &[],
        exponents: &[0.111, 0.021, 0.0],
        tolerance: 0.0035,
        source: "wolf1985",
    }],
};

struct RosslerHyperchaotic {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
}

impl System for RosslerHyperchaotic {
    fn dim(&self) -> usize {
        4
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z, w] = coordinates(state);
        out.copy_from_slice(&[
            -y - z,
            x + self.a * y + w,
            self.b + x * z,
            -self.c * z + self.d * w,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, _, z, _] = coordinates(state);
        jac.copy_from_slice(&[
            0.0, -1.0, -1.0, 0.0,
            1.0, self.a, 0.0, 1.0,
            z, 0.0, x, 0.0,
            0.0, 0.0, -self.c, self.d,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[-10.0, -6.0, 0.0, 10.0], 0.1, rng, x);
    }

    fn channels(&self) -> Vec<String> {
        named(["x", "y", "z", "w"])
    }
}
