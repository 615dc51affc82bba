//! Ikeda's map of light in a ring cavity, z ← R + u z exp(i(κ − α/(1 + |z|²))) for complex z (Ikeda 1979; Hammel,
//! Jones and Moloney 1985).

use super::{Known, System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "ikeda",
        "Ikeda's map of light in a ring cavity",
        "x ← R + u(x cos τ − y sin τ)\n\
         y ← u(x sin τ + y cos τ)\n\
         τ = κ − α/(1 + x² + y²)\n\
         Initial state normal with s.d. 0.1. The exponents sum to 2 ln |u|.",
        &[
            real("r", "1", "amplitude R of the incoming light"),
            real("u", "0.9", "fraction u that stays in the cavity"),
            real("kappa", "0.4", "detuning κ"),
            real("alpha", "6", "nonlinear phase α"),
        ],
        &["ikeda1979", "hammel1985", "sprott2003"],
    ),
    time: Time::Map,
    build: |s| {
        Box::new(Ikeda {
            r: s.real("r"),
            u: s.real("u"),
            kappa: s.real("kappa"),
            alpha: s.real("alpha"),
        })
    },
    known: &[Known {
        set: &[],
        exponents: &[0.5076, -0.7183],
        tolerance: 0.0001,
        source: "sprott2003",
    }],
};

struct Ikeda {
    r: f64,
    u: f64,
    kappa: f64,
    alpha: f64,
}

impl System for Ikeda {
    fn dim(&self) -> usize {
        2
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y] = coordinates(state);
        let (s, c) = (self.kappa - self.alpha / (1.0 + x * x + y * y)).sin_cos();
        out.copy_from_slice(&[self.r + self.u * (x * c - y * s), self.u * (x * s + y * c)]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y] = coordinates(state);
        let size = 1.0 + x * x + y * y;
        let (s, c) = (self.kappa - self.alpha / size).sin_cos();
        let (tau_x, tau_y) = (2.0 * self.alpha * x / (size * size), 2.0 * self.alpha * y / (size * size));
        jac.copy_from_slice(&[
            self.u * (c - (x * s + y * c) * tau_x), self.u * (-s - (x * s + y * c) * tau_y),
            self.u * (s + (x * c - y * s) * tau_x), self.u * (c + (x * c - y * s) * tau_y),
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[0.0; 2], 0.1, rng, x);
    }
}
