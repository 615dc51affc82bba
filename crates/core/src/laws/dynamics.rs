//! What every fitted system must satisfy, whatever method it is from.

use super::{Broken, DIFFERENCE, NUDGE, ROUNDING, Verdict, compare, normals};
use crate::dynamics::{Dynamics, Sizes, Stretch, step_by_step};
use crate::method::{Method, tensors_of};
use crate::rng::Rng;
use crate::rows::Rows;

/// Steps that orbits are compared over: few enough that chaos does not magnify the rounding of single precision.
const STEPS: usize = 6;

/// Rounding of single precision, magnified over a few steps of maps of order one.
const SINGLE: f64 = 1e-3;

/// Orbits are made of steps: what [`Dynamics::orbit`], [`Dynamics::orbits`] and [`Dynamics::forecasts`] give from a row of the data
/// is what [`Dynamics::step`] and [`Dynamics::observe`] give, the last two up to single precision.
pub fn orbits_are_made_of_steps(dynamics: &dyn Dynamics, data: Stretch<'_>) -> Verdict {
    let start = (dynamics.memory().rows() - 1).max(1);
    let z = dynamics.states_at(data, &[start]);
    let n = dynamics.sizes().channels;
    let inputs = data.inputs_of(start..data.len());
    let steps = STEPS.min(data.len() - start - 1);
    let expected = step_by_step(dynamics, &z, inputs, steps);
    let orbit = dynamics.orbit(&z, inputs, steps);
    compare("an orbit is made of steps", &orbit, &expected, ROUNDING)?;
    let several = dynamics.orbits(data, &[start], inputs, steps).concat();
    compare("orbits are made of steps", &several, &expected, SINGLE)?;
    // The first row of an orbit is a forecast where a state shows the row after its own.
    let behind = &expected[(1 - dynamics.lead()) * n..];
    let ahead = behind.len() / n;
    let mut forecasts = dynamics.forecasts(data);
    forecasts.start(&[start]);
    let width = forecasts.width();
    let seen = forecasts.advance(ahead, ahead);
    let seen: Vec<f64> = seen.iter().copied().step_by(width).collect();
    compare("forecasts are made of steps", &seen, behind, SINGLE)
}

/// What a model file holds is the system: loaded from its tensors it has the same orbit, to the bit.
pub fn loading_gives_the_same_orbit(
    method: &'static Method,
    dynamics: &dyn Dynamics,
    data: Stretch<'_>,
) -> Verdict {
    const LAW: &str = "a loaded system has the same orbit";
    let loaded = (method.load)(method, &tensors_of(dynamics)).map_err(|error| Broken {
        law: LAW,
        detail: error.to_string(),
    })?;
    let start = dynamics.memory().rows() - 1;
    let inputs = data.inputs_of(start..data.len());
    let orbit = |dynamics: &dyn Dynamics| {
        let z = dynamics.states_at(data, &[start]);
        dynamics.orbit(&z, inputs, data.len() - start)
    };
    let (found, expected) = (orbit(loaded.as_ref()), orbit(dynamics));
    let same = |a: &f64, b: &f64| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
    if loaded.sizes() != dynamics.sizes()
        || found.len() != expected.len()
        || !found.iter().zip(&expected).all(|(a, b)| same(a, b))
    {
        return Err(Broken {
            law: LAW,
            detail: format!("{:?} and {:?}", loaded.sizes(), dynamics.sizes()),
        });
    }
    Ok(())
}

/// J u is the directional derivative of G at (z, s), with its inputs: (G(z + hu, s) − G(z − hu, s))/2h; and a tangent makes the same
/// step with the same Jacobian, written or applied to vectors.
pub fn jacobian_of_dynamics_matches_differences(
    dynamics: &dyn Dynamics,
    z: &[f64],
    s: &[f64],
    rng: &mut Rng,
) -> Verdict {
    let m = z.len();
    let u = normals(m, rng);
    let mut jac = vec![0.0; m * m];
    dynamics.jacobian(z, s, &mut jac);
    let along: Vec<f64> = jac
        .chunks_exact(m)
        .map(|row| row.iter().zip(&u).map(|(a, b)| a * b).sum())
        .collect();
    let at = |h: f64| {
        let moved: Vec<f64> = z.iter().zip(&u).map(|(z, u)| z + h * u).collect();
        let mut next = vec![0.0; m];
        dynamics.step(&moved, s, &mut next);
        next
    };
    let (up, down) = (at(NUDGE), at(-NUDGE));
    let differences = up.iter().zip(&down).map(|(a, b)| (a - b) / (2.0 * NUDGE));
    let differences: Vec<f64> = differences.collect();
    let law = "the Jacobian is that of the step";
    compare(law, &along, &differences, DIFFERENCE)?;
    let (mut advanced, mut written) = (z.to_vec(), vec![0.0; m * m]);
    dynamics.tangent().advance(&mut advanced, s, &mut written);
    compare(
        "a tangent makes the same step",
        &advanced,
        &at(0.0),
        ROUNDING,
    )?;
    compare("a tangent has the same Jacobian", &written, &jac, ROUNDING)?;
    let (mut advanced, mut carried) = (z.to_vec(), vec![0.0; 2 * m]);
    let vectors = [u.as_slice(), &u].concat();
    let mut tangent = dynamics.tangent();
    tangent.carry(&mut advanced, s, &vectors, &mut carried, &mut Vec::new());
    let step = at(0.0);
    compare("carrying makes the same step", &advanced, &step, ROUNDING)?;
    let expected = [along.as_slice(), &along].concat();
    compare("a tangent carries vectors", &carried, &expected, ROUNDING)
}

/// The state at a row is the one inferred from the whole past of that row.
pub fn following_is_inferring(dynamics: &dyn Dynamics, data: Stretch<'_>) -> Verdict {
    let m = dynamics.sizes().state;
    let first = dynamics.memory().rows() - 1;
    let rows: Vec<usize> = (first..data.len()).collect();
    let states = dynamics.states_at(data, &rows);
    let mut inferred = vec![0.0; m];
    for (&t, z) in rows.iter().zip(states.chunks_exact(m)) {
        dynamics.infer(data.slice(0..t + 1), &mut inferred);
        compare("following is inferring", z, &inferred, ROUNDING)?;
    }
    Ok(())
}

/// A state that shows the next row takes its own forecast in as it would take the row: following the data and then stepping is
/// inferring from the past with the forecast behind it.
pub fn stepping_is_taking_the_forecast_in(dynamics: &dyn Dynamics, data: Stretch<'_>) -> Verdict {
    let Sizes {
        state: m,
        channels: n,
        inputs: k,
        ..
    } = dynamics.sizes();
    if dynamics.lead() == 0 {
        return Ok(());
    }
    let past = data.len() - 1;
    let mut z = vec![0.0; m];
    dynamics.infer(data.slice(0..past), &mut z);
    let (mut x_hat, mut next) = (vec![0.0; n], vec![0.0; m]);
    dynamics.observe(&z, &mut x_hat);
    dynamics.step(&z, data.inputs_of(past..past + 1), &mut next);
    let rows = [&data.rows().values()[..past * n], &x_hat].concat();
    let whole = Stretch::new(Rows::new(&rows, n), &data.inputs()[..(past + 1) * k]);
    dynamics.infer(whole, &mut z);
    compare("stepping takes the forecast in", &next, &z, ROUNDING)
}

/// A state inferred from one row shows that row: where it can, for a system that has as many variables as channels or more.
pub fn a_row_is_shown_as_it_is(dynamics: &dyn Dynamics, data: Stretch<'_>) -> Verdict {
    let Sizes {
        state, channels, ..
    } = dynamics.sizes();
    let (mut z, mut x_hat) = (vec![0.0; state], vec![0.0; channels]);
    for t in 0..data.len() {
        dynamics.infer(data.slice(0..t + 1), &mut z);
        dynamics.observe(&z, &mut x_hat);
        compare("a row is shown as it is", &x_hat, data.row(t), DIFFERENCE)?;
    }
    Ok(())
}
