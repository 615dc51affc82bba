//! Moore and Spiegel's oscillator of a fluid element in a star, x''' = −x'' − (T − R + Rx²)x' − Tx (1966).

use super::{System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "moore-spiegel",
        "Moore and Spiegel's thermally excited oscillator",
        "x' = y\n\
         y' = z\n\
         z' = −z − (T − R + Rx²)y − Tx\n\
         Initial state normal with s.d. 0.1. The exponents sum to −1.",
        &[
            real("t", "6", "restoring force T"),
            real("r", "20", "instability R"),
        ],
        &["moore1966"],
    ),
    time: Time::Flow { dt: 0.02 },
    build: |s| {
        Box::new(MooreSpiegel {
            t: s.real("t"),
            r: s.real("r"),
        })
    },
    known: &[],
};

struct MooreSpiegel {
    t: f64,
    r: f64,
}

impl System for MooreSpiegel {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[
            y,
            z,
            -z - (self.t - self.r + self.r * x * x) * y - self.t * x,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y, _] = coordinates(state);
        jac.copy_from_slice(&[
            0.0, 1.0, 0.0,
            0.0, 0.0, 1.0,
            -2.0 * self.r * x * y - self.t, -(self.t - self.r + self.r * x * x), -1.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[0.0; 3], 0.1, rng, x);
    }
}
