//! The Tinkerbell map, x ← x² − y² + ax + by, y ← 2xy + cx + dy (Nusse and Yorke 1997).

use super::{System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "tinkerbell",
        "The Tinkerbell map of the plane",
        "x ← x² − y² + ax + by\n\
         y ← 2xy + cx + dy\n\
         Initial state normal with s.d. 0.001 around (−0.72, −0.64); the basin is small.",
        &[
            real("a", "0.9", "parameter a"),
            real("b", "-0.6013", "parameter b"),
            real("c", "2", "parameter c"),
            real("d", "0.5", "parameter d"),
        ],
        &["nusse1997"],
    ),
    time: Time::Map,
    build: |s| {
        Box::new(Tinkerbell {
            a: s.real("a"),
            b: s.real("b"),
            c: s.real("c"),
            d: s.real("d"),
        })
    },
    known: &[],
};

struct Tinkerbell {
    a: f64,
    b: f64,
    c: f64,
    d: f64,
}

impl System for Tinkerbell {
    fn dim(&self) -> usize {
        2
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y] = coordinates(state);
        out.copy_from_slice(&[
            x * x - y * y + self.a * x + self.b * y,
            2.0 * x * y + self.c * x + self.d * y,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y] = coordinates(state);
        jac.copy_from_slice(&[
            2.0 * x + self.a, -2.0 * y + self.b,
            2.0 * y + self.c, 2.0 * x + self.d,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[-0.72, -0.64], 0.001, rng, x);
    }
}
