//! The period of a regular orbit. With the mean squared difference of states that are τ steps apart,
//!
//! ```text
//! d(τ) = ⟨|z(t + τ) − z(t)|²⟩ / 2σ²
//! ```
//!
//! which is 1 for states that have nothing to do with each other, an orbit has period P if d comes back to zero at P and at 10 P:
//! a chaotic one that nearly closes (Rössler's) has drifted by then. Between steps d is a parabola.

use crate::series::mean_and_sd;

/// Below this d counts as zero, and above this the orbit has gone away. At 20 steps per period d is 0.012 half a step beside its
/// minimum.
const BACK: f64 = 0.005;
const AWAY: f64 = 0.05;

/// Returns after which it must still be back.
const RETURNS: usize = 10;

/// Rows that are looked at.
const ROWS: usize = 100_000;

/// Pairs of states that d is a mean over.
const PAIRS: usize = 400;

/// The period in steps; none if the orbit rests, or has fewer than twelve periods: ten to come back after, and two to take means over.
pub fn period(orbit: &[f64], dim: usize) -> Option<f64> {
    let orbit = &orbit[..orbit.len().min(ROWS * dim)];
    let rows = orbit.len() / dim;
    let column = |i: usize| orbit.iter().skip(i).step_by(dim).copied();
    let variance: f64 = (0..dim).map(|i| mean_and_sd(column(i)).1.powi(2)).sum();
    let size = orbit.iter().fold(0.0, |m: f64, v| m.max(v.abs()));
    if variance.sqrt() <= 1e-6 * size {
        return None;
    }
    let longest = rows / (RETURNS + 2);
    let d = |lag: usize| difference(orbit, dim, lag) / (2.0 * variance);
    let away = (1..longest).find(|&lag| d(lag) > AWAY)?;
    let candidates = (away + 1..longest).filter(|&lag| d(lag) < AWAY);
    let mut minima = candidates.filter_map(|lag| minimum(&d, lag));
    let (period, _) = minima.find(|&(_, value)| value < BACK)?;
    let later = (RETURNS as f64 * period).round() as usize;
    // The first estimate is off by some hundredths of a step, ten times that after ten returns.
    let returns = (later.saturating_sub(1)..=later + 1).filter_map(|lag| minimum(&d, lag));
    let (found, _) = returns.into_iter().find(|&(_, value)| value < BACK)?;
    Some(found / RETURNS as f64)
}

/// The minimum of the parabola through d at a lag and beside it, if it is between these.
fn minimum(d: &impl Fn(usize) -> f64, lag: usize) -> Option<(f64, f64)> {
    let [before, here, after] = [d(lag.checked_sub(1)?), d(lag), d(lag + 1)];
    let curvature = before - 2.0 * here + after;
    if here > before || here > after || curvature <= 0.0 {
        return None;
    }
    let shift = 0.5 * (before - after) / curvature;
    let value = here - 0.25 * (before - after) * shift;
    Some((lag as f64 + shift, value.max(0.0)))
}

/// ⟨|z(t + τ) − z(t)|²⟩ over some t.
fn difference(orbit: &[f64], dim: usize, lag: usize) -> f64 {
    let pairs = orbit.len() / dim - lag;
    let every = pairs.div_ceil(PAIRS).max(1);
    let starts = (0..pairs).step_by(every);
    let squared = |t: usize| -> f64 {
        let (a, b) = (&orbit[t * dim..][..dim], &orbit[(t + lag) * dim..][..dim]);
        a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum()
    };
    let count = starts.len() as f64;
    starts.map(squared).sum::<f64>() / count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::system::simulate::{Request, Simulation};

    #[test]
    fn a_circle_has_its_period() {
        for steps in [20.3, 57.77, 400.1] {
            let turn = std::f64::consts::TAU / steps;
            let point = |t: usize| [(turn * t as f64).cos(), (turn * t as f64).sin()];
            let orbit: Vec<f64> = (0..20_000).flat_map(point).collect();
            let found = period(&orbit, 2).unwrap();
            assert!((found - steps).abs() < 1e-3 * steps, "{found}, not {steps}");
        }
    }

    #[test]
    fn thirteen_turns_are_enough_and_eleven_are_not() {
        let circle = |turns: f64| -> Vec<f64> {
            let turn = |t: usize| std::f64::consts::TAU * t as f64 / 70.3;
            let rows = 0..(turns * 70.3) as usize;
            rows.flat_map(|t| [turn(t).cos(), turn(t).sin()]).collect()
        };
        let found = period(&circle(13.0), 2).unwrap();
        assert!((found - 70.3).abs() < 0.07, "{found}");
        assert_eq!(period(&circle(11.0), 2), None);
    }

    /// The period of the first channels of a system, in time.
    fn of_system(name: &str, set: &[(&str, &str)], channels: usize) -> Option<f64> {
        let own = |(name, value): &(&str, &str)| (name.to_string(), value.to_string());
        let request = Request {
            set: set.iter().map(own).collect(),
            ..Request::new(name, 20_000)
        };
        let series = Simulation::check(&request).unwrap().run().unwrap().series;
        let rows = series.trajectories()[0].x.chunks_exact(series.dim_obs());
        let x: Vec<f64> = rows.flat_map(|row| &row[..channels]).copied().collect();
        Some(period(&x, channels)? * series.step().dt)
    }

    /// The period of Van der Pol's oscillator without a drive at b = 1 is 6.66329 (Andersen and Geer 1982); chaotic systems have
    /// none, not even Rössler's, which nearly closes.
    #[test]
    fn limit_cycles_are_told_from_chaos() {
        let undriven = [("b", "1"), ("amplitude", "0")];
        let found = of_system("van-der-pol", &undriven, 2).unwrap();
        assert!((found - 6.66329).abs() < 1e-3, "{found}");
        let chaotic = [
            ("van-der-pol", 2),
            ("lorenz63", 3),
            ("rossler", 3),
            ("thomas", 3),
        ];
        for (name, channels) in chaotic {
            assert_eq!(of_system(name, &[], channels), None, "{name}");
        }
    }

    #[test]
    fn rest_has_no_period() {
        assert_eq!(period(&[0.5; 3000], 3), None);
    }
}
