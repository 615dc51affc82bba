//! Arnold's cat map, x ← x + y, y ← x + 2y, both modulo 1 (Arnold and Avez 1968).

use super::{Known, System, SystemInfo, Time, coordinates, draw_between, entry};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "arnold-cat",
        "Arnold's cat map of the torus, with exponents known exactly",
        "x ← x + y  (mod 1)\n\
         y ← x + 2y  (mod 1)\n\
         Initial state uniform. The exponents are ± ln((3 + √5)/2).",
        &[],
        &["arnold1968"],
    ),
    time: Time::Map,
    build: |_| Box::new(ArnoldCat),
    known: &[Known {
        set: &[],
        exponents: &[0.962_423_650_119_206_9, -0.962_423_650_119_206_9],
        tolerance: 1e-12,
        source: "arnold1968",
    }],
};

struct ArnoldCat;

impl System for ArnoldCat {
    fn dim(&self) -> usize {
        2
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y] = coordinates(state);
        out.copy_from_slice(&[(x + y).rem_euclid(1.0), (x + 2.0 * y).rem_euclid(1.0)]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, _state: &[f64], jac: &mut [f64]) {
        jac.copy_from_slice(&[
            1.0, 1.0,
            1.0, 2.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_between(0.0, 1.0, rng, x);
    }
}
