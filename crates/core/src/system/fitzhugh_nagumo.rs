//! FitzHugh and Nagumo's neuron with a periodic current (FitzHugh 1961),
//! v' = v − v³/3 − w + A cos φ, w' = ε(v + a − bw), φ' = ω.

use super::{
    System, SystemInfo, Time, coordinates, draw_around, entry, named, observe_driven, real,
};
use crate::rng::Rng;

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "fitzhugh-nagumo",
        "FitzHugh and Nagumo's neuron under a periodic current",
        "v' = v − v³/3 − w + A cos φ\n\
         w' = ε(v + a − bw)\n\
         φ' = ω\n\
         v and w start standard normal, φ at 0; observed are v, w, cos φ and sin φ. The default drive is \
         our choice, from a scan of A and ω for chaos at a = 0.7, b = 0.8, ε = 0.08.",
        &[
            real("a", "0.7", "excitability a"),
            real("b", "0.8", "recovery b"),
            real("epsilon", "0.08", "rate ε of the recovery"),
            real("amplitude", "0.875", "amplitude A of the current"),
            real("omega", "1", "angular frequency ω of the current"),
        ],
        &["fitzhugh1961"],
    ),
    time: Time::Flow { dt: 0.1 },
    build: |s| {
        Box::new(FitzhughNagumo {
            a: s.real("a"),
            b: s.real("b"),
            epsilon: s.real("epsilon"),
            amplitude: s.real("amplitude"),
            omega: s.real("omega"),
        })
    },
    known: &[],
};

struct FitzhughNagumo {
    a: f64,
    b: f64,
    epsilon: f64,
    amplitude: f64,
    omega: f64,
}

impl System for FitzhughNagumo {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [v, w, phase] = coordinates(state);
        out.copy_from_slice(&[
            v - v.powi(3) / 3.0 - w + self.amplitude * phase.cos(),
            self.epsilon * (v + self.a - self.b * w),
            self.omega,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [v, _, phase] = coordinates(state);
        jac.copy_from_slice(&[
            1.0 - v * v, -1.0, -self.amplitude * phase.sin(),
            self.epsilon, -self.epsilon * self.b, 0.0,
            0.0, 0.0, 0.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_around(&[0.0; 3], 1.0, rng, x);
        x[2] = 0.0;
    }

    fn channels(&self) -> Vec<String> {
        named(["v", "w", "cos_phase", "sin_phase"])
    }

    fn observe(&self, x: &[f64], out: &mut [f64]) {
        observe_driven(x, out);
    }
}
