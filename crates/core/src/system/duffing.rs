//! Duffing's driven oscillator, x'' + δx' + αx + βx³ = γ cos φ, φ' = ω (Duffing 1918; Ueda 1979).

use super::{
    Known, System, SystemInfo, Time, coordinates, draw_around, driven_channels, entry,
    observe_driven, real,
};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "duffing",
        "Duffing's driven oscillator with a cubic spring",
        "x' = v\n\
         v' = −δv − αx − βx³ + γ cos φ\n\
         φ' = ω\n\
         x and v start standard normal, φ at 0; observed are x, v, cos φ and sin φ. The exponents sum to −δ. α = 0, δ = 0.05, γ = 7.5, ω = 1 is Ueda's oscillator.",
        &[
            real("delta", "0.3", "damping δ"),
            real("alpha", "-1", "linear stiffness α"),
            real("beta", "1", "cubic stiffness β"),
            real("gamma", "0.5", "amplitude γ of the drive"),
            real("omega", "1.2", "angular frequency ω of the drive"),
        ],
        &["duffing1918", "ueda1979", "sprott2003"],
    ),
    time: Time::Flow { dt: 0.1 },
    build: |s| {
        Box::new(Duffing {
            delta: s.real("delta"),
            alpha: s.real("alpha"),
            beta: s.real("beta"),
            gamma: s.real("gamma"),
            omega: s.real("omega"),
        })
    },
    known: &[Known {
        set: &[
            ("delta", "0.05"),
            ("alpha", "0"),
            ("gamma", "7.5"),
            ("omega", "1"),
        ],
        exponents: &[0.1034, 0.0, -0.1534],
        tolerance: 0.0001,
        source: "sprott2003",
    }],
};

struct Duffing {
    delta: f64,
    alpha: f64,
    beta: f64,
    gamma: f64,
    omega: f64,
}

impl System for Duffing {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, v, phase] = coordinates(state);
        out.copy_from_slice(&[
            v,
            -self.delta * v - self.alpha * x - self.beta * x.powi(3) + self.gamma * phase.cos(),
            self.omega,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, _, phase] = coordinates(state);
        jac.copy_from_slice(&[
            0.0, 1.0, 0.0,
            -self.alpha - 3.0 * self.beta * x * x, -self.delta, -self.gamma * phase.sin(),
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
