//! Every kernel has the loss and the gradient of the plain reference, for every observation model and forcing; lanes,
//! threads and instruction sets change nothing.

use crate::common;
mod estimates;

use std::time::Duration;

use attractor_core::forcing::adaptive::Adaptation;
use attractor_core::forcing::alpha::Estimator;
use attractor_core::forcing::{Forcing, ForcingGradient};
use attractor_core::laws::{self, Verdict};
use attractor_core::map::{Dims, MODELS, ModelInfo};
use attractor_core::model::{Architecture, Model};
use attractor_core::observation::{ObservationKind, ObservationStart};
use attractor_core::optim::{Exponential, Optimizer};
use attractor_core::penalty::PenaltyWeights;
use attractor_core::reference::{self, Batch};
use attractor_core::rng::{Rng, Stream};
use attractor_core::series::{Channel, Series, Step, Trajectory};
use attractor_core::simd::Isa;
use attractor_core::train::{self, Course, Plan, Schedule, WeightDecay};
use attractor_core::windows::Windows;
use common::{dims, for_all, sizes};
use proptest::prelude::*;

/// Gradients in f32 against f64: rounding of 6e-8 per step, grown by the map over a window of up to nine steps and
/// averaged over the windows, stays below this relative to the largest entry.
const F32: f64 = 3e-5;

/// A training situation: a model on a wavy series with inputs.
struct Situation {
    architecture: Architecture,
    series: Series,
    windows: Windows,
    plan: Plan,
    theta: Vec<f32>,
    starts: Vec<usize>,
}

/// A short training under forcing of strength 0.3.
fn plan(batch: usize) -> Plan {
    Plan {
        course: Course {
            schedule: Schedule::Exponential(Exponential {
                start: 1e-3,
                end: 1e-4,
                epochs: 2,
                batches_per_epoch: 3,
            }),
            optimizer: Optimizer::RAdam,
            weight_decay: WeightDecay::default(),
            clip_norm: None,
            averaging: None,
            seed: 3,
            threads: 1,
            paced: false,
            isa: Isa::detect(),
        },
        batch,
        forcing: Forcing::Generalized { alpha: 0.3 },
        adaptation: None,
        forcing_gradient: ForcingGradient::Detached,
        penalties: PenaltyWeights::default(),
        largest_a: None,
        noise: 0.0,
    }
}

/// The schedule of a plan.
fn schedule(plan: &mut Plan) -> &mut Exponential {
    match &mut plan.course.schedule {
        Schedule::Exponential(schedule) => schedule,
        _ => unreachable!("plans here have rates that fall every epoch"),
    }
}

impl Situation {
    fn new(
        info: &'static ModelInfo,
        kind: ObservationKind,
        sizes: (Dims, usize),
        batch: usize,
        window: usize,
    ) -> Situation {
        let (dims, dim_obs) = sizes;
        let rows = 80;
        let wave = |i: usize, n: usize, f: f64| {
            ((i / n) as f64 * (0.3 + 0.1 * f) + 2.0 * (i % n) as f64).sin()
        };
        let trajectory = Trajectory {
            s: (0..rows * dims.inputs)
                .map(|i| wave(i, dims.inputs, 3.0))
                .collect(),
            ..Trajectory::new((0..rows * dim_obs).map(|i| wave(i, dim_obs, 1.0)).collect())
        };
        let (channels, inputs) = (
            Channel::numbered("x", dim_obs),
            Channel::numbered("s", dims.inputs),
        );
        let series = Series::new(channels, inputs, Step::default(), vec![trajectory])
            .expect("the waves are a series");
        let architecture = Architecture::new(info, dims, kind, dim_obs).expect("the sizes fit");
        let model = Model::start(architecture, ObservationStart::Random, &series, 11);
        let mut rng = Rng::new(9, Stream::Parameters);
        let theta = model
            .theta()
            .iter()
            .map(|&v| v + 0.2 * rng.normal() as f32)
            .collect();
        let plan = plan(batch);
        let windows = Windows::new(&series, window).expect("the window fits");
        let starts = (0..batch).map(|i| i * 13 % (rows - window)).collect();
        Situation {
            architecture,
            series,
            windows,
            plan,
            theta,
            starts,
        }
    }

    fn gradient(&self, starts: &[usize]) -> (f64, Vec<f64>) {
        let plan = Plan {
            batch: starts.len(),
            ..self.plan.clone()
        };
        let (loss, gradient) = train::loss_and_gradient(
            &plan,
            &self.windows,
            &self.architecture,
            &self.theta,
            starts,
        );
        (loss, gradient.into_iter().map(f64::from).collect())
    }

    /// The kernels' loss and gradient against the reference and its central differences.
    fn check(&self) -> Verdict {
        let theta: Vec<f64> = self.theta.iter().map(|&v| f64::from(v)).collect();
        let batch = Batch {
            series: &self.series,
            window: self.windows.window(),
            starts: &self.starts,
            forcing: self.plan.forcing,
        };
        let value = |moved: &[f64]| match self.plan.forcing_gradient {
            ForcingGradient::Detached => reference::loss(&self.architecture, moved, &theta, &batch),
            ForcingGradient::Full => reference::loss(&self.architecture, moved, moved, &batch),
        };
        let (loss, mut gradient) = self.gradient(&self.starts);
        laws::compare_relative(
            "the loss is the reference's",
            &[loss],
            &[value(&theta)],
            F32,
        )?;
        self.restore_frozen(&value, &theta, &mut gradient);
        laws::gradient_matches_differences(
            "the gradient is the reference's",
            &value,
            &theta,
            &gradient,
            F32,
        )
    }

    /// The diagonal of W does not move in training; its entries are not part of the comparison.
    fn restore_frozen(&self, value: &dyn Fn(&[f64]) -> f64, theta: &[f64], gradient: &mut [f64]) {
        let layout = self.architecture.layout();
        let (place, m) = (layout.range("W"), self.architecture.dims.latent);
        for i in place.step_by(m + 1) {
            assert_eq!(gradient[i], 0.0, "the diagonal of W is frozen");
            let mut moved = theta.to_vec();
            moved[i] += 1e-6;
            gradient[i] = (value(&moved) - value(theta)) / 1e-6;
        }
    }
}

fn situations() -> impl Strategy<Value = (Dims, usize, usize, usize)> {
    let batch = prop_oneof![Just(1usize), Just(8), Just(16), Just(17), 1usize..20];
    (sizes(), 1usize..8, batch, 1usize..9)
}

#[test]
fn every_kernel_has_the_gradient_of_the_reference_through_a_linear_observation() {
    for info in MODELS {
        for kind in [ObservationKind::Linear, ObservationKind::LinearWithBias] {
            for_all(12, situations(), |(dims, dim_obs, batch, window)| {
                Situation::new(info, kind, (dims, dim_obs), batch, window).check()
            });
        }
    }
}

#[test]
fn every_kernel_has_the_gradient_of_the_reference_through_the_identity() {
    for info in MODELS {
        for_all(12, situations(), |(dims, dim_obs, batch, window)| {
            let sizes = (dims, dim_obs.min(dims.latent));
            Situation::new(info, ObservationKind::Identity, sizes, batch, window).check()
        });
    }
}

/// With thresholds a tenth as large few units are open, and wide layers go through these alone.
#[test]
fn layers_whose_units_are_mostly_shut_have_the_gradient_of_the_reference() {
    let info = MODELS[0];
    assert_eq!(info.entry.id, "clipped-shallow-plrnn");
    for latent in [7, 8, 9, 16, 20, 25, 32, 33] {
        let sizes = (dims(latent, 21, 1), 5);
        let mut situation = Situation::new(info, ObservationKind::Linear, sizes, 17, 6);
        let thresholds = situation.architecture.layout().range("h2");
        situation.theta[thresholds]
            .iter_mut()
            .for_each(|h2| *h2 *= 0.1);
        situation.check().unwrap();
    }
}

#[test]
fn every_forcing_has_the_gradient_of_the_reference() {
    let schemes = [
        Forcing::None,
        Forcing::Generalized { alpha: 0.0 },
        Forcing::Generalized { alpha: 1.0 },
        Forcing::Sparse { interval: 1 },
        Forcing::Sparse { interval: 3 },
    ];
    for forcing in schemes {
        for (gradient, kind) in [
            (ForcingGradient::Detached, ObservationKind::Linear),
            (ForcingGradient::Full, ObservationKind::Linear),
            (ForcingGradient::Full, ObservationKind::LinearWithBias),
            (ForcingGradient::Full, ObservationKind::Identity),
        ] {
            let sizes = (dims(4, 7, 1), 3);
            let mut situation = Situation::new(MODELS[0], kind, sizes, 17, 7);
            situation.plan.forcing = forcing;
            situation.plan.forcing_gradient = gradient;
            situation.check().unwrap();
        }
    }
}

#[test]
fn a_wrong_gradient_is_caught() {
    let sizes = (dims(3, 7, 0), 3);
    let mut situation = Situation::new(MODELS[0], ObservationKind::Linear, sizes, 5, 6);
    situation.check().unwrap();
    // Claims the full gradient, computes the detached one.
    let theta: Vec<f64> = situation.theta.iter().map(|&v| f64::from(v)).collect();
    let (_, detached) = situation.gradient(&situation.starts);
    situation.plan.forcing_gradient = ForcingGradient::Full;
    let batch = Batch {
        series: &situation.series,
        window: 6,
        starts: &situation.starts,
        forcing: situation.plan.forcing,
    };
    let full = |moved: &[f64]| reference::loss(&situation.architecture, moved, moved, &batch);
    assert!(laws::gradient_matches_differences("wrong", &full, &theta, &detached, F32).is_err());
}

#[test]
fn all_instruction_sets_agree() {
    for info in MODELS {
        let sizes = (dims(9, 30, 1), 9);
        let mut situation = Situation::new(info, ObservationKind::Linear, sizes, 16, 9);
        for isa in Isa::available() {
            situation.plan.course.isa = isa;
            situation
                .check()
                .unwrap_or_else(|broken| panic!("{} with {}: {broken}", info.entry.id, isa.name()));
        }
    }
}

#[test]
fn lanes_do_not_see_each_other() {
    for info in MODELS {
        let sizes = (dims(3, 5, 1), 3);
        let situation = Situation::new(info, ObservationKind::Linear, sizes, 17, 6);
        let of_batch = |starts: &[usize]| situation.gradient(starts).1;
        laws::lanes_are_independent(&of_batch, &situation.starts, F32).unwrap();
        let mixed = |starts: &[usize]| {
            let mut starts = starts.to_vec();
            let last = starts.len() - 1;
            starts[last] = starts[0];
            situation.gradient(&starts).1
        };
        assert!(
            laws::lanes_are_independent(&mixed, &situation.starts, F32).is_err(),
            "the law must tell mixed lanes"
        );
    }
}

#[test]
fn full_forcing_decouples_the_steps() {
    let sizes = (dims(3, 7, 0), 3);
    let mut whole = Situation::new(MODELS[0], ObservationKind::Identity, sizes, 4, 8);
    whole.plan.forcing = Forcing::Generalized { alpha: 1.0 };
    let steps: Vec<usize> = whole
        .starts
        .iter()
        .flat_map(|&start| start..start + 8)
        .collect();
    let mut single = Situation::new(MODELS[0], ObservationKind::Identity, sizes, steps.len(), 1);
    single.theta.clone_from(&whole.theta);
    let decoupled = |whole: &Situation| {
        laws::compare_relative(
            "α = 1 decouples",
            &whole.gradient(&whole.starts).1,
            &single.gradient(&steps).1,
            F32,
        )
    };
    decoupled(&whole).unwrap();
    whole.plan.forcing = Forcing::Generalized { alpha: 0.99 };
    assert!(
        decoupled(&whole).is_err(),
        "the law must tell coupled steps"
    );
}

/// Sums of units and cotangents go from chunk to chunk of a window: 70 units make chunks of 58 steps and of 2.
#[test]
fn chunks_of_a_window_add_up() {
    for info in MODELS {
        let is_shallow = info.entry.id.contains("shallow");
        let (dims, dim_obs) = if is_shallow {
            (dims(3, 70, 0), 3)
        } else {
            (dims(70, 5, 0), 70)
        };
        let with = |batch, window| {
            let kind = ObservationKind::Identity;
            let mut situation = Situation::new(info, kind, (dims, dim_obs), batch, window);
            situation.plan.forcing = Forcing::Generalized { alpha: 1.0 };
            situation
        };
        let whole = with(4, 60);
        let steps: Vec<usize> = (whole.starts.iter())
            .flat_map(|&start| start..start + 60)
            .collect();
        let mut single = with(steps.len(), 1);
        single.theta.clone_from(&whole.theta);
        let law = "the chunks of a window add up";
        let (found, expected) = (whole.gradient(&whole.starts).1, single.gradient(&steps).1);
        laws::compare_relative(law, &found, &expected, F32).unwrap();
    }
}

/// Every window has noise of its own from the stream: 21 numbers, an odd number, at places 22 apart.
#[test]
fn noise_is_that_of_its_stream() {
    let (window, dim) = (6, 3);
    let mut situation = {
        let sizes = (dims(3, 7, 0), dim);
        Situation::new(MODELS[0], ObservationKind::Linear, sizes, 3, window)
    };
    let theta: Vec<f64> = situation.theta.iter().map(|&v| f64::from(v)).collect();
    let strength = 0.5;
    let with_noise = |w: usize, start: usize| {
        let mut rng = Rng::new(situation.plan.course.seed, Stream::Noise);
        rng.seek(22 * w as u128);
        let mut normals = vec![0.0; (window + 1) * dim];
        rng.fill_normal(Isa::detect(), &mut normals);
        let mut x = situation.series.trajectories()[0].x.clone();
        for (x, &normal) in x[start * dim..].iter_mut().zip(&normals) {
            *x += strength * f64::from(normal);
        }
        let batch = Batch {
            series: &Series::from_rows(x, dim, 1.0).expect("noise is finite"),
            window,
            starts: &[start],
            forcing: situation.plan.forcing,
        };
        reference::loss(&situation.architecture, &theta, &theta, &batch)
    };
    let starts = situation.starts.clone();
    let losses = starts.iter().enumerate().map(|(w, &s)| with_noise(w, s));
    let expected = losses.sum::<f64>() / starts.len() as f64;
    let without = situation.gradient(&starts).0;
    situation.plan.noise = strength;
    let found = situation.gradient(&starts).0;
    laws::compare_relative("noise is its stream's", &[found], &[expected], F32).unwrap();
    assert!(
        (found - without).abs() > 0.01 * without,
        "{found} {without}"
    );
}

#[test]
fn no_forcing_is_plain_back_propagation() {
    let sizes = (dims(3, 7, 0), 3);
    let mut situation = Situation::new(MODELS[0], ObservationKind::Linear, sizes, 4, 8);
    let mut with = |forcing| {
        situation.plan.forcing = forcing;
        situation.gradient(&situation.starts.clone()).1
    };
    let plain = with(Forcing::None);
    assert_eq!(with(Forcing::Generalized { alpha: 0.0 }), plain);
    assert_eq!(with(Forcing::Sparse { interval: 100 }), plain);
    assert_ne!(with(Forcing::Generalized { alpha: 0.1 }), plain);
}

#[test]
fn the_number_of_threads_does_not_change_a_bit() {
    for info in MODELS {
        let sizes = (dims(3, 7, 1), 3);
        let mut situation = Situation::new(info, ObservationKind::Linear, sizes, 37, 6);
        situation.plan.noise = 0.1;
        let mut trained = |threads| {
            situation.plan.course.threads = threads;
            let model = Model::new(situation.architecture, situation.theta.clone());
            let from = situation.plan.start(&model);
            let watch = &mut |_: &train::Epoch, _: &train::State| train::Control::Continue;
            train::train(
                &situation.plan,
                &situation.windows,
                &situation.architecture,
                from,
                watch,
            )
        };
        let one = trained(1);
        assert!(matches!(one, train::Outcome::Finished(_)));
        for threads in [2, 3, 8] {
            assert!(
                trained(threads) == one,
                "{} with {threads} threads",
                info.entry.id
            );
        }
    }
}

/// As many workers as pay take over from one another at the ends of epochs: training lasts long enough for some trials.
#[test]
fn workers_that_come_and_go_do_not_change_a_bit() {
    let info = &MODELS[0];
    let sizes = (dims(3, 7, 1), 3);
    let mut situation = Situation::new(info, ObservationKind::Linear, sizes, 37, 6);
    situation.plan.noise = 0.1;
    let mut trained = |threads, paced, updates: u64| {
        let course = &mut situation.plan.course;
        (course.threads, course.paced) = (threads, paced);
        course.schedule = train::Schedule::Exponential(Exponential {
            start: 1e-3,
            end: 1e-4,
            epochs: updates / 10,
            batches_per_epoch: 10,
        });
        let model = Model::new(situation.architecture, situation.theta.clone());
        let from = situation.plan.start(&model);
        let begun = std::time::Instant::now();
        let watch = &mut |_: &train::Epoch, _: &train::State| train::Control::Continue;
        let (plan, windows) = (&situation.plan, &situation.windows);
        let outcome = train::train(plan, windows, &situation.architecture, from, watch);
        (outcome, begun.elapsed().as_secs_f64())
    };
    // Half a second of one worker, five times as long as a trial.
    let updates = (0.5 / trained(1, false, 1000).1 * 1000.0) as u64;
    let updates = updates.next_multiple_of(10);
    let one = trained(1, false, updates).0;
    assert!(matches!(one, train::Outcome::Finished(_)));
    assert!(trained(3, true, updates).0 == one);
}

/// A single update is that without a bound, then cut; further ones stay within it.
#[test]
fn a_is_cut_to_its_bound_after_every_update() {
    for info in MODELS {
        let sizes = (dims(3, 7, 0), 3);
        let mut situation = Situation::new(info, ObservationKind::Linear, sizes, 9, 6);
        let mut trained = |largest: Option<f64>, epochs, batches_per_epoch| {
            situation.plan.largest_a = largest;
            let schedule = schedule(&mut situation.plan);
            (schedule.epochs, schedule.batches_per_epoch) = (epochs, batches_per_epoch);
            let model = Model::new(situation.architecture, situation.theta.clone());
            let from = situation.plan.start(&model);
            let watch = &mut |_: &train::Epoch, _: &train::State| train::Control::Continue;
            let Situation {
                plan,
                windows,
                architecture,
                ..
            } = &situation;
            let outcome = train::train(plan, windows, architecture, from, watch);
            outcome.state().theta.clone()
        };
        let a = (info.build)(sizes.0).layout().range("A");
        let bound = 0.4_f32;
        let free = trained(None, 1, 1);
        let mut cut = free.clone();
        cut[a.clone()]
            .iter_mut()
            .for_each(|v| *v = v.clamp(-bound, bound));
        assert_ne!(cut, free, "{}", info.entry.id);
        assert_eq!(trained(Some(f64::from(bound)), 1, 1), cut);
        let later = trained(Some(f64::from(bound)), 3, 5);
        assert!(later[a].iter().all(|v| v.abs() <= bound));
    }
}

/// Instruction sets that round a product and its sum once.
fn fused() -> impl Iterator<Item = Isa> {
    Isa::available().filter(|&isa| isa >= Isa::Avx2)
}

/// Registers hold eight windows or sixteen, or units in pairs beside eight, as instruction set and threads have it: of few
/// and of many states, of an even and an odd number of units, over windows of one and of several chunks.
#[test]
fn threads_and_wide_registers_change_no_bit_for_any_size() {
    let layers = [(1, 1), (1, 9), (2, 5), (3, 50), (4, 3), (5, 251), (6, 8)];
    let larger = [(7, 1), (9, 200), (16, 37), (17, 64), (20, 101), (33, 10)];
    for info in MODELS {
        for (latent, hidden) in layers.into_iter().chain(larger) {
            let sizes = (dims(latent, hidden, 1), latent);
            for batch in [5, 9, 16, 17, 40, 49] {
                let kind = ObservationKind::Linear;
                let mut situation = Situation::new(info, kind, sizes, batch, 60);
                let mut gradient = |isa, threads| {
                    situation.plan.course.isa = isa;
                    situation.plan.course.threads = threads;
                    situation.gradient(&situation.starts)
                };
                let mut all = fused().flat_map(|isa| [(isa, 1), (isa, 2)]);
                let first = all.next().map(|(isa, threads)| gradient(isa, threads));
                for (isa, threads) in all {
                    assert!(
                        Some(gradient(isa, threads)) == first,
                        "{} with {latent} states, {hidden} units, {batch} windows, {threads} threads, {}",
                        info.entry.id,
                        isa.name()
                    );
                }
            }
        }
    }
}

#[test]
fn a_run_continued_from_a_state_ends_with_the_same_bits() {
    for info in MODELS {
        let sizes = (dims(3, 7, 0), 3);
        let mut situation = Situation::new(info, ObservationKind::Linear, sizes, 5, 6);
        situation.plan.noise = 0.1;
        // Large steps: thresholds of dendritic models pass one another.
        schedule(&mut situation.plan).start = 0.03;
        let model = Model::new(situation.architecture, situation.theta.clone());
        let run = |from: train::State, stop_after: u64| {
            let mut watch = |epoch: &train::Epoch, _: &train::State| {
                if epoch.epoch == stop_after {
                    train::Control::Stop
                } else {
                    train::Control::Continue
                }
            };
            let (plan, windows) = (&situation.plan, &situation.windows);
            train::train(plan, windows, &situation.architecture, from, &mut watch)
        };
        let start = situation.plan.start(&model);
        let whole = run(start.clone(), 100);
        let train::Outcome::Stopped(half) = run(start, 1) else {
            panic!("the watch stops it")
        };
        assert!(
            matches!(whole, train::Outcome::Finished(_)),
            "{}",
            info.entry.id
        );
        assert!(run(half, 100) == whole, "{}", info.entry.id);
    }
}

#[test]
fn thresholds_that_are_equal_or_zero_have_the_gradient_of_the_reference() {
    let dendritic = MODELS
        .iter()
        .filter(|info| info.entry.id.contains("dendritic"));
    for info in dendritic {
        let sizes = (dims(3, 7, 0), 3);
        let mut situation = Situation::new(info, ObservationKind::Linear, sizes, 9, 6);
        let thresholds = situation.architecture.layout().range("thresholds");
        for of_state in situation.theta[thresholds].chunks_exact_mut(7) {
            of_state[3] = of_state[1];
            of_state[4] = 0.0;
            of_state[6] = 0.0;
        }
        situation.check().unwrap();
    }
}

#[test]
fn gradients_too_large_for_the_optimiser_count_as_divergence() {
    let sizes = (dims(3, 7, 0), 3);
    let plain = MODELS.iter().find(|info| info.entry.id == "shallow-plrnn");
    let plain = plain.expect("the model is in the list");
    let mut situation = Situation::new(plain, ObservationKind::Linear, sizes, 4, 9);
    situation.plan.forcing = Forcing::None;
    // States grow a thousandfold in two steps: the loss is still finite, the gradient's square is not.
    situation.theta[..3].fill(50.0);
    let (loss, _) = situation.gradient(&situation.starts);
    assert!(loss.is_finite() && loss > 1e20, "loss {loss}");
    let model = Model::new(situation.architecture, situation.theta.clone());
    let from = situation.plan.start(&model);
    let watch = &mut |_: &train::Epoch, _: &train::State| train::Control::Continue;
    let (plan, windows) = (&situation.plan, &situation.windows);
    let outcome = train::train(plan, windows, &situation.architecture, from.clone(), watch);
    assert!(
        outcome
            == train::Outcome::Diverged {
                update: 0,
                last: from
            }
    );
}

#[test]
fn a_panic_in_one_worker_ends_all_of_them() {
    let sizes = (dims(3, 7, 0), 3);
    let mut situation = Situation::new(MODELS[0], ObservationKind::Linear, sizes, 16, 6);
    situation.plan.course.threads = 2;
    let model = Model::new(situation.architecture, situation.theta.clone());
    let panicking = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let watch = &mut |_: &train::Epoch, _: &train::State| panic!("the watch fails");
        let from = situation.plan.start(&model);
        train::train(
            &situation.plan,
            &situation.windows,
            &situation.architecture,
            from,
            watch,
        )
    }));
    assert!(panicking.is_err());
}

#[test]
fn workers_that_wait_long_wake_up_to_the_same_bits() {
    let sizes = (dims(3, 7, 0), 3);
    let mut situation = Situation::new(MODELS[0], ObservationKind::Linear, sizes, 16, 6);
    situation.plan.course.threads = 2;
    let model = Model::new(situation.architecture, situation.theta.clone());
    let trained = |pause: Duration| {
        let watch = &mut |_: &train::Epoch, _: &train::State| {
            std::thread::sleep(pause);
            train::Control::Continue
        };
        let from = situation.plan.start(&model);
        let (plan, windows) = (&situation.plan, &situation.windows);
        train::train(plan, windows, &situation.architecture, from, watch)
    };
    // A worker sleeps after some hundredths of a second.
    let (at_once, later) = (trained(Duration::ZERO), trained(Duration::from_millis(200)));
    assert!(matches!(at_once, train::Outcome::Finished(_)));
    assert!(at_once == later);
}

/// Every third row lacks one channel or another, every seventh all of them; windows begin at complete rows.
fn with_missing(mut situation: Situation) -> Situation {
    let n = situation.series.dim_obs();
    let mut trajectory = situation.series.trajectories()[0].clone();
    for (t, row) in trajectory.x.chunks_exact_mut(n).enumerate() {
        match t {
            _ if t % 7 == 6 => row.fill(f64::NAN),
            _ if t % 3 == 1 => row[t % n] = f64::NAN,
            _ => {}
        }
    }
    situation.series = situation.series.with(vec![trajectory]).expect("a series");
    let window = situation.windows.window();
    situation.windows = Windows::with_share(&situation.series, window, 0.1).expect("windows");
    let complete = |start: &usize| start % 3 != 1 && start % 7 != 6;
    let last = situation.series.total_len() - window;
    let starts = (0..last).filter(complete).step_by(3).cycle();
    situation.starts = starts.take(situation.plan.batch).collect();
    situation
}

#[test]
fn missing_values_are_masked_and_leave_the_model_its_own_state() {
    let cases = [
        (ObservationKind::Identity, dims(3, 7, 0), 3),
        (ObservationKind::Identity, dims(5, 7, 1), 3),
        (ObservationKind::Linear, dims(3, 7, 0), 5),
        (ObservationKind::Linear, dims(4, 7, 0), 2),
        (ObservationKind::LinearWithBias, dims(3, 7, 1), 3),
    ];
    let forcings = [
        Forcing::Generalized { alpha: 0.3 },
        Forcing::Generalized { alpha: 1.0 },
        Forcing::Sparse { interval: 3 },
        Forcing::None,
    ];
    for (kind, dims, dim_obs) in cases {
        for forcing in forcings {
            for gradient in [ForcingGradient::Detached, ForcingGradient::Full] {
                let situation = Situation::new(MODELS[0], kind, (dims, dim_obs), 9, 12);
                let mut situation = with_missing(situation);
                situation.plan.forcing = forcing;
                situation.plan.forcing_gradient = gradient;
                let verdict = situation.check();
                assert!(
                    verdict.is_ok(),
                    "{kind:?} {forcing:?} {gradient:?}: {verdict:?}"
                );
            }
        }
    }
}

#[test]
fn adaptive_forcing_and_averages_do_not_depend_on_threads_or_interruptions() {
    for estimator in Estimator::ALL {
        let sizes = (dims(3, 7, 0), 3);
        let mut situation = Situation::new(MODELS[0], ObservationKind::Linear, sizes, 33, 6);
        situation.plan.forcing = Forcing::Generalized { alpha: 1.0 };
        situation.plan.course.averaging = Some(0.9);
        situation.plan.adaptation = Some(Adaptation {
            estimator,
            decay: 0.9,
            every: 2,
        });
        let model = Model::new(situation.architecture, situation.theta.clone());
        let run = |(isa, threads): (Isa, usize), from: train::State, stop_after: u64| {
            let mut plan = situation.plan.clone();
            (plan.course.isa, plan.course.threads) = (isa, threads);
            let mut norms = Vec::new();
            let mut watch = |epoch: &train::Epoch, _: &train::State| {
                norms.push((epoch.alpha, epoch.norm.map(|norm| norm.kappa)));
                if epoch.epoch == stop_after {
                    train::Control::Stop
                } else {
                    train::Control::Continue
                }
            };
            let outcome = train::train(
                &plan,
                &situation.windows,
                &situation.architecture,
                from,
                &mut watch,
            );
            (outcome, norms)
        };
        let start = || situation.plan.start(&model);
        let isa = Isa::detect();
        let (whole, norms) = run((isa, 1), start(), 100);
        let state = whole.state();
        assert!(state.alpha < 1.0 && state.average != state.theta);
        // Estimates at updates 2, 4 and 6, in epochs of three.
        assert!(
            norms
                .iter()
                .all(|(alpha, kappa)| *alpha == state.alpha || kappa.is_some())
        );
        assert!(run((isa, 3), start(), 100).0 == whole, "{estimator:?}");
        for other in fused() {
            assert!(run((other, 1), start(), 100).0 == whole, "{estimator:?}");
        }
        let (train::Outcome::Stopped(half), _) = run((isa, 2), start(), 1) else {
            panic!("the watch stops it")
        };
        assert!(run((isa, 1), half, 100).0 == whole, "{estimator:?}");
    }
}
