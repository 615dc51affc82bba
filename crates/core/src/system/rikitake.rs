//! Rikitake's two coupled dynamos, x' = −μx + yz, y' = −μy + x(z − a), z' = 1 − xy (Rikitake 1958).

use super::{Known, System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "rikitake",
        "Rikitake's two coupled disk dynamos, a model of the reversals of the Earth's field",
        "x' = −μx + yz\n\
         y' = −μy + x(z − a)\n\
         z' = 1 − xy\n\
         Initial state normal with s.d. 0.1 around (1, 0, 0.6). The exponents sum to −2μ.",
        &[
            real("mu", "1", "resistance μ"),
            real("a", "1", "difference a of the rotation rates"),
        ],
        &["rikitake1958", "sprott2003"],
    ),
    time: Time::Flow { dt: 0.05 },
    build: |s| {
        Box::new(Rikitake {
            mu: s.real("mu"),
            a: s.real("a"),
        })
    },
    known: &[Known {
        set: &[],
        exponents: &[0.1286, 0.0, -2.1286],
        tolerance: 0.0001,
        source: "sprott2003",
    }],
};

struct Rikitake {
    mu: f64,
    a: f64,
}

impl System for Rikitake {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[
            -self.mu * x + y * z,
            -self.mu * y + x * (z - self.a),
            1.0 - x * y,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        jac.copy_from_slice(&[
            -self.mu, z, y,
            z - self.a, -self.mu, x,
            -y, -x, 0.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[1.0, 0.0, 0.6], 0.1, rng, x);
    }
}
