//! Hénon and Heiles' star in a galaxy, a conservative flow with the Hamiltonian
//! H = ½(p_x² + p_y² + x² + y²) + x²y − y³/3 (1964).

use super::{System, SystemInfo, Time, coordinates, entry, named};
use crate::rng::Rng;
use crate::settings::{Domain, Setting};

pub(super) static INFO: SystemInfo = SystemInfo {
    entry: entry(
        "henon-heiles",
        "Hénon and Heiles' conservative flow of a star in a galaxy",
        "x'  = p_x\n\
         y'  = p_y\n\
         p_x' = −x − 2xy\n\
         p_y' = −y − x² + y²\n\
         H = ½(p_x² + p_y² + x² + y²) + x²y − y³/3 is conserved. The initial state has x = 0, y and p_y normal with \
         s.d. 0.05, and p_x ≥ 0 such that H is the energy asked for; orbits are bounded below H = 1/6.",
        &[Setting {
            name: "energy",
            default: "0.16",
            domain: Domain::Real {
                low: 0.02,
                high: 1.0 / 6.0,
            },
            about: "energy H of the initial state",
        }],
        &["henon1964"],
    ),
    time: Time::Flow { dt: 0.1 },
    build: |s| {
        Box::new(HenonHeiles {
            energy: s.real("energy"),
        })
    },
    known: &[],
};

struct HenonHeiles {
    energy: f64,
}

impl System for HenonHeiles {
    fn dim(&self) -> usize {
        4
    }

    fn evaluate(&self, state: &[f64], out: &mut [f64]) {
        let [x, y, p_x, p_y] = coordinates(state);
        out.copy_from_slice(&[p_x, p_y, -x - 2.0 * x * y, -y - x * x + y * y]);
    }

    #[rustfmt::skip] // one row per line
    fn jacobian(&self, state: &[f64], jac: &mut [f64]) {
        let [x, y, _, _] = coordinates(state);
        jac.copy_from_slice(&[
            0.0, 0.0, 1.0, 0.0,
            0.0, 0.0, 0.0, 1.0,
            -1.0 - 2.0 * y, -2.0 * x, 0.0, 0.0,
            -2.0 * x, -1.0 + 2.0 * y, 0.0, 0.0,
        ]);
    }

    fn draw_initial(&self, rng: &mut Rng, x: &mut [f64]) {
        loop {
            let (y, p_y) = (0.05 * rng.normal(), 0.05 * rng.normal());
            let p_x_squared = 2.0 * self.energy - p_y * p_y - y * y + 2.0 / 3.0 * y * y * y;
            if p_x_squared >= 0.0 {
                x.copy_from_slice(&[0.0, y, p_x_squared.sqrt(), p_y]);
                return;
            }
        }
    }

    fn channels(&self) -> Vec<String> {
        named(["x", "y", "px", "py"])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Stream;
    use crate::system::integrate::{Dop853, Tolerance};

    #[test]
    fn the_energy_is_the_one_asked_for_and_stays() {
        let energy = |s: &[f64]| {
            let [x, y, p_x, p_y] = coordinates(s);
            0.5 * (p_x * p_x + p_y * p_y + x * x + y * y) + x * x * y - y.powi(3) / 3.0
        };
        let system = HenonHeiles { energy: 0.125 };
        let mut x = [0.0; 4];
        system.draw_initial(&mut Rng::new(5, Stream::InitialState), &mut x);
        assert!((energy(&x) - 0.125).abs() < 1e-15);
        let mut orbit = Dop853::new(
            |x: &[f64], dx: &mut [f64]| system.evaluate(x, dx),
            &x,
            Tolerance::relative(1e-12),
        );
        orbit.state_at(100.0, &mut x).unwrap();
        // At most the tolerance a step, some 300 steps, times |∇H| < 1.
        assert!((energy(&x) - 0.125).abs() < 3e-10, "{}", energy(&x) - 0.125);
    }
}
