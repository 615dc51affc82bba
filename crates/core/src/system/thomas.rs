//! Thomas' cyclically symmetric flow, x' = sin y − bx and cyclic (Thomas 1999).

use super::{Known, System, SystemInfo, Time, coordinates, entry, real};

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "thomas",
        "Thomas' cyclically symmetric flow",
        "x' = sin y − bx\n\
         y' = sin z − by\n\
         z' = sin x − bz\n\
         Initial state standard normal. The exponents sum to −3b.",
        &[real("b", "0.18", "friction b")],
        &["thomas1999", "sprott2007"],
    ),
    time: Time::Flow { dt: 0.2 },
    build: |s| Box::new(Thomas { b: s.real("b") }),
    known: &[Known {
        set: &[],
        exponents: &[0.0349, 0.0, -0.5749],
        tolerance: 0.0005,
        source: "sprott2007",
    }],
};

struct Thomas {
    b: f64,
}

impl System for Thomas {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[
            y.sin() - self.b * x,
            z.sin() - self.b * y,
            x.sin() - self.b * z,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        jac.copy_from_slice(&[
            -self.b, y.cos(), 0.0,
            0.0, -self.b, z.cos(),
            x.cos(), 0.0, -self.b,
        ]);
    }
}
