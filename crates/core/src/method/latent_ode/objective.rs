//! The objective of a Latent-ODE: every window is encoded, some latent states are drawn around the mean of its first one, and the
//! solutions from them are compared with the window at the times of its rows,
//!
//! ```text
//! z_c = μ + |σ̃| ε_c        ℓ_c = −1/(2 σ² values) Σ mask (x̂_c − x)² − ln(σ √2π)
//! KL = 1/l Σ_j ½ (σ̃_j² + μ_j² − 1) − ln |σ̃_j|
//! ℒ = −mean over windows of ln Σ_c exp(ℓ_c − β KL)
//! ```
//!
//! Of the loss that is reported, Σ_c w_c (mean square)_c with w_c the share of a solution in the sum, β KL is the penalty. Weights are
//! those of each window; the original's are those of a whole batch.

use super::flow::{FlowTape, LaneFlow};
use super::network::Form;
use crate::continuous::lanes::unit::{LaneUnit, Mask, See, UnitTape, backwards};
use crate::continuous::lanes::{Columns, LaneNet, NetTape};
use crate::rng::{Rng, Stream};
use crate::simd::{
    GROUP, Groups, Lanes, Lanes8, Lanes16, Simd, SimdBase, SimdFloat, Task, dispatch,
};
use crate::train::batch::{Batch, Drawing, Pack, group_sums};
use crate::train::exchange::Slot;
use crate::train::objective::{Job, Measured, Objective, Team};
use crate::train::{Course, Outcome, Register, State, Watch, worker};
use crate::windows::Windows;

/// What training does, all settings resolved.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) course: Course,
    /// Windows S of a batch.
    pub(super) batch: usize,
    /// Standard deviation of the noise added to every window.
    pub(super) noise: f64,
    /// Solutions of a window.
    pub(super) samples: usize,
    /// σ.
    pub(super) sigma: f64,
    pub(super) beta: Beta,
}

/// The weight β of the divergence: zero for some epochs, then 1 − rate^epochs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Beta {
    /// Epochs without it.
    pub(super) wait: u64,
    /// What is left of its distance from one after an epoch.
    pub(super) rate: f64,
}

impl Beta {
    /// β of an epoch, from 0.
    pub(super) fn of(self, epoch: u64) -> f64 {
        match epoch.checked_sub(self.wait) {
            None => 0.0,
            Some(epochs) => 1.0 - self.rate.powf(epochs as f64),
        }
    }
}

/// What is trained.
#[derive(Clone, Copy)]
pub(super) struct Training<'a> {
    pub(super) plan: &'a Plan,
    pub(super) windows: &'a Windows,
    pub(super) form: Form,
}

impl Training<'_> {
    /// Trains from a state to the end.
    pub(super) fn train(self, from: State, watch: &mut dyn Watch) -> Outcome {
        match Register::of(&self.plan.course, self.plan.batch) {
            Register::Wide => self.with_job::<Lanes16, _>(|job| worker::run(job, from, watch)),
            _ => self.with_job::<Lanes8, _>(|job| worker::run(job, from, watch)),
        }
    }

    /// Loss and gradient of the batch of windows that start at given rows, in an epoch.
    #[cfg(test)]
    pub(super) fn once(self, theta: &[f32], starts: &[usize], epoch: u64) -> (f64, Vec<f32>) {
        match Register::of(&self.plan.course, self.plan.batch) {
            Register::Wide => self.once_on::<Lanes16>(theta, starts, epoch),
            _ => self.once_on::<Lanes8>(theta, starts, epoch),
        }
    }

    #[cfg(test)]
    fn once_on<P: Lanes>(self, theta: &[f32], starts: &[usize], epoch: u64) -> (f64, Vec<f32>) {
        let mut objective = Encoded::<P>::new(self);
        objective.batch.starts.copy_from_slice(starts);
        let start = State {
            epoch,
            ..State::new(theta, &self.plan.course)
        };
        self.with_job::<P, _>(|job| worker::once(job, Box::new(objective), start))
    }

    fn with_job<P: Lanes, T>(self, call: impl FnOnce(Job<'_>) -> T) -> T {
        // Behind the gradient stands the sum of the divergences.
        let numbers = self.form.layout().len() + 1;
        call(Job {
            course: &self.plan.course,
            packs: self.plan.batch.div_ceil(P::WIDTH),
            blank: &Slot::new(numbers, P::WIDTH / GROUP),
            objective: &|| Box::new(Encoded::<P>::new(self)),
        })
    }

    /// ε of the solutions of a window, from a place in its stream that follows from the update and the window.
    pub(super) fn draw(self, update: u64, window: usize, to: &mut [f32]) {
        let Plan { course, batch, .. } = self.plan;
        let mut rng = Rng::new(course.seed, Stream::LatentStates);
        let before = u128::from(update) * *batch as u128 + window as u128;
        // A word a number, an even number of them.
        rng.seek(before * to.len().next_multiple_of(2) as u128);
        rng.fill_normal(course.isa, to);
    }
}

/// The objective of a worker.
struct Encoded<'a, P: Lanes> {
    training: Training<'a>,
    kernels: Kernels,
    batch: Batch<'a>,
    sweep: Sweep<P>,
    /// Numbers of one window.
    normal: Vec<f32>,
}

/// The parts of a network on lanes.
struct Kernels {
    unit: LaneUnit,
    transform: LaneNet,
    flow: LaneFlow,
    decoder: LaneNet,
}

/// One pass over the windows in the lanes.
struct Sweep<P: Lanes> {
    pack: Pack<P>,
    unit: UnitTape<P>,
    transform: NetTape<P>,
    flow: FlowTape<P>,
    decoder: NetTape<P>,
    /// μ and σ̃.
    both: Vec<P>,
    /// ε, samples × l.
    epsilon: Vec<P>,
    /// Solutions as they are seen, rows × samples × N.
    x_hat: Vec<P>,
    /// Σ mask (x̂ − x)² and then the share of each solution.
    squares: Vec<P>,
    shares: Vec<P>,
    /// Cotangents of the states at all rows.
    of_rows: Vec<P>,
    /// Cotangents of the encoder's last state, and of what goes into the transform.
    dm: Vec<P>,
    ds: Vec<P>,
    d: Vec<P>,
    /// 1/S in used lanes, 0 in others.
    weight: P,
    /// 1/values of every window.
    per_value: P,
    /// Σ_c w_c of the mean squares, and the divergence.
    loss: P,
    divergence: P,
    sigma: f64,
    beta: f32,
}

impl<'a, P: Lanes> Encoded<'a, P> {
    fn new(training: Training<'a>) -> Encoded<'a, P> {
        let Training {
            plan,
            windows,
            form,
        } = training;
        let mask = if windows.has_missing() {
            Mask::Given
        } else {
            Mask::Whole
        };
        let drawing = Drawing {
            batch: plan.batch,
            noise: plan.noise,
            seed: plan.course.seed,
            isa: plan.course.isa,
        };
        let kernels = Kernels {
            unit: LaneUnit::new::<P>(&form.unit(), mask),
            transform: LaneNet::new::<P>(&form.transform(), Columns::One),
            flow: LaneFlow::new::<P>(&form.flow(), form.solver, plan.samples),
            decoder: LaneNet::new::<P>(&form.decoder(), Columns::Several),
        };
        Encoded {
            sweep: Sweep::new(training, &kernels, mask),
            batch: Batch::new(windows, drawing),
            normal: vec![0.0; plan.samples * form.latent],
            kernels,
            training,
        }
    }

    /// Fills the lanes of a pack with windows and ε.
    fn load(&mut self, pack: usize, update: u64) {
        let (training, sweep) = (self.training, &mut self.sweep);
        let (batch, windows) = (training.plan.batch, training.windows);
        let behind_first = windows.window() * windows.dim_input();
        let s = &mut sweep.flow.s;
        self.batch
            .load(pack, &mut sweep.pack, &mut s[..behind_first]);
        self.batch.load_inputs(pack, s);
        for lane in 0..P::WIDTH {
            let window = pack * P::WIDTH + lane;
            let is_used = window < batch;
            let window = window.min(batch - 1);
            let start = self.batch.starts[window];
            let values = windows.observed_in(start..start + training.form.window);
            if let Some(times) = windows.times_from(start) {
                sweep.put_times(lane, &times[..training.form.window]);
            }
            sweep.weight.lanes_mut()[lane] = if is_used { 1.0 / batch as f32 } else { 0.0 };
            sweep.per_value.lanes_mut()[lane] = 1.0 / values.max(1) as f32;
            training.draw(update, window, &mut self.normal);
            let pairs = sweep.epsilon.iter_mut().zip(&self.normal);
            pairs.for_each(|(to, normal)| to.lanes_mut()[lane] = *normal);
        }
    }
}

impl<P: Lanes> Sweep<P> {
    fn new(training: Training<'_>, kernels: &Kernels, mask: Mask) -> Sweep<P> {
        let Training {
            plan,
            windows,
            form,
        } = training;
        let (rows, samples, l) = (form.window, plan.samples, form.latent);
        let (r, n) = (form.unit.latent, form.unit.channels);
        let blank = |numbers: usize| vec![P::ZERO; numbers];
        let mut unit = UnitTape::new(&form.unit(), mask, rows);
        let mut flow = FlowTape::new(&kernels.flow, &form.flow(), rows - 1);
        if windows.times_from(0).is_some() {
            unit = unit.at_own_times(&form.unit());
            flow.times = vec![0.0; rows * P::WIDTH];
        }
        Sweep {
            pack: Pack::of(windows),
            unit,
            transform: NetTape::new(&form.transform(), 1),
            flow,
            decoder: NetTape::new(&form.decoder(), rows * samples),
            both: blank(2 * l),
            epsilon: blank(samples * l),
            x_hat: blank(rows * samples * n),
            squares: blank(samples),
            shares: blank(samples),
            of_rows: blank(rows * samples * l),
            dm: blank(r),
            ds: blank(r),
            d: blank(2 * r),
            weight: P::ZERO,
            per_value: P::ZERO,
            loss: P::ZERO,
            divergence: P::ZERO,
            sigma: plan.sigma,
            beta: 0.0,
        }
    }

    /// When the rows of a lane are, for the solutions and, the last one first, for the encoder.
    fn put_times(&mut self, lane: usize, times: &[f64]) {
        let to = &mut self.flow.times[lane * times.len()..][..times.len()];
        let since_first = times.iter().map(|time| time - times[0]);
        to.iter_mut().zip(since_first).for_each(|(to, t)| *to = t);
        let pairs = times.windows(2).rev().zip(&mut self.unit.later);
        for (pair, later) in pairs {
            later.lanes_mut()[lane] = (pair[1] - pair[0] - 1.0) as f32;
        }
    }

    /// The share of every solution in the sum of its window, and the mean of the mean squares by these shares.
    fn share(&mut self) {
        for lane in 0..P::WIDTH {
            let per_value = f64::from(self.per_value.lanes()[lane]);
            let mean = |squares: &P| f64::from(squares.lanes()[lane]) * per_value;
            let least = self.squares.iter().map(mean).fold(f64::INFINITY, f64::min);
            let weight =
                |squares: &P| (-(mean(squares) - least) / (2.0 * self.sigma * self.sigma)).exp();
            let total: f64 = self.squares.iter().map(weight).sum();
            let loss: f64 = self.squares.iter().map(|s| weight(s) * mean(s)).sum();
            self.loss.lanes_mut()[lane] = (loss / total) as f32;
            for (squares, share) in self.squares.iter().zip(&mut self.shares) {
                let (weight, all) = (weight(squares), total);
                share.lanes_mut()[lane] = (weight / all) as f32;
            }
        }
    }
}

impl<P: Lanes> Objective for Encoded<'_, P> {
    fn prepare(&mut self, theta: &[f32]) {
        let kernels = &mut self.kernels;
        kernels.unit.prepare(theta);
        kernels.transform.prepare(theta);
        kernels.flow.prepare(theta);
        kernels.decoder.prepare(theta);
    }

    fn begin(&mut self, state: &mut State, _team: &Team<'_>) {
        self.batch.draw(state.update);
    }

    fn sweep(&mut self, state: &State, pack: usize, slot: &mut Slot) {
        self.load(pack, state.update);
        let isa = self.training.plan.course.isa;
        let (kernels, sweep) = (&self.kernels, &mut self.sweep);
        sweep.beta = self.training.plan.beta.of(state.epoch) as f32;
        dispatch::<P, _>(isa, Forward { kernels, sweep });
        sweep.share();
        let groups = Groups(&mut slot.groups);
        dispatch::<P, _>(
            isa,
            Backward {
                kernels,
                sweep,
                groups,
            },
        );
        let used = self.batch.used::<P>(pack);
        slot.squares = group_sums(sweep.loss.lanes(), used);
        let divergences = group_sums(sweep.divergence.lanes(), used);
        for (group, divergence) in slot.groups.iter_mut().zip(divergences) {
            let last = group.last_mut().expect("the divergence stands last");
            *last = divergence;
        }
    }

    fn finish(&mut self, state: &State, squares: f64, gradient: &mut [f32]) -> Measured {
        let Plan { batch, beta, .. } = self.training.plan;
        let divergence = gradient.last().copied().unwrap_or_default();
        // A deviation of zero diverges, but does not count without a weight.
        let penalty = match beta.of(state.epoch) {
            0.0 => 0.0,
            beta => beta * f64::from(divergence) / *batch as f64,
        };
        Measured {
            loss: squares / *batch as f64,
            penalty,
        }
    }

    fn ends_epoch(&mut self, state: &State) -> bool {
        let schedule = &self.training.plan.course.schedule;
        state.update.is_multiple_of(schedule.updates_per_epoch())
    }
}

/// The encoder, the solutions and their squared differences from the windows.
struct Forward<'a, P: Lanes> {
    kernels: &'a Kernels,
    sweep: &'a mut Sweep<P>,
}

impl<P: Lanes> Task for Forward<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (kernels, sweep) = (self.kernels, self.sweep);
        let (r, n) = (kernels.unit.sizes.latent, kernels.unit.sizes.channels);
        let rows = sweep.unit.rows(r);
        let see = See {
            x: &sweep.pack.x,
            mask: &sweep.pack.mask,
            s: &sweep.flow.s,
            channels: n,
            order: backwards,
        };
        see.fill(simd, &mut sweep.unit, rows);
        kernels.unit.forward(simd, &mut sweep.unit);
        let state = sweep.transform.inputs(0..1);
        state[..r].copy_from_slice(&sweep.unit.m[rows * r..]);
        state[r..].copy_from_slice(&sweep.unit.s[rows * r..]);
        kernels
            .transform
            .forward(simd, &mut sweep.transform, 0..1, &mut sweep.both);
        sweep.start_solutions(simd);
        kernels.flow.forward(simd, &mut sweep.flow, rows - 1);
        let calls = 0..rows * sweep.squares.len();
        let inputs = sweep.decoder.inputs(calls.clone());
        inputs.copy_from_slice(&sweep.flow.z);
        kernels
            .decoder
            .forward(simd, &mut sweep.decoder, calls, &mut sweep.x_hat);
        sweep.compare(simd, n);
    }
}

impl<P: Lanes> Sweep<P> {
    /// z = μ + |σ̃| ε of every solution, and the divergence.
    #[inline(always)]
    fn start_solutions<S: Simd>(&mut self, simd: S) {
        let l = self.both.len() / 2;
        let (mean, spread) = self.both.split_at(l);
        for (i, (z, epsilon)) in self.flow.z.iter_mut().zip(&self.epsilon).enumerate() {
            let (mean, spread) = (mean[i % l].load(simd), spread[i % l].load(simd));
            z.store(spread.abs().mul_add(epsilon.load(simd), mean));
        }
        for lane in 0..P::WIDTH {
            let of = |v: &P| f64::from(v.lanes()[lane]);
            let pairs = mean.iter().zip(spread);
            let divergence = pairs.map(|(mean, spread)| {
                let (mean, spread) = (of(mean), of(spread).abs());
                0.5 * (spread * spread + mean * mean - 1.0) - spread.ln()
            });
            self.divergence.lanes_mut()[lane] = (divergence.sum::<f64>() / l as f64) as f32;
        }
    }

    /// x̂ − x where there is a value, in place of x̂, and the sums of their squares.
    #[inline(always)]
    fn compare<S: Simd>(&mut self, simd: S, n: usize) {
        let samples = self.squares.len();
        self.squares.fill(P::ZERO);
        for (place, x_hat) in self.x_hat.chunks_exact_mut(n).enumerate() {
            let (t, squares) = (place / samples, &mut self.squares[place % samples]);
            let mut sum = squares.load(simd);
            for (i, x_hat) in x_hat.iter_mut().enumerate() {
                let error = x_hat.load(simd) - self.pack.x[t * n + i].load(simd);
                let error = match self.pack.mask.get(t * n + i) {
                    Some(there) => error * there.load(simd),
                    None => error,
                };
                sum = error.mul_add(error, sum);
                x_hat.store(error);
            }
            squares.store(sum);
        }
    }

    /// e = w (x̂ − x)/(σ² values S).
    #[inline(always)]
    fn weigh<S: Simd>(&mut self, simd: S, n: usize) {
        let samples = self.squares.len();
        let factor = P::Vector::splat(simd, (1.0 / (self.sigma * self.sigma)) as f32);
        let factor = factor * self.weight.load(simd) * self.per_value.load(simd);
        let e = self.decoder.cotangents(0..self.x_hat.len() / n);
        let rows = e.chunks_exact_mut(n).zip(self.x_hat.chunks_exact(n));
        for (place, (e, error)) in rows.enumerate() {
            let factor = factor * self.shares[place % samples].load(simd);
            for (e, error) in e.iter_mut().zip(error) {
                e.store(factor * error.load(simd));
            }
        }
    }

    /// From the cotangents of the solutions' starts to those of μ and σ̃, with those of the divergence.
    #[inline(always)]
    fn end_solutions<S: Simd>(&mut self, simd: S) {
        let l = self.both.len() / 2;
        let (one, zero) = (P::Vector::splat(simd, 1.0), P::Vector::splat(simd, 0.0));
        let beta = P::Vector::splat(simd, self.beta / l as f32) * self.weight.load(simd);
        let to = self.transform.cotangents(0..1);
        for j in 0..l {
            let (mean, spread) = (self.both[j].load(simd), self.both[l + j].load(simd));
            let (mut of_mean, mut of_spread) = (zero, zero);
            for (d, epsilon) in self.flow.d[j..].iter().zip(&self.epsilon[j..]).step_by(l) {
                let d = d.load(simd);
                of_mean += d;
                of_spread = d.mul_add(epsilon.load(simd), of_spread);
            }
            if self.beta > 0.0 {
                let sigma = spread.abs();
                of_mean = beta.mul_add(mean, of_mean);
                of_spread = beta.mul_add(sigma - one / sigma, of_spread);
            }
            to[j].store(of_mean);
            to[l + j].store(of_spread * one.copysign(spread));
        }
    }
}

/// The backward sweep, then the gradients.
struct Backward<'a, P: Lanes> {
    kernels: &'a Kernels,
    sweep: &'a mut Sweep<P>,
    groups: Groups<'a>,
}

impl<P: Lanes> Task for Backward<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let (kernels, sweep) = (self.kernels, self.sweep);
        let (r, n) = (kernels.unit.sizes.latent, kernels.unit.sizes.channels);
        let calls = sweep.unit.rows(r) * sweep.squares.len();
        sweep.weigh(simd, n);
        let of_rows = &mut sweep.of_rows;
        kernels
            .decoder
            .backward(simd, &mut sweep.decoder, 0..calls, of_rows);
        kernels.flow.backward(simd, &mut sweep.flow, of_rows);
        sweep.end_solutions(simd);
        let Sweep {
            transform,
            d,
            dm,
            ds,
            unit,
            ..
        } = sweep;
        kernels.transform.backward(simd, transform, 0..1, d);
        dm.copy_from_slice(&d[..r]);
        ds.copy_from_slice(&d[r..]);
        kernels.unit.backward(simd, unit, (dm, ds), None);
        let groups = &mut self.groups;
        kernels.flow.gradient(simd, &mut sweep.flow, groups);
        kernels.unit.gradient(simd, &mut sweep.unit, groups);
        kernels
            .transform
            .gradient(simd, &mut sweep.transform, 1, groups);
        kernels
            .decoder
            .gradient(simd, &mut sweep.decoder, calls, groups);
    }
}
