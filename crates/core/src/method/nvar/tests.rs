//! Next-generation reservoirs against systems that they contain, and the laws.

use super::*;
use crate::laws;
use crate::progress::Unwatched;
use crate::rng::{Rng, Stream};
use crate::series::{Series, Trajectory};
use crate::settings::Settings;
use crate::simd::Isa;
use crate::system::simulate::{Request, Simulation};

fn fit(given: &[(&str, &str)], data: &Series) -> Result<Box<dyn Dynamics>, FitError> {
    let list: Vec<&Setting> = NVAR.entry.settings.iter().collect();
    let settings = Settings::resolve(&list, given.iter().copied()).unwrap();
    let fitting = Fitting {
        settings: &settings,
        data,
        cuts: None,
        seed: 1,
        threads: 2,
        paced: false,
        isa: Isa::detect(),
    };
    solve(&NVAR, fitting, &mut Unwatched)
}

fn simulated(system: &str, steps: usize) -> Series {
    let request = Request::new(system, steps);
    Simulation::check(&request).unwrap().run().unwrap().series
}

#[test]
fn monomials_are_counted_and_evaluated_each_once() {
    // C(2 + 3, 3) = 10 of two variables up to degree 3.
    let monomials = Monomials::new(2, 3);
    let mut values = [0.0; 10];
    monomials.evaluate(&[2.0, 3.0], &mut values);
    assert_eq!(
        values,
        [1.0, 2.0, 3.0, 4.0, 6.0, 9.0, 8.0, 12.0, 18.0, 27.0]
    );
    // Of (3 x³ + x y): 9x² + y and x.
    let mut w = [0.0; 10];
    (w[6], w[4]) = (3.0, 1.0);
    assert_eq!(monomials.gradient(&w, &[2.0, 3.0], &values), [39.0, 2.0]);
}

#[test]
fn a_quadratic_map_is_found_exactly() {
    let data = simulated("henon", 2000);
    let nvar = fit(&[("delays", "1"), ("ridge", "0")], &data).unwrap();
    assert_eq!(nvar.sizes().parameters, 2 * 6);
    let (z, mut next) = ([0.3, -0.1], [0.0; 2]);
    nvar.step(&z, &[], &mut next);
    // x' = 1 − 1.4 x² + y, y' = 0.3 x; condition numbers of a hundred, squared in the sums.
    let expected = [1.0 - 1.4 * 0.09 - 0.1, 0.09];
    assert!((next[0] - expected[0]).abs() < 1e-10 && (next[1] - expected[1]).abs() < 1e-10);
}

#[test]
fn it_satisfies_the_laws() {
    let mut data = simulated("lorenz63", 300);
    for inputs in [false, true] {
        if inputs {
            let mut trajectory = Trajectory::new(data.trajectories()[0].x.clone());
            trajectory.s = (0..300).map(|t| (0.1 * f64::from(t)).sin()).collect();
            let channels = data.channels().to_vec();
            let names = crate::series::Channel::numbered("s", 1);
            data = Series::new(channels, names, data.step().clone(), vec![trajectory]).unwrap();
        }
        let nvar = fit(&[("delays", "3"), ("stride", "2")], &data).unwrap();
        let nvar = nvar.as_ref();
        let stretch = Stretch::longest(&data).slice(0..40);
        laws::orbits_are_made_of_steps(nvar, stretch).unwrap();
        laws::loading_gives_the_same_orbit(&NVAR, nvar, stretch).unwrap();
        laws::following_is_inferring(nvar, stretch).unwrap();
        laws::a_row_is_shown_as_it_is(nvar, stretch).unwrap();
        let rng = &mut Rng::new(2, Stream::MonteCarlo);
        let z = nvar.states_at(stretch, &[20]);
        let s = stretch.inputs_of(21..22);
        laws::jacobian_of_dynamics_matches_differences(nvar, &z, s, rng).unwrap();
    }
}

#[test]
fn too_many_monomials_are_refused_before_anything_is_allocated() {
    let data = simulated("lorenz63", 300);
    let error = fit(&[("delays", "100"), ("polynomial", "3")], &data).unwrap_err();
    assert_eq!(
        error.to_string(),
        "4,590,551 monomials of degree 3 and less, of 300 variables, are more than 20,000"
    );
    assert!(error.hint().unwrap().to_string().contains("`--polynomial`"));
    let error = fit(&[("delays", "1000"), ("polynomial", "10")], &data).unwrap_err();
    assert!(error.to_string().contains("more than 20,000"), "{error}");
    let error = fit(&[("delays", "2"), ("stride", "300")], &data).unwrap_err();
    assert!(matches!(
        error,
        FitError::Short {
            longest: 300,
            needed: 302,
            ..
        }
    ));
}
