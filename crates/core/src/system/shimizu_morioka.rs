//! Shimizu and Morioka's flow, x' = y, y' = (1 − z)x − ay, z' = −bz + x² (1980).

use super::{System, SystemInfo, Time, coordinates, entry, real};

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "shimizu-morioka",
        "Shimizu and Morioka's simplification of Lorenz's model at high Rayleigh number",
        "x' = y\n\
         y' = (1 − z)x − ay\n\
         z' = −bz + x²\n\
         Initial state standard normal. The exponents sum to −(a + b).",
        &[
            real("a", "0.75", "damping a"),
            real("b", "0.45", "damping b"),
        ],
        &["shimizu1980"],
    ),
    time: Time::Flow { dt: 0.05 },
    build: |s| {
        Box::new(ShimizuMorioka {
            a: s.real("a"),
            b: s.real("b"),
        })
    },
    known: &[],
};

struct ShimizuMorioka {
    a: f64,
    b: f64,
}

impl System for ShimizuMorioka {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[y, (1.0 - z) * x - self.a * y, -self.b * z + x * x]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, _, z] = coordinates(state);
        jac.copy_from_slice(&[
            0.0, 1.0, 0.0,
            1.0 - z, -self.a, -x,
            2.0 * x, 0.0, -self.b,
        ]);
    }
}
