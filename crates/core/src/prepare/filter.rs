//! Filters without phase: sections of second order, run forward and then backward over every channel of every segment, so
//! that the gain is |H(f)|² and nothing is delayed.
//!
//! Butterworth filters have |H(f)|² = 1 / (1 + Ω^2n) with Ω the distance from the pass band in units of its half width,
//! mapped to sampled time by s = 2 (z − 1)/(z + 1) with warped edges, so that H at each edge is exactly 1/√2. A notch is
//! the pair of zeros on the unit circle at its frequency with a pair of poles inside, 1/√2 at a relative width 1/Q.
//!
//! A segment is extended by 3 (2 sections + 1) rows that are turned about its ends, and every section starts in its
//! steady state for the first value (Gustafsson 1996 has better but costlier starts). Order, ends and starts are those of
//! SciPy's `sosfiltfilt`.

mod design;

use crate::hint::Hint;
use crate::series::{Series, SeriesError};
use crate::text::count;

use super::extend::turned;

/// Which frequencies, in cycles per unit of time, are kept.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Band {
    /// Those below.
    Below(f64),
    /// Those above.
    Above(f64),
    /// Those from one to another.
    Between(f64, f64),
    /// All but one and its neighbours.
    Without(f64),
}

/// Order of the Butterworth filters; forward and backward together have twice that.
const ORDER: usize = 4;

/// Quality of a notch: its frequency over its width.
const QUALITY: f64 = 30.0;

/// Why a series cannot be filtered.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum FilterError {
    /// A frequency is not one that the sampling step can hold.
    #[error("frequencies lie between 0 and {highest} (half the sampling rate), found {found}")]
    Frequency {
        /// What was asked for.
        found: f64,
        /// Half the sampling rate.
        highest: f64,
    },
    /// A band ends where it should begin.
    #[error("the band from {low} to {high} is empty")]
    EmptyBand {
        /// Its lower end.
        low: f64,
        /// Its upper end.
        high: f64,
    },
    /// A stretch of rows is shorter than the filter's ends.
    #[error("the filter needs {} without a gap, the shortest stretch has {found}", count(*needed, "row"))]
    TooShort {
        /// Rows needed.
        needed: usize,
        /// Rows of the shortest stretch.
        found: usize,
    },
    /// A value is missing.
    #[error("filters need complete data, and `{channel}` is missing in row {} of trajectory {}", row + 1, trajectory + 1)]
    Missing {
        /// The channel.
        channel: String,
        /// The trajectory, from 0.
        trajectory: usize,
        /// The row, from 0.
        row: usize,
    },
    /// Values so large that the filter's are none.
    #[error(transparent)]
    Series(#[from] SeriesError),
}

impl FilterError {
    /// What the user can do about it.
    pub fn hint(&self) -> Option<Hint> {
        match self {
            FilterError::Frequency { .. } => Some(
                "frequencies are cycles per unit of time; `--dt` sets the sampling step".into(),
            ),
            FilterError::EmptyBand { low, high } => {
                Some(format!("did you mean {high}:{low}?").into())
            }
            FilterError::TooShort { .. } => Some("cut the short stretches off".into()),
            FilterError::Series(_) => None,
            FilterError::Missing { .. } => Some("cut or fill what is missing first".into()),
        }
    }
}

/// A section of second order:  H(z) = (b0 + b1 z⁻¹ + b2 z⁻²) / (1 + a1 z⁻¹ + a2 z⁻²).
#[derive(Debug, Clone, Copy, PartialEq)]
struct Section {
    b: [f64; 3],
    a: [f64; 2],
}

/// The series with a band of frequencies alone. Inputs stay as they are.
pub fn filter(series: &Series, band: Band) -> Result<Series, FilterError> {
    let sections = design::sections(band, 0.5 / series.step().dt)?;
    let more = reach(&sections);
    refuse_short(series, more)?;
    refuse_missing(series)?;
    let n = series.dim_obs();
    let filtered = (0..series.trajectories().len()).map(|i| {
        let mut trajectory = series.trajectories()[i].clone();
        for segment in series.segments(i) {
            let rows = &mut trajectory.x[segment.start * n..segment.end * n];
            (0..n).for_each(|channel| both_ways(&mut rows[channel..], n, &sections, more));
        }
        trajectory
    });
    Ok(series.with(filtered.collect())?)
}

/// How far a signal is extended. Sections whose last coefficients are all 0 count as one of first order.
fn reach(sections: &[Section]) -> usize {
    let zeros = sections.iter().filter(|s| s.b[2] == 0.0).count();
    let poles = sections.iter().filter(|s| s.a[1] == 0.0).count();
    3 * (2 * sections.len() + 1 - zeros.min(poles))
}

fn refuse_short(series: &Series, more: usize) -> Result<(), FilterError> {
    let all = (0..series.trajectories().len()).flat_map(|i| series.segments(i));
    let shortest = all.map(|rows| rows.len()).min().unwrap_or(0);
    if shortest > more {
        Ok(())
    } else {
        Err(FilterError::TooShort {
            needed: more + 1,
            found: shortest,
        })
    }
}

fn refuse_missing(series: &Series) -> Result<(), FilterError> {
    let n = series.dim_obs();
    for (trajectory, t) in series.trajectories().iter().enumerate() {
        if let Some(i) = t.x.iter().position(|v| v.is_nan()) {
            return Err(FilterError::Missing {
                channel: series.channels()[i % n].name.clone(),
                trajectory,
                row: i / n,
            });
        }
    }
    Ok(())
}

/// Every `n`-th value, forward and backward.
fn both_ways(x: &mut [f64], n: usize, sections: &[Section], more: usize) {
    let values: Vec<f64> = x.iter().step_by(n).copied().collect();
    let mut wide = turned(&values, more);
    run(&mut wide, sections);
    wide.reverse();
    run(&mut wide, sections);
    wide.reverse();
    let inner = &wide[more..];
    x.iter_mut()
        .step_by(n)
        .zip(inner)
        .for_each(|(x, y)| *x = *y);
}

/// Through all sections, each in its steady state for the first value.
fn run(x: &mut [f64], sections: &[Section]) {
    let mut level = x[0];
    for section in sections {
        let mut z = section.steady().map(|z| z * level);
        for v in x.iter_mut() {
            *v = section.step(*v, &mut z);
        }
        level *= section.at_rest();
    }
}

impl Section {
    /// One value, in the transposed direct form.
    fn step(&self, x: f64, z: &mut [f64; 2]) -> f64 {
        let y = self.b[0] * x + z[0];
        z[0] = self.b[1] * x - self.a[0] * y + z[1];
        z[1] = self.b[2] * x - self.a[1] * y;
        y
    }

    /// Its gain for a constant.
    fn at_rest(&self) -> f64 {
        self.b.iter().sum::<f64>() / (1.0 + self.a[0] + self.a[1])
    }

    /// Its state after an endless row of ones.
    fn steady(&self) -> [f64; 2] {
        let y = self.at_rest();
        let second = self.b[2] - self.a[1] * y;
        [self.b[1] - self.a[0] * y + second, second]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sine(cycles: f64, len: i32) -> Series {
        let wave = |t: i32| (std::f64::consts::TAU * cycles * f64::from(t)).sin();
        Series::from_rows((0..len).map(wave).collect(), 1, 1.0).unwrap()
    }

    /// The gain for a sine in the middle of a long stretch, by its amplitude.
    fn gain(cycles: f64, band: Band) -> f64 {
        let y = filter(&sine(cycles, 20_000), band).unwrap();
        let squares = y.trajectories()[0].x[8000..12_000].iter().map(|v| v * v);
        (2.0 * squares.sum::<f64>() / 4000.0).sqrt()
    }

    #[test]
    fn edges_have_half_the_amplitude() {
        // |H|² = ½ at each edge. Frequencies with whole periods in 4000 rows, so that the mean square is exact.
        let band = Band::Between(0.05, 0.2);
        for edge in [0.05, 0.2] {
            assert!((gain(edge, band) - 0.5).abs() < 1e-9, "{edge}");
        }
        assert!((gain(0.05, Band::Below(0.05)) - 0.5).abs() < 1e-9);
        assert!((gain(0.05, Band::Above(0.05)) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn gains_follow_the_formula_of_butterworth() {
        // 1/(1 + Ω⁸) for order 4, Ω the ratio of the tangents.
        let warped = |f: f64| (std::f64::consts::PI * f).tan();
        for f in [0.01, 0.04, 0.06, 0.1] {
            let ratio = warped(f) / warped(0.05);
            let expected = 1.0 / (1.0 + ratio.powi(8));
            assert!((gain(f, Band::Below(0.05)) - expected).abs() < 1e-8, "{f}");
        }
        let middle =
            |low: f64, high: f64| (warped(low) * warped(high)).sqrt().atan() / std::f64::consts::PI;
        let f = (middle(0.05, 0.2) * 4000.0).round() / 4000.0;
        let omega = (warped(f).powi(2) - warped(0.05) * warped(0.2))
            / (warped(f) * (warped(0.2) - warped(0.05)));
        let expected = 1.0 / (1.0 + omega.powi(8));
        assert!((gain(f, Band::Between(0.05, 0.2)) - expected).abs() < 1e-8);
    }

    #[test]
    fn a_notch_takes_its_frequency_and_leaves_others() {
        assert!(gain(0.1, Band::Without(0.1)) < 1e-6);
        assert!((gain(0.05, Band::Without(0.1)) - 1.0).abs() < 2e-3);
    }

    #[test]
    fn nothing_is_delayed() {
        let mut x = vec![0.0; 401];
        x[200] = 1.0;
        let y = filter(&Series::from_rows(x, 1, 1.0).unwrap(), Band::Below(0.1)).unwrap();
        let y = &y.trajectories()[0].x;
        for k in 0..100 {
            assert!((y[200 - k] - y[200 + k]).abs() < 1e-12);
        }
    }

    #[test]
    fn what_cannot_be_filtered_is_told() {
        let series = sine(0.1, 100);
        let said = |band| filter(&series, band).unwrap_err().to_string();
        assert_eq!(
            said(Band::Below(0.5)),
            "frequencies lie between 0 and 0.5 (half the sampling rate), found 0.5"
        );
        assert_eq!(
            said(Band::Between(0.2, 0.1)),
            "the band from 0.2 to 0.1 is empty"
        );
        let short = filter(&sine(0.1, 27), Band::Between(0.1, 0.2)).unwrap_err();
        assert_eq!(
            short,
            FilterError::TooShort {
                needed: 28,
                found: 27
            }
        );
        let mut x = vec![0.0; 100];
        x[31] = f64::NAN;
        let missing = filter(&Series::from_rows(x, 2, 1.0).unwrap(), Band::Below(0.1));
        assert!(
            missing
                .unwrap_err()
                .to_string()
                .contains("`x2` is missing in row 16")
        );
    }
}
