//! A worker: its share of the lanes, and a replica of everything else.

use std::mem;

use super::estimate::{Estimate, Estimation, Slopes};
use super::exchange::{Exchange, Slot};
use super::sweep::{Backward, Compare, Forced, Forward, Infer, ObservationGradient, Sweep};
use super::{Control, Epoch, Job, Outcome, State, Watch};
use crate::forcing::alpha::{Estimator, Norm};
use crate::kernel::{Finish, Kernel, Prepare};
use crate::linalg::sum_of_squares;
use crate::map::Map;
use crate::observation::ObservationLanes;
use crate::penalty::Penalties;
use crate::rng::{Rng, Stream};
use crate::simd::{Abreast, GROUP, Groups, Isa, Lanes, dispatch};

/// Gradients from here on count as diverged: their squares, the optimiser's second moment, would not fit into f32.
const LARGEST_NORM: f64 = 1e18;

/// Trains with kernels of type `K` on vectors of type `P`.
pub(super) fn run<K: Kernel, P: Lanes>(
    job: Job<'_>,
    make: &(impl Fn(K) -> K + Sync),
    from: State,
    watch: &mut dyn Watch,
) -> Outcome {
    let packs = job.plan.batch.div_ceil(P::WIDTH);
    let workers = job.plan.threads.clamp(1, packs);
    let exchange = exchange_for::<K, P>(job, make, workers, packs);
    std::thread::scope(|scope| {
        for rank in 1..workers {
            let (from, exchange) = (from.clone(), &exchange);
            scope.spawn(move || {
                Worker::<K, P>::new(job, make, rank, workers, from)
                    .train(exchange, &mut |_, _| Control::Continue)
            });
        }
        Worker::<K, P>::new(job, make, 0, workers, from)
            .train(&exchange, &mut |epoch, state| watch.epoch(epoch, state))
    })
}

/// Loss and gradient of the batch of windows that start at given rows.
pub(super) fn once<K: Kernel, P: Lanes>(
    job: Job<'_>,
    make: &(impl Fn(K) -> K + Sync),
    theta: &[f32],
    starts: &[usize],
) -> (f64, Vec<f32>) {
    let (mut worker, exchange) = alone::<K, P>(job, make, theta, starts);
    let loss = worker.gradient(&exchange).loss;
    worker.gradient.truncate(theta.len());
    (loss, worker.gradient)
}

/// 𝒩 of the batch of windows that start at given rows.
pub(super) fn norm_of_batch<K: Kernel, P: Lanes>(
    job: Job<'_>,
    make: &(impl Fn(K) -> K + Sync),
    theta: &[f32],
    starts: &[usize],
) -> Norm {
    let (mut worker, exchange) = alone::<K, P>(job, make, theta, starts);
    worker.norm_of_batch(&exchange)
}

/// A worker that has all packs of one batch.
fn alone<'a, K: Kernel, P: Lanes>(
    job: Job<'a>,
    make: &(impl Fn(K) -> K + Sync),
    theta: &[f32],
    starts: &[usize],
) -> (Worker<'a, K, P>, Exchange) {
    let packs = job.plan.batch.div_ceil(P::WIDTH);
    let exchange = exchange_for::<K, P>(job, make, 1, packs);
    let from = State::at(theta, job.plan);
    let mut worker = Worker::<K, P>::new(job, make, 0, 1, from);
    worker.starts.copy_from_slice(starts);
    (worker, exchange)
}

fn exchange_for<K: Kernel, P: Lanes>(
    job: Job<'_>,
    make: &impl Fn(K) -> K,
    workers: usize,
    packs: usize,
) -> Exchange {
    let len = Shared::<K>::new::<P>(job, make).gradient_len();
    let blank = Slot {
        groups: vec![vec![0.0; len]; P::WIDTH / GROUP],
        squares: [0.0; 2],
        norm: Norm::default(),
    };
    Exchange::new(workers, packs, &blank)
}

/// The map's kernel and the observation model, prepared for the current θ.
struct Shared<K> {
    kernel: K,
    observation: ObservationLanes,
    parameters: usize,
    has_missing: bool,
}

impl<K: Kernel> Shared<K> {
    fn new<P: Lanes>(job: Job<'_>, make: &impl Fn(K) -> K) -> Shared<K> {
        let layout = job.architecture.layout();
        Shared {
            kernel: make(K::new::<P>(job.architecture.dims, &layout)),
            observation: ObservationLanes::new::<P>(job.architecture.observation, &layout),
            parameters: layout.len(),
            has_missing: job.windows.has_missing(),
        }
    }

    fn gradient_len(&self) -> usize {
        self.parameters + self.observation.extra()
    }

    fn prepare<P: Lanes>(&mut self, isa: Isa, theta: &[f32]) {
        let kernel = &mut self.kernel;
        dispatch::<P, _>(isa, Prepare { kernel, theta });
        self.observation.prepare(theta);
        if self.has_missing {
            self.observation.prepare_for_missing();
        }
    }
}

struct Worker<'a, K: Kernel, P: Lanes> {
    job: Job<'a>,
    map: Box<dyn Map>,
    penalties: Penalties,
    shared: Shared<K>,
    /// The packs of lanes that this worker sweeps, one after another in the same buffers.
    packs: Vec<usize>,
    sweep: Sweep<P, K::Units<P>>,
    /// Of adaptive forcing whose estimate needs data.
    estimation: Option<Estimation<P>>,
    /// The last estimate of this epoch.
    norm: Option<Norm>,
    starts: Vec<usize>,
    /// Room for the noise of a window, if there is noise.
    noise: Vec<f32>,
    /// The pack whose windows are in the sweep's lanes, as they were loaded.
    loaded: Option<usize>,
    gradient: Vec<f32>,
    state: State,
    windows_rng: Rng,
}

/// Room for the estimates of adaptive forcing, where they need data.
fn estimation_for<K: Kernel, P: Lanes>(job: Job<'_>, kernel: &K) -> Option<Estimation<P>> {
    let estimator = job.plan.adaptation.map(|adaptation| adaptation.estimator);
    let of_data = estimator.filter(|&estimator| estimator != Estimator::ParameterBound);
    of_data.map(|estimator| {
        let (dims, window) = (job.architecture.dims, job.windows.window());
        Estimation::new(estimator, dims, kernel, window)
    })
}

/// What an update yields besides its gradient.
struct Measured {
    loss: f64,
    penalty: f64,
    norm: f64,
}

impl<'a, K: Kernel, P: Lanes> Worker<'a, K, P> {
    fn new(
        job: Job<'a>,
        make: &impl Fn(K) -> K,
        rank: usize,
        workers: usize,
        from: State,
    ) -> Worker<'a, K, P> {
        let Job {
            plan,
            windows,
            architecture,
        } = job;
        let shared = Shared::new::<P>(job, make);
        let window = windows.window();
        let mut sweep = Sweep::new(
            architecture.dims,
            &shared.kernel,
            architecture.observation,
            window,
        );
        if windows.has_missing() {
            sweep = sweep.with_missing();
        }
        let packs = (rank..plan.batch.div_ceil(P::WIDTH))
            .step_by(workers)
            .collect();
        let map = (architecture.info.build)(architecture.dims);
        let layout = architecture.layout();
        let mut windows_rng = Rng::new(plan.seed, Stream::Windows);
        // Two 32-bit words a window.
        windows_rng.seek(u128::from(from.update) * plan.batch as u128 * 2);
        let noise_len = sweep.x.len();
        let mut worker = Worker {
            job,
            penalties: Penalties::new(
                plan.penalties,
                map.as_ref(),
                architecture.observation,
                &layout,
            ),
            map,
            packs,
            sweep,
            estimation: estimation_for(job, &shared.kernel),
            norm: None,
            starts: vec![0; plan.batch],
            noise: vec![0.0; if plan.noise > 0.0 { noise_len } else { 0 }],
            loaded: None,
            gradient: vec![0.0; shared.gradient_len()],
            shared,
            state: from,
            windows_rng,
        };
        worker.shared.prepare::<P>(plan.isa, &worker.state.theta);
        worker
    }

    fn train(
        mut self,
        exchange: &Exchange,
        watch: &mut dyn FnMut(&Epoch, &State) -> Control,
    ) -> Outcome {
        let _presence = exchange.presence();
        let plan = self.job.plan;
        let per_epoch = plan.schedule.batches_per_epoch;
        let mut epoch_loss = 0.0;
        while self.state.update < plan.updates() {
            self.draw();
            self.adapt(exchange);
            let measured = self.gradient(exchange);
            if !(measured.loss.is_finite() && measured.norm < LARGEST_NORM) {
                return Outcome::Diverged {
                    update: self.state.update,
                    last: self.state,
                };
            }
            let rate = self.state.rate_scale * plan.schedule.rate(self.state.update);
            self.take_step(rate);
            epoch_loss += measured.loss / per_epoch as f64;
            if self.state.update.is_multiple_of(per_epoch) {
                let loss = mem::take(&mut epoch_loss);
                if self.end_epoch(exchange, watch, Measured { loss, ..measured }, rate)
                    == Control::Stop
                {
                    return Outcome::Stopped(self.state);
                }
            }
        }
        Outcome::Finished(self.state)
    }

    /// Tells the watch, and all workers whether it stops them.
    fn end_epoch(
        &mut self,
        exchange: &Exchange,
        watch: &mut dyn FnMut(&Epoch, &State) -> Control,
        measured: Measured,
        rate: f64,
    ) -> Control {
        let plan = self.job.plan;
        let epoch = Epoch {
            epoch: self.state.update / plan.schedule.batches_per_epoch,
            update: self.state.update,
            loss: measured.loss,
            penalty: measured.penalty,
            alpha: plan.forcing.with_strength(self.state.alpha).strength(),
            norm: self.norm.take(),
            rate,
            gradient_norm: measured.norm,
        };
        if watch(&epoch, &self.state) == Control::Stop {
            exchange.ask_to_stop();
        }
        exchange.meet();
        if exchange.asked_to_stop() {
            Control::Stop
        } else {
            Control::Continue
        }
    }

    /// Draws the windows of a batch, the same on every worker.
    fn draw(&mut self) {
        self.loaded = None;
        for start in &mut self.starts {
            *start = self.job.windows.draw(&mut self.windows_rng);
        }
    }

    /// Where forcing is adaptive and an estimate is due, estimates the norm of the batch's Jacobians and lets α follow.
    fn adapt(&mut self, exchange: &Exchange) {
        let adaptation = self.job.plan.adaptation;
        let Some(adaptation) = adaptation.filter(|a| a.is_due(self.state.update)) else {
            return;
        };
        let norm = self.norm_of_batch(exchange);
        // Without a complete row in any window there is no estimate; what is not finite will end training at its loss. α
        // keeps its value.
        if norm.kappa.is_finite() && norm.kappa > 0.0 {
            self.state.alpha = adaptation.anneal(self.state.alpha, norm.alpha());
            self.norm = Some(norm);
        }
    }

    /// 𝒩 of the whole batch, the same on every worker.
    fn norm_of_batch(&mut self, exchange: &Exchange) -> Norm {
        let Some(mut estimation) = self.estimation.take() else {
            return self.parameter_bound();
        };
        estimation.prepare(&self.shared.kernel, &self.state.theta);
        for i in 0..self.packs.len() {
            let pack = self.packs[i];
            self.load(pack);
            self.loaded = Some(pack);
            let slopes = Slopes {
                kernel: &self.shared.kernel,
                observation: &self.shared.observation,
                sweep: &mut self.sweep,
                estimation: &mut estimation,
            };
            dispatch::<P, _>(self.job.plan.isa, slopes);
            let estimate = Estimate {
                sweep: &self.sweep,
                estimation: &mut estimation,
            };
            let norm = dispatch::<P, _>(self.job.plan.isa, estimate);
            exchange.write(self.state.update, pack).norm = norm;
        }
        self.estimation = Some(estimation);
        exchange.meet();
        let slots = exchange.read(self.state.update);
        let norm = slots.fold(Norm::default(), |all, slot| all.or_larger(slot.norm));
        // Slots are written again for this update's gradients, once all have read them.
        exchange.meet();
        norm
    }

    fn parameter_bound(&self) -> Norm {
        let own = self.map.layout().len();
        let theta: Vec<f64> = self.state.theta[..own]
            .iter()
            .map(|&v| f64::from(v))
            .collect();
        Norm {
            kappa: self.map.jacobian_bound(&theta),
            fallbacks: 0,
        }
    }

    /// Sweeps this worker's packs, then gathers the gradient of the whole batch.
    fn gradient(&mut self, exchange: &Exchange) -> Measured {
        // The last one first: an estimate has left it loaded.
        for i in (0..self.packs.len()).rev() {
            let pack = self.packs[i];
            if self.loaded.take() != Some(pack) {
                self.load(pack);
            }
            self.sweep_pack(pack, &mut exchange.write(self.state.update, pack));
        }
        exchange.meet();
        self.gather(exchange)
    }

    /// Number of observations that the batch predicts.
    fn observed(&self) -> usize {
        let windows = self.job.windows;
        self.starts.iter().map(|&s| windows.observed_from(s)).sum()
    }

    /// Fills the lanes of a pack with windows; lanes beyond the batch repeat the last window and count nothing.
    fn load(&mut self, pack: usize) {
        let Job { plan, windows, .. } = self.job;
        let (n, k, t) = (windows.dim_obs(), windows.dim_input(), windows.window());
        let weight = 2.0 / self.observed() as f32;
        let sweep = &mut self.sweep;
        for (lane, of_lane) in sweep.weight.lanes_mut().iter_mut().enumerate() {
            let is_used = pack * P::WIDTH + lane < plan.batch;
            *of_lane = if is_used { weight } else { 0.0 };
        }
        for group in 0..P::WIDTH / GROUP {
            let first = pack * P::WIDTH + group * GROUP;
            let starts: [usize; GROUP] =
                std::array::from_fn(|lane| self.starts[(first + lane).min(plan.batch - 1)]);
            let put = |windows, to| dispatch::<P, _>(plan.isa, Abreast { windows, group, to });
            put(
                starts.map(|s| &windows.x_from(s)[..(t + 1) * n]),
                &mut sweep.x,
            );
            if windows.has_missing() {
                put(
                    starts.map(|s| &windows.mask_from(s)[..(t + 1) * n]),
                    &mut sweep.mask,
                );
            }
            // The input of the state that a step produces.
            put(
                starts.map(|s| &windows.s_from(s)[k..][..t * k]),
                &mut sweep.tape.s,
            );
        }
        if windows.has_missing() {
            sweep.find_complete();
        }
        if plan.noise > 0.0 {
            // Lanes beyond the batch repeat the last window with its noise.
            let last = plan.batch - 1;
            (0..P::WIDTH).for_each(|lane| self.add_noise(last.min(pack * P::WIDTH + lane), lane));
        }
    }

    /// Noise of a window, from a place in its stream that follows from the update and the window.
    fn add_noise(&mut self, window: usize, lane: usize) {
        let (plan, sweep) = (self.job.plan, &mut self.sweep);
        let mut rng = Rng::new(plan.seed, Stream::Noise);
        // A word a number, an even number of them.
        let before = u128::from(self.state.update) * plan.batch as u128 + window as u128;
        rng.seek(before * sweep.x.len().next_multiple_of(2) as u128);
        rng.fill_normal(plan.isa, &mut self.noise);
        for (x, normal) in sweep.x.iter_mut().zip(&self.noise) {
            x.lanes_mut()[lane] += plan.noise as f32 * normal;
        }
    }

    fn sweep_pack(&mut self, pack: usize, slot: &mut Slot) {
        let plan = self.job.plan;
        let (isa, sweep) = (plan.isa, &mut self.sweep);
        let (kernel, observation) = (&self.shared.kernel, &self.shared.observation);
        let forced = Forced {
            forcing: plan.forcing.with_strength(self.state.alpha),
            gradient: plan.forcing_gradient,
        };
        dispatch::<P, _>(isa, Infer { observation, sweep });
        dispatch::<P, _>(
            isa,
            Forward {
                kernel,
                observation,
                forced,
                sweep,
            },
        );
        dispatch::<P, _>(isa, Compare { observation, sweep });
        dispatch::<P, _>(
            isa,
            Backward {
                kernel,
                observation,
                forced,
                sweep,
                groups: Groups(&mut slot.groups),
            },
        );
        let (behind, groups) = (self.shared.parameters, Groups(&mut slot.groups));
        dispatch::<P, _>(
            isa,
            ObservationGradient {
                observation,
                forced,
                sweep,
                behind,
                groups,
            },
        );
        slot.squares = sweep.squares(plan.batch - pack * P::WIDTH);
    }

    /// Adds all slots in the order of the lanes, then turns the sum into dθ of the whole objective.
    fn gather(&mut self, exchange: &Exchange) -> Measured {
        let plan = self.job.plan;
        let mut squares = 0.0;
        for (i, slot) in exchange.read(self.state.update).enumerate() {
            let (first, others) = slot.groups.split_at(usize::from(i == 0));
            first
                .iter()
                .for_each(|group| self.gradient.copy_from_slice(group));
            for group in others {
                let pairs = self.gradient.iter_mut().zip(group);
                pairs.for_each(|(sum, g)| *sum += g);
            }
            squares += slot.squares.iter().map(|&s| f64::from(s)).sum::<f64>();
        }
        let parameters = self.shared.parameters;
        let finish = Finish {
            kernel: &self.shared.kernel,
            theta: &self.state.theta,
            dtheta: &mut self.gradient,
        };
        dispatch::<P, _>(plan.isa, finish);
        self.shared
            .observation
            .finish(parameters, &mut self.gradient);
        let dtheta = &mut self.gradient[..parameters];
        let penalty = self.penalties.add(&self.state.theta, dtheta);
        self.map.freeze(dtheta);
        // Not finite if an entry is not.
        let norm = sum_of_squares(dtheta, 0.0).sqrt();
        if let Some(largest) = plan.clip_norm.filter(|&largest| norm > largest) {
            dtheta
                .iter_mut()
                .for_each(|d| *d *= (largest / norm) as f32);
        }
        Measured {
            loss: squares / self.observed() as f64,
            penalty,
            norm,
        }
    }

    fn take_step(&mut self, rate: f64) {
        let State {
            theta,
            radam,
            update,
            average,
            ..
        } = &mut self.state;
        radam.step(
            self.job.plan.isa,
            theta,
            &self.gradient[..self.shared.parameters],
            rate,
        );
        if let Some(largest) = self.job.plan.largest_a {
            let largest = largest as f32;
            let a = self.map.layout().range("A");
            theta[a]
                .iter_mut()
                .for_each(|a| *a = a.clamp(-largest, largest));
        }
        *update += 1;
        if let Some(decay) = self.job.plan.averaging {
            let fresh = (1.0 - decay) as f32;
            for (average, theta) in average.iter_mut().zip(&*theta) {
                *average += fresh * (theta - *average);
            }
        }
        self.shared.prepare::<P>(self.job.plan.isa, theta);
    }
}
