//! The state between and at rows, in f64, of values and of tangents at once. Between rows the means flow, by Euler's method; at a row
//! a gated unit takes the row in:
//!
//! ```text
//! m ← m + h f(m)                                             f a net, once or several times; for rows τ steps apart first with h (τ − 1)
//! (u, r) = σ(nets of (m, s, v))                              v = (x, mask, inputs); x is 0 where it is missing
//! (m', s') = net of (m ∘ r, s ∘ r, v)
//! m ← (1 − u) m' + u m        s ← (1 − u) |s'| + u s         where a value of the row is there
//! ```

use super::net::{Names, Net, Room, names, shapes, squash, widths};
use crate::theta::{Layout, Shape};

/// How large a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct UnitSizes {
    /// Means d, and as many deviations.
    pub(crate) latent: usize,
    /// Hidden units g of the gates.
    pub(crate) gate_hidden: usize,
    /// Hidden layers of f, and units of each.
    pub(crate) field: (usize, usize),
    /// Channels N.
    pub(crate) channels: usize,
    /// External inputs K.
    pub(crate) inputs: usize,
}

const FIELD: Names = names!("ode");
const UPDATE: Names = names!("update");
const RESET: Names = names!("reset");
const NEW: Names = names!("new");

impl UnitSizes {
    /// Numbers of a row as the unit sees it: values, mask, inputs.
    pub(crate) fn row(&self) -> usize {
        2 * self.channels + self.inputs
    }

    fn gate(&self, outputs: usize) -> Vec<usize> {
        let from = 2 * self.latent + self.row();
        widths(from, (1, self.gate_hidden), outputs)
    }

    fn parts(&self) -> [(&'static Names, Vec<usize>); 4] {
        let d = self.latent;
        [
            (&FIELD, widths(d, self.field, d)),
            (&UPDATE, self.gate(d)),
            (&RESET, self.gate(d)),
            (&NEW, self.gate(2 * d)),
        ]
    }

    /// Its tensors.
    pub(crate) fn shapes(&self) -> Vec<(&'static str, Shape)> {
        let parts = self.parts().into_iter();
        parts
            .flat_map(|(names, widths)| shapes(names, &widths))
            .collect()
    }
}

/// A unit with the flow before it.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    pub(crate) sizes: UnitSizes,
    /// Euler's step, negative where rows are taken in backwards in time.
    pub(crate) h: f64,
    /// Euler steps from row to row.
    pub(crate) steps: usize,
    pub(crate) field: Net,
    pub(crate) update: Net,
    pub(crate) reset: Net,
    pub(crate) new: Net,
}

/// Room for a row.
#[derive(Debug, Clone, Default)]
pub(crate) struct UnitRoom {
    net: Room,
    m: Vec<f64>,
    slope: Vec<f64>,
    seen: Vec<f64>,
    update: Vec<f64>,
    reset: Vec<f64>,
    new: Vec<f64>,
}

impl Unit {
    /// A unit whose tensors stand in a layout, with time h from row to row.
    pub(crate) fn new(sizes: UnitSizes, h: f64, steps: usize, layout: &Layout) -> Unit {
        let [field, update, reset, new] = sizes
            .parts()
            .map(|(names, widths)| Net::new(names, &widths, layout));
        Unit {
            sizes,
            h: h / steps as f64,
            steps,
            field,
            update,
            reset,
            new,
        }
    }

    /// Lets the means flow over so many steps Δt.
    pub(crate) fn flow(&self, theta: &[f64], over: f64, z: &mut [f64], room: &mut UnitRoom) {
        let (d, h) = (self.sizes.latent, self.h * over);
        room.m.clear();
        z.chunks_exact(2 * d)
            .for_each(|row| room.m.extend_from_slice(&row[..d]));
        room.slope.resize(room.m.len(), 0.0);
        for _ in 0..self.steps {
            self.field
                .apply(theta, &room.m, &mut room.slope, &mut room.net);
            let means = room.m.iter_mut().zip(&room.slope);
            means.for_each(|(m, slope)| *m += h * slope);
        }
        for (row, m) in z.chunks_exact_mut(2 * d).zip(room.m.chunks_exact(d)) {
            row[..d].copy_from_slice(m);
        }
    }

    /// Lets the means flow to the next row, of which a state that follows a row expects that it is one step Δt away: first over what
    /// is more than that, or less.
    pub(crate) fn flow_to_row(&self, theta: &[f64], step: f64, z: &mut [f64], room: &mut UnitRoom) {
        if step != 1.0 {
            self.flow(theta, step - 1.0, z, room);
        }
        self.flow(theta, 1.0, z, room);
    }

    /// Takes a row in, as rows of values and tangents of v.
    pub(crate) fn take(&self, theta: &[f64], v: &[f64], z: &mut [f64], room: &mut UnitRoom) {
        let d = self.sizes.latent;
        let (state, row) = (2 * d, self.sizes.row());
        let rows = z.len() / state;
        let width = state + row;
        room.seen.resize(rows * width, 0.0);
        let seen = room.seen.chunks_exact_mut(width);
        for ((to, z), v) in seen.zip(z.chunks_exact(state)).zip(v.chunks_exact(row)) {
            to[..state].copy_from_slice(z);
            to[state..].copy_from_slice(v);
        }
        room.update.resize(rows * d, 0.0);
        room.reset.resize(rows * d, 0.0);
        room.new.resize(rows * state, 0.0);
        for (net, gate) in [
            (&self.update, &mut room.update),
            (&self.reset, &mut room.reset),
        ] {
            net.apply(theta, &room.seen, gate, &mut room.net);
            squash(gate, d, sigmoid, |g| g * (1.0 - g));
        }
        reset(z, &room.reset, &mut room.seen, (d, width));
        self.new
            .apply(theta, &room.seen, &mut room.new, &mut room.net);
        make_positive(&mut room.new, d);
        mix(z, &room.update, &room.new, d);
    }
}

/// (m ∘ r, s ∘ r) in place of (m, s).
fn reset(z: &[f64], r: &[f64], seen: &mut [f64], (d, width): (usize, usize)) {
    for (place, to) in seen.chunks_exact_mut(width).enumerate() {
        for j in 0..2 * d {
            let (z0, r0) = (z[j], r[j % d]);
            to[j] = match place {
                0 => z0 * r0,
                _ => z[place * 2 * d + j] * r0 + z0 * r[place * d + j % d],
            };
        }
    }
}

/// |s'| in place of s'.
fn make_positive(new: &mut [f64], d: usize) {
    let (value, tangents) = new.split_at_mut(2 * d);
    for tangent in tangents.chunks_exact_mut(2 * d) {
        let entries = tangent[d..].iter_mut().zip(&value[d..]);
        entries.for_each(|(t, s)| *t *= sign(*s));
    }
    value[d..].iter_mut().for_each(|s| *s = s.abs());
}

/// z ← z' + u (z − z').
fn mix(z: &mut [f64], u: &[f64], new: &[f64], d: usize) {
    let (value, tangents) = z.split_at_mut(2 * d);
    for (place, tangent) in tangents.chunks_exact_mut(2 * d).enumerate() {
        let (u_dot, new_dot) = (&u[(place + 1) * d..], &new[(place + 1) * 2 * d..]);
        for (j, t) in tangent.iter_mut().enumerate() {
            let gap = value[j] - new[j];
            *t = new_dot[j] + u_dot[j % d] * gap + u[j % d] * (*t - new_dot[j]);
        }
    }
    for (j, z) in value.iter_mut().enumerate() {
        *z = new[j] + u[j % d] * (*z - new[j]);
    }
}

/// 1, −1, or 0 at 0.
fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

/// σ(x) = 1/(1 + e^{−x}).
fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// v = (x, mask, inputs) of a row in which NaN is missing; whether any value is there.
pub(crate) fn see(x: &[f64], s: &[f64], v: &mut [f64]) -> bool {
    let n = x.len();
    for (i, &x) in x.iter().enumerate() {
        v[i] = if x.is_nan() { 0.0 } else { x };
        v[n + i] = if x.is_nan() { 0.0 } else { 1.0 };
    }
    v[2 * n..].copy_from_slice(s);
    v[n..2 * n].contains(&1.0)
}
