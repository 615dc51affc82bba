//! How long it takes to judge a reconstruction, at the sizes of the paper's recordings: 10⁵ rows of 5 channels (ECG), and
//! 9640 rows of 64 (EEG). The data are smooth and synthetic; the model is the ECG's, at its start.
#![allow(
    missing_docs,
    reason = "criterion's macro makes an undocumented function"
)]

use attractor_core::dynamics::Stretch;
use attractor_core::map::{Dims, MODELS};
use attractor_core::measure::d_hellinger::Spectra;
use attractor_core::measure::d_stsp::{Binned, StateBox};
use attractor_core::measure::evaluate::{Plan, Reference};
use attractor_core::measure::levels::levels;
use attractor_core::measure::mixture::Mixture;
use attractor_core::measure::prediction_error::prediction_error;
use attractor_core::measure::{Options, Rows};
use attractor_core::model::{Architecture, Model};
use attractor_core::observation::{ObservationKind, ObservationStart};
use attractor_core::progress::Unwatched;
use attractor_core::rng::{Rng, Stream};
use attractor_core::series::Series;
use criterion::{Criterion, criterion_group, criterion_main};

/// Channels that follow independent noise with a memory of 20 rows, of variance one.
fn smooth(rows: usize, channels: usize, seed: u64) -> Vec<f64> {
    let mut rng = Rng::new(seed, Stream::Noise);
    let (keep, add) = (0.95, (1.0f64 - 0.95 * 0.95).sqrt());
    let mut state: Vec<f64> = (0..channels).map(|_| rng.normal()).collect();
    let mut x = Vec::with_capacity(rows * channels);
    for _ in 0..rows {
        state
            .iter_mut()
            .for_each(|v| *v = keep * *v + add * rng.normal());
        x.extend_from_slice(&state);
    }
    x
}

fn model(x: &[f64]) -> Model {
    let dims = Dims {
        latent: 5,
        hidden: 250,
        inputs: 0,
    };
    let architecture = Architecture::new(MODELS[0], dims, ObservationKind::Linear, 5)
        .expect("the sizes are those of the paper");
    let series = Series::from_rows(x.to_vec(), 5, 1.0).expect("all values are finite");
    Model::start(architecture, ObservationStart::WellConditioned, &series, 1)
}

fn measures(bench: &mut Criterion) {
    let mut group = bench.benchmark_group("measure");
    group.sample_size(10);
    let (x, y) = (smooth(100_000, 5, 1), smooth(100_000, 5, 2));
    let (truth, other) = (Rows::new(&x, 5), Rows::new(&y, 5));
    let valid = "the truth varies in every channel";
    group.bench_function("d_stsp, 1e5 x 5, both binned", |b| {
        b.iter(|| {
            Binned::new(truth, StateBox::Paper)
                .expect(valid)
                .divergence(other)
        })
    });
    let spectra = Spectra::new(truth).expect(valid);
    group.bench_function("d_h, 1e5 x 5", |b| b.iter(|| spectra.distance(other)));
    let (eeg, eeg_like) = (smooth(9640, 64, 1), smooth(9640, 64, 2));
    group.bench_function("d_stsp by mixtures, 9640 x 64", |b| {
        b.iter(|| {
            Mixture::new(Rows::new(&eeg, 64), 0)
                .expect(valid)
                .divergence(Rows::new(&eeg_like, 64))
        })
    });
    let model = model(&x);
    group.bench_function("pe(20), M 5, L 250, 1e5 rows", |b| {
        b.iter(|| prediction_error(&model, Stretch::of(truth), 20))
    });
    let reference = Reference::new(Stretch::of(truth), Plan::default()).expect(valid);
    group.bench_function("orbit in f64, M 5, L 250, 1.25e5 rows", |b| {
        b.iter(|| reference.orbit(&model))
    });
    group.bench_function("the paper's scores, M 5, L 250, 1e5 rows", |b| {
        b.iter(|| {
            Reference::new(Stretch::of(truth), Plan::default())
                .expect(valid)
                .scores(&model)
        })
    });
    group.bench_function("seven other starts", |b| {
        b.iter(|| reference.from_other_starts(&model, 7).collect::<Vec<_>>())
    });
    group.bench_function("floors and chance, 1e5 x 5", |b| {
        b.iter(|| levels(truth, &[], &Options::default(), &mut Unwatched))
    });
}

criterion_group!(benches, measures);
criterion_main!(benches);
