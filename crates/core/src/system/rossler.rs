//! Rössler's band, x' = −y − z, y' = x + ay, z' = b + z(x − c) (Rössler 1976).

use super::{Known, System, SystemInfo, Time, coordinates, entry, real};

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "rossler",
        "Rössler's three-dimensional band",
        "x' = −y − z\n\
         y' = x + ay\n\
         z' = b + z(x − c)\n\
         Initial state standard normal.",
        &[
            real("a", "0.2", "parameter a"),
            real("b", "0.2", "parameter b"),
            real("c", "5.7", "parameter c"),
        ],
        &["rossler1976", "sprott2003"],
    ),
    time: Time::Flow { dt: 0.1 },
    build: |s| {
        Box::new(Rossler {
            a: s.real("a"),
            b: s.real("b"),
            c: s.real("c"),
        })
    },
    known: &[Known {
        set: &[],
        exponents: &[0.0714, 0.0, -5.3943],
        tolerance: 0.0001,
        source: "sprott2003",
    }],
};

struct Rossler {
    a: f64,
    b: f64,
    c: f64,
}

impl System for Rossler {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[-y - z, x + self.a * y, self.b + z * (x - self.c)]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, _, z] = coordinates(state);
        jac.copy_from_slice(&[
            0.0, -1.0, -1.0,
            1.0, self.a, 0.0,
            z, 0.0, x - self.c,
        ]);
    }
}
