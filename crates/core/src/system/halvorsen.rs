//! Halvorsen's cyclically symmetric flow, x' = −ax − 4y − 4z − y² and cyclic (Sprott 2003).

use super::{Known, System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "halvorsen",
        "Halvorsen's cyclically symmetric flow",
        "x' = −ax − 4y − 4z − y²\n\
         y' = −ay − 4z − 4x − z²\n\
         z' = −az − 4x − 4y − x²\n\
         Initial state normal with s.d. 0.1 around (−5, 0, 0). The exponents sum to −3a.",
        &[real("a", "1.27", "damping a")],
        &["sprott2003"],
    ),
    time: Time::Flow { dt: 0.01 },
    build: |s| Box::new(Halvorsen { a: s.real("a") }),
    known: &[Known {
        set: &[],
        exponents: &[0.7899, 0.0, -4.5999],
        tolerance: 0.0001,
        source: "sprott2003",
    }],
};

struct Halvorsen {
    a: f64,
}

impl System for Halvorsen {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[
            -self.a * x - 4.0 * (y + z) - y * y,
            -self.a * y - 4.0 * (z + x) - z * z,
            -self.a * z - 4.0 * (x + y) - x * x,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        jac.copy_from_slice(&[
            -self.a, -4.0 - 2.0 * y, -4.0,
            -4.0, -self.a, -4.0 - 2.0 * z,
            -4.0 - 2.0 * x, -4.0, -self.a,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[-5.0, 0.0, 0.0], 0.1, rng, x);
    }
}
