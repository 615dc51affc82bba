//! Forecasts of a Latent-ODE from many rows, eight side by side in vector lanes, in f32 as it was trained: windows that end at these rows
//! are encoded together, and their latent states run on together.

use std::ops::Range;

use super::flow::{FlowTape, LaneFlow};
use super::network::{Form, LatentOde};
use crate::continuous::lanes::unit::{LaneUnit, Mask, UnitTape, row_width};
use crate::continuous::lanes::{Columns, LaneNet, NetTape};
use crate::dynamics::{Forecasts, Stretch};
use crate::simd::{Isa, Lanes, Lanes8, Simd, Task, dispatch};

/// Forecasts side by side.
const WIDTH: usize = Lanes8::WIDTH;

/// The parts of a network on lanes.
struct Kernels {
    unit: LaneUnit,
    transform: LaneNet,
    flow: LaneFlow,
    decoder: LaneNet,
}

impl Kernels {
    fn new(network: &LatentOde) -> Kernels {
        let Form { solver, .. } = network.form;
        let mut kernels = Kernels {
            unit: LaneUnit::new::<Lanes8>(&network.form.unit(), Mask::Whole),
            transform: LaneNet::new::<Lanes8>(&network.form.transform(), Columns::One),
            flow: LaneFlow::new::<Lanes8>(&network.form.flow(), solver, 1),
            decoder: LaneNet::new::<Lanes8>(&network.form.decoder(), Columns::One),
        };
        let theta = network.theta();
        kernels.unit.prepare(theta);
        kernels.transform.prepare(theta);
        kernels.flow.prepare(theta);
        kernels.decoder.prepare(theta);
        kernels
    }
}

/// What the parts leave.
struct Tapes {
    unit: UnitTape<Lanes8>,
    transform: NetTape<Lanes8>,
    flow: FlowTape<Lanes8>,
    decoder: NetTape<Lanes8>,
    /// Mean and deviation of the first states.
    both: Vec<Lanes8>,
    /// Latent states.
    z: Vec<Lanes8>,
    x_hat: Vec<Lanes8>,
}

impl Tapes {
    /// For windows of so many rows.
    fn new(network: &LatentOde, kernels: &Kernels, rows: usize) -> Tapes {
        let form = &network.form;
        let blank = |numbers: usize| vec![Lanes8::ZERO; numbers];
        Tapes {
            unit: UnitTape::new(&form.unit(), Mask::Whole, rows),
            transform: NetTape::new(&form.transform(), 1),
            flow: FlowTape::new(&kernels.flow, &form.flow(), rows.max(2) - 1),
            decoder: NetTape::new(&form.decoder(), 1),
            both: blank(2 * form.latent),
            z: blank(form.latent),
            x_hat: blank(form.unit.channels),
        }
    }
}

/// Encodes the windows on the tape, and runs on to their last rows.
struct Encode<'a> {
    kernels: &'a Kernels,
    tapes: &'a mut Tapes,
    rows: usize,
}

impl Task for Encode<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (kernels, tapes, d) = (self.kernels, self.tapes, self.kernels.unit.sizes.latent);
        kernels.unit.forward(simd, &mut tapes.unit);
        let state = tapes.transform.inputs(0..1);
        state[..d].copy_from_slice(&tapes.unit.m[self.rows * d..]);
        state[d..].copy_from_slice(&tapes.unit.s[self.rows * d..]);
        kernels
            .transform
            .forward(simd, &mut tapes.transform, 0..1, &mut tapes.both);
        let l = tapes.z.len();
        tapes.z.copy_from_slice(&tapes.both[..l]);
        advance(simd, kernels, tapes, self.rows - 1);
    }
}

/// Runs on by some rows, and looks.
struct Advance<'a> {
    kernels: &'a Kernels,
    tapes: &'a mut Tapes,
}

impl Task for Advance<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        let (kernels, tapes) = (self.kernels, self.tapes);
        advance(simd, kernels, tapes, 1);
        tapes.decoder.inputs(0..1).copy_from_slice(&tapes.z);
        kernels
            .decoder
            .forward(simd, &mut tapes.decoder, 0..1, &mut tapes.x_hat);
    }
}

fn advance<S: Simd>(simd: S, kernels: &Kernels, tapes: &mut Tapes, rows: usize) {
    let l = tapes.z.len();
    tapes.flow.z[..l].copy_from_slice(&tapes.z);
    kernels.flow.forward(simd, &mut tapes.flow, rows);
    tapes.z.copy_from_slice(&tapes.flow.z[rows * l..][..l]);
}

/// Forecasts that branch off from rows of a recording.
pub(super) struct Branches<'a> {
    network: &'a LatentOde,
    data: Stretch<'a>,
    kernels: Kernels,
    tapes: Tapes,
    /// Rows of a window.
    rows: usize,
    /// The last row that each branch has seen or forecast.
    lasts: Vec<usize>,
    isa: Isa,
    out: Vec<f64>,
}

impl<'a> Branches<'a> {
    pub(super) fn new(network: &'a LatentOde, data: Stretch<'a>) -> Branches<'a> {
        let kernels = Kernels::new(network);
        let rows = network.form.window;
        Branches {
            tapes: Tapes::new(network, &kernels, rows),
            rows,
            lasts: Vec::with_capacity(WIDTH),
            isa: Isa::detect(),
            out: Vec::new(),
            network,
            data,
            kernels,
        }
    }

    /// Puts the window that ends at a row into a lane, for the encoder the last row first.
    fn put(&mut self, lane: usize, last: usize) {
        let width = row_width(self.network.form.unit, Mask::Whole);
        let rows = self.tapes.unit.v.chunks_exact_mut(width);
        for (i, to) in rows.enumerate() {
            let row = last - i;
            let inputs = self.data.inputs_of(row..row + 1);
            let values = to.iter_mut().zip(self.data.row(row).iter().chain(inputs));
            values.for_each(|(to, &x)| to.lanes_mut()[lane] = x as f32);
        }
        self.drive(lane, last + 1 - self.rows..last + 1);
    }

    /// The inputs of the rows along which a lane is solved next, that where it starts included.
    fn drive(&mut self, lane: usize, rows: Range<usize>) {
        let to = self.tapes.flow.s.iter_mut().zip(self.data.inputs_of(rows));
        to.for_each(|(to, &s)| to.lanes_mut()[lane] = s as f32);
    }
}

impl Forecasts for Branches<'_> {
    fn width(&self) -> usize {
        WIDTH
    }

    fn start(&mut self, rows: &[usize]) {
        // Windows at the start of a recording are shorter, all of them as the shortest is.
        let shortest = rows.iter().map(|&row| row + 1).min().unwrap_or(1);
        let len = shortest.min(self.network.form.window);
        if len != self.rows {
            self.tapes = Tapes::new(self.network, &self.kernels, len);
            self.rows = len;
        }
        self.lasts.clear();
        self.lasts.extend(rows);
        for (lane, &row) in rows.iter().enumerate() {
            self.put(lane, row);
        }
        let encode = Encode {
            kernels: &self.kernels,
            tapes: &mut self.tapes,
            rows: self.rows,
        };
        dispatch::<Lanes8, _>(self.isa, encode);
    }

    fn advance(&mut self, steps: usize, seen: usize) -> &[f64] {
        self.out.clear();
        for step in 0..steps {
            for lane in 0..self.lasts.len() {
                let last = self.lasts[lane];
                self.drive(lane, last..last + 2);
                self.lasts[lane] = last + 1;
            }
            let advance = Advance {
                kernels: &self.kernels,
                tapes: &mut self.tapes,
            };
            dispatch::<Lanes8, _>(self.isa, advance);
            if step + seen >= steps {
                let shown = self.tapes.x_hat.iter().flat_map(|x| x.lanes());
                self.out.extend(shown.map(|&x| f64::from(x)));
            }
        }
        &self.out
    }
}
