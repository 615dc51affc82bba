//! How long ten training updates take on one core: the clipped shallow PLRNN at the sizes of the paper's four
//! experiments, every other model at the smallest of them and some at sizes of their own, every instruction set, estimators
//! of alpha, and noise.
#![allow(
    missing_docs,
    reason = "criterion's macro makes an undocumented function"
)]

use attractor_core::forcing::adaptive::Adaptation;
use attractor_core::forcing::alpha::Estimator;
use attractor_core::forcing::{Forcing, ForcingGradient};
use attractor_core::map::{Dims, MODELS, ModelInfo};
use attractor_core::model::{Architecture, Model};
use attractor_core::observation::{ObservationKind, ObservationStart};
use attractor_core::optim::{Exponential, Optimizer};
use attractor_core::penalty::PenaltyWeights;
use attractor_core::series::Series;
use attractor_core::simd::Isa;
use attractor_core::train::{Control, Course, Epoch, Plan, Schedule, State, WeightDecay, train};
use attractor_core::windows::Windows;
use criterion::{Criterion, criterion_group, criterion_main};

/// Name, channels N, states M, hidden units L, window T.
type Size = (&'static str, usize, usize, usize, usize);

/// The paper's four experiments.
const SIZES: [Size; 4] = [
    ("lorenz63", 3, 3, 50, 200),
    ("lorenz96", 20, 20, 100, 200),
    ("ecg", 5, 5, 250, 200),
    ("eeg", 64, 16, 512, 50),
];

/// Models that behave otherwise at sizes beyond the smallest.
const LARGER: [(&str, Size); 2] = [
    ("tanh-shallow-plrnn", SIZES[3]),
    ("clipped-dendritic-plrnn", ("multiscale", 8, 25, 45, 200)),
];

const UPDATES: u64 = 10;

/// All that ten updates need.
struct Training {
    plan: Plan,
    windows: Windows,
    architecture: Architecture,
    from: State,
}

impl Training {
    fn new(info: &'static ModelInfo, size: Size, isa: Isa) -> Training {
        let (_, dim_obs, latent, hidden, window) = size;
        let wave = |i: usize| {
            let (row, channel) = ((i / dim_obs) as f64, (i % dim_obs) as f64);
            2f64.sqrt() * (row * (0.03 + 0.007 * channel) + channel).sin()
        };
        let x = (0..5000 * dim_obs).map(wave).collect();
        let series = Series::from_rows(x, dim_obs, 1.0).expect("sines are finite");
        let dims = Dims {
            latent,
            hidden,
            inputs: 0,
        };
        let kind = if latent > dim_obs {
            ObservationKind::Identity
        } else {
            ObservationKind::Linear
        };
        let architecture = Architecture::new(info, dims, kind, dim_obs).expect("the sizes fit");
        let start = ObservationStart::WellConditioned;
        let model = Model::start(architecture, start, &series, 1);
        let plan = plan(isa);
        Training {
            windows: Windows::new(&series, window).expect("the window fits"),
            from: plan.start(&model),
            architecture,
            plan,
        }
    }

    fn run(&self) {
        let watch = &mut |_: &Epoch, _: &State| Control::Continue;
        let from = self.from.clone();
        std::hint::black_box(train(
            &self.plan,
            &self.windows,
            &self.architecture,
            from,
            watch,
        ));
    }
}

fn plan(isa: Isa) -> Plan {
    Plan {
        course: Course {
            schedule: Schedule::Exponential(Exponential {
                start: 1e-3,
                end: 1e-3,
                epochs: 1,
                batches_per_epoch: UPDATES,
            }),
            optimizer: Optimizer::RAdam,
            weight_decay: WeightDecay::default(),
            clip_norm: None,
            averaging: None,
            seed: 1,
            threads: 1,
            paced: false,
            isa,
        },
        batch: 16,
        forcing: Forcing::Generalized { alpha: 0.15 },
        adaptation: None,
        forcing_gradient: ForcingGradient::Detached,
        penalties: PenaltyWeights::default(),
        largest_a: None,
        noise: 0.0,
    }
}

fn kernels(bench: &mut Criterion) {
    let mut group = bench.benchmark_group("ten updates");
    group.sample_size(20);
    for size in SIZES {
        let name = size.0;
        for isa in Isa::available() {
            let training = Training::new(MODELS[0], size, isa);
            let id = format!("{name} {}", isa.name());
            group.bench_function(id, |b| b.iter(|| training.run()));
        }
        for estimator in [
            Estimator::ArithmeticMean,
            Estimator::ProductUpperBound,
            Estimator::Product,
        ] {
            let mut training = Training::new(MODELS[0], size, Isa::detect());
            training.plan.adaptation = Some(Adaptation {
                estimator,
                decay: 0.999,
                every: 5,
            });
            let id = format!("{name} adaptive {}", estimator.name());
            group.bench_function(id, |b| b.iter(|| training.run()));
        }
    }
    for info in &MODELS[1..] {
        let training = Training::new(info, SIZES[0], Isa::detect());
        group.bench_function(info.entry.id, |b| b.iter(|| training.run()));
    }
    for (id, size) in LARGER {
        let info = MODELS.iter().find(|info| info.entry.id == id);
        let info = info.expect("the model is in the list");
        let mut training = Training::new(info, size, Isa::detect());
        group.bench_function(format!("{id} {}", size.0), |b| b.iter(|| training.run()));
        training.plan.noise = 0.05;
        group.bench_function(format!("{id} {} with noise", size.0), |b| {
            b.iter(|| training.run());
        });
    }
}

criterion_group!(benches, kernels);
criterion_main!(benches);
