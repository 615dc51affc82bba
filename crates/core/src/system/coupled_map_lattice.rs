//! Kaneko's ring of coupled logistic maps, x_i ← (1 − ε) f(x_i) + (ε/2)(f(x_{i−1}) + f(x_{i+1})), f(x) = 1 − ax²
//! (Kaneko 1989).

use super::{System, SystemInfo, Time, draw_between, entry, numbered, real, size};
use crate::rng::Rng;
use crate::settings::{Domain, Setting};

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "coupled-map-lattice",
        "Kaneko's ring of diffusively coupled logistic maps",
        "x_i ← (1 − ε) f(x_i) + (ε/2)(f(x_{i−1}) + f(x_{i+1})),  i = 1 … N, cyclic\n\
         f(x) = 1 − ax²\n\
         Initial state uniform in (−1, 1).",
        &[
            size("n", "16", 3, "number of sites N"),
            real("a", "1.9", "nonlinearity a"),
            Setting {
                name: "epsilon",
                default: "0.1",
                domain: Domain::FRACTION,
                about: "coupling ε",
            },
        ],
        &["kaneko1989"],
    ),
    time: Time::Map,
    build: |s| {
        Box::new(CoupledMapLattice {
            n: s.integer("n"),
            a: s.real("a"),
            epsilon: s.real("epsilon"),
        })
    },
    known: &[],
};

struct CoupledMapLattice {
    n: usize,
    a: f64,
    epsilon: f64,
}

impl System for CoupledMapLattice {
    fn dim(&self) -> usize {
        self.n
    }

    fn evaluate(&self, x: &[f64], out: &mut [f64]) {
        let n = self.n;
        let f = |i: usize| 1.0 - self.a * x[i] * x[i];
        for (i, out) in out.iter_mut().enumerate() {
            let neighbours = f((i + n - 1) % n) + f((i + 1) % n);
            *out = (1.0 - self.epsilon) * f(i) + 0.5 * self.epsilon * neighbours;
        }
    }

    fn jacobian(&self, x: &[f64], jac: &mut [f64]) {
        let n = self.n;
        jac.fill(0.0);
        for i in 0..n {
            let slope = |j: usize| -2.0 * self.a * x[j];
            jac[i * n + i] = (1.0 - self.epsilon) * slope(i);
            for j in [(i + n - 1) % n, (i + 1) % n] {
                jac[i * n + j] = 0.5 * self.epsilon * slope(j);
            }
        }
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        draw_between(-1.0, 1.0, rng, x);
    }

    fn channels(&self) -> Vec<String> {
        numbered("x", self.n)
    }
}
