//! Cycles against closed forms, against all patterns of gates, and in the cases where linear algebra has no answer.

use super::*;
use crate::analysis::fixed_points::{Cells, Effort, cycles_of_period, enumerate_fixed_points};
use crate::map::piecewise::Gate;
use crate::map::{Dims, MODELS};
use crate::rng::{Rng, Stream};
use crate::system;

const NEVER: Expired<'static> = &|| false;

/// A map of one state with hinges (w1, w2, h2).
fn line(a: f64, h1: f64, hinges: &[(f64, f64, f64)]) -> PiecewiseLinear {
    PiecewiseLinear {
        dim: 1,
        a: vec![a],
        w1: hinges.iter().map(|h| h.0).collect(),
        h1: vec![h1],
        w2: hinges.iter().map(|h| h.1).collect(),
        h2: hinges.iter().map(|h| h.2).collect(),
        c: Vec::new(),
    }
}

/// The Lozi map x' = 1 − a|x| + y, y' = b x as a shallow PLRNN, |x| = φ(x) + φ(−x) and y = φ(y) − φ(−y).
pub(super) fn lozi(a: f64, b: f64) -> PiecewiseLinear {
    PiecewiseLinear {
        dim: 2,
        a: vec![0.0; 2],
        w1: vec![-a, -a, 1.0, -1.0, b, -b, 0.0, 0.0],
        h1: vec![1.0, 0.0],
        w2: vec![1.0, 0.0, -1.0, 0.0, 0.0, 1.0, 0.0, -1.0],
        h2: vec![0.0; 4],
        c: Vec::new(),
    }
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (f, e) in found.iter().zip(expected) {
        // One solve of a well-conditioned system.
        assert!(
            (f - e).abs() < 1e-12 * (1.0 + e.abs()),
            "{found:?} against {expected:?}"
        );
    }
}

/// Fixed points of the Lozi map: x = 1/(1 + a − b) and 1/(1 − a − b), y = b x; μ² ± a μ − b = 0.
#[test]
fn the_lozi_map_has_its_two_fixed_points() {
    let map = lozi(1.7, 0.5);
    let found = enumerate_fixed_points(&map, NEVER);
    assert_eq!(found.proof, Proof::Complete);
    let (left, right) = (1.0 / (1.0 - 2.2), 1.0 / 2.2);
    assert_eq!(found.cycles.len(), 2);
    assert_close(&found.cycles[0].points[0], &[left, 0.5 * left]);
    assert_close(&found.cycles[1].points[0], &[right, 0.5 * right]);
    for (cycle, sign) in found.cycles.iter().zip([1.0, -1.0]) {
        assert_eq!(cycle.kind(), Kind::Saddle);
        let root = (1.7f64 * 1.7 + 4.0 * 0.5).sqrt();
        let expected = [sign * (1.7 + root) / 2.0, sign * (1.7 - root) / 2.0];
        let multipliers: Vec<f64> = cycle.multipliers.iter().map(|m| m.re).collect();
        assert_close(&multipliers, &expected);
    }
    // Its one 2-cycle, with x_1 < 0 < x_2.
    let pool = Pool::of_orbits(&map, &[0.1, 0.1], 2000);
    let two = cycles_of_period(&map, 2, &pool, &Effort::default(), NEVER);
    assert_eq!((two.proof, two.cycles.len()), (Proof::Complete, 1));
    let [p, q] = &two.cycles[0].points[..] else {
        panic!("a 2-cycle has two points")
    };
    // (1 − b) x_2 = 1 + a x_1 and (1 − b) x_1 = 1 − a x_2.
    let x1 = (0.5 - 1.7) / (0.25 + 1.7 * 1.7);
    let x2 = (1.0 + 1.7 * x1) / 0.5;
    assert_close(&[p[0], q[0]], &[x1, x2]);
}

/// The tent map 1 − μ|x| has a fixed point 1/(1 + μ), and 2^k points of period k as divisor if μ = 2.
#[test]
fn the_tent_map_has_as_many_cycles_as_words() {
    let tent = line(0.0, 1.0, &[(-2.0, 1.0, 0.0), (-2.0, -1.0, 0.0)]);
    let pool = Pool::of_orbits(&tent, &[0.123], 50);
    // Necklaces of two beads without repetition: (1/k) Σ_{d|k} μ(d) 2^(k/d).
    for (period, count) in [(1, 2), (2, 1), (3, 2), (4, 3), (5, 6), (6, 9)] {
        let found = cycles_of_period(&tent, period, &pool, &Effort::default(), NEVER);
        assert!(found.proof.is_complete(), "{period}: {:?}", found.proof);
        assert_eq!(found.cycles.len(), count, "period {period}");
        for cycle in &found.cycles {
            assert!((cycle.multipliers[0].norm() - 2f64.powi(period as i32)).abs() < 1e-9);
        }
    }
    let some = Effort {
        sequences: 0.0,
        ..Effort::default()
    };
    let searched = cycles_of_period(&tent, 5, &pool, &some, NEVER);
    assert_eq!(
        (searched.proof, searched.cycles.len()),
        (Proof::Searched, 6)
    );
}

/// All 2^H patterns of gates, one solve each: the oracle.
fn brute_force(map: &PiecewiseLinear) -> Vec<Cycle> {
    let mut closing = Closing::new(map);
    let (mut matrix, mut offset) = (vec![0.0; map.dim * map.dim], vec![0.0; map.dim]);
    let mut found = Collection::default();
    for pattern in 0..1u32 << map.hinges() {
        let mut region = Region::closed(map.hinges());
        for l in (0..map.hinges()).filter(|l| pattern >> l & 1 == 1) {
            region.set(l, Gate::Open);
        }
        map.affine(&region, &mut matrix, &mut offset);
        if closing.solve(&matrix, &offset) == Solution::Point && closing.is_inside(&region) {
            found.extend(closing.cycle(1));
        }
    }
    found.sorted()
}

/// For every piecewise-linear model and random parameters, with at most 12 hinges.
#[test]
fn enumeration_finds_what_all_patterns_give() {
    let mut rng = Rng::new(1, Stream::MonteCarlo);
    let mut total = 0;
    for info in MODELS {
        for (latent, hidden) in [(1, 3), (2, 5), (3, 3), (4, 2), (2, 1)] {
            let dims = Dims {
                latent,
                hidden,
                inputs: 0,
            };
            let map = (info.build)(dims);
            for _ in 0..12 {
                let theta: Vec<f64> = (0..map.layout().len()).map(|_| rng.normal()).collect();
                let Some(form) = map.piecewise(&theta).filter(|form| form.hinges() <= 12) else {
                    continue;
                };
                let found = enumerate_fixed_points(&form, NEVER);
                let expected = brute_force(&form);
                let id = info.entry.id;
                assert!(found.proof.is_complete(), "{id}");
                assert_eq!(found.cycles.len(), expected.len(), "{id} {dims:?}");
                for (a, b) in found.cycles.iter().zip(&expected) {
                    assert!(is_same(&a.points[0], &b.points[0]), "{id} {dims:?}");
                }
                total += expected.len();
            }
        }
    }
    assert!(total > 100, "{total} fixed points are too few to mean much");
}

/// Searched and enumerated cycles agree: what the search finds is in the complete list.
#[test]
fn a_search_finds_nothing_that_is_not_there() {
    let mut rng = Rng::new(2, Stream::MonteCarlo);
    let dims = Dims {
        latent: 2,
        hidden: 6,
        inputs: 0,
    };
    let map = (MODELS[1].build)(dims);
    let (mut all, mut seen) = (0, 0);
    for _ in 0..10 {
        let theta: Vec<f64> = (0..map.layout().len()).map(|_| rng.normal()).collect();
        let form = map.piecewise(&theta).unwrap();
        let pool = Pool::of_orbits(&form, &[0.1, 0.1, -1.0, 1.0], 100);
        for period in [1, 2, 3] {
            let cells = Cells::new(&form).collect(1e3).unwrap();
            let complete = enumerate(&form, &cells, period, NEVER);
            let pool = pool.clone().with_cells(cells);
            let one = search(&form, &pool, period, (1, 5), NEVER);
            assert_eq!(one, search(&form, &pool, period, (3, 5), NEVER));
            let known = |cycle: &Cycle| {
                let points = complete.cycles.iter().flat_map(|c| &c.points);
                points.into_iter().any(|p| is_same(p, &cycle.points[0]))
            };
            assert!(one.cycles.iter().all(known));
            all += complete.cycles.len();
            seen += one.cycles.len();
        }
    }
    assert!(all > 10 && seen * 10 >= all * 9, "{seen} of {all}");
}

#[test]
fn a_singular_region_is_told() {
    // z' = z for z > 0: a continuum of fixed points; z' = z/2 below.
    let half = line(0.5, 0.0, &[(0.5, 1.0, 0.0)]);
    let found = enumerate_fixed_points(&half, NEVER);
    assert_eq!((found.proof, found.singular), (Proof::Degenerate, 1));
    // z' = z + 1 for z > 0: singular, and nothing solves it.
    let shifted = line(0.5, 1.0, &[(0.5, 1.0, 0.0)]);
    let found = enumerate_fixed_points(&shifted, NEVER);
    assert_eq!(
        (found.proof, found.singular, found.cycles.len()),
        (Proof::Complete, 1, 0)
    );
}

#[test]
fn an_eigenvalue_of_modulus_one_is_marginal() {
    // A rotation by a right angle about (0.5, 0.5).
    let turn = PiecewiseLinear {
        dim: 2,
        a: vec![0.0, 0.0],
        w1: vec![-1.0, 0.0, 0.0, 1.0],
        h1: vec![101.0, -100.0],
        w2: vec![0.0, 1.0, 1.0, 0.0],
        h2: vec![100.0, 100.0],
        c: Vec::new(),
    };
    let found = enumerate_fixed_points(&turn, NEVER);
    let near = found
        .cycles
        .iter()
        .find(|c| is_same(&c.points[0], &[0.5, 0.5]))
        .unwrap();
    assert_eq!(
        (near.kind(), near.leading()),
        (Kind::Marginal, Leading::Spiral)
    );
}

#[test]
fn a_point_on_a_border_is_told() {
    // z' = 0.5 z + 2 φ(z): the fixed point 0 lies on the border, and is one point, not two.
    let found = enumerate_fixed_points(&line(0.5, 0.0, &[(2.0, 1.0, 0.0)]), NEVER);
    assert_eq!(found.cycles.len(), 1);
    assert!(found.cycles[0].is_on_border && found.cycles[0].border == 0.0);
    let inside = enumerate_fixed_points(&line(0.5, 1.0, &[(2.0, 1.0, -5.0)]), NEVER);
    assert!(!inside.cycles[0].is_on_border);
    assert_eq!(inside.cycles[0].border, 3.0);
}

#[test]
fn time_may_run_out() {
    let map = (MODELS[1].build)(Dims {
        latent: 3,
        hidden: 20,
        inputs: 0,
    });
    let mut rng = Rng::new(3, Stream::MonteCarlo);
    let theta: Vec<f64> = (0..map.layout().len()).map(|_| rng.normal()).collect();
    let form = map.piecewise(&theta).unwrap();
    let found = enumerate_fixed_points(&form, &|| true);
    assert_eq!((found.proof, found.tried), (Proof::Interrupted, 256));
    let pool = Pool::of_orbits(&form, &[0.1; 3], 10);
    let found = search(&form, &pool, 2, (2, 0), &|| true);
    assert_eq!((found.proof, found.tried), (Proof::Interrupted, 0));
}

/// x' = r x (1 − x): the 2-cycle is [r + 1 ± √((r + 1)(r − 3))]/(2r) with multiplier 4 + 2r − r².
#[test]
fn newton_finds_the_cycles_of_the_logistic_map() {
    let r: f64 = 3.3;
    let info = system::find("logistic").unwrap();
    let logistic = info.with(&[("r", "3.3")]).unwrap();
    let starts: Vec<f64> = (1..40).map(|i| f64::from(i) / 40.0).collect();
    let fixed = newton(&logistic.as_ref(), 1, &starts, NEVER);
    let points: Vec<f64> = fixed.cycles.iter().map(|c| c.points[0][0]).collect();
    assert_eq!(points.len(), 2);
    assert!(points[0].abs() < 1e-9 && (points[1] - (1.0 - 1.0 / r)).abs() < 1e-9);
    let two = newton(&logistic.as_ref(), 2, &starts, NEVER);
    assert_eq!(two.cycles.len(), 1);
    let root = ((r + 1.0) * (r - 3.0)).sqrt();
    let cycle = &two.cycles[0];
    assert!((cycle.points[0][0] - (r + 1.0 - root) / (2.0 * r)).abs() < 1e-9);
    assert!((cycle.points[1][0] - (r + 1.0 + root) / (2.0 * r)).abs() < 1e-9);
    assert!((cycle.multipliers[0].re - (4.0 + 2.0 * r - r * r)).abs() < 1e-8);
    assert_eq!(cycle.kind(), Kind::Stable);
    // At r = 4 there are as many cycles as words: 2, 1, 2, 3.
    let full = info.with(&[("r", "4")]).unwrap();
    let starts: Vec<f64> = (1..400).map(|i| f64::from(i) / 400.0).collect();
    for (period, count) in [(1, 2), (2, 1), (3, 2), (4, 3)] {
        assert_eq!(
            newton(&full.as_ref(), period, &starts, NEVER).cycles.len(),
            count
        );
    }
}

/// x' = 1 − a x² + y, y' = b x: fixed points [(b − 1) ± √((1 − b)² + 4a)]/(2a), and the 2-cycle's x_1 + x_2 = (1 − b)/a,
/// x_1 x_2 = ((1 − b)² − a)/a².
#[test]
fn newton_finds_the_cycles_of_henons_map() {
    let (a, b): (f64, f64) = (1.4, 0.3);
    let henon = system::find("henon").unwrap().with(&[]).unwrap();
    let starts: Vec<f64> = (0..400)
        .flat_map(|i| {
            [
                f64::from(i % 20) / 5.0 - 2.0,
                f64::from(i / 20) / 15.0 - 0.6,
            ]
        })
        .collect();
    let fixed = newton(&henon.as_ref(), 1, &starts, NEVER);
    let root = ((1.0 - b).powi(2) + 4.0 * a).sqrt();
    assert_eq!(fixed.cycles.len(), 2);
    for (cycle, x) in fixed
        .cycles
        .iter()
        .zip([(b - 1.0 - root) / (2.0 * a), (b - 1.0 + root) / (2.0 * a)])
    {
        assert!((cycle.points[0][0] - x).abs() < 1e-9);
        let product = cycle.multipliers[0] * cycle.multipliers[1];
        assert!((product.re + b).abs() < 1e-9);
    }
    let two = newton(&henon.as_ref(), 2, &starts, NEVER);
    assert_eq!(two.cycles.len(), 1);
    let (x1, x2) = (two.cycles[0].points[0][0], two.cycles[0].points[1][0]);
    assert!((x1 + x2 - (1.0 - b) / a).abs() < 1e-9);
    assert!((x1 * x2 - ((1.0 - b).powi(2) - a) / (a * a)).abs() < 1e-9);
}

/// x' = x + tanh(x − 1)/10 + 1/20 has one fixed point, 1 − artanh(1/2). Where tanh is flat Newton's method runs away, to where a step is
/// nothing beside x.
#[test]
fn newton_finds_nothing_where_a_map_is_flat() {
    struct Flat;
    impl Iterated for Flat {
        fn dim(&self) -> usize {
            1
        }
        fn step(&self, z: &[f64], next: &mut [f64]) {
            next[0] = z[0] + 0.1 * (z[0] - 1.0).tanh() + 0.05;
        }
        fn jacobian(&self, z: &[f64], jac: &mut [f64]) {
            jac[0] = 1.0 + 0.1 / (z[0] - 1.0).cosh().powi(2);
        }
    }
    let starts: Vec<f64> = (-40..40).map(f64::from).collect();
    let found = newton(&Flat, 1, &starts, NEVER).cycles;
    let points: Vec<f64> = found.iter().map(|c| c.points[0][0]).collect();
    assert!(
        points.len() == 1 && (points[0] - 1.0 + 0.5f64.atanh()).abs() < 1e-9,
        "{points:?}"
    );
}
