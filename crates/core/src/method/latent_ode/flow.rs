//! The solution of the latent equation on lanes: every lane has its own steps, and all that they were made of stays on a tape.
//!
//! ```text
//! forward    y_i = z + h Σ_{j<i} a_ij k_j,   k_i = f(y_i),   z' = z + h Σ b_i k_i,   z_row = z + h Σ b_i(θ) k_i
//! backward   dk_i = h b_i dz' + Σ_row h b_i(θ) dz_row + Σ_{j>i} h a_ji dy_j,   dy_i = f'(y_i)ᵀ dk_i
//!            dz = dz' + Σ_row dz_row + Σ_i dy_i
//! ```
//!
//! A lane that has come to the last row, or whose step was too long, makes a step of length zero: z' = z. Lanes do not see one another,
//! so that their bits do not depend on how many there are.

use super::solver::{MOST_STAGES, Scheme, Solver, Walk};
use crate::continuous::Net;
use crate::continuous::lanes::{Columns, LaneNet, NetTape};
use crate::simd::{Groups, Lanes, Simd, SimdBase, SimdFloat};

/// The field with its solver.
pub(super) struct LaneFlow {
    field: LaneNet,
    solver: Solver,
    dim: usize,
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
    /// Slopes of all steps and stages.
    k: Vec<P>,
    /// Where every step began and how long it was, in rows; samples × steps.
    at: Vec<P>,
    step: Vec<P>,
    steps: usize,
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
    /// Room for solutions over so many rows.
    pub(super) fn new(flow: &LaneFlow, net: &Net, rows: usize) -> FlowTape<P> {
        let state = flow.samples * flow.dim;
        let blank = |numbers: usize| vec![P::ZERO; numbers];
        FlowTape {
            net: NetTape::new(net, flow.solver.scheme.stages() * flow.samples),
            z: blank((rows + 1) * state),
            k: Vec::new(),
            at: Vec::new(),
            step: Vec::new(),
            steps: 0,
            now: blank(state),
            next: blank(state),
            walks: vec![Walk::to(rows); flow.samples * P::WIDTH],
            dk: blank(flow.solver.scheme.stages() * state),
            d: blank(state),
            dy: blank(state),
            alone: vec![0.0; (flow.stages() + 1) * flow.dim],
        }
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
            dim: field.inputs(),
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

    /// Solves from the states at row 0 over some rows.
    pub(super) fn forward<S: Simd, P: Lanes>(&self, simd: S, tape: &mut FlowTape<P>, rows: usize) {
        let state = self.state();
        tape.now.copy_from_slice(&tape.z[..state]);
        tape.walks.fill(Walk::to(rows));
        tape.steps = 0;
        while tape.walks.iter().any(|walk| walk.trial() > 0.0) {
            self.make_room(tape);
            simd.vectorize(
                #[inline(always)]
                || self.try_step(simd, tape),
            );
            self.take_step(tape);
            tape.steps += 1;
        }
    }

    /// Makes room for one more step.
    fn make_room<P: Lanes>(&self, tape: &mut FlowTape<P>) {
        let steps = tape.steps + 1;
        if tape.at.len() < steps * self.samples {
            let more = (2 * steps).max(16);
            tape.at.resize(more * self.samples, P::ZERO);
            tape.step.resize(more * self.samples, P::ZERO);
            tape.k.resize(more * self.stages() * self.state(), P::ZERO);
            self.field
                .reserve(&mut tape.net, more * self.stages() * self.samples);
        }
        let walks = tape.walks.chunks_exact(P::WIDTH);
        let first = tape.steps * self.samples;
        let (at, step) = (&mut tape.at[first..], &mut tape.step[first..]);
        for ((walks, at), step) in walks.zip(at).zip(step) {
            for (lane, walk) in walks.iter().enumerate() {
                at.lanes_mut()[lane] = walk.at;
                step.lanes_mut()[lane] = walk.trial();
            }
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
            let y = tape.net.inputs(call..call + samples);
            sum(&self.a[i], before, &tape.now, y);
            self.field
                .forward(simd, &mut tape.net, call..call + samples, &mut k[..state]);
        }
        sum(&self.b, k, &tape.now, &mut tape.next);
    }

    /// Judges the step of every lane; takes it, with the rows that it reaches, or not.
    fn take_step<P: Lanes>(&self, tape: &mut FlowTape<P>) {
        for sample in 0..self.samples {
            for lane in 0..P::WIDTH {
                let at = tape.steps * self.samples + sample;
                let trial = tape.step[at].lanes()[lane];
                let step = if trial == 0.0 {
                    0.0
                } else if self.solver.scheme.error().is_empty() {
                    tape.walks[sample * P::WIDTH + lane].judge_fixed(trial)
                } else {
                    let error = self.squared_error(tape, sample, lane, trial);
                    tape.walks[sample * P::WIDTH + lane].judge(trial, error)
                };
                tape.step[at].lanes_mut()[lane] = step;
                if step > 0.0 {
                    self.put_rows(tape, sample, lane, step);
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
    fn put_rows<P: Lanes>(&self, tape: &mut FlowTape<P>, sample: usize, lane: usize, step: f32) {
        let (state, dim) = (self.state(), self.dim);
        let at = tape.at[tape.steps * self.samples + sample].lanes()[lane];
        let of_sample = sample * dim..(sample + 1) * dim;
        let rows = Walk::reached(at, step);
        if rows.clone().any(|row| row as f32 != at + step) {
            self.gather(tape, sample, lane);
        }
        for row in rows {
            let theta = (row as f32 - at) / step;
            let z = &mut tape.z[row * state..][of_sample.clone()];
            if theta == 1.0 {
                let next = z.iter_mut().zip(&tape.next[of_sample.clone()]);
                next.for_each(|(z, next)| z.lanes_mut()[lane] = next.lanes()[lane]);
                continue;
            }
            let (k, change) = tape.alone.split_at_mut(self.stages() * dim);
            change.fill(0.0);
            for (k, w) in k.chunks_exact(dim).zip(self.within(theta, step)) {
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

    /// h b_i(θ).
    fn within(&self, theta: f32, step: f32) -> [f32; MOST_STAGES] {
        let h = self.solver.h * f64::from(step);
        let weights = Scheme::within(self.solver.scheme, f64::from(theta));
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
            let place = step * self.samples + sample;
            for lane in 0..P::WIDTH {
                let (at, step) = (tape.at[place].lanes()[lane], tape.step[place].lanes()[lane]);
                if step > 0.0 {
                    self.take_rows_of(tape, (sample, lane), (at, step), of_rows);
                }
            }
        }
    }

    /// The same of one lane.
    fn take_rows_of<P: Lanes>(
        &self,
        tape: &mut FlowTape<P>,
        (sample, lane): (usize, usize),
        (at, step): (f32, f32),
        of_rows: &[P],
    ) {
        let (state, dim) = (self.state(), self.dim);
        let of_sample = sample * dim..(sample + 1) * dim;
        let (dk, d) = tape.alone.split_at_mut(self.stages() * dim);
        dk.fill(0.0);
        for row in Walk::reached(at, step) {
            let of_row = of_rows[row * state..][of_sample.clone()].iter();
            let theta = (row as f32 - at) / step;
            if theta == 1.0 {
                let pairs = tape.d[of_sample.clone()].iter_mut().zip(of_row);
                pairs.for_each(|(to, d)| to.lanes_mut()[lane] += d.lanes()[lane]);
                continue;
            }
            let before = tape.next[of_sample.clone()].iter_mut();
            for ((d, of_row), before) in d.iter_mut().zip(of_row).zip(before) {
                *d = of_row.lanes()[lane];
                before.lanes_mut()[lane] += *d;
            }
            for (dk, w) in dk.chunks_exact_mut(dim).zip(self.within(theta, step)) {
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
            for (j, (d, dy)) in tape.d.iter_mut().zip(&tape.dy).enumerate() {
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
