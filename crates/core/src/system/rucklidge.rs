//! Rucklidge's model of double convection, x' = −κx + λy − yz, y' = x, z' = −z + y² (Rucklidge 1992).

use super::{System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "rucklidge",
        "Rucklidge's model of double convection",
        "x' = −κx + λy − yz\n\
         y' = x\n\
         z' = −z + y²\n\
         Initial state normal with s.d. 0.1 around (1, 0, 4.5). The exponents sum to −κ − 1.",
        &[
            real("kappa", "2", "damping κ"),
            real("lambda", "6.7", "growth λ"),
        ],
        &["rucklidge1992"],
    ),
    time: Time::Flow { dt: 0.05 },
    build: |s| {
        Box::new(Rucklidge {
            kappa: s.real("kappa"),
            lambda: s.real("lambda"),
        })
    },
    known: &[],
};

struct Rucklidge {
    kappa: f64,
    lambda: f64,
}

impl System for Rucklidge {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[-self.kappa * x + self.lambda * y - y * z, x, -z + y * y]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [_, y, z] = coordinates(state);
        jac.copy_from_slice(&[
            -self.kappa, self.lambda - z, -y,
            1.0, 0.0, 0.0,
            0.0, 2.0 * y, -1.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[1.0, 0.0, 4.5], 0.1, rng, x);
    }
}
