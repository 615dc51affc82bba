//! Many free orbits side by side, in single precision: forecasts from every row of a recording, and orbits from several states.

use super::lanes::{FreeStep, LaneCell, Tape};
use super::{Cell, CellSizes, Network};
use crate::dynamics::{Dynamics, Forecasts, Stretch};
use crate::simd::{Isa, Lanes, Lanes8, dispatch};

/// Orbits side by side.
const WIDTH: usize = Lanes8::WIDTH;

/// Networks that run freely, one in each lane.
struct Free<L> {
    cell: L,
    tape: Tape<Lanes8>,
    x_hat: Vec<Lanes8>,
    isa: Isa,
}

impl<L: LaneCell> Free<L> {
    fn new(network: &Network<L::Exact>) -> Free<L> {
        let sizes = network.cell().sizes();
        let mut cell = L::new::<Lanes8>(network.cell());
        cell.prepare(network.theta());
        Free {
            cell,
            tape: Tape::new(sizes, 1),
            x_hat: vec![Lanes8::ZERO; sizes.channels],
            isa: Isa::detect(),
        }
    }

    /// Puts a state into a lane.
    fn put(&mut self, lane: usize, z: &[f64]) {
        let n = self.tape.sizes.hidden;
        let state = self.tape.y[..n].iter_mut().chain(&mut self.tape.w[..n]);
        state
            .zip(z)
            .for_each(|(to, &z)| to.lanes_mut()[lane] = z as f32);
    }

    /// The external inputs of the row that a lane takes in next.
    fn drive(&mut self, lane: usize, s: &[f64]) {
        let to = self.tape.u[self.tape.sizes.channels..].iter_mut();
        to.zip(s)
            .for_each(|(to, &s)| to.lanes_mut()[lane] = s as f32);
    }

    /// What the states show.
    fn look(&mut self) {
        let (cell, tape, x_hat) = (&self.cell, &mut self.tape, &mut self.x_hat);
        dispatch::<Lanes8, _>(
            self.isa,
            FreeStep {
                cell,
                tape,
                x_hat,
                steps: 0,
            },
        );
    }

    /// One step of all lanes, and what the states then show.
    fn step(&mut self) {
        let (cell, tape, x_hat) = (&self.cell, &mut self.tape, &mut self.x_hat);
        dispatch::<Lanes8, _>(
            self.isa,
            FreeStep {
                cell,
                tape,
                x_hat,
                steps: 1,
            },
        );
    }
}

/// Orbits of `steps` rows from some states, all driven by the same inputs.
pub(super) fn orbits<L: LaneCell>(
    network: &Network<L::Exact>,
    states: &[f64],
    inputs: &[f64],
    steps: usize,
) -> Vec<Vec<f64>> {
    let CellSizes {
        hidden,
        channels: n,
        inputs: k,
    } = network.cell().sizes();
    let mut all = Vec::new();
    let mut free = Free::<L>::new(network);
    for states in states.chunks(WIDTH * 2 * hidden) {
        let orbits = states.len() / (2 * hidden);
        let mut rows = vec![vec![f64::NAN; steps * n]; orbits];
        for (lane, z) in states.chunks_exact(2 * hidden).enumerate() {
            free.put(lane, z);
        }
        free.look();
        for t in 0..steps {
            if t > 0 {
                (0..orbits).for_each(|lane| free.drive(lane, &inputs[t * k..][..k]));
                free.step();
            }
            for (lane, rows) in rows.iter_mut().enumerate() {
                let row = rows[t * n..][..n].iter_mut().zip(&free.x_hat);
                row.for_each(|(to, x)| *to = f64::from(x.lanes()[lane]));
            }
        }
        rows.iter_mut().for_each(|rows| cut(rows, n));
        all.extend(rows);
    }
    all
}

/// From the first row that is not finite on, all are NaN.
fn cut(rows: &mut [f64], n: usize) {
    if let Some(first) = rows.iter().position(|x| !x.is_finite()) {
        rows[first / n * n..].fill(f64::NAN);
    }
}

/// Forecasts that branch off from rows of a recording, which is followed once, in double precision.
pub(super) struct Branches<'a, L: LaneCell> {
    network: &'a Network<L::Exact>,
    data: Stretch<'a>,
    free: Free<L>,
    z: Vec<f64>,
    /// Rows that are taken in.
    taken: usize,
    /// The last row that each branch has taken in, seen or forecast.
    rows: Vec<usize>,
    /// Whether the rows that the states show have not been given yet.
    fresh: bool,
    out: Vec<f64>,
}

impl<'a, L: LaneCell> Branches<'a, L> {
    pub(super) fn new(network: &'a Network<L::Exact>, data: Stretch<'a>) -> Branches<'a, L> {
        Branches {
            free: Free::new(network),
            z: vec![0.0; network.sizes().state],
            taken: 0,
            rows: Vec::with_capacity(WIDTH),
            fresh: true,
            out: Vec::new(),
            network,
            data,
        }
    }

    fn step(&mut self) {
        for (lane, row) in self.rows.iter_mut().enumerate() {
            *row += 1;
            self.free.drive(lane, self.data.inputs_of(*row..*row + 1));
        }
        self.free.step();
    }
}

impl<L: LaneCell> Forecasts for Branches<'_, L> {
    fn width(&self) -> usize {
        WIDTH
    }

    fn start(&mut self, rows: &[usize]) {
        self.rows.clear();
        self.rows.extend(rows);
        for (lane, &row) in rows.iter().enumerate() {
            for t in self.taken..=row {
                self.network.absorb(self.data, t, &mut self.z);
            }
            self.taken = row + 1;
            self.free.put(lane, &self.z);
        }
        self.free.look();
        self.fresh = true;
    }

    fn advance(&mut self, steps: usize, seen: usize) -> &[f64] {
        self.out.clear();
        for step in 0..steps {
            if !std::mem::take(&mut self.fresh) {
                self.step();
            }
            if step + seen >= steps {
                let shown = self.free.x_hat.iter().flat_map(|x| x.lanes());
                self.out.extend(shown.map(|&x| f64::from(x)));
            }
        }
        &self.out
    }
}
