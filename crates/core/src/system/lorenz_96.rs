//! Lorenz's ring of N sites, x_k' = (x_{k+1} − x_{k−2}) x_{k−1} − x_k + F (Lorenz 1996).

use super::{Known, System, SystemInfo, Time, entry, numbered, real, size};

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "lorenz96",
        "Lorenz's ring of N sites with advection, damping and forcing",
        "x_k' = (x_{k+1} − x_{k−2}) x_{k−1} − x_k + F,  k = 1 … N, cyclic\n\
         Initial state standard normal. The quadratic terms conserve Σx²; x ≡ F is a fixed point; the exponents sum \
         to −N.",
        &[
            size("n", "20", 4, "number of sites N"),
            real("forcing", "16", "forcing F"),
        ],
        &["lorenz1996", "lorenz1998", "hess2023"],
    ),
    time: Time::Flow { dt: 0.01 },
    build: |s| {
        Box::new(Lorenz96 {
            n: s.integer("n"),
            forcing: s.real("forcing"),
        })
    },
    known: &[Known {
        set: &[("n", "40"), ("forcing", "8")],
        // Errors double in 2.1 days of 0.2 units of time: ln 2 / 0.42.
        exponents: &[1.65],
        tolerance: 0.04,
        source: "lorenz1998",
    }],
};

struct Lorenz96 {
    n: usize,
    forcing: f64,
}

impl System for Lorenz96 {
    fn dim(&self) -> usize {
        self.n
    }

    fn evaluate(&self, x: &[f64], out: &mut [f64]) {
        advect(x, out);
        for (out, x) in out.iter_mut().zip(x) {
            *out += self.forcing - x;
        }
    }

    fn jacobian(&self, x: &[f64], jac: &mut [f64]) {
        let n = self.n;
        jac.fill(0.0);
        for k in 0..n {
            let (two_back, back, ahead) = ((k + n - 2) % n, (k + n - 1) % n, (k + 1) % n);
            jac[k * n + ahead] += x[back];
            jac[k * n + two_back] -= x[back];
            jac[k * n + back] += x[ahead] - x[two_back];
            jac[k * n + k] -= 1.0;
        }
    }

    fn channels(&self) -> Vec<String> {
        numbered("x", self.n)
    }
}

/// The cyclic advection (x_{k+1} − x_{k−2}) x_{k−1}.
pub(super) fn advect(x: &[f64], out: &mut [f64]) {
    let n = x.len();
    let (mut two_back, mut back) = (x[n - 2], x[n - 1]);
    for k in 0..n {
        let ahead = if k + 1 < n { x[k + 1] } else { x[0] };
        out[k] = (ahead - two_back) * back;
        (two_back, back) = (back, x[k]);
    }
}
