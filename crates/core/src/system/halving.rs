//! The flow map x(0) → x(Δt) of dx/dt = f(x) by steps of DOP853 that are Δt, Δt/2, Δt/4, …: a step whose error is above the tolerance
//! is made again as two of half its size.
//!
//! Step sizes do not vary with x but for the few places where one is halved. So the map is smooth between these, its derivative
//! is that of the steps taken (the same steps of dJ/dt = Df(x) J), and orbits are made of maps, to the last bit. An
//! integration with [freely chosen steps](super::integrate) has none of this; it takes fewer steps where Δt is far below what the
//! tolerance allows.
//!
//! Points may stand side by side in lanes, `[coordinate][lane]`.

use super::integrate::combine;
use super::tableau::{A, E3, E5, STAGES};

/// How often a step is halved at most, so that it is not below Δt/256. What a row of data does in 256 steps of eighth order is not in the
/// data: it is a stiff direction of a bad fit, of which an orbit of ten thousand rows would take minutes.
const HALVINGS: usize = 8;

/// How large errors may be, and how large a state.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits<'a> {
    /// The part of the error that is proportional to the state.
    pub relative: f64,
    /// The part that is not, by coordinate.
    pub absolute: &'a [f64],
    /// How large a coordinate may be.
    pub bound: &'a [f64],
}

/// Working memory for steps of a system.
#[derive(Debug, Clone)]
pub struct Halving {
    /// Stages, 12 × D.
    k: Vec<f64>,
    /// The point at which a stage is evaluated.
    y: Vec<f64>,
    /// Where the last step ended.
    end: Vec<f64>,
    e5: Vec<f64>,
    e3: Vec<f64>,
    zero: Vec<f64>,
}

impl Halving {
    /// Memory for so many numbers, all lanes together.
    pub fn new(numbers: usize) -> Halving {
        Halving {
            k: vec![0.0; STAGES * numbers],
            y: vec![0.0; numbers],
            end: vec![0.0; numbers],
            e5: vec![0.0; numbers],
            e3: vec![0.0; numbers],
            zero: vec![0.0; numbers],
        }
    }

    /// x ← x(Δt). The errors of the first coordinates alone, as many as there are limits, decide on the steps: what stands behind
    /// them may be tangent vectors. False if the state leaves its bounds or no step is small enough.
    pub fn advance(
        &mut self,
        flow: &mut impl FnMut(&[f64], &mut [f64]),
        x: &mut [f64],
        interval: f64,
        limits: Limits<'_>,
    ) -> bool {
        self.part(flow, x, interval, limits, HALVINGS)
    }

    fn part(
        &mut self,
        flow: &mut impl FnMut(&[f64], &mut [f64]),
        x: &mut [f64],
        h: f64,
        limits: Limits<'_>,
        halvings: usize,
    ) -> bool {
        let [error] = self.attempt::<1>(&mut *flow, x, h, limits);
        if error <= 1.0 {
            x.copy_from_slice(&self.end);
            return limits.holds(x.iter().copied());
        }
        let half = 0.5 * h;
        halvings > 0
            && self.part(flow, x, half, limits, halvings - 1)
            && self.part(flow, x, half, limits, halvings - 1)
    }

    /// Makes one step of L lanes, which [`Halving::end`] then has; gives each lane's error as a multiple of what is allowed.
    #[inline(always)]
    pub fn attempt<const L: usize>(
        &mut self,
        mut flow: impl FnMut(&[f64], &mut [f64]),
        x: &[f64],
        h: f64,
        limits: Limits<'_>,
    ) -> [f64; L] {
        let numbers = x.len();
        for (i, a) in A.into_iter().enumerate().take(STAGES) {
            combine(&mut self.y[..numbers], x, h, a, &self.k);
            flow(&self.y[..numbers], &mut self.k[i * numbers..][..numbers]);
        }
        combine(&mut self.end[..numbers], x, h, A[STAGES], &self.k);
        self.errors(x, h, limits)
    }

    /// Where the last step ended.
    pub fn end(&self) -> &[f64] {
        &self.end
    }

    /// h e₅² / √(M (e₅² + e₃²/100)) of every lane.
    #[inline(always)]
    fn errors<const L: usize>(&mut self, x: &[f64], h: f64, limits: Limits<'_>) -> [f64; L] {
        let (m, numbers) = (limits.absolute.len(), x.len());
        combine(
            &mut self.e5[..numbers],
            &self.zero[..numbers],
            1.0,
            E5,
            &self.k,
        );
        combine(
            &mut self.e3[..numbers],
            &self.zero[..numbers],
            1.0,
            E3,
            &self.k,
        );
        let (mut sum5, mut sum3) = ([0.0; L], [0.0; L]);
        for i in 0..m {
            for l in 0..L {
                let e = i * L + l;
                let size = x[e].abs().max(self.end[e].abs());
                let scale = 1.0 / (limits.absolute[i] + limits.relative * size);
                sum5[l] += (self.e5[e] * scale).powi(2);
                sum3[l] += (self.e3[e] * scale).powi(2);
            }
        }
        std::array::from_fn(|l| match sum5[l] {
            0.0 => 0.0,
            sum => h * sum / (m as f64 * (sum + 0.01 * sum3[l])).sqrt(),
        })
    }
}

/// Coefficients of a step, as (stage, coefficient): of every stage, of the solution, of its two error estimates.
pub type Coefficients = (
    Vec<Vec<(usize, f64)>>,
    Vec<(usize, f64)>,
    [Vec<(usize, f64)>; 2],
);

/// What steps are made of, for those who make them elsewhere, and how often they are halved.
pub fn coefficients() -> (Coefficients, usize) {
    let stages = A[..STAGES].iter().map(|row| row.to_vec()).collect();
    let steps = (stages, A[STAGES].to_vec(), [E5.to_vec(), E3.to_vec()]);
    (steps, HALVINGS)
}

impl Limits<'_> {
    /// Whether a state is within its bounds.
    pub fn holds(&self, x: impl Iterator<Item = f64>) -> bool {
        self.bound.iter().zip(x).all(|(bound, x)| x.abs() <= *bound)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits<'static> = Limits {
        relative: 1e-9,
        absolute: &[1e-9, 1e-9],
        bound: &[1e6, 1e6],
    };

    fn circle(x: &[f64], dx: &mut [f64]) {
        dx[..2].copy_from_slice(&[-x[1], x[0]]);
    }

    #[test]
    fn long_intervals_are_halved_until_the_tolerance_is_met() {
        for interval in [0.1, 1.0, 30.0] {
            let mut x = [1.0, 0.0];
            assert!(Halving::new(2).advance(&mut circle, &mut x, interval, LIMITS));
            // Errors of at most 64 steps add up on a circle.
            let expected = [interval.cos(), interval.sin()];
            let error = (x[0] - expected[0]).hypot(x[1] - expected[1]);
            assert!(error < 64.0 * 2e-9, "{interval}: {error}");
        }
    }

    #[test]
    fn tangent_vectors_behind_the_state_do_not_change_its_steps() {
        let mut with_tangent = |x: &[f64], dx: &mut [f64]| {
            circle(x, dx);
            dx[2..].copy_from_slice(&[-x[3], x[2]]);
        };
        let (mut x, mut long) = ([1.0, 0.0], [1.0, 0.0, 1e5, 0.0]);
        assert!(Halving::new(2).advance(&mut circle, &mut x, 5.0, LIMITS));
        assert!(Halving::new(4).advance(&mut with_tangent, &mut long, 5.0, LIMITS));
        assert_eq!(x, long[..2]);
        assert!((long[2] / 1e5 - x[0]).abs() < 1e-14);
    }

    #[test]
    fn blow_up_within_the_interval_is_told() {
        let mut square = |x: &[f64], dx: &mut [f64]| dx[0] = x[0] * x[0];
        let limits = Limits {
            absolute: &[1e-9],
            bound: &[1e6],
            ..LIMITS
        };
        // x = 1/(1 − t).
        assert!(!Halving::new(1).advance(&mut square, &mut [1.0], 2.0, limits));
        let mut x = [1.0];
        assert!(Halving::new(1).advance(&mut square, &mut x, 0.5, limits));
        assert!((x[0] - 2.0).abs() < 1e-7);
        let mut undefined = |x: &[f64], dx: &mut [f64]| dx[0] = (x[0] - 2.0).sqrt();
        assert!(!Halving::new(1).advance(&mut undefined, &mut [1.0], 1.0, limits));
    }
}
