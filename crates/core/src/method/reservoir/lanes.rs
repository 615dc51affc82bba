//! Forecasts from many rows side by side: one number of every branch in a row, `[unit][branch]`, so that W and W_out are read once for
//! all of them and a vector register holds several.

use super::Reservoir;
use crate::dynamics::{Follower, Forecasts, Stretch};
use crate::simd::{Isa, Simd, Task, dispatch_widest};
use crate::tanh::tanh;

/// Branches side by side.
const WIDTH: usize = 16;

/// One number of every branch.
type Lane = [f64; WIDTH];

/// Branches of a reservoir.
pub(super) struct Lanes<'a> {
    reservoir: &'a Reservoir,
    data: Stretch<'a>,
    follower: Follower<'a, Reservoir>,
    isa: Isa,
    /// The states, and those of the next step.
    z: Vec<Lane>,
    next: Vec<Lane>,
    features: Vec<Lane>,
    /// Forecasts in units of standard deviations, and the inputs of the next row.
    u: Vec<Lane>,
    s: Vec<Lane>,
    /// The last row that each branch has taken in, seen or forecast.
    rows: Vec<usize>,
    /// Whether the row that the states show has not been given yet.
    fresh: bool,
    out: Vec<f64>,
}

impl<'a> Lanes<'a> {
    pub(super) fn new(reservoir: &'a Reservoir, data: Stretch<'a>) -> Lanes<'a> {
        let zero = [0.0; WIDTH];
        Lanes {
            follower: Follower::new(reservoir, data),
            isa: Isa::detect(),
            z: vec![zero; reservoir.state()],
            next: vec![zero; reservoir.state()],
            features: vec![zero; reservoir.features()],
            u: vec![zero; reservoir.channels()],
            s: vec![zero; reservoir.inputs()],
            rows: Vec::new(),
            fresh: false,
            out: Vec::new(),
            reservoir,
            data,
        }
    }

    /// The inputs of the row after the last one of every branch.
    fn place_inputs(&mut self) {
        let n = self.reservoir.channels();
        for (branch, row) in self.rows.iter_mut().enumerate() {
            *row += 1;
            let inputs = self.data.inputs_of(*row..*row + 1);
            for (i, (s, &input)) in self.s.iter_mut().zip(inputs).enumerate() {
                let (mean, sd) = (self.reservoir.mean[n + i], self.reservoir.sd[n + i]);
                s[branch] = (input - mean) / sd;
            }
        }
    }

    fn run(&mut self, work: Work) {
        dispatch_widest(self.isa, Run { lanes: self, work });
    }

    /// What the branches show, `[channel][branch]`, into a caller's buffer.
    fn show(&self, out: &mut [f64]) {
        let moments = self.reservoir.mean.iter().zip(&self.reservoir.sd);
        let lanes = out.chunks_exact_mut(WIDTH).zip(&self.u);
        for ((out, u), (mean, sd)) in lanes.zip(moments) {
            out.iter_mut().zip(u).for_each(|(x, u)| *x = mean + sd * u);
        }
    }
}

impl Forecasts for Lanes<'_> {
    fn width(&self) -> usize {
        WIDTH
    }

    fn start(&mut self, rows: &[usize]) {
        for (branch, &row) in rows.iter().enumerate() {
            let state = self.follower.state_at(row);
            let lanes = self.z.iter_mut().zip(state);
            lanes.for_each(|(lane, &z)| lane[branch] = z);
        }
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        self.fresh = true;
        self.run(Work::ReadOut);
    }

    fn advance(&mut self, steps: usize, seen: usize) -> &[f64] {
        let a_row = self.reservoir.channels() * WIDTH;
        let mut out = std::mem::take(&mut self.out);
        out.clear();
        out.resize(seen * a_row, 0.0);
        for step in 0..steps {
            if !std::mem::take(&mut self.fresh) {
                self.place_inputs();
                self.run(Work::TakeIn);
                self.run(Work::ReadOut);
            }
            if let Some(place) = (step + seen).checked_sub(steps) {
                self.show(&mut out[place * a_row..][..a_row]);
            }
        }
        self.out = out;
        &self.out
    }
}

/// What is done to all branches.
#[derive(Clone, Copy)]
enum Work {
    /// u = W_out φ(z).
    ReadOut,
    /// z ← the state after u.
    TakeIn,
}

struct Run<'a, 'b> {
    lanes: &'a mut Lanes<'b>,
    work: Work,
}

impl Task for Run<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _simd: S) {
        match self.work {
            Work::ReadOut => self.lanes.read_out(),
            Work::TakeIn => self.lanes.take_in(),
        }
    }
}

/// sum += w x for every branch.
#[inline(always)]
fn add(sum: &mut Lane, w: f64, x: &Lane) {
    (0..WIDTH).for_each(|b| sum[b] += w * x[b]);
}

impl Lanes<'_> {
    #[inline(always)]
    fn read_out(&mut self) {
        let r = self.reservoir;
        self.features[..self.z.len()].copy_from_slice(&self.z);
        if r.form.squares {
            let units = self.features[..r.units()].iter_mut().step_by(2);
            units.for_each(|lane| lane.iter_mut().for_each(|h| *h *= *h));
        }
        if r.form.intercept {
            self.features[self.z.len()] = [1.0; WIDTH];
        }
        let rows = r.w_out.chunks_exact(self.features.len());
        for (u, row) in self.u.iter_mut().zip(rows) {
            let mut sum = [0.0; WIDTH];
            let pairs = row.iter().zip(&self.features);
            pairs.for_each(|(&w, a)| add(&mut sum, w, a));
            *u = sum;
        }
    }

    #[inline(always)]
    fn take_in(&mut self) {
        let r = self.reservoir;
        let (units, k, leak) = (r.units(), r.inputs(), r.form.leak);
        for i in 0..units {
            let (columns, values) = r.w.row(i);
            let mut sum = [0.0; WIDTH];
            for (&j, &w) in columns.iter().zip(values) {
                add(&mut sum, w, &self.z[j as usize]);
            }
            add(&mut sum, r.w_in[i], &self.u[r.channel_of(i)]);
            let inputs = r.w_s[i * k..][..k].iter().zip(&self.s);
            inputs.for_each(|(&w, s)| add(&mut sum, w, s));
            (0..WIDTH).for_each(|b| sum[b] = tanh(sum[b] + r.b[i]));
            if leak < 1.0 {
                let h = &self.z[i];
                (0..WIDTH).for_each(|b| sum[b] = (1.0 - leak) * h[b] + leak * sum[b]);
            }
            self.next[i] = sum;
        }
        let kept = self.z.len() - units;
        self.next[units..].copy_from_slice(&self.u[..kept]);
        std::mem::swap(&mut self.z, &mut self.next);
    }
}
