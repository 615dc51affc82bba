//! Coefficients that are known to be zero, as a user writes them: `x: 1, y z; y: z^2` are the terms 1 and y z in the equation of x, and z²
//! in that of y.

use super::SindyError;
use super::library::{Feature, Library};
use super::sparse::Supports;
use crate::series::Series;

/// Every equation.
const ALL: &str = "all";

/// The terms that each equation may have.
pub(super) fn candidates(
    zero: &str,
    library: &Library,
    data: &Series,
) -> Result<Supports, SindyError> {
    let names: Vec<&str> = data
        .channels()
        .iter()
        .chain(data.inputs())
        .map(|channel| channel.name.as_str())
        .collect();
    let n = data.dim_obs();
    let mut candidates: Supports = vec![(0..library.len()).collect(); n];
    for part in zero
        .split(';')
        .map(str::trim)
        .filter(|part| !part.is_empty())
    {
        let (equation, terms) = part.split_once(':').ok_or_else(|| SindyError::NoColon {
            part: part.to_string(),
        })?;
        let equations = equations(equation.trim(), &names[..n])?;
        for term in terms.split(',').map(str::trim) {
            let zero = place(term, library, &names)?;
            for &i in &equations {
                candidates[i].retain(|&j| j != zero);
            }
        }
    }
    Ok(candidates)
}

/// Which equations a name stands for; a channel that is named `all` comes first.
fn equations(name: &str, channels: &[&str]) -> Result<Vec<usize>, SindyError> {
    match channels.iter().position(|channel| *channel == name) {
        Some(i) => Ok(vec![i]),
        None if name == ALL => Ok((0..channels.len()).collect()),
        None => Err(SindyError::NoEquation {
            name: name.to_string(),
            channels: channels.iter().map(ToString::to_string).collect(),
        }),
    }
}

/// The place of a term in the library.
fn place(term: &str, library: &Library, names: &[&str]) -> Result<usize, SindyError> {
    let feature = feature(term, names);
    let place = feature.and_then(|feature| library.features().iter().position(|f| *f == feature));
    place.ok_or_else(|| SindyError::NoCandidate {
        term: term.to_string(),
        example: match names {
            [one] => format!("1, {one}, {one}^2, sin({one})"),
            [first, .., last] => format!("1, {first}, {first} {last}, {last}^2, sin({last})"),
            [] => "1".to_string(),
        },
    })
}

fn feature(term: &str, names: &[&str]) -> Option<Feature> {
    let variable = |name: &str| names.iter().position(|known| *known == name);
    let wave = |wave: &str| term.strip_prefix(wave)?.strip_suffix(')');
    let inside = |text: &str| match text.trim().split_once([' ', '*']) {
        Some((k, name)) => Some((k.trim().parse().ok()?, variable(name.trim())?)),
        None => Some((1, variable(text.trim())?)),
    };
    if let Some(text) = wave("sin(") {
        let (frequency, variable) = inside(text)?;
        return Some(Feature::Sine {
            variable,
            frequency,
        });
    }
    if let Some(text) = wave("cos(") {
        let (frequency, variable) = inside(text)?;
        return Some(Feature::Cosine {
            variable,
            frequency,
        });
    }
    let mut factors = Vec::new();
    for factor in term
        .split([' ', '*'])
        .filter(|f| !f.is_empty() && *f != "1")
    {
        let (name, power) = match factor.split_once('^') {
            Some((name, power)) => (name, power.parse().ok().filter(|&p| p <= super::MOST)?),
            None => (factor, 1),
        };
        factors.extend(std::iter::repeat_n(variable(name)?, power));
    }
    factors.sort_unstable();
    (!term.is_empty()).then_some(Feature::Monomial(factors))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::method::sindy::library::{Interactions, Terms};
    use crate::series::{Channel, Step, Trajectory};

    fn found(zero: &str) -> Result<Supports, SindyError> {
        let terms = Terms {
            degree: 2,
            interactions: Interactions::All,
            has_constant: true,
            frequencies: 2,
        };
        let channels = vec![Channel::named("x"), Channel::named("rate")];
        let rows = vec![Trajectory::new(vec![1.0, 2.0])];
        let data = Series::new(channels, vec![], Step::default(), rows).unwrap();
        candidates(zero, &Library::new(terms, 2), &data)
    }

    /// 1, x, r, x², x r, r², sin x, cos x, sin r, cos r, sin 2x, cos 2x, sin 2r, cos 2r.
    #[test]
    fn terms_are_left_out_of_the_equations_that_are_named() {
        assert_eq!(found("").unwrap(), vec![(0..14).collect::<Vec<_>>(); 2]);
        let without = |zero: &[usize]| (0..14).filter(|j| !zero.contains(j)).collect::<Vec<_>>();
        let both = found("x: 1, rate x, x^2; rate: sin(2 rate), cos(x)").unwrap();
        assert_eq!(both, [without(&[0, 3, 4]), without(&[7, 12])]);
        assert_eq!(found("all: rate^2 ;").unwrap(), vec![without(&[5]); 2]);
    }

    #[test]
    fn names_that_mean_nothing_are_refused() {
        for zero in [
            "x 1",
            "y: 1",
            "x: y",
            "x: x^3",
            "x: sin(x",
            "x:",
            "x: sin(3 x)",
        ] {
            assert!(found(zero).is_err(), "{zero}");
        }
    }
}
