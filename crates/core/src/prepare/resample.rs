//! Another sampling rate:  y(t) = Σ_n x_n h(t/Δt − n),  h a sinc under a Kaiser window.
//!
//! What lies above half of the lower of the two rates would fold back into the signal, and is damped by 80 dB: the cut-off
//! is at 95 % of that frequency, and the transition from 90 % to 100 % of it. By Kaiser's formulas that needs
//!
//! ```text
//! β = 0.1102 (A − 8.7) = 7.857,   half length = (A − 7.95) / (2 · 2.285 Δω) = 50.2 steps of the lower rate,  Δω = 0.1 π
//! ```
//!
//! with A = 80. Up to 90 % the signal stays within 1e-4. The new rate over the old one is L/M in lowest terms, so that only
//! L different sets of weights occur; each is divided by its sum, which leaves constants exact.
//!
//! The signal is turned about its ends, so that value and slope go on. Nothing is carried across a gap; a new value that
//! a missing one reaches is missing.

use crate::hint::Hint;
use crate::series::{Gap, Series, SeriesError, Step, Trajectory};
use crate::text::figure;

use super::extend::turned;

/// Damping above half of the lower rate, in dB.
const DAMPING: f64 = 80.0;

/// The transition, as a share of half of the lower rate.
const TRANSITION: f64 = 0.1;

/// The largest L and M: all weights together are then at most 32 MB.
const LARGEST: u64 = 40_000;

/// Why a series cannot be resampled.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ResampleError {
    /// The rate is not a positive number.
    #[error("a rate is a number above 0, found {0}")]
    Rate(f64),
    /// The rates have no ratio of small whole numbers.
    #[error("the rate {rate} is no ratio of whole numbers up to {LARGEST} of the data's, {}", figure(*data))]
    Ratio {
        /// What was asked for.
        rate: f64,
        /// The data's rate.
        data: f64,
    },
    /// Nothing is left of the data.
    #[error(transparent)]
    Series(#[from] SeriesError),
}

impl ResampleError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            ResampleError::Ratio { data, .. } => {
                let half = figure(data / 2.0);
                Some(
                    format!("rates are rows per unit of time; half of the data's is {half}").into(),
                )
            }
            _ => None,
        }
    }
}

/// The series with `rate` rows per unit of time, inputs as well; unchanged if it has them. Each segment keeps its start.
pub fn resample(series: &Series, rate: f64) -> Result<Series, ResampleError> {
    if !(rate > 0.0 && rate.is_finite()) {
        return Err(ResampleError::Rate(rate));
    }
    let dt = series.step().dt;
    let no_ratio = || ResampleError::Ratio {
        rate,
        data: 1.0 / dt,
    };
    let ratio = Ratio::of(rate * dt).ok_or_else(no_ratio)?;
    if ratio.up == ratio.down {
        return Ok(series.clone());
    }
    let kernel = Kernel::new(ratio);
    let resampled = (0..series.trajectories().len()).map(|i| kernel.trajectory(series, i));
    let step = Step {
        dt: 1.0 / rate,
        unit: series.step().unit.clone(),
    };
    let (channels, inputs) = (series.channels().to_vec(), series.inputs().to_vec());
    Ok(Series::new(channels, inputs, step, resampled.collect())?)
}

/// up/down, in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ratio {
    up: u64,
    down: u64,
}

impl Ratio {
    /// The simplest ratio within rounding of a number, by its continued fraction.
    fn of(value: f64) -> Option<Ratio> {
        let (mut before, mut ratio) = ((0u64, 1u64), (1u64, 0u64));
        let mut rest = value;
        while rest < 1e12 {
            let whole = rest.floor();
            let next = |old: u64, new: u64| (whole as u64).checked_mul(new)?.checked_add(old);
            let found = (next(before.0, ratio.0)?, next(before.1, ratio.1)?);
            (before, ratio) = (ratio, found);
            if ratio.0 > LARGEST || ratio.1 > LARGEST {
                return None;
            }
            // A rate and a step that a user typed are each rounded once.
            if ratio.0 > 0 && (ratio.0 as f64 / ratio.1 as f64 / value - 1.0).abs() < 1e-9 {
                return Some(Ratio {
                    up: ratio.0,
                    down: ratio.1,
                });
            }
            rest = 1.0 / (rest - whole);
        }
        None
    }
}

/// The weights of all phases.
struct Kernel {
    ratio: Ratio,
    /// Old rows that a new one is made of, on either side.
    half: usize,
    /// 2 half + 1 weights a phase.
    weights: Vec<f64>,
}

impl Kernel {
    fn new(ratio: Ratio) -> Kernel {
        // Half of the lower rate, in cycles per old step, is 0.5 · lower.
        let lower = (ratio.up as f64 / ratio.down as f64).min(1.0);
        let half = (half_length() / lower).ceil() as usize;
        let phase = |p: u64| {
            let shift = p as f64 / ratio.up as f64;
            let at = (0..=2 * half).map(|k| k as f64 - half as f64 - shift);
            let weights: Vec<f64> = at.map(|t| weight(t, lower)).collect();
            let sum: f64 = weights.iter().sum();
            weights.into_iter().map(move |w| w / sum)
        };
        Kernel {
            ratio,
            half,
            weights: (0..ratio.up).flat_map(phase).collect(),
        }
    }

    fn trajectory(&self, series: &Series, i: usize) -> Trajectory {
        let from = &series.trajectories()[i];
        let (n, k) = (series.dim_obs(), series.dim_input());
        let mut to = Trajectory {
            name: from.name.clone(),
            start: from.start,
            ..Trajectory::new(Vec::new())
        };
        for segment in series.segments(i) {
            let row = to.x.len() / n;
            if row > 0 {
                let time = series.time_of(i, segment.start);
                to.gaps.push(Gap { row, time });
            }
            to.x.extend(self.columns(&from.x[segment.start * n..segment.end * n], n));
            to.s.extend(self.columns(&from.s[segment.start * k..segment.end * k], k));
        }
        to
    }

    /// All columns of a segment: as many rows as fit into its time.
    fn columns(&self, x: &[f64], n: usize) -> Vec<f64> {
        let len = x.len() / n.max(1);
        let rows = (len as u64 * self.ratio.up).div_ceil(self.ratio.down) as usize;
        let mut resampled = vec![0.0; rows * n];
        for column in 0..n {
            let values: Vec<f64> = x[column..].iter().step_by(n).copied().collect();
            let wide = reaching(&values, self.half);
            for row in 0..rows {
                resampled[row * n + column] = self.value(&wide, row as u64);
            }
        }
        resampled
    }

    fn value(&self, wide: &[f64], row: u64) -> f64 {
        let at = row * self.ratio.down;
        let (first, phase) = (at / self.ratio.up, at % self.ratio.up);
        let width = 2 * self.half + 1;
        let weights = &self.weights[phase as usize * width..][..width];
        let values = &wide[first as usize..][..width];
        let there = weights.iter().zip(values).filter(|(w, _)| **w != 0.0);
        there.map(|(w, v)| w * v).sum()
    }
}

/// Half the length of the kernel, in steps of the lower rate.
fn half_length() -> f64 {
    (DAMPING - 7.95) / (2.0 * 2.285 * TRANSITION * std::f64::consts::PI)
}

/// The kernel at a distance in old steps, up to a factor.
fn weight(t: f64, lower: f64) -> f64 {
    let beta = 0.1102 * (DAMPING - 8.7);
    let share = t * lower / half_length();
    if share.abs() >= 1.0 {
        return 0.0;
    }
    let cut_off = lower * (1.0 - 0.5 * TRANSITION);
    let phase = std::f64::consts::PI * cut_off * t;
    let sinc = if t == 0.0 { 1.0 } else { phase.sin() / phase };
    sinc * bessel(beta * (1.0 - share * share).sqrt())
}

/// The modified Bessel function I₀(x) = Σ_k ((x/2)^k / k!)².
fn bessel(x: f64) -> f64 {
    let (mut sum, mut term, mut k) = (1.0, 1.0, 1.0);
    while term > 1e-17 * sum {
        term *= (0.5 * x / k).powi(2);
        sum += term;
        k += 1.0;
    }
    sum
}

/// A signal that goes on as far as the kernel reaches: turned about its ends, and constant beyond what it has to turn.
fn reaching(x: &[f64], half: usize) -> Vec<f64> {
    let more = half.min(x.len() - 1);
    let wide = turned(x, more);
    let (first, last) = (wide[0], wide[wide.len() - 1]);
    let rest = half - more;
    let before = std::iter::repeat_n(first, rest);
    // One more, for the phase after the last row.
    let after = std::iter::repeat_n(last, rest + 1);
    before.chain(wide.iter().copied()).chain(after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::series::Channel;

    fn wave(cycles: f64, len: i32) -> Vec<f64> {
        (0..len)
            .map(|t| (std::f64::consts::TAU * cycles * f64::from(t) + 0.3).sin())
            .collect()
    }

    fn resampled(x: Vec<f64>, dt: f64, rate: f64) -> Series {
        resample(&Series::from_rows(x, 1, dt).unwrap(), rate).unwrap()
    }

    #[test]
    fn ratios_are_found_in_lowest_terms() {
        let of = |value| Ratio::of(value).map(|r| (r.up, r.down));
        assert_eq!(of(256.0 / 700.0), Some((64, 175)));
        assert_eq!(of(2.0), Some((2, 1)));
        assert_eq!(of(100.0 * (1.0 / 173.61)), Some((10_000, 17_361)));
        assert_eq!(of(1.0), Some((1, 1)));
        assert_eq!(of(std::f64::consts::PI), None);
        assert_eq!(of(1e-300), None);
        assert_eq!(of(1e9), None);
        assert_eq!(of(1e-6), None);
    }

    #[test]
    fn what_both_rates_can_hold_stays_and_the_rest_is_damped() {
        for (from, to) in [(100.0, 40.0), (100.0, 250.0), (360.0, 250.0)] {
            let lower = f64::min(from, to);
            for share in [0.1, 0.5, 0.9] {
                let cycles = 0.5 * share * lower;
                let y = resampled(wave(cycles / from, 2000), 1.0 / from, to);
                let y = &y.trajectories()[0].x;
                let middle = y.len() * 3 / 8..y.len() * 5 / 8;
                for t in middle {
                    let expected = (std::f64::consts::TAU * cycles / to * t as f64 + 0.3).sin();
                    // 80 dB are 1e-4 in the pass band and in the stop band, which interpolation has as well; the
                    // window's formula is an estimate to a tenth of that.
                    assert!(
                        (y[t] - expected).abs() < 2.2e-4,
                        "{from} {to} {share} {}",
                        y[t] - expected
                    );
                }
            }
        }
        for cycles in [20.0, 25.0, 33.0, 49.0] {
            let y = resampled(wave(cycles / 100.0, 4000), 0.01, 40.0);
            let y = &y.trajectories()[0].x[500..1100];
            let largest = y.iter().fold(0.0f64, |m, v| m.max(v.abs()));
            assert!(largest < 1.1e-4, "{cycles} {largest}");
        }
    }

    #[test]
    fn constants_and_the_same_rate_stay() {
        for v in &resampled(vec![3.0; 40], 1.0, 0.7).trajectories()[0].x {
            assert!((v - 3.0).abs() < 1e-14);
        }
        let noise: Vec<f64> = (0..50).map(|t| f64::from(t * t % 7)).collect();
        assert_eq!(
            resampled(noise.clone(), 0.01, 100.0).trajectories()[0].x,
            noise
        );
        assert_eq!(resampled(vec![1.0; 10], 0.5, 4.0).total_len(), 20);
        assert_eq!(resampled(vec![1.0; 11], 0.5, 1.0).total_len(), 6);
        assert_eq!(resampled(vec![1.0], 1.0, 3.0).total_len(), 3);
    }

    #[test]
    fn gaps_and_missing_values_are_kept() {
        let trajectory = Trajectory {
            gaps: vec![Gap {
                row: 200,
                time: 900.0,
            }],
            ..Trajectory::new([vec![1.0; 200], vec![5.0; 200]].concat())
        };
        let step = Step::default();
        let series = Series::new(Channel::numbered("x", 1), vec![], step, vec![trajectory]);
        let y = resample(&series.unwrap(), 0.5).unwrap();
        assert_eq!(
            y.trajectories()[0].gaps,
            [Gap {
                row: 100,
                time: 900.0
            }]
        );
        assert_eq!((y.step().dt, y.total_len()), (2.0, 200));
        assert!((y.trajectories()[0].x[99] - 1.0).abs() < 1e-13);
        let mut x = vec![1.0; 1000];
        x[500] = f64::NAN;
        let y = resampled(x, 1.0, 0.5);
        let missing = y.missing();
        assert!((90..=102).contains(&missing), "{missing}");
    }
}
