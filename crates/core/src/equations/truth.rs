//! The equations of a known system in the terms of a fitted one: least squares of its right-hand side at random points around the data. Where the
//! system is a sum of these terms, they are its own coefficients, to rounding.

use super::{Equations, Factor, Side, Term};
use crate::linalg::{multiply, pseudo_inverse};
use crate::rng::{Rng, Stream};
use crate::series::Scaling;
use crate::system::{System, SystemInfo, Time};

/// A known system in terms that it may not be made of.
#[derive(Debug, Clone, PartialEq)]
pub enum InTerms {
    /// Its equations.
    Exact(Equations),
    /// It is no sum of these terms.
    Beyond,
    /// It has other variables, or is a map where the fitted system is a flow.
    Unlike,
}

/// Points per term.
const POINTS: usize = 3;

/// Terms up to which the fit takes no more than seconds.
const MOST_TERMS: usize = 1000;

/// What least squares leaves of a sum of its own terms, as a share of the whole, is below.
const ROUNDING: f64 = 1e-7;

/// The equations of a known system in the units of the data, in the terms of fitted equations.
pub fn of_system(
    info: &SystemInfo,
    system: &dyn System,
    fitted: &Equations,
    scaling: &Scaling,
) -> InTerms {
    let n = fitted.channels;
    let side = match info.time {
        Time::Flow { .. } => Side::Slope,
        Time::Map => Side::Next,
    };
    let has_inputs = fitted.candidates.iter().any(|f| uses_beyond(f, n));
    let is_seen = system.dim() == n && system.channels().len() == n;
    if side != fitted.side || !is_seen || has_inputs || fitted.candidates.len() > MOST_TERMS {
        return InTerms::Unlike;
    }
    let f = fitted.candidates.len();
    let rows = POINTS * f + 10;
    let (phi, y) = sample(system, fitted, scaling, rows);
    let mut c = vec![0.0; f * n];
    multiply(&pseudo_inverse(&phi, rows, f), &y, (f, rows, n), &mut c);
    let mut rest = vec![0.0; rows * n];
    multiply(&phi, &c, (rows, f, n), &mut rest);
    let squares = |v: &mut dyn Iterator<Item = f64>| v.map(|v| v * v).sum::<f64>().sqrt();
    let error = squares(&mut rest.iter().zip(&y).map(|(a, b)| a - b));
    if error > ROUNDING * squares(&mut y.iter().copied()) || !error.is_finite() {
        return InTerms::Beyond;
    }
    let sum = |i: usize| {
        let terms = fitted.candidates.iter().enumerate();
        let terms = terms.map(|(j, factor)| Term {
            coefficient: c[j * n + i],
            factor: factor.clone(),
        });
        terms.collect()
    };
    let scaled = Equations {
        sums: (0..n).map(sum).collect(),
        ..fitted.clone()
    };
    InTerms::Exact(scaled.in_units(scaling))
}

fn uses_beyond(factor: &Factor, channels: usize) -> bool {
    match factor {
        Factor::Product(factors) => factors.iter().any(|&v| v >= channels),
        Factor::Sine { variable, .. } | Factor::Cosine { variable, .. } => *variable >= channels,
    }
}

/// Terms and right-hand sides at random points, both as a scaled model sees them.
fn sample(
    system: &dyn System,
    fitted: &Equations,
    scaling: &Scaling,
    rows: usize,
) -> (Vec<f64>, Vec<f64>) {
    let n = fitted.channels;
    let mut rng = Rng::new(0, Stream::MonteCarlo);
    let (mut phi, mut y) = (Vec::new(), Vec::new());
    let mut out = vec![0.0; n];
    for _ in 0..rows {
        let x: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
        let u: Vec<f64> = (0..n)
            .map(|i| scaling.mean[i] + scaling.sd[i] * x[i])
            .collect();
        system.evaluate(&u, &mut out);
        phi.extend(fitted.candidates.iter().map(|factor| factor.value(&x)));
        y.extend((0..n).map(|i| match fitted.side {
            Side::Slope => out[i] / scaling.sd[i],
            Side::Next => (out[i] - scaling.mean[i]) / scaling.sd[i],
        }));
    }
    (phi, y)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::equations::Names;
    use crate::system::find;

    fn quadratic(n: usize, side: Side) -> Equations {
        let mut candidates = vec![Factor::Product(vec![])];
        candidates.extend((0..n).map(|i| Factor::Product(vec![i])));
        candidates.extend((0..n).flat_map(|i| (i..n).map(move |j| Factor::Product(vec![i, j]))));
        Equations {
            side,
            channels: n,
            sums: vec![Vec::new(); n],
            candidates,
        }
    }

    fn text(system: &str, n: usize, side: Side) -> Option<Vec<String>> {
        let info = find(system).unwrap();
        let built = info.with(&[]).unwrap();
        let scaling = Scaling {
            mean: vec![0.4, -0.7, 23.5][..n].to_vec(),
            sd: vec![7.9, 9.0, 8.6][..n].to_vec(),
        };
        match of_system(info, built.as_ref(), &quadratic(n, side), &scaling) {
            InTerms::Exact(equations) => Some(equations.text(&Names::new(built.channels()))),
            _ => None,
        }
    }

    #[test]
    fn the_equations_of_known_systems_are_found_whatever_the_scaling() {
        assert_eq!(
            text("lorenz63", 3, Side::Slope).unwrap(),
            [
                "dx/dt = -10 x + 10 y",
                "dy/dt = 28 x - y - x z",
                "dz/dt = -2.667 z + x y"
            ]
        );
        assert_eq!(
            text("henon", 2, Side::Next).unwrap(),
            ["x(t+1) = 1 + y - 1.4 x^2", "y(t+1) = 0.3 x"]
        );
    }

    #[test]
    fn other_systems_are_told_apart() {
        // The tent map is piecewise linear; Hénon's is no flow.
        assert_eq!(text("ikeda", 2, Side::Next), None);
        assert_eq!(text("henon", 2, Side::Slope), None);
    }
}
