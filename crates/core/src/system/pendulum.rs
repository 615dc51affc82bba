//! The damped driven pendulum, q'' + bq' + sin q = A sin φ, φ' = ω.

use super::{Known, System, SystemInfo, Time, coordinates, draw_around, entry, named, real};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "pendulum",
        "Damped pendulum under a periodic torque",
        "q' = v\n\
         v' = −bv − sin q + A sin φ\n\
         φ' = ω\n\
         q and v start standard normal, φ at 0; observed are cos q, sin q, v, cos φ and sin φ. The exponents sum to −b.",
        &[
            real("damping", "0.05", "damping b"),
            real("amplitude", "0.6", "amplitude A of the torque"),
            real("omega", "0.7", "angular frequency ω of the torque"),
        ],
        &["sprott2003"],
    ),
    time: Time::Flow { dt: 0.1 },
    build: |s| {
        Box::new(Pendulum {
            damping: s.real("damping"),
            amplitude: s.real("amplitude"),
            omega: s.real("omega"),
        })
    },
    known: &[Known {
        set: &[],
        exponents: &[0.14, 0.0, -0.19],
        tolerance: 0.0001,
        source: "sprott2003",
    }],
};

struct Pendulum {
    damping: f64,
    amplitude: f64,
    omega: f64,
}

impl System for Pendulum {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [q, v, phase] = coordinates(state);
        out.copy_from_slice(&[
            v,
            -self.damping * v - q.sin() + self.amplitude * phase.sin(),
            self.omega,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [q, _, phase] = coordinates(state);
        jac.copy_from_slice(&[
            0.0, 1.0, 0.0,
            -q.cos(), -self.damping, self.amplitude * phase.cos(),
            0.0, 0.0, 0.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[0.0; 3], 1.0, rng, x);
        x[2] = 0.0;
    }

    fn channels(&self) -> Vec<String> {
        named(["cos_angle", "sin_angle", "v", "cos_phase", "sin_phase"])
    }

    fn observe(&self, x: &[f64], out: &mut [f64]) {
        let [q, v, phase] = coordinates(x);
        out.copy_from_slice(&[q.cos(), q.sin(), v, phase.cos(), phase.sin()]);
    }
}
