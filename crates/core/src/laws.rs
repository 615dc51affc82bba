//! What every fitted system, map, observation model and forcing must satisfy. The project's tests run these on everything in
//! the lists; whoever adds a method or a map can run them too.
//!
//! A law takes what it judges and gives `Ok` or the figures that break it. Tolerances are relative to the size of
//! what is compared; each is derived where it stands.

mod dynamics;

pub use dynamics::{
    a_row_is_shown_as_it_is, following_is_inferring, jacobian_of_dynamics_matches_differences,
    loading_gives_the_same_orbit, orbits_are_made_of_steps, stepping_is_taking_the_forecast_in,
};

use crate::forcing::Forcing;
use crate::map::{Map, Point};
use crate::observation::Observation;
use crate::rng::Rng;

/// A law that does not hold, and the figures that show it.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{law}: {detail}")]
pub struct Broken {
    /// The law.
    pub law: &'static str,
    /// What was found.
    pub detail: String,
}

/// What a law gives.
pub type Verdict = Result<(), Broken>;

/// f64 sums of at most a few thousand products of order one.
const ROUNDING: f64 = 1e-11;

/// Half the width of central differences: their rounding error is 1e-16/1e-6, and a kink within 1e-6 is unlikely.
const NUDGE: f64 = 1e-6;

/// Rounding of a central difference relative to the function's size, with room for sums.
const DIFFERENCE: f64 = 1e-8;

/// dz of the pull-back is Jᵀd: for random u and d,  ⟨d, J u⟩ = ⟨dz, u⟩.
pub fn pull_back_is_the_transposed_jacobian(
    map: &dyn Map,
    theta: &[f64],
    at: Point<'_>,
    rng: &mut Rng,
) -> Verdict {
    let m = map.dims().latent;
    let (u, d) = (normals(m, rng), normals(m, rng));
    let mut jac = vec![0.0; m * m];
    map.jacobian(theta, at.z, &mut jac);
    let (dz, _) = pulled(map, theta, at, &d);
    let forward: f64 = jac
        .chunks_exact(m)
        .zip(&d)
        .map(|(row, d)| d * dot(row, &u))
        .sum();
    compare(
        "pull-back equals the transposed Jacobian",
        &[dot(&dz, &u)],
        &[forward],
        ROUNDING,
    )
}

/// J u is the directional derivative of F: (F(z + hu) − F(z − hu))/2h.
pub fn jacobian_matches_differences(
    map: &dyn Map,
    theta: &[f64],
    at: Point<'_>,
    rng: &mut Rng,
) -> Verdict {
    let m = map.dims().latent;
    let u = normals(m, rng);
    let moved = |h: f64| -> Vec<f64> {
        let z: Vec<f64> = at.z.iter().zip(&u).map(|(z, u)| z + h * u).collect();
        next(map, theta, Point { z: &z, s: at.s })
    };
    let differences: Vec<f64> = moved(NUDGE)
        .iter()
        .zip(moved(-NUDGE))
        .map(|(up, down)| (up - down) / (2.0 * NUDGE))
        .collect();
    let mut jac = vec![0.0; m * m];
    map.jacobian(theta, at.z, &mut jac);
    let product: Vec<f64> = jac.chunks_exact(m).map(|row| dot(row, &u)).collect();
    compare(
        "the Jacobian is the derivative",
        &product,
        &differences,
        DIFFERENCE,
    )
}

/// dθ of the pull-back is the gradient of ⟨d, F(z)⟩ in θ.
pub fn parameter_gradient_matches_differences(
    map: &dyn Map,
    theta: &[f64],
    at: Point<'_>,
    rng: &mut Rng,
) -> Verdict {
    let d = normals(map.dims().latent, rng);
    let (_, dtheta) = pulled(map, theta, at, &d);
    let value = |theta: &[f64]| dot(&next(map, theta, at), &d);
    gradient_matches_differences(
        "dθ of the pull-back is the gradient",
        &value,
        theta,
        &dtheta,
        DIFFERENCE,
    )
}

/// Inside a linear region F(z + hu) − F(z) = h J u exactly, up to rounding: for piecewise-linear maps only.
pub fn affine_within_a_region(
    map: &dyn Map,
    theta: &[f64],
    at: Point<'_>,
    rng: &mut Rng,
) -> Verdict {
    let m = map.dims().latent;
    let u = normals(m, rng);
    let h = 1e-4;
    let z: Vec<f64> = at.z.iter().zip(&u).map(|(z, u)| z + h * u).collect();
    let (mut jac, mut jac_moved) = (vec![0.0; m * m], vec![0.0; m * m]);
    map.jacobian(theta, at.z, &mut jac);
    map.jacobian(theta, &z, &mut jac_moved);
    if jac != jac_moved
        && jac
            .iter()
            .zip(&jac_moved)
            .any(|(a, b)| (a - b).abs() > 0.01)
    {
        // A border lies between the two points: another region, nothing to compare.
        return Ok(());
    }
    let here = next(map, theta, at);
    let there = next(map, theta, Point { z: &z, s: at.s });
    let linear: Vec<f64> = jac
        .chunks_exact(m)
        .zip(&here)
        .map(|(row, f)| f + h * dot(row, &u))
        .collect();
    compare(
        "inside a region the map is affine",
        &there,
        &linear,
        ROUNDING,
    )
}

/// Two maps (with their own parameters and states) make equal steps from random states.
pub fn equal_steps(a: (&dyn Map, &[f64]), b: (&dyn Map, &[f64]), rng: &mut Rng) -> Verdict {
    let dims = a.0.dims();
    for _ in 0..20 {
        let (z, s) = (normals(dims.latent, rng), normals(dims.inputs, rng));
        let at = Point { z: &z, s: &s };
        compare(
            "the maps are equal",
            &next(a.0, a.1, at),
            &next(b.0, b.1, at),
            ROUNDING,
        )?;
    }
    Ok(())
}

/// From any start, after the transient, ‖z‖ ≤ `bound`.
pub fn bounded(map: &dyn Map, theta: &[f64], bound: f64, steps: usize, rng: &mut Rng) -> Verdict {
    let s = vec![0.0; map.dims().inputs];
    let mut z: Vec<f64> = normals(map.dims().latent, rng)
        .iter()
        .map(|v| 100.0 * v)
        .collect();
    for step in 0..steps {
        z = next(map, theta, Point { z: &z, s: &s });
        let norm = dot(&z, &z).sqrt();
        // The start decays geometrically; a tenth of the steps is enough where the slowest factor is below 0.99.
        let settled = step > steps / 10;
        if !norm.is_finite() || settled && norm > bound * (1.0 + ROUNDING) {
            return broken(
                "orbits are bounded",
                format!("norm {norm} at step {step}, bound {bound}"),
            );
        }
    }
    Ok(())
}

/// The observation model's pull-back is its transpose, ⟨d, Bz⟩ = ⟨Bᵀd, z⟩, and inference inverts it:
/// x̂(z_1(x̂(z))) = x̂(z).
pub fn observation_is_consistent(observation: &Observation, own: &[f64], rng: &mut Rng) -> Verdict {
    let (z, d) = (
        normals(observation.latent, rng),
        normals(observation.dim_obs, rng),
    );
    let observe = |z: &[f64]| {
        let mut x = vec![0.0; observation.dim_obs];
        observation.observe(own, z, &mut x);
        x
    };
    let origin = observe(&vec![0.0; observation.latent]);
    let x = observe(&z);
    let linear: Vec<f64> = x.iter().zip(&origin).map(|(x, o)| x - o).collect();
    let mut dz = vec![0.0; observation.latent];
    observation.pull_back(own, &d, &mut dz);
    compare(
        "the observation's pull-back is its transpose",
        &[dot(&dz, &z)],
        &[dot(&d, &linear)],
        ROUNDING,
    )?;
    let mut inferred = vec![0.0; observation.latent];
    observation.initial_states(own).infer(&x, &mut inferred);
    // The condition number of a random matrix may cost three digits.
    compare(
        "inference inverts observation",
        &observe(&inferred),
        &x,
        1e3 * ROUNDING,
    )
}

/// Gains lie in [0, 1].
pub fn gains_are_fractions(forcing: &Forcing, window: usize) -> Verdict {
    match (1..=window)
        .map(|t| (t, forcing.gain(t)))
        .find(|(_, gain)| !(0.0..=1.0).contains(gain))
    {
        Some((t, gain)) => broken("gains are fractions", format!("gain {gain} at row {t}")),
        None => Ok(()),
    }
}

/// A gradient agrees with central differences of its function, relative to the gradient's largest entry.
pub fn gradient_matches_differences(
    law: &'static str,
    value: &dyn Fn(&[f64]) -> f64,
    theta: &[f64],
    gradient: &[f64],
    tolerance: f64,
) -> Verdict {
    let mut moved = theta.to_vec();
    let mut difference = |i: usize| {
        moved[i] = theta[i] + NUDGE;
        let up = value(&moved);
        moved[i] = theta[i] - NUDGE;
        let down = value(&moved);
        moved[i] = theta[i];
        (up - down) / (2.0 * NUDGE)
    };
    let differences: Vec<f64> = (0..theta.len()).map(&mut difference).collect();
    compare(law, gradient, &differences, tolerance)
}

/// What a batch gives is the mean of what its windows give alone: lanes do not see each other. `of_batch` maps
/// window starts to a gradient.
pub fn lanes_are_independent(
    of_batch: &dyn Fn(&[usize]) -> Vec<f64>,
    starts: &[usize],
    tolerance: f64,
) -> Verdict {
    let together = of_batch(starts);
    let mut mean = vec![0.0; together.len()];
    for &start in starts {
        let alone = of_batch(&[start]);
        mean.iter_mut()
            .zip(alone)
            .for_each(|(mean, g)| *mean += g / starts.len() as f64);
    }
    compare("lanes do not see each other", &together, &mean, tolerance)
}

/// Entries agree to `tolerance` times one plus the largest of them.
pub fn compare(law: &'static str, found: &[f64], expected: &[f64], tolerance: f64) -> Verdict {
    let scale = 1.0 + expected.iter().fold(0.0, |a: f64, b| a.max(b.abs()));
    compare_to_scale(law, found, expected, tolerance * scale)
}

/// Entries agree to `tolerance` times the largest of them.
pub fn compare_relative(
    law: &'static str,
    found: &[f64],
    expected: &[f64],
    tolerance: f64,
) -> Verdict {
    let scale = expected
        .iter()
        .fold(f64::MIN_POSITIVE, |a: f64, b| a.max(b.abs()));
    compare_to_scale(law, found, expected, tolerance * scale)
}

fn compare_to_scale(law: &'static str, found: &[f64], expected: &[f64], allowed: f64) -> Verdict {
    if found.len() != expected.len() {
        return broken(
            law,
            format!("{} entries, expected {}", found.len(), expected.len()),
        );
    }
    let differs = |&i: &usize| {
        let difference = (found[i] - expected[i]).abs();
        difference > allowed || difference.is_nan()
    };
    match (0..found.len()).find(differs) {
        Some(i) => broken(
            law,
            format!(
                "entry {i} is {}, expected {} within {allowed:e}",
                found[i], expected[i]
            ),
        ),
        None => Ok(()),
    }
}

fn broken(law: &'static str, detail: String) -> Verdict {
    Err(Broken { law, detail })
}

fn next(map: &dyn Map, theta: &[f64], at: Point<'_>) -> Vec<f64> {
    let mut next = vec![0.0; map.dims().latent];
    map.step(theta, at.z, at.s, &mut next);
    next
}

fn pulled(map: &dyn Map, theta: &[f64], at: Point<'_>, d: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let (mut dz, mut dtheta) = (vec![0.0; d.len()], vec![0.0; theta.len()]);
    map.pull_back(theta, at, d, &mut dz, &mut dtheta);
    (dz, dtheta)
}

fn normals(n: usize, rng: &mut Rng) -> Vec<f64> {
    (0..n).map(|_| rng.normal()).collect()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
