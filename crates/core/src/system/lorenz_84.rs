//! Lorenz' smallest model of the general circulation of the atmosphere (1984),
//! x' = −y² − z² − ax + aF, y' = xy − bxz − y + G, z' = bxy + xz − z.

use super::{System, SystemInfo, Time, coordinates, entry, real};

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "lorenz-84",
        "Lorenz's smallest model of the atmosphere's general circulation",
        "x' = −y² − z² − ax + aF\n\
         y' = xy − bxz − y + G\n\
         z' = bxy + xz − z\n\
         Initial state standard normal.",
        &[
            real("a", "0.25", "damping a of the westerly wind"),
            real("b", "4", "displacement b of the eddies"),
            real("f", "8", "symmetric heating F"),
            real("g", "1", "asymmetric heating G"),
        ],
        &["lorenz1984"],
    ),
    time: Time::Flow { dt: 0.05 },
    build: |s| {
        Box::new(Lorenz84 {
            a: s.real("a"),
            b: s.real("b"),
            f: s.real("f"),
            g: s.real("g"),
        })
    },
    known: &[],
};

struct Lorenz84 {
    a: f64,
    b: f64,
    f: f64,
    g: f64,
}

impl System for Lorenz84 {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[
            -y * y - z * z - self.a * x + self.a * self.f,
            x * y - self.b * x * z - y + self.g,
            self.b * x * y + x * z - z,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        jac.copy_from_slice(&[
            -self.a, -2.0 * y, -2.0 * z,
            y - self.b * z, x - 1.0, -self.b * x,
            self.b * y + z, self.b * x, x - 1.0,
        ]);
    }
}
