//! How long PECUZAL takes on one core for the x of Lorenz-63: 3000 rows with delays to 50, as `pecuzal-embedding` was timed, and
//! 10,000 rows with delays to 100.
#![allow(
    missing_docs,
    reason = "criterion's macro makes an undocumented function"
)]

use attractor_core::embed::columns::Columns;
use attractor_core::embed::pecuzal::{Plan, pecuzal};
use attractor_core::measure::Rows;
use attractor_core::progress::Unwatched;
use attractor_core::system::simulate::{Request, Simulation};
use criterion::{Criterion, criterion_group, criterion_main};

/// The x of Lorenz-63, prepared.
fn lorenz(steps: usize) -> Columns {
    let request = Request {
        transient: 10_000,
        ..Request::new("lorenz63", steps)
    };
    let simulated = Simulation::check(&request).and_then(|simulation| simulation.run());
    let series = simulated.expect("Lorenz-63 is bounded").series;
    let x: Vec<f64> = series.column(0).collect();
    Columns::new(Rows::new(&x, 1)).expect("x varies")
}

fn embed(bench: &mut Criterion) {
    let mut group = bench.benchmark_group("embed");
    group.sample_size(10);
    for (rows, max_delay) in [(3000, 50), (10_000, 100)] {
        let columns = lorenz(rows);
        let plan = Plan {
            max_delay,
            theiler: 17,
            ..Plan::default()
        };
        group.bench_function(
            format!("pecuzal, {rows} rows, delays to {max_delay}"),
            |b| {
                b.iter(|| pecuzal(&columns, &plan, &mut Unwatched).expect("it is long enough"));
            },
        );
    }
}

criterion_group!(benches, embed);
criterion_main!(benches);
