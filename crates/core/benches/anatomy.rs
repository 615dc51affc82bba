//! How long it takes to take a model of the paper's Lorenz-63 size apart (M = 3, L = 50, clipped): all exponents over 10⁶ steps,
//! and all fixed points, from all 161,801 regions.
#![allow(
    missing_docs,
    reason = "criterion's macro makes an undocumented function"
)]

use attractor_core::analysis::fixed_points::enumerate_fixed_points;
use attractor_core::analysis::lyapunov::{LyapunovPlan, lyapunov_of_map};
use attractor_core::map::{Dims, MODELS, Map};
use attractor_core::rng::{Rng, Stream};
use criterion::{Criterion, criterion_group, criterion_main};

/// Random parameters of a map that contracts far out and is of the order of one inside.
fn sample(map: &dyn Map, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed, Stream::Parameters);
    let mut theta: Vec<f64> = (0..map.layout().len()).map(|_| rng.normal()).collect();
    theta[map.layout().range("A")].fill(0.5);
    let w1 = &mut theta[map.layout().range("W1")];
    w1.iter_mut().for_each(|v| *v *= 0.3);
    theta
}

fn anatomy(bench: &mut Criterion) {
    let map = (MODELS[0].build)(Dims {
        latent: 3,
        hidden: 50,
        inputs: 0,
    });
    let plan = |steps: usize| LyapunovPlan {
        transient: 0,
        intervals: steps,
        ..LyapunovPlan::full(3)
    };
    let spectrum = |theta: &[f64], steps: usize| {
        let found = lyapunov_of_map(map.as_ref(), theta, &[0.1; 3], &[], &plan(steps));
        found.expect("a clipped map with |A| < 1 is bounded")
    };
    // A chaotic orbit is the dearest: it changes regions at every step.
    let theta = (1..100)
        .map(|seed| sample(map.as_ref(), seed))
        .find(|theta| spectrum(theta, 2000).exponents[0] > 0.1);
    let theta = theta.expect("one in a few is chaotic");
    let mut group = bench.benchmark_group("anatomy");
    group.sample_size(10);
    group.bench_function("lyapunov, 3 states, 50 units, 1e6 steps", |b| {
        b.iter(|| spectrum(&theta, 1_000_000));
    });
    let form = map.piecewise(&theta).expect("it is piecewise linear");
    group.bench_function("fixed points, 3 states, 50 clipped units", |b| {
        b.iter(|| enumerate_fixed_points(&form, &|| false));
    });
}

criterion_group!(benches, anatomy);
criterion_main!(benches);
