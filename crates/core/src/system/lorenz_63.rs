//! Lorenz's convection model, x' = σ(y − x), y' = x(ρ − z) − y, z' = xy − βz (Lorenz 1963).

use super::{Known, System, SystemInfo, Time, coordinates, entry, real};

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "lorenz63",
        "Lorenz's three-dimensional convection model",
        "x' = σ(y − x)\n\
         y' = x(ρ − z) − y\n\
         z' = xy − βz\n\
         Initial state standard normal. The exponents sum to −(σ + 1 + β).",
        &[
            real("sigma", "10", "Prandtl number σ"),
            real("rho", "28", "relative Rayleigh number ρ"),
            real("beta", "2.6666666666666665", "aspect ratio β"),
        ],
        &["lorenz1963", "sprott2003", "hess2023"],
    ),
    time: Time::Flow { dt: 0.01 },
    build: |s| {
        Box::new(Lorenz63 {
            sigma: s.real("sigma"),
            rho: s.real("rho"),
            beta: s.real("beta"),
        })
    },
    known: &[Known {
        set: &[],
        exponents: &[0.9056, 0.0, -14.5723],
        tolerance: 0.0001,
        source: "sprott2003",
    }],
};

struct Lorenz63 {
    sigma: f64,
    rho: f64,
    beta: f64,
}

impl System for Lorenz63 {
    fn dim(&self) -> usize {
        3
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        out.copy_from_slice(&[
            self.sigma * (y - x),
            x * (self.rho - z) - y,
            x * y - self.beta * z,
        ]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y, z] = coordinates(state);
        jac.copy_from_slice(&[
            -self.sigma, self.sigma, 0.0,
            self.rho - z, -1.0, -x,
            y, x, -self.beta,
        ]);
    }
}
