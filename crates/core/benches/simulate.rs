//! How long it takes to make data: 10⁵ rows of Lorenz-63 at a relative tolerance of 1e-9, and 10⁴ rows of larger systems.
#![allow(
    missing_docs,
    reason = "criterion's macro makes an undocumented function"
)]

use attractor_core::system::simulate::{Method, Request, Simulation};
use criterion::{Criterion, criterion_group, criterion_main};

fn simulations(bench: &mut Criterion) {
    let mut group = bench.benchmark_group("simulate");
    group.sample_size(10);
    let fixed = |request: Request| Request {
        method: Method::Fixed,
        ..request
    };
    let cases = [
        ("lorenz63, 1e5 rows", Request::new("lorenz63", 100_000)),
        ("lorenz96, 1e4 rows", Request::new("lorenz96", 10_000)),
        (
            "multiscale, 1e4 rows",
            Request::new("lorenz96-multiscale", 10_000),
        ),
        (
            "multiscale fixed, 1e4 rows",
            fixed(Request::new("lorenz96-multiscale", 10_000)),
        ),
        (
            "kuramoto-sivashinsky, 1e4 rows",
            Request::new("kuramoto-sivashinsky", 10_000),
        ),
        ("henon, 1e5 rows", Request::new("henon", 100_000)),
    ];
    for (name, request) in cases {
        let simulation = Simulation::check(&request).expect("the request is right");
        group.bench_function(name, |b| {
            b.iter(|| simulation.run().expect("the orbit stays bounded"))
        });
    }
}

criterion_group!(benches, simulations);
criterion_main!(benches);
