//! Chirikov's standard map of a kicked rotor, p ← p + K sin θ, θ ← θ + p, both modulo 2π (Chirikov 1979).

use std::f64::consts::TAU;

use super::{System, SystemInfo, Time, coordinates, draw_between, entry, named, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "standard-map",
        "Chirikov's area-preserving map of a kicked rotor",
        "p ← p + K sin θ  (mod 2π)\n\
         θ ← θ + p  (mod 2π)\n\
         Initial state uniform. The exponents sum to 0. At the default the chaotic sea is nearly everything; near K = 0.97 it is not, and what is seen depends on the seed.",
        &[real("k", "6", "strength K of the kicks")],
        &["chirikov1979"],
    ),
    time: Time::Map,
    build: |s| Box::new(StandardMap { k: s.real("k") }),
    known: &[],
};

struct StandardMap {
    k: f64,
}

impl System for StandardMap {
    fn dim(&self) -> usize {
        2
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [theta, p] = coordinates(state);
        let kicked = p + self.k * theta.sin();
        out.copy_from_slice(&[(theta + kicked).rem_euclid(TAU), kicked.rem_euclid(TAU)]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [theta, _] = coordinates(state);
        jac.copy_from_slice(&[
            1.0 + self.k * theta.cos(), 1.0,
            self.k * theta.cos(), 1.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_between(0.0, TAU, rng, x);
    }

    fn channels(&self) -> Vec<String> {
        named(["theta", "p"])
    }
}
