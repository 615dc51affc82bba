//! Solves dz/dt = f(z) from row to row, in f64, of values and of tangents at once.
//!
//! ```text
//! y_i = z + h Σ_{j<i} a_ij k_j        k_i = f(y_i)        z' = z + h Σ_i b_i k_i        z(t + θh) = z + h Σ_i b_i(θ) k_i
//! ```
//!
//! | solver | steps |
//! | --- | --- |
//! | `dopri5` | of Dormand and Prince (1980), of order 5 with an error of order 4; rows within a step by Shampine's (1986) polynomial |
//! | `euler`, `midpoint`, `rk4` | one per row; `rk4` is the 3/8 rule |
//!
//! Steps of `dopri5` are a power of two of rows long: one whose error is too large is halved, one whose error is small enough for
//! twice its length is followed by one of twice its length, and the last one ends at the last row. So the length of a step does not vary
//! with the state but by jumps, and the derivative through the steps that were taken is the derivative of what was computed.

use crate::continuous::Net;
use crate::continuous::net::Room;

/// Stages of a step, at most.
pub(super) const MOST_STAGES: usize = 7;

/// Steps are at least this many rows long: what is stiffer than that is not resolved by rows either.
pub(super) const SHORTEST: f32 = 1.0 / 16.0;

/// An error below this share of the tolerance is still below it, with a factor of two to spare, when a step is twice as long.
pub(super) const DOUBLED: f64 = 1.0 / 64.0;

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
    /// Time from row to row.
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

    /// b_i(θ) within a step, for θ below one. Steps of other schemes end at rows.
    pub(super) fn within(self, theta: f64) -> [f64; MOST_STAGES] {
        DOPRI5_WITHIN.map(|[a, b, c, d]| theta * (a + theta * (b + theta * (c + theta * d))))
    }
}

/// Where a solution is, in rows.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Walk {
    /// The end of the last step.
    pub(super) at: f32,
    /// The length of the next step.
    pub(super) next: f32,
    /// The last row.
    pub(super) end: f32,
}

impl Walk {
    /// Before the first step to a row.
    pub(super) fn to(rows: usize) -> Walk {
        Walk {
            at: 0.0,
            next: 1.0,
            end: rows as f32,
        }
    }

    /// The length of a step to be tried; 0 behind the last row.
    pub(super) fn trial(&self) -> f32 {
        self.next.min(self.end - self.at)
    }

    /// Takes a trial, or not, by its squared error in units of the tolerance; gives back how long the step is that is taken.
    pub(super) fn judge(&mut self, trial: f32, squared_error: f64) -> f32 {
        // NaN is taken as it is: a solution that is not finite has diverged.
        if squared_error > 1.0 && trial > SHORTEST {
            self.next = trial / 2.0;
            return 0.0;
        }
        self.at += trial;
        if squared_error < DOUBLED * DOUBLED {
            self.next = 2.0 * trial;
        } else {
            self.next = trial;
        }
        trial
    }

    /// Goes on by one row.
    pub(super) fn judge_fixed(&mut self, trial: f32) -> f32 {
        self.at += trial;
        trial
    }

    /// The rows that a step which was taken from here reaches.
    pub(super) fn reached(at: f32, step: f32) -> std::ops::RangeInclusive<usize> {
        (at.floor() as usize + 1)..=((at + step).floor() as usize)
    }
}

/// Room for a step.
#[derive(Debug, Clone, Default)]
pub(super) struct SolverRoom {
    net: Room,
    /// Slopes, stage by stage.
    k: Vec<f64>,
    y: Vec<f64>,
    next: Vec<f64>,
}

impl Solver {
    /// Solves over some rows from z, of which the first row is the value and others are tangents; `emit` sees the solution at every row
    /// behind the first. z becomes the last one.
    pub(super) fn solve(
        &self,
        (field, theta): (&Net, &[f64]),
        z: &mut [f64],
        rows: usize,
        room: &mut SolverRoom,
        mut emit: impl FnMut(usize, &[f64]),
    ) {
        let mut walk = Walk::to(rows);
        while walk.trial() > 0.0 {
            let (at, trial) = (walk.at, walk.trial());
            let h = self.h * f64::from(trial);
            self.stages((field, theta), z, h, room);
            add(z, h, (&room.k, self.scheme.b()), &mut room.next);
            let step = if self.scheme.error().is_empty() {
                walk.judge_fixed(trial)
            } else {
                walk.judge(trial, self.squared_error(z, h, field.inputs(), room))
            };
            if step == 0.0 {
                continue;
            }
            for row in Walk::reached(at, step) {
                let theta = (row as f32 - at) / step;
                if theta == 1.0 {
                    emit(row, &room.next);
                } else {
                    let within = self.scheme.within(f64::from(theta));
                    add(z, h, (&room.k, &within), &mut room.y);
                    emit(row, &room.y);
                }
            }
            z.copy_from_slice(&room.next);
        }
    }

    /// All slopes of a step.
    fn stages(&self, (field, theta): (&Net, &[f64]), z: &[f64], h: f64, room: &mut SolverRoom) {
        room.k.resize(self.scheme.stages() * z.len(), 0.0);
        for i in 0..self.scheme.stages() {
            let (before, k) = room.k.split_at_mut(i * z.len());
            add(z, h, (before, self.scheme.a(i)), &mut room.y);
            field.apply(theta, &room.y, &mut k[..z.len()], &mut room.net);
        }
    }

    /// The mean square of a step's error in units of the tolerance, of the value alone.
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

/// to = z + h Σ_i w_i k_i.
fn add(z: &[f64], h: f64, (k, weights): (&[f64], &[f64]), to: &mut Vec<f64>) {
    to.clear();
    to.extend_from_slice(z);
    for (k, w) in k.chunks_exact(z.len()).zip(weights) {
        let entries = to.iter_mut().zip(k);
        entries.for_each(|(to, k)| *to += h * w * k);
    }
}
