//! The simplest dissipative chaotic flow with a quadratic term, x''' = −ax'' + x'² − x (Sprott 1997).

use super::{Known, System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "sprott-jerk",
        "Sprott's simplest chaotic flow, a jerk equation with one quadratic term",
        "x' = y\n\
         y' = z\n\
         z' = −az + y² − x\n\
         Initial state normal with s.d. 0.01 around (0, 0, 1); the basin is small. The exponents sum to −a.",
        &[real("a", "2.017", "damping a")],
        &["sprott1997", "sprott2003"],
    ),
    time: Time::Flow { dt: 0.1 },
    build: |s| Box::new(SprottJerk { a: s.real("a") }),
    known: &[Known {
        set: &[],
        exponents: &[0.0551, 0.0, -2.0721],
        tolerance: 0.0001,
        source: "sprott2003",
    }],
};

struct SprottJerk {
    a: f64,
}

impl System for SprottJerk {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[y, z, -self.a * z + y * y - x]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [_, y, _] = coordinates(state);
        jac.copy_from_slice(&[
            0.0, 1.0, 0.0,
            0.0, 0.0, 1.0,
            -1.0, 2.0 * y, -self.a,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[0.0, 0.0, 1.0], 0.01, rng, x);
    }
}
