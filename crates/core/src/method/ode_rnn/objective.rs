//! The objective of an ODE-RNN: windows drawn at random are taken in from zero states, every state forecasts the next row,
//!
//! ```text
//! ℒ = 1/(values) Σ mask (x̂_t − x_t)²   over t = 1 … T and all windows.
//! ```
//!
//! A state shows what is one step Δt behind it: where rows have times of their own, it flows there first.
//!
//! Its gradient is that of the Gaussian log-likelihood of the original but for a factor, which steps of Adamax do not see.

use super::network::Form;
use crate::continuous::lanes::unit::{LaneUnit, Mask, See, UnitTape, forwards};
use crate::continuous::lanes::{Columns, LaneNet, NetTape};
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

    /// Loss and gradient of the batch of windows that start at given rows.
    #[cfg(test)]
    pub(super) fn once(self, theta: &[f32], starts: &[usize]) -> (f64, Vec<f32>) {
        match Register::of(&self.plan.course, self.plan.batch) {
            Register::Wide => self.once_on::<Lanes16>(theta, starts),
            _ => self.once_on::<Lanes8>(theta, starts),
        }
    }

    #[cfg(test)]
    fn once_on<P: Lanes>(self, theta: &[f32], starts: &[usize]) -> (f64, Vec<f32>) {
        let mut objective = Driven::<P>::new(self);
        objective.batch.starts.copy_from_slice(starts);
        let start = State::new(theta, &self.plan.course);
        self.with_job::<P, _>(|job| worker::once(job, Box::new(objective), start))
    }

    fn with_job<P: Lanes, T>(self, call: impl FnOnce(Job<'_>) -> T) -> T {
        call(Job {
            course: &self.plan.course,
            packs: self.plan.batch.div_ceil(P::WIDTH),
            blank: &Slot::new(self.form.layout().len(), P::WIDTH / GROUP),
            objective: &|| Box::new(Driven::<P>::new(self)),
        })
    }
}

/// The objective of a worker.
struct Driven<'a, P: Lanes> {
    training: Training<'a>,
    unit: LaneUnit,
    decoder: LaneNet,
    batch: Batch<'a>,
    sweep: Sweep<P>,
}

/// One pass over the windows in the lanes.
struct Sweep<P: Lanes> {
    pack: Pack<P>,
    /// Inputs of all rows but the last, T × K.
    s: Vec<P>,
    tape: UnitTape<P>,
    decoder: NetTape<P>,
    /// Forecasts, T × N.
    x_hat: Vec<P>,
    /// Cotangents of the means behind every row, T × d.
    of_rows: Vec<P>,
    /// Cotangents of a state.
    dm: Vec<P>,
    ds: Vec<P>,
    /// Σ (x̂ − x)².
    squares: P,
}

impl<'a, P: Lanes> Driven<'a, P> {
    fn new(training: Training<'a>) -> Driven<'a, P> {
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
        let (unit, decoder) = (form.unit(), form.decoder());
        let (t, n, d) = (windows.window(), form.unit.channels, form.unit.latent);
        let blank = |numbers: usize| vec![P::ZERO; numbers];
        let mut tape = UnitTape::new(&unit, mask, t);
        if windows.times_from(0).is_some() {
            tape = tape.at_own_times(&unit);
        }
        let drawing = Drawing {
            batch: plan.batch,
            noise: plan.noise,
            seed: plan.course.seed,
            isa: plan.course.isa,
        };
        Driven {
            training,
            unit: LaneUnit::new::<P>(&unit, mask),
            decoder: LaneNet::new::<P>(&decoder, Columns::Several),
            batch: Batch::new(windows, drawing),
            sweep: Sweep {
                pack: Pack::of(windows),
                s: blank(t * form.unit.inputs),
                tape,
                decoder: NetTape::new(&decoder, t),
                x_hat: blank(t * n),
                of_rows: blank(t * d),
                dm: blank(d),
                ds: blank(d),
                squares: P::ZERO,
            },
        }
    }
}

impl<P: Lanes> Objective for Driven<'_, P> {
    fn prepare(&mut self, theta: &[f32]) {
        self.unit.prepare(theta);
        self.decoder.prepare(theta);
    }

    fn begin(&mut self, state: &mut State, _team: &Team<'_>) {
        self.batch.draw(state.update);
    }

    fn sweep(&mut self, _state: &State, pack: usize, slot: &mut Slot) {
        let sweep = &mut self.sweep;
        self.batch.load(pack, &mut sweep.pack, &mut sweep.s);
        self.batch.load_inputs(pack, &mut sweep.s);
        for lane in 0..P::WIDTH {
            let window = (pack * P::WIDTH + lane).min(self.training.plan.batch - 1);
            if let Some(times) = self.training.windows.times_from(self.batch.starts[window]) {
                sweep.put_times(lane, times);
            }
        }
        let isa = self.training.plan.course.isa;
        let (unit, decoder) = (&self.unit, &self.decoder);
        dispatch::<P, _>(
            isa,
            Forward {
                unit,
                decoder,
                sweep,
            },
        );
        let groups = Groups(&mut slot.groups);
        dispatch::<P, _>(
            isa,
            Backward {
                unit,
                decoder,
                sweep,
                groups,
            },
        );
        slot.squares = group_sums(self.sweep.squares.lanes(), self.batch.used::<P>(pack));
    }

    fn finish(&mut self, _state: &State, squares: f64, _gradient: &mut [f32]) -> Measured {
        Measured {
            loss: squares / self.batch.observed().max(1) as f64,
            penalty: 0.0,
        }
    }

    fn ends_epoch(&mut self, state: &State) -> bool {
        let schedule = &self.training.plan.course.schedule;
        state.update.is_multiple_of(schedule.updates_per_epoch())
    }
}

impl<P: Lanes> Sweep<P> {
    /// How much more than one step behind each row of a lane the next one is.
    fn put_times(&mut self, lane: usize, times: &[f64]) {
        let pairs = times.windows(2).zip(&mut self.tape.later);
        for (pair, later) in pairs {
            later.lanes_mut()[lane] = (pair[1] - pair[0] - 1.0) as f32;
        }
    }
}

/// States, forecasts and residuals.
struct Forward<'a, P: Lanes> {
    unit: &'a LaneUnit,
    decoder: &'a LaneNet,
    sweep: &'a mut Sweep<P>,
}

impl<P: Lanes> Task for Forward<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let sweep = self.sweep;
        let (d, n) = (self.unit.sizes.latent, self.unit.sizes.channels);
        let rows = sweep.tape.rows(d);
        let see = See {
            x: &sweep.pack.x,
            mask: &sweep.pack.mask,
            s: &sweep.s,
            channels: n,
            order: forwards,
        };
        see.fill(simd, &mut sweep.tape, rows);
        self.unit.forward(simd, &mut sweep.tape);
        let inputs = sweep.decoder.inputs(0..rows);
        inputs.copy_from_slice(&sweep.tape.m[d..]);
        self.decoder
            .forward(simd, &mut sweep.decoder, 0..rows, &mut sweep.x_hat);
        let (weight, mut squares) = (sweep.pack.weight.load(simd), P::Vector::splat(simd, 0.0));
        let e = sweep.decoder.cotangents(0..rows);
        for (place, (e, x_hat)) in e.iter_mut().zip(&sweep.x_hat).enumerate() {
            let error = x_hat.load(simd) - sweep.pack.x[n + place].load(simd);
            let error = match sweep.pack.mask.get(n + place) {
                Some(there) => error * there.load(simd),
                None => error,
            };
            squares = error.mul_add(error, squares);
            e.store(weight * error);
        }
        sweep.squares.store(squares);
    }
}

/// The backward sweep, then the gradients.
struct Backward<'a, P: Lanes> {
    unit: &'a LaneUnit,
    decoder: &'a LaneNet,
    sweep: &'a mut Sweep<P>,
    groups: Groups<'a>,
}

impl<P: Lanes> Task for Backward<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let Sweep {
            tape,
            decoder,
            of_rows,
            dm,
            ds,
            ..
        } = self.sweep;
        let rows = tape.rows(self.unit.sizes.latent);
        self.decoder.backward(simd, decoder, 0..rows, of_rows);
        dm.fill(P::ZERO);
        ds.fill(P::ZERO);
        self.unit.backward(simd, tape, (dm, ds), Some(of_rows));
        self.decoder.gradient(simd, decoder, rows, &mut self.groups);
        self.unit.gradient(simd, tape, &mut self.groups);
    }
}
