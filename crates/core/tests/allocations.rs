//! Training allocates as much for many updates as for few: the update loop allocates nothing.

use allocation_counter::measure;
use attractor_core::forcing::adaptive::Adaptation;
use attractor_core::forcing::alpha::Estimator;
use attractor_core::forcing::{Forcing, ForcingGradient};
use attractor_core::map::{Dims, MODELS};
use attractor_core::model::{Architecture, Model};
use attractor_core::observation::{ObservationKind, ObservationStart};
use attractor_core::optim::{Exponential, Optimizer};
use attractor_core::penalty::PenaltyWeights;
use attractor_core::series::{Channel, Series, Step, Trajectory};
use attractor_core::simd::Isa;
use attractor_core::train::{
    self, Control, Course, Epoch, Outcome, Plan, Schedule, State, WeightDecay,
};
use attractor_core::windows::Windows;

/// A wave of four channels.
fn series() -> Series {
    let x = (0..4 * 200)
        .map(|i| ((i / 4) as f64 * 0.3 + (i % 4) as f64).sin())
        .collect();
    let channels = Channel::numbered("x", 4);
    Series::new(channels, vec![], Step::default(), vec![Trajectory::new(x)])
        .expect("a wave is a series")
}

fn plan(epochs: u64, adaptation: Option<Adaptation>) -> Plan {
    Plan {
        course: Course {
            schedule: Schedule::Exponential(Exponential {
                start: 1e-3,
                end: 1e-4,
                epochs,
                batches_per_epoch: 5,
            }),
            optimizer: Optimizer::RAdam,
            weight_decay: WeightDecay::default(),
            clip_norm: Some(10.0),
            averaging: Some(0.99),
            seed: 1,
            threads: 1,
            paced: false,
            isa: Isa::detect(),
        },
        batch: 16,
        forcing: Forcing::Generalized { alpha: 0.5 },
        adaptation,
        forcing_gradient: ForcingGradient::Detached,
        penalties: PenaltyWeights {
            latent: 1e-4,
            observation: 1e-4,
            ..PenaltyWeights::default()
        },
        largest_a: Some(0.9),
        noise: 0.01,
    }
}

/// How often a training of so many epochs allocates.
fn allocations(model: &Model, windows: &Windows, plan: &Plan) -> u64 {
    let from = plan.start(model);
    let mut watch = |_: &Epoch, _: &State| Control::Continue;
    let counted = measure(|| {
        let outcome = train::train(plan, windows, model.architecture(), from, &mut watch);
        assert!(matches!(outcome, Outcome::Finished(_)));
    });
    counted.count_total
}

#[test]
fn updates_allocate_nothing() {
    let series = series();
    let windows = Windows::new(&series, 20).expect("the window fits");
    let estimators = [
        None,
        Some(Estimator::ArithmeticMean),
        Some(Estimator::ProductUpperBound),
        Some(Estimator::Product),
    ];
    for (info, latent) in MODELS.iter().flat_map(|info| [(info, 4), (info, 9)]) {
        for estimator in estimators {
            let dims = Dims {
                latent,
                hidden: 12,
                inputs: 0,
            };
            let kind = ObservationKind::Linear;
            let architecture = Architecture::new(info, dims, kind, 4);
            let architecture = architecture.expect("the sizes fit");
            let start = ObservationStart::Random;
            let model = Model::start(architecture, start, &series, 1);
            let adaptation = estimator.map(|estimator| Adaptation {
                estimator,
                decay: 0.9,
                every: 2,
            });
            // Batches that fill wide registers with windows, and with pairs of units.
            for batch in [16, 5] {
                let plan = |epochs| Plan {
                    batch,
                    ..plan(epochs, adaptation)
                };
                let few = allocations(&model, &windows, &plan(2));
                let many = allocations(&model, &windows, &plan(20));
                assert_eq!(few, many, "{} with {estimator:?}", info.entry.id);
            }
        }
    }
}
