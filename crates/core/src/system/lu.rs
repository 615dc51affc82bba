//! Lü's flow between Lorenz' and Chen's, x' = a(y − x), y' = −xz + cy, z' = xy − bz (Lü and Chen 2002).

use super::{System, SystemInfo, Time, coordinates, entry, real};

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "lu",
        "Lü's flow, between Lorenz' and Chen's",
        "x' = a(y − x)\n\
         y' = −xz + cy\n\
         z' = xy − bz\n\
         Initial state standard normal. The exponents sum to c − a − b.",
        &[
            real("a", "36", "parameter a"),
            real("b", "3", "parameter b"),
            real("c", "20", "parameter c"),
        ],
        &["lu2002"],
    ),
    time: Time::Flow { dt: 0.005 },
    build: |s| {
        Box::new(Lu {
            a: s.real("a"),
            b: s.real("b"),
            c: s.real("c"),
        })
    },
    known: &[],
};

struct Lu {
    a: f64,
    b: f64,
    c: f64,
}

impl System for Lu {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[self.a * (y - x), -x * z + self.c * y, x * y - self.b * z]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        jac.copy_from_slice(&[
            -self.a, self.a, 0.0,
            -z, self.c, -x,
            y, x, -self.b,
        ]);
    }
}
