//! The schemes that solve a neural ordinary differential equation, with one step per row, and its units.
//!
//! | scheme | stages | order | weights |
//! | --- | --- | --- | --- |
//! | `euler` | 1 | 1 | b = 1 |
//! | `midpoint` | 2 | 2 | a₂₁ = 1/2; b = (0, 1) |
//! | `rk4` | 4 | 4 | the 3/8 rule: a₂₁ = 1/3; a₃ = (−1/3, 1); a₄ = (1, −1, 1); b = (1, 3, 3, 1)/8 |

use crate::kernel::field::{MOST_STAGES, Stages};
use crate::tanh::tanh;

/// An explicit Runge–Kutta scheme.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Scheme {
    Euler,
    Midpoint,
    Rk4,
}

/// What a hidden unit does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    Relu,
    Tanh,
}

impl Scheme {
    const ALL: [Scheme; 3] = [Scheme::Euler, Scheme::Midpoint, Scheme::Rk4];

    /// Their names.
    pub(super) const NAMES: [&str; 3] = ["euler", "midpoint", "rk4"];

    pub(super) fn name(self) -> &'static str {
        Scheme::NAMES[self as usize]
    }

    /// The scheme of this name.
    pub(super) fn named(name: &str) -> Option<Scheme> {
        Scheme::ALL.into_iter().find(|scheme| scheme.name() == name)
    }

    /// The scheme with this number in a model file.
    pub(super) fn numbered(number: f64) -> Option<Scheme> {
        Scheme::ALL
            .into_iter()
            .find(|scheme| scheme.number() == number)
    }

    /// Its number in a model file: how many stages it has.
    pub(super) fn number(self) -> f64 {
        self.stages() as f64
    }

    /// How many stages it has.
    pub(super) fn stages(self) -> usize {
        self.b().len()
    }

    /// a_ij of stage i, from 0, for j < i.
    pub(super) fn a(self, i: usize) -> &'static [f64] {
        const RK4: [&[f64]; 4] = [&[], &[1.0 / 3.0], &[-1.0 / 3.0, 1.0], &[1.0, -1.0, 1.0]];
        const MIDPOINT: [&[f64]; 2] = [&[], &[0.5]];
        match self {
            Scheme::Euler => &[],
            Scheme::Midpoint => MIDPOINT[i],
            Scheme::Rk4 => RK4[i],
        }
    }

    /// b.
    pub(super) fn b(self) -> &'static [f64] {
        match self {
            Scheme::Euler => &[1.0],
            Scheme::Midpoint => &[0.0, 1.0],
            Scheme::Rk4 => &[0.125, 0.375, 0.375, 0.125],
        }
    }

    /// All weights times h, for lanes.
    pub(super) fn on_lanes(self, h: f64) -> Stages {
        let mut stages = Stages {
            count: self.stages(),
            a: [[0.0; MOST_STAGES]; MOST_STAGES],
            b: [0.0; MOST_STAGES],
        };
        for i in 0..self.stages() {
            stages.b[i] = (h * self.b()[i]) as f32;
            for (to, a) in stages.a[i].iter_mut().zip(self.a(i)) {
                *to = (h * a) as f32;
            }
        }
        stages
    }
}

impl Activation {
    /// Their names.
    pub(super) const NAMES: [&str; 2] = ["relu", "tanh"];

    const ALL: [Activation; 2] = [Activation::Relu, Activation::Tanh];

    pub(super) fn name(self) -> &'static str {
        Activation::NAMES[self as usize]
    }

    /// The units of this name.
    pub(super) fn named(name: &str) -> Option<Activation> {
        Activation::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// The units with this number in a model file.
    pub(super) fn numbered(number: f64) -> Option<Activation> {
        Activation::ALL
            .into_iter()
            .find(|unit| unit.number() == number)
    }

    /// Their number in a model file.
    pub(super) fn number(self) -> f64 {
        f64::from(self as u8)
    }

    /// σ.
    pub(super) fn value(self, sum: f64) -> f64 {
        match self {
            Activation::Relu => sum.max(0.0),
            Activation::Tanh => tanh(sum),
        }
    }

    /// σ' where a unit has this value.
    pub(super) fn slope(self, value: f64) -> f64 {
        match self {
            Activation::Relu if value > 0.0 => 1.0,
            Activation::Relu => 0.0,
            Activation::Tanh => 1.0 - value * value,
        }
    }
}
