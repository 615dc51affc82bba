//! Rulkov's map of a bursting neuron, x ← α/(1 + x²) + y, y ← y − σx − β (Rulkov 2001).

use super::{System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "rulkov",
        "Rulkov's map of a chaotically bursting neuron",
        "x ← α/(1 + x²) + y\n\
         y ← y − σx − β\n\
         Initial state normal with s.d. 0.1 around (−1, −3).",
        &[
            real("alpha", "4.1", "excitability α"),
            real("sigma", "0.001", "rate σ of the slow variable"),
            real("beta", "0.001", "drift β of the slow variable"),
        ],
        &["rulkov2001"],
    ),
    time: Time::Map,
    build: |s| {
        Box::new(Rulkov {
            alpha: s.real("alpha"),
            sigma: s.real("sigma"),
            beta: s.real("beta"),
        })
    },
    known: &[],
};

struct Rulkov {
    alpha: f64,
    sigma: f64,
    beta: f64,
}

impl System for Rulkov {
    fn dim(&self) -> usize {
        2
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y] = coordinates(state);
        out.copy_from_slice(&[
            self.alpha / (1.0 + x * x) + y,
            y - self.sigma * x - self.beta,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, _] = coordinates(state);
        jac.copy_from_slice(&[
            -2.0 * self.alpha * x / (1.0 + x * x).powi(2), 1.0,
            -self.sigma, 1.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[-1.0, -3.0], 0.1, rng, x);
    }
}
