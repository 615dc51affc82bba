//! Fixed points and cycles of maps whose answers are known (Eisenmann et al. 2023, and own computation): parameters in
//! `known_maps.json` of the folder of data.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "helpers of tests are not marked as tests, and a test that skips says so"
)]

use attractor_core::analysis::cycles::{Found, Pool, Proof, search};
use attractor_core::analysis::fixed_points::{Cells, Effort, cycles_of_period};
use attractor_core::analysis::stability::{Kind, Leading};
use attractor_core::map::piecewise::PiecewiseLinear;
use attractor_core::map::{Dims, MODELS};
use serde_json::Value;

/// The maps of the file, by name; `None` if there is no such file.
fn known(name: &str) -> Option<PiecewiseLinear> {
    let folder = std::env::var("ATTRACTOR_DATA").unwrap_or_else(|_| {
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data").to_string()
    });
    let Ok(text) = std::fs::read_to_string(format!("{folder}/known_maps.json")) else {
        println!("skipped: known_maps.json is not in the folder of data");
        return None;
    };
    let file: Value = serde_json::from_str(&text).unwrap();
    let case = file["cases"]
        .as_array()
        .unwrap()
        .iter()
        .find(|case| case["name"] == name)
        .unwrap();
    let parameters = &case["parameters"];
    let latent = numbers(&parameters["A"]).len();
    let hidden = numbers(&parameters["h2"]).len();
    let info = MODELS.iter().find(|info| case["model"] == info.entry.id);
    let map = (info.unwrap().build)(Dims {
        latent,
        hidden,
        inputs: 0,
    });
    let tensors = map.layout().tensors().iter();
    let theta: Vec<f64> = tensors
        .flat_map(|tensor| numbers(&parameters[tensor.name]))
        .collect();
    Some(map.piecewise(&theta).unwrap())
}

/// All numbers of an array, row by row.
fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(items) => items.iter().flat_map(numbers).collect(),
        Value::Number(number) => vec![number.as_f64().unwrap()],
        _ => Vec::new(),
    }
}

const NEVER: &(dyn Fn() -> bool + Sync) = &|| false;

/// Points around the origin, far and near.
fn pool(map: &PiecewiseLinear) -> Pool {
    let starts: Vec<f64> = (-4..=4)
        .flat_map(|i| (-4..=4).flat_map(move |j| [2.5 * f64::from(i), 2.5 * f64::from(j)]))
        .collect();
    Pool::of_orbits(map, &starts, 300)
}

fn cycles(map: &PiecewiseLinear, period: usize) -> Found {
    cycles_of_period(map, period, &pool(map), &Effort::default(), NEVER)
}

/// Cells of a plane among few, and a search for long cycles.
fn searched(map: &PiecewiseLinear, period: usize) -> Found {
    let pool = pool(map).with_cells(Cells::new(map).collect(1e3).unwrap());
    search(map, &pool, period, (1, 0), NEVER)
}

fn close(found: &[f64], expected: [f64; 2]) -> bool {
    // Six decimals are known.
    found
        .iter()
        .zip(expected)
        .all(|(f, e)| (f - e).abs() < 1e-6 * (1.0 + e.abs()))
}

#[test]
fn a_shallow_map_with_one_fixed_point() {
    let Some(map) = known("shallow, one fixed point") else {
        return;
    };
    let found = cycles(&map, 1);
    assert_eq!((found.proof, found.cycles.len()), (Proof::Complete, 1));
    let fixed = &found.cycles[0];
    assert!(
        close(&fixed.points[0], [-0.02682075, 0.40186362]),
        "{fixed:?}"
    );
    assert_eq!(
        (fixed.kind(), fixed.leading()),
        (Kind::Repeller, Leading::Spiral)
    );
    let multiplier = fixed.multipliers[0];
    assert!(close(
        &[multiplier.re, multiplier.im],
        [-1.012452, 1.818225]
    ));
}

#[test]
fn a_shallow_map_with_two_2_cycles_and_a_4_cycle() {
    let Some(map) = known("shallow, two 2-cycles and a 4-cycle") else {
        return;
    };
    assert_eq!(Cells::new(&map).collect(1e3).unwrap().len(), 56);
    for (period, count) in [(1, 0), (2, 2), (3, 0), (4, 1)] {
        let found = cycles(&map, period);
        assert_eq!(
            (found.proof, found.cycles.len()),
            (Proof::Complete, count),
            "period {period}"
        );
    }
    for period in 5..=8 {
        assert_eq!(searched(&map, period).cycles.len(), 0, "period {period}");
    }
    let two = cycles(&map, 2).cycles;
    let (b, a) = (&two[0], &two[1]);
    assert!(
        close(&a.points[0], [-2.898324, -0.433743]) && close(&a.points[1], [-1.282972, 5.818843])
    );
    assert_eq!((a.kind(), a.leading()), (Kind::Repeller, Leading::Spiral));
    // Four and five digits are known.
    assert!(
        (a.multipliers[0].re - 1.2317).abs() < 5e-5 && (a.multipliers[0].im - 0.8563).abs() < 5e-5
    );
    assert!(
        close(&b.points[0], [-8.765882, -24.07809]) && close(&b.points[1], [30.84827, 33.001034])
    );
    assert_eq!(b.kind(), Kind::Saddle);
    assert!(
        (b.multipliers[0].re - 1.10528).abs() < 5e-6 && (b.multipliers[1].re + 0.8586).abs() < 5e-5
    );
    let four = cycles(&map, 4).cycles;
    assert!(
        four[0]
            .points
            .iter()
            .any(|p| close(p, [-8.67442, -28.34298]))
    );
    let moduli = four[0].multipliers.iter().map(|m| m.norm());
    assert!(
        moduli
            .zip([2.0642, 1.1836])
            .all(|(m, e)| (m - e).abs() < 5e-5)
    );
}

#[test]
fn an_orbit_of_it_diverges() {
    let Some(map) = known("shallow, two 2-cycles and a 4-cycle") else {
        return;
    };
    let (mut z, mut next) = ([0.1, 0.1], [0.0, 0.0]);
    for _ in 0..5000 {
        map.step(&z, &mut next);
        z = next;
    }
    assert!(z.iter().any(|v| !v.is_finite() || v.abs() > 1e12), "{z:?}");
}

#[test]
fn a_plrnn_with_a_fixed_point() {
    let Some(map) = known("plrnn, fixed point") else {
        return;
    };
    let found = cycles(&map, 1);
    assert_eq!((found.proof, found.cycles.len()), (Proof::Complete, 1));
    let fixed = &found.cycles[0];
    assert!(close(&fixed.points[0], [0.36487105, -22.26064871]));
    assert!(close(
        &[fixed.multipliers[0].re, fixed.multipliers[1].re],
        [0.96461297, -0.0222311]
    ));
}

#[test]
fn a_plrnn_with_two_16_cycles() {
    let Some(map) = known("plrnn, 16-cycles") else {
        return;
    };
    assert_eq!(searched(&map, 15).cycles.len(), 0);
    let found = searched(&map, 16).cycles;
    assert_eq!(found.len(), 2);
    let attracting: Vec<_> = found.iter().filter(|c| c.kind() == Kind::Stable).collect();
    assert_eq!(attracting.len(), 1);
    let through = |p: &Vec<f64>| close(p, [1.89678242, -0.43470762]);
    assert!(attracting[0].points.iter().any(through));
}

#[test]
fn a_plrnn_with_two_27_cycles() {
    let Some(map) = known("plrnn, 27-cycles") else {
        return;
    };
    assert_eq!(searched(&map, 25).cycles.len(), 0);
    assert_eq!(searched(&map, 27).cycles.len(), 2);
}

#[test]
fn a_plrnn_with_two_80_cycles() {
    let Some(map) = known("plrnn, 80-cycles") else {
        return;
    };
    assert_eq!(searched(&map, 70).cycles.len(), 0);
    assert_eq!(searched(&map, 80).cycles.len(), 2);
}
