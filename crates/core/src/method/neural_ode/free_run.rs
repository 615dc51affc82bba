//! Many free orbits of a neural ordinary differential equation side by side in vector lanes, in f32 as it was trained.

use super::network::NeuralOde;
use super::scheme::Activation;
use crate::dynamics::{Dynamics, Forecasts, Stretch};
use crate::kernel::field::{Field, FieldDims, FieldTape, Stages};
use crate::kernel::{Plain, Tanh, Unit};
use crate::model::free_run::{FreeRun, LaneForecasts, orbits_from};
use crate::simd::{Isa, Lanes, Lanes16, Least, Simd, Task, dispatch};

/// Free orbits from rows of the data, all driven by the same inputs.
pub(super) fn orbits(
    network: &NeuralOde,
    data: Stretch<'_>,
    starts: &[usize],
    inputs: &[f64],
    steps: usize,
) -> Vec<Vec<f64>> {
    let k = network.sizes().inputs;
    let starts: Vec<&[f64]> = starts.iter().map(|&t| data.row(t)).collect();
    let first = starts
        .iter()
        .map(|row| row[..row.len() * steps.min(1)].to_vec());
    let first = first.collect();
    orbits_from(free_run(network), first, &starts, (inputs, k), steps)
}

/// Forecasts from rows of the data.
pub(super) fn forecasts<'a>(network: &NeuralOde, data: Stretch<'a>) -> Box<dyn Forecasts + 'a> {
    Box::new(LaneForecasts::of(free_run(network), data))
}

fn free_run(network: &NeuralOde) -> Box<dyn FreeRun> {
    let isa = Isa::detect();
    match (network.form.activation, isa) {
        (Activation::Relu, Isa::Avx512) => Box::new(LaneRun::<Plain, Lanes16>::new(network, isa)),
        (Activation::Tanh, Isa::Avx512) => Box::new(LaneRun::<Tanh, Lanes16>::new(network, isa)),
        (Activation::Relu, _) => Box::new(LaneRun::<Plain, Least>::new(network, isa)),
        (Activation::Tanh, _) => Box::new(LaneRun::<Tanh, Least>::new(network, isa)),
    }
}

struct LaneRun<U, P: Lanes> {
    dims: FieldDims,
    field: Field<U>,
    stages: Stages,
    isa: Isa,
    /// Room for one step, with the current state in front.
    tape: FieldTape<P>,
    /// Inputs, steps × K; states, steps × N.
    s: Vec<P>,
    states: Vec<P>,
    out: Vec<f32>,
}

impl<U: Unit, P: Lanes> LaneRun<U, P> {
    fn new(network: &NeuralOde, isa: Isa) -> LaneRun<U, P> {
        let form = network.form;
        let mut field = Field::new::<P>(form.dims, &form.layout());
        let prepare = Prepare {
            field: &mut field,
            theta: network.theta(),
        };
        dispatch::<P, _>(isa, prepare);
        let stages = form.scheme.on_lanes(form.h);
        LaneRun {
            dims: form.dims,
            tape: field.tape(1, stages.count),
            field,
            stages,
            isa,
            s: Vec::new(),
            states: Vec::new(),
            out: Vec::new(),
        }
    }
}

impl<U: Unit, P: Lanes> FreeRun for LaneRun<U, P> {
    fn width(&self) -> usize {
        P::WIDTH
    }

    fn start(&mut self, rows: &mut dyn Iterator<Item = &[f64]>) {
        for (lane, row) in rows.take(P::WIDTH).enumerate() {
            let features = self.tape.y.iter_mut().zip(row);
            features.for_each(|(y, &v)| y.lanes_mut()[lane] = v as f32);
        }
    }

    fn advance(&mut self, inputs: &[&[f64]], steps: usize, seen: usize) -> &[f32] {
        self.s.resize(steps * self.dims.inputs, P::ZERO);
        self.states.resize(steps * self.dims.states, P::ZERO);
        for (lane, inputs) in inputs.iter().enumerate() {
            let features = self.s.iter_mut().zip(*inputs);
            features.for_each(|(s, &v)| s.lanes_mut()[lane] = v as f32);
        }
        let isa = self.isa;
        dispatch::<P, _>(isa, Steps { run: self });
        self.out.clear();
        let last = self.states.len() - seen * self.dims.states;
        for state in &self.states[last..] {
            self.out.extend_from_slice(state.lanes());
        }
        &self.out
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

/// Steps from the current state.
struct Steps<'a, U, P: Lanes> {
    run: &'a mut LaneRun<U, P>,
}

impl<U: Unit, P: Lanes> Task for Steps<'_, U, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let LaneRun {
            dims,
            field,
            stages,
            tape,
            s,
            states,
            ..
        } = self.run;
        let (n, k) = (dims.states, dims.inputs);
        for (t, next) in states.chunks_exact_mut(n).enumerate() {
            tape.y[n..n + k].copy_from_slice(&s[t * k..][..k]);
            field.step(
                simd,
                stages,
                (&mut *tape, 0),
                #[inline(always)]
                |m, z| next[m].store(z),
            );
            tape.y[..n].copy_from_slice(next);
        }
    }
}
