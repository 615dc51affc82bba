//! Solves dz/dt = f(z, s) from row to row, in f64, of values and of tangents at once. The inputs s of a row hold up to it, from the row
//! before.
//!
//! ```text
//! y_i = z + h Σ_{j<i} a_ij k_j        k_i = f(y_i, s)        z' = z + h Σ_i b_i k_i        z(t + θh) = z + h Σ_i b_i(θ) k_i
//! ```
//!
//! | solver | steps |
//! | --- | --- |
//! | `dopri5` | of Dormand and Prince (1980), of order 5 with an error of order 4; rows within a step by Shampine's (1986) polynomial |
//! | `euler`, `midpoint`, `rk4` | one per row; `rk4` is the 3/8 rule |
//!
//! Time is counted in steps Δt of the recording. Steps of `dopri5` are a power of two of them long: one whose error is too large is
//! halved, one whose error is small enough for twice its length is followed by one of twice its length, and the last one ends at the last
//! row; where there are inputs, which jump at rows, none goes beyond the next row. So the length of a step does not vary with the state
//! but by jumps, and the derivative through the steps that were taken is the derivative of what was computed. Rows may have any times.

use std::ops::Range;

use crate::continuous::Net;
use crate::continuous::net::Room;

/// Stages of a step, at most.
pub(super) const MOST_STAGES: usize = 7;

/// Steps are not halved below this: what is stiffer than that is not resolved by rows either.
const SHORTEST: f64 = 1.0 / 16.0;

/// An error below this share of the tolerance is still below it, with a factor of two to spare, when a step is twice as long.
const DOUBLED: f64 = 1.0 / 64.0;

/// A scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Dopri5,
    Euler,
    Midpoint,
    Rk4,
}

/// A scheme and its tolerances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Solver {
    pub(super) scheme: Scheme,
    pub(super) rtol: f64,
    pub(super) atol: f64,
    /// What a step Δt of the recording is in the time of the equation.
    pub(super) h: f64,
}

const DOPRI5: [&[f64]; 7] = [
    &[],
    &[1.0 / 5.0],
    &[3.0 / 40.0, 9.0 / 40.0],
    &[44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0],
    &[
        19372.0 / 6561.0,
        -25360.0 / 2187.0,
        64448.0 / 6561.0,
        -212.0 / 729.0,
    ],
    &[
        9017.0 / 3168.0,
        -355.0 / 33.0,
        46732.0 / 5247.0,
        49.0 / 176.0,
        -5103.0 / 18656.0,
    ],
    &[
        35.0 / 384.0,
        0.0,
        500.0 / 1113.0,
        125.0 / 192.0,
        -2187.0 / 6784.0,
        11.0 / 84.0,
    ],
];

const DOPRI5_B: [f64; 7] = [
    35.0 / 384.0,
    0.0,
    500.0 / 1113.0,
    125.0 / 192.0,
    -2187.0 / 6784.0,
    11.0 / 84.0,
    0.0,
];

/// b of order 4 less b of order 5.
const DOPRI5_ERROR: [f64; 7] = [
    -71.0 / 57600.0,
    0.0,
    71.0 / 16695.0,
    -71.0 / 1920.0,
    17253.0 / 339_200.0,
    -22.0 / 525.0,
    1.0 / 40.0,
];

/// b_i(θ)/θ as polynomials of θ, the constant first.
const DOPRI5_WITHIN: [[f64; 4]; 7] = [
    [
        1.0,
        -8_048_581_381.0 / 2_820_520_608.0,
        8_663_915_743.0 / 2_820_520_608.0,
        -12_715_105_075.0 / 11_282_082_432.0,
    ],
    [0.0; 4],
    [
        0.0,
        131_558_114_200.0 / 32_700_410_799.0,
        -68_118_460_800.0 / 10_900_136_933.0,
        87_487_479_700.0 / 32_700_410_799.0,
    ],
    [
        0.0,
        -1_754_552_775.0 / 470_086_768.0,
        14_199_869_525.0 / 1_410_260_304.0,
        -10_690_763_975.0 / 1_880_347_072.0,
    ],
    [
        0.0,
        127_303_824_393.0 / 49_829_197_408.0,
        -318_862_633_887.0 / 49_829_197_408.0,
        701_980_252_875.0 / 199_316_789_632.0,
    ],
    [
        0.0,
        -282_668_133.0 / 205_662_961.0,
        2_019_193_451.0 / 616_988_883.0,
        -1_453_857_185.0 / 822_651_844.0,
    ],
    [
        0.0,
        40_617_522.0 / 29_380_423.0,
        -110_615_467.0 / 29_380_423.0,
        69_997_945.0 / 29_380_423.0,
    ],
];

impl Scheme {
    const ALL: [Scheme; 4] = [Scheme::Dopri5, Scheme::Euler, Scheme::Midpoint, Scheme::Rk4];

    /// Their names.
    pub(super) const NAMES: [&str; 4] = ["dopri5", "euler", "midpoint", "rk4"];

    pub(super) fn name(self) -> &'static str {
        Scheme::NAMES[self as usize]
    }

    /// The scheme of this name.
    pub(super) fn named(name: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().find(|scheme| scheme.name() == name)
    }

    /// The scheme with so many stages.
    pub(super) fn with_stages(stages: f64) -> Option<Scheme> {
        let mut all = Scheme::ALL.into_iter();
        all.find(|scheme| scheme.stages() as f64 == stages)
    }

    /// How many stages it has; `dopri5` with the one behind the step.
    pub(super) fn stages(self) -> usize {
        self.b().len()
    }

    /// a_ij of stage i, from 0, for j < i.
    pub(super) fn a(self, i: usize) -> &'static [f64] {
        const RK4: [&[f64]; 4] = [&[], &[1.0 / 3.0], &[-1.0 / 3.0, 1.0], &[1.0, -1.0, 1.0]];
        const MIDPOINT: [&[f64]; 2] = [&[], &[0.5]];
        match self {
            Scheme::Dopri5 => DOPRI5[i],
            Scheme::Euler => &[],
            Scheme::Midpoint => MIDPOINT[i],
            Scheme::Rk4 => RK4[i],
        }
    }

    /// b.
    pub(super) fn b(self) -> &'static [f64] {
        match self {
            Scheme::Dopri5 => &DOPRI5_B,
            Scheme::Euler => &[1.0],
            Scheme::Midpoint => &[0.0, 1.0],
            Scheme::Rk4 => &[0.125, 0.375, 0.375, 0.125],
        }
    }

    /// The weights of the slopes in the error of a step; none where steps have no error.
    pub(super) fn error(self) -> &'static [f64] {
        match self {
            Scheme::Dopri5 => &DOPRI5_ERROR,
            _ => &[],
        }
    }

    /// Whether its steps are of the length that their error allows, not from row to row.
    pub(super) fn is_adaptive(self) -> bool {
        !self.error().is_empty()
    }

    /// b_i(θ) within a step, for θ below one. Steps of other schemes end at rows.
    pub(super) fn within(self, theta: f64) -> [f64; MOST_STAGES] {
        DOPRI5_WITHIN.map(|[a, b, c, d]| theta * (a + theta * (b + theta * (c + theta * d))))
    }
}

/// When rows are, in steps Δt behind the first of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Times<'a> {
    /// One step apart, up to this row.
    Equal(usize),
    /// At times of their own, the first at zero.
    Own(&'a [f64]),
}

impl<'a> Times<'a> {
    /// So many rows, at times of their own if there are any.
    pub(super) fn new(own: &'a [f64], rows: usize) -> Times<'a> {
        match own {
            [] => Times::Equal(rows.saturating_sub(1)),
            own => Times::Own(own),
        }
    }

    /// The time of a row.
    pub(super) fn of(self, row: usize) -> f64 {
        match self {
            Times::Equal(_) => row as f64,
            Times::Own(times) => times[row],
        }
    }

    /// The number of the last row.
    pub(super) fn last(self) -> usize {
        match self {
            Times::Equal(last) => last,
            Times::Own(times) => times.len() - 1,
        }
    }

    /// The first row behind a time; the last one at the end.
    pub(super) fn next(self, at: f64) -> usize {
        self.behind(at).min(self.last())
    }

    /// The rows that a step from one time to another reaches.
    pub(super) fn reached(self, at: f64, end: f64) -> Range<usize> {
        self.behind(at)..self.behind(end)
    }

    fn behind(self, at: f64) -> usize {
        match self {
            Times::Equal(_) => at.floor() as usize + 1,
            Times::Own(times) => times.partition_point(|&time| time <= at),
        }
    }
}

/// Where a solution is, in steps Δt behind the first row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Walk {
    /// The end of the last step.
    pub(super) at: f64,
    /// The length of the next step, if nothing ends it before.
    next: f64,
}

impl Walk {
    /// Before the first step.
    pub(super) fn new(scheme: Scheme) -> Walk {
        let next = if scheme.is_adaptive() {
            1.0
        } else {
            f64::INFINITY
        };
        Walk { at: 0.0, next }
    }

    /// Where the step ends that is tried next, no later than some time.
    pub(super) fn trial(&self, latest: f64) -> f64 {
        latest.min(self.at + self.next)
    }

    /// Takes the step to an end, or does not, by its squared error in units of the tolerance; gives back whether it is taken.
    pub(super) fn judge(&mut self, end: f64, squared_error: f64) -> bool {
        let step = end - self.at;
        // NaN is taken as it is: a solution that is not finite has diverged.
        if squared_error > 1.0 && step > SHORTEST {
            self.next = step / 2.0;
            return false;
        }
        self.at = end;
        if squared_error < DOUBLED * DOUBLED {
            // A step that a row has cut short does not shorten those behind it.
            self.next = self.next.max(2.0 * step);
        }
        true
    }
}

/// What a solution runs along.
#[derive(Debug, Clone, Copy)]
pub(super) struct Route<'a> {
    /// When rows are.
    pub(super) times: Times<'a>,
    /// The inputs of all rows but the first.
    pub(super) s: &'a [f64],
}

impl<'a> Route<'a> {
    /// One step Δt, with these inputs.
    pub(super) fn step(s: &'a [f64]) -> Route<'a> {
        let times = Times::Equal(1);
        Route { times, s }
    }

    /// The inputs that hold behind a time.
    fn inputs_behind(self, at: f64) -> &'a [f64] {
        let width = self.s.len() / self.times.last().max(1);
        let row = self.times.next(at);
        &self.s[(row - 1) * width..row * width]
    }
}

/// Room for a step.
#[derive(Debug, Clone, Default)]
pub(super) struct SolverRoom {
    net: Room,
    /// Slopes, stage by stage.
    k: Vec<f64>,
    y: Vec<f64>,
    /// y with the inputs behind it.
    driven: Vec<f64>,
    next: Vec<f64>,
}

impl Solver {
    /// Where a step of some field ends at the latest.
    pub(super) fn latest(&self, times: Times<'_>, at: f64, is_driven: bool) -> f64 {
        if self.scheme.is_adaptive() && !is_driven {
            times.of(times.last())
        } else {
            times.of(times.next(at))
        }
    }

    /// Solves along some rows from z, of which the first row is the value and others are tangents; `emit` sees the solution at every row
    /// behind the first. z becomes the last one.
    pub(super) fn solve(
        &self,
        (field, theta): (&Net, &[f64]),
        z: &mut [f64],
        route: Route<'_>,
        room: &mut SolverRoom,
        mut emit: impl FnMut(usize, &[f64]),
    ) {
        let (mut walk, times) = (Walk::new(self.scheme), route.times);
        while walk.at < times.of(times.last()) {
            let at = walk.at;
            let end = walk.trial(self.latest(times, at, !route.s.is_empty()));
            let h = self.h * (end - at);
            self.stages((field, theta), z, (h, route.inputs_behind(at)), room);
            add(z, h, (&room.k, self.scheme.b()), &mut room.next);
            if !walk.judge(end, self.squared_error(z, h, field.outputs(), room)) {
                continue;
            }
            for row in times.reached(at, end) {
                let time = times.of(row);
                if time == end {
                    emit(row, &room.next);
                } else {
                    // As exact as the same in training.
                    let theta = ((time - at) / (end - at)) as f32;
                    let within = self.scheme.within(f64::from(theta));
                    add(z, h, (&room.k, &within), &mut room.y);
                    emit(row, &room.y);
                }
            }
            z.copy_from_slice(&room.next);
        }
    }

    /// All slopes of a step of some length, under some inputs.
    fn stages(
        &self,
        (field, theta): (&Net, &[f64]),
        z: &[f64],
        (h, s): (f64, &[f64]),
        room: &mut SolverRoom,
    ) {
        room.k.resize(self.scheme.stages() * z.len(), 0.0);
        for i in 0..self.scheme.stages() {
            let (before, k) = room.k.split_at_mut(i * z.len());
            add(z, h, (before, self.scheme.a(i)), &mut room.y);
            drive(&room.y, s, field.outputs(), &mut room.driven);
            field.apply(theta, &room.driven, &mut k[..z.len()], &mut room.net);
        }
    }

    /// The mean square of a step's error in units of the tolerance, of the value alone; zero of a scheme that has none.
    fn squared_error(&self, z: &[f64], h: f64, dim: usize, room: &SolverRoom) -> f64 {
        let mut sum = 0.0;
        for j in 0..dim {
            let slopes = room.k.iter().skip(j).step_by(z.len());
            let weighted = slopes.zip(self.scheme.error()).map(|(k, e)| e * k);
            let error = h * weighted.sum::<f64>();
            let scale = self.atol + self.rtol * z[j].abs().max(room.next[j].abs());
            sum += (error / scale) * (error / scale);
        }
        sum / dim as f64
    }
}

/// Rows (z, s) of a value, and (ż, 0) of tangents.
fn drive(y: &[f64], s: &[f64], dim: usize, to: &mut Vec<f64>) {
    to.clear();
    for (place, y) in y.chunks_exact(dim).enumerate() {
        to.extend_from_slice(y);
        to.extend(s.iter().map(|s| if place == 0 { *s } else { 0.0 }));
    }
}

/// to = z + h Σ_i w_i k_i.
fn add(z: &[f64], h: f64, (k, weights): (&[f64], &[f64]), to: &mut Vec<f64>) {
    to.clear();
    to.extend_from_slice(z);
    for (k, w) in k.chunks_exact(z.len()).zip(weights) {
        let entries = to.iter_mut().zip(k);
        entries.for_each(|(to, k)| *to += h * w * k);
    }
}
