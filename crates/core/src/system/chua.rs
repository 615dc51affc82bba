//! Chua's circuit with its piecewise-linear diode, x' = α(y − x − f(x)), y' = x − y + z, z' = −βy,
//! f(x) = m₁x + ½(m₀ − m₁)(|x + 1| − |x − 1|) (Matsumoto 1984).

use super::{System, SystemInfo, Time, coordinates, draw_around, entry, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "chua",
        "Chua's circuit with a piecewise-linear diode",
        "x' = α(y − x − f(x))\n\
         y' = x − y + z\n\
         z' = −βy\n\
         f(x) = m₁x + ½(m₀ − m₁)(|x + 1| − |x − 1|)\n\
         Initial state normal with s.d. 0.01 around (0.7, 0, 0).",
        &[
            real("alpha", "15.6", "ratio of capacitances α"),
            real("beta", "28", "inverse inductance β"),
            real("m0", "-1.1428571428571428", "inner slope m₀ of the diode"),
            real("m1", "-0.7142857142857143", "outer slope m₁ of the diode"),
        ],
        &["matsumoto1984"],
    ),
    time: Time::Flow { dt: 0.02 },
    build: |s| {
        Box::new(Chua {
            alpha: s.real("alpha"),
            beta: s.real("beta"),
            m0: s.real("m0"),
            m1: s.real("m1"),
        })
    },
    known: &[],
};

struct Chua {
    alpha: f64,
    beta: f64,
    m0: f64,
    m1: f64,
}

impl System for Chua {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        let diode = self.m1 * x + 0.5 * (self.m0 - self.m1) * ((x + 1.0).abs() - (x - 1.0).abs());
        out.copy_from_slice(&[self.alpha * (y - x - diode), x - y + z, -self.beta * y]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, _, _] = coordinates(state);
        let slope = if x.abs() < 1.0 { self.m0 } else { self.m1 };
        jac.copy_from_slice(&[
            -self.alpha * (1.0 + slope), self.alpha, 0.0,
            1.0, -1.0, 1.0,
            0.0, -self.beta, 0.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[0.7, 0.0, 0.0], 0.01, rng, x);
    }
}
