//! Rabinovich and Fabrikant's model of waves in plasma (1979),
//! x' = y(z − 1 + x²) + γx, y' = x(3z + 1 − x²) + γy, z' = −2z(α + xy).

use super::{Known, System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "rabinovich-fabrikant",
        "Rabinovich and Fabrikant's model of waves in a non-equilibrium medium",
        "x' = y(z − 1 + x²) + γx\n\
         y' = x(3z + 1 − x²) + γy\n\
         z' = −2z(α + xy)\n\
         Initial state normal with s.d. 0.01 around (−1, 0, 0.5). The exponents sum to 2(γ − α).",
        &[
            real("gamma", "0.87", "growth γ"),
            real("alpha", "1.1", "damping α"),
        ],
        &["rabinovich1979", "sprott2003"],
    ),
    time: Time::Flow { dt: 0.05 },
    build: |s| {
        Box::new(RabinovichFabrikant {
            gamma: s.real("gamma"),
            alpha: s.real("alpha"),
        })
    },
    known: &[Known {
        set: &[],
        exponents: &[0.1981, 0.0, -0.6581],
        tolerance: 0.0001,
        source: "sprott2003",
    }],
};

struct RabinovichFabrikant {
    gamma: f64,
    alpha: f64,
}

impl System for RabinovichFabrikant {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[
            y * (z - 1.0 + x * x) + self.gamma * x,
            x * (3.0 * z + 1.0 - x * x) + self.gamma * y,
            -2.0 * z * (self.alpha + x * y),
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        jac.copy_from_slice(&[
            2.0 * x * y + self.gamma, z - 1.0 + x * x, y,
            3.0 * z + 1.0 - 3.0 * x * x, self.gamma, 3.0 * x,
            -2.0 * y * z, -2.0 * x * z, -2.0 * (self.alpha + x * y),
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[-1.0, 0.0, 0.5], 0.01, rng, x);
    }
}
