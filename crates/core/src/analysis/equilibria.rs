//! Where a known system rests, to stand beside the fixed points of a model: F(x) = x of a map, f(x) = 0 of a flow, by Newton's method
//! from points of an orbit and from points scattered about it. The multipliers of a flow are those over a sampling step,
//!
//! ```text
//! μ = exp(λ Δt),   λ the eigenvalues of the Jacobian of f,
//! ```
//!
//! as a model of rows Δt apart has them.

use super::cycles::{Cycle, Expired, Found, Iterated, newton};
use crate::linalg::complex::Complex;
use crate::rng::{Rng, Stream};
use crate::series::mean_and_sd;
use crate::system::simulate::Simulation;
use crate::system::{System, Time};

/// Points of the orbit that Newton's method starts from, and as many about it.
const STARTS: usize = 200;

/// How far these are scattered, in spreads of the orbit.
const SCATTER: f64 = 3.0;

/// The fixed points that are found from an orbit of what is simulated, rows of M.
pub fn equilibria(simulation: &Simulation, orbit: &[f64], expired: Expired<'_>) -> Found {
    let system = simulation.system();
    let starts = starts(orbit, system.dim());
    match simulation.info().time {
        Time::Map => newton(&system.as_ref(), 1, &starts, expired),
        Time::Flow { .. } => {
            let found = newton(&Displaced(system.as_ref()), 1, &starts, expired);
            over_a_step(found, simulation.dt())
        }
    }
}

/// x + f(x), which has its fixed points where f is 0; its multipliers are 1 + λ.
struct Displaced<'a>(&'a dyn System);

impl Iterated for Displaced<'_> {
    fn dim(&self) -> usize {
        self.0.dim()
    }

    fn step(&self, x: &[f64], next: &mut [f64]) {
        self.0.evaluate(x, next);
        next.iter_mut().zip(x).for_each(|(next, x)| *next += x);
    }

    fn jacobian(&self, x: &[f64], jac: &mut [f64]) {
        self.0.jacobian(x, jac);
        let diagonal = jac.iter_mut().step_by(x.len() + 1);
        diagonal.for_each(|entry| *entry += 1.0);
    }
}

/// The same points with their multipliers over a sampling step, by descending modulus.
fn over_a_step(found: Found, dt: f64) -> Found {
    let over = |cycle: Cycle| {
        let multipliers = cycle.multipliers.iter();
        let mut multipliers: Vec<Complex> = multipliers
            .map(|one_more| ((one_more - Complex::ONE) * dt).exp())
            .collect();
        multipliers.sort_by(|a, b| b.norm().total_cmp(&a.norm()));
        Cycle {
            multipliers,
            ..cycle
        }
    };
    Found {
        cycles: found.cycles.into_iter().map(over).collect(),
        ..found
    }
}

/// Points of an orbit, and as many scattered about it.
fn starts(orbit: &[f64], dim: usize) -> Vec<f64> {
    let rows = orbit.chunks_exact(dim);
    let every = rows.len().div_ceil(STARTS).max(1);
    let on: Vec<f64> = rows.step_by(every).flatten().copied().collect();
    let column = |i: usize| orbit.iter().skip(i).step_by(dim).copied();
    let spread: Vec<f64> = (0..dim).map(|i| mean_and_sd(column(i)).1).collect();
    let mut rng = Rng::new(0, Stream::Starts);
    let about = on.iter().enumerate();
    let about: Vec<f64> = about
        .map(|(e, x)| x + SCATTER * spread[e % dim] * rng.normal())
        .collect();
    [on, about, vec![0.0; dim]].concat()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::stability::Kind;
    use crate::system::simulate::Request;

    fn of(system: &str) -> Found {
        let request = Request {
            transient: 500,
            ..Request::new(system, 2000)
        };
        let simulation = Simulation::check(&request).unwrap();
        equilibria(&simulation, &simulation.states().unwrap(), &|| false)
    }

    /// The origin, and the centres of the wings at ±√(β(ρ − 1)), ρ − 1. At the origin the eigenvalues are −β and
    /// (−σ − 1 ± √((σ + 1)² + 4σ(ρ − 1)))/2 = −11/2 ± √1201/2.
    #[test]
    fn lorenz_rests_at_three_points_none_of_which_is_stable() {
        let found = of("lorenz63");
        let points: Vec<&[f64]> = found
            .cycles
            .iter()
            .map(|c| c.points[0].as_slice())
            .collect();
        let r = 72f64.sqrt();
        let expected = [[-r, -r, 27.0], [0.0; 3], [r, r, 27.0]];
        assert_eq!(points.len(), 3);
        for (point, expected) in points.iter().zip(&expected) {
            let pairs = point.iter().zip(expected);
            assert!(
                pairs.clone().all(|(a, b)| (a - b).abs() < 1e-7),
                "{point:?}"
            );
        }
        assert!(found.cycles.iter().all(|c| c.kind() == Kind::Saddle));
        let root = 1201f64.sqrt();
        let rates = [(root - 11.0) / 2.0, -8.0 / 3.0, (-root - 11.0) / 2.0];
        for (found, rate) in found.cycles[1].multipliers.iter().zip(rates) {
            assert!((found.re - (0.01 * rate).exp()).abs() < 1e-9 && found.im.abs() < 1e-9);
        }
    }

    /// x = (−(1 − b) ± √((1 − b)² + 4a))/2a, of which the second lies off the attractor.
    #[test]
    fn maps_rest_where_they_give_what_they_get() {
        let found = of("henon");
        let (a, b) = (1.4, 0.3);
        let x = |sign: f64| (b - 1.0 + sign * ((1.0f64 - b).powi(2) + 4.0 * a).sqrt()) / (2.0 * a);
        let firsts: Vec<f64> = found.cycles.iter().map(|c| c.points[0][0]).collect();
        assert_eq!(firsts.len(), 2);
        assert!((firsts[0] - x(-1.0)).abs() < 1e-9 && (firsts[1] - x(1.0)).abs() < 1e-9);
    }

    /// A phase that goes on for ever rests nowhere.
    #[test]
    fn what_is_driven_never_rests() {
        assert_eq!(of("duffing").cycles.len(), 0);
    }
}
