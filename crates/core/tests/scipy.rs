//! Our orbits against SciPy's: its DOP853 at a relative tolerance of 1e-12, with the equations written down a second
//! time in Python.
#![allow(
    clippy::unwrap_used,
    reason = "helpers of tests are not marked as tests"
)]

use std::env;
use std::process::Command;

use attractor_core::system::find;
use attractor_core::system::integrate::{Dop853, Tolerance};

const SCRIPT: &str = "
import numpy as np
from scipy.integrate import solve_ivp

def lorenz_96(t, x):
    return (np.roll(x, -1) - np.roll(x, 2)) * np.roll(x, 1) - x + 16

def multiscale(t, s):
    x, y, z = s[:8], s[8:72].reshape(8, 8), s[72:].reshape(8, 8, 8)
    r = lambda a, n: np.roll(a, -n, axis=-1)
    dx = r(x, -1) * (r(x, 1) - r(x, -2)) - x + 20 - y.sum(-1)
    dy = -100 * r(y, 1) * (r(y, 2) - r(y, -1)) - 10 * y + x[:, None] - z.sum(-1)
    dz = 100 * r(z, -1) * (r(z, 1) - r(z, -2)) - 100 * z + y[:, :, None]
    return np.concatenate([dx, dy.ravel(), dz.ravel()])

def neuron(t, s):
    v, n, h = s
    open = lambda half, k: 1 / (1 + np.exp((half - v) / k))
    current = 8 * (v + 80) + 20 * open(-20, 15) * (v - 60) + (10 * n + 25 * h) * (v + 90)
    current += 10.2 * v / (1 + 0.33 * np.exp(-0.0625 * v))
    return [-current / 6, open(-25, 5) - n, (open(-15, 5) - h) / 200]

flows = {
    'lorenz63': lambda t, s: [10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]],
    'rossler': lambda t, s: [-s[1] - s[2], s[0] + 0.2 * s[1], 0.2 + s[2] * (s[0] - 5.7)],
    'van-der-pol': lambda t, s: [s[1], 3 * (1 - s[0] ** 2) * s[1] - s[0] + 5 * np.sin(s[2]), 1.788],
    'bursting-neuron': neuron,
    'lorenz96': lorenz_96,
    'lorenz96-multiscale': multiscale,
}
for name, flow in flows.items():
    dim = {'lorenz96': 20, 'lorenz96-multiscale': 584}.get(name, 3)
    start = np.sin(1 + np.arange(dim))
    orbit = solve_ivp(flow, (0, 1), start, method='DOP853', rtol=1e-12, atol=1e-12)
    print(name, *(repr(float(v)) for v in orbit.y[:, -1]))
";

/// The states that SciPy reaches, by system, or nothing where it is not installed.
fn reference() -> Option<Vec<(String, Vec<f64>)>> {
    let python = env::var("ATTRACTOR_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let output = Command::new(python).args(["-c", SCRIPT]).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let parse = |line: &str| {
        let mut words = line.split(' ').map(str::to_string);
        let name = words.next().unwrap();
        (name, words.map(|word| word.parse().unwrap()).collect())
    };
    output
        .status
        .success()
        .then(|| text.lines().map(parse).collect())
}

/// Both are allowed 1e-12 per step and coordinate; errors of some 50 steps of each may add up and grow over one unit of
/// time by e^λ with λ < 18 at most in the multiscale system (6e7 for its worst coordinate), below 4 elsewhere.
#[test]
fn states_after_one_unit_of_time_agree() {
    let Some(reference) = reference() else {
        println!("skipped: SciPy is not installed (ATTRACTOR_PYTHON names the interpreter)");
        return;
    };
    assert_eq!(reference.len(), 6);
    for (name, expected) in reference {
        let system = find(&name).unwrap().with(&[]).unwrap();
        let start: Vec<f64> = (0..system.dim()).map(|m| (1.0 + m as f64).sin()).collect();
        let mut found = vec![0.0; system.dim()];
        let flow = |x: &[f64], dx: &mut [f64]| system.evaluate(x, dx);
        Dop853::new(flow, &start, Tolerance::relative(1e-12))
            .state_at(1.0, &mut found)
            .unwrap();
        let growth: f64 = if name == "lorenz96-multiscale" {
            18.0
        } else {
            4.0
        };
        let size = expected.iter().fold(1.0_f64, |m, v| m.max(v.abs()));
        let tolerance = 100.0 * 1e-12 * size * growth.exp();
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                (found - expected).abs() < tolerance,
                "{name}: {found}, not {expected}"
            );
        }
    }
}
