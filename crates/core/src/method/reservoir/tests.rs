//! Reservoirs against known values, a linear teacher, and the laws.

use super::*;
use crate::laws;
use crate::linalg::eigenvalues;
use crate::method::tensors_of;
use crate::progress::Unwatched;
use crate::rng::{Rng, Stream};
use crate::rows::Rows;
use crate::series::{Channel, Gap, Series, Step, Trajectory};
use crate::system::simulate::{Request, Simulation};

/// Settings: some given, the others' defaults.
fn set(given: &[(&str, &str)]) -> Settings {
    let list: Vec<&Setting> = SETTINGS.iter().collect();
    Settings::resolve(&list, given.iter().copied()).unwrap()
}

fn fitting<'a>(settings: &'a Settings, data: &'a Series) -> Fitting<'a> {
    Fitting {
        settings,
        data,
        cuts: None,
        seed: 1,
        threads: 1,
        paced: false,
        isa: Isa::detect(),
    }
}

fn fitted(given: &[(&str, &str)], data: &Series) -> Reservoir {
    fit::fit(fitting(&set(given), data), &mut Unwatched).unwrap()
}

fn refused(given: &[(&str, &str)], data: &Series) -> FitError {
    fit::fit(fitting(&set(given), data), &mut Unwatched).unwrap_err()
}

fn lorenz(steps: usize) -> Series {
    let request = Request::new("lorenz63", steps);
    Simulation::check(&request).unwrap().run().unwrap().series
}

/// A sine of two channels with an input that shifts its phase.
fn driven(rows: usize) -> Series {
    let angle = |t: usize| 0.3 * t as f64;
    let x = (0..rows).flat_map(|t| [angle(t).sin() + 3.0, 10.0 * angle(t).cos()]);
    let mut trajectory = Trajectory::new(x.collect());
    trajectory.s = (0..rows).map(|t| (0.05 * t as f64).sin()).collect();
    Series::new(
        Channel::numbered("x", 2),
        Channel::numbered("s", 1),
        Step::default(),
        vec![trajectory],
    )
    .unwrap()
}

const SMALL: [(&str, &str); 2] = [("hidden", "30"), ("warm-up", "20")];

/// What the read-out can see, and a leak: each form of a reservoir.
const FORMS: [&[(&str, &str)]; 4] = [
    &[],
    &[("leak", "0.4"), ("bias", "0.3")],
    &[("read-inputs", "true"), ("squares", "false")],
    &[
        ("read-inputs", "true"),
        ("intercept", "true"),
        ("leak", "0.7"),
    ],
];

#[test]
fn every_form_satisfies_the_laws() {
    for data in [lorenz(400), driven(400)] {
        for form in FORMS {
            let reservoir = fitted(&[&SMALL, form].concat(), &data);
            let stretch = Stretch::longest(&data);
            let short = stretch.slice(0..40);
            laws::orbits_are_made_of_steps(&reservoir, short).unwrap();
            laws::loading_gives_the_same_orbit(&RESERVOIR, &reservoir, stretch).unwrap();
            laws::following_is_inferring(&reservoir, short).unwrap();
            laws::stepping_is_taking_the_forecast_in(&reservoir, short).unwrap();
            let rng = &mut Rng::new(2, Stream::MonteCarlo);
            for row in [25, 31, 38] {
                let z = reservoir.states_at(stretch, &[row]);
                let s = stretch.inputs_of(row + 1..row + 2);
                laws::jacobian_of_dynamics_matches_differences(&reservoir, &z, s, rng).unwrap();
            }
        }
    }
}

#[test]
fn units_and_parameters_are_those_of_the_papers_table() {
    // (N, R asked for, R, |θ|): Lorenz-63, Lorenz-96, ECG, EEG.
    for (channels, hidden, units, parameters) in [
        (3, 200, 201, 603),
        (20, 600, 600, 12_000),
        (5, 1000, 1000, 5000),
        (64, 448, 448, 28_672),
    ] {
        let x = (0..60 * channels).map(|i| (0.1 * i as f64).sin()).collect();
        let data = Series::from_rows(x, channels, 1.0).unwrap();
        let hidden = hidden.to_string();
        let sizes = fitted(&[("hidden", &hidden), ("warm-up", "5")], &data).sizes();
        assert_eq!((sizes.dim, sizes.parameters), (units, parameters));
    }
}

#[test]
fn the_connections_have_the_radius_the_degree_and_the_range_asked_for() {
    for radius in [0.4, 1.3] {
        let text = radius.to_string();
        let given = [
            ("hidden", "90"),
            ("warm-up", "20"),
            ("radius", text.as_str()),
        ];
        let r = fitted(&given, &lorenz(100));
        let n = r.units();
        assert_eq!(r.places.len(), 10 * n);
        let mut dense = vec![0.0; n * n];
        for (&place, &v) in r.places.iter().zip(&r.w.values) {
            dense[place as usize] = v;
        }
        assert!(dense.iter().all(|&v| v >= 0.0));
        let found = eigenvalues(&dense, n).unwrap()[0].norm();
        // The largest eigenvalue is simple: exact to its condition, some dozen, times a few roundings of the dense solver.
        assert!((found - radius).abs() < 1e-11, "{found}");
        assert!(r.w_in.iter().all(|w| w.abs() <= 0.5) && r.w_in.iter().any(|w| *w < 0.0));
    }
}

/// 0.1 ((7k mod 11) − 5) for k = start, start + 1, …
fn known(count: usize, start: usize) -> Vec<f64> {
    let number = |k: usize| 0.1 * ((7 * k % 11) as f64 - 5.0);
    (start..start + count).map(number).collect()
}

/// Computed with NumPy from the equations, printed to ten digits.
const STATES: [[f64; 4]; 2] = [
    [
        0.244_918_662_4,
        0.049_958_375,
        0.291_312_612_5,
        -0.379_948_962_3,
    ],
    [
        0.118_665_876_4,
        0.078_113_371_7,
        -0.205_218_661_9,
        0.321_503_535_1,
    ],
];
const FEATURES: [f64; 4] = [
    0.014_081_590_2,
    0.078_113_371_7,
    0.042_114_699_2,
    0.321_503_535_1,
];
const NEXT: [f64; 4] = [
    0.093_084_180_4,
    0.036_721_269_4,
    0.056_059_182_9,
    0.048_682_166_1,
];

#[test]
fn known_states_and_outputs_are_found() {
    let entries: Vec<(usize, f64)> = known(16, 2).iter().map(|v| v.abs()).enumerate().collect();
    let mut w = Sparse::from_entries(4, &entries);
    // Bounds on the radius are closed to 1e-13 of it.
    assert!((w.spectral_radius() - 1.131_997_156_218_466_5).abs() < 1.2e-13);
    weights::scale(&mut w, 0.6).unwrap();
    let r = Reservoir {
        gathered: Gathered::new(&w),
        w,
        places: (0..16).map(f64::from).collect(),
        w_in: known(4, 3),
        w_s: Vec::new(),
        b: vec![0.0; 4],
        w_out: known(8, 9),
        mean: vec![0.0; 2],
        sd: vec![1.0; 2],
        form: Form::new(1.0, 2, [false, false, true]),
    };
    let close = |found: &[f64], expected: &[f64]| {
        let pairs = found.iter().zip(expected);
        pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-10, "{found:?} {expected:?}"));
    };
    let rows = [0.5, -1.0, 0.25, 0.75];
    let data = Stretch::of(Rows::new(&rows, 2));
    let mut z = vec![0.0; 4];
    for (t, state) in STATES.iter().enumerate() {
        r.absorb(data, t, &mut z);
        close(&z, state);
    }
    let mut features = [0.0; 4];
    r.write_features(&z, &mut features);
    close(&features, &FEATURES);
    let (mut x_hat, mut next) = ([0.0; 2], [0.0; 4]);
    r.observe(&z, &mut x_hat);
    close(&x_hat, &[0.039_656_497_3, -0.055_999_222_8]);
    r.step(&z, &[], &mut next);
    close(&next, &NEXT);
}

#[test]
fn a_heavy_penalty_leaves_no_read_out() {
    let most = |ridge: &str| {
        let r = fitted(&[&SMALL[..], &[("ridge", ridge)]].concat(), &lorenz(300));
        r.w_out.iter().fold(0.0, |most: f64, w| most.max(w.abs()))
    };
    // |Σ u φ| is at most 3 · 280, over 1e15.
    assert!(most("1e15") < 1e-12 && most("1e-5") > 1e-3);
}

#[test]
fn rows_that_are_linear_in_the_features_are_forecast_exactly() {
    // A point on a circle: the next one is a rotation of the last, which the read-out sees among the units.
    let x = (0..400).flat_map(|t| [(0.3 * f64::from(t)).sin(), (0.3 * f64::from(t)).cos()]);
    let data = Series::from_rows(x.collect(), 2, 1.0).unwrap();
    let exact = [("noise", "0"), ("ridge", "0"), ("read-inputs", "true")];
    let r = fitted(&[&SMALL[..], &exact].concat(), &data);
    let stretch = Stretch::longest(&data);
    let mut x_hat = [0.0; 2];
    for t in [30, 200, 398] {
        r.observe(&r.states_at(stretch, &[t]), &mut x_hat);
        let expected = stretch.row(t + 1);
        // A rotation of the last row. Directions that the sums hardly show are left out: below √(F ε) = 1e-7 of the largest, about 5.
        assert!((x_hat[0] - expected[0]).abs() < 1e-6 && (x_hat[1] - expected[1]).abs() < 1e-6);
    }
}

#[test]
fn gaps_and_missing_values_cut_the_data_and_every_stretch_is_warmed_up_anew() {
    let whole = lorenz(900);
    let n = whole.dim_obs();
    let x = &whole.trajectories()[0].x;
    let mut holed = Trajectory::new(x.clone());
    holed.gaps = vec![Gap {
        row: 300,
        time: 10.0,
    }];
    holed.x[600 * n + 1] = f64::NAN;
    let holed = whole.with(vec![holed]).unwrap();
    let cut =
        |range: std::ops::Range<usize>| Trajectory::new(x[range.start * n..range.end * n].to_vec());
    let cut = whole
        .with(vec![cut(0..300), cut(300..600), cut(601..900)])
        .unwrap();
    let given = [&SMALL[..], &[("noise", "0")]].concat();
    let (one, other) = (fitted(&given, &holed), fitted(&given, &cut));
    // Where the gap is does not change the moments: without noise the same rows give the same sums, to the bit.
    assert_eq!(one.w_out, other.w_out);
    assert_ne!(one.w_out, fitted(&given, &whole).w_out);
}

#[test]
fn the_same_seed_gives_the_same_bits_for_any_number_of_threads() {
    let data = lorenz(1200);
    let settings = set(&SMALL);
    let with = |threads: usize, seed: u64| {
        let fitting = Fitting {
            threads,
            paced: false,
            cuts: None,
            seed,
            ..fitting(&settings, &data)
        };
        fit::fit(fitting, &mut Unwatched).unwrap()
    };
    let one = with(1, 1);
    assert!(one == with(2, 1) && one == with(5, 1) && one != with(1, 2));
}

#[test]
fn what_cannot_be_fitted_is_refused_with_a_hint() {
    let data = lorenz(100);
    let hint = |error: FitError| error.hint().unwrap().to_string();
    let few = refused(&[("hidden", "2")], &data);
    assert_eq!(few.to_string(), "2 units cannot see 3 channels");
    assert_eq!(hint(few), "use `--hidden 3` or more");
    let short = refused(&[("hidden", "30")], &data);
    assert!(matches!(
        short,
        FitError::Short {
            longest: 100,
            needed: 202,
            ..
        }
    ));
    assert_eq!(hint(short), "use a smaller `--warm-up`, by 102 or more");
    let flat: Vec<f64> = (0..300).flat_map(|t| [f64::from(t), 2.0]).collect();
    let flat = Series::from_rows(flat, 2, 1.0).unwrap();
    let constant = refused(&SMALL, &flat);
    assert!(matches!(&constant, FitError::Constant { channel } if channel == "x2"));
    // One connection per unit of three that happen to form no loop for some seed.
    let settings = set(&[("hidden", "3"), ("degree", "1"), ("warm-up", "5")]);
    let loopless = (0..50).filter(|&seed| {
        let fitting = Fitting {
            cuts: None,
            seed,
            ..fitting(&settings, &data)
        };
        fit::fit(fitting, &mut Unwatched).is_err()
    });
    assert!((1..50).contains(&loopless.count()));
    let list: Vec<&Setting> = SETTINGS.iter().collect();
    assert!(Settings::resolve(&list, [("ridge", "-1")]).is_err());
}

#[test]
fn broken_tensors_are_refused() {
    let tensors = tensors_of(&fitted(&SMALL, &lorenz(100)));
    let broken = |name: &str, entry: usize, value: f64| {
        let mut tensors = tensors.clone();
        let mut values = tensors[name].f64s();
        values[entry] = value;
        tensors.get_mut(name).unwrap().values = crate::method::LoadedValues::F64(values);
        load(&RESERVOIR, &tensors).unwrap_err().to_string()
    };
    assert!(broken("W_places", 3, 0.0).contains("ascending"));
    assert!(broken("W_places", 3, 0.5).contains("whole numbers"));
    assert!(broken("form", 0, 0.0).contains("leak"));
    assert!(broken("form", 2, 1.0).contains("W_out"));
    assert!(broken("sd", 0, f64::NAN).contains("not finite"));
}
