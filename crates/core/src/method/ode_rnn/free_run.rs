//! Many free orbits of an ODE-RNN side by side in vector lanes, in f32 as it was trained.

use super::network::OdeRnn;
use crate::continuous::UnitSizes;
use crate::continuous::lanes::unit::{LaneUnit, Mask, UnitTape};
use crate::continuous::lanes::{Columns, LaneNet, NetTape};
use crate::dynamics::{Dynamics, Forecasts, Stretch};
use crate::simd::{Isa, Lanes, Lanes8, Simd, Task, dispatch};

/// Orbits side by side.
const WIDTH: usize = Lanes8::WIDTH;

/// Networks that run freely, one in each lane.
struct Free {
    sizes: UnitSizes,
    unit: LaneUnit,
    decoder: LaneNet,
    /// Of one row: the state before it is the current one.
    tape: UnitTape<Lanes8>,
    decoder_tape: NetTape<Lanes8>,
    /// What the states show.
    x_hat: Vec<Lanes8>,
    isa: Isa,
}

impl Free {
    fn new(network: &OdeRnn) -> Free {
        let (unit, decoder) = (network.form.unit(), network.form.decoder());
        let mut free = Free {
            sizes: unit.sizes,
            unit: LaneUnit::new::<Lanes8>(&unit, Mask::Whole),
            decoder: LaneNet::new::<Lanes8>(&decoder, Columns::One),
            tape: UnitTape::new(&unit, Mask::Whole, 1),
            decoder_tape: NetTape::new(&decoder, 1),
            x_hat: vec![Lanes8::ZERO; unit.sizes.channels],
            isa: Isa::detect(),
        };
        free.unit.prepare(network.theta());
        free.decoder.prepare(network.theta());
        free
    }

    /// Puts a state into a lane.
    fn put(&mut self, lane: usize, z: &[f64]) {
        let d = self.sizes.latent;
        let state = self.tape.m[..d].iter_mut().chain(&mut self.tape.s[..d]);
        state
            .zip(z)
            .for_each(|(to, &z)| to.lanes_mut()[lane] = z as f32);
    }

    /// The external inputs of the row that a lane takes in next.
    fn drive(&mut self, lane: usize, s: &[f64]) {
        let to = self.tape.v[self.sizes.channels..].iter_mut();
        to.zip(s)
            .for_each(|(to, &s)| to.lanes_mut()[lane] = s as f32);
    }

    /// So many steps of all lanes, and what the states then show.
    fn run(&mut self, steps: usize) {
        let isa = self.isa;
        dispatch::<Lanes8, _>(isa, Steps { free: self, steps });
    }
}

/// Free steps, and what the last state shows.
struct Steps<'a> {
    free: &'a mut Free,
    steps: usize,
}

impl Task for Steps<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let Free {
            sizes,
            unit,
            decoder,
            tape,
            decoder_tape,
            x_hat,
            ..
        } = self.free;
        let d = sizes.latent;
        for _ in 0..self.steps {
            tape.v[..x_hat.len()].copy_from_slice(x_hat);
            unit.take_in(simd, tape);
            tape.m.copy_within(d.., 0);
            tape.s.copy_within(d.., 0);
        }
        decoder_tape.inputs(0..1).copy_from_slice(&tape.m[..d]);
        decoder.forward(simd, decoder_tape, 0..1, x_hat);
    }
}

/// Orbits of `steps` rows from some states, all driven by the same inputs.
pub(super) fn orbits(
    network: &OdeRnn,
    states: &[f64],
    inputs: &[f64],
    steps: usize,
) -> Vec<Vec<f64>> {
    let UnitSizes {
        latent: d,
        channels: n,
        inputs: k,
        ..
    } = network.form.unit;
    let mut all = Vec::new();
    let mut free = Free::new(network);
    for states in states.chunks(WIDTH * 2 * d) {
        let orbits = states.len() / (2 * d);
        let mut rows = vec![vec![f64::NAN; steps * n]; orbits];
        for (lane, z) in states.chunks_exact(2 * d).enumerate() {
            free.put(lane, z);
        }
        for t in 0..steps {
            (0..orbits).for_each(|lane| free.drive(lane, &inputs[t * k..][..k]));
            free.run(usize::from(t > 0));
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
pub(super) struct Branches<'a> {
    network: &'a OdeRnn,
    data: Stretch<'a>,
    free: Free,
    z: Vec<f64>,
    /// Rows that are taken in.
    taken: usize,
    /// The last row that each branch has taken in, seen or forecast.
    rows: Vec<usize>,
    /// Whether the rows that the states show have not been given yet.
    fresh: bool,
    out: Vec<f64>,
}

impl<'a> Branches<'a> {
    pub(super) fn new(network: &'a OdeRnn, data: Stretch<'a>) -> Branches<'a> {
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
}

impl Forecasts for Branches<'_> {
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
        self.free.run(0);
        self.fresh = true;
    }

    fn advance(&mut self, steps: usize, seen: usize) -> &[f64] {
        self.out.clear();
        for step in 0..steps {
            if !std::mem::take(&mut self.fresh) {
                for (lane, row) in self.rows.iter_mut().enumerate() {
                    *row += 1;
                    self.free.drive(lane, self.data.inputs_of(*row..*row + 1));
                }
                self.free.run(1);
            }
            if step + seen >= steps {
                let shown = self.free.x_hat.iter().flat_map(|x| x.lanes());
                self.out.extend(shown.map(|&x| f64::from(x)));
            }
        }
        &self.out
    }
}
