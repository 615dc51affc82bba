//! Chen's flow, x' = a(y − x), y' = (c − a)x − xz + cy, z' = xy − bz (Chen and Ueta 1999).

use super::{Known, System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "chen",
        "Chen's double scroll, dual to Lorenz'",
        "x' = a(y − x)\n\
         y' = (c − a)x − xz + cy\n\
         z' = xy − bz\n\
         Initial state normal around (−10, 0, 37). The exponents sum to c − a − b.",
        &[
            real("a", "35", "parameter a"),
            real("b", "3", "parameter b"),
            real("c", "28", "parameter c"),
        ],
        &["chen1999", "sprott2003"],
    ),
    time: Time::Flow { dt: 0.005 },
    build: |s| {
        Box::new(Chen {
            a: s.real("a"),
            b: s.real("b"),
            c: s.real("c"),
        })
    },
    known: &[Known {
        set: &[],
        exponents: &[2.0272, 0.0, -12.0272],
        tolerance: 0.0001,
        source: "sprott2003",
    }],
};

struct Chen {
    a: f64,
    b: f64,
    c: f64,
}

impl System for Chen {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[
            self.a * (y - x),
            (self.c - self.a) * x - x * z + self.c * y,
            x * y - self.b * z,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        jac.copy_from_slice(&[
            -self.a, self.a, 0.0,
            self.c - self.a - z, self.c, -x,
            y, x, -self.b,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[-10.0, 0.0, 37.0], 1.0, rng, x);
    }
}
