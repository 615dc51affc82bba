//! Van der Pol's driven oscillator, x'' − b(1 − x²)x' + x = A sin φ, φ' = ω (van der Pol and van der Mark 1927).

use super::{
    Known, System, SystemInfo, Time, coordinates, draw_around, driven_channels, entry,
    observe_driven, real,
};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "van-der-pol",
        "Van der Pol's driven relaxation oscillator",
        "x' = v\n\
         v' = b(1 − x²)v − x + A sin φ\n\
         φ' = ω\n\
         x and v start standard normal, φ at 0; observed are x, v, cos φ and sin φ.",
        &[
            real("b", "3", "damping b"),
            real("amplitude", "5", "amplitude A of the drive"),
            real("omega", "1.788", "angular frequency ω of the drive"),
        ],
        &["vanderpol1927", "sprott2003"],
    ),
    time: Time::Flow { dt: 0.05 },
    build: |s| {
        Box::new(VanDerPol {
            b: s.real("b"),
            amplitude: s.real("amplitude"),
            omega: s.real("omega"),
        })
    },
    known: &[Known {
        set: &[],
        exponents: &[0.1932, 0.0, -2.0614],
        tolerance: 0.0001,
        source: "sprott2003",
    }],
};

struct VanDerPol {
    b: f64,
    amplitude: f64,
    omega: f64,
}

impl System for VanDerPol {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, v, phase] = coordinates(state);
        out.copy_from_slice(&[
            v,
            self.b * (1.0 - x * x) * v - x + self.amplitude * phase.sin(),
            self.omega,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, v, phase] = coordinates(state);
        jac.copy_from_slice(&[
            0.0, 1.0, 0.0,
            -2.0 * self.b * x * v - 1.0, self.b * (1.0 - x * x), self.amplitude * phase.cos(),
            0.0, 0.0, 0.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[0.0; 3], 1.0, rng, x);
        x[2] = 0.0;
    }

    fn channels(&self) -> Vec<String> {
        driven_channels()
    }

    fn observe(&self, x: &[f64], out: &mut [f64]) {
        observe_driven(x, out);
    }
}
