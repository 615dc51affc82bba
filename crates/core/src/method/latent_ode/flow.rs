//! The solution of the latent equation on lanes: every lane has its own steps, and all that they were made of stays on a tape.
//!
//! ```text
//! forward    y_i = z + h Σ_{j<i} a_ij k_j,   k_i = f(y_i, s),   z' = z + h Σ b_i k_i,   z_row = z + h Σ b_i(θ) k_i
//! backward   dk_i = h b_i dz' + Σ_row h b_i(θ) dz_row + Σ_{j>i} h a_ji dy_j,   dy_i = f'(y_i)ᵀ dk_i
//!            dz = dz' + Σ_row dz_row + Σ_i dy_i
//! ```
//!
//! A lane that has come to the last row, or whose step was too long, makes a step of length zero: z' = z. Lanes do not see one another,
//! so that their bits do not depend on how many there are. Every lane has its own times of rows and its own inputs.

use super::solver::{MOST_STAGES, Solver, Times, Walk};
use crate::continuous::Net;
use crate::continuous::lanes::{Columns, LaneNet, NetTape};
use crate::simd::{Groups, Lanes, Simd, SimdBase, SimdFloat};

/// When the rows of a lane are, of those of all lanes.
fn times_in<P: Lanes>(own: &[f64], rows: usize, lane: usize) -> Times<'_> {
    let of_lane = own.len() / P::WIDTH;
    Times::new(&own[lane * of_lane..][..of_lane], rows)
}

/// The field with its solver.
pub(super) struct LaneFlow {
    field: LaneNet,
    solver: Solver,
    /// States l.
    dim: usize,
    /// External inputs K.
    inputs: usize,
    /// Solutions of a window.
    samples: usize,
    a: [[f32; MOST_STAGES]; MOST_STAGES],
    b: [f32; MOST_STAGES],
    error: [f32; MOST_STAGES],
}

/// What a solution leaves. States of all samples of a window are side by side, sample by sample.
pub(super) struct FlowTape<P> {
    net: NetTape<P>,
    /// States at all rows, (T + 1) × samples × l. Row 0 is where solutions start.
    pub(super) z: Vec<P>,
    /// External inputs of all rows, (T + 1) × K.
    pub(super) s: Vec<P>,
    /// When rows are, lane by lane; empty where they are one step apart.
    pub(super) times: Vec<f64>,
    /// Rows of the solutions.
    rows: usize,
    /// Slopes of all steps and stages.
    k: Vec<P>,
    /// Where every step began and where it ended, sample by sample and lane by lane; how long it was, sample by sample.
    ends: Vec<[f64; 2]>,
    step: Vec<P>,
    steps: usize,
    /// What goes into a stage, where inputs go with it; the inputs of a step, samples × K.
    y: Vec<P>,
    driving: Vec<P>,
    now: Vec<P>,
    next: Vec<P>,
    walks: Vec<Walk>,
    /// Cotangents of slopes, of the state and of what went into a stage.
    dk: Vec<P>,
    pub(super) d: Vec<P>,
    dy: Vec<P>,
    /// Slopes of one lane, and one number more for each of its states.
    alone: Vec<f32>,
}

impl<P: Lanes> FlowTape<P> {
    /// Room for solutions over so many rows behind the first.
    pub(super) fn new(flow: &LaneFlow, net: &Net, rows: usize) -> FlowTape<P> {
        let (k, walk) = (flow.inputs, Walk::new(flow.solver.scheme));
        let state = flow.samples * flow.dim;
        let blank = |numbers: usize| vec![P::ZERO; numbers];
        FlowTape {
            net: NetTape::new(net, flow.solver.scheme.stages() * flow.samples),
            z: blank((rows + 1) * state),
            s: blank((rows + 1) * k),
            times: Vec::new(),
            rows: rows + 1,
            k: Vec::new(),
            ends: Vec::new(),
            step: Vec::new(),
            steps: 0,
            y: blank(if k > 0 { state } else { 0 }),
            driving: blank(flow.samples * k),
            now: blank(state),
            next: blank(state),
            walks: vec![walk; flow.samples * P::WIDTH],
            dk: blank(flow.solver.scheme.stages() * state),
            d: blank(state),
            dy: blank(state + flow.samples * k),
            alone: vec![0.0; (flow.stages() + 1) * flow.dim],
        }
    }

    /// Where a step of a sample in a lane began and ended.
    fn ends(&self, (step, sample, lane): (usize, usize, usize)) -> [f64; 2] {
        self.ends[step * self.walks.len() + sample * P::WIDTH + lane]
    }
}

impl LaneFlow {
    pub(super) fn new<P: Lanes>(field: &Net, solver: Solver, samples: usize) -> LaneFlow {
        let scheme = solver.scheme;
        let narrow = |weights: &[f64]| {
            let mut to = [0.0; MOST_STAGES];
            let pairs = to.iter_mut().zip(weights);
            pairs.for_each(|(to, w)| *to = *w as f32);
            to
        };
        let mut a = [[0.0; MOST_STAGES]; MOST_STAGES];
        for (i, a) in a.iter_mut().enumerate().take(scheme.stages()) {
            *a = narrow(scheme.a(i));
        }
        let columns = if samples == 1 {
            Columns::One
        } else {
            Columns::Several
        };
        LaneFlow {
            field: LaneNet::new::<P>(field, columns),
            dim: field.outputs(),
            inputs: field.inputs() - field.outputs(),
            b: narrow(scheme.b()),
            error: narrow(scheme.error()),
            solver,
            samples,
            a,
        }
    }

    /// Takes θ.
    pub(super) fn prepare(&mut self, theta: &[f32]) {
        self.field.prepare(theta);
    }

    fn state(&self) -> usize {
        self.samples * self.dim
    }

    fn stages(&self) -> usize {
        self.solver.scheme.stages()
    }

    /// Solves from the states at row 0 over some rows behind it.
    pub(super) fn forward<S: Simd, P: Lanes>(&self, simd: S, tape: &mut FlowTape<P>, rows: usize) {
        let state = self.state();
        tape.now.copy_from_slice(&tape.z[..state]);
        tape.walks.fill(Walk::new(self.solver.scheme));
        (tape.rows, tape.steps) = (rows + 1, 0);
        while self.plan_step(tape) {
            simd.vectorize(
                #[inline(always)]
                || self.try_step(simd, tape),
            );
            self.take_step(tape);
            tape.steps += 1;
        }
    }

    /// Says where the next step of every lane is to end, and makes room for it; whether any lane makes one.
    fn plan_step<P: Lanes>(&self, tape: &mut FlowTape<P>) -> bool {
        self.make_room(tape);
        let (first, mut any) = (tape.steps * self.samples, false);
        for place in 0..tape.walks.len() {
            let (sample, lane, walk) = (place / P::WIDTH, place % P::WIDTH, tape.walks[place]);
            let times = times_in::<P>(&tape.times, tape.rows, lane);
            let at = walk.at;
            let end = walk.trial(self.solver.latest(times, at, self.inputs > 0));
            let row = times.next(at);
            any |= end > at;
            tape.ends[first * P::WIDTH + place] = [at, end];
            tape.step[first + sample].lanes_mut()[lane] = (end - at) as f32;
            for i in 0..self.inputs {
                let s = tape.s[row * self.inputs + i].lanes()[lane];
                tape.driving[sample * self.inputs + i].lanes_mut()[lane] = s;
            }
        }
        any
    }

    /// Makes room for one more step.
    fn make_room<P: Lanes>(&self, tape: &mut FlowTape<P>) {
        let steps = tape.steps + 1;
        if tape.step.len() < steps * self.samples {
            let more = (2 * steps).max(16);
            tape.ends.resize(more * tape.walks.len(), [0.0; 2]);
            tape.step.resize(more * self.samples, P::ZERO);
            tape.k.resize(more * self.stages() * self.state(), P::ZERO);
            self.field
                .reserve(&mut tape.net, more * self.stages() * self.samples);
        }
    }

    /// The slopes of a step of every lane, and the state behind it.
    #[inline(always)]
    fn try_step<S: Simd, P: Lanes>(&self, simd: S, tape: &mut FlowTape<P>) {
        let (state, stages, samples) = (self.state(), self.stages(), self.samples);
        let h = P::Vector::splat(simd, self.solver.h as f32);
        let trials = &tape.step[tape.steps * samples..][..samples];
        let k = &mut tape.k[tape.steps * stages * state..][..stages * state];
        let sum = |weights: &[f32; MOST_STAGES], k: &[P], z: &[P], to: &mut [P]| {
            for (j, (to, z)) in to.iter_mut().zip(z).enumerate() {
                let mut slope = P::Vector::splat(simd, 0.0);
                for (k, &w) in k.chunks_exact(state).zip(weights) {
                    slope = P::Vector::splat(simd, w).mul_add(k[j].load(simd), slope);
                }
                let step = h * trials[j / self.dim].load(simd);
                to.store(step.mul_add(slope, z.load(simd)));
            }
        };
        for i in 0..stages {
            let call = (tape.steps * stages + i) * samples;
            let (before, k) = k.split_at_mut(i * state);
            let y = if self.inputs == 0 {
                tape.net.inputs(call..call + samples)
            } else {
                &mut tape.y
            };
            // In one place, so that it is inlined and has the vectors of the processor.
            sum(&self.a[i], before, &tape.now, y);
            if self.inputs > 0 {
                let to = tape.net.inputs(call..call + samples);
                self.drive(&tape.y, &tape.driving, to);
            }
            self.field
                .forward(simd, &mut tape.net, call..call + samples, &mut k[..state]);
        }
        sum(&self.b, k, &tape.now, &mut tape.next);
    }

    /// (y, s) of every sample.
    fn drive<P: Lanes>(&self, y: &[P], s: &[P], to: &mut [P]) {
        let pairs = y.chunks_exact(self.dim).zip(s.chunks_exact(self.inputs));
        for (to, (y, s)) in to.chunks_exact_mut(self.dim + self.inputs).zip(pairs) {
            let (of_y, of_s) = to.split_at_mut(self.dim);
            of_y.copy_from_slice(y);
            of_s.copy_from_slice(s);
        }
    }

    /// Judges the step of every lane; takes it, with the rows that it reaches, or not.
    fn take_step<P: Lanes>(&self, tape: &mut FlowTape<P>) {
        for sample in 0..self.samples {
            for lane in 0..P::WIDTH {
                let place = (tape.steps, sample, lane);
                let [at, end] = tape.ends(place);
                if end == at {
                    continue;
                }
                let error = if self.solver.scheme.is_adaptive() {
                    self.squared_error(tape, sample, lane, (end - at) as f32)
                } else {
                    0.0
                };
                if tape.walks[sample * P::WIDTH + lane].judge(end, error) {
                    self.put_rows(tape, place);
                } else {
                    let step = tape.steps * self.samples + sample;
                    tape.ends[step * P::WIDTH + lane] = [at, at];
                    tape.step[step].lanes_mut()[lane] = 0.0;
                }
            }
        }
    }

    /// The mean square of a step's error in units of the tolerance.
    fn squared_error<P: Lanes>(
        &self,
        tape: &FlowTape<P>,
        sample: usize,
        lane: usize,
        trial: f32,
    ) -> f64 {
        let (state, stages) = (self.state(), self.stages());
        let k = &tape.k[tape.steps * stages * state..][..stages * state];
        let (h, mut sum) = (self.solver.h as f32 * trial, 0.0);
        for j in sample * self.dim..(sample + 1) * self.dim {
            let slopes = k.iter().skip(j).step_by(state);
            let slopes = slopes.zip(&self.error);
            let error = h * slopes.map(|(k, e)| e * k.lanes()[lane]).sum::<f32>();
            let z = tape.now[j].lanes()[lane].abs();
            let largest = f64::from(z.max(tape.next[j].lanes()[lane].abs()));
            let scale = self.solver.atol + self.solver.rtol * largest;
            sum += (f64::from(error) / scale) * (f64::from(error) / scale);
        }
        sum / self.dim as f64
    }

    /// The states at the rows that a step of a lane reaches, and behind it.
    fn put_rows<P: Lanes>(&self, tape: &mut FlowTape<P>, place: (usize, usize, usize)) {
        let (state, dim, (_, sample, lane)) = (self.state(), self.dim, place);
        let [at, end] = tape.ends(place);
        let times = times_in::<P>(&tape.times, tape.rows, lane);
        let of_sample = sample * dim..(sample + 1) * dim;
        let rows = times.reached(at, end);
        if rows.clone().any(|row| times.of(row) != end) {
            self.gather(tape, sample, lane);
        }
        for row in rows {
            let time = times_in::<P>(&tape.times, tape.rows, lane).of(row);
            let z = &mut tape.z[row * state..][of_sample.clone()];
            if time == end {
                let next = z.iter_mut().zip(&tape.next[of_sample.clone()]);
                next.for_each(|(z, next)| z.lanes_mut()[lane] = next.lanes()[lane]);
                continue;
            }
            let (k, change) = tape.alone.split_at_mut(self.stages() * dim);
            change.fill(0.0);
            for (k, w) in k.chunks_exact(dim).zip(self.within(time, [at, end])) {
                let pairs = change.iter_mut().zip(k);
                pairs.for_each(|(change, k)| *change += w * k);
            }
            let now = tape.now[of_sample.clone()].iter().zip(&*change);
            for (z, (now, change)) in z.iter_mut().zip(now) {
                z.lanes_mut()[lane] = now.lanes()[lane] + change;
            }
        }
        for j in of_sample {
            tape.now[j].lanes_mut()[lane] = tape.next[j].lanes()[lane];
        }
    }

    /// Takes the slopes of a lane's step out of the lanes.
    fn gather<P: Lanes>(&self, tape: &mut FlowTape<P>, sample: usize, lane: usize) {
        let (state, dim) = (self.state(), self.dim);
        let k = &tape.k[tape.steps * self.stages() * state..][..self.stages() * state];
        let slopes = k.chunks_exact(state).zip(tape.alone.chunks_exact_mut(dim));
        for (k, to) in slopes {
            let entries = to.iter_mut().zip(&k[sample * dim..]);
            entries.for_each(|(to, k)| *to = k.lanes()[lane]);
        }
    }

    /// h b_i(θ) at a time within a step.
    fn within(&self, time: f64, [at, end]: [f64; 2]) -> [f32; MOST_STAGES] {
        let (theta, step) = (((time - at) / (end - at)) as f32, (end - at) as f32);
        let h = self.solver.h * f64::from(step);
        let weights = self.solver.scheme.within(f64::from(theta));
        weights.map(|weight| (h * weight) as f32)
    }

    /// From the cotangents of the states at all rows to those of the states at row 0, in `tape.d`.
    pub(super) fn backward<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut FlowTape<P>,
        of_rows: &[P],
    ) {
        tape.d.fill(P::ZERO);
        for step in (0..tape.steps).rev() {
            tape.dk.fill(P::ZERO);
            // What was added to the state before the step, not to the one behind it.
            tape.next.fill(P::ZERO);
            self.take_rows(tape, step, of_rows);
            simd.vectorize(
                #[inline(always)]
                || self.step_back(simd, tape, step),
            );
        }
        for (d, more) in tape.d.iter_mut().zip(of_rows) {
            d.store(d.load(simd) + more.load(simd));
        }
    }

    /// Adds the cotangents of the rows that a step has reached to those of its slopes and states.
    fn take_rows<P: Lanes>(&self, tape: &mut FlowTape<P>, step: usize, of_rows: &[P]) {
        for sample in 0..self.samples {
            for lane in 0..P::WIDTH {
                let place = (step, sample, lane);
                let [at, end] = tape.ends(place);
                if end > at {
                    self.take_rows_of(tape, place, of_rows);
                }
            }
        }
    }

    /// The same of one lane.
    fn take_rows_of<P: Lanes>(
        &self,
        tape: &mut FlowTape<P>,
        place: (usize, usize, usize),
        of_rows: &[P],
    ) {
        let (state, dim, (_, sample, lane)) = (self.state(), self.dim, place);
        let of_sample = sample * dim..(sample + 1) * dim;
        let [at, end] = tape.ends(place);
        let times = times_in::<P>(&tape.times, tape.rows, lane);
        let (dk, d) = tape.alone.split_at_mut(self.stages() * dim);
        dk.fill(0.0);
        for row in times.reached(at, end) {
            let of_row = of_rows[row * state..][of_sample.clone()].iter();
            let time = times.of(row);
            if time == end {
                let pairs = tape.d[of_sample.clone()].iter_mut().zip(of_row);
                pairs.for_each(|(to, d)| to.lanes_mut()[lane] += d.lanes()[lane]);
                continue;
            }
            let before = tape.next[of_sample.clone()].iter_mut();
            for ((d, of_row), before) in d.iter_mut().zip(of_row).zip(before) {
                *d = of_row.lanes()[lane];
                before.lanes_mut()[lane] += *d;
            }
            for (dk, w) in dk.chunks_exact_mut(dim).zip(self.within(time, [at, end])) {
                let pairs = dk.iter_mut().zip(&*d);
                pairs.for_each(|(dk, d)| *dk += w * d);
            }
        }
        for (dk, to) in dk.chunks_exact(dim).zip(tape.dk.chunks_exact_mut(state)) {
            let pairs = to[of_sample.clone()].iter_mut().zip(dk);
            pairs.for_each(|(to, dk)| to.lanes_mut()[lane] += dk);
        }
    }

    /// From the cotangents of the state behind a step to those of the state before it.
    #[inline(always)]
    fn step_back<S: Simd, P: Lanes>(&self, simd: S, tape: &mut FlowTape<P>, step: usize) {
        let (state, stages, samples) = (self.state(), self.stages(), self.samples);
        let h = P::Vector::splat(simd, self.solver.h as f32);
        let steps = &tape.step[step * samples..][..samples];
        for (j, d) in tape.d.iter().enumerate() {
            let d = h * steps[j / self.dim].load(simd) * d.load(simd);
            let slopes = tape.dk.iter_mut().skip(j).step_by(state);
            for (dk, &b) in slopes.zip(&self.b) {
                dk.store(P::Vector::splat(simd, b).mul_add(d, dk.load(simd)));
            }
        }
        for (d, more) in tape.d.iter_mut().zip(&tape.next) {
            d.store(d.load(simd) + more.load(simd));
        }
        for i in (0..stages).rev() {
            let call = (step * stages + i) * samples;
            let (before, dk) = tape.dk.split_at_mut(i * state);
            let calls = call..call + samples;
            tape.net
                .cotangents(calls.clone())
                .copy_from_slice(&dk[..state]);
            self.field
                .backward(simd, &mut tape.net, calls, &mut tape.dy);
            let of_samples = tape.dy.chunks_exact(self.dim + self.inputs);
            let of_states = of_samples.flat_map(|dy| &dy[..self.dim]);
            for (j, (d, dy)) in tape.d.iter_mut().zip(of_states).enumerate() {
                let dy = dy.load(simd);
                d.store(d.load(simd) + dy);
                let dy = h * steps[j / self.dim].load(simd) * dy;
                let slopes = before.iter_mut().skip(j).step_by(state);
                for (dk, &a) in slopes.zip(&self.a[i]) {
                    dk.store(P::Vector::splat(simd, a).mul_add(dy, dk.load(simd)));
                }
            }
        }
    }

    /// The gradients of the field.
    pub(super) fn gradient<S: Simd, P: Lanes>(
        &self,
        simd: S,
        tape: &mut FlowTape<P>,
        groups: &mut Groups<'_>,
    ) {
        let calls = tape.steps * self.stages() * self.samples;
        self.field.gradient(simd, &mut tape.net, calls, groups);
    }
}
