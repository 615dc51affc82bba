//! Many free orbits of a model side by side in vector lanes, in f32 as it was trained: what forecasts from every row
//! of a recording need. The kernels are those of training.

use super::{Architecture, Model};
use crate::dynamics::{Forecasts, Stretch};
use crate::kernel::{Clipped, Dendritic, Kernel, Left, Plain, Prepare, Rectified, Shallow, Tanh};
use crate::map::shallow::Activation;
use crate::map::{Dims, UnitKind};
use crate::observation::ObservationLanes;
use crate::simd::{Isa, Lanes, Lanes16, Least, Simd, Task, dispatch};
use crate::train::with_kernel;

/// Orbits side by side.
pub(crate) trait FreeRun: Send {
    /// How many.
    fn width(&self) -> usize;

    /// Infers initial states from an observation a lane; lanes beyond those given keep what they had.
    fn start(&mut self, rows: &mut dyn Iterator<Item = &[f64]>);

    /// Goes on by `steps` steps, each lane driven by `steps` rows of inputs (none without inputs), and returns what is
    /// seen of the last `seen` of them: `[step][channel][lane]`.
    fn advance(&mut self, inputs: &[&[f64]], steps: usize, seen: usize) -> &[f32];
}

/// A model made ready to run in lanes.
fn free_run(model: &Model) -> Box<dyn FreeRun> {
    let preparation = Preparation {
        architecture: model.architecture(),
        model,
    };
    with_kernel!(preparation.run())
}

/// What the choice of a kernel needs.
#[derive(Clone, Copy)]
struct Preparation<'a> {
    architecture: &'a Architecture,
    model: &'a Model,
}

impl Preparation<'_> {
    fn run<K: Kernel + 'static>(self, make: impl Fn(K) -> K) -> Box<dyn FreeRun> {
        let isa = Isa::detect();
        match isa {
            Isa::Avx512 => Box::new(LaneRun::<K, Lanes16>::new(self.model, make, isa)),
            _ => Box::new(LaneRun::<K, Least>::new(self.model, make, isa)),
        }
    }
}

struct LaneRun<K: Kernel, P: Lanes> {
    dims: Dims,
    dim_obs: usize,
    kernel: K,
    observation: ObservationLanes,
    isa: Isa,
    /// The current state, M.
    z: Vec<P>,
    /// First observations, N.
    x: Vec<P>,
    /// States, steps × M; inputs, steps × K; observations, seen × N.
    states: Vec<P>,
    s: Vec<P>,
    x_hat: Vec<P>,
    /// Units of one step, and their marks.
    g: Vec<K::Units<P>>,
    marks: Vec<K::Units<P>>,
    out: Vec<f32>,
}

impl<K: Kernel, P: Lanes> LaneRun<K, P> {
    fn new(model: &Model, make: impl Fn(K) -> K, isa: Isa) -> LaneRun<K, P> {
        let Architecture {
            dims, observation, ..
        } = *model.architecture();
        let mut kernel = make(K::new::<P>(dims, model.layout()));
        let prepare = Prepare {
            kernel: &mut kernel,
            theta: model.theta(),
        };
        dispatch::<P, _>(isa, prepare);
        let mut lanes = ObservationLanes::new::<P>(observation, model.layout());
        lanes.prepare(model.theta());
        LaneRun {
            dims,
            dim_obs: observation.dim_obs,
            g: vec![K::Units::<P>::ZERO; kernel.registers::<P>()],
            marks: vec![K::Units::<P>::ZERO; kernel.registers::<P>() * K::MARKS_A_UNIT],
            kernel,
            observation: lanes,
            isa,
            z: vec![P::ZERO; dims.latent],
            x: vec![P::ZERO; observation.dim_obs],
            states: Vec::new(),
            s: Vec::new(),
            x_hat: Vec::new(),
            out: Vec::new(),
        }
    }
}

impl<K: Kernel, P: Lanes> FreeRun for LaneRun<K, P> {
    fn width(&self) -> usize {
        P::WIDTH
    }

    fn start(&mut self, rows: &mut dyn Iterator<Item = &[f64]>) {
        for (lane, row) in rows.take(P::WIDTH).enumerate() {
            let features = self.x.iter_mut().zip(row);
            features.for_each(|(x, &v)| x.lanes_mut()[lane] = v as f32);
        }
        let task = Infer {
            observation: &self.observation,
            x: &self.x,
            z: &mut self.z,
        };
        dispatch::<P, _>(self.isa, task);
    }

    fn advance(&mut self, inputs: &[&[f64]], steps: usize, seen: usize) -> &[f32] {
        self.states.resize(steps * self.dims.latent, P::ZERO);
        self.s.resize(steps * self.dims.inputs, P::ZERO);
        self.x_hat.resize(seen * self.dim_obs, P::ZERO);
        for (lane, inputs) in inputs.iter().enumerate() {
            let features = self.s.iter_mut().zip(*inputs);
            features.for_each(|(s, &v)| s.lanes_mut()[lane] = v as f32);
        }
        let (isa, task) = (self.isa, Steps { run: self, seen });
        dispatch::<P, _>(isa, task);
        self.out.clear();
        for x_hat in &mut self.x_hat {
            self.out.extend_from_slice(x_hat.lanes_mut());
        }
        &self.out
    }
}

/// Initial states from observations.
struct Infer<'a, P> {
    observation: &'a ObservationLanes,
    x: &'a [P],
    z: &'a mut [P],
}

impl<P: Lanes> Task for Infer<'_, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.observation.infer(simd, self.x, self.z);
    }
}

/// Steps of the map, then what is seen of the last of them.
struct Steps<'a, K: Kernel, P: Lanes> {
    run: &'a mut LaneRun<K, P>,
    seen: usize,
}

impl<K: Kernel, P: Lanes> Task for Steps<'_, K, P> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let run = self.run;
        let (m, k) = (run.dims.latent, run.dims.inputs);
        for (t, next) in run.states.chunks_exact_mut(m).enumerate() {
            let s = &run.s[t * k..][..k];
            run.kernel.step(
                simd,
                (&run.z, s),
                Left {
                    g: &mut run.g,
                    marks: &mut run.marks,
                },
                #[inline(always)]
                |i, z| next[i].store(z),
            );
            run.z.copy_from_slice(next);
        }
        let seen = &run.states[run.states.len() - self.seen * m..];
        run.observation.observe(simd, seen, &mut run.x_hat);
    }
}

/// Forecasts in lanes from rows of a recording.
pub(crate) struct LaneForecasts<'a> {
    run: Box<dyn FreeRun>,
    data: Stretch<'a>,
    /// The row of each lane.
    rows: Vec<usize>,
    /// Steps ahead of them.
    ahead: usize,
    out: Vec<f64>,
}

impl<'a> LaneForecasts<'a> {
    pub(super) fn new(model: &Model, data: Stretch<'a>) -> LaneForecasts<'a> {
        LaneForecasts::of(free_run(model), data)
    }

    /// Of any system that runs in lanes.
    pub(crate) fn of(run: Box<dyn FreeRun>, data: Stretch<'a>) -> LaneForecasts<'a> {
        LaneForecasts {
            run,
            data,
            rows: Vec::new(),
            ahead: 0,
            out: Vec::new(),
        }
    }
}

impl Forecasts for LaneForecasts<'_> {
    fn width(&self) -> usize {
        self.run.width()
    }

    fn start(&mut self, rows: &[usize]) {
        self.run.start(&mut rows.iter().map(|&t| self.data.row(t)));
        self.rows.clear();
        self.rows.extend_from_slice(rows);
        self.ahead = 0;
    }

    fn advance(&mut self, steps: usize, seen: usize) -> &[f64] {
        let first = self.ahead + 1;
        let driven = |&t: &usize| self.data.inputs_of(t + first..t + first + steps);
        let inputs: Vec<&[f64]> = if self.data.inputs().is_empty() {
            vec![&[]; self.rows.len()]
        } else {
            self.rows.iter().map(driven).collect()
        };
        self.ahead += steps;
        let seen = self.run.advance(&inputs, steps, seen);
        self.out.clear();
        self.out.extend(seen.iter().map(|&x| f64::from(x)));
        &self.out
    }
}

/// Steps between two looks at the states: enough that a look costs nothing, few enough to stay in the cache.
const STRETCH: usize = 128;

/// Free orbits of `steps` rows from several observations, all driven by the same inputs (steps × K). Row 0 of each is
/// its initial state as the model sees it.
pub(super) fn orbits(
    model: &Model,
    starts: &[&[f64]],
    inputs: &[f64],
    steps: usize,
) -> Vec<Vec<f64>> {
    let k = model.architecture().dims.inputs;
    let first = |x: &&[f64]| model.orbit_from(x, &inputs[..k.min(inputs.len())], 1);
    let first = starts.iter().map(first).collect();
    orbits_from(free_run(model), first, starts, (inputs, k), steps)
}

/// Orbits of `steps` rows in lanes, behind their first rows, from several observations, all driven by the same inputs (steps × K).
pub(crate) fn orbits_from(
    mut run: Box<dyn FreeRun>,
    first: Vec<Vec<f64>>,
    starts: &[&[f64]],
    (inputs, k): (&[f64], usize),
    steps: usize,
) -> Vec<Vec<f64>> {
    let mut orbits = first;
    for (starts, orbits) in starts
        .chunks(run.width())
        .zip(orbits.chunks_mut(run.width()))
    {
        run.start(&mut starts.iter().copied());
        for t in (1..steps).step_by(STRETCH) {
            let stretch = STRETCH.min(steps - t);
            let driven = &inputs[t * k..(t + stretch) * k];
            let seen = run.advance(&vec![driven; starts.len()], stretch, stretch);
            let width = seen.len() / (stretch * starts[0].len());
            for features in seen.chunks_exact(width) {
                let lanes = orbits.iter_mut().zip(features);
                lanes.for_each(|(orbit, &x)| orbit.push(f64::from(x)));
            }
        }
    }
    orbits
}
