//! A fitted, closed system: what every method gives, and all that happens after fitting sees.
//!
//! ```text
//! z ← G(z, s)        x̂ = o(z)
//! ```
//!
//! A state is inferred from rows of the past ([`Dynamics::absorb`]) and then runs freely. What it shows is the row that it was
//! inferred from, or the row after it ([`Dynamics::lead`]): a network that has just taken in x_t forecasts x_{t+1}, a map whose
//! state *is* x_t shows x_t.
//!
//! | method | state | inferred from | lead |
//! | --- | --- | --- | --- |
//! | piecewise-linear maps | z | one row, B⁺x | 0 |
//! | SINDy, neural ODEs | x | one row | 0 |
//! | reservoirs, LSTM, LEM | hidden state | all rows, one after another | 1 |
//!
//! The [`laws`](crate::laws) of a `Dynamics` are public: a new one is checked by calling them.

mod branches;
mod recipe;

use std::any::Any;
use std::fmt;
use std::ops::Range;

use crate::equations::Equations;
use crate::map::piecewise::PiecewiseLinear;
use crate::rows::Rows;
use crate::series::Series;
use crate::theta::Shape;

pub(crate) use branches::Branches;
pub use recipe::{FlowRecipe, Operation, Recipe};

/// A fitted, closed system z ← G(z, s), x̂ = o(z).
pub trait Dynamics: Any + fmt::Debug + Send + Sync {
    /// The sizes.
    fn sizes(&self) -> Sizes;

    /// What a state is inferred from.
    fn memory(&self) -> Memory {
        Memory::Rows(1)
    }

    /// How many rows after the last one that it has taken in a state shows: 0 or 1.
    fn lead(&self) -> usize {
        0
    }

    /// Takes row t of the data into a state, which is that after row t − 1, or zero before the first. Where the state follows
    /// from a [fixed number of rows](Memory::Rows), what it was does not matter.
    fn absorb(&self, data: Stretch<'_>, t: usize, z: &mut [f64]);

    /// next = G(z, s), with the inputs s of the row that the next state is the state of.
    fn step(&self, z: &[f64], s: &[f64], next: &mut [f64]);

    /// x̂ = o(z).
    fn observe(&self, z: &[f64], x_hat: &mut [f64]);

    /// J = ∂G/∂z at (z, s), row-major.
    fn jacobian(&self, z: &[f64], s: &[f64], jac: &mut [f64]);

    /// All that a model file holds; [`Method::load`](crate::method::Method) makes the same system of it.
    fn tensors(&self) -> Vec<Named<'_>>;

    /// What it is made of, such as `3 latent states and 50 hidden units`.
    fn describe(&self) -> String {
        crate::text::count(self.sizes().state, "state")
    }

    /// A free orbit of `steps` rows from a state, as it is seen. Row i of `inputs` (steps × K, empty without inputs) drives the
    /// step to state i; row 0 is not used. Rows are NaN from where a state leaves what single precision holds.
    fn orbit(&self, z: &[f64], inputs: &[f64], steps: usize) -> Vec<f64> {
        step_by_step(self, z, inputs, steps)
    }

    /// Free orbits of `steps` rows from the states at some rows of the data, all driven by the same inputs; in single precision
    /// where many of them run side by side faster.
    fn orbits(
        &self,
        data: Stretch<'_>,
        starts: &[usize],
        inputs: &[f64],
        steps: usize,
    ) -> Vec<Vec<f64>> {
        let m = self.sizes().state;
        let states = self.states_at(data, starts);
        let states = states.chunks_exact(m);
        states.map(|z| self.orbit(z, inputs, steps)).collect()
    }

    /// Forecasts from many rows of the data, several at a time.
    fn forecasts<'a>(&'a self, data: Stretch<'a>) -> Box<dyn Forecasts + 'a> {
        Box::new(Branches::new(self, data))
    }

    /// Makes steps with their Jacobians, prepared once.
    fn tangent(&self) -> Box<dyn Tangent + '_> {
        Box::new(Plain::new(self))
    }

    /// The system as hinges on planes; none if it is smooth.
    fn piecewise(&self) -> Option<PiecewiseLinear> {
        None
    }

    /// Its equations, as it sees the data; none if they are no sum of a few terms.
    fn equations(&self) -> Option<Equations> {
        None
    }

    /// What a script needs to run it; none if it is more than sums of products.
    fn recipe(&self) -> Option<Recipe> {
        None
    }

    /// Whether it takes in rows of which values are missing, NaN.
    fn takes_missing(&self) -> bool {
        false
    }

    /// Whether its state flows between rows, so that those that it takes in may have any times.
    fn takes_own_times(&self) -> bool {
        false
    }

    /// The state after the last row of the past.
    fn infer(&self, past: Stretch<'_>, z: &mut [f64]) {
        let first = match self.memory() {
            Memory::Rows(_) => past.len() - 1,
            Memory::Driven { .. } => 0,
        };
        z.fill(0.0);
        (first..past.len()).for_each(|t| self.absorb(past, t, z));
    }

    /// The states at some rows of the data, in ascending order: the data are followed once.
    fn states_at(&self, data: Stretch<'_>, rows: &[usize]) -> Vec<f64> {
        let m = self.sizes().state;
        let mut follower = Follower::new(self, data);
        let mut states = vec![0.0; rows.len() * m];
        for (&t, z) in rows.iter().zip(states.chunks_exact_mut(m)) {
            z.copy_from_slice(follower.state_at(t));
        }
        states
    }
}

/// How large a system is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Numbers of a state.
    pub state: usize,
    /// Channels N.
    pub channels: usize,
    /// External inputs K.
    pub inputs: usize,
    /// Dynamical variables, as the paper's tables count them.
    pub dim: usize,
    /// Parameters |θ|, as the paper's tables count them.
    pub parameters: usize,
}

impl Sizes {
    /// Those of a system without external inputs all of whose state counts as dynamical variables.
    pub fn closed(state: usize, channels: usize, parameters: usize) -> Sizes {
        Sizes {
            state,
            channels,
            inputs: 0,
            dim: state,
            parameters,
        }
    }
}

/// What a state is inferred from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// From this many rows, whatever was before.
    Rows(usize),
    /// From all rows before, one after another, starting from zero.
    Driven {
        /// Rows after which the start is forgotten.
        warm_up: usize,
    },
}

impl Memory {
    /// Rows that a state needs before it can be relied on.
    pub fn rows(self) -> usize {
        match self {
            Memory::Rows(rows) | Memory::Driven { warm_up: rows } => rows.max(1),
        }
    }
}

/// Rows that follow one another without gap or missing value, with the inputs of each; for systems that
/// [take them](Dynamics::takes_own_times), rows at times of their own.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stretch<'a> {
    x: Rows<'a>,
    s: &'a [f64],
    /// Times of the rows; empty where they are one step apart.
    times: &'a [f64],
    /// Δt.
    dt: f64,
}

impl<'a> Stretch<'a> {
    /// Rows with as many rows of inputs, T × K; none for a system without inputs.
    pub fn new(x: Rows<'a>, s: &'a [f64]) -> Stretch<'a> {
        assert!(
            x.is_empty() || s.len().is_multiple_of(x.len()),
            "{} inputs do not belong to {} rows",
            s.len(),
            x.len()
        );
        Stretch {
            x,
            s,
            times: &[],
            dt: 1.0,
        }
    }

    /// The same rows at these times, with the step Δt of the system; those that are one step apart for no times.
    pub fn at_times(self, times: &'a [f64], dt: f64) -> Stretch<'a> {
        assert!(
            times.is_empty() || times.len() == self.len(),
            "{} times do not belong to {} rows",
            times.len(),
            self.len()
        );
        Stretch { times, dt, ..self }
    }

    /// Rows of a system without inputs.
    pub fn of(x: Rows<'a>) -> Stretch<'a> {
        Stretch::new(x, &[])
    }

    /// The longest stretch of a series, the first of equals; empty if no row is whole.
    pub fn longest(series: &'a Series) -> Stretch<'a> {
        let (trajectory, rows) = series.longest_whole();
        let (n, k) = (series.dim_obs(), series.dim_input());
        let t = &series.trajectories()[trajectory];
        Stretch::new(
            Rows::new(&t.x[rows.start * n..rows.end * n], n),
            &t.s[rows.start * k..rows.end * k],
        )
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.x.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.x.is_empty()
    }

    /// The rows.
    pub fn rows(&self) -> Rows<'a> {
        self.x
    }

    /// One row.
    pub fn row(&self, t: usize) -> &'a [f64] {
        self.x.row(t)
    }

    /// All inputs, T × K.
    pub fn inputs(&self) -> &'a [f64] {
        self.s
    }

    /// The inputs of some rows.
    pub fn inputs_of(&self, rows: Range<usize>) -> &'a [f64] {
        let k = self.s.len() / self.len().max(1);
        &self.s[rows.start * k..rows.end * k]
    }

    /// Whether rows have times of their own.
    pub fn has_own_times(&self) -> bool {
        !self.times.is_empty()
    }

    /// How many steps Δt row t is behind the row before it; one for the first.
    pub fn step_to(&self, t: usize) -> f64 {
        match t.checked_sub(1).and_then(|before| self.times.get(before)) {
            Some(before) => (self.times[t] - before) / self.dt,
            None => 1.0,
        }
    }

    /// How many steps Δt every row is behind the first; nothing where rows are one step apart.
    pub fn elapsed(&self) -> Vec<f64> {
        let since = |time: &f64| (time - self.times[0]) / self.dt;
        self.times.iter().map(since).collect()
    }

    /// Some of the rows.
    pub fn slice(&self, rows: Range<usize>) -> Stretch<'a> {
        Stretch {
            x: self.x.slice(rows.clone()),
            s: self.inputs_of(rows.clone()),
            times: match self.times {
                [] => &[],
                times => &times[rows],
            },
            dt: self.dt,
        }
    }
}

/// A tensor of a model file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Named<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its shape.
    pub shape: Shape,
    /// Its numbers, row-major.
    pub values: Values<'a>,
}

impl<'a> Named<'a> {
    /// A matrix of so many rows in double precision.
    pub fn matrix(name: &'a str, rows: usize, values: &'a [f64]) -> Named<'a> {
        Named {
            name,
            shape: Shape::Matrix(rows, values.len() / rows),
            values: Values::F64(values),
        }
    }
}

/// Numbers as they were trained or solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Values<'a> {
    /// In single precision.
    F32(&'a [f32]),
    /// In double precision.
    F64(&'a [f64]),
}

/// Forecasts that branch off from rows of a recording, several side by side.
pub trait Forecasts {
    /// How many side by side.
    fn width(&self) -> usize;

    /// Branches off at rows of the recording, at most as many as are side by side. Rows ascend, from call to call as well.
    fn start(&mut self, rows: &[usize]);

    /// Forecasts `steps` more rows, and gives the last `seen` of them: `[step][channel][branch]`, with the width as the number of
    /// branches.
    fn advance(&mut self, steps: usize, seen: usize) -> &[f64];
}

/// A system that is iterated together with its linearisation.
pub trait Tangent {
    /// Writes J at (z, s), then z ← G(z, s).
    fn advance(&mut self, z: &mut [f64], s: &[f64], jac: &mut [f64]);

    /// carried = J w at (z, s) for each of some vectors w of M numbers, then z ← G(z, s). A large system does this without its
    /// Jacobian; `jac` is room for those that cannot.
    fn carry(
        &mut self,
        z: &mut [f64],
        s: &[f64],
        w: &[f64],
        carried: &mut [f64],
        jac: &mut Vec<f64>,
    ) {
        let m = z.len();
        jac.resize(m * m, 0.0);
        self.advance(z, s, jac);
        let vectors = w.chunks_exact(m).zip(carried.chunks_exact_mut(m));
        for (w, carried) in vectors {
            for (row, carried) in jac.chunks_exact(m).zip(carried) {
                *carried = row.iter().zip(w).map(|(j, w)| j * w).sum();
            }
        }
    }
}

/// Whether a state leaves what single precision holds: it has diverged, even where nothing shows it.
pub fn leaves_f32(z: f64) -> bool {
    z.is_nan() || z.abs() > f64::from(f32::MAX)
}

/// [`Dynamics::orbit`] of systems that have no faster way.
pub fn step_by_step<D: Dynamics + ?Sized>(
    dynamics: &D,
    z: &[f64],
    inputs: &[f64],
    steps: usize,
) -> Vec<f64> {
    let Sizes {
        channels: n,
        inputs: k,
        ..
    } = dynamics.sizes();
    let mut rows = vec![f64::NAN; steps * n];
    let (mut z, mut next) = (z.to_vec(), z.to_vec());
    for (t, row) in rows.chunks_exact_mut(n).enumerate() {
        if t > 0 {
            dynamics.step(&z, &inputs[t * k..][..k], &mut next);
            std::mem::swap(&mut z, &mut next);
        }
        if z.iter().any(|&z| leaves_f32(z)) {
            break;
        }
        dynamics.observe(&z, row);
    }
    rows
}

/// Goes along a recording once, and knows the state at each row.
pub(crate) struct Follower<'a, D: ?Sized> {
    dynamics: &'a D,
    data: Stretch<'a>,
    z: Vec<f64>,
    /// Rows that it has taken in.
    taken: usize,
}

impl<'a, D: Dynamics + ?Sized> Follower<'a, D> {
    /// Before the first row.
    pub(crate) fn new(dynamics: &'a D, data: Stretch<'a>) -> Follower<'a, D> {
        Follower {
            z: vec![0.0; dynamics.sizes().state],
            dynamics,
            data,
            taken: 0,
        }
    }

    /// The state after row t, which is not before the last one asked for.
    pub(crate) fn state_at(&mut self, t: usize) -> &[f64] {
        assert!(t + 1 >= self.taken, "rows are followed in ascending order");
        let first = match self.dynamics.memory() {
            Memory::Rows(_) => t,
            Memory::Driven { .. } => self.taken,
        };
        for row in first..=t {
            self.dynamics.absorb(self.data, row, &mut self.z);
        }
        self.taken = t + 1;
        &self.z
    }
}

/// Steps and Jacobians one after another.
struct Plain<'a, D: ?Sized> {
    dynamics: &'a D,
    next: Vec<f64>,
}

impl<'a, D: Dynamics + ?Sized> Plain<'a, D> {
    fn new(dynamics: &'a D) -> Plain<'a, D> {
        Plain {
            next: vec![0.0; dynamics.sizes().state],
            dynamics,
        }
    }
}

impl<D: Dynamics + ?Sized> Tangent for Plain<'_, D> {
    fn advance(&mut self, z: &mut [f64], s: &[f64], jac: &mut [f64]) {
        self.dynamics.jacobian(z, s, jac);
        self.dynamics.step(z, s, &mut self.next);
        z.copy_from_slice(&self.next);
    }
}
