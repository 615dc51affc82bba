//! The objective of a neural ordinary differential equation: windows drawn at random, solved step by step from their first row under
//! teacher forcing, residuals, and the exact gradient of the discrete steps.
//!
//! ```text
//! z_t = Step(z̃_{t−1}, s_t)        z̃_t = z_t + α_t (x_t − z_t)        e_t = c (z_t − x_t),  c = 2/(N S T)
//! δ_T = e_T                       δ_t = e_t + (1 − α_t) ∂Step(z̃_t)ᵀ δ_{t+1}
//! ```
//!
//! A state is an observation, so that forcing needs no observation model. Where a value of x_t is missing, neither residual nor
//! forcing acts on it.

use super::network::{Form, NeuralOde};
use super::scheme::Activation;
use crate::forcing::Forcing;
use crate::forcing::adaptive::Adaptation;
use crate::forcing::alpha::{Estimator, Jacobians, Norm};
use crate::kernel::field::{Field, FieldTape, Stages};
use crate::kernel::{Chunk, Plain, Tanh, Unit};
use crate::simd::{
    GROUP, Groups, Lanes, Lanes16, Narrow, Paired8, Simd, SimdBase, SimdFloat, Task, dispatch,
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
    pub(super) forcing: Forcing,
    /// How the strength of generalized forcing follows the model; `None` keeps it.
    pub(super) adaptation: Option<Adaptation>,
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

/// Calls a method of a training with the units and lanes that it needs.
macro_rules! with_lanes {
    ($training:ident . $method:ident ( $($argument:expr),* )) => {{
        let register = Register::of(&$training.plan.course, $training.plan.batch);
        match ($training.form.activation, register) {
            (Activation::Relu, Register::Narrow) => {
                $training.$method::<Plain, Narrow>($($argument),*)
            }
            (Activation::Relu, Register::Wide) => {
                $training.$method::<Plain, Lanes16>($($argument),*)
            }
            (Activation::Relu, Register::Paired) => {
                $training.$method::<Plain, Paired8>($($argument),*)
            }
            (Activation::Tanh, Register::Narrow) => {
                $training.$method::<Tanh, Narrow>($($argument),*)
            }
            (Activation::Tanh, Register::Wide) => {
                $training.$method::<Tanh, Lanes16>($($argument),*)
            }
            (Activation::Tanh, Register::Paired) => {
                $training.$method::<Tanh, Paired8>($($argument),*)
            }
        }
    }};
}

impl Training<'_> {
    /// Trains from a state to the end.
    pub(super) fn train(self, from: State, watch: &mut dyn Watch) -> Outcome {
        with_lanes!(self.run(from, watch))
    }

    fn run<U: Unit, P: Lanes>(self, from: State, watch: &mut dyn Watch) -> Outcome {
        self.with_job::<U, P, _>(|job| worker::run(job, from, watch))
    }

    /// Loss and gradient of the batch of windows that start at given rows, under forcing of this strength.
    #[cfg(test)]
    pub(super) fn once(self, theta: &[f32], starts: &[usize]) -> (f64, Vec<f32>) {
        with_lanes!(self.once_on(theta, starts))
    }

    #[cfg(test)]
    fn once_on<U: Unit, P: Lanes>(self, theta: &[f32], starts: &[usize]) -> (f64, Vec<f32>) {
        let mut objective = Solved::<U, P>::new(self);
        objective.batch.starts.copy_from_slice(starts);
        let start = State {
            alpha: self.plan.forcing.strength(),
            ..State::new(theta, &self.plan.course)
        };
        self.with_job::<U, P, _>(|job| worker::once(job, Box::new(objective), start))
    }

    /// 𝒩 of the batch of windows that start at given rows.
    #[cfg(test)]
    pub(super) fn norm(self, theta: &[f32], starts: &[usize]) -> Norm {
        with_lanes!(self.norm_on(theta, starts))
    }

    #[cfg(test)]
    fn norm_on<U: Unit, P: Lanes>(self, theta: &[f32], starts: &[usize]) -> Norm {
        let mut objective = Solved::<U, P>::new(self);
        objective.prepare(theta);
        objective.batch.starts.copy_from_slice(starts);
        let state = State::new(theta, &self.plan.course);
        self.with_job::<U, P, _>(|job| {
            worker::alone(job, |team| objective.norm_of_batch(&state, &team))
        })
    }

    fn with_job<U: Unit, P: Lanes, T>(self, call: impl FnOnce(Job<'_>) -> T) -> T {
        let layout = self.form.layout();
        let field = Field::<U>::new::<P>(self.form.dims, &layout);
        call(Job {
            course: &self.plan.course,
            packs: self.plan.batch.div_ceil(P::WIDTH),
            blank: &Slot::new(layout.len() + field.extra(), P::WIDTH / GROUP),
            objective: &|| Box::new(Solved::<U, P>::new(self)),
        })
    }
}

/// The objective of a worker.
struct Solved<'a, U, P: Lanes> {
    training: Training<'a>,
    field: Field<U>,
    batch: Batch<'a>,
    sweep: Sweep<P>,
    /// The last estimate of this epoch.
    norm: Option<Norm>,
    /// Where forcing is adaptive: Jacobians of a window, lane by lane.
    sequences: Vec<Vec<f64>>,
    /// The pack whose windows are in the lanes, as they were loaded.
    loaded: Option<usize>,
}

/// One pass over the windows in the lanes.
struct Sweep<P: Lanes> {
    pack: Pack<P>,
    /// Inputs, T × K.
    s: Vec<P>,
    tape: FieldTape<P>,
    /// Weighted residuals, T × N.
    e: Vec<P>,
    /// The cotangent of the state after a step, N.
    d: Vec<P>,
    /// Σ (z − x)².
    squares: P,
    stages: Stages,
    states: usize,
    inputs: usize,
}

impl<P: Lanes> Sweep<P> {
    fn new<U: Unit>(training: Training<'_>, field: &Field<U>) -> Sweep<P> {
        let Training { windows, form, .. } = training;
        let stages = form.scheme.on_lanes(form.h);
        let (t, n, k) = (windows.window(), form.dims.states, form.dims.inputs);
        Sweep {
            pack: Pack::of(windows),
            s: vec![P::ZERO; t * k],
            tape: field.tape(t, stages.count),
            e: vec![P::ZERO; t * n],
            d: vec![P::ZERO; n],
            squares: P::ZERO,
            stages,
            states: n,
            inputs: k,
        }
    }

    fn window(&self) -> usize {
        self.pack.whole.len() - 1
    }

    /// Numbers of the tape from a step to the next.
    fn stride(&self) -> usize {
        self.stages.count * (self.states + self.inputs)
    }

    /// Puts the inputs of step t behind the state that it begins with.
    fn put_inputs(&mut self, t: usize) {
        let k = self.inputs;
        let at = t * self.stride() + self.states;
        self.tape.y[at..at + k].copy_from_slice(&self.s[t * k..][..k]);
    }
}

impl<'a, U: Unit, P: Lanes> Solved<'a, U, P> {
    fn new(training: Training<'a>) -> Solved<'a, U, P> {
        let Training {
            plan,
            windows,
            form,
        } = training;
        let field = Field::new::<P>(form.dims, &form.layout());
        let drawing = Drawing {
            batch: plan.batch,
            noise: plan.noise,
            seed: plan.course.seed,
            isa: plan.course.isa,
        };
        Solved {
            training,
            batch: Batch::new(windows, drawing),
            sweep: Sweep::new(training, &field),
            norm: None,
            sequences: vec![Vec::new(); P::WIDTH],
            loaded: None,
            field,
        }
    }

    fn load(&mut self, pack: usize) {
        let Sweep { pack: to, s, .. } = &mut self.sweep;
        self.batch.load(pack, to, s);
    }

    /// Where forcing is adaptive and an estimate is due, estimates the norm of the batch's Jacobians and lets α follow.
    fn adapt(&mut self, state: &mut State, team: &Team<'_>) {
        let adaptation = self.training.plan.adaptation;
        let Some(adaptation) = adaptation.filter(|a| a.is_due(state.update)) else {
            return;
        };
        let norm = self.norm_of_batch(state, team);
        // Without a complete row in any window there is no estimate; what is not finite will end training at its loss.
        if norm.kappa.is_finite() && norm.kappa > 0.0 {
            state.alpha = adaptation.anneal(state.alpha, norm.alpha());
            self.norm = Some(norm);
        }
    }

    /// 𝒩 of the whole batch, the same on every worker.
    fn norm_of_batch(&mut self, state: &State, team: &Team<'_>) -> Norm {
        let Training { plan, form, .. } = self.training;
        let estimator = plan.adaptation.map(|adaptation| adaptation.estimator);
        let Some(estimator) = estimator.filter(|&e| e != Estimator::ParameterBound) else {
            return Norm {
                kappa: NeuralOde::new(form, state.theta.clone()).jacobian_bound(),
                fallbacks: 0,
            };
        };
        team.share(
            state,
            |pack, slot| slot.norm = self.norm_of_pack(pack, estimator),
            Norm::default(),
            |all, slot| all.or_larger(slot.norm),
        )
    }

    /// 𝒩 of the windows of a pack, from the Jacobians of the steps that begin at their complete rows.
    fn norm_of_pack(&mut self, pack: usize, estimator: Estimator) -> Norm {
        self.load(pack);
        self.loaded = Some(pack);
        let slopes = Slopes {
            field: &self.field,
            sweep: &mut self.sweep,
            sequences: &mut self.sequences,
        };
        dispatch::<P, _>(self.training.plan.course.isa, slopes);
        let n = self.training.form.dims.states;
        let is_finite = |entries: &&Vec<f64>| entries.iter().all(|entry| entry.is_finite());
        let known = self.sequences.iter().filter(|entries| !entries.is_empty());
        let norms = known
            .filter(is_finite)
            .map(|entries| Jacobians::new(entries, n).norm(estimator));
        norms.fold(Norm::default(), Norm::or_larger)
    }
}

impl<U: Unit, P: Lanes> Objective for Solved<'_, U, P> {
    fn prepare(&mut self, theta: &[f32]) {
        let field = &mut self.field;
        dispatch::<P, _>(self.training.plan.course.isa, Prepare { field, theta });
    }

    fn begin(&mut self, state: &mut State, team: &Team<'_>) {
        self.loaded = None;
        self.batch.draw(state.update);
        self.adapt(state, team);
    }

    fn sweep(&mut self, state: &State, pack: usize, slot: &mut Slot) {
        if self.loaded.take() != Some(pack) {
            self.load(pack);
        }
        let plan = self.training.plan;
        let forcing = plan.forcing.with_strength(state.alpha);
        let (isa, field) = (plan.course.isa, &self.field);
        let sweep = &mut self.sweep;
        dispatch::<P, _>(
            isa,
            Forward {
                field,
                forcing,
                sweep,
            },
        );
        let groups = Groups(&mut slot.groups);
        dispatch::<P, _>(
            isa,
            Backward {
                field,
                forcing,
                sweep,
                groups,
            },
        );
        slot.squares = group_sums(sweep.squares.lanes(), self.batch.used::<P>(pack));
    }

    fn finish(&mut self, _state: &State, squares: f64, gradient: &mut [f32]) -> Measured {
        self.field.finish(gradient);
        Measured {
            loss: squares / self.batch.observed() as f64,
            penalty: 0.0,
        }
    }

    fn ends_epoch(&mut self, state: &State) -> bool {
        let schedule = &self.training.plan.course.schedule;
        state.update.is_multiple_of(schedule.updates_per_epoch())
    }

    fn alpha(&self, state: &State) -> f64 {
        self.training
            .plan
            .forcing
            .with_strength(state.alpha)
            .strength()
    }

    fn norm(&mut self) -> Option<Norm> {
        self.norm.take()
    }
}

struct Prepare<'a, U> {
    field: &'a mut Field<U>,
    theta: &'a [f32],
}

impl<U: Unit> Task for Prepare<'_, U> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.field.prepare(simd, self.theta);
    }
}

/// How much of a difference from the data acts: where a value is missing nothing does.
#[inline(always)]
fn there<S: Simd, P: Lanes>(simd: S, mask: &[P], at: usize) -> P::Vector<S> {
    match mask.get(at) {
        Some(there) => there.load(simd),
        None => P::Vector::splat(simd, 1.0),
    }
}

/// The steps, with forcing, and their residuals.
struct Forward<'a, U, P: Lanes> {
    field: &'a Field<U>,
    forcing: Forcing,
    sweep: &'a mut Sweep<P>,
}

impl<U: Unit, P: Lanes> Task for Forward<'_, U, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let sweep = self.sweep;
        let (n, stride, window) = (sweep.states, sweep.stride(), sweep.window());
        sweep.tape.y[..n].copy_from_slice(&sweep.pack.x[..n]);
        let mut squares = P::Vector::splat(simd, 0.0);
        let weight = sweep.pack.weight.load(simd);
        for t in 0..window {
            sweep.put_inputs(t);
            let Sweep {
                tape,
                pack,
                e,
                d,
                stages,
                ..
            } = &mut *sweep;
            self.field.step(
                simd,
                stages,
                (tape, t),
                #[inline(always)]
                |m, z| d[m].store(z),
            );
            let gain = P::Vector::splat(simd, self.forcing.gain(t + 1));
            let next = (t + 1) * stride;
            for m in 0..n {
                let (z, at) = (d[m].load(simd), (t + 1) * n + m);
                let difference = (z - pack.x[at].load(simd)) * there(simd, &pack.mask, at);
                squares = difference.mul_add(difference, squares);
                e[t * n + m].store(weight * difference);
                // z̃ = z − α (z − x).
                if t + 1 < window {
                    tape.y[next + m].store((-gain).mul_add(difference, z));
                }
            }
        }
        sweep.squares.store(squares);
    }
}

/// The backward sweep, then the gradients of the weights.
struct Backward<'a, U, P: Lanes> {
    field: &'a Field<U>,
    forcing: Forcing,
    sweep: &'a mut Sweep<P>,
    groups: Groups<'a>,
}

impl<U: Unit, P: Lanes> Task for Backward<'_, U, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(mut self, simd: S) {
        let (n, window) = (self.sweep.states, self.sweep.window());
        let stages = self.sweep.stages.count;
        let last = (window - 1) * n;
        self.sweep.d.copy_from_slice(&self.sweep.e[last..]);
        let steps = self.field.chunk(window * stages, stages) / stages;
        for end in (1..=window).rev().step_by(steps) {
            let start = end.saturating_sub(steps);
            for t in (start..end).rev() {
                self.step_back(simd, t, t - start);
            }
            let chunk = Chunk {
                steps: start * stages..end * stages,
                window: window * stages,
            };
            let tape = &mut self.sweep.tape;
            self.field.accumulate(simd, tape, chunk, &mut self.groups);
        }
        self.field
            .gradient(simd, &self.sweep.tape, &mut self.groups);
    }
}

impl<U: Unit, P: Lanes> Backward<'_, U, P> {
    /// From δ_{t+1} to δ_t: of the cotangent of z̃_t the part 1 − α passes to z_t. The initial state is data.
    #[inline(always)]
    fn step_back<S: Simd>(&mut self, simd: S, t: usize, in_chunk: usize) {
        let Sweep {
            tape,
            pack,
            e,
            d,
            stages,
            states: n,
            ..
        } = &mut *self.sweep;
        let in_chunk = in_chunk * stages.count;
        self.field.step_back(simd, stages, (tape, t, in_chunk), d);
        let Some(before) = t.checked_sub(1) else {
            return;
        };
        let gain = P::Vector::splat(simd, self.forcing.gain(t));
        for m in 0..*n {
            let passed = d[m].load(simd);
            let taken = gain * there(simd, &pack.mask, t * *n + m);
            let own = e[before * *n + m].load(simd);
            d[m].store((-taken).mul_add(passed, passed) + own);
        }
    }
}

/// The Jacobians of the steps from those rows of a window that are complete, in lanes that count: row m of a Jacobian is the
/// cotangent of what a step began with, where that of what it gave is 1 at m and 0 elsewhere.
struct Slopes<'a, U, P: Lanes> {
    field: &'a Field<U>,
    sweep: &'a mut Sweep<P>,
    sequences: &'a mut [Vec<f64>],
}

impl<U: Unit, P: Lanes> Task for Slopes<'_, U, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.sequences.iter_mut().for_each(Vec::clear);
        let Sweep {
            pack,
            s,
            tape,
            d,
            stages,
            states: n,
            inputs: k,
            ..
        } = self.sweep;
        let rows = pack.x.chunks_exact(*n).zip(&pack.complete);
        for (t, (x, complete)) in rows.take(pack.whole.len() - 1).enumerate() {
            tape.y[..*n].copy_from_slice(x);
            tape.y[*n..][..*k].copy_from_slice(&s[t * *k..][..*k]);
            self.field.step(simd, stages, (tape, 0), |_, _| {});
            for m in 0..*n {
                d.fill(P::ZERO);
                d[m].lanes_mut().fill(1.0);
                self.field.step_back(simd, stages, (tape, 0, 0), d);
                for (lane, sequence) in self.sequences.iter_mut().enumerate() {
                    let (row, window) = (complete.lanes()[lane], pack.weight.lanes()[lane]);
                    if row > 0.0 && window > 0.0 {
                        sequence.extend(d.iter().map(|d| f64::from(d.lanes()[lane])));
                    }
                }
            }
        }
    }
}
